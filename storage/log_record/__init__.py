"""What the audit log tells that money and keys depend on: how it is read, and what it tells.

on_record      reads all of the log, checks it, and keeps what it tells; holds new entries about requests against it
log_facts      what its entries tell, worked out one by one
open_requests  which requests are open, and what may follow what
counted        what was approved of late, which limits, tiers and the newest of a setting are counted from
approval_order which of several requests was approved last
debits         debits of which no request here knows, which limits count, too
"""

from storage.log_record import approval_order, counted, debits, on_record, open_requests
from storage.log_record.approval_order import ApprovalOrder, Moment
from storage.log_record.counted import KEPT_FOR, Count, Counted
from storage.log_record.debits import OrphanDebit
from storage.log_record.log_facts import (
    PAGE_OPENED,
    PAGE_USED,
    PREVIOUS_TAKEN_FOR,
    RESET_REPORTED,
    LogFacts,
    Policy,
    Reset,
    SafeMode,
    SecretsOnRecord,
)

__all__ = [
    "KEPT_FOR",
    "PAGE_OPENED",
    "PAGE_USED",
    "PREVIOUS_TAKEN_FOR",
    "RESET_REPORTED",
    "ApprovalOrder",
    "Count",
    "Counted",
    "LogFacts",
    "Moment",
    "OrphanDebit",
    "Policy",
    "Reset",
    "SafeMode",
    "SecretsOnRecord",
    "approval_order",
    "counted",
    "debits",
    "on_record",
    "open_requests",
]
