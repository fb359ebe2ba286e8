"""A request with a story around it: `Sofia thinks somebody copied her card, can you lock it`.

The message is cut into parts. At least one of them says the request, in words that are all known; some only name the
card or the amount; every other part is judged by `around`. The card has to be one, and every figure is accounted for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.intents.extraction import INCIDENTAL, Entity
from bot.intents.model import KnownCard, Reading
from bot.intents.plain_text import QUOTED, Clause
from bot.intents.readings import Context, is_today, plain, questions
from bot.intents.recognition import find_loose_request, find_requests, spaced
from bot.intents.requests.against import (
    ANY_CARD,
    ELSEWHERE,
    HARMLESS,
    LONGEST,
    NEGATED,
    asks_for_two,
    names_by_a_word,
    speaks_against,
)
from bot.intents.requests.around import introduces, speaks_against_from_around
from bot.intents.requests.directed_words import directed
from bot.intents.requests.parts import Part, cut, tells_enough
from bot.intents.requests.states import without_states
from bot.intents.requests.wording import Said, is_small, said_before_a_story, said_in

_A_CARD: Final = re.compile(
    r"\bone of (?:our|the|my) cards\b|\b(?:an?|one|me one) (?:card|top[ -]?up|recharge|refill|load)\b|\b(?:freeze|block|unfreeze|close) card\b|\btopup\b|\btop[ -]?up §a|\bun-?freeze(?=\W*(?:$|,|please|pls|for|as|since))"
)
_WHEN: Final = re.compile(r"§[pl]\d+§")
_MONEY: Final = frozenset({"topup_card", "unload_card"})
_FEWEST_WORDS: Final = 3  # a story has a subject and a verb; a day alone says when
_POLITELY: Final = re.compile(
    r"\b(?:can|could|would|will|may|might|mind|possible)\b|\b(?:pls|please|kindly)\b"
)
#: An amount in a story is what is on the card, or was paid, unless it is what is needed.
_NEEDED: Final = re.compile(
    r"\b(?:need(?:s|ing)?|requires?|short(?: by| of)?|wants|missing|cover|another|more)\s+(?:\w+\s+){0,2}?§a\d+§|§a\d+§\s+(?:short|more|is missing|is needed)"
)
#: How a story is joined that begins without a stop.
_IN_ONE_BREATH: Final = "⋯"
_SOMEBODY_DOES: Final = re.compile(
    r"(?:he|she|they|it|we|i|who|because|since|as|somebody|someone|his|her|their)\b"
)
#: What is joined so speaks against what was said before it.
_OBJECTS: Final = re.compile(r"\bbut\b")
#: The amount of the story, pointed at by the request; not one that has been put there already.
_NAMED_SUM: Final = re.compile(
    r"(?<!some of )(?<!part of )(?<!all )\b(?:this|that|the same|the|said|exactly this|exactly that) (?:amount|sum|money|figure)\b|\b(?:these|those)\b"
)
_ALREADY: Final = re.compile(
    r"\b(?:loaded|topped up|added|put|sent|gave|given|received|spent|paid|charged|declined|refunded|limit|limits|a day|a week|a month)\b"
)
#: `1,250` without a currency is thousands for some and cents for others: enough for a plain command only.
_BARE_COMMA: Final = re.compile(r"\d{1,3},\d{3}")
#: One word and a past day tell all: `replaced last week`.
#: What a payment is for, by its paper: `against PO 4410`, `reason: invoice 11/2026`.
_NAMES_A_REASON: Final = re.compile(r"\b(?:against|reason|ref|as per) (?:the )?§x\d+§\W*$")
#: `invoice follows tomorrow`: its paper is late, not the request.
_FOLLOWS: Final = re.compile(
    r"^\W*(?:the |her |his |their |an? )?(?:receipts?|invoices?|bills?|paperwork|documents?|slips?|details|vouchers?) (?:(?:will|to|is|are|should) )*(?:comes?|coming|follows?|following|sent|due|be sent)\b"
)
_SOMEBODY_GOES: Final = re.compile(
    r"^(?:§c\d+§|he|she|they) (?:travels|flies|leaves|drives|lands|arrives|departs|returns)\b"
)
_HAPPENED: Final = frozenset(
    {"replaced", "lost", "stolen", "returned", "expired", "resigned", "quit", "cracked", "cloned"}
)
_PROMISES: Final = re.compile(
    r"^\W*(?:i|we)(?:'?ll| will)?\s+(?:explain|tell|send|write|call|call you|report|confirm)\b"
)
_PURCHASED: Final = re.compile(
    r"\b(?:charg\w+|purchas\w+|payments?|debits?|transactions?|txns?|spent|refund\w*|shop|store|attempts?|withdrawals?|bought)\b"
)
_NEEDS_MONEY: Final = re.compile(r"\b(?:needs?|short|more|add|load|put|send|give|limit|top)\b")
#: The balance that a story tells: `Ines has only 4,11 left`.
_LEFT: Final = re.compile(
    r"\b(?:has|have|had|only|down to|got|with)\s+(?:only\s+|just\s+)?§a\d+§\s+(?:\w+\s+)?left\b|\bis down to\s+§a\d+§"
)
#: What is to come is part of the story where somebody or something comes, goes or has to be paid.
_TO_COME: Final = re.compile(
    r"\b(?:(?:receipts?|invoices?|bills?|paperwork|documents?|slips?|details|vouchers?) (?:comes?|follows?|will (?:come|follow)|to follow)|travels?|travelling|traveling|leaves? for|leaving for|flies|flying|lands?|arrives?|departs?|drives?|driving|goes to|going to (?:be|pay|need|travel|fly)|charges?|due|renews?|pays?"
    r"|will (?:charge|pay|need|explain|tell|send|give|be)|i'll (?:explain|send|tell|be)|hope you|starts|launch\w*|opens|off to|back|has a|meeting|booked|books|stalls|runs out|ends|moved to|postponed|delayed|extended|extends|rescheduled|sleeps?|stays? (?:in|at|until)|flight|train|checks? (?:in|out)|interview|appointment|wedding|course)\b"
)


#: Any form of any action's verb: in the words around a request there may be none.
_CUE: Final = re.compile(
    r"\b(?:un-?|de|re-?)?(?:freez\w*|froz\w*|block\w*|lock(?:ed|s|ing)?|thaw\w*|defrost\w*|suspend\w*|paus\w*"
    r"|activat\w*|enabl\w*|disabl\w*|clos(?:e|es|ed|ing|ure)|terminat\w*|cancel\w*|kill\w*|delet\w*"
    r"|top\w*[ -]?up\w*|topup\w*|load\w*|recharg\w*|fund(?:s|ed|ing)?|credited|unload\w*|withdr\w*|submit\w*"
    r"|reveal\w*|replacement|new card|order\w*)\b"
)


@dataclass(frozen=True, slots=True)
class _Divided:
    """A message by its parts: what they say, and those that tell something else."""

    said: tuple[tuple[Part, Said], ...]
    small: tuple[Part, ...]
    story: tuple[Part, ...]


def read_explained_request(clauses: Sequence[Clause], context: Context) -> Reading | None:
    """The one request of a message that also tells why; None where there is any doubt."""
    text = _said_plainly(context)
    if context.doubts or QUOTED in text or len(text.split()) > LONGEST or _SHOWS_DETAILS.search(text):
        return None
    if asks_for_two(clauses) or names_by_a_word(context):
        return None
    divided = _divided(cut(text))
    if not divided.said:
        divided = _with_free_words(divided)
    intents = {said.intent for _, said in divided.said}
    if len(intents) != 1:
        return None
    intent = intents.pop()
    card = only_card(context)
    if any(part.asked and not _POLITELY.search(part.text) for part, _ in divided.said):
        return None
    asking = {part.sentence for part, _ in divided.said if _POLITELY.search(part.text)}
    for part in divided.story:
        if part.colon and introduces(part.text):
            return None
        near = [
            own for own, _ in divided.said if own.sentence == part.sentence and not _is_paid_for(part, own)
        ]
        if ELSEWHERE.search(part.text) and any(
            not _NAMES_A_CARD.search(own.text) or _NO_TALE.search(part.text) is None for own in near
        ):
            return None
        asked = part.asked and part.sentence not in asking
        if speaks_against_from_around(
            part.text,
            intent,
            asked=asked,
            objects=_OBJECTS.search(part.joined) is not None,
            goes_on=part.goes_on,
        ):
            return None
    if any(part.asked and not _POLITELY.search(part.text) for part in divided.small if part.text):
        return None
    if card is None or ANY_CARD.search(text):
        return _without_card(intent, text, context)
    return _reading(intent, divided, card, context)


#: Behind a comma and an amount for a card: `8863 +180 pls, office chairs`.
_A_THING: Final = re.compile(r"^[a-z'-]+(?: [a-z'-]+){0,3}$")


def _is_paid_for(part: Part, own: Part) -> bool:
    """Is a part no more than a thing that the money of the request is for?"""
    complete = re.search(r"§a\d+§", own.text) is not None and re.search(r"§c\d+§", own.text) is not None
    return (
        complete and part.goes_on and _A_THING.match(part.text) is not None and not NEGATED.search(part.text)
    )


def _said_plainly(context: Context) -> str:
    """The masked text with its request said as a command says it."""
    text = without_states(spaced(context.found.masked))
    text = _as_closed(_as_lifted(_as_emptied(_with_signs(text, context))))
    return _NOT_ENOUGH.sub(" . ", text) if _ENDS_IT.search(text) else text


#: `3018 +60 petrol`: what an amount is for, without its "for".
_SPENT_ON: Final = re.compile(
    r"(§a\d+§(?: usd)?)\s+(?=(?:fuel|petrol|gas|diesel|tolls?|parking|taxi|cab|hotel|lunch|dinner|food|groceries|travel|train|flights?|tickets?|supplies|tires|tyres|parts|tools|materials|stationery|postage|ads|rent|repairs?)\W*$)"
)
_ARROW_TO: Final = re.compile(r"(§a\d+§)(?: usd)?\s*(?:->|→|=>|>>)\s*(§c\d+§)")
_ARROW_FROM: Final = re.compile(r"(§c\d+§)\s*(?:->|→|=>|>>)\s*\+?\s*(§a\d+§)")


#: `8863 is still frozen, sort it please`: what is to be done stands before it.
_STILL_FROZEN: Final = re.compile(
    r"^(?P<before>[^.!?\n]{0,60}?)(?P<card>§c\d+§)(?: is|'s)?(?: (?:still|wrongly|only|again|now))* (?:frozen|blocked|locked|suspended|on hold)(?: (?:by mistake|in error|wrongly))?(?P<after>(?:[.,;!\n]| (?:and|but|so)\b)\s*.*)$",
    re.DOTALL,
)
_WE_FROZE: Final = re.compile(
    r"^(?P<before>\W*)(?:we|i) (?:froze|blocked|locked|paused|suspended) (?P<card>§c\d+§)(?P<after> .*)$",
    re.DOTALL,
)
_LIFT_IT: Final = re.compile(
    r"\b(?:lift|open|release|undo|remove|sort|fix) (?:it|that|this)(?: out| up| again)?(?=\W*(?:please|pls|plz|now|asap|today|for (?:him|her|them|me|us)|⋯|\s)*$)"
    r"|\bto be (?:removed|lifted|released|undone)(?=\W*(?:please|pls|now|asap|\s)*$)"
)


_SHOWS_DETAILS: Final = re.compile(r"\breveal\w*\b")
#: `everything that is on §c0§ please return to the float`.
_ALL_ON_IT: Final = re.compile(
    r"\b(?:everything|whatever)(?: what| that| which)?(?: is|'s)(?: still)?(?: left| lying)? on (?P<card>§c\d+§)[\s,:]+(?:please|pls|kindly) (?P<verb>return|fetch|bring|take|pull|move|send)(?: it| that)?(?: back)?(?: (?:in)?to (?:the |our )?(?:float|pot))?"
)


#: `close it for good, freezing is not enough`.
_ENDS_IT: Final = re.compile(r"\bclos(?:e|ed|ing|ure)\b|\b(?:for good|permanently)\b")
_NOT_ENOUGH: Final = re.compile(
    r"(?:(?<![,.;–-])[,.;–-]+)?\s*(?:and |so )?(?:(?:just |only |a |the )?(?:freez(?:e|ing)|block(?:ing)?|lock(?:ing)?)(?: it)? (?:is|was|will be|would be)(?: not|n['’]?t) (?:enough|sufficient|going to do)|(?:a |just a )?(?:freeze|block) (?:won'?t|will not) do|\bnot (?:just|only|merely|simply) (?:be )?(?:frozen|freeze|a freeze|freezing|blocked|block|locked|paused|on hold)|,? (?:and )?(?:never|not) to be used (?:again|any ?more|by anyone)|,? (?:and )?(?:please )?(?:don'?t|do not|no need to) (?:reissue|re-issue|replace|re-?order|renew)(?: it| the card| (?:him|her) one)?)(?=\W|$)"
)


def _as_emptied(text: str) -> str:
    return _ALL_ON_IT.sub(lambda found: f"please {found['verb']} everything back from {found['card']}", text)


def _as_lifted(text: str) -> str:
    """The same request with its verb: `unfreeze §c0§`, where what is to be lifted stands before."""
    found = _STILL_FROZEN.search(text) or _WE_FROZE.search(text)
    if found is None or len(re.findall(r"§c\d+§", text)) > 1 or not _LIFT_IT.search(found["after"]):
        return text
    if NEGATED.search(found["before"]):
        return text
    after = _LIFT_IT.sub(f"unfreeze {found['card']}", found["after"])
    return f"{found['before']}{after}" if _STILL_FROZEN.search(text) else f"{found['before']}it was{after}"


#: Whose card is cancelled for this, is not to come back.
_LEFT_US: Final = re.compile(
    r"\b(?:he|she|they|§c\d+§) (?:has |have |just |already )*(?:left|resigned|quit|retired|moved on|stopped working)\b|\b(?:contract|job|internship|project|employment|notice) (?:has |is |was )?(?:just )?(?:ended|ends|over|finished|expired|terminated)\b"
    r"|\b(?:he|she|they|§c\d+§)(?:'s| is| are) (?:no longer|not) (?:with us|here|employed|working)\b|\b(?:is|are) (?:no (?:more|longer)) (?:required|needed|in use|used)\b|\blast day\b|\bleft (?:the company|us)\b|\bleaver\b"
)
_CANCEL: Final = re.compile(
    r"\bcancel(?=\s+(?:the\s+)?(?:card\s+(?:of|for)\s+)?(?:§c\d+§|it\b|(?:the|her|his|their|that|this) card\b))"
)


def _as_closed(text: str) -> str:
    """`cancel §c0§, he left`: to close it for good."""
    final = _LEFT_US.search(text) or re.search(r"\bcancel\b[^.;!?\n]{0,30}\bfinally\b", text)
    if final is None or not _CANCEL.search(text):
        return text
    return re.sub(r"(\bclose\b[^.;!?\n]{0,30}?) finally\b", r"\1", _CANCEL.sub("close", text))


def _with_signs(text: str, context: Context) -> str:
    """`+150 jonas-w`: the sign of an amount is a word of the request."""
    for amount in context.found.inside(text, "amount"):
        if amount.written.startswith("+"):
            sign = f"§a{context.found.entities.index(amount)}§"
            text = text.replace(sign, f"+ {sign}", 1)
    text = _SPENT_ON.sub(r"\1 for ", text)
    text = _ARROW_TO.sub(r"\1 onto \2", text)
    return _ARROW_FROM.sub(r"\1 plus \2", text)


def _without_card(intent: str, text: str, context: Context) -> Reading | None:
    """`I must freeze a card`: the request, and the question which one; None where a card is named, or none is spoken of."""
    named = context.found.inside(text, "card", "number", "person")
    if any(INCIDENTAL not in entity.traits for entity in named) or not _A_CARD.search(text):
        return None
    amounts = context.found.inside(text, "amount")
    if len(amounts) > 1 or (amounts and (intent not in _MONEY or amounts[0].doubt)):
        return None
    if intent in _MONEY and not amounts:
        return None
    slots = {"amount": plain(amounts[0].value.value)} if amounts else {}
    return Reading(intent, slots, ask=questions.missing("card", intent))


def _with_free_words(divided: _Divided) -> _Divided:
    """The one part that holds a request between words of any kind, none of which speaks against it."""
    asking: list[tuple[Part, Said]] = []
    for part in divided.story:
        frames = find_requests(part.text)
        loose = find_loose_request(part.text) if not frames else None
        requests = frames or ([loose] if loose is not None else [])
        if len({request.intent for request in requests}) > 1:
            return divided
        if requests:
            request = max(requests, key=lambda one: one.end - one.start)
            if request.intent == "freeze_card" and _LIFTS.search(part.text):
                return divided
            around = f"{part.text[: request.start]} ⋯ {part.text[request.end :]}"
            if NEGATED.search(HARMLESS.sub(" ", part.text)) or _CUE.search(around):
                return divided
            if speaks_against(around, request.intent) or not _names_no_thing(part.text[request.end :]):
                return divided
            asking.append((part, Said(request.intent, everything=request.everything)))
    if not asking and (short := _asked_shortly(divided)) is not None:
        return short
    if not asking:
        parts = [(part, directed(part.text)) for part in divided.story]
        asking = [
            (part, Said(one.intent, everything=one.everything)) for part, one in parts if one is not None
        ]
    if len(asking) != 1:
        return divided
    story = tuple(part for part in divided.story if part is not asking[0][0])
    return _Divided(tuple(asking), divided.small, story)


#: `sofia is at zero, 410 please`: an amount and a please, behind somebody who is out of money.
_SO_MUCH: Final = re.compile(
    r"^\W*(?:so |just |maybe )?§a\d+§(?: more)? (?:please|pls|plz|asap)\b\W*$|^\W*(?:please|pls) §a\d+§\W*$"
)
_OUT_OF_MONEY: Final = re.compile(
    r"§c\d+§[^§]*\b(?:zero|empty|broke|skint|stuck|stranded|no (?:money|funds|cash|balance)|(?:not|isn'?t|isnt) enough|out of (?:money|funds|cash)|(?:running|is|very|too) low|running dry|short|nothing (?:on|left))\b"
)


def _asked_shortly(divided: _Divided) -> _Divided | None:
    short = [part for part in divided.small if _SO_MUCH.search(part.text)]
    if len(short) != 1 or not any(_OUT_OF_MONEY.search(part.text) for part in divided.story):
        return None
    small = tuple(part for part in divided.small if part is not short[0])
    return _Divided(((short[0], Said("topup_card")),), small, divided.story)


#: `a story that happens in a street` says nothing of the request where that one names its card itself.
_NAMES_A_CARD: Final = re.compile(r"§c\d+§|\bit\b|\b(?:her|his|the|that|this|their) card\b")
_NO_TALE: Final = re.compile(
    r"\b(?:is|are|was|were|got|has|have|had|lost|left|stole\w*|needs|takes|took|says|found|finds|dropped|forgot|broke|misplaced|parked|stuck|back on|off to|hes|shes|he's|she's|(?:do|does|did|wo|ca|is|was|has|have)n'?t|must|only|keeps?|wants?|no longer|anymore)\b"
)
_LIFTS: Final = re.compile(r"\b(?:take|lift|remove|undo|end|release|drop|cancel|clear|sending|o+f+)\b")
#: What follows a card and makes of it somebody else's thing: `unlock §c0§ phone`.
_NO_THING: Final = re.compile(
    r"^\W*(?:$|[-–—,:;.!?(⋯]|§|(?:please|pls|plz|kindly|now|asap|for|because|since|as|who|which|where|that|to|from|at|in|on|with|after|due|given|via|against|following|i|we|he|she|they|it|its|his|her|their|our|my|someone|somebody"
    r"|and|so|but|immediately|urgently|urgent|quickly|quick|today|again|back|temporarily|permanently|straight|right|once|until|till|while|the|a|an|this|there|up|off|out|down|over|by|cards?|account|worth|more|extra|only|also|too|just|exactly|would|could|can|if|when|before|without|into|onto|of|or|thanks|thank|ta|cheers|mate|man|bro|dear|team|abeg|first|completely|fully|definitively)\b)"
)


def _names_no_thing(after: str) -> bool:
    return _NO_THING.search(after) is not None


def _divided(parts: Sequence[Part]) -> _Divided:
    said: list[tuple[Part, Said]] = []
    small: list[Part] = []
    story: list[Part] = []
    for part in parts:
        found = said_in(part.text)
        said += [(part, one) for one in found]
        if not found and not is_small(part.text):
            found, rest = said_before_a_story(part.text)
            if _WHEN.search(rest) and not _PROMISES.match(rest):
                found = []  # a day behind the request says when
            head = replace(part, text=part.text.removesuffix(rest))
            said += [(head, one) for one in found]
            story += [replace(part, text=rest, asked=False, joined=_IN_ONE_BREATH)] if found else []
        if not found:
            (small if is_small(part.text) else story).append(part)
    return _Divided(tuple(said), tuple(small), tuple(story))


def only_card(context: Context) -> tuple[str, KnownCard] | None:
    """The one card of a message, named so that it cannot be a word."""
    named = context.found.inside(context.found.masked, "card")
    sure = [entity for entity in named if not entity.traits & {"unknown", "weak"} and len(entity.value) == 1]
    cards = {id(entity.value[0]) for entity in sure}
    if len(cards) != 1 or any(set(map(id, entity.value)) != cards for entity in named):
        return None  # `4402, Will found it` names Will's card twice
    return sure[0].written, sure[0].value[0]


def _reading(intent: str, divided: _Divided, card: tuple[str, KnownCard], context: Context) -> Reading | None:
    written, known = card
    slots: dict[str, Any] = {"card": written}
    found = context.found
    amounts = found.inside(found.masked, "amount")
    if intent in _MONEY:
        if any(said.everything for _, said in divided.said) and not amounts:
            slots["everything"] = "yes"
        else:
            amounts = _without_reported(amounts, divided, context)
            if not amounts and any(_NAMED_SUM.search(part.text) for part, _ in divided.said):
                return None
            if (
                len({amount.value.value for amount in amounts}) == 1
                and not any(a.doubt or _BARE_COMMA.fullmatch(a.written) for a in amounts)
                and _is_meant(divided, context)
            ):
                slots["amount"] = plain(amounts[0].value.value)
            elif amounts:
                return None
    elif not all(_is_in_the_story(amount, divided, context) for amount in amounts):
        return None
    if any(_is_spare(entity, intent, divided, context) for entity in found.entities):
        return None
    reading = Reading(intent, slots, card=known)
    if intent in _MONEY and not slots.keys() & {"amount", "everything"}:
        return replace(reading, ask=questions.missing("amount", intent))
    return replace(reading, opened=True)


def _is_in_the_story(amount: Entity, divided: _Divided, context: Context) -> bool:
    """Is the amount one of a purchase that the story tells of? The form has none."""
    homes = [part.text for part in divided.story if amount in context.found.inside(part.text)]
    return (
        len(homes) == 1 and _PURCHASED.search(homes[0]) is not None and _NEEDS_MONEY.search(homes[0]) is None
    )


def _without_reported(amounts: list[Entity], divided: _Divided, context: Context) -> list[Entity]:
    """The amounts without the one that the story says is left on the card, where the request has one of its own."""
    own = [
        amount
        for amount in amounts
        if any(amount in context.found.inside(part.text) for part, _ in divided.said)
    ]
    if len(own) != 1:
        return amounts
    return [
        amount
        for amount in amounts
        if amount in own
        or not any(
            amount in context.found.inside(part.text) and _LEFT.search(part.text) for part in divided.story
        )
    ]


def _is_meant(divided: _Divided, context: Context) -> bool:
    """Does the amount stand in the request or by itself, or is it said to be needed?"""
    plainly = [*(part.text for part, _ in divided.said), *(part.text for part in divided.small)]
    if any(context.found.inside(text, "amount") for text in plainly):
        return True
    if any(_NAMED_SUM.search(text) for text in plainly):
        return not any(_ALREADY.search(part.text) for part in divided.story)
    if any(said.intent == "unload_card" and _IT_ALONE.search(part.text) for part, said in divided.said):
        return any(_STILL_THERE.search(part.text) for part in divided.story)
    return any(_NEEDED.search(part.text) for part in divided.story)


#: `there is still 240 on her card. move it back`: what is to be moved is what is there.
_IT_ALONE: Final = re.compile(r"\b(?:it|that|them|those)\b(?! card)")
_STILL_THERE: Final = re.compile(
    r"\b(?:there(?:'s| is| are)|has|have|holds)(?: \w+)? §a\d+§(?: \w+){0,2}? (?:left|on)\b"
)


def _is_spare(entity: Entity, intent: str, divided: _Divided, context: Context) -> bool:
    """Does the request leave this value unaccounted for? A day in the story is part of it."""
    if entity.kind in ("card", "person", "amount"):  # amounts were looked at before
        return False
    homes = [part for part in divided.story if entity in context.found.inside(part.text)]
    if INCIDENTAL in entity.traits and any(
        _NAMES_A_REASON.search(part.text) or part.joined == "since" for part in homes
    ):
        return False
    if INCIDENTAL in entity.traits or entity.kind == "network":
        return not any(_tells_apart(part) for part in homes)
    if entity.kind not in ("period", "later"):
        return True
    if entity.kind == "later" and homes and all(_FOLLOWS.search(part.text) for part in homes):
        return False
    if entity.kind == "period" and is_today(entity, context.facts):
        return False
    if not _is_past(entity, context) and (
        intent == "close_card" or not any(_TO_COME.search(part.text) for part in homes)
    ):
        return True
    words = [word for part in homes for word in re.findall(r"(?<!§)\b[a-z']{2,}\b|§[xcm]\d+§", part.text)]
    if _is_past(entity, context) and _HAPPENED.intersection(words):
        return False
    if len(words) > 1 and any(_SOMEBODY_GOES.search(part.text) for part in homes):
        return False
    fewest = _FEWEST_WORDS - (1 if _is_past(entity, context) and len(homes) == 1 else 0)
    return len(words) < fewest and not any(_PROMISES.search(part.text) for part in homes)


def _tells_apart(part: Part) -> bool:
    """Is the part a story of its own, not the rest of the request: `… from §c1§ please 3 times`?"""
    if part.joined == _IN_ONE_BREATH and _SOMEBODY_DOES.match(part.text) is None:
        return False
    return tells_enough(part.text)


def _is_past(entity: Entity, context: Context) -> bool:
    return (
        entity.kind == "period"
        and entity.value is not None
        and entity.value.last_day <= context.facts.now.date()
    )
