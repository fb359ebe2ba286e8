"""A webhook secret that was replaced signs nothing any more, whatever somebody writes into its row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import insert, text

from bot.partner.secret import Secret
from bot.services.execution import maintenance
from bot.services.operators import changed_rows, deep_check
from storage import tables as t
from storage.errors import CannotOpen
from storage.events import webhook_secrets
from storage.log_record import PREVIOUS_TAKEN_FOR
from storage.sealed_columns import WEBHOOK_SECRET
from tests.services.outcome_steps import alert_kinds, open_alerts
from tests.support.world import World

pytestmark = pytest.mark.by_turns(4)

OLD, NEW, NEXT = (Secret(f"whsec_{letter * 32}") for letter in "abc")
_A_DAY_S = 86_400
FAR = "2099-01-01T00:00:00.000000Z"
Row = dict[str, object]


async def _rows(world: World) -> list[Row]:
    async with world.store.read() as tx:
        found = await tx.run(text("SELECT * FROM webhook_secret ORDER BY version"))
        return [dict(row) for row in found.mappings()]


async def _write(world: World, statement: str, **values: object) -> None:
    async with world.store.begin() as tx:
        await tx.run(text(statement), values)


async def _insert(world: World, row: Row) -> None:
    names = ", ".join(row)
    marks = ", ".join(f":{name}" for name in row)
    await _write(world, f"INSERT INTO webhook_secret ({names}) VALUES ({marks})", **row)


async def _put(world: World, secret: Secret) -> None:
    async with world.store.begin() as tx:
        await webhook_secrets.put(tx, "main", secret, previous_until=tx.now + PREVIOUS_TAKEN_FOR)


async def _accepted(world: World) -> list[str]:
    async with world.store.read() as tx:
        return [secret.reveal() for secret in await webhook_secrets.accepted(tx, "main")]


async def _rotated(world: World) -> tuple[Row, Row]:
    """The row of the old secret while it was current, and as it was before it was dropped."""
    await _put(world, OLD)
    (current,) = await _rows(world)
    await _put(world, NEW)
    previous, _ = await _rows(world)
    assert await _accepted(world) == [NEW.reveal(), OLD.reveal()]
    return current, previous


async def _dropped(world: World) -> None:
    await world.advance(_A_DAY_S)
    await maintenance.purge(world.core)
    assert len(await _rows(world)) == 1


Attack = Callable[[World, Row, Row], Awaitable[None]]


async def _taken_for_longer(world: World, current: Row, previous: Row) -> None:
    await _dropped(world)
    await _insert(world, {**previous, "until": FAR})


async def _current_again(world: World, current: Row, previous: Row) -> None:
    """As it was, whole; the one that took its place goes."""
    await _dropped(world)
    await _write(world, "DELETE FROM webhook_secret")
    await _insert(world, current)


async def _never_dropped(world: World, current: Row, previous: Row) -> None:
    await _write(world, "UPDATE webhook_secret SET until = :far WHERE version = 1", far=FAR)
    await world.advance(_A_DAY_S)
    await maintenance.purge(world.core)


async def _under_the_number_of_the_next(world: World, current: Row, previous: Row) -> None:
    """Its number is given again where no row tells of it; then its sealed text is put there."""
    await _dropped(world)
    await _write(world, "DELETE FROM webhook_secret")
    await _put(world, NEXT)
    await _write(world, "UPDATE webhook_secret SET sealed_secret = :sealed", sealed=current["sealed_secret"])


@pytest.mark.parametrize(
    "attack", [_taken_for_longer, _current_again, _never_dropped, _under_the_number_of_the_next]
)
async def test_an_old_secret_does_not_come_back(world: World, attack: Attack) -> None:
    current, previous = await _rotated(world)

    await attack(world, current, previous)

    found: list[str] = []
    with suppress(CannotOpen):
        found = await _accepted(world)
    assert OLD.reveal() not in found
    if attack is not _under_the_number_of_the_next:  # what opens nowhere is found where it is used
        await changed_rows.watch(world.core)
        async with world.store.read() as tx:
            assert "webhook secret of main" in {one.about for one in await deep_check.differences(tx)}
        assert "changed_outside" in await alert_kinds(world)


async def test_nobody_gives_one_of_his_own_even_with_the_master_key(world: World) -> None:
    """As with a key that was retired, of which this process does not know yet."""
    await _put(world, NEW)
    sealed = world.store.vault.seal(OLD.reveal().encode(), WEBHOOK_SECRET.ref("main", 77))
    async with world.store.begin() as tx:
        row = {"version": 77, "sealed_secret": sealed, "state": "previous", "since": tx.now}
        until = tx.now + timedelta(days=1)
        await tx.run(insert(t.webhook_secret).values(program="main", until=until, **row))

    assert await _accepted(world) == [NEW.reveal()]


async def test_a_rotation_takes_out_what_was_put_back_and_ends_the_alert(world: World) -> None:
    _, previous = await _rotated(world)
    await _taken_for_longer(world, {}, previous)
    await changed_rows.watch(world.core)
    (alert,) = [one for one in await open_alerts(world) if one.kind == "changed_outside"]
    assert "webhook secrets" in alert.title

    await _put(world, NEXT)
    await changed_rows.watch(world.core)

    assert await _accepted(world) == [NEXT.reveal(), NEW.reveal()]
    assert "changed_outside" not in await alert_kinds(world)


async def test_an_honest_life_of_secrets_raises_nothing(world: World) -> None:
    async with world.store.begin() as tx:
        await webhook_secrets.note_lost(tx, "main")
    for secret in (OLD, NEW, NEXT):
        await changed_rows.watch(world.core)
        await _put(world, secret)
        assert secret.reveal() in await _accepted(world)
        await world.advance(400)
        await maintenance.purge(world.core)
    async with world.store.begin() as tx:
        await webhook_secrets.note_lost(tx, "main")
    await world.advance(_A_DAY_S)
    await changed_rows.watch(world.core)

    assert await _accepted(world) == [NEXT.reveal()]
    assert "changed_outside" not in await alert_kinds(world)
