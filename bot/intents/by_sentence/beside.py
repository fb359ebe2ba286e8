"""What stands beside a request: whether any of it takes the request back, doubts it, puts it off or asks for more.

Nothing here has to be understood. It is asked what a sentence could do to the request: say "no" to it, hang a condition or
another hour on it, tell whose words it is, skip a control, name another card, another amount or a second thing to do.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.by_sentence.stories import tells_only
from bot.intents.by_sentence.story_values import tells_of_a_payment
from bot.intents.by_sentence.stretches import Beside, Candidate
from bot.intents.by_sentence.wording import only_leads
from bot.intents.extraction import INCIDENTAL, Entity
from bot.intents.model import Facts, Reading
from bot.intents.plain_text import without_hours, word_set
from bot.intents.readings import is_today
from bot.intents.requests import introduces, speaks_against

_N: Final = r"(?:not|never|n['’]?t|cannot|no longer|hardly|nor)"
#: It is not meant, or is taken back.
_RETRACTS: Final = re.compile(
    r"\b(?:never ?mind|nvm|scratch|(?:scrap|strike|nix|belay) (?:that|it|this)(?! (?:for good|permanently|forever|card))|forget (?:it|that|this|about|what|my|the|i)|ignore|disregard|undo|retract\w*|revok\w+|abort|wait(?! (?:time|list|room|at the|in the|for (?:him|her|the (?:bus|train|flight|taxi|plane))))|hold on|hold off|holding off|hold it|hang on|on hold|changed? (?:(?:my|his|her|their|our|its) )?(?:minds?|idea)|second thoughts?|take (?:it|that|this) back|oops|ups|whoops|typo|slip of|mistyped|correction|sa(?:id|ys) (?:nobody|no[ -]?one)|i mean(?!t to|while|s)|i meant|meant to (?:say|write|type)|not (?:that|this|the) (?:card|one)|wrong (?:channel|chat|thread|window|person|group|card|one|number|amount)"
    r"|jok\w+|(?<!wish i was )(?<!i wish i were )kidding|lol|lmao|haha\w*|rofl|jk|sarcas\w+|not serious|just (?:a )?test\w*|a test|testing|test(?=\W*$)|drill|drills|dream\w*|pretend\w*|imagin\w+|suppos\w+|hypothe\w+|theor\w+|example|instance|e\.g|sample|template|draft\w*|placeholder|training|exercise|practi[cs](?!ally)\w+|rehears\w+|simulat\w+|phish\w*|scam\w*|fraudster|spam|hoax|prank|copied|pasted?|forwarded|fwd?"
    r"|leave (?:it|that|this|them|things|the card|her card|his card)|let (?:it|that|this) (?:be|go|stay|rest)|(?<!could )(?<!would )(?<!to )cancel (?:it|that|this|my|the (?:request|above|last|top|load|freeze))|withdr\w+ (?:it|that|this|my|the request)|skip (?:it|that|this)|drop (?:it|that|this)(?! on| onto| in)|call(?:ed|ing)? (?:it|this|that) off|false alarm|all good now|sorted (?:now|itself|already)|resolved itself|no longer (?:needed|necessary|required|relevant|want)|instead(?! of (?:sms|his|her|the (?:sms|text|old|phone)))|actually,? (?:no|not|leave|don|wait|forget|skip|make|let)|or not|not really)\b"
    r"|(?:^|[.,;:!–-]\s*)(?:no|nope|nah|stop|cancel|don'?t|do not|not|never|halt|jk|nay)\W*(?:$|[,.!])|(?:^|[.,;:!–-]\s*)(?:no|nope|nah)\s+(?:no|don|do not|not|leave|stop|wait|it|that|this|sorry|please|thanks|way|better)\b"
)
#: Somebody may still say no, or has.
_UNDECIDED: Final = re.compile(
    rf"\b(?:(?:{_N}|without|pending|await\w*|subject to|lacks?|lacking|needs?|requires?|before|until|till|after|once|upon|wants? to|has to|have to|must|yet to|still)\b[^.;]{{0,40}}\b(?:approv\w*|agree\w*|authori[sz]\w*|sign(?:s|ed|-?off)?|confirm\w*|consent\w*|permission|ok(?:ay)?(?:ed|s)?|decid\w*|decision|clear(?:ed|ance)?|green ?light\w*|go-?ahead|budget)"
    r"|(?:approv\w*|agree\w*|authori[sz]\w*|sign-?off|confirm\w*|consent|permission|decision|clearance|go-?ahead|green light)\b[^.;]{0,30}\b(?:pending|await\w*|follow\w*|missing|outstanding|to come|not|n['’]t|required|needed|tomorrow|later|soon|withdrawn|refused|denied|revoked)"
    r"|await\w*|pending|undecided|unclear|unsure|uncertain|not sure(?! (?:where|how|when|why|what))|not certain|not convinced|not happy|unhappy|doubt\w*|disagree\w*|object(?:s|ed|ion|ions|ing)\b(?! code)|oppos\w+|veto\w*|against(?! §c)(?! (?:her|his|their|the|this|that) card\b)(?! (?:the |our |an? )?(?:invoice|po|bill|quote|§x|claim|receipt|reimbursement))|refus\w+ to (?:approv|sign|agree|allow|authori|confirm|ok|do (?:it|this|that)|be )\w*|forbid\w*|forbade|prohibit\w*|allowed|permitted|supposed|entitled|deciding|debating|discuss(?:ing|ed|ion)? (?:it|this|that|whether|with)|consider\w*|weigh\w* (?:it|up)|thinking (?:about|of|over)|contemplat\w*|wonder\w*|evaluat\w*|under review|in review|on the fence|i (?:think|guess|believe|suppose|reckon|feel|fear|assume|hope) (?:we|it|that|this|you|i should|so|not)"
    r"|check(?:ing)? (?:it |this |that )?(?:first )?(?:with|whether|if)|verify(?:ing)? (?:first|with|whether|if)|confirm(?:ing)? (?:first|with|whether|if)|let me (?:check|ask|confirm|verify|think|know (?:if|whether|what you think|first))|ask(?:ing)? (?:him|her|them|bob|carol|dave|finance|the boss|the manager|my boss|my manager)? ?(?:first|before)|run (?:it|this) (?:by|past)|clear (?:it|this) with|tb[acd]|to be (?:confirmed|decided|discussed|announced|agreed|approved)|permitting|thoughts|opinions?|advise|suggest\w*|recommend\w*|propos(?:e|es|ing|al)|maybe|perhaps|possibly|might|may (?:need|want|have to|be)|probably (?:better|best|not|should)|might (?:be better|not|want|need to|have to)|should (?:we|i|you|one)|we should|i should|you should|shouldn['’]?t|shall (?:we|i)|ought|would (?:be (?:better|best|wrong|wise|wiser|smart|stupid|silly|a mistake|foolish|bad)|have|never)|better (?:not|wait|leave|to|if)|rather (?:not|than|wait|leave|we|you|i|have|keep)|(?:['’]d|would|had) rather|mistake(?!n)|(?:is|was|were|are|be) (?:all )?(?:wrong|stupid|silly|nonsense|rubbish|madness)|bad idea|good idea|an idea|whether|either|or else do|alternatively|otherwise(?= (?:do|use|load|freeze|put|leave)))\b"
)
#: It hangs on something, or on another hour.
_HANGS: Final = re.compile(
    r"\b(?:if|unless|in case|provided|providing|depend\w*|assuming|as long as|so long as|only (?:if|when|once|after)|in the event|as soon as|(?<!for )(?<!at )the moment|the minute|whenever|(?<!\bfor )(?<!\bat )once(?! (?:a (?:day|week|month|year)|more|again|upon|only|this|in a|per|(?:and )?for all))|until further|from (?:next|tomorrow|monday|then)|(?<!is )(?<!are )starting(?! (?:today|now|§p))|effective(?! (?:today|now|immediately|§p))|w\.?e\.?f|with effect|not (?:now|yet|today|right now|immediately|this (?:week|month|time))|when you (?:get|are|come|['’]re) (?:in|home|back|there|here|up|to)\b|no hurry|later (?:today|on|this|in)|(?:do|process|execute|run|send|make|put|load|need|want) (?:it|this|that) (?:only )?(?:on(?! (?:her|his|their|the|that|this|my|our|§c))|at|after|before|from|later|tomorrow|next|then|when|in(?=\s+(?:§|\d|an?\b|the (?:morning|afternoon|evening)|[a-z]+ (?:days?|weeks?|hours?|months?))))|(?<!the )first thing|(?<!ahead of )(?<!behind )schedul\w*|every (?:week|month|day|monday|friday|year|time)|each (?:week|month|day|time)|(?:weekly|monthly|daily) (?:from|basis)|recurring|standing order|regularly|(?:do|load|send|put|need|add|give)\b[^.]{0,20}\b(?:twice|both)|same (?:again|for|to|with)|some ?day|one day|eventually|sometime|in (?:the )?future|next time|last time|used to|no rush(?= (?:until|before|till)))\b"
    r"|^(?:but |only |just |and |or )*(?:before|after|until|till|til|when|while|then|later|tomorrow|tonight|soon|next|by|at|on|in(?! [a-z]{4,} (?:he|she|they|we|it|§c\d+§) [^.]*\b(?:gets?|has|have|needs?|can|is|are|does|works?|uses?|wants?)\b)|from|not)\b(?! (?:the|his|her|their|our|my|a|an|this|that|he|she|they|we|i|it|§c\d+§) [^.]*\b(?:is|are|was|were|has|have|had|need\w*|want\w*|can\w*|will|would|got|[a-z]{3,}(?:ed|ing|s))\b)[^.]{0,40}$"
)
#: Whose words the request is.
_REPORTED: Final = re.compile(
    r"(?<!i )(?<!we )(?<!i have )(?<!to )\b(?:told|tells?|telling|ask(?:s|ed|ing)?|order(?:s|ed|ing)?|instruct\w*|command\w*|direct(?:s|ed)|advis\w+|urg(?:es?|ed|ing)|forc\w+|pressur\w*|demand\w*|insist\w*|beg(?:s|ged|ging)?|want(?:s|ed|ing)?|request(?:s|ed|ing)|expect\w*|need(?:s|ed)|wish(?:es|ed)?|prefer\w*|got|had|made) (?:(?:me|us|you|him|her|them|finance|accounts|everyone|everybody|someone|somebody|the (?:bot|team|clerk))\b(?! (?:since|again|every|all|a|an|the|some|two|three|four|for|about|where|how|why|what|if|that|his|her|their|§|more|extra|cash|money|on|in|at|from|back|into|out|off)\b))"
    r"|(?<!i )(?<!we )(?<!you )(?:told|tells?|telling|asks?|asked|asking|ordered|orders|instructed|advised|urged|demands?|demanded|insists?|insisted|begs?|begged|wants?|wanted|requested|requests|said|says) (?:for it|to (?:do|put|add|load|freeze|close|block|unfreeze|raise|lower|set|take|pull|send|give|change|top|cancel|order|stop|unblock|lock|unlock)\b|(?:it|this|that|so|as much|exactly)(?=\W*$|[,.;:])|(?:the following|as follows|following))"
    r"|\b(?:asks?|asked|asking|begs?|begged) (?:me|us) for (?:it|this|that|them)\b|^\W*(?:said|says|wrote|demanded|ordered) (?!(?:he|she|they|it|that|there|to|so)\b)[a-z§]"
    r"|\b(?:wrote|writes|written|writing|typed|types|typing|texted|texts|posted|scribbl\w+|(?<!\bthe )(?<!\ba )(?<!\bhis )(?<!\bher )(?<!\btheir )(?<!\bour )quot(?:e|ed|es|ing)\b(?! (?:of|for|from|was|is|came|at))|verbatim|word for word|following|as follows|one thing\W*$|wording|reads?(?= (?:this|it|that|as|:|the following)|\W*$)|(?:his|her|their|its|bob's|carol's|dave's) (?:words?|wording|message|request|order|note|text|orders|instructions?)|(?:message|note|text|e?mail|letter|ticket|chat|post|comment|voicemail|sms) (?:was|is|reads|says|said|goes|went|had|asks)|(?:orders?|instructions?|manual|policy|rules?|procedure|slide|guide|script) (?:was|is|were|are|says?|said|reads?)\b(?! (?:that|only|no))|(?:according to|as per|per) (?:bob|carol|dave|him|her|them|the (?:message|mail|note|caller|manual|slide))|shout\w*|yell\w*|scream\w*|mutter\w*|whisper\w*|keeps? (?:saying|asking|repeating|writing|telling|texting)|kept (?:saying|asking|repeating|writing)|repeat(?:s|ed|ing)?|on behalf of|somebody else's|this is what|that is what|that's what|that'?s how|i (?:heard|overheard|saw|read) (?:him|her|them|someone|that|it)|rumou?r\w*|allegedly|supposedly|apparently he|(?<!above )(?<!captioned )(?<!the )subject\W*$|re\W*$|title|caption|headline|heading|memo|minutes of|todo|to-?do|note to self|reminder(?: to|:)|remind(?:s|ed)? (?:me|us)|fyi|for (?:your|my|our) (?:information|info|records?)|just (?:for )?info(?:rmation)?|for the record|btw|by the way|translat(?:e|ed|es|ing)|translation(?=\W*$| of (?:his|her|the|their) (?:message|mail|request))|in (?:polish|german|french|spanish|dutch)|how (?:do|would|does|should|can|could|to))\b"
    r"|\b(?:asked|told|wanted|instructed|requested|ordered|begged|reminded|meant|going|about|had|have|has|used|decided|planned|tried)(?: (?:you|him|her|them|us|me|finance|everyone))? to\W*$"
    r"|\b(?:said|says|say|saying|goes|went like|told (?:me|us)|asked|announced|declared|(?<!her )(?<!his )(?<!the )(?<!a )(?<!expense )claims?|claimed|thinks?|thought|believes?|reckons?|replied|answered)\W*$"
    r"|\b(?:said|says|say|saying|announced|declared|claims?|claimed|replied|answered)\s+(?:(?:no|not|stop|wait|don|leave|never|go|please|pls|yes|ok|okay|sure|freeze|block|load|close|put|take)\b)"
)
#: What guards money is to be left out.
_GUARD: Final = r"(?:second (?:person|pair|signature|sign|approv\w*|signer|signatory|check|look|opinion|set of eyes|eyes|set|one)|2nd (?:person|signature|approv\w*|sign\w*|pair)|other (?:person|signature|signer|approver)s?|approv\w*|sign-?offs?|signatures?|signing|four[- ]eyes|4[- ]eyes|two[- ]man|dual (?:control|approval)|maker[- ]checker|checkers?|controls?|checks?|queue|process|procedure|policy|red tape|paperwork|formalit\w+|review\w*|confirmation|verification|cooling)"
_SKIPS: Final = re.compile(
    rf"\b(?:skip\w*|bypass\w*|without|w/o|no need (?:for|of|to (?:get|ask|wait for|bother))|ignor\w+|forget(?: about)?|leave out|omit\w*|waiv\w+|circumvent\w*|avoid\w*|dispense with|no time for|around|go around|get around|override|overrid\w+|no|don'?t (?:need|want|bother|wait for|ask)|do not (?:need|want|wait for|ask)|drop|spare (?:me|us)|cut out|minus|disable|turn off|switch off|instead of|rather than|not (?:wait|waiting) for)\s+(?:(?:bothering|asking|telling|involving|waiting|going|through|getting|needing|having|the|a|an|any|all|our|that|this|usual|normal|whole|for|of|with|to|wait|ask|another|further|more|extra|other|bob's|carol's|dave's|his|her)\s+){{0,4}}{_GUARD}\b"
    r"|\b(?:approve (?:it|this|that)|self-?approv\w*|i(?:'ll| will| can|'m)? (?:just )?(?:approv\w*|sign\w*) (?:it|this|that|for (?:him|her|them|bob|carol|dave))|you (?:can )?(?:just )?approve|auto-?approv\w*|straight through|on my (?:own )?(?:authority|approval|say|word)|my (?:word|say-so) is enough|i(?:'m| am) (?:the )?(?:boss|ceo|cfo|owner|admin) (?:here )?so|don'?t (?:tell|mention|log|record|show)|off the record|keep (?:it|this) (?:quiet|secret|between)|between us|nobody (?:needs|has) to (?:know|see|approve|sign|check))\b"
)
_VERBS: Final = r"(?:un-?|re-?|de)?(?:freez\w*|froz\w*|block\w*|(?<!pad)lock(?:s|ed|ing)?|suspend\w*|thaw\w*|paus(?:e|es|ed|ing)|activat\w*|enabl\w*|disabl\w*|clos(?:e|es|ed|ing|ure)|terminat\w*|cancel\w*|top(?:s|ped|ping)?[ -]?up\w*|topup\w*|load(?:s|ed|ing)?|recharg\w*|refill\w*|withdr\w*|reveal\w*|replac\w*|discontinu\w*|deactivat\w*)"
_CUE: Final = re.compile(rf"\b{_VERBS}\b")
#: A second thing to do.
_COMMANDS: Final = re.compile(
    r"(?:^|[,;:–-]\s*|\b(?:and|then|also|but|please|pls|plz|kindly|so|just|now|plus)\s+)(?:please |pls |kindly |also |then |just )*(?:put|add|give|send|take|pull|move|bring|set|make|change|raise|lower|bump|switch|turn|lift|remove|return|freeze|block|lock|unlock|unblock|unfreeze|close|load|unload|top|cancel|order|issue|submit|register|cap|limit|update|show|list|tell me|give me|find|check|reveal|stop|pause|undo|approve|reject|refund|transfer|withdraw|open|activate|enable|disable|deactivate|increase|reduce|cut|drop)\b(?! (?:it to|care|off at|up at|me know|us know|sense|sure|do\b|place|part|time|ages|a (?:note|look|while|trip|train|taxi|cab|flight|moment)|home|stands|is\b|was\b|has\b|got\b|from\b|with\b|resolved|on the (?:train|bus)|(?:the|his|her|a) (?:train|bus|plane|taxi|call|van|car|kids|receipts?|invoice)))"
    r"|\b(?:can|could|would|will) (?:you|u|someone|somebody) (?!believe|imagine|guess)|\b(?:i|we)(?:'d| would)? (?:also |still )?(?:need|want|like|require)s? (?:you |to |it |this |that |the card|another|his card|her card|§c)"
)
#: After these a "not" is about the request.
_OF_THE_REQUEST: Final = re.compile(
    r"\b(?:needed?|necessary|required?|right|true|correct|serious|mean(?:t|s)?|want(?:s|ed)?|done|due|valid|mine|ours|ready|urgent enough|fine|ok|okay|certain|this (?:request|time)|do (?:it|this|that)|be (?:done|loaded|frozen|blocked|closed|topped)|happen(?:ing)?|the request|a request|an order|my (?:request|idea|wish)|worth|help|matter)\b"
)
_NOT: Final = re.compile(
    rf"\b(?:{_N}|no|nobody|none|nothing|neither|without|dont|doesnt|didnt|cant|wont|isnt|arent|wasnt|hasnt|havent|aint|avoid|refrain\w*)\b|n['’]t\b"
)
_OR: Final = re.compile(r"^\W*or\b")
#: Whose money it would be: what somebody pays back is no load.
_FROM: Final = re.compile(
    r"^\W*(?:back )?(?:from|out of|off)\b(?! (?:the |our )*(?:float|pool|pot|main account|account|company))"
)
#: Behind a request: for each, not for all.
_EACH: Final = re.compile(
    r"^\W*(?:(?:per|an?|each|every|by the|/)\s*)?(?:day|week|month|trip|person|head|year|quarter|daily|weekly|monthly|nightly|annually)\b|^\W*(?:twice|both|x ?2)\b|\b(?:each|apiece|per (?:day|week|month|head|person|trip))\b"
)
#: Of whom or what a "not" may be said: somebody or something that is not the request.
_SUBJECT: Final = re.compile(
    r"^(?:(?:and|so|but|as|because|since|well|now|though|although|also|being|hence|due to|with|of course|honestly|basically|apparently|turns out|it turns out|the thing is)\b[\s,]*)*(?:he|she|they|we|i|it|nobody|no one|none of|theres|its|hes|shes|theyre|(?:he|she|they|it|that|there)['’](?:s|re)|§[cm]\d+§|there|(?:the|his|her|their|our|my|its|an?|some|both|most|this|that|these|those|one) (?!request|order|top|load|freeze|block|change|closure|form|limit|amount|one\b)[a-z]|who|which|whose|(?!it|this|that|there|nobody|none|nothing|not|no|never|dont|don|do|please|pls|kindly|also|then|just|only|better|rather|or|if)[a-z]+\b (?:[a-z'’-]+ |§p\d+§ ){0,4}?(?:is|are|was|were|has|have|had|can|could|will|would|do|does|did|isn|aren|wasn|weren|hasn|haven|can|won|doesn|didn|wont|cant|dont|doesnt|didnt|isnt|arent|wasnt|werent|hasnt|havent|couldnt|wouldnt|[a-z]+s|[a-z]+ed)\b)"
)
#: A "not" that says it again: `no need to block it`, `not to close it, only freeze`, `no replacement is required`.
_NOT_ELSE: Final = {
    "freeze_card": r"phishing (?:mail|e-?mail|message|site|page|link|attack|call|sms|text)s?|(?:until|till|til|while) (?:i|we|he|she|they|it|this|that|(?:his|her|their|the) [a-z]+|plastic|card|everything|§c\d+§)(?:['’](?:s|re|ve|ll))?(?: (?:can|could|have|has|keep|are|is|still|first|will))* (?:find|finds|found|locate|know|knows|look|looks|looking|search|searching|sort|sorts|hear|hears|see|sees|turns? up|shows? up|comes? back|back|clear(?:ed)?|sorted|resolved|solved|recovered|returned|away|on (?:leave|holidays?|vacation)|investigat\w+|talk|speak)(?: (?:it|him|her|them|out|what|up))*|just a freeze|before (?:i|we) (?:continue|talk|speak|call|go on|look|know|decide|do anything)\b[^.;§]*|for (?:the )?time being|(?:the card |it |her card |his card |this )?(?:should|must|shall|may|need|does|do)(?: not|n['’]t) (?:need )?(?:to )?be (?:closed|cancell?ed|terminated|deleted)(?: for good| permanently| yet)?(?:,? (?:but )?(?:only|just) (?:be )?(?:frozen|freeze|blocked|on hold|paused))?|(?:only|just) (?:be )?(?:frozen|blocked|on hold|paused)|(?:just|only) freeze(?: it)?|(?:dont|don'?t|do not|not) (?:to )?close(?: it)?|not (?:to )?(?:close|cancel|terminate|delete) (?:it|the card|her card|his card)?(?:, only freeze)?|(?:do not|don'?t|no need to) (?:close|cancel|terminate) (?:it|the card)?|(?:should|must|may) not (?:remain|stay|be(?: left)?) (?:open|operative|active|usable|live|in use)|not close",
    "close_card": r"(?:we |i |they )?(?:do|does)(?: not|n['’]t) (?:need|require|use|want) (?:§c\d+§|it|(?:this|the|that|her|his) card)(?: any ?more| any longer| now| at all)*|not (?:only |just |to )?(?:an? )?(?:be )?(?:fr[eo]ez\w*|frozen|block\w*|paus\w*)(?: it)?,? (?:but |just |only |really )*(?:to )?(?:clos\w+)(?: it)?|(?:just|actually|really) close(?: it)?|no (?:replacement|new card|reissue)(?: card)?(?: (?:is|will be))?(?: (?:required|needed|necessary|wanted))?|(?:do not|don'?t|no need to) (?:replace|reissue|re-?order|renew) (?:it|the card)?|not (?:just |only |merely )?(?:frozen|blocked|paused|on hold),? (?:but )?(?:gone|closed|dead|finished|ended|closure)|not (?:just )?(?:a )?freez\w*|freez\w* (?:is|will) not (?:sufficient|enough|do)|(?:is |are )?(?:no longer|not) (?:needed|required|in use|used|using)(?: any ?more| by anyone)?|not (?:coming|come|returning|going to return|going to come) back|no longer with us",
    "unload_card": r"(?:instead of §a\d+§ )?(?:(?:i|we) )?(?:(?:have|had|just|accidentally|wrongly) )*(?:loaded|put|sent|typed|entered|gave|booked|topped up)(?: (?:her|him|it|§c\d+§))? §a\d+§(?: usd)?(?: (?:on|onto|to|for) §c\d+§)?(?: (?:instead of|rather than|not|for) §a\d+§)?(?: (?:on|onto|to|for) §c\d+§)?|(?:no longer|not|doesn'?t|does not|don'?t|do not|didn'?t|did not) (?:need|use|spend|want)s? (?:the |that |those |her |his )?§a\d+§(?: any ?more| any longer| in the end| after all)?|(?:i|we) need (?:it|them) (?:for|elsewhere|back|on|to (?:pay|book|buy))\b[^.;§]*|(?:i|we)['’]?d rather (?:it|they) (?:not |did not |didn['’]?t )[^.;§]*|(?:by|in) (?:typing |my |our |a |pure )*(?:mistake|error|oversight)|(?:mistake|error)|(?:is |are |was )?(?:no longer|not) (?:needed|required|used|using|going to (?:use|need)|in use|necessary)(?: any ?more| at all| there)?|doesn'?t need (?:it|that much|so much|the money)(?: any ?more)?",
    "change_phone": r"instead(?=\W*$)|(?:the |his |her |this |that )*(?:number|phone|digit|it)(?: on file| there| we have)? (?:is|was) wrong(?: by (?:one|a|two|a couple of) digits?)?|wrong (?:number|digit)s?|no need to (?:block|freeze|replace|reissue|lock|close)(?: it| the card| anything)?(?! (?:the |her |his )?(?:phone|number|mobile|sim|contact|cell|nr|no|§))|(?:do not|don'?t) (?:block|freeze|lock|close)(?: it| the card)?|not (?:the )?old (?:one|number)",
    "set_markup": r"(?:we|i) (?:do not|don'?t|dont) (?:want|need|wish|like) to (?:earn|make|profit|charge|gain|lose|pay)\b[^.;]*|(?:by|in) (?:mistake|error|oversight)",
    "submit_funding": r"whether (?:it|this|that) (?:worked|went through|arrived|came)",
    "set_3ds": r"instead(?=\W*$)|(?:and |but )?not (?:to |on |by )?(?:her|his|the|their|any)? ?(?:phone|mobile|sms|number|handset)|instead of (?:to )?(?:her|his|the|their)? ?(?:phone|mobile|sms|number|handset)|not asking for any (?:other )?change[^.]*|nothing else|no other change[^.]*",
    "reveal_card": r"(?:i|we) (?:want|need|have|would like|must|wish) (?:to )?(?:book|buy|pay|register|reserve|renew|subscribe)\b[^.;§]*|(?:cvv|pin|cvc|expiry)(?: code)? (?:is )?not (?:required|needed|necessary)(?: as such)?|(?:don'?t|do not|no) need (?:the )?(?:cvv|pin|cvc|expiry)(?: code)?|not (?:the |needing |asking for )?(?:the )?(?:cvv|pin|cvc|expiry)",
    "set_limits": r"other limits? (?:may|can|should|to|will|shall)? ?(?:remain|stay|be)?[^.]*|(?:no|not any) other changes?",
    "topup_card": r"not (?:enough|sufficient|covered|cover)|no (?:money|funds|cash|balance) (?:left|on it)",
    "unfreeze_card": r"(?:(?:it|that) (?:was|is) )?(?:just |only )?(?:an? )?false alarm|(?:the |our |his |her )*(?:suspicion|suspect\w*|fraud|alert|concerns?|worr(?:y|ies)|claim|report|charges?)\b[^.;]{0,40}\b(?:not|n['’]t|never) (?:been |be |yet )?(?:confirmed|true|real|substantiated|founded|justified|proven|fraud)|(?:froze|frozen|blocked|locked|freeze|block)(?: it| her| him)?(?: was| is)?(?: only)? (?:by|in) (?:my |a |pure )*(?:mistake|error|accident|oversight)|(?:the )?(?:freeze|block|hold)[^.]{0,40}\b(?:was|is|were) (?:done|put|placed|made|only|applied|set)|(?:no longer|not) (?:needs? to be |to be )?(?:frozen|blocked|locked|suspended)|no (?:reason|need) (?:to keep it|for it to be|to stay) (?:frozen|blocked|locked)",
}
_NOT_ELSE_OF: Final = {
    intent: re.compile(rf"\b(?:(?:please |kindly |pls )?(?:note )?(?:{pattern}))(?![\w'’])")
    for intent, pattern in _NOT_ELSE.items()
}
#: What may stand in a "not" without a subject: nothing is hurried, nothing was found.
_HARMLESS_NOT: Final = re.compile(
    r"\b(?:(?:know|knows|knew) nothing (?:about|of)|no (?:fraud|scam|theft|danger|risk|foul play|wrongdoing|harm|suspicion|rush|hurry|worries|problem|drama|fuss|joke|idea|clue|luck|answer|reply|trace|sign of|cash|money|fuel|signal|receipts?|news|choice|other way|wonder|kidding|doubt|thanks to|more than|longer (?:here|employed|working|with)|issue(?: from)?|surprise|show|good)|not (?:urgent|to worry|her fault|his fault|my fault|only|just|a problem|a big deal|the end of the world|ideal|great|fun|cheap|kidding|long|far|coming back|back|here|there|working|in|even|all|everyone|many|much|once|used|touched|submitted|received|traceable|reachable|visible|accept\w*|proper)|nothing (?:serious|urgent|major|dramatic|bad|left|on it|works?|happen\w*|came|arrived)|without (?:a|an|any|her|his|it|their|the|money|cash|internet|wifi|signal|fuel|petrol|power|water|delay|warning|telling|asking)\b(?! (?:second|approv\w*|sign\w*|ok\b))|why not|can'?t (?:wait|believe)|whether or not|(?:do not|don['’]?t|dont) (?:want|wish|like|need) to (?:explain|hear|argue|fight|see|read|repeat|know|wait|think|look|beg|chase|discuss)(?: (?:it|this|that|about it))?)\b|^(?:please )?(?:do not|don['’]?t) (?:even )?ask(?: me)?(?: how| why| what)?(?=\W*$)|^(?:can'?t|cannot|couldn'?t|won'?t|didn'?t|doesn'?t|hasn'?t|isn'?t|wasn'?t)\s+(?:be\s+)?(?:found|find|reach\w*|locate|pay|go|answer|arriv\w*|work\w*|come|get|book|check|even|remember|sleep|believe|help)\b"
)
#: How a question is put that has no mark.
_QUESTION: Final = re.compile(
    r"^\W*(?:why|what(?! (?:a|an|happened|is more|'s more)\b)|where(?!as)|when (?:is|are|was|will|does|do|did|can)|who (?:is|are|was|will|does|do|did|can|has)|how (?:much|many|come|do|does|did|is|are|was|can|about|long)|which (?:card|one|of)|(?:is|was|would|will|could|can|might) (?:it|this|that|there|he|she|the)|(?:are|were) (?:we|you|they|there)|do (?:we|you|i|they)|does (?:it|he|she|this|that)|did (?:we|you|i|they|he|she|it|that|this|the)|has (?:it|he|she|this|that)|have (?:we|you|i|they)|can (?:i|we|he|she|it)|should|shall|any (?:news|update|idea|thoughts))\b|,\s*(?:did|does|has|have|had|was|were) (?:that|this|it|anyone|anybody|someone|somebody|the (?:request|order|top[ -]?up|load|freeze|form|change)|that one|this one)\b"
)
_SMALL_TALK: Final = re.compile(
    r"^\W*(?:how (?:are|r) (?:you|u|things|we)(?: (?:all|doing|today|this \w+|keeping))*|how(?:'s| is) (?:it going|everything|your (?:day|week|morning)|life|the weather)|what'?s up|can you (?:believe|imagine) (?:it|that)|you (?:there|alive|awake)|all (?:well|good|ok)|ok(?:ay)?|(?:had|have) (?:you )?(?:had )?a (?:good|nice|great) \w+(?: \w+)?|(?:isn'?t|wasn'?t) (?:that|it) (?:lovely|great|typical|something|nice|fun|awful)|who (?:does|even does|would do) that|what a \w+|why (?:is it )?always me|remember me|guess what|right|typical|eh|no|what else is new|who knew)\W*$"
)
#: What is done already, or by somebody else.
_DONE: Final = re.compile(
    r"\b(?:already (?:did|done|handled|loaded|frozen|froze|blocked|closed|topped|raised|set|changed|submitted|sent it|ordered|processed|taken care|sorted|executed|booked)|(?:i|he|she|they|we|bob|carol|dave|someone|somebody|the (?:guys|team|bank)) (?:already )?(?:did (?:it|that|this)|took care of (?:it|that|this)|handled (?:it|that|this)|sorted (?:it|that|this)|fixed (?:it|that|this)|has it|have it|got it)|(?:has|have|had|got|received) (?:it|that|this|them)(?: §p\d+§)? already|got it §p\d+§|taken care of|it (?:was|is|has been) (?:done|loaded|frozen|closed|handled|withdrawn|cancelled|rejected|executed|processed)|was done|been done|is done|rejected|declined the request|withdrawn|request (?:is|was) (?:on hold|withdrawn|rejected|cancelled|declined))\b|\bdone\W*$"
)
#: Why somebody asks, at the head of a sentence: what follows is not somebody's order.
_CAUSE: Final = re.compile(
    r"^\W*(?:(?:and|so|now|well|ok)\s+)*(?:as|since|because|becoz|bcoz|coz|cos|cuz|due to|owing to|on account of|in view of|in light of|considering|given|seeing (?:as|that)|further to|with reference to|with regards? to|regarding|following (?:my|our|the) (?:call|talk|discussion|conversation|mail|email)|now that|after (?:my|our|the)|i checked|please note|being)\b"
)
_GREETS: Final = re.compile(
    r"^(?:(?:hi|hello|hey|hiya|dear|good|morning|afternoon|evening|day|all|team|bot|there|everyone|folks|guys|again|me|its|it's|sir|madam|respected|sorry|ok|okay|so|now|well|next|one|right|thanks|thank you|hope|you|had|have|are|is|a|nice|weekend|great|lovely|week|i|doing|fine|your|this|finds|well|please|pls|kindly|disturb\w*|bother\w*|to|for|quick|urgent|thing|only|and|countersign|ladies|gentlemen|happy|monday|tuesday|wednesday|thursday|friday|note|action|request|subject|card|needed|favour|favor|small|little|last|first|more|dears?|mate|pal|lads?|love|boss)\b[\s,.!:;)('-]*)*$"
)
#: What its writer will do afterwards.
_PROMISES: Final = re.compile(
    r"^\W*(?:and |i |we )*(?:will|'ll|shall|i'll|we'll) (?:tell|inform|share|send|attach|forward|explain|update|upload|provide|hand over|give)\b(?! it to the)(?![^.]*\b(?:if|whether|approv\w*|confirm\w*|decid\w*|word|sign|go|ok)\b)[^.]*$"
)
#: What was talked over before.
_TALKED: Final = re.compile(
    r"^(?:further to|as per|after|following|with reference to|in reference to|as discussed (?:in|on|during)) (?:my |our |the |last |your )*(?:telephonic |phone |telephone |short |quick |zoom )?(?:discussion|call|talk|chat|mail|email|conversation|meeting)s?(?: (?:with|of|on|from))?(?: §[cpm]\d+§)*"
)
#: Which department wants what its writer asks for: `HR is asking us to do it`.
_ADVISED: Final = re.compile(
    r"\b(?:hr|internal audit|audit|auditors?|it|compliance|legal|procurement|accounting|insurance|the bank|the police)(?: (?:team|dept\.?|department|people))? (?:(?:is|are|has|have|keeps?) )?(?:ask(?:s|ed|ing)?|advis(?:es|ed|ing)|request(?:s|ed|ing)?|require[sd]?|recommend(?:s|ed)) (?:us|me) to (?:do (?:it|so|this)|do (?:it|so|this) before (?:the |his |her |their )?(?:exit|leaving|departure|last day|notice)[a-z ]*)(?=\W|$)"
)
_AMOUNT: Final = re.compile(r"§a\d+§")
#: What a sum in a story is: paid, spent, left, still to be paid, a line, or what was typed by mistake.
_ACCOUNTED: Final = re.compile(
    r"\b(?:paid|pays?|pay|payments?|paying|costs?|cost|costing|price\w*|fares?|fees?|bills?|billed|invoices?|invoiced|charges?|charged|charging|spent|spend|spends|spending|bought|buy|purchases?|purchased|quotes?|quoted|deposit|rent|tolls?|taxi|hotel|ticket|left|remaining|remains|balance|only §a\d+§(?: usd)? on|has only|have only|had only|only has|only have|down to|got only|is at|stuck at|sitting on|short|shortfall|declined|bounced|rejected|refused|limit (?:is|was)|more than|less than|over|above|below|under|at least|worth|for one|per (?:person|head|night)|counted|calculated|reckoned|adds up|lose|losing|wants|wanted|asks|total\w*|came to|comes to|of which|owes?|due|refund\w*|credited|earned|saved|lost|stolen|debit\w*|transaction|attempt\w*|trying|tried|laptop|repair\w*|tyres?|tires?|fine|subscription|renewal|salary|budget|loaded|had put|put in|typed|typing)\b"
)
#: A sum that is to be on the card, said in a story.
_TO_BE: Final = re.compile(
    r"\b(?:needs?|required?|requires|requested|request|load(?!ed)|top|add|put(?! in| it)|send|give|make it|should (?:be|have|get)|must (?:be|have|get)|instead|rather|another|extra|more(?! than)|or|want (?!to)|i mean|sorry|correct)\b[^.,;]{0,20}§a\d+§|§a\d+§[^.,;]{0,15}\b(?:instead|more(?! than)|rather|would do|is enough|will do|please|pls|extra|needed|required|better|enough)\b|^\W*§a\d+§\W*$"
)
_TELLS: Final = re.compile(r"(?<!§)\b[a-z][a-z'’]+\b")
_TIMES: Final = re.compile(
    r"\b(?:tomorrow|tonight|later|next|soon|afterwards|this (?:evening|afternoon|weekend)|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday|month[- ]end|eod|noon|midnight)\b"
)
#: Somebody who does something then: what is to come belongs to the story.
_STORY: Final = re.compile(
    r"§c\d+§ (?:§p\d+§|final day|leaving day) (?:was|is) §p\d+§|\b(?:double|doubled|duplicate|wrong|mistaken|extra|excess|surplus|old|erroneous|accidental) (?:top[ -]?up|topup|load|charge|payment|booking|entry|transfer|hotel|order)\b|§c\d+§ (?:still |just |now )?[a-z]{3,}ing\b|^(?:[a-z-]+ ){1,5}(?:starts?|begins?|opens?|kicks off|launches|arrives?|lands?|departs?|leaves?|ends?|dies|closes|(?:is|are) (?:starting|beginning|launching|opening|arriving|leaving|ending|landing)) (?:on |at )?(?:§[lp]\d+§|noon|midnight|tomorrow|tonight)|\bhope (?:you|your|this|it|all)\b|§c\d+§ (?:now |finally |just )?(?:back|home|away|off|out|here|gone|stuck|stranded|standing|waiting|abroad|sick|ill|returned|in|at|on (?:her|his|the|a))\b|\bthere(?:['’]s| is| are| was| were)\b|\b(?:have|had|enjoy|wish\w*)\b[^.]{0,20}\b(?:nice|good|great|lovely|pleasant|wonderful) \w+|\b(?:he|she|they|we|i|§[cm]\d+§|who|hes|shes|theyre|(?:he|she|they|we|i|it)['’](?:s|re|m|ll)|(?:the|his|her|their|our|my|an?|some|this|that) (?!request|top|load|freeze|block|change|order|limit|amount|card)[a-z'’-]+(?: [a-z'’-]+){0,3}) (?:[a-z'’]+ ){0,2}?(?:is|are|was|were|has|have|had|will|can|am|goes|gets|flies|travels?|leaves?|lands?|arrives?|departs?|drives?|starts?|opens?|closes?|comes?|expires?|renews?|needs?|pays?|takes?|meets?|checks?|join(?:s|ed|ing)|[a-z]{3,}(?:ed|ing))\b|\b(?:is|are|was|were|has|have|had|will be) [a-z]+ing\b|\b(?:flight|train|trip|meeting|wedding|fair|event|audit|delivery|invoice|receipts?|bills?|documents?|paperwork)\b"
)
_SPACES: Final = re.compile(r"\s{2,}")
#: With these a form opens that holds no card, or names its own.
_OF_NO_CARD: Final = frozenset({"order_card", "submit_funding", "set_markup"})
#: What was done before and is why it is asked for.
_OWN_VERBS: Final = {
    "unfreeze_card": r"(?:froze|frozen|blocked|locked|freeze|block)(?: it| her| him)?(?: was| is)?(?: only)? (?:by|in) (?:my |a |pure )*(?:mistake|error|accident|oversight)|(?:the )?(?:freeze|block|hold)[^.]{0,40}\b(?:was|is|were) (?:done|put|placed|made|only|applied|set)|(?:freez\w*|froz\w*|block\w*|lock\w*|suspend\w*|paus\w*)",
    "close_card": r"(?:freez\w*|froz\w*|block\w*)",
    "unload_card": r"(?:by|in) (?:typing |my |our |a |pure )*(?:mistake|error|oversight)|(?:mistake|error)|(?:load\w*|top\w*[ -]?up\w*|topup\w*|fund\w*|cancel\w*)",
    "topup_card": r"(?:cancel\w*)",
    "order_card": r"(?:clos\w*|cancel\w*|block\w*|froz\w*|expir\w*|replac\w*)",
    "change_phone": r"(?:replac\w*)",
    "submit_funding": r"(?:withdr\w*|load\w*|top\w*[ -]?up\w*|topup\w*|releas\w*)",
}
_OWN_VERBS_OF: Final = {intent: re.compile(rf"\b{pattern}\b") for intent, pattern in _OWN_VERBS.items()}
#: Said of other things than cards.
_OF_THINGS: Final = re.compile(
    r"\b(?:hr|the (?:office|firm|company|boss|board|school)) (?:has |have |had )?(?:suspended|dismissed|fired) (?:him|her|them|§c\d+§)\b|§x\d+§ (?:(?:is|was|got|has been) )?(?:closed|cancell?ed|suspended|blocked|locked)\b|\b(?:flight|trip|event|meeting|booking|hotel|train|visit|course|conference|campaign|contract|tour|fair|project|road|shop|store|office|site|border|bank|account|query|investigation|inquiry|enquiry|dispute|case|ticket|door|van|truck|lorry|order|subscription|appointment|class|show|game|match|line|sim|sim card|phone|mobile|handset|laptop|booth|website|app)s? (?:(?:is|are|was|were|got|has been|have been|being|has|itself|now|also|all|just|only) )*(?:cancel\w*|clos\w*|block\w*|lock\w*|suspend\w*|paus\w*|load\w*|terminat\w*|enabl\w*|replac\w*)\b|\b(?:paus\w*|clos\w*|cancel\w*|suspend\w*|block\w*|lock\w*|terminat\w*) (?:the|our|his|her|their|this|that|its|an?|my|all(?: the| our)?) (?:[a-z]+ )?(?:flight|trip|event|meeting|booking|hotel|train|visit|course|conference|campaign|contract|tour|fair|project|road|shop|store|office|site|border|door|van|truck|lorry|subscription|appointment|class|show|game|match|ads?|adverts?|books|deal|tap|gate|stand|booth)s?\b|\bload-(?:in|out|bearing)s?\b|\b(?:on|of|for|per|with) (?:every|each) (?:load|top[ -]?up|recharge)\b|\b(?:clos(?:e|es|ing) (?:at|in|early|soon|the (?:books|deal|month|year|shop))|load(?:s|ed|ing)? (?:the |his |her )?(?:van|truck|lorry|car|boxes|page|app)|down ?load\w*|up ?load\w*|work ?load|blocked (?:road|street|drain|toilet)|locked (?:out|himself|herself|themselves|in)|rebook\w*)\b"
)


#: It only says again that what stands beside it be done: `make it so`, `could you do that for me`.
_SAID_AGAIN: Final = re.compile(
    r"^\W*(?:(?:so|and|now|then|please|pls|plz|plesae|kindly|therefore|(?:can|could|would|will) (?:you|u|we)|(?:i|we) (?:ask|request|beg)(?: you)? to)\b[\s,]*)*"
    r"(?:make it so|make that (?:so|happen)|do (?:it|that|this|so)|set (?:it|this|that)|put (?:it|that|this|such (?:an? )?limit|that limit)(?: in| through| on| on it)?|(?:effectuate|execute|carry out|process|register|record|note|save|enter) (?:it|that|this)(?: (?:one|limits?|number|change))?(?: (?:on|for|in|against) (?:her|his|their|the) (?:card|system))?|change (?:it|that|this)|apply (?:it|this|that)|arrange (?:it|that|this)|see to (?:it|that|this)|fix (?:it|that|this)|update (?:it|that|this)|sort (?:it|that|this)(?: out)?)"
    r"(?:[\s,]*(?:please|pls|plz|kindly|now|today|for me|for us|asap|thanks|thank you|thx|then|at once|immediately|straight away|would you|will you))*\W*$"
)


def leaves_it_standing(candidate: Candidate, reading: Reading, facts: Facts) -> bool:
    """Does nothing beside the request speak against it, ask for more or hold a value that nobody can place?"""
    return all(
        not (_speaks_against(beside, reading.intent) and not _is_a_story(beside))
        and not _is_only_a_time(beside, facts)
        and all(_is_placed(entity, beside, reading, facts) for entity in beside.entities)
        and (
            not beside.entities
            or not _AMOUNT.search(_without_counts(beside))
            or _sums_are_placed(beside, reading)
        )
        for beside in candidate.beside
        if not (_GREETS.match(beside.text) or only_leads(beside.text) or _SAID_AGAIN.match(beside.text))
    )


def without_stories(candidate: Candidate) -> str:
    """The whole of it without what only tells a story."""
    whole = candidate.whole
    for beside in candidate.beside:
        if _is_a_story(beside):
            whole = whole.replace(beside.written.strip(), "", 1)
    return whole


#: Somebody who is named by what they are: whose card is meant then has to be asked.
_BY_THEIR_WORK: Final = re.compile(
    r"\b(?:girl|guy|boy|lad|lady|chap|bloke|intern|trainee|man|woman|colleague|fellow|kid|new (?:one|hire|joiner))s?\b"
)


#: `…, Bob`, before a "please" that was taken off: it is said to him.
_ENDS_IN_A_NAME: Final = re.compile(r"[,.]\s+[A-Z][a-z]+\W*$")


def _is_a_story(beside: Beside) -> bool:
    """Does it only tell something? Within the sentence of the request it has to be long enough for no "as he barked"."""
    if beside.stands_alone:
        return tells_only(beside.text)
    if beside.asked or beside.colon or len(_TELLS.findall(beside.text)) < _A_STORY:
        return False
    if _BY_THEIR_WORK.search(beside.text) or _ENDS_IN_A_NAME.search(beside.written):
        return False
    if beside.written.rstrip().endswith(":") or any(
        pattern.search(beside.text) for pattern in (_UNDECIDED, _HANGS, _SKIPS, _ENDS_OPEN)
    ):
        return False
    return tells_only(beside.text) and not introduces(beside.text)


def speaks_against_beside(beside: Beside, intent: str) -> bool:
    """Does a sentence beside a request of this intent speak against it? A greeting or a story does not."""
    if _GREETS.match(beside.text) or only_leads(beside.text) or _is_a_story(beside):
        return False
    if _SAID_AGAIN.match(beside.text):
        return False
    return _speaks_against(beside, intent)


def is_taken_back_beside(candidate: Candidate) -> bool:
    """Does what stands beside it ask something else, report it or take it back, so that not even a question helps?"""
    return any(
        beside.asked or _RETRACTS.search(beside.text) or _REPORTED.search(beside.text)
        for beside in candidate.beside
    )


def skips_a_control(text: str) -> bool:
    """Does a text ask that nobody else signs, looks or knows?"""
    return _SKIPS.search(text) is not None


#: Words of the request itself that would speak against another.
_OWN_SAID: Final = {
    intent: re.compile(rf"\b(?:{pattern})(?![\w'’])")
    for intent, pattern in {
        "freeze_card": r"on hold|stop(?= (?:the |that |this |card )*§c)|(?:so )?stop(?= [^.]*\b(?:working|used|card)\b)|(?:can ?not|can['’]?t|couldn['’]?t|could not|should not|shouldn['’]?t|must not|may not|no longer) be used|(?:for )?some (?:days|time|weeks)|disable|while (?:we|i) (?:keep )?(?:look|search|wait)\w*",
        "unload_card": r"everything|all of it|all the (?:money|rest)|what(?:ever|['’]?s)?(?: is)? (?:left|remains|stays|still)|whatever|to ask you|half",
        "set_limits": r"(?:nobody|no one|not|never|no|don['’]?t let (?:him|her|them|it)|may not|must not|should not|shouldn['’]?t|can ?not|can['’]?t)(?: [a-z]+){0,4}? (?:pass|exceed|spend|go)(?: (?:over|above|more than|past|beyond))?(?= (?:than )?§a)|in one (?:day|week|month)|(?:not|never) be (?:bigger|higher|larger|greater|more|over|above)(?= (?:than )?§a)|(?:not|no|never) (?:more|a (?:penny|cent)|over)(?: than)?|nothing (?:above|over|more)|every|to ask you|each|keep|hold|max(?:imum)?|about",
        "set_3ds": r"let them|them|they|to ask you|from now(?: on)?|instead|stop texting|(?:and |but )?(?:not|no more|no longer|rather than)(?: (?:in|into|to|by|via|on|over|the|her|his|their|any))* (?:e-?mails?|mails?|mailbox|inbox|sms|texts?|phone|cell|mobile)(?: any ?more)?",
        "change_phone": r"wants?(?= (?:updating|changing|switching|swapping))|should have(?= (?:the |this |a |new )*(?:number|phone|mobile|§t))|from now(?: on)?|to ask you|instead",
        "reveal_card": r"all|to ask you",
        "topup_card": r"to ask you",
        "close_card": r"to ask you",
        "unfreeze_card": r"to ask you|keep",
        "submit_funding": r"to ask you",
        "set_markup": r"(?:goes|moves|drops|rises)(?: up| down| back)?(?= to §a)|to ask you|everybody|everyone|all",
    }.items()
}


#: Whose phone, codes or limit is changed; whose mind is, takes it back.
_CHANGES_HERS: Final = re.compile(r"\bchange (?:my|his|her|their)\b(?! (?:minds?|idea)\b)")


#: `could we cut 3018 down to 50`: what looks like the past of "cut".
_MAY_WE: Final = re.compile(
    r"\b(?:can|could|may) (?:we|i) (?=(?:cut|set|put|send|move|get|add|load|take|pull|drop|knock)\b)"
)
#: `the card wants freezing`: it is due.
_WANTS_DOING: Final = re.compile(
    r"\bwants?(?= (?:un)?(?:freez|block|lock|clos|topp|load|updat|chang|switch|suspend)\w*ing\b)"
)


#: Their values are no other thing's.
_EXACT: Final = frozenset({"change_phone", "submit_funding", "set_markup", "set_3ds", "set_limits"})


def speaks_against_within(said: str, intent: str) -> bool:
    """Do the words of a request itself take it back, doubt it, put it off or say whose it is?"""
    said = _WANTS_DOING.sub("needs", _MAY_WE.sub("please ", _CHANGES_HERS.sub(" ", said)))
    bare = _NOT_ELSE_OF[intent].sub(" ", said) if intent in _NOT_ELSE_OF else said
    if intent in _OWN_SAID:
        bare = _OWN_SAID[intent].sub(" ", bare)
    return speaks_against(bare, intent, is_exact=intent in _EXACT) or any(
        pattern.search(bare) for pattern in (_RETRACTS, _UNDECIDED, _HANGS, _REPORTED, _DONE, _QUESTION)
    )


#: What in a reason still speaks against what is asked for because of it: a clause that hangs on something, a yes that is missing,
#: whose words follow, what is taken back.
_NOT_WHY: Final = re.compile(
    r"(?:^|[,;:(–-]\s*|\b(?:and|but|so|or)\s+)(?:please |pls |just |only )?(?:when(?!ever we| we| he (?:was|tried)| she (?:was|tried))|depending|before|after(?! (?:the|a|our|my|his|her) )|subject to|in the event|by the time|do not|don['’]?t|never|not(?! only| even)|no need|if|unless|in case|provided|assuming|as long as|as soon as|once|whenever|until|till|maybe|perhaps|should (?:we|i)|what if|was it|is it|or)\b(?! (?:you can (?:believe|imagine)|i (?:remember|recall|am|may|'m)))"
    r"|\b(?:do not|don['’]?t|never|not)\s*(?:,|$)|\b(?:we|i|you|they|one) (?:must|should|shall|may|can|need|do|will|would|could|might)(?:n['’]?t| not| never)\b(?! (?:even |really )?(?:recogni[sz]e|find|know|see|reach|have|get|understand|remember|trust|pay|afford|log))"
    r"|\b(?:approv\w*|authori[sz]\w*|sign-?off|go-?ahead|green light|permission|consent\w*)\b|\b(?:await\w*|pending|tb[acd]|undecided|not sure|unsure|maybe|perhaps|possibly|might|wonder\w*|consider\w*|thinking (?:of|about|over)|propos\w+|suggest\w*|recommend\w*|advis\w+|rather (?:not|wait|leave)|mistake)\b"
    r"|\b(?:never ?mind|nvm|scratch that|forget (?:it|that|this)|ignore|disregard|undo|retract\w*|abort|hold (?:on|off)|changed? (?:\w+ )?minds?|second thoughts|jok(?:e|ing)|just kidding|jk|lol|a test|testing|drill|pretend\w*|suppos\w+|imagine|hypothe\w+|example|template|draft|scam\w*|phish\w*|hoax|copied|pasted?|forwarded)\b"
    r"|\b(?:told|asks?|asked|wants?|wanted|orders?|ordered|instruct\w*|demand\w*|insist\w*|urg(?:es|ed)|beg(?:s|ged)?|requested|requests|forc\w+|expects?|tells?) (?:me|us|you|that|for it|it\b|this\b|everyone|finance|someone|somebody)\b|\b(?:said|says|say|wrote|writes|reads?|goes|quote\w*|shout\w*|typed|texted|repeat\w*|message (?:was|is)|according to|on behalf of|fyi|reminder|todo|note to self)\W*(?:$|[:\"“]|(?:to|please|pls|go|freeze|block|load|close|put|take)\b)"
    r"|\b(?:(?:i|we|he|she|they|bob|carol|dave) (?:already )?(?:did|done|handled|sorted|took care)|already (?:done|did|loaded|frozen|closed|handled|requested|ordered))\b"
)


#: What became of the request itself.
_THE_REQUEST_IS: Final = re.compile(
    r"\b(?:the|this|that|my) (?:request|order|instruction|top-?up|unload|form|task) (?:got|was|is|has|had|will)\b"
)


def _takes_back_why(text: str, intent: str) -> bool:
    bare = _OF_THINGS.sub(" ", text)
    if (
        _THE_REQUEST_IS.search(bare)
        or _NOT_WHY.search(bare)
        or _DONE.search(bare)
        or _SKIPS.search(bare)
        or _COMMANDS.search(bare)
        or _QUESTION.search(bare)
    ):
        return True
    if intent in _OWN_VERBS_OF:
        bare = _OWN_VERBS_OF[intent].sub(" ", bare)
    if _CUE.search(bare) or _ENDS_OPEN.search(text):
        return True
    bare = _HARMLESS_NOT.sub(" ", text)
    return (
        _NOT.search(bare) is not None
        and _OF_THE_REQUEST.search(bare) is not None
        and _SAYS_NO.search(bare) is not None
    )


#: Whose "not" is about what is asked for.
_SAYS_NO: Final = re.compile(
    rf"(?:^|[,;–-]\s*)(?:please |pls |but |and |so |just |or |i |we |you )*{_N}\b|\b(?:not|n['’]t|never|no) (?:\w+ )?(?:need|want|mean|do (?:it|that|this)|sure|agree|ask|right|correct|allow)\w*"
)


#: How the card is that shall be let go.
_IS_FROZEN: Final = re.compile(
    r"^(?:(?:hi|hello|hey|so|and|now)\b[\s,]*)*(?:§c\d+§|(?:her|his|their|the|that) card)(?: card)?(?: (?:is|has been|was|got|['’]s))?(?: still| now| on| currently)* (?:frozen|blocked|locked|hold|ice|paused|suspended)$"
)


#: The holder of the card asked for it, who has no other say in it.
_THEIR_OWN: Final = re.compile(
    r"\b(?:s?he|they|§c\d+§) (?:has |have )?(?:asked|begged) for (?:it|this|that) (?:himself|herself|themselves)\b|\b(?:at |on )?(?:her|his|their) own (?:request|idea|wish|choice|suggestion|decision)\b"
)
#: What follows stands in a note of somebody's.
_WHOSE: Final = re.compile(
    r"§[cm]\d+§(?:['’]s)? (?:[a-z]+ ){0,2}?(?:note|mail|e-?mail|message|text|words?|letter|memo|form|ticket|comment|post|slip|sheet|voicemail|request|entry)s?\b[^:]*:$"
)
#: Whether it may be said, or can be done: nothing hangs on it.
_BY_COURTESY: Final = re.compile(
    r"\bif (?:i may(?: (?:say|use|add|put it)(?: (?:so|this|that|it))?)?|at all possible|poss(?:ible)?|you (?:please|would be so kind))\b"
)
#: From where somebody called, which is no word of theirs.
_CALLED_FROM: Final = re.compile(
    r"\b(?:texted|texts|messaged|rang|phoned|called|e-?mailed|pinged|wrote|whatsapped)(?: (?:me|us))? from (?=(?:the|an?|his|her|outside|inside|[a-z]+)\b)"
)
#: In a sentence of its own it takes nothing back.
_LAUGHS: Final = re.compile(r"\b(?:lol|lmao|rofl|haha\w*)\b")


def _without_asides(beside: Beside) -> str:
    """What it says without who talked to whom before, who wants it, and a laugh in a sentence of its own."""
    text = beside.text
    for pattern in (_CALLED_FROM, _TALKED, _ADVISED, _THEIR_OWN, _BY_COURTESY):
        text = pattern.sub(" ", text)
    if not beside.within and len(_TELLS.findall(text)) > _A_STORY:
        text = _LAUGHS.sub(" ", text)
    return text


def _speaks_against(beside: Beside, intent: str) -> bool:
    text = _without_asides(beside)
    if (_PROMISES.match(text) and not beside.asked) or (
        intent == "unfreeze_card" and beside.before and _IS_FROZEN.match(text)
    ):
        return False
    if beside.asked and not _SMALL_TALK.match(text):
        return True
    if (
        beside.colon
        or (beside.before and _WHOSE.search(beside.text))
        or (beside.within and beside.before and not (beside.is_why or _leads_on(text) or _is_a_tale(text)))
    ):
        return True
    if (
        beside.within
        and not beside.before
        and (_OR.match(text) or (intent == "topup_card" and _FROM.match(text)))
    ):
        return True
    if _SKIPS.search(text) or (beside.within and not beside.before and _EACH.search(text)):
        return True
    if beside.is_why:
        return _takes_back_why(
            _NOT_ELSE_OF[intent].sub(" ", text) if intent in _NOT_ELSE_OF else text, intent
        )
    if _THE_REQUEST_IS.search(text):
        return True
    bare = _OVER.sub(" ", _NOT_ELSE_OF[intent].sub(" ", text) if intent in _NOT_ELSE_OF else text)
    if any(pattern.search(bare) for pattern in (_RETRACTS, _UNDECIDED, _HANGS, _REPORTED, _DONE, _QUESTION)):
        return True
    bare = _OF_THINGS.sub(" ", bare)
    if _COMMANDS.search(bare):
        return True
    if intent in _OWN_VERBS_OF:
        bare = _OWN_VERBS_OF[intent].sub(" ", bare)
    if intent == "reveal_card" and _IN_THE_OPEN.search(bare):
        return True
    return _CUE.search(bare) is not None or _denies(bare, beside)


#: A thing that is over, or was called off: `the festival's done`, `her trip got cancelled`.
_NO_THING: Final = r"(?!it\b|this\b|that\b|all\b|which\b|one\b|everything\b|what\b|who\b|he\b|she\b|they\b|we\b|you\b|bob\b|carol\b|dave\b|card\b|plastic\b|request\b|top|up\b|load\b|unload\b|freeze\b|block\b|transfer\b|task\b|job\b|change\b|limit\b|form\b|closure\b|payment\b|not\b)"
_OVER: Final = re.compile(
    rf"^(?:(?:and|so|now|as|because|since|cos|hi|hey|hello|morning|the|our|his|her|their|my|that|this)\b[\s,]*)*(?:[a-z-]+ ){{0,2}}?{_NO_THING}[a-z]+(?:['’]s| is| are| was| has been| got| gets| have been)(?: (?:all|now|finally|just|also|already))* (?:done|over|finished|wrapped(?: up)?|cancell?ed|called off|postponed|scrapped|moved|axed)(?=\W*$|,| (?:and|so|at|by|because|due|last|yesterday|today)\b)"
)
#: `… never showed up in the float so pls`: what stands before it is why.
_HENCE: Final = re.compile(
    r"^[^:]{12,}(?<!says)(?<!said)(?<!say)(?<!think)(?<!thinks)(?<!told me)(?<!told us)(?<!wants)(?<!asked)(?<!wrote)(?<!and)(?<!or)(?<!not),? (?:so|hence|therefore|thus)(?: (?:please|pls|plz|kindly|just|now))*$"
)
#: What does not work, and is why: `printer co won't do tap`.
_REFUSES: Final = re.compile(
    rf"^(?:(?:and|so|now|as|because|since|cos|hi|hey|hello|morning|the|our|his|her|their|my|that|this)\b[\s,]*)*(?:[a-z-]+ ){{0,2}}?{_NO_THING}[a-z]+ (?:wo|ca|do|does|did|is|was|has|could|would)n?['’]?t(?: (?:[a-z]+|§[cm]\d+§)){{1,6}}(?:\W+so)?$"
)
#: What is never shown, and where nothing is.
_IN_THE_OPEN: Final = re.compile(
    r"\b(?:cvv|cvc|cv2|pin|security code|expir\w+|exp(?:iry)? date|validity|(?:in|into|to) (?:the |this |our )?(?:chat|thread|channel|group|slack)|(?:by|via|over|on) (?:e?mail|sms|text|whatsapp|telegram|phone)|e?mail (?:me|it|us|him|her|them)|text (?:me|it|us|him|her)|paste|type (?:it|me)|read (?:it|me)|dictate|screenshot|photo|plain text|here)\b"
)


_SIGNS_ONLY: Final = re.compile(r"^(?:(?:card|for|of|on|the)\b\s*)*§c\d+§(?:['’]s)?(?: card)?\W*$")
_ENDS_OPEN: Final = re.compile(
    r"\b(?:that|whether|if|to|and|or|of|by|for|with|like|as|than|says?|said|asks?|asked|wants?|wanted|thinks?|thought|told|tells?|wrote|writes|me|us|him|you|not|never|must|should|shall|can|could|may|might|will|would|do|does|did|don['’]?t|\w+n['’]t|is|are|was|were|has|have|had)\W*$"
)


def _is_a_tale(text: str) -> bool:
    """Does what stands before a request in its sentence tell something of its own, or only name the card?"""
    if _SIGNS_ONLY.match(text):
        return True
    return len(_TELLS.findall(text)) > 2 and not introduces(text) and not _ENDS_OPEN.search(text)


def _leads_on(text: str) -> bool:
    """Does what stands before a request in its sentence tell why, or greet, and not who says it?"""
    return (
        _CAUSE.match(text) is not None
        or _GREETS.match(text) is not None
        or _STORY.search(text) is not None
        or _OVER.match(text) is not None
        or _REFUSES.match(text) is not None
        or _NO_HARM.match(text) is not None
        or _HENCE.search(text) is not None
    )


#: Nothing is wrong, which is why.
_NO_HARM: Final = re.compile(
    r"^(?:so |well |and )?no (?:fraud|scam|theft|danger|risk|foul play|wrongdoing|harm|suspicion)(?: (?:then|here|at all|after all))?(?:,? so)?$"
)
#: Whom it is said to, before who did not do what.
_ADDRESSES: Final = re.compile(
    r"^(?:(?:please|pls|plz|thanks|thank you|thx|ta|cheers|mate|tks|ty|(?:dear|hi|hello|hey) (?:bot|team|all|sir|madam|there|everyone)|hi|hello|good (?:morning|afternoon|evening))[\s,!.]+)+"
)


#: Of something that is named first: `receipts missing and he's not answering`, `will scratched it so you can't read it`.
_TELLS_NOT: Final = re.compile(
    r"^(?!(?:please|pls|kindly|do|don|dont|not|no|never|nope|but|just|only|better|rather|or|then|if|unless|maybe|actually|sorry|stop|wait|it|this|that|request|order)\b)(?:[\w§'’-]+ ){2,}?[^.]*\b(?:not|no|never|nobody|none|nothing|neither|without|(?:do|does|did|ca|wo|is|are|was|has|have|had|could|would|should)n['’]?t|cannot)\b"
)


def _denies(text: str, beside: Beside) -> bool:
    """Is a "not" in it said of the request?"""
    bare = _HARMLESS_NOT.sub(" ", text)
    if not _NOT.search(bare):
        return False
    if _OF_THE_REQUEST.search(bare):
        return True
    if not _SUBJECT.match(_ADDRESSES.sub("", bare.strip(" ,"))) and not _TELLS_NOT.match(bare.strip(" ,")):
        return True
    return bare.startswith("but ") and not beside.within


def _is_only_a_time(beside: Beside, facts: Facts) -> bool:
    """Is an hour to come said by itself, or of the request?"""
    bare = without_hours(beside.text)
    if bare != beside.text and not _TELLS.search(_SMALL.sub(" ", bare)):
        return True
    coming = any(
        entity.kind == "later" or (entity.kind == "period" and not _is_past(entity, beside, facts))
        for entity in beside.entities
    )
    return (
        (coming or bare != beside.text or _TIMES.search(beside.text) is not None)
        and not _STORY.search(beside.text)
        and (_BEGINS_WITH_IT.match(beside.text) is not None or len(_TELLS.findall(bare)) < _A_STORY)
        and not _EXCLAIMS.match(beside.text)
    )


_A_STORY: Final = 4  # words
_BEGINS_WITH_IT: Final = re.compile(
    r"^(?:(?:but|only|just|and|then|or|please|pls|thanks|thx|now)\b\W*)*(?:back (?:in)?to (?:the |our )?float|in|on|at|from|after|before|by|next|when|until|till|til|this|tonight|tomorrow|later|as|once|for|during|over|not|§|(?:since |because |so )?(?:it|this|that)\b)"
)
_SMALL: Final = re.compile(r"\b(?:and|but|only|please|pls|just|or|then|at|on|by|in|from|the|thanks|ok)\b")
_EXCLAIMS: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|bot|team|all|there)\b\W*)*(?:(?:good|nice|lovely) (?:\w+|§[lp]\d+§)|what an? (?:\w+ )?(?:\w+|§[lp]\d+§)|happy (?:\w+|§[lp]\d+§)|(?:it is|it's|its) (?:only )?(?:\w+|§[lp]\d+§) again)\W*$"
)
#: Named without its week, or still to come today.
_OPEN_DAY: Final = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun)s?\b|\b(?:evening|tonight|afternoon|night|later|week|month)\b",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|has|have|did|been|[a-z]{2,}ed|lost|left|got|came|went|found|took|put|sent|gave|broke|forgot|paid|bought|spent|hit|met|saw|knew|ran|fell|stole|quit|since)\b"
)


def _is_past(entity: Entity, beside: Beside, facts: Facts) -> bool:
    if _OPEN_DAY.search(entity.written):
        return _PAST.search(beside.text) is not None and (
            entity.value is None or entity.value.last_day <= facts.now.date()
        )
    return is_today(entity, facts) or (entity.value is not None and entity.value.last_day <= facts.now.date())


def _is_placed(entity: Entity, beside: Beside, reading: Reading, facts: Facts) -> bool:
    if entity.kind == "card":
        if reading.card is not None and entity.value and all(card is reading.card for card in entity.value):
            return True
        return reading.intent in _OF_NO_CARD and not any(char.isdigit() for char in entity.written)
    if entity.kind in ("person", "network"):
        return True
    if entity.kind in ("amount", "rate"):
        return True  # judged by `_sums_are_placed`
    if entity.kind in ("period", "later"):
        return (entity.kind == "period" and _is_past(entity, beside, facts)) or reading.intent != "close_card"
    if entity.kind != "number" or INCIDENTAL not in entity.traits:
        return False
    words = [word for word in _TELLS.findall(beside.text) if word not in _HOW_LONG]
    return len(words) > 1


#: How many of what: `3 carts`, `2 extra tents`, `all 14 of them`.
_COUNTED: Final = re.compile(
    r"§a(?P<number>\d+)§ (?:(?:extra|more|other|new|big|full|small|different|whole|long) )?(?:of (?:them|those|these|our|the)\b|(?!dollars|bucks|cents|pounds|euros|times|percent|points|cards|usd|grands?)[a-z]{3,}s\b|(?:people|men|women|kids)\b)"
)
_MOST_OF_A_COUNT: Final = 2  # digits
_SIGNS: Final = re.compile(r"§[a-z]\d+§")


def _without_counts(beside: Beside) -> str:
    """What stands beside without its numbers of things, none of which is money."""
    at = dict(zip(_SIGNS.findall(beside.text), beside.entities, strict=False))
    text = beside.text
    for found in _COUNTED.finditer(beside.text):
        sign = f"§a{found['number']}§"
        written = at[sign].written.strip() if sign in at else ""
        if written.isdigit() and len(written) <= _MOST_OF_A_COUNT:
            text = text.replace(sign, " ", 1)
    return text


_IN_USD: Final = re.compile(r"usd|\$|k\b|dollar", re.IGNORECASE)
_A_SUM: Final = re.compile(
    r"\b(?:paid(?: in)?|transferred|deposited|bridged|moved|arrives?|receive|after gas|should get|comes? in|amount|sum|value|total|worth|transfer of|sent|of)\b"
)
#: With these alone it says how often, or for how long.
_HOW_LONG: Final = word_set(
    """
    at by for in after from per until till on of the to every each within about only just next this that a an and or but not before
    during since week weeks day days month months time times good ever always permanently please pls more also total now
    """
)


#: What was loaded, and what should have been: why it is taken off.
#: What a limit or a rate is now, or should be.
_AT_PRESENT: Final = re.compile(
    r"\b(?:currently|now|today|at present|presently|still|was|is|are|been|says?|only|should have|should be|want|over|above|more than|about|around|cost|costs|costing) (?:at |about |only |still |like )*§a\d+§|§a\d+§ (?:is|was|are|seems|feels) "
)
_LOSES: Final = re.compile(
    r"\b(?:lose|losing|lost|pays?|paid|costs?|charges?|charged) (?:us )?§a\d+§(?! (?:mark|please|pls))"
)
_OF_NO_SUM: Final = frozenset(
    {"freeze_card", "unfreeze_card", "close_card", "set_3ds", "change_phone", "reveal_card"}
)
_FEWEST_OF_A_TALE: Final = 2  # words
_LIKE_A_CARD: Final = re.compile(r"\d{4}")
_GIVEN: Final = re.compile(
    r"\b(?:over-?loaded|(?:loaded|put|sent|typed|entered|booked)\b[^.;]*\b(?:instead of|rather than)(?= §a)|instead of §a\d+§[^.;]*\b(?:loaded|put|sent|typed|entered|booked)|gave|(?:was|were) (?:only )?meant to (?:get|have|receive|be)|too much|by mistake|in error|wrongly)\b"
)


def _says_the_same(beside: Beside, reading: Reading) -> bool:
    """Is each amount in it the one that is asked for, said again?"""
    sums = [one.value for one in beside.entities if one.kind == "amount"]
    return bool(sums) and all(one == reading.slots.get("amount") for one in sums)


def _sums_are_placed(beside: Beside, reading: Reading) -> bool:
    """Is each sum in it what was paid, has to be paid, is left, and none what shall be on the card?"""
    if reading.intent == "submit_funding":
        # The chain says what came.
        sums = [entity for entity in beside.entities if entity.kind == "amount"]
        return not _TO_BE.search(beside.text) and (
            any(_IN_USD.search(one.written) for one in sums) or _A_SUM.search(beside.text) is not None
        )
    if reading.intent == "set_limits" and beside.stands_alone and tells_of_a_payment(beside.text):
        return True
    if reading.intent == "set_markup" and beside.stands_alone and _LOSES.search(beside.text):
        return not _AT_PRESENT.search(beside.text)
    if reading.intent in ("set_limits", "set_markup"):
        return beside.is_why and not _AMOUNT.search(_AT_PRESENT.sub(" ", beside.text))
    if reading.intent == "order_card":
        return False
    if reading.intent in ("topup_card", "unload_card") and "amount" not in reading.slots:
        return False
    if _says_the_same(beside, reading):
        return True
    if reading.intent == "unload_card" and beside.before and _GIVEN.search(beside.text):
        return True
    placed = _ACCOUNTED.search(beside.text) is not None and not _TO_BE.search(beside.text)
    if reading.intent in _OF_NO_SUM and not placed:
        if len(_TELLS.findall(beside.text)) <= _FEWEST_OF_A_TALE or introduces(beside.text):
            return False
        if any(one.kind == "amount" and _LIKE_A_CARD.fullmatch(one.written) for one in beside.entities):
            return False
        return not _TO_BE.search(beside.text)
    return placed


__all__ = [
    "leaves_it_standing",
    "skips_a_control",
    "speaks_against_beside",
    "speaks_against_within",
    "without_stories",
]
