"""The crash programme finds bugs that were planted: without that, its green says nothing."""

from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import TOPUP, kill_at_points, kill_at_random

# The bug, where the bot is killed, and what must be said of it.
PLANTED = [
    ("new-key-on-retry", "execution.answered", "another key than its own"),
    ("no-read-back", "outbox.sent", "was posted"),  # more than once: how often is a matter of the kills
    pytest.param(
        "forgets-what-it-claimed",
        "execution.claimed",
        "was approved and ends as executing",
        marks=pytest.mark.soak,
    ),
]

REFUSED = {"method": "chat.postMessage", "effect": "error", "error": "invalid_auth", "times": 8}
LOST_ANSWERS = {"operation": TOPUP, "effect": "drop_after_commit", "times": 3}


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(("bug", "point", "complaint"), PLANTED)
async def test_a_planted_bug_is_found(tmp_path: Path, bug: str, point: str, complaint: str) -> None:
    async with outside(tmp_path, bug=bug) as world:
        figures = await kill_at_points(world, [point], seed=7, drain_timeout_s=4, by_turns=True)

    assert any(complaint in broken for broken in figures.broken), figures.broken


@pytest.mark.soak
async def test_paying_twice_is_found_by_kills_at_random_moments_too(tmp_path: Path) -> None:
    async with outside(tmp_path, bug="new-key-on-retry") as world:
        figures = await kill_at_random(world, 5, seed=7, faults=[LOST_ANSWERS])

    # Which kill comes first decides whether it is seen in the debits or in the keys.
    found = [b for b in figures.broken if "was debited" in b or "another key than its own" in b]
    assert found, figures.broken


@pytest.mark.soak
async def test_a_message_given_up_because_slack_took_no_message_for_a_while_is_found(tmp_path: Path) -> None:
    async with outside(tmp_path, bug="gives-messages-up") as world:
        figures = await kill_at_random(world, 5, seed=7, slack_faults=[REFUSED], drain_timeout_s=4)

    assert any("was given up" in broken for broken in figures.broken), figures.broken
