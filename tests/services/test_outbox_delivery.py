"""What waits for Slack arrives once, in order, at Slack's pace, whatever Slack does; doubles only after a crash
that Slack itself cannot tell us about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from bot.domain.alerts import Said, Severity, float_alerts
from bot.services import alerts, outbox_messages
from bot.services.core import Channels
from bot.services.messages import (
    MessageGone,
    Outbox,
    Posted,
    SlackRefused,
    SlackTrouble,
    delivery,
    view_model_loader,
)
from bot.services.messages.lanes import DRAWN_TOGETHER_S, KEPT_FOR_ALERTS, MANY_EDITS, MOST_EDITS, Edits
from bot.services.requests import approvals
from bot.services.requests import view_models as request_view_models
from bot.view_models import MessageView
from storage.messages import Due
from storage.messages import outbox as rows
from storage.transaction import Tx
from tests.services.outcome_steps import Fault, execute
from tests.services.scripted_slack import ScriptedSlack
from tests.support.waiting import eventually
from tests.support.world import BOB, World, a_world

APPROVALS = "C0APPROVALS"


@dataclass
class Post:
    """A small world with an outbox that delivers to a scripted Slack."""

    world: World
    slack: ScriptedSlack
    outbox: Outbox

    async def deliver(self, seconds: float = 0, *, step: float = 1.0) -> None:
        """Deliver now, and then as time passes, as the loop does between its rests."""
        await self._turn()
        passed = 0.0
        while passed < seconds:
            self.world.clock.advance(step)
            passed += step
            await self._turn()

    async def _turn(self) -> None:
        await self.outbox.heal()
        for _ in range(20):
            if not await self.outbox.deliver_due():
                return
        raise AssertionError("the outbox goes round and round without resting")

    async def queued(self) -> int:
        async with self.world.store.read() as tx:
            return len(await rows.next_due(tx, limit=100)) + len(await rows.stuck(tx))

    def alerts(self) -> list[str]:
        return [shows for shows in self.in_channel("C0ALERTS") if shows.startswith("alert")]

    def in_channel(self, channel: str = APPROVALS) -> list[str]:
        return [m.shows for m in self.slack.messages if m.channel == channel]


@pytest.fixture
async def post(tmp_path: Path) -> AsyncIterator[Post]:
    async with a_world(tmp_path) as world:
        slack = ScriptedSlack()
        yield Post(world, slack, Outbox(world.core, slack))


async def test_a_request_is_one_card_redrawn_with_its_lines_in_the_thread_and_a_word_to_the_requester(
    post: Post,
) -> None:
    request = await post.world.top_up(approved=False)
    await post.deliver()
    assert post.in_channel() == ["card pending"]
    await post.world.approve(request)
    await execute(post.world, request)
    await post.deliver(10)

    card = post.slack.messages[0]
    assert card.shows == "card succeeded"
    assert post.in_channel() == ["card succeeded", "line approval", "line succeeded"]
    assert {m.thread_ts for m in post.slack.messages if m.shows.startswith("line")} == {card.ts}
    # One direct message, which, like any picture, shows what is true when it is delivered.
    assert post.in_channel("D-U0ALICE") == ["direct succeeded"]
    assert await post.queued() == 0


async def test_a_channel_gets_one_post_a_second_and_edits_do_not_wait(post: Post) -> None:
    first = await post.world.top_up("10", approved=False)
    await post.deliver()
    for amount in ("11", "12", "13"):
        await post.world.top_up(amount, card=1, approved=False)
    await approvals.reject(post.world.core, first.id, BOB, reason="no")

    await post.deliver()
    assert post.slack.messages[0].shows == "card rejected", "an edit is not paced"
    assert len(post.in_channel()) == 1
    for posts in (2, 3, 4, 5):
        await post.deliver(1)
        assert len(post.in_channel()) == posts
    assert len(post.in_channel("D-U0ALICE")) == 1, "another channel has a pace of its own"


async def test_a_429_is_waited_out_for_its_channel_and_nothing_is_lost_or_doubled(post: Post) -> None:
    post.slack.next_post = [SlackTrouble("ratelimited", retry_after_s=30)]
    await post.world.top_up(approved=False)
    await post.deliver(29)
    assert post.in_channel() == []
    assert post.slack.calls == ["post card pending"], "Slack said when"
    await post.deliver(2)
    assert post.in_channel() == ["card pending"]


async def test_an_outage_is_waited_out_with_growing_pauses(post: Post) -> None:
    post.slack.next_post = [SlackTrouble("503") for _ in range(8)]
    await post.world.top_up(approved=False)
    at = []
    for second in range(40):
        before = len(post.slack.calls)
        await post.deliver(1 if second else 0)
        if len(post.slack.calls) > before:
            at.append(second)
    gaps = [later - earlier for earlier, later in pairwise(at)]
    assert gaps == [1, 2, 5, 15]
    assert post.in_channel() == ["card pending"]


async def test_a_lost_answer_is_read_back_before_anything_is_posted_again(post: Post) -> None:
    post.slack.next_post = [SlackTrouble("timeout", maybe_sent=True)]
    request = await post.world.top_up(approved=False)
    await post.deliver(5)
    assert post.in_channel() == ["card pending"]
    assert post.slack.calls == ["post card pending", "find"]

    await post.world.approve(request)
    await post.deliver(3)
    assert post.slack.messages[0].shows == "card approved", "the found message is the one that is edited"


async def test_while_slack_cannot_be_read_back_nothing_is_posted_twice(post: Post) -> None:
    post.slack.next_post = [SlackTrouble("timeout", maybe_sent=True)]
    post.slack.next_find = [SlackTrouble("500") for _ in range(3)]
    await post.world.top_up(approved=False)
    await post.deliver(60)
    assert post.in_channel() == ["card pending"]
    assert post.slack.calls.count("post card pending") == 1
    assert await post.queued() == 0


async def test_a_lost_edit_is_drawn_again_and_does_not_hammer_slack(post: Post) -> None:
    request = await post.world.top_up(approved=False)
    await post.deliver()
    post.slack.next_update = [SlackTrouble("504", maybe_sent=True), SlackTrouble("504", maybe_sent=True)]
    await approvals.reject(post.world.core, request.id, BOB, reason="no")
    await post.deliver()
    assert post.slack.calls.count("update card rejected") == 1, "no second try in the same instant"
    await post.deliver(10)
    assert post.in_channel()[0] == "card rejected"
    assert len([m for m in post.slack.messages if m.shows.startswith("card")]) == 1


async def test_a_deleted_message_is_posted_again_and_edited_there_from_then_on(post: Post) -> None:
    request = await post.world.top_up(approved=False)
    await post.deliver()
    post.slack.messages.clear()
    await post.world.approve(request)
    await post.deliver(5)
    cards = [m for m in post.slack.messages if m.shows.startswith("card")]
    assert [m.shows for m in cards] == ["card approved"]

    await execute(post.world, request)
    await post.deliver(5)
    assert cards[0].shows == "card succeeded"


async def test_a_redraw_fixes_a_card_that_somebody_edited(post: Post) -> None:
    request = await post.world.top_up(approved=False)
    await post.deliver()
    post.slack.messages[0].shows = "vandalised"
    async with post.world.store.begin() as tx:
        await outbox_messages.redraw(tx, post.world.core, request)
    await post.deliver()
    assert post.in_channel() == ["card pending"]


async def test_what_slack_refuses_for_its_content_is_sent_as_plain_text_and_an_alert_says_so(
    post: Post,
) -> None:
    post.slack.next_post = [SlackRefused("invalid_blocks", plain="Alice asks for 10.00 USD")]
    await post.world.top_up("10", approved=False)
    await post.deliver(5)
    await post.world.top_up("11", card=1, approved=False)
    await post.deliver(5)

    assert post.in_channel() == ["plain Alice asks for 10.00 USD", "card pending"]
    assert post.slack.calls.count("post card pending") == 2
    assert post.alerts() == ["alert raised"]
    assert await post.queued() == 0


async def test_an_edit_that_slack_refuses_for_its_content_leaves_plain_text_until_the_next_change(
    post: Post,
) -> None:
    request = await post.world.top_up(approved=False)
    await post.deliver()
    post.slack.next_update = [SlackRefused("msg_too_long", plain="approved")]
    await post.world.approve(request)
    await post.deliver(5)
    assert post.in_channel()[0] == "plain approved"
    assert post.alerts() == ["alert raised"]

    await execute(post.world, request)
    await post.deliver(5)
    assert post.in_channel()[0] == "card succeeded"
    assert post.alerts() == ["alert resolved"]


async def test_what_slack_refuses_even_as_plain_text_is_given_up_and_reported_and_holds_up_nobody(
    post: Post,
) -> None:
    post.slack.next_post = [SlackRefused("invalid_blocks", plain="x"), SlackRefused("no_text", plain="x")]
    await post.world.top_up("10", approved=False)
    await post.world.top_up("11", card=1, approved=False)
    await post.deliver(30)

    assert post.in_channel() == ["card pending"]
    assert post.alerts() == ["alert raised"]
    assert await post.queued() == 0


async def test_a_message_waits_for_as_long_as_slack_does_not_let_us_and_is_tried_every_two_minutes(
    post: Post,
) -> None:
    post.slack.next_post = [SlackTrouble("token_revoked") for _ in range(80)]
    await post.world.top_up(approved=False)
    at, second = [0], 0
    while post.in_channel() != ["card pending"]:
        before = len(post.slack.calls)
        await post.deliver(10, step=10)
        second += 10
        assert second < 3 * 3600
        if len(post.slack.calls) > before:
            at.append(second)

    assert second > 3600
    assert max(later - earlier for earlier, later in pairwise(at)) <= 130, (
        "two minutes, and a step of this test"
    )


async def test_what_cannot_be_drawn_is_set_aside_after_three_tries_and_blocks_nothing(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursed = await post.world.top_up("10", approved=False)
    honest = request_view_models.request

    async def request(tx: Any, core: Any, found: Any) -> Any:
        if found.id == cursed.id:
            raise KeyError("balance_usd")
        return await honest(tx, core, found)

    monkeypatch.setattr(request_view_models, "request", request)
    await post.world.top_up("11", card=1, approved=False)
    await post.deliver(5)
    assert "card pending" in post.in_channel(), "the good one is not held up"

    await post.deliver(60)
    assert post.in_channel() == ["card pending", f"plain About request {cursed.id}."]
    assert post.alerts() == ["alert raised"]
    assert await post.queued() == 0

    monkeypatch.undo()
    await post.world.approve(cursed)
    await post.deliver(10)
    assert "card approved" in post.in_channel(), "its next change is drawn as it should be"
    assert post.alerts() == ["alert resolved"]


async def test_a_line_waits_for_its_card_however_long_the_outage_lasts(post: Post) -> None:
    request = await post.world.top_up(approved=False)
    await post.world.approve(request)
    post.slack.next_post = [SlackTrouble("503") for _ in range(150)]
    await post.deliver(2 * 3600, step=60)
    assert post.in_channel() == []

    post.slack.next_post.clear()
    await post.deliver(300, step=5)
    assert post.in_channel() == ["card approved", "line approval"]


async def a_storm(post: Post, of: int) -> None:
    """So many alerts at once."""
    async with post.world.store.begin() as tx:
        for n in range(of):
            said = Said(float_alerts.FLOAT_LOW, Severity.WARNING, f"Alert {n}", "It is so.")
            await alerts.raise_(
                tx, post.world.core, said, condition=f"float:{n}", subject="main", program="main"
            )


@pytest.mark.parametrize("alerts_channel", ["C0ALERTS", APPROVALS])
async def test_a_storm_of_alerts_delays_an_approval_by_less_than_five_seconds(
    post: Post, alerts_channel: str
) -> None:
    core = post.world.rebuild(channels=replace(post.world.core.channels, alerts=alerts_channel))
    post.outbox = Outbox(core, post.slack)
    await a_storm(post, 120)
    await post.deliver(2)

    await post.world.top_up(approved=False)
    await post.deliver(4)

    assert "card pending" in post.in_channel()


async def test_a_hundred_and_twenty_that_wait_in_one_channel_delay_another_by_less_than_a_second(
    post: Post,
) -> None:
    await a_storm(post, 120)
    await post.deliver(2)

    await post.world.top_up(approved=False)
    await post.deliver()

    assert post.in_channel() == ["card pending"]
    assert await post.queued() == 100, "as many as are counted"


async def test_while_there_is_much_to_draw_what_changes_within_seconds_is_drawn_once(post: Post) -> None:
    request = await post.world.top_up(approved=False)
    await post.deliver(1)
    for _ in range(MANY_EDITS):
        post.outbox._lanes.edits.made()
    (card,) = [m for m in post.slack.messages if m.channel == APPROVALS]

    await post.world.approve(request)
    await post.deliver(2)
    await execute(post.world, request)
    await post.deliver(2)
    assert card.edits == 0

    await post.deliver(DRAWN_TOGETHER_S)
    assert (card.edits, card.shows) == (1, "card succeeded")


async def test_the_last_edits_of_a_minute_are_kept_for_alerts(post: Post) -> None:
    edits = Edits(post.world.clock)
    for _ in range(MOST_EDITS - KEPT_FOR_ALERTS):
        assert edits.may_go("card")
        edits.made()

    assert not edits.may_go("card")
    assert edits.may_go("alert")
    post.world.clock.advance(60)
    assert edits.may_go("card")


async def test_a_storm_in_a_channel_does_not_starve_its_edits(post: Post) -> None:
    request = await post.world.top_up(approved=False)
    await post.deliver(1)
    core = post.world.rebuild(channels=replace(post.world.core.channels, alerts=APPROVALS))
    post.outbox = Outbox(core, post.slack)
    await a_storm(post, 120)

    await approvals.reject(post.world.core, request.id, BOB, reason="no")
    await post.deliver(1)

    assert post.in_channel()[0] == "card rejected"


async def test_a_channel_that_hangs_holds_up_no_other_and_is_not_taken_for_a_left_one(post: Post) -> None:
    await a_storm(post, 1)
    reached, answers = asyncio.Event(), asyncio.Event()
    honest = post.slack.post

    async def hangs(view: MessageView, **where: Any) -> Posted:
        if where["channel"] == "C0ALERTS":
            reached.set()
            await answers.wait()
        return await honest(view, **where)

    post.slack.post = hangs  # type: ignore[method-assign]
    running = asyncio.create_task(post.outbox.run())
    async with asyncio.timeout(10):
        await reached.wait()
        await post.world.top_up(approved=False)
        assert await eventually("the card is posted", post.in_channel) == ["card pending"]
        assert "find" not in post.slack.calls
        answers.set()
        await eventually("the alert is posted", post.alerts)
    running.cancel()
    await asyncio.wait({running})
    assert post.alerts() == ["alert raised"]


async def test_an_alert_is_one_message_that_changes(post: Post) -> None:
    await Fault("processor", {"processor": "5xx"}).set(post.world, "POST /cards/{cardId}/topup")
    request = await post.world.top_up()
    await execute(post.world, request)
    await post.deliver(5)
    assert post.alerts() == ["alert raised"]
    await post.world.tell(f"topups/{request.key}/resolve", {"as": "credited"})
    await post.world.run(10)
    await post.deliver(5)
    assert post.alerts() == ["alert resolved"]


class Killed(BaseException):
    """The process dies here."""


@pytest.mark.parametrize(("point", "posted_before"), [("outbox.sending", 0), ("outbox.sent", 1)])
async def test_a_crash_between_send_and_mark_is_healed_by_reading_back(
    post: Post, point: str, posted_before: int
) -> None:
    def kill(reached: str) -> None:
        if reached == point:
            raise Killed

    request = await post.world.top_up(approved=False)
    dying = Outbox(replace(post.world.core, crash_point=kill), post.slack)
    with pytest.raises(Killed):
        await dying.deliver_due()
    assert len(post.slack.messages) == posted_before

    await post.deliver(3)
    assert post.in_channel() == ["card pending"]
    await approvals.reject(post.world.core, request.id, BOB, reason="no")
    await post.deliver(3)
    assert post.slack.messages[0].shows == "card rejected"


async def test_what_a_dead_process_has_sent_is_not_posted_again_while_it_may_still_arrive(post: Post) -> None:
    async def die(*what: Any, **how: Any) -> Posted:
        on_its_way.append(lambda: honest(*what, **how))
        raise Killed

    await post.world.top_up(approved=False)
    honest, on_its_way = post.slack.post, list[Callable[[], Awaitable[Posted]]]()
    with patch.object(post.slack, "post", die), pytest.raises(Killed):
        await Outbox(post.world.core, post.slack).deliver_due()

    await post.deliver(1)
    await on_its_way[0]()
    await post.deliver(30)

    assert post.in_channel() == ["card pending"]


async def test_a_process_that_stood_still_does_not_post_what_another_has_posted_meanwhile(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had taken the message, and stood still before it sent it."""
    monkeypatch.setattr(delivery, "ASKS_AGAIN_AFTER_S", 0.0)
    stands_still, goes_on, honest = asyncio.Event(), asyncio.Event(), view_model_loader.row

    async def frozen(*what: Any) -> Any:
        monkeypatch.setattr(view_model_loader, "row", honest)
        stands_still.set()
        await goes_on.wait()
        return await honest(*what)

    await post.world.top_up(approved=False)
    monkeypatch.setattr(view_model_loader, "row", frozen)
    sleeper = asyncio.create_task(Outbox(post.world.core, post.slack).deliver_due())
    await stands_still.wait()
    await post.deliver(6)
    assert post.in_channel() == ["card pending"]

    goes_on.set()
    await sleeper
    await post.deliver(6)

    assert post.in_channel() == ["card pending"]


async def test_a_message_that_took_long_to_draw_is_sent_all_the_same(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "ASKS_AGAIN_AFTER_S", 0.0)
    await post.world.top_up(approved=False)

    await post.deliver(3)

    assert post.in_channel() == ["card pending"]


async def test_a_double_comes_only_of_a_crash_that_slack_cannot_tell_us_about(post: Post) -> None:
    def kill(reached: str) -> None:
        if reached == "outbox.sent":
            raise Killed

    await post.world.top_up(approved=False)
    dying = Outbox(replace(post.world.core, crash_point=kill), post.slack)
    with pytest.raises(Killed):
        await dying.deliver_due()
    post.slack.next_find = [SlackRefused("missing_scope")]

    await post.deliver(400, step=20)

    assert post.in_channel() == ["card pending", "card pending"]


async def test_a_line_waits_for_its_card(post: Post) -> None:
    post.slack.next_post = [SlackTrouble("503"), SlackTrouble("503")]
    request = await post.world.top_up(approved=False)
    await post.world.approve(request)
    await post.deliver(20)
    assert post.in_channel()[:2] == ["card approved", "line approval"]


async def test_a_line_whose_card_was_deleted_has_it_posted_again(post: Post) -> None:
    request = await post.world.top_up(approved=False)
    await post.deliver()
    post.slack.messages.clear()
    post.slack.next_post = [MessageGone("thread_not_found")]
    async with post.world.store.begin() as tx:
        await outbox_messages.line(tx, post.world.core, request, "reminder", tag="x")
    await post.deliver(10)
    assert post.in_channel() == ["card pending", "line reminder"]


async def test_a_line_whose_card_is_found_deleted_while_it_is_its_turn_never_stands_in_the_channel_itself(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit goes beside the lines: it may find that the card is gone when the line has been chosen already."""
    request = await post.world.top_up(approved=False)
    await post.deliver()
    post.slack.messages.clear()
    post.world.clock.advance(5)
    async with post.world.store.begin() as tx:
        await outbox_messages.line(tx, post.world.core, request, "reminder", tag="x")
    chosen = rows.sendable

    async def chosen_before(tx: Tx, *, each: int) -> list[Due]:
        found = await chosen(tx, each=each)
        monkeypatch.undo()
        (line,) = [due.row for due in found if due.row.kind == "line"]
        async with post.world.store.begin() as other:
            await rows.forget_place(other, line.subject, "card")
            await outbox_messages.redraw(other, post.world.core, request)
        return found

    monkeypatch.setattr(rows, "sendable", chosen_before)
    await post.deliver(10)

    assert post.in_channel() == ["card pending", "line reminder"]
    assert post.slack.messages[1].thread_ts == post.slack.messages[0].ts


async def test_a_thread_whose_card_was_deleted_goes_on_under_the_new_card(post: Post) -> None:
    request = await post.world.top_up(approved=False)
    await post.deliver()
    post.slack.messages.clear()
    post.slack.next_post = [MessageGone("thread_not_found")]
    async with post.world.store.begin() as tx:
        await outbox_messages.line(tx, post.world.core, request, "reminder", tag="x")
    await post.deliver(2)
    async with post.world.store.begin() as tx:
        await outbox_messages.redraw(tx, post.world.core, request)
    await post.deliver(10)
    assert sorted(post.in_channel()) == ["card pending", "line reminder"]


@pytest.mark.parametrize("was_posted", [False, True], ids=["still to be posted", "posted before"])
async def test_what_was_for_a_channel_that_is_gone_comes_to_the_one_that_is_named_in_its_place(
    post: Post, was_posted: bool
) -> None:
    world = post.world
    if not was_posted:
        post.slack.closed = {APPROVALS: SlackTrouble("is_archived")}
    request = await world.top_up(approved=False)
    await post.deliver(10)
    post.slack.closed = {APPROVALS: SlackTrouble("is_archived")}
    assert bool(post.in_channel(APPROVALS)) is was_posted

    world.rebuild(channels=Channels("C0OTHER", "C0ALERTS"))
    post.outbox = Outbox(world.core, post.slack)
    async with world.store.begin() as tx:
        await outbox_messages.readdress(tx, world.core)
    if was_posted:
        await world.approve(request)
    await post.deliver(200, step=5)

    assert any(shows.startswith("card") for shows in post.in_channel("C0OTHER")), "where people can decide"
    async with world.store.read() as tx:
        assert await rows.waiting(tx) is None, "nothing waits for the channel that is gone"
