"""The life of a request: states, terms and their digest, the second person's decision, outcomes, what to do next.

Pure. States change only by `advance`, a second person is judged only by `decide`.
"""

from bot.domain.requests.approvals import (
    BY_ANOTHER,
    Decision,
    DecisionKind,
    Reason,
    Verdict,
    decide,
    decision_bytes,
    second_people,
    two_agree,
    who_may_be_second,
    why_not_second,
)
from bot.domain.requests.batch_csv import MAX_ROWS, Column, Problem, Unreadable
from bot.domain.requests.batches import (
    batch_event,
    counted,
    digest_of_rows,
    due_after,
    ending_text,
    progress_text,
    results_name,
)
from bot.domain.requests.lifecycle import (
    COMMITTED,
    OPEN,
    SENT,
    TERMINAL,
    TRANSITIONS,
    UNSENT,
    Attempt,
    Event,
    PendingHold,
    Request,
    State,
    advance,
    moves_of,
)
from bot.domain.requests.stages import UNWELCOME, Progress, Stage
from bot.domain.requests.terms import mask_email, mask_phone, request_digest
from bot.domain.requests.verification import Checked, Verification

__all__ = [
    "BY_ANOTHER",
    "COMMITTED",
    "MAX_ROWS",
    "OPEN",
    "SENT",
    "TERMINAL",
    "TRANSITIONS",
    "UNSENT",
    "UNWELCOME",
    "Attempt",
    "Checked",
    "Column",
    "Decision",
    "DecisionKind",
    "Event",
    "PendingHold",
    "Problem",
    "Progress",
    "Reason",
    "Request",
    "Stage",
    "State",
    "Unreadable",
    "Verdict",
    "Verification",
    "advance",
    "batch_csv",
    "batch_event",
    "counted",
    "decide",
    "decision_bytes",
    "digest_of_rows",
    "due_after",
    "ending_text",
    "mask_email",
    "mask_phone",
    "moves_of",
    "progress_text",
    "request_digest",
    "results_name",
    "second_people",
    "two_agree",
    "who_may_be_second",
    "why_not_second",
]
