"""People, their passkeys, programs with their keys, pauses, processes and what each does, what a key has sent."""

from storage.log_record import OrphanDebit, SafeMode
from storage.operators.passkey_links import PasskeyLink
from storage.operators.passkeys import Key, Passkey
from storage.operators.pauses import Pause
from storage.operators.stops import Stopped

__all__ = [
    "Key",
    "OrphanDebit",
    "Passkey",
    "PasskeyLink",
    "Pause",
    "SafeMode",
    "Stopped",
    "held_endpoints",
    "leases",
    "passkey_links",
    "passkeys",
    "passkeys_on_record",
    "pauses",
    "people",
    "programs",
    "rate_minutes",
    "replicas",
    "restored_copies",
    "roles_on_record",
    "safe_mode",
    "shared_looks",
    "stops",
]
