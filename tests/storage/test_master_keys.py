"""A wrong key starts nothing; a new key takes over value by value."""

from collections.abc import Sequence

import pytest
from sqlalchemy import text

from bot.partner.secret import Secret
from storage import key_rotation, master_keys, sealed_columns
from storage import tables as t
from storage.columns import SealedText
from storage.errors import WrongMasterKey
from storage.events import inbox
from storage.operators import programs
from storage.requests import Draft, drafts, requests
from storage.sealed_columns import SEALED_COLUMNS
from storage.store import Store
from storage.vault import Keyring, Vault, new_master
from tests.storage.conftest import MASTER, Opener
from tests.storage.factories import BODY, NOW, PRIVATE, insert, request

pytestmark = pytest.mark.by_turns(2)

NEW = new_master()
KEY = Secret("svc_live_c0ffee00secret")


def ring(*masters: str) -> Vault:
    return Vault(Keyring.parse("\n".join(masters)))


async def _fill(store: Store, count: int = 1) -> None:
    async with store.begin() as tx:
        await programs.put(tx, "main", base_url="https://api.example.com", key=Secret("svc_live_old"))
        await programs.put(tx, "main", base_url="https://api.example.com", key=KEY)
        await insert(tx, *(request(f"R-{n}") for n in range(count)))
        await drafts.put(tx, Draft("d1", "U1", "card_topup", "main", {"a": "b"}, "", "why", False, {}, NOW))
        await inbox.receive(
            tx, event_id="e1", program="main", event_type="x", created_at=NOW, source="poll", payload=b"{}"
        )


async def _read_all(store: Store, request_ids: Sequence[str]) -> None:
    async with store.read() as tx:
        assert await programs.key(tx, "main") == KEY
        for request_id in request_ids:
            found = await requests.frozen(tx, request_id)
            assert (found.body, found.private) == (BODY, PRIVATE)
        draft = await drafts.get(tx, "d1")
        assert draft is not None
        assert draft.values == {"a": "b"}
        assert await inbox.payload(tx, "e1") == b"{}"


async def test_a_wrong_master_key_starts_nothing_and_changes_nothing(url: str, open_store: Opener) -> None:
    first = await open_store(url)
    await _fill(first)
    async with first.read() as tx:
        before = (await tx.run(t.keycheck.select())).all()
    await first.close()

    for exclusive in (True, False):
        with pytest.raises(WrongMasterKey) as caught:
            await open_store(url, vault=ring(NEW), exclusive=exclusive)
        shown = str(caught.value)
        assert ring(MASTER).primary_kid in shown
        assert ring(NEW).primary_kid in shown
        assert MASTER not in shown

    again = await open_store(url)
    async with again.read() as tx:
        assert (await tx.run(t.keycheck.select())).all() == before
    await _read_all(again, ["R-0"])


async def test_a_refused_start_lets_go_of_the_file(url: str, open_store: Opener) -> None:
    await (await open_store(url)).close()
    with pytest.raises(WrongMasterKey):
        await open_store(url, vault=ring(NEW))

    await open_store(url)


async def test_a_canary_that_was_tampered_with_stops_the_start(url: str, open_store: Opener) -> None:
    store = await open_store(url)
    async with store.begin() as tx:
        await tx.run(text("UPDATE keycheck SET sealed = substr(sealed, 1, 40) || 'AAAA'"))
    await store.close()

    with pytest.raises(WrongMasterKey):
        await open_store(url)


async def test_a_database_of_another_installation_does_not_open_here(
    own_url: str, open_store: Opener
) -> None:
    store = await open_store(own_url)
    async with store.begin() as tx:
        await tx.run(text("UPDATE meta SET value = 'other0'"))
    await store.close()

    with pytest.raises(WrongMasterKey):
        await open_store(own_url)


async def test_a_new_key_takes_over_and_the_old_one_can_go(url: str, open_store: Opener) -> None:
    many = 230
    ids = [f"R-{n}" for n in range(many)]
    old = await open_store(url)
    await _fill(old, many)
    await old.close()

    both = await open_store(url, vault=ring(NEW, MASTER))
    async with both.read() as tx:
        assert await key_rotation.kids_in_use(tx) == {ring(MASTER).primary_kid: 2 * many + 3}
    assert await key_rotation.rewrap(both) == key_rotation.Rewrapped(2 * many + 3)
    assert await key_rotation.rewrap(both) == key_rotation.Rewrapped(0)
    async with both.read() as tx:
        assert await key_rotation.kids_in_use(tx) == {ring(NEW).primary_kid: 2 * many + 3}
    async with both.begin() as tx:
        await master_keys.retire(tx, actor="test")
    await both.close()

    alone = await open_store(url, vault=ring(NEW))
    await _read_all(alone, ids)
    await alone.close()
    with pytest.raises(WrongMasterKey):
        await open_store(url)


async def test_the_old_key_is_missed_while_it_holds_something(url: str, open_store: Opener) -> None:
    old = await open_store(url)
    await _fill(old)
    await old.close()
    await (await open_store(url, vault=ring(NEW, MASTER))).close()

    with pytest.raises(WrongMasterKey, match=ring(MASTER).primary_kid):
        await open_store(url, vault=ring(NEW))


async def test_a_rewrap_killed_half_way_goes_on_where_it_was(url: str, open_store: Opener) -> None:
    old = await open_store(url)
    await _fill(old, 120)
    await old.close()
    both = await open_store(url, vault=ring(NEW, MASTER))
    async with both.begin() as tx:
        moved = (await key_rotation._rewrap_batch(tx, sealed_columns.REQUEST_BODY)).moved

    assert 0 < moved < 120
    await _read_all(both, [f"R-{n}" for n in range(120)])
    assert (await key_rotation.rewrap(both)).moved == 2 * 120 + 3 - moved
    await _read_all(both, [f"R-{n}" for n in range(120)])


async def test_a_value_that_does_not_open_is_left_as_it_is_and_named(url: str, open_store: Opener) -> None:
    old = await open_store(url)
    await _fill(old)
    async with old.begin() as tx:
        await tx.run(text("UPDATE program SET key_version = key_version - 1"))
    await old.close()

    both = await open_store(url, vault=ring(NEW, MASTER))
    async with both.read() as tx:
        before = (await tx.run(text("SELECT sealed_key FROM program"))).scalar_one()

    done = await key_rotation.rewrap(both)

    assert [str(one) for one in done.left] == ["program.sealed_key of main"]
    async with both.read() as tx:
        assert (await tx.run(text("SELECT sealed_key FROM program"))).scalar_one() == before


async def test_every_sealed_column_is_known_to_the_rotation() -> None:
    declared = {
        (table.name, column.name)
        for table in t.metadata.sorted_tables
        for column in table.c
        if isinstance(column.type, SealedText) and table is not t.keycheck
    }

    assert declared == {(column.table.name, column.column) for column in SEALED_COLUMNS}
