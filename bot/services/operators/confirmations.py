"""What a second person has to say yes to though it is no operation at the API: one asks, another confirms.

The asking is a message in the alerts channel with the buttons Confirm and Decline. What is done by the yes is
an `Act`, carried out in the transaction that records it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from bot.domain.alerts import Said, people_alerts
from bot.domain.errors import AlreadyDecided, Expired, NotAllowed, NotFound, PasskeyNeeded, Stale
from bot.domain.passkeys import Purpose, terms_of_consent
from bot.domain.people import Actor, is_full_member
from bot.domain.requests import why_not_second
from bot.services import alerts, audit, audit_anchors, held_stops, people
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.passkeys import proofs, readiness
from bot.services.people import Role
from storage.audit import CONSENT_GIVEN
from storage.messages import alerts as alert_rows
from storage.requests import Consent, confirmations
from storage.transaction import Tx

#: The kind of what is asked to let sending go on (`pausing`), which safe mode withdraws where it found more since.
RESUME = "resume"
_NOT_KEPT = (
    " It counts as soon as the end of the audit log is kept outside the database, where it could not be kept just now:"
    " tell an admin."
)
_NOBODY_ASKED = "What is stored of this was changed outside Countersign. Nothing was changed."
_DECLINED = "Somebody declined this, which is not recorded yet. Nothing was changed."
GONE = "This was answered already, or its time is over. Nothing was changed."


@dataclass(frozen=True, slots=True)
class Act:
    """What is done by a second person's yes.

    `may_ask` and `may_confirm` say whose it is, by the roles as read now; `apply` does it and returns the
    sentence of what is so now. `facts` are those that the wording of the alert names, who asks and until when apart:
    by the signed asking, whatever the alert's row says. `holds_for`: how long the asking waits. `confirmed_before`: who
    confirmed an earlier asking of the same, where it takes two.
    """

    kind: str
    holds_for: timedelta
    may_ask: Role | None  # None = every full member
    may_confirm: Role
    apply: Callable[[Tx, Core, Consent, Actor], Awaitable[str]]
    not_allowed: Callable[[Core], str]
    facts: Callable[[Tx, Consent], Awaitable[Mapping[str, Any]]]
    about_passkeys: bool = False
    needs_anchors: bool = False  # only while the audit log's end is kept outside the database
    confirmed_before: Callable[[Consent], tuple[str, ...]] = lambda _: ()


async def ask(
    tx: Tx,
    core: Core,
    act: Act,
    actor: Actor,
    *,
    subject: str,
    terms: Mapping[str, Any],
    program: str = "",
) -> Consent | None:
    """Ask the others, in the alerts channel; None when it is asked for already. `actor` may ask.

    `program`: the one it is about; empty for all.
    """
    invented = await confirmations.in_the_way(tx, act.kind, subject)
    if invented is not None:
        await _expire(tx, core, invented, _NOBODY_ASKED)
    consent = await confirmations.ask(
        tx,
        consent_id=f"C-{core.ids.ulid()}",
        kind=act.kind,
        subject=subject,
        terms=terms,
        by=actor.id,
        by_name=actor.name,
        expires_at=tx.now + act.holds_for,
    )
    if consent is None:
        return None
    await audit.record(tx, core, actor.id, "consent.asked", f"consent:{consent.id}", _recorded(consent))
    said = await words(tx, act, consent)
    alert = await alerts.raise_(
        tx, core, said, condition=_condition(consent), subject=consent.id, program=program
    )
    await alerts.thread_line(tx, core, alert, actor.id, "Asks a second person to confirm this.")
    return consent


async def give(
    core: Core, act: Act, consent_id: str, slack_id: str, *, proof: proofs.Proof | None = None
) -> str:
    """The second person's yes: does what was asked for and says what is so now. Refusals are audited.

    `proof` is from the page for passkeys; raises `PasskeyNeeded` without one where one is needed.
    """
    known: proofs.Outside = None
    await readiness.ready(core)
    if act.needs_anchors:
        await existing(core, consent_id)
        await audit_anchors.require_kept(core)
    if proof is None:
        await existing(core, consent_id)
        if act.about_passkeys:
            known = await proofs.outside(core)
        async with core.store.read() as tx:
            await _require_click_is_enough(tx, core, act, consent_id, known)
    async with audited_refusal(core, slack_id, "consent.give", f"consent:{consent_id}"):
        actor = await people.member(core, slack_id)
        roles = await people.roles(core)
        found = await existing(core, consent_id)
        asker = await people.account(core, found.asked_by)
        before = [await people.account(core, one) for one in act.confirmed_before(found)]
        standing = people.as_persons(roles.standing, (actor, asker, *before))
        able = roles.of(act.may_confirm)
        people.require_second_person(
            core,
            actor,
            asked_by=found.asked_by,
            standing=standing,
            allowed=able,
            not_allowed=NotAllowed(act.not_allowed(core), "may_not_confirm"),
        )
        if why_not_second(
            actor.id,
            asked_by=found.asked_by,
            standing=standing,
            earlier=[one.id for one in before],
            allowed=able,
        ):
            raise AlreadyDecided(
                "You, or somebody who counts as one person with you, confirmed this already. Somebody else has to"
                " confirm it as well."
            )
        may_ask = act.may_ask is None or asker.id in roles.of(act.may_ask)
        if not may_ask or not is_full_member(asker, core.directory.home_team):
            raise NotAllowed(
                f"{found.asked_by_name}, who requested this, may not do so any more. Decline it, then request it"
                " again.",
                "asker_may_not",
            )
        said = await _give(core, act, found, actor, proof, known)
    if act.about_passkeys:
        # Who has a passkey now is known outside the database, too.
        await audit_anchors.drop_after_a_stop(core)
        if not await readiness.ready(core) and act.needs_anchors:
            said += _NOT_KEPT
    return said


async def _require_click_is_enough(
    tx: Tx, core: Core, act: Act, consent_id: str, known: proofs.Outside
) -> None:
    """A new or a lost passkey is confirmed with one as soon as there is one; everything else where the policy asks for
    passkeys at all. Raises `PasskeyNeeded`, NotAllowed."""
    if act.about_passkeys:
        await proofs.require_click_is_enough(tx, known, consent_id)
    elif core.policy.uses_passkeys:
        raise PasskeyNeeded(Purpose.CONSENT, consent_id)


async def _give(
    core: Core, act: Act, found: Consent, actor: Actor, proof: proofs.Proof | None, known: proofs.Outside
) -> str:
    async with core.store.begin() as tx:
        if core.held.holds(f"consent:{found.id}"):
            raise Stale(_DECLINED)
        signed = {}
        if proof is not None:
            digest = terms_of_consent(found.kind, found.subject, found.terms, found.asked_by)
            assertion = await proofs.check(
                tx, core, proof, Purpose.CONSENT, subject=found.id, person=actor.id, digest=digest
            )
            signed = {"assertion": assertion.as_json()}
        if found.expires_at <= tx.now:
            raise Expired(
                "The time to confirm this is over, and nothing was changed. You can request it again."
            )
        if not await confirmations.end(tx, found.id, "given", by=actor.id):
            raise Stale(GONE)
        await audit.record(
            tx, core, actor.id, CONSENT_GIVEN, f"consent:{found.id}", {**_recorded(found), **signed}
        )
        if (
            proof is None
        ):  # again, as the audit log is locked now: another first passkey may have been added since
            await _require_click_is_enough(tx, core, act, found.id, known)
        said = await act.apply(tx, core, found, actor)
        await _close(tx, core, found, actor.id, f"Confirmed. {said}")
    return said


async def decline(core: Core, act: Act, consent_id: str, slack_id: str) -> None:
    """Nothing is done: by whoever may confirm it, or who asked for it."""
    stop = held_stops.of_consent(slack_id, consent_id)
    await core.held.recorded(stop, partial(_decline, core, act, consent_id, slack_id), core.clock)


async def _decline(core: Core, act: Act, consent_id: str, slack_id: str, is_again: bool) -> None:
    async with audited_refusal(core, slack_id, "consent.decline", f"consent:{consent_id}"):
        actor = await people.member(core, slack_id)
        if is_again and await _is_declined(core, consent_id):
            return
        found = await existing(core, consent_id)
        able = (await people.roles(core)).of(act.may_confirm)
        if actor.id != found.asked_by and actor.id not in able:
            raise NotAllowed(act.not_allowed(core), "may_not_confirm")
        async with core.store.begin() as tx:
            if not await confirmations.end(tx, found.id, "declined", by=actor.id):
                raise Stale(GONE)
            await audit.record(
                tx, core, actor.id, "consent.declined", f"consent:{found.id}", _recorded(found)
            )
            await _close(tx, core, found, actor.id, "Declined. Nothing was changed.")


async def _is_declined(core: Core, consent_id: str) -> bool:
    async with core.store.read() as tx:
        found = await confirmations.get(tx, consent_id)
    return found is not None and found.state == "declined"


async def existing(core: Core, consent_id: str) -> Consent:
    """An open one. Raises NotFound, Stale."""
    async with core.store.read() as tx:
        found = await confirmations.get(tx, consent_id)
    if found is None:
        raise NotFound("This request is no longer open. Nothing was changed.")
    if found.state != "open":
        raise Stale(GONE)
    return found


async def words(tx: Tx, act: Act, found: Consent) -> Said:
    """Title and text of the message that asks for it, by what was signed when it was asked."""
    facts = await act.facts(tx, found)
    return people_alerts.CONSENT.says(found.kind, who=found.asked_by_name, until=found.expires_at, **facts)


def is_of_its_alert(alert: alert_rows.Alert) -> bool:
    """Is this the message in which its subject was asked? Its id is made of the consent's: a row that names another
    consent since is none."""
    return alert.id == alert_rows.id_of(people_alerts.CONSENT.condition(alert.subject))


async def expire_due(core: Core) -> None:
    """What nobody confirmed in time is over, and can be asked for again."""
    async with core.store.begin() as tx:
        for found in await confirmations.overdue(tx):
            await _expire(tx, core, found, "Nobody confirmed it in time. Nothing was changed.")


async def withdraw(tx: Tx, core: Core, kind: str, subject: str, text: str) -> None:
    """What was asked for has no point any more."""
    found = await confirmations.open_one(tx, kind, subject)
    if found is not None:
        await _expire(tx, core, found, text)


async def withdraw_all(tx: Tx, core: Core, text: str, *, but: Collection[str]) -> None:
    """Whatever waits for a second person, but for these."""
    for found in await confirmations.open_ones(tx):
        if found.id not in but:
            await _expire(tx, core, found, text)


async def _expire(tx: Tx, core: Core, found: Consent, text: str) -> None:
    if await confirmations.end(tx, found.id, "expired"):
        await audit.record(
            tx, core, "system:consents", "consent.expired", f"consent:{found.id}", _recorded(found)
        )
        await _close(tx, core, found, "system:consents", text)


async def _close(tx: Tx, core: Core, found: Consent, actor: str, text: str) -> None:
    """The message says how it ended, and keeps no button."""
    alert = await alert_rows.open_one(tx, _condition(found))
    if alert is not None:
        await alert_rows.reword(tx, alert.id, severity=alert.severity, title=alert.title, text=text)
        await alerts.resolve(tx, core, alert.dedupe, actor=actor)


def _condition(found: Consent) -> str:
    return people_alerts.CONSENT.condition(found.id)


def _recorded(found: Consent) -> dict[str, Any]:
    """What the audit keeps of it."""
    return {"kind": found.kind, "about": found.subject, "asked_by": found.asked_by, **found.terms}
