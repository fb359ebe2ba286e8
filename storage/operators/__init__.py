"""People, programs with their sealed keys, pauses, and which process leads."""

from storage.operators.pauses import Pause

__all__ = [
    "Pause",
    "leases",
    "pauses",
    "people",
    "programs",
]
