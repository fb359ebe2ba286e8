"""Lists page by page: where a page begins, and how far one can be named by its number.

A page that is turned to begins where the one before it ended: it costs the same wherever it is, and nothing is shown
twice or left out. A page that is named by its number is counted up to, so not far.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from bot.domain.errors import NotFound

T = TypeVar("T")
MOST_SKIPPED = 1_000
"""As many rows are read to find a page by its number."""


def number_of_pages(total: int, size: int) -> int:
    return max(1, math.ceil(total / size))


def begins(page: int, pages: int | None, size: int, *, is_placed: bool) -> tuple[int, int]:
    """The page to show, and how many rows to skip for it. `pages` is None where they are not counted.

    A page past the end is the last one. Raises NotFound for one that is too far from the first.
    """
    if is_placed:
        return page, 0
    page = page if pages is None else min(page, pages)
    if (page - 1) * size > MOST_SKIPPED:
        raise NotFound(
            f"Pages can be named up to page {MOST_SKIPPED // size + 1}. Press More there to go on, or narrow the list."
        )
    return page, (page - 1) * size


def cut(rows: Sequence[T], size: int, *, back: bool) -> tuple[Sequence[T], bool]:
    """The rows of the page, of one more that was read where there is one; and whether others follow the page."""
    if back:  # it was turned back to, from one that follows it
        return rows[-size:], True
    return rows[:size], len(rows) > size
