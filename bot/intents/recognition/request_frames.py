"""Requests in other words and orders than a command: `3018 can be reactivated`, `kindly refill §c1§ with §a2§`.

A frame is the part of a clause that says what is requested, from its polite beginning to its last value. What stands
before and after it is context or a reason, and is judged by the gate in `bot.intents.readings.plain_requests`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from bot.intents.recognition.action_verbs import A, C
from bot.intents.recognition.courtesies import without_courtesies

#: One card, named or pointed at.
IT: Final = (
    r"(?:it|that one|this one|(?:that|this|the|her|his|their) (?:card|one|plastic)|hers|his|theirs|(?:the )?same)\b"
    r"(?! (?:card|day|amount|time|way))"
)
_O: Final = (
    r"(?:(?:the|that|this)\s+)?(?:(?:card|plastic|prepaid|account)\s+(?:of|for|from|with|belonging to)?\s*)?"
    rf"(?:(?:mr|ms|mrs|miss|dr)\.?\s+)?{C}(?:\s+(?:cards?|one|account|plastic))?"
)
OBJECT: Final = rf"(?P<o>{_O}|{IT})"
_CARD: Final = rf"(?P<o>{_O})"
#: An amount with what may stand around it.
_MORE: Final = r"(?:(?:another|an? (?:extra|additional|further)|extra|additional|other|more|the|sum of|exactly|only|just)\s+)*"
_AFTER: Final = (
    r"(?:\s*(?:usd|dollars|bucks|more|extra|additional|again|back|of (?:the )?(?:money|balance)))*"
)
AMOUNT: Final = rf"{_MORE}(?P<a>{A}){_AFTER}"
_ALL: Final = (
    r"(?P<all>everything|all (?:of )?(?:the )?(?:money|funds|balance)|all of it|the (?:whole|full|entire) balance"
    r"|(?:the )?(?:rest|remaining balance|remainder|remaining (?:money|funds))|what(?:ever)?(?:'?s| is| remains)(?: still)?(?: left)?)"
    r"(?: (?:that is|what is|whats|thats|left))*"
)
_POLITE: Final = (
    r"(?:(?:please|pls|kindly) to|please(?: do)?|pls|plz|plss|kindly|do|just|also|then|now|so|and|hi|hey|hello|dear team|team|bud|abeg|ok|okay"
    r"|quickly|urgently|urgent|asap|immediately"
    r"|(?:can|could|would|will|may|might) (?:you|u|ya|we|i|someone|somebody|one of you)(?: (?:please|pls|kindly|just|also"
    r"|possibly|perhaps))*(?: be (?:so kind|kind enough|an angel|a dear)(?: as)?(?: to| and)?)?(?: have| get)?"
    r"|would (?:you|it be possible to|you be able to)|is it possible to|would you mind(?: terribly)?"
    r"|(?:i|we) (?:need|want|wanna|would like|would need|must|have to|need to|d like|'d like|would ask|ask|request|wish)"
    r"(?: (?:you|u))?(?: to| that you)?|i(?:'d| would) (?:like|ask|need|love|be grateful)(?: for)?(?: you)?(?: to| that you"
    r"| if you(?: could| would)?)?|i (?:must|need|have) to ask you to"
    r"|(?:might|may|could|can) i (?:ask|trouble|bother)(?: you)?(?: to| for)?|you (?:can|may|could|should)(?: now)?"
    r"|lets|let's|let us|we can(?: now)?|go ahead and|feel free to|help me(?: to)?|be so kind(?: as)? to|be kind and"
    r"|need(?: you)? to|make sure to|time to|to)\b"
)
_BOUND: Final = r"(?:^|[,:;|(–—→>]\s*|\s-+>?\s*|(?<=\s)(?=(?:please|pls|plz|kindly|so|hence|can u|can you|could you|could u)\b))"
_LEADS: Final = rf"(?:{_POLITE}[\s,:!-]+){{0,8}}"

_TOP: Final = r"top(?:ping)?[ -]?up|top off(?= [^§]{0,6}§c)|topup|load|reload|refill|recharge|fund|credit"
_GIVE: Final = rf"(?:{_TOP}|add|put|stick|drop|throw|send|push|give|charge|chuck|bung|pop|lob|place|transfer|move|deposit|pay|set)"
_ON: Final = r"(?:on|onto|on to|to|into|in|for|at|with)"
_TAKE: Final = (
    r"(?:unload|un-load|take|pull|withdraw|remove|debit|deduct|claw|bring|get|return|retrieve|recuperate|recover|reclaim"
    r"|yank|strip|skim|knock|shave|grab|sweep|move|transfer|send|put|draw|collect|reverse out)"
)
_BACK: Final = r"(?:\s+(?:back|out|off|down|again))*"
_OFF: Final = r"(?:from|off|off of|out of|out from|of)"
_FLOAT: Final = r"(?:\s+(?:back\s+)?(?:to|into|in|on)\s+(?:the\s+|our\s+)?(?:float|account|pot|pool))?"
_BE: Final = (
    r"(?:(?:needs?|has|have|ought|is|are) to be|(?:can|could|may|must|shall|should|will|might)(?: now| please| kindly)? be"
    r"|to be|needs|has to get|can get|be)"
)
_STATES: Final = {
    "freeze_card": (
        r"(?:freeze|block|lock|suspend|pause|disable|deactivate|frezze|halt)(?: up| down)?",
        r"(?:frozen|freezed|blocked|locked|suspended|paused|disabled|deactivated|put (?:on|under|in|to|into) (?:an? )?"
        r"(?:hold|ice|freeze|pause)|on (?:hold|ice)|switched off|turned off|stopped)(?: up| down)?",
        r"(?:freez(?:e|ing)|block(?:ing)?|lock(?:ing)?|hold|suspen(?:sion|ding)|pause)",
    ),
    "unfreeze_card": (
        r"(?:unfreeze|un-freeze|un freeze|defreeze|unblock|un-block|deblock|unlock|un-lock|reactivate|re-activate|defrost"
        r"|thaw(?: out)?|re-?enable|unpause|un-pause|unsuspend|resume|un-?ice|reinstate|restore)",
        r"(?:unfrozen|unfreezed|unblocked|deblocked|unlocked|reactivated|re-activated|defrosted|thawed(?: out)?|re-?enabled"
        r"|unpaused|reinstated|restored|switched (?:back )?on(?: again| back)?|turned (?:back )?on(?: again)?"
        r"|released|made (?:active|usable) again|activated again)",
        r"(?:unfreez(?:e|ing)|unblock(?:ing)?|deblock(?:ing)?|unlock(?:ing)?|reactivat(?:ion|ing)|defrost(?:ing)?"
        r"|thaw(?:ing)?|re-?enabling|releas(?:e|ing)|restoring)",
    ),
    "close_card": (
        r"(?:(?:permanently|definitively|fully) )?(?:close|terminate|delete|kill|retire|decommission)"
        r"(?: down| out| off)?",
        r"(?:(?:permanently|definitively|fully) )?(?:closed|terminated|deleted|killed|retired|decommissioned|shut down)"
        r"(?: down| out)?",
        r"(?:clos(?:ure|ing)|termination|terminating|retiring|deletion)",
    ),
}


_SIGNS: Final = re.compile(r"\s*(§[a-z]\d+§)\s*")


@dataclass(frozen=True, slots=True)
class Framed:
    """A frame found in a clause: the span it takes there, the signs of its card and amount ("" for none)."""

    intent: str
    start: int
    end: int
    card: str = ""
    amount: str = ""
    everything: bool = False
    points: bool = False  # at a card named elsewhere: "it", "her card"


def _states() -> Iterator[tuple[str, str]]:
    good = r"(?:\s+(?:for good|for ever|forever|permanently|definitively|completely|fully|again|back))*"
    for intent, (verb, done, noun) in _STATES.items():
        yield intent, rf"{verb}\s+{OBJECT}{good}"
        yield (
            intent,
            rf"(?:want|need|like|have|get|see|make|put|set)\s+{OBJECT}\s+(?:to be\s+)?{done}{good}",
        )
        yield (
            intent,
            rf"{OBJECT}[\s,:-]+(?:please\s+|pls\s+|kindly\s+)?(?:{_BE}\s+(?:please\s+|kindly\s+|now\s+)?)?{done}{good}",
        )
        yield (
            intent,
            rf"{OBJECT}[\s,:-]+(?:please\s+|pls\s+|kindly\s+)?(?:(?:is|needs?|has)\s+to\s+|to\s+)?{verb}\b{good}",
        )
        yield (
            intent,
            rf"(?:can|could|may|might|must|shall|would)\s+{OBJECT}\s+(?:please\s+|kindly\s+)?be\s+{done}{good}",
        )
        yield (
            intent,
            rf"(?:(?:ask(?:ing)?|request(?:ing)?|need|want|like|apply)\s+(?:for\s+)?)?(?:an?\s+)?(?:temporary\s+)?{noun}\s+(?:of|on|for|from)\s+{_CARD}",
        )
        yield intent, rf"{_CARD}\s+(?:needs|requires)\s+(?:an?\s+)?{noun}"
        yield intent, rf"(?:mind|mind terribly)\s+{noun}\s+{OBJECT}"
        yield (
            intent,
            rf"{verb}\s+(?:immediately|now|asap|again|please|urgently|definitively|for precaution)\s+{OBJECT}",
        )
        yield intent, rf"{_CARD}\s+(?:is|are)\s+to\s+(?:be\s+)?(?:{verb}|{done})"
    off = r"(?:freeze|hold|block|lock|suspension|pause|blockade)"
    yield (
        "freeze_card",
        rf"(?:put|place|slap|set)\s+(?:an?\s+|the\s+)?(?:temporary\s+|quick\s+)?{off}\s+(?:on|onto)\s+{OBJECT}",
    )
    yield (
        "freeze_card",
        rf"(?:put|place)\s+{OBJECT}\s+(?:on|under|in|into|to)\s+(?:an?\s+|the\s+)?(?:{off}|ice)",
    )
    yield "freeze_card", rf"{OBJECT}\s+(?:on ice|on hold)"
    yield (
        "freeze_card",
        rf"(?:switch|turn|shut)\s+(?:{OBJECT}\s+off|off\s+(?P<o2>{_O}))(?=\s+for now|\s+temp|\s*$|\s*[,;(]|\s+please|\s+pls)",
    )
    yield (
        "unfreeze_card",
        rf"(?:lift|remove|undo|end|release|drop|cancel)\s+(?:the\s+|that\s+|its\s+|his\s+|her\s+)?{off}\s+(?:on|from|off|of|for)\s+{OBJECT}",
    )
    yield (
        "unfreeze_card",
        rf"take\s+(?:off\s+)?(?:the\s+|that\s+)?{off}\s+(?:off\s+(?:of\s+)?|from\s+|on\s+|of\s+){OBJECT}",
    )
    yield "unfreeze_card", rf"take\s+{OBJECT}\s+(?:off|out of)\s+(?:the\s+)?(?:{off}|ice|freezer)"
    yield "unfreeze_card", rf"{_CARD}\s+(?:out of|off)\s+(?:the\s+)?(?:freezer|{off}|ice)"
    yield (
        "unfreeze_card",
        rf"(?:switch|turn|put|set|bring|get)\s+{OBJECT}\s+(?:back\s+on(?:line)?|on\s+again|on\s+back|back\s+(?:in|to)\s+(?:service|action|use|work(?:ing)?)|back\s+to\s+active|active\s+again)",
    )
    yield "unfreeze_card", rf"(?:switch|turn)\s+(?:back\s+on|on\s+again)\s+{OBJECT}"
    yield (
        "unfreeze_card",
        rf"{_CARD}\s+(?:back\s+on|on\s+again|can go live again|back\s+in\s+(?:service|action))",
    )
    yield "unfreeze_card", rf"make\s+{OBJECT}\s+(?:usable|active|work)\s*(?:again)?"
    yield "unfreeze_card", rf"make\s+(?:again\s+)?(?:usable|active)\s+(?:again\s+)?{OBJECT}"
    yield "unfreeze_card", rf"{_CARD}[\s:,]+(?:please\s+|pls\s+)?take\s+(?:the\s+)?{off}\s+off"
    yield (
        "unfreeze_card",
        rf"(?:mind|mind terribly)\s+(?:releasing|lifting the {off} on|switching on|turning on)\s+{OBJECT}",
    )
    yield "unfreeze_card", rf"re-?open\s+{OBJECT}"
    yield (
        "unfreeze_card",
        rf"open\s+(?:{_CARD}|(?:her|his|their|the|that) card)\s+(?:back\s+)?up(?!\s+(?:to|for|by|with))",
    )
    yield (
        "freeze_card",
        rf"(?:stop|halt|turn off|switch off)\s+(?:all\s+)?(?:payments|spending|purchases)\s+(?:on|from|with)\s+{OBJECT}",
    )
    yield "freeze_card", rf"shut\s+{OBJECT}\s+(?:off\s+)?temporarily"
    yield "freeze_card", rf"stop\s+{_CARD}\s+from\s+(?:spending|paying)"
    yield "close_card", rf"(?:get rid of|shut down|bin|scrap)\s+{_CARD}"
    yield "close_card", rf"(?:cancel|cancle)\s+{_CARD}\s+(?:for good|for always|permanently|forever)"
    yield "close_card", rf"(?:shut)\s+{OBJECT}\s+(?:down|completely|for good|permanently)"
    yield (
        "close_card",
        rf"(?:cancel|discontinue|shut|end|extinguish|liquidate)\s+{OBJECT}\s+(?:for good|permanently|for ever|forever|definitively)",
    )
    yield "close_card", rf"deactivate\s+{OBJECT}\s+(?:for good|permanently|for ever|forever|definitively)"


def _money() -> Iterator[tuple[str, str]]:
    give, take = rf"(?:{_GIVE})", rf"(?:{_TAKE})"
    yield (
        "topup_card",
        rf"(?:{_TOP}|fill|fill up|charge|increase|boost|raise|bump)\s+(?:up\s+)?{OBJECT}(?:\s+up)?[\s,:]+(?:with|by|w|for|of|to the tune of)?\s*{AMOUNT}",
    )
    yield "topup_card", rf"top\s+{OBJECT}\s+up\s+(?:with|by|w|for)?\s*{AMOUNT}"
    yield "topup_card", rf"(?:give|send|get|pass|slip|spot|shoot)\s+{OBJECT}\s+{AMOUNT}"
    yield "topup_card", rf"{give}\s+{AMOUNT}\s+{_ON}\s+{_CARD}"
    yield "topup_card", rf"(?:{_TOP}|add|put|stick|give|charge)\s+{AMOUNT}\s+{_ON}\s+{OBJECT}"
    yield "topup_card", rf"(?:put|add|load|stick)\s+{_ON}\s+{_CARD}[\s,:]+{AMOUNT}"
    yield (
        "topup_card",
        rf"(?:make me\s+)?(?:an?\s+)?(?:top[ -]?up|topup|load|refill|recharge|loading)\s+(?:of\s+|by\s+|for\s+)?{AMOUNT}\s+(?:for|on|onto|to|of|in)\s+{_CARD}",
    )
    yield (
        "topup_card",
        rf"(?:an?\s+)?(?:top[ -]?up|topup|refill|recharge)[\s:]+(?:for|on|of|to)?\s*{_CARD}[\s,:]+(?:of|by|with|for)?\s*{AMOUNT}",
    )
    yield "topup_card", rf"{AMOUNT}\s+(?:on|onto|on to|into|to|in|for)\s+{_CARD}"
    yield "topup_card", rf"(?:more\s+){AMOUNT}\s+(?:on|onto|into|to|in|for)\s+{_CARD}"
    yield "topup_card", rf"{_CARD}\s*(?:\+|plus|\|\s*\+)\s*{AMOUNT}"
    yield (
        "topup_card",
        rf"{_CARD}(?:\s*:\s*|[\s,|]+(?:please\s+|pls\s+)?(?:top[ -]?up|topup|load|refill|needs|need|gets|requires|must receive|should get|could use|could do with)\s+(?:of\s+|by\s+|with\s+)?){AMOUNT}",
    )
    yield "topup_card", rf"{_CARD}[\s,:]+{AMOUNT}[\s,]+(?:top[ -]?up|topup|refill|load)"
    yield (
        "topup_card",
        rf"(?:can|could|may|might)\s+{_CARD}\s+(?:please\s+)?(?:have|get|receive|be (?:topped up|loaded|refilled|recharged|funded|credited) (?:with|by))\s+{AMOUNT}",
    )
    yield (
        "topup_card",
        rf"{_CARD}\s+{_BE}\s+(?:topped up|loaded|refilled|recharged|funded|credited)\s+(?:with|by|for)\s+{AMOUNT}",
    )
    yield "topup_card", rf"{AMOUNT}\s+{_BE}\s+(?:loaded|added|put|credited)\s+{_ON}\s+{_CARD}"
    yield (
        "topup_card",
        rf"(?:give|send|get|stick|put|add|load)\s+{AMOUNT}\s+(?:over\s+)?(?:to|on|onto|for|in|into)\s+(?:the\s+)?{_CARD}",
    )
    yield "topup_card", rf"{_CARD}\s*(?:->|>>|\|\s*\+?)\s*{AMOUNT}"
    yield (
        "topup_card",
        rf"(?:to|for|on)\s+{_CARD}[\s,:]+(?:an?\s+)?(?:top[ -]?up\s+(?:of\s+)?)?{AMOUNT}(?=\s*(?:please|pls|[,.]|$))",
    )
    yield "topup_card", rf"from\s+(?:the\s+)?float\s+(?:to|onto|into|on)\s+{_CARD}[\s,:]+{AMOUNT}"
    yield (
        "topup_card",
        rf"(?:mind|mind terribly)\s+(?:putting|adding|loading|sending|popping|placing|transferring)\s+{AMOUNT}\s+{_ON}\s+{OBJECT}",
    )
    yield (
        "topup_card",
        rf"(?:mind|mind terribly)\s+(?:topping up|loading|refilling|recharging)\s+{OBJECT}\s+(?:with|by)\s+{AMOUNT}",
    )
    yield "topup_card", rf"{give}\s+{AMOUNT}\s+from\s+(?:the\s+|our\s+)?float\s+(?:to|onto|on|into)\s+{_CARD}"
    yield "topup_card", rf"let\s+{_CARD}\s+have\s+{AMOUNT}"
    yield "topup_card", rf"(?:echo)\s+{AMOUNT}\s*>>\s*{_CARD}"
    yield (
        "unload_card",
        rf"(?:whatever|what|everything|all|the rest)\s+(?:that\s+)?(?:is|s|remains|there is|'s)?\s*(?P<all>(?:left\s+|remaining\s+)?on\s+{_CARD})\s+(?:goes|go|can go|may go|must return|to go|please return|back|should go|is to go|needs to go|returns)\s*(?:back)?{_FLOAT}",
    )
    yield (
        "unload_card",
        rf"(?:mind|mind terribly)\s+(?:taking|pulling|unloading|removing|withdrawing){_BACK}\s+{AMOUNT}{_BACK}\s+{_OFF}\s+{_CARD}{_FLOAT}",
    )
    yield "unload_card", rf"{take}{_BACK}\s+(?:{AMOUNT}|{_ALL}){_BACK}\s+{_OFF}\s+{_CARD}{_FLOAT}"
    yield (
        "unload_card",
        rf"(?:take|pull|unload|withdraw|remove|claw|deduct){_BACK}\s+(?:{AMOUNT}|{_ALL}){_BACK}\s+{_OFF}\s+{OBJECT}{_FLOAT}",
    )
    yield (
        "unload_card",
        rf"from\s+{_CARD}\s+(?:please\s+|pls\s+|kindly\s+)?(?:{take})?{_BACK}{_FLOAT}\s*{AMOUNT}{_BACK}{_FLOAT}",
    )
    yield "unload_card", rf"unload\s+{OBJECT}[\s,:]+(?:by\s+|of\s+)?{AMOUNT}"
    yield "unload_card", rf"{AMOUNT}\s+(?:back\s+)?(?:off|from|out of|back from|back off)\s+{_CARD}{_FLOAT}"
    yield "unload_card", rf"{_CARD}\s*(?:minus|[:,]?\s*unload|unload)\s*{AMOUNT}"
    yield (
        "unload_card",
        rf"(?:empty|drain|sweep|zero|zero out|clear out|empty out|unload)\s+(?P<all>{_CARD})(?:\s+(?:out|completely|balance))*{_FLOAT}",
    )


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (intent, re.compile(rf"{_BOUND}{_LEADS}(?P<frame>{body})(?!\w)"))
        for intent, body in (*_money(), *_states())
    )


#: The plain form of a verb with one direction, where it is said to somebody: not "I froze it", "he loads".
_SAID_TO: Final = (
    r"(?:^|[.,:;|(!?–—→>]\s*|(?<![\w])-\s*|\b(?:please|pls|plz|plss|kindly|you|u|ya|do|just|so|to|and|then|hence|now|can we|could we|asap"
    r"|urgent|urgently|immediately|can|someone|somebody|lets|let's|let us|again|needs|mind|therefore|thus|thanks|abeg|help me)\s+|§\s*)"
)
#: In a text without stops: a verb with "it" behind it, and nobody before it who does it.
_POINTED: Final = r"(?:it|hers|his|theirs|(?:her|his|their|the|that) card)\b"
_RUN_ON: Final = (
    "".join(
        rf"(?<!\b{who} )"
        for who in (
            "i",
            "he",
            "she",
            "they",
            "we",
            "who",
            "to",
            "not",
            "would",
            "could",
            "will",
            "dont",
            "should",
        )
    )
    + r"(?<=[a-z] )(?<!n't )"
)
_LOOSE: Final = (
    ("freeze_card", r"(?:freeze|block|lock|suspend|disable|freezing|blocking|locking|suspending)"),
    (
        "unfreeze_card",
        r"(?:unfreeze|un-freeze|unblock|unlock|reactivate|re-activate|defrost|thaw|re-?enable|unpause|unsuspend|deblock"
        r"|defreeze|unfreezing|unblocking|unlocking|reactivating|releasing)",
    ),
    ("close_card", r"(?:close|terminate|closing|closure|decommission|retire)"),
)
_LOOSE_MONEY: Final = (
    ("topup_card", r"(?:top[ -]?up|topup|load|reload|refill|recharge|add|topping up|loading|adding)"),
    (
        "unload_card",
        r"(?:unload|withdraw|deduct|debit|claw back|take back|pull back|bring back|get back|retrieve|recover|unloading"
        r"|withdrawing)",
    ),
)


@cache
def _loose_patterns() -> tuple[tuple[str, bool, re.Pattern[str]], ...]:
    return tuple(
        (
            intent,
            money,
            re.compile(rf"(?:{_SAID_TO}(?:{_BE}\s+)?|{_RUN_ON}(?={verb} {_POINTED}))(?P<verb>{verb})\b"),
        )
        for rows, money in ((_LOOSE, False), (_LOOSE_MONEY, True))
        for intent, verb in rows
    )


#: Nobody asks in a clause of more characters, and the frames would take long for it.
_LONGEST: Final = 900


def find_loose_request(text: str) -> Framed | None:
    """The request of a text by one plain verb that has only one direction; None where there is none, or two."""
    if len(text) > _LONGEST:
        return None
    found = [
        Framed(intent, match.start("verb"), match.end("verb"), amount="§" if money else "")
        for intent, money, pattern in _loose_patterns()
        if (match := pattern.search(text)) is not None
    ]
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=16)  # one text is looked at from a dozen sides
def spaced(text: str) -> str:
    """A masked text with a space on each side of every sign, as the frames expect it, and without its courtesies."""
    return without_courtesies(_SIGNS.sub(r" \1 ", text).strip())


def find_requests(text: str) -> list[Framed]:
    """Every frame of a masked clause that is `spaced`, the longest of each intent; none of an endless one."""
    found: dict[str, Framed] = {}
    if len(text) > _LONGEST:
        return []
    for intent, pattern in _patterns():
        match = pattern.search(text)
        if match is None:
            continue
        groups = match.groupdict()
        named = groups.get("o") or groups.get("o2") or ""
        sign = re.search(C, named)
        request = Framed(
            intent,
            match.start(),
            match.end(),
            sign[0] if sign else "",
            groups.get("a") or "",
            everything=bool(groups.get("all")),
            points=bool(named) and sign is None,
        )
        best = found.get(intent)
        if best is None or request.end - request.start > best.end - best.start:
            found[intent] = request
    return list(found.values())


__all__ = ["Framed", "find_loose_request", "find_requests", "spaced"]
