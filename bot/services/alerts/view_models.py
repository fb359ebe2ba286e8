"""An alert as a value for the views, from its row."""

from __future__ import annotations

from bot.domain.alerts import catalogue
from bot.services.core import Core
from bot.view_models import AlertView
from storage.messages import alerts


def alert_picture(core: Core, found: alerts.Alert) -> AlertView:
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
        acknowledged_by=(found.acknowledged_by or "") if found.state == "acknowledged" else "",
        held_until=found.snoozed_until,
        assigned_to=found.assigned_to or "",
        is_mutable=catalogue.is_mutable(found.kind),
    )
