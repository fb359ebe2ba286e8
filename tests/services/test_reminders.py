"""What nobody may forget comes back in the thread, each reminder once."""

from bot.domain.requests import State
from bot.services.messages import reminders
from bot.services.requests import approvals
from storage.messages import outbox
from tests.support.world import BOB, World


async def _lines(world: World, word: str) -> int:
    async with world.store.read() as tx:
        rows = await outbox.next_due(tx, limit=1000)
    return sum(row.kind == "line" and row.body["line"] == word for row in rows)


async def test_an_unknown_outcome_comes_back_every_four_hours_until_it_is_resolved(world: World) -> None:
    await world.fault("processor", processor="5xx")
    request = await world.top_up()
    await world.run_due()
    assert (await world.request(request.id)).state is State.UNRESOLVED

    for hours, expected in ((3, 0), (1.1, 1), (0.1, 1), (4, 2)):
        world.clock.advance(hours * 3600)
        await reminders.remind(world.core)
        await reminders.remind(world.core)
        assert await _lines(world, "reminder_unresolved") == expected


async def test_a_freeze_made_at_once_comes_back_until_somebody_confirms_it(world: World) -> None:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run_due()
    assert (await world.request(request.id)).state is State.SUCCEEDED

    for minutes, expected in ((14, 0), (2, 1), (10, 1), (10, 2)):
        world.clock.advance(minutes * 60)
        await reminders.remind(world.core)
        assert await _lines(world, "reminder") == expected

    await approvals.confirm(world.core, request.id, BOB)
    world.clock.advance(3600)
    await reminders.remind(world.core)
    assert await _lines(world, "reminder") == 2
