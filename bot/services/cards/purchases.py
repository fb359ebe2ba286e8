"""Looking at purchases: what was bought with a card, and what was declined and why.

The card provider's history and the events we received meet in `transaction_id`. Where we received the authorization its
figures stand, exact to the last digit; how the purchase stands is shown by the history, which has later
changes for which no event comes [Purchase rules, Transaction row].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from bot.domain.cards import CardEntry
from bot.domain.events import (
    DECLINED,
    OPEN_IN_WORDS,
    WAITING_IN_WORDS,
    CardStatement,
    DeclineLine,
    DeclineReport,
    Purchase,
    PurchaseFilter,
    PurchaseLeg,
    PurchaseLine,
    State,
    by_cause,
)
from bot.domain.money import plain
from bot.domain.time import Period
from bot.partner.models import Transaction
from bot.partner.ratelimit import Lane
from bot.services.cards import freezes
from bot.services.core import Core
from bot.services.requests import resolve_card
from storage.cards import cards
from storage.events import purchases

MOST_ROWS = 500
"""Twenty calls of the API; an export reads them all."""
MOST_DECLINES = 5_000
LATEST = 10


async def transactions(
    core: Core, text: str, period: Period, only: PurchaseFilter | None = None
) -> CardStatement:
    """The purchases of the card that `text` names, those that fit. Raises NotFound, PartnerError."""
    async with core.store.read() as tx:
        entry = await resolve_card(tx, text)
    found = await of_card(core, entry, period)
    if not only:
        return found
    fitting = (line for line in found.lines if only.fits(line.merchant, line.charge_usd, line.status))
    return replace(found, lines=tuple(fitting), about=only.in_words)


async def of_card(
    core: Core, entry: CardEntry, period: Period, *, most: int = MOST_ROWS, lane: Lane = Lane.PEOPLE
) -> CardStatement:
    """A card's purchases in a period, read live. Raises PartnerError."""
    rows: list[Transaction] = []
    all_read = True
    # The API's days are UTC's, so the edges are cut here.
    async for row in core.partners[entry.program].transactions(
        entry.id, from_date=period.first_day_utc, to_date=period.last_day_utc, lane=lane
    ):
        if len(rows) == most:
            all_read = False
            break
        if row.occurred_at in period:
            rows.append(row)
    ids = {row.transaction_id for row in rows if row.transaction_id}
    async with core.store.read() as tx:
        known = await purchases.by_transaction(tx, entry.program, ids)
        stored = await purchases.of_card_since(tx, entry.program, entry.id, period.since)
    lines = [merged(row, known) for row in rows]
    if all_read:
        missing = (p for p in stored if p.transaction_id not in ids and p.first_at in period)
        lines += [from_events_alone(purchase) for purchase in missing]
    lines = await _with_freezes(core, entry.id, lines)
    lines.sort(key=lambda line: line.at, reverse=True)
    return CardStatement(entry.id, entry.label, period, tuple(lines), core.clock.now(), all_read)


async def _with_freezes(core: Core, card_id: str, lines: list[PurchaseLine]) -> list[PurchaseLine]:
    """The same lines; those that a freeze of ours stopped say which."""
    async with core.store.read() as tx:
        declined = [(card_id, line.decline_code, line.at) for line in lines if line.is_declined]
        stopped = await freezes.stopping(tx, core, declined)
    return [replace(line, stopped_by=stopped.get((card_id, line.at))) for line in lines]


def merged(row: Transaction, known: Mapping[str, Purchase]) -> PurchaseLine:
    """A row of the history, with the authorization's own figures where we received them."""
    purchase = known.get(row.transaction_id or "")
    declined = row.status == DECLINED
    charge, fee = row.amount_usd, row.fee_usd
    if purchase is not None and not declined and purchase.charge_usd is not None:
        charge, fee = purchase.charge_usd, purchase.fee_usd if purchase.fee_usd is not None else fee
    why = row.decline_reason
    return PurchaseLine(
        at=row.occurred_at,
        status=row.status,
        merchant=row.merchant or "",
        charge_usd=charge.copy_abs(),
        fee_usd=fee,
        original=_original(row.original_amount, row.original_currency),
        decline_code=(why.code if why else None) or ("unknown" if declined else ""),
        retryable=why.retryable if why else None,
        card_blocked=why.card_blocked if why else None,
        open=_open(purchase),
        has_events=purchase is not None,
        transaction_id=row.transaction_id or "",
    )


def from_events_alone(purchase: Purchase) -> PurchaseLine:
    """A purchase that the history leaves out, as its events tell it."""
    declined = purchase.state is State.DECLINED
    charge = purchase.declined_usd if declined else purchase.charge_usd
    why = purchase.decline
    return PurchaseLine(
        at=purchase.first_at,
        status="pending" if purchase.state is State.AUTHORIZED else str(purchase.state),
        merchant=purchase.merchant or "",
        charge_usd=None if charge is None else charge.copy_abs(),
        fee_usd=None if declined else purchase.fee_usd,
        original=_original(purchase.original_amount, purchase.original_currency),
        decline_code=(why.code if why else "unknown") if declined else "",
        retryable=why.retryable if why else None,
        card_blocked=why.card_blocked if why else None,
        open=_open(purchase),
        has_events=True,
        listed=False,
        transaction_id=purchase.transaction_id,
    )


def _open(purchase: Purchase | None) -> tuple[str, ...]:
    if purchase is None:
        return ()
    waiting = (WAITING_IN_WORDS,) if purchase.state is State.WAITING else ()
    return (*waiting, *(OPEN_IN_WORDS[why] for why in purchase.open))


def _original(amount: Decimal | None, currency: str | None) -> str:
    """`12.50 EUR`; empty where it was dollars, or is not reported."""
    if amount is None or not currency or currency == "USD":
        return ""
    return f"{plain(amount.copy_abs())} {currency}"


async def declined(core: Core, period: Period, *, program: str) -> DeclineReport:
    """The declines of a program as events reported them: by cause, with the latest."""
    async with core.store.read() as tx:
        legs, total = await purchases.declines(
            tx, program, since=period.since, until=period.until, limit=MOST_DECLINES
        )
        last_event_at = await purchases.last_event_at(tx, program)
        labels = await cards.labels(tx, {leg.card_id for leg in legs if leg.card_id})
        declined = [
            (leg.card_id, leg.decline.code or "" if leg.decline else "", leg.occurred_at) for leg in legs
        ]
        stopped = await freezes.stopping(tx, core, declined)
    lines = [
        replace(_decline(leg, labels), stopped_by=stopped.get((leg.card_id or "", leg.occurred_at)))
        for leg in legs
    ]
    return DeclineReport(
        program, period, by_cause(lines), tuple(lines[:LATEST]), total, len(lines), last_event_at
    )


def _decline(leg: PurchaseLeg, labels: Mapping[str, str]) -> DeclineLine:
    why = leg.decline
    return DeclineLine(
        at=leg.occurred_at,
        code=why.code if why else "unknown",
        label=labels.get(leg.card_id or "", f"card {leg.card_id}" if leg.card_id else "a card"),
        merchant=leg.merchant or "unnamed",
        amount_usd=None if leg.amount_usd is None else leg.amount_usd.copy_abs(),
        retryable=why.retryable if why else None,
        card_blocked=why.card_blocked if why else None,
    )
