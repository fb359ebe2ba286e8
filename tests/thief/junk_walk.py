"""A bot that runs on a database with junk in one cell: what stands still, and is anybody notified?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot import jobs
from bot.config import Poll
from bot.domain.errors import CountersignError
from bot.domain.events import Retention
from bot.domain.people import KindPolicy
from bot.partner.secret import Secret
from bot.services import execution
from bot.services.events import Backfill, Intake, Poller, Webhooks, inbox
from bot.services.messages import Outbox
from storage.cards import otp_recipients
from storage.events import Ingest, webhook_secrets
from storage.messages import mutes
from storage.operators import pauses
from storage.tables import metadata
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.outcome_steps import TOPUP, keys_sent, processor
from tests.services.scripted_slack import ScriptedSlack
from tests.support.databases import PostgresDatabases
from tests.support.world import BOB, Begun, World, a_policy, a_world, kept
from tests.thief.edits import SIGNED, Rows, opened
from tests.thief.junk import Cell, a_row
from tests.thief.programme import place_of

# What says that something is wrong with what is stored, where the row itself can be read.
SAYS_SO = frozenset({"changed_outside", "ended_put_back", "tampered", "event_stuck", "message_failed"})
SAYS_SO |= {"relay_unreadable", "webhook_secret", "older_copy", "codes_waiting", "unreadable_row"}
#: Where one row is about everything, so that all may stop.
ABOUT_ALL = frozenset({"program", "audit", "audit_head", "meta", "keycheck", "row_signature"})
# What is done once a day costs as much as all others together, and reads nothing of a request.
_LEFT_OUT = frozenset({"optimize"})
#: A row of these that nobody has signed, or put on record, is an alarm by itself.
_NONE_INVENTED = SIGNED | {"passkey", "orphan_debit"}
_POLICY = replace(a_policy(), kinds={"card_topup": KindPolicy(expires=timedelta(days=4))})


@dataclass(frozen=True)
class Populated:
    """A world with something in every table. `other`: the id of a request that waits and is never edited. `keys`: of
    all requests, in the order of their rows."""

    begun: Begun
    other: str
    keys: list[str]
    postgres: bool = False


@dataclass
class Seen:
    """What came of one cell. `failing`: what still fails at the end, with its error. `left`: what was sent for the
    request with the cell since. `is_there`: nobody has written another value over it."""

    failing: dict[str, str] = field(default_factory=dict)
    good: str = ""
    other: str = ""
    reminded: bool = False
    is_there: bool = True
    alerts: list[tuple[str, str]] = field(default_factory=list)
    left: int = 0

    @property
    def goes_on(self) -> bool:
        return self.reminded and (self.good, self.other) == ("succeeded", "expired")

    def wrong_with(self, cell: Cell) -> str:
        """Why this is not as it has to be; empty where it is."""
        kinds = {kind for kind, _ in self.alerts}
        if cell.is_none and self.is_there and cell.table != "audit":
            named = [text for kind, text in self.alerts if kind == "unreadable_row"]
            if not any(cell.table in text and f"column {cell.column}" in text for text in named):
                return f"no alert names it: {self}"
        if cell.is_none and self.left:
            return f"something was sent for it: {self}"
        if cell.is_none and self.failing and cell.table not in ABOUT_ALL:
            return f"something fails on: {self}"
        if (self.failing or not self.goes_on) and not SAYS_SO & kinds:
            return f"nobody is notified: {self}"
        return "" if self.goes_on or cell.table in ABOUT_ALL else f"others stand still: {self}"


async def populated(folder: Path, databases: PostgresDatabases | None = None) -> Populated:
    """Made once, to be copied for each cell."""
    url = databases.migrated() if databases else ""
    async with a_world(folder, policy=_POLICY, url=url) as world:
        await world.top_up("40", card=1, approved=False)
        await processor("timeout").set(world, TOPUP, times=1)
        await world.top_up("45", card=2)
        await world.run_due()
        await world.top_up("30", card=0)
        other = await world.top_up("60", card=3, approved=False)
        await ask_bulk(world, a_list(world, "10", "20"))
        done = await world.top_up("35", card=0)
        await execution.execute(world.core, done.id)
        for name, run in (await work_of(world)).items():
            if name != "engine":
                with suppress(Exception):
                    await run()
        async with world.store.begin() as tx:  # what is signed or on record, by those who sign and record it
            await webhook_secrets.put(tx, "another", Secret("whsec_" + "a" * 32), previous_until=tx.now)
            await mutes.put(tx, name="a rule", kind="float_low", about="", by=BOB, until=None)
            await otp_recipients.put(tx, "emp-1042", BOB)
            await pauses.put(tx, "another", by=BOB, by_name="Bob", reason="It is new.")
        with opened(place_of(world)) as database:
            for table in metadata.tables.values():
                if table.name not in _NONE_INVENTED and not database.read(table.name):
                    row = a_row(table, postgres=url != "")
                    names = ", ".join(f'"{name}"' for name in row)
                    marks = ", ".join("?" * len(row))
                    database.write(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', *row.values())
        with opened(place_of(world)) as database:  # in the order in which cells are written
            keys = [str(row["key"]) for row in database.read("request")]
        begun = kept(world, url or f"sqlite:///{world.database}", world.clock.monotonic() - 1000.0)
    if databases:
        databases.drop(url)
    return Populated(begun, other.id, keys, postgres=url != "")


async def work_of(world: World) -> dict[str, Callable[[], Awaitable[object]]]:
    """All that a process does by itself, by name: its timers and its loops."""
    core = world.core
    ingest = await Ingest.open(world.store, world.clock)
    intake = Intake(ingest, core.codes, core.clock, core.inbox_bell.set, core.crash_point)
    watchers = jobs.Watchers(
        Poller(core, account_every=timedelta(minutes=1)), Webhooks(core, intake), Backfill(core, intake)
    )
    outbox = Outbox(core, ScriptedSlack(), spacing_s=0)
    table = {job.name: job.run for job in jobs.table(core, watchers, Poll(), Retention())}

    async def engine() -> None:
        failed: list[Exception] = []
        for queue in await execution.due(core):
            for request_id in queue.ids:
                try:
                    await execution.execute(core, request_id)
                except Exception as error:  # noqa: BLE001 - as the carriers do, who go on with the others
                    failed.append(error)
        if failed:
            raise failed[0]

    async def events() -> None:
        await inbox.process_next(core)

    async def close() -> None:
        await ingest.close()

    loops: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
        "outbox": outbox.deliver_due,
        "inbox": events,
        "engine": engine,
    }
    return {
        **{name: run for name, run in table.items() if name not in _LEFT_OUT},
        **{name: _supervised(world, run) for name, run in loops.items()},
        "close": close,
    }


def _supervised(world: World, run: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
    """As `bot.app` keeps its loops running."""

    async def supervised() -> None:
        try:
            await run()
        except Exception as error:
            suspect = getattr(world.store, "suspect", None)  # not in the code from before
            if suspect is not None:
                suspect(error)
            raise

    return supervised


async def see(
    folder: Path, base: Populated, cell: Cell | None, databases: PostgresDatabases | None
) -> Seen | None:
    """What becomes of a bot that runs, in five days. None where the database did not take it. Without a cell nothing
    is changed."""
    url = databases.migrated() if databases else ""
    try:
        async with a_world(folder, policy=_POLICY, url=url, begun=base.begun) as world:
            try:
                with opened(place_of(world)) as database:
                    if cell is not None and not cell.write(database):
                        return None
            except Exception:  # noqa: BLE001 - whichever database refuses it
                return None
            return await _seen(world, base, cell)
    finally:
        if databases:
            databases.drop(url)
        else:
            _emptied(folder)


def _emptied(folder: Path) -> None:
    for file in folder.glob("*"):
        file.unlink()


async def _seen(world: World, base: Populated, cell: Cell | None) -> Seen:
    seen = Seen()
    work = await work_of(world)
    close = work.pop("close")
    sent_before = _sent(world, base, cell)
    for _ in range(2):
        await _turn(work, seen)
        await world.advance(35)
    try:
        good = await world.top_up("50", card=4)
    except CountersignError as refusal:
        seen.good = f"refused: {refusal}"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        seen.good = f"{type(error).__name__}: {str(error)[:80]}"
    else:
        for _ in range(6):
            await _turn({name: work[name] for name in ("engine", "unreadable") if name in work}, seen)
            await world.advance(15)
        seen.good = await _state(world, good.id)
    await world.advance(3600)
    await _turn(work, seen)
    lines = database_rows(world, "outbox", "subject, dedupe")
    seen.reminded = any(
        base.other in str(row["dedupe"]) and "reminder" in str(row["dedupe"]) for row in lines
    )
    await world.advance(5 * 86_400)
    await _turn(work, seen)
    seen.other = await _state(world, base.other)
    alerts = database_rows(world, "alert", "kind, state, title, text")
    seen.alerts = [
        (str(row["kind"]), f"{row['title']} {row['text']}") for row in alerts if row["state"] != "resolved"
    ]
    seen.left = _sent(world, base, cell) - sent_before
    seen.is_there = cell is not None and _is_there(world, cell)
    with suppress(Exception):
        await close()
    return seen


def _is_there(world: World, cell: Cell) -> bool:
    with opened(place_of(world)) as database:
        return cell.is_in(database)


def _sent(world: World, base: Populated, cell: Cell | None) -> int:
    """What has gone out under the key of the request that the cell is of."""
    if cell is None or cell.table != "request" or cell.which >= len(base.keys):
        return 0
    return keys_sent(world).count(base.keys[cell.which])


async def _turn(work: dict[str, Callable[[], Awaitable[object]]], seen: Seen) -> None:
    for name, run in work.items():
        try:
            await run()
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            seen.failing[name] = f"{type(error).__name__}: {str(error)[:80]}"
        else:
            seen.failing.pop(name, None)


async def _state(world: World, request_id: str) -> str:
    """As the row has it."""
    return next(
        str(row["state"]) for row in database_rows(world, "request", "id, state") if row["id"] == request_id
    )


def database_rows(world: World, table: str, columns: str) -> Rows:
    """Those columns alone: whatever else cannot be read."""
    with opened(place_of(world)) as database:
        return database.read(table, columns)


async def walk(
    folder: Path,
    chosen: Iterable[Cell],
    databases: PostgresDatabases | None = None,
    *,
    progress: Callable[[str], None] = lambda _line: None,
) -> tuple[int, dict[str, str]]:
    """How many cells the database took, and what is wrong with which."""
    base = await populated(folder, databases)
    _emptied(folder)
    untouched = await see(folder, base, None, databases)
    assert untouched is not None
    assert untouched.goes_on, f"it is so without junk: {untouched}"
    assert not untouched.failing, f"it is so without junk: {untouched}"
    assert not SAYS_SO & {kind for kind, _ in untouched.alerts}, f"it is so without junk: {untouched}"
    taken, wrong = 0, {}
    for cell in chosen:
        seen = await see(folder, base, cell, databases)
        if seen is None:
            continue
        taken += 1
        if why := seen.wrong_with(cell):
            wrong[str(cell)] = why
            progress(f"{cell}: {why}")
    return taken, wrong
