"""Which of two things known of a funding submission is the newer one.

The poller's readings, the answer to a submission and the event `float.credited` arrive in any order. A status
further on in the life of a submission is always the newer one [Funding submission, States]. A status further back
counts only when it was read later, and never against money: what was credited can only be taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

#: When an event counts as read: before every reading. It says that money was credited, and nothing of what came later.
BY_EVENT = datetime.min.replace(tzinfo=UTC)

_REVERSED = ("rejected", "reversed_by_operator")
# Not final: submitting the hash again makes it pending again [Funding submission, States].
_REVIVABLE = ("rejected", "not_found")
_CREDITED, _TAKEN_BACK = 3, 4
_PLACES = {"pending": 0, "review": 1, "rejected": 2, "credited": _CREDITED}
# A submission that is not there any more was claimed by another account: as final as a rejection.
GONE = "gone"


@dataclass(frozen=True, slots=True)
class FundingReading:
    """What was known of a submission. `read_at` is when the call that read it began, by our clock."""

    status: str
    reason: str | None
    read_at: datetime

    @property
    def place(self) -> int:
        """How far on in the life of a submission this is."""
        if (self.status, self.reason) == _REVERSED:
            return _TAKEN_BACK
        if (self.status, self.reason) == _REVIVABLE:
            return _PLACES["pending"]
        if self.status == GONE:
            return _PLACES["rejected"]
        return _PLACES.get(self.status, 0)

    @property
    def may_go_back(self) -> bool:
        """Whether a later reading may show it further back: so it matters when it was read."""
        return self.place < _PLACES["rejected"]


def is_newer(new: FundingReading, old: FundingReading | None) -> bool:
    """Whether `new` replaces `old`; the same known once more, and read no earlier, does."""
    if old is None:
        return True
    if new.place == old.place:
        return new.read_at >= old.read_at
    return new.place > old.place or (old.place < _CREDITED and new.read_at > old.read_at)
