"""`countersign keys rewrap` after any honest history accuses nobody, and nothing that a thief wrote stops it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Boolean, Column, Integer, Table

import verify_audit
from bot.domain.errors import CountersignError
from bot.domain.requests import OPEN, Request, State
from bot.services import requests as services
from bot.services.messages import reminders
from bot.services.operators import changed_rows, deep_check, key_change
from bot.services.requests import approvals, batch_submission, has_its_digest
from storage import audit, key_rotation, master_keys
from storage import tables as t
from storage.columns import Json, Money, SealedText, UtcDateTime
from storage.errors import WrongMasterKey
from storage.events import inbox
from storage.requests import Draft, as_on_record, drafts
from storage.sealed_columns import SEALED_COLUMNS, SealedColumn
from storage.store import Store
from storage.transaction import Contradiction
from storage.vault import Keyring, Ref, Sealed, Vault, new_master
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import alert_kinds, execute, net_of, status, top_ups
from tests.support.world import ALICE, BOB, CAROL, MASTER, World
from tests.thief.edits import Database, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(5)

ACCUSED = {"tampered", "ended_put_back", "changed_outside", "unreadable_row"}
OLD_KID = Vault(Keyring.parse(MASTER)).primary_kid


@pytest.fixture(autouse=True)
async def closed(world: World) -> AsyncIterator[None]:
    yield
    await world.store.close()


async def changed(world: World, *, restarts: bool = True) -> key_change.KeyChanged:
    """`countersign keys rewrap` with a new first line; the bot has the new keyring before, and learns of it after."""
    ring = f"{new_master()}\n{MASTER}"
    url = f"sqlite:///{world.store.database.path}"

    async def with_ring(*, checks_canaries: bool = True) -> Store:
        vault = Vault(Keyring.parse(ring))
        return await Store.open(
            url, vault=vault, clock=world.clock, exclusive=False, checks_canaries=checks_canaries
        )

    other = await with_ring(checks_canaries=False)
    try:
        done = await key_change.to_the_first_key(other, "cli:test")
    finally:
        await other.close()
    if restarts:
        await world.store.close()
        store = await with_ring()
        async with store.read() as tx:
            await master_keys.learn_retired(tx)
        world.store = store
        world.rebuild(store=store)
    return done


async def whole(world: World, folder: Path) -> None:
    """Nobody is accused: not by alerts, not by `--deep`, not by `verify_audit.py`."""
    await changed_rows.watch(world.core)
    assert not await alert_kinds(world) & ACCUSED
    lines: list[str] = []
    async with world.store.read() as tx:
        await audit.export(tx, lines.append, "jsonl")
        report, found = await deep_check.compared(tx)
    assert report.ok
    assert [str(one) for one in found] == []
    file = folder / "audit.jsonl"
    file.write_text("".join(lines))
    assert verify_audit.main([str(file)]) == 0


class History:
    """An honest one, of steps drawn at random; each may leave a row newer than its last entry."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.random = world, random.Random(seed)
        self.made: list[Request] = []
        self.refused: list[str] = []

    async def step(self) -> None:
        steps = (
            *(self.asks, self.asks_for_a_list, self.freezes, self.approves, self.approves, self.stops),
            *(self.leaves_out, self.is_reminded, self.is_away, self.loses_an_answer, self.fills_a_form),
            *(self.is_delivered, self.goes_on, self.waits_long),
        )
        await self.random.choice(steps)()

    async def asks(self) -> None:
        amount = self.random.choice(("5", "20", "600"))
        self.made.append(
            await self.world.top_up(amount, card=self.random.randrange(len(self.world.cards)), approved=False)
        )

    async def asks_for_a_list(self) -> None:
        self.made.append(await ask_bulk(self.world, a_list(self.world, "5", "6", "7")))

    async def freezes(self) -> None:
        card = self.random.choice(self.world.cards)["id"]
        now = self.random.random() < 0.5
        self.made.append(await self.world.ask("card_freeze", {"card": card}, now=now))

    async def one(self, *states: State) -> Request | None:
        found = [await self.world.request(one.id) for one in self.made]
        fitting = [one for one in found if one.state in states]
        return self.random.choice(fitting) if fitting else None

    async def approves(self) -> None:
        request = await self.one(State.PENDING)
        if request is not None:
            await self.tried(self.world.approve(request, by=self.random.choice((BOB, CAROL))))

    async def stops(self) -> None:
        request = await self.one(State.PENDING, State.APPROVED, State.EXECUTING)
        if request is None:
            return
        core = self.world.core
        if self.random.random() < 0.5:
            await self.tried(services.cancel(core, request.id, ALICE))
        else:
            await self.tried(approvals.reject(core, request.id, CAROL, reason="no"))

    async def leaves_out(self) -> None:
        request = await self.one(State.PENDING)
        if request is not None and request.is_batch:
            rows = await rows_of(self.world, request)
            row = self.random.choice(rows).id
            await self.tried(batch_submission.leave_out(self.world.core, request.id, ALICE, [row]))

    async def is_reminded(self) -> None:
        await self.world.advance(16 * 60)
        await reminders.remind(self.world.core)

    async def is_away(self) -> None:
        """Slack, or the card provider, while something is due."""
        operation = self.random.choice(("GET /me", "GET /cards/{cardId}", "GET /ledger"))
        await status(500, "UNAVAILABLE").set(self.world, operation, times=self.random.randrange(1, 4))
        self.world.people.broken = self.random.random() < 0.3
        await self.world.advance(20)
        await self.world.run_due()
        self.world.people.broken = False

    async def loses_an_answer(self) -> None:
        effect = self.random.choice(("drop_after_commit", "drop_before_commit"))
        await self.world.fault(effect, times=self.random.randrange(1, 4))

    async def fills_a_form(self) -> None:
        now = self.world.clock.now()
        name = f"d{self.random.randrange(10**6)}"
        async with self.world.store.begin() as tx:
            await drafts.put(
                tx, Draft(name, ALICE, "card_topup", "main", {"a": "b"}, "", "why", False, {}, now)
            )

    async def is_delivered(self) -> None:
        name, now = f"e{self.random.randrange(10**6)}", self.world.clock.now()
        async with self.world.store.begin() as tx:
            await inbox.receive(
                tx,
                event_id=name,
                program="main",
                event_type="x",
                created_at=now,
                source="poll",
                payload=b"{}",
            )

    async def goes_on(self) -> None:
        await self.world.run(self.random.choice((5, 40, 200)), step=5)

    async def waits_long(self) -> None:
        await self.world.run(1300, step=100)

    async def tried(self, what: Awaitable[object]) -> None:
        """People try much that is refused."""
        try:
            await what
        except CountersignError as error:
            self.refused.append(error.reason)


@pytest.mark.parametrize("seed", range(5))
async def test_no_honest_history_is_called_changed_by_it(world: World, tmp_path: Path, seed: int) -> None:
    """At any moment of it: all is signed again, what waits can be approved, what is approved is sent once."""
    history = History(world, seed)
    before = history.random.randrange(6, 16)
    for _ in range(before):
        await history.step()

    done = await changed(world)

    assert (done.cells, done.signed.not_as_on_record, done.retired) == ((), (), (OLD_KID,))
    await all_signed(world, history.made)
    for _ in range(4):
        await history.step()
    for request in history.made:
        for by in (BOB, CAROL):
            if (current := await world.request(request.id)).state is State.PENDING:
                await history.tried(world.approve(current, by=by))
    assert "terms_changed_outside" not in history.refused
    await world.run(1300, step=50)
    for call in top_ups(world):
        assert net_of(world, call["idempotency_key"]) >= -call["body"]["amount_usd"], "it was sent once"
    await whole(world, tmp_path)


async def all_signed(world: World, made: list[Request]) -> None:
    for one in made:
        current = await world.request(one.id)
        rows = await rows_of(world, current) if current.is_batch else []
        asked = [row for row in rows if not (row.outcome or {}).get("left_out")]
        if current.state in OPEN:
            for each in (current, *asked):
                assert has_its_digest(world.store.vault, each), each.id


async def test_a_freeze_of_an_hour_ago_can_be_confirmed_after_it(world: World, tmp_path: Path) -> None:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run(3600, step=600)
    await changed(world)

    await approvals.confirm(world.core, request.id, BOB)

    await whole(world, tmp_path)


@pytest.mark.parametrize("how", ["cancelled", "rejected"])
async def test_what_was_stopped_just_now_is_not_called_broken(world: World, tmp_path: Path, how: str) -> None:
    request = await world.top_up("50")
    if how == "cancelled":
        await services.cancel(world.core, request.id, ALICE)
    else:
        await approvals.reject(world.core, request.id, CAROL, reason="no")

    assert (await changed(world)).signed == key_change.SignedAgain(0), "nothing follows from it any more"
    await whole(world, tmp_path)


async def test_a_row_of_a_list_that_was_stopped_alone_is_signed_again_with_it(
    world: World, tmp_path: Path
) -> None:
    """One row was left out, one was sent and its answer lost, and the rest was stopped: the first is proof alone."""
    batch = await ask_bulk(world, a_list(world, "5", "6", "7"))
    rows = await rows_of(world, batch)
    await batch_submission.leave_out(world.core, batch.id, ALICE, [rows[2].id])
    await world.approve(await world.request(batch.id))
    await world.fault("drop_after_commit", times=2)
    await execute(world, rows[0])
    await services.cancel(world.core, batch.id, ALICE)
    states = [row.state for row in await rows_of(world, batch)]
    assert states == [State.EXECUTING, State.CANCELLED, State.CANCELLED]

    assert (await changed(world)).signed == key_change.SignedAgain(3)

    await world.run(1300, step=25)
    assert (await rows_of(world, batch))[0].state is State.SUCCEEDED
    await whole(world, tmp_path)


async def test_what_failed_and_lands_after_it_is_resolved_by_two_people(world: World, tmp_path: Path) -> None:
    """It is reopened under its signatures."""
    await world.fault("drop_before_commit", times=50)
    request = await world.top_up("50")
    await world.run(90_000, step=900)
    failed = await world.request(request.id)
    assert failed.state is State.FAILED
    await changed(world)

    assert has_its_digest(world.store.vault, await world.request(request.id))
    await whole(world, tmp_path)


async def test_a_list_of_which_a_row_is_gone_is_not_made_whole_by_it(world: World) -> None:
    """One row was left out; a thief deletes another, and has the first one asked for again."""
    batch = await ask_bulk(world, a_list(world, "50", "60", "70"))
    rows = await rows_of(world, batch)
    await batch_submission.leave_out(world.core, batch.id, ALICE, [rows[2].id])
    await world.approve(await world.request(batch.id))
    with opened(place_of(world)) as database:
        database.write("DELETE FROM decision WHERE request_id = ?", rows[1].id)
        database.write("DELETE FROM request WHERE id = ?", rows[1].id)
        database.write("UPDATE request SET outcome = NULL WHERE id = ?", rows[2].id)

    done = await changed(world)
    await world.run(60)

    assert set(done.signed.not_as_on_record) == {batch.id, rows[1].id}
    assert done.retired == (OLD_KID,)
    assert top_ups(world) == []
    assert "tampered" in await alert_kinds(world)


async def test_a_key_that_is_learned_as_retired_during_the_look_stops_nothing_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that somebody changed was not signed again; what is due beside it goes on."""
    batch = await ask_bulk(world, a_list(world, "5", "6"))
    await world.approve(batch)
    differing = as_on_record.differing

    async def learns(*given: Any) -> dict[str, Contradiction]:
        found = await differing(*given)
        world.store.vault.retired[OLD_KID] = 1
        return found

    monkeypatch.setattr(as_on_record, "differing", learns)
    for row in await rows_of(world, batch):
        await execute(world, row)

    assert top_ups(world) == []
    assert "tampered" in await alert_kinds(world)


SEALED_JUNK = {
    "another key": "'v1.deadbeef0000.AAAA'",
    "no body": f"'v1.{OLD_KID}.'",
    "garbage": f"'v1.{OLD_KID}.{'A' * 80}'",
    "no form": "'junk\n\x1b[2J'",
    "nothing": "''",
    "bytes": "x'00ff'",
}
NOT_FOR_THIS = {"audit", "audit_head", "meta", "row_signature"}
"""What is wrong with the log is said by whoever reads it; without its name no installation opens anything."""


def planted(database: Database, table: Table, number: int, column: str, junk: str) -> None:
    """A row of nobody's, in which one column holds junk."""
    values = {}
    for one in table.columns:
        if one.name == column:
            values[one.name] = junk
        elif not one.nullable or one.primary_key:
            values[one.name] = _filled(one, number)
    names = ", ".join(f'"{name}"' for name in values)
    database.write("PRAGMA ignore_check_constraints = ON")
    database.write(f'INSERT INTO "{table.name}" ({names}) VALUES ({", ".join(values.values())})')


def _filled(column: Column[Any], number: int) -> str:
    if isinstance(column.type, Boolean):
        return "1"
    if isinstance(column.type, Integer):
        return str(1000 + number)
    if isinstance(column.type, UtcDateTime):
        return "'2026-03-02T08:00:00.000000Z'"
    if isinstance(column.type, Json):
        return "'{}'"
    return "'1.00'" if isinstance(column.type, Money) else f"'x{number}'"


async def test_no_cell_that_somebody_wrote_keeps_a_key_from_being_retired(world: World) -> None:
    """Each sealed column, each time of every table, and what tells whether the keyring fits, each with each junk."""
    request = await world.top_up("50")
    expected, number = dict[int, str](), 0
    with opened(place_of(world)) as database:
        for table in t.metadata.sorted_tables:
            if table.name in NOT_FOR_THIS:
                continue
            for column in table.columns:
                is_sealed = isinstance(column.type, SealedText)
                junk = SEALED_JUNK.values() if is_sealed else ("'junk'",)
                if not is_sealed and not isinstance(column.type, UtcDateTime):
                    continue
                for value in junk:
                    number += 1
                    planted(database, table, number, column.name, value)
                    expected[number] = f"{table.name}.{column.name} = {value}"
        database.write("UPDATE keycheck SET sealed = 'junk' WHERE kid = ?", OLD_KID)

    done = await changed(world)

    named = {part for cell in done.cells for part in cell.partition(" of ")[2].split(" / ")}
    unnamed = [what for n, what in expected.items() if named.isdisjoint({f"x{n}", str(1000 + n)})]
    assert unnamed == []
    assert OLD_KID in named
    assert done.retired == (OLD_KID,)
    assert (await execute(world, request)).state is State.SUCCEEDED
    async with world.store.read() as tx:
        assert all((await master_keys.canaries(tx)).values()), "the bot starts"


def beside_spoiled(database: Database, vault: Vault) -> dict[str, tuple[SealedColumn, int, Ref, bool]]:
    """Each table with a sealed column, each other column of it spoiled in a row of its own.

    By name of the spoiled column: the sealed one, the place of the row, where its value opens, and whether that is
    bound to what was spoiled.
    """
    made, number = dict[str, tuple[SealedColumn, int, Ref, bool]](), 0
    for sealed in SEALED_COLUMNS:
        table = sealed.table.name
        for column in sealed.table.columns:
            if column.name == sealed.column:
                continue
            number += 1
            planted(database, sealed.table, number, sealed.column, "''")
            place = max(row["place"] for row in database.read(table, "rowid AS place"))
            ref = sealed.ref(f"x{number}", 7 if sealed.version else 1, *(f"x{number}" for _ in sealed.bound))
            version = f", {sealed.version} = 7" if sealed.version else ""
            cell = str(vault.seal(b"genuine", ref))
            database.write(f"UPDATE {table} SET {sealed.column} = ?{version} WHERE rowid = {place}", cell)
            database.write(f"UPDATE {table} SET {column.name} = x'ff{number:04x}' WHERE rowid = {place}")
            is_bound = column.name in (sealed.key, *sealed.bound)
            made[f"{table}.{column.name} beside {sealed.column}"] = sealed, place, ref, is_bound
    return made


async def test_what_is_sealed_beside_a_spoiled_cell_is_there_when_the_cell_is_put_right(world: World) -> None:
    """Or is named, where it is bound to that very cell."""
    await world.top_up("50")
    with opened(place_of(world)) as database:
        made = beside_spoiled(database, world.store.vault)

    done = await changed(world)

    assert done.retired == (OLD_KID,)
    wrong, named = list[str](), [cell.partition(" of ")[0] for cell in done.cells]
    with opened(place_of(world)) as database:
        for what, (sealed, place, ref, is_bound) in made.items():
            rows = database.read(sealed.table.name, f"rowid AS place, {sealed.column} AS cell")
            (cell,) = [row["cell"] for row in rows if row["place"] == place]
            is_moved = Sealed(cell).kid != OLD_KID
            if is_moved == is_bound or (is_moved and world.store.vault.open(Sealed(cell), ref) != b"genuine"):
                wrong.append(what)
            if is_bound and f"{sealed.table.name}.{sealed.column}" not in named:
                wrong.append(f"{what} is not named")
    assert len(made) > 100
    assert wrong == []


@pytest.mark.parametrize("junk", SEALED_JUNK.values(), ids=SEALED_JUNK)
@pytest.mark.parametrize("column", ["sealed_body", "sealed_private"])
async def test_what_of_a_request_does_not_open_is_not_believed_after_it(
    world: World, column: str, junk: str
) -> None:
    request, other = await world.top_up("50"), await world.top_up("60", card=1)
    edit = f"UPDATE request SET {column} = {junk} WHERE id = ?"
    with opened(place_of(world)) as database:
        database.write(edit, request.id)

    done = await changed(world)
    await world.run_due()

    assert done.cells == (f"request.{column} of {request.id}",)
    assert done.retired == (OLD_KID,)
    assert [call["idempotency_key"] for call in top_ups(world)] == [other.key]


async def opened_with(
    world: World, *masters: str, exclusive: bool = True, checks_canaries: bool = True
) -> Store:
    """The database of a bot that was stopped, with these keys."""
    vault, url = Vault(Keyring.parse("\n".join(masters))), f"sqlite:///{place_of(world)}"
    return await Store.open(
        url, vault=vault, clock=world.clock, exclusive=exclusive, checks_canaries=checks_canaries
    )


async def rewrapped(world: World, *masters: str) -> key_change.KeyChanged:
    """`countersign keys rewrap` with these keys."""
    store = await opened_with(world, *masters, exclusive=False, checks_canaries=False)
    try:
        return await key_change.to_the_first_key(store, "cli:test")
    finally:
        await store.close()


async def test_a_key_that_signed_entries_and_is_missing_is_asked_for(world: World) -> None:
    """Its values would be lost, and nobody changed anything."""
    await world.top_up("50")
    with pytest.raises(WrongMasterKey, match=f"needs the key.s. {OLD_KID};"):
        await rewrapped(world, new_master())
    async with world.store.read() as tx:
        assert await key_rotation.kids_in_use(tx) == {OLD_KID: 3}


@pytest.mark.parametrize("of", ["a retired key", "nobody", "the first key", "all", "no form"])
async def test_no_keycheck_row_keeps_a_key_from_being_retired_or_the_bot_from_starting(
    world: World, of: str
) -> None:
    """The first key was changed and its line dropped; then the second one leaks, and somebody plants such rows."""
    second, third = new_master(), new_master()
    await world.top_up("50")
    await world.store.close()
    await rewrapped(world, second, MASTER)
    second_kid = Vault(Keyring.parse(second)).primary_kid
    with opened(place_of(world)) as database:
        match of:
            case "a retired key" | "nobody":
                kid = OLD_KID if of == "a retired key" else "deadbeef0000"
                database.write(f"INSERT INTO keycheck VALUES ('{kid}', 'v1.{kid}.AAAA')")
            case "the first key" | "all":
                database.write("UPDATE keycheck SET sealed = 'junk'")
                if of == "all":
                    database.write(f"INSERT INTO keycheck VALUES ('{OLD_KID}', ''), ('x', x'00ff')")
            case _:
                database.write("INSERT INTO keycheck VALUES ('', x'ff'), (x'ff00', 'x'), ('\n', 'v1.\n.')")

    await (await opened_with(world, second, exclusive=False)).close()  # `countersign keys verify`
    started = await opened_with(world, second)
    async with started.read() as tx:
        assert await master_keys.older_in_use(tx) == []
    await started.close()
    assert (await rewrapped(world, third, second)).retired == (second_kid,)
    world.store = await opened_with(world, third, second)
    async with world.store.read() as tx:
        await master_keys.learn_retired(tx)
        assert await key_rotation.not_opening(tx) == []


async def test_a_key_that_is_missing_is_asked_for_whatever_else_is_planted(world: World) -> None:
    await world.top_up("50")
    await world.store.close()
    with opened(place_of(world)) as database:
        database.write("UPDATE keycheck SET kid = 'deadbeef0000'")

    for does in (opened_with, rewrapped):
        with pytest.raises(WrongMasterKey, match=f"needs the key.s. {OLD_KID};"):
            await does(world, new_master())


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_changed_name_of_the_installation_is_what_people_read(
    world: World, *, is_known: bool
) -> None:
    """What it says to do is not what they just did."""
    name = world.store.instance
    if is_known:
        await world.top_up("50")
    await world.store.close()
    with opened(place_of(world)) as database:
        database.write("UPDATE meta SET value = 'zzzzzz' WHERE name = 'instance'")

    for does in (opened_with, rewrapped):
        with pytest.raises(WrongMasterKey) as caught:
            await does(world, new_master(), MASTER)
        said = str(caught.value)
        assert "row instance of the table meta" in said
        assert "keys rewrap" not in said
        assert (f"UPDATE meta SET value = '{name}'" in said) == is_known
