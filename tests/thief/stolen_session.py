"""A thief with everybody's Slack session and with the database, in a team whose policy asks for passkeys.

The thief presses every button as anybody, opens every page, has a device of their own, sends old signatures again, and
adds, removes and confirms passkeys. Only the devices of the team stay with the team.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from sqlalchemy import text

from bot.domain.errors import PasskeyNeeded
from bot.domain.passkeys import Purpose
from bot.domain.people import Actor
from bot.domain.requests import Request
from bot.services import people
from bot.services.operators import confirmation_answers
from bot.services.passkeys import enrolment, links, page
from storage.operators import passkeys
from tests.support.authenticator import Authenticator
from tests.support.passkeys import SITE, everybody_has_one, token_of
from tests.support.world import ALICE, BOB, CAROL, HOME, World

DAVE = "U0DAVE"
EVERYBODY = (ALICE, BOB, CAROL, DAVE)
Json = dict[str, Any]


async def genuine(world: World) -> Request:
    """Everybody adds a passkey, and Bob approves a top-up with his; it is sent. Bob, Carol and Dave approve."""
    devices = await everybody_has_one(world)
    world.people.actors[DAVE] = Actor(DAVE, "Dave", team_id=HOME)
    world.people.groups["@card-approvers"].add(DAVE)
    await world.advance(people.DECIDED_WITHIN_S)
    await devices.add(DAVE, CAROL)
    request = await world.top_up("40", approved=False)
    await devices.approve(request)
    await world.run(10)
    return request


async def press_everything(world: World, request: Request) -> None:
    """All that can be done without a device of the team, to have this request approved."""
    device = Authenticator(SITE.origin)
    for _ in range(2):
        for person in EVERYBODY:
            with suppress(Exception):
                await world.approve(request, by=person)
            for old in await _old_signatures(world):
                await _answer(world, request, person, device, old)
            await _answer(world, request, person, device, None)
            await _add(world, person, device)
        for _ in range(2):  # after a loss two confirm, in two messages
            await _confirm_all(world, device)
        for person in EVERYBODY:  # with what was confirmed, if anything was
            await _answer(world, request, person, device, None)
        await world.run(5)
        await _remove_all(world)


async def _answer(
    world: World, request: Request, person: str, device: Authenticator, old: Json | None
) -> None:
    """Open the page as this person and answer by an old signature, or by the thief's own device."""
    with suppress(Exception):
        needed = PasskeyNeeded(Purpose.APPROVE, request.id)
        await _finish(world, await links.for_needed(world.core, needed, person), device, old)


async def _finish(world: World, link: Any, device: Authenticator, old: Json | None = None) -> None:
    shown = await page.open_link(world.core, token_of(link))
    answer = old or _by_own_device(device, dict(shown.options))
    await page.finish(world.core, shown.token, answer)


def _by_own_device(device: Authenticator, options: Json) -> Json:
    """A signature by a key of the thief that is allowed, or by another under its name; a new key where one is made."""
    signed: Json = {}
    if "get" in options and device.keys:
        known = [one["id"] for one in options["get"]["allowCredentials"]]
        allowed = [one for one in known if one in device.keys]
        signed = device.sign(options["get"], with_key=[*allowed, *device.keys][0])
        if known and not allowed:
            signed |= {"id": known[0], "rawId": known[0]}
    return {**device.create(options["create"]), "proof": signed} if "create" in options else signed


async def _old_signatures(world: World) -> list[Json]:
    async with world.store.read() as tx:
        rows = await tx.run(text("SELECT assertion FROM decision WHERE assertion IS NOT NULL"))
        kept = [json.loads(row[0]) for row in rows.all()]
    return [
        {
            "id": one["credential_id"],
            "rawId": one["credential_id"],
            "type": "public-key",
            "response": {
                "authenticatorData": one["authenticator_data"],
                "clientDataJSON": one["client_data_json"],
                "signature": one["signature"],
            },
        }
        for one in kept
    ]


async def _add(world: World, person: str, device: Authenticator) -> None:
    with suppress(Exception):
        await _finish(world, await enrolment.begin(world.core, person, "Phone"), device)


async def _confirm_all(world: World, device: Authenticator) -> None:
    async with world.store.read() as tx:
        rows = (await tx.run(text("SELECT id FROM consent WHERE state = 'open'"))).all()
    for (consent_id,) in rows:
        for person in EVERYBODY:
            try:
                await confirmation_answers.give(world.core, consent_id, person)
            except PasskeyNeeded as needed:
                with suppress(Exception):
                    await _finish(world, await links.for_needed(world.core, needed, person), device)
            except Exception:  # noqa: BLE001 - refused is refused
                pass


async def _remove_all(world: World) -> None:
    for person in EVERYBODY:
        with suppress(Exception):
            await enrolment.lost(world.core, person, person)
    async with world.store.read() as tx:
        left = [one.id for one in await passkeys.everybodys(tx)]
    assert not left, left
