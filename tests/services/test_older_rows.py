"""A signed row that is older than the audit log says of its subject counts for nothing, with its older signature too.

The walk goes over every signed table, and the keys of programs: each state that a row was in is put back over each
later one, also over its end, while the bot runs, while it is stopped, and where another process made the change; or all
that tells of the row is deleted, for good or for a moment. The thief has no master key, and may write any other table.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from bot import startup
from bot.domain.errors import CountersignError, NotFound
from bot.partner.calls import cards as card_calls
from bot.partner.secret import Secret
from bot.services.alerts import alert_actions
from bot.services.operators import changed_rows, deep_check, draft_only, pausing, safe_mode
from bot.services.operators import programs as program_services
from bot.services.requests import lifecycle
from storage.cards import otp_recipients
from storage.errors import ChangedOutside
from storage.log_record import on_record
from storage.messages import mutes
from storage.operators import pauses, programs, stops
from storage.operators import safe_mode as mode_rows
from storage.protection import SIGNED_TABLES, signed_rows
from storage.requests import card_details_links, confirmations
from storage.transaction import Tx
from tests.services.outcome_steps import alert_kinds, top_ups
from tests.services.test_passkeys_on_record import next_start
from tests.services.test_safe_mode_on_record import restored
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, World, a_world
from tests.thief.edits import Database, insert, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(4)

Row = dict[str, Any]
Change = Callable[[Tx], Awaitable[object]]
KEY = "an API key"
URL = "http://127.0.0.1:9/api/partner/v1"


@dataclass(frozen=True)
class Life:
    """What honestly happens to the row `key` of a table, one change after the other. It is made by the first."""

    table: str
    key: str
    changes: tuple[Change, ...]


def _mute(until: timedelta | None) -> Change:
    return lambda tx: mutes.put(
        tx, name="quiet", kind="decline", about="", by=CAROL, until=None if until is None else tx.now + until
    )


def _key(number: int) -> Change:
    key = Secret(f"svc_test_{number:032}")
    return lambda tx: programs.put(tx, "other", base_url=f"{URL}?{number}", key=key)


_ASKED: Any = {"kind": "resume", "subject": "main", "terms": {}, "by": ALICE, "by_name": "Alice"}
REQUEST = "R-1"


def lives(request: str = REQUEST) -> dict[str, Life]:
    """By name; `request`: the id of one that there is."""
    return {**LIVES, "card_reveal": _reveal(request)}


def _reveal(request: str) -> Life:
    return Life(
        "card_reveal",
        request,
        (
            lambda tx: card_details_links.grant(tx, request, tx.now + timedelta(hours=1)),
            lambda tx: card_details_links.make_link(tx, request, "one", tx.now + timedelta(minutes=2)),
            lambda tx: card_details_links.mark_sent(tx, request),
            lambda tx: card_details_links.spend(tx, "one"),
            lambda tx: card_details_links.mark_opened(tx, "one"),
        ),
    )


LIVES = {
    "program": Life(
        "program",
        "other",
        (
            _key(1),
            lambda tx: programs.learn_partner_id(tx, "other", "ptn_1"),
            lambda tx: programs.begin_drafts(tx, "other"),
            lambda tx: programs.end_drafts(tx, "other"),
            lambda tx: programs.remove(tx, "other"),
        ),
    ),
    "pause": Life(
        "pause",
        "other",
        (
            _key(1),
            lambda tx: pauses.put(tx, "other", by=BOB, by_name="Bob", reason="stolen"),
            lambda tx: pauses.drop(tx, "other"),
            lambda tx: pauses.put(tx, "other", by=CAROL, by_name="Carol", reason="again"),
        ),
    ),
    "person_card": Life(
        "person_card",
        "emp-1",
        (
            lambda tx: otp_recipients.put(tx, "emp-1", "U0MALLORY"),
            lambda tx: otp_recipients.put(tx, "emp-1", BOB),
            lambda tx: otp_recipients.drop(tx, "emp-1"),
        ),
    ),
    "mute": Life(
        "mute", "quiet", (_mute(None), _mute(timedelta(hours=1)), lambda tx: mutes.drop(tx, "quiet"))
    ),
    "consent": Life(
        "consent",
        "C-1",
        (
            lambda tx: confirmations.ask(
                tx, consent_id="C-1", expires_at=tx.now + timedelta(hours=1), **_ASKED
            ),
            lambda tx: confirmations.end(tx, "C-1", "declined", by=BOB),
        ),
    ),
    "card_reveal": _reveal(REQUEST),
    KEY: Life("program", "other", (_key(1), _key(2), lambda tx: programs.remove(tx, "other"), _key(3))),
}
SIGNED = {signed.name: signed for signed in SIGNED_TABLES}
COLUMN = {name: signed.key for name, signed in SIGNED.items()}
GONE: Row = {}


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        await changed_rows.undo_what_was_put_back(made.core)  # as at a start
        yield made


def test_every_signed_table_is_walked() -> None:
    assert set(LIVES) == {*SIGNED, KEY}


async def _life(world: World, name: str) -> Life:
    return lives((await world.top_up("5")).id if name == "card_reveal" else REQUEST)[name]


def _stored(world: World, life: Life) -> tuple[Row, Row]:
    """The row and its signature."""
    with opened(place_of(world)) as database:
        rows = [one for one in database.read(life.table) if one[COLUMN[life.table]] == life.key]
        made = [
            one
            for one in database.read("row_signature")
            if (one["table_name"], one["row_key"]) == (life.table, life.key)
        ]
    return (rows or [GONE])[0], (made or [GONE])[0]


def _put_back(world: World, life: Life, row: Row, signature: Row) -> None:
    with opened(place_of(world)) as database:
        database.write(f"DELETE FROM {life.table} WHERE {COLUMN[life.table]} = ?", life.key)
        database.write("DELETE FROM row_signature WHERE table_name = ? AND row_key = ?", life.table, life.key)
        for table, one in ((life.table, row), ("row_signature", signature)):
            if one:
                insert(database, table, one)


async def _counts(world: World, name: str, life: Life) -> bool:
    """Is what is stored taken for ours, whoever asks?"""
    async with world.store.read() as tx:
        if name == KEY:
            try:
                return bool(await programs.key(tx, life.key))
            except (ChangedOutside, NotFound):
                return False
        signed = SIGNED[life.table]
        in_reading = await signed_rows.is_ours(
            tx, signed, life.key, await signed_rows._row(tx, signed, life.key)
        )
    async with world.store.begin() as tx:
        try:
            await signed_rows.require(tx, signed, life.key)
        except ChangedOutside:
            return in_reading
    return True


async def _is_reported(world: World, life: Life, *, watched: bool) -> bool:
    await changed_rows.watch(world.core)
    async with world.store.read() as tx:
        is_found = any(life.key in one.about for one in await deep_check.differences(tx))
    return is_found and (not watched or "changed_outside" in await alert_kinds(world))


def _cells() -> list[tuple[str, int, int, str]]:
    """(life, the change after which the thief made his copy, that after which he puts it back, when); -1 = before all,
    where the row and what was signed of it are deleted."""
    return [
        (name, then, now, when)
        for name, life in LIVES.items()
        for then, now in combinations(range(-1, len(life.changes)), 2)
        for when in ("running", "stopped", "of another process")
        if not (name == KEY and then == -1)
    ]


@pytest.mark.walk
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(
    ("name", "then", "now", "when"), _cells(), ids=lambda value: str(value).replace(" ", "-")
)
async def test_a_row_that_is_older_than_the_log_says_counts_for_nothing_and_is_reported(
    world: World, name: str, then: int, now: int, when: str
) -> None:
    life = await _life(world, name)
    copies = [(GONE, GONE)]
    remembers: Any = None
    for change in life.changes[: now + 1]:
        remembers = deepcopy(world.store._chain), dict(world.store._versions)
        async with world.store.begin() as tx:
            await change(tx)
        copies.append(_stored(world, life))
    if copies[then + 1] == copies[-1]:  # this change is of something else
        return

    _put_back(world, life, *copies[then + 1])
    if when == "stopped":
        next_start(world)
    elif when == "of another process":
        world.store._chain, world.store._versions = remembers
    await changed_rows.read_log(world.core)  # as at a start, and every few seconds

    assert not await _counts(world, name, life)
    is_over = life.table in ("consent", "card_reveal") and copies[then + 1][0].get("state") in (
        None,
        "opened",
    )
    assert await _is_reported(world, life, watched=not is_over)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("name", LIVES)
async def test_an_honest_life_of_a_row_is_ours_through_restarts_clock_steps_and_key_changes(
    world: World, name: str
) -> None:
    life = await _life(world, name)
    for number, change in enumerate(life.changes):
        async with world.store.begin() as tx:
            await change(tx)
        world.clock.advance((number % 2 * 2 - 1) * 30 * 86_400)
        if number % 2:
            next_start(world)
            assert await changed_rows.undo_what_was_put_back(world.core) == []
        elif name != KEY or _stored(world, life)[0]:
            assert await _counts(world, name, life)
        await changed_rows.watch(world.core)
        async with world.store.read() as tx:
            assert [one for one in await deep_check.differences(tx) if "put back" in one.how] == []
    assert "changed_outside" not in await alert_kinds(world)


async def test_a_mute_rule_that_an_admin_ended_silences_nothing_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        life = LIVES["mute"]
        await alert_actions.mute(world.core, CAROL, name="quiet", kind="decline")
        copy = _stored(world, life)
        await alert_actions.unmute(world.core, CAROL, "quiet")

        _put_back(world, life, *copy)
        next_start(world)
        await changed_rows.undo_what_was_put_back(world.core)

        async with world.store.read() as tx:
            assert await mutes.in_force(tx) == []
        await changed_rows.watch(world.core)
        assert "changed_outside" in await alert_kinds(world)


async def test_what_a_savepoint_undid_is_not_on_record(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        async with world.store.begin() as tx:
            await _mute(None)(tx)
        async with world.store.begin() as tx:
            try:
                async with tx.savepoint():
                    await mutes.drop(tx, "quiet")
                    await on_record.of(tx)
                    raise RuntimeError
            except RuntimeError:
                await otp_recipients.put(tx, "emp-1", BOB)
        next_start(world)
        await changed_rows.undo_what_was_put_back(world.core)

        async with world.store.read() as tx:
            assert [rule.name for rule in await mutes.in_force(tx)] == ["quiet"]


async def test_rows_of_before_the_log_had_numbers_are_on_record_from_the_first_start_on(
    tmp_path: Path,
) -> None:
    async with a_world(tmp_path) as world:
        life = LIVES["mute"]
        async with world.store.begin() as tx:
            await _mute(None)(tx)
            tx.numbered.clear()  # as an older version did
        copy = _stored(world, life)
        async with world.store.begin() as tx:
            await mutes.drop(tx, "quiet")
            tx.numbered.clear()
        next_start(world)
        assert await changed_rows.undo_what_was_put_back(world.core) == []

        _put_back(world, life, *copy)
        next_start(world)
        await changed_rows.undo_what_was_put_back(world.core)

        async with world.store.read() as tx:
            assert await mutes.in_force(tx) == []


# Rows that are out of the database, for good or for a moment.


async def _passes(world: World, life: Life) -> set[str]:
    """What the row, or that there is none, lets through, by those who go by it."""
    found = dict[str, object]()
    async with world.store.read() as tx:
        match life.table:
            case "program" | "pause":
                found = {
                    "is sent to": (await stops.of(tx, life.key)).sends(card_calls.CLOSE),
                    "is not paused": await pauses.of(tx, life.key) is None,
                }
            case "person_card":
                found = {"gets codes": await otp_recipients.person_of(tx, life.key)}
            case "mute":
                found = {"is silent": await mutes.in_force(tx)}
            case "card_reveal":
                link = await card_details_links.get(tx, life.key)
                found = {"has a link": link is not None and link.is_alive}
            case "consent":
                with suppress(ChangedOutside):
                    asked = await confirmations.get(tx, life.key)
                    found = {"is open": asked is not None and asked.state == "open"}
    return {what for what, is_so in found.items() if is_so}


def _last_changes() -> list[tuple[str, int]]:
    return [(name, now) for name, life in LIVES.items() for now in range(len(life.changes)) if name != KEY]


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(("name", "now"), _last_changes())
async def test_a_row_that_is_taken_out_with_all_that_tells_of_it_lets_nothing_more_through(
    world: World, name: str, now: int
) -> None:
    life = await _life(world, name)
    for change in life.changes[: now + 1]:
        async with world.store.begin() as tx:
            await change(tx)
    before = await _passes(world, life)

    with _taken_out(world, life.key, OF_PROGRAM if name in ("program", "pause") else of_table(life.table)):
        assert await _passes(world, life) <= before
        assert await _is_reported(world, life, watched=False)

    assert await _passes(world, life) == before


def of_table(table: str) -> tuple[str, ...]:
    return (table, f"signature of {table}")


def _out() -> list[tuple[str, int, tuple[str, ...]]]:
    return [
        (name, now, which)
        for name, now in _last_changes()
        for which in (
            of_table(LIVES[name].table),
            of_table(LIVES[name].table)[:1],
            of_table(LIVES[name].table)[1:],
        )
    ]


@pytest.mark.walk
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(("name", "now", "which"), _out(), ids=lambda value: str(value).replace(" ", "-"))
async def test_who_meets_a_row_that_is_out_between_two_looks_goes_no_further_and_notifies_people(
    world: World, name: str, now: int, which: tuple[str, ...]
) -> None:
    life = await _life(world, name)
    for change in life.changes[: now + 1]:
        async with world.store.begin() as tx:
            await change(tx)
    await changed_rows.read_log(world.core)  # as every few seconds
    before = await _passes(world, life)

    with _taken_out(world, life.key, which) as count:
        assert await _passes(world, life) <= before
    assert await _passes(world, life) == before
    await changed_rows.tell_of_those_met(world.core)

    # Nobody looks for a mute rule that is not there: alerts are posted then.
    is_met = count > 0 and (
        name != "mute" or (which == ("signature of mute",) and now < len(life.changes) - 1)
    )
    assert ("changed_outside" in await alert_kinds(world)) == is_met
    await changed_rows.watch(world.core)
    assert "changed_outside" not in await alert_kinds(world)


OF_PROGRAM = (*of_table("program"), *of_table("pause"))


@contextmanager
def _taken_out(world: World, key: str, which: Iterable[str]) -> Iterator[int]:
    """These rows and signatures are out, and are as they were after that; gives how many there were."""
    where: list[tuple[str, str, Row]] = []
    for one in which:
        table = one.removeprefix("signature of ")
        column = COLUMN[table]
        named = {column: key} if one == table else {"table_name": table, "row_key": key}
        where.append((one, table if one == table else "row_signature", named))

    def take_out(database: Database, table: str, named: Row) -> int:
        condition = " AND ".join(f"{column} = ?" for column in named)
        return database.write(f"DELETE FROM {table} WHERE {condition}", *named.values())

    with opened(place_of(world)) as database:
        kept = [
            (table, row)
            for _, table, named in where
            for row in database.read(table)
            if named.items() <= row.items()
        ]
        for _, table, named in where:
            take_out(database, table, named)
    yield len(kept)
    with opened(place_of(world)) as database:
        for _, table, named in where:
            take_out(database, table, named)
        for table, row in kept:
            insert(database, table, row)


async def _paused(world: World) -> None:
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")


async def _drafting(world: World) -> None:
    await draft_only.at_start(world.core, is_on=True)


async def _restored(world: World) -> None:
    await restored(world)
    await world.advance(5)


STOPPED: dict[str, Callable[[World], Awaitable[None]]] = {
    "paused": _paused,
    "for drafts": _drafting,
    "in safe mode": _restored,
}


async def _start(world: World, stop: str) -> None:
    """As `bot.app` does; the key is in the environment, too."""
    next_start(world)
    world.rebuild()
    async with world.store.begin() as tx:
        await startup._keep_key(tx, world.simulator.base_url, Secret(world.simulator.key))
    await safe_mode.at_start(world.core)
    await changed_rows.undo_what_was_put_back(world.core)
    await draft_only.at_start(world.core, is_on=stop == "for drafts")


async def _approve(world: World, stop: str) -> None:
    await world.top_up("7")


async def _tell_of_account(world: World, stop: str) -> None:
    async with world.store.read() as tx:
        known = await programs.get(tx, "main")
    await program_services.require_same_account(world.core, "main", (known and known.partner_id) or "ptn_1")


STEPS: dict[str, Callable[[World, str], Awaitable[object]]] = {
    "it is approved": _approve,
    "what is due is sent": lambda world, stop: world.run_due(),
    "the ledger was read": lambda world, stop: safe_mode.review(world.core),
    "signed rows are looked at": lambda world, stop: changed_rows.watch(world.core),
    "what is over expires": lambda world, stop: lifecycle.expire_due(world.core),
    "its account was read": _tell_of_account,
    "another process begins": _start,
}
# The largest first. Which of the rows are out is of no matter to a start: all of them.
SUBSETS = [OF_PROGRAM, OF_PROGRAM[:2], OF_PROGRAM[2:], ("program",), ("pause",)]


async def _is_stopped(world: World, stop: str) -> bool:
    async with world.store.read() as tx:
        if (await stops.of(tx, "main")).sends(card_calls.CLOSE):
            return False
        if stop == "in safe mode":
            return await mode_rows.current(tx) is not None and (await on_record.of(tx)).restored is not None
        if stop == "for drafts":
            return await program_services.is_draft_only(tx, "main")
        return await pauses.of(tx, "main") is not None


@pytest.mark.walk
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("stop", STOPPED)
async def test_what_is_stopped_stays_so_while_rows_of_its_program_are_out_for_a_moment(
    world: World, stop: str, step: str
) -> None:
    if stop != "for drafts":
        await world.top_up("50", approved=stop == "paused")
    await STOPPED[stop](world)
    if stop == "for drafts":
        await world.top_up("50")

    for some in SUBSETS[:1] if step == "another process begins" else SUBSETS:
        with _taken_out(world, "main", some) as count:
            if not count:
                continue
            with suppress(CountersignError):
                await STEPS[step](world, stop)
            await world.run_due()
            await changed_rows.watch(world.core)
            assert "changed_outside" in await alert_kinds(world), some
        await world.advance(10)
        await world.run_due()
        await safe_mode.review(world.core)
        assert await _is_stopped(world, stop), some
        await changed_rows.watch(world.core)
        assert top_ups(world) == [], some
