"""All kinds of alert, by name. To add one, write its row in the file of its subject; nothing else lists kinds."""

from __future__ import annotations

from typing import Final

from bot.domain.alerts import (
    account_alerts,
    card_alerts,
    decline_alerts,
    delivery_alerts,
    float_alerts,
    funding_alerts,
    otp_alerts,
    people_alerts,
    request_alerts,
)
from bot.domain.alerts.alert_kind import AlertKind

_SUBJECTS = (
    float_alerts,
    funding_alerts,
    account_alerts,
    decline_alerts,
    card_alerts,
    otp_alerts,
    delivery_alerts,
    people_alerts,
    request_alerts,
)
CATALOGUE: Final[dict[str, AlertKind]] = {
    row.name: row for subject in _SUBJECTS for row in vars(subject).values() if isinstance(row, AlertKind)
}
"""In the order of the files and of the rows in them, which is that of docs/alerts.md."""


def of(name: str) -> AlertKind:
    """The kind of a stored alert; a plain one for a name that only another version of the bot knows."""
    return CATALOGUE.get(name) or AlertKind(name=name, told_when="", found_by="", ends="", wordings={})


def is_mutable(name: str) -> bool:
    """May alerts of this kind be muted, and closed by hand? True for a name that is not known here."""
    return of(name).is_mutable
