"""Alerts as values for the views, from their rows."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.alerts import Button, catalogue
from bot.services import display_names
from bot.services.alerts import urgent_rules
from bot.services.core import Core
from bot.services.operators import programs
from bot.view_models import AlertView
from storage.messages import alerts
from storage.requests import requests
from storage.transaction import Tx


async def alert_views(tx: Tx, core: Core, found: Sequence[alerts.Alert]) -> tuple[AlertView, ...]:
    """Each of these alerts, in their order."""
    return tuple([await alert_view(tx, core, alert) for alert in found])


async def alert_view(tx: Tx, core: Core, found: alerts.Alert) -> AlertView:
    """An alert with the people who took it up, by name."""
    acknowledged_by = found.acknowledged_by if found.state == "acknowledged" else ""
    return AlertView(
        id=found.id,
        kind=found.kind,
        subject=found.subject,
        severity=found.severity,
        state=found.state,
        title=found.title,
        text=found.text,
        count=found.count,
        raised_at=found.raised_at,
        updated_at=found.updated_at,
        resolved_at=found.resolved_at,
        live=core.is_live(found.program),
        acknowledged_by=await display_names.of(tx, acknowledged_by),
        held_until=found.snoozed_until,
        assigned_to=await display_names.of(tx, found.assigned_to),
        is_mutable=catalogue.is_mutable(found.kind),
        can_try_now=await _can_try_now(tx, found),
        draft_only=await programs.says_draft_only(tx, core, found.program),
    )


async def _can_try_now(tx: Tx, found: alerts.Alert) -> bool:
    """False where pressing would be refused: nothing waits any more, or sending is paused."""
    if Button.TRY_NOW not in catalogue.of(found.kind).buttons:
        return False
    request = await requests.get(tx, found.subject)
    if request is None or await programs.why_paused(tx, request.program):
        return False
    return bool(await urgent_rules.waiting_of(tx, request))
