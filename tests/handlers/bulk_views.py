"""The views of batches, as large as they get: a hundred rows, each with a stranger's text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import bot.view_models as p
from bot import operations
from bot.domain.requests import MAX_ROWS, Problem, State
from bot.operations import Concern
from bot.services.requests import batch_reading
from handlers.views.requests import approval_modals, batch, request_card
from tests.handlers import sample_requests as given

View = dict[str, Any]
Draw = Callable[[str], View]

_TOPUP = operations.kinds()["card_topup"]
_STATES = (State.SUCCEEDED, State.FAILED, State.UNRESOLVED, State.EXECUTING, State.APPROVED, State.EXPIRED)


def rows(text: str, *, going: bool = False, count: int = MAX_ROWS) -> tuple[p.BulkRowView, ...]:
    def row(number: int) -> p.BulkRowView:
        state = _STATES[number % len(_STATES)] if going else State.PENDING
        return p.BulkRowView(
            number=number + 1,
            line=number + 2,
            summary=f"Top up {text} ••{4200 + number} by 50.00 USD",
            id=f"R-A{number:03}",
            version=2,
            state=state,
            text=f"{text} It is said.",
            is_left_out=number % 10 == 7,
        )

    return tuple(map(row, range(count)))


def a_batch(state: State, text: str, **changes: Any) -> p.RequestView:
    going = state is not State.PENDING
    found = rows(text, going=going)
    card = given.a_card(state, text, subject="", subject_label="", rows=90, **changes)
    asked = replace(
        card.request, summary="Top up 90 cards by 4,500.00 USD in all", exposure_usd=Decimal("4500.00")
    )
    states = Counter(row.state for row in found if row.state and not row.is_left_out)
    return replace(card, request=asked, batch=p.BatchView(states, found, state is State.FAILED))


def _preview(text: str, page: int) -> View:
    shown = p.BulkPreviewView(
        draft_id="01JABC",
        kind="card_topup",
        title="Top up a card",
        verb="Top up",
        summary="Top up 100 cards by 5,000.00 USD in all",
        total_usd=Decimal(5000),
        lines=(("Rows", "100"), ("Float available", text)),
        concerns=(Concern(text), Concern(text, stops=True)),
        rows=tuple(replace(row, id="", state=None, text="") for row in rows(text)),
        approvals_needed=2,
        approvers=("U0BOB", "U0CAROL"),
        program=text,
        live=True,
    )
    return batch.preview(shown, page, channel="C0OPS")


def _confirmation(text: str) -> View:
    found = p.Confirmation(a_batch(State.PENDING, text), (("Rows", "90"),), (Concern(text),), (text,), True)
    in_full = tuple(replace(row, private=(("Phone", text),)) for row in rows(text) if not row.is_left_out)
    return batch.confirmation(
        p.BatchConfirmation(found, in_full, 2), batch.Read(found.view.request.digest, 1)
    )


def _state(state: State) -> Draw:
    return lambda text: request_card.card(a_batch(state, text))


MESSAGES: Mapping[str, Draw] = {
    **{
        f"batch-{state}": _state(state)
        for state in (State.PENDING, State.EXECUTING, State.UNRESOLVED, State.FAILED)
    },
    "batch-understood": lambda text: batch.understood(_TOPUP, [text] * MAX_ROWS, "01JABC"),
    "batch-faults": lambda text: batch.faults([Problem(n, text) for n in range(MAX_ROWS)]),
    "batch-results": lambda text: request_card.results(
        p.ResultsView("R-7K3M", "R-7K3M-results.csv", text, "", True)
    ),
    "batch-left-out": lambda text: request_card.line(given.a_line("left_out", State.PENDING, text)),
}
VIEWS: Mapping[str, Draw] = {
    "batch-paste": lambda text: batch.paste_form(_TOPUP, batch_reading.template(_TOPUP), channel="C0OPS"),
    "batch-preview": lambda text: _preview(text, 1),
    "batch-confirmation": _confirmation,
    "batch-rows": lambda text: batch.rows(a_batch(State.UNRESOLVED, text), 2),
    "batch-rows-pending": lambda text: batch.rows(a_batch(State.PENDING, text), viewer="U0ALICE"),
    "batch-leave-out": lambda text: batch.leave_out_form(a_batch(State.PENDING, text)),
    "batch-stop": lambda text: approval_modals.cancel("R-7K3M", 3, stops=True),
}
