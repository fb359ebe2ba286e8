"""Look-ups of cards: a card's page, its purchases, the declines, the list page by page."""

from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from bot.domain.cards import CardEntry
from bot.domain.money import format_usd
from bot.domain.requests import State
from bot.partner.webhooks import unwrap
from bot.services.events.inbox import purchase_leg_of
from storage.cards import cards
from storage.events import purchases
from tests.handlers.slack_driver import ALICE, BOB, OPS, SlackDriver
from tests.support.view_text import cell_text

Json = dict[str, Any]


async def answer(driver: SlackDriver, text: str, user: str = ALICE) -> Json:
    await driver.command(user, text)
    return await driver.shown_to(user)


async def buy(driver: SlackDriver, amount: str, merchant: str = "Bakery", **more: Any) -> Json:
    found: Json = await driver.world.tell(
        "purchases",
        {"card_id": driver.world.cards[0]["id"], "amount_usd": amount, "merchant": merchant, **more},
    )
    return found


async def receive(driver: SlackDriver) -> None:
    """Every purchase event there is, as the inbox keeps them."""
    events = [event async for event in driver.core.partners["main"].events()]
    async with driver.world.store.begin() as tx:
        for leg in (purchase_leg_of(unwrap(event)) for event in events):
            if leg is not None:
                await purchases.add(tx, "main", leg)


def rows(message: Json) -> list[list[str]]:
    """The rows of the message's table, its head left out."""
    (table,) = [block for block in message["blocks"] if block["type"] == "table"]
    return [[cell_text(cell) for cell in row] for row in table["rows"]][1:]


def buttons(message: Json) -> dict[str, Json]:
    found = [e for block in message["blocks"] if block["type"] == "actions" for e in block["elements"]]
    return {e["text"]["text"]: e for e in found if e["type"] == "button"}


async def act_on_card(driver: SlackDriver, kind: str, reason: str) -> None:
    card = driver.world.cards[0]["id"]
    request = await driver.world.ask(kind, {"card": card}, reason=reason)
    await driver.world.approve(request)
    await driver.world.run_due()
    assert (await driver.world.request(request.id)).state is State.SUCCEEDED
    await driver.world.advance(60)


async def test_a_frozen_card_says_who_froze_it_and_why_and_offers_to_unfreeze_it(driver: SlackDriver) -> None:
    await act_on_card(driver, "card_freeze", "Lost in a taxi")

    shown = await answer(driver, f"/card show {driver.world.cards[0]['id']}")

    assert "*Frozen* by Alice Moreau" in str(shown)
    assert "Lost in a taxi" in str(shown)
    assert list(buttons(shown))[:2] == ["Unfreeze", "Top up"]
    (dots,) = [e for e in shown["blocks"][-1]["elements"] if e["type"] == "overflow"]
    kinds = [driver.core.kinds[f"card_{name}"] for name in ("unload", "limits", "reveal", "phone", "close")]
    card = driver.world.cards[0]["id"]
    assert [o["value"] for o in dots["options"]] == [f"{' '.join(k.command)} {card}" for k in kinds]

    await driver.press(ALICE, shown, "form:open:0", channel=OPS)
    assert (await driver.modal(ALICE))["title"]["text"] == "Unfreeze a card"
    await driver.tell("act/close", {"user": ALICE, "view_id": (await driver.modal(ALICE))["id"]})
    await driver.press(ALICE, shown, "form:open:more", channel=OPS, selected_option=dots["options"][0])
    assert (await driver.modal(ALICE))["title"]["text"] == driver.core.kinds["card_unload"].title


async def test_a_card_frozen_or_blocked_by_no_request_of_ours_says_so(driver: SlackDriver) -> None:
    card = driver.world.cards[0]["id"]
    await act_on_card(driver, "card_freeze", "Lost")
    await act_on_card(driver, "card_unfreeze", "Found")
    await driver.world.tell(f"cards/{card}", {"status": "FROZEN"})

    assert "Frozen outside Countersign" in str(await answer(driver, f"/card show {card}"))
    await driver.world.tell(f"cards/{card}", {"status": "BLOCKED"})

    assert "Only your card provider can unblock it" in str(await answer(driver, f"/card show {card}"))


async def test_a_card_shows_its_last_purchases_and_why_one_was_declined(driver: SlackDriver) -> None:
    await buy(driver, "4.50")
    await buy(driver, "5", "Casino", decline_code="velocity_limit_exceeded")

    shown = await answer(driver, f"/card show {driver.world.cards[0]['id']}")

    assert "Bakery" in str(rows(shown))
    assert str(shown["blocks"]).count("*▲ Declined*") == 1
    assert "too many purchases in a short time" in str(shown)
    assert "More attempts can get the card blocked" in str(shown)


async def test_a_card_is_shown_though_its_history_cannot_be_read(driver: SlackDriver) -> None:
    await driver.world.fault(
        "status", "GET /cards/{cardId}/transactions", status=400, code="BAD_REQUEST", times=9
    )

    shown = await answer(driver, f"/card show {driver.world.cards[0]['id']}")

    assert "could not be read just now" in str(shown)
    assert "ACTIVE" in str(shown)


async def test_purchases_add_up_without_declines_and_in_the_persons_own_days(driver: SlackDriver) -> None:
    await buy(driver, "4.50")
    await buy(driver, "100", "Casino", decline_code="fraud_risk_declined")
    await buy(driver, "10", "Books", original_amount="9", original_currency="EUR")
    card = driver.world.cards[0]

    shown = await answer(driver, f"/card tx {card['last4']} 24h")

    found = rows(shown)
    charged = [row[3] for row in found if row[2] != "declined"]
    total = sum(Decimal(text.removesuffix(" USD").replace(",", "")) for text in charged)
    assert f"Charged {total:,} USD" in str(shown)
    assert ", 1 decline" in str(shown)
    assert "When (Europe/Paris)" in str(shown), "Alice's own zone, and not that of the machine"
    now = driver.world.clock.now().astimezone(ZoneInfo("Europe/Paris"))
    assert f"{now:%Y-%m-%d %H:}" in found[0][0]
    assert "9 EUR" in str(found)
    assert "read from your card provider" in str(shown)


async def test_the_figures_of_the_authorization_stand_and_open_charges_are_marked(
    driver: SlackDriver,
) -> None:
    bought = await buy(driver, "20", "Hotel")
    await receive(driver)
    await driver.world.tell(f"purchases/{bought['transaction_id']}/settle", {"amount_usd": "12"})
    await receive(driver)
    async with driver.world.store.read() as tx:
        received = await purchases.get(tx, "main", bought["transaction_id"])
    assert received is not None
    assert received.charge_usd is not None
    assert received.open, "settled at another amount"

    shown = await answer(driver, f"/card tx {driver.world.cards[0]['id']} 24h")

    (hotel,) = [row for row in rows(shown) if row[1] == "Hotel"]
    assert hotel[3] == format_usd(received.charge_usd)
    assert "not final: settled at another amount" in hotel[6]
    assert "▲ 1 purchase without a final amount" in str(shown)


async def test_a_purchase_that_the_service_leaves_out_is_known_from_its_events(driver: SlackDriver) -> None:
    await buy(driver, "7", "Ghost")
    await receive(driver)
    await driver.world.tell(f"cards/{driver.world.cards[0]['id']}", {"unreadable_rows": 1})

    shown = await answer(driver, f"/card tx {driver.world.cards[0]['id']} 24h")

    (ghost,) = [row for row in rows(shown) if row[1] == "Ghost"]
    assert "not in your card provider's list" in ghost[6]


async def test_long_answers_turn_their_pages_in_place_and_the_totals_stay(driver: SlackDriver) -> None:
    for n in range(26):
        await buy(driver, "1", f"Shop {n}")
    first = await answer(driver, f"/card tx {driver.world.cards[0]['id']} 24h")
    assert "Back" not in buttons(first)

    await driver.press(ALICE, first, "answer:page:on", channel=OPS)

    second = await driver.shown_to(ALICE)
    assert second["ts"] == first["ts"], "the same message"
    assert "page 2 of 2" in str(second)
    totals = [b["text"]["text"] for b in first["blocks"] if "Charged" in str(b.get("text"))]
    assert totals == [b["text"]["text"] for b in second["blocks"] if "Charged" in str(b.get("text"))]
    assert not {tuple(r) for r in rows(first)} & {tuple(r) for r in rows(second)}
    assert "Back" in buttons(second)
    assert "More" not in buttons(second)


async def test_a_shared_answer_turns_its_pages_for_the_one_who_presses_alone(driver: SlackDriver) -> None:
    async with driver.world.store.begin() as tx:
        many = [CardEntry(id=f"c{n:031}", program="main", holder=f"HOLDER {n:03}") for n in range(60)]
        await cards.put_many(tx, "main", many)
    await driver.press(ALICE, await answer(driver, "/card list"), "answer:share", channel=OPS)
    (shared,) = [m for m in await driver.messages(BOB, OPS) if "Shared by" in str(m)]

    await driver.press(BOB, shared, "answer:page:on", channel=OPS)

    assert "page 2 of" in str(await driver.shown_to(BOB))
    assert [m for m in await driver.messages(BOB, OPS) if "Shared by" in str(m)] == [shared]


async def test_declines_are_grouped_by_cause_with_the_next_step(driver: SlackDriver) -> None:
    for _ in range(2):
        await buy(driver, "900", "Airline", decline_code="insufficient_card_balance")
    await buy(driver, "5", "Casino", decline_code="fraud_risk_declined")
    await receive(driver)

    shown = await answer(driver, "/card declines")

    assert shown["text"].startswith("3 declines")
    text = str(shown)
    assert text.index("2 × the card does not hold enough") < text.index("1 × the purchase looked like fraud")
    assert "Top up the card, then the cardholder can try again." in text
    assert len(rows(shown)) == 3
    assert "0 declines" in (await answer(driver, "/card declines yesterday"))["text"]


def listed(message: Json, head: str) -> list[tuple[str, Decimal]]:
    """The lines below this heading, each with its amount."""
    texts = [block["text"]["text"] for block in message["blocks"] if block["type"] == "section"]
    (text,) = [text for text in texts if text.startswith(f"*{head}")]
    lines = [line.removeprefix("• ").split(": ") for line in text.split("\n")[1:]]
    return [(name, usd(rest.split(" USD")[0])) for name, rest in lines]


def usd(text: str) -> Decimal:
    return Decimal(text.removesuffix(" USD").replace(",", ""))


async def test_the_spend_of_a_month_adds_up_by_card_by_merchant_and_by_cause_of_a_decline(
    driver: SlackDriver,
) -> None:
    await receive(driver)
    before = await answer(driver, "/card spend")
    spent_before = usd(before["text"].split("Spent ")[1].split(" in ")[0])
    for amount, merchant in (
        ("86.40", "Deutsche Bahn"),
        ("41.20", "TAP Air Portugal"),
        ("19.90", "Office Depot"),
    ):
        await buy(driver, amount, merchant)
    second = driver.world.cards[1]
    await driver.world.tell(
        "purchases", {"card_id": second["id"], "amount_usd": "33", "merchant": "Deutsche Bahn"}
    )
    await buy(driver, "900", "Corner Coffee", decline_code="insufficient_card_balance")
    await receive(driver)

    shown = await answer(driver, "/card spend")

    assert shown["text"].startswith("SANDBOX · Spent ")
    total = usd(shown["text"].split("Spent ")[1].split(" in ")[0])
    assert Decimal("180.50") <= total - spent_before < 190, "fees come on top, and what was declined does not"
    by_card, by_merchant = listed(shown, "By card"), listed(shown, "By merchant")
    for found in (by_card, by_merchant):
        assert sum(amount for _, amount in found) == total
    assert "Deutsche Bahn" in [name for name, _ in by_merchant]
    assert second["last4"] in str(by_card)
    causes = dict(listed(shown, "Declined: "))
    assert causes["the card does not hold enough"] >= 900
    assert "Spent 0.00 USD in 0 purchases" in (await answer(driver, "/card spend 2026-01-05"))["text"]
    assert "isn't a period" in (await answer(driver, "/card spend 4242"))["text"]


async def test_the_spend_without_a_period_is_that_of_this_month_less_what_came_back(
    driver: SlackDriver,
) -> None:
    await receive(driver)
    shown = str(await answer(driver, "/card spend 30d"))
    total = usd(shown.split("Spent ")[1].split(" in ", maxsplit=1)[0])
    back = usd(shown.split("refunded of these since: ")[1].split(". ", maxsplit=1)[0])
    assert back > 0
    assert f"That leaves {format_usd(total - back)}" in shown

    await driver.world.advance(25 * 24 * 3600)
    await buy(driver, "86.40", "Deutsche Bahn")
    await receive(driver)
    assert "Deutsche Bahn" in str(await answer(driver, "/card spend"))
    await driver.world.advance(6 * 24 * 3600)  # the next month, and the purchase within thirty days

    assert "Spent 0.00 USD in 0 purchases" in (await answer(driver, "/card spend"))["text"]
    assert "Deutsche Bahn" in str(await answer(driver, "/card spend last month"))


async def test_the_spend_takes_no_call_of_the_api(driver: SlackDriver) -> None:
    before = len((await driver.world.control.get("/_control/journal")).json()["requests"])
    await answer(driver, "/card spend 7d")
    assert len((await driver.world.control.get("/_control/journal")).json()["requests"]) == before


async def test_what_cannot_be_looked_up_is_said_with_what_to_write(driver: SlackDriver) -> None:
    for text, says in {
        "/card tx": "Name the card",
        "/card tx 7d": "Name the card",
        "/card tx nobody 7d": "No card matches",
        "/card declines 4242": "isn't a period",
        "/card declines 2026-02-30": "does not exist",
    }.items():
        assert says in (await answer(driver, text))["text"], text
    cut = await answer(driver, f"/card tx {driver.world.cards[0]['id']} 52w")
    assert "cut to the last 90 days" in str(cut)


async def test_each_card_is_listed_once_though_others_are_ordered_while_the_pages_are_turned(
    driver: SlackDriver,
) -> None:
    async def order(*names: str) -> None:
        made = [CardEntry(id=f"c-{name[-3:]}:a", program="main", holder=name) for name in names]
        async with driver.world.store.begin() as tx:
            await cards.put_many(tx, "main", made)

    holders = [f"HOLDER {n:03}" for n in range(70)]
    await order(*holders)
    shown = await answer(driver, "/card list")
    walked = [row[0] for row in rows(shown)]
    while "More" in buttons(shown):
        await order(f"AARDVARK A{len(walked):02}")  # before all of them
        await driver.press(ALICE, shown, "answer:page:on", channel=OPS)
        shown = await driver.shown_to(ALICE)
        walked += [row[0] for row in rows(shown)]
    last = [row[0] for row in rows(shown)]
    await driver.press(ALICE, shown, "answer:page:back", channel=OPS)
    before = [row[0] for row in rows(await driver.shown_to(ALICE))]

    assert [name for name in walked if name in holders] == holders
    assert [*before, *last] == walked[-25 - len(last) :]


async def test_a_page_too_far_to_count_up_to_says_how_to_get_there(driver: SlackDriver) -> None:
    async with driver.world.store.begin() as tx:
        many = [CardEntry(id=f"c{n:05}", program="main", holder=f"HOLDER {n:05}") for n in range(1100)]
        await cards.put_many(tx, "main", many)

    assert "Press More there" in str(await answer(driver, "/card list page 43"))
    assert "page 41 of " in str(await answer(driver, "/card list page 41"))
