"""Which of several requests was approved last, by the audit log.

No clock is asked: each process has its own, and one that was fast would have its decisions count over those made after
them. The log has one order for all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from typing import TypeAlias

from bot.domain.requests import Request
from storage.log_record import counted, on_record
from storage.log_record.counted import KEPT_FOR, Counted
from storage.transaction import Tx

Moment: TypeAlias = tuple[int, datetime, datetime]
ApprovalOrder: TypeAlias = Callable[[Request | Counted], Moment]
"""When it was approved, to be compared with others of the same order only: the number of the entry that says so, then
the time, then when it was requested."""


async def of(tx: Tx, requests: Collection[Request]) -> ApprovalOrder:
    """The order of these and of any `Counted`. What was approved more than two days ago comes before all others, in
    the order of its times. The log is read on where another process has approved one of them just now; raises
    `LogNotWhole` then."""
    hours = (await on_record.known(tx)).counted
    if any(_is_new(one, tx.now) and counted.find(hours, one.id) is None for one in requests):
        hours = (await on_record.of(tx)).counted

    def moment(one: Request | Counted) -> Moment:
        known = one if isinstance(one, Counted) else counted.find(hours, one.id)
        return known.seq if known is not None else 0, one.approved_at or one.created_at, one.created_at

    return moment


def _is_new(request: Request, now: datetime) -> bool:
    return request.approved_at is not None and request.approved_at > now - KEPT_FOR
