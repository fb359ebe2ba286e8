"""Events of the API: received by webhook or read from the event log, stored once, handled once, passed on.

An accepted event is never lost and never handled twice. One-time codes stay in memory.
"""

from bot.services.events.backfill import CURSOR, Backfill, Found, read_log
from bot.services.events.intake import Intake
from bot.services.events.polling import POLLED, Poller
from bot.services.events.relay import Relay, note_destinations
from bot.services.events.ssrf import AT_ONCE, Sender
from bot.services.events.ssrf import by_the_system as addresses_of
from bot.services.events.webhooks import Webhooks

__all__ = [
    "AT_ONCE",
    "CURSOR",
    "POLLED",
    "Backfill",
    "Found",
    "Intake",
    "Poller",
    "Relay",
    "Sender",
    "Webhooks",
    "addresses_of",
    "inbox",
    "note_destinations",
    "otp_delivery",
    "read_log",
    "relay",
    "retention",
    "webhook_status",
]
