"""Other forms of a verb: loading, stopped, modified."""

from __future__ import annotations

from typing import Final

#: Whose last letter is doubled before an ending.
_DOUBLED: Final = frozenset(
    {
        "cap",
        "cut",
        "drop",
        "get",
        "grab",
        "let",
        "pop",
        "put",
        "set",
        "stop",
        "submit",
        "swap",
        "top",
        "transfer",
    }
)


def with_ending(verb: str, ending: str) -> str:
    """The verb with `ed` or `ing`, as a regular one has it."""
    if verb.endswith("e"):
        return verb.removesuffix("e") + ending
    if verb.endswith("y") and ending == "ed":
        return verb.removesuffix("y") + "ied"
    return verb + (verb[-1] if verb in _DOUBLED else "") + ending
