"""Copies of what the API listed: the card directory, readings over time; and who gets a card's one-time codes."""

from storage.cards.api_snapshots import Reading

__all__ = [
    "Reading",
    "api_snapshots",
    "card_counts",
    "card_words",
    "cards",
    "history",
    "otp_recipients",
]
