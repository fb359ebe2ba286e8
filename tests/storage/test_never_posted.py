"""A request that is approved and has no message in Slack: nothing there shows that it was stopped since.

Nobody approves what is not in Slack, so the database that people worked with last has no such request, whatever ends
its processes and when. One that has is an older copy, or of before that rule: there it waits for people.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.domain.errors import CountersignError
from bot.domain.requests import Request, State
from bot.services import execution
from bot.services.anchor_places import AnchorPlaces
from bot.services.messages import Outbox, Posted, SlackTrouble
from bot.services.older_copies import copy_detection
from bot.services.older_copies.messages_in_slack import PostedMessages, Wanted
from bot.services.processes import unseen_requests
from bot.services.requests import approvals, lifecycle, view_models
from bot.view_models import MessageView
from storage.messages import outbox as outbox_rows
from storage.store import Store
from tests.storage.restores import VAULT, put_in_place
from tests.storage.test_copies_of_lists import approve as approve_list
from tests.storage.test_copies_of_lists import pending as a_list
from tests.storage.test_copies_that_slack_shows import Slack, start
from tests.storage.test_requests_unseen_in_slack import COOL_OFF, cooled_off, posted, restart, the_alert
from tests.storage.test_restores_at_odd_times import copied, in_force, open_alerts, read_ledger
from tests.support import posting
from tests.support.databases import Databases
from tests.support.world import ALICE, BOB, CAROL, Died, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(6)


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        policy = a_policy()
        top_ups = replace(policy.kinds["card_topup"], cool_off=COOL_OFF)
        world.rebuild(policy=replace(policy, kinds={"card_topup": top_ups}), anchors=AnchorPlaces([]))
        await read_ledger(world)
        yield world
        await world.store.close()


def url_of(world: World) -> str:
    return world.store.database.url.render_as_string(hide_password=False)


async def state_of(world: World, request: Request) -> State:
    return (await world.request(request.id)).state


async def unposted(world: World, amount: str = "44") -> Request:
    """Approved, with no message in Slack: of before the rule, or it was deleted and is posted again in a moment."""
    request = await world.top_up(amount)
    await posting.forget(world.core, request.id)
    return request


@pytest.mark.parametrize("is_posted_later", [False, True])
async def test_what_was_stopped_since_the_copy_is_not_paid_from_it(
    world: World, databases: Databases, tmp_path: Path, is_posted_later: bool
) -> None:
    slack = Slack()
    request = await unposted(world)
    copy = await copied(world, tmp_path / "copy.db")
    if is_posted_later:  # and deleted since
        await slack.take(world)
    await lifecycle.cancel(world.core, request.id, ALICE)
    slack.messages.clear()

    url = await put_in_place(copy, databases)
    await start(world, url, slack)
    await slack.take(world)  # it is posted from the copy now, which shows nothing
    await start(world, url, slack)
    await copy_detection.look_at_unseen(world.core, slack.read)
    await cooled_off(world)

    assert await state_of(world, request) is State.APPROVED
    assert await world.debits(request.key) == 0
    assert f"Not posted in Slack, as far as this database knows: {request.id}." in await the_alert(world)
    async with world.store.read() as tx:
        view = await view_models.request(tx, world.core, await world.request(request.id))
    assert (
        "its message was not in Slack, as far as this database knows, when Countersign started" in view.paused
    )

    after = await posted(world, slack)  # it is no part of what may be older
    await start(world, url, slack)
    await cooled_off(world)
    assert await state_of(world, after) is State.SUCCEEDED

    await lifecycle.cancel(world.core, request.id, ALICE)
    await unseen_requests.review(world.core)
    assert await open_alerts(world, "requests_unseen") == []


async def test_nor_are_the_rows_of_a_list_and_what_was_under_way(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    slack = Slack()
    batch = await a_list(world)
    await approve_list(world, batch)
    one = await world.top_up("44")
    await world.advance(COOL_OFF.total_seconds() + 1)
    await world.fault("status", status=429, times=1)
    await execution.execute(world.core, one.id)
    assert await state_of(world, one) is State.EXECUTING
    for request in (batch, one):
        await posting.forget(world.core, request.id)
    copy = await copied(world, tmp_path / "copy.db")
    for request in (batch, one):
        await lifecycle.cancel(world.core, request.id, ALICE)

    await start(world, await put_in_place(copy, databases), slack)
    await cooled_off(world)

    assert await world.debits(one.key) == 0
    said = await the_alert(world)
    assert (batch.id in said, one.id in said) == (True, True)


@pytest.mark.parametrize("away", [timedelta(minutes=1), timedelta(hours=2)])
@pytest.mark.parametrize(
    ("databases", "is_same_place"),
    # PostgreSQL has no file to put back in its place.
    [("sqlite", False), ("sqlite", True), ("postgresql", False)],
    indirect=["databases"],
)
async def test_nor_is_it_from_a_database_that_was_left_and_is_used_again(
    world: World, databases: Databases, tmp_path: Path, away: timedelta, is_same_place: bool
) -> None:
    """People worked on a copy meanwhile, elsewhere or under the same name, on the same machine and server or not."""
    path = world.store.database.path
    slack, request, old = Slack(), await unposted(world), url_of(world)
    copy = await copied(world, tmp_path / "copy.db")
    if is_same_place:
        await world.store.close()
        left = path.read_bytes() if path is not None else b""
        await start(world, old, slack)
    else:
        await start(world, await put_in_place(copy, databases), slack)
    await lifecycle.cancel(world.core, request.id, ALICE)
    await world.advance(away.total_seconds())
    slack.messages.clear()
    if is_same_place and path is not None:
        await world.store.close()
        path.write_bytes(left)

    await start(world, old, slack)
    await cooled_off(world)

    assert await world.debits(request.key) == 0
    assert request.id in await the_alert(world)


async def test_one_that_was_posted_shows_there_that_it_was_stopped_on_the_copy(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    """This is what the rule is for: there and back, and the first database is not paid from."""
    slack, old = Slack(), url_of(world)
    request = await posted(world, slack)
    copy = await copied(world, tmp_path / "copy.db")
    await start(world, await put_in_place(copy, databases), slack)
    await lifecycle.cancel(world.core, request.id, ALICE)
    await slack.take(world)

    await start(world, old, slack)
    await cooled_off(world)

    assert await in_force(world)
    assert await world.debits(request.key) == 0


# However many


async def many_more(world: World, request: Request, count: int) -> None:
    """So many of the same that are older, as they are in the database alone."""
    asked = "SELECT * FROM request WHERE id = :id"
    async with world.store.begin() as tx:
        row = dict((await tx.connection.execute(text(asked), {"id": request.id})).one()._mapping)
        values = ", ".join(f":{name}" for name in row)
        made = text(f"INSERT INTO request ({', '.join(row)}) VALUES ({values})")
        rows = [
            {**row, "id": f"R-{n:04}", "key": f"{n:032}", "version": row["version"]} for n in range(count)
        ]
        if not tx.is_postgres:
            rows = [{**one, "created_at": "2026-01-01 00:00:00.000000"} for one in rows]
        await tx.connection.execute(made, rows)


async def test_the_last_of_501_is_held_as_the_first(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    slack = Slack()
    request = await unposted(world)
    await many_more(world, request, 500)
    await restart(world, slack)
    async with world.store.read() as tx:
        kept = await unseen_requests.of(tx)
        assert await unseen_requests.holds(tx, request)
    assert len(kept) == 501
    assert "501 requests are" in await the_alert(world)


async def test_all_of_501_are_looked_at_in_turns_and_none_is_sent_before(world: World) -> None:
    slack = Slack()
    request = await posted(world, slack)
    await many_more(world, request, 500)
    async with world.store.begin() as tx:
        for n in range(500):
            await outbox_rows.put_place(tx, f"request:R-{n:04}", "card", "C0APPROVALS", f"{n + 1}.5", 1)
    looked = list[str]()

    async def some(wanted: Wanted) -> PostedMessages:
        """The first 200 of them, as a channel with many others gives them."""
        left = [id_ for id_ in wanted.places if id_ not in looked]
        looked.extend(left[:200])
        return PostedMessages([], {}, unseen=dict.fromkeys(left[200:], unseen_requests.NOT_REACHED))

    await copy_detection.look_at_slack(world.core, some)
    for left in (301, 101, 0):
        async with world.store.read() as tx:
            kept = await unseen_requests.of(tx)
        assert (len(kept), len(looked)) == (left, 501 - left)
        await copy_detection.look_at_unseen(world.core, some)
    assert await open_alerts(world, "requests_unseen") == []


@pytest.mark.parametrize("is_posted", [True, False])
async def test_nor_do_older_ones_that_are_well_take_its_turn(
    world: World, databases: Databases, tmp_path: Path, is_posted: bool
) -> None:
    slack = Slack()
    older = [await (posted(world, slack) if is_posted else unposted(world, "5")) for _ in range(3)]
    await world.advance(1)
    request = await unposted(world)
    await restart(world, slack)
    await cooled_off(world)
    assert await world.debits(request.key) == 0
    assert request.id in await the_alert(world)
    wanted = State.SUCCEEDED if is_posted else State.APPROVED
    assert {await state_of(world, one) for one in older} == {wanted}


# An honest restart holds nothing


@pytest.mark.walk(most=4)
@pytest.mark.parametrize("away", ["not_in_channel", "is_archived", "missing_scope", ""])
@pytest.mark.parametrize("down", [timedelta(seconds=2), timedelta(minutes=5)])
async def test_a_restart_of_the_same_database_holds_nothing(world: World, away: str, down: timedelta) -> None:
    """Slack takes nothing meanwhile, so nothing is approved; a freeze is, and it is sent."""
    slack = Slack()
    slack.all_closed = SlackTrouble(away) if away else None
    request = await world.top_up("44", approved=False)
    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]})
    if away:
        await slack.take(world)
    with suppress(CountersignError):
        await approvals.approve(world.core, request.id, BOB, shown_digest=request.digest)
    await approvals.approve(world.core, freeze.id, BOB, shown_digest=freeze.digest)
    world.clock.advance(down.total_seconds())
    await restart(world, slack)
    await cooled_off(world)
    assert await open_alerts(world, "requests_unseen") == []
    assert await state_of(world, request) is State.PENDING
    assert await state_of(world, freeze) is State.SUCCEEDED


@pytest.mark.parametrize("back", [2, 3600])
async def test_nor_does_one_with_an_earlier_clock(world: World, back: int) -> None:
    slack = Slack()
    request = await posted(world, slack)
    world.clock.advance(-back)
    await restart(world, slack)
    world.clock.advance(back)
    await cooled_off(world)
    assert await state_of(world, request) is State.SUCCEEDED
    assert await open_alerts(world, "requests_unseen") == []


class _People:
    """People, and processes that are killed at any moment, by a seed. Slack may be away for a while."""

    def __init__(self, world: World, slack: Slack, seed: int) -> None:
        self._world, self._slack, self._dice = world, slack, random.Random(seed)
        self._asked: list[Request] = []
        self.killed = 0

    async def act(self) -> None:
        acts: list[Callable[[], Awaitable[object]]] = [
            *(
                self._ask,
                self._ask,
                self._approve,
                self._approve,
                self._approve,
                self._deliver,
                self._deliver,
            ),
            *(self._stop, self._pass, self._carry_out, self._restart, self._slack_goes),
        ]
        self._world.rebuild(crash_point=self._dies_perhaps)
        try:
            with suppress(CountersignError):
                await self._dice.choice(acts)()
        except Died:
            self.killed += 1
            await self._restart()
        finally:
            self._world.rebuild(crash_point=lambda _point: None)

    def _dies_perhaps(self, _point: str) -> None:
        if self._dice.random() < 0.15:
            raise Died

    async def _ask(self) -> None:
        amount = "600" if self._dice.random() < 0.3 else "5"
        self._asked.append(await self._world.top_up(amount, card=self._dice.randrange(3), approved=False))

    def _one(self) -> Request | None:
        return self._dice.choice(self._asked) if self._asked else None

    async def _approve(self) -> None:
        if (one := self._one()) is not None:
            by = self._dice.choice((BOB, CAROL))
            await approvals.approve(self._world.core, one.id, by, shown_digest=one.digest)

    async def _stop(self) -> None:
        if (one := self._one()) is not None:
            await lifecycle.cancel(self._world.core, one.id, ALICE)

    async def _deliver(self) -> None:
        await self._world.advance(4)
        outbox = Outbox(self._world.core, self._slack, spacing_s=0)
        await outbox.heal()
        await outbox.deliver_due()

    async def _pass(self) -> None:
        await self._world.advance(self._dice.choice((1, 30, 300)))

    async def _carry_out(self) -> None:
        await self._world.run_due()

    async def _slack_goes(self) -> None:
        self._slack.all_closed = None if self._slack.all_closed else SlackTrouble("is_archived")

    async def _restart(self) -> None:
        self._world.rebuild(crash_point=lambda _point: None)
        await restart(self._world, self._slack)
        assert await open_alerts(self._world, "requests_unseen") == [], "an honest restart"
        assert not await in_force(self._world)


@pytest.mark.parametrize("seed", range(4))
async def test_nor_does_one_after_a_kill_at_any_moment(world: World, seed: int) -> None:
    slack = Slack()
    people = _People(world, slack, seed)
    for _ in range(80):
        await people.act()
    await people._restart()
    assert people.killed, "some were killed"
    slack.all_closed = None


class _StartsMeanwhile(Slack):
    """Another process starts at the moment when Slack takes a message, which is not marked as sent so far."""

    def __init__(self, starts: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._starts = starts

    async def post(
        self, view: MessageView, *, channel: str, dedupe: str, log_end: str = "", thread_ts: str | None = None
    ) -> Posted:
        made = await super().post(view, channel=channel, dedupe=dedupe, log_end=log_end, thread_ts=thread_ts)
        await self._starts()
        return made


async def _both(one: Awaitable[object], approval: Awaitable[object]) -> None:
    """To their end, at the same time; the approval alone may be refused."""
    found, refused = await asyncio.gather(one, approval, return_exceptions=True)
    assert not isinstance(found, BaseException), found
    assert not isinstance(refused, BaseException) or isinstance(refused, CountersignError), refused


@pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
async def test_nor_does_a_process_that_starts_beside_others_at_any_moment(
    world: World, databases: Databases
) -> None:
    second = await Store.open(url_of(world), vault=VAULT, clock=world.clock)
    other = replace(world.core, store=second, owner="other", unseen={})

    async def starts() -> None:
        await copy_detection.look_at_slack(other, slack.read)
        async with second.read() as tx:
            assert await unseen_requests.of(tx) == {}

    slack = _StartsMeanwhile(starts)
    made = list[Request]()
    for n in range(6):
        request = await world.top_up(str(5 + n), card=n % 3, approved=False)
        await starts()
        await _both(
            Outbox(world.core, slack, spacing_s=0).deliver_due(),
            approvals.approve(world.core, request.id, BOB, shown_digest=request.digest),
        )
        await _both(starts(), approvals.approve(world.core, request.id, BOB, shown_digest=request.digest))
        if await state_of(world, request) is State.PENDING:  # both were told to try again
            await approvals.approve(world.core, request.id, BOB, shown_digest=request.digest)
        await starts()
        made.append(request)
    await cooled_off(world)
    assert {await state_of(world, one) for one in made} == {State.SUCCEEDED}
    await second.close()
