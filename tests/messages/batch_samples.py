"""One list of 24 top-ups of 50.00 USD each, 1,200.00 USD in all: read, previewed, approved, sent row by row.

The float has 4,341.95 USD before it and 3,141.95 USD after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import bot.view_models as p
from bot import operations
from bot.domain.error_messages import MESSAGES
from bot.domain.money import format_usd
from bot.domain.requests import DecisionKind, Problem, Request, State, ending_text
from bot.operations import urgency
from bot.partner.secret import Secret
from bot.services.requests import batch_reading, batch_summary
from handlers.views import replies
from handlers.views.requests import batch, request_card
from tests.messages.request_samples import Sample, a_top_up, decided, view_of

_TOP_UP = operations.kinds()["card_topup"]
_ORDER = operations.kinds()["card_order"]
EACH_USD = Decimal("50.00")
_REASON = "Travel money for the trade fair in Porto"
_HOLDERS = (
    "MARTA KOWALSKA ••3205", "JONAS WEBER ••7578", "DANIEL OKAFOR ••6994", "SOFIA MARCHETTI ••5601",
    "ELENA PETROVA ••4410", "LUCA ROSSI ••8127", "AMELIE DUBOIS ••2063", "PIOTR NOWAK ••9951",
    "INES CARVALHO ••1384", "OMAR HADDAD ••6230", "HANNA LINDQVIST ••7716", "TOMAS NOVAK ••3342",
    "PRIYA NAIR ••8809", "MATEO GARCIA ••5127", "YUKI TANAKA ••4093", "NADIA BENALI ••2671",
    "OSKAR BERG ••9038", "CLARA SCHMIDT ••1745", "RAJ PATEL ••6612", "LENA FISCHER ••3987",
    "DIEGO SILVA ••7254", "ANNA KELLER ••8430", "VIKTOR HORVAT ••5569", "SARA JANSSEN ••2918",
)  # fmt: skip
ROWS = len(_HOLDERS)
_FACTS: Mapping[str, Any] = {"float_available_usd": Decimal("4341.95"), "pending_usd": Decimal(0)}
_FROZEN = "is frozen: money would sit on it"
_REFUSED = MESSAGES["INSUFFICIENT_FUNDS"]
_SAID = {
    State.FAILED: f"{_REFUSED.happened} Nothing moved. {_REFUSED.after_refusal}",
    State.UNRESOLVED: (
        "Money may have left the float; do not repeat this. Countersign checks it with your card provider."
    ),
    State.EXPIRED: "Its approval expired before it was sent. Nothing was sent.",
}


def rows(under_way: Mapping[int, State] | None = None, *, sent: bool = False) -> tuple[p.BulkRowView, ...]:
    """The rows; `under_way` by number where a row is not done like the others."""
    usual = State.SUCCEEDED if sent else State.PENDING
    found = []
    for number, card in enumerate(_HOLDERS, 1):
        state = (under_way or {}).get(number, usual)
        summary = _TOP_UP.of_stored({"card": f"card_{number}", "amount_usd": str(EACH_USD)}, card).summary()
        said = _SAID.get(state, "")
        found.append(p.BulkRowView(number, number + 1, summary, f"R-B4T{number:02}", 2, state, said))
    return tuple(found)


def a_list(state: State, shown: tuple[p.BulkRowView, ...], text: str = "", **more: Any) -> p.RequestView:
    asked = [row for row in shown if not row.is_left_out]
    total_usd = EACH_USD * len(asked)
    request = a_top_up(
        state,
        id="R-B4TC",
        subject="",
        subject_label="",
        summary=batch_summary.summary(_TOP_UP, len(asked), total_usd),
        exposure_usd=total_usd,
        reason=_REASON,
        rows=len(asked),
        approvals_needed=2,
        outcome_text=text,
    )
    states = Counter(row.state for row in asked if row.state)
    view = view_of(request, **more)
    lines = _lines(len(asked)) if state is State.PENDING else ()
    return replace(
        view, lines=lines, batch=p.BatchView(states, shown, can_be_asked_again=state is State.FAILED)
    )


def _lines(asked: int) -> tuple[tuple[str, str], ...]:
    return tuple(batch_summary.lines(_TOP_UP, asked, EACH_USD * asked, _FACTS))


def _ending(shown: tuple[p.BulkRowView, ...]) -> str:
    states = Counter(row.state for row in shown if row.state)
    moved_usd = EACH_USD * states[State.SUCCEEDED]
    how = urgency.failed_how(_TOP_UP.kind)
    return ending_text(states, moved_usd, EACH_USD * len(shown), failed_how=how)


_SENDING = rows(
    {
        5: State.FAILED,
        9: State.UNRESOLVED,
        **dict.fromkeys((17, 18), State.EXECUTING),
        **dict.fromkeys(range(19, 25), State.APPROVED),
    },
    sent=True,
)
_CHECKED = rows({5: State.FAILED, 9: State.UNRESOLVED}, sent=True)
_PARTLY = rows({5: State.FAILED, 24: State.EXPIRED}, sent=True)
_DONE = rows(sent=True)


def lists() -> Iterator[Sample]:
    """The whole way of a list."""
    summaries = [row.summary for row in rows()]
    yield "The form", batch.paste_form(_TOP_UP, batch_reading.template(_TOP_UP), channel="C0OPS")
    yield "The form of a list of orders", batch.paste_form(_ORDER, batch_reading.template(_ORDER))
    yield "An uploaded file, understood", batch.understood(_TOP_UP, summaries, "01JABC")
    problems = [
        Problem(1, "The column Amount (USD) is there twice."),
        Problem(4, "Use at most two decimals, whole cents, for example 25.50."),
        Problem(9, "It has 1 cell; the header names 2."),
    ]
    yield "An uploaded file with faults", batch.faults(problems)
    yield "The same below the form's field", {"text": batch.fault_text(problems), "blocks": []}
    preview = _preview()
    yield "Preview", batch.preview(preview, channel="C0OPS")
    yield "Preview, last page", batch.preview(preview, 2, channel="C0OPS")
    yield "Preview with too few approvers", batch.preview(replace(preview, approvers=("U0BOB",)))
    yield "Requested", request_card.card(a_list(State.PENDING, rows()))
    found = p.Confirmation(a_list(State.PENDING, rows()), _lines(ROWS), (), (), facts_read=True)
    yield "Confirmation, first page", batch.confirmation(p.BatchConfirmation(found, rows(), 1))
    last = p.BatchConfirmation(found, rows(), 2)
    read = batch.Read(found.view.request.digest, 1)
    yield "Confirmation, last page", batch.confirmation(last, read)
    if batch.all_read(last, read):
        page = Secret("https://countersign.example.com/passkey#one-time-token")
        yield "Confirmation with a passkey, last page", batch.confirmation(last, read, page)
    pending = a_list(State.PENDING, rows())
    yield "Rows before the approval", batch.rows(pending, viewer="U0ALICE")
    yield "Leaving rows out", batch.leave_out_form(pending)
    fewer = tuple(replace(row, is_left_out=row.number > 22) for row in rows())
    less = a_list(State.PENDING, fewer)
    yield "Rows were left out", {"text": batch.left_out(less.request), "blocks": []}
    yield "In the thread: rows were left out", _line("left_out", less.request, batch.left_out(less.request))
    first = decided(DecisionKind.APPROVE)
    second = decided(DecisionKind.APPROVE, "Carol Reyes")
    yield "Sending", request_card.card(_approved(State.EXECUTING, _SENDING, first, second))
    yield "Rows while it is sent", batch.rows(_approved(State.UNRESOLVED, _CHECKED, first, second))
    stopped = _approved(State.EXECUTING, _SENDING, first, second)
    yield "In the thread: the rest was stopped", _line("stopped", stopped.request, "")
    yield (
        "One row has no known outcome",
        request_card.card(_approved(State.UNRESOLVED, _CHECKED, first, second, _ending(_CHECKED))),
    )
    partly = _approved(State.FAILED, _PARTLY, first, second, _ending(_PARTLY))
    yield "Not all rows were done", request_card.card(partly)
    done = _approved(State.SUCCEEDED, _DONE, first, second, _ending(_DONE))
    yield "All rows were done", request_card.card(done)
    results = p.ResultsView("R-B4TC", "R-B4TC-results.csv", f"R-B4TC: {_ending(_DONE)}", "", False)
    yield "In the thread: the file of results", request_card.results(results)
    yield "A list that was stopped", replies.said(replies.cancelled(partly.request))


def _approved(
    state: State, shown: tuple[p.BulkRowView, ...], first: Any, second: Any, text: str = ""
) -> p.RequestView:
    return replace(a_list(state, shown, text), decisions=(first, second))


def _preview() -> p.BulkPreviewView:
    total_usd = EACH_USD * ROWS
    warning = batch_summary.RowWarning(4, _HOLDERS[3], _FROZEN)
    return p.BulkPreviewView(
        draft_id="01JABC",
        kind="card_topup",
        title=_TOP_UP.title,
        verb=_TOP_UP.verb,
        summary=batch_summary.summary(_TOP_UP, ROWS, total_usd),
        total_usd=total_usd,
        lines=_lines(ROWS),
        concerns=(operations.Concern(warning.sentence),),
        rows=tuple(
            replace(row, id="", state=None, warnings=(_FROZEN,) if row.number == warning.row else ())
            for row in rows()
        ),
        approvals_needed=2,
        approvers=("U0BOB", "U0CAROL"),
        program="main",
        live=False,
    )


def _line(word: str, request: Request, text: str) -> dict[str, Any]:
    who = request.requester_name
    return request_card.line(p.LineView(request, word, who, text, (), ("@card-approvers",), False))


def figures() -> tuple[str, str]:
    """What a list of all rows has to say it moves, and what it leaves of the float."""
    return format_usd(EACH_USD * ROWS), format_usd(_FACTS["float_available_usd"] - EACH_USD * ROWS)
