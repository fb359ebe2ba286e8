"""Somebody sets the machine's clock while an alert is open, or before: it comes, ends and says for how long, by the
order of what happened and not by what two readings of that clock say."""

from __future__ import annotations

import ast
import re
from datetime import timedelta
from pathlib import Path

import pytest

from bot.services.messages.storage_watch import StorageWatch
from bot.services.operators import health
from tests.alerts.conftest import Desk
from tests.support.disks import immutable

BOT = Path(__file__).parents[2] / "bot"
STEPS_S = (-86_400, -3600, -600, 600, 3600, 86_400)
FAULT = {"operation": "GET /me", "effect": "status", "status": 500, "code": "UNAVAILABLE", "times": 999}


@pytest.mark.parametrize("step_s", STEPS_S)
@pytest.mark.parametrize("at", ["before", "after the last reading", "open", "answered", "there and back"])
async def test_however_the_clock_is_set_an_account_that_cannot_be_read_is_said_and_ends_with_how_long_that_was(
    desk: Desk, at: str, step_s: int
) -> None:
    clock = desk.driver.world.clock
    step = clock.set_wrong
    await desk.poll("account", "watch")
    if at in ("before", "there and back"):
        step(step_s)
    await desk.poll("account", "watch")
    read_at = clock.monotonic()
    if at == "after the last reading":
        step(step_s)
    await desk.tell("faults", FAULT)
    while not await desk.seen():
        await desk.poll("account", "watch")
        assert clock.monotonic() - read_at < 400, "three minutes, and the cadence"
    assert "The account of main cannot be read" in await desk.only()
    if at in ("open", "there and back"):
        step(-step_s)
    await desk.poll("account", "watch")
    assert "✗ Critical" in await desk.only()
    await desk.driver.world.control.delete("/_control/faults")
    if at == "answered":
        step(step_s)
    again_s = max(desk.poller._rests_until.values()) - clock.monotonic() + 120
    while "✓ Resolved" not in await desk.only():
        await desk.poll("account", "watch")
        again_s -= 60
        assert again_s > 0, "it is read"
    (minutes,) = re.findall(r"It could not be read for (\d+) minutes", await desk.only())
    assert abs(int(minutes) - (clock.monotonic() - read_at) / 60) <= 2


@pytest.mark.parametrize("step_s", STEPS_S)
async def test_however_the_clock_is_set_the_page_says_that_an_account_is_not_read_and_not_before(
    desk: Desk, step_s: int
) -> None:
    async def late() -> str | None:
        return await health.poller_runs(desk.driver.core, timedelta(seconds=60))

    await desk.poll("account")
    assert await late() is None
    desk.driver.world.clock.set_wrong(step_s)
    assert await late() is None
    await desk.driver.world.advance(100)
    assert await late() is None
    await desk.driver.world.advance(100)
    assert "was not read lately: main" in (await late() or "")
    await desk.poll("account")
    assert await late() is None


@pytest.mark.parametrize("back_s", [600, 3600, 86_400])
async def test_what_was_raised_by_a_clock_that_was_fast_ends_as_if_it_had_been_right(
    desk: Desk, back_s: int
) -> None:
    step = desk.driver.world.clock.set_wrong
    frozen = desk.driver.world.cards[0]
    await desk.poll("cards")
    step(back_s)
    await desk.api("POST", f"/cards/{frozen['id']}/freeze", {"frozen": True})
    await desk.poll("cards")
    await desk.poll("cards")
    assert "was frozen outside Countersign" in await desk.only()
    await desk.buy("Corner Coffee", "9999")
    await desk.handled()
    step(-back_s)
    await desk.api("POST", f"/cards/{frozen['id']}/freeze", {"frozen": False})
    await desk.poll("cards")
    await desk.poll("cards")
    assert any("✓ Resolved" in words and "is ACTIVE now" in words for words in await desk.seen())


async def test_an_alert_of_a_process_before_this_one_whose_clock_was_fast_claims_no_time(desk: Desk) -> None:
    step = desk.driver.world.clock.set_wrong
    await desk.poll("account", "watch")
    step(3600)
    await desk.poll("account", "watch")
    await desk.tell("faults", FAULT)
    for _ in range(5):
        await desk.poll("account", "watch")
    step(-3600)
    desk.driver.core.measures.alerts_raised_s.clear()
    await desk.driver.world.control.delete("/_control/faults")
    for _ in range(12):
        await desk.poll("account", "watch")
    assert "It could not be read for an unknown time" in await desk.only()


@pytest.mark.parametrize("step_s", STEPS_S)
async def test_however_the_clock_is_set_it_is_said_for_how_long_nothing_could_be_stored(
    desk: Desk, step_s: int
) -> None:
    said: list[str] = []

    async def say(words: str, _people: object) -> None:
        said.append(words)

    world = desk.driver.world
    watch, path = StorageWatch(world.core, say), world.store.database.path
    assert path is not None
    await watch.look()
    with immutable(path, path.with_name(f"{path.name}-wal")):
        await watch.look()
        world.clock.set_wrong(step_s)
        for _ in range(12):
            world.clock.advance(10)
            await watch.look()
    await watch.look()
    assert "It could not for 2 minutes" in said[-1]


def ordered_by_two_clocks(source: str) -> list[str]:
    """Comparisons of when an alert was raised or changed with another time, as later or earlier."""
    orders = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    return [
        ast.unparse(one)
        for one in ast.walk(ast.parse(source))
        if isinstance(one, ast.Compare)
        and any(isinstance(operator, orders) for operator in one.ops)
        and re.search(r"\b(alert|open_|before)\.(raised_at|updated_at)\b", ast.unparse(one))
    ]


def test_nothing_is_decided_by_whether_an_alert_is_older_than_a_time_of_another_reading_of_the_clock() -> (
    None
):
    found = {
        str(path.relative_to(BOT)): compared
        for path in sorted(BOT.rglob("*.py"))
        if (compared := ordered_by_two_clocks(path.read_text()))
    }
    # That one asks whether the clock was set back.
    assert found == {"services/alerts/resolved_text.py": ["alert.raised_at <= now"]}
    assert ordered_by_two_clocks("is_seen = last.read_at > open_.raised_at")
