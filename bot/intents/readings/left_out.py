"""What a question leaves out or asks beside its look-up, which no look-up can do: “without refunds”, “but Marta”.

The piece is taken out before the slots are read, so that nothing is narrowed to what was to be left out; it is kept in
the slot `unapplied`, as it was written, and the answer says that it was not applied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.intents.extraction import Entity, bounds_in
from bot.intents.model import Reading
from bot.intents.plain_text import word_set
from bot.intents.readings.context import Context

#: Look-ups of many things, of which some can be left out.
LISTS: Final = frozenset(
    {
        *("card_list", "card_transactions", "spend_show", "funding_list", "ledger_show", "decline_explain"),
        *("card_requests", "pending_approvals", "alerts_show", "card_balance", "card_show"),
    }
)
#: Look-ups that are narrowed down by merchant, amount and kind themselves.
OF_PURCHASES: Final = frozenset({"card_transactions", "spend_show", "decline_explain"})
#: Look-ups of a list that take a card, as a slot.
_OF_A_CARD: Final = OF_PURCHASES | {"card_requests", "ledger_show", "card_list"}
#: `what did Bob approve today`: the answer is what waits, whoever decided on what.
_DECIDED_BY: Final = re.compile(
    r"\b(?:did|has) (?P<person>§m\d+§|[^\W\d_]{2,}) (?:approved?|rejected?|signed?|decided?)\b(?! (?:it|my|this|that|the)\b)"
)
_NOBODY: Final = word_set("anybody anyone somebody someone everybody everyone nobody we you they he she it")
#: A state, which a list can be narrowed to, and its opposite cannot.
_STATE: Final = (
    r"(?:frozen|blocked|active|closed|on hold|on ice|declined|refused|rejected|refund(?:s|ed)?|reversed|reversals?|pending|settled"
    r"|credited|in review|under review|approved)"
)
_END: Final = r"(?=\s*(?:$|[,;:?!)]|\.(?:\s|$)|\b(?:this|last|since|today|yesterday|on|in|for|from|during|please|pls|and|above|below|over|under|between|of)\b|§p))"
_PIECE: Final = rf"[^\s,;:?!]+(?:\s+[^\s,;:?!]+){{0,3}}?{_END}"
_HINTS: Final = re.compile(
    r"without|excl|except|besides|other than|apart|aside|leav|not|minus|but|never|non|n['’]t|unfrozen"
)
_OUT: Final = re.compile(
    rf"\b(?:without(?! (?:any |a |an |me |us |my |our |the |further |\w+ing\b)*(?:reason|notice|warning|explanation|problems?|issues?|delay|details?|success|luck|asking|having|being))"
    rf"|excluding|excl\.?|except(?:ing)?(?: for)?|besides(?!,)|other than|apart from|aside from|leaving out|leave out|not counting|not including|minus)\s+{_PIECE}"
    rf"|(?:(?<=every)(?:one|body|thing|where)|\b(?:all|all cards|everyone|everybody|everything|everywhere|anyone|anything|any card|each card|every card|cards))\s+but\s+(?!not\b){_PIECE}"
    rf"|\bbut not\s+{_PIECE}"
    rf"|\b(?:not|never)\s+(?:at|from|with|by)\s+{_PIECE}"
    rf"|(?:\b(?:not|never|non)|\b\w*n['’]t)[\s-]+(?:yet |been |being |currently |now |the )*{_STATE}\b(?:\s+(?:ones|yet))?|\bunfrozen\b"
)
#: `is 3018 not frozen?` asks for the state of one card, which the answer tells.
_ONE: Final = frozenset({"card_balance", "card_show"})
#: `requests not yet approved` are those that wait; `why was it not approved` is about what happened.
_SAYS_THE_SAME: Final = re.compile(r"\b(?:not|n't)[\s-]+(?:yet |been )*approved\b")
_TO_COME: Final = re.compile(r"\b(?:tomorrow|tmrw|tmr|next|coming)\b", re.IGNORECASE)


def pieces_left_out(intent: str, text: str) -> tuple[str, list[str]]:
    """A masked clause without what it wants left out, and those pieces."""
    if intent not in LISTS:
        return text, []
    if not _HINTS.search(text):
        return text, []
    pieces = [
        found[0]
        for found in _OUT.finditer(text)
        if not _SAYS_THE_SAME.search(found[0]) and (intent not in _ONE or re.search(r"\bbut\b|§c", found[0]))
    ]
    for piece in pieces:
        text = text.replace(piece, " ")
    return text, pieces


def leaves_something_out(text: str) -> bool:
    """Is a masked text nothing but a piece to be left out: “not refunds”, “without Shell”?"""
    bare = re.sub(
        r"^(?:and|but|now|ok|okay|so|only|just|the|ones?|those|same)\s+|[\s!.?]+$", "", text.strip()
    )
    found = _OUT.match(bare) or re.match(rf"not\s+{_PIECE}", bare)
    return found is not None and found.end() == len(bare)


def unapplied(
    reading: Reading, text: str, pieces: Sequence[str], periods: Sequence[Entity], context: Context
) -> list[str]:
    """As written: what is left out, times to come, and what narrows other look-ups down but not this one.

    `periods`: those that were read and are in no slot.
    """
    found, intent = context.found, reading.wanted or reading.intent
    kinds: list[str] = []
    if intent in LISTS - _ONE:
        kinds += ["later"]
        kinds += [] if intent == "funding_list" else ["network"]
        kinds += [] if intent in _OF_A_CARD or "person" in reading.slots else ["card"]
    said = [found.original(piece).strip() for piece in pieces]
    said += [one.written for one in periods]
    said += [one.written for one in found.inside(text, "later") if _TO_COME.search(one.written)]
    said += [one.written for one in found.inside(text, *kinds)] if kinds else []
    if intent in OF_PURCHASES:
        bounds = found.inside(" ".join(bounds_in(text)), "amount")
        shop = str(reading.slots.get("merchant") or "")  # `7-Eleven`
        said += [
            one.written
            for one in found.inside(text, "amount")
            if one not in bounds and one.written not in shop
        ]
    elif intent in LISTS - _ONE:
        said += [found.original(one) for one in bounds_in(text)]
    if intent == "pending_approvals" and (by := _DECIDED_BY.search(text)) and by["person"] not in _NOBODY:
        said += [found.original(by["person"])]
    return list(dict.fromkeys(said))


__all__ = ["LISTS", "OF_PURCHASES", "leaves_something_out", "pieces_left_out", "unapplied"]
