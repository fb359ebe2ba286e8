"""Courtesies around a request: `you are requested to`, `would you be so good as to`, `… and oblige`."""

from __future__ import annotations

import re
from typing import Final

#: What asks, before the verb.
_ASKS: Final = (
    r"(?:you are|you're|u r|team is|all are) (?:therefore |hereby |kindly |humbly |hence |so |accordingly )*requested to",
    r"(?:(?:i|we) )?(?:would |hereby |therefore |humbly |kindly |hence |do |am |are )*request(?:ing)?(?: (?:you|u|your team|the team|your goodself|your good self))?(?: to| for)?(?= (?:please |kindly |pls )*[a-z])(?! (?:was|is|for a|change|the|change|form|in|on|of|that|has|which|no))",
    r"it is (?:hereby |kindly |therefore |humbly )*requested to",
    r"(?:please |kindly |pls )?do the needful (?:and|to|by)",
    r"(?:i|we) ask (?:therefore|hence|thus|hereby|kindly|also)(?: you)? to(?= [a-z])",
    r"(?:may|can|could) i ask you to(?= [a-z])",
    r"(?:please |kindly )?(?:have the (?:kindness|goodness)|be (?:so |very )?(?:good|kind|nice)(?: enough)?|be (?:a |an )(?:star|dear|angel|darling|love|legend|pal|saint|gem|doll|champ))(?: as)?(?: to|,? and)",
    r"(?:would|could|can|will) you (?:please |kindly |possibly |perhaps |just |maybe |be able to |manage to )*(?:be (?:so |very )?(?:good|kind|nice)(?: enough)?|be (?:a |an )(?:star|dear|angel|darling|love|legend|pal|saint|gem|doll|champ))(?: as)?(?: to|,? and)",
    r"(?:would|could|can|might) (?:you|i trouble you to|i ask you to|i bother you to|we ask you to|i get you to|someone|somebody|anyone|one of you|u|ya) (?:please |kindly |possibly |perhaps |just |maybe |quickly |be able to |go ahead and |help me (?:to )?|help (?:to )?)*(?=[a-z])",
    r"(?:i|we)(?:'d| would) (?:be |feel )?(?:so |very |really |most |ever so |much )?(?:grateful|obliged|thankful|glad|happy|pleased) if (?:you|someone|somebody) (?:could|would|can|might)(?: please| kindly)?",
    r"(?:i|we)(?:'d| would)(?: really| greatly| much)? appreciate (?:it )?if (?:you|someone|somebody) (?:could|would|can|might)(?: please| kindly)?",
    r"(?:i was |i am |i'm |was )?(?:just )?wondering (?:if|whether) (?:you|someone|somebody) (?:could|can|might|would)(?: (?:please|kindly|possibly|be able to|be so kind as to|mind))*",
    r"(?:is there )?any chance (?:you|someone|somebody|u) (?:could|can|might)(?: please| just)?",
    r"would it be possible (?:for you )?to|is it possible (?:for you )?to|might it be possible to",
    r"(?:i|we)(?:'d| would)? (?:like|want|ask|wish|need|request|appreciate)(?: it)? that (?:you|u|someone|somebody)(?: (?:please|kindly|can|could|would|may))*(?= [a-z])",
    r"(?:please |kindly )?(?:let's|let us|lets)(?= (?:put|set|make|load|add|take|pull|bring|move|raise|lower|bump|cap|freeze|unfreeze|block|unblock|lock|unlock|close|top|get|give|drop|send|cut)\b)",
    r"(?:i|we)(?:'d| would) (?:like|love|ask|want)(?: (?:you|u))? to(?: please| kindly| ask you to)?(?! (?:know|see|ask|check|understand|say|point))",
    r"(?:i|we) (?:need|want)(?: (?:you|u|someone))? to(?: please| kindly)?(?= (?:un|re)?(?:freeze|block|lock|load|top|close|take|put|raise|lower|set|order|cut|bump|add|move|pull|send|change|update|submit|register|cap|activate|terminate|suspend))",
    r"(?:can|could|may|might) (?:i|we) (?:please |kindly |just |quickly )*(?=(?:have|get|see|view)\b)",
    r"(?:i|we)(?:'d| would)? (?:want|need|wish|like|have)(?: to)? (?=(?:see|view|look at)\b)",
    r"what (?:i|we) (?:require|need|want|would like)(?: now| today)? is(?: to| for you to)?",
    r"(?:may|can|could) i (?:please )?(?:request|ask)(?: you)?(?: to| for)",
    r"(?:please |kindly |pls )?provide to(?= [a-z]+)(?: (?:please|also|immediately|urgently))*",
    r"(?:please |kindly |pls )?(?:arrange|proceed|ensure|manage|help|assist(?: us| me)?|be kind enough|make arrangements)(?: to| in| with)(?= [a-z]+)(?: please| kindly)?",
    r"(?:you|u) (?:may|can|could)(?: now| please| pls| kindly| go ahead and)*(?= (?:un|re)?(?:freeze|block|lock|activate|load|top|close|lift|take|pull|put|switch|turn))",
    r"(?:please |kindly )?(?:go ahead and|go on and|hurry up and|be quick and|quickly|urgently|immediately|just)(?= [a-z])",
    r"(?:requesting|request) (?=(?:un|re)?(?:freez|block|activat|clos|top))",
)
#: What leads to it, and says nothing of its own.
_LEADS: Final = (
    r"(?:(?:details|particulars|values|limits|data)? ?(?:are |is )?as (?:follows|under|below)|action|hence|therefore|thus|so|accordingly|consequently|as such|in view of (?:this|the above|that|which)|due to (?:this|which|that)|for (?:this|that|which) reason|because of (?:this|that|which)|in light of (?:this|that)|in the mean ?while|in the mean ?time|meanwhile|now|ok(?:ay)? now|ok|okay|right|well|anyway|anyways|alright|"
    r"to be (?:on the )?safe(?: side)?|just to be (?:on the )?safe(?: side)?|next one|one more|one thing only|one thing|last one|and|also|then|but|hi again|hello again|hey again|me again|sorry|urgent|quick one|so now|dear (?:all|team|bot|sir|madam|sir/madam|colleagues?)|respected (?:team|sir|madam)|sir|madam|team|bot|hi(?: (?:bot|team|all|there|guys|folks))?|hello(?: (?:bot|team|all|there|guys|folks))?|hey(?: (?:bot|team|all|there|guys|folks))?|good (?:morning|afternoon|evening|day)(?: (?:team|all|bot|sir))?|morning|afternoon|evening)"
)
_LEAD: Final = re.compile(rf"^\W*(?:{_LEADS})(?:\s*[,:;!.–-]+\s*|\s+)(?=\S)", re.IGNORECASE)
_ASK: Final = re.compile(
    rf"^\W*(?:(?:please|pls|plz|kindly)[\s,]+)*(?:{'|'.join(_ASKS)})(?:(?<=\s)|(?![\w'’]))", re.IGNORECASE
)
#: What ends it, and says nothing of its own.
_ENDS: Final = re.compile(
    r"(?:[\s,.–-]+(?:and )?(?:please |kindly |pls )*(?:oblige|do the needful|confirm(?: (?:the same|back|once (?:it is )?done|when done|to me))?|(?:please |kindly )*(?:let (?:me|us) know|acknowledge|revert)(?: (?:once|when) (?:it(?:'s| is) )?done)?|at the earliest(?: convenience| possible)?|on priority|on top priority|on an urgent basis|urgently|at your (?:earliest )?convenience|when you get (?:a chance|a minute|a moment|a sec)|when you(?:'ve| have) (?:a |got a )?(?:minute|moment|sec|second)|if you (?:would|could|can|please|will|don'?t mind|wouldn'?t mind)|if (?:that'?s|it'?s) (?:ok|okay|no trouble|not too much trouble|no bother)|"
    r"for me|cheers|thanks(?: (?:a lot|so much|a million|a bunch|in advance|team|all))?|thank you(?: (?:so much|very much|in advance))?|ta|thx|tia|much appreciated|appreciated|there'?s a (?:dear|love|good \w+)|straight ?away|right away|right now|asap|a\.s\.a\.p|as soon as (?:possible|you can)|today itself|now itself|immediately|with immediate effect|quickly|quick|fast|would you|will you|could you|please|pls|plz|love|mate|boss|pal))+[\s.!?]*$",
    re.IGNORECASE,
)

_POLITELY_ONLY: Final = re.compile(
    r"^\W*(?:(?:please|pls|plz|kindly|just|quickly|urgently|immediately|also|now|so|then|and|go ahead and)\b[\s,]*)+",
    re.IGNORECASE,
)


def begins_at(piece: str) -> int:
    """Where, behind its courtesies, a masked sentence says what is asked for."""
    at = len(piece) - len(piece.lstrip())
    for pattern in (*[_LEAD] * 4, _ASK, _POLITELY_ONLY, _ASK, _POLITELY_ONLY):
        found = pattern.match(piece[at:])
        if found is not None and piece[at + found.end() :].strip():
            at += found.end()
    while at < len(piece) and piece[at].isspace():
        at += 1
    return at


def only_leads(text: str) -> bool:
    """Is it no more than what leads to a request: `in the meanwhile`, `what we require is`?"""
    return (
        _LEAD_ALONE.match(text) is not None
        or _BEGUN.match(text) is not None
        or not _ASK.sub("", text).strip()
    )


#: The beginning of a courtesy whose end is part of the request: `could you`, `hello, i would like`, `do the needful for`.
_BEGUN: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|dear|bonjour|hola|ciao|good (?:morning|afternoon|evening|day)|morning|team|bot|all|there|sir|madam|please|pls|plz|kindly|also|now|so|just|an?|the|one|we|i|"
    r"(?:can|could|would|will|may) (?:you|we|i|u|someone|somebody)|(?:i|we)(?:['’]d| would)?(?: kindly| hereby)? (?:like|need|want|require|request|ask|apply|beg)(?: (?:to (?:request|ask for|apply for|order)|to|for))?|(?:s?he|they)['’]?ll|(?:s?he|they)(?: will)? needs?|do the needful(?: for| and| to)?)\b[\s,.!:–-]*)+$",
    re.IGNORECASE,
)


_LEAD_ALONE: Final = re.compile(rf"^\W*(?:{_LEADS})\W*$", re.IGNORECASE)


def without_courtesies(tail: str) -> str:
    """What follows a request, without the thanks and the "asap" at its end."""
    return _ENDS.sub("", f" {tail}")


__all__ = ["begins_at", "only_leads", "without_courtesies"]
