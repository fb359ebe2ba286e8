"""Broken promises that are known today, each with the name of its defect."""

from __future__ import annotations

import re

from tests.simulation.invariants import Violation

# (defect, rule, pattern of the text)
KNOWN: tuple[tuple[str, str, str], ...] = (
    # The answer of PUT /fees was lost, and a newer request set another markup: what GET /fees reads then is taken for
    # proof that the older one never happened (seed 1013).
    (
        "markup that was replaced",
        "I-7 true",
        r"\(fees_markup\) is called failed, and its call had its effect",
    ),
)


def defect_of(violation: Violation) -> str | None:
    """The known defect that this may be; None for something new."""
    for defect, rule, pattern in KNOWN:
        if violation.rule == rule and re.search(pattern, violation.text):
            return defect
    return None
