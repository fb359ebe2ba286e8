"""Answer profiles: what an account is shown of an answer, cut from its table by each field's source.

`plausible` shows all of it, `documented` only what the document names, `scrambled` invented keys under other names.
"""

from __future__ import annotations

import hashlib
from typing import Any

from sandbox.partner.schemas.fields import Field, Schema


def project(table: Schema, data: dict[str, Any], profile: str) -> dict[str, Any]:
    """The answer as a profile shows it: all of it, documented keys only, or invented keys renamed."""
    if profile == "plausible" or not table.fields:  # an object without a table is shown as it is
        return data
    shown: dict[str, Any] = {}
    for item in table.fields:
        if item.name not in data:
            continue
        name = item.name
        if item.source == "invented":
            if profile == "documented" and not item.kept:
                continue
            name = scrambled(name) if profile == "scrambled" else name
        shown[name] = _projected(item.of, data[item.name], profile)
    return shown


def _projected(of: Schema | Field | None, value: Any, profile: str) -> Any:
    if not isinstance(of, Schema) or value is None:
        return value
    if isinstance(value, list):
        return [project(of, entry, profile) for entry in value]
    return project(of, value, profile)


def scrambled(name: str) -> str:
    """An invented key under a name nobody could guess, the same each time."""
    return "k" + hashlib.sha256(name.encode()).hexdigest()[:9]
