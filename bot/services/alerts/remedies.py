"""What to do about an alert: the form of the operation that fixes it, filled, or a text for the card provider.

A remedy is only ever a draft. The form goes the way of every request, with a second person's word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.alerts import Remedy, catalogue
from bot.domain.errors import NotFound
from bot.services.alerts import lifecycle as alerts
from bot.services.cards import freezes
from bot.services.core import Core
from storage.cards import cards
from storage.messages import Alert
from storage.messages import alerts as alert_rows
from storage.transaction import Tx


@dataclass(frozen=True, slots=True)
class Draft:
    """`kind` with the texts of its form; without one, `text` is for the card provider. The requester writes the reason.

    `card_id`: nothing is to be changed, and the card is shown, with why it stands as it does.
    """

    title: str
    kind: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    program: str = ""
    text: str = ""
    card_id: str = ""


async def of(core: Core, alert_id: str) -> Draft:
    """Raises NotFound when there is no such alert."""
    async with core.store.read() as tx:
        alert = await alert_rows.get(tx, alert_id)
        if alert is None:
            raise NotFound("There is no such alert any more.")
        known = await alerts.facts_of(tx, alert)
        card_id = known.get("card_id", "")
        if card_id and await freezes.now(tx, core, card_id) is not None:
            return Draft(alert.title, card_id=card_id)
        kind, texts = await _form(tx, core, alert, known)
    if kind in core.kinds:
        program = known.get("program") or core.default_program
        return Draft(alert.title, kind, texts, program)
    return Draft(alert.title, text=_for_the_service(core, alert, known))


async def card_of(core: Core, alert_id: str) -> str:
    """The id of the card that an alert is about. Raises NotFound."""
    async with core.store.read() as tx:
        alert = await alert_rows.get(tx, alert_id)
        card_id = (await alerts.facts_of(tx, alert)).get("card_id", "") if alert else ""
    if not card_id:
        raise NotFound("This alert is over already. `/card show` shows a card.")
    return card_id


async def _form(tx: Tx, core: Core, alert: Alert, known: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The operation kind that fixes it and what its form holds; "" where none does."""
    card_id = known.get("card_id", "")
    card = await cards.get(tx, card_id) if card_id else None
    remedy = catalogue.of(alert.kind).remedy(known)
    if card is not None and card.status == "FROZEN":
        remedy = Remedy.UNFREEZE_CARD
    kind = next((name for name, cls in core.kinds.items() if remedy and cls.remedy is remedy), "")
    return kind, core.kinds[kind].remedy_texts(known) if kind else {}


def _for_the_service(core: Core, alert: Alert, known: Mapping[str, str]) -> str:
    """Facts the card provider needs: no key beyond its prefix, no personal detail."""
    lines = [alert.title, alert.text]
    program = known.get("program", "")
    if program in core.partners:
        lines.append(f"Program {program}, key prefix {core.partners[program].key_prefix}")
    shown = {"card_id": "Card", "funding_id": "Funding", "tx_hash": "Hash", "network": "Network"}
    lines += [f"{label} {known[name]}" for name, label in shown.items() if known.get(name)]
    lines.append(f"First seen {alert.raised_at:%Y-%m-%d %H:%M:%S} UTC, seen {alert.count} times")
    return "\n".join(lines)
