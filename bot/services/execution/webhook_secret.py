"""What an execution did to the webhook's secret: sealed with the outcome, or known to be lost."""

from __future__ import annotations

from bot.domain.alerts import delivery_alerts
from bot.domain.requests import Request
from bot.outcomes import KeepSecret, LoseSecret, SealSecret, SecretEffect
from bot.services import alerts, audit
from bot.services.core import Core
from storage.events import webhook_secrets
from storage.log_record import PREVIOUS_TAKEN_FOR
from storage.transaction import Tx

_ACTOR = "system:execution"


async def record(tx: Tx, core: Core, request: Request, effect: SecretEffect) -> None:
    """In the transaction of the outcome, so that there is no moment with the one and without the other.

    Ends the alert of a lost secret where there is a new one, raises it where nobody has the current one.
    """
    program = request.program
    by = webhook_secrets.By(_ACTOR, request.id, core.policy.version)
    match effect:
        case SealSecret():
            until = tx.now + PREVIOUS_TAKEN_FOR
            kept = await webhook_secrets.put(tx, program, effect.secret, previous_until=until, by=by)
        case LoseSecret():
            kept = await webhook_secrets.note_lost(tx, program, by=by)
        case KeepSecret():
            kept = await _kept(tx, core, request, by)
    if kept.state == "lost":
        await _lost(tx, core, program, request)
    else:
        await alerts.resolve(tx, core, delivery_alerts.WEBHOOK_SECRET.condition(program))


async def _kept(
    tx: Tx, core: Core, request: Request, by: webhook_secrets.By
) -> webhook_secrets.WebhookSecret:
    """What there is of it, said once more; that nobody has it, where there is nothing."""
    found = await webhook_secrets.newest(tx, request.program)
    if found is None:
        return await webhook_secrets.note_lost(tx, request.program, by=by)
    body = {"request": request.id, "version": found.version, "state": found.state}
    await audit.record(tx, core, _ACTOR, "webhook.secret", f"program:{request.program}", body)
    return found


async def _lost(tx: Tx, core: Core, program: str, request: Request) -> None:
    said = delivery_alerts.WEBHOOK_SECRET.says(program=program, request=request.id)
    condition = delivery_alerts.WEBHOOK_SECRET.condition(program)
    await alerts.keep(
        tx, core, said, condition=condition, subject=program, program=program, facts={"program": program}
    )
