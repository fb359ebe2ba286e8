"""People, programs with their keys, pauses, which processes there are and which leads, what a key has sent."""

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
    "replicas",
    "stops",
]
