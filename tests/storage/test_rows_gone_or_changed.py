"""What is stored and is gone, was changed by somebody else, or was never there: what whoever asks for it gets."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert as insert_rows
from sqlalchemy import select, text

from bot.domain.errors import NotFound
from bot.domain.people import Actor
from bot.domain.requests import State
from storage import audit, instance, key_rotation
from storage import tables as t
from storage.cards import api_snapshots, cards, otp_recipients
from storage.errors import ChangedOutside, WrongMasterKey
from storage.events import inbox
from storage.log_record import PAGE_OPENED, PAGE_USED, on_record
from storage.master_keys import fits_all_the_same
from storage.operators import (
    passkey_links,
    passkeys,
    pauses,
    people,
    programs,
    rate_minutes,
    safe_mode,
    shared_looks,
)
from storage.operators.passkey_links import PasskeyLink
from storage.operators.passkeys import Key
from storage.operators.replicas import Silent
from storage.protection import CODE_RECIPIENT, signed_rows, unreadable_rows, upgrades
from storage.requests import before_sending, card_details_links, requests
from storage.set_aside import UnreadableRow
from storage.store import Store
from storage.transaction import ChainMemory
from storage.vault import Keyring, Vault, new_master
from tests.storage.conftest import MASTER, Opener
from tests.storage.factories import NOW, insert, request
from tests.storage.test_directory_rows import card
from tests.storage.test_signed_rows import ADDRESS, KEY, make_program
from tests.support.databases import SqliteFiles


async def raw(store: Store, statement: str, **values: Any) -> None:
    async with store.begin() as tx:
        await tx.run(text(statement), values)


async def test_what_is_not_there_is_not_found_and_nothing_is_done(sqlite_store: Store) -> None:
    async with sqlite_store.begin() as tx:
        assert await requests.get_with_message(tx, "R-1", "s", "f") == (None, False)
        assert await before_sending.of(tx, "R-1", others=None) is None
        assert await before_sending.of(tx, "R-1", others=["card_topup"]) is None
        assert await inbox.get(tx, "e1") is None
        assert await passkey_links.of_token(tx, "d") is None
        assert await cards.signed_reference(tx, "c") is None
        assert await programs.count_requests(tx, "main") == 0
        assert not await passkeys.rename(tx, "pk", "Phone")
        assert await card_details_links.get(tx, "R-1") is None
        await cards.set_balances(tx, [])
        await safe_mode.note_listed(tx)
        with pytest.raises(NotFound, match="no program named main"):
            await programs.remove(tx, "main")
        assert not await programs.begin_drafts(tx, "main")
    assert sqlite_store.rows_met == set(), "nobody is accused of it"


async def test_what_there_is_is_found_by_its_name(sqlite_store: Store) -> None:
    await make_program(sqlite_store)
    key = Key("U1", "cred", "pub", "host", "waiting", 0)
    async with sqlite_store.begin() as tx:
        await insert(tx, request("R-1"), request("R-2", program="other"))
        assert await programs.count_requests(tx, "main") == 1
        await people.put(tx, Actor("U1", "Alice"), real_name="Alice Moreau")
        await people.put(tx, Actor("U2", "Bob"))
        assert sorted(await people.names(tx)) == ["Alice", "Alice Moreau", "Bob"]
        await passkeys.add(tx, "pk", "Laptop", key)
        assert await passkeys.rename(tx, "pk", "Phone")
        named = await passkeys.get(tx, "pk")
        assert named is not None
        assert (named.name, named.key) == ("Phone", key)
        await cards.put_many(tx, "main", [card("c1", "ALICE", None, "emp-1")])
        assert await cards.signed_reference(tx, "c1") == "emp-1"
    await raw(sqlite_store, "UPDATE card SET partner_ref = 'emp-2'")
    async with sqlite_store.read() as tx:
        assert await cards.signed_reference(tx, "c1") is None, "codes would go to somebody else"


async def test_a_text_without_a_letter_or_digit_names_no_card(sqlite_store: Store) -> None:
    async with sqlite_store.begin() as tx:
        await cards.put_many(tx, "main", [card("c1", "ALICE", "4242", "emp-1")])
        for said in ("", "  ", "•", "—"):
            assert await cards._match(tx, said, None, t.card.c.id != "") == [], said


def test_a_process_is_known_by_its_machine_and_number() -> None:
    assert Silent("host:17:ab", "bot", NOW, is_connected=False).process == "host:17"


async def test_a_database_without_its_name_is_not_started(sqlite_store: Store) -> None:
    await raw(sqlite_store, "DELETE FROM meta WHERE name = 'instance'")
    async with sqlite_store.read() as tx:
        with pytest.raises(ChangedOutside, match="is gone: somebody changed the database"):
            await instance.instance(tx)


async def test_people_are_notified_where_somebody_took_out_a_link_to_card_details(
    sqlite_store: Store,
) -> None:
    async with sqlite_store.begin() as tx:
        await insert(tx, request("R-1"))
        await card_details_links.grant(tx, "R-1", NOW + timedelta(minutes=15))
        found = await card_details_links.get(tx, "R-1")
        assert found is not None
        assert found.is_alive
        assert not replace(found, state="over").is_alive
    await raw(sqlite_store, "DELETE FROM card_reveal")
    async with sqlite_store.read() as tx:
        assert await card_details_links.get(tx, "R-1") is None
    assert sqlite_store.rows_met == {"card_reveal"}


async def test_a_pause_of_a_program_that_never_was_is_none_and_of_one_whose_signature_is_gone_goes_on(
    sqlite_store: Store,
) -> None:
    await make_program(sqlite_store)
    async with sqlite_store.read() as tx:
        assert await pauses.of(tx, "never") is None
        assert await pauses.of(tx, "main") is None
    await raw(sqlite_store, "DELETE FROM row_signature WHERE table_name = 'pause'")
    async with sqlite_store.read() as tx:
        assert await pauses.of(tx, "main") is not None


async def test_a_pause_that_cannot_be_read_holds_until_it_is_made_again(sqlite_store: Store) -> None:
    await make_program(sqlite_store)
    async with sqlite_store.begin() as tx:
        assert await pauses.put(tx, "main", by="U1", by_name="Alice", reason="why")
    await raw(sqlite_store, "UPDATE pause SET since = 'never'")
    sqlite_store.leave_out([UnreadableRow("pause", "since", (b"main",))])
    async with sqlite_store.begin() as tx:
        held = await pauses.of(tx, "main")
        assert held is not None
        assert "cannot be read" in held.reason
        assert await pauses.is_changed(tx, "main")
        assert await pauses.put(tx, "main", by="U2", by_name="Bob", reason="again")
    async with sqlite_store.read() as tx:
        made = await pauses.of(tx, "main")
        assert made is not None
        assert (made.by, made.reason) == ("U2", "again")
        assert not await pauses.is_changed(tx, "main")


async def test_a_trigger_that_keeps_a_program_from_drafts_is_found(
    sqlite_files: Any, open_store: Any
) -> None:
    url = sqlite_files.migrated()
    store = await open_store(url)
    await make_program(store)
    await raw(store, "CREATE TRIGGER x BEFORE UPDATE ON program BEGIN SELECT RAISE(IGNORE); END")
    with pytest.raises(ChangedOutside, match="look for triggers"):
        async with store.begin() as tx:
            await programs.begin_drafts(tx, "main")
    await raw(store, "DROP TRIGGER x")
    async with store.begin() as tx:
        assert await programs.begin_drafts(tx, "main")
        assert not await programs.begin_drafts(tx, "main")
    await store.close()
    sqlite_files.drop(url)


async def test_an_older_key_of_a_program_is_never_used_again(sqlite_store: Store) -> None:
    store = sqlite_store
    await make_program(store)
    async with store.read() as tx:
        before = (await tx.run(text("SELECT sealed_key FROM program"))).scalar_one()
    await make_program(store)
    await raw(store, "UPDATE program SET sealed_key = :key, key_version = 1", key=before)
    async with store.read() as tx:
        with pytest.raises(ChangedOutside, match="were replaced or removed by the audit log"):
            await programs.key(tx, "main")
        assert await programs.with_older_key(tx) == ["main"]


async def test_numbers_that_no_entry_says_are_put_on_record_once(sqlite_store: Store) -> None:
    """As of an older version, in whose log no entry says a number."""
    store = sqlite_store
    await make_program(store)
    async with store.begin() as tx:
        await signed_rows.sign(tx, CODE_RECIPIENT, "emp-1")
    async with store.begin() as tx:
        known = await on_record.of(tx)
        assert {"program", "program_key", "person_card"} <= known.numbers.keys()
        tx.log = replace(known, numbers={})
        await programs.put_keys_on_record(tx)
        assert tx.numbered == {"program_key": {"main": 1}}
        tx.numbered.clear()
        tx.log = known
        await programs.put_keys_on_record(tx)
        await signed_rows.put_all_on_record(tx)
        assert tx.numbered == {}, "what is on record is not said again"
        await signed_rows._write(tx, CODE_RECIPIENT, "emp-2", 4, None)
        await signed_rows.put_all_on_record(tx)
        assert tx.numbered == {"person_card": {"emp-2": 4}}


@pytest.mark.parametrize(
    "value", [[], {}, {"rows": 1}, {"n": 1}, {"n": "1", "mac": "x"}, {"n": 1, "mac": 1}, {"n": 1, "mac": "x"}]
)
async def test_a_reading_that_is_to_be_signed_and_is_not_ours_counts_for_nothing(
    sqlite_store: Store, value: Any
) -> None:
    async with sqlite_store.begin() as tx:
        await api_snapshots.put(tx, "main", "ledger_watch", value)
        assert await api_snapshots.get_signed(tx, "main", "ledger_watch") is None
        await api_snapshots.sign_again(tx)
        assert await api_snapshots.get_signed(tx, "main", "ledger_watch") is None, (
            "nor is it signed by a new key"
        )
        await api_snapshots.put_signed(tx, "main", "ledger_watch", {"rows": 2})
        found = await api_snapshots.get_signed(tx, "main", "ledger_watch")
        assert found is not None
        assert found.value == {"rows": 2}


async def test_readings_of_an_older_version_are_signed_once_and_what_comes_later_is_not(
    sqlite_store: Store,
) -> None:
    store = sqlite_store
    async with store.begin() as tx:
        await api_snapshots.put(tx, "main", "ledger_watch", {"rows": 2})
        assert await upgrades.sign_readings_once(tx) == 1
        found = await api_snapshots.get_signed(tx, "main", "ledger_watch")
        assert found is not None
        assert found.value == {"rows": 2}
    async with store.begin() as tx:
        await api_snapshots.put(tx, "main", "ledger_watch", {"rows": 9})
        assert await upgrades.sign_readings_once(tx) is None
        assert await api_snapshots.get_signed(tx, "main", "ledger_watch") is None


async def test_what_another_process_saw_is_taken_as_it_signed_it_only(sqlite_store: Store) -> None:
    async with sqlite_store.begin() as tx:
        assert await shared_looks.get(tx, "x") is None
        await shared_looks.put(tx, "x", {"a": 1}, NOW)
        kept = await api_snapshots.get(tx, "", "look:x")
        assert kept is not None
        assert await shared_looks.get(tx, "x") == shared_looks.Look({"a": 1}, NOW)
        for change in ({"value": {"a": 2}}, {"at_us": 0}, {"mac": "x"}, {"mac": None}):
            await api_snapshots.put(tx, "", "look:x", {**kept.value, **change})
            assert await shared_looks.get(tx, "x") is None, change


LINK = PasskeyLink(
    *("token", "U1", "add", "pk", 1, "d", "nonce", {}, ""), NOW, NOW + timedelta(minutes=5)
)  # fmt: skip


@pytest.mark.parametrize("how", [PAGE_OPENED, PAGE_USED])
async def test_a_link_whose_row_of_before_its_use_is_put_back_is_used_all_the_same(
    sqlite_store: Store, how: str
) -> None:
    async with sqlite_store.begin() as tx:
        await passkey_links.make(tx, LINK if how == PAGE_OPENED else replace(LINK, page_digest="page"))
    async with sqlite_store.begin() as tx:
        await audit.append(tx, actor="U1", action=how, subject="passkey:pk", body={"nonce": LINK.nonce})
    async with sqlite_store.begin() as tx:
        if how == PAGE_OPENED:
            assert await passkey_links.open_page(tx, "token", "page", {}) is None
        else:
            assert await passkey_links.spend(tx, "page") is None
    assert sqlite_store.rows_met == {"passkey_link"}, "people are notified of it"


async def test_a_link_is_opened_and_its_page_answered_once(sqlite_store: Store) -> None:
    async with sqlite_store.begin() as tx:
        await passkey_links.make(tx, LINK)
        assert await passkey_links.spend(tx, "page") is None
        assert await passkey_links.open_page(tx, "token", "page", {"a": 1}) is not None
        assert await passkey_links.open_page(tx, "token", "other", {}) is None
        assert await passkey_links.spend(tx, "page") is not None
        assert await passkey_links.spend(tx, "page") is None
    assert sqlite_store.rows_met == set()


async def test_a_safe_mode_of_one_copy_begins_once_and_is_noted_once(sqlite_store: Store) -> None:
    enter = partial(safe_mode.enter, head_at=NOW, anchor_seq=9, anchor_at=NOW)
    async with sqlite_store.begin() as tx:
        assert await enter(tx, head_seq=2)
    async with sqlite_store.begin() as tx:
        assert not await enter(tx, head_seq=2)
        mode = await safe_mode.current(tx)
        assert mode is not None
        assert await safe_mode.note_voided(tx, mode, "p1")
    async with sqlite_store.begin() as tx:
        assert not await safe_mode.note_voided(tx, mode, "p1"), "another process was first"
        assert await enter(tx, head_seq=3)
    async with sqlite_store.begin() as tx:
        assert not await safe_mode.note_voided(tx, mode, "p1"), "that one is over"
        again = await safe_mode.current(tx)
        assert again is not None
        assert (again.head_seq, again.voided) == (3, None)


@pytest.mark.parametrize("state", [State.PENDING, State.APPROVED, State.EXECUTING])
async def test_a_request_is_put_right_as_over_or_as_unknown_and_never_as_one_that_goes_on(
    sqlite_store: Store, state: State
) -> None:
    async with sqlite_store.begin() as tx:
        await insert(tx, request("R-1"))
        found = await requests.get(tx, "R-1")
        assert found is not None
        with pytest.raises(ValueError, match="is over"):
            await requests.put_right(tx, found, state, text="x")
        assert await requests.get(tx, "R-1") == found


def keyring(store: Store, *masters: str) -> Vault:
    return Vault(Keyring.parse("\n".join(masters))).bound_to(store.vault.instance)


async def test_what_does_not_open_is_named_with_its_key_and_what_does_is_not(sqlite_store: Store) -> None:
    newer = new_master()
    async with sqlite_store.begin() as tx:
        for name in ("main", "other"):
            await programs.put(tx, name, base_url=ADDRESS, key=KEY)
    await raw(
        sqlite_store,
        "UPDATE program SET sealed_key = (SELECT sealed_key FROM program WHERE name = 'main') WHERE name = 'other'",
    )
    old = sqlite_store.vault.primary_kid
    sqlite_store.vault = keyring(sqlite_store, newer, MASTER)
    async with sqlite_store.read() as tx:
        (left,) = await key_rotation.not_opening(tx)
    assert (left.kid, str(left)) == (old, "program.sealed_key of other")


@pytest.mark.parametrize("is_whole", [True, False])
async def test_a_key_that_signed_is_missed_whatever_opens_and_a_broken_log_is_found_elsewhere(
    sqlite_store: Store, *, is_whole: bool
) -> None:
    await make_program(sqlite_store)
    if is_whole:
        sqlite_store.vault = keyring(sqlite_store, new_master())
    else:
        await raw(sqlite_store, "UPDATE audit_head SET hash = 'ab'")
    sqlite_store._chain = ChainMemory()
    async with sqlite_store.read() as tx:
        if is_whole:
            with pytest.raises(WrongMasterKey, match="It needs the key"):
                await fits_all_the_same(tx)
        else:
            assert await fits_all_the_same(tx), "it opens what is sealed"


@pytest.mark.parametrize("edit", ["", "UPDATE person_card SET slack_id = 'U9'"])
async def test_a_new_key_signs_rows_that_are_as_we_left_them_and_no_other(
    sqlite_store: Store, edit: str
) -> None:
    store = sqlite_store
    async with store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", "U1")
    if edit:
        await raw(store, edit)
    store.vault = keyring(store, new_master(), MASTER)
    async with store.begin() as tx:
        assert await signed_rows.sign_again(tx, CODE_RECIPIENT) == (0 if edit else 1)
        assert await otp_recipients.person_of(tx, "emp-1") == (None if edit else "U1")


@pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
async def test_a_row_that_another_process_holds_is_left_to_the_next_pass_of_a_new_key(store: Store) -> None:
    await make_program(store)
    store.vault = keyring(store, new_master(), MASTER)
    async with store.begin() as holding:
        await holding.run(text("SELECT 1 FROM program FOR UPDATE"))
        again = asyncio.create_task(key_rotation.rewrap(store))
        done, _ = await asyncio.wait([again], timeout=0.3)
        assert not done, "it comes back to that row"
    assert (await again).moved >= 1


async def test_what_was_sent_with_a_key_is_counted_from_now_where_it_cannot_be_read(store: Store) -> None:
    async with store.begin() as tx:
        assert (await rate_minutes.held(tx, "svc_1"))[0] is None
        await rate_minutes.keep(tx, "svc_1", {"sent": [1]})
    async with store.begin() as tx:
        assert (await rate_minutes.held(tx, "svc_1"))[0] == {"sent": [1]}
        key: Any = "svc_1" if tx.is_postgres else b"svc_1"
    store.leave_out([UnreadableRow("rate_minute", "minute", (key,))])
    async with store.begin() as tx:
        assert (await rate_minutes.held(tx, "svc_1"))[0] is None
        await rate_minutes.keep(tx, "svc_1", {"sent": [2]})
    assert not store.set_aside
    async with store.begin() as tx:
        assert (await rate_minutes.held(tx, "svc_1"))[0] == {"sent": [2]}


#: What somebody writes, and the column that it is none of; "" = it can be read.
NO_VALUE = {
    "no UTF-8": ("UPDATE card SET holder = CAST(X'ff' AS TEXT)", "holder"),
    "a float": ("""UPDATE reading SET value = '{"a"\\:1.5}'""", "value"),
    "no number": ("UPDATE reading SET value = '[NaN]'", "value"),
    "no JSON": ("UPDATE reading SET value = '{'", "value"),
    "nothing where any JSON may be": ("UPDATE reading SET value = 'null'", ""),
    "nothing where terms are": ("UPDATE request SET terms = 'null'", "terms"),
    "bytes for a text": ("UPDATE card SET holder = X'41'", "holder"),
    "a key of no UTF-8": ("UPDATE card SET id = CAST(X'ff' AS TEXT)", "id"),
    "a key of bytes": ("UPDATE card SET id = X'41'", "id"),
}


@pytest.mark.parametrize("what", NO_VALUE)
async def test_a_value_that_is_none_is_found_in_its_column_until_it_is_put_right(
    sqlite_store: Store, what: str
) -> None:
    edit, column = NO_VALUE[what]
    async with sqlite_store.begin() as tx:
        await cards.put_many(tx, "main", [card("c1", "ALICE")])
        await api_snapshots.put(tx, "main", "float", {"a": "1.50", "b": None, "c": [1]})
        await insert(tx, request("R-1"))
    async with sqlite_store.read() as tx:
        assert await unreadable_rows.find_all(tx) == [], "all that we write can be read"
    async with sqlite_store._writer.connect() as connection:
        for pragma in ("ignore_check_constraints=ON", "foreign_keys=OFF"):
            await connection.execute(text(f"PRAGMA {pragma}"))
    await raw(sqlite_store, edit)
    async with sqlite_store.read() as tx:
        found = await unreadable_rows.find_all(tx)
        assert [one.column for one in found] == ([column] if column else [])
        for one in found:
            assert await unreadable_rows.is_still_so(tx, one)
            assert not await unreadable_rows.is_still_so(tx, replace(one, table="of an older version"))
    for one in found:
        await raw(sqlite_store, f"DELETE FROM {one.table}")
        async with sqlite_store.read() as tx:
            assert not await unreadable_rows.is_still_so(tx, one)


async def test_a_row_without_a_key_is_found_where_somebody_lets_a_table_have_such(
    sqlite_files: SqliteFiles, open_store: Opener
) -> None:
    url = sqlite_files.migrated()
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
        file.execute("PRAGMA writable_schema=ON")
        file.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'mute'")
        file.commit()
    store = await open_store(url)
    await raw(store, "INSERT INTO mute (name) VALUES (NULL)")
    async with store.read() as tx:
        (found,) = await unreadable_rows.find_all(tx)
        assert (found.table, found.key) == ("mute", (None,))
        assert await unreadable_rows.is_still_so(tx, found)
    await store.close()
    sqlite_files.drop(url)


async def test_a_new_row_whose_number_the_database_gives_makes_nothing_go(sqlite_store: Store) -> None:
    await raw(sqlite_store, "INSERT INTO card_count (program, status, more) VALUES ('main', '', 'many')")
    async with sqlite_store.read() as tx:
        (bad,) = await unreadable_rows.find_all(tx, ["card_count"])
    sqlite_store.leave_out([bad])
    async with sqlite_store.begin() as tx:
        await tx.run(insert_rows(t.card_count).values(program="main", status="", more=2))
        assert (await tx.run(select(t.card_count.c.more))).scalars().all() == [2]
    assert sqlite_store.set_aside.has_row(bad)


async def test_a_row_that_cannot_be_read_keeps_no_other_from_a_new_key(
    sqlite_store: Store,
) -> None:
    store = sqlite_store
    async with store.begin() as tx:
        await cards.put_many(tx, "main", [card("c1", "ALICE"), card("c2", "BOB", ref="emp-2")])
    await raw(store, "UPDATE card SET gone_at = 'never' WHERE id = 'c1'")
    newer = keyring(store, new_master(), MASTER)
    store.vault = newer
    await key_rotation.rewrap(store)
    assert [one.table for one in store.set_aside] == ["card"]
    async with store.read() as tx:
        macs = {row.id: row.mac for row in await tx.run(text("SELECT id, mac FROM card"))}
        signed = {name: newer.signed_under(mac) == newer.primary_kid for name, mac in macs.items()}
        assert signed == {"c1": False, "c2": True}
