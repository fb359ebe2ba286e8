"""What to do about an alert: the form of the operation that mends it, filled, or a text for the service.

A remedy is only ever a draft. The form goes the way of every request, with a second person's word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.errors import NotFound
from bot.domain.events import decline_text
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from storage.cards import cards
from storage.messages import alerts as alert_rows
from storage.messages.alerts import Alert
from storage.transaction import Tx


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
        kind, texts = await _form(tx, core, alert, known)
    if kind in core.kinds:
        program = known.get("program") or core.default_program
        return Remedy(alert.title, kind, texts, program, reason=alert.title)
    return Remedy(alert.title, text=_for_the_service(core, alert, known))


async def _form(tx: Tx, core: Core, alert: Alert, known: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The operation kind that mends it and what its form holds; "" where none does."""
    card_id = known.get("card_id", "")
    card = await cards.get(tx, card_id) if card_id else None
    if card is not None and card.status == "FROZEN":
        return "card_unfreeze", {"card": card_id}
    if alert.kind == "decline":
        kind = decline_text.cause_in_words(known.get("code", "")).remedy
        return kind, {"card": card_id} if card_id else {}
    if alert.kind in ("float_low", "runway"):
        return "funding_submit", {}
    if alert.kind == "webhook_secret":
        return "webhook_rotate", {}
    if alert.kind == "funding" and known.get("reason") in ("not_found", "transaction_failed"):
        again = known.get("reason") == "not_found"
        return "funding_submit", {"tx_hash": known["tx_hash"]} if again else {}
    return "", {}


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
