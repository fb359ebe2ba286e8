"""A storm of declines is a handful of messages with true counts, at the pace that Slack takes."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from bot.partner.webhooks import Delivery
from bot.services.events import inbox
from bot.services.messages import Outbox
from bot.view_models import AlertLineView, AlertView
from handlers.slack_api import SlackPublisher
from tests.alerts.conftest import Desk

# Of each hundred: so many of one cause, so many of another, and the rest severe, on two cards.
CAUSES = ("processing_error",) * 80 + ("merchant_category_blocked",) * 18 + ("fraud_risk_declined",) * 2


def decline(desk: Desk, number: int) -> Delivery:
    code, stamp = CAUSES[number % len(CAUSES)], desk.driver.world.clock.now().isoformat()
    card = (
        desk.driver.world.cards[number % 2]["id"] if code == "fraud_risk_declined" else f"card-{number % 7}"
    )
    why = {"code": code, "message": "No", "retryable": False, "card_blocked": False}
    data = {
        "card_id": card,
        "transaction_id": f"storm-{number}",
        "event": "declined",
        "merchant": f"MERCHANT {number % 3}",
        "amount_usd": 1,
        "fee_usd": 0,
        "decline_reason": why,
        "occurred_at": stamp,
    }
    return Delivery.model_validate(
        {"id": f"storm-{number}", "type": "card.declined", "created_at": stamp, "data": data}
    )


async def a_minute_of(desk: Desk, declines: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """So many within sixty seconds, handled and reported as they come; what was called at Slack how often."""
    calls: Counter[str] = Counter()
    for name in ("post", "update"):
        original = getattr(SlackPublisher, name)

        async def counted(*args: Any, _original: Any = original, _name: str = name, **more: Any) -> Any:
            if isinstance(args[1], AlertView | AlertLineView):
                calls[f"{_name} {type(args[1]).__name__}"] += 1
            return await _original(*args, **more)

        monkeypatch.setattr(SlackPublisher, name, counted)
    outbox = Outbox(desk.driver.core, SlackPublisher(desk.driver.client))  # with the pace of production
    numbers = iter(range(declines))
    for _ in range(60):
        batch = [decline(desk, n) for _, n in zip(range(declines // 60 + 1), numbers, strict=False)]
        await asyncio.gather(*(desk.bot.intake.accept("main", one, "webhook") for one in batch))
        while await inbox.process_next(desk.driver.core, limit=100):
            pass
        await outbox.deliver_due()
        await desk.driver.world.advance(1)
        await desk.driver.tell("clock", {"advance_seconds": 1})
    for _ in range(10):
        await desk.driver.world.advance(1)
        await desk.driver.tell("clock", {"advance_seconds": 1})
        await outbox.deliver_due()
    return calls


async def _storm(desk: Desk, declines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = await a_minute_of(desk, declines, monkeypatch)

    shown = await desk.seen()
    assert len(shown) == 4, shown
    for cause, share in (("could not be processed", 0.8), ("this kind of merchant", 0.18)):
        (words,) = [one for one in shown if cause in one]
        assert f"Cluster of declines: {int(declines * share):,} purchases" in words
    severe = [one for one in shown if "looked like fraud" in one]
    assert all(f"Declined {declines // 100:,} times" in one for one in severe)
    lines = len([m for m in await desk.everything() if m.get("thread_ts") not in (None, m["ts"])])
    assert calls["post AlertView"] == 4
    assert calls["post AlertLineView"] == lines <= 4, "the group is called once for each"
    assert calls["update AlertView"] <= 4 * 14, "each every five seconds at most"
    assert await desk.bot.unhandled() == []


async def test_three_hundred_declines_in_a_minute_are_four_messages_with_true_counts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _storm(desk, 300, monkeypatch)


@pytest.mark.soak
async def test_five_thousand_declines_in_a_minute_are_four_messages_with_true_counts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _storm(desk, 5000, monkeypatch)
