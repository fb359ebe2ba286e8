"""Events: the inbox and its group commit, how far the event log was read, purchases, copies for other systems."""

from storage.events.inbox import InboxEvent, Share
from storage.events.ingest import MOST_IN_A_BATCH, Arrival, Ingest, Row
from storage.events.relay import Failed, RelayDelivery

__all__ = [
    "MOST_IN_A_BATCH",
    "Arrival",
    "Failed",
    "InboxEvent",
    "Ingest",
    "RelayDelivery",
    "Row",
    "Share",
    "cursors",
    "inbox",
    "purchases",
    "relay",
    "webhook_secrets",
]
