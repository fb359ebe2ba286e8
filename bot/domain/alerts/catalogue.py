"""All kinds of alert, by name. To add one, write its row in the file of its subject; nothing else lists kinds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.domain.alerts import (
    account_alerts,
    card_alerts,
    decline_alerts,
    delivery_alerts,
    float_alerts,
    funding_alerts,
    otp_alerts,
    passkey_alerts,
    people_alerts,
    process_alerts,
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
    passkey_alerts,
    process_alerts,
    request_alerts,
)


def collect(rows: Iterable[AlertKind]) -> dict[str, AlertKind]:
    """The rows by name, in their order. Raises ValueError where two rows have one name."""
    found: dict[str, AlertKind] = {}
    for row in rows:
        if found.setdefault(row.name, row) is not row:
            raise ValueError(f"Two kinds of alert are called {row.name}.")
    return found


CATALOGUE: Final = collect(
    row for subject in _SUBJECTS for row in vars(subject).values() if isinstance(row, AlertKind)
)
"""In the order of the files and of the rows in them, which is that of docs/alerts.md."""


def of(name: str) -> AlertKind:
    """The kind of a stored alert; a plain one for a name that only another version of the bot knows."""
    return CATALOGUE.get(name) or AlertKind(name=name, raised_when="", found_by="", ends="", wordings={})


def is_mutable(name: str) -> bool:
    """May alerts of this kind be muted, and closed by hand? True for a name that is not known here."""
    return of(name).is_mutable
