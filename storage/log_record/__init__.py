"""What the audit log tells that money and keys depend on: how it is read, and what it tells.

on_record      reads all of the log, checks it, and keeps what it tells; holds new entries about requests against it
log_facts      what its entries tell, worked out one by one
open_requests  which requests are open, and what may follow what
"""

from storage.log_record import on_record, open_requests
from storage.log_record.log_facts import (
    PREVIOUS_TAKEN_FOR,
    RESET_REPORTED,
    LogFacts,
    Policy,
    Reset,
    SecretsOnRecord,
)

__all__ = [
    "PREVIOUS_TAKEN_FOR",
    "RESET_REPORTED",
    "LogFacts",
    "Policy",
    "Reset",
    "SecretsOnRecord",
    "on_record",
    "open_requests",
]
