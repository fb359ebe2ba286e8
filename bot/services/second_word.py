"""The second person's answer to whatever was asked for: finds what it is about, and does it or not."""

from __future__ import annotations

from bot.services import code_people, consents, pausing
from bot.services.consents import Act
from bot.services.core import Core

_ACTS: dict[str, Act] = {act.kind: act for act in (pausing.ACT, code_people.ACT)}


async def give(core: Core, consent_id: str, slack_id: str) -> str:
    """Confirm it; returns what is so now. Raises NotFound, Stale, NotAllowed, Expired."""
    found = await consents.existing(core, consent_id)
    return await consents.give(core, _ACTS[found.kind], consent_id, slack_id)


async def decline(core: Core, consent_id: str, slack_id: str) -> None:
    """Raises NotFound, Stale, NotAllowed."""
    found = await consents.existing(core, consent_id)
    await consents.decline(core, _ACTS[found.kind], consent_id, slack_id)
