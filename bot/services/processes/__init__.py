"""Several processes on one database: which there are, who does what, and the minute of a key that they share."""

from bot.services.processes.locks import Locks
from bot.services.processes.rate_minute import StoredMinute
from bot.services.processes.replicas import Replica

__all__ = ["Locks", "Replica", "StoredMinute", "replicas"]
