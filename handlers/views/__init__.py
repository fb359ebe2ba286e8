"""Views: a view model in, Slack blocks out. Pure functions: no I/O, no clock, nothing of Slack's library."""

from handlers.views.blocks import Block

__all__ = [
    "Block",
    "alerts",
    "blocks",
    "card_details",
    "charts",
    "conversation",
    "help_text",
    "home",
    "ids",
    "lookups",
    "passkeys",
    "plain",
    "replies",
    "request_links",
    "requests",
]
