"""A request read from its values outward: what one form needs stands in a stretch of a sentence, with a word of its kind.

`her number on the card should be §t0§`, `priya-r make it frozen`, `get §a0§ out from there to float`: no frame is needed where a
stretch holds exactly the values of one form, a word of that kind in any inflection and place, words that can only mean one
direction, and something that asks. Every value in it belongs to the form, and nothing in it may speak against: in doubt there
is none. What stands beside it is judged like what stands beside every other request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.intents.by_sentence.beside import speaks_against_within
from bot.intents.by_sentence.cores import core_of
from bot.intents.by_sentence.wording import begins_at
from bot.intents.extraction import Found
from bot.intents.model import Reading
from bot.intents.plain_text import word_set
from bot.intents.readings import has_a_slip
from bot.intents.recognition import somebody_does

_SIGN: Final = re.compile(r"§([a-z])\d+§")
_JOINT: Final = re.compile(
    r"(?:[,;:()\[\]]|\s[-–—]+\s|\n)\s*|\s+(?=(?:because|becoz|bcoz|since|cuz|cos|coz|as (?:he|she|they|we|it|the|his|her|our|my))\b)"
    r"|\s+(?=so (?:§[ac]|please|pls|can|could|would|we|i|you|that|he|she|they|[a-z]+ §|[a-z]+ (?:it|him|her|the|his|this|that)\b))"
    r"|(?<![,;:])\s+(?=(?:please|pls|kindly|(?:can|could|would|will) (?:you|u|someone))\s+\w)",
    re.IGNORECASE,
)
_MOST_PIECES: Final = 14
_MOST_WORDS: Final = 30
_MOST_JOINED: Final = 3

_FLOAT: Final = r"(?:(?:the|our|company|main|general|deposit) )*(?:float|pot|pool|kitty|treasury|main account|company account|master account)"
_CARD: Final = r"(?:(?:the|that|this|his|her|their|its|prepaid|company|same|card|account|of|ending|in|colleague|mr|ms|mrs)\.? )*(?:§c\d+§(?:['’]s?)?|card|hers|his|theirs|it|there|him|her|them)(?![\w-])"
_TO_FLOAT: Final = re.compile(rf"(?:\bback )?(?:\b(?:in|into|to|onto|on|for|at|towards)|->|→|>)\s+{_FLOAT}\b")
_FROM_FLOAT: Final = re.compile(rf"(?:\b(?:from|out of|off)\s+{_FLOAT}\b|\b{_FLOAT}\s*(?:->|→)\s*)")
#: Where money lies now, which says nothing of where it shall go.
_LIES_ON: Final = re.compile(
    rf"\b(?:lot|everything|all|money|balance|rest|remainder|amount|sum|funds|cash)(?: (?:that|which|what)(?:['’]s| is| are)?)?(?: still| left| over)* on\s+{_CARD}|\b(?:left|remain\w*|still|stays?|staying|is|are|was|sits?|sitting|lying|lies|unused|there|what'?s|whats|have|has)\s+(?:still |left |over )*on\s+{_CARD}"
)
_OFF: Final = re.compile(
    rf"\b(?:off|unload\w*|withdr[ae]w\w*|claw\w*|recall\w*|reclaim\w*|deduct\w*|debit\w*|drain\w*|empt(?:y|ied|ying)|sweep\w*|swept|retriev\w*|recover\w*|yank\w*|skim\w*)\b|\b(?:from|out of|outta|outa|out from)\s+{_CARD}|\b(?:take|pull|get|bring|move|send|transfer|return)\b(?: \S+){{0,4}}? (?:back|out|down|home)\b(?! (?:on|onto|up|to (?!{_FLOAT})))|\breturn\w*\b(?! (?:on|onto))|\bback\W*$"
)
#: Verbs that put money on a card behind which the card stands first, and what may stand before the sum then.
_GIVES: Final = "give|send|get|lend|hand|grant|spot|allow|slide|toss|throw|sling|fling|bung|chuck|slip|feed|float|front|stake|loan|advance|pass|wire|pop|shoot|lob|shove|boost|pad|juice|supply|furnish|provide"
_SOME: Final = r"(?:(?:another|an?|extra|further|more|additional|the|exactly|just|some) )*"
_ON: Final = re.compile(
    rf"\b(?:re|up)?-?load(?:ed|ing)?\b|\btop(?:ped|ping)?[ -]?up\b|\btopup\b|\b(?:refill|recharg|replenish|credit)\w*\b|\bfund(?:ed|ing)?\b|\badd(?:ed)?\b|\b(?:onto|on to|on|to|into|in|for)\s+{_CARD}|\b(?:{_GIVES})\s+{_CARD}\s+{_SOME}§a|\b(?:hook|sort|set|fix|tide|top|juice|boost|pad|feed|fuel)\s+{_CARD}\s+(?:up |out |over )?(?:w|with|by)\s+{_SOME}§a|§c\d+§(?: card)? (?:up by|is short (?:by|of)|(?:is )?short|plus|is in need of|is needing|could use|could do with|lacks|is lacking) (?:another |an extra )?§a|\b(?:increase|raise|boost|bump|augment|lift|enlarge|top up)\b[^§]*(?:§c\d+§[^§]*)?\b(?:balance|funds|credit)\b[^§]*(?:§c\d+§[^§]*)?\b(?:by|with)\s+§a|\bbalance (?:of|on) §c\d+§ (?:up )?by §a|§c\d+§(?: card)? (?:should (?:get|have|receive)|must (?:get|have|receive)|needs|to get|gets)\b|\bbump\b[^§]*§c\d+§[^§]*\bby\s+§a|\b(?:can|could|may) §a\d+§ (?:please )?(?:go|be put|land)\b|\b(?:put|stick|throw|add|drop|chuck|send)\s+§a\d+§(?:\s*(?:usd|dollars|bucks))? (?:on |in )?there\b"
)
_ON_VERBS: Final = (
    r"\b(?:re|un)?-?load(?:ed|ing)?\b|\btop(?:ped|ping)?[ -]?up\b|\btopup\b|\b(?:refill|recharge)\b|\bback\b"
)
_ALL: Final = re.compile(
    r"\b(?:everything|the (?:whole|entirety|totality) of|to zero|completely|all of it|all the (?:money|rest)|(?:whole|full|entire) (?:balance|amount|rest)(?= (?:of|on|from|off) )|the (?:whole|entire|full) lot|the (?:whole|full|entire|remaining|leftover) (?:balance|amount|money|rest)|the rest|the remainder|whatever(?:'s| is)? (?:left|remains|stays|still|there)|what(?:'s| is)? (?:left|remains))\b"
)
_UNIT: Final = r"(?:day|week|month)"
_LIMITED: Final = re.compile(
    rf"\b(?:limit\w*|caps?|capped|ceiling|max|maximum|daily|weekly|monthly|(?:per|an?|each|every|by|in (?:one|a)) {_UNIT}|(?:per|a|one|each|single)[ -](?:purchase|payment|transaction|swipe|go))\b|/ ?{_UNIT}"
)
_PAIR: Final = re.compile(
    rf"\b(?P<u>daily|weekly|monthly|{_UNIT})(?: (?:one|spending|spend|limit|cap|ceiling|max|maximum))*(?: (?:to|at|of|is|be|should be|as|on|for|§c\d+§(?:['’]s)?(?: card)?|her|his|card))*\s*[:=–-]*\s*(?P<a>§a\d+§)(?:\s*(?:usd|dollars|bucks))?"
    rf"|(?P<b>§a\d+§)(?:\s*(?:usd|dollars|bucks))?\s*(?:per|a|an|/|each|every|in one|in a|by|one)?\s*(?P<v>daily|weekly|monthly|{_UNIT})\b"
)
_ONE_PURCHASE: Final = re.compile(
    r"\b(?:per|a|one|each|every|single|any)[ -](?:single )?(?:purchase|payment|transaction|swipe|go|pop)\b|\b(?:purchase|transaction|payment) (?:limit|cap|max)\b"
)
_SINGLE: Final = re.compile(
    r"(?P<a>§a\d+§)(?:\s*(?:usd|dollars|bucks))?\s*(?:(?:for|per|an?|each|every|in|on|by|at|any) )*(?:one |single )?(?:a )?(?:purchase|payment|transaction|swipe|go|pop)\b(?: per payment)?|\b(?:per|each|every|single|one|any)[ -](?:single )?(?:purchase|payment|transaction|swipe|go)(?: limit| cap| max)?(?: (?:to|at|of|is|be|max))*\s*[:=–-]?\s*(?P<b>§a\d+§)"
)
_LIMIT_WORD: Final = re.compile(
    r"\b(?:limit\w*|caps?|capped|ceiling|max(?:imum)?|spend\w*|allow\w*|pass|exceed|over|more than|above)\b|\b(?:introduce|impose|tighten|restrict|dial|knock)\b[^§]*§a|\b(?:at|to|of) §a|\b(?:make|set|put|keep|hold|held|kept|fix)\b[^§]*§a|\bgo\b[^§]*§a"
)
_UN: Final = r"(?:(?:un|de)-?(?:freez\w*|froz\w*|block\w*|lock\w*|suspend\w*|paus\w*|ic(?:e|ed|ing))|thaw\w*|defrost\w*|re-?activat\w*|re-?enabl\w*|re-?open\w*|re-?instat\w*)"
_HOLD: Final = r"(?:freez(?:e|ing)|block(?:ing|age)?|hold|lock(?:ing)?|suspension|pause)"
_THAWS: Final = re.compile(
    rf"\b{_UN}\b|\b(?:remov|lift|tak|releas|undo|end|clear|drop|get rid of)\w*\b(?: (?:off|away|back))?(?: (?:the|this|that|her|his|its|their))? {_HOLD}\b|\b{_HOLD}\b(?: \S+){{0,3}} (?:lift|remov|tak|releas|clear|end)\w*\b|\b{_HOLD} (?:up)?(?:on|of|from|for) {_CARD} (?:can|may|should|must|has to|needs to|could)(?: now| please| also| again)* (?:go|come off|be (?:gone|over|off))\b|\b(?:wake|reviv|resurrect|unpaus|liberat)\w*\b|\b(?:wake|bring|releas|free|let|get|pull|come|out|back|up)\w* (?:from|out of|off) (?:the |its |her |his |that )?(?:freeze|freezer|deep freeze|block|hold|lock|ice)\b"
    r"|\b(?:alive|live|usable|active|working|operational|running|works?|on|open|function\w*|use|spend|pay) again\b|\bback (?:on(?! (?:to |§c|her |his |their |the |our |that |this ))|alive|live|to life|in use|active|in action|in service|online)\b|\bback (?:to )?(?:work|working)\b|\b(?:take|taken|get|bring|have|come|comes)\b[^.]{0,20}? off (?:ice|hold|pause)\b"
)
_FREEZES: Final = re.compile(
    r"\b(?:freez(?:e|ing)|frozen|freezed|block(?:ed|ing)?|lock(?:ed|ing)?|suspend(?:ed|ing)?|paus(?:e|ed|ing)|on (?:hold|ice)|out of (?:use|action|service|operation)|immobili[sz]ed?)\b"
    r"|\bice (?:up )?(?=§c|(?:her|his|their|the|that|this) card\b)|\bstop\b[^.]*\b(?:from )?(?:working|being used|card)\b|\bstop (?:the |that |this |card )*§c\d+§(?! (?:from (?!working|being)|and|paying|buying))|\b(?:can ?not|can['’]?t|couldn['’]?t|could not|should not|shouldn['’]?t|must not|may not|no longer) be used\b|\bdisable\b"
)
_CLOSES: Final = re.compile(
    r"\b(?:clos(?:e|ed|ing|ure)|terminat(?:e|ed|ing|ion))\b|\b(?:cancel\w*|shut(?: down)?|deactivat\w*|disactivat\w*|kill\w*|delet\w*|end(?:ed)?|retir\w*|gone|axe|scrap\w*|get rid of|annul\w*|extinguish\w*|eliminat\w*|dismiss\w*|remov\w*|withdr\w*|destroy\w*|block\w*|nuke\w*|ditch\w*|bin|binned|junk\w*|torch\w*|dump\w*|wipe\w*|shred\w*|trash\w*|zap\w*|finish\w*|bury|put down|discontinu\w*|decommission\w*|sunset\w*|revok\w*|void\w*|lose)\b(?=[^.]*\b(?:for good|for ?ever|permanent\w*|definit\w*|for always|altogether|for keeps|once (?:and )?for all)\b)"
)
_PHONE: Final = re.compile(
    r"\b(?:numbers?|nr|no|phone|mobile|cell\w*|sim|line|handset|telephone|contact|new one|mob)\b|\b(?:updat|chang|switch|swap|mov)\w*(?: over)? (?:to|onto|with|for) §t"
)
_NEW: Final = re.compile(
    r"\b(?:new|now|should|must|chang\w*|updat\w*|make|set|put|switch\w*|replac\w*|swap\w*|from now on|correct|is to|needs to|to be|use|please|pls|kindly|enter|register|record|save|move|point)\b"
)
_CODES: Final = re.compile(
    r"\b(?:threeds|3ds|(?:purchase|payment|security|verification|confirmation|online|one-time|shopping|shop|bank|otp|sms|approval)[\w ]{0,12}? codes?|otps?|codes? (?:for|of|from) (?:the )?(?:online|purchases?|shopping|payments?)|codes)\b"
)
_MAIL: Final = re.compile(r"\b(?:e-?mails?|mails?|mailbox|inbox)\b")
_TEXTED: Final = re.compile(
    r"\b(?:sms|texts?|text messages?|(?:the |her |his |their )?(?:phone|cell|mobile|handset|cellphone))\b"
)
_WEBHOOK: Final = re.compile(r"\bweb ?hook\b")
_NOT_THERE: Final = re.compile(
    r",?\s*\b(?:rather than|instead of|and not|but not|not|no longer|no more|no)\b\s+(?:(?:in|into|to|by|via|on|over|with|as|the|her|his|their|any|a|an|going)\s+)*(?:e-?mails?|mails?|mailbox|inbox|sms|texts?|text messages?|phone|cell|mobile)(?: (?:on file|any ?more|s?he never \w+|number))*"
)
_MARKUP: Final = re.compile(
    r"\bmark-?ups?\b|\bmargin (?:on|for|of) (?:the |our )?(?:deposits?|loads?|top-?ups?)\b|\b(?:top-?up|deposit) margin\b"
)
_SUBMITS: Final = re.compile(
    r"\b(?:submit|submitted|submission|book|booked|register\w*|record\w*|log|logged|enter|entered|file|filed|declare\w*|report|announce|lodged?|credit|put (?:it |this |that )?(?:in|through)|(?:take|get) (?:it|this|that) (?:in|on|into)|hand in|insert|to (?:log|book|register|record))\b|\bnew (?:deposit|funding)\b"
)
_NUMBER: Final = re.compile(
    r"\b(?:full|whole|complete|entire|all|long|total)\b(?:\s+(?:the|of|§[xa]\d+§|16|card|\w+-digit))*\s+(?:numbers?|digits|no|nr)\b|\b(?:numbers?|digits)\b(?: \S+){0,3} (?:in full|in whole|complete\w*|full)\b"
)
_SIXTEEN: Final = re.compile(r"\ball\s+(?:the\s+|of (?:the )?)?(?P<x>§[xak]\d+§)\s+(?:digits|numbers)\b")
#: The value that was, beside the one that shall be.
_WAS: Final = re.compile(
    r"\b(?:from|instead of|not|currently|current|at present|now at|was|old|until now|rather than)\s+(?:the\s+|at\s+|is\s+)*(?P<old>§a\d+§)(?=.*§a|[^§]*$)"
)

#: What a stretch says in more words than it needs, and those words.
_IN_FEWER_WORDS: Final = tuple(
    (re.compile(rf"\b(?:{pattern})(?![\w'’])"), plainly)
    for pattern, plainly in (
        (
            r"(?:i|we) (?:(?:would|kindly|hereby|thus|therefore|also|must|have to) )*(?:ask|request|beg|pray|invite|entreat)(?: (?:to )?(?:you|u|the colleagues|the team))?(?: (?:thus|therefore|kindly|please|also))*(?: to(?= [a-z])| that(?: you)?(?= ))",
            "please",
        ),
        (
            r"as soon as (?:possible|you can|you are able(?: to)?)|at (?:the|your) earliest(?: convenience)?|when(?:ever)? you (?:can|get (?:a|the) (?:minute|moment|sec|second|chance))|would you (?:please )?put (?:that|it|this) (?:in|through)(?: for me)?",
            "please",
        ),
        (
            r"(?:starting|effective|beginning|as of|as from|with effect from|from) (?:right )?(?:now|today|immediately|this (?:minute|moment))(?<!from now)(?: on(?:wards)?)?",
            "",
        ),
        (r"(?:black|good) friday|cyber monday|easter (?:monday|sunday)", "sale"),
        (
            r"(?:and )?(?:not|no) (?:a |one )?(?:cent|penny|dollar) (?:more|over|less)|no more,? (?:and )?no less|exactly|precisely|to the (?:cent|penny)",
            "",
        ),
        (r"for (?:an?|one|every|each)? ?single (?=purchase|payment|transaction)", "per "),
        (r"please and thank you", "please"),
        (r"and yes,? (?:i|we|he|she|they|it)\b(?!.*\b(?:both|all|every|also|too|not)\b)[^§]*$", ""),
        (r"the so-called", "the"),
        (
            r"(?:and |so )?(?:let['’]?s|we can|we could) (?:be done|get (?:it|this|that) (?:over|done)|have done)(?: (?:with|wi|w) (?:it|this|that))?",
            "",
        ),
        (
            r"before (?:the (?:end of (?:the )?(?:day|week|month)|weekend|day is out|[a-z]+ (?:dies|closes|shuts|leaves|departs|opens|starts|expires|ends|runs (?:out|dry)))|lunch|(?:he|she|they|we|it) (?:dies|die|closes|close|shuts|shut|leaves?|departs?|runs? (?:out|dry)|expires?))",
            "",
        ),
        (
            r"(?P<verb>(?:is|are) to be (?:chang|revis|adjust|updat|amend|modifi)ed) in(?:to)?(?= §a)",
            r"\g<verb> to",
        ),
    )
)
#: `bump the markup up to 3 %`: the verb goes up, the value is no bound.
_UP_TO: Final = re.compile(
    r"\b(?P<verb>(?:bump|raise|bring|push|move|take|put|increase|lift|pull|set|elevate|go|goes|up)\b[^§.;!?]{0,40}?(?:§c\d+§[^§.;!?]{0,24}?)?) up to (?=§a)"
)


def _in_fewer_words(said: str) -> str:
    said = _UP_TO.sub(r"\g<verb> to ", said)
    for pattern, plainly in _IN_FEWER_WORDS:
        said = pattern.sub(plainly, said)
    return said


_BASE: Final = word_set(
    """
    put give get send take move bring make set change switch turn do have let add pull load reload top topup refill recharge fund credit freeze unfreeze
    block unblock lock unlock suspend pause stop halt close terminate cancel shut deactivate reactivate activate thaw lift remove release raise lower bump
    up increase decrease reduce cut drop cap limit keep hold update replace swap register record log book submit enter file report declare insert use point
    route direct deliver forward text mail email show reveal open unhide uncover unmask display order issue arrange provide sweep empty drain withdraw
    unload return recall claw yank deduct debit transfer shift push throw chuck stick pop drop slap fetch grab reopen reinstate enable disable restore
    connect link assign save edit amend correct fix adjust modify alter apply end undo request grant allow slide park land lodge
    fling sling lob whack bung toss plonk plop shove shoot beam zap flick slot hurl pump funnel channel pour stash spot front lend loan
    advance allot allocate deposit pass extend supply furnish provide inject feed fuel juice boost pad augment replenish wang stump
    drag scoop skim siphon draw pluck snatch whip haul hoover peel strip trim shave recoup reclaim recover retrieve remove extract reverse
    hook tide stand hike crank jack nudge dial knock slash tweak revise introduce impose tighten loosen ditch nuke bin axe scrap ice wake revive unpause
    """
)
_VERB: Final = "|".join(sorted(_BASE, key=len, reverse=True))
#: Somebody is asked, in words before, within or behind what is asked for.
_ASKS: Final = re.compile(
    rf"\b(?:please|pls|plz|kindly|(?:can|could|would|will) (?:you|u|ya|ye|yous|yer|y['’]?all|we|i|it|someone|somebody|anyone)|(?:can|could|would) (?:the|her|his)|gotta|need to|(?:can|could|would|may) §[ac]\d+§ (?:please |now |also )?(?:go|be|have|get|land|come)|you (?:can|may)(?: now| please)? (?:{_VERB})|let['’]?s|let us|let them|(?<=^)need (?=(?:the|our|his|her|this|that) )|should|must|has to|have to|needs? to|ought to|asap|urgent(?:ly)?|immediately|right now|straight away|from now(?: on)?|thx|thanks)\b"
    r"|(?:§c\d+§|\b(?:her|his|their|that|this|the))(?: card)?(?: (?:also|now|still|urgently|really))* (?:needs?|requires?|wants?|could do with|is due|should get|must get|has to get|should have) (?:(?:an?|some|yet) )?(?:another|additional|extra|further|more|§a\d+§ (?:usd |dollars )?(?:more|extra))\b"
    r"|(?:^|[,:–-]\s*)(?:(?:so|and|now|the|our|hi|hello) )*§c\d+§(?: card)? (?:(?:urgently|really|also|still|now) )*(?:needs|requires|is needing|is in need of|could use|could do with|is short (?:of|by)|is short|lacks|is lacking) (?:another |an extra |about )?§a\d+§(?! (?:before|by|in order|or|and)\b)"
    r"|§c\d+§(?: card)? (?:wants|is wanting|is due|is to have|is to get) §a\d+§(?: (?:usd|dollars|more|extra))* (?:on|onto|in) (?:it|there)\b|§a\d+§(?: (?:usd|dollars|bucks))? (?:can|may|should|must|could|has to|needs to)(?: now| please| also| kindly)* (?:come|go|be)\b"
    r"|§c\d+§(?: card)? (?:can|may)(?: now| also| finally| again| please)* (?:be|come|go|get|work)\b(?! (?:used|seen|paid))"
    r"|§a\d+§(?: (?:usd|dollars|bucks))? (?:is |are )?to (?:come|go|be)\b|\b(?:is|are) to (?:be|get|have|receive|go|come|work)\b(?! (?:approved|decided|confirmed|discussed|agreed|signed|announced))"
    r"|\b(?:(?:i am|i['’]m|we are|we['’]re) happy for|it is (?:right|time|good|fair|correct) (?:that|for) you)\b"
    r"|\b(?:i|we)(?:['’]?d| would)?(?: therefore| hereby| kindly| politely| respectfully| also)* (?:need|want|like|love|request|ask|wish|appreciate|require)\b|\b(?:he|she|they|§c\d+§)(?:['’]ll| will)? needs? (?:an? )?(?:top|refill|reload|load|recharge)|\b(?:needs?|wants?) (?:updat|chang|switch|swapp|load|topp|freez|clos|block)\w*ing\b"
)
_LEAD_WORD: Final = word_set(
    """
    hi hello hey hiya morning so and ok okay now just also then well right again card cards of for from on onto to the her his their our my its it this that
    prepaid account all everything what is left stays still remains whatever but only ah oh boy yes thing one mate team bot dear all good 's s both
    purchase payment security verification confirmation codes code threeds online otp numbers number phone complete full whole mark up markup limit daily
    weekly monthly per a an in by with too therefore hence new deposit transfer funding us
    """
)
_VERB_FIRST: Final = re.compile(
    rf"^\W*(?:(?:§[a-z]\d+§(?:['’]s?)?|(?:{'|'.join(sorted(_LEAD_WORD))})(?![\w'’]))[\s\W]*)*?\b(?:{_VERB})\b(?!ing|ed|s\b)",
)
#: Words of a note that has nothing but its values.
_NOTE_WORD: Final = word_set(
    """
    please pls plz thx thanks ta cheers asap now urgent urgently the a an of for on to by in from off with and her his their our it its card cards back
    up out new not freeze freezing frozen unfreeze block lock close closed good ever load loaded topup top refill limit daily weekly monthly day week
    month per max everything number phone codes code threeds email mail sms webhook markup percent full whole complete all digits float again via usd dollars bucks
    """
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
#: Somebody does it, did it, or is to do it, who is not asked.
_DOER: Final = re.compile(
    rf"(?<![\w'’])(?:i|we|he|she|they|who|somebody|someone|nobody|everyone|bob|carol|dave|people|customers?|drivers?|(?:the|our|my|his|her|their|some|these|those) (?!cards?|floats?|limits?|markup|numbers?|phones?|codes?|mark|deposits?|this|always)[a-z]+s)(?:['’](?:ll|ve|d))?(?: (?:just|already|also|now|only|then|will|can|may|might|could|would|should|must|ought|needs?|did|do|does|have|has|had|always|usually|often|never|to|[a-z]+ly))* (?:{_VERB})\b(?! (?:you|u)\b)"
    r"|(?<!have )(?<!get )(?<!see )(?<!want )(?<!like )(?<!need )\b(?:i|we|he|she|they|it|who|which|somebody|someone|bob|carol|dave)(?: (?:just|already|also|only|have|has|had|then|once))* (?:loaded|topped|froze|blocked|locked|closed|paused|suspended|unfroze|unblocked|unlocked|raised|lowered|changed|moved|sent|put|took|gave|set|ordered|submitted|cancelled|added|got|made|pulled|returned|withdrew|unloaded)\b"
    r"|\b(?:is|are|was|were|been|got|gets|being|stays?|remains?) (?:still |already |now |just |only |being )*(?:loaded|topped|frozen|blocked|locked|closed|paused|suspended|unfrozen|unblocked|unlocked|raised|lowered|changed|moved|sent|set|ordered|submitted|cancelled|added|pulled|returned|withdrawn|unloaded|reactivated|terminated)\b"
)
_MAY_SAY_I: Final = re.compile(
    r"\b(?:i|we)(?:['’]?d| would)?(?: therefore| hereby| kindly| politely| respectfully| also| really)* (?:need|want|like|love|request|ask|wish|require)\b(?: (?:you|to|that))*|\b(?:can|could|may|would|should) (?:we|i)\b|\blet (?:us|them|it|her|him)\b"
)


#: Somebody else is made to do it: a name, or any word that says nothing of cards.
_HAS_IT_DONE: Final = re.compile(
    rf"\b(?:make|let|have|get|tell|ask)\s+(?!(?:{'|'.join(sorted(_LEAD_WORD | _NOTE_WORD))}|us|me|him|them|you|u|sure|there|money|rid|everything|somebody's|spending|access)(?![\w'’]))[a-z]+\b(?<!have been)(?<!have had)"
)
#: A guess instead of a sum, a quarrel, a card that is somebody else's, a card that is only to come, what is refused here.
_SPOILS: Final = re.compile(
    r"\b(?:thanks|thank you|thx|cheers|ta) for (?:the|that|this|those|my|his|her|their|our|an?|§)\b|\bplease you\b|#\s*§a|\btop off\b|\bon top of (?!it\b|that\b)|\b(?:on|onto|in|into|to)(?: the| an?)? of\b|\b(?:deactivat|disabl)\w*\b(?=.*\b(?:again|un\w+ed|un\w+en|re-?activated)\b)|\b(?:someone|somebody|anyone|anybody|one|people) (?:[a-z]+ )?(?:should|must|ought|has to|needs to|had better)\b|\b(?:top-?up|load|loading|freeze|block|hold|transfer|refill|limit)(?: (?:of|for|on|to) (?:§[ac]\d+§|it|her|him))* (?:is|was|has|are|were|had)\b(?! to\b)|§a\d+§\s*(?:ish|odd|or so|something|give or take|digits|numbers)\b|\b(?:something like|roughly|about|around|approx\w*|circa|maybe|(?<!spend )(?<!goes )(?<!go )(?<!moves )(?<!move )(?<!going )up to|at least|at most|nearly|almost|some) §a|~\s*§a"
    r"|\b(?:contest\w*|disput\w*|claims?|claiming|fraud\w*|charge-?backs?|refund\w*|complain\w*|reimburs\w*|cvv|cvc|pin|leave)\b"
    r"|\b(?!(?:card|it|that|her|his|what|there|who|he|she)['’])[a-z]+['’]s §c|\b(?:an?|one|new|another|second|additional|extra|further|separate|fresh) (?:new |prepaid |company |extra )*cards?\b|\bstatus\b"
)
#: Words of another kind of request, none of which belongs to this one.
_STATES_SAID: Final = rf"{_THAWS.pattern}|{_FREEZES.pattern}|{_CLOSES.pattern}"
_MONEY_SAID: Final = r"§a|\btop(?:ped|ping)?[ -]?up\b|\btopup\b|\bunload\w*\b|\bload(?:ed|ing)?\b"
_SUMS_SAID: Final = r"\b(?:money|cash|funds|refund\w*|deposits?)\b"
_MORE_SAID: Final = rf"{_LIMITED.pattern}|{_MARKUP.pattern}|{_CODES.pattern}|{_NUMBER.pattern}|\b(?:phone|mobile|sim|number|order|submit)\b"
_OTHERS: Final = {
    **dict.fromkeys(
        ("freeze_card", "unfreeze_card", "close_card"), re.compile(f"{_MONEY_SAID}|{_MORE_SAID}|{_SUMS_SAID}")
    ),
    **dict.fromkeys(
        ("topup_card", "unload_card"),
        re.compile(
            rf"{_STATES_SAID}|{_MORE_SAID}|\b(?:from|out of)\b(?! (?:{_FLOAT}|(?:the |this |that )?(?:card )?(?:of |for )?§c\d+|there|it|her|his|hers|their|now|today|that card|the card|them|him)\b)|\bcollect\b"
        ),
    ),
    "set_limits": re.compile(
        f"{_THAWS.pattern}|{_FREEZES.pattern}|{_MARKUP.pattern}|{_CODES.pattern}|{_ON_VERBS}"
    ),
    "set_markup": re.compile(f"{_STATES_SAID}|{_LIMITED.pattern}|§[cth]"),
    "set_3ds": re.compile(f"{_STATES_SAID}|{_MONEY_SAID}|{_LIMITED.pattern}"),
    "change_phone": re.compile(
        rf"{_STATES_SAID}|{_MONEY_SAID}|{_LIMITED.pattern}|{_MAIL.pattern}|\b(?:order|issue|create)\b"
    ),
    "submit_funding": re.compile(
        rf"{_STATES_SAID}|{_LIMITED.pattern}|§[ctex]|\b(?:check|verify|trac\w+|track\w*|status|where|stuck|pending|arriv\w*|look|happen\w*|news|update|why|when|see|show|find|tell|chas\w+|became|become|confirm\w*|receipt|go through|gone|went|did|receiv\w*|what\w*|how)\b"
    ),
    "reveal_card": re.compile(f"{_STATES_SAID}|{_MONEY_SAID}|{_LIMITED.pattern}|{_MARKUP.pattern}"),
}


#: Its writer asks, at the head of the stretch.
_OUTRIGHT: Final = re.compile(
    rf"^\W*(?:and |so |therefore |hence |then |now |just )*(?:(?:please|pls|plz|kindly|(?:can|could|would|will) (?:you|u|we|i)|let['’]?s|(?:i|we)(?:['’]?d| would)? (?:need|want|like|request|ask)\b|you (?:can|may)) ?|§c\d+§(?:['’]s)?(?: card)? (?:should|must|needs|has to)\b|(?:{_VERB})\b)"
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """`text`: the request in the plainest words, masked, with `⟨card⟩` where its card is named elsewhere; `start`, `end`: the stretch
    that says it; `outright`: its writer asks for it in so many words at its head."""

    text: str
    intent: str
    start: int
    end: int
    outright: bool = False


#: Without one of these no stretch is worth a look.
_KNOWS: Final = re.compile(
    r"§[aht]|wak|disabl|reviv|resurrect|liberat|nuke|ditch|bin\b|zap|trash|empt|drain|sweep|swept|complete|freez|froz|block|lock|suspend|paus|stop|clos|terminat|activ|enabl|thaw|open|hold|ice|working|used|alive|usable|live|digits|number|codes|threeds|everything|rest|balance|left|remain|cancel|shut|kill|delete|retire|gone|for good|for ?ever|permanent|definit|annul|extinguish|scrap|axe|again|back|all of",
    re.IGNORECASE,
)


def asked_by_values(
    text: str, start: int, end: int, *, is_question: bool, today: Sequence[str] = ()
) -> Iterator[Stretch]:
    """What a sentence of a masked text asks for in one of its stretches, the shortest first. `today`: the signs of this day."""
    joints = [found.span() for found in _JOINT.finditer(text, start, end)]
    if len(joints) > _MOST_PIECES:
        return
    if not _KNOWS.search(text, start, end):
        return
    starts = [start, *(at for _, at in joints)]
    ends = [*(at for at, _ in joints), end]
    for joined in range(_MOST_JOINED):
        for number in range(len(starts) - joined):
            here, there = starts[number], ends[number + joined]
            said = text[here:there].lower()
            if not said.strip() or len(said.split()) > _MOST_WORDS:
                continue
            for sign in today:
                said = said.replace(sign, "today")
            intent, asked = _asked(_in_fewer_words(said), is_question=is_question)
            if asked:
                yield Stretch(asked, intent, here, there, outright=_OUTRIGHT.match(said) is not None)


#: Where a second thing to do begins.
_AND: Final = re.compile(
    rf"\s+(?:and|then|also|plus|&|\+)\s+(?:(?:then|also|please|pls|just|so|now|immediately|afterwards) )*(?=(?:{_VERB})\b)"
)
#: Beside the first it is no second thing: a card is ordered and loaded, a card is stopped or gone for good.
_NO_SECOND: Final = frozenset(
    {frozenset({"freeze_card", "close_card"}), frozenset({"freeze_card", "unfreeze_card"})}
)


def asks_for_another(found: Found, reading: Reading) -> bool:
    """Is something else asked for in a message than what was read of it, or the same of another card?"""
    text = found.masked.lower()
    if reading.intent == "order_card":
        return False
    if reading.card is not None and _is_asked_of_another(found, reading):
        return True
    if not _AND.search(text):
        return False
    at = 0
    for joint in [*_STOPS.finditer(text), None]:
        piece = text[at : joint.start() if joint else len(text)]
        at = joint.end() if joint else at
        if not _is_asked(piece, is_question=False):
            continue
        for intent, request in _readings(piece):
            if not request or speaks_against_within(piece, intent):
                continue
            others = [
                one for one in found.inside(piece, "card") if one.value and reading.card not in one.value
            ]
            if others and reading.card is not None:
                return True
            if intent != reading.intent and frozenset({intent, reading.intent}) not in _NO_SECOND:
                return True
    return False


#: Whose request it is, or that it is none, anywhere in a message.
def _is_asked_of_another(found: Found, reading: Reading) -> bool:
    """Does another sentence of a message plainly ask something for another card?"""
    cards = [one for one in found.entities if one.kind == "card" and one.value]
    if all(reading.card in one.value for one in cards):
        return False
    for sentence in _ENDS.split(found.masked):
        others = [
            one for one in found.inside(sentence, "card") if one.value and reading.card not in one.value
        ]
        if others and core_of(sentence[begins_at(sentence) :]) is not None:
            return True
    return False


_ENDS: Final = re.compile(r"[.!?;\n]+(?=\s|$)")
_NOT_MEANT: Final = re.compile(
    r"\b(?:i|i am|i['’]m|im|we|we are|we['’]re) (?:only|just|merely) ask(?:ing)?(?=\W*(?:$|[.;!\n]))|\b(?:just|only) asking(?=\W*(?:$|[.;!\n]))|\b(?:i am|i['’]m|im|we are|we['’]re|just|only) (?:only |just )?testing\b(?! (?:the|a|our|this|new|his|her))|\b(?:(?:asked|asks|begged|told|ordered) (?:us|me)|(?:my|our|the) (?:[a-z]+ )?(?:boss|manager|director|principal|chief|head|ceo|cfo|owner) (?:wants|wanted|asks|asked|insists on)) (?:for )?(?:it|this|that)(?=\W*(?:$|[,.;:!\n]))|\b(?:sayeth|saith|quoth)\b|(?:[.,;!–-]|\b(?:please|pls|thanks|it|him|her|them|now|float)(?= )|§[at]\d+§)\s*(?:said|says) (?!so\b|it\b|that\b)[a-z]+\W*$|\b(?:boss|manager|director|principal|chief|head|ceo|cfo|owner) (?:wants|wanted|asks|asked|insists on) (?:for )?(?:it|this|that) (?:i|we|please)\b|\b(?:we|i|you) must not do (?:it|this|that)\b"
)


#: A negation that stands at the end of a line or a stretch: what it is about comes behind.
_LEFT_HANGING: Final = re.compile(
    r"(?:\b(?:do|does|must|should|shall|can|could|will|would|may)(?: not|n['’]?t)|\bdont|\bcannot|\bnever|\bno need to|\bunder no circumstances"
    r"|\bnobody (?:should|must)|\b(?:forbidden|want|like|supposed|allowed|going) (?:not )?to|\bavoid(?: to)?|\bnot(?: yet)?)(?: ever| please| pls| to)?"
    r"\s*(?:\n|;|:|,\s*(?:please\s+)?(?=\S)|\s[-–—]+\s|\.{2,}|…)\s*(?=\S)"
)


def is_not_meant(masked: str) -> bool:
    """Does a message say that what it asks for is a test, somebody else's request, or not to be done?"""
    text = masked.lower()
    return _NOT_MEANT.search(text) is not None or _LEFT_HANGING.search(text) is not None


_STOPS: Final = re.compile(rf"[.!?;\n]+|{_JOINT.pattern}|{_AND.pattern}", re.IGNORECASE)


def _asked(said: str, *, is_question: bool) -> tuple[str, str]:
    found = [(intent, request) for intent, request in _readings(said) if request]
    if len(found) != 1:
        return "", ""
    intent, request = found[0]
    bare = _SIXTEEN.sub(" ", said)
    if _SPOILS.search(bare) or _HAS_IT_DONE.search(bare) or _OTHERS[intent].search(bare):
        return "", ""
    if not (_is_asked(said, is_question=is_question) or (not is_question and _gives_the_value(said, intent))):
        return "", ""
    if not _is_all_used(said, request) or speaks_against_within(said, intent) or has_a_slip(said):
        return "", ""
    return intent, request


def _is_asked(said: str, *, is_question: bool) -> bool:
    bare = _MAY_SAY_I.sub(" ", said)
    if _DOER.search(bare) or somebody_does(bare):
        return False
    if _ASKS.search(said):
        return True
    if is_question:
        return False
    return _VERB_FIRST.search(said) is not None or all(
        word in _NOTE_WORD for word in _WORD.findall(_SIGN.sub(" ", said))
    )


#: A value that is given so that it be used.
_GIVEN: Final = {
    "set_limits": re.compile(
        r"^\W*(?:(?:hi|hello|and|so|the|our)\b[\s,]*)*(?:new|updated|revised|agreed|changed) (?:spending |card )?limits?\b(?! (?:is|are|was|were|that|which))"
    ),
    "change_phone": re.compile(
        r"\bnew (?:one|number|phone|mobile|cell|sim|line|contact)\b[^.]*\b(?:is|now|:)\W*§t|\bnumber (?:is now|has changed to|changed to)\W*§t|\bnumber(?:['’]?s| is) (?:now )?§t\d+§(?= now\b|[^.]*\b(?:stick|put|pop|add|save|note|set|get|change|update|use) (?:it|that|this)\b)"
    ),
    "submit_funding": re.compile(
        r"\b(?:to submit|to be (?:submitted|booked|registered|recorded)|for submission|to (?:book|register|record|log|file))\b|(?:[,;–-]\s*|\band )(?:please |pls |kindly |so |just )*(?:get|put|take|log|book|enter|record|register|submit|file|add) (?:it|this|that)\b"
    ),
}


def _gives_the_value(said: str, intent: str) -> bool:
    return intent in _GIVEN and _GIVEN[intent].search(said) is not None and not _DOER.search(said)


def _is_all_used(said: str, request: str) -> bool:
    """Is every value of the stretch one of the request, the one that was, or none that counts?"""
    used = set(re.findall(r"§[a-z]\d+§", request))
    was = {found["old"] for found in _WAS.finditer(said)} | {found["x"] for found in _SIXTEEN.finditer(said)}
    cards = re.findall(r"§c\d+§", said)
    if len(cards) > 1 and "§c" in request:
        return False
    return all(
        sign in used or sign in was or (sign[1] == "n" and "§h" in request)
        for sign in re.findall(r"§[a-z]\d+§", said)
        if sign[1] != "m"
    )


#: How a card is now, in a word before it.
_STATE_OF_IT: Final = re.compile(
    r"\b(?:un|re-?)?(?:frozen|freezed|blocked|locked|closed|suspended|paused|disabled|deactivated|activated|enabled|opened|thawed)\s+(?=(?:(?:prepaid|company) )?(?:card|one|plastic|account)\b|§c)"
)


def _readings(said: str) -> Iterator[tuple[str, str]]:
    said = _STATE_OF_IT.sub(" ", said)
    kinds = "".join(_SIGN.findall(said))
    card = found[0] if (found := re.search(r"§c\d+§", said)) else "⟨card⟩"
    if "h" in kinds:
        yield "submit_funding", _funding(said)
        return
    if "e" in kinds or "r" in kinds or "y" in kinds:
        return
    if "t" in kinds:
        yield "change_phone", _phone(said, card)
        return
    if _MARKUP.search(said):
        yield "set_markup", _markup(said)
        return
    if _CODES.search(said) and "a" not in kinds:
        yield "set_3ds", _threeds(said, card)
        return
    if _NUMBER.search(said):
        yield "reveal_card", _reveal(said, card)
        return
    if "a" in kinds and _LIMITED.search(said):
        yield "set_limits", _limits(said, card)
        return
    if "a" in kinds or _ALL.search(said):
        yield from _money(said, card, "a" in kinds)
        return
    yield from _states(said, card)


def _states(said: str, card: str) -> Iterator[tuple[str, str]]:
    thaws = _THAWS.search(said)
    bare = _THAWS.sub(" ", said)
    if thaws:
        if not _FREEZES.search(bare) and not _CLOSES.search(bare):
            yield "unfreeze_card", f"unfreeze {card}"
        return
    closes = _CLOSES.search(said)
    if closes:
        rest = re.sub(r"\bnot (?:only |just |to )?(?:an? )?freez\w*", " ", said)
        if not _FREEZES.search(rest):
            final = re.search(
                r"\b(?:for good|for ?ever|permanent\w*|definitiv\w*|for always|altogether|for keeps|once (?:and )?for all)\b",
                said,
            )
            yield "close_card", f"close {card}{' for good' if final else ''}"
        return
    if _FREEZES.search(said) and not _MAY_THAW.search(said) and not _THE_FREEZE.search(said):
        yield "freeze_card", f"freeze {card}"


#: A slip away from a freeze that is lifted: `open it agaiin from the freeze`.
_MAY_THAW: Final = re.compile(
    r"\b(?:open\w*|ag[a-z]*in|back|releas\w*|free|enabl\w*|activ\w*|alive|usable|(?:from|off|out of|out) (?:the |this |that |her |his )?(?:freez|block|hold|lock|paus|suspen)\w*)\b"
)


#: The freeze that is there: what shall become of it is not said, or was cut off.
_THE_FREEZE: Final = re.compile(
    r"^(?!.*\b(?:put|place|set|apply|slap|start|activate|do|make|need|want)\b).*\b(?:the|that|this|her|his|its) (?:freeze|block|hold|lock|suspension|pause)\b"
)


#: What it shall be is no sum that is moved: a slip took the word for a limit.
_RAISED_TO: Final = re.compile(
    r"\b(?:raise|lower|lift|increase|reduce|set|drop|cut|bump|bring|push)\b(?: (?!§)\S+){0,3} (?:(?:for|of|on) )?§c\d+§ (?:up |down )?to §a|\b(?:raise|lower|lift|increase|reduce|set|cut)\b(?: (?!§)\S+){1,3} to §a"
)


def _money(said: str, card: str, summed: bool) -> Iterator[tuple[str, str]]:
    sums = re.findall(r"§a\d+§", said)
    if len(set(sums)) > 1 or _RAISED_TO.search(said):
        return
    bare = _LIES_ON.sub(" ", said)
    home, away = _TO_FLOAT.search(bare), _FROM_FLOAT.search(bare)
    bare = _FROM_FLOAT.sub(" ", _TO_FLOAT.sub(" ", bare))
    off = bool(home or _OFF.search(bare))
    on = bool(away or _ON.search(bare))
    if off == on or (home and away):
        return
    if off:
        yield "unload_card", f"take {sums[0] if summed else 'everything'} off {card}"
    elif summed:
        yield "topup_card", f"load {sums[0]} onto {card}"


def _limits(said: str, card: str) -> str:
    sums = re.findall(r"§a\d+§", said)
    was = {found["old"] for found in _WAS.finditer(said)}
    new = [one for one in sums if one not in was]
    single = ""
    if _ONE_PURCHASE.search(said):
        if len(new) == 1:
            return f"set the limit per purchase of {card} to {new[0]}"
        ones = {found["a"] or found["b"] for found in _SINGLE.finditer(said)}
        if len(ones) != 1:
            return ""
        (single,) = ones
        new = [one for one in new if one != single]
        said = _SINGLE.sub(" ", said)
    elif not _LIMIT_WORD.search(said):
        return ""
    pairs = [(found["u"] or found["v"], found["a"] or found["b"]) for found in _PAIR.finditer(said)]
    units = {}
    for unit, amount in pairs:
        units[{"day": "daily", "week": "weekly", "month": "monthly"}.get(unit, unit)] = amount
    if len(new) == 1 and not pairs:
        named = set(re.findall(r"\b(?:daily|weekly|monthly|day|week|month)\b", said))
        if len(named) != 1:
            return ""
        unit = named.pop()
        units = {{"day": "daily", "week": "weekly", "month": "monthly"}.get(unit, unit): new[0]}
    if sorted(units.values()) != sorted(new) or not new:
        return ""
    if single:
        units["per transaction"] = single
    if len(units) == 1:
        unit, amount = next(iter(units.items()))
        return f"set the {unit} limit of {card} to {amount}"
    return f"set the limits of {card}: " + ", ".join(f"{unit} {amount}" for unit, amount in units.items())


def _phone(said: str, card: str) -> str:
    phones = re.findall(r"§t\d+§", said)
    if len(phones) != 1 or not _NEW.search(said):
        return ""
    if not _PHONE.search(said) and (_REACHED.search(said) or not _OF_A_CARD.search(said)):
        return ""
    return f"change the phone number of {card} to {phones[0]}"


#: A number that is called, or to which something is sent, is not the one to write down.
_REACHED: Final = re.compile(
    r"\b(?:call\w*|ring|rang|text\w*|sms|whatsapp|message\w*|dial\w*|phone|contact|reach\w*|fax|send|sent|forward|give|pay|top|load|limit\w*|order|issue|transfer)\b"
)
_OF_A_CARD: Final = re.compile(
    r"(?:against|on|for|to|of) (?:§c\d+§|(?:her|his|their|that|this|the) card)|§c\d+§|\bcorrect it to\b"
)


def _threeds(said: str, card: str) -> str:
    bare = _NOT_THERE.sub(" ", said)
    to = [
        word
        for word, pattern in (("to our webhook", _WEBHOOK), ("to email", _MAIL), ("by sms", _TEXTED))
        if pattern.search(bare)
    ]
    return f"send the threeds codes of {card} {to[0]}" if len(to) == 1 else ""


def _markup(said: str) -> str:
    was = {found["old"] for found in _WAS.finditer(said)}
    new = [one for one in re.findall(r"§a\d+§", said) if one not in was]
    return f"set the markup to {new[0]}" if len(new) == 1 else ""


def _funding(said: str) -> str:
    hashes = re.findall(r"§h\d+§", said)
    if len(hashes) != 1 or not _SUBMITS.search(said):
        return ""
    networks = re.findall(r"§n\d+§", said)
    if len(networks) > 1:
        return ""
    return f"submit funding {hashes[0]}{f' on {networks[0]}' if networks else ' ⟨network⟩'}"


_SEES: Final = re.compile(r"\b(?:see|view\w*|uncover|unmask|unhide|display|reveal\w*|open|show)\b")


def _reveal(said: str, card: str) -> str:
    if not _SEES.search(said):
        return ""
    return f"show me the full card number of {card} by secure link"


__all__ = ["Stretch", "asked_by_values", "asks_for_another", "is_not_meant"]
