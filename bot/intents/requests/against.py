"""What in a message speaks against taking it for a request of its writer, wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.intents.directory import ORDINARY, fold
from bot.intents.plain_text import Clause
from bot.intents.readings import Context
from bot.intents.recognition import strip_lead

LONGEST: Final = 60  # words; a longer message tells a story
#: A condition, a report, a thought, another time, somebody else's words, something already done.
NEVER: Final = re.compile(
    r"\b(?:if|unless|whether|in case|depending|assuming|provided|suppos\w+|as soon as|(?<!\bfor )(?<!\bat )once(?! (?:and )?for all)|whenever|would have"
    r"|could have|should have|wouldve|couldve|shouldve|coulda|woulda|shoulda"
    r"|said|says|say|saying|sayin|told|tells|tell|telling|asked|ask(?= (?:him|her|them|§))|wants|wanted|asks|asking|wrote|writes|writing|written|quote|quoted|goes|reads"
    r"|maybe|perhaps|possibly|might (?!i\b|you\b|we\b)|think\w*|thought|wonder(?:s|ed|ing)?|consider\w*|plan\w*|intend\w*"
    r"|gonna|going to|was about|were about|about to|ought|worth|make sense|sense|smart|wise|sensible|idea|better|rather|theor\w+"
    r"|hypothe\w+|imagin\w+|pretend|what if|example|e\.g|test\w*|training|slide(?! §)|manual|procedure|policy|subject"
    r"|phishing|rumou?r|joke|joking|kidding|jk|never|forget|scratch|ignore|disregard|hold off|holding off|wait"
    r"|not yet|not now|yet|second thoughts?|changed? (?:my|his|her|their|idea|mind)|already|handled|(?<!is )(?<!are )done|sorted"
    r"|no need|needn'?t|against(?! §c)(?! (?:her|his|their|the|this|that) card\b)|mistake|oops|wrong|didn'?t mean|undo|revers\w+|instead|except|but not|fyi|btw"
    r"|by the way|just so|used to|remember|last time|next time|one day|some ?day|eventually|later|sometimes"
    r"|always|usually|normally|or|versus|vs|why|who|whom|whose|what|which|how come|did|do you (?:think|reckon|believe)"
    r"|should (?:we|i)|shall (?:we|i)|(?:is|was) (?:it|that) (?!possible)|were we|are we|credit\w* (?:it |back )*to (?:our|the)|to (?:our|the) (?:deposit|float|account)|(?:freeze|block|lock|hold) off|lol|haha\w*|nope|me:|am i|everyone|everybody|all|every|each|both|them|cards|half"
    r"|double|twice|approve\w*|reject\w*|decline it|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|weekend|tonight|midnight|noon|next|until|till|til|starting|effective|when|while|before|after|some"
    r"|about|around|roughly|approx\w*|max|at least|at most|limit|limits|cap|per|daily|weekly|monthly"
    r"|a (?:day|week|month)|keep|keeps|stay|stays|remain\w*|girl|guy|boy|intern|plus|minus the|stop|abort|cancel"
    r"|dispute|refund|cvv|pin|naira|pounds|euros?|reais|zloty|zł|zl|pln)\b"
)
#: No card in particular: which one has to be asked for, whoever else is named.
ANY_CARD: Final = re.compile(
    r"\b(?:one|some) of (?:our|the|my) cards\b|\b(?:me|have|get|(?:un|de)?(?:freez|block|lock)\w*|close|terminate|suspend|reactivate|thaw|load|top up|topup|reload|recharge|refill|fund|unload) (?:a|one) card\b"
)
HARMLESS: Final = re.compile(
    r"\b(?:if you wouldn'?t mind|when there'?s an? (?:lull|minute|moment|chance)|when(?:ever)? (?:it )?suits(?: you)?|no harm done|(?:grateful|glad|thankful|obliged|pleased|delighted|appreciate it|be (?:so |very |really )?(?:great|nice|kind|lovely|perfect|wonderful|helpful|good))(?: of you)?,? if (?:you|we|someone|somebody|this|that|it|her|his|their|the|§c\d+§)(?: card)? (?:could|would|can|may|might)\b|i would not ask if|i wouldn'?t ask if|so that|if (?:you|u)(?:'d| would|'?ll| could| can| don'?t mind| please)?(?: be)?(?: so kind| kind enough)?"
    r"(?: as to)?|if (?:at all )?possible|when(?:ever)? you(?:'re ready| can| have (?:an?|some)?(?: (?:spare|free))?"
    r" (?:moment|minute|second|sec|time))|if it'?s? (?:is )?not too much trouble|until further notice|at once|for now"
    r"|(?:if it|unless it)(?:'s| is|'?s not| isn'?t| is not) (?:too much |any |a )?(?:trouble|bother|too late|okay|ok|alright|convenient)|just in case|if you wouldn'?t mind"
    r"|when(?:ever)? (?:it'?s |it is )?(?:convenient|suits)|when(?:ever)? you(?:'re| are) (?:able|free)|whenever you(?:'ve| have) a (?:minute|moment|second)|as soon as (?:you can|possible)|if you'?d be so (?:good|kind)"
    r"|if you please|when you get (?:round to it|a chance)|(?:i'm |i am )?(?:sorry|embarrassed|ashamed|mortified) to (?:say|admit)(?: that)?|i(?:'m| am) afraid(?: that)?|i hate to (?:rush|bother|trouble) you|i don'?t like to (?:rush|bother|trouble|fuss|make a fuss)"
    r"|(?:just )?as i (?:said|say|feared|expected|thought)(?: (?:it|he|she|they) (?:would|might|did))?(?: (?:before|earlier|already))?(?=[ ]*(?:$|[.,;!]))|right now|from now(?: on(?:wards)?)?(?= *(?:$|[.,;!)]|please\b|pls\b))|is it possible to|all good|after all|thank you so much|as usual|as always)\b"
)
#: What is over, and why money comes back: `offsite done`. Not what may be the request itself.
IS_OVER: Final = re.compile(
    r"(?:(?<=[,;.!–-] )|^\W*)(?!(?:all|already|it|that|this|now|just|get|got|been|is|was|and|not|be|never|well|nearly|almost|half|request|top-?up|topup|load|loading|freeze|unfreeze|unload|transfer|job|work|task|card|order|nothing|everything|both|one|two|me|you|we|i|he|she|they|too|so|as|no|yes|ok|limit|limits|markup|change|submission|deposit|funding|payment|reveal|closure|block|message|form|until|till|if|when|once|after|before)\b)"
    r"[a-z-]{3,}(?: (?:is|was|are|got|has been|have been|all))? (?:done|over|finished|ended|stopped|wrapped|wrapped up)(?= *$| *[.,;!])"
)
NEGATED: Final = re.compile(
    r"\b(?:not|no|nor|nobody|none|nothing|neither|without|don'?t|won'?t|wouldn'?t|can'?t|cannot|couldn'?t|shouldn'?t"
    r"|mustn'?t|doesn'?t|didn'?t|isn'?t|aren'?t|wasn'?t|weren'?t|hasn'?t|haven'?t|hadn'?t|aint|ain't|n't|nope|nah"
    r"|stop|avoid|refrain\w*)\b"
)
#: Where else things are closed, loaded or put on hold.
ELSEWHERE: Final = re.compile(
    r"\b(?:jira|sheets?|spreadsheet|tickets?|doors?|calendar|repo|repository|github|notion|excel|netflix|docs?"
    r"|document|folder|drive|files?|website|slack|board|branch|server|subscription|inbox|thread|meeting|truck|fridge|street|avenue|road|office|room|building|desk)\b"
)
#: Words that are part of a request of this kind, and speak against any other.
_OWN: Final = {
    "set_limits": r"\bnot the (?:daily|weekly|monthly)(?: (?:one|limit|cap))?\b(?:,? leave (?:that|it)(?: one| alone| as is)?\b)?|\b(?:should|shall|must|to) have (?=(?:an? )?(?:§a|(?:daily|weekly|monthly|day|limit)\b))|\bin one (?:day|week|month)\b|\b(?:while|until|till) (?:he|she|they|it|we|i|the)(?:'s)?\b|\b(?:instead of(?= (?:the )?(?:(?:old|present|current|previous|usual) )?§a)|instead of (?:the )?(?:old|present|current)|limits?|cap|max|maximum|at most|policy|per|daily|weekly|monthly|a (?:day|week|month)|each|not more|no more|half|starting(?= now| today| from now| immediately|\W*$)|(?:should|must|may|can|shall|does|do|ought) ?(?:not|n'?t)(?: be able to| be allowed to| to)? (?:do|spend|go|use|exceed|charge|get|have|take|pay)\b[^.§]{0,12}?(?:more than|over|above|beyond|past))\b",
    "unload_card": r"\b(?:back )?(?:in)?to (?:the|our) (?:float|pot|pool|main account|deposit account)\b",
    "change_phone": r"\bshould (?:now )?have (?=(?:the (?:new )?number )?§t)|\b(?:phone|mobile|number) (?:is )?already\b|\binstead(?: of (?:the )?(?:old|present|current|previous) (?:one|number)?)?",
    "submit_funding": r"\balready(?=\W*(?:$|so\b|and\b))|\byou should (?=(?:insert|submit|register|book|enter|log|file|record))|\bfile\b|\bwithout delay\b|\bto (?:the|our) float\b|\bgoes\b|\balready (?=sent|made|transferred|paid|done|bridged)|\b(?:\w+ )?(?:did|made|sent|has sent|has made|have sent|have made) (?=(?:the|a|an|our|this|it|that|§)\b|\W*§)|\b(?:deposit|transfer|payment|funding) (?:that |which )?(?:we|i|he|she|they|\w+) (?:just |have |has )?(?:made|did|sent|bridged)\b",
    "set_3ds": r"^\W*have (?=.*\bcodes?\b)|\bgoing to (?=(?:the |our |my )?webhook)|\b(?:(?:threeds|3d) procedure|disable|deactivate|remove|off|without (?=threeds)|no (?=threeds))\b",
    "order_card": r"\bas per (?:the )?(?:below|following|above)\b|\b(?:her|his|their) own\b|\bboard\b",
}
#: `I don't want that Sofia spends more than 1500 a month`: a limit, said the other way round.
WANTS_LESS: Final = re.compile(
    r"\b(?:i|we) (?:don'?t|do not) want (?:that )?(?:§c\d+§|he|she|him|her|them|they)(?: card)? (?:to )?(?:spends?|spending|goes?|going|uses?|using|exceeds?|pays?)(?: any)? ?(?:more than|over|above|beyond)\b"
)
_REPORTED: Final = re.compile(
    r"\b(?:has been|have been|had|was|were|got|i|he|she|they|we|somebody|someone|anybody|anyone|who|§\w\d+§) "
    r"(?:set|changed|raised|lowered|increased|ordered|submitted|updated|moved|replaced|registered|bumped|cut|dropped|brought|made|put|given)\b"
    r"|^\W*(?:is|are|was|were|do(?! (?:the|an?|this|that) (?:\w+ ){0,2}?(?:set-?up|reveal|change|freeze|unfreeze|block|top[ -]?up|load|unload|closure|activation|threeds)\b)|does|has|have|why|what|where|when|who|how|which|any)\b"
)

#: A second thing to do, behind "and" or "then", or as a sentence of its own.
_SECOND: Final = re.compile(
    r"(?:\b(?:and|then|also|&|n|instead)\s+(?:(?:then|also|please|pls|kindly|order instead)\s+)*|^)"
    r"(?:(?:un|re-?)?(?:open|activate|freeze|block|lock|suspend|pause|close|cancel|terminate|top ?up|load|fund|credit|refill|recharge|add|put"
    r"|give|send|move|transfer|take|pull|unload|withdraw|order|issue|set|raise|lower|change|submit|reveal)|switch|turn|enable|disable|bump|cap|up(?= (?:the|her|his|their|its)\b))\s+(?!booking\b)"
    r"(?!(?:me|us|it through|it up|a note|that|this)\b)(?:instead\s+)?(?:[^\s§]+\s+){0,4}?(?:§|\w)"
)
#: Before a name, not before "will" and "may" as they are mostly meant.
_BEFORE_A_NAME: Final = re.compile(
    r"\b(?:set|to|on|onto|for|from|of|off|give|freeze|unfreeze|block|unblock|lock|unlock|close|cancel|bump|raise|lower|load"
    r"|unload|top up|topup|refill|fund|cap|and|n|mr|pause|put|move|bring|take|limit|change|update)\s+(?P<name>[a-z]+)\b"
)


def speaks_against(text: str, intent: str, *, is_exact: bool = False) -> bool:
    """Is there anything in these words for which no form of this intent may open?

    `is_exact`: the values of the request tell that it is ours, and no word for a place can speak against it.
    """
    bare = HARMLESS.sub(" ", text)
    if intent == "set_limits":
        bare = WANTS_LESS.sub(" ", bare)
    if intent in _OWN:
        bare = re.sub(_OWN[intent], " ", bare)
    patterns = (NEVER, NEGATED, _REPORTED) if is_exact else (NEVER, NEGATED, _REPORTED, ELSEWHERE)
    return any(pattern.search(bare) for pattern in patterns)


#: People who are spoken of or to, and whose card is not meant: `guys, …`, `somebody in Lisbon is buying shoes with it`.
_SPOKEN_OF: Final = re.compile(
    r"\b(?:them|these|those|the|our|my|his|her|two|three|some) (?:boys|guys|girls|lads|ladies|kids|fellas|men|women)\b|"
    r"(?<!the )(?<!our )(?<!these )(?<!two )\bguys\b|\b(?:poor|silly|lucky|clever|good) (?:girl|guy|boy|lad|lady|chap)\b"
    r"|\b(?:someone|somebody|one person|a man|a woman) (?:in|from|at) (?:[\w§]+ ){1,3}?(?:is|has|was|used|uses|tried|tries|bought|buys|keeps?|got|spent|ordered|charged|paid)\b"
    r"|\bthe (?:guy|girl|boy|lady|chap|man|woman) (?:is|was|there|behind|won't|wont|wanted|needs|at the)\b|\b(?:taking|treating|feeding|training|meeting) (?:the|our|two|three|some) interns?\b|\bintern'?s peace\b"
)
_SOMEBODY: Final = re.compile(
    r"\b(?:girl|guy|boy|lad|lady|chap|intern)(?:'?s)?\b(?<!interns(?= (?:are|were|have|use|will) ))|\b(?:man|woman|someone|somebody|(?<!daily )(?<!weekly )(?<!monthly )one(?! in the name)|person|colleague)s? (?:from|in|of)\b"
)


#: What comes after it, however many sentences, somebody else has said.
_REPORTS: Final = re.compile(r"\b(?:says|said|wrote|writes|goes|asked (?:us|me)|told (?:us|me))\s*:")


_ENDS_IN_NOT: Final = re.compile(r",\s*not\W*$|(?<!take )(?<!take the )\b(?:freeze|block|lock) off\b")


#: An amount that is a difference, a verdict on what is, a double turn, the subject of an answer.
_NOT_THE_VALUE: Final = re.compile(
    r"§[ar]\d+§(?: usd)?(?: (?:a|per) (?:day|week|month))? (?:lower|higher|less|below|above)\b"
    r"|(?:§[ar]\d+§(?: usd| percent)? (?:is|are)|\b(?:was|were|seems?|looks?)) (?:far |much |way |a bit )?too (?:high|low|much|little|big|small)\b"
    r"|\bun-?un|^\W*(?:re|fwd?)\s*:"
)


def asks_for_two(clauses: Sequence[Clause], *, of_somebody: bool = False) -> bool:
    """Does the message ask for two things, understood or not, name somebody by their work, report a speech, or mean
    another value than the one in it?

    `of_somebody`: it may name somebody by their work, as what is requested names its card itself or has none.
    """
    patterns = (_REPORTS, _ENDS_IN_NOT, _NOT_THE_VALUE, *(() if of_somebody else (_SOMEBODY,)))
    if any(pattern.search(_SPOKEN_OF.sub(" ", clause.text)) for clause in clauses for pattern in patterns):
        return True
    texts = [strip_lead(clause.text) for clause in clauses if not clause.negated]
    return sum(len(_SECOND.findall(text)) for text in texts) > 1


_MODALS: Final = frozenset({"will", "may", "can"})
#: `and will pay`, `a freeze will do`: what a modal verb stands before.
_A_VERB_AFTER: Final = re.compile(
    r"\s+(?!(?:and|or|to|with|by|at|up|down|from|for|on|please|pls|plz|now|too|also|again|back|asap|the|a|an|another|his|her|card)\b)[a-z]{2,}"
)


def names_by_a_word(context: Context) -> bool:
    """Does the message seem to name a holder by a word that is also a word, and was not taken for one?"""
    for found in _BEFORE_A_NAME.finditer(context.found.masked):
        word = fold(found["name"])
        after = context.found.masked[found.end() :]
        if word in _MODALS and _A_VERB_AFTER.match(after):
            continue
        if word in ORDINARY and context.cards.with_words([word]):
            return True
    return False
