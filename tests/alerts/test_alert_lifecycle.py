"""What people and time do with an alert: seen through the buttons, the thread and the digest."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.domain.alerts import Alerting
from bot.domain.money import format_usd
from bot.domain.requests import State
from bot.domain.time import Hours, periods
from bot.services.alerts import alert_actions
from bot.services.cards import card_sync, spend
from bot.services.messages import digest, digest_figures
from tests.alerts.conftest import ALERTS, Desk
from tests.handlers.slack_driver import ALICE, BOB, CAROL
from tests.handlers.test_lookups_cards import receive

UTC_ZONE = ZoneInfo("UTC")


async def low_float(desk: Desk, balance_usd: str = "900") -> None:
    now_usd = Decimal((await desk.driver.world.state())["float"]["balance_usd"])
    await desk.tell("float", {"amount_usd": str(Decimal(balance_usd) - now_usd)})
    await desk.poll("account")


async def audited(desk: Desk, action: str) -> str:
    return await desk.bot.rows(f"SELECT actor, action, body FROM audit WHERE action = '{action}'")


async def test_an_acknowledgement_is_shown_and_comes_back_unless_said_again(desk: Desk) -> None:
    await low_float(desk)
    await desk.press(BOB, "alert:ack")
    assert "acknowledged by Bob Tanaka until" in await desk.only()

    await desk.poll("account", seconds=4 * 3600 - 600)
    await desk.press(BOB, "alert:ack")
    await desk.poll("account", seconds=3600)
    await alert_actions.tend(desk.driver.core)
    await desk.posted()
    assert "acknowledged by" in await desk.only()

    await desk.poll("account", seconds=4 * 3600)
    await alert_actions.tend(desk.driver.core)
    await desk.posted()
    assert "acknowledged by" not in await desk.only()
    assert (await desk.thread())[
        -1
    ] == "SANDBOX · Still open: Float of main is low: 900.00 USD, floor 1,000.00 USD. <@U0BOB>"
    assert "U0BOB" in await audited(desk, "alert.acknowledged")


async def test_a_snooze_is_chosen_in_a_modal_and_ends_by_itself(desk: Desk) -> None:
    await low_float(desk)
    await desk.press(ALICE, "alert:snooze")
    modal = await desk.driver.modal(ALICE)
    assert modal["title"]["text"] == "Snooze"
    await desk.driver.submit(ALICE)
    await desk.posted()
    assert "snoozed until" in await desk.only()

    await desk.poll("account", seconds=3601)
    await alert_actions.tend(desk.driver.core)
    await desk.posted()
    assert "snoozed until" not in await desk.only()
    assert any("Snoozed until" in line for line in await desk.thread())


async def test_somebody_takes_it_over_and_somebody_ends_it(desk: Desk) -> None:
    await desk.buy("ACME", decline_code="processing_error")
    await desk.log()
    await desk.handled()
    alert_id = (await desk.bot.open_alerts())[0].id
    await desk.press(CAROL, "alert:more", value=f"assign:{alert_id}")
    await desk.posted()
    assert "with Carol Reyes" in await desk.only()

    await desk.press(CAROL, "alert:more", value=f"resolve:{alert_id}")
    await desk.posted()
    shown = await desk.only()
    assert "✓ Resolved" in shown
    assert "U0CAROL" in await audited(desk, "alert.resolved")


async def test_the_remedy_of_an_empty_card_is_a_filled_top_up_and_only_a_draft(desk: Desk) -> None:
    await desk.buy("DECLINE insufficient_card_balance")
    await desk.log()
    await desk.handled()
    await desk.press(ALICE, "alert:remedy")

    modal = str(await desk.driver.modal(ALICE))
    assert "Top up" in modal
    assert desk.driver.world.cards[0]["id"] in modal
    assert await desk.driver.requests() == []


async def test_the_remedy_of_a_used_up_limit_and_of_a_frozen_card_are_their_forms(desk: Desk) -> None:
    await desk.buy("ACME", decline_code="daily_limit_exceeded")
    await desk.log()
    await desk.handled()
    await desk.press(ALICE, "alert:remedy")
    modal = await desk.driver.modal(ALICE)
    assert "Daily limit (USD)" in str(modal)
    assert desk.driver.world.cards[0]["id"] in str(modal)

    card = desk.driver.world.cards[1]["id"]
    await desk.poll("cards")
    await desk.tell(f"cards/{card}", {"status": "FROZEN"})
    await desk.poll("cards")
    (message,) = [m for m in await desk.everything() if "was frozen outside Countersign" in m["text"]]
    await desk.driver.press(ALICE, message, "alert:remedy", channel=ALERTS)
    modal = await desk.driver.modal(ALICE)
    assert "Unfreeze" in modal["title"]["text"]
    assert card in str(modal)
    assert await desk.driver.requests() == [], "only drafts"


async def test_the_remedy_of_a_blocked_card_is_a_text_for_the_service(desk: Desk) -> None:
    card = desk.driver.world.cards[0]
    await desk.poll("cards")
    await desk.tell(f"cards/{card['id']}", {"status": "BLOCKED"})
    await desk.poll("cards")
    await desk.press(ALICE, "alert:remedy")

    modal = str(await desk.driver.modal(ALICE))
    assert "Send this text to your card provider" in modal
    assert card["id"] in modal
    assert desk.driver.world.simulator.key not in modal


async def test_only_admins_mute_and_what_is_muted_is_kept_under_the_rules_name(desk: Desk) -> None:
    await desk.driver.command(BOB, "/countersign alerts mute quiet-float float_low 7d")
    assert "Only admins" in (await desk.driver.shown_to(BOB))["text"]
    await desk.driver.command(CAROL, "/countersign alerts mute quiet-float float_low 7d")
    await low_float(desk)
    assert await desk.seen() == []
    assert "quiet-float" in await audited(desk, "alert.muted")

    await desk.driver.command(CAROL, "/countersign alerts")
    assert "quiet-float" in str((await desk.driver.shown_to(CAROL))["blocks"])
    await desk.driver.command(CAROL, "/countersign alerts unmute quiet-float")
    await desk.posted()
    assert "Float of main is low" in await desk.only()


async def test_the_open_alerts_are_listed_for_whoever_asks(desk: Desk) -> None:
    await low_float(desk)
    await desk.driver.command(ALICE, "/countersign alerts")

    shown = await desk.driver.shown_to(ALICE)
    assert "1 open alert" in shown["text"]
    assert "alert:ack" in str(shown["blocks"])


async def test_a_note_waits_for_the_end_of_the_quiet_hours_and_a_warning_does_not(desk: Desk) -> None:
    hours = Hours(quiet=(time(22), time(7)))
    desk.driver.world.rebuild(alerting=Alerting(hours=hours))
    await desk.driver.world.advance(13 * 3600)  # 23:00 and a little
    await desk.buy("ACME", decline_code="processing_error")
    await desk.log()
    await desk.handled()
    assert await desk.seen() == []
    await low_float(desk)
    assert len(await desk.seen()) == 1

    await desk.driver.world.advance(8 * 3600)
    await desk.posted()
    assert len(await desk.seen()) == 2


async def test_the_digest_comes_in_the_morning_and_only_when_something_happened(desk: Desk) -> None:
    core = desk.driver.core
    await digest.post(core)
    await desk.driver.world.advance(24 * 3600)
    await digest.post(core)
    await desk.posted()
    assert await desk.seen() == []

    await low_float(desk)
    request = await desk.driver.ask_top_up()
    await desk.driver.world.advance(24 * 3600)
    for _ in range(3):
        await digest.post(core)
        await desk.posted()
    answer = [words for words in await desk.seen() if "Daily summary" in words]
    assert len(answer) == 1
    assert "1 float low" in answer[0]
    assert "1 pending" in answer[0]
    assert "Still open" in answer[0]
    assert request.id in answer[0]
    assert "waits for @card-approvers" in answer[0]


async def test_the_digest_works_in_its_first_line_and_has_yesterdays_and_the_months_figures(
    desk: Desk,
) -> None:
    core, world = desk.driver.core, desk.driver.world
    await desk.poll("account")
    done = await world.top_up("50")
    await world.run_due()
    await receive(desk.driver)
    async with world.store.read() as tx:
        spent = await spend.in_period(tx, core, periods.back(2, core.clock.now(), UTC_ZONE), program="main")
    await digest.post(core)
    await world.advance(24 * 3600)
    await desk.poll("account")
    await desk.driver.ask_top_up(amount="120", reason="Flight to the Lisbon trade fair")
    await digest.post(core)
    await desk.posted()

    (posted,) = [
        m
        for m in await desk.driver.messages(BOB, ALERTS)
        if "Daily summary of" in m["text"] and not m["ephemeral"]
    ]
    words = str(posted)
    assert re.match(
        r"SANDBOX · Float [0-9,.]+ USD \(floor 1,000\.00 USD\), 1 request waits, 0 alerts are open"
        r" · Daily summary of",
        posted["text"],
    )
    assert done.id
    assert "50.00 USD in 1 top-up" in words
    assert spent.count, "the simulator's happy day has purchases"
    assert f"{format_usd(spent.charged_usd)} in {spent.count} purchase" in words
    assert "Spent this month, up to yesterday" in words
    assert "Flight" not in posted["text"]


async def test_the_digest_has_the_day_before_apart_from_the_month_and_nothing_of_today(desk: Desk) -> None:
    core, world = desk.driver.core, desk.driver.world
    await desk.poll("account")
    await world.top_up("50")
    await world.run_due()
    await digest.post(core)
    await world.advance(24 * 3600)
    await world.top_up("70")
    await world.run_due()
    await world.advance(24 * 3600)
    await world.top_up("90")
    await world.run_due()
    await desk.poll("account")
    await digest.post(core)
    await desk.posted()

    posted = [m for m in await desk.driver.messages(BOB, ALERTS) if "Daily summary of" in m["text"]]
    words = str(posted[-1])
    assert re.search(r"Top-ups yesterday\W[^.]*?70\.00 USD in 1 top-up", words), words
    assert re.search(r"Top-ups this month, up to yesterday\W[^.]*?120\.00 USD in 2 top-ups", words), words


async def test_the_digest_has_yesterdays_declines_by_cause_with_their_sums(desk: Desk) -> None:
    await desk.poll("account")
    for cause in ("insufficient_card_balance", "insufficient_card_balance", "fraud_risk_declined"):
        await desk.buy(f"DECLINE {cause}")
    await desk.log()
    await desk.handled()
    await digest.post(desk.driver.core)
    await desk.driver.world.advance(24 * 3600)
    await desk.poll("account")
    await digest.post(desk.driver.core)
    await desk.posted()

    posted = [m for m in await desk.driver.messages(BOB, ALERTS) if "Daily summary of" in m["text"]]
    words = str(posted[-1])
    assert "Declined yesterday" in words
    sums = r"135\.00 USD in 3 purchases: the card does not hold enough \(2, 90\.00 USD\); [^']+ \(1, 45\.00 USD\)"
    assert re.search(sums, words), words


async def test_a_card_that_stays_frozen_for_a_month_is_in_the_digest_with_what_it_costs(desk: Desk) -> None:
    core, world = desk.driver.core, desk.driver.world
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, reason="Left on a train")
    await world.approve(request)
    await world.run_due()
    assert (await world.request(request.id)).state is State.SUCCEEDED
    await card_sync.sync_cards(core, "main")
    await digest.post(core)
    async with world.store.read() as tx:
        assert await digest_figures.idle_cards(tx, core, "main", Decimal(1)) == []
    await world.advance(31 * 24 * 3600)
    await digest.post(core)
    await desk.posted()

    words = " ".join(await desk.seen())
    assert "1 card, 1.00 USD a month in fees" in words
    assert world.cards[0]["last4"] in words


def test_quiet_hours_go_over_midnight_and_workdays_over_the_weekend() -> None:
    hours = Hours("Europe/Berlin", (time(22), time(7)), None)
    friday = datetime(2026, 3, 6, 22, 30, tzinfo=UTC)

    assert hours.quiet_until(friday) == datetime(2026, 3, 7, 6, tzinfo=UTC)
    assert hours.quiet_until(friday + timedelta(hours=8)) is None
    assert hours.next_workday(friday) == datetime(2026, 3, 9, 8, tzinfo=UTC)
    assert replace(hours, digest=time(9)).digest_due(friday) is not None
    assert hours.digest_due(friday) is None
