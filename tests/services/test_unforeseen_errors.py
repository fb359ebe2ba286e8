"""An error nobody foresaw around a call: unknown outcome, the pauses of a lost answer, and people are notified."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.domain.requests import State
from bot.operations import Operation
from bot.outcomes import Outcome
from tests.services.outcome_steps import jump_to_the_end, open_alerts, top_ups
from tests.support.world import World

# As the contract has them: at once, after 5, 15, 30 s, 1, 2, 5 and 10 min.
SENDS_UNTIL_SHOWN = 8


@pytest.mark.parametrize("sent", [True, False], ids=["after the bytes went out", "before"])
async def test_an_unforeseen_error_is_an_unknown_outcome_that_people_are_notified_of(
    world: World, monkeypatch: pytest.MonkeyPatch, *, sent: bool
) -> None:
    request = await world.top_up("25")
    cls: Any = world.core.kinds[request.kind]
    send, tries = cls.send, 0

    async def broken(operation: Operation, *given: Any) -> Outcome:
        nonlocal tries
        tries += 1
        if sent:
            await send(operation, *given)
        raise RuntimeError("planted")

    monkeypatch.setattr(cls, "send", broken)
    lost = await jump_to_the_end(world, request, within=timedelta(minutes=40))
    assert tries <= SENDS_UNTIL_SHOWN + 3  # the repeats of a quarter of an hour are the rule from there on
    if not sent:  # the ledger shows nothing of it, and the approval has lapsed meanwhile
        assert (lost.state, top_ups(world)) == (State.FAILED, [])
        return
    assert lost.state is State.UNRESOLVED
    assert any(a.subject == request.id for a in await open_alerts(world))

    monkeypatch.setattr(cls, "send", send)
    found = await jump_to_the_end(world, request, within=timedelta(hours=2))
    assert found.state is State.SUCCEEDED
