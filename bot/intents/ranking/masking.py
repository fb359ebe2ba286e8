"""A text as it was written, made into what the ranker reads: cleaned, in lower case, its values masked."""

from __future__ import annotations

from bot.intents.directory import Directory
from bot.intents.extraction import as_one_line, read_entities
from bot.intents.model import Facts
from bot.intents.plain_text import clean


def masked(text: str, facts: Facts) -> str:
    """`Top up Jonas by 40` -> `top up §c0§ by §a1§`."""
    cleaned = clean(text, facts.our_id)
    return read_entities(as_one_line(cleaned.text), facts, Directory.of(facts.cards)).masked
