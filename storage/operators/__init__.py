"""People, programs with their sealed keys, pauses, which process leads, and what a key has sent."""

from storage.operators.pauses import Pause
from storage.operators.stops import Stopped

__all__ = [
    "Pause",
    "Stopped",
    "held_endpoints",
    "leases",
    "pauses",
    "people",
    "programs",
    "rate_minutes",
    "stops",
]
