"""The program's money as look-ups show it: float, ledger, fees, earnings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.domain.events import LedgerLine, LedgerReport, by_day
from bot.domain.money import format_usd, plain
from bot.partner.models import Earnings, Fees
from bot.view_models import FloatView, RunwayView
from handlers.views import blocks as b
from handlers.views import charts, ids
from handlers.views.lookups.cards import local
from handlers.views.replies import age, money_of, pages, with_buttons

ROWS = 25


def float_answer(found: FloatView) -> b.Block:
    """`/float`: what there is, what is spoken for, how long it lasts, and when the API said so."""
    after = found.available_usd - found.pending_usd
    lines = [
        ("Balance", format_usd(found.balance_usd)),
        ("Available", format_usd(found.available_usd)),
        held_by_pending(found),
        *([("After all pending", format_usd(after))] if found.pending_usd else []),
    ]
    if found.runway is not None:
        lines += [("Runway", runway(found.runway)), ("Floor", format_usd(found.runway.floor_usd))]
    if found.limit_usd is not None:
        lines.append(("Float limit", format_usd(found.limit_usd)))
    cap = "no cap" if found.cards_limit is None else f"of {found.cards_limit} in all, closed ones included"
    lines.append(("Cards", f"{found.cards_active} active, {found.cards_total} ordered ({cap})"))
    blocks = [b.header(f"Float: {format_usd(found.balance_usd)}"), *b.pairs(lines)]
    if after < 0:
        blocks.append(
            b.section("*▲ The pending requests do not all fit.* Fund the float before they are approved.")
        )
    if found.history is not None:
        blocks += charts.float_chart(found.history)
    elif found.period is not None:
        blocks.append(b.section(f"Not enough data for a chart of {b.esc(found.period.in_words())}."))
    over = f" · chart {b.esc(found.period.in_words())}" if found.period is not None and found.history else ""
    blocks.append(b.context(f"{money_of(found.program, live=found.live)} · {age(found.read_at)}{over}"))
    text = f"Float {format_usd(found.balance_usd)}, available {format_usd(found.available_usd)}"
    return b.message(text, blocks)


def held_by_pending(found: FloatView) -> b.Line:
    """What pending requests would take, as a label and a value."""
    if not found.pending_count:
        return ("Pending requests", "none")
    return (f"Held by {b.counted(found.pending_count, 'pending request')}", format_usd(found.pending_usd))


def runway(found: RunwayView) -> str:
    """How long until the floor, at the pace of the last days."""
    if not found.known:
        return "not enough history yet (needs 2 hours)"
    if found.hours is None or found.at is None:
        return f"more than {found.looked_ahead_hours // 24} days at the pace of the last 7"
    if found.hours < 1:
        return "at the floor now, pending requests included"
    return f"about {in_hours(timedelta(hours=found.hours))}, until {found.at:%Y-%m-%d %H:00} UTC"


def in_hours(span: timedelta) -> str:
    """`40 min`, `5 h`, `3 days`: as long as a person would say it."""
    minutes = int(span.total_seconds() // 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{round(minutes / 60)} h" if minutes < 48 * 60 else f"{round(minutes / 1440)} days"


def ledger(found: LedgerReport, command: str, page: int = 1) -> b.Block:
    """`/float ledger`: the float's movements in words, with totals of the whole period."""
    of = max(1, -(-len(found.moved) // ROWS))
    page = min(page, of)
    zone = ZoneInfo(found.period.zone)
    count = b.counted(len(found.moved), "movement")
    number = f", page {page} of {of}" if of > 1 else ""
    blocks = [b.header(f"Ledger: {count}{number}"), b.section(_totals(found))]
    shown = found.moved[(page - 1) * ROWS : page * ROWS]
    if page == 1 and found.all_read:
        blocks += charts.by_day("Into and out of the float", _in_and_out(found))
    if shown:
        blocks.append(b.table((f"When ({zone})", "Amount", "What", "Request"), _rows(shown, zone)))
    markers = len(found.lines) - len(found.moved)
    if markers:
        blocks.append(b.context(f"Not listed: {b.counted(markers, 'bookkeeping row')} without an amount."))
    blocks.append(
        b.context(
            f"program {b.esc(found.program)} · {age(found.read_at)} · purchases are not in the ledger: see `/card tx`"
        )
    )
    if of > 1 or not found.all_read:
        named = b.esc(found.period.named)
        blocks.append(b.context(f"All of it as CSV: `/countersign export ledger {named}`"))
    came_and_went = f"in {format_usd(found.in_usd)}, out {format_usd(found.out_usd.copy_abs())}"
    text = f"Ledger {b.esc(found.period.in_words())}: {came_and_went}"
    return with_buttons(b.message(text, blocks), pages(command, page, of))


def _in_and_out(found: LedgerReport) -> list[tuple[str, charts.Days]]:
    came = [(line.at, line.amount_usd) for line in found.lines if line.amount_usd > 0]
    went = [(line.at, line.amount_usd.copy_abs()) for line in found.lines if line.amount_usd < 0]
    return [("In", by_day(came, found.period)), ("Out", by_day(went, found.period))]


def _rows(lines: Sequence[LedgerLine], zone: ZoneInfo) -> list[tuple[str, str, str, str]]:
    return [
        (local(line.at, zone), format_usd(line.amount_usd), line.words, line.request_id) for line in lines
    ]


def _totals(found: LedgerReport) -> str:
    kinds = " · ".join(
        f"{b.esc(kind.replace('_', ' '))}: {format_usd(total)} in {b.counted(count, 'row')}"
        for kind, count, total in found.by_kind()
    )
    said = [
        f"*{b.esc(found.period.in_words())}*",
        f"In {format_usd(found.in_usd)}, out {format_usd(found.out_usd.copy_abs())}, together"
        f" {format_usd(found.in_usd + found.out_usd)}",
        kinds,
    ]
    if not found.all_read:
        said.append(f"*There are more:* the newest {len(found.lines):,} are counted here.")
    return "\n".join(filter(None, said))


def percent(fraction: Decimal) -> str:
    """`1.5 %` for 0.015, to the last digit: rates are fractions [Fees]."""
    shown = plain((fraction * 100).normalize() + 0)
    return f"{shown} %"


def fees(found: Fees, program: str, markup_command: str = "") -> b.Block:
    """`/float fees`: the schedule in words. `markup_command` opens the form that changes the markup."""
    card = found.transaction
    rows = [
        (
            "Funding the float",
            percent(found.load_from_float_pct),
            "once, when funds are sent; top-ups are then 1:1",
        ),
        (
            "Deposit by an end user",
            percent(found.load_from_user_deposit_pct),
            "only where deposits are enabled",
        ),
        (
            "Your markup on deposits",
            percent(found.your_markup_pct),
            "it becomes your earnings",
        ),
        ("Purchase in dollars", percent(card.usd_purchase_pct), "of the purchase, as it happens"),
        ("Purchase in another currency", percent(card.fx_purchase_pct), "of the purchase, as it happens"),
        ("High-risk merchant", percent(card.high_risk_surcharge_pct), "on top of the rate of the purchase"),
        ("Cash machine", percent(card.atm_pct), "of the amount withdrawn"),
        ("Push-to-card payout", percent(card.visa_direct_pct), "of the payout"),
        ("Card, each month", format_usd(card.monthly_per_card_usd), "for every open card, frozen ones too"),
        (
            "Your markup on purchases",
            percent(card.your_markup_pct),
            "set by your card provider; shown on each purchase",
        ),
    ]
    example = found.example_on_100_usd
    blocks = [
        b.header("Fees"),
        b.table(("What", "Rate", "When"), rows),
        b.section(
            f"Example: of 100.00 USD, {format_usd(example.svc_fee_usd)} goes to your card provider and"
            f" {format_usd(example.your_fee_usd)} is your markup. With both, {format_usd(example.lands_on_card_usd)}"
            " would be left, but no payment is charged both."
        ),
        b.context(
            "These are list prices; `/card tx` shows what each purchase was charged. Ordering a card pays its first"
            " month, and the month of closing is charged in full."
        ),
        b.context(f"program {b.esc(program)} · read from your card provider just now"),
    ]
    change = (
        [b.button("Change the markup", f"{ids.OPEN_FORM}:markup", markup_command)] if markup_command else []
    )
    return with_buttons(
        b.message(f"Fees: funding costs {percent(found.load_from_float_pct)}", blocks), change
    )


def earnings(found: Earnings, program: str) -> b.Block:
    """`/float earnings`: the partner's commission, which is apart from the float."""
    paid = f"last on {b.when(found.last_payout_at)}" if found.last_payout_at else "none yet"
    lines = [
        ("Accrued in all", format_usd(found.accrued_usd)),
        ("Paid out", format_usd(found.paid_out_usd)),
        ("Due to you", format_usd(found.owed_usd)),
    ]
    blocks = [
        b.header(f"Earnings: {format_usd(found.owed_usd)} due"),
        *b.pairs(lines),
        b.section(
            f"Payouts: {paid}. Earnings are your markup on deposits, kept apart from the float: they cannot be spent"
            " on cards. Ask your card provider for a payout."
        ),
        b.context(f"program {b.esc(program)} · read from your card provider just now"),
    ]
    return b.message(f"Earnings: {format_usd(found.owed_usd)} due", blocks)
