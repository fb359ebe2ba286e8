"""A sentence of story: it tells something with a verb of its own, and no word in it could be about a request.

Such a sentence keeps no form closed, whatever else its words are. What could be about a request: a condition, a yes that is
missing, a command or a "not" at the head of a clause, words of ours, what takes something back, who asks or orders it, "you".
What somebody said is judged by its content, and "must" by who must.
"""

from __future__ import annotations

import re
from typing import Final

#: Idioms that say nothing of a request.
_IDIOMS: Final = re.compile(
    r"\bi wish i (?:was|were) (?:joking|kidding)\b|\b(?:i(?:['’]m| am) )?not (?:joking|kidding)\b|\b(?:do not|don['’]?t) (?:even )?ask(?: me)?(?: (?:how|why|what))?(?=\W*$|[,;])|\bno comments?(?: please)?\b|\b(?:first time )?(?:i['’]ve|i have|i) (?:done|made|did|tried) [a-z]+ of (?:these|those)\b|\bby (?:myself|himself|herself|themselves)\b|\bwith (?:himself|herself|themselves)\b"
    r"|\b(?:he|she|they|§c\d+§)(?:['’]s|['’]re| is| are)? (?:still |now |again )?(?:on|off|away|out|abroad|sick|ill|travel\w*) (?:[a-z]+ ){0,3}until further notice\b|\bno i (?:won['’]?t|will not) (?:spell|explain|repeat|tell)\b[^.,;]*|\byes it['’]?s\b"
    r"|\b(?:somebody|someone|he|she|they|§c\d+§) (?:(?:has|have|had|just) )*(?:pasted|posted|typed|copied|put|left|gave|entered) (?:(?:its|her|his|the|card|whole|full) )*(?:number|details|card)\b(?! (?:here|in (?:the |this )?(?:chat|channel)))|\bphishing (?:mail|e-?mail|message|site|page|link|attack|call)s?\b"
)
#: What somebody said, with its content: the words before it say nothing. The writer's own talk to others is none of ours.
_SAYS_WHAT: Final = re.compile(
    r"\b(?:told|tells|said|says|writes|wrote|explained|complained|admitted|texted|called)(?: (?:to )?(?:me|us))?(?: (?:herself|himself|themselves|yesterday|today|from [a-z]+(?: [a-z]+)?))?(?: that)? (?=(?:he|she|they|§c\d+§|there|his|her|their) (?:[a-z]+ly )?(?:[a-z]{3,}(?:s|ed)|has|have|had|is|was|were|are|can['’]?t|cannot|lost|left|found|forgot|got|went|did|broke)\b)"
    r"|\b(?:i|we) (?:(?:have|had|already|just) )*(?:wrote|written|called|phoned|talked|spoke|told|texted|mailed|e-?mailed)(?: (?:to|with))? (?:him|her|them|§c\d+§)\b(?! (?:to|that|not|we|i|it)\b)"
    r"|\b(?:(?:is|are|was|were|keeps?|['’](?:s|re)) asking for|asks for|asked for) (?:(?:an?|the|his|her|some|my|more) )+(?!top|load|card|freeze|limit|request|refill|money|cash|same)[a-z]+\b"
    r"|\b(?:texted|messaged|pinged|rang|phoned|e-?mailed) (?:me|us) (?:from|about|in|at|because)\b|\bcalled (?:me|us)(?: (?:from|about|because|in)\b)?"
)
_HEAD: Final = r"(?:^|[,;:(–—-]\s*|\b(?:and|but|so|then|or|because|since|as)\s+)"
_OURS: Final = r"(?:(?:un|de|re)?-?(?:freez\w*|froz\w*|block\w*|lock\w*|thaw\w*|activat\w*|load\w*|clos\w*)|suspend\w*|paus\w*|enabl\w*|disabl\w*|terminat\w*|top(?:s|ped|ping)?[ -]?up\w*|topup\w*|recharg\w*|refill\w*|reveal\w*|limits?|caps?|capped|mark-?ups?|requests?|orders?|ordered|submit\w*|replac\w*|retir\w*|unload\w*|threeds|form|task)"
_COULD_BE_ABOUT_IT: Final = re.compile(
    "|".join(
        (
            rf"\b{_OURS}\b",
            # A condition, another hour.
            r"\b(?:if|unless|until|till|til|once|whether|provided|providing|in case|depend\w*|assuming|as soon as|as long as|so long as|whenever|the moment|the minute|in the event|otherwise|or else|later|tomorrow|tonight|soon|next|eventually|some ?day|first thing|from (?:now|then)|starting|effective|schedul\w*|not yet|yet|for now|meanwhile|temporar\w*)\b",
            r"\bwhen (?:[\w§'’]+ ){1,3}?(?:lands?|arrives?|comes?|returns?|gets?|calls?|signs?|says?|tells?|starts?|leaves?|can|will|approves?|confirms?|agrees?|is (?:back|here|there|in|ready|through|done)|are (?:back|here|ready))\b|"
            + _HEAD
            + r"(?:when|before|after|while|by|on|at|in|from)\b(?! (?:[a-z]+ ){0,3}(?:he|she|they|we|i|§c\d+§) (?:was|were|had|lost|left|found|got|went|did|saw|drove|paid|bought|tried))",
            # A yes that is missing, a doubt, a thought.
            r"\b(?:approv\w*|agree\w*|sign(?:s|ed|ing)?|sign-?off|signatures?|confirm\w*|consent\w*|permission|authori[sz]\w*|decid\w*|decision|clearance|cleared|green ?light|go-?ahead|budget\w*|polic(?:y|ies)|rules?|allow\w*|supposed|permitted|forb\w+|entitled|pending|await\w*|undecided|unsure|sure|certain|doubt\w*|maybe|perhaps|possibly|probably|might|consider\w*|think\w*|thought|wonder\w*|guess\w*|hop(?:e|es|ing)|suggest\w*|recommend\w*|propos\w*|advis\w*|rather|better|worth|object\w*|oppos\w*|against|veto\w*|refus\w*|disagree\w*|idea|plan\w*|intend\w*|would|could|may|can we|can i|ok|okay|fine|yes|right|true|serious)\b",
            # What takes something back, or was done.
            r"\b(?:wait\w*|hold|holding|never ?mind|nvm|forget|ignore|disregard|scratch|undo\w*|undid|cancel\w*|abort\w*|retract\w*|revok\w*|withdr\w*|instead|actually|oops|sorry|mistake\w*|wrong\w*|correct\w*|i mean|meant|tests?|tested|testing|drills?|jok\w*|kidding|example|sample|template|draft\w*|dream\w*|imagin\w*|pretend\w*|suppos\w*|hypothe\w*|second thoughts?|minds?|no longer|already|done|did|sorted|handled|taken care|leave|let|skip|drop|called (?:\w+ )?off|false alarm|lol|haha\w*|jk|scam\w*|phish\w*|fake|copied|pasted|forwarded|fwd|training|exercise|practi[cs]\w*|simulat\w*)\b",
            # Who asks for it, or says what.
            r"\b(?:typ(?:ed|es|ing)|check\w*|verif\w*|discuss\w*|talk\w*|debat\w*|clarif\w*|review\w*|investigat\w*|told|tells?|telling|ask(?:s|ed|ing)?|instruct\w*|demand\w*|insist\w*|command\w*|beg(?:s|ged)?|said|says|say|saying|wrote|writes|writing|written|quot\w*|dictat\w*|repeat\w*|claim\w*|report\w*|according|messages?|notes?|memo|fyi|btw|todo|remind\w*|subject|following|follows|expect\w*|urg\w*|forc\w*|wish(?:es|ed)?|prefer\w*|on behalf|words?|wording|reads?|reading|aloud|out loud|loud)\b",
            r"\b(?:wants?|wanted|needs?|needed|like[sd]?|love[sd]?) (?:it|this|that|to|us|me|you|him|her|them|the card|her card|his card|§c)\b|\b(?:i|we)(?:['’]d| would)? (?:\w+ )?(?:want|need|like|require)\b",
            # What may be what was asked for: `she got it`.
            r"\b(?:it|this|them|these|those)\b(?! (?:was|is|were|are|broke|fell|got (?:lost|stolen|wet|damaged)|[a-z]+s?\b (?!\W*$)))|\bthat(?=\W*(?:$|[,.;]))|\b(?:got|gets?|has|have|had|received|receives|sees?|saw) (?:it|them|this|that|the (?:money|card|top-?up|load|cash))\b",
            # To whom it is said, and what somebody is to do.
            r"\b(?:you|your|yours|u|please|pls|plz|kindly|let['’]?s)\b",
            r"\b(?:we|i|it|this|that|one|nobody|somebody|someone|everyone|people|card|cards) (?:[a-z]+ )?(?:should|must|shall|ought|has to|have to|needs? to|will|['’]ll)\b|\bshould\b|\bshall\b|\bought\b",
            _HEAD
            + r"(?:please |just |only |now )*(?:put|add|give|send|take|pull|move|bring|set|make|change|raise|lower|bump|switch|turn|lift|remove|return|give|show|list|tell|find|check|stop|keep|do|get|use|go|call|ask|try|see|look|reject|refund|transfer|open|increase|reduce|cut|read|write|note)\b",
            # A "no" of its own, or of the request.
            _HEAD
            + r"(?:no|not|nope|nah|never|don['’]?t|do not|nothing|nobody|none|only|except|unlike|either|nor|without)\b",
            r"\b(?:not|never|n['’]t|cannot|no)\b[^.;]{0,30}\b(?:need\w*|necessary|requir\w*|want\w*|happen\w*|it|this|that|now|today|urgent\w*|ready|valid|due|help|matter)\b",
            # A second thing, or the same for others.
            r"\b(?:also|too|as well|both|each|twice|every|same|another|rest|others?|all of|half|more|extra|second)\b",
        )
    )
)
_TELLS: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|got|gets?|went|came|lost|left|found|took|ran|met|saw|broke|forgot|fell|spent|paid|bought|sent|drove|flew|knows?|hit|put|kept|gave|stole|blew|[a-z]{3,}(?:ed|s))\b|['’](?:s|re|m|ve)\b"
)
_BEGINS: Final = re.compile(
    r"^\W*(?:(?:and|so|well|now|because|since|as|cos|cause|hi|hello|hey|howzit|morning|honestly|basically|apparently)\b[\s,!]*)*(?!(?:it|this|that|those|these|what|which|who|why|how|where|when|is|are|was|were|do|does|did|has|have|had|but|or|if|then|please|all|everything|same|me|them|him|request|order)\b)[§a-z]"
)
_FEWEST: Final = 3
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


def tells_only(text: str) -> bool:
    """Is a masked text in small letters a story in which nothing could be about a request? Its values are judged elsewhere."""
    if _BEGINS.match(text) is None or len(_WORD.findall(text)) < _FEWEST:
        return False
    bare = _SAYS_WHAT.sub(" ", _IDIOMS.sub(" it was ", text))
    return _TELLS.search(bare) is not None and _COULD_BE_ABOUT_IT.search(bare) is None


__all__ = ["tells_only"]
