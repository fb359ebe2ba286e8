"""Slack messages: filled with what is true at delivery, sent in order, reminded of.

The database holds what to draw, never the drawing, so a lost, doubled or late message shows the present state.
"""

from bot.services.messages.delivery import Outbox
from bot.services.messages.publisher import MessageGone, Posted, Publisher, SlackRefused, SlackTrouble

__all__ = [
    "MessageGone",
    "Outbox",
    "Posted",
    "Publisher",
    "SlackRefused",
    "SlackTrouble",
    "digest",
    "mentions",
    "reminders",
    "request_links",
    "storage_watch",
    "view_model_loader",
    "waiting",
]
