"""Messages and mentions: the commands' words first, then plain English."""

__all__ = [
    "dialog",
    "messages",
]
