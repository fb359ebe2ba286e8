"""Whether the words of a message say the opposite of the form that was read: `load 50 from 3018`, `disable freeze 3018`.

A verb is the weaker word: where the money lies and where it goes is said by "from", "off", "to" and "onto", and a freeze that is
off, removed, lifted or false is none. Looked at last, whoever read the request; the opposite is offered, never taken.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.doubts.freeze_direction import direction_of, direction_of_a_hold
from bot.intents.model import Reading
from bot.intents.readings import Context
from bot.intents.recognition import spaced

_FLOAT: Final = (
    r"(?:(?:(?:the|our|company|main|general|common|deposit|master|whole|office|prepaid|shared|team|corporate)(?:['’]s)? )*(?:float|pool|pot|kitty|treasury|main (?:account|balance)|(?:company|master|deposit) (?:account|balance))"
    r"|our (?:balance|account|deposit|funds))\b(?! (?:of|on) §c)"
)
_CARD: Final = r"(?:(?:(?:the|that|this|company|prepaid|same|card|account|balance|of|on|ending|in|colleague|number|no|mr|ms|mrs)\.? )*§c\d+§|(?:her|his|their|the|that|this) card\b)"
_FROM: Final = r"\b(?:from|off(?: of)?|off from|out of|outta|outa|out from|away from)"
_ONTO: Final = r"\b(?:to|onto|on to|into|in to|unto|upon|towards?)"
_LOADS: Final = r"(?:top\w*[ -]?up|topup|(?:re|up)?-?load(?:ing)?|(?:re)?fund(?:ing)?|(?:re)?fill(?:ing)?(?: up)?|refill(?:ing)?|replenish(?:ing)?|recharg(?:e|ing)|credit(?:ing)?|feed(?:ing)?|boost(?:ing)?|rais(?:e|ing)|increas(?:e|ing)|bump(?: up)?|pad|stock(?: up)?|restock|restore|reimburse|pay|give|send|juice|supply|deposit)"
#: Money that leaves a card, or comes to the float. Who asks for it (`a request from Nora`) is no such place.
_LEAVES_A_CARD: Final = re.compile(
    rf"(?<!top )(?<!topping )(?<!topped )(?<!request )(?<!message )(?<!mail )(?<!note )(?<!call )(?<!ticket )(?<!ask )(?<!word )(?<!heard )(?<!hello )(?<!news )(?<!greetings ){_FROM} (?:the )?{_CARD}"
    rf"|{_ONTO} {_FLOAT}|(?:->|→|=>|>)\s*{_FLOAT}|{_FLOAT}\s*(?:<-|←|<=)|§c\d+§\s*(?:->|→|=>)\s*{_FLOAT}"
    rf"|\b{_LOADS} (?:up )?{_FLOAT}|\btop {_FLOAT} up\b|\bdebit(?:ing)? (?!card\b){_CARD}"
)
#: Money that leaves the float, or comes to a card.
_LEAVES_THE_FLOAT: Final = re.compile(
    rf"{_FROM} {_FLOAT}|\b(?:debit|deduct|drain|sweep|empty|unload|withdraw|charge)(?:ing)? {_FLOAT}|\bcredit(?:ing)? (?!card\b){_CARD}|(?:->|→|=>)\s*§c\d+§|§c\d+§\s*(?:<-|←|<=)|{_FLOAT}\s*(?:->|→|=>)"
    rf"|(?:§a\d+§|\beverything|\ball of it|\bthe (?:rest|lot))(?: [a-z]+){{0,3}}? (?:onto|on to|into|to|towards?) (?:the )?{_CARD}"
    r"|\b(?:get|give|send|bring|return|pay) §c\d+§ (?:(?:her|his|their|the|back|another) )*§a\d+§"
)
#: Money that goes to neither: `float → ledger 3018 60`, `hold 50 on 3018`.
_NEITHER: Final = re.compile(
    rf"{_FLOAT}\s*(?:->|→|=>)\s*(?!(?:the )?{_CARD})[a-z]|(?<!on )\b(?:hold|block|freeze|lock|reserve|keep|leave|pause) (?:(?:the|another|these|those) )*§a"
    r"|\bat (?:the |an |a )?(?:atm|cash ?point|cash machine)\b"
)

_OFF: Final = (
    r"(?:off(?! (?:sick|work|duty|ill|site|season|today|on (?:a|holidays?|leave|vacation|tour|business)|to (?:a|the|see|visit))\b)|false|disabled?|deactivated?|remov(?:ed?|al|ing)|releas(?:ed?|ing)|lift(?:ed|ing)?|gone|ended|expired|cancel(?:l?ed|lation)?|clear(?:ed|ance)?|inactive|dropped"
    r"|undone|undo|revers(?:ed?|al)|revoked?|rescinded|withdrawn|terminated|taken off|no longer|no more|not|free|(?:no|none|nil|null|zero|0|§[ax]\d+§)(?=\W*(?:$|\n|  |,|;|§c)))\b"
)
_UNDOES: Final = (
    r"(?:disabl|deactivat|disengag|remov|releas|lift|drop|clear|scrap|cancel|revok|rescind|revers|revert|undo|annul|void|end|stop|kill|waiv|abolish|dissolv|delet|eras|uncheck|untick|unset|rollback|roll back|quit|exit|abandon|withdraw"
    r"|(?:turn|switch|shut|toggl|flip|tak|call|cut)(?:e|ed|ing)? off)"
)
_ITS: Final = r"(?:(?:the|that|this|his|her|their|its|any|all|current|existing|active|card|cards?['’]s?|on|of|for|from|§c\d+§(?:\s?['’]\s?s?)?|s) )*"
_IS: Final = r"(?:\s*[:=]+\s*|\s*(?:->|→)\s*|\s+(?:(?:is|be|as|to|to be|has been|was|been|gets?|must be|should be|shall be|can be|now|please|pls) )*)"
_OF_IT: Final = (
    r"(?:\s+(?:(?:on|of|for|from) )?(?:(?:the|his|her|their|that|card) )*(?:§c\d+§(?: card)?|card|it\b))?"
)
_SETS: Final = r"\b(?:turn|switch|set|put|toggle|flip|make|have|get|keep|tak)(?:e|s|ed|ing|ting)? "
_STATE_WORDS: Final = {
    "freeze_card": r"(?:freez(?:e|es|ing)?|frozen|freezed|block(?:s|ed|ing|age)?|hold|lock(?:s|ed|ing)?|suspen(?:d|ded|sion)|pause[ds]?)",
    "unfreeze_card": r"(?:(?:un|de)-?(?:freez(?:e|ing)|frozen|froze|freezed|block(?:ed|ing)?|lock(?:ed|ing)?|suspend(?:ed)?|pause[ds]?)|re-?activat(?:e|ed|ion)|thaw(?:ed|ing)?|defrost(?:ed|ing)?)",
    "close_card": r"(?:clos(?:e|ed|ing|ure)|terminat(?:e|ed|ion))",
}


#: `freeze flag off`.
_FLAG: Final = r"(?:\s+(?:status|state|flag|toggle|mode|switch|setting|option|field))?"
#: A field of any name, below a word that says what to do: `status: off`.
_FIELD_OFF: Final = r"[:=]\s*[\"']?(?:off|false|no?|none|null|disabled|0)[\"']?\s*(?:$|[\n,;}]|  )"


def _is_off(word: str) -> re.Pattern[str]:
    """A word for a state, said to be off or to be taken away."""
    state = rf"(?<![\w-]){word}(?![\w-]){_FLAG}"
    return re.compile(
        rf"\b{_UNDOES}(?:e|es|ed|s|al|ing|ling)? {_ITS}{state}|\boff {_ITS}{state}"
        rf"|{state}{_OF_IT}{_IS}{_OFF}|{_SETS}{_ITS}{state}{_OF_IT}{_IS}{_OFF}|{_FIELD_OFF}"
        rf"|\b(?:removal|release|lifting|cancellation|reversal|end) (?:of )?{_ITS}{state}"
        rf"|\b(?:no (?:more |longer )?|not |non[ -]?|without (?:a |the )?){word}\b"
    )


_SAID_OFF: Final = {intent: _is_off(state) for intent, state in _STATE_WORDS.items()}
_OPPOSITE: Final = {
    "topup_card": "unload_card",
    "unload_card": "topup_card",
    "freeze_card": "unfreeze_card",
    "unfreeze_card": "freeze_card",
    "close_card": "close_card",
}
_FREEZES: Final = frozenset({"freeze_card", "unfreeze_card"})
_PARTS: Final = re.compile(r"[.;!?\n,]+|\b(?:and|then|but)\b")
_OF_MONEY: Final = frozenset({"topup_card", "unload_card"})
_WRONG_WAY: Final = {"topup_card": _LEAVES_A_CARD, "unload_card": _LEAVES_THE_FLOAT, **_SAID_OFF}


#: A slip away from the opposite: `uload 3018 60`.
_MISSPELT: Final = {
    "topup_card": (
        frozenset({"unload", "withdraw"}),
        frozenset({"unload", "upload", "onload", "withdraw", "withdraws", "withdrawn"}),
    ),
    "freeze_card": (
        frozenset({"unfreeze", "unblock", "unlock"}),
        frozenset({"unfreeze", "unblock", "unlock", "unfrozen", "unlocks", "unblocks"}),
    ),
}
_WORD: Final = re.compile(r"(?<![§\w-])(?:[a-z]{1,4}-)?[a-z]{4,9}\b")
#: Half of a word before one that freezes, which is neither `un-` nor `re-`: `u-ice may sato`.
_HALF_BEFORE: Final = re.compile(r"(?<![\w§-])(?!re-)[a-z]{1,3}-(?:ice|freez\w*|block|lock|hold)\b")
#: `kindly the block`, `kindly jift the block`: what is to become of the block is not said, or not in a word that is known.
_NO_VERB: Final = re.compile(
    r"(?:^|[.;,!?\n]\s*)(?:(?:please|pls|kindly|could you|can you|would you|you|to|and) )+"
    r"(?:(?!put|plac|set|appl|add|activ|enabl|keep|mak|do |us|giv|impos|rais|renew|extend|reinstat|restor|reappl|start|order|request|want|need|get|lock|block|freez|stop|hold)[a-z]+ )?"
    r"(?:the|her|his|their) (?:block|freeze|hold|lock|stop|pause|suspension)\b"
)


#: `3018 is stll frozen, sort it`: how the card is now, where nothing else in the message freezes anything.
_IS_STOPPED: Final = re.compile(
    r"\b(?:is|are|was|were|it['’]?s|has been|have been|been|stays?|remains?|shows?|got|gets|keeps?) (?:[a-z']+ ){0,2}?(?:frozen|blocked|locked|suspended|paused)\b"
)
_STOPS: Final = re.compile(
    r"\b(?:re)?(?:freez(?:e|es|ing)|block|blocking|lock|locking|suspend|suspending|suspension|pause|pausing|stop|stopping|halt|hold|disable|deactivate|ice|kill|cut|shut|off)\b"
    r"|\b(?:ensure|make sure|see (?:to it )?that|want|wants|need|needs|like|arrange|until|till|so that)\b|\bthat (?:the |card )*§c\d+§(?: card)? (?:is|be|gets?|stays?)\b|\b(?:should|must|have to|has to|can|could|may|shall) (?:[a-z§0-9']+ ){0,4}?(?:be|get|stay|remain)\b"
)


def _is_a_slip(text: str, intent: str) -> bool:
    """Is a word a slip away from one that says the opposite?"""
    from rapidfuzz.distance import OSA

    opposites, known = _MISSPELT.get(intent, (frozenset(), frozenset()))
    return any(
        abs(len(word) - len(other)) < 2 and OSA.distance(word, other, score_cutoff=1) <= 1
        for word in (found.replace("-", "") for found in _WORD.findall(text))
        if word not in known
        for other in opposites
    )


def the_other_way(reading: Reading, context: Context) -> str:
    """The intent to offer instead of a reading whose words say another one; empty where they agree.

    It is the same one where the money goes to neither the card nor the float.
    """
    wrong = _WRONG_WAY.get(reading.intent)
    if wrong is None:
        return ""
    text = spaced(context.found.masked)
    if way := _way_of_a_freeze(reading.intent, text.lower()):
        return way
    if wrong.search(text) or _is_a_slip(text, reading.intent):
        return _OPPOSITE[reading.intent]
    if (
        reading.intent == "freeze_card"
        and _IS_STOPPED.search(text.lower())
        and not _STOPS.search(text.lower())
    ):
        return "unfreeze_card"
    if reading.intent == "freeze_card" and (_NO_VERB.search(text) or _HALF_BEFORE.search(text.lower())):
        return "unfreeze_card"
    return reading.intent if reading.intent in _OF_MONEY and _NEITHER.search(text) else ""


def _way_of_a_freeze(intent: str, text: str) -> str:
    """The way of a freeze by its signs, where a masked text was read to go another one; else empty."""
    if intent in _FREEZES:
        way = direction_of(text)
    elif intent == "close_card":
        way = direction_of_a_hold(text)
    else:
        return ""
    return way if way != intent else ""


def turned(reading: Reading, context: Context, *, alone: bool) -> str:
    """The way to offer instead of that of a reading which is not open; of several, by the clause of its own card."""
    wanted = reading.wanted or reading.intent
    text = spaced(context.found.masked).lower()
    if not alone:
        signs = {
            f"§c{number}§"
            for number, one in enumerate(context.found.entities)
            if one.kind == "card" and one.written == reading.slots.get("card")
        }
        text = "\n".join(part for part in _PARTS.split(text) if any(sign in part for sign in signs))
    return _way_of_a_freeze(wanted, text)


__all__ = ["the_other_way", "turned"]
