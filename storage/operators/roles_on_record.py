"""Who had which role when, and which id a name of the policy means: as the audit chain tells, read and checked as one.

Whoever can write to the database adds nobody here, and hides nobody. All raise `LogNotWhole`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from storage.log_record import on_record
from storage.transaction import Tx

FIRST, CHANGED = "people.recorded", "people.changed"
NAMED = "name.resolved"
_NAMES = "name"


def subject(role: str) -> str:
    """What the entries about a role are about."""
    return f"people:{role}"


async def now(tx: Tx, role: str) -> frozenset[str] | None:
    """Slack ids of those who had the role when it was last recorded; None where it never was."""
    since = await since_when(tx, role)
    return None if since is None else frozenset(since)


async def since_when(tx: Tx, role: str) -> Mapping[str, datetime | None] | None:
    """Slack id -> when they were added, in UTC, None for those who were there when it was recorded first."""
    return (await on_record.of(tx)).roles.get(role)


def of_name(name: str) -> str:
    """What the entry about a name is about."""
    return f"{_NAMES}:{name}"


async def names(tx: Tx) -> Mapping[str, str]:
    """Name of the policy, without its `@` -> the Slack id that it meant when it was first resolved."""
    return (await on_record.of(tx)).names
