"""Whose is what a look has found? What another request has made, or may have made, is no evidence of this one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from bot.operations._base import Others

T = TypeVar("T")


def only_ours(found: Mapping[str, T], others: Others) -> tuple[T | None, str]:
    """The one thing found that can be nobody else's, or why there is none, as a clause for people.

    `found` is what fits in kind and time, by the API's id of it. The clause is empty where nothing was found that
    is not known to be another request's.
    """
    left = {found_id: one for found_id, one in found.items() if found_id not in others.taken}
    if len(left) > 1:
        return (
            None,
            f"{len(left)} that fit were made at that time, and which of them is of this request is not known",
        )
    if left and others.rivals:
        named = ", ".join(others.rivals)
        return None, f"one that fits was made at that time, and it may be of {named}, which asks for the same"
    return next(iter(left.values()), None), ""
