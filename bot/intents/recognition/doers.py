"""Who does it, where that is neither of us: `Emre raised the markup to 2%`, `finance should set the limit to 900`.

Where a request is read from its values outward, a word that nobody knows keeps nothing closed. So who does it is looked
for here, at the head of a sentence.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from bot.intents.plain_text import with_ending, word_set

_OF_STATES: Final = word_set(
    "freeze block lock suspend pause stop unfreeze unblock unlock reactivate thaw release close terminate cancel"
)
_OF_VALUES: Final = word_set(
    """
    raise lower set change update put bump cut reduce increase decrease drop bring switch move swap replace
    register enter save make adjust edit correct
    fix cap limit alter modify push take give
    """
)
_OF_MONEY: Final = word_set(
    "load top recharge refill reload fund credit add send unload withdraw return pull transfer submit record book"
)
_ALL: Final = _OF_STATES | _OF_VALUES | _OF_MONEY
#: By kinds of requests of which the whole message is read so, by any reader: its verbs.
_OF_VALUES_READ: Final = frozenset({"set_markup", "set_limits", "change_phone"})
_OF_STATES_READ: Final = frozenset({"freeze_card", "unfreeze_card", "close_card"})
_PAST: Final = {
    **{word: word for word in ("set", "put", "cut")},
    "bring": "brought",
    "make": "made",
    "take": "took|taken",
    "give": "gave|given",
    "send": "sent",
    "freeze": "froze|frozen",
    "unfreeze": "unfroze|unfrozen",
    "withdraw": "withdrew|withdrawn",
}
_WILL: Final = (
    r"(?:will|would|should|shall|can|could|may|might|must|(?:ought|has|have|had|needs?|wants?|wanted|likes?|plans?|intends?"
    r"|promised"
    r"|(?:is|are) going|(?:is|are) about|tried|tries|forgot) to)"
)
#: What begins no name: those that ask, that lead on, and what a request is about.
_NO_NAME: Final = word_set(
    """
    please pls plz kindly you i we it its this that there here he she they who what how why where when if as
    because since and or but so then also now
    just only well ok okay yes no not never do don't dont can could would will should may might must shall need
    needs want wants like let let's lets hi
    hello hey hiya morning afternoon evening team all folks guys everyone thanks thx cheers sorry fyi asap
    urgent today tomorrow quick one mate dear
    good card cards of for from on onto to in into at by with per a an the our my his her their your new old
    current markup limit limits fee fees rate
    percent number phone mobile cell sim line code codes sms mail email amount sum money balance spend spending
    cap ceiling max maximum daily weekly
    monthly day week month purchase transaction per request requests get keep long story short is are was were
    """
)


def somebody_does(said: str) -> bool:
    """Does a sentence of a masked text, or a stretch of one, begin with who else does what it is about?"""
    return _does_any().search(said) is not None


def somebody_does_it(text: str, intent: str) -> bool:
    """Does a sentence of a whole masked message begin with who else does what this request is?"""
    if intent in _OF_VALUES_READ:
        return somebody_does(text)
    return intent in _OF_STATES_READ and _freezes_or_closes().search(text) is not None


@cache
def _does_any() -> re.Pattern[str]:
    return _somebody(_ALL)


@cache
def _freezes_or_closes() -> re.Pattern[str]:
    return _somebody(_OF_STATES)


def _somebody(verbs: frozenset[str]) -> re.Pattern[str]:
    name = rf"(?!(?:{'|'.join(map(re.escape, sorted(_NO_NAME | _ALL)))})(?![\w'’]))[a-z][a-z'’.-]*\s+"
    within = r"(?:the|our|my|his|her|their|and|of|on|is|another|a)\s+"
    done = "|".join(_PAST.get(verb) or with_ending(verb, "ed") for verb in sorted(verbs))
    does = "|".join(f"{verb}e?s" for verb in sorted(verbs))
    doing = "|".join(with_ending(verb, "ing") for verb in sorted(verbs))
    return re.compile(
        r"(?:^|(?<![.!?;\n])[.!?;\n]++)\W{0,9}+(?:(?:hi|hello|hey|morning|so|and|ok|okay|well|also|then|but)\b[\s,!]*)*"
        rf"(?:(?:{within}){{0,2}}{name}(?:(?:{within})*{name}){{0,3}})"
        rf"(?:(?:{_WILL})\s+(?:(?:now|just|already|only|please)\s+)?(?:{'|'.join(sorted(verbs))})"
        r"|(?:(?:has|have|had|is|are|was|were)\s+)?(?:(?:now|just|already|only)\s+)?"
        rf"(?:{done}|{does}|modifies|{doing}))\b"
        # What is asked for behind a "please" is ours to do: `her kid dropped the phone please change the number on ...`
        r"(?=(?:(?!\b(?:please|pls|plz|kindly)\b)[^.!?;\n])*§[acth])"
    )
