"""Sums and numbers that a story tells: what was charged, spent or called from. They are in no form that somebody asks for.

A sentence tells where it says what was paid, taken or called, and nothing in it asks for a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final

from bot.intents.model import Reading
from bot.intents.readings import Context

_END: Final = re.compile(r"[.!?;…]+(?=\s|$)|\n")
#: A payment that was made, or is made again and again.
_PAID: Final = (
    r"(?:paid|pays|charged|charges|cost|costs|costed|spent|spends|blew|billed|bought|took|takes|burn(?:s|ed|t)|went on"
    r"|c[oa]me(?:s)? to|was|were|is(?= §a)|debited|deducted|invoiced|swiped|dropped|splashed|shelled out|coughed up|set (?:us|me|him|her|them) back)"
)
_WHO_WANTS: Final = (
    r"(?:wants|wanted|thinks|thought|says|said|asks|asked for|likes|prefers|suggests|suggested|reckons)"
)
_TELLS_A_SUM: Final = re.compile(rf"\b(?:{_PAID}|{_WHO_WANTS})\b")
_TELLS_A_NUMBER: Final = re.compile(
    r"\b(?:call(?:ed|s|ing)|rang|rings|ringing|phoned|phones|phoning|texted|texts|texting|dial+ed|messaged|whatsapped|pinged)\b"
)
#: What asks for a change, or says what shall be. `he asked for` and `please` of somebody else are none of it.
_ASKS: Final = re.compile(
    r"\b(?:please|pls|plz|kindly|(?:can|could|would|will|may) (?:you|u|we|i|someone|somebody)|needs?|needed|required?|requires|should|must|shall|ought|let|limits?|limited|caps?|capped|max(?:imum)?|ceiling"
    r"|allow\w*|load|reload|top(?:ped)?[ -]?up|topup|refill|recharge|add|put|give|send|move|unload|return|pull|set(?! (?:us|me|him|her|them) back)|make|raise|lower|bump|increase|reduce|bring|cut|change|update|adjust|switch|hold|keep"
    r"|instead|from now|new (?:number|phone|mobile|sim|cell|limit|one)|(?:it|this|that|one) (?:is|was)|short|missing|left|too much|mistake|twice|order|issue|card for)\b|:"
)
#: `he paid 310, please load that`: the sum is pointed at.
_POINTS: Final = re.compile(
    r"\b(?:that|this|the same|same|the|exactly that) (?:amount|sum|much)\b|\b(?:load|add|put|send|give|refund|cover|reimburse) (?:it|that|this|the same|as much)\b|\b(?:set|make|do|apply|change|fix|update) (?:it|that|this|so|the same)\b|\bfor (?:it|that|this)\b|\bback\b"
)
#: No sum of the request, whatever else its sentence says: `the hotel charged §a0§`.
_A_SUM: Final = re.compile(r"§a(\d+)§")
_A_NUMBER: Final = re.compile(r"§t(\d+)§")


def only_in_a_story(reading: Reading, context: Context) -> str:
    """The slot of a form whose value only a sentence of story says; empty for none."""
    wanted = [reading.slots.get("amount"), *reading.slots.get("limits", {}).values()]
    sums = {value for value in (_decimal(one) for one in wanted) if value is not None}
    phone = reading.slots.get("phone")
    sentences = list(_sentences(context.found.masked))
    if len(sentences) < 2 or not (sums or phone):
        return ""
    said: set[Decimal | str] = set()
    of_stories: set[Decimal | str] = set()
    points = False
    for sentence in sentences:
        asks = _ASKS.search(sentence) is not None
        for pattern, tells in ((_A_SUM, _TELLS_A_SUM), (_A_NUMBER, _TELLS_A_NUMBER)):
            of_story = not asks and tells.search(sentence) is not None
            values = [context.found.entities[int(number)].value for number in pattern.findall(sentence)]
            kept = of_stories if of_story else said
            kept.update(getattr(value, "value", value) for value in values)
        points = points or (asks and not _A_SUM.search(sentence) and _POINTS.search(sentence) is not None)
    if sums & (of_stories - said) and not points:
        return "limits" if "limits" in reading.slots else "amount"
    return "phone" if phone in of_stories - said else ""


#: How long a limit holds, and what may be one.
_OF_A_LIMIT: Final = re.compile(
    r"\b(?:daily|weekly|monthly|per|(?:a|each|every|one) (?:day|week|month|purchase|payment|transaction)|it|that|this|enough|better|rather|more than|only|just)\b|/"
)
_PAYMENT: Final = re.compile(rf"\b{_PAID}\b")


def tells_of_a_payment(text: str) -> bool:
    """Does a masked sentence in small letters tell what was paid, with no word that could make a limit of it?"""
    return (
        all(not pattern.search(text) for pattern in (_ASKS, _OF_A_LIMIT))
        and _PAYMENT.search(text) is not None
    )


def _sentences(masked: str) -> Iterator[str]:
    at = 0
    for stop in [*_END.finditer(masked), None]:
        end = stop.start() if stop else len(masked)
        if masked[at:end].strip():
            yield masked[at:end]
        at = stop.end() if stop else end


def _decimal(value: object) -> Decimal | None:
    try:
        return Decimal(str(value)) if value is not None else None
    except InvalidOperation:
        return None


__all__ = ["only_in_a_story", "tells_of_a_payment"]
