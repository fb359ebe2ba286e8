"""Several processes on one database: which there are, who does what, the minutes and the looks that they share.

And what a process holds back since its start, as it could not look at it yet, and which rows it cannot read.
"""

from bot.services.processes.locks import Locks
from bot.services.processes.rate_minute import StoredMinute
from bot.services.processes.replicas import Replica
from bot.services.processes.stored_looks import Seen, StoredLooks

__all__ = [
    "Locks",
    "Replica",
    "Seen",
    "StoredLooks",
    "StoredMinute",
    "ghost_leases",
    "replicas",
    "start_holds",
    "unreadable",
    "unseen_requests",
]
