"""What a start cannot read, and for how long: what is held meanwhile, what people read within a minute, how it ends.

A walk over the troubles of the ledger and of Slack, each by itself and both together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError, LookupFailed, SlackAway
from bot.domain.requests import Request, State
from bot.metrics import exposition
from bot.metrics.sources import Sources
from bot.services import core, execution
from bot.services.anchor_places import AnchorPlaces
from bot.services.message_kinds import REQUEST_LINE, REQUESTER_NOTICE
from bot.services.messages.view_model_loader import LOADERS
from bot.services.older_copies import copy_detection
from bot.services.older_copies.messages_in_slack import PostedMessage, PostedMessages, Wanted
from bot.services.operators import health, safe_mode
from bot.services.overview import status
from bot.services.processes import start_holds
from bot.services.requests import approvals, batch_submission, lifecycle, request_lookups
from bot.view_models import DirectView, LineView
from handlers.views import replies
from handlers.views.requests import request_card
from storage.messages import outbox
from tests.services.bulk_requests import ask_bulk, rows_of
from tests.storage.test_restore_pays_once import CLAIMS_NOTHING
from tests.storage.test_restores_at_odd_times import in_force, open_alerts, read_ledger
from tests.support.databases import SqliteFiles
from tests.support.world import ALICE, BOB, World, a_world

pytestmark = pytest.mark.by_turns(12)

AT = datetime(2026, 3, 2, 8, tzinfo=UTC)
#: Of the ledger: the fault of the simulator, and whether anybody can wait for its end.
LEDGER = {"500": {"status": 500}, "timeout": None, "403": {"status": 403}}
SLACK: dict[str, Exception] = {
    "429": SlackAway("Slack takes no more.", "ratelimited"),
    "down": SlackAway("Slack was not reached.", "no answer"),
    "no scope": LookupFailed("Slack refused.", "missing_scope"),
    "not in the channel": LookupFailed("Slack refused.", "not_in_channel"),
}
#: Nobody waits for what somebody has to give first.
FOREVER = {"403", "no scope", "not in the channel"}
TROUBLES = [
    *((ledger, "") for ledger in LEDGER),
    *(("", slack) for slack in SLACK),
    ("500", "429"), ("500", "no scope"), ("timeout", "down"),
]  # fmt: skip
HELD = [each for each in TROUBLES if set(each) - FOREVER - {""}]


@pytest.fixture
def databases(sqlite_files: SqliteFiles) -> SqliteFiles:
    """What is held is the same on either database."""
    return sqlite_files


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        world.rebuild(anchors=AnchorPlaces([]))
        await read_ledger(world)
        yield world


async def _connected() -> bool:
    return True


class Started:
    """A process that has just started, and what it cannot read."""

    def __init__(self, world: World, ledger: str, slack: str) -> None:
        self.world, self.ledger, self.slack = world, ledger, slack
        self.posted: list[PostedMessage] = []

    async def read_posted(self, _wanted: Wanted) -> PostedMessages:
        if self.slack:
            raise SLACK[self.slack]
        return PostedMessages(self.posted, {})

    async def start(self) -> None:
        self.world.core.unseen.clear()
        await self.world.control.delete("/_control/faults")
        if self.ledger:
            fault = LEDGER[self.ledger]
            effect, more = ("status", fault) if fault else ("drop_before_commit", {})
            await self.world.fault(effect, times=1000, operation="GET /ledger", **more)
        await copy_detection.look_at_slack(self.world.core, self.read_posted)
        await copy_detection.hold_until_seen(self.world.core)

    async def run(self, seconds: int) -> None:
        for _ in range(seconds // 10):
            await self.world.advance(10)
            await lifecycle.expire_due(self.world.core)
            await copy_detection.look_again(self.world.core, self.read_posted)
            await start_holds.report(self.world.core)
            await safe_mode.review(self.world.core)
            await self.world.run_due()

    async def is_over(self) -> None:
        self.ledger = self.slack = ""
        await self.world.control.delete("/_control/faults")

    async def alerts(self) -> list[str]:
        """The titles of those about the start that are open."""
        found = [await open_alerts(self.world, kind) for kind in ("ledger_unseen", "slack_unseen")]
        return [one.title for each in found for one in each]

    async def metric(self) -> bool:
        shown = await exposition.text(Sources(self.world.core, _connected, "sqlite", AT), asyncio.Lock())
        return b'countersign_held_since_start{program="main"} 1.0' in shown

    async def is_said(self, request: Request) -> list[bool]:
        """Whether each place says that sending waits: status, /readyz, the metric, the request's card, its notice."""
        state = await status.program_state(self.world.core, "main")
        view = await request_lookups.request_view(self.world.core, request.id)
        notice = await LOADERS[REQUESTER_NOTICE](self.world.core, request.id, {"actor": "U0BOB"})
        assert isinstance(notice, DirectView)
        return [
            "could not read" in state.paused,
            await health.looked_since_start(self.world.core) is not None,
            await self.metric(),
            "could not read" in str(request_card.card(view)),
            "could not read" in str(request_card.direct(notice)),
        ]


@pytest.mark.walk
@pytest.mark.parametrize(("ledger", "slack"), HELD)
async def test_what_cannot_be_read_holds_what_can_wait_for_ten_minutes_and_everybody_reads_why(
    world: World, ledger: str, slack: str
) -> None:
    started = Started(world, ledger, slack)
    await started.start()
    assert world.core.awaits_look()
    request = await world.top_up("5")
    assert await started.is_said(request) == [True] * 5, "from the first moment on"
    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]}, now=True)
    view = await request_lookups.request_view(world.core, freeze.id)
    assert view.paused == "", "what cannot wait is not held"

    await started.run(60)
    assert (await world.request(freeze.id)).state is State.SUCCEEDED
    assert (await world.request(request.id)).state is State.APPROVED
    waits = [title for title in await started.alerts() if "Sending" in title and "waits" in title]
    assert len(waits) == len({ledger, slack} - FOREVER - {""}), "within a minute"
    assert await started.is_said(request) == [True] * 5

    await started.run(560)
    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert await started.is_said(request) == [False] * 5
    assert [
        t for t in await started.alerts() if "could not be read since the start" in t and "waits" not in t
    ]
    await started.is_over()
    await started.run(20)
    assert await started.alerts() == []


@pytest.mark.walk
@pytest.mark.parametrize(("ledger", "slack"), HELD)
async def test_what_can_be_read_again_ends_the_wait_at_once(world: World, ledger: str, slack: str) -> None:
    started = Started(world, ledger, slack)
    await started.start()
    request = await world.top_up("5")
    await started.run(60)
    await started.is_over()
    await started.run(20)
    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert await started.alerts() == []
    assert await started.is_said(request) == [False] * 5
    assert not world.core.unseen


@pytest.mark.parametrize(("ledger", "slack"), [each for each in TROUBLES if each not in HELD])
async def test_what_somebody_has_to_give_first_is_waited_for_by_nobody(
    world: World, ledger: str, slack: str
) -> None:
    started = Started(world, ledger, slack)
    await started.start()
    assert not world.core.awaits_look()
    request = await world.top_up("5")
    assert await started.is_said(request) == [False] * 5
    await started.run(60)
    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert await started.alerts() == (
        ["The messages in Slack could not be read since the start"] if slack else []
    )
    await started.is_over()
    await started.run(10)
    assert await started.alerts() == []


@pytest.mark.parametrize("slack", SLACK)
async def test_a_message_that_can_only_be_read_later_starts_safe_mode_then(world: World, slack: str) -> None:
    started = Started(world, "", slack)
    started.posted = [PostedMessage("request:R-LOST:card", world.clock.now())]
    await started.start()
    await started.run(30)
    assert not await in_force(world)
    await started.is_over()
    await started.run(10)
    assert await in_force(world)
    assert await started.alerts() == []


async def test_a_debit_that_can_only_be_read_later_starts_safe_mode_then(world: World) -> None:
    started = Started(world, "500", "")
    await started.start()
    known = await world.top_up("5", approved=False)
    body = b'{"amount_usd": 5}'
    await world.core.partners["main"].top_up(world.cards[0]["id"], body, key=known.key)
    await world.approve(known)
    await started.run(30)
    await started.is_over()
    await started.run(10)
    assert await in_force(world)
    assert (await world.request(known.id)).state is State.CANCELLED


async def test_an_approval_that_ran_out_because_of_restarts_says_so(world: World) -> None:
    """The ten minutes begin again at each start, and an approval is valid for fifteen."""
    started = Started(world, "500", "")
    await started.start()
    request = await world.top_up("5")
    for _ in range(2):
        await started.run(480)
        await started.start()
    await execution.execute(world.core, request.id)
    ended = await world.request(request.id)
    assert ended.state is State.EXPIRED
    assert "could not read its ledger" in ended.outcome_text
    assert "Nothing was sent" not in ended.outcome_text
    async with world.store.read() as tx:
        lines = [row.body for row in await outbox.next_due(tx, limit=100) if request.id in row.subject]
    assert not [body for body in lines if "Nothing was sent" in str(body)]


async def _pending(world: World) -> Request:
    return await world.top_up("5", approved=False)


async def _approved(world: World) -> Request:
    return await world.top_up("5")


async def _a_list(world: World) -> Request:
    return await ask_bulk(world, "\n".join(["card,amount", *(f"{c['id']},5" for c in world.cards[:2])]))


async def _an_approved_list(world: World) -> Request:
    batch = await _a_list(world)
    return (await world.approve(batch))[0]


async def _cancel(world: World, request: Request) -> str:
    return replies.cancelled(await lifecycle.cancel(world.core, request.id, ALICE))


async def _reject(world: World, request: Request) -> str:
    await approvals.reject(world.core, request.id, BOB, reason="no")
    return ""


async def _expire(world: World, _request: Request) -> str:
    await world.advance(9 * 3600)
    await lifecycle.expire_due(world.core)
    return ""


async def _approve_late(world: World, request: Request) -> str:
    await world.advance(9 * 3600)
    with pytest.raises(CountersignError) as refused:
        await world.approve(request)
    return str(refused.value)


async def _leave_a_row_out(world: World, batch: Request) -> str:
    first, _ = await rows_of(world, batch)
    await batch_submission.leave_out(world.core, batch.id, ALICE, [first.id])
    return ""


Ask = Callable[[World], Awaitable[Request]]
End = Callable[[World, Request], Awaitable[str]]
UNSENT_ENDS: list[tuple[Ask, End]] = [
    *((ask, _cancel) for ask in (_pending, _approved, _a_list, _an_approved_list)),
    *((ask, _reject) for ask in (_pending, _approved, _a_list, _an_approved_list)),
    *((ask, _expire) for ask in (_pending, _approved, _a_list)),
    (_pending, _approve_late),
    (_a_list, _leave_a_row_out),
]


async def _said_of(world: World, request: Request) -> list[str]:
    """What the request and its rows say came of them, and each line of its thread."""
    every = [request, *(await rows_of(world, request) if request.is_batch else [])]
    said = [(await world.request(one.id)).outcome_text for one in every]
    async with world.store.read() as tx:
        waiting = [row for row in await outbox.next_due(tx, limit=100) if request.id in row.subject]
    for row in waiting:
        if "line" in row.body:
            view = await LOADERS[REQUEST_LINE](world.core, request.id, row.body)
            assert isinstance(view, LineView)
            said.append(str(request_card.line(view)))
    return said


@pytest.mark.parametrize(
    ("ask", "end"), UNSENT_ENDS, ids=[f"{a.__name__} {e.__name__}".replace("_", " ") for a, e in UNSENT_ENDS]
)
async def test_whatever_ends_before_the_ledger_was_read_does_not_say_that_nothing_was_sent(
    world: World, ask: Ask, end: End
) -> None:
    """Another copy of the database may have sent it; as soon as that can be known, it is said again."""
    found: list[str] = []
    for reads in (False, True):
        started = Started(world, "" if reads else "500", "")
        await started.start()
        request = await ask(world)
        if request.state is State.PENDING:
            await started.run(620 if end is _cancel else 10)  # longer than it holds: the ledger is not read
        found = [text for text in (await end(world, request), *await _said_of(world, request)) if text]
        claims = [text for text in found if CLAIMS_NOTHING.search(text) or "othing of it was sent" in text]
        assert bool(claims) == reads, found
        assert any("could not read its ledger" in text for text in found) != reads, found
        assert all(text.count("It was not sent from this database") <= 2 for text in found), found
        await started.is_over()
    assert not any("another copy" in text for text in found)


@pytest.mark.parametrize(("slack", "is_known"), [("429", False), ("no scope", True)])
async def test_so_do_the_messages_in_slack_unless_nobody_waits_for_them(
    world: World, slack: str, is_known: bool
) -> None:
    started = Started(world, "", slack)
    await started.start()
    request = await _pending(world)
    said = await _cancel(world, request)
    assert bool(CLAIMS_NOTHING.search((await world.request(request.id)).outcome_text)) == is_known
    assert ("could not read the messages in Slack" in said) != is_known


async def test_after_another_start_people_read_the_time_until_which_it_waits_now(world: World) -> None:
    started = Started(world, "500", "")
    await started.start()
    request = await world.top_up("5")
    await started.run(480)
    await started.start()
    async with world.store.read() as tx:
        why = await start_holds.why(tx, "main")
    ends_at = world.clock.now() + timedelta(seconds=start_holds.HOLDS_FOR_S)
    assert f"from {ends_at:%H:%M} UTC on" in why
    view = await request_lookups.request_view(world.core, request.id)
    assert f"{ends_at:%H:%M} UTC" in str(request_card.card(view))
    assert await started.metric()
    await started.run(550)
    assert await started.metric(), "after the time of the first start"


async def test_a_look_that_fails_by_the_database_says_so_itself_and_ends_no_other_look(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 9815 of the simulation: it came as a group of errors, in which nobody looks for a row to be left out."""
    started = Started(world, "", "")
    await started.start()
    for what in (core.SLACK, "main"):
        start_holds.begin(world.core, what)

    async def unreadable(_core: core.Core, _program: str) -> None:
        raise ValueError("Invalid isoformat string")

    monkeypatch.setattr(copy_detection, "look_at_ledger", unreadable)
    with pytest.raises(ValueError, match="isoformat"):
        await copy_detection.look_again(world.core, started.read_posted)

    assert core.SLACK not in world.core.unseen, "Slack was looked at"
    assert "main" in world.core.unseen
