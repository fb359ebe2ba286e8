"""People by their display names, as Slack last gave them: in messages only those who have to act are mentioned."""

from __future__ import annotations

import re

from storage.operators import people
from storage.transaction import Tx

_MENTION = re.compile(r"<@([UW][A-Z0-9]+)>")


async def of(tx: Tx, slack_id: str | None) -> str:
    """The display name of a person; empty for nobody and for `system:…`, the id of one who was never seen."""
    if not slack_id or slack_id.startswith("system:"):
        return ""
    seen = await people.get(tx, slack_id)
    return seen.actor.name if seen else slack_id


async def in_text(tx: Tx, text: str) -> str:
    """The text with names in place of its mentions."""
    for slack_id in set(_MENTION.findall(text)):
        text = text.replace(f"<@{slack_id}>", await of(tx, slack_id))
    return text
