"""How long to wait before a call is made again or looked up, and for how long anything is remembered."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import accumulate

from bot.domain.people import APPROVAL_VALID_FOR
from bot.domain.requests import MAX_ROWS, State, due_after

# Same key again after these pauses; afterwards the request is `unresolved` and only reconciled.
RETRY_PAUSES = tuple(timedelta(seconds=s) for s in (5, 15, 30, 60, 120, 300, 600))
# A switch that was taken shows on the card within seconds, or something is wrong.
CONFIRM_PAUSES = tuple(timedelta(seconds=s) for s in (2, 5, 10, 30))

# What cannot wait is tried this often for so long after its first try, then as a lost answer is.
URGENT_EVERY = timedelta(seconds=5)
URGENT_FOR = timedelta(minutes=2)

RECONCILE_EVERY = timedelta(minutes=15)  # to 24 h after the first send
RECONCILE_DAILY = timedelta(days=1)
RECONCILE_DENSE_FOR = timedelta(hours=24)
# Nothing that waits for other than its time rests for longer between looks.
_LOOKED_AT_WITHIN = timedelta(minutes=1)
# No request of ours can still be on its way: the longest client timeout (75 s read, 5 s connect)
# and a margin for a slow network after it.
QUIESCENCE = timedelta(seconds=100)
# What happened "since" a moment of ours is read from so much earlier by the card provider's clock: a clock that was
# an hour off, the worst that is known of machines (a wrong time zone), hides no row.
CLOCKS_DIFFER = timedelta(minutes=75)
# To call something the work of a call by its time alone the clocks must agree better.
CLOCKS_AGREE = timedelta(minutes=2)
# Late-landing sweep: a request given up as failed without proof is looked up again this long.
LATE_LANDING_FOR = timedelta(hours=48)
# The API does not say how long it keeps a key: past this only look-ups.
KEY_TRUSTED_FOR = timedelta(hours=24)
# Of what was open in an older copy of the database the first send may be forgotten here: it counts from the request on,
# with a margin for the approval to be used.
KEY_TRUSTED_UNSEEN_FOR = timedelta(hours=20)
# Sealed details of an unresolved order are kept this long, for the same body under the same key.
PRIVATE_KEPT_FOR = timedelta(hours=72)


def next_pause(attempts: int, pauses: tuple[timedelta, ...] = RETRY_PAUSES) -> timedelta | None:
    """The pause after the n-th attempt without a definite answer (n from 1); None = used up."""
    return pauses[attempts - 1] if attempts <= len(pauses) else None


def reconcile_pause(since_first_sent: timedelta) -> timedelta:
    """How long an unresolved request rests between looks."""
    return RECONCILE_EVERY if since_first_sent < RECONCILE_DENSE_FOR else RECONCILE_DAILY


def urgent_pause(since_first_sent: timedelta) -> timedelta:
    """The pause before the next try of what cannot wait: by the time that passed, however many tries there were."""
    if since_first_sent < URGENT_FOR:
        return URGENT_EVERY
    tries_at = accumulate(RETRY_PAUSES, initial=URGENT_FOR)
    later = next((at for at in tries_at if at > since_first_sent), None)
    return max(later - since_first_sent, URGENT_EVERY) if later else reconcile_pause(since_first_sent)


def latest_try(
    state: State,
    now: datetime,
    *,
    is_urgent: bool,
    is_row: bool,
    valid_until: datetime | None,
    first_sent_at: datetime | None,
) -> datetime:
    """The latest time at which anybody may mean to try again, or look up, what is in this state now.

    A due time is trusted up to here. It hangs on what an approval or the audit log has of the request, and on the paces
    above; a request that is looked at too early loses nothing.
    """
    if state is State.APPROVED:
        # It is looked at again half a minute later, also while sending is paused; before that it waits for its
        # `cool_off`, as an approval is valid for some time from then on, and for the rows of its list before it.
        soon = now + _LOOKED_AT_WITHIN
        if valid_until is None:
            return soon
        return max(
            soon, valid_until - APPROVAL_VALID_FOR + (due_after(MAX_ROWS - 1) if is_row else timedelta())
        )
    since = timedelta() if first_sent_at is None else now - first_sent_at
    if is_urgent and state is State.EXECUTING:
        return now + (_LOOKED_AT_WITHIN if since < URGENT_FOR else RETRY_PAUSES[-1] + _LOOKED_AT_WITHIN)
    if since < RECONCILE_DENSE_FOR - RECONCILE_EVERY:
        return now + 2 * RECONCILE_EVERY
    return now + RECONCILE_DAILY + _LOOKED_AT_WITHIN


def urgent_pauses_are_over(since_first_sent: timedelta) -> bool:
    """Whether what cannot wait is tried on at the pace of what is only reconciled."""
    return since_first_sent >= sum(RETRY_PAUSES, URGENT_FOR)
