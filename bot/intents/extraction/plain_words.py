"""Words that people use for ours, written as ours before anything is read: `the percentage we add`, `web hook`, `plus one 615 …`.

Each says the same afterwards. A text that holds none of them is left as it is, at the cost of looking for a few letters.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.extraction.order_lists import as_an_order
from bot.intents.plain_text import with_ending, word_set

_FLOAT: Final = (
    r"(?:the |our )?(?:float|main account|company account|master account|pot|pool|deposit account)"
)
_AMOUNT: Final = (
    r"\$?\d[\d.,]*k?(?: ?(?:usd|dollars?|bucks))?|(?:an? )?(?:(?:\w+[ -]){1,4}?)(?:dollars|bucks)"
)
_WE_ADD: Final = r"(?:add|put|charge|take|apply|slap|tack|stick)(?:s|ing)?(?: on)?(?: top)?(?: of (?:it|that|things|deposits?|every deposit))?(?: there| it)?"
_HELPED: Final = (
    r"(?:top|load|reload|refill|recharge|fund|credit|add|put|send|give|transfer|freeze|block|lock|suspend|pause|unfreeze|unblock|unlock|reactivate|close|terminate|cancel|take|pull|withdraw|unload|return|move|raise|lower|increase|decrease|reduce"
    r"|set|change|update|revise|adjust|bring|cut|order|issue|create|arrange|submit|register|book|record|log|report|tag|route|switch|turn|enable|disable|reveal|show|open|undo|lift|remove|check|list|tell|get|see|look|explain|pull|find)"
)
#: What is looked for first, in small letters, and what is written for it.
_ROWS: Final = tuple(
    (hint, re.compile(pattern, re.IGNORECASE), ours)
    for hint, pattern, ours in (
        ("web", r"\bweb[ -]hook", "webhook"),
        (
            "percent",
            rf"\b(?:the|our) (?:percentage|percent)(?: (?:that|which))?(?: we| you| the company)? {_WE_ADD}(?! §)",
            "the markup",
        ),
        (
            "percentage",
            r"\b(?:the|our) (?:percentage )?(?:on top|surcharge)(?= (?:to|at|from|down|up|is|becomes?|by)\b)|\b(?:our|(?:the|our) (?:company'?s?|deposit)) percentage(?= (?:to|at|from|down|up|becomes?)\b)",
            "the markup",
        ),
        (
            " we ",
            r"\bthe (?:fee|margin|cut|commission|surcharge|extra)(?: (?:that|which))? we (?:add|charge|put|take|apply)(?: on)?(?: top)?(?: (?:of|to|on|from) (?:(?:the|our|each|every|all) )?(?:deposits?|fundings?|it|that))?(?= (?:to|at|from|down|up|is|should|must|has|becomes?|needs)\b)",
            "the markup",
        ),
        (
            "our ",
            r"\bour (?:margin|commission|surcharge)(?= (?:to|at|from|down|up|should|must|has to|becomes?|needs)\b)",
            "our markup",
        ),
        (
            "mark up",
            r"\bmark up\b(?=,? \d| (?:to|at|from|down|up|is|has|becomes?|on|for|by|needs|must)\b)",
            "markup",
        ),
        ("%", r"\bour\s+%\s*(?:on top)?(?=\s)", "our markup "),
        (
            "load",
            r"(?<=[’']s )load(?= (?:to|from|of|got|was|is|has|leaves|left|arrives|bound|for the) (?!\d|his\b|her\b|the card)\w| of \$?\d[\d.,]*k? (?:got|was|is|has|had|never|did|went|failed)\b)",
            "cargo",
        ),
        ("all", r"\by['’]?(?:all|alls)\b(?!['’])", "you"),
        # "Help" before a verb asks for it: `can help to freeze it`, `could you help us load …`.
        (
            "help",
            rf"(?P<ask>\b(?:(?:can|could|would|will|may|might)(?: you| u| someone| somebody)?|please|pls|plz|kindly)) (?:also |please |pls |kindly )*help(?: me| us| him| her| out)?(?: to| with| and)? (?={_HELPED}\b)",
            r"\g<ask> you ",
        ),
        # Particles that carry nothing: `freeze it lah`, `aiyo`.
        (
            "",
            r"(?<![\w'-])(?-i:lah|leh|lor|hor|liao|aiyo+|aiya+h?|alamak|walao|sia|innit|yaar)(?![\w'-])[ \t]*",
            "",
        ),
        ("ah", r"(?<=\w) (?-i:ah|eh|hah|meh)(?=\s*(?:[?!.,]|$))", ""),
        # `3205 can unfreeze already`: it is to be done now.
        (
            "can ",
            r"(?P<card>(?<![\w'])[\w'-]+(?: card)?) can (?P<verb>un-?freeze|unblock|unlock|reactivate)(?: (?:already|now|again))*(?= (?:pls|please|plz)|\s*(?:[,.;!]|$))",
            r"\g<verb> \g<card>",
        ),
        # As speakers of Romance languages say it: `the number complete of`, `kindly visualize`.
        (
            "number",
            r"\bnumber (?P<whole>complete|entire|full|whole|integral)(?= (?:of|on|for)\b)",
            r"\g<whole> number",
        ),
        (
            "provide to",
            rf"\b(?P<ask>please|pls|kindly) provide to (?=(?:completely |immediately |also )?(?:{_HELPED}|empty|elevate|bring|show)\b)",
            r"\g<ask> ",
        ),
        ("visuali", r"\bvisuali[sz]e\b", "show"),
        ("lemme", r"\blemme\b", "let me"),
        ("gimme", r"\bgimme\b(?= (?:a|the) (?:look|link))", "give me"),
        # `2k5` is 2.5 thousand in South Africa, Holland and Poland; two or three digits behind the k may be something else.
        ("k", r"(?<![\w.,])(?P<whole>\$?\d{1,3})k(?P<tenth>\d)(?![\w])(?![.,]\d)", r"\g<whole>.\g<tenth>k"),
        ("storno", r"\bstorno(?: of)?(?= (?:my|the last|that|this|last|it)\b)", "undo"),
        ("chg", r"\bchg\b", "change"),
        ("shld", r"\bshld\b", "should"),
        ("cld", r"\bcld\b", "could"),
        ("wld", r"\bwld\b", "would"),
        ("k", r"\b(?:kidnly|kindy|kindely|kndly|kinldy|kinfly)\b", "kindly"),
        ("pleas", r"\bpleas\b(?! (?:of|for|from|to)\b)", "please"),
        (
            "1 card",
            r"(?P<order>\b(?:order|issue|need|make|create|want|get)(?: me| us| him| her)?) 1 card\b",
            r"\g<order> a card",
        ),
        ("no more ", r"\bno more (?=(?:necessary|needed|required)\b)", "no longer "),
        ("once ", r"\bonce and for all\b|\bonce for all\b", "for good"),
        (" other ", r"\b(?P<needs>needs?|wants?) other (?=\$?\d)", r"\g<needs> another "),
        ("tmrw", r"\btmrw\b", "tomorrow"),
        (" bc ", r"\bbc (?=\w)", "because "),
        ("dail", r"\bdail?ly\b|\bdaillly\b", "daily"),
        ("mon", r"\b(?:montly|monthy|mounthly|monthley)\b", "monthly"),
        ("numb", r"\b(?:numbr|numbe|nubmer|numebr|nmber)\b", "number"),
        (" nr", r"\bcard (?:nr|num)\b\.?", "card number"),
        (" no", r"\bcard no\b\.?(?= (?:of|for|on|via|by|[\w'-]+ (?:via|by|link)))", "card number"),
        (
            "pan",
            r"\b(?P<full>full |card )?pan\b(?=[^\n]*\blinks?\b)|(?<=link for )(?:the )?pan\b",
            "card number",
        ),
        (
            "link",
            r"\b(?:via|by|with|through|over|using|behind) (?:the |a |an |your |that |its )?link\b",
            "by secure link",
        ),
        (
            "link",
            r"(?<!secure )(?<!safe )\blink(?= (?:ok|okay|is ok|is okay|is fine|fine|suffices|is enough|pls|please|plz|only|will do|would do)\b)",
            "secure link",
        ),
        (" link", r"\bone[ -]?time link\b", "secure link"),
        ("private", r"\bprivate (?=link|page|view|way)", "secure "),
        (
            "pass ",
            r"\b(?P<verb>(?:order|request|issue|get|make|arrange|need|create)(?: (?:me|us|him|her))?(?: an?)?(?: new)?) pass (?=for\b)",
            r"\g<verb> card ",
        ),
        ("first", r"\bfirst (?=(?:load(?:ing)?|top-?up|charge)\b(?!\s*[:=]))", "initial "),
        # `pull 300 off his card and put it back in the float` is one thing.
        (
            " and ",
            rf"(?P<taken>\b(?:pull|take|get|unload|withdraw|remove|claw|bring|grab|yank|debit|deduct|run)\b[^.!?\n]{{1,70}}?),? and (?:then )?(?:put|send|move|return|bring|drop|stick|transfer|place|credit|book) (?:it|that|them|this|the money|the funds|the same)(?: back| over)? (?:in|into|to|onto|on) {_FLOAT}(?=\W|$)",
            r"\g<taken> back to the float",
        ),
        (
            "back",
            rf"(?P<taken>\b(?:pull|take|get|unload|withdraw|remove|claw|bring|grab|yank|debit|deduct|run)\b[^.!?\n]{{1,70}}?)(?:,? and(?: then)?|,) (?:please |pls )?(?:put|send|move|return|bring|drop|stick|transfer|place|credit|book)(?: (?:it|that|them|this|the money|the funds|the same))? back (?:in|into|to|onto|on) {_FLOAT}(?=\W|$)",
            r"\g<taken> back to the float",
        ),
        ("gonna", r"\bgonna need\b", "need"),
        ("plastic", r"\b(?P<verb>need|want|order|get|issue) (?:some )?plastic\b", r"\g<verb> a card"),
        (
            "visa",
            r"(?P<who>\b(?:get|give|order|issue) (?:[\w'’-]+ ){1,3}an?) (?:visa|mastercard)\b(?=[^\n]{0,60}@)",
            r"\g<who> card",
        ),
        ("acct", r"\bacct\b\.?", "account"),
        (
            "float",
            rf"(?P<taken>\b(?:pull|take|get|unload|withdraw|remove|claw|bring|grab|yank|debit|deduct|run)\b[^.!?\n]{{1,70}}?),? and (?:back )?(?:in|into|to|onto) {_FLOAT}(?=\W|$)",
            r"\g<taken> back to the float",
        ),
        # `his gas card`, `jonas's visa`: the cards of a company have many names.
        (
            "card",
            r"(?P<whose>\b(?:his|her|their|the|that|this|an?|new|another|one)|['’]s?) (?:new )?(?:gas|fuel|diesel|company|corp|corporate|work|purchasing|expense|p-?) ?card\b",
            r"\g<whose> card",
        ),
        (
            "visa",
            r"(?P<whose>\b(?:his|her|their|that|this)|(?<=\w)['’]s) (?:visa|mastercard)(?: card)?\b(?! (?:application|expir\w+|run\w*|appointment|interview|fee|office|for|process))",
            r"\g<whose> card",
        ),
        (
            "webhook",
            r",? (?:instead of|rather than|not) (?:texting|sms|sms-?ing|a text|texts|text messages?|(?:his|her|their|the|a|some(?:body|one)['’]s|any(?:body|one)['’]s) (?:phone|mobile))(?: (?:him|her|them|it))?(?=\W*$)",
            "",
        ),
        ("undo", r"\bundo(?:[ ,!]+undo\b)+", "undo"),
        (
            " of ",
            r"\b(?:the|an?) (?:excess|surplus|unused|unspent|leftover)(?: amount| sum| money| funds| balance)? of (?=(?:usd ?)?\$?\d)",
            "",
        ),
        (
            "p",
            r"\b(?:hp|h/p|hand ?phone|mob(?:ile)? no|contact no|cell no|tel no|ph)\b\.?(?= ?[:=]? ?\+?\d)",
            "phone",
        ),
        (
            "account",
            r"(?P<taken>\b(?:pull|take|get|unload|withdraw|remove|claw|bring|grab|yank|debit|deduct|run|return|send|move)\b[^.!?\n]{1,70}?) (?:back )?(?:in|into|to) (?:the |our )?(?:main|company|master|program|programme|deposit) account(?=\W|$)",
            r"\g<taken> back to the float",
        ),
        # Said into a phone: `dwayne at example dot com`, `plus one 615 555 0142`.
        (
            " dot ",
            r"\b(?P<who>[a-z0-9][\w.+-]*) at (?P<where>[a-z0-9][\w-]*)(?P<more>(?: dot [a-z][\w-]*){0,2}?) dot (?P<end>com|org|net|io|co|eu|de|nl|uk|us|example)\b",
            None,
        ),
        (
            "plus ",
            r"(?<![\w§])plus (?P<country>one|\d{1,3}) (?=(?:\(?\d[\d ().-]*){1,6}(?<=\d)(?!\d))(?=(?:[ ().-]*\d){7,13}(?![ ().-]*\d))",
            None,
        ),
    )
)
_LINKS: Final = re.compile(r"\s*🔗+")
_ORDERS: Final = re.compile(
    r"\b(?:order|issue|create|request|make|get|need|needs|want|wants|new|another|one more)\b[^.!?\n]{0,60}?\bcard\b|\bneeds? (?:a |one)",
    re.IGNORECASE,
)
#: What is put on a card that is ordered, said as a thing to do of its own.
_AND_LOAD_IT: Final = re.compile(
    rf"(?:[,;]|\band\b|\bthen\b|[.!?])?\s+(?:and |then |also |please |pls |kindly )*(?:(?:load|start|set|begin|preload) (?:it|him|her|them)(?: up| out| off)? with (?P<with>{_AMOUNT})"
    rf"|(?:load|put|add|stick|throw|give) (?P<on>{_AMOUNT}) (?:on|onto|in|to) (?:it|there|the new (?:card|one)|that card)(?: to (?:start|begin)(?: with)?)?)(?![\w$])|[,;]\s*(?:pre)?load(?:ed)?(?: with)? (?P<bare>{_AMOUNT})(?=\W*$)",
    re.IGNORECASE,
)


#: `mind putting 9140 on ice?`, `I'm keen to get 60 onto 3018`: a request, put as what its reader or its writer may mind or like.
#: Only at the head of a clause: `I don't mind loading it` and `never mind closing it` ask for nothing, nor does `he is keen to`.
_ASKED_OF: Final = word_set(
    """
    add block book bring bump cancel cap change charge chuck clear close cut deactivate disable display drop drain empty enable file fix freeze get give grab halt have
    hold increase issue keep let lift limit load lock lodge lower make move order pause pop pull push put raise reactivate record recall redirect reduce refill register
    release remove replace return reveal route send set show sort stick stop submit suspend swap sweep switch take terminate throw top transfer turn unblock unfreeze unload
    unlock unmask update withdraw
    """
)
_BASE_OF: Final = {with_ending(verb, "ing"): verb for verb in _ASKED_OF} | {"cancelling": "cancel"}
_HEAD: Final = r"(?P<head>^\W*|[.!?,;:\n–-]\s+|[)]\s*|\b(?:so|and|then|hence|hi|hey|hello|please|pls)\s+)"
_MIND: Final = re.compile(
    rf"{_HEAD}(?:(?:would|do|will) (?:you|u|ya) )?mind (?P<does>{'|'.join(sorted(_BASE_OF, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_KEEN: Final = re.compile(
    rf"{_HEAD}(?:(?:i['’]?m|i am|we['’]?re|we are) )?(?:pretty |quite |really |very |dead )?keen to\b",
    re.IGNORECASE,
)


def in_our_words(text: str) -> str:
    """The text with those words written as ours; a text without any of them as it is."""
    text = _in_english(_LINKS.sub(" link", text) if "🔗" in text else text)
    low = text.lower()
    if "mind " in low:
        text = _MIND.sub(lambda found: f"{found['head']}please {_BASE_OF[found['does'].lower()]}", text)
    if "keen to" in low:
        text = _KEEN.sub(lambda found: f"{found['head']}I would like to", text)
    for hint, pattern, ours in _ROWS:
        if hint in low:
            text = pattern.sub(ours if ours is not None else _dictated, text)
    text = as_an_order(text)
    if (
        (" with " in low or " on " in low or "load" in low)
        and "card" in low
        and ("@" in text or "+" in text)
        and _ORDERS.search(text)
    ):
        text = _AND_LOAD_IT.sub(
            lambda found: f", initial load {found['with'] or found['on'] or found['bare']}", text, count=1
        )
    return text


def _dictated(found: re.Match[str]) -> str:
    groups = found.groupdict()
    if "country" in groups:
        return f"+{'1' if groups['country'].lower() == 'one' else groups['country']} "
    host = f"{groups['where']}{groups['more']}.{groups['end']}".replace(" dot ", ".")
    return f"{groups['who']}@{host}"


#: Words of other languages that slip into an English sentence: `900 zurück from ads-eu`, `saldo of 3018`. Only words with one
#: meaning here, and only where the sentence around them is English: a whole sentence of another language is answered as one.
_BORROWED: Final = {
    "unfreeze": "auftauen entsperren freischalten débloquer debloquer desbloquear deblokkeren odblokować sbloccare",
    "freeze": "einfrieren sperren bloquer bloquear blokkeren bloccare zablokować",
    "back": "zurück zurueck terug",
    "permanently": "endgültig endgueltig dauerhaft definitivement définitivement definitivamente definitief",
    "undo": "stornieren rückgängig",
    "balance": "saldo kontostand solde",
    "transactions": "umsätze umsaetze buchungen",
    "movements": "bewegungen movimientos mouvements",
    "declined": "abgelehnt rechazada refusée geweigerd",
    "why": "warum wieso waarom pourquoi",
    "markup": "aufschlag marge",
    "phone number": "handynr handynummer telefonnummer",
    "card": "karte kaart tarjeta cartão",
    "please": "bitte svp graag",
    "urgent": "dringend eilig spoed",
    "vacation": "urlaub vakantie",
}
_IN_ENGLISH: Final = {word: ours for ours, words in _BORROWED.items() for word in words.split()}
_BORROWED_WORDS: Final = frozenset(_IN_ENGLISH)
_ANY_WORD: Final = re.compile(r"[^\W\d_]+")
#: Small words that make of it a sentence of another language.
_FOREIGN: Final = word_set(
    """
    der die das den dem des ein eine einen ich wir ist sind und für mit nicht kein keine von auf mein meine noch wird wurde wer was wie wo
    le la les du une pas je nous est sont avec sur mon ma que qui el los las una por con su mi está de het een niet met voor mijn wij ik
    il lo gli della del di che non per os um uma não meu minha jest są nie na się proszę
    """
)
_MOST_BORROWED: Final = 2


def _in_english(text: str) -> str:
    """The text with such words in English; as it is where it has none, or too many."""
    words = [word.lower() for word in _ANY_WORD.findall(text)]
    borrowed = [word for word in words if word in _BORROWED_WORDS]
    if (
        not borrowed
        or len(borrowed) > _MOST_BORROWED
        or len(borrowed) * 2 > len(words) + 1
        or _FOREIGN.intersection(words)
    ):
        return text
    return _ANY_WORD.sub(lambda found: _IN_ENGLISH.get(found[0].lower(), found[0]), text)


__all__ = ["in_our_words"]
