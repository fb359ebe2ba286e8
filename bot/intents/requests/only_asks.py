"""Messages that only want to know: what somebody thinks is set, with a look asked for, or a question that is announced.

`Tomas thinks he can spend only 100 per day. can you look what is set on 1297` names a card, an amount and a stretch of time as a
request does; but nobody says that it shall be so. The last look asks here; the patterns are compiled when it first does.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

#: A look is asked for: `can you check`, `please tell me which`, `pls verify`.
_POLITE: Final = r"(?:(?:can|could|would|will|might) (?:you|u|ya|someone|somebody|anyone|one of you|we|i)|(?:please|pls|plz|kindly)|i(?:'d| would)? (?:want|like|need) (?:you )?to|let'?s|(?:do|would) you mind|mind)"
_HASTE: Final = r"(?:[\s,]+(?:please|pls|plz|kindly|just|quickly|maybe|possibly|perhaps|also|first|then|for me|to|have|take))*"
_LOOK: Final = r"(?:(?:a |another )?(?:quick |short |closer )?(?:look|peek|glance)(?:ing)?(?: (?:up|into|at|in|over|for|on))?|(?:re-?|double[- ]?|cross-?)?check(?:ing)?(?: (?:up|on|into))?|see(?:ing)?|verify(?:ing)?|confirm(?:ing)?|find(?:ing)? out|tell(?:ing)? (?:me|us|him|her)|show(?:ing)? (?:me|us)|let (?:me|us|him|her) know|work out|figure out|inspect|investigate|clarify|look(?:ing)? (?:it|that|this) up)"
_WHAT: Final = r"(?:what(?:['’]s)?|which|whether|if|how|who(?:se)?|why|where|when)"
#: What is no look: `see to it that`, `check in`, `confirm once done`, `let me know when it is done`.
_NO_LOOK: Final = r"(?! ?(?:§a|to it|that\b|you\b|in\b(?! (?:the system|your))|out\b|attached|below|above|receipt|back\b|(?:me )?(?:the )?(?:same|done|completion)|by (?:reply|return)|once|when (?:it(?:['’]s| is| has been)? )?(?:done|ready|through|finished|complete|executed|loaded|active|live|you)|if (?:you (?:need|have|want|require|can|could)|(?:there(?:['’]s| is| are)? )?(?:any|more|something|anything)|not\b|it (?:doesn|does not|fails|is a problem))))"
_LOOKS: Final = (
    rf"\b{_POLITE}{_HASTE}\s+{_LOOK}\b{_NO_LOOK}",
    rf"(?:^|[.;:!?,–—-]\s*|\b(?:and|then|so|but)\s+){_LOOK}\s+(?:for me |pls |please )?(?:{_WHAT}\b(?! (?:to|a|an)\b)|(?:it|this|that)\W*$|§c|the (?:limit|setting|card)|(?:his|her|their) (?:limit|setting|card))(?! (?:and|then))",
    r"(?:^|[.;:!?]\s*)(?:what(?:['’]s| is| are| has| did| does)|which|is (?:that|this|it)|was (?:that|this|it)|does (?:that|this|it|he|she)|did (?:that|it|he|she|we)|who|how|can that|has (?:he|she|it|that))\b[^.;!?]*(?:\?|set\b|right\b|true\b|correct\b|stored\b|\bon §c\d+§\W*$)",
    r"[.;,–—-]\s*(?:right|correct|true|or|is that so|is it true|yes|no|really|agreed)\s*\?",
    r"\b(?:look|check|see|verify|find out|confirm)\s+(?:for me |please |pls )?(?:what(?:['’]s)?|which|whether|if (?:it|he|she|that|this|there|the|his|her|they|§c)|how (?:much|high|many)|who)\b(?! (?:is )?(?:needed|necessary|required)\b)",
)
#: Somebody else's, or one's own, idea of how it is.
_WHO: Final = r"(?:he|she|they|we|i|it|somebody|someone|everyone|everybody|people|§[cm]\d+§(?: card)?|(?:the|his|her|their|our|my|this|that|an?|one of (?:the|our|my)) [a-z'’-]+(?: [a-z'’-]+)?|[a-z][a-z'’.-]+)"
_THINKS: Final = r"(?:(?:is|was|are|were|seems?|seemed|keeps?|kept|has|have|had|just|still|now|really|also|always|already|firmly|wrongly|apparently) )*(?:(?:to )?thinks?|thought|thinking|(?:to )?believe|says?|said|saying|believ(?:es?|ed|ing)|claim(?:s|ed|ing)|swear(?:s|ing)?|swore|insist(?:s|ed|ing)?|assum(?:es?|ed|ing)|reckon(?:s|ed)?|guess(?:es|ed)?|suppos(?:es|ed)|suspect(?:s|ed)?|feels?|felt|hears?|heard|remember(?:s|ed)?|recall(?:s|ed)|complain(?:s|ed|ing)|argu(?:es|ed|ing)|maintain(?:s|ed)|report(?:s|ed)|mention(?:s|ed)|worr(?:ies|ied)|fear(?:s|ed)|wonder(?:s|ed|ing)?(?! (?:if|whether) (?:you|u|someone|somebody) (?:could|can|would|might|may))|told|tells|telling|writes|wrote|stat(?:es|ed)|convinced|(?:pretty |quite |very |fairly |absolutely |not )?(?:sure|certain|positive|adamant)|under the impression|of the opinion|afraid|puzzled|confused|surprised|sees?|saw|shows|showing|show)"
_OPINES: Final = (
    rf"(?:^|[.,;:!?–—-]\s*|\b(?:and|but|so|because|as|since|if|whether|that)\s+)(?:(?:hi|hey|hello|so|well|ok|now|apparently|today|because|as|since|but|and)\b[\s,]*)*{_WHO} {_THINKS}\b",
    r"\baccording to\b|\b(?:he|she|they|§[cm]\d+§) (?:has|had) the (?:impression|feeling|idea)\b|\bin (?:his|her|their) (?:opinion|view|mind|words)\b|\bapparently\b|\bsupposedly\b|\ballegedly\b",
)
#: It is said beforehand that a question comes.
_ANNOUNCED: Final = (
    r"\b(?:short|quick|one|small|little|another|silly|stupid|dumb|simple|brief|general|first|second|last|next|my|fast|tiny|basic|important|urgent|a|the|got a|just a|have a) (?:more |other |last |short |quick |small |little )?(?:questions?|query|enquiry|inquiry)\b(?! mark)",
    r"(?:^|[.,;:!?–—-]\s*)(?:questions?|query|q)\s*(?:[:–—,.?!-]|(?:about|on|for|regarding|re)\b)",
    r"\b(?:can|could|may|might) i (?:just |quickly )?ask(?: you)?(?: something| a question| about| what| whether| if| how| which)?\b(?! (?:you )?(?:to|for)\b)|\bi (?:want|wanted|need|would like|'d like|have) to (?:ask|know|understand|find out)\b(?! (?:you )?(?:politely |kindly |respectfully )?(?:to|for)\b)|(?<!wouldn't )(?<!wouldnt )(?<!would not )(?<!not )\b(?:asking|ask) (?:because|whether|if|about|what|which)\b(?! (?:you|someone|somebody|u) (?:could|can|would|might))|\bi(?:'m| am| was)? (?:just )?(?:wondering|curious)\b(?! (?:if|whether) (?:you|u|someone|somebody|we|i) (?:could|can|would|might|may))",
)
#: A change is asked for in so many words.
_CHANGE: Final = r"(?:(?:un|re|de|over)?-?(?:load|freeze|block|lock|activate|set|open|do|suspend|enable|register|instate|submit|fund|charge|fill|thaw|book)|put|add|give|send|take|pull|move|bring|make|change|raise|lower|bump|switch|turn|lift|remove|close|top|topup|cancel|order|issue|cap|limit|restrict|update|stop|pause|transfer|withdraw|disable|deactivate|increase|reduce|cut|drop|arrange|ensure|allow|grant|amend|adjust|replace|correct(?!\W*\?)|fix|swap|revise|enter|save|record|go ahead|apply|impose|terminate|kill|shut|get|return|recall|wire|chuck|throw|pop|stick|credit|recharge|let(?! (?:me|us) (?:know|see))|keep|hold|provide|release|push|hand|spot|lend|slap|route|direct|forward|enrol|enroll|use|have(?! (?:a |another )?(?:quick |short |closer )?(?:look|peek|glance|question|query))|handle|sort|process|execute|up)"
_ASKED_FOR: Final = (
    rf"(?:^|[.;!?\n]\s*|[,:–—()-]\s+|\b(?:please|pls|plz|kindly|now|so|and|then|you|u|someone|somebody|to it that|sure|therefore|hence|requested to|ask you to|want you to|need you to|like you to|like to|good to|needful|quickly|urgently|immediately|just|possibly|perhaps|maybe)\s+)(?:(?:please|pls|plz|kindly|just|also|go ahead and|now|therefore|hi|hey|hello)\s+)*{_CHANGE}\b",
    r"\b(?:should|must|shall|has to|have to|needs to|is to|to) (?:please |now |also )*be (?:set|raised|lowered|loaded|frozen|closed|changed|put|limited|capped|topped|blocked|unfrozen|given|taken|increased|reduced|updated)\b(?=.*\b(?:please|pls|plz|kindly)\b)",
)

#: Behind an announced question no less than this is a request.
_POLITELY: Final = rf"\b(?:please|pls|plz|kindly|(?:can|could|would|will) (?:you|u|ya|someone|somebody)|(?:to )?(?:ask|need|want|like) you to|(?:can|could|may) (?:we|i) (?:have|get))\b(?: (?:please|pls|kindly|just|also|quickly|maybe|possibly))* {_CHANGE}\b"

_OF_NO_VALUE: Final = frozenset({"freeze_card", "unfreeze_card", "close_card", "set_3ds"})
#: What somebody thinks holds a value.
_VALUE: Final = re.compile(r"[^.;!?\n]*§[at]")


def only_asks(text: str, intent: str) -> bool:
    """Does a masked text in small letters tell what somebody thinks, or announce a question, and request no change itself?

    To see a card's number is a request of its own.
    """
    if intent == "reveal_card":
        return False
    text = text.replace("’", "'")
    looks, ideas = _looks().search(text) is not None, list(_thinks().finditer(text))
    if looks and ideas:
        return True
    if _announced().search(text):
        return looks or _politely().search(text) is None
    holds_value = intent not in _OF_NO_VALUE and any(_VALUE.match(text, one.end()) for one in ideas)
    return (looks or holds_value) and _asked_for().search(text) is None


@cache
def _looks() -> re.Pattern[str]:
    return re.compile("|".join(_LOOKS))


@cache
def _thinks() -> re.Pattern[str]:
    return re.compile("|".join(_OPINES))


@cache
def _announced() -> re.Pattern[str]:
    return re.compile("|".join(_ANNOUNCED))


@cache
def _politely() -> re.Pattern[str]:
    return re.compile(_POLITELY)


@cache
def _asked_for() -> re.Pattern[str]:
    return re.compile("|".join(_ASKED_FOR))


__all__ = ["only_asks"]
