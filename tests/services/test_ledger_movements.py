"""The ledger is read whole though it moves: its rows have no id, and a new one shifts all others."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot.domain.time import periods
from bot.partner.calls.account import AccountCalls
from bot.partner.calls.pages import Page
from bot.partner.errors import LedgerMoving
from bot.partner.models import LedgerEntry
from bot.partner.ratelimit import Lane
from bot.services.money import ledger_lookups

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def row(minutes_ago: int) -> LedgerEntry:
    at = NOW - timedelta(minutes=minutes_ago)
    return LedgerEntry.read(
        {"amount_usd": Decimal(minutes_ago), "kind": "fee", "created_at": at.isoformat(), "card_id": None}
    )


class Ledger(AccountCalls):
    """A ledger that grows while it is read: `arrivals` rows come in before each page but the first."""

    def __init__(self, rows: Sequence[LedgerEntry], arrivals: int, newer: LedgerEntry) -> None:
        self.rows = list(rows)
        self._arrivals = arrivals
        self._newer = newer

    async def ledger(self, page: int = 1, limit: int = 50, *, lane: Lane = Lane.PEOPLE) -> Page[LedgerEntry]:
        if page > 1:
            self.rows[:0] = [self._newer] * self._arrivals
        some = self.rows[(page - 1) * limit : page * limit]
        return Page(some, len(self.rows) if some else 0, max(1, -(-len(self.rows) // limit)))


@pytest.mark.parametrize("arrivals", [0, 1, 37, 99])
async def test_every_movement_is_read_once_however_many_come_in_meanwhile(arrivals: int) -> None:
    rows = [row(n) for n in range(1, 1001)]
    period = periods.Period(NOW - timedelta(minutes=850), NOW, "UTC")

    ledger = Ledger(rows, arrivals, row(0))
    found = [e.amount_usd async for e in ledger_lookups.movements(ledger, period)]  # type: ignore[arg-type]  # it asks for the ledger alone

    assert found == [Decimal(n) for n in range(1, 851)]


async def test_a_ledger_that_loses_rows_or_outruns_the_reader_is_not_summed_up() -> None:
    class Shrinking(Ledger):
        async def ledger(
            self, page: int = 1, limit: int = 50, *, lane: Lane = Lane.PEOPLE
        ) -> Page[LedgerEntry]:
            found = await super().ledger(page, limit, lane=lane)
            return replace(found, total=found.total - page + 1)

    period = periods.Period(NOW - timedelta(days=90), NOW, "UTC")
    rows = [row(n) for n in range(1, 301)]
    for moving in (Shrinking(rows, 0, row(0)), Ledger(rows, 100, row(0))):
        with pytest.raises(LedgerMoving):
            [e async for e in ledger_lookups.movements(moving, period)]  # type: ignore[arg-type]  # as above
