"""The report people copy to the card provider's support: all it needs to look into an outcome, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.money import format_usd
from bot.domain.requests import Attempt, Request
from bot.domain.sentences import Lines


def text(request: Request, attempts: Sequence[Attempt], key_prefix: str) -> str:
    """Ids, key prefix and attempts, a line each. No API key, phone, e-mail or link."""
    lines = [
        request.outcome_text,
        f"Request {request.id}: {request.kind}, {request.subject_label or request.subject}",
    ]
    if request.exposure_usd:
        lines.append(f"Amount {format_usd(request.exposure_usd)}")
    lines.append(f"Program {request.program}, key prefix {key_prefix}")
    lines.append(f"Idempotency-Key {request.key}")
    if request.subject:
        lines.append(f"Acts on {request.subject}")
    for attempt in attempts:
        answer = " ".join(str(part) for part in (attempt.status, attempt.code) if part) or "no answer"
        lines.append(
            f"Attempt {attempt.number} ({attempt.purpose}) {attempt.sent_at:%Y-%m-%d %H:%M:%S} UTC: {answer}"
        )
    if request.outcome:
        shown = {"debit_usd": "Ledger debit", "refund_usd": "Ledger refund"}
        lines += [
            f"{label} {request.outcome.get(name) or 'none'}"
            for name, label in shown.items()
            if name in request.outcome
        ]
    return Lines("\n".join(lines))
