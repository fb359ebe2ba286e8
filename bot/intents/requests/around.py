"""What may stand around a request: its story, its reason. Anything that takes it back, doubts or reports it may not.

A part of a message that tells something (`she doesn't find it`, `his train leaves at noon`) is harmless; one that hangs
on the request (`if he calls`, `Carol says`, `not yet`, `after lunch`, `never mind`) keeps every form closed.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.requests.against import HARMLESS, IS_OVER

_SUBJECT: Final = (
    r"(?:he|she|they|it|we|i|hes|shes|who|nobody|none|someone|somebody|there|§c\d+§|§m\d+§|(?:the|his|her|their|our|my|an?)\s+"
    r"(?:\w+\s+){1,4}?|(?!(?:rather|never|please|pls|plz|kindly|just|so|and|but|or|do|must|should|you|also|then|again|really|actually|sorry|ok|okay|better|well|may|can|shall|would|could|to)\b)[a-z]+(?=\s))"
)
#: How things are or what happened, in a sentence of its own with a "not" in it: the money was not used, nobody took a thing.
_STATES_NOT: Final = re.compile(
    r"^(?:(?:[\w'’§-]+ ){1,9}?(?:and|so|but|as|because|since|for) )?(?:(?:and|because|so|but|as|since|well|now|the thing is|it turns out|turns out) )*"
    r"(?:(?:not (?:all|every|much|many|one|a single)|nobody|no one|none|nothing)\b(?: [\w'’§-]+){0,4}? (?:was|were|is|are|has|had|got|came|went|stole|took|used|spent|touched|bought|saw|knows|knew|found|happened|left|showed|answers?|picks? up)\b"
    r"|(?:nobody|no one|none)\b(?: of [\w'’§-]+(?: [\w'’§-]+)?)? (?:(?:is|was|are|were|sits?|stands?|works?|waits?|stays?) (?:at|in|on|by|next to|there|here|around|home|awake|available|near)|(?:watches|checks|reads|sees) )\b"
    r"|(?:(?:the|his|her|their|our|my|this|that|an?) (?:[\w'’-]+ ){1,5}?|§c\d+§ |he |she |they |it |we |i )(?:[\w'’-]+ ){0,3}?(?:ain'?t|isn'?t|is not|wasn'?t|was not|won'?t|will not|can'?t|cannot|can not|couldn'?t|could not|didn'?t|did not|doesn'?t|does not|don'?t|do not|hasn'?t|has not|haven'?t|hadn'?t|has no|have no|had no|no longer|never|(?:should|must) (?:not|no longer))"
    r" (?:(?:be|been|even|ever|yet|get|have|really|actually|got|go|to|it|a|the|any|more|of) )*?(?:back|coming|here|there|returning|recover\w*|found|find\w*|doing|going|running|work\w*|used?|using|spent|spend\w*|go|go(?:ne|ing)? through|that (?:high|far|much)|signed|show\w*|turn\w* up|remain\w*|stay\w*|open|active|live|left|lying|recogni[sz]e\w*|remember\w*|know\w*|bought|pay\w*|paid|arriv\w*|come|came|leave|left|home|phone|number|own|receipts?|idea|clue|money|cash|petrol|gas|fuel|funds?|access|reply|repl\w+|answer\w*|pick\w*|reach\w*|travel\w*|drive\w*|fly|eat\w*|sle[pe]\w*|buy\w*|order(?:ed)?|hear\w*|seen?|use|in|at|on|out|enough)\b)"
)
#: What would make of it a verdict on the request.
_VERDICT: Final = re.compile(
    r"\b(?:approv\w*|agree\w*|authori[sz]\w*|allow\w*|permit\w*|permission|confirm\w*|consent\w*|decid\w*|sure|want\w*|mean\w*|meant|think\w*|need(?:ed|s|ing)?|necessary|required|right|correct|true|serious|ok|okay|fine|ready|request\w*|this|that(?! (?:high|far|much|day|week|month|trip|job|night|site|shop|place|merchant))|wait\w*|until|till|if|unless|yet to|should(?! (?:not|no longer) (?:be|remain|stay))|supposed)\b"
)
#: Who may say, ask or want what it likes: it gives no orders here.
_OUTSIDER: Final = (
    r"(?:site|web ?site|web shop|webshop|shop|store|supplier|hotel|motel|hostel|lodge|airline|merchant|vendor|seller|portal|agent|agency|checkout|app|caterer|bank|atm|machine|terminal|garage"
    r"|mechanic|landlord|restaurant|courier|carrier|platform|embassy|consulate|clinic|hospital|pharmacy|school|university|conference|organi[sz]er|venue|dealer|contractor|plumber|station|pump|reception"
    r"|receptionist|police|doctor|dentist|customs|printer|taxi|driver|waiter|cashier|insurance|insurer|counter|front desk|help ?desk|market|depot|yard|florist|baker|butcher|guesthouse|airbnb"
    r"|google|meta|facebook|amazon|uber|booking|booking\.com|linkedin|tiktok|aws|adobe|microsoft|apple|zoom|stripe|paypal|jumia|netflix|spotify)s?"
)
_OUTSIDER_SAYS: Final = re.compile(
    rf"\b(?:the |our |their |this |that |an? |his |her )?(?:(?!(?:and|but|so|or|because|since|as) )[a-z]+ ){{0,2}}?{_OUTSIDER} (?:(?:is|are|was|keeps?|kept|always|now|only|also|just|still|there|people|guy|lady) )*(?:says?|said|saying|asks?|asked|asking|wants?|wanted|tells? (?:me|us|him|her|them)|told (?:me|us|him|her|them)|thinks?|thought|claims?|reads)\b(?: (?:that|for it|it))?(?: always)?(?! to (?:wait|hold|stop|cancel|ask|let)\b)(?! (?:no|wait|stop|yes|please)\b)"
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
    r"|\bno (?:pos|machine|terminal|shop|atm|bank|hotel) (?:will|would|can|could|accepts?|takes?|reads?)\b|^\W*not (?:been )?(?:used|touched|in use|moved)(?: (?:since|for|in|any ?more|at all|once)|\s+§p\d+§|\W*$)|\bnobody (?:\w+ )?(?:uses|needs|has used|has touched|wants) (?:it|the card|that card|this card|her card|his card|§c\d+§)|\b(?:i|we) (?:don'?t|do not) understand\b"
    r"|\bnone of\b|\bnobody (?:\w+ )?(?:recogni[sz]es|knows|has|answers)\b|\bnothing (?:left|urgent|on it)\b|\b(?:can't|cannot|cant|can not) (?:pay|find|reach|get|work|use)\b"
)
#: A "not" behind a subject tells how things are, unless it is about wanting, meaning or doing what is requested.
_DIRECTS: Final = (
    r"(?:mind\w*|want\w*|wanna|mean\w*|meant|think\w*|believe\w*|agree\w*|approve\w*|allow\w*|sure|certain|ready|necessary|required|right|correct|true|so|do|be|go|let|ask\w*|request\w*|like|wish\w*|intend\w*|yet|now|this|that|it|hurry|urgent|please"
    r"|touch\w*|freez\w*|froz\w*|block\w*|lock\w*|unlock\w*|unblock\w*|unfreez\w*|clos\w*|load\w*|top\w*|add\w*|send|put|take|change|submit\w*|order\w*|need(?=\s*(?:$|it|that|this|a|the|any|to))|needs(?=\s*(?:$|it|that|this|a|the|any|to)))"
)
_NO_SUBJECT: Final = r"(?:please|pls|kindly|and|so|but|just|ok|okay|do|no|not|actually|sorry|hmm|hi|hey|better|well|maybe|we should|you should|i'd|we'd|should|or|i|we|you|let's|lets|then|now|yes|yeah)"
_SUBJECT_NOT: Final = re.compile(
    rf"(?:^|(?<=\s))(?!{_NO_SUBJECT}\b)[a-z§][\w§'’-]*\s+(?:[\w§'’-]+\s+){{0,3}}?"
    r"(?:doesn'?t|does not|isn'?t|is not|wasn'?t|was not|won'?t|will not|can'?t|cannot|can not|couldn'?t|didn'?t|did not|hasn'?t|has not|hadn'?t|aren'?t|are not|don'?t|do not|weren'?t|were not|never|no longer"
    rf"|has no|have no|had no|is no|was no|are no|with no|without)\s+(?:[a-z]+ly\s+|even\s+|been\s+|really\s+)*(?!{_DIRECTS}\b)[\w§]"
    r"|^\W*(?:can'?t|cannot|couldn'?t|won'?t|didn'?t|doesn'?t)\s+(?:be\s+)?(?:found|find|reach\w*|locate\w*|pay|go through|answer\w*|arriv\w*|work\w*|come|came|get|got|book|check in|buy|happened?)\b"
    r"|\b(?:never|nobody|no one|none) (?:gets?|got|arrives?|arrived|comes?|came|works?|worked|receives?|received|answers?|remembers?|knows?|recogni[sz]es?|there|uses?|used|finds?)\b|\bto nobody\b"
    r"|\bno (?:network|signal|reception|sim|physical|receipts? since|spare|other|water|fuel|power|fault|way)\b|\b(?:i|we) (?:don'?t|do not|can'?t|cannot|didn'?t|did not) (?:\w+ )?(?:recogni[sz]e|trust|know|see|earn|have|find|remember|reach|use)\b"
)
_NOT: Final = re.compile(
    r"\b(?:not|no|nor|nobody|none|nothing|neither|without|don'?t|won'?t|wouldn'?t|can'?t|cannot|couldn'?t|shouldn'?t|mustn'?t"
    r"|doesn'?t|didn'?t|isn'?t|aren'?t|wasn'?t|weren'?t|hasn'?t|haven'?t|hadn'?t|aint|ain't|cant|wont|nope|nah|avoid|refrain\w*|never)\b|n't\b"
)
#: What somebody said, with its content, is part of the story. Without it, the request itself is what was said.
_SAID_WHAT: Final = re.compile(
    r"\b(?:said|says|say|tells?(?: (?:me|us))?|told (?:me|us)|thinks?|thought|believes?|confirmed|heard|reports?|reported|wrote|mentioned|called to say|knows?)"
    r"\s+(?:that\s+)?(?=(?:he|she|they|it|hes|shes|his|her|their|somebody|someone|there|§c\d+§|the|my|we've|we have)\b(?:\s+\S+){2,})"
    r"|\b(?:wants?|asks?(?: always)?|is asking(?: for)?|asking(?: for)?) (?:it(?: always)?|prepay\w*|a deposit|prepayment|the deposit|for (?:a |the )?(?:deposit|otp|code|prepayment)|otp|a code|us to pay)(?=\W*$)"
    r"|\bwants? to (?:pay|buy|book|travel|be paid|rent|see)\b"
)
#: The same in a part in which nothing is requested: whatever was said or is wanted there, with its content.
_CONTENT: Final = re.compile(
    r"\b(?:wants?|asked for|asks for|asking for|keeps asking for|demands?|insists on|needs)\s+(?=(?:(?:[a-z]+ ){0,2}(?:money|cash|funds|budget|balances?) back\b|an?|the|another|second|two|three|its|his|her|their|cash|proof|payment|verification|deposit|money|more|to (?:stop|see|pay|buy|key|use|add|check|know|be|get|have|hold|keep|start|book|travel|do|make|go|visit|take|finish|leave|work|join))\b)(?![^§]*§c)"
    r"|\bkeeps? asking\b|\bhas asked to be (?:reined in|careful)\b"
    r"|\b(?:said|says|tells? (?:me|us)|told (?:me|us)|confirmed|intimated(?: that)?|informed (?:me|us)|reports?|reported|mentioned)\s+(?:that\s+)?(?=(?!so\b|it\b|this\b|that\b|ok|yes\b|go\b|please|to\b|no\b|not\b|as\b|do\b)[a-z§][\w§'’]*(?:\s+\S+){2,})"
)
#: A report whose content is a wording: `Carol says the request is as follows`.
_WORDING_OF: Final = re.compile(
    r"\b(?:request|following|follows|message|wording|instruct\w*|exactly|verbatim|word for word|letter|i quote|command)\b"
)
_REPORT: Final = re.compile(
    r"\b(?:said|says|say|saying|told|tells?|asked|asks|asking|wants|wanted|wrote|writes|goes(?=\W*$)|goes (?:like|freeze|block|load|top|pls|please)|reads|mentioned|suggest\w*|reckons?|thinks?|thinking|thought"
    r"|wonder(?:s|ed|ing)?|considers?|considering|claims?|quotes?|quoted|unquote|suppose\w*|guess\w*|hears?|heard|promised|joked|wish(?:es|ed)?|recommend\w*|advis\w+)\b"
)
#: A condition, another time, something not meant, already done, or taken back.
_HANGS: Final = re.compile(
    r"\b(?:if|unless|whether|in case|in the event|in the eventuality|were to|would have to|one would|depending|assuming|supposing|provided|once(?! and for all)|as soon as|whenever|would have|could have|should have|wouldve|couldve|shouldve"
    r"|coulda|woulda|shoulda|maybe|perhaps|possibly|might|plan(?:s|ned|ning)? to|intend\w*|gonna|going to (?:ask|request|say|do|order|put|load)|about to (?:ask|request|say|do|order|put|load|click)"
    r"|ought|(?:be )?worth|make sense|idea|theor\w+|hypothe\w+|imagin\w+|pretend(?! to start)|what if|example|e\.g|training|slide|manual|procedure|phishing|rumou?r"
    r"|jok\w+|kidding|jk|forget|scratch|ignore|disregard|hold off|holding off|hold on|wait|not yet|not now|yet|second thoughts?"
    r"|changed? (?:(?:my|his|her|their) )?(?:idea|mind)|already (?!at|in|on|there|here|standing|waiting|back|found|resigned|left|returned|quit|gone|moved|travel\w*|landed|arrived|knows|spent|used|lost|recovered|boarding|missing|over|wasted|empty|packed|late|has (?:a|the|his|her|it)|have (?:a|the|it)|got (?:a|the|his|her|it))|handled|sorted|no need|needn'?t|against it|oops|undo|reverse|instead|rather(?! (?:more|less|too|[a-z]+(?:ive|ing|ed|ly|ful|ous|able)|large|small|high|low|late|urgent|short|odd|strange|tight|good|bad|full|empty)\b)|except|fyi|btw"
    r"|by the way|used to|remember(?:ing)? to|next time|one day(?! this| he| she| we)|some ?day|eventually|later|always|usually|normally|why|whom|how come|do you|should (?:we|i|you)"
    r"|shall (?:we|i)|were we|are we|am i|we should|you should|i should|lol|lmao|haha\w*|nope|everyone|everybody|both|twice|half of|approve[sd]? (?:it|this|that)|reject\w*|against(?! (?:the|an?|po|invoice) | ?§x)|happen\w*|schedul\w*|effective"
    r"|tonight|midnight|tomorrow|at least|at most|abort|dispute|refund it|cvv|kindly ignore|subject|(?:i|we|you|[a-z]+) (?:already )?did|did (?:it|that|this)|(?<!well )done|not serious|wrong|mistaken"
    r"|as (?:it|they) (?:is|are|was|were)|stays? (?:frozen|closed|as)|remains?|keep (?:it|her|his)|leave (?:it|her|his|that|them)|pounds|euros?|reais|zloty|zł|naira|no no|or not|or\b(?! so they)|the other one)\b"
)
#: Before or after what: then the request is for another time.
_OTHER_TIME: Final = re.compile(
    r"\b(?:on|at|before|after|by|until|till|from) (?:the )?(?:black|good) friday\b|\b(?:on|before|after|by|until|till|from) (?:cyber|easter) monday\b|"
    r"^\W*(?:but |only |just |and )*(?:before|after|afterwards|until|till|til|when|while|starting|effective|from|next|not(?! urgent| only| just| all\b| everything| every\b| much| many| a single| needed| used| been used| touched| in use)|no(?! longer| more)|nope|nah|then|(?:at|on|in|by)(?: the| a| an)?(?= ?(?:§[pl]|morning|evening|afternoon|end|week|month|start|first|noon|midnight|minute|moment|while|bit|few|hour)))\b"
    r"(?!\s+(?:(?:the )?§c|further notice|you (?:can|have)|it suits|before|his|her|he|she|they|it|leave|holiday|maternity|vacation))"
    r"|^\W*(?:but |and )?only (?:starting |from |on |as of |after )?§[pl]\d+§"
    r"|^\W*(?:but |only |just |and |from |on )*§[pl]\d+§(?!\s+[^\W\d_]+\s+[^\W\d_]+)"
)
_OTHER_ACTION: Final = re.compile(
    r"\b(?:un-?|de|re-?)?(?:freez\w*|froz\w*|block(?:s|ed|ing)?|lock(?:ed|s|ing)?|unlock\w*|thaw\w*|defrost\w*|suspend\w*|paus(?:e|ed|ing)|activat\w*|enabl\w*|disabl\w*"
    r"|clos(?:e|ed|ing)(?! to| by)|terminat\w*|cancel\w*|kill\w*|delet\w*|top\w*[ -]?ups?|topping|load(?:s|ed|ing)?|recharg\w*|fund(?:s|ed|ing)?(?=\W+(?:it|her|his|§c))|credited|unload\w*|withdr\w*"
    r"|submit\w*|reveal\w*|replacement card|new card|order(?:ed)? (?:it|a|the|one)|put (?:§|it|him|her)|take (?:§|it|him|her|off|back)|add (?:§|it|some)|send (?:§|it|him|her|some)|give (?:§|it|him|her))\b"
)
_IS_STATE: Final = re.compile(
    r"\b(?:does(?:n'?t| not)|need(?:n'?t| not)|no longer|should(?:n'?t| not)) (?:have to |need to |has to |needs to )?(?:stay|be|remain) (?:frozen|blocked|locked|on hold|suspended|paused)(?: any ?more)?\b|"
    r"\b(?:we|i|you|they|bob|carol) (?:have |had )?(?:only |just )?(?:froze|frozen|blocked|locked|paused|suspended) (?:it|him|her|them|§c\d+§)\b|\b(?:freeze|block|hold|lock) (?:was|is) (?:only |a )?(?:for|because|since|a mistake|precaution)\b|"
    r"\b(?:is|are|it's|its|still|stays|got|was|been) (?:still |wrongly |only )?(?:frozen|blocked|locked|paused|on hold|suspended)(?: (?:by mistake|in error|since|on|from|for)\b)?"
    r"|\bin frozen condition\b"
)
_IS_CANCELLED: Final = re.compile(
    r"\b(?:site|shop|store|merchant|page|app|hotel|[\w.]+\.com|it|they) (?:won'?t|doesn'?t|dont|will not|does not) (?:take|accept|let) (?:it|the card|her|his|him)(?: card)?(?: (?:without|otherwise))?(?: it)?\b|\b(?:phone|mail|e-?mail|zoom|video) call\b|(?:the |our )?\b(?:audit|check|review|investigation|verification|clarification|training|probation|project|trip|inspection|maintenance|repair|stocktake|reconciliation)s? (?:is |was |are |all )?(?:done|over|finished|complete|completed|closed|passed|cleared)\b|\b(?:visa|fee|fare|price|bill|hotel|rent|toll)s? (?:turned out|went up|is dearer|got dearer|came out)\b|"
    r"\brefund(?:ed|s|ing)?\b(?=\W+§c)|\b(?:killing|kills) (?:us|me|him|her|them)\b|\b(?:trip|flight|event|gala|project|meeting|booking|hotel|visit|course|conference|campaign|contract|tour|shoot|fair|mission|season|programme|branch) (?:has |was |is |got |have )?(?:been )?(?:cancelled|canceled|closed|finished)\b|\b(?:the |our )?(?:auditors?|bank|tax adviser|accountant) recommend\w* it\b|"
    r"\b(?:block|group|hotel|room) (?:booking|block|of rooms|reservation)s?\b|\bpayload\b|\b(?:is|are|being|got|was|were) (?:re)?fund(?:ed|ing)\b|\bfunds\b|\bworkload\b|\b(?:down|up)loads?\b|\bload(?:s|ing|ed)? (?:the |his |her |our )?(?:van|truck|car|boxes|page|app|site)\b|"
    r"\b(?:road|border|bridge|airport|bank|till|desk|counter|gate) (?:is |was )?(?:blocked|closed|closing|closes)\b|\bblocked (?:road|street|account)\b|"
    r"\b(?:trip|flight|event|gala|project|meeting|booking|hotel|order|train|visit|course|conference|campaign|contract|mission|assignment|internship)s? (?:[^\W\d_]+ ){0,3}?(?:is|was|has been|got|were|are) (?:cancelled|canceled|closed|finished|terminated)\b"
    r"|\b(?:account|shop|store|office|merchant|site) (?:is |was |got )?(?:blocked|closed)\b|\bblocked (?:the|our|his|her) account\b|\bclosed (?:deal|books|year)\b|\bclosing (?:of )?(?:the )?(?:year|books|month)\b"
)
_TAKING_AWAY: Final = frozenset({"freeze_card", "close_card", "unload_card"})
#: How long it is taken away for: until somebody has looked.
_UNTIL_WE: Final = re.compile(
    r"^\W*(?:until|till|til|while|before)\s+(?:we|i|he|she|they|someone|somebody|it|things|anyone|anybody)\s+(?!say|tell|ask|told|give|call)"
)
#: Nobody gives what is not needed.
_GIVING: Final = frozenset({"topup_card", "unfreeze_card", "order_card", "reveal_card", "set_3ds"})
_NEEDS_NOT: Final = re.compile(
    r"\bnobody (?:\w+ )?(?:needs|uses|wants)\b|(?:n'?t|\bnot|\bnever|\bno longer)\s+(?:\w+ )?(?:need|want|require|use|deserve)\w*\b"
)
_WRONG_NUMBER: Final = re.compile(
    r"\b(?:is|was|are|has|have|got|with) (?:the |a )?wrong(?: (?:digit|number|one|by))?\b|\bwrong (?:digit|number|mobile|phone)\b|\binstead\b"
)
_MORE_THAN_FROZEN: Final = re.compile(r"\bnot (?:just|only) frozen\b|\bnew card has arrived\b")
#: A document, a place where things are written, or the past it tells of.
_WRITTEN: Final = re.compile(
    r"\b(?:for the record|just filing|for the log|history|that was (?:for|in|on|the|last)|those were|quote|unquote|it (?:says|said|reads))\b"
)
_WRITER: Final = re.compile(
    r"\b(?:notes?|forms?|memo|e-?mail|mail|message|text|ticket|log|minutes|report|caption|sign|poster|guide|doc|slack|chat|words|channel|slide|manual|line|title|subject|headline|quote|row|sheet|todo|to-?do|fyi|re|fwd?)\b"
)
#: What was talked over and is settled: `after the call with his manager we agreed`.
_AFTER_TALK: Final = re.compile(
    r"^\W*(?:after|following|further to|with reference to|as per|per) (?:the |a |last |our |my |your )?(?:[\w'§]+ ){0,3}?(?:call|talk|conversation|meeting|consultation|review|discussion|e?-?mail|memo|chat|agreement|confirmation)\b(?! (?:i will|we will|i'll|we'll|tomorrow|later))"
    r"|^\W*(?:which|who) (?=(?:she|he|i|we|they|it|is|was|has|had|lost|left|needs|works|travels|runs)\b)"
)
#: What stands before a value: `hash: 0x…`, `new mob.: +44…`.
_LABEL: Final = re.compile(
    r"(?:(?:(?:please|pls|plz|kindly|can you|could you|so|and) )*(?:log|submit|register|book|declare|report|file|post|record|claim|enter|put in|bump|set|do|fix|change|update|correct) (?:it|this|that|them|this one|that one|this tx|that tx|the following|the below)(?:(?: |, )(?:tx|one|transfer|deposit|now|in|for us|for our float|for the float|thx|thanks|please|pls|today))*|(?:i )?(?:take|make|with|in) refer\w* to [\w\s§']{0,40}|further to [\w\s§']{0,40}|with (?:many )?apolog\w+(?: for [\w\s]+)?|for (?:going|being|having) [\w\s]+|bit of a [\w\s-]+|a (?:small|little|quick) (?:favou?r|thing|request|one)|here(?: it)? (?:goes|is)|(?:closure|recovery|block|unblock|refill|request|top-?up|limit|change) (?:form|entry|note|slip)(?:\W+(?:ref|card|holder))?|request for \w+|nature|ref|balance|finally)\W*|"
    r"(?:(?:new|below|the|card|tx|transaction|our|her|his|their|for|of|on|by|please|pls|(?:phone|mobile|cell|number)(?= (?:for|of) §c)|§c\d+§|§n\d+§)\W+)*(?:hash|network|chain|card|amount|holder|cardholder|phone|mob|mobile|cell|number|e-?mail|mail|name|tx|txn id|id|ref|limits?|daily|weekly|monthly|day|week|month"
    r"|reason|motive|purpose|here'?s the (?:tx|hash|transaction|link)|action|request|urgent|emergency|please|pls|hi|hello|funding|deposit|markup|threeds|particulars|details|top[ -]?up|topup|freeze|unfreeze|order|submission|quick|mobile for §c\d+§|§c\d+§|§n\d+§)\W*",
)
_REASONED: Final = re.compile(
    r"\b(?:ran|went|got|was|were|came|had|fell|broke|(?!need)[a-z]{2,}ed)\b(?! up\b)[^.,;§]{0,30}\b(?:twice|both times)\b|\b(?:than|as) (?:(?:we|i|they|was|were|is|originally|first|had) )*(?:quoted|planned|expected|thought|said|agreed|advertised|announced|foreseen)\b|"
    r"\b(?:cleared|settled|resolved|closed|won|solved|sorted|finished)\b[^.,;§]{0,12}\b(?:dispute|issue|matter|question|misunderstanding)\b|\bdispute (?:with [a-z ]{2,20} )?(?:is|was|got|has been) (?:now )?(?:over|cleared|settled|resolved|closed|won)\b|"
    r"\b(?:cloned|lost|stolen|replaced|declined|bounced|hacked|skimmed|blocked|failed|tried|refused|swiped|used|broken|billed) (?:it |him |her |us )?twice(?: (?:already|now|today|this \w+))?\b|(?:§c\d+§|he|she|they) (?:has|have) been asking\W*$|"
    r"\b(?:that|which) (?:nobody|no one|none of us|he|she|they|we|i)(?: here)? (?:(?:can|could|do|does|did)(?:n['’]?t| not)? )?(?:explain\w*|recogni[sz]e\w*|know\w*|remember\w*|made|make|place\w*|account for|understand\w*|authori[sz]ed)\b|\b(?:nobody|no one|none of us)(?: here)? (?:can|could) (?:explain|place|account for|identify|remember|understand)\b|"
    r"\b(?:typed|entered|clicked|pressed|charged|paid|billed|keyed|debited|booked) (?:it |him |her |us |me |that |them )?twice\b|\b(?:it|he|she|they|that|card|§c\d+§) (?:always|usually) (?:rejects?|declines?|fails?|bounces?|refuses|runs out|forgets|loses|pays|buys|overspends)\b|\bboth (?:ways|directions|nights|days|rooms|legs|trips|flights|weeks)\b|\bpolicy (?:review |revision )?(?:says|is)\b|\b[a-z]+ (?:said|says) so\b|\bgoes\b|\bget (?:that|it) [^.]* sorted\b|\bdid the transfer\b|\bmight (?=the|§|we|i|you|it)"
    r"|\bor so (?:they|he|she|it) \w+\b|\bwhich (?:she|he|i|we|they|it|is|was|has|had)\b|^\W*before (?:the|my|our) line fell\b|\bis taxi\b"
    r"|\bafter (?:the|a|last|our|my) [\w\s§']{0,30}?(?:call|talk|conversation|meeting|consultation|review|discussion|email|mail)(?: with)?\b|\blol\b|\bhaha+\b"
    r"|\bi promised (?:it |this )?(?:to )?(?:him|her|them|§c\d+§)\b|\bi promise\W*$"
    r"|\ball (?:by|week|day|right)\b|\bwants (?:a|the) new\b|\b(?:board|asked) (?:meeting|note|to see that)\b|\bbefore (?:lunch|noon)\b|\bi have been asked to\b"
)
#: What somebody tells of himself or of the weather, with a word that would doubt a request.
_IN_PASSING: Final = re.compile(
    r"\b(?:never|not|n['’]?t) (?:yet |even |ever )?(?:got|gotten|received|get|had|seen|collected|picked up) (?:the |a |his |her |their )?new (?:card|one|plastic)\b|\bfor once\b|\blike everyone else\b|^\W*(?:ag|aag|ai|eish)(?: (?:no|man|shame|nee))*\W*$|\bthere(?:'s| is|s| was) (?:nothing (?:on|left|in)\b|nobody (?:else )?(?:here|there|around|in)\b|no (?!need|reason|point|approval|ok\b|okay|confirmation|budget|request|consent|permission|way|question|more|longer)\w+)"
    r"|\b(?:i|we) promised (?:him|her|them|§c\d+§)(?: (?:the|his|her|their|some|that) [a-z]+(?: (?:money|cash|budget|allowance|funds?))?)?(?=\W*$| (?:§p|today|yesterday|this))|\bi promised (?:him|her|them|§c\d+§|[a-z]+) (?:that )?(?:i'd|i would|i'll|it|this)\b|\binstead of (?:somebody|someone) else(?:'?s)?\b|\bisn'?t (?:that|it|this) (?:grand|great|lovely|nice|wonderful|funny|sweet|awful|typical|something)\b"
    r"|\b(?:the )?(?:receipts?|invoices?|bills?|paperwork|documents?|slips?|details|vouchers?|quotes?) (?:(?:will|to|is|are|should|gonna) )*(?:come|comes|coming|follow|follows|following|sent|due|be here|be sent) (?:§[lp]\d+§|later|soon|afterwards|after|tomorrow|then|by mail|separately|next)\b|\b(?:he|she|they|it|we|i|§c\d+§) (?:now |only |still )?(?:gets?|got|receives?|received|sees?|hears?|has|have) nothing\b|\b(?:hit|reached|maxed|maxed out) (?:the |her |his |their )?(?:cap|limit|ceiling) (?:twice|again)\b"
    r"|\bno (?:luck|joy|clue|show)\b|\b(?:everyone|everybody)(?:'s| is| are| was) (?:waiting|hungry|stuck|there|ready|in|out|tired)\b|\b(?:that'?s|which is|this is) why\b"
    r"|\bor (?:else )?(?:the \w+|he|she|they|we|it)(?:'ll| will)? (?:can'?t|cannot|won'?t|will|loses?|miss(?:es)?|cancels?|be)\b|\b(?:he|she|they|it|§c\d+§) (?:always|usually) (?!freez|block|load|top|add|put|clos|tak|send|do|get)\w+s\b"
    r"|\b(?:does|do) not find (?:it|her|his|the) ?(?:card )?any ?more\b|\bdoes not (?:pass|go|work) without\b|\bfrom scratch\b|\bi (?:shan'?t|won'?t) (?:look|peek|tell anyone)\b|\b(?:comes?|came|arrived?|here|there) not yet\b|\bnot yet (?:here|arrived|come|there|delivered)\b|\b(?:hasn'?t|has not) (?:come|arrived|been delivered) yet\b"
    r"|\bwhich (?:is|was)(?:n'?t| not) (?:right|fair|ideal|great|good|nice|normal|us|ours|hers|his)\b|\bdone (?:with|wi|for the (?:day|season|year)|wrong|travel\w+)\b"
    r"|\b(?:she|he|they)(?:'d| would) rather (?:i|we) (?:dealt|handled|had|got|took|kept)\b|^\W*nothing (?=(?:he|she|they|urgent))|\bi (?:do )?hope (?:i'm|i am) (?:asking|writing) in the right (?:place|channel)\b"
    r"|\b(?:down )?(?:to|till|until) the last (?:cent|penny|dollar)\b|^\W*not (?:pleasant|nice|ideal|fun|cheap|happy|her fault|his fault|my fault|the month|a month|month)\W*$"
    r"|\b(?:i|we) (?:will |'ll |shall )?(?:tell|send|give|explain|paste|forward|write) (?:you |it |the \w+ )*(?:in a (?:moment|minute|bit|second)|soon|later|after(?:wards)?|once [\w ]{1,30}|as soon as [\w ]{1,30})\b"
)
#: How a part goes on that does not begin its sentence: `…, who travels tonight`, `…, is joining as an intern`.
_GOES_ON: Final = re.compile(
    r"^\W*(?:which (?:is|was) §c\d+§|(?:who|which|whose) (?:is|was|are|were|has|had|have|will|[\w']+s|[\w']+ed|he|she|they|we|i|somebody|someone|knew|lost|left|found|took|got)\b|(?:is|was|are|were) \w+ing\b)"
)
#: What an unload takes back, and a freeze that is lifted: it was done before.
_DONE_BEFORE: Final = {
    "unload_card": re.compile(
        r"\b(?:i|we|he|she|they|somebody|someone|bob|carol) (?:\w+ly )?(?:(?:have|has|had|just) )?(?:put|loaded|topped(?: up)?|added|sent|send|gave|overfunded|overloaded|overdid it)\b(?: (?:§a\d+§|it|that|the same|the same (?:amount|sum)))*(?: (?:too much|too many|twice|double))?"
        r"|\b(?:last|previous|earlier|yesterday's) top-?ups?\b|\btop-?up (?:was|is|i filed|filed)\b|\bnothing (?:should|must|may|shall) (?:remain|be left|stay)\b|\bwithout remainder\b|\boops\b"
    ),
    "topup_card": re.compile(
        r"\b(?:has|have|had|was|were|is|are|been)(?: not|n['’]?t)? (?:yet )?(?:been )?(?:loaded|topped up|funded|credited|refilled|recharged|reloaded)(?: yet| so far)?\b(?! (?:by|to|onto|with)\b)"
    ),
    "order_card": re.compile(
        r"\b(?:first|initial|opening|starting) (?:load(?:ing)?|charge|top-?up|balance|amount|limit)\b|\b(?:old|first|previous|last) (?:one|card) (?:is |was |got |has )?(?:cracked|broken|lost|stolen|expired|damaged|bent|melted|frozen|closed|blocked)\b"
    ),
    "freeze_card": re.compile(
        r"\b(?:perhaps|maybe|hopefully|possibly) (?:it|he|she|they|we|the (?:card|wallet|purse|bag)|somebody|someone)(?:'ll| will| might| may| can)? (?:still )?(?:comes?|turns?|finds?|shows?|be found|gets?|pops?|left|lost|forgot|dropped)\b(?: (?:back|up|it))*|\b(?:might|may) (?:still )?(?:turn up|come back|find it|show up|be (?:at home|in the|found))\b"
        r"|\b(?:should|must) (?:not|no longer) (?:remain|stay|be(?: left)?) (?:open|active|live|usable|on|unlocked)\b"
        r"|\b(?:i|we) (?:don'?t|do not|didn'?t) (?:like|love|trust) (?:it|that|this|the look of (?:it|that|this))(?: one bit| at all)?(?=\W*$)"
        r"|\bnot (?:to )?(?:close|cancel|delete|terminate)(?: (?:it|the card|her card|his card))?\b"
    ),
    "reveal_card": re.compile(
        r"^\W*(?:until|till|til) (?:i|we|he|she|they) (?:key|enter|give|type|put|fill|pay|provide|have|send|add)\b|\border(?:s|ed|ing)? [a-z]+\b(?! (?:card|one))|"
        r"\b(?:add|put|key|enter|type) (?:it|the card|her card|his card) (?:to|in|into)\b"
    ),
    "set_limits": re.compile(
        r"^\W*(?:but )?(?:no|not) more\W*$|^\W*(?:until|till|while) (?:he|she|they|it|we|i|the)\b"
    ),
}
_SPACES: Final = re.compile(r" {2,}")
#: In a sentence that tells how things are: `it should not remain open`.
_STAYS: Final = re.compile(r"\b(?:remains?|stays?|leave|yet|always|usually|normally)\b")
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|be|needs?|lost|left|found|agreed|forgot|got|went|came|stole|will|can|cannot|must|\w{3,}(?:ed|ing))\b|n't\b"
)
_QUESTION: Final = re.compile(
    r"^\W*(?:(?:is|are|was|were)(?!\W*$)(?! (?:in|at|on|under|only|just|still|back|over|taxi|urgent|lost|stolen|gone|found)\b)|do|does|did|has|have|had|why|what|where|when|who|how|which|any|shall|should|am(?! (?:in|at|on|out|away|off|here|not|now|still|just|\w+ing)\b))\b"
)


_PHISHED: Final = re.compile(r"\bphishing (?:link|site|page|attack|scam)\b|\b(?:got|been|was) phished\b")


#: By when it has to be done, which is now: nothing is put off.
_DEADLINE: Final = re.compile(
    r"^\W*(?:(?:but |just |right |well )?(?:before|by)) (?:lunch|noon|eod|closing(?: time)?|(?:the|his|her|their|our) (?:shop|store|bank|office|merchant|hotel|counter|desk|pharmacy|station|flight|train|trip|weekend|place|garage|pump|supplier)s?(?: \w+){0,2}|(?:he|she|they|we|i) (?:leaves?|boards?|lands?|fly|flies|travels?|checks? (?:in|out)|gets? there|drives?|departs?|takes? off|goes? (?:out|off|in))(?: [\w§]+){0,3})\W*$"
)


def _without_what_is_harmless(text: str, intent: str, *, goes_on: bool) -> str:
    """A part without the words that tell something, in which a "not" or an "until" says nothing of this request."""
    bare = HARMLESS.sub(" ", _IN_PASSING.sub(" ", IS_OVER.sub(" it is ", text)))
    if intent in _DONE_BEFORE:
        bare = _DONE_BEFORE[intent].sub(" it ", bare)
    if goes_on:
        bare = _GOES_ON.sub(" it ", bare)
    if intent in _TAKING_AWAY and _UNTIL_WE.match(bare):
        bare = _UNTIL_WE.sub(" it ", bare)
    if intent == "close_card":
        bare = _MORE_THAN_FROZEN.sub(" ", bare)
    bare = _AFTER_TALK.sub(" ", bare)
    if intent == "freeze_card":
        bare = _PHISHED.sub(" ", bare)
    return _DEADLINE.sub(" ", bare)


def speaks_against_from_around(
    text: str, intent: str, *, asked: bool = False, objects: bool = False, goes_on: bool = False
) -> bool:
    """Does this part of the message, in which nothing is requested, take the request back, doubt or report it?

    `objects`: a "but" joins it, so that a "not" in it is said against what came before. `goes_on`: it does not begin its
    sentence, so that a "who" in it asks nothing.
    """
    bare = _without_what_is_harmless(text, intent, goes_on=goes_on and not asked)
    if asked or _WRITTEN.search(bare) or _QUESTION.search(bare) or _OTHER_TIME.search(bare):
        return True
    if not bare.strip(" ,.!?"):
        return False
    bare = _IS_CANCELLED.sub(" ", bare)
    if intent == "unfreeze_card":
        bare = _IS_STATE.sub(" ", bare)
    if _OTHER_ACTION.search(bare):
        return True
    if intent == "change_phone":
        bare = _WRONG_NUMBER.sub(" ", bare)
    if _REPORT.search(bare) and _WORDING_OF.search(bare):
        return True
    bare = _REASONED.sub(" ", _CONTENT.sub(" ", _SAID_WHAT.sub(" ", _OUTSIDER_SAYS.sub(" it ", bare))))
    bare = _SPACES.sub(" ", bare)
    if not objects and _STATES_NOT.match(bare.strip(" ,.!")) and not _VERDICT.search(bare):
        bare = _NOT.sub(" ", _STAYS.sub(" ", bare))
    if intent in _GIVING and _NEEDS_NOT.search(bare):
        return True
    objecting = _TELLS_NOT.sub(" ", bare) if objects else _without_harmless_nots(bare)
    return bool(_REPORT.search(bare) or _HANGS.search(bare) or _NOT.search(objecting))


def without_what_was_said(text: str) -> str:
    """the background without words that are harmless in it, and without who said it where its content stands there as well."""
    bare = HARMLESS.sub(" ", _IN_PASSING.sub(" ", text))
    return _SPACES.sub(" ", _CONTENT.sub(" ", _SAID_WHAT.sub(" ", _OUTSIDER_SAYS.sub(" it ", bare))))


def _without_harmless_nots(text: str) -> str:
    return _SUBJECT_NOT.sub(" ", _TELLS_NOT.sub(" ", text))


def introduces(text: str) -> bool:
    """Does what stands before a colon say whose words follow: a name, a note, a mail? A sentence of its own does not."""
    if _LABEL.fullmatch(text):
        return False
    return _WRITER.search(text) is not None or _VERB.search(text) is None


def without_story(text: str) -> str:
    """The words of a request without a "not" or a "says" that only tells what happened."""
    return _without_harmless_nots(_REASONED.sub(" ", _SAID_WHAT.sub(" ", text)))
