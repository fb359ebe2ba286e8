"""Top-ups: one debit for each request, and no failure called without proof."""

from decimal import Decimal

from bot.domain.requests import State
from tests.support.world import World


async def test_an_approved_top_up_moves_the_amount_once(world: World) -> None:
    request = await world.top_up("50")
    await world.run_due()

    done = await world.request(request.id)
    assert done.state is State.SUCCEEDED, done.outcome_text
    assert await world.debits(request.key) == Decimal(-50)
    assert len(await world.sent("POST /topup")) == 1


async def test_a_lost_answer_is_asked_for_again_with_the_same_key_and_the_same_bytes(world: World) -> None:
    await world.fault("drop_after_commit")
    request = await world.top_up("50")
    await world.run_due()
    assert (await world.request(request.id)).state is State.EXECUTING

    await world.run(10)

    assert (await world.request(request.id)).state is State.SUCCEEDED
    calls = await world.sent("POST /topup")
    assert [c["idempotency_key"] for c in calls] == [request.key, request.key]
    assert calls[0]["body"] == calls[1]["body"]
    assert await world.debits(request.key) == Decimal(-50)
