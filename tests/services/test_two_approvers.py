"""Two approvers alone cannot replace a lost passkey: everything they read says so, and what to do before and after."""

from __future__ import annotations

from bot.services import people
from bot.services.operators import confirmation_answers
from bot.services.passkeys import enrolment
from storage.messages import alerts
from storage.requests import confirmations
from tests.services.test_passkeys_on_record import doctor
from tests.support.passkeys import SITE, Devices, with_passkeys
from tests.support.world import ALICE, BOB, CAROL, World


async def test_a_team_of_two_reads_what_to_do_after_a_loss_and_how_to_avoid_it(world: World) -> None:
    """Two others cannot confirm Bob's next passkey: there is Carol alone."""
    world.rebuild(policy=with_passkeys(world.core.policy), passkeys=SITE)
    devices = Devices(world)
    await devices.add(BOB, CAROL)
    await devices.add(CAROL, BOB)
    assert [one for one in await doctor(world) if "both add one on another device" in one.text]

    said = await enrolment.lost(world.core, BOB, BOB)
    done = await devices.use(await enrolment.begin(world.core, BOB, "Mac"), BOB)

    (waiting,) = [one for one in (await enrolment.listed(world.core, BOB)).mine if one.state != "ended"]
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "passkey_add", waiting.id)
    assert consent is not None
    asked = (await confirmation_answers.words_of(world.core, consent)).text
    for text in (said, done.text, asked):
        assert "name another approver" in text
        assert "countersign keys reset-passkeys" in text


async def test_nobody_is_advised_who_has_a_second_one(world: World) -> None:
    world.rebuild(policy=with_passkeys(world.core.policy), passkeys=SITE)
    devices = Devices(world)
    for person, other in ((BOB, CAROL), (CAROL, BOB), (BOB, CAROL), (CAROL, BOB)):
        await devices.add(person, other)

    assert not [one for one in await doctor(world) if "another device" in one.text]


async def test_who_waits_reads_for_how_many_and_their_own_loss_names_nobody_else(world: World) -> None:
    world.rebuild(policy=with_passkeys(world.core.policy), passkeys=SITE)
    world.people.groups["@card-approvers"].add(ALICE)
    await world.advance(people.DECIDED_WITHIN_S)
    devices = Devices(world)
    first = await devices.make(BOB)
    assert await _state(world, first) == "waiting"
    await devices.confirm(first, CAROL)
    await devices.add(CAROL, BOB)
    await devices.add(ALICE, BOB)
    await enrolment.lost(world.core, BOB, BOB)
    async with world.store.read() as tx:
        said = await alerts.newest(tx, "passkey_ended", first)
    assert said is not None

    second = await devices.make(BOB)
    assert await _state(world, second) == "waiting_for_two"
    await devices.confirm(second, CAROL)
    assert await _state(world, second) == "waiting_for_second"
    assert "reported their own passkeys as lost" in said.title
    assert "confirmed it" not in said.text


async def _state(world: World, passkey_id: str) -> str:
    (found,) = [one for one in (await enrolment.listed(world.core, BOB)).mine if one.id == passkey_id]
    return found.state
