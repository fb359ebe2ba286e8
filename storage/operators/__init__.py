"""People, programs with their sealed keys, pauses, and which process leads."""

from storage.operators.pauses import Pause

__all__ = [
    "Pause",
    "held_endpoints",
    "leases",
    "pauses",
    "people",
    "programs",
]
