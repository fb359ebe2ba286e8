"""Every kind of thing that somebody does for which Slack is asked who somebody is: who acts, and at whom it looks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from bot.domain.people import KindPolicy, Policy, Tier
from bot.services import people
from bot.services.alerts import alert_actions
from bot.services.operators import confirmation_answers, handover, otp_recipients, pausing
from bot.services.passkeys import enrolment
from bot.services.requests import approvals
from storage.requests import confirmations
from tests.services.outcome_steps import TOPUP, execute, processor
from tests.services.test_reveal import approved, link, opened
from tests.support.passkeys import SITE, Devices, everybody_has_one
from tests.support.world import ALICE, BOB, CAROL, World, a_policy

Act = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Door:
    """`begin` does what comes before and returns what `acting` does then, by which `others` are looked at, too."""

    begin: Callable[[World], Awaitable[Act]]
    acting: str
    others: tuple[str, ...] = ()


def policy() -> Policy:
    """A second approval from 100 USD; freezes may be done at once."""
    kinds = {
        "card_topup": KindPolicy(tiers=(Tier(Decimal(100), 2),)),
        "card_freeze": KindPolicy(now=True),
    }
    return replace(a_policy(), kinds=kinds)


async def _submitted(world: World) -> Act:
    return lambda: world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "50"})


async def _second_approval(world: World) -> Act:
    request = await world.top_up("200", approved=False)
    await world.approve(request, by=BOB)
    return lambda: world.approve(request, by=CAROL)


async def _click_to_approve(world: World) -> Act:
    request = await world.top_up("200", approved=False)
    await world.approve(request, by=BOB)
    return lambda: approvals.require_may_approve(world.core, request.id, CAROL)


async def _rejection(world: World) -> Act:
    request = await world.top_up("50", approved=False)
    return lambda: approvals.reject(world.core, request.id, BOB, reason="Not this week")


async def _confirmation(world: World) -> Act:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run_due()
    return lambda: approvals.confirm(world.core, request.id, CAROL)


async def _second_word(world: World) -> Act:
    request = await world.top_up("50")
    await processor("5xx").set(world, TOPUP)
    await execute(world, request)

    async def says(who: str) -> object:
        return await approvals.resolve(
            world.core, request.id, who, verdict="failed", evidence="Not in the ledger"
        )

    await says(CAROL)
    return lambda: says(BOB)


async def _consent(world: World) -> str:
    await pausing.pause(world.core, BOB, ["main"], "a look")
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "resume", "main")
    assert consent is not None
    return consent.id


async def _consent_given(world: World) -> Act:
    consent = await _consent(world)
    return lambda: confirmation_answers.give(world.core, consent, CAROL)


async def _consent_declined(world: World) -> Act:
    consent = await _consent(world)
    return lambda: confirmation_answers.decline(world.core, consent, CAROL)


async def _paused(world: World) -> Act:
    return lambda: pausing.pause(world.core, BOB, ["main"], "a look")


async def _handed_over(world: World) -> Act:
    return lambda: handover.give(world.core, BOB, "All quiet")


async def _accepted(world: World) -> Act:
    alert = await handover.give(world.core, BOB, "All quiet")
    return lambda: handover.accept(world.core, alert.id, CAROL)


async def _acknowledged(world: World) -> Act:
    alert = await handover.give(world.core, BOB, "All quiet")
    return lambda: alert_actions.acknowledge(world.core, alert.id, CAROL)


async def _named_for_codes(world: World) -> Act:
    return lambda: otp_recipients.ask(world.core, CAROL, "CH-1042", ALICE)


async def _look_up(world: World) -> Act:
    return lambda: people.require_reader(world.core, BOB)


async def _details(world: World) -> Act:
    token = await link(world, await approved(world))
    return lambda: opened(world, token)


async def _passkey_begun(world: World) -> Act:
    world.rebuild(passkeys=SITE)
    return lambda: enrolment.begin(world.core, ALICE, "Laptop")


async def _passkey_page(world: World) -> Act:
    devices = await everybody_has_one(world)
    url = await devices.link(await world.top_up("50", approved=False), BOB)
    return lambda: devices.open(url)


async def _passkey_button(world: World) -> Act:
    """From the button on, as the page is used up by what its device answers."""
    devices: Devices = await everybody_has_one(world)
    request = await world.top_up("50", approved=False)
    return lambda: devices.approve(request)


DOORS = {
    "a form": Door(_submitted, ALICE),
    "a second approval": Door(_second_approval, CAROL, (ALICE, BOB)),
    "the click to approve": Door(_click_to_approve, CAROL, (ALICE, BOB)),
    "a rejection": Door(_rejection, BOB),
    "a confirmation of what was done at once": Door(_confirmation, CAROL, (ALICE,)),
    "a second word on how it ended": Door(_second_word, BOB, (ALICE, CAROL)),
    "a second person's yes": Door(_consent_given, CAROL, (BOB,)),
    "a second person's no": Door(_consent_declined, CAROL),
    "a pause": Door(_paused, BOB),
    "a handover": Door(_handed_over, BOB),
    "a handover that is accepted": Door(_accepted, CAROL, (BOB,)),
    "an alert": Door(_acknowledged, CAROL),
    "somebody named for codes": Door(_named_for_codes, CAROL, (ALICE,)),
    "a look-up": Door(_look_up, BOB),
    "a link to card details": Door(_details, ALICE),
    "a passkey to add": Door(_passkey_begun, ALICE),
    "a page for a passkey": Door(_passkey_page, BOB),
    "an approval with a passkey": Door(_passkey_button, BOB, (ALICE,)),
}
#: Each door with each person whom it looks at: who acts, and the others.
BY_WHOM = [(name, door.acting) for name, door in DOORS.items()]
BY_OTHERS = [(name, one) for name, door in DOORS.items() for one in door.others]
