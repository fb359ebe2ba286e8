"""The rows of an export, read in pieces so that memory stays flat however many there are.

Each kind is a head and a stream of records; amounts are exact, times UTC.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.domain.cards import CardEntry
from bot.domain.events import PurchaseLine
from bot.domain.money import Cell
from bot.domain.requests import DecisionKind, Request
from bot.domain.time import Period
from bot.partner.models import LedgerEntry, Transaction
from bot.partner.ratelimit import Lane
from bot.services.cards import purchases as purchase_lookups
from bot.services.core import Core
from bot.services.money import ledger_lookups
from storage import audit
from storage.cards import cards
from storage.events import purchases
from storage.requests import decisions, request_search

AT_ONCE = 500

Record = Sequence[Cell]
Records = AsyncIterator[Record]


@dataclass(frozen=True, slots=True)
class ExportSpec:
    """What is to be handed out. `card`: of `transactions`, one card's instead of the whole program's."""

    kind: str
    period: Period
    program: str
    card: CardEntry | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of export: the names of its columns, where its rows are from, and how they are read."""

    head: tuple[str, ...]
    source: str
    rows: Callable[[Core, ExportSpec], Records]


async def _requests(core: Core, spec: ExportSpec) -> Records:
    """Each request, and of a batch each row of it: so the amounts can be added up."""
    wanted = request_search.Wanted(since=spec.period.since, until=spec.period.until, each_row=True)
    last: Request | None = None
    while True:
        async with core.store.read() as tx:
            found = await request_search.after(tx, wanted, last, limit=AT_ONCE)
            made = {request.id: await decisions.of(tx, request.id) for request in found}
        for request in found:
            approvers = [d for d in made[request.id] if d.kind is DecisionKind.APPROVE]
            yield (
                request.id,
                request.parent_id,
                request.program,
                request.kind,
                request.word,
                request.summary,
                request.subject_label,
                request.exposure_usd,
                request.requester,
                request.requester_name,
                request.reason,
                request.approvals_needed,
                " ".join(d.actor for d in approvers),
                " ".join(d.actor_name for d in approvers),
                request.created_at,
                request.approved_at,
                request.first_sent_at,
                request.finished_at,
                request.outcome_text,
                request.digest,
            )
        if len(found) < AT_ONCE:
            return
        last = found[-1]


_REQUESTS = Kind(
    (
        "id", "batch", "program", "kind", "state", "summary", "card", "amount_usd", "requester", "requester_name",
        "reason", "approvals_needed", "approvers", "approver_names", "created_at", "approved_at", "first_sent_at",
        "finished_at", "outcome", "digest",
    ),
    "Countersign's own database",
    _requests,
)  # fmt: skip


async def _audit(core: Core, spec: ExportSpec) -> Records:
    after = 0
    while True:
        async with core.store.read() as tx:
            found = await audit.page(
                tx, since=spec.period.since, until=spec.period.until, after=after, limit=AT_ONCE
            )
        for entry in found:
            yield (
                entry.seq,
                entry.at,
                entry.actor,
                entry.action,
                entry.subject,
                entry.outcome,
                entry.reason_code,
                entry.body,
                entry.policy_version,
                entry.prev,
                entry.hash,
                entry.mac,
            )
        if len(found) < AT_ONCE:
            return
        after = found[-1].seq


_AUDIT = Kind(
    (
        "seq", "at", "actor", "action", "subject", "outcome", "reason_code", "body", "policy_version", "prev", "hash",
        "mac",
    ),
    "the audit chain",
    _audit,
)  # fmt: skip


async def _transactions(core: Core, spec: ExportSpec) -> Records:
    lines = _of_card(core, spec, spec.card) if spec.card else _of_program(core, spec)
    async for card_id, label, line in lines:
        yield (
            line.at,
            card_id,
            label,
            line.transaction_id,
            line.status,
            line.merchant,
            line.charge_usd,
            line.fee_usd,
            line.original,
            line.decline_code,
            None if line.retryable is None else str(line.retryable).lower(),
            "; ".join(line.open),
            _sources(line),
        )


def _sources(line: PurchaseLine) -> str:
    sources = (("history", line.listed), ("events", line.has_events))
    return " and ".join(name for name, has in sources if has)


_TRANSACTIONS = Kind(
    (
        "occurred_at", "card_id", "card", "transaction_id", "status", "merchant", "charge_usd", "fee_usd", "original",
        "decline_code", "retryable", "open", "told_by",
    ),
    "events received here; for one card, your card provider's history as well",
    _transactions,
)  # fmt: skip


async def _of_program(core: Core, spec: ExportSpec) -> AsyncIterator[tuple[str, str, PurchaseLine]]:
    """Every purchase whose events we received, in the order they began."""
    place: purchases.PagePosition | None = None
    while True:
        async with core.store.read() as tx:
            found, place = await purchases.page(
                tx,
                spec.program,
                since=spec.period.since,
                until=spec.period.until,
                after=place,
                limit=AT_ONCE,
            )
            labels = await cards.labels(tx, {p.card_id for p in found if p.card_id})
        for purchase in found:
            card_id = purchase.card_id or ""
            yield card_id, labels.get(card_id, ""), purchase_lookups.from_events_alone(purchase)
        if place is None:
            return


async def _of_card(
    core: Core, spec: ExportSpec, card: CardEntry
) -> AsyncIterator[tuple[str, str, PurchaseLine]]:
    """The card provider's history of one card, then what only events reported."""
    period, seen = spec.period, set[str]()
    rows: list[Transaction] = []

    async def merged() -> list[PurchaseLine]:
        ids = {row.transaction_id for row in rows if row.transaction_id}
        async with core.store.read() as tx:
            known = await purchases.by_transaction(tx, card.program, ids)
        seen.update(ids)
        return [purchase_lookups.merged(row, known) for row in rows]

    async for row in core.partners[card.program].transactions(
        card.id, from_date=period.first_day_utc, to_date=period.last_day_utc, lane=Lane.BACKGROUND
    ):
        if row.occurred_at in period:
            rows.append(row)
        if len(rows) == AT_ONCE:
            for line in await merged():
                yield card.id, card.label, line
            rows.clear()
    for line in await merged():
        yield card.id, card.label, line
    async with core.store.read() as tx:
        stored = await purchases.of_card_since(tx, card.program, card.id, period.since)
    for purchase in sorted(stored, key=lambda p: p.first_at):
        if purchase.transaction_id not in seen and purchase.first_at in period:
            yield card.id, card.label, purchase_lookups.from_events_alone(purchase)


async def _ledger(core: Core, spec: ExportSpec) -> Records:
    """The newest first, as of the first call."""
    entries: list[LedgerEntry] = []
    async for entry in ledger_lookups.movements(
        core.partners[spec.program], spec.period, lane=Lane.BACKGROUND
    ):
        entries.append(entry)
        if len(entries) == AT_ONCE:
            for record in await _in_words(core, entries):
                yield record
            entries.clear()
    for record in await _in_words(core, entries):
        yield record


async def _in_words(core: Core, entries: Sequence[LedgerEntry]) -> list[Record]:
    lines = await ledger_lookups.explained(core, entries)
    return [
        (
            line.at,
            line.amount_usd,
            line.kind,
            line.words,
            line.reference,
            entry.card_id,
            entry.description,
            line.request_id,
        )
        for line, entry in zip(lines, entries, strict=True)
    ]


_LEDGER = Kind(
    ("created_at", "amount_usd", "kind", "what", "reference", "card_id", "description", "request"),
    "your card provider's ledger, read now",
    _ledger,
)

KINDS: Mapping[str, Kind] = {
    "requests": _REQUESTS,
    "audit": _AUDIT,
    "transactions": _TRANSACTIONS,
    "ledger": _LEDGER,
}
