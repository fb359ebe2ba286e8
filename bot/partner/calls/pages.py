"""Walking the API's lists. Each has its own way of ending and of shifting while it is read.

The functions take `fetch`, one page at a time; they know nothing of HTTP.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")

PAGE = 100
"""The largest page of cards, ledger and events. Asking cards for more would be cut to this silently."""

# A read of the whole ledger that is overtaken by a new row is begun again. With a hundred rows a page
# and a few rows a minute even one repeat is rare.
LEDGER_READS = 5


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One page of a list that counts its pages. `total` counts all pages and is 0 past the end."""

    rows: Sequence[Row]
    total: int
    total_pages: int


class Moving(Exception):
    """The list changed during each of the reads."""


async def by_offset(
    fetch: Callable[[int], Awaitable[Sequence[Row]]], identity: Callable[[Row], str]
) -> AsyncIterator[Row]:
    """All rows of a list without a total, which ends with a page that is not full [GET /cards].

    Newest first, so a row made meanwhile pushes others onto the next page: known ids are passed over.
    A row that disappears meanwhile can hide another until the next reading.
    """
    seen: set[str] = set()
    offset = 0
    while True:
        rows = await fetch(offset)
        for row in rows:
            if identity(row) not in seen:
                seen.add(identity(row))
                yield row
        if len(rows) < PAGE:
            return
        offset += len(rows)


async def by_page(
    fetch: Callable[[int], Awaitable[Page[Row]]], identity: Callable[[Row], str]
) -> AsyncIterator[Row]:
    """All rows of a numbered list, each once, however many are added at its front meanwhile.

    A page may hold fewer rows than asked without being the last, so only the count of pages ends it.
    """
    seen: set[str] = set()
    number = 1
    while True:
        page = await fetch(number)
        for row in page.rows:
            if identity(row) not in seen:
                seen.add(identity(row))
                yield row
        if number >= page.total_pages:
            return
        number += 1


async def snapshot(fetch: Callable[[int], Awaitable[Page[Row]]]) -> list[Row]:
    """All rows of a list whose rows have no id, as they stood at one moment [GET /ledger].

    A row added between two pages would be missed or doubled unseen, so the pages must agree on `total`
    and add up to it; else all are read again. Raises Moving when that never happened.
    """
    for _ in range(LEDGER_READS):
        rows = await _one_reading(fetch)
        if rows is not None:
            return rows
    raise Moving


async def _one_reading(fetch: Callable[[int], Awaitable[Page[Row]]]) -> list[Row] | None:
    """All pages, or None as soon as they do not fit together."""
    first = await fetch(1)
    rows = list(first.rows)
    for number in range(2, first.total_pages + 1):
        page = await fetch(number)
        if page.total != first.total:
            return None
        rows += page.rows
    return rows if len(rows) == first.total else None
