"""Walking the API's lists. Each has its own way of ending and of shifting while it is read.

The functions take `fetch`, one page at a time; they know nothing of HTTP.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")

PAGE = 100
"""The largest page of cards, ledger and events. Asking cards for more would be cut to this silently."""

# A reading that rows came into elsewhere than at its front is begun again, so many times in all.
READINGS = 5
# So many calls in a row that show nothing but what came in meanwhile.
_CHASED = 5


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One page of a list that counts its pages. `total` counts all pages and is 0 past the end."""

    rows: Sequence[Row]
    total: int
    total_pages: int


class Moving(Exception):
    """The list changed while it was read in a way that leaves it open which rows were seen."""


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


async def newest_first(
    fetch: Callable[[int], Awaitable[Page[Row]]],
    is_over: Callable[[Row], bool] = lambda _: False,
    first: Page[Row] | None = None,
) -> AsyncIterator[Row]:
    """The rows of a list whose rows have no id, as of the first call, the newest first, each once [GET /ledger].

    `first` is the first page, where it was read already. Ends before the first row that `is_over`, so what is older
    costs no call. A new row pushes all others down a place; counted from the old end they keep their places, so what
    a page shows again is passed over by its place. That holds while rows come in at the front alone, which is looked
    at before the end: Raises Moving where they came in elsewhere, went away, or came faster than they were read.
    """
    first = page = first or await fetch(1)
    number, given, idle, arrived = 1, 0, 0, 0
    while given < first.total:
        before, arrived = given, page.total - first.total
        for place, row in enumerate(page.rows, (number - 1) * PAGE):
            if place < arrived + given:
                continue
            if is_over(row):
                await _check_front(fetch, first, arrived)
                return
            given += 1
            yield row
        idle = 0 if given > before else idle + 1
        if arrived < 0 or not page.rows or idle > _CHASED:
            raise Moving
        if given < first.total:
            number = (arrived + given) // PAGE + 1
            page = await fetch(number)
    await _check_front(fetch, first, arrived)


async def _check_front(fetch: Callable[[int], Awaitable[Page[Row]]], first: Page[Row], arrived: int) -> None:
    """The first page of the reading still stands below as many rows as have come in. Raises Moving if not."""
    gained = 0
    for _ in range(_CHASED if arrived else 0):
        number = (arrived + gained) // PAGE + 1
        page = await fetch(number)
        gained, arrived = page.total - first.total - arrived, page.total - first.total
        place = arrived - (number - 1) * PAGE
        if 0 <= place < len(page.rows):
            below = list(page.rows[place:])
            if below != list(first.rows[: len(below)]):
                raise Moving
            return
    if arrived:
        raise Moving
