"""What a person typed, as command, subcommand and arguments: one grammar for slash, mention and message.

Pure: text in, values out. Which words there are is said by the look-ups and the operation kinds themselves.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping
from functools import cache

from bot import operations
from bot.domain.sentences import as_written
from bot.operations import Operation
from handlers.commands.all_lookups import LOOK_UPS
from handlers.commands.lookup import Command

_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
_QUOTED = re.compile(r"""(["'])(?P<inside>.+?)\1(?:\s+(?P<rest>.*))?""")
_LAST_FOUR = re.compile(r"[•*x]*[0-9]{4}")
# Looks like an amount: has a digit near its start, perhaps a sign or a dollar before it.
_AMOUNT = re.compile(r"[-−–+(]?\$?[-−–]?[0-9].*")
# How like a word has to be to a subcommand, from 0 to 1: one letter of four is a slip, two of six are not. What is
# written under another command has to be nearer.
_LIKE_ENOUGH, _ELSEWHERE, _BEGINS, _SHORTEST_SLIP = 0.7, 0.2, 0.3, 2
_OUR_NAME = re.compile(r"^\s*<@[A-Z0-9]+(?:\|[^>]*)?>[\s:,]*")
# What Slack makes of addresses in a message: <https://a.b|a.b>, <mailto:a@b.c|a@b.c>, <tel:+49…|+49…>.
_LINKED = re.compile(r"<(?:https?://|mailto:|tel:)[^|>]*\|([^>]*)>|<(https?://[^|>]*)>")


def from_slash(command: str, text: str) -> Command:
    """A slash command: `/card`, `topup 4242 50`."""
    text = _joined(as_written(_without_links(text)).strip())
    subcommand, _, rest = text.partition(" ")
    name = command.lstrip("/").lower()
    if name == "requests" and subcommand.upper().startswith("R-"):
        return Command(name, "show", subcommand)
    known = _subcommands(name)
    # After a command that may also stand alone, anything else is an argument of it.
    if "" in known and subcommand.lower() not in ("help", *known):
        return Command(name, "", text)
    for of_two_words in filter(lambda words: " " in words, known):
        pattern = rf"{of_two_words}\b(.*)".replace(" ", r"\s+")
        if found := re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL):
            return Command(name, of_two_words, found[1].strip())
    return Command(name, subcommand.lower(), rest.strip())


def _subcommands(command: str) -> frozenset[str]:
    """What may follow a command, as its look-ups and the operation kinds say; "" where it may stand alone."""
    named = (*LOOK_UPS, *(cls.command for cls in _kinds().values()))
    return frozenset(subcommand for of, subcommand in named if of == command)


def _joined(text: str) -> str:
    """The first "top up" or "top-up" as "topup": a kind's verb of several words that is one word as a sub-command."""
    for cls in _kinds().values():
        words = cls.verb.lower().split()
        if len(words) > 1 and "".join(words) == cls.command[1]:
            text = re.sub(rf"\b{'[ _-]'.join(words)}\b", cls.command[1], text, count=1, flags=re.IGNORECASE)
    return text


@cache
def _kinds() -> Mapping[str, type[Operation]]:
    return operations.kinds()


def from_message(text: str) -> Command:
    """A mention or direct message: `@Countersign card topup 4242 50`, with or without the slash."""
    return from_text(_without_links(_OUR_NAME.sub("", text, count=1)))


def _without_links(text: str) -> str:
    """The text as it was typed; what mentions a person or a channel stays as Slack writes it."""
    return html.unescape(_LINKED.sub(lambda m: m[1] or m[2], text))


def from_text(text: str) -> Command:
    """What `Command.text` gave: the value of a button."""
    name, _, rest = text.strip().partition(" ")
    return from_slash(name, rest)


def nearest(asked: Command, known: Collection[tuple[str, str]]) -> tuple[str, str] | None:
    """The command and subcommand of `known` that was probably meant; None where nothing is like it.

    A slip in the subcommand counts, the whole word under another command, and a word that begins it.
    """
    word = (asked.subcommand or asked.rest.partition(" ")[0]).lower()
    if len(word) < _SHORTEST_SLIP:
        return None
    from rapidfuzz.distance import OSA

    likeness = {
        (command, sub): OSA.normalized_similarity(word, sub)
        - (0 if command == asked.command else _ELSEWHERE)
        + (_BEGINS if sub.startswith(word) else 0)
        for command, sub in known
        if sub
    }
    best = max(likeness, key=lambda name: likeness[name], default=None)
    return best if best is not None and likeness[best] >= _LIKE_ENOUGH else None


def prefill(cls: type[Operation], rest: str) -> dict[str, str]:
    """Arguments as texts of the form's fields, as typed: what is wrong with them is reported on the field."""
    rest = rest.strip()
    if not rest or not cls.fields:
        return {}
    first, *others = cls.fields
    if not others:
        return {first.name: _unquoted(rest)}
    if first.card:
        card, value = _card_and_value(rest)
        return {first.name: card} | ({others[0].name: value} if value else {})
    if first.one_word:
        words = rest.split(None, 1)
        return dict(zip((first.name, others[0].name), words, strict=False))
    return {first.name: _unquoted(rest)}


def _card_and_value(rest: str) -> tuple[str, str]:
    """`4242 50`, `ALICE MOREAU 50`, `"Alice Moreau" 50`, `4242 fifty`, `alice`."""
    quoted = _QUOTED.fullmatch(rest.translate(_QUOTES))
    if quoted:
        return quoted["inside"], (quoted["rest"] or "").strip()
    words = rest.split()
    if len(words) == 1:
        return rest, ""
    if _LAST_FOUR.fullmatch(words[0]):
        return words[0], " ".join(words[1:])
    if _AMOUNT.fullmatch(words[-1]):
        return " ".join(words[:-1]), words[-1]
    return " ".join(words), ""


def _unquoted(text: str) -> str:
    quoted = _QUOTED.fullmatch(text.translate(_QUOTES))
    return quoted["inside"] if quoted and not quoted["rest"] else text
