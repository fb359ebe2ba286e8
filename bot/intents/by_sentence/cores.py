"""What a request says at its heart: a verb of a closed list, its card, its value. `block May's card`, `load 90 onto 3205`.

`core_of` finds one at the very beginning of a masked sentence whose courtesies were taken off, and gives it in the plainest
words, with where it ends. What follows is no part of it: it has to begin like something said beside it, never like the rest of a
name for another thing (`lock May's phone`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_A: Final = r"§a\d+§"
_OF_CARD: Final = r"(?:(?:the |that |this |his |her |their |our |company |prepaid |virtual |physical |plastic |said |above |same |old |other )*(?:(?:card|prepaid|account|plastic|one)(?: no\.?| number)?(?: (?:of|for|no\.?|number|nr\.?|ending(?: in| with)?|with (?:the )?(?:last )?(?:4 |four )?digits|with (?:the )?ending|belonging to|held by|name|in (?:the )?name of))* )?(?:ending (?:in |with )?)?(?:mr\.? |ms\.? |mrs\.? |dr\.? |colleague )?)"
#: A card by its name, or by a word that points at it.
_O: Final = rf"(?P<c>{_OF_CARD}§c\d+§(?:['’]s|['’]|s(?= card))?(?: (?:prepaid |virtual |company |physical )?(?:card|prepaid|plastic|account))?(?: (?:madam|sir|ji))?(?:['’]s(?: card)?)?|(?:his|her|their|the|that|this|said) (?:prepaid |company |old |virtual )?(?:card|prepaid|plastic)|it|him|her(?! (?!phone|mobile|number|daily|weekly|monthly|limit)[a-z])|them)"
#: A card that is to be let go, by how it is now.
_FROZEN: Final = _O.replace(
    "(?P<c>", "(?P<c>(?:(?:please|pls|kindly) )?(?:(?:the |that )?(?:frozen|blocked|locked) )?"
).replace("(?: (?:prepaid |virtual", "(?: (?:frozen |blocked |locked )?(?:prepaid |virtual")
_USD: Final = r"(?: (?:usd|dollars|bucks|dollar|us dollars))?"
_MORE: Final = r"(?:(?:an? |the )?(?:extra|further|additional|another|fresh|exactly|just|some|only|sum of|amount of|total of|flat|quick|even|about the same) )*"
_SUM: Final = rf"{_MORE}(?P<a>{_A}){_USD}(?: (?:extra|more|only|exactly|additional))*"
_ADV: Final = r"(?: (?:back|again|now|please|up|out|off|down|over|across|in|straight|right|immediately|asap|also|only|today))*"
_FLOAT: Final = r"(?:(?:the |our |my |company |company's |companys |main |prepaid |master |general |business |deposit |central )*(?:float|pool|pot|account|wallet|balance|treasury))"
_FOR_GOOD: Final = r"(?:for good|permanently|forever|for ever|for always|always|fully|completely|definitively|once and for all|once for all|altogether|finally|for keeps|irrevocably|no way back|with no way back|without return)"
_UNIT: Final = r"(?:(?:per|a|each|every|/|in a|by|the|one)\s*(?P<u>day|week|month)|(?P<v>daily|weekly|monthly)(?! (?:and|or)\b))"
_LIMIT: Final = r"(?:spending |spend |card |usage |purchase )?(?:limits?|cap|ceiling|max|maximum|allowance)"
_NUMBER: Final = r"(?:full |whole |complete |entire |long |real |16[- ]digit |actual )*(?:card )?(?:numbers?|digits|no\.?|nr\.?)"
_LINK: Final = r"(?:the |a |that |your |its |one )?(?:private |secure |secured |safe |viewing |view |one-time |reveal |special )*link"
_TO: Final = r"(?:to|onto|on to|on|into|in|for|towards|over to|across to|at)"
#: A card by its reference or digits, before its verb: `nora-h close`.
_FIRST: Final = r"(?P<first>§c\d+§)(?: card)?[,:]? (?:please |pls |plz |kindly |now )*"
_LAST: Final = (
    r"(?: (?:now|asap|rn|immediately|please|pls|plz|urgent|urgently|quick|thx|thanks))*(?=\W*$|\W*[.!;,])"
)
#: What a company adds to deposits, by all its names.
_MARKUP: Final = r"(?:(?:the |our |my |company'?s? |that |this |deposits? )*mark-? ?up(?: (?:on|for|of) (?:the )?(?:deposits?|cards|loads?|route|top-?ups?))?|(?:the |our |my |company'?s? )*(?:margin (?:on|for|of) (?:the |our )?(?:deposits?|loads?|top-?ups?)|(?:top-?up|deposit) margin)|(?:the |our |that |company'?s? )*(?:additional |extra |added |on-top )?(?:percentage|percent|per cent|margin|surcharge|commission|%)(?: (?:which|that|what))? (?:the )?(?:company|we|you|it) (?:adds?|puts?|charges?|keeps?|takes?|apply|applies|levy|levies)(?: on)?(?: top)?(?: (?:of|on|to) (?:the |our |each |every )?(?:cards?|deposits?|loads?))?|(?:the |our |company'?s? )*(?:additional|extra|added|on-top) (?:percentage|percent|per cent|margin)(?: (?:on|for) (?:the |our )?(?:cards|deposits?|loads?))?|(?:the |our |company'?s? |that )*(?:percentage|percent|per cent|%) on top(?: of (?:it|(?:the )?(?:deposits?|loads?|cards?)))?|what we (?:add|put|charge)(?: on)? top(?: of (?:it|deposits?|the deposits?))?)"
_BE: Final = r"(?:should|must|has to|have to|is to|needs to|ought to|may|can|could|to|shall|will have to|would need to|might)(?: please| kindly| now| also| therefore| immediately)* (?:be|get)"

#: `arrange that …`, `see to it that …`: what stands behind it is requested.
_LET: Final = r"(?:(?:arrange|ensure|make sure|make certain|see to it|see|take care|look to it|it is necessary|it's necessary|it is required|(?:i|we)(?: would|['’]d) (?:be |feel |very |most |much |so )*(?:obliged|grateful|thankful|glad|happy|pleased) if|(?:i|we)(?: would|['’]d) need|(?:i|we) ask(?: you| kindly)?|we need|i need|we would like|i would like|i'd like|we'd like|i want|we want|i wish|i request|we request)(?: it)?(?: that)? )"
_IS: Final = r"(?:is|are|comes?|gets?|be|can be|could be|will be|shall be|should be|may be|must be|being)(?: please| kindly| now| again| immediately| temporarily| first| already)*"
_SENT: Final = r"(?:transferred|transfered|sent|moved|put|loaded|booked|paid|paid in|added|credited|given|placed|brought|wired|topped up|deposited|allocated|released)"
_TAKEN: Final = r"(?:taken|moved|transferred|transfered|pulled|withdrawn|returned|brought|recalled|unloaded|removed|deducted|debited|drawn|sent|swept|booked|put)"
_PLEASE: Final = r"(?:,? ?(?:please|pls|plz|kindly|can you|could you|would you|will you|i would like to|i'd like to|we would like to|we'd like to|i want to|we want to|i need to|we need to|you can|you may)(?: please| pls| kindly)? |,? )"
_HOME: Final = rf"(?:{_ADV} (?:(?:in)?to|onto|in|on|for) (?:the |our )?{_FLOAT}|,? (?:and|then) (?:booked|put|sent|brought|returned|moved|paid|transferred|given|credited)(?: back| home| over)* (?:(?:in)?to|onto|in|on) (?:the |our )?{_FLOAT})"

#: Pattern at the beginning -> the same in the plainest words.
_ROWS: Final = tuple(
    (re.compile(rf"(?:{pattern})(?![\w'’-])", re.IGNORECASE), ours)
    for pattern, ours in (
        # With the card first, or in a clause of its own.
        (
            rf"(?:from|off|out of) {_O}{_PLEASE}(?:take|pull|draw|unload|withdraw|move|transfer|return|bring|recall|get|send|claw|sweep|deduct){_ADV} {_SUM}{_HOME}?",
            "take {a} off {c}",
        ),
        (
            rf"(?:on|onto|on to|to|for|into) {_O}{_PLEASE}(?:load|put|add|send|give|transfer|book|top[ -]?up|top|move|place|credit|deposit|wire|chuck){_ADV} {_SUM}(?: (?:from|out of) (?:the |our )?{_FLOAT})?",
            "load {a} onto {c}",
        ),
        (rf"{_LET}{_SUM} {_IS} {_TAKEN}{_ADV} (?:off|from|out of|off of) {_O}{_HOME}?", "take {a} off {c}"),
        (rf"{_LET}{_SUM} {_IS} {_TAKEN}{_HOME} (?:off|from|out of) {_O}", "take {a} off {c}"),
        (
            rf"{_LET}{_SUM} {_IS} {_SENT}{_ADV}(?: from (?:the |our )?{_FLOAT})? (?:to|onto|on|on to|into|for) {_O}",
            "load {a} onto {c}",
        ),
        (
            rf"{_LET}{_O} (?:{_IS} (?:loaded|topped[ -]up|recharged|refilled|funded|credited|charged up) (?:with|by)|gets?|receives?|has) {_SUM}(?! (?:limit|a day|per))",
            "load {a} onto {c}",
        ),
        (rf"{_LET}{_O} {_IS} (?:frozen|blocked|locked|suspended|paused|put on hold|stopped)", "freeze {c}"),
        (
            rf"{_LET}{_O} (?:{_IS} (?:unfrozen|unblocked|unlocked|reactivated|re-activated|activated again|released|usable again|active again|back on|switched back on|turned back on|opened again|reopened)|works again|can be used again)",
            "unfreeze {c}",
        ),
        (
            rf"{_LET}(?:the |that )?(?:freeze|block|hold|lock) (?:on|of|for|from) {_O} {_IS} (?:lifted|removed|released|taken off|undone|ended)",
            "unfreeze {c}",
        ),
        (
            rf"(?:the |that )?(?:freeze|block|hold|lock|suspension) (?:up)?(?:on|of|for|from) {_O} (?:can|may|should|must|has to|needs to|is to|could)(?: now| please| kindly| therefore)* be (?:lifted|removed|released|taken off|undone|ended|withdrawn)",
            "unfreeze {c}",
        ),
        (
            rf"{_LET}{_O} {_IS} (?:put|set|brought|placed) (?:again|back)(?: again)? (?:in|into|to) (?:function|use|service|operation|work)",
            "unfreeze {c}",
        ),
        (
            rf"(?:put|set|bring|place) (?:again |back )?{_O} (?:again|back)(?: again)? (?:in|into) (?:function|use|service|operation)",
            "unfreeze {c}",
        ),
        (rf"{_LET}{_O} {_IS} restored", "unfreeze {c}"),
        (
            rf"release {_O} from (?:the |its |her |his )?(?:freeze|freezer|block|hold|lock|ice)",
            "unfreeze {c}",
        ),
        (
            rf"(?P<c>{_OF_CARD}§c\d+§(?: card)?) {_BE} (?:released|freed|taken) (?:from|off|out of) (?:the |its |her |his )?(?:freeze|freezer|block|hold|lock|ice)",
            "unfreeze {c}",
        ),
        (
            rf"(?P<c>{_OF_CARD}§c\d+§(?: card)?) (?:can|may|should|must)(?: now| please)? (?:go|be|come) (?:live|active|back (?:to (?:being )?(?:active|normal|work|life)|on|in use|in service|in action|online)|online)(?: again)?",
            "unfreeze {c}",
        ),
        (rf"(?:let|allow) {_O} (?:to )?(?:work|run|live|function|be used|go live) again", "unfreeze {c}"),
        (
            rf"{_LET}{_O} {_IS} (?:closed|terminated|cancelled|canceled|deactivated|annulled|extinguished|eliminated|revoked|deleted)(?: down)? {_FOR_GOOD}",
            "close {c} for good",
        ),
        (rf"{_LET}{_O} {_IS} (?:closed|terminated)", "close {c}"),
        (
            rf"{_LET}{_O} (?:has|gets|is given|receives) (?:an? |the )?(?:new )?(?P<u>daily|weekly|monthly) {_LIMIT} of (?P<a>{_A})",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"{_LET}(?:the )?(?P<u>daily|weekly|monthly) {_LIMIT} (?:of|for|on) {_O} {_IS} (?:set|raised|lowered|increased|reduced|changed|brought|put|cut|limited)(?: up| down)? to (?P<a>{_A})",
            "set the {u} limit of {c} to {a}",
        ),
        # Off a card, before what puts money on one.
        (
            rf"(?:recall|reverse|pull|retrieve|recover|claw|withdraw|draw|sweep|return|retransfer|bring|take|unload|reclaim|remove|retire|move|fetch|transfer|get|deduct|yank|send|debit|put|have|skim|shift|deduct|grab){_ADV} (?:the |an? |my )?(?:sum of |amount of |unspent |unused |remaining |spare |left ?over |extra )*(?P<a>{_A}){_USD}{_ADV} (?:out of|off of|off|from|out from) {_O}(?:{_ADV} (?:(?:in)?to|onto|in|for) {_FLOAT}|,? (?:and|then) (?:please )?(?:give|put|send|bring|return|move|pay|book|transfer) (?:it|them|that|this)(?: back| home| over)* (?:(?:in)?to|onto|in) {_FLOAT})?",
            "take {a} off {c}",
        ),
        (
            rf"(?:recall|reverse|pull|retrieve|recover|claw|withdraw|draw|bring|take|move|get|return|send|transfer|sweep|put) {_SUM} of (?:it|that|them|this|the money)(?: back| home)* (?:(?:in)?to|onto) {_FLOAT}",
            "take {a} off {c}",
        ),
        (
            rf"(?:recall|reverse|pull|retrieve|recover|claw|withdraw|draw|bring|take|unload|reclaim|remove|move|fetch|transfer|get|deduct|send|debit|sweep){_ADV} (?:from|off|out of) {_O} (?:the |an? )?(?:sum of |amount of |unspent |unused )*(?P<a>{_A}){_USD}(?:{_ADV} (?:(?:in)?to|onto) {_FLOAT})?",
            "take {a} off {c}",
        ),
        (
            rf"(?:pull|take|get|draw) (?:off|out|back) {_SUM},? (?:and|then) (?:please )?(?:give|put|send|bring|return|move|pay|book) (?:it|them|that|this)(?: back| home| over)* (?:(?:in)?to|onto|in) {_FLOAT}",
            "take {a} off {c}",
        ),
        (
            rf"(?:unload|debit|deduct|lighten|relieve|reduce|drain) {_O} (?:by|of|with|for) (?P<a>{_A}){_USD}",
            "take {a} off {c}",
        ),
        (
            rf"(?:empty|drain|sweep|clear out|empty out|zero out|unload everything (?:from|off)|take everything off|take (?:all|everything|the whole balance|the full balance|whatever is left|what is left|what's left|the rest) (?:back )?(?:off|from|out of)|(?:unload|return|bring back|pull|move|recall|sweep|withdraw|transfer|get) (?:the )?(?:whole|full|entire|remaining|complete|rest of the|leftover|unused) (?:balance|amount|money|funds)(?: back)? (?:off|from|of|on|out of)) {_O}(?:{_ADV} (?:(?:in)?to|onto|in) {_FLOAT})?",
            "take everything off {c}",
        ),
        (
            rf"(?:empty|drain|sweep)(?: (?:completely|fully|entirely|wholly))? {_O}(?: (?:completely|fully|entirely))?{_HOME}",
            "take everything off {c}",
        ),
        (
            rf"(?:everything|all(?: of)?(?: (?:the|its|his|her|their))?(?: (?:money|funds|balance|rest|cash))?)(?: (?:that['’]?s?|which|what['’]?s|is|was|left|remaining|still|there))* (?:on|of|from|off|in) {_O}{_HOME}",
            "take everything off {c}",
        ),
        (
            rf"(?:everything|all(?: of)?(?: (?:the|its|his|her|their))?(?: (?:money|funds|balance|rest|cash))?)(?: (?:that['’]?s?|which|what['’]?s|is|was|left|remaining|still|there))* (?:on|of|from|off|in) {_O} (?:goes|has to go|must go|should go|to go|shall go){_HOME}(?=\W+(?:please|pls|plz|kindly|now|thanks|thx)\b)",
            "take everything off {c}",
        ),
        (rf"{_FIRST}(?:all|everything|the lot|the rest){_HOME}", "take everything off {c}"),
        (
            rf"all(?: of)? {_O} (?:money|funds|balance|cash){_HOME}",
            "take everything off {c}",
        ),
        (rf"{_SUM} back (?:in)?to {_FLOAT} (?:from|off|out of) {_O}", "take {a} off {c}"),
        (
            rf"(?:take|get|pull|bring|draw|move|transfer|return|send) back {_SUM}(?: (?:which|that) (?:is|are|was|were))?(?: still)? (?:left|remaining|unused|unspent) on {_O}(?:{_ADV} (?:(?:in)?to|onto|in) {_FLOAT})?",
            "take {a} off {c}",
        ),
        # Onto a card.
        (
            rf"(?:load|release|extend|allot|transfer|push|spot|chuck|whack|stick|pop|sling|bung|drop|shoot|wire|credit|provide|throw|pump|inject|deposit|put|add|give|send|book|place|move|get|top ?up|topup|slap|lob|stash|shove|allocate|fund|remit|sanction|grant|shift|have|gimme)(?: (?:me|us))?{_ADV} {_SUM}(?:{_ADV} from {_FLOAT})?{_ADV} {_TO} {_O}",
            "load {a} onto {c}",
        ),
        (
            rf"(?:load|fund|credit|top|topup|refill|recharge|reload|replenish|feed|supply|provide|stock|equip|fill|hook|sort|furnish)(?:[ -]?up)? {_O}(?:['’]s)?(?: balance)?{_ADV} (?:with|by|for) {_SUM}",
            "load {a} onto {c}",
        ),
        (
            rf"(?:give|send|get|lend|spot|hand|pass|advance|grant|slip|throw|wire|allow|top[ -]?up|topup|load|fund|refill|recharge|reload|credit|loan) {_O} {_SUM}",
            "load {a} onto {c}",
        ),
        (rf"(?:increase|raise|bump up|boost) {_O} by {_SUM}", "load {a} onto {c}"),
        (
            rf"(?P<c>{_OF_CARD}§c\d+§(?: card)?) (?:please |pls )?(?:give|load|add|put|topup|top[ -]up|needs? topping up (?:with|by)|{_BE} (?:loaded|topped[ -]up|funded|credited|recharged) (?:with|by)) {_SUM}",
            "load {a} onto {c}",
        ),
        (
            rf"(?:a )?(?:top[ -]?up|topup|load|loading|recharge|refill|reload) (?:of |for |with |by )*{_SUM} {_TO} {_O}",
            "load {a} onto {c}",
        ),
        (
            rf"(?:a )?(?:top[ -]?up|topup|recharge|refill) (?:for|of|on|to) {_O}(?: (?:of|by|with|for)|:|,) {_SUM}",
            "load {a} onto {c}",
        ),
        (
            rf"{_SUM} (?:onto|on|to|for|into) {_O}(?=\W+(?:(?:right |straight )?(?:now|away)|please|pls|plz|kindly|asap|rn|thx|thanks|urgent(?:ly)?|immediately|quick(?:ly)?)\b)",
            "load {a} onto {c}",
        ),
        (
            rf"{_SUM} (?:off|off of|back from|back off) {_O}(?=\W+(?:(?:right |straight )?(?:now|away)|please|pls|plz|kindly|asap|rn|thx|thanks|urgent(?:ly)?|immediately|quick(?:ly)?)\b)",
            "take {a} off {c}",
        ),
        (rf"{_SUM} (?:onto|into) {_O}", "load {a} onto {c}"),
        (
            rf"(?P<c>{_OF_CARD}§c\d+§(?: card)?) (?:needs?|requires?) {_SUM} (?:loaded|added|topped up|put on|credited|transferred)",
            "load {a} onto {c}",
        ),
        (
            rf"(?:(?:i |we )?(?:gotta|got to|have to|need to|must) )?(?:get|give) {_O} {_SUM} on (?:her|his|their|the|that) card",
            "load {a} onto {c}",
        ),
        (
            rf"(?:do|make|arrange|process|initiate|execute|perform|book) (?:an? |the )?(?:transfer|top[ -]?up|topup|load|loading|recharge) (?:of |for |with |by )*{_SUM} {_TO} {_O}",
            "load {a} onto {c}",
        ),
        (
            rf"(?:can|could|may|might) {_O} (?:please |pls |kindly )?(?:have|get|receive|be given|be loaded with|be topped up (?:with|by)) {_SUM}(?=[^.?!]*\b(?:please|pls|plz|kindly)\b)",
            "load {a} onto {c}",
        ),
        # In use again, before what stops a card.
        (
            rf"(?:lift|remove|release|undo|revoke|end|withdraw|clear|take off|take away|cancel|drop|reverse) (?:the |that |this |its |his |her )*(?:freeze|block|hold|lock|suspension|pause) (?:on|from|of|for|off|placed on|put on) {_O}",
            "unfreeze {c}",
        ),
        (
            rf"(?:take|get|remove|lift|clear) (?:the |that |this )(?:freeze|block|hold|lock|suspension|pause) (?:off|away|back)(?: (?:of|from|on|for))? {_O}",
            "unfreeze {c}",
        ),
        (
            rf"(?:unfreeze|un-freeze|unblock|un-block|unlock|un-lock|defreeze|de-freeze|deblock|unhold|unsuspend|unpause|revive|reopen|re-open|restore|reinstate|reactivate|re-activate|reenable|re-enable|thaw|thaw out|defrost|release|resume) {_FROZEN}(?: (?:again|back))*(?! (?:limit|balance|number))",
            "unfreeze {c}",
        ),
        (
            rf"(?:activate|enable|open|open up|make active|switch on|turn on|switch|turn) {_O} (?:back on|on again|again|once more|back up)(?: again)?",
            "unfreeze {c}",
        ),
        (rf"activate again {_O}", "unfreeze {c}"),
        (
            rf"(?:(?:i|we)(?:['’]d| would)? )(?:like|want|need|wish)(?: that)? {_O} (?:to )?(?:works?|functions?|be active|be usable|is active|is usable|be live|runs?|be in use) again",
            "unfreeze {c}",
        ),
        (
            rf"(?:make|get|set|put|bring|have|turn|switch) {_O} (?:active|usable|live|working|operational|operative|up and running|back in (?:use|service|action)|back to (?:life|active|work|normal|work(?:ing)?)|back on|back online|running|going|alive)(?: again)?",
            "unfreeze {c}",
        ),
        (
            rf"(?P<c>{_OF_CARD}§c\d+§(?: card)?) {_BE} (?:unfrozen|unblocked|unlocked|reactivated|re-activated|restored|released|reopened|opened again|activated again|made active again|defrosted|switched back on|turned back on)",
            "unfreeze {c}",
        ),
        (
            rf"(?:(?:i|we)(?:['’]d| would)? )?(?:like|need|want|have|get) {_O} (?:to be )?(?:unfrozen|unblocked|unlocked|reactivated|live again|active again|working again|back on|switched back on|turned back on)",
            "unfreeze {c}",
        ),
        (
            rf"(?:let|allow) {_O} (?:to )?(?:use|pay with|spend with) (?:(?:his|her|their|the|that) (?:card|prepaid)|it) again",
            "unfreeze {c}",
        ),
        (rf"(?:free|free up|liberate) {_O} (?:up )?again", "unfreeze {c}"),
        # Closed for good, before what only stops it.
        (
            rf"(?:cancel|annul|extinguish|eliminate|deactivate|discontinue|shut down|shut|terminate|close|close down|end|retire|kill|scrap|wind up|delete|remove|dissolve|get rid of|dispose of) {_O}(?: down)?(?:,? (?:please|pls|plz|asap|ta|thx|thanks|mate))?[.,;–-]* {_FOR_GOOD}",
            "close {c} for good",
        ),
        (
            rf"(?:cancel|deactivate|discontinue|shut down|shut|terminate|close|close down|end|retire|kill|scrap) {_FOR_GOOD} {_O}",
            "close {c} for good",
        ),
        (
            rf"{_FIRST}(?:close|cancel|terminate|deactivate|shut down|shut|kill),? {_FOR_GOOD}",
            "close {c} for good",
        ),
        (rf"{_FIRST}(?:close|terminate){_LAST}", "close {c}"),
        (
            rf"{_FIRST}(?:unfreeze|un-freeze|unblock|un-block|unlock|un-lock|reactivate|re-activate|unsuspend){_LAST}",
            "unfreeze {c}",
        ),
        (rf"{_FIRST}(?:freeze|block|lock|suspend|pause){_LAST}", "freeze {c}"),
        (
            rf"(?:for good|permanently|definitively|fully|completely) (?:cancel|deactivate|discontinue|shut down|shut|terminate|close|end|retire|kill|scrap|delete) {_O}",
            "close {c} for good",
        ),
        (
            rf"(?P<c>{_OF_CARD}§c\d+§(?: card)?) {_BE} (?:cancelled|canceled|deactivated|discontinued|shut down|terminated|closed|retired|closed down)(?: down)? {_FOR_GOOD}",
            "close {c} for good",
        ),
        (
            rf"(?:(?:i|we)(?:['’]d| would)? )?(?:like|need|want|have|get) {_O} (?:to be )?(?:cancelled|canceled|deactivated|discontinued|shut down|terminated|closed) {_FOR_GOOD}",
            "close {c} for good",
        ),
        (
            rf"(?:(?:i|we)(?:['’]d| would)? )?(?:like|need|want|have|get) {_O} (?:to be )?(?:terminated|closed)",
            "close {c}",
        ),
        (
            rf"(?:(?:i|we)(?:['’]d| would)? )?(?:like|need|want|have|get) {_O} (?:to be )?(?:frozen|blocked|locked|suspended|paused|put on hold)",
            "freeze {c}",
        ),
        (
            rf"(?:terminate|close|close out|close down|shut down|decommission|retire) {_O}(?: down)?",
            "close {c}",
        ),
        # Stopped.
        (
            rf"(?:freeze|block|lock|suspend|pause|freeze up|lock down|immobili[sz]e|put (?:a |an |the )?(?:temporary |quick |immediate )*(?:freeze|block|hold|lock|stop|pause) on|place (?:a |an |the )?(?:temporary |quick )*(?:freeze|block|hold|lock|stop) on|slap (?:a )?(?:freeze|block|hold|lock) on) (?:immediately |temporarily |quickly |now )?{_O}(?: (?:down|temporarily|immediately))*",
            "freeze {c}",
        ),
        (
            rf"(?:stop|block|disable|restrain|prevent) {_O} (?:from (?:working|being used|spending|paying|any (?:more |further )?(?:use|spend|spending))|for the time being|temporarily|for now|for the moment)",
            "freeze {c}",
        ),
        (
            rf"(?:keep|put|place|hold|have|set|move) {_O} (?:in|on|under|into|to) (?:a |the |an )?(?:temporary |quick )*(?:frozen|freeze|blocked|suspended|suspension|hold|locked|lock|ice|block|pause)(?: (?:status|state|mode|condition))?",
            "freeze {c}",
        ),
        (
            rf"(?P<c>{_OF_CARD}§c\d+§(?: card)?) {_BE} (?:temporarily )?(?:frozen|blocked|locked|suspended|paused|put on hold|stopped)",
            "freeze {c}",
        ),
        (
            rf"(?:halt|stop|suspend|pause|block|prevent) (?:the |any |all )*(?:further |more )?(?:use|usage|spending) (?:of|on|with) {_O}",
            "freeze {c}",
        ),
        (rf"(?:freeze|block|lock|stop) temporar(?:y|ily) (?:on|for) {_O}", "freeze {c}"),
        (rf"park {_O} (?:for now|for the moment|for the time being|temporarily)", "freeze {c}"),
        # Codes.
        (
            rf"(?:turn on|switch on|flip on|activate|enable|start|set up|setup|enrol|enroll|put on|get|put|add|arrange|configure|set) (?:the )?(?:threeds|secure code)(?: (?:verification|authentication|security|enrolment|set up|setup|on|active|activated|enabled|working|going|running))* (?:on|for|in|at|of|to) {_O}",
            "enable threeds for {c}",
        ),
        (
            rf"(?:turn|switch|flip|put|get|set) (?:the )?(?:threeds|secure code)(?: (?:verification|authentication|security))? (?:back )?on (?:on|for|in|at|of|to) {_O}",
            "enable threeds for {c}",
        ),
        (
            rf"(?:get|have|set up|enable|turn on) {_O} (?:set up |enrolled |registered )?(?:for|in|into|with|on) (?:the )?threeds",
            "enable threeds for {c}",
        ),
        (
            rf"(?:enrol|enroll|register|sign up) {_O} (?:in|for|to|into|with|on) (?:the )?threeds",
            "enable threeds for {c}",
        ),
        (
            rf"(?:arrange that|arrange|make|make sure|make sure that|make it so(?: that)?|have|get|see (?:to it )?that|ensure|ensure that|let|send|route|direct|push|forward|point|deliver|move|switch|redirect|start sending|send over|have all) (?:the |that |those |all |its |her |his |of )*(?:threeds |online |purchase |verification |verify |secure |security |otp |sms |payment |shopping |one-time |confirmation |authentication )*(?:codes?|otps?|passwords?)(?: (?:from|of|for|on))? {_O}(?: (?:to|should|must|will|now|please|also))*(?: be)?(?: (?:come|comes|go|goes|going|delivered|sent|routed|pushed|land|arrive|directed))? (?:in)?to (?:the |our |company |company's |this |that )*(?:webhook|endpoint|hook)",
            "send the purchase codes of {c} to our webhook",
        ),
        (
            rf"(?:send|route|direct|push|forward|point|deliver|move|switch|redirect|start sending) {_O}(?:['’]s)? (?:threeds |online |purchase |verification |secure |security |otp |sms |payment |one-time )*(?:codes?|otps?|passwords?)(?: over)? (?:in)?to (?:the |our |company |company's )*(?:webhook|endpoint|hook)",
            "send the purchase codes of {c} to our webhook",
        ),
        (
            rf"(?:send|route|direct|push|forward|point|deliver|move|switch|redirect|set|put|change) {_O} (?:over )?(?:in)?to (?:the |our |company |company's )*(?:webhook|endpoint|hook)(?: for (?:the |its |her |his |all )*(?:threeds |online |purchase |verification |secure |security |otp |sms |payment |shopping |one-time |confirmation )*(?:codes?|otps?|passwords?))?",
            "send the purchase codes of {c} to our webhook",
        ),
        (
            r"(?P<first>§c\d+§)(?:['’]s)?(?: card)?(?:\s*[-–—:,]+)? (?:all |the |its )*(?:threeds |online |purchase |verification |secure |security |otp |sms |payment |shopping |one-time |confirmation )*(?:codes?|otps?|passwords?) (?:go )?(?:in)?to (?:the |our |company |company's )*(?:webhook|endpoint|hook)(?=\W+(?:please|pls|plz|thx|thanks|asap|now)\b|\W*$)",
            "send the purchase codes of {c} to our webhook",
        ),
        # Limits.
        (
            rf"(?:cap|limit|restrict|hold|keep|bring|drop|take|move|put|set|raise|lower|bump|up|increase|reduce|cut|lift|change|adjust) {_O}(?:['’]s)?(?: {_LIMIT})?(?: (?:down|up|back|spend|have|go up|go))*(?: (?:to|at|on|with|of|only|a max(?:imum)? of|no more than|not more than|up to))* (?P<a>{_A}){_USD}\s*{_UNIT}",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"(?:reduce|diminish|lower|cut|raise|elevate|increase|enhance|bump|bump up|lift|revise|change|set|make|put|drop|bring|take|move|adjust|fix|amend|push|get|keep|cap|up|have|update|edit)(?: down| up| back)* (?:the |a |an |new )*(?:per )?(?P<u>daily|weekly|monthly|day|week|month)(?:['’]s)? {_LIMIT}(?: down| up)?(?: (?:of|for|on|at|to|from))* {_O}(?: (?:down|up|back|from §a\d+§))*(?: (?:to|at|as|of|be|at most|is))* (?P<a>{_A})",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"(?:reduce|diminish|lower|cut|raise|elevate|increase|enhance|bump|bump up|lift|revise|change|set|make|put|drop|bring|take|move|adjust|fix|amend|push|get|keep|cap|up|have|update|edit)(?: down| up| back)* {_O}(?:['’]s)? (?:per )?(?P<u>daily|weekly|monthly|day|week|month) {_LIMIT}(?: (?:down|up|back|from §a\d+§))*(?: (?:to|at|as|of|be))* (?P<a>{_A})",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"(?:reduce|diminish|lower|cut|raise|elevate|increase|bump|lift|change|set|make|put|drop|bring|take|move|keep|cap|have)(?: down| up| back)* {_O}(?:['’]s)? {_LIMIT}(?: (?:down|up|back))*(?: (?:to|at|as|of|be))* (?P<a>{_A}){_USD}\s*{_UNIT}",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"(?:the |a |new )*(?P<u>daily|weekly|monthly) {_LIMIT} (?:of |to |at |: ?|= ?)*(?P<a>{_A}){_USD} (?:for|on|of) {_O}",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"(?:the |a |new )*(?P<u>daily|weekly|monthly) {_LIMIT} (?:of |for |on )?{_O}(?:['’]s)? ?(?:→|->|=>|=|:) ?(?P<a>{_A})",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"{_O}(?:['’]s)?,? (?P<u>daily|weekly|monthly)(?: {_LIMIT})? ?(?:→|->|=>|=) ?(?P<a>{_A})",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"{_O}(?:['’]s)?(?: ?[:,–-])? (?:not|no|never) (?:more than|above|over|to exceed|to go over) (?P<a>{_A}){_USD}\s*{_UNIT}(?=\W+(?:please|pls|plz|kindly|thanks|thx|from now)\b)",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"(?:reduce|diminish|lower|cut|raise|elevate|increase|bump|bump up|bring|lift|revise|change|set|make|put|drop|take|move)(?: down| up)* {_O}(?:['’]s)?(?: spending)? (?:limits? )?(?P<single>(?:per|single|one|each)[- ]?(?:transaction|purchase|payment|txn|swipe))(?: {_LIMIT})?(?: (?:down|up))*(?: (?:to|at|as))* (?P<a>{_A})",
            "set the per transaction limit of {c} to {a}",
        ),
        (
            rf"(?:put|set|cap|limit|restrict|hold|keep|bring|raise|lower) {_O} (?:down |up )?(?:to|on|at) (?P<a>{_A}){_USD} (?P<single>(?:per|a|each|one)[- ]?(?:transaction|purchase|payment|txn|swipe))",
            "set the per transaction limit of {c} to {a}",
        ),
        (
            rf"(?:set|put|give|apply|impose|introduce|have|place|make) (?:an? |the )?(?:new )?(?P<u>daily|weekly|monthly) {_LIMIT} of (?P<a>{_A}){_USD} (?:for|on|to|at) {_O}",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"{_O}(?:['’]s)?:? (?P<u>daily|weekly|monthly) {_LIMIT}(?: (?:of|to|at|should be|must be|to be|is to be|shall be|:))* (?P<a>{_A})(?=\W+(?:please|pls|plz|asap|thx|thanks)\b)",
            "set the {u} limit of {c} to {a}",
        ),
        (
            rf"(?:reduce|diminish|lower|cut|raise|elevate|increase|enhance|bump|bring|lift|revise|change|set|make|put|drop|take)(?: down| up)* (?:the |his |her |their )?(?P<single>(?:per|single|one|each)[- ]?(?:transaction|purchase|payment|txn|swipe)) {_LIMIT}(?: (?:of|for|on) {_O})?(?: (?:down|up))*(?: (?:to|at|as))* (?P<a>{_A})",
            "set the per transaction limit of {c} to {a}",
        ),
        (
            rf"(?:lower|raise|limit|cap|set|reduce|increase|restrict|cut|change) what {_O} (?:can|may|is allowed to) (?:spend|use|pay) (?:down |up )?(?:to|at) (?P<a>{_A}){_USD}\s*{_UNIT}",
            "set the {u} limit of {c} to {a}",
        ),
        # What is added on top.
        (
            rf"(?:add|charge|put|take|apply) (?P<a>{_A}) on top of (?:the |our |all |every |each )*(?:deposits?|loads?|top-?ups?|cards?)(?! §)",
            "set the markup to {a}",
        ),
        (
            rf"(?:make|correct|fix|bring|revise|put|keep|take|reset|amend|set|change|raise|lower|move|adjust|increase|reduce|drop|cut|update|bump|get|have|switch)(?: down| up| back)* {_MARKUP}(?: (?:down|up|back|from §a\d+§))*(?: (?:to|at|as|be|zero|into|should be))+,? \(?(?P<a>{_A})\)?",
            "set the markup to {a}",
        ),
        (
            rf"{_MARKUP} {_BE} (?:corrected |changed |set |revised |fixed |kept |made |reduced |raised |brought |lowered |increased )?(?:down |up )?(?:to |at |as )?(?P<a>{_A})",
            "set the markup to {a}",
        ),
        (
            rf"(?:put|set|have|add|charge|make|apply) (?P<a>{_A}) (?:as |for |on |in |to )?{_MARKUP}",
            "set the markup to {a}",
        ),
        (
            rf"{_MARKUP} (?:goes|moves|drops|rises|is going|has to go|needs to go|should go|must go)(?: up| down| back)? to (?P<a>{_A})",
            "set the markup to {a}",
        ),
        (
            rf"(?:make|have|set|put) (?:it|that|this)(?: to| at)? (?P<a>{_A}) {_MARKUP}",
            "set the markup to {a}",
        ),
        (rf"zero(?: out)? {_MARKUP}", "set the markup to zero"),
        (rf"(?:make|set|put|keep) {_MARKUP} (?P<a>{_A})", "set the markup to {a}"),
        (rf"{_MARKUP},? (?P<a>{_A})(?=\W+(?:please|pls|plz|thx|thanks|asap)\b)", "set the markup to {a}"),
        (rf"{_MARKUP} ?(?:to|at|=|->|→|:) ?(?P<a>{_A})", "set the markup to {a}"),
        # The number, to look at.
        (
            rf"(?:send|give|provide|share|get|show|forward|pass|open|generate|drop|have|hand|make|create|need)(?: (?:me|us|to me|him|her|over))? {_LINK} (?:for|to|of|with|where i can|so i can|that shows|which shows)(?: (?:viewing|view|see|seeing|look at|read|show|reveal))* (?:the |its |his |her )*{_NUMBER} (?:of|on|for|from) {_O}",
            "show me the full card number of {c} by secure link",
        ),
        (
            rf"(?:send|give|provide|share|get|show|forward|pass|open|generate|drop|have|hand|make|create|need)(?: (?:me|us|to me))? {_LINK} (?:for|to|of|so i can|where i can)(?: (?:see|view|seeing|viewing|look at|open|reveal|show))* {_O}(?:['’]s)? {_NUMBER}",
            "show me the full card number of {c} by secure link",
        ),
        (
            rf"(?:provide|give|get|arrange|allow|need|have)(?: (?:me|us))? (?:a |the )?view(?:ing)? of (?:the )?{_NUMBER} (?:of|on|for) {_O}",
            "show me the full card number of {c} by secure link",
        ),
        (
            rf"(?:see|view|look at|have|get|know|show me|show|reveal|open|display|pull up|bring up|need|want|unmask)(?: (?:to see|to view|to have|me|us|up))* (?:the |its |his |her )*(?:full |whole |complete |entire |long |16[- ]digit )*(?:card )?(?:numbers?|digits|no\.?) (?:of|on|for|from|off) {_O}",
            "show me the full card number of {c} by secure link",
        ),
        (
            rf"(?:see|view|look at|show me|show|reveal|open|display|unmask) (?:the |its )?{_O}(?:['’]s)? (?:full |whole |complete |entire |long |16[- ]digit )+(?:card )?(?:numbers?|digits|no\.?)",
            "show me the full card number of {c} by secure link",
        ),
        (
            rf"(?:reveal|unmask|show me by link) (?:the |its )*(?:full |whole |complete )*(?:card )?(?:numbers?|no\.?|digits|details) (?:of|on|for) {_O}",
            "show me the full card number of {c} by secure link",
        ),
        (
            rf"(?P<c>{_OF_CARD}§c\d+§(?: card)?)(?:['’]s)? (?:full|whole|complete) (?:card )?(?:number|digits) (?:to be (?:seen|viewed|shown)|for viewing)(?: by me| to me)? (?:on|by|via|through|over) (?:the |a )?(?:secure |private )?link",
            "show me the full card number of {c} by secure link",
        ),
        (
            rf"(?:reveal|unhide|unmask) (?:the )?{_O}(?:['’]s)?(?: (?:full )?(?:card )?(?:number|digits|details))?",
            "show me the full card number of {c} by secure link",
        ),
        (
            rf"(?:(?:send|give|need|get|have|provide)(?: me)? )?{_LINK} to (?:view|see|reveal|open) (?:the )?{_O}",
            "show me the full card number of {c} by secure link",
        ),
        (
            r"(?:let me )?(?:see|view|have|get|know|show me|reveal|look at|open)(?: (?:please|to see|to view))* (?:the |its |his |her |that )*(?:full |whole |complete |entire |long |16[- ]digit )+(?:card )?(?:numbers?|digits)(?! (?:of|on|for|from|§))",
            "show me the full card number of {c} by secure link",
        ),
        (
            r"(?P<first>§c\d+§)(?:['’]s)?,? (?:full|whole|complete|entire) (?:card )?(?:number|digits) (?:needed|required|please|pls|wanted)",
            "show me the full card number of {c} by secure link",
        ),
        (
            rf"{_LINK} (?:for|to|of|with)(?: (?:view|see|viewing|seeing))? (?:the |its |his |her )*{_NUMBER} (?:of|on|for|from) {_O}(?=\W+(?:please|pls|plz|thx|thanks|asap)\b)",
            "show me the full card number of {c} by secure link",
        ),
        # A phone.
        (
            rf"(?:amend|alter|modify|replace|update|change|correct|edit|swap|set|put|make|move|switch|fix|record|register|save|enter)(?: over)? (?:the |old |her |his |their |current |registered |linked |new )*(?:phone |mobile |cell |contact |telephone |sms |otp )*(?:numbers?|no\.?|phone|mobile|cell|telephone|contact)(?: (?:no\.?|number))?(?: (?:which is |that is )?(?:linked|attached|tied|registered|assigned|given|saved|on file|on record))?(?: §t\d+§)?(?: (?:to|with|on|for|of|in|against|from))* (?:the )?{_O}(?: from §t\d+§)? (?:to|as|with|into|by|is|:)(?: (?:be|read))? (?:my (?:number|no\.?)(?: which is)? |the (?:new )?(?:one|number) |new (?:one|number|no\.?) |his new (?:one|number) |her new (?:one|number) )?(?P<t>§t\d+§)",
            "change the phone number of {c} to {t}",
        ),
        (
            rf"(?:note|record|use|save|take|enter) (?:down )?(?:the |his |her |their )?new (?:phone |mobile |contact |telephone )?(?:number|no\.?|phone|mobile|contact) (?:of|for|on) {_O}(?: is|[:,])? ?(?P<t>§t\d+§)",
            "change the phone number of {c} to {t}",
        ),
        (
            rf"(?:replace|change|swap|update|amend|correct)(?: the)? (?:old |current |previous )?(?:phone |mobile |contact )?(?:no\.?|number|phone|mobile) §t\d+§ (?:with|to|by|for|into) (?:the )?(?:new )?(?:phone |mobile |contact )?(?:no\.?|number|phone|one|mobile)? ?(?P<t>§t\d+§) (?:in|on|for|of) {_O}",
            "change the phone number of {c} to {t}",
        ),
        (
            rf"(?:change|update|move|switch|amend|set|correct|put|link|connect) {_O}(?:['’]s)? (?:over )?(?:to|onto|on|with|as) (?:the |this |his |her |their |my |our |a )*(?:new |other )*(?:phone|mobile|cell|telephone|contact)?(?: ?(?:number|no\.?|nr\.?))?(?: (?:is|of))?:? ?(?P<t>§t\d+§)",
            "change the phone number of {c} to {t}",
        ),
        (
            rf"(?:the )?new (?:phone |mobile |cell |contact )?(?:number|no\.?|nr\.?|phone|mobile|cell) (?:of|for|on) {_O} (?:is|=|:) ?(?P<t>§t\d+§)",
            "change the phone number of {c} to {t}",
        ),
        (
            rf"(?:the )?(?:phone|mobile|cell|tel|sms)(?: (?:number|no\.?|nr\.?))? (?:of |for |on )?{_O}(?:['’]s)? ?(?:→|->|=>|=) ?(?P<t>§t\d+§)",
            "change the phone number of {c} to {t}",
        ),
        (
            rf"{_O}(?:['’]s)?,? (?:phone|mobile|cell|tel|sms)(?: (?:number|no\.?|nr\.?))? ?(?:→|->|=>|=) ?(?P<t>§t\d+§)",
            "change the phone number of {c} to {t}",
        ),
        (
            rf"(?:put|use|set|save|register|enter|add|link|attach|record|store) (?P<t>§t\d+§) (?:on|for|to|as|in|with|against)(?: the)?(?: (?:phone|mobile|number|new number|contact)(?: (?:of|for|on))?)? {_O}",
            "change the phone number of {c} to {t}",
        ),
        (
            rf"(?:change|update|move|switch|amend|set|correct) {_O}(?:['’]s)? (?:phone|mobile|number|cell|contact|telephone)(?: (?:number|no\.?))? (?:to|as|with|into) (?P<t>§t\d+§)",
            "change the phone number of {c} to {t}",
        ),
    )
)
#: How something begins that is said beside the request.
_BESIDE: Final = re.compile(
    r"^\s*(?:$|[-–—,:;.!?()\[\]…]|[^\x00-\x7f\w\s§]|/\s|(?:please|pls|plz|kindly|now|asap|immediately|urgently|urgent|quickly|quick|today|tonight|again|back|straight|right|only|also|too|just|exactly|thanks|thank|ta|cheers|thx|tia|would|could|can|will|if|when|before|after|until|till|while|once|unless|for|because|becoz|coz|cos|cuz|bcs|since|as|so|and|but|or|who|which|whose|where|that|to|from|at|in|on|by|with|without|due|owing|given|via|against|following|towards|toward|being|considering|seeing|hence|therefore|i|we|he|she|they|it|its|it's|hes|shes|his|her|their|our|my|your|you|someone|somebody|nobody|the|a|an|this|there|one|some|meanwhile|temporarily|until|permanently|first|next|tomorrow|later|worth|like|than|not|never|instead|otherwise|apparently|there's|rn|atm|w|n|bc|b4|til|tmrw|tomorrow|theres|pronto|thru|altogether|asap|§[plm]))(?:$|\W|(?<=\W))",
    re.IGNORECASE,
)
#: In another currency, or so many thousands.
_ELSE: Final = re.compile(
    r"^\s*(?:k\b|thousand|hundred|million|cents?|pounds?|euros?|eur|gbp|inr|rupees|rand|zar|percent|%|x\s*\d|times|points?|bps|basis)",
    re.IGNORECASE,
)
_CARD: Final = re.compile(r"§c\d+§")
_SIGNED: Final = re.compile(
    r"§[act]|mark-? ?up|\b(?:it|him|her|them|card|plastic|prepaid|number|digits)\b", re.IGNORECASE
)
_IT: Final = re.compile(r"^it$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Core:
    """`text`: the request in the plainest words, masked; `end`: where it ends; `points`: its card is a word like "her card";
    `it`: no more than "it"; `first`: the card stands before its verb."""

    text: str
    end: int
    points: bool
    it: bool = False
    first: bool = False


def core_of(asks: str) -> Core | None:
    """The request at the beginning of a masked sentence without its courtesies; None where there is none."""
    if not _SIGNED.search(asks):
        return None
    for pattern, ours in _ROWS:
        found = pattern.match(asks)
        if found is None:
            continue
        rest = asks[found.end() :]
        if not _BESIDE.match(rest) or _ELSE.match(rest):
            continue
        groups = found.groupdict()
        named = _CARD.search(groups.get("c") or groups.get("first") or "")
        card = named[0] if named else "⟨card⟩"
        span = (groups.get("u") or groups.get("v") or "").lower()
        unit = {"day": "daily", "week": "weekly", "month": "monthly"}.get(span, span)
        text = ours.format(c=card, a=groups.get("a"), t=groups.get("t"), u=unit)
        return Core(
            text,
            found.end(),
            "⟨card⟩" in text,
            _IT.match(groups.get("c") or "") is not None,
            first=bool(groups.get("first")),
        )
    return None


__all__ = ["Core", "core_of"]
