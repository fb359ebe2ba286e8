"""The words of an action that are none of its parts: filler, a reason, or something that makes it another thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.intents.plain_text import word_set

_TOKEN: Final = re.compile(r"§\w\d+§|[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]")
_FILL: Final = word_set(
    """
    the a an this that his her their our its it to onto on in into with by of off from for please pls plz kindly now
    asap right away immediately today urgently again back card cards usd amount balance some money worth more another
    extra and too as well thanks thx ty cheers team all guys folks float me us you up at is be set new dollars
    bucks cash funds at once quickly soon straight only just one same number ending here then so them exactly each both
    usual
    rn required needed ok ? ! . , : ; ( ) - – — / = + * " ' ’ □ & cc hey man mate over down s let's will do there first
    """
)
_REASON: Final = word_set(
    "for because cause cuz since as so due until while she he they it's looks no after not , : ( — – - i we lost"
    " stolen reason"
)
_OWN: Final = {
    "topup_card": "top-up topup load it",
    "unload_card": "everything rest remaining take out all program left whatever is on",
    "freeze_card": "hold temporarily temp ice pause off out",
    "unfreeze_card": "out on hold freeze block lift off",
    "close_card": "out good permanently forever ever down off completely final",
    "set_limits": "limit limits cap daily weekly monthly day week month per spending spend"
    " transaction tx remove from to be"
    " purchase single no raise lower a every",
    "submit_funding": "funding deposit transfer transaction hash tx network chain it bsc"
    " explorer via over submit our fund",
    "set_markup": "markup deposit deposits float rate fee percent to from at half",
    "change_phone": "phone mobile number cell change new has uses to is",
    "set_3ds": "send switch route set turn change move put enable activate use threeds secure codes code purchase otp"
    " webhook webhooks mode one-time verification challenge endpoint our via through on"
    " deliver authentication change",
    "order_card": "*",
}
_THINGS: Final = word_set(
    """
    jira sheet spreadsheet ticket tickets door doors calendar meeting server branch repo repository pr document doc docs
    subscription netflix invoice table desk flight channel drive folder file office phone fridge website site app
    password laptop window windows wifi board email inbox thread list excel notion slack github
    truck boxes release hiring account accounts overdraft savings loan mortgage debit pin order orders payment payments
    direct bank transfer transfers check checks cheque reservation appointment alarm timer music song light lights
    bill bills tv car reminder insurance membership plan trip hotel standing contactless credit
    """
)


def foreign_words(intent: str, tail: str) -> list[str]:
    """Words after the verb that are neither filler nor a reason, in their order."""
    own = _OWN.get(intent, "")
    if own == "*":
        return []
    known = _FILL | set(own.split())
    tail = re.sub(r"\bfor (?:good|ever|now|today)\b", " ", tail)
    strange: list[str] = []
    in_reason = False
    for token in _TOKEN.findall(tail):
        if token.startswith("§"):
            in_reason = False
        elif in_reason or token in known:
            in_reason = in_reason or (
                token in _REASON and token not in ("for", "to", "so", "as", ",", ":", "(", "-")
            )
        elif token in _REASON:
            in_reason = True
        elif not token.isascii() and not token[0].isalnum():
            continue  # an emoji
        else:
            strange.append(token)
    return _without_reason(tail, strange)


_REASON_TAIL: Final = re.compile(
    r"(?:\bfor\b|\bbecause\b|\bsince\b|\bas\b|\bso\b|\bdue to\b|[,:(—–]| - |\bhe\b|\bshe\b"
    r"|\bthey\b|\buntil\b|\breason\b)[^§]*$"
)


def _without_reason(tail: str, strange: list[str]) -> list[str]:
    """What comes after the last entity and is introduced as a reason is no strange word."""
    if not strange:
        return []
    reason = _REASON_TAIL.search(tail)
    if reason is None:
        return strange
    explained = set(_TOKEN.findall(reason[0]))
    return [word for word in strange if word not in explained or word in _things_in(tail[: reason.start()])]


def _things_in(text: str) -> set[str]:
    return set(_TOKEN.findall(text))


def is_foreign(words: Sequence[str]) -> bool:
    """Do the words name a thing that is none of ours?"""
    return any(word in _THINGS for word in words)
