"""The second person's answer to whatever was asked for: finds what it is about, and does it or not."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.alerts import Said, people_alerts
from bot.domain.errors import NotFound
from bot.services.alerts import alert_actions
from bot.services.core import Core
from bot.services.operators import confirmations, draft_only, otp_recipients, pausing
from bot.services.operators.confirmations import Act
from bot.services.passkeys import enrolment, proofs
from storage.errors import ChangedOutside
from storage.messages import Alert
from storage.requests import Consent
from storage.requests import confirmations as consents
from storage.transaction import Tx

_ACTS: dict[str, Act] = {
    act.kind: act for act in (pausing.ACT, draft_only.ACT, otp_recipients.ACT, enrolment.ADD, enrolment.LOST)
}


async def give(core: Core, consent_id: str, slack_id: str, *, proof: proofs.Proof | None = None) -> str:
    """Confirm it; returns what is so now. `proof` is from the page for passkeys.

    Raises NotFound, Stale, NotAllowed, Expired, and `PasskeyNeeded` where a click isn't enough.
    """
    found = await confirmations.existing(core, consent_id)
    return await confirmations.give(core, _ACTS[found.kind], consent_id, slack_id, proof=proof)


async def words_of(core: Core, found: Consent) -> Said:
    """What is asked, as it is signed."""
    async with core.store.read() as tx:
        return await confirmations.words(tx, _ACTS[found.kind], found)


_CHANGED = (
    "This was changed outside Countersign",
    "What was requested here cannot be confirmed here. Tell an admin: somebody wrote to the database.",
)


async def as_signed(tx: Tx, found: Alert) -> Alert:
    """What waits for a second person says what is signed, whatever the row of the alert says since."""
    if found.kind != people_alerts.CONSENT.name or found.state == "resolved":
        return found
    said = await _words_on(tx, found)
    title, text = (said.title, said.text) if said else _CHANGED
    return replace(found, title=title, text=text)


async def _words_on(tx: Tx, alert: Alert) -> Said | None:
    """What this open message asks, as it is signed; None where its row names something else since."""
    try:
        found = await consents.get(tx, alert.subject) if confirmations.is_of_its_alert(alert) else None
    except ChangedOutside:
        return None
    return await confirmations.words(tx, _ACTS[found.kind], found) if found else None


async def asked_in(core: Core, alert_id: str) -> str:
    """The id of what this message asks for. Raises NotFound where there is none or its row names another one since."""
    alert = await alert_actions.of_kind(core, alert_id, people_alerts.CONSENT)
    if not confirmations.is_of_its_alert(alert):
        raise NotFound("This message does not ask for what is stored. Nothing was changed. Tell an admin.")
    return alert.subject


async def decline(core: Core, consent_id: str, slack_id: str) -> None:
    """Raises NotFound, Stale, NotAllowed."""
    found = await confirmations.existing(core, consent_id)
    await confirmations.decline(core, _ACTS[found.kind], consent_id, slack_id)
