"""The second person's answer to whatever was asked for: finds what it is about, and does it or not."""

from __future__ import annotations

from bot.services.core import Core
from bot.services.operators import confirmations, draft_only, otp_recipients, pausing
from bot.services.operators.confirmations import Act
from bot.services.passkeys import enrolment, proofs

_ACTS: dict[str, Act] = {
    act.kind: act for act in (pausing.ACT, draft_only.ACT, otp_recipients.ACT, enrolment.ADD, enrolment.LOST)
}


async def give(core: Core, consent_id: str, slack_id: str, *, proof: proofs.Proof | None = None) -> str:
    """Confirm it; returns what is so now. `proof` is from the page for passkeys.

    Raises NotFound, Stale, NotAllowed, Expired, and `PasskeyNeeded` where a click isn't enough.
    """
    found = await confirmations.existing(core, consent_id)
    return await confirmations.give(core, _ACTS[found.kind], consent_id, slack_id, proof=proof)


async def decline(core: Core, consent_id: str, slack_id: str) -> None:
    """Raises NotFound, Stale, NotAllowed."""
    found = await confirmations.existing(core, consent_id)
    await confirmations.decline(core, _ACTS[found.kind], consent_id, slack_id)
