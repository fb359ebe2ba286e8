"""What a text may mean where the rules are not sure: ranked, with the slots that the rules could read.

A look-up with a high share is answered at once; anything else is offered. No reading made here is ever `opened`,
and none of them is a request to change something: such a one is only ever a suggestion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.intents.model import ACTIONS, KnownCard, Reading, Suggestion
from bot.intents.ranking.ranker import NONE, NOT_OFFERED, ranker
from bot.intents.readings import REQUIRED, Context, one_card, read_lookup_as, values_of
from bot.intents.recognition import Frame, asks_what_is_left, is_about_others
from bot.intents.requests import with_name

MOST: Final = 3
#: The share from which a look-up is answered without asking; below it is offered.
SURE: Final = 0.3
#: The share from which a text is taken for no request at all, or for one that is not done here.
NOTHING: Final = 0.85
REFUSED: Final = 0.4
_LEAST: Final = 0.01
#: The share from which a look-up is answered without "Not this?".
CERTAIN: Final = 0.85
#: How much likelier an intent is that the rules read too.
_READ_TOO: Final = 4.0
#: The same for a few words, which the rules read best.
_READ_TOO_SHORT: Final = 30.0
_SHORT: Final = 6
#: How much likelier a request is in what is put as a question to be answered: `which limits has 3018`.
_REQUEST_ASKED: Final = 0.1
_ASKED: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|gm|good (?:morning|afternoon|evening|day)|morning|sorry|team|dear"
    r"|all|pls|please|so|and|ok|just|quick"
    r"|question|kindly|guys|bot)\b\W*){0,6}(?:what|whats|what's|which|who|whose|whom|who's|whos|when|where|why|how|hows|is|are|was|were"
    r"|does|do (?:we|i|they|you)|did|has|have (?:we|i|they)|had|am i|any|anything|anybody)\b"
    r"|\b(?:tell me|let me know|inform me|i (?:want|would like|need|should like"
    r"|'d like) to (?:know|see|hear|be sure)|show me|remind me"
    r"|would (?:you|u) tell|confirm (?:if|whether)|check (?:if|whether))\b|\?\W*$"
)
_ASKED_FOR: Final = re.compile(
    r"\b(?:(?:can|could|would|will|may|might|shall) (?:you|u|we|i|someone|somebody|it|§c\d+§|her"
    r"|his|the)|would you mind|possible to)\b"
    r"(?!.{0,25}\b(?:tell|show|say|explain|check|confirm|inform|list|see|know)\b)"
)
#: A look-up that the rules read with one of these stands against another one: the ranker sees no merchant, no status.
#: Of a few words it stands against a refusal too: `refunds on 3018`.
_FEW: Final = 4
_SAID: Final = frozenset(
    {"merchant", "status", "person", "kind", "above", "at_least", "below", "at_most", "request", "tx_hash"}
)
#: No look at a request: a decision on it.
_DECIDES: Final = re.compile(
    r"\b(?:yes|ok|okay|okayed|ok'ing|approv\w*|accept\w*|reject\w*|declin\w*|deny|denied|sign\w*|agree\w*|honours?|honors?|cancel\w*|behalf|says|confirm\w*|through)\b"
)
#: `and Jonas's?`, `last month`: what was said before is missing, and nothing tells what it was.
_JOINING: Final = r"(?:(?:and|what about|how about|for|the|now|then|'s)\b|[^\w§])*"
_LONGEST_VALUE: Final = 120  # characters; nobody joins one value with more
_ONE_VALUE: Final = re.compile(rf"{_JOINING}(?:§[a-z]\d+§)?{_JOINING}")
#: Requests that are no kind of `ACTIONS`.
_REQUESTS: Final = ACTIONS | {"reveal_card", "pause_sending", "undo"}
_NOT_HERE: Final = "That is not offered in conversation."


@dataclass(frozen=True, slots=True)
class Ranked:
    """The readings that stand, and what is offered beside or instead of them."""

    readings: tuple[Reading, ...]
    suggestions: tuple[Suggestion, ...] = ()


def ranked(readings: Sequence[Reading], context: Context) -> Ranked:
    """The readings of the rules with what the ranker says to them. What is sure is left as it is."""
    readings = tuple(readings)
    first = readings[0]
    masked = context.found.masked
    if (
        context.doubts
        or _is_settled(readings)
        or (len(masked) <= _LONGEST_VALUE and _ONE_VALUE.fullmatch(masked))
    ):
        return Ranked(readings)
    if _is_others(first, masked):
        return Ranked((Reading(NONE),))
    left_out = frozenset({"spend_show"}) if asks_what_is_left(masked) else frozenset[str]()
    shares = _with_rules(
        _of_a_question(ranker().ranked(masked), masked),
        first,
        is_short=len(masked.split()) <= _SHORT,
        left_out=left_out,
    )
    best, share = shares[0]
    if len(readings) == 1 and first.intent not in ("ambiguous", "help") and _SAID & first.slots.keys():
        is_look_up = best not in (NONE, NOT_OFFERED) and best not in _REQUESTS
        by_id = first.slots.get("request", "last") != "last" and not _DECIDES.search(masked)
        if is_look_up or (best == NOT_OFFERED and (by_id or len(masked.split()) <= _FEW)):
            return Ranked(readings)
    if best == NOT_OFFERED and share >= REFUSED and first.intent != "ambiguous":
        refused = Reading("help", notes=(_NOT_HERE,))
        return Ranked((refused,), () if share >= CERTAIN else _offered(shares, context, refused))
    if len(readings) > 1:
        known = {r.intent for r in readings} | {r.wanted for r in readings}
        return Ranked(readings, () if best in known else _offered(shares, context, first))
    if first.intent == "ambiguous":
        return Ranked(readings, _offered(shares, context, first))
    if best == NONE and share >= NOTHING:
        return Ranked((Reading(NONE),))
    if best == first.intent and first.intent != NONE:
        return Ranked(readings, () if share >= CERTAIN else _offered(shares, context, first))
    if best not in (NONE, NOT_OFFERED) and best not in _REQUESTS and share >= SURE:
        read = read_lookup_as(best, context)
        return Ranked((read,), _offered(shares, context, read))
    if first.intent != NONE and best not in _REQUESTS:
        return Ranked(readings, _offered(shares, context, first))
    return Ranked((Reading(NONE),), _offered(shares, context, Reading(NONE)))


def _is_settled(readings: Sequence[Reading]) -> bool:
    return any(r.opened or r.is_action or r.kind or r.notes or r.takes_back for r in readings)


def _is_others(first: Reading, masked: str) -> bool:
    """`their bank fees are a joke`: neither the rules nor the ranker know whose fees they are."""
    return first.intent in (NONE, "fees_show", "ledger_show") and is_about_others(masked)


def _of_a_question(shares: Sequence[tuple[str, float]], masked: str) -> list[tuple[str, float]]:
    """The shares, those of requests made small where the text only asks."""
    if not _ASKED.search(masked) or _ASKED_FOR.search(masked):
        return list(shares)
    return [(i, share * (_REQUEST_ASKED if i in _REQUESTS else 1.0)) for i, share in shares]


def _with_rules(
    shares: Sequence[tuple[str, float]], first: Reading, *, is_short: bool, left_out: frozenset[str]
) -> list[tuple[str, float]]:
    """The shares, with what the rules have read counted in, the likeliest first."""
    read = first.wanted or first.intent
    factor = {read: _READ_TOO_SHORT if is_short else _READ_TOO} if read not in (NONE, "ambiguous") else {}
    weighed = [(i, share * factor.get(i, 1.0)) for i, share in shares if i not in left_out]
    whole = sum(share for _, share in weighed)
    return sorted(((i, share / whole) for i, share in weighed), key=lambda pair: (-pair[1], pair[0]))


def _offered(shares: Sequence[tuple[str, float]], context: Context, first: Reading) -> tuple[Suggestion, ...]:
    """At most three other intents, best first. Beside an answer at most two."""
    most = MOST if first.intent in (NONE, "ambiguous") else MOST - 1
    fit = [
        (intent, share)
        for intent, share in shares
        if intent not in (NONE, NOT_OFFERED, first.intent) and share >= _LEAST
    ]
    return tuple(_suggestion(intent, share, context) for intent, share in fit[:most])


def _suggestion(intent: str, share: float, context: Context) -> Suggestion:
    if intent not in _REQUESTS:
        read = read_lookup_as(intent, context)
        return Suggestion(intent, read.slots, round(share, 3), read.card, read.ask)
    text = context.found.masked
    slots: dict[str, Any] = {}
    card: KnownCard | None = None
    if intent not in REQUIRED or "card" in REQUIRED[intent]:
        written, card = one_card(context)
        slots |= {"card": written} if card is not None else {}
    if intent in REQUIRED:
        values = values_of(Frame(intent, text), text, context.found)
        slots |= values.slots if values.doubt is None else {}
    if intent == "order_card":
        slots = with_name(slots, context)
    return Suggestion(intent, slots, round(share, 3), card)
