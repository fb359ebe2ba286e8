"""That messages wait for Slack is said where Slack is not needed: to probes, to the doctor, and by an alert."""

from __future__ import annotations

from datetime import timedelta

from bot.cli.doctor import Level, messages
from bot.domain.alerts import float_alerts
from bot.services.alerts import keep, resolve
from bot.services.events import Poller
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


async def test_the_end_says_how_long_the_oldest_message_really_waited(world: World) -> None:
    slack = ScriptedSlack(next_post=[SlackTrouble("not_in_channel") for _ in range(60)])
    outbox = Outbox(world.core, slack)
    await world.top_up(approved=False)
    for _ in range(4):
        await outbox.deliver_due()
        await waiting.watch(world.core)
        world.clock.advance(60)
    slack.next_post.clear()
    for _ in range(3):
        await outbox.deliver_due()
        world.clock.advance(20)
    await waiting.watch(world.core)

    async with world.store.read() as tx:
        over = await alerts.newest(tx, "messages_wait", "slack")
    assert over is not None
    assert "up to 5 minutes" in over.text


async def test_the_end_of_a_silence_counts_from_the_last_reading(world: World) -> None:
    poller = Poller(world.core, account_every=timedelta(seconds=60))
    await poller.account()
    await world.advance(240)
    await poller.watch()
    assert await open_kinds(world) == ["poller_silent"]
    await world.advance(30)
    await poller.account()
    await poller.watch()

    async with world.store.read() as tx:
        over = await alerts.newest(tx, "poller_silent", "main")
    assert over is not None
    assert "It was not for 4 minutes." in over.text or "It was not for 5 minutes." in over.text


async def test_an_ending_counts_from_when_it_was_really_so_and_from_the_earliest_that_was_said(
    world: World,
) -> None:
    began = world.clock.now() - timedelta(minutes=12)
    said = float_alerts.LEDGER_DIFFERS.says(program="main", difference="1", total="1", balance="2")
    for since in (began, began + timedelta(minutes=5)):
        async with world.store.begin() as tx:
            await keep(tx, world.core, said, condition="x", subject="main", since=since)
        world.clock.advance(240)
    async with world.store.begin() as tx:
        await resolve(tx, world.core, "x")

    async with world.store.read() as tx:
        over = await alerts.newest(tx, said.kind.name, "main")
    assert over is not None
    assert "for 20 minutes" in over.text


async def test_messages_that_nobody_sends_are_said_too(world: World) -> None:
    await world.top_up(approved=False)
    world.clock.advance(121)

    told = await health.messages_go_out(world.core) or ""

    assert "nothing sends them" in told
