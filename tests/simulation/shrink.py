"""The fewest steps of a plan that still break the same promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.simulation import schedule
from tests.simulation.plan import Plan


def shrink(plan: Plan, rule: str, folder: Path, *, told: Callable[[str], None]) -> Plan:
    """Leave out steps, halves first, then one by one; then settings, the other system, and the second process.

    The result breaks `rule` again; `told` hears how far it is.
    """

    def breaks(candidate: Plan) -> bool:
        return any(found.rule == rule for found in schedule.run(candidate, folder).violations)

    kept = [step.number for step in plan.steps]
    size = max(1, len(kept) // 2)
    while size:
        place = 0
        while place < len(kept):
            fewer = kept[:place] + kept[place + size :]
            if breaks(plan.only(frozenset(fewer))):
                kept = fewer
                told(f"{len(kept)} steps are enough")
            else:
                place += size
        size //= 2
    smallest = plan.only(frozenset(kept))
    least: tuple[dict[str, Any], ...] = (
        {"settings": {}},
        {"scopes_missing": ()},
        {"relays": False},
        {"replicas": 1},
    )
    for fewer_still in least:
        without = replace(smallest, **fewer_still)
        if without != smallest and breaks(without):
            smallest = without
    return smallest
