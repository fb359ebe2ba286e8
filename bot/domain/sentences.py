"""Sentences that are put together: what somebody wrote, and what follows it."""

from __future__ import annotations


def with_stop(text: str) -> str:
    """The text with the full stop that it may lack, since another sentence follows it. Nothing stays nothing."""
    text = text.rstrip()
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."
