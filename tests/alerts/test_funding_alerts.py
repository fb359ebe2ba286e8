"""Funding from a control call of the simulator to the words in the channel: one message a submission."""

from __future__ import annotations

import pytest

from bot.operations.funding_words import reason_in_words
from bot.partner.models import Funding
from bot.partner.models.funding import CREDITED_REASONS, REJECTED_REASONS, REVIEW_REASONS
from bot.services import funding_watch
from storage import alerts
from tests.alerts.conftest import Desk
from tests.handlers.office import BOB

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
    told = await desk.only()
    assert "is in review" in told
    assert "The service holds it. Contact the service." in told
    assert funding_id in told

    await decide(desk, funding_id, "credit")
    await desk.poll("funding")
    told = await desk.only()
    assert "is credited: 49" in told
    assert "✓ Resolved" in told


async def test_a_rejection_says_why_and_what_to_do_and_stays_open(desk: Desk) -> None:
    funding_id = await submitted(desk)
    await decide(desk, funding_id, "hold")
    await decide(desk, funding_id, "reject")
    for _ in range(3):
        await desk.poll("funding")

    told = await desk.only()
    assert "▲ Warning: Funding 0x5e5e5e…5e5e is rejected" in told
    assert "reviewed and refused it. Contact the service." in told


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
    assert (await desk.thread())[-1] == "Now: Funding 0x5e5e5e…5e5e is rejected."


async def test_a_credit_taken_back_weeks_later_is_critical_though_no_event_came(desk: Desk) -> None:
    funding_id = await submitted(desk)
    await decide(desk, funding_id, "hold")
    await decide(desk, funding_id, "credit")
    await desk.poll("funding")
    await desk.poll("funding", seconds=20 * 86400)
    await decide(desk, funding_id, "reverse")
    await desk.poll("funding")

    told = [words for words in await desk.seen() if "taken back" in words]
    assert len(told) == 1
    assert "✗ Critical" in told[0]
    assert "Stop top-ups and contact the service." in told[0]


async def test_a_separate_credit_sends_people_to_the_ledger(desk: Desk) -> None:
    funding_id = await submitted(desk)
    await decide(desk, funding_id, "hold")
    await decide(desk, funding_id, "credit_separately")
    await desk.poll("funding")

    told = await desk.only()
    assert "was credited separately" in told
    assert "Find it in the ledger." in told


async def test_a_late_submission_is_overdue_once_and_says_so_more_loudly(desk: Desk) -> None:
    await submitted(desk)
    for _ in range(3):
        await desk.poll("funding", seconds=1300)
    assert "overdue: pending for more than 1 h" in await desk.only()
    await desk.poll("funding", seconds=6 * 3600)

    assert "overdue: pending for more than 6 h" in await desk.only()


async def test_a_hash_nobody_sees_asks_for_the_right_network(desk: Desk) -> None:
    await desk.api("POST", "/funding", {"tx_hash": "0x" + "77" * 32, "network": "BASE"})
    await desk.poll("funding")
    assert await desk.seen() == []
    await desk.poll("funding", seconds=601)

    told = await desk.only()
    assert "is not seen on BASE yet" in told
    assert "submit the same hash again with the right one" in told


async def test_the_fourth_unverified_submission_is_told_before_the_fifth_blocks_all(desk: Desk) -> None:
    for n in range(4):
        await desk.api("POST", "/funding", {"tx_hash": "0x" + f"{n}c" * 32, "network": "BASE"})
    await desk.poll("funding")

    assert "4 of 5 unverified submissions of main are used" in await desk.only()


REASONS = [
    *(("rejected", r) for r in REJECTED_REASONS),
    *(("review", r) for r in REVIEW_REASONS),
    *(("credited", r) for r in CREDITED_REASONS),
]


async def test_every_reason_of_the_document_is_told_in_its_words(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [
        Funding.read(
            {
                "id": f"f-{status}-{reason}",
                "network": "POLYGON",
                "tx_hash": "0x" + f"{n:064x}",
                "status": status,
                "reason": reason,
                "token": "USDC",
                "amount_usd": 500,
                "fee_usd": None,
                "credited_usd": None,
                "created_at": "2026-03-02T09:00:00.000Z",
                "credited_at": None,
            }
        )
        for n, (status, reason) in enumerate(REASONS)
    ]

    async def listed(**_: object) -> list[Funding]:
        return made

    client = desk.office.core.partners["main"]
    monkeypatch.setattr(client, "funding_list", listed)
    monkeypatch.setattr(client, "funding", lambda *a, **k: listed())
    await funding_watch.read(desk.office.core, "main")
    async with desk.office.world.store.read() as tx:
        told = {a.subject: a.text for a in await alerts.raised_since(tx, tx.now.replace(year=2020))}

    for status, reason in REASONS:
        words = reason_in_words(status, reason)
        assert not words.startswith("Reason given")
        assert words in told[f"f-{status}-{reason}"]


async def test_a_ledger_that_differs_twice_is_told_with_both_figures(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.poll("ledger")
    await desk.poll("ledger")
    assert await desk.seen() == []

    client = desk.office.core.partners["main"]
    whole = [entry async for entry in client.ledger_entries()]

    async def short(**_: object):  # type: ignore[no-untyped-def]  # stands for an async generator
        for entry in whole[1:]:
            yield entry

    monkeypatch.setattr(client, "ledger_entries", short)
    await desk.poll("ledger")
    assert await desk.seen() == []
    await desk.poll("ledger")
    assert "Ledger and float of main differ by" in await desk.only()

    monkeypatch.undo()
    await desk.poll("ledger")
    assert "✓ Resolved" in await desk.only()


async def test_deliveries_that_fail_are_told_and_their_end_too(desk: Desk) -> None:
    await desk.register()
    await desk.tell("deliveries", {"mode": "drop"})
    await desk.buy("ACME", "1")
    await desk.poll("webhook", seconds=400)
    assert "Deliveries to main fail" in await desk.only()

    await desk.tell("deliveries", {"mode": "normal"})
    await desk.office.world.advance(3600)
    await desk.handled()
    await desk.poll("webhook")
    assert "✓ Resolved: Deliveries to main fail" in str(await desk.seen())


async def test_deliveries_that_go_elsewhere_are_told_as_silence(desk: Desk) -> None:
    await desk.register()
    await desk.poll("webhook", seconds=400)
    assert await desk.seen() == []
    for _ in range(3):
        await desk.tell("deliveries", {"mode": "pause"})
        await desk.buy("ACME", "1")
        await desk.log()  # known from the log before the delivery comes
        await desk.tell("deliveries", {"mode": "normal"})
        await desk.handled()
    await desk.poll("webhook", seconds=400)

    assert "No delivery of main reaches this bot" in await desk.only()
