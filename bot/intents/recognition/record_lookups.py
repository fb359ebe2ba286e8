"""Look-ups of what was recorded: one request, the requests about a card, what was spent, what waits for whom.

Rows of (intent, pattern, needs), as `lookup_intents` has them: `FIRST` are tried before its own rules, `LAST` after
those about one card. `person_of` and `kind_of_request` find the slots that only these look-ups have.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.plain_text import word_set

_R: Final = r"§r\d+§"
_MINE: Final = r"\bmy (?:own )?(?:last|latest|newest|previous|most recent)\b"
_REQUEST: Final = (
    r"(?:requests?|top-?ups?|loads?|unloads?|freezes?|orders?|approvals?|limit changes?|closures?)"
)
_ABOUT_A_CARD: Final = (
    r"\brequest(?:s|ed)?\b|\b(?:reqs|reqests|reqest|requets|rquests|reuqests|requsts|req)\b"
    r"|\bwho (?:has |had )?(?:approved|signed|requested|asked for|rejected|ordered)\b"
    rf"|\b(?:last|latest|previous|recent|newest)\b.*\b{_REQUEST}\b"
    r"|\bwhen (?:was|did)\b.*\b(?:topped up|top up|loaded|load)\b"
    r"|\blast (?:topped up|loaded|requested|frozen|approved)\b"
    rf"|\b{_REQUEST}\b.*\b(?:approved|rejected|decided|signed)\b"
)
#: What a sentence may say of spending without asking what was spent.
_NOT_SPENT: Final = r"(?!.*\b(?:can|could|able|left|available|limits?|enough|afford|remain\w*|may)\b)"

_WAITS: Final = (
    r"(?:pending|waiting|outstanding|open|unapproved|undecided|stuck|queued|on the desk|in the queue)"
)
_PERSON: Final = (
    r"(?P<{0}>§[mc]\d+§|(?!(?:i|we|the|a|an|my|our|his|her|their|this|that|it|us|all|any|approval"
    r"|approvals|decision"
    r"|review|signature|sign|now|today|tomorrow|yesterday|funding|fundings|everyone|everybody|anybody"
    r"|anyone|someone"
    r"|somebody|who|which|what|card|cards|more|money|another|one|too|long|something|and|or|in|on|at"
    r"|from|two|second"
    r"|both|these|those|them|him|you|settlement|response|credit|provider|payment|payments|work"
    r"|requests?|quite|over"
    r"|you|there|here|top|still|it|bank)\b)[^\W\d_][\w'’.-]*)"
)
_MOST: Final = 200  # characters of a clause that are searched for a person: the patterns go back and forth
_FOR_PERSON: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:so |and |ok )?(?:what|whats|anything|any|which|is|are|how many|how much|list|show|tell"
        r"|give|requests?"
        r"|approvals?"
        rf"|decisions?|pending|waiting|stuff|things?)\b(?!.*\bcards?\b.*\b{_WAITS}).*?"
        r"(?:\brequests? (?:is |are )?open\b|\b"
        + _WAITS.replace("open|", "")
        + r"\b)(?: \w+){0,2}? (?:for|on|with) "
        + _PERSON.format("person"),
        r"^(?:pending|waiting|open)(?: \w+)? (?:for|on|with) " + _PERSON.format("person") + r"(?:'s)?\W*$",
        r"\b(?:requests?|approvals?|anything|something|what|decisions?)\b.*\b(?:for|on|with) "
        + _PERSON.format("person")
        + r"(?:'s)? (?:to (?:approve|sign|decide|review)|approval|decision|signature|sign-?off|ok)\b",
        r"\b(?:what|anything|something|which requests?)\b.*?\b(?:does|do|has|have|is|should|must) "
        + _PERSON.format("person")
        + r" (?:still |also )?(?:(?:have|need|got|supposed|required)(?: got)? to |got to |have to |gotta )?"
        r"(?:approve|sign|decide|review|ok|okay|confirm)\b",
        r"\b(?:what|anything|something|which requests?)(?:'s| has| is)? "
        + _PERSON.format("person")
        + r" (?:still |also )?(?:gotta|has to|have to|needs to|got to|must) (?:approve|sign|decide|review|ok|okay|confirm)\b",
        r"^(?:show |list |open |get |see )?(?:me )?" + _PERSON.format("person") + r"'s (?:\w+ )?"
        r"(?:queue|approvals|pending requests|inbox|open requests|requests)\b",
    )
)

#: Idioms that say one look-up in so many words, and stand against what the ranker thinks likelier.
_IN_SO_MANY_WORDS: Final = (
    # What went onto cards or into the float is not what was spent.
    (
        "card_requests",
        r"\b(?:how much|what|total|sum)\b[^?.!]{0,30}\b(?:did|have|has|was|were)\b[^?.!]{0,20}\b(?:top(?:ped)?[ -]?up|load(?:ed)?|reload(?:ed)?)\b[^?.!]{0,20}§c\d+§(?! (?:at|for|with)\b)",
        "card",
    ),
    (
        "funding_list",
        r"\bhow much (?:money )?(?:did|have|has) (?:we|i|the company) (?:fund|funded|deposit|deposited)\b",
        "",
    ),
    (
        "ledger_show",
        r"\b(?:total|sum of(?: all)?) top-?ups?\b|\bhow much (?:did|have) (?:we|i) (?:top|topped|load|loaded)\b(?![^?.!]*§c)",
        "",
    ),
    # What became of a payment, with or without its card; and what stopped one.
    (
        "decline_explain",
        r"\bwhat (?:went wrong|happened|is the matter|was the problem|is wrong)(?: again)? (?:with|to|on|at) (?:the |that |this |his |her |their |our )?(?:[\w.&'’§-]+ ){0,3}?(?:charge|payment|purchase|transaction|swipe)\b"
        r"|\bwhat (?:blocked|stopped|killed|refused|held up|sank) (?:§c|(?:the|that|his|her|our) (?:[\w.&'’§-]+ ){0,3}?(?:charge|payment|purchase|transaction)\b)"
        r"|\b(?:did|who|why did|has) [\w '’-]{0,30}?\b(?:kill|stop|sink|block|refuse|reject|negate)(?:ed)? (?:the|that|this|his|her|their|our) (?:[\w.&'’§-]+ ){0,3}?(?:charge|payment|purchase|transaction)\b"
        r"|\bwhat did the (?:issuer|provider|bank)(?: \w+)? (?:answer|say|reply|return|send back)\b|\b(?:turned|turns) (?:us|me|him|her|them) down\b|\bwas negated\b",
        "",
    ),
    (
        "alerts_show",
        r"\bcomplain\w*\b(?=.*(?:\babout (?:something|anything|sth)|\bsth\b|\?|$))(?<=system complaining)|\bsystem (?:is )?complaining\b|\bwhat(?: is|['’]?s)? firing\b|\battention (?:required|needed)\b|\bwarnings?\b(?=.*\b(?:open|any|show|list|system)\b)",
        "",
    ),
    (
        "fees_show",
        r"^\W*our mark-?up\b(?!.*(?:§a|\b(?:to|at|set|make|raise|lower|change)\b))|\bmark-?up\b.{0,20}\bwhat(?:['’]s| is)(?: it)?\b|\bhow (?:expensive|pricey|dear)\b|\b(?:is|are) (?:taking|ordering|loading|closing|freezing|unloading|moving|putting|topping)\b[^?]{0,40}\b(?:free|for free|charged|billed)\b|\bprovider (?:taking|charging|billing|bill it|charge)\b",
        "",
    ),
    (
        "ledger_show",
        r"\b(?:posted|booked|entered|recorded)\b[^?.!]{0,20}\b(?:in|into|to) (?:the|our) books\b|\bjournal (?:lines|entries)\b|\b(?:the|our) books (?:for|of|on) §c|\baccounting (?:registrations?|movements?|entries)\b|\bbeen booked\b(?!.*\b(?:flights?|hotels?|rooms?|tickets?)\b)|\bwhat was booked on §c|\bbookings (?:of|for|from|in|on) (?:§[cp]|the |last |this )(?!.*\b(?:flights?|hotels?|rooms?)\b)",
        "",
    ),
    (
        "card_transactions",
        r"\b(?:find|see|spot|locate|trace|individuate|identify|is there|look for|place|dig out)\b[^?!]{0,60}§a\d+§|§a\d+§[^!]{0,90}\b(?:find it|you see it|can you see|see it|somewhere|which card|among the movements|is it there)\b|\bmovement of §a",
        "card",
    ),
    (
        "spend_show",
        r"\bspending come to\b|\bspen(?:d|ding)\b.*\bone (?:number|figure) is enough\b|\bhow much\b[^?.]{0,30}\b(?:burn(?:ed|t|s)?|go(?:es)? through|gone through|run up)\b|\b(?:sum|total) of (?:all )?(?:[\w.&'’-]+ ){1,3}?(?:bookings|charges|purchases|payments)\b",
        "",
    ),
    (
        "card_balance",
        r"§c\d+§ (?:still )?(?:have|has|had|got) (?:anything|something|much|any money|a lot) (?:left )?(?:to spend|on it)?\b|\bat zero already\b|\bdoing for (?:money|cash|funds)\b|\bsitting on (?:§c|(?:his|her|their|that) card)|\bcredit of §c|\breal (?:number|balance|figure)\b|\bhas to spend\b",
        "card",
    ),
    (
        "float_status",
        r"\b(?:anything|something|much|money|what) (?:is |we have |have we )?(?:left|remains?|remaining) (?:with|at|on) the (?:card provider|provider|issuer|prepaid account|account of the company)\b|\bkitty\b",
        "",
    ),
    (
        "funding_list",
        r"\b(?:rejected|refused|failed|credited|pending|stuck|last|latest|recent) (?:few )?(?:usd[tc] |crypto )?(?:deposits?|top-? ?ups? of the float|fundings?)\b|\b(?:he|we|boss|they) made many deposits\b|\bdeposits\b[^?]{0,60}\b(?:list|show|see)\b",
        "",
    ),
    (
        "funding_addresses",
        r"\bwhere do(?:es)? (?:the )?usd[tc] go\b|\bcoordinates of deposit\b",
        "",
    ),
    (
        "pending_approvals",
        r"\bnot yet (?:approved|signed|confirmed|decided)\b(?=.*\b(?:list|show|see|give|what|which|everything)\b)|\b(?:everything|all|what)(?: that is)? not yet approved\b|\bopen items\b|\battend (?:the |my |our )?(?:approval|signature|decision)\b|\bto confirm\W*$",
        "",
    ),
    # What lies with the provider is the float.
    (
        "float_status",
        r"\b(?:left|sum|money|balance|cash|funds|how (?:much|big)|sits?|sitting|lies|keep|kept|hold|have|has|parked)\b[^?.!]{0,40}\b(?:at|with) (?:the |our )?(?:card |prepaid |cards )?(?:provider|issuer)\b(?! (?:support|charge|take|fee))"
        r"|\b(?:at|with) (?:the |our )?(?:card |prepaid )?(?:provider|issuer)\b[^?.!]{0,20}\b(?:how much|what)\b[^?.!]{0,20}\b(?:left|have|sum|balance)\b",
        "",
    ),
    (
        "fees_show",
        r"\b(?:what|which|how (?:much|many)|how high)\b[^?.!]{0,20}\b(?:percent(?:age)?|commission|cut|per cent)\b[^?.!]{0,30}\b(?:provider|issuer|foreign|fx|currenc\w+|exchange|conversions?)\b",
        "",
    ),
    (
        "card_list",
        r"\b(?:list|show|overview|which|what|all|everything|every ?one)\b[^?.!]{0,20}\b(?:ones|cards|all of them|everything|plastics?|ever)\b[^?.!]{0,25}\b(?:live|shut|closed|killed|cancelled|terminated|dead|active|frozen|on ice|blocked|retired)\b",
        "",
    ),
    (
        "card_transactions",
        r"\b(?:did|has|was|were) §c\d+§ (?:card )?(?:ever |already |also )?(?:get|got|been|gotten|be)? ?(?:hit|charged|billed|debited|dinged) (?:by|from|at)\b",
        "card",
    ),
    (
        "card_requests",
        r"\b(?:history|list|log|record|trail|overview) of (?:all )?(?:the |our |past )?(?:asks|requests|applications|changes (?:asked|requested))\b",
        "card",
    ),
    (
        "spend_show",
        r"^\W*§c\d+§(?:['’]s)? (?:total )?(?:spend|spending|spendings|outlay)\b(?! (?:limit|cap|history))[\s,]*§p\d+§",
        "card",
    ),
    (
        "card_balance",
        r"\b(?:how broke|how (?:full|empty|flush|loaded|rich|poor))\b|\bhow much (?:money |cash )?(?:stayed|stays|remained|remains|was left|is left)\b",
        "card",
    ),
    (
        "funding_list",
        r"\b(?:overview|list|summary|history|record)s? of (?:all )?(?:the |our |my )?(?:recent |last )?deposits\b|\b(?:what|which|all|our) deposits\b(?![^?.!]*\baddress)",
        "",
    ),
    ("funding_addresses", r"\b(?:deposit|funding|wallet|usd[tc]) (?:addies|addys?|addrs?)\b|\baddies\b", ""),
    (
        "decline_explain",
        r"\b(?:understand|grasp|clarif\w+|reasons? (?:for|of|behind)|cause of)\b[^?.!]{0,20}\b(?:declines?|refusals?|rejections?)\b",
        "",
    ),
)
#: `what did Bob request yesterday`, `requests of Bob`: of a colleague, as the commands name one.
_BY_PERSON: Final = re.compile(
    r"\bwhat (?:all )?(?:did|has|have) (?P<did>§m\d+§|[^\W\d_]{2,}) (?:request(?:ed)?|ask(?:ed)? for|submit(?:ted)?|file(?:d)?)\b"
    r"|\brequests? (?:made |filed |submitted )?(?:by|of|from) (?P<of>§m\d+§|[^\W\d_]{2,})(?=\s*(?:$|[,;?!.]|§p|\b(?:this|last|since|in)\b))"
)
_NOBODY: Final = word_set(
    "we i you they he she it anybody anyone everybody everyone somebody someone people the my our this that last me us today mine"
)


def requester_of(text: str) -> str:
    """Of a question about a colleague's requests: the piece of the masked clause that names them, else empty."""
    found = _BY_PERSON.search(text)
    name = "" if found is None else found["did"] or found["of"]
    return "" if name in _NOBODY else name


FIRST: Final = (
    ("request_show", _R, ""),
    *_IN_SO_MANY_WORDS,
    ("ledger_show", r"\bfloat\b\W{0,3}\bin and out\b", ""),
    (
        "ledger_show",
        r"\b(?:posted|booked|entered|recorded) (?:in the books|against)\b|\bthrough the books\b|\bbookings? (?:went|go|going|gone|came) (?:through|in|out)\b"
        r"|\bposted in the books\b|\baccounting (?:registrations?|records?|movements?)\b|\b(?:what|which|all|everything)\b[^?.!]{0,20}\b(?:booked|posted) (?:on|to|against|for) §c",
        "",
    ),
    ("request_show", rf"{_MINE} {_REQUEST}\b", ""),
    (
        "request_show",
        r"\b(?:has|is|was|did|what happened (?:to|with)|state of|status of"
        r"|where is)\b.*\bmy (?:request|top-?up)\b",
        "",
    ),
    (
        "card_requests",
        r"\b(?:by whom|who)\b.*\blimits?\b.*\b(?:rais\w+|put|chang\w+|lower\w*|increas\w+)\b"
        r"|\b(?:by whom|who)\b.*\b(?:rais\w+|put|chang\w+|lower\w*|increas\w+)\b.*\blimits?\b"
        r"|\bwhose (?:ticket|request|doing|idea|order)\b|\b(?:we've|we have|i've|been) (?:filed"
        r"|asked for|requested|raised)\b"
        r"|\brequests? (?:regarding|concerning)\b",
        "card in clause",
    ),
    (
        "card_list",
        r"\b(?:any|a|another|one|which|what) cards?\b(?: \w+){0,2}? (?:in the name of"
        r"|under the name(?: of)?|registered (?:to|for)|called|named)\b",
        "",
    ),
    (
        "card_show",
        r"\bof (?:who|whom) (?:is|was) (?:it|this|that)\b|\bwho(?:'s| is| was)? (?:the )?(?:holder"
        r"|owner|cardholder)\b|\bwho does (?:it|this|that|§c\d+§) belong\b|\bwhose (?:is|was) (?:it"
        r"|this|that)\b|"
        r"\bwhose (?:card )?(?:is|was)\b|\bto whom\b|§c\d+§\W+who(?:'?s|se)\b|\bwho(?:'?s"
        r"| is) (?:that|this|behind|the (?:holder|owner) of)\b"
        r"|\bwhat can §c\d+§ spend\b|\b(?:phone|mobile|number)\b.*\b(?:attached|linked|registered"
        r"|stored|saved)\b"
        r"|\bthreeds\b.*\b(?:on or off|off or on|enabled already|active already)\b",
        "card in clause",
    ),
    (
        "card_balance",
        r"\bskint\b|\b(?:have|has|got) enough\b|\binside it\b|\bremains? on §c|\bstill ha(?:ve"
        r"|s) load\b|\bdust\b|\bblance\b"
        r"|\bis there (?:up to |at least |still )?§a\d+§ (?:on|left)\b",
        "card in clause",
    ),
    (
        "card_transactions",
        r"\bline by line\b|\b(?:rides?|flights?|swipes|taps|stays) (?:on|of|with|at|by)\b",
        "card in clause",
    ),
    (
        "card_transactions",
        r"^\W*which (?:of (?:our|the) )?cards?\b[^.?]*\b(?:paid|bought|ordered from|were used"
        r"|was used|spent)\b",
        "",
    ),
    (
        "spend_show",
        r"\bhow much (?:money |cash |of it |of that )?(?:goes|went|has gone|did we (?:pay|spend"
        r"|blow))\b|\bwhat (?:have"
        r"|did) we (?:paid|pay|blown|blow|spent|spend)\b"
        r"|\b(?:add|sum|tally|total|tot) (?:it |that |them )?up\b.*\b(?:spen[dt]|paid|bought)"
        r"|\b(?:sum|total|totl|tally)\b.{0,30}\b(?:paid|pay|spent|spend|bought|blown)\b|\b(?:gas|fuel"
        r"|petrol|food|meals|spent|spend) at\b.*\b(?:total|totl|sum|how much)\b"
        r"|\bsum up\b.*\bspen[dt]|\boutflow\b|\bwho (?:spends|spent|is spending)\b|\bcrossed §a",
        "",
    ),
    (
        "funding_show",
        r"\b(?:the|that|our|my|this) (?:[\w§'’,.-]+ ){0,3}?(?:deposit|transfer"
        r"|funding)\b[^?]*\b(?:made it|make it|so long|taking (?:so |this |that )?long"
        r"|takes? (?:so )?long|where (?:it|is it|has it|did it)|reached|show(?:n|ed|s)? (?:up|in)"
        r"|gone through|go through|been booked|is booked|credited yet|arrived yet|come in yet"
        r"|come through)\b"
        r"|\bwhy (?:takes|does|is)\b[^?]{0,30}\b(?:deposit|transfer|funding)\b[^?]{0,40}\blong\b"
        r"|\bwhere'?d? (?:is|did|has) (?:the|this|that|our) (?:deposit|transfer|funding|depsoit)\b"
        r"|(?:§a\d+§|\bthat|\bthe)[^?]{0,40}\b(?:bridged|usd[tc]|transfer"
        r"|deposit)\b[^?]*(?:\bmovement\b|\bclear(?:ed)?\b|\bland(?:ed)?\b|\baccepted\b"
        r"|\bturn(?:ed)? up\b|\bis it in\b|\bwhere is it\b|\bexamine\b)"
        r"|\bmovement on the §a|§a\d+§(?: \w+)? on §n\d+§ .*\b(?:turn|land|arriv|clear|show)"
        r"|\bthe §a\d+§ §n\d+§ one\b|§n\d+§ (?:transfer|deposit) (?:from|of) §p"
        r"|\b(?:update|news|word) on the (?:usd[tc]|transfer|deposit|§a\d+§)",
        "",
    ),
    (
        "funding_list",
        r"\bfunding queue\b|\bincoming (?:money|transfers?|funds|crypto|deposits?)\b|\b(?:stuck"
        r"|hanging|held) in (?:screening|review|compliance)\b"
        r"|\bmoney coming in\b|\btransfers? we (?:have )?submitted\b|\bdeposits?\b.*\b(?:not yet"
        r"|still not|hasn'?t|haven'?t|awaiting|happening)\b",
        "",
    ),
    (
        "funding_addresses",
        r"§n\d+§ addr\b|\b(?:deposit|funding) wallet\b|\b(?:send|sent)\b.*\bmoney for the float\b"
        r"|\bmoney for the float\b.*\bsent\b"
        r"|\bwhere should \w+ send\b|\bwhich wallet\b",
        "",
    ),
    (
        "fees_show",
        r"\b(?:percentage|percent)\b[^?]{0,40}\b(?:we are|we're|are we|we get|being"
        r"|you) (?:being )?(?:charg\w+|pay\w*)|\bwhat (?:does|do) (?:it|a top-?up|loading|they"
        r"|you) (?:cost|charge)\b|"
        r"\bour percentage\b|\bin bps\b|\bsting us\b|\btakes? a cut\b|\bour cut\b"
        r"|\bmark-?up §a\d+§ or §a|\bmark-?up we set\b",
        "",
    ),
    (
        "request_show",
        r"\b(?:did|has) (?:anybody|anyone|somebody|they) (?:okay|ok|approve|sign"
        r"|decide)\w*\b.*\b(?:my|mine)\b",
        "",
    ),
    (
        "pending_approvals",
        r"\b(?:anything|something|what|which) (?:is |are |else )?(?:on|for) (?:me|my side|us|my end) to (?:confirm|approve|sign|ok|okay|decide|check off)\b"
        r"|\bholding (?:anybody|anyone|somebody|people|things) up\b|\boutstanding approvals\b"
        r"|\bwho are we waiting (?:on|for)\b"
        r"|\bto (?:be|get) signed off\b|\bon (?:my|his|her|[a-z]+'s|§m\d+§) (?:table|desk|plate)\b",
        "",
    ),
    (
        "alerts_show",
        r"\ball (?:good|ok|okay|quiet|well|fine) on your (?:side|end)\b|\b(?:anything"
        r"|something) (?:conspicuous|odd|weird|strange|unusual|gone wrong)\b"
        r"|\bgo(?:ne|ing)? wrong\b(?!.*§c)|\bany (?:warnings?|issues?) (?:up|open|is|at)\b"
        r"|\bshould i look at\b",
        "",
    ),
    (
        "card_list",
        r"\broster\b|\bunder the name\b|^\W*anything on ice\b|\bhave we (?:got )?a card for\b"
        r"|\bwho (?:among|of|in) [^?]*\bcards?\b",
        "",
    ),
    (
        "ledger_show",
        r"\bwhat moved\b|\bfloat\b[^?]{0,30}\bmove[ds]?\b|\bins and outs\b|\bcame in and (?:went )?out\b",
        "",
    ),
    (
        "ledger_show",
        r"\bwhat (?:all )?(?:was|got|gets|is|has been|have you) (?:\w+ )?booked\b(?!.*\b(?:flights?|hotels?|rooms?|tickets?)\b)"
        r"|\b(?:what|everything|all|anything)\b[^?]{0,20}\bbooked (?:on|to|against|in|since|for|between|from|yesterday|last|this|today)\b"
        r"(?!.*\b(?:flights?|hotels?|rooms?|tickets?)\b)"
        r"|\b(?:book(?:ing)?|ledger|accounting|account) (?:entries|entrys|lines|records|postings)\b|\bpostings\b",
        "",
    ),
    (
        "spend_show",
        r"\bhow much\b[^.?]{0,40}\b(?:has|have|did|was)?\b[^.?]{0,25}\b(?:gone|went|goes|flowed|cost us) (?:to|into|on|at)\b"
        r"|\bwhat(?:'?s| is) the damage\b|\bgo through (?:in total|all in all|altogether)\b|\bspending of\b|\b(?:spen[dt]|spending|used|paid|total)\b.*\b(?:one|single|only the|just the"
        r"|just one) (?:number|figure|total|sum)\b|\b(?:actual|grand|overall) total\b|\bhow much\b[^.?]*\bused in (?:total|all)\b"
        r"|\btotal for\b.*\ball cards\b",
        "",
    ),
    ("card_requests", _ABOUT_A_CARD, "card in clause"),
    (
        "spend_show",
        rf"^{_NOT_SPENT}.*(?:\bhow much\b.*\bspen[dt]\b|\b(?:total|sum|overall|altogether"
        rf"|in all)\b.*\bspen[dt]\w*"
        r"|\bspen[dt]\w*\b.*\b(?:total|in all|altogether|by (?:card|merchant)|per (?:card|merchant)"
        r"|breakdown|summary"
        r"|report|overview)\b)",
        "",
    ),
    (
        "pending_approvals",
        rf"^(?:(?:so|and|ok) )?(?:what|which|anything|any)(?:'s| is| are|s)?(?: \w+){{0,3}}? {_WAITS}\b"
        r"(?!.*\b(?:fund\w*|purchases?|payments?|transactions?|deposits?|transfers?|alerts?|alarms?"
        r"|settle\w*|cards?)\b)",
        "",
    ),
)
LAST: Final = (
    (
        "spend_show",
        rf"^{_NOT_SPENT}.*(?:\bspen[dt]\b|\bspending\b|\bexpenses\b|\b(?:top|biggest|largest) (?:merchants?"
        rf"|spenders?)\b"
        r"|\bwhere (?:did|does|has) (?:all )?(?:the|our) money g(?:o|one)\b)",
        "",
    ),
)

#: How people call a kind of request -> the second word of its command.
_KINDS: Final = (
    ("unfreeze", r"un-?freez\w*|un-?block\w*|un-?lock\w*|reactivat\w*"),
    ("freeze", r"freez\w*|froze\w*|block\w*|suspen\w*"),
    ("unload", r"unload\w*|withdraw\w*|taken off|money off"),
    ("topup", r"top(?:ped|ping)?[ -]?ups?|load\w*|reload\w*|refill\w*|recharge\w*"),
    ("limits", r"limits?"),
    ("close", r"clos(?:e|ed|ing|ure)"),
    ("phone", r"phone|number"),
    ("threeds", r"threeds"),
    ("order", r"order\w*"),
    ("reveal", r"reveal\w*|details"),
    ("markup", r"mark-?up"),
    ("submit", r"funding|submission"),
)
_NO_PERSON: Final = word_set("me us")


def person_of(text: str) -> str:
    """Of a question about what waits for somebody: the piece of the masked clause that names them, else empty.

    `me` and `us` are the person who writes.
    """
    asked = " ".join(text.split())[:_MOST]
    for pattern in _FOR_PERSON:
        found = pattern.search(asked)
        if found:
            name = found["person"].removesuffix("'s").removesuffix("’s").strip(".")
            return "me" if name in _NO_PERSON else name
    return ""


_PLAIN: Final = {
    "help": re.compile(
        r"\b(?:your|the) tricks\b|^(?:(?:show|give|gimme|send) )?(?:me )?the menu\b|\bwhat are my options\b|\b(?:list|overview) of (?:all )?(?:your |the )?(?:commands?|cmds)\b|\bsyntax (?:for|of)\b|\bguide (?:me |us )?how to\b|\bin what (?:manner|way) (?:do|can|should) (?:i|we)\b|\bwhat (?:sort|kind)s? of (?:jobs|things|tasks|requests) (?:do|can) you\b"
    ),
    **{
        row[0]: re.compile("|".join(pattern for intent, pattern, _ in _IN_SO_MANY_WORDS if intent == row[0]))
        for row in _IN_SO_MANY_WORDS
    },
}


def is_said_plainly(intent: str, text: str) -> bool:
    """Whether a masked text asks for this look-up by an idiom that leaves no doubt."""
    return intent in _PLAIN and _PLAIN[intent].search(text) is not None


def asks_what_is_left(text: str) -> bool:
    """Whether a masked text asks what may still be spent, and not what was: `what can we spend`."""
    return re.search(r"\b(?:what|how much) (?:more )?can\b|\benough\b", text) is not None


def kind_of_request(text: str) -> str:
    """The kind of request that a masked clause names, as the second word of its command; empty for none."""
    return next((word for word, pattern in _KINDS if re.search(rf"\b(?:{pattern})\b", text)), "")
