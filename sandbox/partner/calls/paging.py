"""Paging: each list endpoint has its own rules for what it clamps and what it refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sandbox.partner.accounts import Settings
from sandbox.partner.http import bad_request

_DIGITS = re.compile("[0-9]+")
_LARGEST = 2**53 - 1  # the largest page that every JSON reader shows as it was asked for
_ROWS_MOST = 10**9  # beyond any list, and inside SQLite's integers


@dataclass(frozen=True)
class Page:
    """The page a list call asks for: `limit` rows a page, `number` counted from 1."""

    limit: int
    number: int

    @property
    def skipped(self) -> int:
        """How many rows come before this page."""
        return min(self.limit * (self.number - 1), _ROWS_MOST)


def digits(query: dict[str, str], *, default: int, most: int) -> Page:
    """`limit` and `page` of digits only; 0 counts as 1; a limit above `most` is a 400."""
    limit = _whole(query, "limit", default)
    if limit > most:
        raise bad_request(f"limit must be at most {most}.")
    return Page(limit, _whole(query, "page", 1))


def _whole(query: dict[str, str], name: str, default: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    if not _DIGITS.fullmatch(text):
        raise bad_request(f"{name} must be digits.")
    return max(1, min(int(text.lstrip("0")[:20] or "0"), _LARGEST))


def envelope(page: Page, shown: int, total: int, terms: Settings, *, zero: bool = True) -> dict[str, Any]:
    """count, page, total and total_pages; past the end `total` reads 0 where `zero` says so (GET /ledger)."""
    total_pages = max(1, -(-total // page.limit))
    if zero and page.number > total_pages:
        total, total_pages = 0, 1 if terms.pages_past_end == "one" else total_pages
    return {"count": shown, "page": page.number, "total": total, "total_pages": total_pages}
