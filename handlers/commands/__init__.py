"""Slash commands, and the same words in a mention or a direct message: look-ups are answered, requests open a form."""

from handlers.commands.lookup import Command
from handlers.commands.slash import command

__all__ = [
    "Command",
    "all_lookups",
    "command",
    "dispatch",
    "grammar",
    "intent_commands",
    "open_forms",
]
