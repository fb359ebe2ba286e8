"""A batch in words: its sentence, its effect, and what speaks against it. Pure, from kept facts."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from bot.domain.money.amounts import format_usd
from bot.operations._base import Concern, Facts, Line

_SUMMARIES: Mapping[str, str] = {
    "card_topup": "Top up {cards} by {total} in all",
    "card_order": "Order {cards}",
    "card_freeze": "Freeze {cards}",
}


def summary(kind: str, rows: int, total_usd: Decimal) -> str:
    cards = "1 card" if rows == 1 else f"{rows} cards"
    return _SUMMARIES[kind].format(cards=cards, total=format_usd(total_usd))


def lines(kind: str, rows: int, total_usd: Decimal, facts: Facts) -> list[Line]:
    """What the whole batch does, from the facts kept with it or read again."""
    found: list[Line] = [("Rows", str(rows))]
    if kind == "card_freeze":
        return [*found, ("Goes on", "the monthly fees")]
    available = Decimal(facts["float_available_usd"])
    if kind == "card_topup":
        after = available - total_usd
        after_all = after - Decimal(facts["pending_usd"])
        found.append(("Float available", f"{format_usd(available)} → {format_usd(after)}"))
        return [*found, ("After all pending", format_usd(after_all))]
    left = facts["allowance_left"]
    fees_usd = Decimal(facts["monthly_fee_usd"]) * rows
    found.append(("First month's fees", format_usd(fees_usd)))
    found.append(("Float available", format_usd(available)))
    allowance = "no cap" if left is None else f"{left} → {left - rows} left for ever"
    return [*found, ("Card allowance", allowance)]


def concerns(kind: str, rows: int, total_usd: Decimal, facts: Facts) -> list[Concern]:
    """Of the batch as a whole first, then those of rows, which were found at submit."""
    found = [Concern(text) for text in facts.get("warnings", ())]
    if kind == "card_freeze":
        return found
    available = Decimal(facts["float_available_usd"])
    if kind == "card_topup" and total_usd > available:
        text = (
            f"This does not fit: {format_usd(total_usd)} in all is more than the {format_usd(available)} of float"
            " available now. Rows are sent in their order while it lasts; the others end with nothing sent."
        )
        return [Concern(text), *found]
    if kind != "card_order":
        return found
    left = facts["allowance_left"]
    if left is not None and rows > left:
        text = f"The lifetime card allowance has {left} left, and {rows} are asked for: the others will fail."
        found.insert(0, Concern(text))
    fees_usd = Decimal(facts["monthly_fee_usd"]) * rows
    if fees_usd > available:
        text = f"The float ({format_usd(available)}) does not cover the first month's fees ({format_usd(fees_usd)})."
        found.append(Concern(text))
    return found
