"""The signing secrets: one current, the one before for a while, a lost one known to be lost."""

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from bot.partner.secret import Secret
from storage.errors import CannotOpen
from storage.events import webhook_secrets
from storage.store import Store
from tests.support.clock import FrozenClock

ONE, TWO, THREE = (f"whsec_{letter * 32}" for letter in "abc")


async def _put(store: Store, secret: str, *, minutes: int = 10) -> None:
    async with store.begin() as tx:
        await webhook_secrets.put(
            tx, "main", Secret(secret), previous_until=tx.now + timedelta(minutes=minutes)
        )


async def _accepted(store: Store, program: str = "main") -> list[str]:
    async with store.read() as tx:
        return [secret.reveal() for secret in await webhook_secrets.accepted(tx, program)]


async def test_after_a_rotation_the_old_secret_is_taken_for_a_while(store: Store, clock: FrozenClock) -> None:
    await _put(store, ONE)
    await _put(store, TWO)

    assert await _accepted(store) == [TWO, ONE]
    assert await _accepted(store, "other") == []
    clock.advance(601)
    assert await _accepted(store) == [TWO]
    async with store.begin() as tx:
        assert await webhook_secrets.drop_old(tx) == 1
        assert (await tx.run(text("SELECT count(*) FROM webhook_secret"))).scalar_one() == 1


async def test_a_lost_secret_is_known_until_the_next_rotation(store: Store) -> None:
    await _put(store, ONE)
    async with store.begin() as tx:
        await webhook_secrets.note_lost(tx, "main")
        newest = await webhook_secrets.newest(tx, "main")
        assert newest is not None
        assert (newest.state, newest.version) == ("lost", 2)
    assert await _accepted(store) == [ONE], "deliveries signed before may still be on their way"

    await _put(store, THREE)

    assert await _accepted(store) == [THREE, ONE]


async def test_a_secret_put_under_another_program_counts_for_nothing(store: Store) -> None:
    await _put(store, ONE)
    async with store.begin() as tx:
        await tx.run(text("UPDATE webhook_secret SET program = 'other'"))

    assert await _accepted(store, "other") == []


async def test_the_database_refuses_a_second_current_secret(store: Store) -> None:
    await _put(store, ONE)
    await _put(store, TWO)

    with pytest.raises(IntegrityError):
        async with store.begin() as tx:
            await tx.run(text("UPDATE webhook_secret SET state = 'current', until = NULL"))


async def test_the_secret_of_another_program_does_not_open(store: Store) -> None:
    await _put(store, ONE)
    async with store.begin() as tx:
        await webhook_secrets.put(tx, "other", Secret(TWO), previous_until=tx.now)
        theirs = "SELECT sealed_secret FROM webhook_secret WHERE program = 'other'"
        sealed = (await tx.run(text(theirs))).scalar_one()
        await tx.run(text(f"UPDATE webhook_secret SET sealed_secret = '{sealed}' WHERE program = 'main'"))

    with pytest.raises(CannotOpen):
        await _accepted(store)
