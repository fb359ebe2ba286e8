"""What is open, as a list: `/countersign alerts`, the status and the home."""

from __future__ import annotations

from bot.domain.alerts import Severity, catalogue
from bot.services import display_names
from bot.services.alerts import view_models
from bot.services.core import Core
from bot.services.operators import confirmation_answers
from bot.view_models import AlertsView, AlertView, MuteView
from storage.messages import alerts, mutes
from storage.transaction import Tx


async def shown(core: Core) -> AlertsView:
    """What is open, the newest first, and the mute rules in force."""
    async with core.store.read() as tx:
        found = await _views(tx, core, await alerts.open_ones(tx))
        rules = [
            MuteView(r.name, r.kind, r.about, await display_names.of(tx, r.by), r.until)
            for r in await mutes.in_force(tx)
        ]
    return AlertsView(found, tuple(rules))


async def open_alerts(tx: Tx, core: Core) -> tuple[AlertView, ...]:
    """What is open, not snoozed and no document, the worst first, then the newest."""
    found = [
        a for a in await alerts.open_ones(tx) if a.state != "snoozed" and not catalogue.of(a.kind).is_document
    ]
    return await _views(tx, core, sorted(found, key=lambda a: -Severity(a.severity).rank))


async def _views(tx: Tx, core: Core, found: list[alerts.Alert]) -> tuple[AlertView, ...]:
    """What waits for a second person in the words that are signed."""
    return await view_models.alert_views(
        tx, core, [await confirmation_answers.as_signed(tx, one) for one in found]
    )
