"""May this call be sent again by the client itself, and when. Pure.

Only calls that cannot do harm twice are repeated here. Orders, top-ups, unloads and closes never are:
a repeat can turn a clear refusal into an unclear 409, and must happen under the eyes of the stored
request [POST topup: 503 spends the key].
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.partner.endpoints import FACTS, Endpoint
from bot.partner.errors import NoAnswer, PartnerError, RateLimited, UnreadableAnswer

# Short enough for a person who waits, long enough for a restart of one server behind the service.
PAUSES_SECONDS = (0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class Allowed:
    """How often a call may be repeated in all for failures, for which statuses, and after a 429."""

    repeats: int = 0
    statuses: frozenset[int] = frozenset()
    after_rate_limit: int = 0


_NEVER = Allowed()
_READ = Allowed(repeats=3, statuses=frozenset({500, 502, 503}), after_rate_limit=1)

_CHANGES: dict[Endpoint, Allowed] = {
    # Idempotent on the hash: a repeat returns the same record [POST /funding 5, 6].
    Endpoint.SUBMIT_FUNDING: Allowed(repeats=3, statuses=frozenset({500, 503})),
    # 502 and 503 change nothing [POST freeze]; the setting is read back afterwards anyway.
    Endpoint.FREEZE: Allowed(repeats=1, statuses=frozenset({502, 503})),
}


def allowed(operation: Endpoint) -> Allowed:
    """What the client may repeat for this endpoint."""
    return _CHANGES.get(operation, _NEVER) if FACTS[operation].changes else _READ


def pause_before_repeat(failures: Sequence[PartnerError]) -> float | None:
    """Seconds to wait before the same call goes out again; None: it does not.

    `failures` are the errors of this call so far, oldest first, at least one.
    """
    latest = failures[-1]
    rule = allowed(latest.operation)
    if isinstance(latest, RateLimited):
        limited = sum(isinstance(failure, RateLimited) for failure in failures)
        return latest.retry_after if limited <= rule.after_rate_limit else None
    if not _is_failure(latest, rule):
        return None
    failed = sum(not isinstance(failure, RateLimited) for failure in failures)
    if failed > rule.repeats:
        return None
    return PAUSES_SECONDS[min(failed, len(PAUSES_SECONDS)) - 1]


def _is_failure(error: PartnerError, rule: Allowed) -> bool:
    """Whether the error is of the passing kind: lost on the way, or a status named for the endpoint."""
    if isinstance(error, UnreadableAnswer):
        # A proxy's 502 page passes; a redirect or a page that says 404 will say so again.
        return error.status is None or error.status == 200 or error.status in rule.statuses
    return isinstance(error, NoAnswer) or error.status in rule.statuses
