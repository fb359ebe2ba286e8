"""Several processes on one database: which there are, which leads, and the minute of a key that they share."""

from bot.services.processes.leadership import Leader
from bot.services.processes.rate_minute import StoredMinute
from bot.services.processes.replicas import Replica

__all__ = ["Leader", "Replica", "StoredMinute", "replicas"]
