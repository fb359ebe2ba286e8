"""Funding from a control call of the simulator to the words in the channel: one message a submission."""

from __future__ import annotations

import re

import pytest

from bot.partner.calls.pages import Page
from bot.partner.models import LedgerEntry
from bot.services.messages import digest
from tests.alerts.conftest import ALERTS, Desk
from tests.handlers.slack_driver import BOB

HASH = "0x" + "5e" * 32


async def submitted(desk: Desk, tx_hash: str = HASH, network: str = "POLYGON", **transfer: object) -> str:
    """A submission of a transfer that waits on the chain; its id."""
    sender = "0x" + "a1" * 20
    await desk.tell("wallets", {"address": sender, "owner": "self"})
    payment = {"network": network, "tx_hash": tx_hash, "senders": [sender], "token": "USDC", "amount": "500"}
    await desk.tell("chain/transfers", {"arrives": "manual", **payment, **transfer})
    made = await desk.api("POST", "/funding", {"tx_hash": tx_hash, "network": network})
    return str(made["id"])


async def decide(desk: Desk, funding_id: str, decision: str, **more: object) -> None:
    await desk.tell(f"funding/{funding_id}/decide", {"decision": decision, **more})


async def test_a_review_becomes_a_credit_in_the_same_message(desk: Desk) -> None:
    funding_id = await submitted(desk)
    await decide(desk, funding_id, "hold")
    await desk.poll("funding")
    answer = await desk.only()
    assert "is in review" in answer
    assert "Your card provider holds it. Contact them." in answer
    assert funding_id in answer

    await decide(desk, funding_id, "credit")
    await desk.poll("funding")
    shown = await desk.only()
    assert "is credited: 49" in shown
    assert "✓ Resolved" in shown


async def test_news_of_a_submission_raise_again_what_was_acknowledged(desk: Desk) -> None:
    funding_id = await submitted(desk)
    await decide(desk, funding_id, "hold")
    await desk.poll("funding")
    await desk.press(BOB, "alert:ack")
    await desk.poll("funding")
    assert "acknowledged by" in await desk.only()
    await decide(desk, funding_id, "reject")
    await desk.poll("funding")

    assert "acknowledged by" not in await desk.only()
    assert (await desk.thread())[-1] == "SANDBOX · Now: Funding 0x5e5e5e…5e5e is rejected."


async def test_a_credit_taken_back_weeks_later_is_critical_though_no_event_came(desk: Desk) -> None:
    funding_id = await submitted(desk)
    await decide(desk, funding_id, "hold")
    await decide(desk, funding_id, "credit")
    await desk.poll("funding")
    await desk.poll("funding", seconds=20 * 86400)
    await decide(desk, funding_id, "reverse")
    await desk.poll("funding")

    answer = [words for words in await desk.seen() if "taken back" in words]
    assert len(answer) == 1
    assert "✗ Critical" in answer[0]
    assert "Stop top-ups and contact your card provider." in answer[0]


async def test_a_late_submission_is_overdue_once_and_says_so_more_loudly(desk: Desk) -> None:
    await submitted(desk)
    for _ in range(3):
        await desk.poll("funding", seconds=1300)
    assert "overdue: pending for more than 1 h" in await desk.only()
    await desk.poll("funding", seconds=6 * 3600)

    assert "overdue: pending for more than 6 h" in await desk.only()


async def test_the_digest_has_the_funding_on_its_way_with_its_time(desk: Desk) -> None:
    await desk.poll("account", "funding")
    await submitted(desk)
    await digest.post(desk.driver.core)
    await desk.driver.world.advance(24 * 3600)
    await desk.poll("account", "funding")
    await digest.post(desk.driver.core)
    await desk.posted()

    said = [m for m in await desk.driver.messages(BOB, ALERTS) if "Daily summary of" in m["text"]]
    assert "Funding on its way" in str(said[-1])
    assert re.search(r"on POLYGON: [^']* for 24 hours", str(said[-1])), said[-1]


async def test_a_ledger_that_differs_twice_is_reported_with_both_figures(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.poll("ledger")
    await desk.poll("ledger")
    assert await desk.seen() == []

    client = desk.driver.core.partners["main"]
    whole = await client.ledger(1, 100)

    other = whole.rows[0].model_copy(update={"amount_usd": whole.rows[0].amount_usd - 1})

    async def changed(*_: object, **__: object) -> Page[LedgerEntry]:
        return Page([other, *whole.rows[1:]], whole.total, 1)

    monkeypatch.setattr(client, "ledger", changed)
    await desk.poll("ledger")
    assert await desk.seen() == []
    await desk.poll("ledger")
    assert "Ledger and float of main differ by" in await desk.only()

    monkeypatch.undo()
    await desk.poll("ledger")
    assert "✓ Resolved" in await desk.only()
