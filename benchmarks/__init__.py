"""One script per question; each measures ours and a floor or a peer in the same run.

`make bench` runs every `bench_*.py` and writes RESULTS.md. A script has `measure() -> list[Row]`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the results: what was measured, the figure, and what it is compared with."""

    metric: str
    figure: str
    compared: str = ""
