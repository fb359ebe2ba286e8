"""The rows of a batch as lines of text: on the request's message, and in pages of a window."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.requests import State, pages_of, progress_text
from bot.operations import urgency
from bot.view_models import BulkRowView, RequestView
from handlers.views import blocks as b
from handlers.views import ids
from handlers.views.requests import states

ON_CARD = 8
ROW_LIMIT = 280
_IN_A_SECTION = 10
_NEEDS_A_LOOK = frozenset({State.FAILED, State.UNRESOLVED, State.EXPIRED, State.CANCELLED})


def on_card(view: RequestView) -> list[b.Block]:
    """The rows on the request's message: the first ones, or how far it is and what needs a look."""
    batch, request = view.batch, view.request
    if batch is None:
        return []
    asked = [row for row in batch.rows if not row.is_left_out]
    if request.state is State.PENDING:
        texts = [_row_text(row) for row in asked[:ON_CARD]]
        rest = len(asked) - len(texts)
    else:
        looked_at = [row for row in asked if row.state in _NEEDS_A_LOOK]
        texts = [_row_text(row) for row in looked_at[:ON_CARD]]
        rest = len(looked_at) - len(texts)
    goes_on = request.state in (State.APPROVED, State.EXECUTING, State.UNRESOLVED)
    how = urgency.failed_how(request.kind)
    blocks = [b.section(b.esc(progress_text(batch.states, failed_how=how)))] if goes_on else []
    blocks += texts_of(texts)
    return [*blocks, b.context(f"and {rest} more: press *Rows*")] if rest > 0 else blocks


def page_of(
    found: Sequence[BulkRowView], page: int, what: str, *, can_resolve: bool = False, in_full: bool = False
) -> list[b.Block]:
    """One page of rows, and buttons to the pages beside it. `in_full`: nothing of a row is cut, for a decision."""
    pages = pages_of([row.size for row in found])
    page = min(max(page, 1), len(pages))
    places = pages[page - 1]
    shown = [found[place] for place in places]
    blocks = texts_of([_in_full(row) if in_full else _row_text(row) for row in shown])
    if can_resolve:
        lost = [row for row in shown if row.state is State.UNRESOLVED]
        blocks += [
            b.section(
                f"*{b.esc(row.id)}* (row {row.number}) has no known outcome.",
                b.button("Resolve", ids.RESOLVE, ids.stamp(row.id, row.version)),
            )
            for row in lost
        ]
    if len(pages) == 1:
        return blocks
    beside = []
    if page > 1:
        beside.append(b.button("Previous rows", ids.BULK_BACK, f"{what}:{page - 1}"))
    if page < len(pages):
        beside.append(b.button("Next rows", ids.BULK_ON, f"{what}:{page + 1}"))
    return [
        *blocks,
        b.context(f"Rows {places.start + 1} to {places.stop} of {len(found)}"),
        b.actions(beside, "pages"),
    ]


def _row_text(row: BulkRowView) -> str:
    """`✓ 3. Top up ALICE MOREAU ••4242 by 50.00 USD`, and what is said of it where that matters."""
    text = f"{row.number}. {row.summary}"
    if row.is_left_out:
        return f"{states.ICONS[State.CANCELLED]} {b.cut(text, ROW_LIMIT)} (left out)"
    if row.state is not None and row.state is not State.PENDING:
        text = f"{states.ICONS[row.state]} {text}"
    if row.state in _NEEDS_A_LOOK and row.text:
        text += f"\n    {row.text}"
    return b.cut(text, ROW_LIMIT)


def _in_full(row: BulkRowView) -> str:
    """Every value of a row, each private one on a line of its own, so that none can pose as another."""
    lines = [f"{row.number}. {row.summary}", *(f"{label}: {value}" for label, value in row.private)]
    return "\n    ".join([*lines, *(f"▲ It {warning}" for warning in row.warnings)])


def texts_of(texts: Sequence[str]) -> list[b.Block]:
    """Lines as plain text, as many to a section as fit into it whole."""
    sections: list[list[str]] = []
    for text in texts:
        together = sections[-1] if sections else []
        size = sum(map(len, together)) + len(together) + len(text)
        if not sections or len(together) == _IN_A_SECTION or size > b.SECTION:
            sections.append([text])
        else:
            together.append(text)
    return [b.plain_section("\n".join(section)) for section in sections]
