"""Whatever number somebody writes where Countersign counts, for the moment of a deed or for good: it is done all the
same, or refused in words with people notified. Every column of whole numbers, by every deed."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import BigInteger, Boolean, Integer

import storage
from bot.domain.errors import NotAllowed
from bot.domain.people import KindPolicy
from bot.domain.requests import Request, State
from bot.services import alerts
from bot.services.operators import changed_rows, deep_check, pausing
from bot.services.requests import approvals, lifecycle
from storage.columns import MOST
from storage.errors import ChangedOutside
from storage.events import webhook_secrets
from storage.messages import outbox
from storage.operators import pauses
from storage.tables import metadata
from tests.services.outcome_steps import Fault, alert_kinds, execute, top_ups
from tests.services.test_cool_off import WAITS
from tests.support.databases import BACKENDS
from tests.support.kinds import asked
from tests.support.world import ALICE, BOB, CAROL, World, a_policy, a_world
from tests.thief.edits import LONG_AGO, Database, insert, opened
from tests.thief.programme import place_of

pytestmark = [pytest.mark.walk, pytest.mark.by_turns(6)]

NOT_COUNTED = {
    "audit": "where the log ends has a programme of its own, as have its entries",
    "audit_head": "the same",
}
COLUMNS = [
    f"{table.name}.{column.name}"
    for table in metadata.sorted_tables
    for column in table.columns
    if isinstance(column.type, Integer)
    and not isinstance(column.type, Boolean)
    and table.name not in NOT_COUNTED
]
SIGNED = ("request.approvals_needed", "request.rows")
"""What was requested: where somebody changed it, it is cancelled unsent, with an alert."""
VALUES = {"last": 0, "last but one": -1, "half way": -(2**30)}
OTHERS = {"zero": 0, "below": -1, "last of ours": MOST - 1, "first of others": MOST, "a fraction": 1.5}


def number(column: str, value: str, place: str) -> float:
    if value in OTHERS:
        return MOST if value == "a fraction" and place.startswith("postgresql") else OTHERS[value]
    table, _, name = column.partition(".")
    is_small = place.startswith("postgresql") and not isinstance(
        metadata.tables[table].c[name].type, BigInteger
    )
    return (2**31 if is_small else 2**63) - 1 + VALUES[value]


AN_ALERT = {
    "severity": "warning",
    "title": "x",
    "text": "y",
    "state": "raised",
    "raised_at": LONG_AGO,
    "updated_at": LONG_AGO,
}
A_SECRET = {"program": "main", "sealed_secret": None, "state": "lost", "since": LONG_AGO, "until": None}


@dataclass
class Edited:
    """What somebody wrote, and takes back."""

    column: str
    number: float
    about: str

    def __post_init__(self) -> None:
        self.table, _, self.name = self.column.partition(".")
        self._keys = [column.name for column in metadata.tables[self.table].primary_key]
        self._kept: list[dict[str, Any]] = []
        self._made: list[dict[str, Any]] = []

    def write(self, database: Database) -> None:
        self._kept = database.read(self.table)
        for row in self._kept:
            where = " AND ".join(f'"{key}" = ?' for key in self._keys)
            values = [row[key] for key in self._keys]
            with suppress(Exception):  # the database takes no such number here
                self._in_part(
                    database,
                    f'UPDATE "{self.table}" SET "{self.name}" = ? WHERE {where}',
                    self.number,
                    *values,
                )
        for row in self._invented():
            with suppress(Exception):
                self._in_part(database, "", row)
                self._made.append(row)

    def _in_part(self, database: Database, statement: str, *values: Any) -> None:
        """PostgreSQL gives a transaction up at the first statement that fails."""
        database.write("SAVEPOINT one")
        try:
            if statement:
                database.write(statement, *values)
            else:
                insert(database, self.table, values[0])
        except Exception:
            database.write("ROLLBACK TO SAVEPOINT one")
            raise

    def _invented(self) -> list[dict[str, Any]]:
        if self.table == "alert":
            conditions = {"paused:main": "paused", f"unresolved:{self.about}": "unresolved", "new": "paused"}
            return [
                {
                    **AN_ALERT,
                    "id": f"A-{n}",
                    "dedupe": dedupe,
                    "kind": kind,
                    "subject": "x",
                    "program": "main",
                }
                | {self.name: self.number}
                for n, (dedupe, kind) in enumerate(conditions.items())
            ]
        return [{**A_SECRET, self.name: self.number}] if self.table == "webhook_secret" else []

    def undo(self, database: Database) -> None:
        """As far as nobody has written something else since."""
        for row in self._kept:
            now = [key for key in self._keys if key != self.name]
            where = "".join(f' AND "{key}" = ?' for key in now)
            with suppress(Exception):
                self._in_part(
                    database,
                    f'UPDATE "{self.table}" SET "{self.name}" = ? WHERE "{self.name}" = ?{where}',
                    *(row[self.name], self.number, *(row[key] for key in now)),
                )
        key = "id" if self.table == "alert" else self.name
        for row in self._made:
            database.write(f'DELETE FROM "{self.table}" WHERE "{key}" = ?', row[key])


Before = Callable[[World], Awaitable[Request | None]]


@dataclass(frozen=True)
class Deed:
    """`before`: what is so until then; `do`: what is done while the numbers are edited; `is_done`: is it so, once they
    are as they were."""

    before: Before
    do: Callable[[World, Request], Awaitable[Any]]
    is_done: Callable[[World, Request], Awaitable[bool]]


async def _nothing(_world: World) -> None:
    """Nothing has to be done before."""


async def _paused(world: World) -> None:
    await pausing.pause(world.core, BOB, ["main"], "stolen key")


async def _asked(world: World) -> Request:
    return await world.top_up("50", approved=False)


async def _waits(world: World) -> Request:
    return await world.top_up("50")


async def _frozen_now(world: World) -> Request:
    return await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True, by=BOB)


async def _approved(world: World, kind: str) -> Request:
    request = await asked(world, kind)
    return (await world.approve(request, by=BOB))[0]


async def _to_unload(world: World) -> Request:
    return await _approved(world, "card_unload")


async def _to_be_unknown(world: World) -> Request:
    await Fault("processor", {"processor": "5xx"}).set(world, "POST /cards/{cardId}/unload")
    return await _to_unload(world)


async def _to_rotate(world: World) -> Request:
    registered = await _approved(world, "webhook_register")
    await execute(world, registered)
    return await _approved(world, "webhook_rotate")


async def _pause(world: World, _request: Request) -> None:
    await pausing.pause(world.core, CAROL, ["main"], "stolen key")


async def _resume(world: World, _request: Request) -> None:
    await pausing.resume(world.core, BOB, ["main"])
    await pausing.resume(world.core, CAROL, ["main"])


async def _is_paused(world: World, _request: Request) -> bool:
    async with world.store.read() as tx:
        return await pauses.of(tx, "main") is not None


async def _runs(world: World, request: Request) -> bool:
    return not await _is_paused(world, request)


async def _reject(world: World, request: Request) -> None:
    await approvals.reject(world.core, request.id, CAROL, reason="stop it")


async def _cancel(world: World, request: Request) -> None:
    await lifecycle.cancel(world.core, request.id, ALICE)


async def _approve(world: World, request: Request) -> None:
    await world.approve(request, by=BOB)


async def _run(world: World, _request: Request) -> None:
    """As its tasks do, which log what fails and go on."""
    for _ in range(24):
        await world.advance(5)
        with suppress(Exception):
            await world.run_due()


def _is(*states: State) -> Callable[[World, Request], Awaitable[bool]]:
    async def is_so(world: World, request: Request) -> bool:
        return (await world.request(request.id)).state in states

    return is_so


async def _raise(world: World, _request: Request) -> None:
    async with world.store.begin() as tx:
        said = changed_rows.rows_changed("anything")
        for _ in range(2):
            await alerts.raise_(tx, world.core, said, condition="new", subject="x", program="main")
        await alerts.thread_line(tx, world.core, (await _open(world, tx))[0], "system:alerts", "a line")
        await alerts.resolve(tx, world.core, "new")


async def _open(_world: World, tx: Any) -> list[Any]:
    from storage.messages import alerts as rows

    found = await rows.open_one(tx, "new")
    assert found is not None
    return [found]


async def _raised(world: World) -> None:
    async with world.store.begin() as tx:
        said = changed_rows.rows_changed("anything")
        alert = await alerts.raise_(tx, world.core, said, condition="new", subject="x", program="main")
        await alerts.thread_line(tx, world.core, alert, "system:alerts", "a line")


async def _is_raised_no_more(world: World, _request: Request) -> bool:
    async with world.store.read() as tx:
        from storage.messages import alerts as rows

        return await rows.open_one(tx, "new") is None


async def _post(world: World, _request: Request) -> None:
    async with world.store.begin() as tx:
        for row in await outbox.next_due(tx, limit=1000):
            assert await outbox.sending(tx, row.id)
            assert await outbox.still_sending(tx, row)
            await outbox.sent(tx, row.id)


async def _is_posted(world: World, _request: Request) -> bool:
    async with world.store.begin() as tx:
        return await outbox.next_due(tx, limit=1000) == []


async def _has_the_new_secret(world: World, request: Request) -> bool:
    async with world.store.read() as tx:
        newest = await webhook_secrets.newest(tx, "main")
        accepted = await webhook_secrets.accepted(tx, "main")
    is_over = (await world.request(request.id)).state is State.SUCCEEDED
    return (
        is_over and newest is not None and (newest.version, newest.state) == (2, "current") and accepted != ()
    )


DEEDS = {
    "pause": Deed(_nothing, _pause, _is_paused),
    "resume": Deed(_paused, _resume, _runs),
    "approve": Deed(_asked, _approve, _is(State.APPROVED)),
    "reject": Deed(_asked, _reject, _is(State.REJECTED)),
    "cancel": Deed(_asked, _cancel, _is(State.CANCELLED)),
    "stop": Deed(_waits, _reject, _is(State.CANCELLED)),
    "withdraw": Deed(_waits, _cancel, _is(State.CANCELLED)),
    "freeze now": Deed(_frozen_now, _run, _is(State.SUCCEEDED)),
    "send": Deed(_to_unload, _run, _is(State.SUCCEEDED)),
    "unknown outcome": Deed(_to_be_unknown, _run, _is(State.UNRESOLVED)),
    "rotate": Deed(_to_rotate, _run, _has_the_new_secret),
    "alert": Deed(_raised, _raise, _is_raised_no_more),
    "post": Deed(_asked, _post, _is_posted),
}


async def _are_notified(world: World) -> bool:
    await changed_rows.tell_of_those_met(world.core)
    await changed_rows.watch(world.core)
    return bool(
        {"changed_outside", "ended_put_back", "tampered", "unreadable_row"} & await alert_kinds(world)
    )


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("value", [*VALUES, *OTHERS])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("deed", DEEDS)
async def test_it_is_done_whatever_number_somebody_wrote(
    url: str, tmp_path: Path, deed: str, column: str, value: str
) -> None:
    made = DEEDS[deed]
    waits = {"card_topup": KindPolicy(cool_off=WAITS)}
    async with a_world(tmp_path, url=url, policy=replace(a_policy(), kinds=waits)) as world:
        request: Any = await made.before(world)
        place = place_of(world)
        edited = Edited(column, number(column, value, place), "" if request is None else request.id)
        with opened(place) as database:
            edited.write(database)
        refusal: Exception | None = None
        try:
            await made.do(world, request)
        except (ChangedOutside, NotAllowed) as error:
            refusal = error
            assert await _are_notified(world), refusal
        if made.do is _run and not await made.is_done(world, request):
            refusal = ChangedOutside("it waits")
            assert await _are_notified(world)
        with opened(place) as database:
            edited.undo(database)

        if made.do is _run:
            await _run(world, request)
        is_refused = made.do is _run and column in SIGNED and await _is(State.CANCELLED)(world, request)
        if (refusal is None or made.do is _run) and not is_refused:
            assert await made.is_done(world, request)
        if column not in (
            "request.fence",
            "request.attempts",
        ):  # to put that back in a row that has ended is an edit that is found
            async with world.store.read() as tx:
                assert await deep_check.differences(tx) == []
        if deed in ("pause", "stop", "reject", "cancel", "withdraw"):
            await _run(world, request)
            assert top_ups(world) == [] or refusal is not None


def _sums() -> Iterator[str]:
    """Each `something.version + 1`, of a name that a column of whole numbers has, in what writes to the database."""
    names = {column.partition(".")[2] for column in COLUMNS}
    for path in sorted(Path(storage.__file__).parent.rglob("*.py")):
        for found in ast.walk(ast.parse(path.read_text())):
            if isinstance(found, ast.BinOp) and isinstance(found.op, ast.Add):
                of, more = found.left, ast.unparse(found.right)
                if isinstance(of, ast.Attribute) and of.attr in names and more == "1":
                    yield f"{path.name}:{ast.unparse(found)}"


IN_NO_COLUMN = {
    "audit.py:self.count + 1",  # the entries that it has read
}


def test_one_more_is_counted_by_what_takes_any_number() -> None:
    assert set(_sums()) == IN_NO_COLUMN
