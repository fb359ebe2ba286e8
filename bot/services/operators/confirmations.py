"""What a second person has to say yes to though it is no operation at the API: one asks, another confirms.

The asking is a message in the alerts channel with the buttons Confirm and Decline. What is done by the yes is
an `Act`, carried out in the transaction that records it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bot.domain.alerts import people_alerts
from bot.domain.errors import CountersignError, Expired, NotAllowed, NotFound, OwnRequest, Stale
from bot.domain.people.actors import Actor
from bot.services import people
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from bot.services.people import Roles
from storage import audit
from storage.messages import alerts as alert_rows
from storage.requests import confirmations
from storage.requests.confirmations import Consent
from storage.store import Tx

GONE = "This was answered already, or its time is over. Nothing was changed."


@dataclass(frozen=True, slots=True)
class Act:
    """What is done by a second person's yes.

    `may_ask` and `may_confirm` pick who from the roles as read at this moment; `apply` does it and returns the
    sentence of what is so now. `holds_for`: how long the asking waits.
    """

    kind: str
    holds_for: timedelta
    may_ask: Callable[[Roles], frozenset[str]]
    may_confirm: Callable[[Roles], frozenset[str]]
    apply: Callable[[Tx, Core, Consent, Actor], Awaitable[str]]
    not_allowed: Callable[[Core], str]


async def ask(
    tx: Tx,
    core: Core,
    act: Act,
    actor: Actor,
    *,
    subject: str,
    terms: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> Consent | None:
    """Ask the others, in the alerts channel; None when it is asked for already. `actor` may ask.

    `facts` are those that the wording of the alert for this act names, who asks and until when apart.
    """
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
    await _audit(tx, core, actor.id, "consent.asked", consent)
    said = people_alerts.CONSENT.says(act.kind, who=actor.name, until=consent.expires_at, **facts)
    alert = await alerts.raise_(tx, core, said, condition=_condition(consent), subject=consent.id)
    called = alerts.called(core, people_alerts.CONSENT)
    await alerts.thread_line(tx, core, alert, actor.id, "Asks for a second person's word.", mentions=called)
    return consent


async def give(core: Core, act: Act, consent_id: str, slack_id: str) -> str:
    """The second person's yes: does what was asked for and says what is so now. Refusals are audited."""
    try:
        actor = await people.member(core, slack_id)
        roles = await people.roles(core)
        found = await existing(core, consent_id)
        asker = await core.directory.actor(found.asked_by)
        if roles.standing.are_one(actor.id, found.asked_by):
            raise OwnRequest()
        if actor.id not in act.may_confirm(roles):
            raise NotAllowed(act.not_allowed(core), "may_not_confirm")
        if asker.deleted or asker.id not in act.may_ask(roles):
            raise NotAllowed(
                f"{found.asked_by_name}, who asked for this, may not do so any more. Decline it, and ask anew.",
                "asker_may_not",
            )
        return await _give(core, act, found, actor)
    except CountersignError as refusal:
        await people.refused(core, slack_id, "consent.give", f"consent:{consent_id}", refusal.reason)
        raise


async def _give(core: Core, act: Act, found: Consent, actor: Actor) -> str:
    async with core.store.begin() as tx:
        if found.expires_at <= tx.now:
            raise Expired(
                "The time to confirm this is over, and nothing was changed. It can be asked for again."
            )
        if not await confirmations.end(tx, found.id, "given", by=actor.id):
            raise Stale(GONE)
        await _audit(tx, core, actor.id, "consent.given", found)
        said = await act.apply(tx, core, found, actor)
        await _close(tx, core, found, actor.id, f"Confirmed. {said}")
    return said


async def decline(core: Core, act: Act, consent_id: str, slack_id: str) -> None:
    """Nothing is done: by whoever may confirm it, or who asked for it."""
    try:
        actor = await people.member(core, slack_id)
        found = await existing(core, consent_id)
        if actor.id != found.asked_by and actor.id not in act.may_confirm(await people.roles(core)):
            raise NotAllowed(act.not_allowed(core), "may_not_confirm")
        async with core.store.begin() as tx:
            if not await confirmations.end(tx, found.id, "declined", by=actor.id):
                raise Stale(GONE)
            await _audit(tx, core, actor.id, "consent.declined", found)
            await _close(tx, core, found, actor.id, "Declined. Nothing was changed.")
    except CountersignError as refusal:
        await people.refused(core, slack_id, "consent.decline", f"consent:{consent_id}", refusal.reason)
        raise


async def existing(core: Core, consent_id: str) -> Consent:
    """An open one. Raises NotFound, Stale."""
    async with core.store.read() as tx:
        found = await confirmations.get(tx, consent_id)
    if found is None:
        raise NotFound("This button is of nothing that is asked for. Nothing was changed.")
    if found.state != "open":
        raise Stale(GONE)
    return found


async def expire_due(core: Core) -> None:
    """What nobody confirmed in time is over, and can be asked for again."""
    async with core.store.begin() as tx:
        for found in await confirmations.overdue(tx):
            if await confirmations.end(tx, found.id, "expired"):
                await _audit(tx, core, "system:consents", "consent.expired", found)
                await _close(
                    tx, core, found, "system:consents", "Nobody confirmed it in time. Nothing was changed."
                )


async def withdraw(tx: Tx, core: Core, kind: str, subject: str, text: str) -> None:
    """What was asked for has no point any more."""
    found = await confirmations.open_one(tx, kind, subject)
    if found is not None and await confirmations.end(tx, found.id, "expired"):
        await _audit(tx, core, "system:consents", "consent.expired", found)
        await _close(tx, core, found, "system:consents", text)


async def _close(tx: Tx, core: Core, found: Consent, actor: str, text: str) -> None:
    """The message says how it ended, and keeps no button."""
    alert = await alert_rows.open_one(tx, _condition(found))
    if alert is not None:
        await alert_rows.reword(tx, alert.id, severity=alert.severity, title=alert.title, text=text)
        await alerts.resolve(tx, core, alert.dedupe, actor=actor)


def _condition(found: Consent) -> str:
    return people_alerts.CONSENT.condition(found.id)


async def _audit(tx: Tx, core: Core, actor: str, action: str, found: Consent) -> None:
    await audit.append(
        tx,
        actor=actor,
        action=action,
        subject=f"consent:{found.id}",
        body={"kind": found.kind, "about": found.subject, "asked_by": found.asked_by, **found.terms},
        policy_version=core.policy.version,
    )
