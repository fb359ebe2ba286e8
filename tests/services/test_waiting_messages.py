"""That messages wait for Slack is said where Slack is not needed: to probes, to the doctor, and by an alert."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.cli.doctor import Level, messages
from bot.domain import slack_faults
from bot.domain.alerts import float_alerts
from bot.metrics import exposition
from bot.services.alerts import keep, resolve
from bot.services.events import Poller
from bot.services.messages import Outbox, SlackTrouble, waiting
from bot.services.messages.lanes import OPENED_AFTER_S, Lane, Lanes
from bot.services.operators import health
from bot.view_models import DirectView
from handlers.slack_api import publish
from storage.messages import alerts
from storage.messages import outbox as rows
from storage.transaction import Tx
from tests.services.scripted_slack import ScriptedSlack
from tests.support.world import World


async def open_kinds(world: World) -> list[str]:
    async with world.store.read() as tx:
        return [alert.kind for alert in await alerts.open_ones(tx)]


async def test_a_channel_that_is_lost_is_said_and_ends_when_all_was_sent(world: World) -> None:
    slack = ScriptedSlack(closed={"C0APPROVALS": SlackTrouble("not_in_channel")})
    outbox = Outbox(world.core, slack)
    await world.top_up(approved=False)
    await outbox.deliver_due()
    await waiting.watch(world.core)
    assert await health.messages_go_out(world.core) is None, "a hiccup is no fault"
    assert await open_kinds(world) == []

    world.clock.advance(121)
    await outbox.deliver_due()
    await waiting.watch(world.core)
    shown = await health.messages_go_out(world.core) or ""
    assert "1 message waits for Slack since 2026-03-02" in shown
    assert "not_in_channel" in shown
    assert "Invite it there with /invite @Countersign" in shown
    assert (await messages(world.store)).level is Level.WRONG
    assert await open_kinds(world) == ["messages_wait"]

    slack.closed = {}
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


async def oldest_s(world: World) -> float:
    """`countersign_outbox_oldest_seconds` of the approvals channel."""
    found = await exposition.from_the_database(world.core, asyncio.Lock())
    assert found is not None
    return exposition.outbox(world.core, found.figures)[1][("approvals",)]


async def test_the_metric_of_the_oldest_message_grows_while_it_is_tried_again(world: World) -> None:
    slack = ScriptedSlack(all_closed=SlackTrouble("token_revoked", everywhere=True))
    outbox = Outbox(world.core, slack)
    await world.top_up(approved=False)
    for _ in range(60):
        await outbox.deliver_due()
        world.clock.advance(5)
    assert await oldest_s(world) == 300

    slack.all_closed = None
    for _ in range(24):
        await outbox.deliver_due()
        world.clock.advance(5)
    assert await oldest_s(world) == 0


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
    assert "up to 4 minutes" in over.text


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
    assert (
        "It could not be read for 4 minutes." in over.text
        or "It could not be read for 5 minutes." in over.text
    )


async def test_an_ending_counts_from_when_it_was_really_so_and_from_the_earliest_that_was_said(
    world: World,
) -> None:
    began = world.clock.now() - timedelta(minutes=12)
    said = float_alerts.LEDGER_DIFFERS.says(program="main", difference="1", total="1", balance="2")
    for since in (began, began + timedelta(minutes=5)):
        async with world.store.begin() as tx:
            await keep(tx, world.core, said, condition="x", subject="main", program="main", since=since)
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

    shown = await health.messages_go_out(world.core) or ""

    assert "nothing sends them" in shown


ACCESS_CODES = sorted(slack_faults.ACCESS)


@pytest.mark.parametrize("code", [*ACCESS_CODES, "ratelimited", "503 no answer", "no answer: TimeoutError"])
def test_every_word_of_slack_about_access_is_explained_with_a_fix_and_never_by_the_doctor(code: str) -> None:
    says = slack_faults.explained(code, "#card-alerts")

    assert code in says
    assert len(says.split(". ")) > 1, "what is wrong, and what to do"
    assert "doctor" not in says


async def test_a_row_left_in_mid_send_keeps_the_cause_that_slack_gave(world: World) -> None:
    slack = ScriptedSlack()
    outbox = Outbox(world.core, slack)
    request = await world.top_up(approved=False)
    await outbox.deliver_due()
    slack.next_update = [SlackTrouble("is_archived")]
    await world.approve(request)
    await outbox.deliver_due()
    async with world.store.begin() as tx:  # taken again, and the process ended
        for row in await rows.next_due(tx) + await waiting_rows(tx):
            await rows.sending(tx, row.id)
    world.clock.advance(150)
    await outbox.heal()

    async with world.store.read() as tx:
        found = await waiting.now(tx)
    assert found is not None
    assert found.error == "is_archived"


async def waiting_rows(tx: Tx) -> list[rows.OutboxRow]:
    return [row for row in await rows.next_due(tx, limit=100) if row.last_error]


async def test_what_is_read_back_is_not_sent_again_where_it_was_sent_meanwhile(world: World) -> None:
    """The list of what was left in mid-send is a moment old when its rows are looked at."""
    slack = ScriptedSlack()
    outbox = Outbox(world.core, slack)
    await world.top_up(approved=False)
    async with world.store.begin() as tx:
        (row,) = await rows.next_due(tx)
        await rows.sending(tx, row.id)
    async with world.store.read() as tx:
        (left,) = await rows.stuck(tx)
    async with world.store.begin() as tx:
        await rows.sent(tx, row.id)

    async with world.store.begin() as tx:
        await rows.retry_left(tx, left, due_at=tx.now, error="")
    assert await outbox.deliver_due() == 0


WIDTHS = {"the token": ("invalid_auth", True), "the channel": ("not_in_channel", False)}


@pytest.mark.parametrize(("error", "everywhere"), WIDTHS.values(), ids=WIDTHS)
async def test_the_first_success_wakes_all_that_waited_for_the_same_thing(
    world: World, error: str, everywhere: bool
) -> None:
    """However long the pauses have become: nothing waits for its own next try once Slack takes messages."""
    slack = ScriptedSlack()
    outbox = Outbox(world.core, slack)
    first = await world.top_up(approved=False)
    await outbox.deliver_due()

    slack.closed = {} if everywhere else {world.core.channels.approvals: SlackTrouble(error)}
    slack.all_closed = SlackTrouble(error, everywhere=True) if everywhere else None
    await world.top_up("2", card=1, approved=False)
    await world.top_up("3", card=2, approved=False)
    await world.approve(first)
    for _ in range(20):  # until the pauses are two minutes long
        world.clock.advance(20)
        await outbox.deliver_due()
        await waiting.watch(world.core)
    assert await open_kinds(world) == ["messages_wait"]
    slack.closed, slack.all_closed = {}, None
    calls = len(slack.calls)
    while not await outbox.deliver_due():  # until the first try that is due by its own pause
        world.clock.advance(1)
    for _ in range(6):
        world.clock.advance(1)
        await outbox.deliver_due()

    async with world.store.read() as tx:
        assert await rows.waiting(tx) is None
    assert await health.messages_go_out(world.core) is None
    assert await open_kinds(world) == [], "the alert ends with the last message that waited"
    assert {m.shows for m in slack.messages if m.shows.startswith("alert")} <= {"alert resolved"}
    assert "post alert raised" not in slack.calls[calls:], "no alarm when it is over"


async def test_when_access_is_back_all_that_waited_is_tried_at_once(world: World) -> None:
    slack = ScriptedSlack(next_post=[SlackTrouble("invalid_auth", everywhere=True) for _ in range(100)])
    outbox = Outbox(world.core, slack)
    await world.top_up(approved=False)
    for _ in range(20):
        world.clock.advance(20)
        await outbox.deliver_due()
    slack.next_post.clear()

    await outbox.try_again()
    await outbox.deliver_due()

    assert "card pending" in [m.shows for m in slack.messages]


async def test_a_channel_that_stays_closed_while_others_work_is_not_tried_with_each_message(
    world: World,
) -> None:
    lanes = Lanes(world.clock, spacing_s=0)
    shut, well = Lane("C1", False), Lane("C2", False)
    for _ in range(9):
        lanes.failed(shut, 1, everywhere=True)
        assert lanes.worked(well) == frozenset()
        assert not lanes.is_free(shut)
        world.clock.advance(OPENED_AFTER_S)
        assert lanes.worked(well) == {1}
        assert lanes.is_free(shut)
    lanes.failed(shut, 2)  # the channel alone
    world.clock.advance(60)
    assert lanes.worked(well) == frozenset()
    assert lanes.worked(Lane("C1", True)) == {2}


async def test_the_requester_reads_that_a_request_could_not_be_posted_yet_and_then_that_it_is(
    world: World,
) -> None:
    """Every kind of trouble in the approvals channel, as far as their direct messages arrive."""
    slack = ScriptedSlack(closed={"C0APPROVALS": SlackTrouble("not_in_channel")})
    outbox = Outbox(world.core, slack)
    request = await world.top_up(approved=False)
    for _ in range(3):
        world.clock.advance(2)
        await outbox.deliver_due()

    shown = [str(publish.draw(view)) for view in slack.drawn if isinstance(view, DirectView)]
    assert len(shown) == 1, shown
    for said in (request.id, "could not be posted in <#C0APPROVALS> yet", "not_in_channel", "keeps trying"):
        assert said in shown[0], shown
    assert "not_in_channel" in await waiting.trouble_with(world.core, "C0APPROVALS")

    slack.closed = {}
    for _ in range(20):
        world.clock.advance(10)
        await outbox.deliver_due()
    last = [str(publish.draw(view)) for view in slack.drawn if isinstance(view, DirectView)][-1]
    assert "It is in <#C0APPROVALS> now" in last
    assert len([m for m in slack.messages if m.channel == "D-U0ALICE"]) == 1, "one message, edited"


async def test_a_request_that_is_posted_at_once_says_nothing_more_to_its_requester(world: World) -> None:
    slack = ScriptedSlack(next_post=[SlackTrouble("503")])
    outbox = Outbox(world.core, slack)
    await world.top_up(approved=False)
    await outbox.deliver_due()
    async with world.store.begin() as tx:  # the direct message comes late
        for row in await rows.next_due(tx):
            await rows.retry(tx, row.id, due_at=tx.now + timedelta(seconds=30), error="")
    for _ in range(60):
        world.clock.advance(1)
        await outbox.deliver_due()

    assert [m.shows for m in slack.messages] == ["card pending"]
