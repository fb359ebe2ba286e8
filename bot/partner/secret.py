"""A secret text that does not show itself: not in a log line, a traceback, an f-string, JSON or a pickle.

Not a subclass of `str`, because a subclass leaks through concatenation, `json.dumps` and `%s`.
Python cannot wipe memory: this guards against showing a secret, not against reading the process.
"""

from __future__ import annotations

import hmac
from typing import Any, NoReturn

_SHOWN = "<secret>"


class Secret:
    """Holds one secret. `reveal()` is the only way out, and easy to search for."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return _SHOWN

    def __str__(self) -> str:
        return _SHOWN

    def __format__(self, spec: str) -> str:
        return _SHOWN

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        """Constant time, so that comparing with a guess tells nothing about how close it was."""
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Secret:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a secret cannot be pickled")
