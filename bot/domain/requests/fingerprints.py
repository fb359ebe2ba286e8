"""What the next step of a request leans on, as fingerprints for the audit log. Pure.

Whether a key may be sent again, whether an approval is needed for it, and how a request has ended depend on what its
row and its attempts say of the calls before. Each entry of the log about the request keeps how it left them, so that a
step that leans on something else is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from bot.domain.requests.approvals import Decision
from bot.domain.requests.lifecycle import Attempt, Request

PROGRESS = ("first_sent_at", "key_expires_at", "outcome_unknown", "outcome")
"""The fields of a request that say something of its calls."""
CARD_AFTER = "card_balance_after_usd"
"""In the outcome of a request: what its card held when it was read after that."""
_quoted = json.encoder.encode_basestring_ascii
_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_HEX_DIGITS = 32  # 128 bits: what is there is fixed, so two that are alike are of no use


def of_progress(request: Request) -> str:
    """Of what a request's row, as it was read, says of its calls: when it was first sent, until when its key is known,
    and what came of it; 32 hex digits."""
    return _of_progress(request, request.outcome)


def _of_progress(request: Request, outcome: Mapping[str, Any] | None) -> str:
    return _digest(
        _text(request.first_sent_at), _text(request.key_expires_at), bool(request.outcome_unknown), outcome
    )


def of_end(request: Request) -> str:
    """Of how the row of a request that has ended says that it did; 32 hex digits.

    Not of what is read of its card after that (`CARD_AFTER`), and shown beside it.
    """
    outcome = {name: value for name, value in (request.outcome or {}).items() if name != CARD_AFTER}
    return _digest(
        _of_progress(request, outcome),
        request.state,
        request.outcome_text,
        request.stage,
        *map(_text, (request.approved_at, request.valid_until, request.finished_at)),
        bool(request.break_glass),
        request.attempts,
        request.fence,
    )


def of_words(decision: Decision) -> str:
    """Of what a decision says beside what its MAC covers; 32 hex digits."""
    return _digest(decision.id, decision.actor_name, decision.reason, decision.assertion)


def of_call(attempt: Attempt) -> str:
    """Of an attempt as it was begun; 32 hex digits."""
    return _digest(attempt.number, attempt.purpose, _text(attempt.sent_at))


def of_answer(attempt: Attempt) -> str:
    """Of an attempt that was answered; 32 hex digits."""
    return _digest(of_call(attempt), attempt.status, attempt.code, attempt.finding)


def of_calls(each: Mapping[int, str]) -> str:
    """Of several attempts: number -> `of_answer`, or `of_call` where it has no answer; 32 hex digits."""
    return _digest(*(part for number in sorted(each) for part in (number, each[number])))


def on_record(attempt: Attempt, made: Iterable[Attempt]) -> dict[str, Any]:
    """What the log keeps of this attempt as it begins: how it begins, and what those before it say by their rows."""
    return {"call": of_call(attempt), **leant_on(made)}


def leant_on(made: Iterable[Attempt]) -> dict[str, Any]:
    """What these attempts say by their rows, of an entry that follows from that; the log is held against it."""
    each, unanswered = {}, []
    for one in made:
        if one.answered_at is None:
            unanswered.append(one.number)
        each[one.number] = of_call(one) if one.answered_at is None else of_answer(one)
    return {"calls": of_calls(each), "unanswered": sorted(unanswered)}


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat(timespec="microseconds")


def _digest(*parts: Any) -> str:
    """SHA-256 over the parts as one JSON array. An encoder is set up again for each array, which takes longer than all
    else, and a check of everything makes a million."""
    text = f"[{','.join(map(_as_json, parts))}]"
    return hashlib.sha256(text.encode()).hexdigest()[:_HEX_DIGITS]


def _as_json(part: Any) -> str:
    if type(part) is str:
        return _quoted(part)
    if part is None:
        return "null"
    return repr(part) if type(part) is int else _JSON.encode(part)
