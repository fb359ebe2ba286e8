"""What a person typed, as command, subcommand and arguments: one grammar for slash, mention and message.

Pure: text in, values out. It knows which words there are and nothing of what they do.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from bot.operations import Operation

# Words after a command that may also stand alone with arguments: anything else there is an argument.
_FLOAT = frozenset({"ledger", "fees", "markup", "earnings"})
_REQUESTS = frozenset({"show", "cancel", "verify"})
_ALONE: Mapping[str, frozenset[str]] = {"float": _FLOAT, "requests": _REQUESTS}
_TOP_UP = re.compile(r"\btop[ _-]up\b", re.IGNORECASE)
_WEBHOOK = re.compile(r"webhook\s+(register|rotate|redeliver)\b(.*)", re.IGNORECASE | re.DOTALL)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
_QUOTED = re.compile(r"""(["'])(?P<inside>.+?)\1(?:\s+(?P<rest>.*))?""")
_LAST_FOUR = re.compile(r"[•*x]*[0-9]{4}")
# Looks like an amount: has a digit near its start, perhaps a sign or a dollar before it.
_AMOUNT = re.compile(r"[-−–+(]?\$?[-−–]?[0-9].*")
# How like a word has to be to a subcommand, from 0 to 1: one letter of four is a slip, two of six are not. What is
# written under another command has to be nearer.
_LIKE_ENOUGH, _ELSEWHERE, _BEGINS, _SHORTEST_SLIP = 0.7, 0.2, 0.3, 2
_OUR_NAME = re.compile(r"^\s*<@[A-Z0-9]+(?:\|[^>]*)?>[\s:,]*")
_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^>]*)?>")
# What Slack makes of addresses in a message: <https://a.b|a.b>, <mailto:a@b.c|a@b.c>, <tel:+49…|+49…>.
_LINKED = re.compile(r"<(?:https?://|mailto:|tel:)[^|>]*\|([^>]*)>|<(https?://[^|>]*)>")


def mentioned(word: str) -> str:
    """The Slack id of the person whom a whole word mentions (`<@U0BOB>`, `<@U0BOB|bob>`); else empty."""
    found = _MENTION.fullmatch(word)
    return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class Command:
    """What was asked. `subcommand` is "" where the command stands alone; `rest` are its arguments as typed."""

    command: str
    subcommand: str
    rest: str

    @property
    def text(self) -> str:
        """The whole in one line, to be read again by `from_text`."""
        return " ".join(filter(None, (self.command, self.subcommand, self.rest)))

    def kind(self, kinds: Mapping[str, type[Operation]]) -> type[Operation] | None:
        """The operation kind this asks for, if it asks for one."""
        return next((k for k in kinds.values() if k.command == (self.command, self.subcommand)), None)


def from_slash(command: str, text: str) -> Command:
    """A slash command: `/card`, `topup 4242 50`."""
    text = _TOP_UP.sub("topup", text.strip(), count=1)
    subcommand, _, rest = text.partition(" ")
    name = command.lstrip("/").lower()
    if name == "requests" and subcommand.upper().startswith("R-"):
        return Command(name, "show", subcommand)
    if subcommand.lower() not in ("help", *_ALONE.get(name, (subcommand.lower(),))):
        return Command(name, "", text)
    wish = _WEBHOOK.fullmatch(text) if name == "countersign" else None
    if wish:
        return Command(name, f"webhook {wish[1].lower()}", wish[2].strip())
    return Command(name, subcommand.lower(), rest.strip())


def from_message(text: str) -> Command:
    """A mention or direct message: `@Countersign card topup 4242 50`, with or without the slash."""
    plain = html.unescape(_LINKED.sub(lambda m: m[1] or m[2], _OUR_NAME.sub("", text, count=1)))
    return from_text(plain)


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
    if first.name in ("tx_hash", "amount_usd"):
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
