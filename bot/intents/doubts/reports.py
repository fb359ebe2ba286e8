"""What has happened to a card already, or is asked after: `just topped up §c1§`, `top up of §a2§ for §c1§ is stuck`.

Whoever reports a top-up wants no second one. Each place where a message names what was read is looked at by itself; it is a
report where one is reported or asked after, and none is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

#: Longer ones are stories; what they report and what they ask for is weighed elsewhere.
_LONGEST: Final = 200

_UP: Final = r"(?: (?:§c\d+§|it|him|her|them|the card|card|§a\d+§))?[ -]?up"
#: By intent: the plain form of its verbs, their past, what they are while they last, and the nouns.
_BASE: Final = {
    "topup_card": rf"(?:top{_UP}|topup|(?:re|pre)?-?load|refill|recharge|fund|credit|add|put|send|give|transfer|move|deposit|pay|fill|wire|charge)",
    "unload_card": r"(?:unload|withdraw|take|pull|remove|move|return|transfer|debit|deduct|send|get|sweep|drain|empty|claw)",
    "freeze_card": r"(?:freeze|block|lock|suspend|pause|disable|deactivate|stop)",
    "unfreeze_card": r"(?:(?:un|de)-?(?:freeze|block|lock|suspend|pause)|re-?activate|re-?enable|enable|activate|release|thaw|defrost|reopen|open|lift|remove)",
    "close_card": r"(?:close|terminate|cancel|kill|shut|delete)",
    "set_limits": r"(?:set|limit|raise|lower|increase|decrease|reduce|change|cap|put|bump|update|adjust|drop|cut|lift)",
}
_DONE: Final = {
    "topup_card": rf"(?:topped{_UP}|(?:re|pre)?-?loaded|refilled|recharged|funded|credited|added|sent|transferred|moved|deposited|filled(?: up)?)",
    "unload_card": r"(?:unloaded|withdrew|withdrawn|took|taken|pulled|removed|moved|returned|transferred|debited|deducted|swept|drained|emptied|clawed)",
    "freeze_card": r"(?:froze|frozen|freezed|blocked|locked|suspended|paused|disabled|deactivated)",
    "unfreeze_card": r"(?:(?:un|de)-?(?:froze|frozen|freezed|blocked|locked|suspended|paused)|re-?activated|re-?enabled|enabled|activated|thawed|defrosted|reopened)",
    "close_card": r"(?:closed|terminated|cancell?ed|deleted)",
    "set_limits": r"(?:limited|raised|lowered|increased|decreased|reduced|changed|capped|bumped|updated|adjusted)",
}
_DOING: Final = {
    "topup_card": rf"(?:topping{_UP}|(?:re)?loading|refilling|recharging|funding|crediting|adding|putting|sending|giving|transferring|moving|depositing|filling|charging)",
    "unload_card": r"(?:unloading|withdrawing|taking|pulling|removing|moving|returning|transferring|debiting|sending)",
    "freeze_card": r"(?:freezing|blocking|locking|suspending|pausing|disabling|deactivating|stopping)",
    "unfreeze_card": r"(?:(?:un|de)-?(?:freezing|blocking|locking|suspending|pausing)|re-?activating|re-?enabling|enabling|activating|releasing|lifting|removing)",
    "close_card": r"(?:closing|terminating|cancelling|canceling)",
    "set_limits": r"(?:setting|limiting|raising|lowering|increasing|decreasing|reducing|changing|capping|bumping|updating|adjusting)",
}
_NOUN: Final = {
    "topup_card": r"(?:top[ -]?ups?|topups?|(?:re|pre)?-?loads?|refills?|recharges?|funding|credits?|payments?|transfers?)",
    "unload_card": r"(?:unloads?|withdrawals?|transfers?|returns?)",
    "freeze_card": r"(?:freeze|block|lock|hold|suspension|pause)",
    "unfreeze_card": r"(?:(?:un|de)-?(?:freeze|block|lock|suspension|pause)|re-?activation|activation|release)",
    "close_card": r"(?:closure|closing|close|termination|cancellation)",
    "set_limits": r"(?:limits?|caps?|raise|increase|change|decrease|reduction)",
}
#: The same in all tenses: who did it, or a time that is over, tells which it is.
_ONE_FORM: Final = {
    "topup_card": r"(?:put|sent|gave|paid)",
    "unload_card": r"(?:took|put)",
    "set_limits": r"(?:set|put|cut)",
    "close_card": r"shut",
}
_OVER: Final = (
    r"\b(?:this morning|yesterday|earlier|last (?:night|week|month|time)|ago|already|just now|before lunch)\b"
)
_WHO: Final = r"(?:i|we|he|she|they|bob|carol|dave|alice|finance|ops|somebody|someone|§m\d+§)(?:'ve|'d)?"
_OF_LATE: Final = r"(?:(?:have|has|had|just|already|now|finally|also|again|recently) )*"
#: `§c1§ got his §a2§ top up`.
_HAD: Final = (
    rf"^(?:(?:ok|so|hi|the|my|our|his|her) )*(?:{_WHO}|§c\d+§) {_OF_LATE}"
    r"(?:got|received|made|did|submitted|saw|entered|booked|approved|rejected|declined)"
    r"(?: (?:an?|the|his|her|their|my|our|that|this|first|last|second|same|two|double|usd|of|card|§[ac]\d+§)){0,5} "
)

#: What became of it, behind "is", "has" and their like.
_FATE: Final = (
    r"(?:fail(?:s|ed|ing)?|stuck|pending|missing|bounced|arrived?|received|landed|double|doubled|twice|late|delayed|overdue|sent|waiting|expired|timed out|executed|completed?|processed|processing|confirmed|approved"
    r"|rejected|refused|declined|denied|cancell?ed|reversed|reverted|done|finished|in progress|in review|under review|on (?:its|the) way|through|gone|come|came|worked|works?|working|there|visible|showing|shown|show|booked"
    r"|submitted|requested|settled|lost|outstanding|wrong|a mistake|an error|broken|hanging|queued|closed|in|out|over|open|successful|successfully|live|active)"
)
_AND_SO: Final = (
    r"(?:(?:still|yet|just|now|already|also|again|been|not|to be|finally|only|marked|as|never)\s+)*"
)
_BECAME: Final = r"(?:is|was|are|were|has|have|had|did|does|got|gets|went|isn't|wasn't|hasn't|haven't|didn't|doesn't|never|seems|looks|appears|ended up|shows|still)\s+"
#: A word for it without a verb, and behind it no more than when it was: `freeze it pending a check` is none.
_PLAINLY: Final = (
    r"(?:failed|fails|stuck|pending|missing|bounced|arrived|received|landed|doubled?|delayed|overdue|sent|waiting|expired|timed out|executed|completed?|processed|processing|confirmed|rejected|refused|declined|denied"
    r"|cancell?ed|reversed|reverted|done|finished|in progress|in review|went through|submitted|requested|settled|late|broken|queued|successful|never came|not (?:there|arrived|received|done|working|through|visible)"
    r"|still (?:there|open|on|active|missing|in place|pending))"
    r"(?=\W*$|\W+(?:thanks|thx|ty|again|since|yesterday|today|now|too|also|with|already|here|yet|still|this|last|for|an?|one|two))"
)
#: Values and whose they are, between a request and what became of it.
_ITS: Final = (
    r"(?:\s*(?:§[capx]\d+§(?:'s)?|of|for|on|onto|to|by|with|from|at|the|his|her|their|my|our|card|cards?'s|usd|dollars|bucks|daily|weekly|monthly|limits?|a day|per day|off|back|yesterday|earlier|this morning|:)"
    r"(?=[\s:]|$))*"
)

#: It is asked for: a verb behind these is a request.
_ASKED_FOR: Final = re.compile(
    r"\b(?:need(?:s|ed)?|wants?|wanted|like(?! §c)|love|get|have|see|let|make|should|must|can|could|would|will|shall|be|being|please|pls|plz|kindly|ensure|asap|urgent|urgently|immediately"
    r"|request(?:ing)?|require[sd]?|ask(?:ing)?|wish|arrange|help|remember|hope)\b"
)
#: To look or to tell is asked for, no change.
_LOOKS: Final = re.compile(
    r"\b(?:please|pls|plz|kindly|can you|could you|let me know|tell me) (?:just |quickly |also )?(?:check|confirm|see|look|verify|find|tell|advise|explain|know|let me know|investigate)\b|\blooks? like\b"
)
_PERFECT: Final = re.compile(
    r"(?:^|\s)(?:have|has|had) (?:(?:just|already|now|been|also|finally|again|recently|never|both|all|then|only) )*$"
)
_MAY_STAND_BEFORE: Final = re.compile(
    r"^(?:(?:just|already|have|has|had|been|was|were|is|are|got|now|also|again|finally|only|then|i|we|he|she|they|you|it|i've|we've|he's|she's|they've|somebody|someone|bob|carol|dave|alice|finance|team|ops|the|my|our"
    r"|his|her|their|card|fyi|ok|okay|hi|hey|hello|so|but|well|yes|yep|looks|seems|like|apparently|that|this|boss|manager|colleague|bank|system|bot|recently|earlier|today|yesterday|§[cmpa]\d+§|of|on|for|by|usd|last|week|night|morning)(?!\w)\W*)*$"
)
#: Behind these it was done.
_FINITE: Final = re.compile(
    r"\b(?:was|were|is|are|been|got|has|have|had|just|already|i|we|he|she|they|bob|carol|dave|alice|somebody|someone|finance|i've|we've)\b"
)
_OF_IT: Final = re.compile(r"§[ca]\d+§|\b(?:it|card|them)\b")
_QUESTION: Final = re.compile(
    r"^\W*(?:(?:hi|hey|hello|so|but|ok|please|pls|team|quick question)\W+)*(?:where(?:'s| is| are| did)|when(?:'s| is| was| did| will)|what(?:'s| is| happened| became)|why(?! not)|who|whose|did|has(?! to)|have you|was(?! wondering| hoping)|were"
    r"|is(?! it | there|\W*$)|are(?! you| we)|how (?:long|come|did|is)|any (?:news|update|word|progress|sign)|(?:an )?updates? (?:on|about|for|regarding) (?:the|my|our|his|her|that)|news (?:on|of|about)|(?:status|state|progress) of|eta)\b"
    r"|\b(?:since when|when was (?:that|this|it)|by whom|how long(?: already)?|how come|any news|any update|where is it|what happened)\W*$"
)
_LABEL: Final = re.compile(
    r"^\W*(?:(?:auto|system|slack|status|request|top[ -]?up|card|payment|action) )?(?:approved|done|completed?|executed|requested|pending|declined|rejected|refused|denied|failed|failure|error|sent|received|confirmed|processed|processing|expired|cancell?ed"
    r"|finished|submitted|fyi|info|notification|receipt|confirmation|status|in progress|in review|paid|booked|settled|closed|resolved|history|log|logged|audit|reversed|success|successful|you (?:have )?(?:requested|approved|submitted))"
    r"\s*(?:\]|:|\s[-–—|>]+\s|[-–—|>]\s)(?!\W*(?:urgent|asap|high|normal|low|new|open|needed|active|inactive|frozen)\b)"
)
_CIVIL: Final = re.compile(r"\b(?:please|pls|plz|kindly|needs?|can you|could you)\b")
_THANKS: Final = r"\b(?:thanks|thank you|thx|ty|cheers|sorry|apologies|grateful|kudos|appreciate(?: you| your)?)\b(?! in advance)(?: (?!in\b)[\w§']+){0,3}? (?:for )?(?:the |quickly |promptly |so quickly )?"

_A_LIMIT: Final = r"(?:§a\d+§ )?(?:(?:the|its|his|her|their|a|an|of|daily|weekly|monthly|spend(?:ing)?|card) ){0,5}(?:§a\d+§ )?(?:(?:a|per|each) (?:day|week|month) )?(?:daily |weekly |monthly )?(?:limit|cap|max)"
_RUN_INTO: Final = re.compile(
    rf"(?<!stay )(?<!keep )(?<!stays )(?<!kept )(?<!put )(?<!set )(?<!cap )(?<!capped )(?<!limit )\b(?:over|above|beyond|past|near|under|below|within|at|close to|exceed(?:s|ed|ing)?|reach(?:es|ed|ing)?|hit(?:s|ting)?|ran into|runs? into|stuck at|maxed|broke|passed|blew(?: through)?|against) (?:§c\d+§ )?{_A_LIMIT}\b"
    rf"|\b(?:message|error|alert|notice|notification|warning|decline[ds]?|app|screen|terminal|sees?|shows?|says?|reads?|displays?|gets?|got)\b\W*(?:(?:for|on|of|from|§c\d+§|message|error|says|shows|about|a|an|the|notice)\W*){{0,4}}{_A_LIMIT}\b"
    rf"|{_A_LIMIT}\b(?: (?:of )?§[ac]\d+§)?(?: daily| weekly| monthly)?(?: (?:on|for) §c\d+§)? (?:exceeded|reached|hit|decline[ds]?|error|message|alert|warning|maxed|used up)\b"
    r"|\b(?:message|error|alert|notice|notification|warning)\b[^.;!?]{0,20}\blimit"
)
_SETS_IT: Final = re.compile(
    r"\b(?:please|pls|kindly|set|raise|lower|increase|decrease|change|make|put|bump|update|adjust|give|needs?|want|should|can|could|reduce|new|cap|up|bring|drop|cut|keep|let)\b"
)
_SENTENCE: Final = re.compile(
    r"(?<!\bms)(?<!\bmr)(?<!\bmrs)(?<!\bdr)[.;!?\n]+|,(?! §)|\s[-–—]\s|\b(?:and|but|so|then|because)\b"
)
_VALUE: Final = re.compile(r"§a\d+§")
_STATE: Final = re.compile(r"§c\d+§ (?:please|pls|now|asap|off|on)\b")
_OF_VALUE: Final = frozenset({"topup_card", "unload_card", "set_limits"})


def tells(text: str, intent: str) -> bool:
    """Does a masked text in small letters tell of what an intent asks for, or ask after it, and nowhere ask for it?"""
    if intent not in _BASE or len(text) > _LONGEST:
        return False
    text = text.replace("’", "'")
    if intent == "set_limits" and _RUN_INTO.search(text) and not _SETS_IT.search(_RUN_INTO.sub(" ", text)):
        return True
    if _LABEL.search(text) and not _CIVIL.search(text):
        return True
    civil = _CIVIL.search(_LOOKS.sub(" ", text)) is not None
    parts = [(part, _is_report(part, intent, civil=civil)) for part in _parts(text)]
    if any(is_report is False for _, is_report in parts):
        return False
    # What stands elsewhere is a request of its own: `50 to §c1§, I topped it up last week too`.
    holds = _VALUE if intent in _OF_VALUE else _STATE
    return any(is_report for _, is_report in parts) and not any(
        is_report is None and holds.search(part) for part, is_report in parts
    )


def _parts(text: str) -> Iterator[str]:
    """The sentences, and what stands between commas, by themselves."""
    for part in _SENTENCE.split(text):
        if part.strip():
            yield part.strip()


def _is_report(part: str, intent: str, *, civil: bool) -> bool | None:
    """Does a part tell of it (True), ask for it (False), or speak of something else (None)?

    `civil`: somebody is asked for something, somewhere in the message; then `§c1§ frozen` alone is it.
    """
    said = _said(intent)
    if said.thanked.search(part) or (said.once and said.once.search(part) and not _ASKED_FOR.search(part)):
        return True
    if not said.named.search(part):
        return None
    if _QUESTION.search(part) or said.had.search(part):
        return True
    asked = _ASKED_FOR.search(_LOOKS.sub(" ", part))
    if asked is None and said.became.search(part):
        return True
    past = said.done.search(part)
    if past is None:
        return False
    before = part[: past.start()]
    if asked is not None and not (asked.group() == "have" and _PERFECT.search(before)):
        return False
    if civil and not _FINITE.search(before):
        return False
    return True if _MAY_STAND_BEFORE.search(before.strip()) and _OF_IT.search(part) else None


@dataclass(frozen=True, slots=True)
class _Said:
    """The words of one intent, as a report has them: named at all, done, thanked for, had, and what became of it."""

    named: re.Pattern[str]
    done: re.Pattern[str]
    thanked: re.Pattern[str]
    had: re.Pattern[str]
    became: re.Pattern[str]
    once: re.Pattern[str] | None


@cache
def _said(intent: str) -> _Said:
    base, done, doing, noun = (_words(table[intent]) for table in (_BASE, _DONE, _DOING, _NOUN))
    same = _ONE_FORM.get(intent)
    return _Said(
        named=re.compile(rf"{base}|{done}|{noun}"),
        done=re.compile(done),
        thanked=re.compile(rf"{_THANKS}(?:{done}|{doing})"),
        had=re.compile(rf"{_HAD}{noun}(?! it)"),
        became=re.compile(
            rf"(?:{noun}|{base}){_ITS}\s*(?:-\s*)?(?:{_AND_SO}{_BECAME}{_AND_SO}{_FATE}\b|{_PLAINLY})"
        ),
        once=re.compile(rf"^{_WHO} {_OF_LATE}{same}\b|\b{same}\b.*{_OVER}") if same else None,
    )


def _words(pattern: str) -> str:
    return rf"(?<![\w-]){pattern}(?![\w-])"


__all__ = ["tells"]
