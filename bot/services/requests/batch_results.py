"""A batch as values for the views: its rows, how they stand, and the file of results at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from bot.domain.money import line
from bot.domain.requests import Request, results_name
from bot.operations import Concern, Facts, Line
from bot.services.core import Core
from bot.services.requests import batch_summary
from bot.services.requests.batch_reading import can_be_asked_again
from bot.services.requests.batch_rows import ending, included, is_left_out
from bot.view_models import BatchView, BulkRowView, ResultsView
from storage.errors import Purged
from storage.requests import requests
from storage.transaction import Tx

_HEADER = (
    "line",
    "request",
    "what",
    "amount_usd",
    "result",
    "said",
    "idempotency_key",
    "sent_at",
    "ended_at",
)


async def batch(tx: Tx, core: Core, found: Request) -> BatchView:
    rows = await requests.rows_of(tx, found.id)
    states = Counter(row.state for row in rows if not is_left_out(row))
    again = not found.is_open and can_be_asked_again(core.kinds[found.kind])
    return BatchView(states, tuple(map(_row, rows)), again)


def _row(row: Request) -> BulkRowView:
    return BulkRowView(
        number=row.row_number,
        line=int(row.facts.get("line", 0)),
        summary=row.summary,
        id=row.id,
        version=row.version,
        state=row.state,
        text=row.outcome_text,
        is_left_out=is_left_out(row),
    )


def effect(
    core: Core, found: Request, facts: Facts, *, left_out: Collection[int] = ()
) -> tuple[tuple[Line, ...], tuple[Concern, ...]]:
    """What a batch does and what speaks against it, by these facts."""
    rows = found.rows or 0
    cls = core.kinds[found.kind]
    lines = batch_summary.lines(cls, rows, found.exposure_usd, facts)
    words = batch_summary.concerns(cls, rows, found.exposure_usd, facts, left_out=left_out)
    return tuple(lines), tuple(words)


async def rows_in_full(tx: Tx, core: Core, found: Request) -> tuple[BulkRowView, ...]:
    """The rows that are asked for, private values as typed; without them once they are purged."""
    shown = []
    for row in await included(tx, found):
        cls = core.kinds[row.kind]
        private = await _private(tx, row) if any(field.private for field in cls.fields) else {}
        operation = cls.of_stored(row.terms, row.subject_label, private=private)
        in_full = operation.in_full(private_alone=True) if private else ()
        shown.append(replace(_row(row), private=in_full))
    return tuple(shown)


async def _private(tx: Tx, row: Request) -> dict[str, str]:
    try:
        return (await requests.frozen(tx, row.id)).private
    except Purged:
        return {}


async def results(tx: Tx, core: Core, found: Request, *, draft_only: bool) -> ResultsView:
    """What became of each row, as CSV. No private value is in it: what is said of a row is what its card says."""
    rows = await requests.rows_of(tx, found.id)
    asked = [row for row in rows if not is_left_out(row)]
    words = ending(found, Counter(row.state for row in asked), asked)
    return ResultsView(
        request_id=found.id,
        name=results_name(found.id),
        text=f"{found.id}: {words}",
        content=line(_HEADER) + "".join(_result(row) for row in rows),
        live=core.is_live(found.program),
        draft_only=draft_only,
    )


def _result(row: Request) -> str:
    amount_usd = row.exposure_usd or None
    result = "left out" if is_left_out(row) else row.state.value
    sent_key = row.key if row.first_sent_at else ""
    cells = (
        int(row.facts["line"]), row.id, row.summary, amount_usd, result, row.outcome_text, sent_key,
        row.first_sent_at, row.finished_at,
    )  # fmt: skip
    return line(cells)
