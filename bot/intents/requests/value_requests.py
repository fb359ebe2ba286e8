"""Requests that their values tell: a hash to submit, a new number, a rate, limits, a card for somebody.

The words around are free, as long as one of them says that something is requested and none speaks against it. A form
opens only with all its values exact and every figure of the message in it; what is missing is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.intents.directory import ORDINARY, fold
from bot.intents.extraction import INCIDENTAL, Entity
from bot.intents.model import Reading
from bot.intents.plain_text import QUOTED, Clause, word_set
from bot.intents.readings import NO_MARKUP, REQUIRED, Context, is_today, one_card, plain, questions, values_of
from bot.intents.recognition import FULL_NAME, PARTICLES, Frame, person_named, spaced
from bot.intents.requests.against import LONGEST, asks_for_two, names_by_a_word, speaks_against
from bot.intents.requests.around import introduces, speaks_against_from_around, without_story
from bot.intents.requests.parts import Part, cut, tells_enough
from bot.intents.requests.wording import is_small

_TELLING: Final = frozenset({"card", "tx_hash", "rate", "phone", "email"})
_A: Final = r"§a\d+§"
_OURS: Final = re.compile(r"\b(?:cards?|mark-? ?up|funding|deposit|transfer|limits?)\b")
_SUBMIT: Final = re.compile(
    r"\b(?:submit\w*|book|register|registration|log|report(?:ed|ing)?|registering|submitting|on its way|declare|claim|record|file|enter|insert|announce|process|booking|stick (?:it|this|that) (?:through|in)"
    r"|insert|hand over|this is the (?:transfer|deposit)|sent|transferred|paid in|here (?:is|comes|goes|it is)|pls credit|hand in|take it into|put (?:it )?in|book it in|new funding|funding to be|for the float|post|credit(?:ed|ing)?|hand(?:ed)? (?:it )?in|put (?:it |this |that |the one |one )?(?:in|through|thru|forward)|goes? (?:in|into)|here it goes|take it from there"
    r"|has to go in|for review|into review|to present|deposit|funding)\b"
)
_ITS_STATE: Final = re.compile(
    r"\b(?:stuck|pending|status|still|where|arriv\w+|landed|missing|wrong|late|slow|rejected|failed|confirmed|shows?|happen\w*|checking|look at|look into)\b"
)
#: What became of it is asked for, not that it is submitted, though somebody "sent" it.
_ASKS_ABOUT: Final = re.compile(
    r"\b(?:check\w*|verify|trac(?:e|ing)|track\w*|look\w*|see (?:if|whether|that)|find(?: out)?|investigat\w+|chas(?:e|ing)|eye on|bec(?:ame|ome) of|c[oa]me (?:in|through)|g[oe]t (?:in|through)|go(?:ne)? through|ma[dk]e it|went|reached|in yet"
    r"|any (?:news|sign|word|updates?)|news|updates? (?:on|about|for)|going on|progress|eta|tell me|show me|let me know|know (?:if|whether|about)|receipt of|confirm(?:ation)?(?! (?:and|then))|(?:was|is|been|get|got) (?:credited|received|booked|in)\b|receiv\w+|what|why|how|whether|follow up)\b"
)
#: Why one is submitted: `it is not reflected in the float after 3 hours`.
_NOT_THERE: Final = re.compile(
    r"(?:\b(?:because|since|as|and|but)\s+)?\b(?:it|this|that|the (?:deposit|transfer|money|funding|amount|transaction))(?:'s)?(?:\s+(?:is|was|has|have|does|did|still|been|yet|just))*(?:\s+(?:not|never)|(?:\s+(?:is|was|has|have|does|did))?n['’]?t)(?:\s+(?:been|yet|still))*\s+"
    r"(?:reflect\w*|show(?:n|ing)?(?: up)?|arriv\w+|appear\w*|credited|visible|landed?|com(?:e|ing) (?:in|through|up)|there)(?:\s+(?:yet|in|on|to|our|the|float|balance|account|so far|still|after|for|§x\d+§|hours?|days?|minutes?|until now|today))*"
)
_SUBMIT_IT: Final = re.compile(
    r"(?:^\W*|[.,;:!\n]\s*|\b(?:please|pls|plz|kindly|to|and|then|you|we|i)\s+)(?:submit|register|report|book|log|declare|record|file|enter|announce|hand in|insert|post)\s+(?!on\b|about\b|back\b|whether\b|if\b|me\b|us\b)"
    r"(?:\w+\s+){0,3}?(?:§h|it\b|this\b|deposit|funding|transfer|transaction|tx|hash)"
)
_SUBMIT_ONE: Final = re.compile(
    r"\b(?:submit|register|hand in|book|enter|declare|record|file|put in|report|announce)\b(?:\W+\w+){0,4}?\W+(?:deposit|funding|transfer|tx)\b"
    r"|\b(?:deposit|funding|transfer)\b(?:\W+\w+){0,3}?\W+(?:to be|be|being) (?:submitted|registered|booked|declared|entered)\b"
    r"|\b(?:deposit|funding|transfer) (?:to|for) (?:submi\w+|register|book)\b|\bnew (?:deposit|funding)\b"
)
_NUMBER: Final = re.compile(
    r"\b(?:phone|number|mobile|cell|cellular|cellphone|sim|codes?|otp|handset|telephone|tel|mob|sms|texts?|line|contact)\b"
)
_CHANGE: Final = re.compile(
    r"\b(?:chang\w+|modif\w+|updat\w+|set|replac\w+|substitut\w+|switch\w*|put|regist\w+|point|make|correct|move|use|swap|edit|fix"
    r"|is now|should be|should have|shall be|must be|change[sd]?|\+|has (?:a |got a )?(?:new|different)|new|enter|record|save|store|deposit|link|attach|tag|assign|bind|pair|associate|connect|map|now|actualize|amend\w*|becomes?|should go to|go to|alter\w*|for|->)\b|->|:"
)
_CALL: Final = re.compile(
    r"\b(?:call|ring|reach|dial|phoned? (?:him|her|me)|whatsapp me|contact (?:him|her|me))\b"
)
_CHANGE_NUMBER: Final = re.compile(
    r"\b(?:chang\w+|updat\w+|replac\w+|switch|alter\w*|amend\w*|correct|new|different|edit)\b(?:\W+[\w§']+){0,6}?\W+(?:phone|number|mobile|cell|telephone)\b"
    r"|\b(?:phone|number|mobile|cell|telephone)\b[^.]{0,40}\b(?:needs?|must|has to|have to|to) (?:be )?(?:chang|updat|correct|replac|alter|amend|fix)\w*\b|\b(?:updat|chang|correct|alter|amend)\w*\s+(?:the )?(?:telephone|phone|mobile|number)\b"
    r"|\b(?:phone|number|mobile|cell|telephone)\b(?: number)?(?:\W+[\w§']+){0,4}?\W+(?:chang\w+|updat\w+|replac\w+|alter\w*|amend\w*)\b"
)
_ORDER: Final = re.compile(
    r"\b(?:command of|order\w*|issu\w+|emit\w*|creat\w+|mak\w+|open|produc\w+|request\w*|get|give|set up|spin up|arrang\w+|appl\w+|need\w*|want\w*"
    r"|requir\w+|must have|should get|should have|deserves?|please|pls|kindly|new|another|second|replacement|can we|could we|can i|could i)\b"
)
_A_CARD: Final = re.compile(
    r"\b(?:an?|one|another|the|his|her|their|own|new|second|extra|separate|fresh|virtual|physical|replacement|1|more|prepaid)\s+"
    r"(?:\w+\s+){0,2}?(?:cards?|crad|plastic|prepaid|one)\b|\bcard (?:for|order|in (?:the )?name|with (?:the )?name|named|called)\b"
    r"|\b(?:order|issue|new|emit)\s+(?:\w+\s+)?(?:cards?|crad|prepaid)\b|\b(?:needs|wants|get|gets|requires) (?:one|a card|his own|her own)\b|\b(?:order|issue|make|request) one\b|^\W*cards? (?:for|with|needed)\b|\bcards? (?:is )?(?:needed|required|wanted|to be ordered)\b"
)
#: People who ask their bank for a card of their own.
_OWN_CARD: Final = re.compile(
    r"\b(?:my|mine|myself|(?:get|give|order|send|issue) me|i (?:reside|live|am in)|(?:can|may|could|do|will) i (?:get|order|have)(?! (?:an?|another|one)(?: new)? card for (?:our|the|my new|a)\b)|i (?:want|need|would like|\'d like) (?:a|to))\b"
)
#: Enough beside a phone and an address: `card pls | Ada Quist | +31… | ada@…`.
_AS_A_FORM: Final = re.compile(
    r"^\W*(?:(?:please|pls|kindly|new|prepaid|can you|could you)\b\W*)*(?:order|issue|create|make|card (?:pls|please|application|order|request|for))\b"
)
_ANOTHER: Final = re.compile(
    r"\b(?:another|second|replacement|new|extra|separate|more|order|issue)\b(?! number| phone| mobile)"
)
#: `the purchase codes of §c0§ must go to our webhook`.
_CODES_TO: Final = re.compile(
    r"\b(?:codes?|otps?)\b[^.?!\n]{0,60}\bwebhook\b|\bwebhook\b[^.?!\n]{0,50}\b(?:codes?|otps?)\b|\b(?:codes?|otps?)\b.*§c\d+§[^.?!\n]{0,40}\bwebhook\b"
)
_ROUTED: Final = re.compile(
    r"\b(?:please|pls|plz|kindly|can|could|would|must|should|shall|need|needs|want|like|have|let|send|route|point|set|switch|turn|put|move|forward|deliver|redirect|direct|get|have to|has to|from now)\b"
)
_SWITCH_ON: Final = re.compile(
    r"\b(?:enabl\w+|activat\w+|switch(?:ed)? (?:it )?on|turn(?:ed)? (?:it )?on|set(?:ting)? (?:it )?up|configur\w+|put|add|needs?|active"
    r"|requires?|install|register|need|on|set|enter|give|given|new|sort|please|pls|kindly|arrange|mandatory|initiate|do|should have|must have|being set up|gets? activated|to be|wanted|procedure|enrol\w*|sign (?:up|on)|get|going|started|start|working|want|setup|set-up|flip|roll out|have)\b|=\s*(?:true|on|yes)"
)
_SWITCH_OFF: Final = re.compile(
    r"\b(?:off|sms|text|disabl\w+|remov\w+|without|deactivat\w+|back|phone|number)\b"
)
_MARKUP: Final = re.compile(r"\bmark-? ?up\b")
_TO_SET: Final = re.compile(
    rf"\b(?:set|chang\w+|make|made|put|rais\w+|lower\w*|increas\w+|reduc\w+|cut|drop|revis\w+|bring|brought|adjust\w*|mov\w+"
    rf"|bump|enhanc\w+|decid\w+|apply|becomes?|configure|from now|as of now|please|pls|kindly|put in|should be|must be|to be|shall be|go(?:es)? to|up to|down to|(?:down|up)(?= from §a\d+§ to\b)|correct|fix|update|now)\b|mark-? ?up:? {_A}"
)
_FROM: Final = re.compile(r"\bfrom\s+§a\d+§(?=\s+(?:usd |percent )?(?:down |up )?to\s+§a)")
_INSTEAD_OF: Final = re.compile(r"\binstead of (?:the )?(?:present |current |old |previous |usual )?§a\d+§")
_CHANGE_MARKUP: Final = re.compile(
    r"\b(?:chang\w+|adjust\w*|set|updat\w+|rais\w+|lower\w*|revis\w+|new|make|drop|bump|cut)\b(?:\W+\w+){0,4}?\W+mark-? ?up\b"
    r"|\b(?:need|want|like|get|have)\b[^.]{0,12}\bmark-? ?up (?:to be )?(?:changed|adjusted|updated|revised|raised|lowered|reduced|increased)\b|\bzero (?:the |our )?mark-? ?up\b|\bmark-? ?up\b(?:\W+\w+){0,3}?\W+(?:adjusting|changing|updating|revising|raising|lowering|adjustment)\b|\b(?:no more|set|make|put)\b[^.]{0,20}\bmark-? ?up\b|\bmark-? ?up\b[^.]{0,25}\b(?:zero|nil|nothing)\b"
    r"|\bmark-? ?up\b(?:\W+\w+){0,3}?\W+(?:to be|be|must|needs?|is|has) (?:be |to be )?(?:changed|adjusted|set|updated|revised)\b|\bmark-? ?up (?:is|be) adjusted\b"
)
_CHANGE_LIMITS: Final = re.compile(
    r"\b(?:chang\w+|adjust\w*|updat\w+|rais\w+|lower\w*|revis\w+|new|set|increas\w+|reduc\w+|drop|bump|edit|tighten|loosen)\b(?:\W+[\w§']+){0,5}?\W+(?:limits?|caps?|ceiling|allowance)\b"
    r"|\b(?:limits?|caps?|allowance)\b(?:\W+[\w§']+){0,4}?\W+(?:chang\w+|adjust\w*|updat\w+|revis\w+|rais\w+)\b"
    r"|\b(?:limits?|caps?|ceiling)\b(?:\W+[\w§']+){0,5}?\W+(?:changed|increased|raised|lowered|reduced|adjusted|go(?:es)? (?:up|down)|higher|lower)\b|\b(?:daily|weekly|monthly|day) limit\b(?=[^.]*\b(?:shall|should|must|to) be set\b)"
    r"|^\W*(?:please |pls |kindly )?(?:lower|raise|drop|bump|cap|cut|bring)\b[^.]*\b(?:a|per) (?:day|week|month)\b"
)
_LIMIT: Final = re.compile(
    r"\b(?:limits?|caps?|ceiling|plafond|maximum|max|no more than|not more than|can spend|may spend|(?:(?:is|are) not to|(?:should|must|shall) (?:only|not)) (?:be able to )?(?:spend|do|use)|(?:do|spend|use) more than|only (?:be able to |be allowed to )?spend|shouldn'?t (?:be able to )?(?:spend|do|use))\b"
    rf"|{_A}\s*(?:usd|dollars|bucks)?\s*(?:per|an?|each|every|/)\s*(?:day|week|month)\b|\b(?:daily|weekly|monthly)\W+(?:[\w§']+\W+){{0,5}}?{_A}"
    rf"|{_A}\s*(?:daily|weekly|monthly)\b|\b(?:day|week|month)(?: limit)?:? (?:of )?{_A}|{_A}\s*(?:at|by|in|in (?:one|a|the)) (?:day|week|month)\b|{_A}\s*/\s*[dwm]\b|\bper (?:day|week|month)\b[^.]{{0,20}}?{_A}|{_A}\s*(?:per|for (?:one|a|single)|in one|each|a|one)\s+(?:single )?(?:purchase|payment|transaction|go|swipe)\b|\b(?:purchase|payment|transaction)\b[^.]{{0,25}}{_A}"
)
_UNITS: Final = re.compile(
    r"\b(?:daily|weekly|monthly|day|week|month|limits?|tops|ceiling|set it|put|bring|take|max(?:imum)?|cap|down|drop|raise|lower|decrease|increase|and|per|each|go|goes|not more than)\b|/"
)
_NEW_CARD: Final = re.compile(
    r"\b(?:order|issue|new|another|second|separate|replacement|own|create)\s+(?:\w+\s+){0,2}?(?:cards?|plastic|prepaid)\b"
)
_NO_LIMIT: Final = re.compile(
    r"\b(?:threeds|webhook|top\w*[ -]?up|load|refill|recharge|automatic\w*|round|standing|first of)\b|!!"
)
_LIMIT_SET: Final = re.compile(
    r"\b(?:set|chang\w+|make|put|rais\w+|lower\w*|increas\w+|reduc\w+|cut|drop|bring|adjust\w*|mov\w+|bump|cap|limit|limits|lift|up"
    r"|allow\w*|allowance|shall have|shall be|(?:is|are) not to|can return to|configure|correct|fix|update|give|get|needs?|should be|to be|must be|max\w*|tops|no more than|not more than|restrict\w*|capped|ceiling|tighten|loosen|relax|bring|hold|keep|should only|should(?:n'?t| not)|must not|set that|insert|enter|lift|fix|read|reads?|down to|up to|as (?:the )?(?:daily|weekly|monthly)? ?limit|gets?|make it|please|pls|kindly)\b|:"
)
_NAME: Final = r"(?:(?:[Mm]r|[Mm]s|[Mm]rs|[Mm]iss|[Dd]r|[Pp]rof)\.?\s+)?(?P<name>(?!(?:[Mm]r|[Mm]s|[Mm]rs|[Mm]iss|[Dd]r|[Pp]rof)\b)[^\W\d_](?:[\w'’-]+(?:\.\w[\w'’-]*)*|\.)?(?:\s+(?:[A-ZÀ-Ž](?:[\w'’-]+(?:\.\w[\w'’-]*)*|\.)?|–|-|(?:de|da|van|von|der|den|ter|ten|dos|das|do|del|della|di|du|des|la|le|el|al|bin|binti|bint|ibn|zu|af|av|st|san|santa|y)\b)){0,5})"
_NAMED: Final = (
    re.compile(rf"\b[Nn]ame(?:d)?\s*(?:on (?:it|the card) )?(?:is |: ?|of )?{_NAME}"),
    re.compile(rf"\b(?:called|named|in (?:the )?name of|holder:?|full name:?)\s+{_NAME}"),
    re.compile(rf"\b[Rr]eplacement(?: card)? for {_NAME}(?=\s*[,.;:!?(])"),
    re.compile(rf"\b(?:card|crad|prepaid)s?(?: please| pls)?\s*[:\n/,–-]+\s*{_NAME}"),
    re.compile(
        rf"\b(?:[Oo]rder|[Ii]ssue|[Nn]ew|[Mm]ake|[Cc]reate|[Rr]equest)\s+(?:an? )?(?:new )?(?:card|prepaid|pass)\s+(?=[A-ZÀ-Ž]){_NAME}(?=\s*[,;(|/\n§])"
    ),
    re.compile(
        r"(?:^|[.,:;!\n]\s*|\bfor\s+|\bget\s+|\bgive\s+|\bissue\s+|\border\s+)(?P<name>[^\W\d_]{2,} [^\W\d_]{2,})"
        r"\s+(?:needs?|wants?|requires?|a card|must have|card|his own|her own|is joining|starts)\b"
    ),
    re.compile(
        rf"^\W*(?:[Ff]or|[Tt]o) {_NAME}[,\s]+(?:please |pls |kindly )?(?:an?|one|new|another|order|issue)\b"
    ),
    re.compile(
        r"\b(?:card|crad|one|prepaid|plastic|order|issue|create|set up|spin up|emit|colleague|joiner|starter|hire|contractor)\b"
        rf"[^.\n]{{0,40}}?\b(?:for|is|:)\s+(?:our |the |my |new |a |colleague |visiting |consultant |contractor |Mr\.? |Ms\.? |Mrs\.? )*{_NAME}"
    ),
    re.compile(
        r"^\W*(?:(?:hi|hello|hey|please|pls|kindly|also|and|so|can|could|our|new|colleague|joiner|hire|starter|mr|ms|mrs)\b[\s,.:]*)*"
        rf"{_NAME}[^.\n]{{0,30}}?\b(?:needs?|wants?|gets? a|gets? one|has no|would very much|would like|is joining|is taking|has joined|travels|starts|requires?|is requiring|must have|should (?:get|have)|get|have|set up)\b",
        re.IGNORECASE,
    ),
)
#: The same in small letters, up to a word that belongs to no name.
_SMALL_NAME: Final = re.compile(
    r"\b(?:card|crad|one|prepaid|plastic|pass|order|issue)(?:\s+|,\s*)(?:please\s+|pls\s+|it is\s+|it's\s+)?(?:for|(?<=a card )to|in the name(?: of)?|called|named|with name)\s+(?:our\s+|the\s+|new\s+|(?:driver|colleague|joiner|starter|hire|employee|intern|trainee|contractor|assistant|manager)\s+|mr\.?\s+|ms\.?\s+|mrs\.?\s+)*(?P<name>[^\W\d_][\w'’-]*(?:\s+[^\W\d_][\w'’-]*){0,4}?)"
    r"(?=\s*(?:[,.;:!?()|/\n-]|$|§|\b(?:pls|please|plz|with|w|she|he|shes|hes|they|who|in|at|on|create|apply|asap|thanks|thx|n|and|now|only|from|his|her|phone|email|mail|tel|mobile|starting|preloaded|because|so|as|is|thats|initial|gcp|to)\b))"
    r"|^\W*(?P<lead>[^\W\d_]{2,} [^\W\d_]{2,})(?=\s*§t)"
    r"|(?:^|[.,:;!\n]\s*|\b(?:for|get|give|set|let's|lets)\s+)(?!(?:get|give|for|can|could|please|pls|kindly|we|i|and|so|also|order|issue|let|set|make|need|want|would|may|might|hi|hello|hey)\b)(?P<who>[^\W\d_]{2,}(?:\s+[^\W\d_]{2,})?)(?=\s+(?:needs?|wants?|requires?|a card|a prepaid|needs one|must have|card|his own|her own|is joining|starts|(?:set )?up (?:with|w)|should (?:get|have)|apply|gets (?:a|one)|has no card)\b|\s*[,.]\s*card\b)",
    re.IGNORECASE,
)
#: What may follow a name, which then is whole: `femke de boer needs`, `bram hendriks at`.
_AFTER_A_NAME: Final = word_set(
    """
    pls please plz kindly asap with w and n who that he she they hes shes theyre his her their the a an at in on from to for by of as
    phone mobile tel telephone cell number mail email e-mail name card cards needs need wants want requires must should shall can could
    will would joins joined joining starts starting start started travels works is was has gets get got because since so load loaded preload initial first
    opening put one own now today thanks thx cheers or it this new no our my up
    """
)
_FULL: Final = 2  # words of a name that needs no question
#: Where a name ends for certain.
_STOPS: Final = re.compile(r"\s*(?:[,;:()|/\n]|\.(?!\w)|§|$)")
_NEXT_WORD: Final = re.compile(r"\s+([^\W\d_][\w'’-]*)")
_NO_NAME: Final = frozenset(
    [
        "me",
        "us",
        "him",
        "her",
        "them",
        "the",
        "a",
        "an",
        "our",
        "my",
        "your",
        "new",
        "name",
        "someone",
        "everyone",
        "people",
        "client",
        "you",
        "it",
        "this",
        "that",
        "card",
        "cards",
        "please",
        "one",
        "we",
        "i",
        "he",
        "she",
        "they",
        "can",
        "could",
        "there",
        "somebody",
        "another",
        "two",
        "both",
        "all",
        "order",
        "need",
        "pls",
        "kindly",
        "so",
        "today",
        "tomorrow",
        "good",
        "hi",
        "hello",
        "his",
        "their",
        "its",
        "own",
        "what",
        "which",
        "who",
        "but",
        "i'm",
        "i'd",
    ]
)


_POLITELY: Final = re.compile(
    r"\b(?:can|could|would|will|may|might) (?:you|u|ya|we|i|someone|somebody|the|§|it|that|this|her|his|be)|\bpossible\b|\b(?:please|pls|kindly|mind)\b"
)
#: Verbs of these requests, which say nothing by themselves: `could you put it in place`.
_TO_DO: Final = re.compile(
    r"\b(?:put|set|add|apply|enter|change|update|replace|fix|register|configure|correct|send|give|submit|place|adjust|system|swap|sort|it up)\b"
)
_VALUE: Final = re.compile(r"§[ahte]\d+§")
#: What of a message belongs to the request itself: its values and the words that name it.
_VALUES: Final = {
    "submit_funding": re.compile(
        r"§[hn]\d+§|\bsubmi\w+|\bdeposit|\bfunding|\bfloat|\btransfer|\b(?:log|register|book|declare|file|enter|insert|record|credit\w*) (?:it|this|that|them|the)\b|\bput (?:it|this|that|them) (?:in|forward|through)\b|\btake it from there\b"
    ),
    "set_markup": re.compile(r"§a\d+§|\bmark-? ?up|\b(?:zero|nil|nought)\b"),
    "change_phone": re.compile(
        r"§t\d+§|\b(?:update|change|modif\w+|replace|put|register|alter\w*|amend\w*|correct|edit|swap)\b"
    ),
    "set_limits": re.compile(
        r"§a\d+§|^(?!.*\b(?:hit|hits|hitting|maxes|maxed|maxing|reached|reaches|exceed\w*|blew|went over|ran into|bumped into)\b).*\b(?:limits?|caps?|ceiling|daily|weekly|monthly)\b"
    ),
    "set_3ds": re.compile(
        r"\bwebhook\b|\b(?:enable|activate|switch on|turn on|set) (?:the same|it|that|this)\b|\b(?:switch|turn|put|set) (?:it|that|this) on\b|\bcodes?\b(?=.*§c)|§c\d+§.*\bcodes?\b|^(?!(?:the|our|their|my|his|her|an?) (?:[\w'’-]+ ){1,4}?(?:(?:is|are|was|keeps?|only|always|now) )*(?:asks?|asking|refus\w+|requires?|wants?|insists?|accepts?|takes?|rejects?|declines?)\b).*\bthreeds\b"
    ),
    "order_card": re.compile(r"\b(?:cards?|crad|plastic|prepaid|order|issue)\b"),
}

_CARD_WORDS: Final = frozenset(
    {
        *(
            "card",
            "cards",
            "prepaid",
            "plastic",
            "virtual",
            "physical",
            "company",
            "account",
            "money",
            "now",
            "asap",
        ),
        *(
            "order",
            "issue",
            "create",
            "make",
            "get",
            "set",
            "joining",
            "joined",
            "starter",
            "colleague",
            "hire",
        ),
        *(
            "needs",
            "need",
            "wants",
            "want",
            "requires",
            "gets",
            "name",
            "who",
            "that",
            "there",
            "their",
            "new",
            "one",
        ),
        *(
            "more",
            "own",
            "kindly",
            "morning",
            "yes",
            "no",
            "and",
            "also",
            "to",
            "in",
            "on",
            "with",
            "of",
            "be",
        ),
        *(
            "google",
            "meta",
            "travel",
            "trip",
            "fuel",
            "ads",
            "customers",
            "business",
            "employees",
            "guests",
            "test",
        ),
    }
)


def read_value_request(clauses: Sequence[Clause], context: Context) -> Reading | None:
    """The request that the values of a message tell; None where there is none, or anything speaks against it."""
    text = spaced(context.found.masked)
    if len(text.split()) > LONGEST:
        return None
    parts = cut(text)
    if not any(entity.kind in _TELLING for entity in context.found.entities) and not _OURS.search(text):
        return None
    hash_or_order = context.found.inside(text, "tx_hash") or not context.found.inside(text, "card")
    if asks_for_two(clauses, of_somebody=bool(hash_or_order)) or names_by_a_word(context):
        return None
    polite = {part.sentence for part in parts if _POLITELY.search(part.text)}
    if (
        context.doubts
        or QUOTED in text
        or any(part.asked and part.sentence not in polite and _VALUE.search(part.text) for part in parts)
    ):
        return None
    for intent, read in (
        ("submit_funding", _submission),
        ("set_markup", _markup),
        ("change_phone", _phone),
        ("set_limits", _limits),
        ("set_3ds", _threeds),
        ("order_card", _order),
    ):
        if intent == "submit_funding":
            parts = cut(without_absence(text))
        if read(text, context) and not _speaks_against(parts, intent):
            return _reading(intent, text, context)
    return None


def _speaks_against(parts: Sequence[Part], intent: str) -> bool:
    """Is there anything in the request's own words, or in the story around them, for which no form may open?"""
    asking = {part.sentence for part in parts if _is_own(part, intent) and _POLITELY.search(part.text)}
    for part in parts:
        if _is_own(part, intent):
            if _NOT_IT.search(part.text) or (
                part.asked and intent == "order_card" and part.sentence not in asking
            ):
                return True
            if intent == "set_3ds" and _CODES_GO.search(part.text):
                continue
            if speaks_against(without_story(_BY_PAPER.sub(" ", part.text)), intent, is_exact=True):
                return True
        elif (
            part.colon
            and introduces(part.text)
            and not (intent == "change_phone" and _NEW_NUMBER_OF.match(part.text))
            and not (
                intent == "order_card" and (NEWCOMER.match(part.text) or _ENDS_IN_A_LABEL.search(part.text))
            )
        ) or speaks_against_from_around(
            part.text, intent, asked=part.asked and part.sentence not in asking, goes_on=part.goes_on
        ):
            return True
    return False


def _is_reached(text: str, context: Context) -> bool:
    """Does the message name whoever gets the card like the mailbox it gives, and a telephone?"""
    emails = context.found.inside(text, "email")
    return (
        len(emails) == 1
        and len(context.found.inside(text, "phone")) == 1
        and _like_the_email(context.found.cased, str(emails[0].value or emails[0].written)) != ""
    )


#: `Ines other number now: §t1§`: what its value is.
_NEW_NUMBER_OF: Final = re.compile(
    r"^\W*(?:(?:new|other|the|his|her|right|correct|different|current|phone|mobile|cell|of|for|on|is|now|card|change|update|pls|please|§c\d+§)\W+)*(?:phone|mobile|cell|number|sim|tel|line)\b(?:\W+(?:number|now|is|of|for|on|pls|please|card|to|at|from now|§c\d+§))*\W*$"
)
#: `her number is not §t1§`, `§t1§ is no longer hers`: the value that is meant is another one.
_NOT_IT: Final = re.compile(
    r"(?:\b(?:not|no longer|never|neither|nor|without|isn'?t|wasn'?t|aint|ain'?t|wrong|old|former|previous)|n't)\b(?:\s+(?!more\b|than\b|over\b|above\b|spend\b|do\b|exceed\b|just\b|only\b|working\b|here\b|reachable\b|is\b|new\b|now\b|but\b|please\b|use\b)[\w'’]+){0,2}?\s+(?:is\s+|was\s+)?§[hter]\d+§"
    r"|§[hter]\d+§\s*(?:is|was|are|has|does|isn'?t|wasn'?t|ain'?t|doesn'?t)?\s*(?:not|no longer|n't|wrong|dead|old(?! (?:one|number|phone|sim|line))|gone|out of)\b|§[hter]\d+§[^.,;]{0,30}\b(?:any ?more|no longer|no more|wrong|outdated|expired|disconnected)\b"
)


#: What the codes shall do, with words that would put off anything else.
_CODES_GO: Final = re.compile(
    r"^(?:(?:please|pls|kindly|hey|hi|hello|i|i'd|we|we'd|like|need|want|would like|can|could|you|let|have|make|all|that|now) )*(?:the |all |its |his |her )?(?:purchase |security |threeds |one-time |otp )?codes? (?:for|of|from|on) §c\d+§ (?:(?:to|must|should|shall|need to|have to|has to|going|go|be|sent|routed|forwarded|delivered|over|straight) )+(?:to|into|at|through|via) (?:the |our |my )?webhook(?: from (?:now|today)(?: on)?)?\W*$"
)


def _is_own(part: Part, intent: str) -> bool:
    """Does the part hold a value of the request, or its words?"""
    return _VALUES[intent].search(part.text) is not None or is_small(_TO_DO.sub(" ", part.text))


#: `Reason: regular funding for November`: the form has no date.
_LABELLED: Final = re.compile(r"\b(?:reason|purpose|note|remark)\s*:[^.;\n]*")


def _why_submitted(text: str) -> str:
    """What of the text only tells why a transfer is submitted, in which days and hours are nobody's values."""
    if not _SUBMIT_IT.search(text):
        return ""
    found = [*_NOT_THERE.findall(text), *_LABELLED.findall(text)]
    return "" if any(re.search(r"§[^px]\d+§", part) for part in found) else " ".join(found)


def without_absence(text: str) -> str:
    """The text without what tells that a transfer is not in the float, where it is plainly to be submitted."""
    return _NOT_THERE.sub(" ", text) if _SUBMIT_IT.search(text) else text


def _submission(text: str, context: Context) -> bool:
    plainly = _SUBMIT_IT.search(text) is not None
    text = without_absence(text)
    if _ITS_STATE.search(text) or (not plainly and _ASKS_ABOUT.search(text)):
        return False
    if not context.found.inside(text, "tx_hash"):
        return _SUBMIT_ONE.search(text) is not None and not context.found.inside(text, "card", "address")
    return _SUBMIT.search(text) is not None


def _markup(text: str, context: Context) -> bool:
    rates = context.found.inside(text, "rate") or NO_MARKUP.search(text)
    if not rates and not context.found.inside(text, "amount"):
        return _CHANGE_MARKUP.search(text) is not None
    return _MARKUP.search(text) is not None and _TO_SET.search(text) is not None


def _is_earlier(entity: Entity, intent: str, text: str, context: Context) -> bool:
    """Is this the old value of `from 2 to 2.25 percent`?"""
    old = _FROM.search(text) or _INSTEAD_OF.search(text)
    return (
        intent in ("set_markup", "set_limits") and old is not None and entity in context.found.inside(old[0])
    )


def _phone(text: str, context: Context) -> bool:
    if _CALL.search(text) or not context.found.inside(text, "card"):
        return False
    if not context.found.inside(text, "phone"):
        return _CHANGE_NUMBER.search(text) is not None
    named = text.replace("new number", "").replace("new phone", "").replace("new cell", "")
    return bool(_NUMBER.search(text) or _CHANGE.search(text)) and not _NEW_CARD.search(named)


def _limits(text: str, context: Context) -> bool:
    if _NO_LIMIT.search(text) or not context.found.inside(text, "card"):
        return False
    if not context.found.inside(text, "amount"):
        return _CHANGE_LIMITS.search(text) is not None
    own = " ".join(part.text for part in cut(text) if "§a" in part.text or "§c" in part.text)
    terse = _LIMIT.search(own) is not None and is_small(_UNITS.sub(" ", own))
    return terse or (_LIMIT.search(text) is not None and _LIMIT_SET.search(text) is not None)


#: Somebody with a card of their own, in the story of a card for somebody else: `he is covering for §c3§ over December`.
_STANDS_IN: Final = re.compile(
    r"^\W*(?:(?:and|as|because|since|who) )?(?:(?:he|she|they|who)(?:'s|'ll|'re)? )?(?:(?:is|will be|will|has|are) )?(?:cover(?:s|ing)?|fill(?:s|ing)? in|stand(?:s|ing)? in|step(?:s|ping)? in|replac(?:es|ing)|take(?:s)? over|taking over|work(?:s|ing)?|report(?:s|ing)?|help(?:s|ing)?|assist(?:s|ing)?|travel(?:s|ling|ing)?|join(?:s|ing)?|drives|driving|start(?:s|ing)?)\b"
    r"(?: (?:for|from|with|under|to|in for|out|together|along|the [a-z]+ of))* §c\d+§(?! (?:card|limit|daily|weekly|balance)\b)"
)


def _only_in_passing(text: str, context: Context) -> bool:
    """Is every cardholder of the message one that whoever gets the new card works with?"""
    passing = [
        card
        for part in cut(text)
        if _STANDS_IN.match(part.text)
        for card in context.found.inside(part.text, "card")
    ]
    return all(card in passing and "name" in card.traits for card in context.found.inside(text, "card"))


def _order(text: str, context: Context) -> bool:
    named = context.found.inside(text, "card") and not _only_in_passing(text, context)
    if named and not _ANOTHER.search(text):
        return False
    # Whoever is named like the mailbox does not write of a card for themselves.
    if _OWN_CARD.search(text) and not _is_reached(text, context):
        return False
    if (
        context.found.inside(text, "phone")
        and context.found.inside(text, "email")
        and _AS_A_FORM.search(text)
    ):
        return True
    return _A_CARD.search(text) is not None and _ORDER.search(text) is not None


def _threeds(text: str, context: Context) -> bool:
    named = context.found.inside(text, "card")
    if named and _CODES_TO.search(text):
        return _ROUTED.search(text) is not None
    named = named if "threeds" in text else []
    return bool(named) and (_SWITCH_ON.search(text) is not None or _SWITCH_OFF.search(text) is not None)


def _reading(intent: str, text: str, context: Context) -> Reading | None:
    """Opened where all is exact; with the question for what is missing; None where something is in doubt."""
    values = values_of(Frame(intent, text), text, context.found)
    explained = intent in ("set_3ds", "set_limits") and values.doubt is not None and not values.doubt.options
    if intent == "set_markup" and values.doubt is not None and "amount" not in values.slots:
        return Reading(intent, ask=values.doubt)  # a number without its unit
    if values.doubt is not None and values.doubt.slot != "network" and not explained:
        return None
    slots: dict[str, Any] = dict(values.slots)
    card = None
    if "card" in REQUIRED[intent]:
        written, card = one_card(context)
        named = context.found.inside(text, "card")
        if card is None or any(entity.traits & {"unknown", "weak"} for entity in named):
            return None
        slots = {"card": written, **slots}
    notes = values.notes
    if intent == "order_card":
        slots, more = _order_slots(slots, text, context)
        notes = (*notes, *more)
        if not slots.keys() & {"name", "phone", "email"}:
            return None
    passing = intent == "order_card" and _only_in_passing(text, context)
    if (
        intent == "order_card"
        and "name" not in slots
        and not passing
        and (holder := _holder_of_another(context))
    ):
        slots = {"name": holder, **slots}
    missing = [slot for slot in REQUIRED[intent] if slot not in slots]
    spare = _spare(intent, text, context)
    reading = Reading(intent, slots, card=card, notes=notes)
    if explained and values.doubt is not None:
        return replace(reading, ask=values.doubt)
    if missing:
        if intent == "submit_funding" and missing == ["network"] and spare:
            return None
        return replace(reading, ask=questions.missing(missing[0], intent, context.facts.networks))
    return None if spare else replace(reading, opened=True)


def _order_slots(
    slots: dict[str, Any], text: str, context: Context
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The holder, and the amount that is to be on the card, with the sentence that says how it gets there."""
    slots = with_name(slots, context, generous=not {"phone", "email"} <= slots.keys())
    amounts = context.found.inside(text, "amount")
    if len(amounts) != 1 or amounts[0].doubt:
        return slots, ()
    amount = plain(amounts[0].value.value)
    note = f"A new card starts empty. Request a top-up of {amount} USD when it is there."
    return {**slots, "amount": amount}, (note,)


#: Whom a card is for: `New colleague in Berlin: Matthias Krone`.
NEWCOMER: Final = re.compile(
    r"^\W*(?:our |the |a |one )?new (?:colleague|joiner|joinee|hire|starter|employee|team member|member|driver|intern|trainee|contractor|sales\w*)\b[\w\s]{0,30}$"
)


_ENDS_IN_A_LABEL: Final = re.compile(
    r"\b(?:name|phone|mobile|tel|cell|e-?mail|mail|initial load|first load|opening balance|amount)\W*$"
)


def with_first_load(reading: Reading, context: Context) -> Reading:
    """A card to order with the amount that is to be on it; not open where that amount is in doubt, or not one."""
    amounts = context.found.inside(context.found.masked, "amount")
    if reading.intent != "order_card" or not reading.opened or "amount" in reading.slots or not amounts:
        return reading
    slots, notes = _order_slots(dict(reading.slots), context.found.masked, context)
    slots = {**reading.slots, **({"amount": slots["amount"]} if "amount" in slots else {})}
    if "amount" not in slots:
        ask = questions.exactly("amount", "what is to be on the new card")
        return replace(reading, intent="ambiguous", wanted="order_card", opened=False, ask=ask)
    return replace(reading, slots=slots, notes=(*reading.notes, *notes))


def _holder_of_another(context: Context) -> str:
    """Somebody who has a card already, by the full name that was written; empty where it is none, or two."""
    cards = context.found.inside(context.found.masked, "card")
    names = {entity.written for entity in cards if "name" in entity.traits and " " in entity.written}
    return names.pop() if len(names) == 1 and all("name" in entity.traits for entity in cards) else ""


_USED: Final[Mapping[str, frozenset[str]]] = {
    "submit_funding": frozenset({"tx_hash", "network"}),
    "set_markup": frozenset({"rate"}),
    "change_phone": frozenset({"card", "phone"}),
    "set_limits": frozenset({"card", "amount"}),
    "set_3ds": frozenset({"card"}),
    "order_card": frozenset({"phone", "email", "reference", "amount"}),
}


def _spare(intent: str, text: str, context: Context) -> bool:
    """Is there a figure or a value in the message that the form does not hold?"""
    if intent == "order_card":
        amounts = context.found.inside(text, "amount")
        if len(amounts) > 1 or any(a.doubt for a in amounts):
            return True
    story = [
        part.text
        for part in cut(text)
        if not _is_own(part, intent) and not (intent == "order_card" and _VALUE.search(part.text))
    ]
    why = _why_submitted(text) if intent == "submit_funding" else ""
    for entity in context.found.entities:
        if why and entity in context.found.inside(why):
            continue
        if entity.kind == "person" or (entity.kind == "period" and is_today(entity, context.facts)):
            continue
        if _is_in_the_story(entity, intent, story, context):
            continue
        if (
            intent == "order_card"
            and entity.kind == "card"
            and (_holder_of_another(context) or _only_in_passing(text, context))
        ):
            continue
        if entity.kind not in _USED[intent] and not _is_earlier(entity, intent, text, context):
            return True
    return False


#: What a request follows, by its date: `as per the memo of 18 November`.
_PAPER_OF: Final = re.compile(
    r"\b(?:as per|per|following|according to|in line with|based on|see|ref|reference|referring to) (?:the |our |my |your |his |her )?(?:[a-z]+ ){0,2}?(?:memo|e?mail|minutes|letter|note|invoice|agreement|policy|contract|budget|decision|board|meeting|requisition|circular|notice|resolution|approval)(?: (?:of|from|dated|on))? §p\d+§"
)
_BY_PAPER: Final = re.compile(
    r"\b(?:as per|per|following|according to|in line with|based on) (?:the |our |my |your |his |her )?(?:[a-z]+ ){0,2}?(?:memo|e?mail|minutes|letter|note|invoice|agreement|policy|contract|budget|decision|board|meeting|requisition|circular|notice|resolution|approval)(?: (?:of|from|dated|on) §p\d+§)?"
)
#: What a submitted transfer was: the form takes it from the chain.
_SENT: Final = re.compile(r"usd|usdt|usdc|\$|k\b", re.IGNORECASE)


def _is_in_the_story(entity: Entity, intent: str, story: Sequence[str], context: Context) -> bool:
    """Does the value belong to the story: a past day, how often, the sum of a transfer?"""
    if intent == "submit_funding" and entity.kind == "amount" and _SENT.search(entity.written):
        return len(context.found.inside(context.found.masked, "amount")) == 1
    if entity.kind == "period" and any(
        entity in context.found.inside(paper[0]) for paper in _PAPER_OF.finditer(spaced(context.found.masked))
    ):
        return True
    if entity.kind == "period":
        of_story = entity.value is not None and entity.value.last_day <= context.facts.now.date()
    else:
        of_story = INCIDENTAL in entity.traits
    if entity.kind in ("later", "period") and not of_story and intent != "set_limits":
        of_story = any(entity in context.found.inside(part) and _IS_DUE.search(part) for part in story)
    return of_story and any(entity in context.found.inside(part) and tells_enough(part) for part in story)


#: What is to come in the story, and is no hour for the request.
_IS_DUE: Final = re.compile(
    r"\b(?:is due|are due|travels?|flies|leaves|lands|arrives|starts|renews?|travelling|traveling|departs|checks in|returns)\b"
)
#: A request that names a holder is no longer than that.
_MOST_OF_A_REQUEST: Final = 600
#: What stands before a name and is none of it: `Dr. Ramon Villareal`, `new start Eilidh Boyd`.
_LEADS_A_NAME: Final = re.compile(
    r"^(?:(?:(?:mr|ms|mrs|miss|dr|prof|engr|nurse|sir|madam|herr|frau)\b\.?|(?:for|to|name|named|called|holder|user|our|the|my|a|new|newest|fresh|latest|colleague|joiner|joinee|starter|start|hire|recruit|intern|trainee|apprentice|contractor|consultant|employee|coworker|co-worker|teammate|guy|girl|lad|boy|lady|staff|member|driver|assistant|accountant|developer|engineer|manager)\b)[\s,:-]+)+(?=\S)",
    re.IGNORECASE,
)


#: What comes after a name that was read too far: `Lucia Moretti should`, `samir needs`.
_ENDS_A_NAME: Final = re.compile(
    r"(?<=\w)\s+(?:needs?|wants?|should|shall|will|would|must|keeps?|is|was|has|have|had|gets?|requires?|joins?|starts?|joined|comes|travels|set)\b.*$|\s+(?:mobile|phone|e-?mail|tel|mail|cell)\W*$|'s$|’s$",
    re.DOTALL | re.IGNORECASE,
)
#: Part of the name of a holder with more words: a card for `Marketing – Events` beside one for `Marketing – Ads`.
_OF_A_GROUP: Final = re.compile(
    r"\b(?:name(?: of)?|named|called|for)\s+(?P<sign>§c(?P<number>\d+)§)\s+(?P<dash>[–-])\s+(?P<rest>[^\W\d_][\w'’-]*)"
)


#: What somebody is, before a name that is written as one: `Dubai coordinator | Shruti Kamath`.
_WHO_THEY_ARE: Final = re.compile(
    rf"^(?:[\w'’-]+\s+)*(?!(?:{'|'.join(sorted(PARTICLES))})\b)[a-zà-ž][\w'’-]*\s+(?=[A-ZÀ-Ž])"
)


def _whole_name(written: str) -> str:
    name = _ENDS_A_NAME.sub("", _LEADS_A_NAME.sub("", written.strip(" .,-–\n"))).strip(" .,-–\n")
    alone = _WHO_THEY_ARE.sub("", name)
    return alone if FULL_NAME.fullmatch(alone) else name


def _goes_on(name: str, after: str, *, exact: bool) -> bool:
    """Is a name cut off: does it end within, or does more of it follow, as in `femke de | boer`? `exact`: a form may open
    with it, so that a word in small letters behind one in small letters may belong to it."""
    if " " in name and name.rsplit(" ", maxsplit=1)[-1].lower() in PARTICLES:
        return True
    following = _NEXT_WORD.match(after)
    if following is None or following[1].lower() in _AFTER_A_NAME:
        return False
    return (exact and name.islower()) or following[1][0].isupper() or following[1].lower() in PARTICLES


def with_name(slots: dict[str, Any], context: Context, *, generous: bool = True) -> dict[str, Any]:
    """The holder, read from the text as it was written; `generous`: in small letters too, where a question follows."""
    cased = context.found.cased[:_MOST_OF_A_REQUEST]
    group = _OF_A_GROUP.search(cased)
    if group:
        first = context.found.entities[int(group["number"])].written
        return {
            "name": f"{first} {group['dash']} {group['rest']}",
            **{k: v for k, v in slots.items() if k != "name"},
        }
    for pattern in _NAMED:
        for match in pattern.finditer(cased):
            name = person_named(_whole_name(match["name"]), cased, slots.get("email", ""))
            if (name.islower() and _only_full_name(cased)) or _goes_on(
                name, cased[match.end("name") :], exact=not generous
            ):
                continue
            words = [word.lower() for word in name.split()]
            common = any(word in ORDINARY or word in _NO_NAME for word in words) and name.islower()
            greets = len(words) == 1 and words[0] in _NO_FIRST_NAME  # `Hey! Need a card issued to ...`
            if "§" in name or not words or any(word in _NO_NAME for word in words) or common or greets:
                continue
            if len(words) > 1 or name[:1].isupper():
                return {"name": name, **{k: v for k, v in slots.items() if k != "name"}}
    for match in _SMALL_NAME.finditer(cased):
        group_name = next(one for one in ("name", "who", "lead") if match[one])
        if not generous and (group_name != "name" or not _STOPS.match(cased, match.end("name"))):
            continue
        name = person_named(_whole_name(match[group_name]), cased, slots.get("email", ""))
        words = fold(name).split()
        if _goes_on(name, cased[match.end(group_name) :], exact=not generous):
            continue
        if not generous and (len(words) < _FULL or _only_full_name(cased)):
            continue
        if words and not any(word in _NO_NAME or word in ORDINARY or word in _CARD_WORDS for word in words):
            return {"name": name, **{k: v for k, v in slots.items() if k != "name"}}
    name = _like_the_email(cased, slots.get("email", "")) or (
        _only_full_name(cased) if generous and not _OWN_CARD.search(cased.lower()) else ""
    )
    name = person_named(name, cased, slots.get("email", ""))
    return {**({"name": name} if name else {}), **{k: v for k, v in slots.items() if k != "name"}}


_TWO_WORDS: Final = re.compile(r"(?<![\w§@])(?=([^\W\d_][\w'’-]+) ([^\W\d_][\w'’-]+)(?![\w§@]))")
#: `femke de | boer`: particles and the word after them.
_REST_OF_A_NAME: Final = re.compile(
    rf"(?:\s+(?:{'|'.join(sorted(PARTICLES))}))*\s+[^\W\d_][\w'’-]+(?![\w§@])", re.IGNORECASE
)
#: Words with a capital that begin a sentence, a place or a label.
_NO_FIRST_NAME: Final = word_set(
    """
    dear good hello hi hey hiya howdy yo morning afternoon evening team folks all please kindly could can would may might issue order create request new for card cost thank thanks best kind
    united states kingdom regards first second opening initial apply get give need black google meta company north south east west san los saint
    """
)


_ONE_MORE: Final = re.compile(r" ([^\W\d_][\w'’-]*)(?![\w§@])")
_ANOTHER_NAME: Final = re.compile(r"(?: [A-ZÀ-Ž][a-zà-ž'’-]+){1,2}(?=\s*(?:[,(|/;:–-]|\n|$))")


def _like_the_email(cased: str, email: str) -> str:
    """The two words of which one is the name in the address: `kasia nowak, kasia@nordfield.example`."""
    local = {fold(piece) for piece in re.split(r"[._+-]", email.split("@", maxsplit=1)[0]) if len(piece) > 2}
    for found in _TWO_WORDS.finditer(cased) if local else ():
        words = [fold(found[1]), fold(found[2])]
        odd = any(word in _NO_NAME or word in _CARD_WORDS or word in _NO_FIRST_NAME for word in words)
        if not odd and (set(words) <= local or (words[0] in local and words[1] not in ORDINARY)):
            more = _REST_OF_A_NAME.match(cased, found.end(2)) if words[1] in PARTICLES else None
            if more is None and found[1][0].isupper() and found[2][0].isupper():
                more = _ANOTHER_NAME.match(cased, found.end(2))  # `Lim Wei Jie, weijie.lim@…`
            if more is None:
                more = _next_of(local, cased, found.end(2))
            if words[1] not in PARTICLES or more is not None:
                return f"{found[1]} {found[2]}{more[0] if more is not None else ''}"
    return ""


def _next_of(local: set[str], cased: str, end: int) -> re.Match[str] | None:
    """The word behind two of a name that is in the mailbox as well: `Bui Gia Han`, of `han.bui@…`."""
    following = _ONE_MORE.match(cased, end)
    return following if following is not None and fold(following[1]) in local else None


def _only_full_name(cased: str) -> str:
    """The one full name of a text that is written like one."""
    names = {found[0] for found in FULL_NAME.finditer(cased) if _is_name(found[0])}
    return names.pop() if len(names) == 1 else ""


def _is_name(written: str) -> bool:
    words = [fold(word) for word in written.split()]
    return not any(
        word in ORDINARY or word in _NO_NAME or word in _CARD_WORDS or word in _NO_FIRST_NAME
        for word in words
    )
