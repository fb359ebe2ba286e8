"""Broken promises that are known today, each with the number of its defect; none at the moment."""

from __future__ import annotations

import re

from tests.simulation.invariants import Violation

# (defect, rule, pattern of the text)
KNOWN: tuple[tuple[str, str, str], ...] = ()


def defect_of(violation: Violation) -> str | None:
    """The known defect that this may be; None for something new."""
    for defect, rule, pattern in KNOWN:
        if violation.rule == rule and re.search(pattern, violation.text):
            return defect
    return None
