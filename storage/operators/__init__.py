"""People, programs with their sealed keys, pauses, and which process leads."""

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
    "roles_on_record",
    "stops",
]
