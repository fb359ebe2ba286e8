"""First passkeys that are confirmed by clicks at the same moment: one counts, and every other one takes a passkey.

On PostgreSQL several transactions really go on at once; SQLite lets one write after the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError, PasskeyNeeded
from bot.services import people
from bot.services.operators import confirmation_answers
from bot.services.passkeys import enrolment
from storage.requests import confirmations
from tests.support.passkeys import SITE, Devices, with_passkeys
from tests.support.world import ALICE, BOB, CAROL, World, a_world


@pytest.fixture
async def anywhere(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as world:
        world.rebuild(policy=with_passkeys(), passkeys=SITE)
        world.people.groups["@card-approvers"].add(ALICE)
        await world.advance(people.DECIDED_WITHIN_S)
        yield world


async def asked_for(world: World, *persons: str) -> list[str]:
    """The ids of the askings to confirm a first passkey of each of them."""
    devices, asked = Devices(world), []
    for person in persons:
        made = await devices.make(person)
        async with world.store.read() as tx:
            consent = await confirmations.open_one(tx, "passkey_add", made)
        assert consent is not None
        asked.append(consent.id)
    return asked


async def working(world: World) -> int:
    found = [(await enrolment.listed(world.core, one)).mine for one in (ALICE, BOB, CAROL)]
    return sum(one.state == "active" for mine in found for one in mine)


async def test_of_first_passkeys_that_are_confirmed_at_once_one_counts(anywhere: World) -> None:
    asked = await asked_for(anywhere, BOB, CAROL, BOB)

    came = await asyncio.gather(
        *(confirmation_answers.give(anywhere.core, one, ALICE) for one in asked), return_exceptions=True
    )

    assert sorted(type(one).__name__ for one in came) == [
        PasskeyNeeded.__name__,
        PasskeyNeeded.__name__,
        "str",
    ]
    assert await working(anywhere) == 1


async def test_two_who_confirm_the_same_first_passkey_at_once_confirm_it_once(anywhere: World) -> None:
    (asked,) = await asked_for(anywhere, BOB)

    came = await asyncio.gather(
        *(confirmation_answers.give(anywhere.core, asked, one) for one in (ALICE, CAROL)),
        return_exceptions=True,
    )

    assert sorted(isinstance(one, CountersignError) for one in came) == [False, True]
    assert await working(anywhere) == 1
