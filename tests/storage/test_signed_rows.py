"""Signed rows on both databases: what somebody else edits, invents, deletes or puts back counts for nothing."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, insert, select, update

from bot.partner.secret import Secret
from storage import audit, master_keys
from storage import tables as t
from storage.cards import otp_recipients
from storage.errors import CannotOpen, ChangedOutside
from storage.operators import pauses, programs, stops
from storage.protection import CODE_RECIPIENT, PAUSE, PROGRAM, signed_rows, upgrades
from storage.sealed_columns import PROGRAM_KEY
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Ref
from tests.storage.conftest import Opener

ADDRESS = "https://api.example.com/api/partner/v1"
KEY = Secret("svc_live_c0ffee00secret")


async def make_program(store: Store) -> None:
    async with store.begin() as tx:
        await programs.put(tx, "main", base_url=ADDRESS, key=KEY)


async def paused(store: Store) -> bool:
    """Is sending stopped, for whoever asks before a claim?"""
    async with store.begin() as tx:
        stopped = await stops.of(tx, "main")
        pause = await pauses.of(tx, "main")
    assert (stopped.by_people or stopped.changed_outside) == (pause is not None)
    return pause is not None


async def the_rows(tx: Tx, *named: str) -> dict[str, list[dict[str, object]]]:
    """All that these tables hold."""
    tables = [t.metadata.tables[name] for name in named]
    return {table.name: [dict(row) for row in (await tx.run(select(table))).mappings()] for table in tables}


async def put_back(tx: Tx, rows: dict[str, list[dict[str, object]]]) -> None:
    for name, held in rows.items():
        table = t.metadata.tables[name]
        await tx.run(delete(table))
        if held:
            await tx.run(insert(table), held)


async def test_a_program_is_not_paused_until_somebody_pauses_it(store: Store) -> None:
    await make_program(store)

    assert not await paused(store)


@pytest.mark.parametrize("also", ["its signature", "the signature of the absence", ""])
async def test_a_deleted_pause_goes_on(store: Store, also: str) -> None:
    await make_program(store)
    async with store.read() as tx:
        before = await the_rows(tx, "row_signature")
    async with store.begin() as tx:
        await pauses.put(tx, "main", by="U1", by_name="One", reason="odd debits")
    async with store.begin() as tx:
        await tx.run(delete(t.pause))
        if also == "its signature":
            await tx.run(delete(t.row_signature).where(t.row_signature.c.table_name == PAUSE.name))
        elif also:
            await put_back(tx, before)

    assert await paused(store)


async def test_a_pause_ends_when_it_is_dropped_whatever_was_changed(store: Store) -> None:
    await make_program(store)
    async with store.begin() as tx:
        await pauses.put(tx, "main", by="U1", by_name="One", reason="odd debits")
    async with store.begin() as tx:
        await tx.run(delete(t.pause))
    async with store.begin() as tx:
        assert await pauses.drop(tx, "main")

    assert not await paused(store)


async def test_a_change_that_is_rolled_back_leaves_no_trace(store: Store) -> None:
    await make_program(store)

    async def pause_and_fail() -> None:
        async with store.begin() as tx:
            await pauses.put(tx, "main", by="U1", by_name="One", reason="odd debits")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await pause_and_fail()

    assert not await paused(store)


async def test_a_program_whose_drafts_were_switched_off_by_hand_sends_nothing(store: Store) -> None:
    await make_program(store)
    async with store.begin() as tx:
        await programs.begin_drafts(tx, "main")
    async with store.begin() as tx:
        await tx.run(update(t.program).values(drafts_since=None))

    async with store.begin() as tx:
        stopped = await stops.of(tx, "main")
        with pytest.raises(ChangedOutside):
            await programs.end_drafts(tx, "main")

    assert stopped.changed_outside
    async with store.read() as tx:
        assert await signed_rows.changed_outside(tx, PROGRAM) == ["main"]


async def test_a_deleted_program_stays_stopped(store: Store) -> None:
    await make_program(store)
    async with store.begin() as tx:
        await tx.run(delete(t.program))

    async with store.begin() as tx:
        assert (await stops.of(tx, "main")).changed_outside


async def test_a_row_and_its_signature_put_back_from_before_are_noticed_by_who_saw_the_newer(
    store: Store,
) -> None:
    async with store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", "U0MALLORY")
    async with store.read() as tx:
        before = await the_rows(tx, "person_card", "row_signature")
    async with store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", "U0BOB")
    async with store.begin() as tx:
        await put_back(tx, before)

    async with store.begin() as tx:
        assert await otp_recipients.person_of(tx, "emp-1") is None


async def test_what_is_not_as_it_was_left_is_named_by_its_table_and_key(store: Store) -> None:
    async with store.begin() as tx:
        for number in range(4):
            await otp_recipients.put(tx, f"emp-{number}", "U0BOB")
    async with store.begin() as tx:
        p = t.person_card
        await tx.run(update(p).where(p.c.partner_ref == "emp-0").values(slack_id="U0EVE"))
        await tx.run(delete(p).where(p.c.partner_ref == "emp-1"))
        await tx.run(insert(p).values(partner_ref="emp-9", slack_id="U0EVE"))

    async with store.read() as tx:
        assert await signed_rows.changed_outside(tx, CODE_RECIPIENT) == ["emp-0", "emp-1", "emp-9"]


async def as_before_signatures(store: Store) -> None:
    """The database as the version before left it: no signatures, a key that is bound to no address."""
    async with store.begin() as tx:
        await tx.run(delete(t.row_signature))
        before = Ref(PROGRAM_KEY.purpose, "program", "sealed_key", "main", 1)
        await tx.run(update(t.program).values(sealed_key=tx.vault.seal(KEY.reveal().encode(), before)))
        canary = Ref("keycheck", "keycheck", "sealed", tx.vault.primary_kid)
        await tx.run(update(t.keycheck).values(sealed=tx.vault.seal(master_keys._UNSIGNED, canary)))


async def test_the_rows_of_an_older_database_are_signed_once_when_it_is_opened(
    store: Store, url: str, open_store: Opener
) -> None:
    await make_program(store)
    async with store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", "U0BOB")
    await as_before_signatures(store)
    await store.close()

    again = await open_store(url)

    assert again.signed_now == 2  # the program and the person
    async with again.read() as tx:
        assert await otp_recipients.person_of(tx, "emp-1") == "U0BOB"
        assert (await programs.key(tx, "main")).reveal() == KEY.reveal()
        assert [e.action async for e in audit.about(tx, "database")] == [upgrades.SIGNED]
        assert not (await stops.of(tx, "main")).changed_outside
    await again.close()
    assert (await open_store(url)).signed_now is None


async def test_signatures_taken_away_later_are_not_made_again(
    store: Store, url: str, open_store: Opener
) -> None:
    await make_program(store)
    async with store.begin() as tx:
        await tx.run(delete(t.row_signature))
        await tx.run(insert(t.person_card).values(partner_ref="emp-1", slack_id="U0EVE"))
    await store.close()

    again = await open_store(url)

    async with again.read() as tx:
        assert await otp_recipients.person_of(tx, "emp-1") is None
        assert (await stops.of(tx, "main")).changed_outside


async def test_an_older_mark_put_back_does_not_have_everything_signed_again(
    store: Store, url: str, open_store: Opener
) -> None:
    await make_program(store)
    await as_before_signatures(store)
    await store.close()
    upgraded = await open_store(url)
    await as_before_signatures(upgraded)
    await upgraded.close()

    with pytest.raises(ChangedOutside):
        await open_store(url)


async def test_a_key_sealed_without_its_address_opens_no_more_after_the_upgrade(store: Store) -> None:
    await make_program(store)
    async with store.begin() as tx:
        before = Ref(PROGRAM_KEY.purpose, "program", "sealed_key", "main", 1)
        sealed = tx.vault.seal(KEY.reveal().encode(), before)
        await tx.run(update(t.program).values(sealed_key=sealed, base_url="https://elsewhere.example"))

    async with store.read() as tx:
        with pytest.raises(CannotOpen):
            await programs.key(tx, "main")
