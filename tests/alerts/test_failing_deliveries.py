"""Deliveries that fail are an alert for as long as they do: it ends when one arrives, and not when nothing is known."""

from __future__ import annotations

import pytest

from bot.services.alerts import webhook_rules
from tests.alerts.conftest import Desk

FAIL = "Webhook deliveries for main fail"


async def deliveries_fail(desk: Desk) -> None:
    await desk.register()
    await desk.tell("deliveries", {"mode": "drop"})
    await desk.buy("Corner Shop", "1")
    await desk.poll("webhook", seconds=400)
    assert FAIL in await desk.only()


async def test_the_alert_goes_on_while_nothing_was_delivered_since(desk: Desk) -> None:
    """Hours without a purchase are no sign that the address can be reached."""
    await deliveries_fail(desk)

    await desk.poll("webhook", seconds=7 * 3600)

    assert "arrive again" not in " ".join(await desk.seen())
    assert FAIL in await desk.only()


async def test_many_new_events_do_not_hide_those_that_wait(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy program has more events in a few minutes than are read at once."""
    monkeypatch.setattr(webhook_rules, "_MOST", 3)
    await desk.register()
    await desk.tell("deliveries", {"mode": "drop"})
    await desk.buy("Corner Shop", "1")
    await desk.driver.world.advance(400)
    for _ in range(4):
        await desk.buy("Corner Shop", "1")

    await desk.poll("webhook", seconds=1)

    assert FAIL in await desk.only()


async def test_one_delivery_that_comes_here_ends_the_alert_that_none_does(desk: Desk) -> None:
    """Where purchases are rare it takes hours until there are several."""
    await desk.register()
    for _ in range(3):
        await desk.tell("deliveries", {"mode": "pause"})
        await desk.buy("Corner Shop", "1")
        await desk.log()
        await desk.tell("deliveries", {"mode": "normal"})
        await desk.handled()
    await desk.poll("webhook", seconds=400)
    assert "No webhook delivery for main arrives here" in await desk.only()

    await desk.driver.world.advance(7 * 3600)
    await desk.buy("Corner Shop", "1")
    await desk.handled()
    await desk.poll("webhook", seconds=400)

    assert "arrive here again" in await desk.only()
