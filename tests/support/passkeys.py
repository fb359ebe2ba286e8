"""People with devices of their own, in the small world: they open a link, read the page, and their device answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.domain.errors import PasskeyNeeded
from bot.domain.passkeys import Purpose, Site
from bot.domain.people import KindPolicy, Policy
from bot.domain.requests import Request
from bot.partner.secret import Secret
from bot.services.core import Core
from bot.services.operators import confirmation_answers
from bot.services.passkeys import enrolment, links, page
from bot.services.passkeys.page_content import Page
from storage.operators import passkeys
from storage.requests import confirmations
from tests.support import posting
from tests.support.authenticator import Authenticator
from tests.support.world import ALICE, BOB, CAROL, World, a_policy

ADDRESS = "https://countersign.example.com"
SITE = Site.at(ADDRESS)


def with_passkeys(policy: Policy | None = None) -> Policy:
    """The policy of the small world, with a passkey for every kind."""
    policy = policy or a_policy()
    kinds = {name: replace(kind, passkey=True) for name, kind in policy.kinds.items()}
    return replace(policy, kinds=kinds, default=KindPolicy(passkey=True))


def token_of(url: Secret) -> Secret:
    """The token in the fragment of a link."""
    return Secret(url.reveal().partition("#")[2])


@dataclass
class Devices:
    """A device for each person; `world.core` is read at each step, so that a rebuilt one is used."""

    world: World
    origin: str = SITE.origin
    of: dict[str, Authenticator] = field(default_factory=dict)

    @property
    def core(self) -> Core:
        return self.world.core

    def __getitem__(self, person: str) -> Authenticator:
        return self.of.setdefault(person, Authenticator(self.origin))

    async def open(self, url: Secret) -> Page:
        return await page.open_link(self.core, token_of(url))

    async def use(self, url: Secret, person: str, answer: Mapping[str, Any] | None = None) -> page.Done:
        """Open the page and let this person's device answer, or send `answer`."""
        shown = await self.open(url)
        return await page.finish(self.core, shown.token, answer or self[person].answer(shown.options))

    async def make(self, person: str, name: str = "Laptop") -> str:
        """The device makes a passkey, and others are asked to confirm it; returns its id."""
        before = await self.ids(person)
        await self.use(await enrolment.begin(self.core, person, name), person)
        (made,) = await self.ids(person) - before
        return made

    async def ids(self, person: str) -> set[str]:
        async with self.world.store.read() as tx:
            return {one.id for one in await passkeys.of_person(tx, person)}

    async def confirm(self, subject: str, by: str, kind: str = "passkey_add") -> str:
        """Somebody confirms it, by a click or, where that isn't enough, with their passkey."""
        async with self.world.store.read() as tx:
            consent = await confirmations.open_one(tx, kind, subject)
        assert consent is not None
        try:
            return await confirmation_answers.give(self.core, consent.id, by)
        except PasskeyNeeded as needed:
            return (await self.use(await links.for_needed(self.core, needed, by), by)).text

    async def add(self, person: str, *confirmed_by: str) -> str:
        """A passkey that works; returns its id."""
        made = await self.make(person)
        for one in confirmed_by:
            await self.confirm(made, one)
        return made

    async def link(self, request: Request, by: str) -> Secret:
        """The link to the page where this person approves the request, whose message is in Slack by then."""
        await posting.post(self.core, request.id)
        return await links.for_needed(self.core, PasskeyNeeded(Purpose.APPROVE, request.id), by)

    async def approve(self, request: Request, by: str = BOB) -> page.Done:
        return await self.use(await self.link(request, by), by)


async def everybody_has_one(world: World) -> Devices:
    """Bob and Carol approve, Alice requests; each has one passkey."""
    world.rebuild(policy=with_passkeys(world.core.policy), passkeys=SITE)
    devices = Devices(world)
    await devices.add(BOB, CAROL)
    await devices.add(CAROL, BOB)
    await devices.add(ALICE, CAROL)
    return devices
