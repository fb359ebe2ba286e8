"""Whether a request asks for less than its form does: `block 3018 at Uber`, `daily limit 500 for 3018 just today`.

A freeze, a closure and a limit hold everywhere and from now on. So whatever stands beside what is asked for, in the clause that
asks, is something known (politeness, haste, "on hold", the period of a limit), or the beginning of a sentence with its own verb,
or why it is asked. Anything else may be a place, a shop, a time or a use, and is asked about: no list of those is ever whole.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.doubts.not_that_card import EVERY_CARD

_DOES: Final = {
    "freeze_card": r"(?:re-?)?freez\w*|freze|frozen|block\w*|lock\w*|suspen\w+|paus\w+|stop|halt|disabl\w+|deactivat\w+|hold|ice|switch|turn|shut|put",
    "unfreeze_card": r"(?:un|de)-?(?:freez\w*|frozen|block\w*|lock\w*|suspend\w*|paus\w*)|re-?(?:activat|enabl|open|instat)\w+|activat\w+|thaw\w*|defrost\w*|releas\w+|lift\w*|enabl\w+|open\w*|switch|turn",
    "close_card": r"clos\w+|terminat\w+|cancel\w*|deactivat\w+|shut|kill|retire|scrap|bin|delete|remove|end",
    "set_limits": r"limits?|limited|cap|caps|capped|max(?:imum)?|ceiling|restrict|allow|let|set|spend",
}
_PLEASE: Final = r"please+|plea?se|pelase|pls+|plz|plss|abeg|thanks?(?: you)?|thx|thnx|tks|ty|ta|cheers|kindly|mate|man|bud|guys|team|ok(?:ay)?|sir|would you|will you|can you|could you|if (?:you|u) (?:can|could|may|please|don['’]t mind)|if possible|and (?:oblige|thank you|thanks)|& thx"
_HASTE: Final = r"now|asap|a\.s\.a\.p|immediate(?:ly)?|urgent(?:ly)?|quick(?:ly)?|rapidly|rn|fast|direct(?:ly)?|prompt(?:ly)?|right (?:now|away)|straight ?away|at once|at (?:the (?:earliest|latest)|(?:your|the) (?:earliest )?convenience)|as soon as (?:possible|you can)|as of (?:now|this minute|today)|this (?:minute|instant|moment|second)|the now|first thing|today|§p\d+§"
_HOW: Final = r"temporar(?:il)?y|perm[aei]n[aei]nt(?:ly)?|for the meantime|meanwhile|definit(?:e|ive)ly|definitely|irrevocably|completely|fully|entirely|altogether|finally|forever|for ?ever|once and for all|once for all|accordingly|again|back|back (?:on|up|off)|anymore|any ?(?:more|longer)|too|instead|then|also|up|down|off|out|on|over|all the way|only|there|here|still|like (?:this|that)|no rush|just in case|status|state|mode|in the system|make|like$|provisional(?:ly)?|ago"
_STATE: Final = r"(?:on|off|from|out of|in|into|under|to) (?:the |a )?(?:hold|ice|freeze|freezer|frozen|lock|block|stop|pause|blocked|active|life|service|function|order|use|working|standby|normal)(?:(?: or frozen)? status| state| mode)?|to (?:be )?\w+|live|active|usable|going|loose|hold|frozen|blocked|locked|closed|suspended|paused|stopped|dead"
_OBJECT: Final = rf"(?:(?:{EVERY_CARD}|the|a|that|frozen|of|daily|weekly|monthly|all|any|new|old|this|his|her|their|our|my|its|company|prepaid|whole|same|mr|ms|mrs|of|for|on|to|with|from|at|in|number|no|mr|ms|mrs|dr)\.? )*(?:§c\d+§(?:'s?)?|it|hers|his|theirs|cards?|freez\w+|block|hold|stop|lock|suspension|pause|(?:payments|spending|purchases|transactions) (?:on|from|with) (?:§c\d+§|it)|one|plastic|account|limits?|allowance|cap|ceiling|roof|(?:the )?present one)"
_SUM: Final = r"(?:from whatever (?:it|that) is(?: now)? )?(?:(?:to|go|change|make it|instead of|present|the|more|less|than|no|not|at|of|by|from|down|up|on|max|only|new|limit|be|is|is now|=|:|usd|just|the|a|an|new|about|exactly) )*§[ax]\d+§(?: ?(?:usd|dollars?|bucks))?"
_PERIOD: Final = r"(?:/ ?|per |an? |each |every |in (?:a |one |the )?|by |p/|p\.)?(?:day|daily|week|weekly|month|monthly|wk|mth|d|w|m|mo|hour|transaction|txn)(?: (?:limit|max|cap|spend|ceiling|total))?(?:(?= )|(?=$))|max(?:imum)?|as (?:below|follows|under)|limits?|daily|weekly|monthly|spend(?:ing|s)?|tops?|in total|all in all|from (?:now|here|today)(?: on\w*)?|now on(?:wards)?|onwards?|in future|(?:going )?forward|at day|starting (?:now|§p\d+§)"
#: Why, and for whom it is asked.
_WHY: Final = (
    r"for (?:now|good|ever|always|real|sure|once|me|us|him|her|them|(?:the )?(?:time being|moment|minute|mo)|a (?:bit|while|moment|few)|§c\d+§(?:'s)?|§x\d+§(?: \w+)?)"
    r"|for (?:[a-z-]+ ){0,3}?(?:reasons?|purposes?|causes?|frauds?|fraudulent \w+|suspicion|safety|security|precaution|protection|misuse|abuse|theft|loss|investigation|inactivity|non-?payment|violation|overspend\w*|audit|compliance|cleanup|housekeeping|check|review)(?: (?:reasons?|purposes?))?"
    r"|(?:due|owing) to\b.*|on account of\b.*|in (?:case|view|light|order|error|the meantime|the mean time|confidence|full|advance)\b.*|with (?:immediate effect|effect|thanks|regards|apologies|it|them|us|§c\d+§(?:'s)?)|until further notice|from (?:working|spending|being|use|us|§c\d+§(?:'s)?)\b.*|as a precaution|to be (?:safe|on the safe side|sure)"
    r"|in (?:way|a way) \w+|on (?:request|(?:our|your|his|her|their) (?:side|end|request)|§c\d+§(?:'s)?|it)|before .*|(?:till?|until|when(?:ever)?|while|whilst|during) (?:(?:(?:i|we|he|she|they|it|you|someone|somebody|§c\d+§)\b(?:['’]\w+)?|(?:im|ive|hes|shes|its|theyre|weve|youre)\b) .*|(?:(?:his|her|their|the) )?(?:[a-z]+ )?(?:leave|holidays?|vacation|sabbatical)\b)"
)
_KNOWN: Final = re.compile(
    rf"[\s\W]*(?:(?:{_PLEASE}|{_HASTE}|{_STATE}|{_HOW}|{_OBJECT}|{_SUM}|{_PERIOD}|{_WHY})(?=§|[^\w'’]|$))",
    re.IGNORECASE,
)
#: A limit may be for each purchase, too.
_KNOWN_OF_LIMITS: Final = re.compile(
    rf"{_KNOWN.pattern}|[\s\W]*(?:per|an?|each|every|in one|for (?:one|a)) (?:single )?(?:purchase|payment|transaction|swipe|go)(?=[^\w'’]|$)",
    re.IGNORECASE,
)
#: Where another sentence begins, which may tell anything.
_OWN_SENTENCE: Final = re.compile(
    r"(?:^|\s)(?:because|cos|coz|cuz|bc|since|as|and|but|so|or|then|though|although|whilst|while|i|we|he|she|they|it|you|who|which|that|there|let|these|those|this|what|someone|somebody|nobody|no one"
    r"|i'?m|i['’]ve|he['’]?s|she['’]?s|it['’]?s|they['’]?re|they['’]ve|we['’]re|we['’]ve|hes|shes|theyre|theres|her|his|their|its|our|my|your|not)(?=\s|$)"
)
#: What only a sentence of its own has, or what became of a card.
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|can|cannot|could|will|would|should|must|may|do|does|did|got|gets|goes|went|gone|lost|stolen|broke|broken|left|quit|found|knows?|thinks?|needs?|wants?|told|says?|said"
    r"|rang|put|came|comes|took|takes?|saw|made|gave|gives?|sold|kept|keeps?|cut|hit|\w{2,}(?:ed|n['’]t)|cant|wont|dont|isnt|wasnt|hasnt|doesnt|leaves?|leaving|leak|breach|damage|fraud\w*|suspicious|unknown|theft|scam)\b"
)
_NARROWS: Final = r"at|in|on|with|from|until|till?|during|within|near|outside|inside|via|through|throughout|against|between|abroad|when|whenever|where|wherever|everywhere|except|without|unless|for|just|only|solely|exclusively|merely|while|whilst|after|over|around|under|across"
_PLACES: Final = r"abroad|overseas|online|offline|elsewhere|everywhere|nowhere|anywhere|inland|downtown|in-?store|\w+wide|\w+wards"
#: What a piece of its own is that narrows the one beside it.
_PIECE: Final = re.compile(
    rf"\W*(?:(?:{_PLACES}|\w+ly)\W*$|(?:(?:{_NARROWS})\b\W*\w))|.*\b(?:only|alone)\W*$"
)
_NARROWED: Final = re.compile(rf"\W*(?:{_NARROWS})\b\W*\w|\W*\w+ly\b")
_SENTENCES: Final = re.compile(r"(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)\.+(?=\s|$)|[!?\n…]+")
_PIECES: Final = re.compile(r"[;,()–—|]+|\s-+|:\s")

#: `only today`, `this week only`, though a day is known. A limit of this week and a card opened for a while are to end
#: by themselves, which nothing here does.
_ONLY: Final = (
    r"\b(?:only|just|solely|exclusively|merely) (?:for |on |during )?§p\d+§|§p\d+§ (?:only|alone)\b"
)
_UNTIL: Final = r"|(?:^|\s)(?:till?|until|while|whilst) |\bfor (?:a|one|an|the) (?:hour|day|week|month|year|while|bit|moment|minute|time being)\b"
_LIMITED: Final = {
    "freeze_card": re.compile(_ONLY + r"|\bfor (?:an?|one) (?:hour|day|week|month|year)\b"),
    "unfreeze_card": re.compile(_ONLY + _UNTIL),
    "close_card": re.compile(_ONLY + _UNTIL),
    "set_limits": re.compile(_ONLY + _UNTIL + r"|(?<!from )(?<!starting )(?<!since )(?<!of )§p\d+§"),
}
#: In any place of the piece that asks: `can you temporarily raise …`. Which freeze is for now is a freeze all the same.
_FOR_A_TIME: Final = re.compile(r"\btemporar")
_IN_ONE: Final = re.compile(_ONLY)
_MOVES: Final = frozenset({"topup_card", "unload_card"})
_LINKS: Final = re.compile(r"^\s*(?:(?:but|and|or|also|even) )+")
#: What a piece that asks holds: a card, or a word for one.
_NAMES_IT: Final = re.compile(r"§c|\b(?:it|cards?|one|that|hers|his)\b")
_ASKS: Final = {intent: re.compile(rf"(?<![\w§-])(?:{words})(?![\w-])") for intent, words in _DOES.items()}


def asks_for_a_part(text: str, intent: str) -> bool:
    """Does a text of `as_said` in small letters ask for its form at some place, for some use or some time only?"""
    if intent not in _DOES:
        return intent in _MOVES and _IN_ONE.search(text) is not None
    return any(_is_a_part(sentence, intent) for sentence in _SENTENCES.split(text))


def _is_a_part(sentence: str, intent: str) -> bool:
    pieces = [piece for piece in _PIECES.split(sentence) if piece.strip()]
    starts = [_start(piece, intent) for piece in pieces]
    for number, (piece, start) in enumerate(zip(pieces, starts, strict=True)):
        if start is None:
            continue
        if intent != "freeze_card" and _FOR_A_TIME.search(piece):
            return True
        beside = [
            pieces[other]
            for other in (number - 1, number + 1)
            if 0 <= other < len(pieces) and starts[other] is None
        ]
        if _left_of(piece[start:], intent) or any(_narrows_alone(one, intent) for one in beside):
            return True
    return False


def _start(piece: str, intent: str) -> int | None:
    """Where what is asked for begins, in a piece that asks."""
    if not _NAMES_IT.search(piece):
        return None
    does = _ASKS[intent].search(piece)
    starts = [does.end()] if does else []
    if intent == "set_limits" and "§a" in piece and "§c" in piece:
        starts.append(min(piece.index("§a"), piece.index("§c")))
    return min(starts, default=None)


def _narrows_alone(piece: str, intent: str) -> bool:
    """`block 3018, but only abroad`: a piece without a verb of its own."""
    bare = _LINKS.sub("", piece)
    if _VERB.search(bare) or _OWN_SENTENCE.search(bare):
        return False
    return _PIECE.match(bare) is not None and _left_of(bare, intent) != ""


def _left_of(tail: str, intent: str) -> str:
    """What is not known of the words behind the one that asks; empty where another sentence begins."""
    own = _OWN_SENTENCE.search(tail)
    if (limited := _LIMITED[intent].search(tail)) and (own is None or limited.start() <= own.start()):
        return limited.group()
    at = 0
    pattern = _KNOWN_OF_LIMITS if intent == "set_limits" else _KNOWN
    while known := pattern.match(tail, at):
        at = known.end()
    rest = tail[at:].strip()
    if not re.search(r"\w", rest):
        return ""
    if _NARROWED.match(rest):
        return rest
    own = _OWN_SENTENCE.search(rest)
    rest = rest[: own.start()].strip() if own else rest
    if not re.search(r"\w", rest) or _VERB.search(rest):
        return ""
    return rest


__all__ = ["asks_for_a_part"]
