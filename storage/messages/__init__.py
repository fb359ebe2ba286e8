"""What Slack shows: messages to send, alerts and mute rules, conversations, Home."""

from storage.messages.alerts import Alert
from storage.messages.dialogs import Dialog, Place
from storage.messages.home_views import HomeView
from storage.messages.outbox import Due, MessagePlace, OutboxRow, Waiting
from storage.messages.unread_texts import UnreadText

__all__ = [
    "Alert",
    "Dialog",
    "Due",
    "HomeView",
    "MessagePlace",
    "OutboxRow",
    "Place",
    "UnreadText",
    "Waiting",
    "alerts",
    "dialogs",
    "home_views",
    "mutes",
    "outbox",
    "unread_texts",
]
