"""Several processes on one database: which there are, who does what, the minutes and the looks that they share."""

from bot.services.processes.locks import Locks
from bot.services.processes.rate_minute import StoredMinute
from bot.services.processes.replicas import Replica
from bot.services.processes.stored_looks import Seen, StoredLooks

__all__ = ["Locks", "Replica", "Seen", "StoredLooks", "StoredMinute", "replicas"]
