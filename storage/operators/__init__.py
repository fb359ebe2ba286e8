"""People, their passkeys, programs with their keys, pauses, processes and which leads, what a key has sent."""

from storage.operators.passkey_links import PasskeyLink
from storage.operators.passkeys import Key, Passkey
from storage.operators.pauses import Pause
from storage.operators.stops import Stopped

__all__ = [
    "Key",
    "Passkey",
    "PasskeyLink",
    "Pause",
    "Stopped",
    "held_endpoints",
    "leases",
    "passkey_links",
    "passkeys",
    "pauses",
    "people",
    "programs",
    "rate_minutes",
    "replicas",
    "stops",
]
