"""Alerts as values for the views, from their rows."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.alerts import catalogue
from bot.services import display_names
from bot.services.core import Core
from bot.view_models import AlertView
from storage.messages import alerts
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
        live=all(core.live.values()),
        acknowledged_by=await display_names.of(tx, acknowledged_by),
        held_until=found.snoozed_until,
        assigned_to=await display_names.of(tx, found.assigned_to),
        is_mutable=catalogue.is_mutable(found.kind),
    )
