"""The last look at a message before a form opens for it, whoever read it: nothing of the whole may speak against it.

It finds what stands far from the request: whose words they are, to whom they are said, a change of mind, a difference
instead of an amount, another thing of the same number.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.model import Reading
from bot.intents.readings import Context
from bot.intents.recognition import is_for_a_while, is_for_good, somebody_does_it, spaced
from bot.intents.requests.against import ANY_CARD, HARMLESS, IS_OVER, WANTS_LESS
from bot.intents.requests.around import introduces, speaks_against_from_around
from bot.intents.requests.not_yet_said import is_not_asked_for
from bot.intents.requests.only_asks import only_asks
from bot.intents.requests.parts import cut, tells_enough
from bot.intents.requests.states import only_tells_a_state
from bot.intents.requests.value_requests import without_absence
from bot.intents.requests.wording import is_small, said_before_a_story, said_in

_BEFORE_COLON: Final = re.compile(r"^(?P<who>[^:>\n]{1,70})\s*(?::|>)\s+(?=\S)")
#: A request begins there by itself: `top up please: §c1§ with §a2§`.
_ASKS: Final = re.compile(
    r"\b(?:top(?:ping)?[ -]?up|topup|load|unload|freeze|unfreeze|block|unblock|lock|unlock|close|closure|order|issue|submit|book|set|limits?|card|markup|change|update|phone|mobile|number|threeds|funding|deposit"
    r"|need|please|kindly|request|action|particulars|could|can|would|hash|network|urgent|quick|pls|declare|register|transfer|reveal)\b|§|\bso\W*$"
)
_OF_SOMEWHERE: Final = re.compile(
    r"^§[cm]\d+§\s+(?:from|in|at|of|note|mail|e-?mail|message|text|words|form|letter|post|comment|request)\b"
)
_REMARK: Final = re.compile(
    r"^\W*(?:fyi|todo|to[ -]?do|reminder|re(?!-)|fwd?|subject|draft|template|log(?! (?:this|the|a|an|our|my|new) (?:new |usdt |usdc |polygon |base |ethereum |eth |bnb |bsc )*(?:one|deposit|funding|transfer|tx|hash|payment)\b)|minutes|caption|headline|note|memo|quote)\b"
    r"|\b(?:remind (?:me|us)|(?:ask|tell|let|have|get(?! (?:an? |the )?link)|want|allow|remind|beg) (?:him|her|them|somebody|someone|(?!(?:you|after|therefore|hence|thus|hereby|kindly|also)\b)[a-z][a-z'’-]*|§[cm]\d+§) to (?!be\b|the\b|this|that|it\b|§|his|her|my|a\b))\b"
)
_NAME: Final = r"[A-Z][\w'’-]*[a-z][\w'’-]*"
_ADDRESSED: Final = re.compile(
    rf"^\W*?(?P<who>@[\w'’.-]+(?: {_NAME}){{0,2}}|{_NAME}(?: {_NAME}){{0,2}}|§m\d+§)"
    r"(?:,? (?:please|pls|can|could|would|will)\b|, (?!(?:please|pls|kindly)\W*$))"
)
_GREETS: Final = frozenset(
    [
        "hi",
        "hello",
        "hey",
        "please",
        "pls",
        "kindly",
        "dear",
        "team",
        "good",
        "morning",
        "guys",
        "thanks",
        "sorry",
        "urgent",
        "now",
        "so",
        "and",
        "ok",
        "okay",
        "also",
        "then",
        "bot",
        "countersign",
        "folks",
        "all",
        "everyone",
        "yes",
        "mate",
        "pal",
        "boss",
        "chief",
        "buddy",
        "dude",
        "sir",
        "madam",
        "hun",
        "dear",
        "darling",
        "quick",
        "hiya",
        "yo",
        "emergency",
        "it",
        "this",
        "that",
        "there",
        *(
            "eish",
            "yebo",
            "howzit",
            "howya",
            "howdy",
            "sawubona",
            "aweh",
            "heita",
            "moin",
            "servus",
            "hola",
            "salut",
            "ciao",
            "bonjour",
            "hej",
            "hoi",
            "namaste",
            "jambo",
            "aloha",
            "gday",
            "g'day",
            "greetings",
            "heya",
            "hullo",
            "hallo",
            "ag",
            "ja",
            "shame",
            "ugh",
            "right",
            "well",
            "gosh",
            "oh",
            "ah",
            "hmm",
            "argh",
            "yikes",
            "damn",
        ),
        *(
            "lads",
            "ladies",
            "gents",
            "anyway",
            "put",
            "add",
            "take",
            "give",
            "lift",
            "make",
            "lower",
            "raise",
        ),
        *("send", "move", "remove", "bring", "pull", "cancel", "suspend", "pause", "switch", "turn"),
        "morning",
        "afternoon",
        "evening",
        "just",
        "again",
    ]
)
_REPORTED: Final = re.compile(
    r"\b(?:mention\w*|recommend\w*(?! it)|(?<!i )promis\w+|claim(?:s|ed)|texted(?! (?:me |us )?from\b)|keeps? (?:repeating|saying)|suggest\w*|reckons?|insist\w* (?:that|we|to)|proposed?)\b"
    r"|(?:^|[.,;!]\s*)should (?!be\b)|\bin the event\b|\b(?:one|you|we|i) would (?:have to|then)\b|\b(?:it )?would be (?:best|better|wise|wiser|safer|smart|good|fine) (?:to|if)\b"
    r"|(?<!by )(?<!excuse )\b(?:yourself|myself)\b|(?<!by )(?<!confirmed )(?<!with )\b(?:himself|herself|themselves|itself)\W*$"
)
_TAKEN_BACK: Final = re.compile(
    r"\bleave (?:it |them |this |that |(?:the|her|his|their) card |§c\d+§ )?(?:frozen|blocked|locked|closed|open|exactly|just as|as (?:it |is\b)|alone|be\b)|\bok(?:ay)?,? leave\W*$|\b(?:so|then|therefore) no (?:clos|freez|block|load|unload|unfreez|order|chang|top)\w*\b|\b(?:just )?(?:reading|read) (?:it|that|this) (?:out|aloud)\b|\bvoice typing\b"
    r"|\b(?:that'?s|thats|that was|this is|this was|was|is) (?:meant |intended )?for (?:the |an)?other\b|\bdiff(?:erent)? (?:bot|company|channel|workspace)\b|\b(?:stays|staying|remains|remaining) with us\b|\bforget it\b|\b(?:scrap|strike|nix|belay) (?:that|it|this)\b(?! (?:off|on|from|for good|permanently|forever))|\bactually,? (?:no |just |pls |please )?(?:drop|ditch|bin|cancel|kill|undo|hold|park|lose|skip) (?:that|it|this)\b(?! (?:for good|permanently|forever))|\bsa(?:id|ys) (?:nobody|no[ -]?one)\b|[.!;–-]\s*(?:so |then |now |and |there(?:'s| is) )*no (?:more )?need (?:for|to do) (?:it|this|that|anything)\b|\b(?:dictat\w+|recit\w+) (?:it|this|that)\b|[.!;]\s*(?:is|was) (?:that|this|it) (?:the |a )?(?:right|correct|ok|okay|wise|allowed|enough|same)\b[^.?]*\?|\bnot even (?:frozen|blocked|locked)\b|"
    r"\bsecond thoughts?,? (?:no|not|leave|don'?t)\b|[.,;–-]\s*no(?:pe)?\b(?! (?:rush|hurry|more|longer|need to|receipts?|card|worries|problem|harm|idea|answer|reply|cash|money|trace|drama|one))|\boops\b|\b(?:just|only|i['’]?m|am) (?:kidding|joking|teasing)\b|[-–—,.!;]\s*(?:kidding|joking|jk)\W*$|\bi mean(?=\s+(?:un|not|no\b|§|freeze|block|load|close|top|take|put))|\bi meant\b(?! another)|\bwrong (?:channel|chat|thread|window|person|group)\b"
    r"|\bnot that\b|\byeah,? right\b|^\W*done\b|(?<!is )(?<!was )(?<!gets )(?<!well )\bdone\W*$|\bwait\b|\b(?:only )?a test\b|^\W*test\b|\bor was it\b|\bsorry,? (?:i meant|no|not|§[ac])"
)
_STATED: Final = re.compile(
    r"\b(?:thanks|thank you|sorry|apologies) for (?:un|re)?(?:freez|block|lock|clos|load|topp|putt|unload|tak|add|send|reveal)\w*ing\b|\bagree to\b|\bif you (?:like|wish|want)\b|\bby the (?:issuer|bank|provider)\b"
    r"|\b(?:next|coming|every|each) §[pl]|§c\d+§ (?:is |was )?no longer needed|\bmark-? ?up (?:is|was) (?:now )?§a(?!.*\b(?:please|pls|kindly) (?:change|set|update|correct|put))|\bwas (?:booked|submitted|registered|reported|denied|refused|rejected)\b|"
    r"^\W*the §a\d+§|\btook (?:me |us |only )?(?:\w+ )?(?:minutes?|hours?|seconds?|days?|ages)\b|\bby (?:him|her|them)\W*$|^[^.,;]*\barrived\W*$"
)
#: `on freeze Nora's card`: an unfreeze, said into a phone.
_DICTATED_AS_TWO: Final = re.compile(
    r"(?<!\bput )(?<!\bplace )(?<!\bset )(?<!\bgo )\b(?:on|in|an|own|one|uhn|hun|un|end|any|i'm|arm|am)[\s-]+(?:(?:re)?freez\w*|block|lock|suspend|pause)(?=\s+(?:§c|it\b|(?:her|his|their|the|that|this)\b|card\b))"
    r"|^\W*(?:(?:please|pls|kindly) )?(?:and|n|ann?)\s+(?:freeze|block|lock|suspend|pause)\s+(?:§c\d+§|it\b|(?:her|his|the) card\b)(?=.*\b(?:back|found|returned|home|again|cleared|ok now|fine now)\b)"
)
#: Somebody else than a card of ours or the float.
_NOT_OURS: Final = r"(?!(?:the |that |this |his |her |their |our |my |its |one |said |same |above |prepaid |company |virtual )*(?:§[cpax]|cards?\b|float\b|balance\b|account\b|plastic\b|prepaid\b|it\b|him\b|her\b|them\b|hers\b|his\b|theirs\b|there\b|one\b|same\b|what\b|last\b|now\b|today\b))[a-z§]"
#: Somebody else is to be asked, or pays it back.
_BY_OTHERS: Final = (
    r"(?:^\W*|[.,;:!?]\s*|\b(?:please|pls|kindly|you|u|and|then)\s+)(?:contact|call|phone|ring|e-?mail|write(?: to)?|message|chase|reach out to|complain to|(?:speak|talk) (?:to|with)|get onto)\s+(?!(?:me|us|him|her|them|you|it|if|when|back|for)\b)[a-z§]"
    r"|(?:^\W*|[.,;:!?]\s*|\b(?:please|pls|kindly|you|u|and|then)\s+)(?:ask|tell)\s+(?:the |our |this |that )?(?!you\b|me\b|us\b|for\b|it\b|her\b|his\b)[a-z][\w.&'’-]*\s+to\b|\b(?:refund|charge-?back|reimburse)(?:s|d|ed|ment)? §a"
)
#: What a merchant pays back: `contact Booking.com and get back 210 to her card`. It is taken off no card.
_TO_A_CARD: Final = r"(?:the |his |her |their |our |that |this )?(?:(?:prepaid )?card (?:of |for )?|prepaid (?:of |for )?)?(?:§c|(?<=card )|(?:card|plastic)\b)"
_COMES_BACK: Final = (
    rf"§a\d+§(?: (?:usd|dollars|bucks|back|again|over|straight|of it))* (?:to|onto|on to|into|for) {_TO_A_CARD}"
    rf"|§a\d+§(?: usd)? back on {_TO_A_CARD}|\bback §a\d+§(?: usd)? on {_TO_A_CARD}"
    rf"|§a\d+§(?: (?:usd|dollars|bucks|back|again))* (?:from|off|out of) {_NOT_OURS}"
)
#: What goes back to the float: `0948: 65 back to float`.
_HOMEWARD: Final = (
    r"§a\d+§(?: (?!from\b|out\b)[a-z]+){0,4}? (?:back|home|return\w*|to|into|in|onto|for) (?:(?:to|into|in|onto|the|our|company|main) ){0,3}(?:float|pool|pot|treasury|company account)\b|§a\d+§(?: usd)? float\b(?! to\b)"
    r"|§a\d+§(?: usd)? (?:back|home|return)\b(?! (?:on|onto|to|for|in|into|again)\b)"
)
#: An amount that the balance shall come to, or a part above a mark.
_NOT_BY: Final = {
    "topup_card": re.compile(
        rf"{_HOMEWARD}|\brs\b|§a\d+§(?: usd)?\s*/\s*(?:day|week|month|d|w|m)\b|\b(?:bump|cap|raise|lower|limit|bring|drop)\b[^.]{{0,40}}\bto §a\d+§(?: usd)?\s*(?:/|per|a|each)\s*(?:day|week|month|d\b|w\b|m\b)|{_BY_OTHERS}|(?:\bback §a\d+§(?: usd)?|§a\d+§(?: usd)? back)(?: (?:to|on|onto|for) §c\d+§)? (?:from|out of) {_NOT_OURS}|\b(?:get|claim|take|pull) §a\d+§(?: usd)? back\b|"
        r"\b(?:top(?:ped|ping)?[ -]?up|topup|fill(?: up)?|load|bring|raise|increase|up)\s+(?:§c\d+§|it|(?:the|her|his|that) card)\s+(?:up |back )?to §a|\b(?:above|over|below|under|until|till) §a|\bup to §a"
    ),
    "unload_card": re.compile(
        rf"{_COMES_BACK}|{_BY_OTHERS}|\b(?:to|onto|on to|into)\s+(?:(?:his|her|their|my) )?(?!(?:the|our|this|that|today|tomorrow|it|company|float)\b)[a-z§][\w§'’-]*(?<=['’]s)(?! (?:float|pot|pool|account))(?=\W|$)|"
        r"\b(?:above|over|below|under|except|but|leave|leaving|down to) §a|\bdown to\b|\b(?:on|onto|in|into|to)(?: the| an?)? of\b"
    ),
    "set_markup": re.compile(
        r"\bby §a|\b(?:lower|raise|cut|bump|increase|decrease|reduce|drop|up)\s+(?:the |our |a )?(?:deposits? )?mark-? ?up\s+§a|§a\d+§ (?:more|less|up|down)\b(?! (?:back )?to §a)"
    ),
    # What became of a transfer is asked, whatever else is said of it.
    "submit_funding": re.compile(
        r"\bwhat['’]?s (?:the |its |our )?(?:state|status|word|story|news)\b|\b(?:state|status|progress|whereabouts) of (?:the |this |our |that |my )?(?:deposit|funding|transfer|transaction|tx|§h)"
    ),
    "close_card": re.compile(r"\bshut (?:it|her card|his card|§c\d+§) for (?!good|ever|always)"),
    "freeze_card": re.compile(
        r"\b(?:disable|deactivate|stop|pause|suspend|remove|block|freeze|lock|(?:turn|switch) off)\b[^.;!?]{0,20}\b(?:threeds|codes?)\b|§c\d+§(?: card)? (?:still |now )?(?:frozen|blocked|locked|paused|suspended)\b.*\b(?:back (?:on|up|to life|in use)|again)\b|\b(?:pause|stop|halt|suspend|hold)\b.{0,40}\b(?:everything|anything|all of it|send\w{0,5})\b|^\W*(?:(?:please|pls|kindly) )?(?:the|that|this) (?:freeze|block|hold|lock|pause|suspension)\b|\b(?<!put the )(?<!put a )(?:freeze|block|hold|lock|pause|suspension) (?:up)?(?:on|of|for|from) (?:§c\d+§|it|(?:her|his|the|that) card)(?: card)? (?:can|may|could|should|must|has to|needs to|is|was|isn|has|had|will|came|went|goes)\b(?! (?:please |now )*be (?:put|placed|applied|set|activated|made|done|imposed))|\b(?:un|de)\s?-?\s(?:freez|block|lock)|\b(?:un|de)-(?:freez|block|lock)|\b(?!(?:put|place|placing|apply|set|do|make|initiate|arrange|slap|stick|want|need|request|carry|start|activate|enable)\b)[a-z]+ (?:the|that|this) (?:freeze|block|hold|lock|pause) (?:on|of|for)\b|"
        r"\b(?:freeze|block|hold|lock|pause|suspension) (?:from|off|of(?= §c))\b(?! (?:now|today|immediately|here on|being|spending|paying|payments|all))|\b(?:matter|issue|case|problem|dispute|thing) (?:is|was|has been|got) (?:settled|resolved|solved|cleared|sorted)\b|\b(?:take|lift|remove|undo|end|release|drop|clear) (?:off )?(?:the |that |her |his )?(?:freeze|block|hold|lock|pause)\b"
    ),
    # What is switched on may be something else of the card.
    "unfreeze_card": re.compile(
        r"^(?=.*\b(?:enable|activate|switch|turn|set up)\b).*\b(?:codes?|otp|threeds|sms|verification|one[ -]?time|contactless|apple pay|google pay)\b",
        re.DOTALL,
    ),
    "order_card": re.compile(
        r"\b(?:new|the|her|his|their) cards? (?:for [\w' -]{2,40} )?(?:(?:has|have|had|just|finally|already|now|is|was) )*(?:arrived|came|landed|here|delivered|works?|got here)\b(?! (?:to be|needed))"
        r"|(?<!be )(?<!to )\b(?:i|we|he|she|they|§c\d+§|(?!be\b|been\b|please\b|pls\b|is\b|to\b|get\b|have\b|has\b|want\b|need\b|and\b)[a-z]+) (?:(?:has|have|had|already|just) )*ordered (?:an?|the|one|her|his|their|it|this|that)\b|\b(?:it|this|that|one|the card|her card|his card|plastic) (?:(?:has|have|had|just|finally|already|now) )*(?:arrived|came|landed|been delivered|is here)\b"
    ),
    "reveal_card": re.compile(
        r"\b(?:was|(?<!you )had|been|were|denied|refused)\b"
        r"|(?<!\bi )(?<!\bwe )(?<!would )(?<!\bto )(?<!please )(?<!kindly )(?<!you )(?<!hereby )\b(?:want|instruct|direct|advis|order|tell|told|ask|request|insist|decid|recommend|authori[sz])\w* (?:(?:us|me|him|her|them|finance|accounts|everyone) )?to (?:please )?(?:show|see|view|card|§c|open|get|reveal|look)"
    ),
    "set_limits": re.compile(r"\bby §a|§a\d+§ (?:more|less)\b|\b(?:another|extra|additional) §a"),
}
#: `she paid the courier herself`.
_BY_THEMSELVES: Final = re.compile(
    r"\b(?:he|she) (?:paid|pays|bought|covered|advanced|fronted|booked|settled|drove|fixed|carried)\b[^.,;§]{0,40}\b(?:himself|herself|myself)\b"
    r"|\b(?:s?he|they|§c\d+§) (?:has |have )?(?:asked|begged) for (?:it|this|that) (?:himself|herself|themselves)\b|\bthey (?:paid|pay|bought|covered|advanced|fronted|booked|settled)\b[^.,;§]{0,40}\bthemselves\b"
)
#: Why money is taken back.
_TOO_MUCH: Final = re.compile(r"\b(?:oops|ups|whoops)\b")
#: A top-up that was made, and did not arrive.
_TWICE: Final = re.compile(
    r"\b(?:load|top|charg|paid|pay|sent|send|put|transferr?|fund|credit|book)(?:ed|ped|s)?(?: (?:it|him|her|them|that|this|§[ac]\d+§|up|to|on|onto|the|same|amount|money)){0,4} twice\b"
)
_FAILED: Final = re.compile(
    r"^(?=.*(?:§a|\b(?:top[ -]?up|topup|load|money|funds)\b)).*\b(?:failed|fails|arrived?|rejected|refused|denied|missing(?! (?:exactly |just |only |another )?§a))\b",
    re.MULTILINE,
)
_OTHER_THING: Final = re.compile(
    r"\b(?:close|unload|load|freeze|lock|unlock|block|suspend|pause|terminate|top up)\s+(?:the|a|my|our|this|that)\s+"
    r"(?!(?:cards?|crad|account|plastic|prepaid|one|old|new|said|following|freeze|hold|lock|block|sum|amount|rest|balance|limit|daily|weekly|monthly|same|virtual|physical|money|extra|usual|unused|whole|full|entire|remaining|company|corporate"
    r"|employee|marketing|ads?|spending|float|other|above|below|mentioned|respective|lost|stolen|missing|frozen|topup|top)\b)[a-z]+\s+(?:[a-z]+\s+){0,2}§c"
)
_WEEKDAY: Final = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:mon|tue|wed|thu|fri|sat|sun)\b", re.IGNORECASE
)


#: Who requests it, whether it is a request at all, and what takes it back: in any words around the request, or before it.
_NOT_A_REQUEST: Final = re.compile(
    r"\b(?:the|this|that|my|his|her) (?:top-?up|topup|request|load|freeze|block|unfreeze|order|unload|change|closure|reveal|form|transfer) (?:is|was|will be) (?:not|no longer|never) (?:needed|necessary|required|wanted|right|correct|ok|okay|allowed)\b|\bnever ?mind\b|\bnvm\b|^\W*supposing\b|\b(?:we|let'?s|we'?ll|we will|i'?ll) (?:wait and )?see\W*$|\b(?:might|may|could) (?:also |well |still |then |soon )?need\b(?! (?:be|to)\b)|\brather not\b|\b(?:we|you|they|i|one) (?:really )?should not\b|(?<!\bour )\bdirection\b|^\W*never\b|\b(?:pause|stop|halt|suspend|hold) (?:all )?(?:the )?(?:sending|payouts|transfers|executions|queue|everything)\b|"
    r"(?<!he )(?<!they )\brefus\w+ to\b|\brefus\w+ to (?:approv|sign|agree|allow|authori|confirm|ok\b|do (?:it|this|that)\b|be\b)|\b(?:instruct|order|command|urg|forc|pressur|oblig)\w* (?:us|me|you|him|her|them) to\b|\bforb[ia]d\w*|\b(?:not|never|isn'?t|aren'?t|n't) (?:\w+ )?(?:allowed|permitted|supposed|entitled) to\b|\bprohibit\w*"
    r"|\b(?:almost|nearly) (?:had|wrote|asked|said|told|typed|sent|put|made)\b|\b(?:a|the) drill\b|\bdream(?:t|ed|ing)?\b|\bfor instance\b|\bshow me how\b|\bhow (?:would|do|can|should|could|might) (?:i|we|one|you|somebody)\b|\b(?:do|does|did) (?:i|we|he|she|they|you|somebody|anyone) (?:have to|need to|want)\b"
    r"|\bwould (?:it|that) be (?:smart|wise|ok|okay|right|wrong|good|bad|better|sensible|fair|legal|enough)\b|\bit would be (?:wrong|stupid|bad|unwise|foolish|a mistake|illegal)\b|\b(?:was|were) about to\b|\b(?:is|are|was|were) (?:it|that|this|he|she|they) (?:right|wrong|wise|correct|ok|okay|fair|smart|clever|necessary|enough)(?: (?:of|for) [a-z]+)? to\b|\bwould never\b|\bno reason to\b|^\W*(?:please |pls |kindly )?(?:do not|don'?t|dont) (?:§c\d+§|he|she|they|we|i|it|the|his|her|our|will|may)(?: card)? (?:is|isn'?t|has|hasn'?t|was|wasn'?t|are|had|needs|wants|got|lost|left|can'?t|can|went|did)\b"
    r"|\b(?:his|her|their|the|[a-z]+'s|this|that) (?:[a-z]+ )?(?:e?mail|message|note|text|words|line(?! (?:was|is|got) (?:blocked|cut|dead|lost|stolen|closed|cancell?ed|deactivated|disconnected|hacked|suspended|switched))|form|request|ticket|letter|sms|post|comment|voicemail|sentence|title|chat)(?: (?:on|in|of|from) (?:the|his|her|my|our) [a-z]+)? (?:was|is(?! ?§[et])(?! (?:due|overdue|expired|expiring|lost|broken|gone|dead|full|running out)\b)|reads?|says|said|stands|goes|had|asks|contains)\b"
    r"|\bin (?:his|her|their|the|[a-z]+'s) (?:e?mail|message|note|form|letter|ticket|chat)\W+(?:stands|is|it|there|he|she|they|we)\b|\b(?:keeps?|kept) (?:on )?(?:writing|saying|typing|asking (?:me|us)|telling|texting|repeating|shouting)\b|\b(?:he|she|they|bob) goes(?! (?:on|to|for|back|home|away|in|into|out|off|there|abroad|with|by|through|live)\b)|\b(?:wrote|texted(?! (?:me |us )?from\b)|scribbled|(?<!been )(?<!is )(?<!was )(?<!got )posted(?! (?:an?|the|some|his|her) (?:photo|picture|pic|video|selfie|story)s?\b))\b|(?<!needs it )(?<!need it )(?<!wants it )(?<!want it )(?<!have it )\btyped\b(?! (?:it )?(?:twice|wrong))(?<!digit typed)(?<!number typed)(?<!i typed)(?! (?:(?:an? )?(?:extra|zero)|number|everything|(?:it|her|his|the) (?:card|number|pin|code|details)|in\b))"
    r"|(?<!because )(?<!since )\bthat(?:'s| is| was) (?:a joke|a test|what|not|how|the (?:order|request|wording|text)|from|(?:his|her|their) (?:words?|wording|text|request|message|order|note))\b|\bthis is (?:a joke|a test|a drill|what|from|just a)\b|\b(?:would be|is|was) (?:a (?:bad|stupid|terrible|silly) (?:idea|thing|move)|a mistake|stupid|silly|foolish|madness|crazy|absurd|nonsense)\b"
    r"|\bchanged? (?:my|our|his|her) minds?\b|\bno,? leave (?:it|that|this)\b|\b(?:i|we|nobody|no ?one) (?:never|did ?n['’]?t|did not|has(?:n['’]?t| not)?|have(?:n['’]?t| not))(?: ever)? (?:said|say|wrote|write|asked|ask|requested|request|meant|mean|ordered|order)\b|\bactually,? (?:leave|no|don'?t|not|forget|wait|skip)\b|\b(?:leave|let) (?:it|that|this|her card|his card) (?:be(?! (?:un)?(?:frozen|blocked|locked|suspended|paused|closed))|as|alone|for now|like)\b|[.;!,–-]\s*(?:please |just |so |well |but |sorry,? )?(?:leave it|do not|don'?t|not)(?: do (?:it|that|this))?\W*$|[.;!]\s*(?:please )?(?:do not|don'?t)\b(?! (?:worry|mind|hurry|rush|hesitate|ask|tell|panic))"
    r"|\b(?:not|never|n't|nobody|no one) (?:yet |been |has |have )*(?:approved|agreed|signed|authori[sz]ed|confirmed|cleared)\b|(?<!voucher was )(?<!receipt was )(?<!contract was )(?<!form was )\bnot (?:signed|approved|agreed)\b|\bdisagree\w*|\b(?:bob|carol|dave|he|she|they|boss|manager|finance) (?:is|are) against\b|\bcorrection\b|\bphish\w*|(?<!the )(?<!that )(?<!this )(?<!a )\bhold(?:ing)? off\b|\bfirst (?:ask|check|tell|call)\b|\bask [a-z§]\w* first\b|\brejected\W*$|\bi (?:don'?t|do not|didn'?t) (?:mean|want|wish|intend)\b(?! to (?:explain|hear|argue|fight|see|read|repeat|know|wait|think|look|beg|chase|discuss)\b)"
    r"|\((?:[a-z]+'s|his|her|their) words?\)|\b(?:as soon as|once|unless|until|till|if|when|whenever) (?:[a-z]+|§[cm]\d+§) (?:agrees?|approves?|signs?|confirms?|says?|allows?|okays?|calls?|lands?|answers?|replies|arrives?|asks?|wants?)\b|\b(?:are|were) we (?:not )?(?:allowed|supposed)\b"
    r"|\bmake (?!sure\b|it\b|her\b|his\b|the\b|that\b|a\b|an\b|this\b|our\b|me\b|them\b|§|no\b|mr\b|ms\b|mrs\b|dr\b|mark|daily\b|weekly\b|monthly\b|max\b|limit\b|per\b)[a-z]+ (?:§c|(?:show|card|mark-?up|set|put|freeze|load|close|change|please|block|weekly|can|submit|add|send|top|unfreeze|take|pull|order)\b)|\blet'?s see\b|\bpracti[cs](?!ally)\w+\b|\btranslat(?:e|ed|es|ing)\b|\btranslation of (?:his|her|the|their) (?:message|mail|request)\b|\bin (?:polish|german|french|spanish|english)\b|^\W*@\w"
    r"|\b(?:her|his|their|that|the|this) card (?:and|or|&|\+) (?:§c|(?:the )?card|his|hers|her|that|mine)|§c\d+§(?: card)? (?:and|or|&|\+) (?:her|his|their|that|the other) card\b|§c\d+§ (?:and|or|&) §c"
)
#: Somebody else gave the order: `the principal has instructed us to load …`. What its writer or `we` decided is a request.
_ORDERED: Final = re.compile(
    r"\b(?!(?:i|in|we|you|i've|we've|kindly|please|would|to|be|hereby|therefore|already|just|also|now|have|has|had|been|am|are|is)\b)[a-z§][\w§'’]*\s+"
    r"(?:(?:has|have|had|is|was|just|now|already|always|keeps|kept)\s+)*"
    r"(?:instruct|direct|advis|order|tell|told|command|ask|request|insist|expect|decid|propos|recommend|suggest|authori[sz]|permit|allow|urg|wish|prefer)(?:e[sd]?|ed|s|ing)?\s+"
    r"(?:(?:us|me|him|her|them|finance|accounts|everyone|everybody|all|staff|the (?:team|office|staff|clerk))\s+)?to\s+"
    r"(?!(?:be|see|know|pay|buy|book|travel|the|this|that|his|her|my|our|a|an)\b|§)"
    r"|(?<![\w'’])(?!(?:i|we|you|please|kindly|hereby|therefore|to|would|also|it|as|policy|contract|agreement)\b)(?:§[cm]\d+§|[a-z]+)(?: (?:has|have|just|now|again|also|still|loudly|politely))* (?:demand|insist|command|plead|propos|suggest|recommend|beg|urg)(?:e?s|e?d|ged|ing)?\b[^.;!?\n]{0,90}\bthat\b[^.;!?\n]{0,60}\b(?:be|is|are|gets?|should|must|has to|goes)\b"
    r"|\b(?:gave|gives|giving|given|got|received|issued|passed|sent|under)\s+(?:(?:us|me|him|her|them|an?|the|clear|strict|verbal|written|his|her|their)\s+)*(?:orders?|instructions?|directions?|advice)\s+to\b"
)
#: `please don't set up …`: what must not be done.
_NOT_TO_DO: Final = re.compile(
    r"(?:^|\b(?:please|pls|just|kindly|we|you|must|should|shall|can|may|to|better|and|but|so)\s+)(?:do not|don'?t|dont|never|not)\s+(?:ever\s+|please\s+|yet\s+)?"
    r"(?=(?:set|put|add|load|top|freeze|unfreeze|block|unblock|lock|unlock|close|take|pull|send|give|raise|lower|change|submit|order|issue|enable|activate|switch|turn|move|transfer|increase|reveal|cancel|do(?! more than))\b)"
)
#: It is not settled, was done already, or is what somebody shouted, somebody's rule or somebody's "but".
_UNSETTLED: Final = re.compile(
    r"\b(?:still|is|are|am|he's|she's|they're|we're|i'm) (?:\w+ )?(?:deciding|debating|discussing it|weighing it|undecided|(?:thinking|talking) (?:about|over) (?:it|this|that)|considering (?:it|this|that)|planning (?:it|this|that))\b"
    r"|\bchecking (?:(?:this|it|that) )?with\b|\b(?:take|took|taken|taking) care of (?:it|this|that)\W*$|\balready (?:did|done|handled|sorted) (?:it|that|this)\b|\b(?:he|she|they|somebody|someone) did (?:it|that|this)(?: already| yesterday)?\W*$"
    r"|\b(?:has|have|got|received) (?:it|that|this|them)(?: §p\d+§)? already\W*$|\breads? (?:this|it|that) as\b"
    r"|^\W*[a-z§][\w§]*(?: \w+)? (?:shouted|yelled|screamed|barked|cried|whispered|muttered|announced|declared|repeated|typed|wrote|said)\s*[,:]"
    r"|\b(?:orders?|instructions?|manual|policy|rules?|message|mail|note|slide|guide)s? (?:was|is|were|are) (?:\w+ )?(?:clear|simple|plain|explicit|obvious|short)\s*[,:]"
    r"|\bbut (?:the |his |her |our |my |their )?(?:budget|boss|manager|director|cfo|ceo|finance|approvers?|bob|carol|dave)\b"
)
#: `Nora's card was stolen too`: another card beside the one of the request.
_ANOTHER_CARD: Final = re.compile(
    r"§c\d+§[^.;!?\n]{0,60}\b(?:too|also|as well)\W*$|^\W*(?:(?:and|same|also|plus|ditto|likewise|then|next)\b[\s,]*)*(?:(?:for|with|on|to|the)\b\s*)*§c\d+§\W*$"
)
#: Somebody did it, a yes is missing, another card or day was agreed on: whatever is asked for.
_SETTLED_OTHERWISE: Final = re.compile(
    r"(?<![\w§'’])(?!who\b|what\b|nobody\b|it\b|that\b)(?:§[cm]\d+§|[a-z]+) did (?:it|that)(?: (?:already|yesterday|herself|himself|§p\d+§))?(?=\W*(?:$|[.;!]))"
    r"|\b(?:approval|permission|consent|signature|sign-?off|go-?ahead|clearance) (?:is|was|['’]s)(?: still)? (?:missing|lacking|outstanding|denied|refused|not)\b"
    r"|\b(?:meant|mean) (?:the|his|her|their) other\b|\bthe other (?:one|card) (?:is|was)(?: the one)? (?:meant|right|correct)\b|(?<!finance )(?<!board )(?<!cfo )(?<!ceo )\bagreed (?:on|upon) §[pl]\d+§|\bagreed for §[pl]\d+§|\bagreed (?:on|upon|for) (?:tomorrow|later|next)"
)
#: Nobody gives what was given, or is not needed.
_NOT_TO_GIVE: Final = re.compile(
    r"(?<![\w§'’])(?:he|she|they|we|i|§c\d+§) (?:(?:has|have|had|just|only|already|now) )*(?:got|has|have|received) (?:it|them|that)(?: (?:already|now|§p\d+§))?(?=\W*(?:$|[.;!,]| and\b))"
    r"|\b(?:it|this|that)(?:['’]s| is| was| has been)(?: really| even)? (?:not|no longer|never) (?:needed|necessary|required|wanted|requested)\b|(?:n['’]t|\bnot|\bno longer|\bnever) (?:really )?needs? (?:it|that|this|the money)\b"
)
_GIVES: Final = frozenset({"topup_card", "set_limits", "order_card", "reveal_card"})
#: Other days and hours, behind the request.
_LATER_THAN_NOW: Final = re.compile(
    r"\bboth\b(?=\W*(?:$|[.,;!?)])| (?:please|pls|now|cards?|accounts?|of (?:them|these|those|the)|§|his|her|the|their|to|by|for|on|and|with|today|again|temporarily|permanently|asap)\b)(?! the (?:nights|days|rooms|dupes|ways))|(?<!cloned )(?<!skimmed )(?<!hacked )(?<!stolen )(?<!with him )(?<!with her )(?<!with them )(?<!told him )(?<!told her )(?<!came in )(?<!came )(?<!refunded )(?<!billed )\btwice\W*$(?<!typed it twice)|\bafter (?:lunch|work|hours|the (?:weekend|holiday|meeting))\b\W*$|\bwhen (?:he|she|they|it|(?:the|his|her|their|our|my|an?) (?:[a-z]+ ){1,2}?|§c\d+§) ?(?:lands?|arrives?|comes?(?: in)?|returns?|is (?:back|here|in|ready|through)|gets|clears|follows)\b\W*$"
)


#: The writer's own freeze may be meant, which is taken back by a button.
_UNDOES: Final = re.compile(
    r"\bundo (?:the |that |this |her |his |its )?(?:freeze|hold|block|lock|suspension|pause)\b"
)
_A_STORY: Final = 4  # words; less than that may be a slip of "wrong card"


def _may_be_an_undo(text: str) -> bool:
    """`wrog card, undo the freeze on §c0§`: does no story tell that somebody else's freeze is to be lifted?"""
    others = [part.text for part in cut(text) if not _UNDOES.search(part.text)]
    return _UNDOES.search(text) is not None and all(len(other.split()) < _A_STORY for other in others)


def _is_taken_back_around(reading: Reading, text: str, *, apart: bool) -> bool:
    """Does a part of the message that is no part of the request speak against it, or say not to do it?"""
    for part in cut(text):
        if _NOT_TO_DO.search(part.text):
            bare = _NOT_TO_DO.sub("", part.text)
            same = any(said.intent == reading.intent for said in said_in(bare))
            if same or bare.startswith("do ") or _SIGN.search(part.text):
                return True
            continue
        own = _OWN_WORDS.search(part.text) is not None or is_small(part.text) or said_in(part.text)
        if (
            not own
            and not apart
            and not part.asked
            and speaks_against_from_around(part.text, reading.intent, goes_on=part.goes_on)
        ):
            return True
    return False


#: `…, Bob please`: somebody is called by name at the end.
_CALLED: Final = re.compile(r"[,.]\s+[A-Z][a-z]+ (?:please|pls)\W*$")
_ENDS_IN_OURS: Final = re.compile(
    r"\b(?:top-?up|topup|thanks|load|freeze|unfreeze|card|limit|reveal|team|quickly|asap)\s+(?:please|pls)\W*$"
)
_SIGN: Final = re.compile(r"§[achte]\d+§|\bthreeds\b|\bmark-? ?up\b")
#: The request itself, whoever read it.
_OWN_WORDS: Final = re.compile(
    r"§[ahte]\d+§|\b(?:un-?|de|re-?)?(?:freez\w*|froz\w*|block\w*|lock\w*|thaw\w*|defrost\w*|suspend\w*|paus\w*|activat\w*|enabl\w*|disabl\w*|clos\w*|terminat\w*|top\w*|load\w*|fund\w*|submit\w*|reveal\w*|order\w*|issue\w*|switch|turn|add|put|send|give|take|pull|move|bring|transfer|return|remove|lift|kill|cancel|register|enter|update|change|set|raise|lower|bump|use|swap|replace|spending|forever|holder|new card|another card|limit\w*|threeds|mark-?up|phone|number|mobile)\b"
)


#: Why a card is frozen; a phishing message as such is somebody else's words.
_PHISHED: Final = re.compile(
    r"\bphishing (?:link|site|page|attack|scam)\b|\b(?:got|been|was) phished\b|\bphishing(?=\s*(?:[.,;]|$))"
)


#: How long a card is out of use where it may come back, and words after which it never does.
_FOR_A_WHILE: Final = re.compile(
    r"\b(?:for (?:now|the (?:moment|time being|meantime|present)|a (?:while|bit|moment|day|week))|temporar\w+|meanwhile|in the meantime"
    r"|(?:until|till|til|while) (?!further|the end of|good)\w)"
)
_FOR_EVER: Final = re.compile(
    r"\b(?:for (?:good|ever|always)|forever|permanent\w*|definitive\w*|altogether|for keeps|completely|fully|close|closed|closing|closure|terminat\w+|delet\w+)\b"
)
#: Some people say it of a card that shall only be stopped; `shut down` is meant for good.
_VAGUE: Final = re.compile(r"\b(?:kill|shut)(?:\s+off)?\b(?![^.;!?]{0,30}\bdown\b)")


def may_be_a_freeze(reading: Reading, context: Context) -> bool:
    """Whether the words leave open if a card is to be closed or frozen: one verb with the stretch of time of the other, or
    `kill it` in a story of a loss."""
    text = spaced(context.found.masked)
    if reading.intent == "freeze_card":
        return is_for_good(text)
    if reading.intent != "close_card":
        return False
    if _FOR_A_WHILE.search(text) or is_for_a_while(text):
        return True
    vague = _VAGUE.search(text) is not None and _FOR_EVER.search(text) is None
    return vague and not is_small(_VAGUE.sub(" ", text))


def may_be_unfreeze(reading: Reading, context: Context) -> bool:
    """Whether a freeze may be an unfreeze, said into a phone: `on freeze Nora's card`."""
    return (
        reading.intent == "freeze_card" and _DICTATED_AS_TWO.search(spaced(context.found.masked)) is not None
    )


def may_tell_a_state(reading: Reading, context: Context) -> bool:
    """Whether a freeze may be how the card is already: `activate the frozen card of Will`."""
    return reading.intent == "freeze_card" and only_tells_a_state(spaced(context.found.masked))


#: `1,500` without a currency is thousands for some and cents for others: enough for a plain command only.
_BARE_COMMA: Final = re.compile(r"\d{1,3},\d{3}")
_NO_COMMAND: Final = re.compile(
    r"\b(?:i|we)(?:'d| would| want| need| wish)\b|^\W*(?:\w+\W+){0,4}?(?:could|can|would|might|may) (?:you|we|i|someone)\b"
)


def is_bare_comma(reading: Reading, context: Context) -> bool:
    """Whether the amount may be one of cents for its writer, who asks rather than commands."""
    amounts = context.found.inside(context.found.masked, "amount")
    if reading.intent not in ("topup_card", "unload_card") or not _NO_COMMAND.search(context.found.masked):
        return False
    return any(_BARE_COMMA.fullmatch(amount.written) for amount in amounts)


#: Why a freeze is lifted: `the suspicion of fraud has not been confirmed`.
_UNFOUNDED: Final = re.compile(
    r"\b(?:suspicion|suspect\w*|fraud|alert|concerns?|worr(?:y|ies)|allegations?)\b[^.;,]{0,30}\b(?:not|n['’]t|never) (?:been |be |yet )?(?:confirmed|true|real|substantiated|founded|justified|proven)\b"
)


def _without_its_reason(text: str, intent: str) -> str:
    """The text without what tells why, in words that would speak against it elsewhere."""
    if intent == "unload_card":
        text = _TWICE.sub(" ", _TOO_MUCH.sub(" ", IS_OVER.sub(" ", text)))
    if intent == "submit_funding":
        text = without_absence(text)
    if intent == "close_card":
        text = text.replace("no longer needed", "unused")
    if intent == "unfreeze_card":
        text = _UNFOUNDED.sub(" ", text)
    return _BY_THEMSELVES.sub(" ", text)


#: What doing it would be, not that it shall be done: `Unfreezing §c1§ before he has said sorry would be premature`.
_VERDICT: Final = re.compile(
    r"(?<![a-z])(?:(?:un|re|de|dis)-?)?(?:freez|block|lock|clos|cancel|cancell|terminat|activat|abl|suspend|paus|stopp|load|topp|add|putt|tak|pull|withdraw|send|mov"
    r"|rais|lower|sett|increas|decreas|reduc|cutt|dropp|chang|switch|order|issu|submitt|register|giv|fund|fill|credit|return|transferr|bump|updat|enabl|thaw|releas|open)ing\b"
    r"(?! over\b)[^.!?;:,(\n]{0,120}?(?<!and )(?<!so that float )\b(?:would|will|could|might|may|can|should|is|are|was|isn['’]?t|wasn['’]?t|wouldn['’]?t|won['’]?t|can['’]?t|doesn['’]?t|does|didn['’]?t"
    r"|seems?|sounds?|feels?|looks?|makes?|means?|helps?|takes?|costs?|solves?|fixes)\b"
)
#: A paper that has a number for its name: `make me a 1099 for §c1§`. Its amount has no currency, and is of nothing.
_A_NUMBERED_PAPER: Final = re.compile(
    r"\ban? §a\d+§(?!\s*(?:usd|us|dollars?|bucks?|quid|top|load|refill|recharge|reload|credit|advance|transfer|unload|daily|weekly|monthly|per|limit|cap|first|initial|start|opening|extra|more|back|on|onto|to|from|off|into|in|for (?:the|his|her|their|a|my|our|lunch|fuel|taxi)\b))"
)


#: A card for a while is none that is made here: `order a card for 3 weeks`.
_FOR_SOME_TIME: Final = re.compile(
    r"\bcards?(?: please| pls)? for (?:only |just |about )?(?:§[dpnx]\d+§|(?:\d+|an?|one|two|three|four|five|six|some|a few|a couple of|several) (?:day|night|week|month|hour|year)s?\b)"
)


def is_another_thing(reading: Reading, context: Context) -> bool:
    """Whether the message says what doing it would be or bring, or is about a paper, a transfer or a card for some time alone."""
    text = context.found.masked
    if reading.intent != "submit_funding" and context.found.inside(text, "tx_hash"):
        return True
    if reading.intent == "order_card" and _FOR_SOME_TIME.search(text):
        return True
    return _VERDICT.search(text) is not None or _is_a_paper(text, context)


def _is_a_paper(text: str, context: Context) -> bool:
    """Is a number without a currency the name of a form rather than an amount?"""
    return any(
        amount.written.strip().isdecimal()
        for found in _A_NUMBERED_PAPER.finditer(text)
        for amount in context.found.inside(found[0], "amount")
    )


def stays_closed(reading: Reading, context: Context, *, apart: bool = False) -> bool:
    """Whether something in the whole message speaks against opening the form of this reading.

    `apart`: the background around the request was judged already, piece by piece.
    """
    text = _without_its_reason(spaced(context.found.masked), reading.intent)
    if any(
        pattern.search(text)
        for pattern in (
            *(_REMARK, _REPORTED, _TAKEN_BACK, _STATED, _OTHER_THING, _UNSETTLED, _SETTLED_OTHERWISE),
            *((_NOT_TO_GIVE,) if reading.intent in _GIVES else ()),
        )
    ):
        return True
    bare = HARMLESS.sub(" ", text)
    if reading.intent == "freeze_card":
        bare = _PHISHED.sub(" ", bare)
    if reading.intent == "set_limits":
        bare = WANTS_LESS.sub(" ", bare)
    if is_not_asked_for(bare, reading.intent, _dated(bare, reading, context)) or (
        reading.card is not None and ANY_CARD.search(text)
    ):
        return True
    if (
        _names_another(reading, context)
        or _asks_for_another(text, reading.intent)
        or _NOT_A_REQUEST.search(bare)
        or _ORDERED.search(bare)
        or _LATER_THAN_NOW.search(bare)
    ):
        return True
    if _is_taken_back_around(reading, text, apart=apart) or (
        reading.intent == "unfreeze_card" and _may_be_an_undo(text)
    ):
        return True
    if (
        (_speaks_somebody_else(text) and reading.intent != "order_card")
        or somebody_does_it(text, reading.intent)
        or _is_addressed(context)
        or only_asks(context.found.masked, reading.intent)
    ):
        return True
    if _CALLED.search(context.found.cased) and not _ENDS_IN_OURS.search(text):
        return True
    if reading.intent == "close_card" and only_tells_a_state(text):
        return True
    if reading.intent in _NOT_BY and _NOT_BY[reading.intent].search(text):
        return True
    if reading.intent == "topup_card" and any(_FAILED.search(part.text) for part in cut(text)):
        return True
    # "On Monday", said on a Monday, is the next one for most people; Black Friday is none.
    days = context.found.inside(text.replace("black §p", "black "), "period")
    return not apart and any(_WEEKDAY.search(day.written) for day in days) and not _tells(text)


def _dated(text: str, reading: Reading, context: Context) -> str:
    """The text with its days as they were written, but for this one, and with a sign for the holder of a new card."""
    if "name" in reading.slots:
        text = text.replace(reading.slots["name"].lower(), "§e0§")
    return _DAY.sub(
        lambda found: (
            found[0]
            if "today" in (written := context.found.entities[int(found[0][2:-1])].written.lower())
            else written
        ),
        text,
    )


#: `and close it`, behind a request for something else.
_AND_ALSO: Final = re.compile(
    r"\b(?:and|also|then|plus)\s+(?:please |pls |also |then |just )*(?P<verb>close|terminate|freeze|block|lock|unfreeze|unblock|unlock|reactivate)\s+(?:it|that one|the card|his card|her card|their card)\b"
)
_ALSO_IS: Final = {
    **dict.fromkeys(("close", "terminate"), "close_card"),
    **dict.fromkeys(("freeze", "block", "lock"), "freeze_card"),
    **dict.fromkeys(("unfreeze", "unblock", "unlock", "reactivate"), "unfreeze_card"),
}


def _asks_for_another(text: str, intent: str) -> bool:
    if intent == "close_card" and _LIFTED.search(text):
        return True
    return any(_ALSO_IS[found["verb"]] != intent for found in _AND_ALSO.finditer(text))


_LIFTED: Final = re.compile(
    r"\b(?:lift|remove|release|undo|take off) (?:the|that|this|her|his) (?:freeze|block|hold|lock)\b"
)


def _names_another(reading: Reading, context: Context) -> bool:
    """Does a part of the message say the same of another card, with "too"?"""
    return any(
        len(card.value) == 1 and card.value[0] is not reading.card and "weak" not in card.traits
        for part in cut(spaced(context.found.masked))
        if _ANOTHER_CARD.search(part.text)
        for card in context.found.inside(part.text, "card")
    )


_AMOUNT: Final = re.compile(r"§[at]\d+§")
_DAY: Final = re.compile(r"§p\d+§")


#: `Ines left Friday` is a story, though it has one word.
_WENT: Final = re.compile(
    r"^(?:§c\d+§|he|she|they) (?:travels|flies|leaves|drives|lands|arrives|departs|returns|left|quit|resigned|retired|went|moved|died|finished|stopped|departed|got fired|was (?:fired|let go|dismissed))"
    r"(?: us)?(?: (?:on|last|this|since))? §p\d+§\W*$"
)


def _speaks_somebody_else(text: str) -> bool:
    """`bob: …`, `her post-it: …`: whose words come after the colon?"""
    found = _BEFORE_COLON.search(text)
    if found is None or is_small(found["who"]):
        return False
    who = found["who"].strip()
    return introduces(who) and (_ASKS.search(who) is None or _OF_SOMEWHERE.match(who) is not None)


def _is_addressed(context: Context) -> bool:
    """Is it said to a person: `Bob, please …`, `@O'Neill can you …`?"""
    found = _ADDRESSED.search(context.found.cased)
    if found is None:
        return False
    who = found["who"].lstrip("@").lower()
    return not any(word in _GREETS for word in who.split()) and _ASKS.search(who) is None


def _tells(text: str) -> bool:
    """Does the day stand in a story of its own, apart from the request?"""
    return any(
        (tells_enough(part.text) or _WENT.search(part.text))
        and not _AMOUNT.search(part.text)
        and not said_in(part.text)
        and not said_before_a_story(part.text)[0]
        for part in cut(text)
        if _DAY.search(part.text)
    )


__all__ = [
    "is_bare_comma",
    "may_be_a_freeze",
    "may_be_unfreeze",
    "may_tell_a_state",
    "stays_closed",
]
