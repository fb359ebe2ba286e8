"""How many examples a property test draws: a sample in each run, the full number in `make soak`."""

from __future__ import annotations

import os


def examples(sample: int, *, full: int) -> int:
    """Each run draws others, so that a sample covers more from day to day."""
    return full if os.environ.get("SOAK") == "1" else sample
