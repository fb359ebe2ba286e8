"""A request in words of any kind and order: `I ask that §c1§ temporarily frozen is`, `could we see §a2§ land on §c1§`.

One part of a message says it where three things meet: words that direct somebody (`please`, `could you`, `I request that`,
`has to be`), a verb of one intent and of no other, and that verb in a form in which it is still to be done. Past and
state (`was frozen`, `is blocked`), a doer (`I froze`, `she loads`), another thing to do (`check`, `tell`, `confirm`) and
anything of `against` leave it unread. Which card and which amount, and that nothing else is said, `explained_requests` decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.domain.late_patterns import late
from bot.intents.recognition import A, C
from bot.intents.requests.against import HARMLESS, NEGATED, speaks_against

_MUST: Final = r"(?:must|should|shall|has to|have to|needs? to|ought to|may|can|could|might|would|to|please|is to|are to)(?: please| now| kindly| also| again| therefore)*"
#: Somebody is asked.
_DIRECTS: Final = late(
    r"\b(?:please|pls|plz|plss?|kindly|abeg|(?:can|could|would|will|might|may) (?:you|u|ya|we|i|someone|somebody|one of you)|(?:i|we) (?:would )?(?:therefore |hereby |kindly )?(?:ask|request|need|want|like|require|wish)\b"
    r"|i'd (?:like|ask|need|want|love|appreciate)|would (?:like|love|need|appreciate)|is to be|are to be|has to be|have to be|needs? to be|must be|should be|shall be|to be|let's|lets|go ahead|time to|do the needful|asap|urgent\w*|immediately|at once|right away"
    r"|would it be possible|is it possible|(?:important|necessary|good|great|perfect|grateful|helpful) (?:that|if))\b"
    r"|^\W*(?:hi\W+|hello\W+|hey\W+|so\W+|ok\W+|and\W+|then\W+|now\W+|just\W+|quick\W+)*(?=(?:un|re|de)?-?(?:freez|block|lock|thaw|suspend|paus|clos|terminat|top|load|fill|charg|fund|credit|add|put|pull|take|claw|withdraw|return|retriev|recover|fetch|bring|send|move|transfer|give|lift|remove|switch|turn|activ|enabl|chuck|bung|drop|throw|push|shift|park|slide|zap|toss|sling|whack|hit|ping|drain|empty|sweep|nuke|halt|stop))"
)
#: Another thing is asked for.
_OTHER: Final = late(
    r"\b(?:show|tell|check|confirm\w*|verif\w+|explain\w*|look|see if|see whether|find|know|knows|understand|investigat\w+|review\w*|watch|monitor|note|write|record|log|call|ring|e?mail|inform|update me|updates?|list|report|remind|discuss|talk|decide|forward"
    r"|print|export|download|clarify|advise|warn|notify|notification|keep|stay|remain|prepare|draft|translate|read|count|compare|calculate|estimate|status|history|statement|invoice (?:for|me)|fee|fees|cost of|price|reason|details?|policy|rules?|how|screenshot|apologi\w+|regret\w*|happy|glad|hope|hoping|expect\w*|assume|guess|pretend\w*|practi[cs]e|usual|on top of|automatic\w*|should (?:i|we)|dispute\w*|charge ?back|contest|digits|cvv|cvc|try to|tried|attempt\w*|fail\w*)\b"
)
_STATE: Final = r"(?:was|were|is|are|been|being|got|gets|it's|its|remains?|stays?|already|still|currently|i|he|she|they|who|it|we|you|bob|somebody|someone|had|has|have|the|my|our|his|her|a|an|no|of|this|that|any|after|before|since|about|by)"
_NOT_TO_BE: Final = r"(?<!\b(?:was|is) )"
_DONE: Final = {
    "freeze_card": r"(?:frozen|freezed|blocked|locked|suspended|paused|immobili[sz]ed|put on (?:hold|ice))",
    "unfreeze_card": r"(?:unfrozen|unfreezed|unblocked|deblocked|unlocked|reactivated|re-activated|defrosted|thawed|re-?enabled|unpaused|reinstated|released)",
    "close_card": r"(?:closed|terminated|decommissioned|retired|shut down|liquidated)",
}
_BASE: Final = {
    "freeze_card": r"(?:freeze|block|lock|suspend|pause|immobili[sz]e)",
    "unfreeze_card": r"(?:unfreeze|un-freeze|unblock|un-block|deblock|unlock|un-lock|reactivate|re-activate|defrost|thaw|re-?enable|unpause|unsuspend|reinstate|defreeze)",
    "close_card": r"(?:close|terminate|decommission|retire|liquidate)",
}
_NOUN: Final = {
    "freeze_card": r"(?:freezing|blocking|locking|suspending|suspension)",
    "unfreeze_card": r"(?:unfreezing|unblocking|deblocking|unlocking|reactivating|reactivation|defrosting|thawing|defreezing)",
    "close_card": r"(?:closing|closure|termination|terminating)",
}
_HOLD: Final = r"(?:freeze|block|hold|lock|suspension|pause)"
_AGAIN: Final = late(
    rf"\b(?:lift|remove|release|undo|end|clear|drop|take off|get rid of)\w*\s+(?:the |that |this |his |her |its |any |a )?(?:\w+ )?{_HOLD}\b|\b{_HOLD}\b[^.]{{0,30}}\b(?:be|to be)\s+(?:lifted|removed|released|ended|cleared|undone|taken off)\b"
    r"|\b(?:make|made|be|set|put|get|bring|switch|turn|have)\b[^.]{0,30}\b(?:active|usable|operational|live|working|running|available|alive|up) again\b|\b(?:be|make|set|put|get|bring|switch|turn|have)\b[^.]{0,25}\bback (?:on|to active|in use|in operation|online|in action|to life|in service|to work|up)\b|\bback to active\b"
)
_IN_BASE: Final = r"(?:(?:^|⋯|[,;:])\s*(?:\w+ly\s+|hi\s+|hello\s+|so\s+|ok\s+|and\s+|then\s+|now\s+|just\s+|quick\s+)*|\b(?:please|pls|plz|kindly|to|you|u|ya|we|and|then|just|also|now|must|should|shall|can|could|would|will|may|immediately|temporarily|permanently|quickly|asap|once|abeg|ahead|needful|hence|therefore|urgently)\s+)"
_THAT: Final = late(
    r"\b(?:ask|request|want|need|like|possible|important|necessary|wish|require)\b[^.]{0,20}?\bthat\b"
)
_BE: Final = r"\b(?:be|get|gets|have|see|becomes?|need|want|mind)\b(?:\s+(?!been\b)[\w§']+){0,3}?\s+"
_GIVEN_ONLY: Final = late(
    rf"{_IN_BASE}(?:top\w*[ -]?up|topup|(?:re)?load|refill|recharge|credit|fund|add)\b"
    rf"|{_BE}(?:topped[ -]up|(?:re)?loaded|refilled|recharged|credited|funded|added|topping up|loading|adding)\b"
    r"|\b(?:a|the|for|another|of) (?:top[ -]?up|topup|refill|recharge|loading|load)\b"
)
_GIVEN: Final = late(
    rf"{_GIVEN_ONLY.pattern}|{_IN_BASE}(?:charge|fill|put|place|send|give|bring|transfer|move|push|deposit|drop|throw|stick|chuck|shift|slide|sling|toss|park|pop|lob|whack|land|go|get|have|need|want|see)\b"
    rf"|{_BE}(?:charged|filled|put|placed|sent|given|brought|transferred|moved|pushed|deposited|land|go)\b"
)
_TAKEN: Final = late(
    rf"{_IN_BASE}(?:unload|withdraw|pull|take|claw|retrieve|fetch|recover|remove|return|move|(?:re)?transfer|bring|get|send|put|deduct|debit|drain|empty|sweep|grab|yank|reclaim|come|go)\b"
    rf"|{_BE}(?:unloaded|withdrawn|pulled|taken|clawed|retrieved|fetched|recovered|removed|returned|moved|(?:re)?transferred|brought|sent|put|deducted|debited|drained|come|go|withdrawal)\b"
    rf"|{_THAT.pattern}.*\b(?:unloaded|withdrawn|pulled|taken|retrieved|recovered|removed|returned|(?:re)?transferred|brought)\b"
)
_ONTO: Final = late(
    rf"\b(?:on|onto|on to|to|into|in|for|with|by)\s+(?:the\s+)?(?:card\s+(?:of\s+)?)?(?:{C}|her card|his card|it|him|her|them|that card|the card|hers|his\b)"
)
_OFF: Final = late(
    rf"\b(?:from|off|out of|off of|of)\s+(?:the\s+)?(?:{C}|her card|his card|it|that card|the card|hers|there)|\bback(?:\s+(?:in)?to)?\s+(?:the |our )?(?:float|pot|pool|main account|deposit|account)\b|\b(?:in)?to (?:the |our )?(?:float|pot|pool|main account)\b"
)
_THE_FLOAT: Final = late(r"\bfrom (?:the |our )?(?:float|pot|pool|main account)\b")
_THIS_SUM: Final = (
    r"(?:(?:this|that|the|the same|said|exact|whole) (?:amount|sum|money|figure)|the same|these|those|them)"
)
_SUM: Final = late(rf"{A}|\b{_THIS_SUM}\b")
_ALL: Final = late(
    r"\b(?:everything|all of it|all the money|the (?:whole|full|entire|remaining) (?:balance|amount|money)|the rest|the remainder|whatever (?:is|s|remains))\b"
)


@dataclass(frozen=True, slots=True)
class Directed:
    """`amount`: it names one, or points at the one of the story; `everything`: all that is on the card."""

    intent: str
    amount: bool = False
    everything: bool = False


def directed(part: str) -> Directed | None:
    """The one thing that a part asks for; None where nothing does, or more than one, or anything speaks against it."""
    text = HARMLESS.sub(" ", part)
    if not _DIRECTS.search(part) or NEGATED.search(text) or _OTHER.search(text):
        return None
    found = set(_states(text)) | set(_money(text))
    if len(found) != 1:
        return None
    intent = found.pop()
    if speaks_against(text, intent):
        return None
    return Directed(
        intent, _SUM.search(text) is not None, intent == "unload_card" and bool(_ALL.search(text))
    )


def _states(text: str) -> list[str]:
    if _AGAIN.search(text):
        bare = _AGAIN.sub(" ", text)
        return ["unfreeze_card", *(intent for intent in _cues(bare))]
    wanted = [
        intent
        for intent in _DONE
        if re.search(rf"{_IN_BASE}{_BASE[intent]}\b(?!\s+(?:of|was|is|has|on)\b)", text)
        or re.search(
            rf"\b(?:be|get|gets|have|set|see|want|need|becomes?|make|like)\b(?:\s+(?!been\b)[\w§']+){{0,4}}?\s+{_DONE[intent]}\b",
            text,
        )
        or (_THAT.search(text) and re.search(rf"\b{_DONE[intent]}\b", text))
        or re.search(
            rf"\b(?:ask|request|need|like|want|apply|mind|for|arrange|initiate|do)\b(?:\s+\w+){{0,3}}?\s+{_NOUN[intent]}\b",
            text,
        )
    ]
    cues = _cues(text)
    return wanted if set(cues) <= set(wanted) else [*wanted, *cues]


def _cues(text: str) -> list[str]:
    """The intents of which any verb form stands there, whatever its mood."""
    return [
        intent
        for intent in _DONE
        if re.search(rf"(?<![\w-])(?:{_BASE[intent]}|{_DONE[intent]}|{_NOUN[intent]})(?![\w-])", text)
    ]


def _money(text: str) -> list[str]:
    text = _THE_FLOAT.sub(" ", text)
    if not _SUM.search(text) and not _ALL.search(text):
        return []
    onto, off = _ONTO.search(text), _OFF.search(text)
    if off and onto is None and _TAKEN.search(text) and not _GIVEN_ONLY.search(text):
        return ["unload_card"]
    if onto and off is None and _GIVEN.search(text) and not _ALL.search(text):
        return ["topup_card"]
    given = off is None and _GIVEN_ONLY.search(text) and re.search(C, text)
    return ["topup_card"] if given and not _ALL.search(text) else []


__all__ = ["Directed", "directed"]
