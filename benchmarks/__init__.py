"""One script per question; each measures ours and a floor or a peer in the same run.

`make bench` runs every `bench_*.py` and writes RESULTS.md, the goals that were missed first. A script has
`measure() -> list[Row]`, and writes a goal behind the figure that it is for with `wanted`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the results: what was measured, the figure, and what it is compared with."""

    metric: str
    figure: str
    compared: str = ""


MISSED = "**missed**"


def wanted(
    found: float, *, at_most: float | None = None, at_least: float | None = None, unit: str = ""
) -> str:
    """The goal for a figure, as it stands behind it, and whether it is missed."""
    goal = f"at most {at_most:g}{unit}" if at_most is not None else f"at least {at_least:g}{unit}"
    missed = (at_most is not None and found > at_most) or (at_least is not None and found < at_least)
    return f"(wanted: {goal}{f'; {MISSED}' if missed else ''})"
