"""Of two submissions of one transfer on different networks the one approved last decides where it is looked for."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.requests import Request, State
from bot.partner.codec import encode
from bot.services.execution import maintenance
from bot.services.requests import approvals
from tests.services.outcome_steps import alert_kinds, execute, jump_to_the_end
from tests.support.kinds import HASH
from tests.support.situations import pause, resume
from tests.support.world import ALICE, BOB, World

SUBMIT = "POST /funding"


async def submitted(world: World, network: str) -> Request:
    request = await world.ask("funding_submit", {"tx_hash": HASH, "network": network})
    return (await world.approve(request))[0]


async def looked_for_on(world: World) -> str:
    (funding,) = [f for f in await world.core.partners["main"].funding_list() if f.tx_hash == HASH]
    return funding.network


async def test_a_repeat_of_an_older_submission_does_not_undo_the_correction_of_its_network(
    world: World,
) -> None:
    older = await submitted(world, "POLYGON")
    await world.fault("drop_after_commit", SUBMIT, times=1)
    assert (await execute(world, older)).outcome_unknown
    await world.advance(1)
    newer = await submitted(world, "BASE")
    assert (await jump_to_the_end(world, newer, within=timedelta(minutes=5))).state is State.SUCCEEDED

    ended = await jump_to_the_end(world, older, within=timedelta(hours=1))

    assert ended.state is State.UNRESOLVED, ended.outcome_text
    assert await looked_for_on(world) == "BASE"


async def test_an_older_submission_that_was_not_sent_yet_does_not_undo_the_correction_of_its_network(
    world: World,
) -> None:
    await pause(world)
    older = await submitted(world, "POLYGON")
    await world.advance(1)
    newer = await submitted(world, "BASE")
    await resume(world)
    assert (await execute(world, newer)).state is State.SUCCEEDED

    ended = await execute(world, older)

    assert ended.state is State.CANCELLED
    assert newer.id in ended.outcome_text
    assert await looked_for_on(world) == "BASE"


async def test_a_submission_that_two_people_called_failed_is_looked_for_while_it_may_still_arrive(
    world: World,
) -> None:
    request = await submitted(world, "POLYGON")
    await world.fault("drop_before_commit", SUBMIT, times=100)
    lost = await jump_to_the_end(world, request, within=timedelta(hours=1))
    assert lost.state is State.UNRESOLVED
    for who in (ALICE, BOB):
        await approvals.resolve(world.core, request.id, who, verdict="failed", evidence="It is not listed")
    (await world.control.delete("/_control/faults")).raise_for_status()
    body = encode({"tx_hash": HASH, "network": "POLYGON"})
    await world.core.partners["main"].submit_funding(body)  # its call arrives at last

    await maintenance.sweep_late_landings(world.core)

    assert "landed_late" in await alert_kinds(world)
