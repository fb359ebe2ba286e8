"""Cards as look-ups show them: one with all about it, the directory, its purchases, the declines of all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from bot import operations
from bot.domain.alerts import decline_causes
from bot.domain.cards import label, masked
from bot.domain.events import CardStatement, DeclineGroup, DeclineReport, PurchaseLine, by_day
from bot.domain.freezes import RIGHT, Freeze
from bot.domain.money import format_usd
from bot.view_models import CardListView, CardView
from handlers.views import blocks as b
from handlers.views import charts, ids
from handlers.views.replies import age, listed, pages, pages_beside, with_buttons

ROWS = 25
_LAST = 5
_NAMES = 5
# What a status other than ACTIVE means for who looks at it [Card status].
_STATUS = {
    "BLOCKED": "Only your card provider can unblock it. Contact them.",
    "EXPIRED": "Purchases fail. The balance stays on it; order a new card.",
    "INACTIVE": "Purchases fail. What this status means is not documented; ask your card provider.",
    "DELETED": "It is closed for good. Its balance went back to the float.",
}

Button = tuple[str, str]  # text, command


def card_answer(found: CardView, buttons: Sequence[Button] = (), more: Sequence[Button] = ()) -> b.Block:
    """One card: how it stands and why, what is on it, what was bought, what is asked for it, what to do next."""
    name = label(found.holder, found.last4)
    lines = [
        ("Status", found.status or "not reported yet"),
        ("Balance", format_usd(found.balance_usd)),
        ("Reference", found.partner_ref or "–"),
        ("Card id", found.id),
    ]
    blocks = [b.header(name), *b.pairs(lines)]
    why = _why(found)
    blocks += [b.section(why)] if why else []
    blocks += [b.section(_declined(line)) for line in found.declines[:_LAST]]
    blocks += _purchases(found.statement)
    blocks += listed("Open requests", found.open_requests)
    blocks += listed("Earlier requests", found.history[:_LAST])
    blocks.append(b.context(f"program {b.esc(found.program)} · {age(found.read_at)}"))
    balance = "balance unknown" if found.balance_usd is None else format_usd(found.balance_usd)
    text = f"{b.esc(name)}: {b.esc(found.status or 'status not reported yet')}, {balance}"
    return with_buttons(b.message(text, blocks), _next_steps(buttons, more))


def _why(found: CardView) -> str:
    """Who froze it, when and why; what another status means."""
    if found.status != "FROZEN":
        return b.esc(_STATUS.get(found.status or "", ""))
    by = found.frozen_by
    if by is None:
        return (
            "*Frozen outside Countersign,* by your card provider or somebody else who has the API key. Find out who"
            " before you unfreeze it."
        )
    at = b.when(by.finished_at or by.created_at)
    how = f", *{operations.run_now_label(by.kind)}*" if by.break_glass else ""
    return (
        f"*Frozen* by {b.esc(by.requester_name)} {at} ({b.esc(by.id)}{how}): {b.esc(b.cut(by.reason, 500))}"
    )


def _declined(line: PurchaseLine) -> str:
    if line.stopped_by is not None:
        merchant = b.esc(line.merchant or "an unnamed merchant")
        stopped = f"*○ Stopped* {b.when(line.at)}: {format_usd(line.charge_usd)} at {merchant}."
        return f"{stopped} {_freeze(line.stopped_by)}"
    cause = decline_causes.cause_in_words(line.decline_code)
    amount = format_usd(line.charge_usd)
    return (
        f"*▲ Declined* {b.when(line.at)}: {amount} at {b.esc(line.merchant or 'an unnamed merchant')},"
        f" {b.esc(cause.what)}. {decline_causes.retry_in_words(line.retryable)} {b.esc(cause.next_step)}"
    )


def _freeze(by: Freeze) -> str:
    """Who froze the card, when and why, and that what it stopped was stopped rightly."""
    asked = by.request
    at, why = b.when(by.since), b.esc(b.cut(asked.reason, 300))
    return f"Frozen by {b.esc(asked.requester_name)} {at} ({b.esc(asked.id)}): “{why}”. {RIGHT}"


def _purchases(found: CardStatement | None) -> list[b.Block]:
    if found is None:
        return [b.section("*Purchases* could not be read just now. Look again in a minute.")]
    lines = [line for line in found.lines if not line.is_declined][:_LAST]
    if not lines:
        return [b.section(f"*Purchases*\nNone, {b.esc(found.period.in_words())}.")]
    return [b.section("*Last purchases*"), _table(lines, ZoneInfo(found.period.zone))]


def _next_steps(buttons: Sequence[Button], more: Sequence[Button]) -> list[b.Block]:
    """The first is what this card needs most; the rest is under the dots."""
    found = [
        b.button(text, f"{ids.OPEN_FORM}:{n}", ids.typed(command))
        for n, (text, command) in enumerate(buttons)
    ]
    options = [b.option(text, ids.typed(command)) for text, command in more]
    if len(options) == 1:
        text, command = more[0]
        found.append(b.button(text, f"{ids.OPEN_FORM}:more", ids.typed(command)))
    elif options:
        found.append(b.overflow(f"{ids.OPEN_FORM}:more", options[:5]))
    return found


def card_list(found: CardListView, command: str = "card list") -> b.Block:
    """A page of the directory as a table."""
    words = {"DELETED": "closed"}
    kind = f"{words.get(found.status, found.status.lower())} " if found.status else ""
    head = b.counted(found.total, f"{kind}card")
    blocks = [b.header(head if found.pages == 1 else f"{head}, page {found.page} of {found.pages}")]
    if found.cards:
        rows = [
            (c.holder, masked(c.last4), c.status or "–", format_usd(c.balance_usd), c.partner_ref or "–")
            for c in found.cards
        ]
        blocks.append(b.table(("Cardholder", "Card", "Status", "Balance", "Reference"), rows))
    else:
        none = f"No card is {kind.strip()}. `/card list` shows all that are open."
        blocks.append(b.section(none if kind else "No card is known here. Order one with `/card order`."))
    read = (
        f"list {age(found.read_at)}" if found.read_at else "the list was not read from your card provider yet"
    )
    oldest = min((c.read_at for c in found.cards if c.read_at), default=None)
    balances = (
        f" · balances as your card provider last read them, the oldest {b.when(oldest)}" if oldest else ""
    )
    blocks.append(b.context(f"{read}{balances}"))
    buttons = pages_beside(command, found.page, [c.id for c in found.cards], has_more=found.has_more)
    return with_buttons(b.message(b.esc(head), blocks), buttons)


def statement(found: CardStatement, command: str, page: int = 1) -> b.Block:
    """`/card tx`: a card's purchases in a period, with totals of the whole of it."""
    of = max(1, -(-len(found.lines) // ROWS))
    page = min(page, of)
    declined = len(found.lines) - len(found.charged)
    count = b.counted(len(found.charged), "purchase")
    count += f", {b.counted(declined, 'decline')}" if declined else ""
    number = f", page {page} of {of}" if of > 1 else ""
    blocks = [b.header(f"{found.label}: {count}{number}"), b.section(_totals(found))]
    shown = found.lines[(page - 1) * ROWS : page * ROWS]
    if page == 1 and found.all_read:
        charged = [(line.at, line.charge_usd) for line in found.charged if line.charge_usd is not None]
        blocks += charts.by_day("Charged", [("Charged", by_day(charged, found.period))])
    if shown:
        blocks.append(_table(shown, ZoneInfo(found.period.zone)))
    blocks.append(b.context(_source(found)))
    if of > 1:
        blocks.append(b.context(_as_csv(f"transactions {found.card_id}", found.period.named)))
    about = f" {b.esc(found.about)}" if found.about else ""
    text = f"{b.esc(found.label)}: {count}{about}, {format_usd(found.charged_usd)}"
    return with_buttons(b.message(text, blocks), pages(command, page, of))


def _totals(found: CardStatement) -> str:
    declined = len(found.lines) - len(found.charged)
    still_open = sum(1 for line in found.lines if line.open)
    said = [
        "*" + b.esc(" · ".join(filter(None, (found.period.in_words(), found.about)))) + "*",
        f"Charged {format_usd(found.charged_usd)}, including {format_usd(found.fee_usd)} in fees (amounts at"
        " authorization; refunds are shown in Status).",
    ]
    if declined:
        said.append("Declined purchases are not included.")
    if still_open:
        said.append(
            f"*▲ {b.counted(still_open, 'purchase')} without a final amount:* ask your card provider before you"
            " book them."
        )
    if not found.all_read:
        said.append(
            f"*There are more:* the first {len(found.lines):,} that your card provider listed are here."
        )
    return "\n".join(said)


def _table(lines: Sequence[PurchaseLine], zone: ZoneInfo) -> b.Block:
    rows = [
        (
            local(line.at, zone),
            line.merchant or "unnamed",
            line.status.replace("_", " "),
            format_usd(line.charge_usd),
            "–" if line.is_declined else format_usd(line.fee_usd),
            line.original,
            _note(line),
        )
        for line in lines
    ]
    head = (f"When ({zone})", "Merchant", "Status", "Charge", "Including fee", "Original amount", "Note")
    return b.table(head, rows)


def _note(line: PurchaseLine) -> str:
    if line.stopped_by is not None:
        return f"stopped. {b.cut(line.stopped_by.in_words, 300)}"
    if line.is_declined:
        return decline_causes.cause_in_words(line.decline_code).what
    notes = [f"not final: {why}" for why in line.open]
    if not line.listed:
        notes.append("not in your card provider's list")
    return ", ".join(notes)


def _source(found: CardStatement) -> str:
    with_events = sum(1 for line in found.lines if line.has_events)
    return (
        f"history {age(found.read_at)} · amounts: {with_events:,} from authorization events,"
        f" {len(found.lines) - with_events:,} from the card provider's history · times in {b.esc(found.period.zone)}"
    )


def _as_csv(what: str, period: str) -> str:
    return f"All of it as CSV: `/countersign export {b.esc(what)} {b.esc(period)}`"


def declines(found: DeclineReport, zone: ZoneInfo) -> b.Block:
    """`/card declines`: by cause with the next step of each, then the latest of them."""
    head = b.counted(found.total, "decline")
    blocks = [b.header(head), b.section(f"*{b.esc(found.period.in_words())}*")]
    blocks += [b.section(_group(group)) for group in found.groups[:10]]
    if found.latest:
        rows = [
            (
                local(line.at, zone),
                line.label,
                line.merchant,
                format_usd(line.amount_usd),
                "stopped: the card is frozen"
                if line.stopped_by
                else decline_causes.cause_in_words(line.code).what,
            )
            for line in found.latest
        ]
        blocks.append(b.section(f"*The latest {len(rows)}*" if len(rows) < found.total else "*Each of them*"))
        blocks.append(b.table((f"When ({zone})", "Card", "Merchant", "Amount", "Why"), rows))
    if not found.total:
        blocks.append(b.section("No purchase was declined."))
    if found.counted < found.total:
        blocks.append(b.context(f"The causes count the newest {found.counted:,} of {found.total:,}."))
    last = f"newest event {b.when(found.last_event_at)}" if found.last_event_at else "no event received yet"
    blocks.append(
        b.context(f"program {b.esc(found.program)} · from the events that Countersign received · {last}")
    )
    return b.message(f"{head}, {b.esc(found.period.in_words())}", blocks)


def _group(group: DeclineGroup) -> str:
    cause = decline_causes.cause_in_words(group.code)
    counted = f"Cards: {_names(group.cards)}\nMerchants: {_names(group.merchants)}\n"
    if group.stopped_by is not None:
        head = f"*{group.count:,} × stopped: the card is frozen*, {format_usd(group.amount_usd)}"
        return f"{head}\n{counted}{_freeze(group.stopped_by)}"
    return (
        f"*{group.count:,} × {b.esc(cause.what)}*, {format_usd(group.amount_usd)}\n{counted}"
        f"{decline_causes.retry_in_words(group.retryable)} {b.esc(cause.next_step)}"
    )


def _names(counted: Sequence[tuple[str, int]]) -> str:
    said = ", ".join(
        b.esc(b.cut(name, 80)) + (f" ({count:,})" if count > 1 else "") for name, count in counted[:_NAMES]
    )
    left = len(counted) - _NAMES
    return f"{said} and {left:,} more" if left > 0 else said


def local(at: datetime, zone: ZoneInfo) -> str:
    """A moment for a table, whose cells cannot follow the reader's own time zone."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"
