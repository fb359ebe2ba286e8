"""May this call be sent again by the client itself, and when. Pure.

Only calls that cannot do harm twice are repeated here. Orders, top-ups, unloads and closes never are:
a repeat can turn a clear refusal into an unclear 409, and must happen under the eyes of the stored
request [POST topup: 503 spends the key]. Nor is PUT /webhook: the answer may have held the only copy of
a secret, and the repeat would not bring it again, or would make yet another.
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

# A setting sent twice is set once, and can be read back or sent again by the operation.
_CARD_SETTING = Allowed(repeats=1, statuses=frozenset({502, 503}))

_OTHERS: dict[Endpoint, Allowed] = {
    # Idempotent on the hash: a repeat returns the same record [POST /funding 5, 6].
    Endpoint.SUBMIT_FUNDING: Allowed(repeats=3, statuses=frozenset({500, 503})),
    Endpoint.FREEZE: _CARD_SETTING,
    Endpoint.SET_LIMITS: _CARD_SETTING,
    Endpoint.SET_PHONE: _CARD_SETTING,
    Endpoint.SET_FEES: Allowed(repeats=1),
    # The event keeps its id, and whoever receives it twice knows it by that.
    Endpoint.REDELIVER: Allowed(repeats=3, statuses=frozenset({500, 502, 503})),
    # Reads, but each call makes another address that shows a card: a person asks again, not we.
    Endpoint.DETAILS: _NEVER,
    Endpoint.DETAILS_ONCE: _NEVER,
}


def allowed(operation: Endpoint) -> Allowed:
    """What the client may repeat for this endpoint: reads, and what is named here; else nothing."""
    return _OTHERS.get(operation, _NEVER if FACTS[operation].changes else _READ)


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
