"""What the poller alone finds: from a control call of the simulator to the words in the channel."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from bot import jobs
from bot.config import Poll
from bot.domain.events import Retention
from bot.partner.ratelimit import DEFAULT_PER_MINUTE, Lane
from bot.services.operators import health
from tests.alerts.conftest import Desk


async def balance_at(desk: Desk, amount_usd: str) -> None:
    now_usd = Decimal((await desk.driver.world.state())["float"]["balance_usd"])
    await desk.tell("float", {"amount_usd": str(Decimal(amount_usd) - now_usd)})


async def test_a_float_below_its_floor_is_one_alert_however_it_swings(desk: Desk) -> None:
    for balance in ("1500", "900", "1100", "950", "1150", "980", "1190", "999.99"):
        await balance_at(desk, balance)
        await desk.poll("account")

    answer = await desk.only()
    assert "Float of main is low: 999.99 USD, floor 1,000.00 USD" in answer
    assert "the alert clears at 1,200.00 USD" in answer
    assert "seen" not in answer


async def test_a_low_float_ends_with_the_second_clean_reading_in_a_row(desk: Desk) -> None:
    await balance_at(desk, "900")
    await desk.poll("account")
    await balance_at(desk, "1200")
    await desk.poll("account")
    assert "▲ Warning: Float of main is rising: 1,200.00 USD" in await desk.only()
    await desk.poll("account")

    shown = await desk.only()
    assert "✓ Resolved: Float of main is back to 1,200.00 USD" in shown
    assert "It was below 1,000.00 USD for 2 minutes. The lowest was 900.00 USD." in shown
    assert "Submit funding" not in shown
    assert await desk.thread() == ["SANDBOX · Resolved: Float of main is back to 1,200.00 USD."]


async def test_the_alert_of_a_low_float_carries_its_chart_and_the_figures_in_words(desk: Desk) -> None:
    for balance in ("3000", "2000", "900"):
        await balance_at(desk, balance)
        await desk.poll("account", seconds=3600)

    message = await desk.message()
    chart, flows = [block for block in message["blocks"] if block["type"] == "data_visualization"]
    assert "Into and out of" in flows["title"]
    drawn = {series["name"]: [p["value"] for p in series["data"]] for series in chart["chart"]["series"]}
    assert drawn["Balance"][-1] == 900
    assert set(drawn["Floor"]) == {1000}
    assert len(drawn["Balance"]) >= 2
    shown = await desk.only()
    assert "lowest 900.00 USD, highest 3,000.00 USD, now 900.00 USD, floor 1,000.00 USD" in shown


async def test_a_float_low_again_after_it_was_resolved_is_a_new_alert(desk: Desk) -> None:
    for balance in ("900", "1300", "1300", "800"):
        await balance_at(desk, balance)
        await desk.poll("account")

    assert [w.split(" | ")[0].split(":")[0] for w in await desk.seen()] == ["✓ Resolved", "▲ Warning"]


async def test_a_ceiling_of_the_service_is_named_as_the_reason(desk: Desk) -> None:
    await balance_at(desk, "5000")
    await desk.tell("account", {"float_limit_usd": "300"})
    await desk.poll("account")

    shown = await desk.only()
    assert "Balance 5,000.00 USD" in shown
    assert "caps what may be on cards" in shown


async def test_a_card_closed_or_frozen_past_the_bot_is_reported(desk: Desk) -> None:
    closed, frozen, ours = desk.driver.world.cards[:3]
    await desk.poll("cards")
    await desk.api("POST", f"/cards/{closed['id']}/close", {}, key="past-the-bot")
    await desk.api("POST", f"/cards/{frozen['id']}/freeze", {"frozen": True})
    request = await desk.driver.world.ask("card_freeze", {"card": ours["id"]}, now=True)
    await desk.driver.world.run_due()
    await desk.poll("cards")
    await desk.poll("cards")

    answer = await desk.seen()
    assert len(answer) == 2, answer
    assert any(f"••{closed['last4']} was closed outside Countersign" in words for words in answer)
    assert any(f"••{frozen['last4']} was frozen outside Countersign" in words for words in answer)
    assert (await desk.driver.world.request(request.id)).state != "failed"

    await desk.api("POST", f"/cards/{frozen['id']}/freeze", {"frozen": False})
    await desk.poll("cards")
    answer = await desk.seen()
    assert any("✓ Resolved" in words and f"••{frozen['last4']} is ACTIVE now" in words for words in answer)


async def test_a_nearly_used_allowance_grows_more_severe_in_one_message(desk: Desk) -> None:
    total = (await desk.driver.core.partners["main"].me()).cards.total
    for limit, head in ((total + 1, "○ Note"), (total, "✗ Critical")):
        await desk.tell("account", {"cards_limit": limit})
        await desk.poll("account")
        assert head in await desk.only()

    assert f"Card allowance of main: 0 of {total} left" in await desk.only()


async def test_a_dead_api_is_reported_once_and_its_end_too(desk: Desk) -> None:
    await desk.poll("account", "watch")
    await desk.tell(
        "faults",
        {"operation": "GET /me", "effect": "status", "status": 500, "code": "UNAVAILABLE", "times": 99},
    )
    for _ in range(6):
        await desk.poll("account", "watch")

    assert "The account of main cannot be read" in await desk.only()
    calls = len(await desk.driver.world.sent("GET /me"))

    await desk.driver.world.control.delete("/_control/faults")
    for _ in range(10):
        await desk.poll("account", "watch")
    assert "✓ Resolved" in await desk.only()
    assert len(await desk.driver.world.sent("GET /me")) < calls + 12


async def test_a_short_runway_is_a_note_while_verified_funding_would_fix_it(desk: Desk) -> None:
    await balance_at(desk, "5000")
    card = desk.driver.world.cards[0]["id"]
    for n in range(4):
        await desk.poll("account", seconds=3600)
        await desk.api("POST", f"/cards/{card}/topup", {"amount_usd": 400}, key=f"spend-{n}")
    await desk.tell("wallets", {"address": "0x" + "a1" * 20, "owner": "self"})
    paid = {"network": "POLYGON", "tx_hash": "0x" + "5e" * 32, "senders": ["0x" + "a1" * 20], "token": "USDC"}
    await desk.tell("chain/transfers", {"arrives": "manual", "amount": "90000", **paid})
    await desk.api("POST", "/funding", {"tx_hash": paid["tx_hash"], "network": "POLYGON"})
    await desk.poll("funding", "account", "runway")

    shown = await desk.only()
    assert "○ Note: Float of main lasts about" in shown
    assert "Funding of 90,000.00 USD is on its way and not yet credited. With it, it lasts more than" in shown


async def test_the_jobs_together_leave_most_of_the_rate_limit_to_people(desk: Desk) -> None:
    watchers = jobs.Watchers(desk.poller, desk.bot.webhooks, desk.bot.backfill)
    table = jobs.table(desk.driver.core, watchers, Poll(), Retention())

    assert sum(job.calls * 60 / job.seconds for job in table) < 0.1 * DEFAULT_PER_MINUTE
    before = len((await desk.driver.world.control.get("/_control/journal")).json()["requests"])
    for job in table:
        await job.run()
    after = len((await desk.driver.world.control.get("/_control/journal")).json()["requests"])
    assert after - before <= sum(job.calls for job in table)


async def test_people_have_room_while_the_poller_waits_for_its_share(desk: Desk) -> None:
    partner = desk.driver.core.partners["main"]
    polls = [asyncio.create_task(partner.me(lane=Lane.BACKGROUND)) for _ in range(200)]
    await asyncio.sleep(0.3)

    for _ in range(10):
        await asyncio.wait_for(partner.me(), 5)
    assert sum(task.done() for task in polls) < DEFAULT_PER_MINUTE * 0.6 + 1
    for task in polls:
        task.cancel()
    await asyncio.gather(*polls, return_exceptions=True)


READS = {
    "GET /me": "account",
    "GET /cards": "cards",
    "GET /events": "log",
    "GET /funding": "funding",
    "GET /ledger": "ledger",
    "GET /webhook": "",
    "POST /cards/balances": "",
}


async def fails(desk: Desk, *operations: str, status: int = 503, times: int = 1000) -> None:
    for operation in operations:
        fault = {"operation": operation, "effect": "status", "status": status, "times": times}
        await desk.tell("faults", fault)


async def unready(desk: Desk) -> str | None:
    return await health.poller_runs(desk.driver.core, timedelta(seconds=60))


@pytest.fixture
def _time_passes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the pauses of the poller, which else wait until a test moves the clock."""
    clock = desk.driver.world.clock

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)
        clock.advance(seconds)

    monkeypatch.setattr(clock, "sleep", sleep)


async def waited(desk: Desk, seconds: float) -> None:
    """So long the API is asked whether it is there."""
    for _ in range(int(seconds / 10)):
        await desk.driver.world.advance(10)
        await desk.poller.answers()
    await desk.posted()


@pytest.mark.usefixtures("_time_passes")
@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_an_api_that_answers_only_errors_is_reported_and_one_error_alone_is_not(
    desk: Desk, status: int
) -> None:
    """A gateway answers for an API that is away, which so looks as if it were there."""
    await desk.poll("account", "answers")

    await fails(desk, "GET /me", status=status, times=1)
    await desk.poll("answers", seconds=20)
    assert await desk.seen() == []
    assert await unready(desk) is None

    await fails(desk, *READS, status=status)
    await waited(desk, 40)
    shown = await desk.only()
    assert "✗ Critical: The account of main cannot be read" in shown
    assert f"it answers only errors (HTTP {status})" in shown
    said = await unready(desk)
    assert said is not None
    assert f"Your card provider answers only errors: main (HTTP {status}, for" in said
    assert "Nothing is sent" not in said

    await desk.driver.world.control.delete("/_control/faults")
    await desk.poll("answers", seconds=20)
    assert "✓ Resolved: The account of main is read again" in await desk.only()
    assert await unready(desk) is None


@pytest.mark.usefixtures("_time_passes")
@pytest.mark.parametrize("operation", READS)
async def test_calls_of_one_kind_that_fail_while_the_api_answers_others_are_no_outage(
    desk: Desk, operation: str
) -> None:
    await desk.poll("account", "answers")
    await fails(desk, operation)
    if operation != "GET /me":
        await desk.poll(*filter(None, [READS[operation].replace("log", "")]), seconds=5)
    await waited(desk, 80)
    assert "answers only errors" not in (await unready(desk) or "")
    assert await desk.seen() == []


@pytest.mark.usefixtures("_time_passes")
async def test_an_api_of_which_every_second_call_fails_is_no_outage(desk: Desk) -> None:
    """One of the two servers behind its gateway is away."""
    await desk.poll("account", "answers")
    for n in range(8):
        await fails(desk, *(["GET /me"] if n % 2 else ["GET /me", "GET /webhook"]), times=1)
        await desk.driver.world.advance(20)
        await desk.poller.answers()
        assert "answers only errors" not in (await unready(desk) or "")
    await desk.posted()
    assert await desk.seen() == []


@pytest.mark.usefixtures("_time_passes")
@pytest.mark.parametrize("answered", ["cards", "funding", "ledger", "answers"])
async def test_the_alert_that_an_account_cannot_be_read_ends_by_a_reading_of_it_alone(
    desk: Desk, answered: str
) -> None:
    await desk.poll("account", "answers")
    await fails(desk, *READS)
    await waited(desk, 40)
    assert "✗ Critical: The account of main cannot be read" in await desk.only()

    await desk.driver.world.control.delete("/_control/faults")
    await fails(desk, "GET /me")
    for _ in range(4):
        await desk.driver.world.advance(10)
        for job in (answered, "watch", "answers"):
            await getattr(desk.poller, job)()
    await desk.posted()
    assert "✗ Critical: The account of main cannot be read" in await desk.only()
    assert await desk.thread() == []

    await desk.driver.world.control.delete("/_control/faults")
    for _ in range(3):
        await desk.driver.world.advance(600)
        await desk.poller.account()
        await desk.poller.watch()
    await desk.posted()
    assert "✓ Resolved: The account of main is read again" in await desk.only()
    assert len(await desk.thread()) == 1
