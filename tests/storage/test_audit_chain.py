"""The audit chain shows every kind of tampering, and a change without its entry does not happen."""

import asyncio
import csv
import hashlib
import io
import json
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, replace
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from bot.partner.secret import Secret
from storage import audit
from storage import tables as t
from storage.audit import Anchor, Report
from storage.cards import api_snapshots
from storage.columns import time_text
from storage.errors import LogNotWhole
from storage.store import Store
from storage.transaction import ChainMemory, Tx
from storage.vault import Keyring, Vault, new_master
from tests.storage.conftest import MASTER, Opener
from tests.support.changed_log import raw
from tests.support.clock import FrozenClock

pytestmark = pytest.mark.by_turns(2)

LINKS = 12


async def _grow(store: Store, count: int = LINKS) -> None:
    for n in range(count):
        async with store.begin() as tx:
            await audit.append(
                tx,
                actor="UALICE",
                action="request.submitted",
                subject=f"request:R-{n}:1",
                body={"amount_usd": Decimal("50.10"), "n": n, "name": "Zoë"},
                policy_version="p1",
            )


async def _verify(store: Store, **asked: Any) -> Report:
    async with store.read() as tx:
        return await audit.verify(tx, **asked)


async def test_an_untouched_chain_is_whole(store: Store) -> None:
    assert await _verify(store) == Report(True, 0, 0)

    await _grow(store)

    assert await _verify(store) == Report(True, LINKS, LINKS)
    assert await _verify(store, from_seq=4, to_seq=9) == Report(True, 6, 9)


async def test_an_entry_holds_exact_amounts_and_the_time_of_its_transaction(
    store: Store, clock: FrozenClock
) -> None:
    await _grow(store, 1)

    async with store.read() as tx:
        (entry,) = [e async for e in audit.entries(tx)]

    assert json.loads(entry.body) == {"amount_usd": "50.10", "n": 0, "name": "Zoë"}
    assert entry.at == clock.now()
    assert (entry.seq, entry.prev, entry.outcome) == (1, "", "ok")


@pytest.mark.parametrize("body", [{"a": 1.5}, {"key": Secret("svc_live_x")}, {"raw": b"bytes"}])
async def test_a_float_or_a_secret_cannot_be_written_to_it(store: Store, body: Mapping[str, Any]) -> None:
    with pytest.raises(TypeError):
        async with store.begin() as tx:
            await audit.append(tx, actor="a", action="b", subject="c", body=body)

    assert (await _verify(store)).count == 0


async def test_a_change_whose_entry_fails_does_not_happen(own_store: Store) -> None:
    """The audit table is made to refuse: the change in the same transaction must be gone with it."""
    await raw(own_store, "DROP TABLE audit")

    async def change() -> None:
        async with own_store.begin() as tx:
            await api_snapshots.put(tx, "main", "float", "changed")
            await audit.append(tx, actor="a", action="b", subject="c")

    with pytest.raises(DBAPIError):
        await change()

    async with own_store.read() as tx:
        assert await api_snapshots.get(tx, "main", "float") is None


@pytest.mark.parametrize("statement", ["UPDATE audit SET actor = 'x'", "DELETE FROM audit", "TRUNCATE audit"])
async def test_the_database_refuses_changes_by_mistake(store: Store, statement: str) -> None:
    await _grow(store, 2)

    with pytest.raises(DBAPIError):
        async with store.begin() as tx:
            await tx.run(text(statement.replace(":", r"\:")))

    assert await _verify(store) == Report(True, 2, 2)


async def test_writers_at_once_make_one_contiguous_chain(store: Store) -> None:
    await asyncio.gather(*(_grow(store, 10) for _ in range(8)))

    assert await _verify(store) == Report(True, 80, 80)


async def test_two_replicas_make_one_contiguous_chain(postgres_databases: Any, open_store: Opener) -> None:
    url = postgres_databases.migrated()
    one, two = await open_store(url), await open_store(url)

    await asyncio.gather(*(_grow(s, 20) for s in (one, two) for _ in range(3)))

    assert await _verify(one) == Report(True, 120, 120)
    await one.close()
    await two.close()
    postgres_databases.drop(url)


async def test_a_command_beside_the_bot_writes_into_the_same_chain(
    sqlite_files: Any, open_store: Opener
) -> None:
    """Two connections that read before they write: each must hold SQLite's write lock from its start."""
    url = sqlite_files.migrated()
    bot, command = await open_store(url), await open_store(url, exclusive=False)

    await asyncio.gather(*(_grow(s, 15) for s in (bot, command)))

    assert await _verify(bot) == Report(True, 30, 30)
    await bot.close()
    await command.close()
    sqlite_files.drop(url)


@pytest.mark.parametrize(
    "column", ["at", "actor", "action", "subject", "outcome", "reason_code", "body", "policy_version"]
)
async def test_a_changed_field_is_found(store: Store, column: str) -> None:
    await _grow(store)
    changed = "'2020-01-01T00:00:00.000000Z'" if column == "at" else f"{column} || 'x'"

    await raw(store, f"UPDATE audit SET {column} = {changed} WHERE seq = 5")

    assert await _verify(store) == Report(False, 4, 4, 5, "hash")


async def test_a_time_that_is_written_in_another_form_is_found(sqlite_store: Store) -> None:
    """The same moment, but not the text that was hashed."""
    await _grow(sqlite_store)

    await raw(sqlite_store, "UPDATE audit SET at = replace(at, 'Z', '+00:00') WHERE seq = 5")

    assert await _verify(sqlite_store) == Report(False, 4, 4, 5, "hash")


async def test_the_loop_goes_on_while_a_chain_is_verified(sqlite_store: Store) -> None:
    """Each link is checked in another thread than the loop's, however long the chain is."""
    await _grow(sqlite_store)
    checked_in = set()

    class Watched(Vault):
        def check_mac(self, purpose: str, data: bytes, mac: str, *, as_proof: bool = False) -> bool:
            checked_in.add(threading.get_ident())
            return super().check_mac(purpose, data, mac, as_proof=as_proof)

    async with sqlite_store.read() as tx:
        tx.vault = Watched(Keyring.parse(MASTER))
        assert await audit.verify(tx) == Report(True, LINKS, LINKS)

    assert checked_in
    assert threading.get_ident() not in checked_in


async def test_a_chain_longer_than_what_is_read_at_once_is_checked_to_its_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_BATCH", 5)
    await _grow(store)

    assert await _verify(store) == Report(True, LINKS, LINKS)
    assert await _verify(store, from_seq=3, to_seq=11) == Report(True, 9, 11)

    await raw(store, "DELETE FROM audit WHERE seq = 6")
    assert await _verify(store) == Report(False, 5, 5, 6, "gap")


@pytest.mark.parametrize(("column", "kind"), [("hash", "hash"), ("prev", "prev"), ("mac", "mac")])
async def test_a_single_changed_character_of_the_proof_is_found(store: Store, column: str, kind: str) -> None:
    await _grow(store)
    drawn = random.Random(5)
    async with store.read() as tx:
        (entry,) = [e async for e in audit.entries(tx, from_seq=5, to_seq=5)]
    text_now: str = getattr(entry, column)
    at = drawn.randrange(20, len(text_now))
    other = "0" if text_now[at] != "0" else "1"

    await raw(
        store, f"UPDATE audit SET {column} = '{text_now[:at] + other + text_now[at + 1 :]}' WHERE seq = 5"
    )

    assert await _verify(store) == Report(False, 4, 4, 5, kind)


async def test_an_entry_taken_out_of_the_middle_is_found(store: Store) -> None:
    await _grow(store)

    await raw(store, "DELETE FROM audit WHERE seq = 5")

    assert await _verify(store) == Report(False, 4, 4, 5, "gap")


async def test_an_entry_taken_out_and_the_rest_renumbered_is_found(store: Store) -> None:
    await _grow(store)

    renumber = [f"UPDATE audit SET seq = {n - 1} WHERE seq = {n}" for n in range(6, LINKS + 1)]
    await raw(store, "DELETE FROM audit WHERE seq = 5", *renumber)

    assert (await _verify(store)).kind == "prev"


async def test_two_entries_changed_round_are_found(store: Store) -> None:
    await _grow(store)

    swap = ("UPDATE audit SET seq = 99 WHERE seq = 5", "UPDATE audit SET seq = 5 WHERE seq = 6")
    await raw(store, *swap, "UPDATE audit SET seq = 6 WHERE seq = 99")

    found = await _verify(store)
    assert (found.ok, found.first_bad, found.kind) == (False, 5, "prev")


async def test_an_entry_put_in_is_found(store: Store) -> None:
    """An insertion after the end, made as well as it can be without the master key."""
    await _grow(store)

    await _rewrite(store, _extend)

    assert await _verify(store) == Report(False, LINKS, LINKS, LINKS + 1, "mac")


async def test_an_entry_put_in_behind_the_head_is_found(store: Store) -> None:
    await _grow(store)

    copied = "INSERT INTO audit SELECT 13, at, actor, action, subject, outcome, reason_code, body,"
    await raw(store, f"{copied} policy_version, prev, hash, mac FROM audit WHERE seq = 12")

    assert (await _verify(store)).ok is False


async def test_a_whole_chain_rewritten_with_new_hashes_is_found_by_its_macs(store: Store) -> None:
    await _grow(store)

    await _rewrite(store, _recompute)

    assert await _verify(store) == Report(False, 0, 0, 1, "mac")


async def test_a_chain_rewritten_under_another_key_is_found(store: Store) -> None:
    await _grow(store)

    await _rewrite(store, _resign)

    assert await _verify(store) == Report(False, 0, 0, 1, "key")


async def test_a_cut_tail_is_found_by_the_head_row_and_with_it_gone_by_an_anchor(store: Store) -> None:
    await _grow(store)
    anchor = await _anchor(store)

    await raw(store, "DELETE FROM audit WHERE seq > 9")
    assert await _verify(store) == Report(False, 9, 9, 10, "head")

    await raw(store, "UPDATE audit_head SET seq = 9, hash = (SELECT hash FROM audit WHERE seq = 9)")
    assert await _verify(store) == Report(True, 9, 9), "without an anchor nothing can tell"
    assert await _verify(store, anchors=[anchor]) == Report(False, 9, 9, 10, "anchor")


async def test_a_cut_and_regrown_chain_is_found_by_an_anchor(store: Store, clock: FrozenClock) -> None:
    """A restored backup that went on: genuine links, another history."""
    await _grow(store)
    anchor = await _anchor(store)
    clock.advance(60)

    await raw(
        store,
        "DELETE FROM audit WHERE seq > 9",
        "UPDATE audit_head SET seq = 9, hash = (SELECT hash FROM audit WHERE seq = 9)",
    )
    with pytest.raises(LogNotWhole, match="at entry 12"):
        await _grow(store, 1)
    store._chain = ChainMemory()  # as a process that knows nothing of before
    await _grow(store, 5)

    assert (await _verify(store)).ok
    assert await _verify(store, anchors=[anchor]) == Report(False, 11, 11, 12, "anchor")


async def test_a_whole_chain_deleted_is_found(store: Store) -> None:
    await _grow(store)
    anchor = await _anchor(store)

    await raw(store, "DELETE FROM audit")
    assert await _verify(store) == Report(False, 0, 0, 1, "head")

    await raw(store, "UPDATE audit_head SET seq = 0, hash = ''")
    assert await _verify(store, anchors=[anchor]) == Report(False, 0, 0, 1, "anchor")


async def test_an_anchor_goes_through_a_log_line_and_a_forged_one_is_no_anchor(store: Store) -> None:
    await _grow(store)
    anchor = await _anchor(store)

    read = Anchor.from_line(anchor.line())
    assert read == anchor
    assert (await _verify(store, anchors=[read])).ok
    forged = replace(anchor, at="2020-01-01T00:00:00.000000Z")
    assert await _verify(store, anchors=[forged]) == Report(False, LINKS, LINKS, LINKS, "anchor")
    for line in ("{}", "null", "not json", '{"seq": "x"}'):
        with pytest.raises(ValueError):
            Anchor.from_line(line)


def test_a_line_is_an_anchor_where_each_of_its_parts_is_one() -> None:
    anchor = Anchor(1, "h", "2026-03-02T09:00:00+00:00", "m")
    said = asdict(anchor)
    assert Anchor.from_line(json.dumps(said)) == anchor
    assert anchor.line() == json.dumps(dict(sorted(said.items())))
    wrong: list[dict[str, Any]] = [
        *({"seq": seq} for seq in (0, -1, True, 1.0, "1", None)),
        *({"at": at} for at in ("2026-03-02T09:00:00", "yesterday", "", None)),
    ]
    for part in wrong:
        with pytest.raises(ValueError, match="not an audit anchor"):
            Anchor.from_line(json.dumps({**said, **part}))
    for name in said:
        with pytest.raises(ValueError, match="not an audit anchor"):
            Anchor.from_line(json.dumps({key: value for key, value in said.items() if key != name}))


async def test_an_empty_chain_has_no_anchor(store: Store) -> None:
    async with store.read() as tx:
        assert await audit.anchor(tx) is None


async def test_links_signed_under_an_older_key_hold_while_it_is_in_the_keyring(
    url: str, open_store: Opener
) -> None:
    fresh = new_master()
    store = await open_store(url)
    await _grow(store, 2)
    await store.close()

    rotated = await open_store(url, vault=Vault(Keyring.parse(f"{fresh}\n{MASTER}")))
    await _grow(rotated, 2)

    assert await _verify(rotated) == Report(True, 4, 4)


@pytest.mark.parametrize("seed", range(20))
async def test_any_change_to_any_link_is_found(sqlite_store: Store, seed: int) -> None:
    await _grow(sqlite_store, 6)
    drawn = random.Random(seed)
    seq = drawn.randint(1, 6)
    async with sqlite_store.read() as tx:
        (entry,) = [e async for e in audit.entries(tx, from_seq=seq, to_seq=seq)]
    column = drawn.choice([c for c, v in asdict(entry).items() if isinstance(v, str) and v])
    value: str = getattr(entry, column)
    at, flip = drawn.randrange(len(value)), 1 << drawn.randrange(6)
    changed = value[:at] + chr(ord(value[at]) ^ flip) + value[at + 1 :]

    await raw(
        sqlite_store,
        f"UPDATE audit SET {column} = '{changed.replace(chr(39), chr(39) * 2)}' WHERE seq = {seq}",
    )

    found = await _verify(sqlite_store)
    assert (found.ok, found.first_bad) == (False, seq)


async def test_an_export_can_be_read_back_and_says_what_it_holds(store: Store) -> None:
    await _grow(store, 3)
    async with store.begin() as tx:
        await audit.append(
            tx, actor="=cmd|' /C calc'!A0", action="a", subject="+1", reason_code='"quoted", with commas'
        )
    lines, table = io.StringIO(), io.StringIO()

    async with store.read() as tx:
        manifest = await audit.export(tx, lines.write, "jsonl")
        await audit.export(tx, table.write, "csv")

    read = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [r["seq"] for r in read] == [1, 2, 3, 4]
    assert json.loads(read[0]["body"])["amount_usd"] == "50.10"
    assert manifest.count == 4
    assert manifest.sha256 == hashlib.sha256(lines.getvalue().encode()).hexdigest()
    assert manifest.head_hash == read[-1]["hash"]
    rows = list(csv.DictReader(io.StringIO(table.getvalue())))
    assert rows[3]["actor"] == "'=cmd|' /C calc'!A0", "a spreadsheet must not run what it reads"
    assert rows[3]["subject"] == "'+1"
    assert rows[3]["reason_code"] == '"quoted", with commas'


async def test_every_cell_of_an_exported_table_is_in_quotes(store: Store) -> None:
    """Else what another character parts, as `;` does in many spreadsheets, begins a cell of its own and may run."""
    async with store.begin() as tx:
        for hostile in ("x;=cmd|' /C calc'!A1;y", "x\t=1+1", "x\r=1+1", "x\n=1+1", 'x";=1+1', ""):
            await audit.append(tx, actor=hostile, action="a", subject=hostile, reason_code=hostile)
    table = io.StringIO()

    async with store.read() as tx:
        await audit.export(tx, table.write, "csv")

    again = io.StringIO()
    rows = csv.reader(io.StringIO(table.getvalue(), newline=""))
    csv.writer(again, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    assert again.getvalue() == table.getvalue()


async def test_the_exported_lines_alone_prove_the_chain(store: Store) -> None:
    """An independent reading of the format, with nothing of ours but the lines."""
    await _grow(store, 4)
    lines = io.StringIO()
    async with store.read() as tx:
        await audit.export(tx, lines.write, "jsonl")

    previous = ""
    for line in lines.getvalue().splitlines():
        link = json.loads(line)
        names = (
            "seq",
            "at",
            "actor",
            "action",
            "subject",
            "outcome",
            "reason_code",
            "body",
            "policy_version",
        )
        raw = [str(link[name]).encode() for name in names]
        covered = b"".join(len(r).to_bytes(4, "big") + r for r in raw)
        digest = hashlib.sha256(b"countersign-audit-v1" + covered + previous.encode()).hexdigest()
        assert (link["prev"], link["hash"]) == (previous, digest)
        previous = digest


Forge = Callable[[Tx, list[audit.Entry]], list[audit.Entry]]


async def _rewrite(store: Store, forge: Forge) -> None:
    """Replace the whole chain and its head by what `forge` makes of it."""
    async with store.read() as tx:
        old = [e async for e in audit.entries(tx)]
        new = forge(tx, old)
    await raw(store, "DELETE FROM audit")
    async with store.begin() as tx:
        for entry in new:
            await tx.run(t.audit.insert().values(asdict(entry)))
        await tx.run(t.audit_head.update().values(seq=new[-1].seq, hash=new[-1].hash))


def _entry_hash(entry: audit.Entry) -> str:
    texts = list(astuple(entry))[2:9]
    return audit._hash(entry.seq, [time_text(entry.at), *texts], entry.prev)


def _chain(entries: list[audit.Entry], mac: Callable[[audit.Entry], str]) -> list[audit.Entry]:
    chained: list[audit.Entry] = []
    for entry in entries:
        linked = replace(entry, prev=chained[-1].hash if chained else "")
        linked = replace(linked, hash=_entry_hash(linked))
        chained.append(replace(linked, mac=mac(linked)))
    return chained


def _recompute(tx: Tx, old: list[audit.Entry]) -> list[audit.Entry]:
    return _chain([replace(e, actor="UMALLORY") for e in old], lambda e: e.mac)


def _resign(tx: Tx, old: list[audit.Entry]) -> list[audit.Entry]:
    own = Vault(Keyring.parse(new_master()))
    return _chain(
        [replace(e, actor="UMALLORY") for e in old], lambda e: own.mac("audit_mac", e.hash.encode())
    )


def _extend(tx: Tx, old: list[audit.Entry]) -> list[audit.Entry]:
    more = _chain([*old, replace(old[-1], seq=len(old) + 1, action="request.approval")], lambda e: e.mac)
    return [*old, more[-1]]


async def _anchor(store: Store) -> Anchor:
    async with store.read() as tx:
        anchor = await audit.anchor(tx)
    assert anchor is not None
    return anchor
