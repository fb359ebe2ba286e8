"""What a batch of rows is, in words and states. Pure: counts and figures in, values out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal

from bot.domain.money import exact_sum, format_usd
from bot.domain.requests.lifecycle import OPEN, SENT, Event, State

# The first rows go a second apart. The others leave half of 120 calls a minute to people: a row takes
# about four calls, and a hundred rows are sent within the 15 minutes for which their approval holds.
_QUICK_ROWS = 10
_QUICK = timedelta(seconds=1)
_STEADY = timedelta(seconds=4)

# What a window shows of the rows at once. Slack takes some 10,000 characters in all; the rest is for the total, its
# effect, the reason, and what speaks against it.
_PAGE_ROWS = 20
_PAGE_CHARACTERS = 3500

# How rows that are not all done are reported, in this order.
_WORDS: Mapping[State, str] = {
    State.FAILED: "failed",
    State.UNRESOLVED: "unresolved (being checked)",
    State.EXECUTING: "under way",
    State.APPROVED: "waiting",
    State.CANCELLED: "not sent",
    State.EXPIRED: "not sent in time",
}


def results_name(request_id: str) -> str:
    """The file in which a batch's results are reported."""
    return f"{request_id}-results.csv"


def due_after(number: int) -> timedelta:
    """How long after the approval row `number` (from 0) is sent."""
    quick = min(number, _QUICK_ROWS)
    return _QUICK * quick + _STEADY * (number - quick)


def pages_of(sizes: Sequence[int]) -> list[range]:
    """The places of the rows on each page, by how many characters each row takes. There is one page at least.

    It hangs on the rows alone, so that what is said beside them moves no row to a page that was read already.
    """
    pages: list[range] = []
    first, taken = 0, 0
    for place, size in enumerate(sizes):
        taken += size
        if place > first and (taken > _PAGE_CHARACTERS or place - first == _PAGE_ROWS):
            pages.append(range(first, place))
            first, taken = place, size
    return [*pages, range(first, len(sizes))]


def digest_of_rows(digests: Iterable[str]) -> str:
    """SHA-256 in hex over the rows' digests in their order: one row more, less or otherwise shows."""
    return hashlib.sha256("\n".join(["countersign-rows-v1", *digests]).encode()).hexdigest()


def batch_event(state: State, rows: Mapping[State, int]) -> Event | None:
    """The next step of an approved batch whose rows stand so; None = it is where they are."""
    sent = sum(rows.get(s, 0) for s in SENT)
    if state is State.APPROVED and sent:
        return Event.CLAIM
    if rows.get(State.APPROVED, 0) or rows.get(State.EXECUTING, 0):
        return None
    if state is State.APPROVED:
        return Event.EXPIRE if rows.get(State.EXPIRED, 0) else Event.CANCEL
    all_done = sum(rows.values()) == rows.get(State.SUCCEEDED, 0)
    if state is State.FAILED:
        if rows.get(State.UNRESOLVED, 0):
            return Event.REOPEN
        return Event.LAND_LATE if all_done else None
    if state not in (State.EXECUTING, State.UNRESOLVED):
        return None
    if rows.get(State.UNRESOLVED, 0):
        return Event.LOSE_SIGHT if state is State.EXECUTING else None
    return Event.SUCCEED if all_done else Event.FAIL


def ending_text(
    rows: Mapping[State, int],
    moved_usd: Decimal,
    asked_usd: Decimal,
    *,
    failed_how: str,
    came_back: Mapping[str, Decimal] | None = None,
) -> str:
    """`9 of 12 rows succeeded; 2 failed (nothing moved, or it came back), 1 not sent. 450.00 of …`

    `failed_how`: what is true of a row of this kind that has failed. `came_back`: what came back to the float after it
    had moved, in USD, by the id of its row; that is not in `moved_usd`.
    """
    total = sum(rows.values())
    words = _words(failed_how)
    others = ", ".join(f"{rows[s]} {word}" for s, word in words.items() if rows.get(s, 0))
    text = f"{rows.get(State.SUCCEEDED, 0)} of {counted(total)} succeeded" + (
        f"; {others}." if others else "."
    )
    if not asked_usd:
        return text
    unsure = " at least" if rows.get(State.UNRESOLVED, 0) else ""
    text = f"{text} {format_usd(moved_usd)} of {format_usd(asked_usd)} moved{unsure}."
    if came_back:
        usd = format_usd(exact_sum(came_back.values()))
        text += f" {usd} came back to the float after that ({', '.join(came_back)}): do not rely on the card."
    return text


def _words(failed_how: str) -> Mapping[State, str]:
    return {**_WORDS, State.FAILED: f"failed ({failed_how})"}


def progress_text(rows: Mapping[State, int], *, failed_how: str) -> str:
    """`7 of 12 rows ended: 6 succeeded, 1 failed (nothing moved, or it came back); 1 under way, …`

    `failed_how` as for `ending_text`.
    """
    total = sum(rows.values())
    waiting = sum(rows.get(state, 0) for state in OPEN)
    words = {State.SUCCEEDED: "succeeded", **_words(failed_how)}
    parts = ", ".join(f"{rows[s]} {word}" for s, word in words.items() if rows.get(s, 0))
    return f"{total - waiting} of {counted(total)} ended: {parts}."


def counted(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows} rows"
