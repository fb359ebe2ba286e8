"""Regular expressions that are put together when they are first used: six hundred of them took a fifth of the start."""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    """A pattern until it is used; then it has what the pattern has."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._asked = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        found = re.compile(*self._asked)
        # From now on Python finds these on the object, and comes here no more.
        for one in ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"):
            setattr(self, one, getattr(found, one))
        for one in ("pattern", "flags", "groups", "groupindex"):
            setattr(self, one, getattr(found, one))
        return getattr(found, name)


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`. A pattern that is wrong is noticed when it is first used."""
    return cast(re.Pattern[str], _Late(pattern, flags))
