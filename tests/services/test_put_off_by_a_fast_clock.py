"""What a clock that was fast has dated is posted soon after it is set right, whatever had dated it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from bot.services import outbox_messages
from bot.services.messages import Outbox, waiting
from bot.services.operators import safe_mode
from storage import audit
from storage.operators import safe_mode as rows
from tests.services.scripted_slack import ScriptedSlack
from tests.support.world import World


async def _safe_mode(world: World) -> None:
    async with world.store.begin() as tx:
        head = await audit.head(tx)
        await rows.enter(tx, head_seq=head.seq, head_at=tx.now, anchor_seq=head.seq, anchor_at=tx.now)
    await safe_mode.at_start(world.core)


async def _renamed(world: World) -> None:
    world.rebuild(channels=replace(world.core.channels, approvals="C0NEW"))
    async with world.store.begin() as tx:
        await outbox_messages.readdress(tx, world.core)


@pytest.mark.parametrize("dates", [_safe_mode, _renamed])
async def test_a_message_that_was_not_tried_is_posted_once_the_clock_is_right(
    world: World, dates: Callable[[World], Awaitable[None]]
) -> None:
    slack = ScriptedSlack()
    await world.top_up(approved=False)
    world.clock.set_wrong(3600)
    await dates(world)
    world.clock.set_wrong(-3600)

    outbox = Outbox(world.core, slack)
    for _ in range(12):
        await world.advance(10)
        await waiting.watch(world.core)
        await outbox.heal()
        await outbox.deliver_due()

    approvals = world.core.channels.approvals
    assert [one.channel for one in slack.messages].count(approvals) == 1
