"""Who gets the one-time codes of a card: named by an admin, confirmed by a second person.

Whoever gets these codes can complete purchases with the card, so naming somebody takes two people, and the
one named is neither of those who confirm it. That nobody gets them any more takes one.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from bot.domain.alerts import otp_alerts
from bot.domain.errors import NotAllowed, NotFound
from bot.domain.people import Actor
from bot.operations import readers
from bot.services import alerts, audit, held_stops, people
from bot.services.core import Core
from bot.services.operators import confirmations
from bot.services.people import Role
from bot.view_models import CodePerson
from storage.cards import cards, otp_recipients
from storage.operators import people as people_rows
from storage.requests import Consent
from storage.transaction import Tx

NAME = "code_person"
_ASKED_FOR = timedelta(hours=24)
_ACTION = "code.name_person"


async def ask(core: Core, slack_id: str, partner_ref: str, person: str) -> str:
    """An admin wants this person to get the codes of a reference. Nothing changes before it is confirmed.

    Raises NotAllowed for all but admins and for a person who is no full member here, NotFound for what is no
    reference.
    """
    actor = await _admin(core, slack_id)
    partner_ref = _reference(partner_ref)
    named = await people.full_member(core, person)
    await confirmations.expire_due(core)
    async with core.store.begin() as tx:
        if await otp_recipients.person_of(tx, partner_ref) == person:
            raise NotFound(
                f"One-time codes of {partner_ref} go to {named.name} already. Nothing was changed."
            )
        consent = await confirmations.ask(
            tx,
            core,
            ACT,
            actor,
            subject=partner_ref,
            terms={"person": person, "name": named.name},
        )
    if consent is None:
        raise NotFound(
            f"Somebody requests {partner_ref} already: confirm or decline that in the alerts channel."
        )
    return (
        f"Asked. Another admin or approver has to confirm it in the alerts channel before {named.name} gets the"
        f" one-time codes of {partner_ref}."
    )


async def _named(tx: Tx, core: Core, consent: Consent, actor: Actor) -> str:
    person, name = str(consent.terms["person"]), str(consent.terms["name"])
    if actor.id == person:
        raise NotAllowed(
            "You would get these codes, so somebody else has to confirm it. Nothing was changed.", "own_codes"
        )
    await otp_recipients.put(tx, consent.subject, person)
    said = f"{consent.asked_by_name} asked and {actor.name} confirmed it."
    await _tell(tx, core, actor.id, consent.subject, person, f"{name} ({person})", said)
    return f"One-time codes of {consent.subject} go to {name} now."


async def unname(core: Core, slack_id: str, partner_ref: str) -> str:
    """Nobody gets the codes of a reference any more, at once. Raises NotAllowed, NotFound."""
    partner_ref = _reference(partner_ref)
    stop = held_stops.about_codes(slack_id, partner_ref)
    return await core.held.recorded(stop, partial(_unname, core, slack_id, partner_ref), core.clock)


async def _unname(core: Core, slack_id: str, partner_ref: str, is_again: bool) -> str:
    actor = await _admin(core, slack_id)
    async with core.store.begin() as tx:
        await confirmations.withdraw(tx, core, NAME, partner_ref, "Withdrawn: nobody is to get these codes.")
        is_done = await otp_recipients.drop(tx, partner_ref)
        if not is_done and not is_again:
            raise NotFound(
                f"Nobody gets the one-time codes of {partner_ref[:60]}. /countersign people shows who does."
            )
        if is_done:
            await _tell(tx, core, actor.id, partner_ref, "", "nobody", f"{actor.name} changed it.")
    return f"One-time codes of {partner_ref} are no longer sent to anybody."


async def known(core: Core, slack_id: str) -> list[CodePerson]:
    """Everybody who gets codes, by reference. Raises NotAllowed for all but admins."""
    await _admin(core, slack_id)
    async with core.store.read() as tx:
        rows = await otp_recipients.all(tx)
        return [CodePerson(ref, person, await _holders(tx, ref)) for ref, person in rows]


async def receiver(tx: Tx, partner_ref: str) -> str:
    """The name of who gets the codes of this reference; empty where nobody does."""
    person = await otp_recipients.person_of(tx, partner_ref)
    if person is None:
        return ""
    seen = await people_rows.get(tx, person)
    return seen.actor.name if seen else person


async def _holders(tx: Tx, partner_ref: str) -> tuple[str, ...]:
    return tuple(card.label for card in await cards.match(tx, partner_ref) if card.partner_ref == partner_ref)


async def _facts(tx: Tx, consent: Consent) -> dict[str, str]:
    terms = {name: str(consent.terms[name]) for name in ("name", "person")}
    return {"reference": consent.subject, **terms, "holders": await _whose(tx, consent.subject)}


async def _whose(tx: Tx, partner_ref: str) -> str:
    holders = await _holders(tx, partner_ref)
    return (
        f"It is the reference of {', '.join(holders[:5])}." if holders else "No card has this reference yet."
    )


def _reference(text: str) -> str:
    try:
        return readers.partner_ref(text)
    except ValueError as wrong:
        raise NotFound(str(wrong)) from None


async def _admin(core: Core, slack_id: str) -> Actor:
    refusal = NotAllowed("Only admins may see and say who gets one-time codes.", "not_an_admin")
    return await people.require_role(core, slack_id, Role.ADMIN, refusal, action=_ACTION)


async def _tell(tx: Tx, core: Core, actor: str, partner_ref: str, person: str, named: str, by: str) -> None:
    """For the record, and for the channel: who gets codes is everybody's business."""
    await audit.record(tx, core, actor, _ACTION, f"code:{partner_ref}", {"person": person})
    said = otp_alerts.CODE_PERSON.says(reference=partner_ref, name=named, how=by)
    condition = otp_alerts.CODE_PERSON.condition(partner_ref, core.ids.ulid())
    await alerts.tell(tx, core, said, condition=condition, subject=partner_ref, program="")


def _not_allowed(core: Core) -> str:
    return "Only admins and approvers may confirm who gets one-time codes. Nothing was changed."


ACT = confirmations.Act(NAME, _ASKED_FOR, Role.ADMIN, Role.APPROVER_OR_ADMIN, _named, _not_allowed, _facts)
