"""What a person and the bot are at in a thread: kept half an hour, sealed, one row a thread and person."""

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import text

from storage import sealed_columns
from storage.messages import Dialog, Place, dialogs
from storage.messages.dialogs import LASTS
from storage.store import Store
from tests.storage.factories import NOW
from tests.support.clock import FrozenClock

PLACE = Place("T1", "D1", "1.0", "U1")


def a_dialog(**more: object) -> Dialog:
    plain = Dialog(
        id="01A",
        place=PLACE,
        intent="change_phone",
        slots={"card": "3018", "phone": "+4915112345678"},
        asked_slot="card",
        candidates=("card-1", "card-2"),
        last_card_id="card-1",
        misses=0,
        version=1,
        created_at=NOW,
        expires_at=NOW + LASTS,
    )
    return replace(plain, **more)  # type: ignore[arg-type]  # fields by name


async def test_a_dialog_is_found_by_its_place_by_its_id_and_by_its_question(store: Store) -> None:
    kept = a_dialog()
    async with store.begin() as tx:
        await dialogs.put(tx, kept)

        assert await dialogs.at(tx, PLACE) == kept
        assert await dialogs.get(tx, "01A") == kept
        assert await dialogs.asking(tx, replace(PLACE, thread_ts="9.9")) == kept
        assert await dialogs.asking(tx, replace(PLACE, user_id="U2")) is None
        assert await dialogs.at(tx, replace(PLACE, thread_ts="9.9")) is None


async def test_a_later_word_replaces_the_earlier_one_and_an_answered_question_is_not_open(
    store: Store,
) -> None:
    async with store.begin() as tx:
        await dialogs.put(tx, a_dialog())
        await dialogs.put(tx, a_dialog(asked_slot="", version=2))

        found = await dialogs.at(tx, PLACE)
        assert found is not None
        assert found.version == 2
        assert await dialogs.asking(tx, PLACE) is None


async def test_what_was_said_last_in_a_channel_is_found_from_any_of_its_threads_until_it_is_dropped(
    store: Store,
) -> None:
    here, there = replace(PLACE, thread_ts="2.0"), replace(PLACE, thread_ts="3.0")
    async with store.begin() as tx:
        # It was begun first, and gone on with last.
        await dialogs.put(tx, a_dialog(id="01B", expires_at=NOW + LASTS + timedelta(minutes=1)))
        await dialogs.put(tx, a_dialog(id="01C", place=here, created_at=NOW + timedelta(seconds=5)))
        found = await dialogs.latest(tx, there)
        assert found is not None
        assert found.id == "01B"
        assert await dialogs.latest(tx, replace(there, channel_id="D2")) is None

        await dialogs.drop(tx, "01B")

        found = await dialogs.latest(tx, there)
        assert found is not None
        assert found.id == "01C"


async def test_after_half_an_hour_nothing_is_left_of_it(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        await dialogs.put(tx, a_dialog())
    clock.advance(LASTS / timedelta(seconds=1))

    async with store.begin() as tx:
        assert await dialogs.at(tx, PLACE) is None
        assert (await tx.run(text("SELECT count(*) FROM dialog"))).scalar_one() == 0


async def test_what_was_typed_is_sealed_and_moves_to_a_new_master_key(store: Store) -> None:
    async with store.begin() as tx:
        await dialogs.put(tx, a_dialog())
        row = str((await tx.run(text("SELECT * FROM dialog"))).one())

        assert "15112345678" not in row
        assert sealed_columns.DIALOG_SLOTS in sealed_columns.SEALED_COLUMNS
