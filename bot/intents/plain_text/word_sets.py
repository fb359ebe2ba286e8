"""Sets of words, written as prose that is easy to read and to add to."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text that are separated by spaces or lines."""
    return frozenset(text.split())
