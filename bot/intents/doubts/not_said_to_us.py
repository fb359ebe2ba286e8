"""Whether a message is said to somebody else, is somebody else's, is done already, or asks whether it would do.

Read in the masked text, whoever read the request; most of it is judged by `last_look` where the words are a request's own.
"""

from __future__ import annotations

import re
from typing import Final

_HELLO: Final = r"(?:hi+|hello|hey+|hiya|dear|thanks|thank you|good (?:morning|afternoon|evening|day)|morning|to:|cc:?|attn:?)"
#: Who is no person in particular.
_ANYBODY: Final = (
    r"(?:together|to all|to you|to everyone|team|teams|all|there|again|guys|folks|everyone|everybody|colleagues?|friends?|bot|countersign|bud|buddy|hon|hun|honey|love|lovely|lovelies|pet|petal|duck|mate|mates|pal|pals"
    r"|dear|dears|darling|sweetie|babe|babes|bro|bros|sis|dude|dudes|man|men|boss|chief|sir|sirs|madam|ma'?am|ladies|lads|gents|people|peeps|finance|support|treasury|ops|accounts|admin"
    r"|admins|desk|helpdesk|colleague|robot|assistant|app|hi|hello|hey|dear|good|please|pls|kindly|quick|urgent|sorry|thanks|ok|okay|so|and|just|also|for|the|this|that|it|you|u|ya|we|i|can"
    r"|could|would|will|may|now|today|happy|guv|boys|girls|fam|gang|crew|group|world|house|yo|card|cards|from|morning|afternoon|evening|day|much|lot|millions?|float|nice|super|very|both|me)"
)
_VERB: Final = r"(?:freeze|unfreeze|block|unblock|lock|unlock|close|load|unload|top|topup|put|take|add|set|change|update|order|submit|book|send|move|give|limit|cap|raise|lower|reveal|pause|suspend|terminate)"
#: What a request begins with in place of a name: `urgent please`, `reactivate please`, `howzit, can you`.
_BEGINS: Final = (
    rf"(?:{_VERB}|howzit|do|does|did|am|is|are|might|shall|must|should|if|but|or|then|howya|yebo|moin|hej|hei|hallo|hola|ciao|salut|bonjour|servus|oi|ahoy|greetings|regarding|re|about|zero|recharge|to|from|at|in|on|with|urgently|issue|activate|reactivate|open|reopen|lift|release|switch|turn|make|get|keep|stop|kill|cancel|remove|hold|refill|charge|credit|fund|register|replace"
    r"|increase|decrease|reduce|show|reveal|deactivate|enable|disable|restore|withdraw|return|transfer|correct|new|wallet|phone|number|limits?|found|lost|stolen|back|actually|well|right|great|listen|look|done)"
)
_TO_ANOTHER: Final = re.compile(
    rf"^\W*(?:{_HELLO}[\s,]+)*{_HELLO} +(?!{_ANYBODY}\b)(?:[a-z][a-z'’-]+|§m\d+§)(?:\s+[a-z]+)?\s?(?:[,!.:\n–-]+\s*(?=\S)|\s(?=(?:please|pls|plz|can|could|would|will)\b))"
    rf"|^\W*{_HELLO}[ ,]+§[cm]\d+§[,!\n ]+(?:please|pls|can|could|would|will)?\s*(?:you )?{_VERB}\b"
    rf"|^\W*§m\d+§\W*(?:(?:please|pls|kindly)\b|(?:can|could|would|will) (?:you|u)\b|{_VERB}\b)"
    rf"|^\W*§c\d+§,? (?:please|pls|can you|could you|would you)\b[^.;!?]*\bmy\b"
    rf"|^\W*(?!(?:{_ANYBODY}|{_BEGINS})\b)[a-z][a-z'’-]+(?: (?!(?:{_ANYBODY}|{_BEGINS})\b)[a-z'’-]+)?,? (?:(?:please|pls|plz|kindly)\b|(?:can|could|would|will) (?:you|u)\b)"
    rf"|^\W*(?!(?:{_ANYBODY}|{_BEGINS})\b)[a-z][a-z'’-]+(?: (?!(?:{_ANYBODY}|{_BEGINS})\b)[a-z'’-]+)?, {_VERB}\b"
)
_OTHERS_WORDS: Final = re.compile(
    r"\bforwarded (?:message|mail|by|from)\b|\boriginal message\b|\bbegin forwarded\b|^\W*(?:from|to|cc|sent|von)\s*:\s*§e\d+§|\n\W*subject\s*:"
    r"|^\W*(?:my|our|the|his|her|their) (?:[a-z-]+ ){0,2}?(?:boss|manager|cfo|ceo|coo|chief|controller|accountant|auditor|lawyer|wife|husband|colleague|assistant|secretary|rule|policy|instruction"
    r"|instructions|order|mail|e-?mail|message|text|note|sms|letter|idea|plan|quote|answer|reply|sentence|example|line|joke)(?: (?:was|is|said|says|wrote|reads))?\s*:"
)
_SIGN_OF_NO: Final = re.compile(r"[❌🚫⛔👎🙅🚷✅☑✔❎✖]|\[[ x]?\](?!\()")
#: A verdict alone at the end, behind a dash or a comma, unless it says what became of a card or is thanks.
_VERDICT: Final = re.compile(
    r"[-–—,;:|/>]\s*(?:(?:was|is|got|been|were|has been|now) )*(?!(?:stolen|robbed|mugged|hacked|skimmed|compromised|cloned|phished|leaked|breached|nicked|swiped|pinched|snatched|misplaced|broken|damaged|cracked|retired|resigned"
    r"|departed|needed|required|appreciated|obliged|verified|cleared|solved|resolved|recovered|returned|fixed|sorted|then|open|even|often|urgent|indeed|when|men|ten|seven|done)\b)"
    r"(?:\w{2,}(?:ed|en)|turned down|withdrawn|nope|void|undone)\W*$"
)
_DONE: Final = re.compile(
    r"\b(?:done|sorted|handled|taken care of|dealt with|finished)\b (?:it |that |this )?(?:already|by (?!(?:the )?(?:end|noon|tonight|today|tomorrow|then|now|monday|friday|§|\d))[a-z])"
    r"|\balready (?:done|did|sorted|handled|taken care)\b|^\W*ok(?:ay)? done\b"
    r"|(?<!\bwho )(?<!\bthat )\b(?!(?:you|u|that|this|it|which|what|who|to|we|please|pls|bank|shop)\b)(?:[a-z]{2,}|§[cm]\d+§) (?:does|did|has done|will do|'ll do|is doing|(?:is )?going to do) (?:it|this|that)(?: (?:already|himself|herself|now|later))?\s*(?:[.!;,\n]|$)"
)
_WOULD_IT: Final = re.compile(
    r"\b(?:would|will|does|could|might) (?:that|this|it) (?:work|do(?: it)?|help|fly|go through|be (?:right|wise|allowed|correct|enough))\b"
    r"|\b(?:would|will) you do (?:that|this|it)\b(?! for)|\bis (?:this|that) how\b|\bdoes (?:this|that) make sense\b"
    r"|\bapril fools?\b|\bfools['’]? day\b|(?:^|[.!,]\s*)psych\b|\s/s\b|\bjk\b|\bj/k\b"
)
#: `§c2§ must confirm`, a sentence of its own.
_OTHERS_YES: Final = re.compile(
    r"(?:§[cm]\d+§|\b(?!(?:you|u|we|i|they|codes?|shop|bank)\b)[a-z]+) (?:must|has to|have to|needs? to|should) (?:first |still |also )?(?:confirm|approve|agree|sign|okay|ok|decide|verify|release|authori[sz]e|say (?:yes|ok))\b"
)
_AND_THEN: Final = re.compile(
    r"\b(?:afterwards?|after that|then|next|later) (?:please |also )?(?P<verb>freeze|unfreeze|block|close|unload|top up)\W*$"
    r"|\b(?:and|also|plus)? ?(?:the )?same (?:again |thing )?(?:for|with|to|goes for) (?:§c|every|all\b|the other)"
)
_TEST_NETWORK: Final = re.compile(
    r"\b(?:test-?\s?net|dev-?net|amoy|mumbai|sepolia|goerli|holesky|kovan|ropsten|chapel|staging|sandbox)\b|\b(?:failed|reverted|dropped|replaced)\W*$"
)


def may_be_said_to_others(text: str, intent: str) -> bool:
    """Is a masked text in small letters not simply said to the bot, to be done now?"""
    if intent == "submit_funding" and _TEST_NETWORK.search(text):
        return True
    return any(
        pattern.search(text)
        for pattern in (
            *(_TO_ANOTHER, _OTHERS_WORDS, _SIGN_OF_NO, _DONE),
            *(_WOULD_IT, _OTHERS_YES, _AND_THEN, _VERDICT),
        )
    )


__all__ = ["may_be_said_to_others"]
