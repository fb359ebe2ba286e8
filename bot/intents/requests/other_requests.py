"""Requests after which no filled form opens by the text alone: undo, pause, a card to order; and showing card details.

Undo and pause end in a button; a card to order lacks its holder's phone or email nearly always, and what is missing is
asked for. So they are understood more generously; a negation, a condition or a report still leaves them alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bot.intents.model import Ask, Reading
from bot.intents.plain_text import QUOTED, Clause
from bot.intents.readings import Context, is_today, one_card, plain, questions
from bot.intents.recognition import NOT_OFFERED, kind_of_request, spaced, without_undo_words
from bot.intents.requests.against import LONGEST, asks_for_two
from bot.intents.requests.around import speaks_against_from_around
from bot.intents.requests.explained_requests import only_card
from bot.intents.requests.parts import Part, cut
from bot.intents.requests.wording import is_small, said_in

if TYPE_CHECKING:
    from bot.operations import Operation

_LAST: Final = r"(?:very )?(?:last|latest|previous|most recent|newest|preceding)"
_THING: Final = r"(?:request|change|action|order|top[ -]?up|load|unload|withdrawal|freeze|unfreeze|block|hold|limits?(?: change)?|thing|one|step|move|operation|submission|entry|bit|command|instruction)s?"
_MINE: Final = (
    rf"(?:(?:my|the|that|our) (?:own )?{_LAST}(?: {_THING})?|(?:the|that|whatever|my|this)(?: \w+){{0,2}}? (?:request|thing|one|change|operation|top-?up)|(?:the |that )?(?:last|latest) {_THING}"
    rf"|(?:that|the|whatever|all)?\s?(?:what|thing|things|whatever|which|one|request|requests|change|order|entry|it was)?(?: it was)? ?(?:that |which )?i(?:'ve| have|ve)? ?(?:just |only |now )?(?:have )?(?:just )?(?:did|do|done|asked|requested|ordered|put|filed|made|entered|submitted|raised|sent|typed|said)(?: (?:in|through|for|last|now))*"
    r"|(?:it|that|this)(?= back\b| please| pls|\W*$))"
)
_BACK: Final = r"(?:undo|un-do|revert|reverse|reversing|undoing|roll(?:ed)? ?back|take back|taken back|taking back|cancel(?:led)?|recall(?:ed)?|call back|withdraw|retract(?:ed)?|pull back|scrap|scratch|annul|revoke|bring back|storno of|rescind|drop|erase|go back on|void)"
_UNDO: Final = re.compile(
    r"\bundo (?:the |my |that )?(?:last |latest )?(?:top[ -]?up|topup|load|unload|withdrawal|freeze|unfreeze|limits?(?: change)?|order|phone change|markup(?: change)?)(?: (?:for|of|on|from|to))? §c"
    r"|\b(?:what|whatever)\b[^.]{0,8}\bi (?:just |only )?(?:now )?(?:on §c\d+§ )?(?:changed|did|done|entered|ordered|filed)\b|\brequest (?:that |which )?i (?:have )?(?:just |only )?(?:raised|made|filed|sent|put in|submitted)\b(?=.*\b(?:cancel|withdraw|undo|revok|revers|retract))"
    rf"|\b{_BACK}\b(?: (?:please|pls|kindly|me))*\s+{_MINE}|{_MINE}(?:[^.!?]{{0,40}}?)\b(?:should be|must be|has to be|to be|may please be|may be|can be|is to|needs to be|be)\s+(?:{_BACK}|undone|reversed|reverted|taken back|withdrawn|cancel)"
    rf"|\b{_BACK}\b[^.!?]{{0,12}}?\b(?:what|whatever|the (?:one|thing|request)) i(?:['’]ve| have| had)?(?: just| only| now)* (?!need|want|like)[a-z]+(?:ed|t|de|d)\b|\b(?:pull|take|get|have|want|need|bring) (?:back )?my (?:very |own |last |latest |previous |pending |open )*(?:request|submission)\b[^.!?]{{0,25}}?(?:\bback\b|\b(?:cancell?ed|withdrawn|undone|reversed|retracted|revoked|recalled|scrapped|pulled|gone)\b)"
    rf"|\b(?:take|bring|roll|pull) (?:that|it|this|{_MINE})(?: one)? back\b|^\W*(?:ctrl|control|cmd)[ +-]*z\b|\bgit revert\b|\b(?:go|going) (?:one step )?back\b(?=\W|$)(?! (?:to|on|in|home|from))|\bone step back\b|\breturn to before\b"
    r"|\b(?:make|get|have)\b[^.]{0,40}\b(?:undone|reversed|reverted|retracted|cancelled|revoked)\b|\b(?:what|that which|the thing|whatever)\b[^.,]{0,15}\bi\b[^.]{0,40}\b(?:take (?:it )?back|undo|revert|reverse|cancel|revoke|retract|reset)\b"
    rf"|\b{_BACK}\s+(?:please |pls |kindly )?(?:what|whatever|the thing|that|the one|everything)\b[^.]{{0,12}}\bi\b[^.]{{0,30}}\b(?:did|done|do|entered|enterd|typed|sent|asked|filed|raised|submitted|ordered|changed|put|made|pressed|clicked|requested)\b"
    rf"|\b{_BACK}\s+(?:the |that |my )?(?:last |latest )?{_THING} (?:that )?i (?:just |now |only )?(?:raised|made|sent|filed|put|submitted|did|asked|entered|placed|typed)\b|\bi (?:revoke|retract|withdraw|cancel|undo) (?:what|that|my|it)\b|\bcancel out\b[^.]*\bi\b"
    r"|^\W*(?:undo|revert|rollback|roll back)\b(?! (?:the )?(?:freeze|block|hold))|\b(?:scratch|retract|revert|undo|cancel) (?:it|that)\W*$"
)
_PAUSE_VERB: Final = (
    r"(?:stop|pause|halt|suspend|hold|freeze|block|arrest|interrupt(?:ed)?|switch off|turn off|brakes? on|put (?:a |an )?(?:full |complete |total )?(?:stop|halt|brake|hold|pause)(?: to| on)?|put in pause|put on (?:hold|pause)|pull the plug on|hit (?:the )?(?:brakes?|kill ?switch|pause|stop)(?: on)?"
    r"|pull the (?:hand)?brake(?: on)?|put(?: the)?(?: complete| whole| entire| total| full)?(?= sending)|kill ?switch|emergency stop|emergency brake|sigstop|stopped|paused|halted|cease|shut off|shut down|lock down|to pause)"
)
_OUTGOING: Final = r"(?:everything|anything|all(?! cards)(?: (?:of )?(?:the |our |that |what |which |things |it )*)?|sendings?|sendign|(?:send )?queue|outgoings?|outgoign|transmissions?|payouts?|executions?|transfers|operations|transactions|the lot|every single thing|every thing|nothing|pipeline|being sent|going out|is leaving|are leaving|on its way out|what goes out|whatever)"
_PAUSE: Final = re.compile(
    rf"\b{_PAUSE_VERB}\b(?:\W+\w+){{0,4}}?\W+{_OUTGOING}\b|\b{_OUTGOING}\b(?:\W+[\w']+){{0,8}}?\W+(?:must|has to|have to|should|needs to|to) be (?:interrupted|stopped|halted|paused|suspended|held)"
    r"|^\W*(?:emergency stop|kill ?switch|hit the brakes|all stop)\b|\bstop it all\b|\bswitch all (?:executions|sending) to pause\b"
)
_SENT: Final = re.compile(
    r"\b(?:everything|anything|send\w*|sent|queue|outgo\w*|transmissions?|payouts?|executions?|transfers?|operations?|pipeline|going out|goes out|leav\w+|way out|kill ?switch|circuit breaker|emergency|brakes?|lot|transactions?|all|orders|in course|thing|things)\b"
)
_OF_CARDS: Final = re.compile(
    r"§c\d+§|\b(?:all|every|each|both|the|our|those|these) (?:\w+ )?cards?\b(?! operations)|\bevery(?:one|body)\b|\bspending\b|\bpurchases?\b|\blimits?\b|\bsubscriptions?\b|\byou(?: are|'re)? (?:do|doing)\b|\bwith (?:the|that|your)\b|\b(?:everything|all) (?:on|about|at) (?:my|your|the)\b|\bnetflix\b|\bmusic\b"
)
_REVEAL: Final = re.compile(
    r"\b(?:safe|secure|secured|protected) (?:link|way|manner|page|view)\b|\breveal\w*|\bunmask\b|\bdisclos\w+|\bdetails\b[^.]{0,30}\b(?:on screen|for viewing|to (?:him|her|them)|through the|via the)\b|\blet\s+(?:§c\d+§|him|her)\s+see\s+(?:(?:her|his|the) )?card details\b|\b(?:needs?|wants?) to see (?:her|his|the) card details\b|\b(?:secure|safe|protected) (?:link|page|view|way|reveal)\b|\bdetails (?:reveal|viewing)\b|\b(?:open|open up|show|bring up|unlock|pull up)\b[^.]{0,12}\b(?:card )?details (?:of|for|on|to) §c|\blet\s+(?:§c\d+§|him|her|them)\s+(?:see|view|look at|have a look at)\s+(?:(?:her|his|the|their|its) )?(?:card(?: details| info)?|details)\b|\b(?:needs?|wants?|has|have) to (?:see|view) (?:her|his|the|their) (?:card|details)\b[^.]{0,20}\b(?:secure|safe|window|page|link|screen)\b|\b(?:view|viewing|see) (?:(?:her|his|the) card|card details)(?: details)? on screen\b"
)
_NO_REVEAL: Final = re.compile(r"\b(?:what does|how|does|is reveal|what is)\b|\bin (?:the )?chat\b|\bhere\b")
_A_CARD: Final = r"(?:cards?|crad|plastic|prepaid)"
_ORDER: Final = re.compile(
    rf"\b(?:order|issue|emit|create|open|make|get|arrange|apply|request|spin up|produce|set up|ask|start|give|must have|needs?|wants?|requires?|should (?:get|have)|have|like)\b[^.?!\n]{{0,45}}?\b{_A_CARD}\b"
    rf"|\b{_A_CARD}\b[^.?!\n]{{0,40}}?\b(?:to be|be|please|pls|made|issued|ordered|order|opened|created|create|arrange|apply)\b|\bset (?:\S+ ){{1,3}}up (?:with|w) (?:an? )?{_A_CARD}\b"
    rf"|\b(?:new|another|second|one more|extra|separate|replacement)\s+(?:\w+\s+){{0,2}}?{_A_CARD}\b|^\W*(?:an? )?{_A_CARD} (?:for|pls|please|with|in the name|new|order|to)\b|\b{_A_CARD} for\b"
    r"|\b(?:order|issue) (?:one|it|please|pls|for)\b|\b(?:request|make) (?:one for|a new one)\b|^\W*issue\b|\bbe given a card\b|\bgets a card\b|^[^.,\n]{3,40}[.,] card\b"
)
_STRONG: Final = re.compile(
    r"\b(?:needed|required|company card|preloaded|gets a card|given a card|ordered|order|issue|emit|apply|new|another|own|one more|second|separate|replacement|set up|set \S+ up|spin up|plastic|prepaid|create|card for|name|needs? (?:a )?card|wants? (?:a )?card|get \S+ (?:\S+ )?(?:a|his|her) (?:own )?card|§[te]\d+§|create|made|make)\b|§[te]\d+§"
)
_OTHERS: Final = re.compile(
    r"\b(?:cards|two|three|four|five|several|both)\b(?! for (?:customers|coffee))|\bcard (?:number|machine|reader|game|holder name|operations)\b|\b(?:business|gift|birthday|sim|loyalty|credit|debit|christmas|greeting|id|access|library|bank|visa|travel) cards?\b"
    r"|\b(?:my|mine|myself)\s+(?:\w+\s+)?card\b|\bdeclin\w+|\bnot work\w*|\b(?:freeze|unfreeze|block|unlock|close|limit|(?<!opening )(?<!initial )balance|top ?up|top-up|(?<!initial )load(?! §a)|reveal|pin|cvv|activat\w+|lost|stolen|track|(?:card|it|when|will|not|hasn't) (?:\w+ )?arriv\w+|(?<!i )deliver\w*|cost|fee|price|pizza|taxi|coffee machine)\b"
)
_ASKED_WORDS: Final = re.compile(
    r"^\W*(?:has|have|had|did|does|do|is|are|was|were|what|which|who|how|when|where|why|should|shall)\b(?! we have)(?<!\bdo(?= the ))"
)
_PLAIN_NO: Final = re.compile(
    r"\b(?:don'?t|do not|never|no need|not|nobody|without)\b(?! (?:only|worry|mind))"
)
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|whether|should (?:we|i)|maybe|perhaps|what if|imagine|suppose|would have|was (?:going|about) to|already (?:ordered|undone|paused|did)|almost|used to|had (?:me|us|him|her|to)|on a call|"
    r"(?:i|we|they|he|she) (?:undid|paused|ordered|stopped|halted|cancelled|reversed|asked)|asked (?:me|us|whether)|told (?:me|us|him|her)|said|says|wrote|wanted|going to (?:order|ask)|instead of|rather than|when |once |until i (?:say|tell) (?:so|you) to)\b"
)
#: A condition in another part; `I wouldn't ask if it weren't serious` is none.
_CARD: Final = re.compile(rf"\b(?:{_A_CARD}|order|issue)\b")
_POLITELY: Final = re.compile(r"\b(?:can|could|would|will|may|might|mind|please|pls|kindly)\b")
_IF: Final = re.compile(r"^\W*(?:if|unless|whether|in case|when|once|as soon as)\b")
#: Nobody is named for whom the card is: people ask their bank for one like that.
_FOR_NOBODY: Final = re.compile(
    r"\b(?:i(?! (?:want to order|need|wanna order) (?:one more|another|anew))|i'd|i'm|me|my|mine|usa?|states|expir\w+|withdraw\w*|purchase|payment)\b"
)
_FOR_MYSELF: Final = re.compile(
    r"\b(?:i(?! (?:want|need|would like|wanna|ask|request|can't be|send|give|fill|deliver|tell)\b)|i'd|i'm|me|my|mine|usa?|states|expir\w+|withdraw\w*|purchase|payment)\b"
)
_FOR_SOMEBODY: Final = re.compile(
    r"\b(?:we|for us|one more card|him|her|them|intern|trainee|guide|driver|visitor|employee|staff|contractor|consultant|new starter|anew|hire|joiner|joinee|starter|name|particulars|virtual|team|colleague|assistant)\b"
)


#: Where card details may be shown, whatever they are called.
_SECURELY: Final = re.compile(r"\b(?:safe|secure|secured|protected) (?:link|way|manner|page|view)\b")


_FULL: Final = r"(?:full|whole|complete|entire|long|real|actual)"
_DIGITS: Final = r"(?:numbers?|no\b\.?|#|digits)"
_SEE: Final = r"(?:see|view|viewing|look at|have a look at|take a look at|look up|consult|access|display|pull up|open|get to)"
#: `let me see the number on §c0§`: shown by a link that only its writer can open. A number alone may be a phone's.
_SEES_THE_NUMBER: Final = re.compile(
    rf"\b{_SEE}\b[^.?!\n]{{0,12}}?\b(?:the |a |his |her |that )?(?:{_FULL} )?(?:card )?{_DIGITS}(?: (?:of|on|off|from|for|to))?(?: (?:the|that|card|his|her|this))* §c"
    rf"|\b(?:show|let)\b[^.?!\n]{{0,25}}?\b(?:the |a |his |her )?(?:{_FULL} (?:card )?|card ){_DIGITS}(?: (?:of|on|off|from|for))?(?: the)? §c"
    rf"|\b(?:need|want|require)(?: to (?:have|get|see|view))?(?: please)? (?:the |a |his |her )?{_FULL} (?:card )?{_DIGITS}(?: (?:of|on|off|from|for))(?: the)? §c"
    rf"|\b(?:secure|safe|secured|protected) (?:link|way|manner|page|view)\b(?=.*\b(?:number|digits|details)\b)|\b(?:number|digits|details)\b(?=.*\b(?:secure|safe|secured|protected) (?:link|way|manner|page|view)\b)"
    rf"|\b(?:show|let)\b[^.?!\n]{{0,40}}?§c\d+§ (?:{_FULL} )?card {_DIGITS}\b|\b{_SEE}\b[^.?!\n]{{0,12}}?§c\d+§ (?:{_FULL} )?card {_DIGITS}\b"
    rf"|\b(?:the|that|a) link (?:for|to|of|with) (?:the |see the |view the )?(?:{_FULL} )?(?:card )?{_DIGITS}(?: (?:of|on|for))? (?:the )?§c"
    rf"|\b(?:type|enter|key|fill|put|give)\b[^.?!\n]{{0,12}}?\b(?:card )?{_DIGITS} (?:of|on|for) §c(?=.*\b(?:show (?:it|me)|see|view|open|link)\b)"
    rf"|\b{_SEE}\b (?:the |a |that |his |her )?(?:{_FULL} |card )?(?:card )?{_DIGITS} (?:of|on|off) (?:a|that|the|his|her) card\b|\b{_SEE}\b (?:a|the) card {_DIGITS}(?=\W*(?:$|[,.;]|for\b|please|pls))"
)
#: What is never shown, and where nothing is: in a chat, by mail, read out.
_IN_THE_OPEN: Final = re.compile(
    r"\b(?:cvv|cvc|cv2|pin|security code|pan|expiry|expiration|exp date|validity|in (?:the |this )?(?:chat|thread|channel|slack)|here in|by (?:e?mail|sms|text)|e?mail (?:me|it|us)|text (?:me|it|us)|whatsapp|telegram|dictate|read (?:it|me|out)|paste|type (?:it )?out|write (?:it|me)|phone number|mobile number|telephone number)\b"
)
_BY_LINK: Final = re.compile(r"\b(?:cvv|cvc|cv2|pin|pan)\b")


def asks_to_see_the_number(text: str) -> bool:
    """Does a masked, `spaced` text ask for a card's number the way it is shown here: to look at it, by a link?"""
    if not _SEES_THE_NUMBER.search(text):
        return False
    return not (_BY_LINK if _SECURELY.search(text) else _IN_THE_OPEN).search(text)


def read_reveal(
    clauses: Sequence[Clause], context: Context, kinds: Mapping[str, type[Operation]]
) -> Reading | None:
    """Showing a card's number to its requester, where it is asked for in these words; None elsewhere."""
    text = spaced(context.found.masked)
    if context.doubts or QUOTED in text or len(text.split()) > LONGEST or not asks_to_see_the_number(text):
        return None
    return _reveal(cut(text), clauses, context, kinds)


def is_taken_back(text: str) -> bool:
    """Does a text name a request of its writer that is to be undone: `withdraw the request I raised`?"""
    return _REQUEST_OF_MINE.search(text) is not None and _UNDO.search(text) is not None


_REQUEST_OF_MINE: Final = re.compile(
    r"\brequest (?:that |which )?i (?:have )?(?:just |only )?(?:raised|made|filed|sent|put|submitted|entered)\b|\bmy (?:very |own |last |latest |previous |pending |open )*(?:request|submission)\b|\bmy (?:very )?(?:last|latest|previous) (?:one|request|entry)\b|\b(?:the|that|this) (?:(?:very|last|latest|previous|pending) )*(?:request|one|entry|order) of mine\b"
)


def read_other_request(
    clauses: Sequence[Clause], context: Context, kinds: Mapping[str, type[Operation]]
) -> Reading | None:
    """Undo, pause, a card to order, card details to show; None where none of them is asked for."""
    text = spaced(context.found.masked)
    if context.doubts or QUOTED in text or len(text.split()) > LONGEST:
        return None
    if NOT_OFFERED.search(text) and not _SECURELY.search(text) and not asks_to_see_the_number(text):
        return None
    parts = cut(text)
    return (
        _undo(parts, context)
        or _pause(parts, context)
        or _reveal(parts, clauses, context, kinds)
        or _order(parts, text, context)
    )


#: What is taken back, said as what was asked for: no report of somebody's.
_WHAT_I_ASKED: Final = re.compile(
    r"\b(?:what|whatever(?: it was)?|the (?:last )?(?:one|thing)|the (?:last |latest )?request|that|which)(?: it was)? (?:that |which )?i (?:have )?(?:just |only |now |last )?(?:asked|done|did|said|wrote)(?: for)?\b"
)


def _is_plain(part: Part) -> bool:
    part = replace(part, text=_WHAT_I_ASKED.sub("it", part.text))
    return not (_PLAIN_NO.search(part.text) or _CONDITION.search(part.text) or _ASKED_WORDS.search(part.text))


def _sentences(parts: Sequence[Part]) -> list[Part]:
    """The sentences of which a word like "please" made several parts."""
    numbers = dict.fromkeys(part.sentence for part in parts)
    whole = ([part for part in parts if part.sentence == number] for number in numbers)
    return [replace(some[0], text=" ".join(part.text for part in some)) for some in whole if len(some) > 1]


def _undo(parts: Sequence[Part], context: Context) -> Reading | None:
    found = next((part for part in (*parts, *_sentences(parts)) if _UNDO.search(part.text)), None)
    others = [part for part in parts if found is None or part.text not in found.text]
    if any(said_in(part.text) or _IF.search(part.text) for part in others):
        return None  # what is taken back is what was just said
    if found is None or not all(_is_plain(part) for part in parts if _UNDO.search(part.text)):
        return None
    if context.found.inside(found.text, "amount") and not re.search(r"\b(?:i|my)\b", found.text):
        return None
    slots: dict[str, Any] = {}
    requests = context.found.inside(context.found.masked, "request")
    if requests:
        slots["request"] = requests[0].value
    kind = kind_of_request(without_undo_words(found.text))
    if kind:
        slots["kind"] = kind
    written, card = one_card(context, found.text)
    if not written:
        return Reading("undo", slots)
    return Reading("undo", {"card": written, **slots}, card=card) if card is not None else None


def _pause(parts: Sequence[Part], context: Context) -> Reading | None:
    if any(_IF.search(part.text) for part in parts):
        return None
    if context.found.inside(context.found.masked, "card", "phone", "tx_hash"):
        return None
    for part in (*parts, *_sentences(parts)):
        stops = _PAUSE.search(part.text) and _SENT.search(part.text)
        if not stops and not _ALL_STOPS.search(part.text):
            continue
        plain = replace(part, text=_NOTHING_LEAVES.sub(" ", part.text))
        if _OF_CARDS.search(part.text) or not _is_plain(plain) or context.found.inside(part.text, "amount"):
            return None
        return Reading("pause_sending")
    return None


#: What stops, and what goes out, in either order and any inflection; the brake by all its names; nothing that shall leave.
_STOPPING: Final = r"(?:stop(?:s|ped|ping)?|paus(?:e|es|ed|ing)|halt(?:s|ed|ing)?|suspend(?:s|ed|ing)?|hold(?:ing)?|held|freez(?:e|ing)|frozen|ceas(?:e|ed|ing)|interrupt(?:ed|ing)?|block(?:ed|ing)?|(?:shut(?:ting)?|switch(?:ed|ing)?|turn(?:ed|ing)?|cut(?:ting)?) (?:off|down)|on (?:hold|pause|ice)|to a (?:halt|stop)|off)"
_GOES_OUT: Final = r"(?:sending|sends|outgoing|outbound|out-?flows?|payouts?|pay-?outs?|(?:payments?|transfers?|money|cash|funds) (?:going |that goes |leaving )?out|(?:everything|all|anything|whatever|what) (?:(?:that|which|what)(?:['’]s| is)? )?(?:is |['’]s )?(?:going|goes|leaving|leaves) out|(?:all|every|any) (?:(?:the|our|single|further|more|of|these|those) )*(?:payments?|transfers?|transactions|operations|money)|(?:the|our) (?:send |sending |payment )?queue)"
_NOTHING_LEAVES: Final = re.compile(
    r"\b(?:nothing|no (?:more |further |other )?(?:money|payments?|cent|penny|dollars?|funds|cash|transfers?|sends?|sending))(?: (?:more|else|further|at all))? (?:(?:should|must|may|shall|can|will|is|are|to|be|allowed) )*(?:leav(?:e|es|ing)|goes|go|going|gets?|sent|paid|moves?|moved)(?: out)?\b(?! (?:through|to waste|wrong|well|right|past|on\b))"
)
_ALL_STOPS: Final = re.compile(
    rf"\b{_STOPPING}\b(?:\W+[\w'’]+){{0,4}}?\W+{_GOES_OUT}\b|\b{_GOES_OUT}\b(?:\W+[\w'’]+){{0,5}}?\W+{_STOPPING}\b|(?:^\W*|\b(?:please|pls|you|we|the|and|let['’]?s)\s+)(?:(?:pull|hit|press|use|push|slam|mash)(?:ing)?(?: on)? (?:the |that )*(?:(?:big )?red button|(?:emergency |hand)?-?brakes?|kill-?switch|panic button|emergency stop|stop button)|(?:emergency (?:brake|stop)|kill-?switch|panic button)\b(?! (?:failed|broke|is|was|on the|light)))"
    rf"|^\W*(?:please |pls |and |so )*{_NOTHING_LEAVES.pattern}\W*(?:$|(?:to|from|until|till|please|pls|now|right|at|for|this)\b)"
)


def _order(parts: Sequence[Part], text: str, context: Context) -> Reading | None:
    from bot.intents.requests.value_requests import with_name

    if not _ORDER.search(text) or _OTHERS.search(text) or not _STRONG.search(text):
        return None
    if any(
        _PLAIN_NO.search(part.text) or _CONDITION.search(part.text)
        for part in parts
        if _CARD.search(part.text)
    ):
        return None
    if any(_IF.search(part.text) for part in parts) or _ASKED_WORDS.search(parts[0].text):
        return None
    polite = {part.sentence for part in parts if _POLITELY.search(part.text)}
    if any(part.asked and part.sentence not in polite for part in parts):
        return None
    named = context.found.inside(text, "card")
    if named and not re.search(
        r"\b(?:another|second|2nd|replacement|extra|separate|new|order|one more|in the name|named|own)\b|–",
        text,
    ):
        return None
    slots: dict[str, Any] = {}
    for slot in ("phone", "email"):
        entities = context.found.inside(text, slot)
        if len({entity.value for entity in entities}) > 1 or any(entity.doubt for entity in entities):
            return None
        if entities:
            slots[slot] = entities[0].value
    amounts = context.found.inside(text, "amount")
    if len(amounts) == 1 and not amounts[0].doubt:
        slots["amount"] = plain(amounts[0].value.value)
    slots = with_name(slots, context)
    if not slots.keys() & {"name", "phone", "email"} and (
        _FOR_MYSELF.search(text) or not _FOR_SOMEBODY.search(text)
    ):
        return None
    missing = next((slot for slot in ("name", "phone", "email") if slot not in slots), "")
    if not missing:
        return None  # complete, and something in it spoke against opening the form
    return Reading("order_card", slots, ask=questions.missing(missing, "order_card", context.facts.networks))


def _reveal(
    parts: Sequence[Part],
    clauses: Sequence[Clause],
    context: Context,
    kinds: Mapping[str, type[Operation]],
) -> Reading | None:
    kind = next((name for name, operation in kinds.items() if operation.intent == "reveal_card"), "")
    asks = [part for part in parts if _REVEAL.search(part.text) or _SEES_THE_NUMBER.search(part.text)]
    asks = asks or [part for part in _sentences(parts) if _SEES_THE_NUMBER.search(part.text)]
    if any(_BY_LINK.search(part.text) for part in parts):
        return None  # a PIN or the code on the back is shown by no link
    if not kind or not asks or any(_NO_REVEAL.search(part.text) for part in asks) or asks_for_two(clauses):
        return None
    if any(not _is_plain(part) for part in asks):
        return None
    written, _ = one_card(context)
    card = only_card(context)
    if not written or card is None:
        ask: Ask = questions.missing("card", "reveal_card")
        return None if written else Reading("reveal_card", kind=kind, ask=ask)
    own = [part.text for part in asks]
    around = [
        part
        for part in parts
        if not any(part.text in text for text in own)
        and not is_small(part.text)
        and not _SECURELY.search(part.text)
    ]
    if any(speaks_against_from_around(part.text, "reveal_card", asked=part.asked) for part in around):
        return None
    if any(not is_today(day, context.facts) for text in own for day in context.found.inside(text, "period")):
        return None
    if any(entity.kind not in ("card", "person", "period") for entity in context.found.entities):
        return None
    return Reading("reveal_card", {"card": card[0]}, opened=True, card=card[1], kind=kind)


__all__ = ["read_other_request"]
