"""What events mean for people: in which words, how often, to whom."""

from __future__ import annotations

import pytest

from bot.services.alerts import decline_rules
from bot.services.events import otp_delivery
from bot.services.otp_store import Codes
from storage.cards import otp_recipients
from tests.alerts.conftest import ALERTS, Desk
from tests.handlers.slack_driver import BOB, CAROL

pytestmark = pytest.mark.by_turns(4)


async def received(desk: Desk) -> None:
    """Read from the event log and handled; the ways of receiving are told apart in `test_every_alert_kind`."""
    await desk.log()
    await desk.handled()


async def test_a_decline_names_merchant_card_cause_and_what_to_do(desk: Desk) -> None:
    last4 = desk.driver.world.cards[0]["last4"]
    await desk.buy("DECLINE insufficient_card_balance")
    await received(desk)

    shown = await desk.only()
    assert "Declined at DECLINE insufficient_card_balance" in shown
    assert f"••{last4}" in shown
    assert "the card does not hold enough" in shown
    assert "Retrying won't help. Top up the card" in shown


async def test_declines_of_one_cause_share_a_message_and_call_the_group_once(desk: Desk) -> None:
    for n in range(7):
        await desk.buy("ACME", card=n % 3, decline_code="processing_error")
    await desk.buy("ACME", decline_code="merchant_category_blocked")
    await received(desk)

    clustered = [w for w in await desk.seen() if "Cluster" in w]
    assert len(await desk.seen()) == 2
    assert "Cluster of declines: 7 purchases, the purchase could not be processed" in clustered[0]
    assert "A retry can help." in clustered[0]
    assert "ACME (7)" in clustered[0]
    calls = [m["text"] for m in await desk.everything() if "<!subteam^" in m["text"]]
    assert len(calls) == 1


async def test_a_severe_decline_has_a_message_for_each_card(desk: Desk) -> None:
    for card in (0, 1, 0):
        await desk.buy("SHADY LTD", card=card, decline_code="fraud_risk_declined")
    await received(desk)

    shown = await desk.seen()
    assert len(shown) == 2
    assert all("✗ Critical" in words and "looked like fraud" in words for words in shown)


async def test_an_alert_that_called_people_when_it_was_raised_does_not_call_them_again_as_a_cluster(
    desk: Desk,
) -> None:
    await desk.buy("SHADY LTD", decline_code="fraud_risk_declined")
    await received(desk)
    for _ in range(4):
        await desk.buy("SHADY LTD", decline_code="fraud_risk_declined")
    await received(desk)

    assert "5 declines" in (await desk.thread())[-1]
    calls = [m["text"] for m in await desk.everything() if "<!subteam^" in m["text"]]
    assert len(calls) == 1, calls


async def test_a_line_that_calls_people_into_a_thread_works_alone_on_a_phone(desk: Desk) -> None:
    await desk.buy("ACME", decline_code="processing_error")
    await received(desk)
    for _ in range(4):
        await desk.buy("ACME", decline_code="processing_error")
    await received(desk)

    calling = [
        m["text"]
        for m in await desk.everything()
        if "<!subteam^" in m["text"] and m.get("thread_ts") not in (None, m["ts"])
    ]
    assert len(calling) == 1
    assert calling[0].startswith("SANDBOX · 5 declines in a short time: the purchase could not be processed.")


async def test_a_blocked_card_is_one_alert_whether_declined_or_swept(desk: Desk) -> None:
    card = desk.driver.world.cards[0]
    await desk.poll("cards")
    await desk.tell(f"cards/{card['id']}", {"status": "BLOCKED"})
    await desk.buy("ACME")
    await received(desk)
    await desk.poll("cards")
    await desk.buy("ACME")
    await received(desk)

    answer = await desk.only()
    assert f"••{card['last4']} is blocked by your card provider" in answer
    assert "A purchase of 45.00 USD at ACME was declined" in answer


async def test_a_credit_is_reported_once(desk: Desk) -> None:
    await desk.poll("funding")
    submit = (await desk.tell("scenarios/happy-day", {}))["submit"]
    await desk.register()
    await desk.poll("funding")
    await desk.api("POST", "/funding", submit)
    for _ in range(3):
        await received(desk)
        await desk.poll("funding", seconds=300)

    shown = [words for words in await desk.seen() if submit["tx_hash"][-4:] in words or "credited" in words]
    assert len(shown) == 1, shown
    assert "USD" in shown[0]
    assert "is credited" in shown[0]


async def code_of(desk: Desk) -> str:
    (event,) = [e async for e in desk.driver.core.partners["main"].events(event_type="card.3ds_challenge")]
    return str(event.payload["code"])


async def test_a_one_time_code_reaches_the_person_named_and_no_other_place(
    desk: Desk, challenged: str
) -> None:
    await desk.tell(f"cards/{challenged}/3ds", {"amount_usd": "30", "merchant": "WEB SHOP"})
    await desk.handled()

    code = await code_of(desk)
    seen_by_carol = await desk.driver.see(CAROL)
    direct = [c for c in seen_by_carol["channels"] if code in str(c)]
    assert [c["id"][0] for c in direct] == ["D"]
    assert "WEB SHOP" in str(direct)
    channel = str(await desk.driver.messages(CAROL, ALERTS))
    assert code not in channel
    assert "The code for " in channel
    assert code not in await desk.bot.rows(
        "SELECT * FROM outbox", "SELECT * FROM alert", "SELECT * FROM audit"
    )


async def test_without_a_person_a_code_is_shown_to_nobody_and_that_is_said(
    desk: Desk, challenged: str
) -> None:
    async with desk.driver.world.store.begin() as tx:
        for card in desk.driver.world.cards:
            await otp_recipients.drop(tx, card["partner_ref"] or "")
    await desk.tell(f"cards/{challenged}/3ds", {"amount_usd": "30", "merchant": "WEB SHOP"})
    await desk.handled()

    assert "No one to send the code of" in await desk.only()
    code = await code_of(desk)
    assert code not in str(await desk.driver.see(CAROL))


async def test_a_code_that_a_process_took_with_it_when_it_died_comes_again_and_is_sent(
    desk: Desk, challenged: str
) -> None:
    """Died between storing and answering 200: what it had in memory is gone, and the card provider repeats itself."""
    await desk.log()
    await desk.tell(f"cards/{challenged}/3ds", {"amount_usd": "30", "merchant": "WEB SHOP"})
    await desk.driver.world.advance(1)
    desk.driver.world.rebuild(codes=Codes())
    await desk.bot.handle()
    assert await desk.bot.open_alerts() == [], "nothing is said to be lost while it may come again"

    await desk.log()
    await desk.handled()

    assert await code_of(desk) in str(await desk.driver.see(CAROL))
    assert "✓ Resolved" in await desk.only()


async def test_a_code_that_comes_no_more_is_reported_as_gone_after_a_while(
    desk: Desk, challenged: str
) -> None:
    await desk.tell(f"cards/{challenged}/3ds", {"amount_usd": "30", "merchant": "WEB SHOP"})
    await desk.driver.world.advance(1)
    desk.driver.world.rebuild(codes=Codes())
    await desk.bot.handle()
    assert await desk.seen() == []
    await desk.driver.world.advance(90)
    await desk.handled()

    assert "No code for" in await desk.only()


async def test_a_code_that_was_on_its_way_when_the_process_died_is_reported_as_in_doubt(
    desk: Desk, challenged: str
) -> None:
    await desk.tell(f"cards/{challenged}/3ds", {"amount_usd": "30", "merchant": "WEB SHOP"})
    await desk.driver.world.advance(1)
    await desk.bot.handle()  # handed to the sender, who never comes
    await desk.posted()
    assert "A code is needed" in await desk.only()
    await desk.driver.world.advance(361)
    await otp_delivery.settle(desk.driver.core)
    await desk.posted()

    assert "it may not have arrived" in await desk.only()


async def test_a_code_that_waited_too_long_is_not_sent(desk: Desk, challenged: str) -> None:
    await desk.tell(f"cards/{challenged}/3ds", {"amount_usd": "30", "merchant": "WEB SHOP"})
    await desk.driver.world.advance(301)
    await desk.handled()

    assert len([words for words in await desk.seen() if "it expired" in words]) == 1
    assert await code_of(desk) not in str(await desk.driver.see(CAROL))


async def test_a_new_window_is_a_new_message(desk: Desk) -> None:
    await desk.register()
    for _ in range(2):
        await desk.buy("ACME", decline_code="processing_error")
        await desk.handled()
        await desk.driver.world.advance(601)
        await decline_rules.settle(desk.driver.core)
        await desk.handled()

    assert len(await desk.seen()) == 2


async def test_what_comes_late_is_reported_as_late(desk: Desk) -> None:
    await desk.buy("ACME", decline_code="processing_error")
    await desk.driver.world.advance(3 * 3600)
    await desk.log()
    await desk.handled()

    assert "Received late: 1 of 1" in await desk.only()


async def credited(desk: Desk) -> None:
    """A submission that an operator holds and then credits."""
    await desk.tell("wallets", {"address": "0x" + "a1" * 20, "owner": "self"})
    paid = {"network": "POLYGON", "tx_hash": "0x" + "5e" * 32, "senders": ["0x" + "a1" * 20], "token": "USDC"}
    await desk.tell("chain/transfers", {"arrives": "manual", "amount": "500", **paid})
    made = await desk.api("POST", "/funding", {"tx_hash": paid["tx_hash"], "network": "POLYGON"})
    for decision in ("hold", "credit"):
        await desk.tell(f"funding/{made['id']}/decide", {"decision": decision})


async def test_after_three_hours_without_deliveries_everything_is_reported_once_and_as_late(
    desk: Desk,
) -> None:
    codes = ("insufficient_card_balance", "processing_error", "fraud_risk_declined", "daily_limit_exceeded")
    await desk.register()
    await desk.tell("deliveries", {"mode": "drop"})
    for code in codes:
        await desk.buy("ACME", decline_code=code)
        await desk.driver.world.advance(2700)
    blocked = desk.driver.world.cards[1]["id"]
    await desk.tell(f"cards/{blocked}", {"status": "BLOCKED"})
    await desk.buy("ACME", card=1)
    await credited(desk)
    await desk.driver.world.advance(1200)
    assert await desk.seen() == []

    await desk.tell("deliveries", {"mode": "normal"})
    await desk.log()
    await desk.handled()
    for _ in range(6):  # the card provider repeats what it could not deliver
        await desk.driver.world.advance(1800)
        await desk.handled()

    shown = await desk.seen()
    assert len(shown) == len(codes) + 2
    assert sum("Received late: 1 of 1" in words for words in shown) == len(codes)
    assert sum("Received late: it happened at" in words for words in shown) == 2
    assert not any("seen" in words for words in shown)


async def test_an_admin_asks_who_gets_codes_and_a_second_person_decides(desk: Desk) -> None:
    await desk.driver.command(BOB, "/countersign alerts code emp-1042 @alice")
    assert "Only admins" in (await desk.driver.shown_to(BOB))["text"]

    await desk.driver.command(CAROL, "/countersign alerts code emp-1042 @alice")
    await desk.posted()
    assert await desk.bot.rows("SELECT * FROM person_card") == ""
    assert "asks to send one-time codes of emp-1042 to" in await desk.only()
    await desk.press(CAROL, "alert:confirm")
    assert await desk.bot.rows("SELECT * FROM person_card") == ""

    await desk.press(BOB, "alert:confirm")
    await desk.posted()
    assert await desk.bot.rows("SELECT * FROM person_card") == "('emp-1042', 'U0ALICE')"
    asked, shown = await desk.seen()
    assert "Confirmed" in asked
    assert "One-time codes of emp-1042 go to" in shown
    assert "U0ALICE" in shown
    assert "U0BOB" in await desk.bot.rows("SELECT actor FROM audit WHERE action = 'code.name_person'")

    await desk.driver.command(CAROL, "/countersign alerts code emp-1042 none")
    assert await desk.bot.rows("SELECT * FROM person_card") == ""


async def test_a_code_that_slack_refuses_is_reported_as_not_delivered(
    desk: Desk, challenged: str, caplog: pytest.LogCaptureFixture
) -> None:
    await desk.driver.tell(
        "faults", {"method": "chat.postMessage", "effect": "error", "error": "invalid_blocks"}
    )
    await desk.tell(f"cards/{challenged}/3ds", {"amount_usd": "30", "merchant": "WEB SHOP"})
    await desk.driver.world.advance(1)
    await desk.bot.handle()
    await desk.send_codes()
    await desk.posted()

    assert "was not delivered" in await desk.only()
    assert await code_of(desk) not in caplog.text
