"""Which action a clause asks for, if it asks for one: its verb from a closed list, its direction without doubt.

Clauses are masked: §c1§ is a card, §a2§ an amount, §h§ a hash, §n§ a network, §t§ a phone, §p§ a period.
Whole phrases come before single verbs, because "off" or "lift" turns a verb round.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

C: Final = r"§c\d+§"
A: Final = r"§a\d+§"
H: Final = r"§h\d+§"
T: Final = r"§t\d+§"
_OBJECT: Final = (
    rf"(?:{C}|(?:the|this|that|my|his|her|their|a|an|one|your|our|any)\s+cards?"
    r"|cards?|it|that one|this one|all (?:of )?(?:the |our |my )?cards?|(?:all|every"
    r"|each)\b[^§]*?\bcards?|everyone's cards?|every ?one|everybody's cards?|them(?: all)?|every card)"
)
_HOLD: Final = r"(?:freeze|hold|block|lock|suspension|pause)"
_NOT_FINAL: Final = r"(?!.*\b(?:for good|for ?ever|permanently)\b)"

_LEAD: Final = re.compile(
    r"^(?:(?:hi|hey|hello|hiya|yo|good (?:morning|afternoon|evening)|morning|team|all"
    r"|everyone|folks|guys|there|please|pls"
    r"|plz|kindly|ok|okay|so|and|then|also|now|just|urgent|urgently|asap|fyi|yes|yeah|great"
    r"|thanks|thx|quick one|one more thing"
    r"|to do|todo|as discussed(?: with (?:§\w\d+§|\w+))?|next|first|second|finally|emergency|sorry|sry|howzit|moin|yebo"
    r"|sawubona|servus|hola|salut|ciao|bonjour|shame|eish"
    r"|quickly|immediately|§m\d+§|§p\d+§)\b[\s,:!-]*"
    r"|[\s,:!(*-]+"
    r"|(?:can|could|would|will) (?:you|u|we|i|someone|somebody|anyone|one of you)\b(?:"
    r" (?:all|guys|folks))?\s*(?:please|pls|kindly|maybe|quickly|just)?\s*"
    r"|(?:i|we) (?:need|would like|'d like|want|have|gotta) (?:you |someone )?to\s+|(?:i|we) wanna\s+|(?:i"
    r"|we)'d like (?:you )?to\s+|(?:i'd|we'd) like (?:you )?to\s+"
    r"|let's\s+|lets\s+|go (?:ahead|on) (?:and|n)\s+|(?:please |kindly )?assist(?: me| us)? (?:to|in"
    r"|by)\s+|need to\s+|needs? (?:someone )?to\s+|time to\s+|make"
    r" sure (?:you|to)\s+|/(?=\w)"
    r"|please\s+|be so kind (?:as )?to\s+|would you mind\s+)+"
)
_COMMAND: Final = re.compile(
    r"^/?(?:card|float|funding)\s+(?=(?:top-?up|unload|freeze|unfreeze|limits|phone|threeds"
    r"|close|order|submit|markup)\b)"
)


@dataclass(frozen=True, slots=True)
class Frame:
    """`clear` = the direction is; else the request is only guessed. `tail` = what follows the verb phrase."""

    intent: str
    tail: str
    clear: bool = True
    why: str = ""


def _frames(*rows: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((intent, re.compile(rf"^(?:{pattern})")) for intent, pattern in rows)


_WORD = r"(?:[^\s§]+\s+){0,3}?"
_TOPUP: Final = r"(?:top(?:ping)?[ -]?up|topup|load|reload|re-load|recharge|fund|credit)"
_LIMIT_WORD: Final = r"(?:limits?|caps?)"
_PER: Final = (
    r"(?:daily|weekly|monthly|per[ -](?:day|week|month)|an? (?:day|week|month)|each (?:day|week|month))"
)
_CHANGE: Final = (
    r"(?:set|change|raise|lower|increase|decrease|update|adjust|make|reduce"
    r"|bump(?: up)?|put|edit|modify|switch|drop|lift|up)"
)
_CODES: Final = r"(?:threeds\b|(?:purchase|one-time|verification|otp|challenge|threeds|sms|security) codes?)"

_SPECIFIC: Final = _frames(
    ("topup_card", rf"top {C} up\b"),
    (
        "transfer",
        rf"(?:move|transfer|shift|send)\b(?>.*?{A})(?>.*?\bfrom\b)(?>.*?{C})(?>.*?\b(?:to|onto|into)\b).*{C}",
    ),
    (
        "set_3ds",
        r"(?:(?:set|switch|turn|put|send|route|move|enable|disable|change|deliver|use"
        rf"|activate)\b)(?=.*(?:{_CODES}|webhook))(?=.*(?:{_CODES}|{C}|webhook mode)).*",
    ),
    ("set_3ds", rf"threeds\b(?!.*\b(?:on or off|off or on)\b)(?=.*(?:{C}|webhook))|threeds$"),
    ("set_markup", rf"(?:{_CHANGE}\b\s+)?(?:the |our |a )?(?:new )?(?:deposits? |float )?mark-?up\b"),
    (
        "change_phone",
        r"(?:change|update|set|replace|switch|correct|fix|edit|swap)\b(?=.*\b(?:phone|mobile"
        r"|number|cell)\b)(?!.*\b(?:threeds|limit|card number)\b)",
    ),
    (
        "change_phone",
        rf"(?:the )?(?:new )?(?:phone|mobile)(?: number)?(?: for| of| on)? {C}(?: is|:| =)?(?= {T})",
    ),
    (
        "change_phone",
        rf"{C} (?:has|got|uses) (?:the |a )?new (?:phone |mobile )?number(?= {T})|phone(?= {C})",
    ),
    (
        "set_limits",
        rf"{_CHANGE}\b(?=.*\b{_LIMIT_WORD}\b)|(?:cap"
        rf"|limit)(?: the)?(?: {_PER})?(?: spend(?:ing)?)?(?: of| on)? {C}",
    ),
    (
        "set_limits",
        rf"(?:new )?{_PER} {_LIMIT_WORD}\b(?=.*{A})|limits?(?= (?:for |on |of )?{C})(?=.*{A})",
    ),
    ("set_limits", rf"{C}\s*:?\s*(?:{_PER} )?limits?:?(?=.*{A})"),
    (
        "set_limits",
        r"(?:remove|delete|clear|drop|get rid of|lift|disable|no) (?:the |all |any )?(?:\w+ )?limits?\b",
    ),
    ("set_limits", r"limits?$"),
    (
        "submit_funding",
        rf"(?:submit|book|register|claim|record|report|log)\b(?=.*(?:{H}|fund(?:ing)?s?\b|deposit"
        rf"|transfer\b))",
    ),
    (
        "order_card",
        r"(?:order|issue|create|get|request|make|open|set up)\s+(?:me |us )?(?:an? |one "
        r"|another )?(?:new |fresh |extra |virtual |physical |replacement )*(?:cards?\b|one (?=for"
        r"|to))(?: up)?",
    ),
    (
        "order_card",
        r"(?:(?:i|we) (?:need|want|would like)|new|another|need|get me)\s+(?:an? |another"
        r" )?(?:new |virtual |fresh )*cards?\b(?! (?:to be )?(?:frozen|blocked|locked|unfrozen"
        r"|unblocked|unlocked|closed|paused|suspended|loaded|topped))|new card\b",
    ),
    (
        "order_card",
        r"(?:(?:can|could|may) (?:i|we) (?:get|have)|(?:i|we)(?:'d| would) like) (?:an? )?(?:new "
        r"|virtual )*cards?\b",
    ),
    ("order_card", r"(?:order|issue)$"),
    (
        "unfreeze_card",
        r"(?:lift|remove|undo|end|cancel|release|drop) (?:the |that |its |his |her"
        rf" )?{_HOLD}(?: on| from| off| of)?\b",
    ),
    ("unfreeze_card", rf"take (?:the |that )?{_HOLD} off(?: of)?|take {_OBJECT} off {_HOLD}"),
    ("unfreeze_card", rf"(?:turn|switch) (?:{_OBJECT} )?(?:back on|on again|on)\b(?: again)?"),
    (
        "freeze_card",
        rf"(?:put|place) (?:an? |the )?(?:temporary )?{_HOLD} on\b|put {_OBJECT} on (?:hold|ice|pause)\b",
    ),
    (
        "freeze_card",
        rf"(?:turn|switch|shut) off\b{_NOT_FINAL}|(?:turn|switch|shut) {_OBJECT} off\b{_NOT_FINAL}",
    ),
    ("close_card", r"shut (?:down|off)\b"),
    ("topup_card", r"(?:increase|raise|bump|boost) (?:the )?balance (?:of|on) "),
    ("unload_card", r"(?:reduce|lower|decrease) (?:the )?balance (?:of|on) "),
)
_VERBS: Final = _frames(
    (
        "unfreeze_card",
        r"(?:unfreeze|un-freeze|unlock|un-lock|unblock|un-block|reactivate|re-activate"
        r"|defrost|thaw|resume|re-enable|reenable|enable|release|unpause|unsuspend|activate)\b",
    ),
    (
        "freeze_card",
        r"(?:temporarily |temp |emergency )?(?:freeze|lock|block|suspend|pause|disable|deactivate|stop)\b",
    ),
    ("close_card", r"(?:permanently )?(?:close|terminate|kill|delete|destroy|discard|shut)\b(?: down)?"),
    ("cancel", r"(?:permanently )?cancel\b"),
    ("unload_card", r"(?:unload|un-load|debit|drain|empty|sweep|claw back|withdraw|deduct|claw)\b"),
    ("topup", rf"{_TOPUP}\b"),
    ("toward", r"(?:add|put|give|deposit|place|move|transfer|throw|stick)\b"),
    ("away", r"(?:take|pull|remove|get|return|move|transfer|bring|grab|send|recover)\b"),
)
_STATED: Final = _frames(
    ("topup_card", rf"{C}:? needs (?:a |another )?(?:{_TOPUP})(?: of| by| with|:)?"),
    ("topup_card", rf"(?:i|we) (?:need|want) {A} (?:more )?(?:on|onto) {C}"),
    ("topup_card", rf"{A} (?:on|onto|to|for) {C}(?= please| pls|, load it| load it|$)"),
    ("topup_card", rf"{C}:? {_TOPUP}\b"),
    ("topup_card", rf"{_TOPUP} {C}:"),
    (
        "freeze_card",
        rf"{C}\s*:?\s*freeze\b|(?:i|we) (?:need|want) {_OBJECT} (?:frozen|locked|paused|blocked|on hold)\b",
    ),
    (
        "unfreeze_card",
        rf"{C}\s*:?\s*unfreeze\b|(?:i|we) (?:need|want) {_OBJECT} (?:unfrozen|unlocked|unblocked)\b",
    ),
    (
        "close_card",
        rf"{C}\s*:\s*close\b|(?:i|we) (?:need|want) {_OBJECT} (?:closed|cancelled|canceled|terminated)\b",
    ),
)
_ONTO: Final = rf"\b(?:on|onto|on to|to|into|in|for|with|by)\s+(?:the\s+)?{_OBJECT}"
_FROM: Final = rf"\b(?:from|off|out of|off of|off from)\s+(?:of\s+)?(?:the\s+)?{_OBJECT}"


def strip_lead(text: str) -> str:
    """The clause without greetings and "could you please"."""
    bare = _LEAD.sub("", text.strip(), count=1)
    return _COMMAND.sub("", bare).strip(" ,:(")


#: `withdraw the request I raised`: what is taken back is no money.
_OF_A_REQUEST: Final = re.compile(
    r"(?:withdraw|pull|take|bring|get|return|cancel|retract)\b(?: back)?\s+(?:(?:the|my|that"
    r"|this|our|what|whatever)\s+)(?:(?:last|latest|previous)\s+)?(?:request|change|order"
    r"|submission|entry|(?:thing |one |that |which )?i\b)"
)


def frame_of(text: str) -> Frame | None:
    """The action that a clause, already stripped of its lead, asks for."""
    for intent, pattern in (*_SPECIFIC, *_STATED):
        found = pattern.match(text)
        if found:
            return Frame(intent, text[found.end() :] if intent != "set_3ds" else text)
    if _OF_A_REQUEST.match(text):
        return None
    for intent, pattern in _VERBS:
        found = pattern.match(text)
        if found:
            frame = _directed(intent, text, text[found.end() :])
            if frame is not None:
                return frame
    return None


def _directed(intent: str, text: str, tail: str) -> Frame | None:
    """Verbs that say nothing of the direction need a preposition that does."""
    onto, off = re.search(_ONTO, tail), re.search(_FROM, tail)
    if intent == "topup":
        return Frame("topup_card", tail, clear=off is None, why="whether money goes onto the card or off it")
    if intent == "unload_card":
        clear = not re.search(rf"\b(?:on|onto|into)\s+{_OBJECT}", tail)
        return Frame(intent, tail, clear=clear, why="whether money goes onto the card or off it")
    if intent == "toward":
        if off is not None or not re.search(rf"{A}|money|funds|cash|something", tail):
            return None
        given = re.match(rf"\s*{C}\s*{A}", tail)
        return Frame("topup_card", tail) if onto or given else None
    if intent == "away":
        back = re.search(rf"{A}|everything|all(?: of it)?|the rest|money|funds|remaining", tail)
        return Frame("unload_card", tail) if off and back else None
    if intent == "cancel":
        final = re.search(r"permanently|for good|for ever|forever", text)
        return Frame(
            "close_card", tail, clear=final is not None, why="whether to close it for good or to freeze it"
        )
    if intent == "close_card" and re.search(
        r"\b(?:for now|temporar\w+|meanwhile|for the moment|for a while)\b", tail
    ):
        return Frame(intent, tail, clear=False, why="whether to close it for good or to freeze it")
    return Frame(intent, tail)
