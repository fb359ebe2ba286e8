"""What may stand around a request: its story, its reason. Anything that takes it back, doubts or reports it may not.

A part of a message that tells something (`she doesn't find it`, `his train leaves at noon`) is harmless; one that hangs
on the request (`if he calls`, `Carol says`, `not yet`, `after lunch`, `never mind`) keeps every form closed.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.requests.against import HARMLESS

_SUBJECT: Final = (
    r"(?:he|she|they|it|we|i|hes|shes|who|nobody|none|someone|somebody|there|§c\d+§|§m\d+§|(?:the|his|her|their|our|my|an?)\s+"
    r"(?:\w+\s+){1,4}?|[a-z]+(?=\s))"
)
#: A statement with a "not" in it that says nothing about the request itself.
_TELLS_NOT: Final = re.compile(
    rf"(?<!\w){_SUBJECT}\s*(?:\w+\s+){{0,2}}?(?:doesn'?t|does not|don'?t|do not|can'?t|cannot|can not|cant|didn'?t|did not|won'?t|wont|hasn'?t|has not"
    r"|haven'?t|isn'?t|is not|was not|wasn'?t|were not|are not|arent|aren'?t|has no|have no|had no|not|no longer|has never|never)\s+"
    r"(?:\w+\s+){0,2}?(?:find|know|recogni[sz]e|trust|have|answer|reach\w*|use|used|using|need\w*|work\w*|come|came|arrive\w*|see|locate|remember|hers|his"
    r"|theirs|here|here|sufficient|enough|open|pay|paid|get|got|receive\w*|accept\w*|close\w*|stretch|belong\w*|leaving|respond\w*|show\w*|submitted"
    r"|considered|included|expected|return\w*|cover\w*|buy|book\w*|travel\w*|reachable|sure where|touched|handed|gone through|go through|take|allow\w*|let|process\w*|manage|configured|set up|gettin\w*|care)\b"
    r"|\bno (?:more|longer|rush|hurry|drama|harm|receipts?|answer|reply|cash|money|balance|idea|trace|sign|worries|need for it|fuss|internet|card)\b"
    r"|\bnot (?:only|just|sure where|urgent|needed any ?more|leaving us|her|his|for long|much time|enough)\b|\bwithout (?:a|an|any|it|internet|cash|money|her|his|delay)\b"
    r"|\bnone of\b|\bnobody (?:\w+ )?(?:recogni[sz]es|knows|has|answers)\b|\bnothing (?:left|urgent|on it)\b|\b(?:can't|cannot|cant|can not) (?:pay|find|reach|get|work|use)\b"
)
_NOT: Final = re.compile(
    r"\b(?:not|no|nor|nobody|none|nothing|neither|without|don'?t|won'?t|wouldn'?t|can'?t|cannot|couldn'?t|shouldn'?t|mustn'?t"
    r"|doesn'?t|didn'?t|isn'?t|aren'?t|wasn'?t|weren'?t|hasn'?t|haven'?t|hadn'?t|aint|ain't|cant|wont|nope|nah|avoid|never)\b|n't\b"
)
#: What somebody said, with its content, is part of the story. Without it, the request itself is what was said.
_SAID_WHAT: Final = re.compile(
    r"\b(?:said|says|say|tells?(?: (?:me|us))?|told (?:me|us)|thinks?|thought|believes?|confirmed|heard|reports?|reported|wrote|mentioned|called to say|knows?)"
    r"\s+(?:that\s+)?(?=(?:he|she|they|it|hes|shes|his|her|their|somebody|someone|there|§c\d+§|the|my|we've|we have)\b(?:\s+\S+){2,})"
    r"|\b(?:wants?|asks?(?: always)?|is asking(?: for)?|asking(?: for)?) (?:it(?: always)?|prepay\w*|a deposit|prepayment|the deposit|for (?:a |the )?(?:deposit|otp|code|prepayment)|otp|a code|us to pay)(?=\W*$)"
    r"|\bwants? to (?:pay|buy|book|travel|be paid|rent|see)\b"
)
_REPORT: Final = re.compile(
    r"\b(?:said|says|say|saying|told|tells?|asked|asks|asking|wants|wanted|wrote|writes|goes(?=\W*$)|goes (?:like|freeze|block|load|top|pls|please)|reads|mentioned|suggest\w*|reckons?|thinks?|thinking|thought"
    r"|wonder\w*|consider\w*|claims?|quotes?|quoted|unquote|suppose\w*|guess\w*|hears?|heard|promised|joked|wish(?:es|ed)?|recommend\w*|advis\w+)\b"
)
#: A condition, another time, something not meant, already done, or taken back.
_HANGS: Final = re.compile(
    r"\b(?:if|unless|whether|in case|in the event|in the eventuality|were to|would have to|one would|depending|assuming|provided|once|as soon as|whenever|would have|could have|should have|wouldve|couldve|shouldve"
    r"|coulda|woulda|shoulda|maybe|perhaps|possibly|might|plan(?:s|ned|ning)? to|intend\w*|gonna|going to (?:ask|request|say|do|order|put|load)|about to (?:ask|request|say|do|order|put|load|click)"
    r"|ought|(?:be )?worth|make sense|idea|theor\w+|hypothe\w+|imagin\w+|pretend(?! to start)|what if|example|e\.g|training|slide|manual|procedure|phishing|rumou?r"
    r"|jok\w+|kidding|jk|forget|scratch|ignore|disregard|hold off|holding off|hold on|wait|not yet|not now|yet|second thoughts?"
    r"|changed? (?:(?:my|his|her|their) )?(?:idea|mind)|already (?!at|in|on|there|here|standing|waiting|back)|handled|sorted|no need|needn'?t|against it|oops|undo|reverse|instead|rather|except|fyi|btw"
    r"|by the way|used to|remember(?:ing)? to|next time|one day|some ?day|eventually|later|always|usually|normally|why|whom|how come|do you|should (?:we|i|you)"
    r"|shall (?:we|i)|were we|are we|am i|we should|you should|i should|lol|lmao|haha\w*|nope|everyone|everybody|both|twice|half of|approve[sd]? (?:it|this|that)|reject\w*|against(?! (?:the|an?|po|invoice) )|happen\w*|schedul\w*|effective"
    r"|tonight|midnight|tomorrow|at least|at most|abort|dispute|refund it|cvv|kindly ignore|subject|(?:i|we|you|[a-z]+) (?:already )?did|did (?:it|that|this)|done|not serious|wrong|mistaken"
    r"|as (?:it|they) (?:is|are|was|were)|stays? (?:frozen|closed|as)|remains?|keep (?:it|her|his)|leave (?:it|her|his|that|them)|pounds|euros?|reais|zloty|zł|naira|no no|or not|or\b(?! so they)|the other one)\b"
)
#: Before or after what: then the request is for another time.
_OTHER_TIME: Final = re.compile(
    r"^\W*(?:but |only |just |and )*(?:before|after|afterwards|until|till|til|when|while|starting|effective|from|next|not|no|nope|nah|then|(?:at|on|in|by)(?: the| a| an)?(?= ?(?:§[pl]|morning|evening|afternoon|end|week|month|start|first|noon|midnight|minute|moment|while|bit|few|hour))|§[pl]\d+§)\b"
    r"(?!\s+(?:(?:the )?§c|further notice|you (?:can|have)|it suits|before|his|her|he|she|they|it|leave|holiday|maternity|vacation))"
)
_OTHER_ACTION: Final = re.compile(
    r"\b(?:un-?|de|re-?)?(?:freez\w*|froz\w*|block(?:s|ed|ing)?|lock(?:ed|s|ing)?|unlock\w*|thaw\w*|defrost\w*|suspend\w*|paus(?:e|ed|ing)|activat\w*|enabl\w*|disabl\w*"
    r"|clos(?:e|ed|ing)(?! to| by)|terminat\w*|cancel\w*|kill\w*|delet\w*|top\w*[ -]?ups?|topping|load(?:s|ed|ing)?|recharg\w*|fund(?:s|ed|ing)?(?=\W+(?:it|her|his|§c))|credited|unload\w*|withdr\w*"
    r"|submit\w*|reveal\w*|replacement card|new card|order(?:ed)? (?:it|a|the|one)|put (?:§|it|him|her)|take (?:§|it|him|her|off|back)|add (?:§|it|some)|send (?:§|it|him|her|some)|give (?:§|it|him|her))\b"
)
_IS_STATE: Final = re.compile(
    r"\b(?:is|are|it's|its|still|stays|got|was|been) (?:still |wrongly |only )?(?:frozen|blocked|locked|paused|on hold|suspended)(?: (?:by mistake|in error|since|on|from|for)\b)?"
    r"|\bin frozen condition\b"
)
_IS_CANCELLED: Final = re.compile(
    r"\b(?:trip|flight|event|gala|project|meeting|booking|hotel|order|train|visit|course|conference|campaign|contract)s? (?:\w+ )?(?:is|was|has been|got|were|are) (?:cancelled|canceled|closed|finished)\b"
    r"|\b(?:account|shop|store|office|merchant|site) (?:is |was |got )?(?:blocked|closed)\b|\bblocked (?:the|our|his|her) account\b|\bclosed (?:deal|books|year)\b|\bclosing (?:of )?(?:the )?(?:year|books|month)\b"
)
_TAKING_AWAY: Final = frozenset({"freeze_card", "close_card", "unload_card"})
#: How long it is taken away for: until somebody has looked.
_UNTIL_WE: Final = re.compile(
    r"^\W*(?:until|till|til|while|before)\s+(?:we|i|he|she|they|someone|somebody|it|things|anyone|anybody)\s+(?!say|tell|ask|told|give|call)"
)
_MORE_THAN_FROZEN: Final = re.compile(r"\bnot (?:just|only) frozen\b|\bnew card has arrived\b")
#: A document, a place where things are written, or the past it tells of.
_WRITTEN: Final = re.compile(
    r"\b(?:for the record|just filing|for the log|history|that was (?:for|in|on|the|last)|those were|quote|unquote|it (?:says|said|reads))\b"
)
_WRITER: Final = re.compile(
    r"\b(?:notes?|forms?|memo|e-?mail|mail|message|text|ticket|log|minutes|report|caption|sign|poster|guide|doc|slack|chat|words|channel|slide|manual|line|title|subject|headline|quote|row|sheet|todo|to-?do|fyi|re|fwd?)\b"
)
#: What stands before a value: `hash: 0x…`, `new mob.: +44…`.
_LABEL: Final = re.compile(
    r"(?:(?:new|below|the|card|tx|transaction|our|her|his|their|for|of|on|by|please|pls|§c\d+§|§n\d+§)\W+)*(?:hash|network|chain|card|amount|holder|cardholder|phone|mob|mobile|cell|number|e-?mail|mail|name|tx|txn id|id|ref|limits?|daily|weekly|monthly|day|week|month"
    r"|reason|action|request|urgent|emergency|please|pls|hi|hello|funding|deposit|markup|threeds|particulars|details|top[ -]?up|topup|freeze|unfreeze|order|submission|quick|mobile for §c\d+§|§c\d+§|§n\d+§)\W*",
)
_REASONED: Final = re.compile(
    r"\bpolicy (?:review |revision )?(?:says|is)\b|\b[a-z]+ (?:said|says) so\b|\bgoes\b|\bget (?:that|it) [^.]* sorted\b|\bdid the transfer\b|\bmight (?=the|§|we|i|you|it)"
    r"|\ball (?:by|week|day|right)\b|\bwants (?:a|the) new\b|\b(?:board|asked) (?:meeting|note|to see that)\b|\bbefore (?:lunch|noon)\b|\bi have been asked to\b"
)
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|be|needs?|lost|left|found|agreed|forgot|got|went|came|stole|will|can|cannot|must|\w{3,}(?:ed|ing))\b|n't\b"
)
_QUESTION: Final = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|why|what|where|when|who|how|which|any|shall|should|am)\b"
)


def speaks_against_from_around(text: str, intent: str, *, asked: bool = False) -> bool:
    """Does this part of the message, in which nothing is requested, take the request back, doubt or report it?"""
    bare = HARMLESS.sub(" ", text)
    if intent in _TAKING_AWAY and _UNTIL_WE.match(bare):
        bare = _UNTIL_WE.sub(" ", bare)
    if intent == "close_card":
        bare = _MORE_THAN_FROZEN.sub(" ", bare)
    if asked or _WRITTEN.search(bare) or _QUESTION.search(bare) or _OTHER_TIME.search(bare):
        return True
    if not bare.strip(" ,.!?"):
        return False
    bare = _IS_CANCELLED.sub(" ", bare)
    if intent == "unfreeze_card":
        bare = _IS_STATE.sub(" ", bare)
    if _OTHER_ACTION.search(bare):
        return True
    bare = _REASONED.sub(" ", _SAID_WHAT.sub(" ", bare))
    return bool(_REPORT.search(bare) or _HANGS.search(bare) or _NOT.search(_TELLS_NOT.sub(" ", bare)))


def introduces(text: str) -> bool:
    """Does what stands before a colon say whose words follow: a name, a note, a mail? A sentence of its own does not."""
    if _LABEL.fullmatch(text):
        return False
    return _WRITER.search(text) is not None or _VERB.search(text) is None


def without_story(text: str) -> str:
    """The words of a request without a "not" or a "says" that only tells what happened."""
    return _TELLS_NOT.sub(" ", _REASONED.sub(" ", _SAID_WHAT.sub(" ", text)))
