"""Card is chosen by type-ahead in every form: what is offered, what is filled, and what is said of a wrong name."""

from datetime import UTC, datetime
from time import perf_counter

import pytest

from bot import operations
from bot.domain.cards import CardEntry
from storage.cards import cards
from tests.handlers.slack_driver import ALICE, CAROL, Json, SlackDriver

TOP_UP = "/card topup"


async def offered(driver: SlackDriver, typed: str, user: str = ALICE) -> list[str]:
    outcome = await driver.suggest(user, typed)
    assert outcome["acked"], outcome
    assert "refused" not in outcome, "Slack would not take what is offered"
    return [option["text"]["text"] for option in outcome["options"]]


async def note(driver: SlackDriver, user: str = ALICE) -> str:
    """The lines above the fields."""
    blocks = (await driver.modal(user))["blocks"]
    return " ".join(e["text"] for b in blocks if b["type"] == "context" for e in b["elements"])


async def api_calls(driver: SlackDriver) -> list[Json]:
    return list((await driver.world.control.get("/_control/journal")).json()["requests"])


async def put(driver: SlackDriver, *entries: CardEntry) -> None:
    async with driver.core.store.begin() as tx:
        await cards.put_many(tx, "main", entries)


def entry(number: int, holder: str = "ADA TESTER", **more: object) -> CardEntry:
    known = {"last4": f"{number:04}", "status": "ACTIVE", "created_at": datetime(2026, 1, 1, tzinfo=UTC)}
    return CardEntry(id=f"card{number:05}", program="main", holder=holder, **(known | more))  # type: ignore[arg-type]


async def test_every_form_that_names_a_card_offers_the_directory(driver: SlackDriver) -> None:
    kinds = [cls for cls in operations.kinds().values() if cls.has_card]
    assert len(kinds) >= 9
    for cls in kinds:
        await driver.command(CAROL, f"/{' '.join(cls.command)}")
        inputs = [b for b in (await driver.modal(CAROL))["blocks"] if b["type"] == "input"]
        [card] = [b for b in inputs if b["label"]["text"] == "Card"]
        assert card["element"]["type"] == "external_select", cls.kind
        assert await offered(driver, "", CAROL), "with nothing typed the first cards are there to choose from"
        await driver.close(CAROL)


async def test_a_card_is_found_by_any_part_of_what_people_call_it(driver: SlackDriver) -> None:
    card = driver.world.cards[0]
    name = card["card_holder_name"]
    ways = (name, name.split()[0][:3].lower(), name.split()[-1].title(), " ".join(reversed(name.split())))
    others = (card["last4"], f"••{card['last4']}", card["partner_ref"], card["id"], f"active {card['last4']}")
    await driver.command(ALICE, TOP_UP)

    for typed in (*ways, *others):
        assert (await offered(driver, typed))[0] == f"{name} ••{card['last4']} · Active", typed


async def test_cards_are_found_by_their_status_and_closed_ones_are_not_offered(driver: SlackDriver) -> None:
    gone = entry(3, "GONE LONGAGO", status="DELETED")
    await put(
        driver, entry(1, "COLD ONE", status="FROZEN"), entry(2, "NEW ONE", status=None, last4=None), gone
    )
    await driver.command(ALICE, TOP_UP)

    assert "COLD ONE ••0001 · Frozen" in await offered(driver, "frozen")
    assert all(text.endswith("· Frozen") for text in await offered(driver, "frozen"))
    assert await offered(driver, "new one") == ["NEW ONE ••???? · Status unknown"]
    assert await offered(driver, "longago") == []


async def test_of_thousands_of_cards_a_hundred_are_offered_at_once_and_the_exact_one_first(
    driver: SlackDriver,
) -> None:
    await put(driver, *(entry(n) for n in range(5000)))
    await driver.command(ALICE, TOP_UP)
    calls = len(await api_calls(driver))

    began = perf_counter()
    found = await offered(driver, "ada")
    assert perf_counter() - began < 3
    assert len(found) == 100
    assert (await offered(driver, "4999"))[0] == "ADA TESTER ••4999 · Active"
    assert len(await api_calls(driver)) == calls, "the directory is asked, not your card provider"


async def test_what_is_chosen_is_asked_for_and_shown_by_name(driver: SlackDriver) -> None:
    card = driver.world.cards[0]
    await driver.command(ALICE, TOP_UP)
    await driver.submit(
        ALICE, {"card": card["card_holder_name"].split()[0], "amount_usd": "5", "reason": "Taxi"}
    )
    await driver.submit(ALICE)

    assert (await driver.newest()).terms["card"] == card["id"]


async def test_a_card_is_chosen_by_its_id_even_where_another_ones_reference_is_that_id(
    driver: SlackDriver,
) -> None:
    card = driver.world.cards[0]
    await put(driver, entry(1, partner_ref=card["id"]))
    await driver.command(ALICE, f"/card freeze {card['last4']}")
    await driver.submit(ALICE, {"reason": "Lost phone"})
    await driver.submit(ALICE)

    assert (await driver.newest()).terms["card"] == card["id"]


async def test_a_card_that_was_named_stands_in_the_form_by_its_name(driver: SlackDriver) -> None:
    card = driver.world.cards[0]
    for named in ("{last4}", "{card_holder_name}", "{partner_ref}", "{id}", "••{last4}"):
        await driver.command(ALICE, f"/card freeze {named.format(**card)}")
        shown = (await driver.filled(ALICE))["card"]
        assert shown == f"{card['card_holder_name']} ••{card['last4']} · Active", named
        assert card["id"] not in await note(driver)
        await driver.close(ALICE)


async def test_edit_shows_the_card_by_its_name(driver: SlackDriver) -> None:
    card = driver.world.cards[0]
    await driver.command(ALICE, f"/card topup {card['last4']} 5")
    await driver.submit(ALICE, {"reason": "Taxi"})
    await driver.press_in_modal(ALICE, "draft:edit")

    name = f"{card['card_holder_name']} ••{card['last4']} · Active"
    assert await driver.filled(ALICE) == {"card": name, "amount_usd": "5.00", "reason": "Taxi"}


async def test_a_name_that_fits_no_single_card_is_answered_with_candidates(driver: SlackDriver) -> None:
    await put(driver, entry(1, "ADA ONE", partner_ref="TEAM-7"), entry(2, "ADA TWO"))
    for typed, expected in (
        (
            "ada",
            "“ada” fits 2 cards: ADA ONE ••0001 (reference TEAM-7); ADA TWO ••0002. Choose one under Card.",
        ),
        ("kowalsaa", "No card matches “kowalsaa”. Did you mean MARTA KOWALSKA ••3205"),
        ("dave", "No card matches “dave”. Under Card, type a name"),
        ("4111111111111111", "looks like a card number"),
    ):
        await driver.command(ALICE, f"{TOP_UP} {typed} 5")
        assert await driver.filled(ALICE) == {"card": None, "amount_usd": "5", "reason": None}
        assert expected in await note(driver)
        shown = str(await driver.modal(ALICE))
        assert "card00001" not in shown, "no id"
        assert "4111111111111111" not in shown, "a card number is not repeated"
        await driver.close(ALICE)


async def test_a_misspelt_name_is_offered_as_the_holder_spells_it(driver: SlackDriver) -> None:
    await driver.command(ALICE, TOP_UP)

    assert await offered(driver, "kowalsaa") == ["MARTA KOWALSKA ••3205 · Active"]
    assert await offered(driver, "nobody at all") == []


async def test_while_somebody_types_a_failure_is_no_message_for_each_letter(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no directory")

    await driver.command(ALICE, TOP_UP)
    monkeypatch.setattr("storage.cards.cards.find", broken)

    assert await offered(driver, "mar") == []
    await driver.settle()
    assert await driver.messages(ALICE, "D0ALICE") == []


async def test_words_after_one_exact_card_are_the_reason_of_a_form_that_asks_for_no_more(
    driver: SlackDriver,
) -> None:
    card = driver.world.cards[0]
    name = f"{card['card_holder_name']} ••{card['last4']} · Active"
    for named in ("{last4}", "••{last4}", "{partner_ref}", "{id}"):
        await driver.command(ALICE, f"/card freeze {named.format(**card)} lost wallet")
        filled = await driver.filled(ALICE)
        assert (filled["card"], filled["reason"]) == (name, "lost wallet"), named
        await driver.close(ALICE)


async def test_words_after_what_is_not_one_exact_card_stay_with_it(driver: SlackDriver) -> None:
    """A name that is nearly a card's is a slip, and no reason; nor is the rest of a card number."""
    card = driver.world.cards[0]
    first = card["card_holder_name"].split()[0]
    await put(driver, entry(1, last4="5555"), entry(2, last4="5555"))
    for typed in (f"{first} lost wallet", "5555 lost wallet", "0000 lost wallet", "4111 1111 1111 1111"):
        await driver.command(ALICE, f"/card freeze {typed}")
        assert not (await driver.filled(ALICE)).get("reason"), typed
        assert await note(driver), typed
        await driver.close(ALICE)
    await put(driver, entry(3, last4="4111"))
    await driver.command(ALICE, "/card freeze 4111 1111 1111 1111")
    assert not (await driver.filled(ALICE)).get("reason")
