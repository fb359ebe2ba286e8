"""That messages wait for Slack is said where Slack is not needed: to probes, to the doctor, and by an alert."""

from __future__ import annotations

from bot.cli.doctor import Level, messages
from bot.services.messages import Outbox, SlackTrouble, waiting
from bot.services.operators import health
from storage.messages import alerts
from tests.services.scripted_slack import ScriptedSlack
from tests.support.world import World


async def open_kinds(world: World) -> list[str]:
    async with world.store.read() as tx:
        return [alert.kind for alert in await alerts.open_ones(tx)]


async def test_a_channel_that_is_lost_is_said_and_ends_when_all_was_sent(world: World) -> None:
    slack = ScriptedSlack(next_post=[SlackTrouble("not_in_channel") for _ in range(60)])
    outbox = Outbox(world.core, slack)
    await world.top_up(approved=False)
    await outbox.deliver_due()
    await waiting.watch(world.core)
    assert await health.messages_go_out(world.core) is None, "a hiccup is no fault"
    assert await open_kinds(world) == []

    world.clock.advance(121)
    await outbox.deliver_due()
    await waiting.watch(world.core)
    told = await health.messages_go_out(world.core) or ""
    assert "1 message waits for Slack since 2026-03-02" in told
    assert "not_in_channel" in told
    assert "Invite Countersign" in told
    assert (await messages(world.store)).level is Level.WRONG
    assert await open_kinds(world) == ["messages_wait"]

    slack.next_post.clear()
    for _ in range(5):
        world.clock.advance(121)
        await outbox.deliver_due()
    await waiting.watch(world.core)
    assert await open_kinds(world) == []
    for _ in range(3):
        world.clock.advance(5)
        await outbox.deliver_due()
    assert await health.messages_go_out(world.core) is None
    assert (await messages(world.store)).level is Level.WELL


async def test_messages_that_nobody_sends_are_said_too(world: World) -> None:
    await world.top_up(approved=False)
    world.clock.advance(121)

    told = await health.messages_go_out(world.core) or ""

    assert "nothing sends them" in told
