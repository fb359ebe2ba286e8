"""Courtesies around a request, taken out before it is read: `I'd be so grateful if you could …`, `let me know when done`.

What is left says the same. None of them holds a condition, a doubt or a time that is meant: an "if" is taken out only where
somebody is asked to be so kind. Patterns over a masked text in small letters; compiled when the first text is read.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_I: Final = r"(?:i|we|she|he|they|she'd|he'd|they'd|i'd|we'd)"
_YOU: Final = r"(?:you|u|ya|someone|somebody|one of you|anyone|anybody)"
_MAY: Final = r"(?:could|would|can|might|may|will|were able to|are able to|'d|would be able to|could be so kind as to|would be so kind as to)"
_ALSO: Final = r"(?: (?:please|kindly|just|also|possibly|perhaps|maybe|quickly|pretty please))*"
_GLAD: Final = r"(?:grateful|obliged|thankful|glad|happy|pleased|delighted|relieved|indebted)"
_SO: Final = (
    r"(?: (?:so|very|ever so|most|really|eternally|forever|much|deeply|extremely|truly|awfully|terribly))*"
)
_GREAT: Final = (
    r"(?:great|lovely|nice|kind|good|perfect|wonderful|helpful|brilliant|appreciated|grand|super|superb|fab|fabulous|fantastic|awesome"
    r"|amazing|ideal|splendid|marvellous|cool|sweet|most welcome|very welcome|ta|a (?:great |big |huge |real )?(?:help|relief)|a (?:life ?saver|star|treat|blessing))"
)
_BE_GREAT: Final = (
    rf"(?:(?:that|it|this|which)(?: ?'d| would| will| ?'ll)? be|(?:that|it)'?d be|would be)"
    rf"(?: (?:so|very|really|most|much|absolutely|just|greatly|highly|super|truly))* {_GREAT}(?: of you)?"
)
#: Before what is asked for.
_BEFORE: Final = (
    r"(?:i|we)(?: hereby| therefore| also| kindly)? (?:demand|solicit)(?: you)?(?: (?:to|that|for))?(?= )",
    r"(?:i|we) (?:permit|allow) (?:myself|ourselves) to (?:ask|demand|request)(?: you)?(?: (?:to|that|for))?(?= )",
    r"(?:i|we)(?: hereby| would|'d)? wish to(?= (?:report|submit|register|record|declare|book|request|order|top|load|freeze|unfreeze|block|close|change|set|have)\b)",
    r"(?:please |kindly |pls )?(?:be (?:informed|advised|notified|aware)|take note) that(?= )",
    r"it (?:would be|is|'s) (?:necessary|needed|good) to(?= )",
    r"(?:^|(?<=[.,;!?:] )|(?<=\bbut )|(?<=\bso ))(?:do please|please do|do kindly)(?= [a-z])",
    r"(?:^|(?<=[.;!?:] ))do(?= (?:cancel|undo|freeze|unfreeze|close|take|put|add|send|lift|submit|withdraw|remove|block|unblock) )",
    rf"{_I}(?:'d| would| will|'ll| shall)? (?:be|feel){_SO} {_GLAD}(?: (?:to you|for it|with you))?,? if {_YOU}{_ALSO} {_MAY}{_ALSO}(?= )",
    rf"{_I}(?:'d| would| will|'ll| shall)? (?:be|feel){_SO} {_GLAD},? if(?= (?:(?:her|his|their|the|this|that|it|we)\b|§c))",
    rf"{_I}(?:'d| would)?(?: really| very much| greatly| so)? (?:appreciate|like|love|welcome)(?: it)?(?: very much| a lot| greatly)?,? if {_YOU}{_ALSO}(?: {_MAY})?{_ALSO}(?= )",
    rf"(?:it |that |this )?(?:would|'d|will) be{_SO} {_GREAT}(?: of you)?,? if {_YOU}{_ALSO}(?: {_MAY})?{_ALSO}(?= )",
    rf"{_I}(?:'m| am| was| were|'re| are)?(?: just| also)? wonder(?:ing)?,? (?:if|whether) {_YOU}{_ALSO} {_MAY}{_ALSO}(?= )",
    rf"do you (?:think|reckon|suppose) {_YOU}{_ALSO} (?:could|might|can){_ALSO}(?= )",
    rf"(?:is there )?any (?:chance|possibility|way)(?: at all)?(?: that)? {_YOU}{_ALSO} {_MAY}{_ALSO}(?= )",
    r"(?:is there )?any chance of(?= (?:an?|some|another|topping|loading|freezing|unfreezing|adding|putting)\b)",
    rf"(?:could|might|may|can) (?:i|we){_ALSO} (?:ask|trouble|bother|beg|impose on)(?: you| u| someone)?{_ALSO} (?:to|for)(?= )",
    rf"(?:could|might|may|can) (?:i|we){_ALSO} (?:ask|request) that(?= )",
    rf"{_I}(?:'d| would| must| have to| need to)?(?: kindly| hereby| therefore| also| like to| just want to| just wanted to| wanted to| want to)? (?:ask|request) {_YOU}{_ALSO} to(?= )",
    rf"(?:could|can|would|will) {_YOU}{_ALSO} (?:do (?:me|us) an?|be) (?:(?:big |huge |small |quick )?(?:favou?r|solid|kindness)|dear|angel|star|legend|sweetheart|pal|love)(?: and|,|:)?(?= )",
    r"(?:do (?:me|us) a (?:favou?r|solid)|be a (?:dear|star|legend|sweetheart|pal|love)|be an angel) and(?= )",
    rf"(?:could|can|would|will) {_YOU}{_ALSO} be so (?:very )?(?:good|kind)(?: enough)?(?: as)? to(?= )",
    rf"(?:would|will) {_YOU} care to(?= )",
)
#: Wherever it stands: no part of what is asked for.
_ANYWHERE: Final = (
    r"[,.;]?\s*\bif (?:you|u|ya)(?:'d| would| could| can)? (?:please |kindly )?(?:be|do)? ?(?:so|that|this|ever so|terribly|very)? ?(?:good|kind|nice|generous|please)?(?: (?:please|for me|for us))?(?=\W*(?:$|[.,;!?)\n]))",
    rf"(?:,|[-–—(]|\band\b|\s)\s*{_BE_GREAT}(?=\W*(?:$|[.,;!?)\n]))",
    rf"(?:^|(?<=[.;!?\n]))\s*{_BE_GREAT}(?=\W*(?:$|[.,;!?)\n]))",
    r"(?:^|(?<=[.,;!?\n]))\s*(?:i |we )?(?:would not|wouldn'?t|hate to) ask(?: (?:if|unless) it (?:weren'?t|wasn'?t|were not|was not|were|was) (?:so |very |really )?(?:serious|urgent|important|necessary|an emergency))?(?=\W*(?:$|[.,;!?)\n:]))",
    r"[,.;]?\s*\b(?:if|unless) it'?s (?:not |already )?too late(?=\W*(?:$|[.,;!?)\n]))",
    r"[,.;]?\s*\(?\bdon'?t ask(?: why| me why)?\)?(?=\W*(?:$|[.,;!?)\n]))",
    r"[,.;]?\s*\b(?:if|when|whenever) (?:it'?s |it is |that'?s |that is |this is )?(?:at all )?(?:not (?:too much |any )?(?:of a |a )?(?:trouble|bother|inconvenience|hassle)|convenient|possible|okay with you|ok with you|it suits(?: you)?|suits(?: you)?)(?=\W*(?:$|[.,;!?)\n]))",
    r"[,.;]?\s*\b(?:when|whenever|as soon as|once|if) (?:you|u|ya)(?: ?'ve|'re| have| get| got| find| are| can spare| could spare)?(?: (?:just|even|both|back|able|free|round to it|around to it|a|an|some|the|one|spare|free|quiet|quick))*(?: (?:moment|minute|min|mo|second|sec|tick|chance|time|lull))?(?=\W*(?:$|[.,;!?)\n:]))",
    r"[,.;]?\s*\bat your (?:earliest |first )?(?:convenience|leisure|earliest|soonest)(?=\W*(?:$|[.,;!?)\n]))",
    r"(?:[,.;–-]\s*|\s+(?:and|n)\s+|^)(?:please |pls |just |kindly )*(?:let (?:me|us) know|ping (?:me|us)|shout|give (?:me|us) a (?:shout|ping|ring)|confirm|tell (?:me|us)|update (?:me|us)|drop (?:me|us) a (?:line|note)|revert)(?: here| back| please| pls)*"
    r"(?: (?:if|when|once|after|as soon as) (?:it'?s |it is |that'?s |this is |all |you'?(?:re|ve) |you (?:have|are) )?(?:been )?(?:done|sorted|ready|complete[d]?|finished|gone through|live|through|in place|"
    r"(?:there(?:'s| is| are) )?any (?:questions?|issues?|problems?|trouble)|you need (?:anything(?: else| more)?|more (?:info|details|information)|the receipts?|a receipt|something)|anything(?:'s| is)? (?:missing|unclear|wrong|else)))?(?=\W*(?:$|[.,;!?)\n]|thanks|thx|cheers|ta\b))",
    r"(?:^|[.,;!?\n–-]\s*)(?:so |very |really |terribly |awfully |my |many |a thousand |§a\d+§ |with )*(?:sorry|apolog(?:ies|ise|ize))(?: (?:again|in advance|everyone|all|guys|team))?(?: (?:for|about) (?:(?:the|this|my|all|such|being|asking|bothering|writing|coming)\b[\s\w'-]{0,30}?))?(?=\W*(?:$|[.,;!?)\n]))",
    r"(?:^|(?<=[.;!?\n]))\s*(?:i (?:do )?)?(?:hope|trust|hoping) (?:that )?(?:you(?:'re| are| had| have|'ve)?|all|this|everyone|everybody|y'?all)(?: (?:is|are|finds you|finds everyone|had|have|having|keeping|doing|all|well|a|an|good|great|nice|lovely|fine|week|weekend|day|morning|restful|had a|on your side|today|at your end))+(?=\W*(?:$|[.,;!?)\n]))",
    r"(?:^|(?<=[.,;!?\n]))\s*(?:i know,? (?:i know,? )?)?(?:it'?s|its|it is) (?:always |only |just )?me(?: again)?(?=\W*(?:$|[.,;!?)\n☺-]))",
    r"(?:^|(?<=[.;!?\n]))\s*(?:quick|small|little|tiny|one|another|a|just a|next|last)(?: (?:quick|small|little|tiny|more|last))* (?:one|thing|favou?r|request|ask|job|task)(?: (?:for you|from me|please|today))*(?=\W*(?:$|[.,;!?:)\n–-]))",
    r"(?<=[.,;])\s*or so (?:they|he|she|it) (?:say|says|claims?|seems?|tells? me)(?=\W*(?:$|[.,;!?)\n]))",
    r"(?:^|(?<=[.,;!?\n]))\s*(?:i'm|i am|im) (?:so |rather |quite |a bit |very |terribly )*(?:mortified|embarrassed|ashamed|sorry|afraid|in a (?:rush|hurry|meeting)|on my phone|in (?:the|a) (?:car|van|train|taxi|queue|line))(?: (?:to (?:say|admit|report|have to ask)|today|again))?(?=\W*(?:$|[.,;!?)\n]))",
)
_IF_YOU_COULD: Final = (
    rf"^(?:(?:hi|hello|hey|good \w+|morning|please|so|ok|okay|also|and|dear \w+)[\s,.!-]+)*if {_YOU}{_ALSO} (?:could|would|can|might)"
    rf"(?! (?:not|never)\b){_ALSO}(?= )(?=[^?]*$)"
    rf"(?!.*\bwould (?:it|that|this|he|she|they|we|you)\b)(?!.*\b(?:i|we)(?:'d| would) (?!be{_SO} {_GLAD}|(?:really |very much |greatly )?(?:appreciate|love|like)))"
)
#: `Will has need of 125`: he needs it.
_NEED_OF: Final = re.compile(r"\b(?:would )?ha(?:ve|s) need of\b")
_SPACES: Final = re.compile(r"[ \t]{2,}")


def without_courtesies(text: str) -> str:
    """A masked, `spaced` text as a plain request; the same text where nothing in it is a courtesy."""
    before, anywhere = _before(), _anywhere()
    plain = before.sub(" please ", _NEED_OF.sub("needs", text))
    plain = _if_you_could().sub("please ", plain)
    plain = anywhere.sub(" . ", plain)
    return text if plain == text else _SPACES.sub(" ", plain).strip()


@cache
def _before() -> re.Pattern[str]:
    return re.compile(r"(?<![\w'])(?:" + "|".join(_BEFORE) + r")(?!\w)")


@cache
def _anywhere() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in _ANYWHERE))


@cache
def _if_you_could() -> re.Pattern[str]:
    return re.compile(_IF_YOU_COULD)


__all__ = ["without_courtesies"]
