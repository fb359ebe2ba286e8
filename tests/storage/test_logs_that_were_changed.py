"""Whoever changes the audit log in the database is found out by the next reading, while a process runs and after its
start, by what money depends on and by whose passkeys count; and nothing is added to such a log."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from bot.domain.errors import Stale
from storage import audit
from storage.columns import time_text
from storage.errors import (
    ChangedOutside,
    EndOfLogLost,
    LogNotWhole,
    NotAsCounted,
    NotAsOnRecord,
    NotReadYet,
)
from storage.log_record import LogFacts, counted, on_record
from storage.operators import passkeys_on_record
from storage.store import Store
from storage.transaction import ChainMemory, Contradiction, PasskeysOnRecord, RequestRow, Tx
from storage.vault import Keyring, Vault, new_master
from tests.storage.conftest import MASTER
from tests.support.changed_log import raw

Read = Callable[[Tx], Awaitable[object]]
READINGS: dict[str, Read] = {"money": on_record.of, "passkeys": passkeys_on_record.of}
SET_BACK = "UPDATE audit_head SET seq = 1, hash = (SELECT hash FROM audit WHERE seq = 1)"
CUT = (SET_BACK, "DELETE FROM audit WHERE seq > 1")


async def grow(store: Store, count: int = 3, action: str = "t", subject: str = "t") -> None:
    for _ in range(count):
        async with store.begin() as tx:
            await audit.append(tx, actor="A", action=action, subject=subject)


def forget(store: Store) -> ChainMemory:
    """As after a start; returns what was known until then."""
    known, store._chain = store._chain, ChainMemory()
    return known


async def read(store: Store, what: str) -> object:
    async with store.read() as tx:
        return await READINGS[what](tx)


EDITS: dict[str, tuple[tuple[str, ...], int]] = {
    "another end": (("UPDATE audit_head SET hash = 'ab'",), 3),
    "a changed entry": (("UPDATE audit SET actor = 'X' WHERE seq = 2",), 2),
    "an entry of bytes": (("UPDATE audit SET actor = X'41' WHERE seq = 2",), 2),
    "a signature of another entry": (
        ("UPDATE audit SET mac = (SELECT mac FROM audit WHERE seq = 1) WHERE seq = 2",),
        2,
    ),
    "an entry taken out": (("DELETE FROM audit WHERE seq = 2",), 2),
}


@pytest.mark.parametrize("what", READINGS)
@pytest.mark.parametrize("edit", EDITS)
async def test_what_was_changed_is_found_at_its_entry_by_whoever_starts(
    sqlite_store: Store, what: str, edit: str
) -> None:
    statements, at = EDITS[edit]
    await grow(sqlite_store)
    await raw(sqlite_store, *statements)
    forget(sqlite_store)
    with pytest.raises(ChangedOutside, match=f"at entry {at}"):
        await read(sqlite_store, what)
    if edit == "an entry of bytes":
        async with sqlite_store.read() as tx:
            assert (await audit.verify(tx)).kind == "hash"
            entries = {one.seq: one async for one in audit.about(tx, "t")}
            assert [audit.is_genuine(tx, entries[seq]) for seq in (1, 2, 3)] == [True, False, True]


@pytest.mark.parametrize("what", READINGS)
@pytest.mark.parametrize("had_read", [True, False])
async def test_a_log_that_is_shorter_than_this_process_knows_is_not_whole(
    store: Store, what: str, *, had_read: bool
) -> None:
    """Also where what it knows of the log is only that it added to it."""
    await grow(store)
    if had_read:
        await read(store, what)
    await raw(store, *CUT)
    with pytest.raises(ChangedOutside, match="at entry 3"):
        await read(store, what)


@pytest.mark.parametrize("had_read", [True, False])
async def test_where_its_end_alone_was_set_back_no_passkey_counts_and_that_is_said(
    sqlite_store: Store, *, had_read: bool
) -> None:
    await grow(sqlite_store)
    if had_read:
        await read(sqlite_store, "passkeys")
    await raw(sqlite_store, SET_BACK)
    with pytest.raises(EndOfLogLost, match="was taken out or set back"):
        await read(sqlite_store, "passkeys")


@pytest.mark.parametrize("what", READINGS)
async def test_another_log_that_is_whole_in_itself_is_not_the_one_this_process_added_to(
    sqlite_store: Store, what: str
) -> None:
    """As where an older copy was put in place beneath it, and another process went on with that."""
    await grow(sqlite_store)
    await raw(sqlite_store, *CUT)
    known = forget(sqlite_store)
    await grow(sqlite_store, 4, action="another")
    sqlite_store._chain = known
    with pytest.raises(ChangedOutside, match="at entry 3"):
        await read(sqlite_store, what)


def of_another_keyring(store: Store, *masters: str) -> Vault:
    return Vault(Keyring.parse("\n".join(masters))).bound_to(store.vault.instance)


@pytest.mark.parametrize("what", READINGS)
async def test_what_a_key_signed_that_is_neither_here_nor_retired_proves_nothing(
    sqlite_store: Store, what: str
) -> None:
    await grow(sqlite_store)
    forget(sqlite_store)
    sqlite_store.vault = of_another_keyring(sqlite_store, new_master())
    with pytest.raises(ChangedOutside, match="at entry 1"):
        await read(sqlite_store, what)
    with pytest.raises(LogNotWhole) as refused:
        await grow(sqlite_store, 1, "request.submitted", "request:R-1:1")
    assert refused.value.kind == "key"


@pytest.mark.parametrize("what", READINGS)
async def test_what_a_retired_key_signs_after_that_is_not_ours(sqlite_store: Store, what: str) -> None:
    store, newer = sqlite_store, new_master()
    await grow(store)
    old = store.vault.primary_kid
    store.vault = of_another_keyring(store, newer, MASTER)
    await grow(store, 1, audit.RETIRED_KEY, f"master_key:{old}")
    await read(store, what)
    store.vault = of_another_keyring(store, MASTER, newer)
    forget(store)
    await grow(store, 1)

    store.vault = of_another_keyring(store, newer, MASTER)
    forget(store)
    with pytest.raises(ChangedOutside, match="at entry 5"):
        await read(store, what)


async def test_nothing_is_added_behind_another_end(sqlite_store: Store) -> None:
    await grow(sqlite_store)
    await raw(sqlite_store, "UPDATE audit_head SET hash = 'ab'")
    forget(sqlite_store)
    with pytest.raises(LogNotWhole, match="at entry 3"):
        await grow(sqlite_store, 1, "request.submitted", "request:R-1:1")
    async with sqlite_store.read() as tx:
        assert len([one async for one in audit.entries(tx)]) == 3


async def test_an_end_that_was_set_back_is_said_by_a_process_that_knows_of_no_other(
    sqlite_store: Store,
) -> None:
    await grow(sqlite_store)
    await raw(sqlite_store, SET_BACK)
    forget(sqlite_store)
    with pytest.raises(EndOfLogLost, match="was set back"):
        await grow(sqlite_store, 1)


async def test_an_end_that_does_not_move_is_said(own_store: Store) -> None:
    """Somebody's trigger has each change of it come to nothing."""
    await grow(own_store)
    async with own_store.begin() as tx:
        if tx.is_postgres:
            await tx.run(
                text("CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
            )
            how = "EXECUTE FUNCTION nothing()"
            await tx.run(text(f"CREATE TRIGGER x BEFORE UPDATE ON audit_head FOR EACH ROW {how}"))
        else:
            await tx.run(text("CREATE TRIGGER x BEFORE UPDATE ON audit_head BEGIN SELECT RAISE(IGNORE); END"))
    with pytest.raises(EndOfLogLost, match="does not keep what is written to it"):
        await grow(own_store, 1)


async def test_an_end_that_is_as_it_was_left_is_not_put_back(sqlite_store: Store) -> None:
    await grow(sqlite_store)
    async with sqlite_store.begin() as tx:
        before = await audit.head(tx)
        assert not await audit.put_head_back(tx)
        assert await audit.head(tx) == before
    await raw(sqlite_store, SET_BACK)
    async with sqlite_store.begin() as tx:
        assert await audit.put_head_back(tx)
        assert await audit.head(tx) == before


async def test_what_is_added_and_taken_back_in_one_transaction_leaves_the_rest_of_it(
    sqlite_store: Store,
) -> None:
    """Its end looks for entries that are there no more, and for what they would have followed."""
    await grow(sqlite_store)
    async with sqlite_store.begin() as tx:
        with contextlib.suppress(ValueError):
            async with tx.savepoint():
                await audit.append(tx, actor="A", action="request.submitted", subject="request:R-1:1")
                raise ValueError
        await tx.run(text("INSERT INTO meta (name, value) VALUES ('kept', 'x')"))
    async with sqlite_store.read() as tx:
        assert (await audit.head(tx)).seq == 3
        assert (await tx.run(text("SELECT value FROM meta WHERE name = 'kept'"))).scalar_one() == "x"


async def test_nobody_says_yes_to_what_was_never_asked_or_is_answered(sqlite_store: Store) -> None:
    async def say(action: str) -> None:
        await grow(sqlite_store, 1, action, "consent:C-1")

    with pytest.raises(NotAsOnRecord, match="answered or over already"):
        await say(audit.CONSENT_GIVEN)
    assert "C-1" in sqlite_store.put_back, "people are notified of it"
    await say("consent.asked")
    await say(audit.CONSENT_GIVEN)
    with pytest.raises(NotAsOnRecord):
        await say(audit.CONSENT_GIVEN)


async def test_of_no_more_than_a_thousand_contradictions_people_are_still_to_be_notified(
    sqlite_store: Store,
) -> None:
    async with sqlite_store.read() as tx:
        for number in range(on_record.MOST_NOTED + 5):
            on_record.note(tx, Contradiction(f"R-{number}", "is wrong"))
    assert len(sqlite_store.put_back) == on_record.MOST_NOTED


async def approved(store: Store) -> None:
    at = time_text(datetime(2026, 3, 2, tzinfo=UTC))
    counts = {"program": "main", "subject": "c", "requester": "A", "usd": "50", "by": ["B"], "asked": at}
    body: dict[str, Any] = {"kind": "card_topup", "digest": "d", "progress": "p"}
    async with store.begin() as tx:
        said = {**body, "state": "pending"}
        await audit.append(tx, actor="A", action="request.submitted", subject="request:R-1:1", body=said)
    async with store.begin() as tx:
        tx.was["R-1"] = RequestRow("pending", 1, "")
        said = {**body, "state": "approved", "counts": counts, "words": {"D-1": "w"}}
        await audit.append(tx, actor="B", action="request.approval", subject="request:R-1:2", body=said)


@pytest.mark.parametrize(
    ("rows", "again", "refusal"),
    [
        ({"R-1": Decimal(50)}, {}, None),
        ({}, {"R-1": Decimal(50)}, Stale),
        ({"R-1": Decimal(1)}, {"R-1": Decimal(50)}, Stale),
        ({}, {}, NotAsCounted),
        ({"R-1": Decimal(1)}, {"R-1": Decimal(1)}, NotAsCounted),
    ],
)
async def test_what_was_counted_otherwise_than_on_record_is_counted_once_more_before_anybody_is_accused(
    sqlite_store: Store, rows: dict[str, Any], again: dict[str, Any], refusal: type[Exception] | None
) -> None:
    """On PostgreSQL another process may have gone on between the two readings."""
    await approved(sqlite_store)

    async def found_again() -> dict[str, Any]:
        return again

    with pytest.raises(refusal) if refusal else contextlib.nullcontext():
        async with sqlite_store.begin() as tx:
            since = datetime(2026, 3, 1, tzinfo=UTC)
            tx.counted.append(
                counted.Count(since, lambda one: one.is_committed, lambda one: one.usd, rows, found_again)
            )
            body = {"state": "pending", "digest": "d"}
            await audit.append(tx, actor="A", action="request.submitted", subject="request:R-2:1", body=body)
    assert ("R-1" in sqlite_store.put_back) == (refusal is NotAsCounted)


async def test_what_this_process_added_and_read_already_is_not_taken_twice(sqlite_store: Store) -> None:
    """On PostgreSQL another task may read an entry before whoever added it has noted that it is committed."""
    await grow(sqlite_store, 2, "consent.asked", "consent:C-1")
    added = list(sqlite_store._chain.own)
    await read(sqlite_store, "money")
    sqlite_store._chain.own.extend(added)
    async with sqlite_store.read() as tx:
        found = await on_record.known(tx)
        assert (found.seq, found.asked) == (2, frozenset({"C-1"}))
        assert found == await on_record.of(tx)


async def test_what_another_reading_found_otherwise_is_not_kept(sqlite_store: Store) -> None:
    await grow(sqlite_store)
    first = forget(sqlite_store)
    await read(sqlite_store, "money")
    known = sqlite_store._chain.log
    assert isinstance(known, LogFacts)
    async with sqlite_store.read() as tx:
        longer = known.fingerprints.and_(bytes(16))
        on_record._keep(tx, LogFacts(seq=4, hash="x", fingerprints=longer))
        unlike = known.fingerprints.and_(bytes(range(16)))
        on_record._keep(tx, LogFacts(seq=5, hash="y", fingerprints=unlike))
        assert tx.chain.log is not None
        assert (tx.chain.log.seq, tx.chain.log.hash) == (4, "x")
    assert first.log is None


async def test_a_long_log_is_read_in_parts_and_until_then_no_passkey_counts(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passkeys_on_record, "AT_ONCE", 2)
    await grow(sqlite_store, 5)
    forget(sqlite_store)
    with pytest.raises(NotReadYet, match="Try again in some seconds"):
        await read(sqlite_store, "passkeys")
    left = []
    for _ in range(3):
        async with sqlite_store.read() as tx:
            left.append(await passkeys_on_record.learn(tx))
    assert left == [3, 1, 0]
    await read(sqlite_store, "passkeys")

    await raw(sqlite_store, "UPDATE audit SET actor = 'X' WHERE seq = 2")
    forget(sqlite_store)
    async with sqlite_store.read() as tx:
        with pytest.raises(ChangedOutside, match="at entry 2"):
            await passkeys_on_record.learn(tx)
    with pytest.raises(ChangedOutside, match="at entry 2"):
        await read(sqlite_store, "passkeys")


async def test_a_refusal_on_record_gives_nobody_a_passkey(sqlite_store: Store) -> None:
    async with sqlite_store.begin() as tx:
        body = {"person": "A", "public_key": "k"}
        for outcome in ("refused", "ok"):
            await audit.append(
                tx,
                actor="A",
                action="passkey.added",
                subject=f"passkey:{outcome}",
                body=body,
                outcome=outcome,
            )
    found = await read(sqlite_store, "passkeys")
    assert isinstance(found, PasskeysOnRecord)
    assert found.counting.keys() == {"ok"}


async def test_every_place_has_what_it_kept_and_the_log_has_every_anchor(
    sqlite_store: Store,
) -> None:
    """Else somebody had a passkey of whom nothing is known here."""
    await grow(sqlite_store, 2)
    async with sqlite_store.read() as tx:
        kept = await audit.anchor(tx)
    assert kept is not None
    async with sqlite_store.begin() as tx:
        said = {"place": "file", "seq": kept.seq, "hash": kept.hash}
        await audit.append(tx, actor="A", action=passkeys_on_record.KEPT, subject="anchors", body=said)
    async with sqlite_store.read() as tx:
        found = await passkeys_on_record.of(tx)
        end = await audit.anchor(tx)
        assert end is not None
        text_of = time_text(tx.now)
        of_another = audit.Anchor(9, "cd" * 32, text_of, "")
        mac = tx.vault.mac("audit_mac", audit._anchor_bytes(9, "cd" * 32, text_of))
        beyond = audit.Anchor(9, "cd" * 32, text_of, mac)

        def has(**places: list[audit.Anchor]) -> bool:
            return passkeys_on_record.has_all(found, places, tx)

        assert has(file=[kept])
        assert has(file=[kept, end])
        assert has(file=[kept, of_another]), "what is not ours says nothing"
        assert not has(file=[kept, beyond]), "an entry of ours that the log lacks"
        assert not has(file=[end]), "the place lacks what it kept once"
        assert not has(file=[])
        assert not has(file=[kept], other=[kept]), "a place of which the log does not know"


async def test_an_export_has_one_of_two_forms(sqlite_store: Store) -> None:
    lines: list[str] = []
    async with sqlite_store.read() as tx:
        with pytest.raises(ValueError, match="as jsonl or csv, not xml"):
            await audit.export(tx, lines.append, "xml")
    assert lines == []
