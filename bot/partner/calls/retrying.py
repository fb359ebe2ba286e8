"""May this call be sent again by the client itself, and when. Pure.

How often, and after which answers, is in the table of `answers`: only calls that cannot do harm twice are
repeated here. Everything else is the business of whoever stored the request and its key.
"""

from collections.abc import Sequence

from bot.partner.endpoints import meaning
from bot.partner.errors import NoAnswer, PartnerError, RateLimited, Refused

# Short enough for a person who waits, long enough for a restart of one server behind the card provider.
PAUSES_SECONDS = (0.5, 1.0, 2.0)


def pause_before_repeat(failures: Sequence[PartnerError]) -> float | None:
    """Seconds to wait before the same call goes out again; None: it does not.

    `failures` are the errors of this call so far, oldest first, at least one. Those of a used-up rate are
    counted by themselves.
    """
    latest = failures[-1]
    if not isinstance(latest, (NoAnswer, Refused)):
        return None  # refused on this side, or two pages that do not fit: the same again
    limited = isinstance(latest, RateLimited)
    alike = sum(isinstance(failure, RateLimited) is limited for failure in failures)
    if alike > meaning(latest.operation, latest.status, latest.code).repeats:
        return None
    return latest.retry_after if limited else PAUSES_SECONDS[min(alike, len(PAUSES_SECONDS)) - 1]
