"""People, programs with their sealed keys, pauses, which process leads, and what a key has sent."""

from storage.operators.pauses import Pause
from storage.operators.safe_mode import OrphanDebit, SafeMode
from storage.operators.stops import Stopped

__all__ = [
    "OrphanDebit",
    "Pause",
    "SafeMode",
    "Stopped",
    "held_endpoints",
    "leases",
    "pauses",
    "people",
    "programs",
    "rate_minutes",
    "safe_mode",
    "stops",
]
