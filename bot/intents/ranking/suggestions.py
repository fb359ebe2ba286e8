"""What a text may mean where the rules are not sure: ranked, with the slots that the rules could read.

A look-up with a high share is answered at once; anything else is offered. No reading made here is ever `opened`,
and none of them is a request to change something: such a one is only ever a suggestion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.intents.by_sentence import asks_without_number
from bot.intents.doubts import direction_of
from bot.intents.model import ACTIONS, KnownCard, Reading, Suggestion
from bot.intents.ranking.ranker import NONE, NOT_MEANT, NOT_OFFERED, ranker
from bot.intents.readings import (
    REQUIRED,
    Context,
    card_by_a_common_word,
    first_load,
    one_card,
    questions,
    read_lookup_as,
    values_of,
)
from bot.intents.recognition import Frame, asks_what_is_left, is_about_others, is_said_plainly, spaced
from bot.intents.requests import with_name

MOST: Final = 3
#: The share from which a look-up is answered without asking; below it is offered.
SURE: Final = 0.3
#: The share from which a text is taken for no request at all, or for one that is not done here.
NOTHING: Final = 0.85
REFUSED: Final = 0.4
#: The share from which nothing is offered to what only looks like a request; below it that share counts for nothing.
ONLY_LOOKS_SO: Final = 0.985
#: The share of all requests below which the form of one that the rules would open is asked about first.
RULED_OUT: Final = 0.05
#: Requests known by a value that no other has: a rate, a hash.
_KNOWN_BY_VALUE: Final = frozenset({"set_markup", "submit_funding"})
_LEAST: Final = 0.01
#: The share from which a request is offered for a question: it was made small before.
_LEAST_ASKED: Final = 0.12
#: The share from which a look-up is answered without "Not this?".
CERTAIN: Final = 0.85
#: The same where the rules have read it, which makes its share larger.
_AGREED: Final = 0.95
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
    r"|[.!?\n…]\s*(?:so |and |but )?(?:what|whats|what's|which|who|who's|whose|when|why|how much|how many)\b"
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
#: Look-ups that are said to leave something out, where anything is.
_LEAVE_OUT: Final = frozenset({"card_transactions", "spend_show", "funding_list"})
#: No look at a request: a decision on it.
_DECIDES: Final = re.compile(
    r"\b(?:yes|ok|okay|okayed|ok'ing|approv\w*|accept\w*|reject\w*|declin\w*|deny|denied|sign\w*|agree\w*|honours?|honors?|cancel\w*|behalf|says|confirm\w*|through)\b"
)
#: The same beyond doubt: `Lena says ok to R-7K3M, so you can let it through`.
_LETS_PASS: Final = re.compile(
    r"\b(?:let|put|wave|push) (?:it|this|that|§r\d+§) through\b|\bon (?:my|his|her|their) behalf\b|\bsa(?:ys|id) (?:ok|okay|yes|go)\b"
)
#: `and Jonas's?`, `last month`: what was said before is missing, and nothing tells what it was.
_JOINING: Final = r"(?:(?:and|what about|how about|for|the|now|then|'s)\b|[^\w§])*"
_LONGEST_VALUE: Final = 120  # characters; nobody joins one value with more
_ONE_VALUE: Final = re.compile(rf"{_JOINING}(?:§[a-z]\d+§)?{_JOINING}")
#: `2+2`: there is not one word to tell a request by.
_ONLY_FIGURES: Final = re.compile(r"(?:§[axfp]\d+§|[^\w§])*")
#: Requests that are no kind of `ACTIONS`.
_REQUESTS: Final = ACTIONS | {"reveal_card", "pause_sending", "undo"}
_NOT_HERE: Final = "That is not offered in conversation."
#: Not in the chat, but by its own link: a card's number. What stands on its back, or its PIN, is shown nowhere.
_NUMBER: Final = re.compile(
    r"\bcards? ?(?:numbers?|no\b|nr\b|digits)|\b(?:full|long|whole|complete|entire) (?:card )?(?:numbers?|pan|digits|no\b|nr\b)"
    r"|(?:\bsixteen|\ball(?: the| of the)?(?: §[ax]\d+§)?) digits\b|\bnumbers?\b.{0,40}\b(?:in full|complete)\b|\bpan\b"
)
#: Where a sentence ends, and where a request begins behind a comma.
_SENTENCE: Final = re.compile(
    r"(?<=[.!?;])\s+|\n+|\s[–—-]\s|,\s+(?=(?:so |and |but )?(?:please|pls|can|could|would|take|put|load|lower|raise|set|top|give|get|pull|no wait)\b)"
)
_ASKS: Final = re.compile(
    r"\b(?:please|pls|plz|can|could|would|(?:^|(?:so|and)\s)(?:take|put|load|lower|raise|set|top|give|get|pull|make))\b"
)
#: Words of requests that few texts hold, and the ranker has hardly seen.
_WORDS_OF: Final = {
    "set_3ds": re.compile(
        r"\b(?:codes?|threeds|otps?|one[ -]time (?:codes?|passwords?|passcodes?))\b[^.?!]{0,60}\b(?:e-?mail|mail|sms|text|texts|webhook|app)\b"
        r"(?=[^.?!]{0,40}(?:\b(?:instead|from now|not|any ?more|please|pls|by|to)\b|$))"
    ),
    "pause_sending": re.compile(
        r"\bnothing (?:\w+ )?(?:leaves|goes|moves|gets|is sent|is paid)\b|\b(?:big )?red button\b|\b(?:shut|lock|stop|halt|hold|freeze) (?:it all|everything|all of it|all outgoing|all payouts)\b"
        r"|\bno (?:more )?(?:money|payments?|payouts?|transfers?) (?:leaves?|goes|go|may leave|out)\b"
    ),
    "set_limits": re.compile(
        r"\b(?:one|a single|each|any|no) (?:purchase|payment|transaction|swipe)\b[^.?!]{0,40}\b(?:must not|may not|should not|can'?t|over|above|beyond|more than|pass|exceed)\b[^.?!]{0,20}§a"
    ),
}
_SECRET: Final = re.compile(r"\b(?:cvv|cvc|cv2|security code|pin(?:code)?)\b")


#: Said of the books alone, and seldom enough that the ranker hardly knows it.
_BOOKED: Final = re.compile(
    r"\b(?:booked|bookings?|posted|postings|the books|book entr\w+|accounting registrations?)\b"
)
#: Look-ups of purchases, which take a merchant, a kind and an amount all alike.
_SEE_MERCHANTS: Final = frozenset({"card_transactions", "spend_show", "decline_explain"})
#: A word of cards and money: without one nothing is refused, and no help is given unless it speaks to us.
_SPEAKS_OF_MONEY: Final = re.compile(
    r"§[chrnk]\d+§|\b(?:cards?|plastic|float|top(?:ping)?[ -]?ups?|load\w*|freez\w*|frozen|block\w*|unblock\w*|limits?|pay\w*|paid"
    r"|purchas\w*|spen[dt]\w*|refund\w*|reimburs\w*|charge\w*|transactions?|balance|money|cash|funds?|funding|accounts?|bank|wallet"
    r"|crypto|usd[tc]?|bitcoin|btc|eth|dollars?|euros?|currency|convert|exchange|invoice|iban|transfer\w*|wire|withdraw\w*|deposit\w*"
    r"|approv\w*|sign\w*|request\w*|pin\w*|cvv|cvc|digits|holder|credit\w*|ledger|mark-?up|fees?|threeds|atm|schedul\w*"
    r"|recurring|automatic\w*|standing order|undo|pause)\b"
)
_SPEAKS_TO_US: Final = re.compile(
    rf"{_SPEAKS_OF_MONEY.pattern}|\b(?:bot|countersign|commands?|menu|help|type|say|ask|can you|do you|are you|you (?:do|understand|know)|cmds?|tricks|use (?:this|you|it))\b"
)
Shares = Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The readings that stand, and what is offered beside or instead of them."""

    readings: tuple[Reading, ...]
    suggestions: tuple[Suggestion, ...] = ()


def ranked(readings: Sequence[Reading], context: Context) -> Ranked:
    """The readings of the rules with what the ranker says to them, and with what the words of a request tell."""
    readings = [_with_second_opinion(one, context) for one in readings]
    found = _ranked(readings, context)
    if context.doubts or any(r.opened or r.kind or r.takes_back for r in readings):
        return found
    known = {name for r in (*found.readings, *readings) for name in (r.intent, r.wanted)}
    known |= {one.intent for one in found.suggestions}
    more = tuple(_suggested(intent, context) for intent in _by_words(context) if intent not in known)
    if more:
        found = Ranked(found.readings, (*more, *found.suggestions)[:MOST])
    return _in_its_direction(found, context)


def _with_second_opinion(reading: Reading, context: Context) -> Reading:
    """A form that would open, kept closed where the ranker all but rules out that this is the request which is meant.

    The rules and the ranker err in different places: it sees the whole text, they its frames and values. Whether anything
    is meant at all is left to the rules.
    """
    if not reading.opened or reading.kind or not _is_ruled_out(reading.intent, context):
        return reading
    ask = questions.really(reading.intent, reading.slots, "I am not sure that this asks for it.")
    return replace(reading, intent="ambiguous", wanted=reading.intent, opened=False, ask=ask)


def _is_ruled_out(intent: str, context: Context) -> bool:
    if intent in _KNOWN_BY_VALUE:
        return False
    masked = context.found.masked
    shares = {name: share for name, share in ranker().ranked(masked) if name in _REQUESTS}
    rules_best = _READ_TOO_SHORT if len(masked.split()) <= _SHORT else 1.0
    if intent not in shares or shares[intent] * rules_best >= RULED_OUT * sum(shares.values()):
        return False
    return direction_of(spaced(masked).lower()) != intent


def _in_its_direction(found: Ranked, context: Context) -> Ranked:
    """The same with the way of a freeze that its words come to put first, and never the other one."""
    masked = context.found.masked
    if not context.found.inside(masked, "card") or not (way := direction_of(spaced(masked).lower())):
        return found
    beside = tuple(one for one in found.suggestions if one.intent not in ("freeze_card", "unfreeze_card"))
    if any(way in (one.intent, one.wanted) for one in found.readings):
        return Ranked(found.readings, beside)
    likeliest = max((one.score for one in found.suggestions), default=0.0)
    first = _suggested(way, context)
    first = replace(first, score=max(first.score, likeliest))
    return Ranked(found.readings, (first, *beside)[:MOST])


def _by_words(context: Context) -> Iterator[str]:
    """The requests that seldom words, or a telephone with a mailbox, leave no doubt of; of what is asked, none."""
    masked = context.found.masked
    if _ASKED.search(masked) and not _ASKED_FOR.search(masked):
        return
    yield from (intent for intent, words in _WORDS_OF.items() if words.search(masked))
    if context.found.inside(masked, "phone") and context.found.inside(masked, "email"):
        yield "order_card"
    if _asks_for_a_number(context) and context.found.inside(masked, "card"):
        yield "reveal_card"


def _suggested(intent: str, context: Context) -> Suggestion:
    return _suggestion(intent, dict(ranker().ranked(context.found.masked)).get(intent, 0.0), context)


def _ranked(readings: Sequence[Reading], context: Context) -> Ranked:
    """The readings of the rules with what the ranker says to them. What is sure is left as it is."""
    readings = tuple(readings)
    first = readings[0]
    masked = context.found.masked
    if first.intent == "help" and _asks_for_a_number(context):
        return Ranked(readings, _link_offered(context))
    if (
        context.doubts
        or _is_settled(readings)
        or (len(masked) <= _LONGEST_VALUE and _ONE_VALUE.fullmatch(masked))
        or _ONLY_FIGURES.fullmatch(masked)
    ):
        return Ranked(readings)
    if _is_others(first, context):
        return Ranked((Reading(NONE),))
    ranks = ranker().ranked(masked)
    if first.intent == NONE and ranks[0][0] == NOT_MEANT and ranks[0][1] >= ONLY_LOOKS_SO:
        return Ranked((Reading(NONE),))
    shares = _with_rules(_of_a_question(ranks, masked), first, masked)
    return _weighed(readings, shares, context)


def _weighed(readings: tuple[Reading, ...], shares: Shares, context: Context) -> Ranked:
    """The readings where they stand against the likeliest intent, else that one."""
    first, masked = readings[0], context.found.masked
    best, share = shares[0]
    if len(readings) == 1 and is_said_plainly(first.intent, masked):
        return Ranked(readings, () if best == first.intent else _offered(shares, context, first))
    if first.intent in (NONE, "help") and _is_not_ours(best, share, masked):
        return Ranked((Reading(NONE),))
    if len(readings) == 1 and _stands(first, best, share, masked):
        return Ranked(readings)
    if best == NOT_OFFERED and share >= REFUSED and first.intent != "ambiguous":
        refused = Reading("help", notes=(_NOT_HERE,))
        if _asks_for_a_number(context):
            return Ranked((refused,), _link_offered(context))
        return Ranked((refused,), () if share >= CERTAIN else _offered(shares, context, refused))
    if len(readings) > 1 and not _is_another_look(readings, best, share):
        known = {r.intent for r in readings} | {r.wanted for r in readings}
        return Ranked(readings, () if best in known else _offered(shares, context, first))
    if first.intent == "ambiguous":
        return Ranked(readings, _offered(shares, context, first))
    if best == NONE and share >= NOTHING:
        return Ranked((Reading(NONE),))
    if best == first.intent and first.intent != NONE:
        return Ranked(readings, () if share >= _AGREED else _offered(shares, context, first))
    if _is_look(best) and share >= SURE:
        read = read_lookup_as(best, context)
        return Ranked((read,), _offered(shares, context, read))
    if first.intent != NONE and best not in _REQUESTS:
        return Ranked(readings, _offered(shares, context, first))
    return Ranked((Reading(NONE),), _offered(shares, context, Reading(NONE)))


def _is_not_ours(best: str, share: float, masked: str) -> bool:
    """Is something asked that is not done here, or for help, without a word of cards, of money or to us?"""
    if best == NOT_OFFERED:
        return not _SPEAKS_OF_MONEY.search(masked)
    return best == "help" and share < CERTAIN and not _SPEAKS_TO_US.search(masked)


def _stands(first: Reading, best: str, share: float, masked: str) -> bool:
    """Does a look-up stand against another one, as the rules saw what the ranker does not see?"""
    if first.intent == "card_show" and asks_without_number(masked):
        return True
    if first.intent == "ledger_show" and _is_look(best) and _BOOKED.search(masked):
        return True
    # `spend without refunds`: money back is not what is asked for.
    leaves_out = first.intent in _LEAVE_OUT and "unapplied" in first.slots
    if first.intent in ("ambiguous", "help") or not (_SAID & first.slots.keys() or leaves_out):
        return False
    if {best, first.intent} <= _SEE_MERCHANTS and best != first.intent and share >= CERTAIN:
        return False
    by_person = "person" in first.slots and bool(_ASKED.search(masked))  # `what has jonas to sign off`
    by_id = first.slots.get("request", "last") != "last" and not _DECIDES.search(masked)
    return _is_look(best) or (
        best == NOT_OFFERED and (by_id or by_person or leaves_out or len(masked.split()) <= _FEW)
    )


def _is_another_look(readings: Sequence[Reading], best: str, share: float) -> bool:
    """Is one look-up certain, where the rules read others from clause to clause, and no request among them?"""
    known = {r.intent for r in readings} | {r.wanted for r in readings}
    return (
        best not in known
        and _is_look(best)
        and share >= CERTAIN
        and not any(r.wants_action for r in readings)
    )


def _is_look(intent: str) -> bool:
    return intent not in (NONE, NOT_OFFERED) and intent not in _REQUESTS


def _asks_for_a_number(context: Context) -> bool:
    """Is a card's number asked for, and nothing that is shown nowhere?"""
    masked = context.found.masked
    return not context.doubts and bool(_NUMBER.search(masked)) and not _SECRET.search(masked)


def _link_offered(context: Context) -> tuple[Suggestion, ...]:
    """The request that shows a card's number by its own link."""
    return (_suggested("reveal_card", context),)


def _is_settled(readings: Sequence[Reading]) -> bool:
    return any(r.opened or r.is_action or r.kind or r.notes or r.takes_back for r in readings)


def _is_others(first: Reading, context: Context) -> bool:
    """`their bank fees are a joke`: neither the rules nor the ranker know whose fees they are.

    `show me her ledger entries` is of the card that was named.
    """
    masked = context.found.masked
    if re.search(r"\bledger\b", masked) and context.found.inside(masked, "card"):
        return False
    return first.intent in (NONE, "fees_show", "ledger_show") and is_about_others(masked)


def _of_a_question(shares: Shares, masked: str) -> list[tuple[str, float]]:
    """The shares, those of requests made small where the text only asks."""
    if not _ASKED.search(masked) or _ASKED_FOR.search(masked):
        return list(shares)
    return [(i, share * (_REQUEST_ASKED if i in _REQUESTS else 1.0)) for i, share in shares]


def _with_rules(shares: Shares, first: Reading, masked: str) -> list[tuple[str, float]]:
    """The shares, with what the rules have read counted in, the likeliest first."""
    left_out = {NOT_MEANT, *({"spend_show"} if asks_what_is_left(masked) else ())}
    read = first.wanted or first.intent
    more = _READ_TOO_SHORT if len(masked.split()) <= _SHORT else _READ_TOO
    decided = read == "request_show" and _LETS_PASS.search(masked)
    factor = {} if read in (NONE, "ambiguous") or decided else {read: more}
    weighed = [(i, share * factor.get(i, 1.0)) for i, share in shares if i not in left_out]
    whole = sum(share for _, share in weighed)
    return sorted(((i, share / whole) for i, share in weighed), key=lambda pair: (-pair[1], pair[0]))


def _offered(shares: Shares, context: Context, first: Reading) -> tuple[Suggestion, ...]:
    """At most three other intents, best first. Beside an answer at most two."""
    most = MOST if first.intent in (NONE, "ambiguous") else MOST - 1
    masked = context.found.masked
    least = _LEAST_ASKED if _ASKED.search(masked) and not _ASKED_FOR.search(masked) else _LEAST
    fit = [
        (intent, share)
        for intent, share in shares
        if intent not in (NONE, NOT_OFFERED, first.intent)
        and share >= (least if intent in _REQUESTS else _LEAST)
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
        if card is None:
            written, card = card_by_a_common_word(context)
        slots |= {"card": written} if card is not None else {}
    if intent in REQUIRED:
        slots |= _values(intent, text, context)
    if intent == "order_card":
        slots = {**with_name(slots, context), **first_load(context.found)}
    return Suggestion(intent, slots, round(share, 3), card)


def _values(intent: str, text: str, context: Context) -> dict[str, Any]:
    """What the whole text gives without a doubt; else what the one sentence gives that asks for something."""
    whole = values_of(Frame(intent, text), text, context.found)
    if whole.doubt is None or whole.slots:
        return dict(whole.slots)
    kept: list[dict[str, Any]] = []
    for sentence in _SENTENCE.split(text):
        if _ASKS.search(sentence):
            values = values_of(Frame(intent, sentence), sentence, context.found)
            kept += [dict(values.slots)] if values.doubt is None and values.slots else []
    return kept[0] if len(kept) == 1 else {}
