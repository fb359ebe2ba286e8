"""The words in which a request may be said. A part of a message that says one holds no word that is not in here.

Patterns over a masked, `spaced` part: §c1§ is a card, §a2§ an amount. `said_in` finds what a part asks for, and only where
every word of it is known: a verb of a closed list, the card and the amount, politeness and small words. So "I froze 3018",
"she loads 50" or "almost freeze 3018" say nothing here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

from bot.intents.plain_text import word_set
from bot.intents.recognition import A as AMOUNT
from bot.intents.recognition import C

#: An amount, or words that point at the one of the story.
A: Final = rf"(?:{AMOUNT}|(?:exactly\s+)?(?:this|that|the same|said)\s+(?:amount|sum|figure)|these(?=\s+(?:on|onto|to|from)\b))"
_IT: Final = r"(?:it|this|that one|this one|them money|him|her|them|hers|his|theirs|same)"
_HER_CARD: Final = r"(?:(?:the|that|this|her|his|their|said|same|above|old)\s+(?:card|plastic|one|prepaid))"
_O: Final = rf"(?:(?:me )?(?:a|one) card|one of (?:our|the|my) cards|(?:the\s+)?(?:card\s+(?:of|for)\s+)?(?:the\s+)?{C}(?:\s+(?:card|one|plastic))?|{_HER_CARD}|{_IT}|card)"
_BE: Final = (
    r"(?:(?:has|have|ought|needs?|is|are) to be|(?:can|could|may|must|shall|should|might|would)(?: please| now| kindly| also| therefore| already)* be|to be"
    r"|be|needs?|requires?|(?:want|need|like|have|get|got|see|make|required)\s+" + _O + r"(?: to be)?)"
)
_HOLD: Final = r"(?:freeze|block|hold|lock|suspension|pause|ice|blockade)"
_FINAL: Final = (
    r"(?:for good|for ever|for always|forever|permanently|permanent|definitively|definitely|completely|fully)"
)

_FREEZE: Final = r"(?:freeze|block|lock|suspend|pause|disable|deactivate|ice|immobili[sz]e|freeze up|lock down|lock up|block off)"
_FROZEN: Final = r"(?:frozen|freezed|blocked|locked|suspended|paused|disabled|stopped|immobili[sz]ed|put (?:on|under|into|in) (?:an? )?(?:temporary )?(?:hold|ice|freeze|block|pause))"
_THAW: Final = (
    r"(?:unfreeze|un-freeze|un freeze|unblock|un-block|deblock|unlock|un-lock|reactivate|re-activate|defrost|defreeze|thaw|thaw out|re-?enable|unpause"
    r"|unsuspend|reinstate|restore|liberate|un-?ice|reopen|re-open)"
)
_THAWED: Final = (
    r"(?:unfrozen|unfreezed|unblocked|deblocked|unlocked|reactivated|re-activated|defrosted|thawed|re-?enabled|unpaused|reinstated|restored|released"
    r"|switched (?:back )?on(?: again| back)?|turned (?:back )?on(?: again)?|opened (?:up )?again|made (?:active|usable) again|activated again|used again)"
)
_CLOSE: Final = r"(?:close|terminate|delete|kill off|retire|decommission|liquidate|scrap(?= §c)|shut down|close down|close out)"
_CLOSED: Final = r"(?:closed|terminated|deleted|retired|decommissioned|shut down|closed down|liquidated)"
_TOP_UP: Final = r"(?:top[ -]?up|top off(?=\W+(?:§c|it\b|her|his|the card))|replenish|preload|topup|load|reload|refill|recharge|fund|credit|fill up|fill|load up)"
_TOPPED: Final = (
    r"(?:topped up|replenished|preloaded|loaded|reloaded|refilled|recharged|funded|credited|filled(?: up)?)"
)
_GIVE: Final = r"(?:add|put|shove|slap|whack|sling|pay|load up|stick|drop|throw|send|push|give|chuck|bung|pop|lob|place|transfer|move|deposit|top up|topup|load|charge|credit|get|want|need|see|have|ask for|go|book|approve)"
_TAKE: Final = r"(?:take|pull|withdraw|remove|debit|deduct|claw|bring|get|return|retrieve|recuperate|recover|reclaim|yank|grab|sweep|move|transfer|send|draw|collect|unload|have|put|strip|skim|knock|shave)"
_ALL: Final = (
    r"(?:everything|all(?: of it| the money| the balance| the funds| that)?|(?:the\s+)?(?:whole|full|entire|remaining)\s+(?:balance|amount|money)"
    r"|(?:the\s+)?(?:rest|balance|remainder)|what(?:ever)?(?:'s| is|s| remains| money is))"
)
_UP: Final = r"(?:up|over|out|back|again|through|across)"

#: Intent -> how it is said. The first group of words that fits is taken out; what is left has to be small words.
_SAID: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (intent, re.compile(rf"(?<![\w']){pattern}(?![\w'])"))
    for intent, pattern in (
        ("unfreeze_card", rf"(?:{_BE}\s+)(?:please\s+|now\s+|kindly\s+)?{_THAWED}"),
        ("unfreeze_card", rf"{C}\s+{_THAWED}"),
        (
            "unfreeze_card",
            rf"(?:(?:can|could|may|might|must|should|shall|to)\s+)?(?:please\s+)?(?:be\s+|go\s+|come\s+)(?:set\s+)?(?:loose|free|open|live|on|active|back on)\s+again|(?:set|let|cut)\s+{_O}\s+(?:loose|free)(?:\s+again)?|(?:un-?freez|thaw)(?:e|ing)\s+(?:out|up)",
        ),
        ("unfreeze_card", rf"(?:is|are|has|goes) to (?:be )?{_THAW}"),
        (
            "unfreeze_card",
            rf"(?:put|switch|turn|let|make|get|set|bring|have|on)\s+{_O}\s+(?:(?:be|work|run|go|come)\s+)?(?:back(?:\s+(?:on|live|online|active|in))?|live again|active(?: again)?|work(?:ing)?(?: again)?|run(?:ning)? again|on back|be active)",
        ),
        (
            "unfreeze_card",
            r"(?:out of|off)\s+(?:the\s+)?(?:freeze|freezer|block|hold|ice)|goes out of (?:the )?freeze",
        ),
        ("unfreeze_card", rf"opening\s+(?:{_O}\s+)?(?:up|again)(?:\s+again)?|(?:needs|requires) opening"),
        ("unfreeze_card", rf"get\s+{_O}\s+(?:going|working|running|live|moving|up)(?:\s+again)?"),
        ("unfreeze_card", _THAW),
        (
            "unfreeze_card",
            rf"(?:activate|enable|release)\s+(?:{_O}\s+)?(?:again|once more)|(?:again|once more)\s+(?:activate|enable|release)(?=\s+{_O})",
        ),
        (
            "unfreeze_card",
            r"(?:unfreezing|unblocking|unlocking|reactivating|reactivation|defreezing|deblocking|thawing)",
        ),
        (
            "unfreeze_card",
            rf"(?:lift|remove|undo|end|release|drop|cancel|take off)\s+(?:the\s+|that\s+|his\s+|her\s+|its\s+)?{_HOLD}",
        ),
        ("unfreeze_card", rf"take\s+(?:the\s+|that\s+|his\s+|her\s+)?{_HOLD}\s+off"),
        ("unfreeze_card", rf"take\s+{_O}\s+(?:off|out of)\s+(?:the\s+)?{_HOLD}"),
        (
            "unfreeze_card",
            rf"(?:switch|turn|put|bring|get|switched)\s+(?:{_O}\s+)?(?:back\s+on(?:line)?|on\s+again|on\s+back|back\s+to\s+life|back\s+(?:in|to|into)\s+(?:service|action|use|work|active))",
        ),
        (
            "unfreeze_card",
            rf"open\s+(?:{C}|(?:her|his|their|the|that) card)\s+(?:back\s+)?up(?!\s+(?:to|for|by|with)\b)|open\s+(?:{_O}\s+)?(?:up\s+)?again|open\s+again|open\s+up\s+{_O}\s+again",
        ),
        ("unfreeze_card", rf"make\s+{_O}\s+(?:usable|active|work)\s+again|make\s+(?:usable|active)\s+again"),
        ("freeze_card", rf"{_BE}\s+(?:please\s+|now\s+|kindly\s+|temporarily\s+)?{_FROZEN}"),
        ("freeze_card", rf"{C}\s+{_FROZEN}"),
        (
            "freeze_card",
            rf"(?:(?:i|we)\s+)?(?:want|need)\s+{_O}\s+(?:froze|shut off|cut off|locked down|locked up)(?!\w)",
        ),
        ("freeze_card", rf"(?:is|are|has|goes) to (?:be )?{_FREEZE}"),
        (
            "freeze_card",
            rf"{C}\s+(?:to be\s+)?off(?:\s+it)?(?=\W*(?:please|pls|plz|now|immediately|asap|at once|right away|meanwhile|quick|quickly|\s)*$)",
        ),
        (
            "freeze_card",
            rf"(?:^|(?<=please )|(?<=pls )|(?<=kindly )|(?<=⋯ ))off\s+(?:the\s+)?(?:{C}|it|her card|his card)(?=\W*(?:please|pls|plz|now|immediately|asap|at once|right away|quick|\s)*$)",
        ),
        ("freeze_card", rf"(?:let|make|have)\s+{_O}\s+(?:be\s+)?(?:off|frozen|blocked|stopped|locked)"),
        (
            "freeze_card",
            rf"(?:put|be put|placed?)\s+(?:{_O}\s+)?(?:under|on|into|in)\s+(?:an?\s+)?(?:temporary\s+)?{_HOLD}",
        ),
        (
            "freeze_card",
            rf"(?:take|put)\s+{_O}\s+out of (?:action|service|use)|{_BE}\s+out of (?:action|service|use)",
        ),
        (
            "freeze_card",
            rf"no more (?:spending|payments|purchases) (?:on|with|from)\s+{_O}|(?:stop|halt)\s+(?:all\s+)?(?:payments|spending|purchases)\s+(?:on|from|with)\s+{_O}",
        ),
        ("freeze_card", r"(?:stopping|pausing|halting|disabling)"),
        ("freeze_card", rf"{_FREEZE}"),
        (
            "freeze_card",
            rf"(?:put|place|set|have|move)\s+{_O}\s+(?:on|under|in|into|to)\s+(?:an?\s+|the\s+)?(?:temporary\s+)?(?:{_HOLD}|frozen status)",
        ),
        (
            "freeze_card",
            rf"(?:put|place|slap|set|make|do|need|want|apply|ask for|request|stick|pop|throw|get|add|arrange|chuck|stick on)\s+(?:an?\s+|the\s+)?(?:temporary\s+|quick\s+|immediate\s+|emergency\s+)*(?:{_HOLD}|stop(?=\s+(?:on|to)\s+(?:{C}|her card|his card|it)))(?:\s+(?:on|in|for|of|to|onto))?",
        ),
        ("freeze_card", r"(?:freezing|blocking|locking|suspending|suspension of|freezing of|blocking of)"),
        (
            "freeze_card",
            rf"(?:turn|switch|shut)\s+{_O}\s+off(?=\s+(?:please|pls|now|asap|right away|immediately|until further notice|until we|till we|quick|quickly|meanwhile)|\s+(?:for now|for the moment|temporarily)|\W*$)|(?:turn|switch)\s+off\s+{_O}",
        ),
        ("freeze_card", rf"shut\s+{_O}\s+(?:for now|for the moment|temporarily)"),
        (
            "freeze_card",
            rf"stop\s+(?:the\s+)?(?:{C}|her card|his card|it)(?=\W*(?:please|pls|now|temporarily|at once|immediately|\s)*$)",
        ),
        ("freeze_card", rf"stop\s+{C}\s+from\s+(?:spending|paying)"),
        ("freeze_card", rf"(?:kill switch on)(?=\s+{C})"),
        ("close_card", rf"{_BE}\s+(?:please\s+|now\s+|kindly\s+|permanently\s+)?{_CLOSED}"),
        ("close_card", rf"{C}\s+{_CLOSED}"),
        ("close_card", rf"(?:is|are|has|goes) to (?:be )?{_CLOSE}|goes to (?:closing|closure)"),
        (
            "close_card",
            rf"(?:shut|close)\s+{_O}\s+(?:right\s+)?down|{_BE}\s+(?:de-?activated|cancell?ed|disabled|shut|killed)\s+{_FINAL}",
        ),
        (
            "close_card",
            rf"(?:an?\s+)?(?:{_FINAL}|final|definitive|permanent|definitve)\s+(?:closure|closing|termination|cancellation|shutdown)(?: of| for)?",
        ),
        ("close_card", r"liquidat(?:e|ed|ing|ion)"),
        ("close_card", _CLOSE),
        (
            "close_card",
            rf"(?:cancel|kill|deactivate|discontinue|shut|end|extinguish|bin|disable|stop)\s+(?:{_O}\s+)?{_FINAL}",
        ),
        ("close_card", rf"{_FINAL}\s+(?:cancel|kill|deactivate|discontinue|shut)"),
        ("close_card", r"(?:closure|termination|closing)(?: of| for)?"),
        ("close_card", rf"get\s+rid\s+of|bin(?=\s+{C})"),
        ("topup_card", rf"top\s+{_O}\s+up"),
        (
            "topup_card",
            rf"(?:give|send|get|hand|grant|allow)\s+{_O}\s+(?:its|his|her|their|the|a further|some)\s+{A}",
        ),
        ("topup_card", rf"{A}\s+from\s+(?:the\s+|our\s+)?(?:float|pot|pool)\s+(?:to|onto|on|into)\s+{_O}"),
        (
            "topup_card",
            rf"(?:{_GIVE}|{_TOP_UP})\s+(?:it|that|this|them|the same)\s+(?:on|onto|in|to|into)\s+{_O}|(?:bung|stick|pop|put|add|chuck|throw|load)\s+(?:it|that|them)\s+on(?=\W*(?:please|pls|now|for (?:me|him|her|us|them)|asap|\s)*$)",
        ),
        ("topup_card", rf"{C}\s+(?:is|would be|runs?|comes?)\s+(?:short\s+)?(?:by\s+|of\s+)?{A}\s+short"),
        (
            "topup_card",
            rf"{_BE}\s+(?:put|given|sent|added|placed|moved|transferred)\s+{A}|{C}\s+(?:has to|must|should|shall|can|may|might|could|would|will) (?:please )?(?:get|have|receive|be given|be sent)\s+(?:another\s+|an\s+extra\s+|exactly\s+)*{A}",
        ),
        (
            "topup_card",
            rf"(?:increase|raise|boost|bump(?: up)?|up|extend)\s+(?:the\s+)?(?:balance|funds|money|credit)\s+(?:of|on|for)\s+{_O}\s+(?:by|with)\s+{A}",
        ),
        (
            "unload_card",
            rf"(?:{_TAKE}|unload)(?:\s+(?:back|out|off|down))*\s+(?P<all6>whatever|what|everything|all|anything)\s+(?:that\s+|which\s+)?(?:{C}|he|she|it|they)\s+(?:still\s+)?(?:has|got|have|holds)(?:\s+(?:left|on it|over|remaining|got))*(?:\s+(?:back|off|to|into|the|our|float))*",
        ),
        (
            "unload_card",
            rf"from\s+{_O}\s+(?:the\s+|some\s+)?(?:money|funds|cash)\s+(?:should|must|has to|is to|needs to|can|may|shall)\s+be\s+(?:taken|pulled|moved|withdrawn|brought|unloaded)(?:\s+(?:back|off|out|down|away))*",
        ),
        (
            "unload_card",
            rf"(?:take|pull|bring|get|claw|move)\s+(?:the\s+)?{A}\s+(?:back\s+|right\s+|home\s+)*(?:off|from|off of|out of)\s+{_O}",
        ),
        ("topup_card", rf"{_BE}\s+(?:please\s+|now\s+|kindly\s+)?{_TOPPED}"),
        ("topup_card", rf"(?:an?\s+|the\s+)?(?:{_TOP_UP}|top[ -]?ups?)"),
        (
            "topup_card",
            rf"(?:is|are|must be|has to be|to be|be|shall be|should be)\s+charged\s+(?:with|by)\s+(?:exactly\s+)?{A}|(?:charge|recharge)\s+{_O}\s+(?:with|by)\s+{A}|{A}\s+to\s+(?:charge|load|add|put)(?:\s+on)?",
        ),
        (
            "topup_card",
            rf"{C}\s+(?:with|for|is short by|is short of|short|short by|needs|still gets|also gets|asks)\s+(?:another\s+|exactly\s+)?{A}",
        ),
        (
            "topup_card",
            rf"{A}\s+(?:would be|is|are|will be)\s+(?:required|needed|necessary|enough|perfect|great|lovely|fine)(?:\s+(?:on|for|onto)\s+{_O})?|{A}\s+(?:ought to|should|would|will|must)\s+do\b",
        ),
        (
            "topup_card",
            rf"(?:there\s+)?(?:comes?|must come|should come|has to come)\s+{A}\s+(?:on|onto|in|to)\s+{_O}|(?:assist|help|support|sort|hook|set|fix)\s+{_O}\s+(?:out\s+|up\s+)?with\s+(?:another\s+)?{A}(?:\s+(?:on|onto)\s+{_O})?",
        ),
        (
            "topup_card",
            rf"(?:for|on|to)\s+{C}\s+(?:is|are)\s+missing\s+(?:exactly\s+)?{A}|missing\s+(?:exactly\s+)?{A}\s+(?:on|for)\s+{_O}|there must be\s+{A}(?:\s+more)?\s+on\s+{_O}",
        ),
        (
            "topup_card",
            rf"{A}\s*(?:->|→|=>|>>)\s*{C}|(?:raise|increase|correct|boost)\s+(?:the\s+)?balance\s+(?:of|on)\s+{_O}\s+(?:by|with)\s+(?:plus\s+)?{A}",
        ),
        (
            "topup_card",
            rf"(?:a\s+|the\s+)?(?:loading|refill|recharge|top[ -]?up|topup)\s+(?:in the (?:height|amount|sum) of|of|for|over|with)\s+{A}|(?:give|put|add|load)\s+(?:to\s+)?(?:the\s+)?{C}\s+(?:a\s+\w+\s+of\s+)?{A}",
        ),
        (
            "topup_card",
            rf"{C}\s+{A}(?=\s+(?:please|pls|plz|asap|urgent|urgently|now|top|topup|today|quick|quickly|thx|thanks|ta)\b)|{C}\s+{A}\s+(?:top[ -]?up|topup|refill|recharge|load)",
        ),
        (
            "topup_card",
            rf"(?:send|put|give|load)\s+(?:the\s+)?(?:per diem|allowance|pocket money|advance|travel money|gas money|fuel money|money)\s+(?:to|for|on|onto)\s+{_O}(?:\s+{A})?",
        ),
        ("topup_card", rf"top\s+{_O}\s+up"),
        (
            "topup_card",
            rf"(?:\+|plus)\s*{A}\s+(?:on\s+|to\s+|for\s+|onto\s+)?{C}|{C}\s*(?:\+|plus|->|→|:)\s*\+?\s*{A}",
        ),
        (
            "topup_card",
            rf"(?:gets?|shall get|should get|must get|has to get|will get|receives?|to get|to receive)\s+(?:another\s+|an\s+extra\s+|extra\s+|more\s+)*{A}",
        ),
        (
            "topup_card",
            rf"(?:can|could|may|might)\s+{_O}\s+(?:please\s+)?(?:have|get|receive)\s+(?:another\s+|an\s+extra\s+|extra\s+|more\s+)*{A}",
        ),
        (
            "topup_card",
            rf"(?:raise|increase|boost|bump(?: up)?)\s+(?:what is|what's|whats|the money|the funds|the amount|the balance)?\s*(?:on\s+|of\s+)?{_O}\s+(?:by|with)\s+(?:plus\s+)?{A}",
        ),
        (
            "topup_card",
            rf"(?:give|send|put|load|add|throw|pass|place|transfer|chuck|bung|sling|slip|spot|drop|shoot|get|lend|hand|wire|pop|stick|slide|toss)\s+(?:him|her|them)\s+(?:up\s+)?(?:with\s+|by\s+)?{A}|(?:load|top|fill)\s+(?:him|her|them|it)\s+up",
        ),
        ("topup_card", rf"(?:money|funds)\s+(?:for|on|onto|to|in)\s+{_O}"),
        (
            "topup_card",
            rf"{C}\s+(?:needs?|requires?|could use|is out of|is low on|is running low on|ran out of|is short of)\s+(?:a bit of\s+|some\s+|more\s+|a bit more\s+)*(?:(?:gas|fuel|petrol|travel|lunch|taxi|pocket|trip|hotel|petty)\s+)?(?:money|funds|cash)(?:\s+again)?",
        ),
        (
            "topup_card",
            rf"{A}\s+(?:should |must |has to |to |may |might |can |could |would )?(?:go|goes|be put|be added|be loaded|be sent|be placed|be credited)\s+(?:on|onto|to|into|in)\s+{_O}",
        ),
        ("topup_card", r"(?:topping|topping up|loading|refilling|recharging|adding|putting)(?:\s+up)?"),
        (
            "topup_card",
            rf"(?:give|send|get|pass|slip|spot)\s+{_O}\s+(?:(?:another|an extra|extra|exactly|only)\s+)?(?={A})",
        ),
        (
            "topup_card",
            rf"(?:{_GIVE}\s+)?(?:another\s+|an\s+extra\s+|extra\s+|more\s+|exactly\s+|only\s+|just\s+|the\s+sum\s+of\s+)*{A}(?:\s+(?:usd|dollars|bucks|more|extra|additional|again|only))*(?:\s+{_UP})?\s+(?:on|onto|on to|into|to|in|for|at|over to|with)\s+{_O}",
        ),
        (
            "topup_card",
            rf"(?:needs?|requires?|must receive|should get|could use|could do with|must have|short by|short of)\s+(?:another\s+|an\s+extra\s+|an\s+additional\s+|a\s+further\s+|additional\s+|extra\s+|more\s+|exactly\s+|only\s+|just\s+)*{A}(?:\s+(?:usd|dollars|bucks|more|extra|on (?:it|his card|her card|the card)))*",
        ),
        (
            "topup_card",
            rf"(?:place|put|leave)\s+{A}\s+at\s+(?:the\s+)?disposal\s+of\s+{_O}|(?:raise|increase|boost|bump(?: up)?|up)\s+{_O}\s+(?:balance|funds|credit|budget)\s+(?:by|with)\s+{A}",
        ),
        (
            "topup_card",
            rf"(?:send|throw|push|put|get|kick|shoot)\s+{A}\s+(?:over\s+)?(?:his|her|its|their)\s+way",
        ),
        ("topup_card", rf"\+\s*{A}|{A}\s*more|another\s+{A}|more\s+{A}"),
        ("topup_card", rf"{A}\s+{_BE}\s+(?:loaded|added|put|credited|sent)"),
        (
            "unload_card",
            rf"(?:run|slide|slip|kick|shift|scoot|knock|book)\s+{A}\s+(?:of (?:it|that|this)\s+)?(?:back\s+)?(?:off|from|out of|off of)\s+{_O}",
        ),
        (
            "unload_card",
            rf"(?:have|get|see|put|move)\s+(?:the\s+)?{A}\s+(?:that's\s+|left\s+)?(?:on|from)\s+{_O}\s+(?:back\s+)?(?:in|into|to)\s+(?:the\s+|our\s+)?(?:float|pot|pool)",
        ),
        (
            "unload_card",
            rf"{A}\s+back\s+(?:in)?to\s+(?:the\s+|our\s+)?(?:float|pot|pool|main account)",
        ),
        (
            "unload_card",
            rf"{_TAKE}(?:\s+(?:back|out|off|down|away))*\s+(?:the\s+)?{A}(?:\s+(?:usd|dollars|bucks))?(?:\s+(?:back|out|off|again))*\s+(?:from|off|off of|out of)\s+{_O}",
        ),
        (
            "unload_card",
            rf"(?:{_TAKE}|unload)(?:\s+(?:back|out|off|down|away))*\s+(?P<all>{_ALL})(?:\s+(?:back|out|off|again|that|that's|thats|what's|is|it|he has|she has|left|still|remaining))*\s+(?:from|off|off of|out of|on)\s+{_O}(?:\s+back\s+(?:in)?to\s+(?:the\s+|our\s+)?(?:float|pot|pool))?",
        ),
        (
            "unload_card",
            rf"(?P<all4>{_ALL})(?:\s+(?:that|what|is|s|left|still|remaining|remains))*\s+(?:left\s+)?on\s+{_O}\s+(?:please\s+|must\s+|should\s+|can\s+|may\s+|has to\s+|to\s+)*(?:return|returns|go|goes|come|comes|be (?:returned|moved|taken|brought|withdrawn)|move it|come off|back)(?:\s+(?:back|off|out|home))*(?:\s+(?:to|in|into)\s+(?:the\s+)?(?:float|pot|pool|main account|account))?",
        ),
        (
            "unload_card",
            rf"(?:take|fetch|bring|get|pull|claw|send|move)\s+(?:it|them|this|that)\s+(?:back|off|down)(?:\s+(?:from|off|of)\s+{_O})?(?=\W*(?:please|pls|now|again|to the float|⋯|\s)*$)",
        ),
        (
            "unload_card",
            rf"(?:deduct|take|pull|withdraw|debit|remove)\s+{A}\s+and\s+(?:credit|return|send|put|move)\s+(?:it\s+)?(?:back\s+)?(?:in)?to\s+(?:our|the)\s+(?:deposit|float|pot|main account)(?:\s+account)?",
        ),
        ("unload_card", rf"(?:(?:year-end|final|full|complete)\s+)?(?P<all7>sweep) of {_O}"),
        (
            "unload_card",
            r"(?P<all8>the (?:full|whole|entire|remaining) balance)(?:\s+(?:please|pls|comes?|goes?|to (?:come|go|be (?:brought|sent|moved))))*\s+(?:home|back)(?:\s+(?:in)?to\s+(?:the\s+|our\s+)?float)?",
        ),
        ("unload_card", rf"(?:reduce|decrease)\s+{_O}\s+by\s+{A}"),
        (
            "unload_card",
            rf"(?:return|move|bring|take|pull|send)\s+(?:the\s+)?(?:unused\s+|remaining\s+|unspent\s+|leftover\s+)*{A}\s+(?:left\s+)?(?:on|from)\s+{_O}\s+(?:back\s+)?(?:in)?to\s+(?:the\s+)?(?:float|deposit|pot)",
        ),
        ("unload_card", rf"(?:pull|take|grab|get|bring|claw|yank)\s+(?:the\s+)?{A}\s+(?:back|off|out)"),
        (
            "unload_card",
            rf"from\s+{_O}\s+(?:please\s+|pls\s+|kindly\s+)?{_TAKE}(?:\s+back)?(?:\s+(?:to|into)\s+(?:the\s+)?float)?\s+{A}(?:\s+(?:back|to|into|the|float))*",
        ),
        (
            "unload_card",
            r"(?:recover|return|bring back|take back|move back|get back)\s+(?:the\s+)?(?:same|it|them|money|funds|excess)\s+(?:back\s+)?(?:in)?to\s+(?:the\s+)?float",
        ),
        ("unload_card", rf"(?:money|funds|cash)\s+(?:off|out of|back from)\s+{_O}|minus\s+{A}"),
        (
            "topup_card",
            rf"(?:transfer|send|move|put)\s+{A}\s+from\s+(?:the\s+|our\s+)?float\s+(?:to|onto|on|into)\s+{_O}",
        ),
        (
            "topup_card",
            rf"(?:{_GIVE}|{_TOP_UP})\s+(?:it|them|these|that)\s+from\s+(?:the\s+|our\s+)?float\s+(?:to|onto|on|into)\s+{_O}|(?:add|load|put)\s+(?:it|them|these)(?=\W*(?:please|pls|now|today|asap|⋯|\s)*$)",
        ),
        ("topup_card", rf"put\s+(?:him|her|them)\s+{A}(?:\s+(?:on|onto|in)\s+{_O})?"),
        (
            "unfreeze_card",
            r"(?:come|comes|returns?|goes?)\s+(?:back\s+)?(?:to life|active|live again)|(?:spend|pay|be used) again",
        ),
        ("unload_card", rf"zero\s+{_O}\s+out"),
        (
            "unload_card",
            rf"(?:pull|take|withdraw|get|bring|remove)\s+(?:some\s+|some of the\s+|the\s+)?(?:money|funds|cash)\s+(?:back\s+|home\s+)?(?:from|off|out of|back from|back off)\s+{_O}",
        ),
        (
            "topup_card",
            rf"(?:need|want|put|add|send|load)\s+(?:some\s+|a bit more\s+|more\s+|some more\s+)?(?:money|funds|cash)\s+(?:there|on|onto|to|in|into)(?:\s+{_O})?",
        ),
        (
            "topup_card",
            rf"(?:raise|increase|boost|bump(?: up)?)\s+(?:the\s+)?(?:balance\s+(?:of|on)\s+|what's on\s+){_O}\s+(?:by|with)\s+{A}",
        ),
        (
            "unload_card",
            rf"(?:unload|withdraw|deduct|debit|claw back|withdrawing|unloading|withdrawal of|pull back|take back|get back|bring back|recover|recuperate|retrieve)\s+{A}",
        ),
        (
            "unload_card",
            rf"{A}\s+(?:has to\s+|must\s+|should\s+|can\s+|may\s+|to\s+|please\s+)?(?:be\s+(?:taken|pulled|withdrawn|removed|deducted|unloaded|brought back)\s+)?(?:back\s+)?(?:come\s+off|go\s+off|off|from|out of|back from)\s+{_O}",
        ),
        (
            "unload_card",
            rf"(?:the\s+)?{A}(?:\s+(?:usd|dollars|bucks))?(?:\s+(?:left\s+)?on\s+{_O})?\s+(?:should |must |has to |have to |needs to |is to |are to |to |may |might |can |could |would |please )*(?:go|come|be (?:moved|sent|taken|brought|pulled|put|returned)|move|return)\s+(?:back\s+|off\s+|out\s+|again\s+)*(?:(?:to|into|in)\s+(?:the\s+|our\s+)?(?:float|pot|pool|main account|account|deposit)\s*)?(?:(?:from|off|out of)\s+{_O})?(?=\W*(?:again|please|pls|⋯|$))",
        ),
        (
            "unload_card",
            rf"(?:have|get|see)\s+(?:the\s+)?{A}\s+(?:of it\s+|of that\s+)?(?:brought|taken|pulled|moved|sent|put)\s+(?:back|off|out)",
        ),
        (
            "unload_card",
            rf"(?:remove|yank|strip|reclaim|claw back|pull back|take back|retrieve|recover|withdraw|return)\s+(?:the\s+)?{A}",
        ),
        (
            "unload_card",
            r"(?:is|are|has) to (?:be )?(?P<all5>discharge[d]?|empty|emptied|drain(?:ed)?|swept)(?: completely| fully)?",
        ),
        ("unload_card", rf"{_BE}\s+(?P<all2>emptied|drained|unloaded completely|swept)"),
        ("unload_card", rf"(?P<all3>empty|drain|sweep|clear out|empty out|zero out)\s+{_O}"),
    )
)

_SMALL: Final = word_set(
    """
    a an the this that to of on onto in into for with by from off at up and as me us our my your his her their its it him them he she
    please pls plz plss plse kindly just also now then so again back right away immediately asap urgent urgently quickly quick fast today
    at first hi hello hey hiya morning good afternoon evening day dear all team bot there everyone folks guys man bud mate friend
    thanks thank you thx ty tks cheers much appreciated obliged advance grateful ok okay yes do be so kind enough would
    hon honey sugar darlin darling sweetie boss buddy chief y'all yall news company's
    assist kindly asante danke merci gracias groetjes groet kr rgds brgds
    card cards plastic prepaid account one ones same account's holder money balance funds cash usd dollars dollar bucks buck amount sum worth
    more extra another additional exactly only completely fully itself float pot pool main further
    dollas dolars altogether entirely prepare totality
    temporarily temporary meanwhile moment while being time precaution safety safe measure security good ever always forever permanently
    permanent definitively definitely mind terribly possible trouble help u ya ur us lets let let's s 's
    sorry hurry rush emergency action request requested needed required need immediate effect effective straight dear sir madam
    hereby herewith carry out carried effect execute ensure proceed conduct organise organize kindest regards best sincerely yours faithfully mr ms mrs miss dr
    colleague colleagues ladies gentlemen gm gn ser sir ma abeg biko oga well greetings compliments good's whole following below above named respective concerned same
    accordingly soonest earliest convenience forthwith promptly instantly directly immediately's presently further notice until
    blocking' transaction operation regarding concerning there some little bit usdt's credit card's would've gladly happily simply really very
    discreetly duly hence thus awfully dreadfully ever perfect lovely angel soon well moreover b4 before's dolars dollas dolar bucks' exactly's incl need's gonna dears y'all folks precautionary precaution's other nuisance
    fix sort arrange initiate start proceed perform make made done get have see want needful
    gonnae wee lads lad's pal sorted quid's already's finally home promptly
    usual one's own properly dolars dollas yo k kk bud wanna omg gosh boss nil ta ping thru through over above below mentioned following
    howzit sawubona yebo moin servus hola salut ciao bonjour hej hei hoi namaste jambo habari aloha molo dumela lekker sharp siyabonga dankie enkosi
    grazie obrigado bedankt tack takk eish aweh heita
    holder cardholder details detail value final particulars action subject task item entry form initiated processing process - + & ' " * # → > < = / ~ ☺ ! ? . , : ; ( ) |
    """
)
#: Words that make of the small ones a request of somebody: taken out before what is left is looked at.
_ASKING: Final = re.compile(
    r"\b(?:could i (?:be a nuisance and )?ask for|(?:someone|somebody)(?= (?:please |pls |quickly )?(?:(?:un|re)?(?:freeze|block|lock)|close|top|load|unload|reload)\b)|gonna need|going to need|(?:can|could|would|will|may|might) (?:you|u|ya|we|i|someone|somebody|one of you|§[cm]\d+§|it|that|this|she|he)(?: all| guys)?(?: please| pls| kindly| just| also| possibly| perhaps)*"
    r"(?: be (?:so kind|so good|kind enough|able to|an angel|a dear)(?: as)?(?: to| and)?)?(?: have| get| ask you to| ask for| trouble you for| trouble you to)?"
    r"|would (?:it be possible|be possible|you mind|like|need|love|appreciate|ask|request|be grateful)(?: terribly)?(?: you)?(?: to| if you| that you| for)?"
    r"|is it possible to|be possible to|(?:i|we) (?:need|want|wanna|would like|must|have|need you|ask|ask you|request|wish|d like|'d like)(?: (?:you|u))?(?: to| that| that you| for)?"
    r"|i(?:'d| would) (?:like|ask|need|love|be (?:grateful|obliged))(?: for)?(?: you)?(?: to| that you| if you(?: could| would)?| if)?|(?:i|we) (?:must|need|have) to(?: ask you to)?"
    r"|i'd appreciate (?:it )?if you(?: could| would)?|you (?:can|may|could|should)(?: now| please)?|we (?:can|may)(?: now)?|lets|let's|let us|(?:go ahead|go on) (?:and|n)|(?:please |kindly |pls )?assist(?: me| us)?(?: (?:to|in|by))?|(?:i'?m|we'?re) (?:fixing|looking|trying) to|feel free to|help me(?: to)?"
    r"|be so kind(?: as)? to|be kind and|need(?: you)? to|make sure to|time to|do the needful(?: to)?|for me|for us|for him|for her|for them|would you|could you|can you|if you would|if you could"
    r"|if you(?:'d| would) be so (?:good|kind)|much (?:obliged|appreciated)|thank you(?: so much| very much)?(?: in advance)?|thanks (?:a lot|so much|in advance)|many thanks|with (?:many )?thanks"
    r"|good (?:morning|afternoon|evening|day)(?: again| to you| all| team| everyone)?|sorry (?:for|about) the (?:hurry|rush|bother|trouble)|for the time being|for now|for the moment|right now|at once|as soon as possible|with immediate effect"
    r"|straight away|in advance|would be (?:perfect|great|lovely|nice|good)|is to|are to|has to|(?<!would )have to|needs to|must|should|may|can|could|might|shall)\b"
)
#: Where a story begins behind a request. A thing by itself (`close §c1§ ticket`) begins none.
_JOINT: Final = re.compile(
    r"\s(?=(?:for|because|before|hence|so|since|as|who|whose|which|where|that|to (?:pay|cover|book|buy|get|use|settle|rent|travel|enable|allow|see|test|be able)|from|at|in|on|with|after|due|owing|given|via|against|following|pending|i|we|he|she|they|it|it's|its"
    r"|my|our|his|her|their|someone|somebody|till|until|til|while|otherwise|the|an?|there|this|one of|nobody|somebody's|someone's|people|apparently|seems|looks like|got|lost|stolen|left|gotta|thats|that's|just)\s"
    r"|\s(?=(?:lost|stolen|cloned|compromised|missing)\W*$))"
)
_WORD: Final = re.compile(r"§[a-z]\d+§|[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Said:
    """What a part asks for. `everything` = all that is on the card; `amount` = its sign, where it names one."""

    intent: str
    amount: str = ""
    everything: bool = False


#: Nobody asks for something in more characters that are small words alone, and the patterns would take long for them.
_LONGEST_PART: Final = 600
#: Of so many that are the same, all but one would have to be small words.
_MOST_TRIED: Final = 8


def said_in(part: str) -> list[Said]:
    """Everything that a part asks for and whose words are all known; the same intent only once."""
    found: dict[str, Said] = {}
    if len(part) > _LONGEST_PART:
        return []
    for intent, pattern in _SAID:
        if intent in found:
            continue
        for match in islice(pattern.finditer(part), _MOST_TRIED):
            rest = f"{part[: match.start()]} ⋯ {part[match.end() :]}"
            if not is_small(rest) or not _is_asked(part[: match.start()], match[0]):
                continue
            amounts = re.findall(AMOUNT, part)
            groups = match.groupdict()
            everything = any(
                groups.get(name) for name in ("all", "all2", "all3", "all4", "all5", "all6", "all7", "all8")
            )
            found[intent] = Said(intent, amounts[0] if len(amounts) == 1 else "", everything)
            break
    return list(found.values())


#: `§c1§ off the naughty step`: what follows belongs to the word before it.
_OPEN_END: Final = re.compile(r"\b(?:off|on|from|to|of|in|at|with|by|for|out|into|onto|under)\s*$")


def said_before_a_story(part: str) -> tuple[list[Said], str]:
    """What a part asks for and the story behind it, in one breath: `freeze §c1§ which somebody used in Lisbon`."""
    for joint in _JOINT.finditer(part):
        if _OPEN_END.search(part[: joint.start()]):
            continue
        found = said_in(part[: joint.start()])
        if found:
            return found, part[joint.start() :].strip()
    return [], ""


#: `until it gets §a1§`, `might everyone get §a1§`, `to each`.
_NOT_ITS_OWN: Final = re.compile(
    r"\b(?:until|till|til|if|when|unless|whenever)\b|\b(?:might|may|can|could|should|must|let|give|for|to|of|and) (?:everyone|everybody|all|each|both)\b"
)


def is_small(text: str) -> bool:
    """Does a text hold nothing but signs of cards and amounts, politeness and small words?"""
    return all(_is_small_word(word) for word in _WORD.findall(_ASKING.sub(" ", text)))


def _is_small_word(word: str) -> bool:
    if word.startswith("§"):
        return word[1] in "cam"
    if not word.isascii():
        return not word[0].isalnum()  # an emoji
    return word in _SMALL


#: `I need 500 on ads-eu`: whoever needs it asks for it.
_I_NEED: Final = re.compile(r"(?:need|want|require)\b")


def _is_asked(before: str, said: str) -> bool:
    """Is nobody named who does it? `I`, `he`, `Nora` before a plain verb tell what happens."""
    if (
        _I_NEED.match(said)
        and re.search(r"(?:^|[\s,])(?:i|we)\W*$", before)
        and is_small(before[: before.rstrip().rfind(" ") + 1])
    ):
        return True
    if _NOT_ITS_OWN.search(before):
        return False
    bare = _ASKING.sub(" ", before)
    return not re.search(
        r"\b(?:i|we|he|she|they|you|who|not|bot|my|the|this|that|our|his|her|no|any|of)\W*$", bare
    )
