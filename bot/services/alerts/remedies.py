"""What to do about an alert: the form of the operation that mends it, filled, or a text for the service.

A remedy is only ever a draft. The form goes the way of every request, with a second person's word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.errors import NotFound
from bot.operations._base import CARD_FROZEN, Trouble
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from storage.cards import cards
from storage.messages import alerts as alert_rows
from storage.messages.alerts import Alert
from storage.store import Tx


@dataclass(frozen=True, slots=True)
class Remedy:
    """`kind` with the texts of its form; without one, `text` is for the service."""

    title: str
    kind: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    program: str = ""
    reason: str = ""
    text: str = ""


async def of(core: Core, alert_id: str) -> Remedy:
    """Raises NotFound when there is no such alert."""
    async with core.store.read() as tx:
        alert = await alert_rows.get(tx, alert_id)
        if alert is None:
            raise NotFound("There is no such alert any more.")
        known = await alerts.facts_of(tx, alert)
        trouble = await _trouble(tx, alert, known)
    program = known.get("program") or core.default_program
    for kind, cls in core.kinds.items():
        texts = cls.mends(trouble)
        if texts is not None:
            return Remedy(alert.title, kind, texts, program, reason=alert.title)
    return Remedy(alert.title, text=_for_the_service(core, alert, known))


async def _trouble(tx: Tx, alert: Alert, known: Mapping[str, str]) -> Trouble:
    """What the alert is about, in the words that the kinds go by."""
    card_id = known.get("card_id", "")
    card = await cards.get(tx, card_id) if card_id else None
    is_frozen = card is not None and card.status == "FROZEN"
    return Trouble(
        about=CARD_FROZEN if is_frozen else alert.kind,
        code=known.get("code", ""),
        reason=known.get("reason", ""),
        card_id=card_id,
        tx_hash=known.get("tx_hash", ""),
    )


def _for_the_service(core: Core, alert: Alert, known: Mapping[str, str]) -> str:
    """Facts the service needs: no key beyond its prefix, no personal detail."""
    lines = [alert.title, alert.text]
    program = known.get("program", "")
    if program in core.partners:
        lines.append(f"Program {program}, key prefix {core.partners[program].key_prefix}")
    shown = {"card_id": "Card", "funding_id": "Funding", "tx_hash": "Hash", "network": "Network"}
    lines += [f"{label} {known[name]}" for name, label in shown.items() if known.get(name)]
    lines.append(f"First seen {alert.raised_at:%Y-%m-%d %H:%M:%S} UTC, seen {alert.count} times")
    return "\n".join(lines)
