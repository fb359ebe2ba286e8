"""Who had which role when, and which id a name of the policy means: read from entries of the audit chain.

Only entries that are signed as the chain signs them count, so whoever can write to the database adds nobody here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from storage import audit
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
    found: dict[str, datetime | None] | None = None
    async for entry in audit.about(tx, subject(role)):
        if entry.action not in (FIRST, CHANGED) or not audit.is_genuine(tx, entry):
            continue
        has_role = json.loads(entry.body)["now"]
        before = found
        found = {one: None if before is None else before.get(one, entry.at) for one in has_role}
    return found


def of_name(name: str) -> str:
    """What the entry about a name is about."""
    return f"{_NAMES}:{name}"


async def names(tx: Tx) -> Mapping[str, str]:
    """Name of the policy, without its `@` -> the Slack id that it meant when it was first resolved."""
    found: dict[str, str] = {}
    async for entry in audit.about(tx, _NAMES):
        if entry.action == NAMED and audit.is_genuine(tx, entry):
            found.setdefault(entry.subject.partition(":")[2], str(json.loads(entry.body)["id"]))
    return found
