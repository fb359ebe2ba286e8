"""`/card spend`: what was spent in a period, on which cards, at which merchants, and what was declined."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from bot.domain.alerts import decline_causes
from bot.domain.events import SpendReport, Spent, by_day
from bot.domain.money import exact_sum, format_usd
from handlers.views import blocks as b
from handlers.views import charts

_TOP = 10


def spend(found: SpendReport) -> b.Block:
    """Totals, a chart by day, the cards and merchants with most, and the declines by cause with their sums."""
    about = f" {found.about}" if found.about else ""
    first = (
        f"{b.money(found.live, draft_only=found.draft_only)} · Spent {format_usd(found.charged_usd)} in"
        f" {b.counted(found.count, 'purchase')}{b.esc(about)}, {b.esc(found.period.in_words())}"
    )
    blocks = [b.header(f"Spent {format_usd(found.charged_usd)}"), b.section(_totals(found))]
    blocks += charts.by_day("Spent", [("Spent", by_day(found.charged, found.period))])
    blocks += _largest("By card", found.cards) + _largest("By merchant", found.merchants)
    if found.declined:
        causes = [
            Spent(decline_causes.cause_in_words(cause.name).what, cause.count, cause.amount_usd)
            for cause in found.declined
        ]
        head = f"Declined: {format_usd(found.declined_usd)}, not counted above"
        blocks += _largest(head, causes)
    blocks.append(b.context(_source(found)))
    return b.message(first, blocks)


def _totals(found: SpendReport) -> str:
    said = ["*" + b.esc(" · ".join(filter(None, (found.period.in_words(), found.about)))) + "*"]
    if not found.count:
        others = ", ".join(b.esc(b.cut(name, 80)) for name in found.elsewhere)
        others = f" Merchants in this period: {others}." if others else ""
        return f"{said[0]}\nNo purchases.{others}"
    on = f"on {b.counted(len(found.cards), 'card')} at {b.counted(len(found.merchants), 'merchant')}"
    said.append(
        f"{b.counted(found.count, 'purchase')} {on}, as authorized. Fees of {format_usd(found.fee_usd)} are in it."
    )
    if found.back_usd:
        left = format_usd(found.charged_usd - found.back_usd)
        said.append(f"Reversed or refunded of these since: {format_usd(found.back_usd)}. That leaves {left}.")
    if found.unknown:
        said.append(
            f"*▲ {b.counted(found.unknown, 'more purchase')}* without a known amount: the authorization was not"
            " received."
        )
    return "\n".join(said)


def _largest(head: str, rows: Sequence[Spent]) -> list[b.Block]:
    """The largest, and the others together, so that the lines add up to the total; Slack takes one table a message."""
    if not rows:
        return []
    shown, rest = list(rows[:_TOP]), rows[_TOP:]
    if rest:
        amount_usd = exact_sum(row.amount_usd for row in rest)
        shown.append(Spent(f"{len(rest):,} others", sum(row.count for row in rest), amount_usd))
    total_usd = exact_sum(row.amount_usd for row in rows)
    lines = [
        f"• {b.esc(b.cut(row.name, 80))}: {format_usd(row.amount_usd)}, {b.counted(row.count, 'purchase')},"
        f" {_share(row.amount_usd, total_usd)}"
        for row in shown
    ]
    return [b.section("\n".join([f"*{b.esc(head)}*", *lines]))]


def _share(part_usd: Decimal, total_usd: Decimal) -> str:
    return f"{part_usd / total_usd:.0%}" if total_usd else "–"


def _source(found: SpendReport) -> str:
    last = f"newest event {b.when(found.last_event_at)}" if found.last_event_at else "no event received yet"
    return (
        f"program {b.esc(found.program)} · from the events that Countersign received · {last} · one card:"
        " `/card tx CARD`"
    )
