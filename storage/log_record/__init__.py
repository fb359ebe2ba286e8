"""What the audit log tells that money and keys depend on: how it is read, and what it tells.

on_record   reads all of the log, checks it, and keeps what it tells
log_facts   what its entries tell, worked out one by one
"""

from storage.log_record import on_record
from storage.log_record.log_facts import LogFacts, Policy

__all__ = ["LogFacts", "Policy", "on_record"]
