"""Requests whose values tell them, wherever in a message they stand: a card to order, a transfer to submit, several limits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.intents.extraction import Entity

_PARTICLE: Final = (
    r"(?:de|da|van|von|der|den|ter|ten|dos|das|do|del|della|di|du|la|le|el|al|bin|binti|bint|ibn|zu|af|av|st)"
)
#: The label of the next line, which is no part of a name.
_LABEL: Final = r"(?:Phone|E-?[Mm]ail|Mail|Mobile|Mob|Cell|Tel|Telephone|Contact|Number|First|Initial|Load|Amount|Name|Card)\b"
_WORD: Final = rf"(?!{_LABEL})[A-ZÀ-Ž][a-zà-ž'’]+(?:-[A-ZÀ-Ž][a-zà-ž]+)?"
_NAME: Final = rf"(?P<name>{_WORD}(?: {_PARTICLE}){{0,2}}(?: {_WORD}){{1,2}})"
#: What is no more of a name.
_END: Final = rf"(?![\w])(?=\s*(?:[,.;:?!()\[\]/|–\n-]|$|§|{_LABEL}|(?!{_PARTICLE}\b)[a-z]))"
_VERBS: Final = r"(?:order|issue|sanction|arrange|get|need|needs|require|requires|request|provide|process|set up|setup|create|make|raise|open|have|do|initiate|provision|set someone up with|apply for|organi[sz]e|sort|issuance of|issue of|order of|requirement:?|want)"
_CARD: Final = r"(?:(?:an?|one|the|1|another|new|fresh|prepaid|company|separate|virtual|physical|debit|corporate|spare) )*(?:card|plastic|prepaid)"
_WHO: Final = r"(?:(?:our|the|my|a|new|newly|joined|latest|incoming|colleague|joiner|joinee|hire|starter|intern|trainee|driver|employee|engineer|manager|analyst|designer|recruit|assistant|mr\.?|ms\.?|mrs\.?|dr\.?)[\s,]+)*"
_ASKS_ORDER: Final = (
    re.compile(
        rf"\b(?i:(?:{_VERBS}) (?:(?:for )?(?:me|us) |do the needful for )*(?:(?:the )?(?:issuance|issue|order) of )?{_CARD}(?: please| pls)?,? (?:to|for|in (?:the )?name of|in favou?r of|named|called|on the name of))\s+(?i:{_WHO}){_NAME}{_END}"
    ),
    re.compile(
        rf"\b(?i:(?:{_VERBS}) {_CARD}(?:,? (?:please|pls))?)[?!.]?[\s:,–-]+(?i:(?:(?:card ?)?holder|name(?: on (?:the )?card)?|cardholder|for)?(?: is)?)[\s:–-]*{_NAME}{_END}"
    ),
    re.compile(
        rf"\b(?i:(?:new )?{_CARD}(?: please| pls)? (?:for|to|in the name of))\s+(?i:{_WHO}){_NAME}{_END}"
    ),
    re.compile(
        rf"(?<![\w§]){_NAME}(?i: (?:needs|requires|should get|must have|is to get|wants|will need) {_CARD})(?=\W)"
    ),
)
#: Whom a sentence before it names.
_FOR_THEM: Final = re.compile(
    rf"\b(?i:(?:{_VERBS}) (?:him|her|them) {_CARD}|(?:{_VERBS}) (?:one|{_CARD}) (?:for (?:him|her|them)|(?:please|pls)\b|in (?:his|her) name))"
)
_SOMEBODY: Final = re.compile(
    rf"(?<![\w§.] ){_NAME}(?=(?:['’]s)?\s+(?:has|is|was|will|needs|joins|joined|starts|started|takes|moves|comes)\b|\s*[,.;(]|\s*$)"
)
#: A card that somebody has already.
_NO_ORDER: Final = re.compile(
    r"\b(?:freez\w*|unfreez\w*|block\w*|unblock\w*|reveal|number of|balance|statement|limit|phone of|change|update|replace the number)\b",
    re.IGNORECASE,
)
_SUM: Final = re.compile(
    r"(?i:(?:,|\band|\bwith|\bplus)?\s*(?:(?:please|pls|kindly|and|with|to be|have|put|load|loaded|add|give|start|starting|preload|preloaded|initially|initial|first|opening|top[ -]?up|topup|amount|balance|at once|immediately|straight away|of|an?|the|is|on it|it)[\s:=–-]+){1,7}(?P<a>§a\d+§)(?: (?:usd|dollars|bucks))?(?: (?:on it|at first|initially|to start(?: with)?|to begin with|(?:on|at|to|as|for|in|from) (?:the )?(?:start|starting|beginning|begin|outset|opening)\b(?! of)|(?:may|should|can|to|must|shall)(?: please| kindly)? be (?:loaded|put|added|topped up)(?: on it)?))*)"
    r"|(?i:(?P<b>§a\d+§)(?: (?:usd|dollars|bucks))? (?:on it |initial |first )?(?:(?:on|at|to|as|for) (?:the )?(?:start|beginning|begin|outset|opening)\b(?! of)|to start(?: with)?|initial(?:ly)?|initial load|first load|preloaded|opening balance))"
)
#: A value with its label.
_LABELLED: Final = re.compile(
    r"(?:\b(?:his|her|their|the|and|with|my|is|on|at|tx|txn|new|contact|mobile|cell|tel|telephone|phone|ph|mob|whatsapp|e?-?mail|id|address|no|nr|number|hash|transaction|network|chain|via|over|through|hash is|as under|below|following)\b[\s.:=/–-]*){0,8}§[tehn]\d+§(?: (?:network|chain|mainnet))?\)?",
    re.IGNORECASE,
)
_SUBMITS: Final = re.compile(
    r"\b(?:register|book|record|submit|lodge|log|file|report|declare|enter|process|intimate|post|announce|put|add|claim|insert|hand)\b[^.!?\n§]{0,50}?\b(?:deposit|funding|transfer|tx|transaction|payment|hash|it|this|below|float)\b(?: (?:in|as|for|to|of|a|an|the|new|our|float|deposit|funding|prepaid|account|under|below|following|done|made|sent|hash|over|on|via|with|please|pls|system|us|me|here))*"
    r"|\b(?:register|book|record|submit|lodge|log|file|report|declare|enter)\b\W*(?=§h)|\b(?:put|log|book|record|enter) (?:it|this|that) in\b"
    r"|\b(?:new )?(?:deposit|funding) (?:intimation|submission|from (?:us|our side|treasury)(?=[,:]?\s*(?:network|on|over|via|§n|§h|$))|to (?:be )?(?:claim\w*|submit\w*|register\w*|record\w*|book\w*|log\w*|report\w*))\b",
    re.IGNORECASE,
)
#: What became of it is asked for.
_ASKS_ABOUT: Final = re.compile(
    r"\b(?:check(?:ing)? (?:if|whether|on|the|this|that|it|status|please|for)|(?:please|pls|kindly|you) check|verify|trac(?:e|ing)|track\w*|status|where|whether|stuck|pending|arriv\w+|investigat\w+|chas(?:e|ing)|news|updates?|progress|eta|happen\w*|what|why|how|look (?:at|into|up)|show|find|see|received|landed|missing|confirmed|rejected|failed|already (?:booked|submitted|registered|reported|recorded))\b",
    re.IGNORECASE,
)
_LIMITS: Final = re.compile(r"\b(?:limits?|caps?)\b", re.IGNORECASE)
_PAIR: Final = re.compile(
    r"(?:(?:and|,|the|to|at)\s+)*\b(?P<u>daily|weekly|monthly|day|week|month)(?: (?:spending|spend))?(?: (?:limits?|cap))?(?: (?:to|at|of|is|be|should be|as))*\s*[:=–-]*\s*(?P<a>§a\d+§)(?: (?:usd|dollars))?"
    r"|(?P<b>§a\d+§)(?: (?:usd|dollars))?\s*(?:per|a|/|each|every)?\s*(?P<v>daily|weekly|monthly|day|week|month)\b",
    re.IGNORECASE,
)
_SETS: Final = re.compile(
    r"\b(?:spending |card |new )*limits? (?:for|of|on) (?:the )?(?:card )?§c\d+§(?: card)?,?(?: (?:please|pls|kindly))?(?: (?:as (?:below|under|follows|following)|are|is|to be|should be|shall be|must be))?|"
    r"\b(?:please |pls |kindly )*(?:new limits|set|change|revise|update|raise|lower|adjust|amend|put|make|requesting(?: a)? change in|request(?: for)? change (?:of|in)|increase|reduce|modify|fix)(?: (?:the|spending|card|new|all|following|below))*(?: limits?)?(?: (?:of|for|on))?(?: (?:the|card))*(?: §c\d+§(?:['’]s)?(?: card)?)?(?: limits?)?(?: (?:as (?:below|under|follows|following)|details as follows|to))?",
    re.IGNORECASE,
)
_CARD_LINE: Final = re.compile(
    r"\b(?:card(?: (?:no\.?|number|of|holder))?|holder|for)?\s*[:=–-]?\s*(?P<c>§c\d+§)(?:['’]s)?(?: card)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Form:
    """`text`: the request with its values, masked; `spans`: where in the masked text it was said; `is_story`: a question in
    the message is about something else; `load`: where the first load of a card was said, which is no second request."""

    text: str
    spans: tuple[tuple[int, int], ...]
    is_story: bool = False
    load: tuple[int, int] = (0, 0)


def form_of(text: str, entities: Sequence[Entity]) -> Form | None:
    """The one request of a masked text that its values tell; None where they are not all there, or more of them."""
    kinds = [entity.kind for entity in entities]
    if kinds.count("phone") == 1 and kinds.count("email") == 1 and "tx_hash" not in kinds:
        return _order(text, entities) or _order_by_email(text, entities)
    if kinds.count("tx_hash") == 1 and not {"phone", "email"} & set(kinds):
        return _funding(text, entities)
    if kinds.count("card") == 1 and kinds.count("amount") == 1 and (asked := _AS_UNDER.search(text)):
        return _money(text, asked)
    if kinds.count("card") >= 1 and kinds.count("amount") > 1 and _LIMITS.search(text):
        return _limits(text, entities)
    return None


#: `Please unload as under:`, and its card and sum in lines of their own.
_AS_UNDER: Final = re.compile(
    r"(?:^|\n)\W*(?:(?:please|pls|kindly|dear team|hi|hello|i request you to|you are requested to)\W+)*(?P<verb>un-?load|withdraw|recall|load|top[ -]?up|topup|recharge|refill)(?: (?:as (?:under|below|follows|per (?:below|following))|the (?:following|below)|following|below|details|card|a card))+\s*[:–-]*\s*(?=\n|$)",
    re.IGNORECASE,
)
_SUM_LINE: Final = re.compile(
    r"(?:^|\n)[^\w\n]*(?:amount|sum|value|load|usd)?\s*(?:is |[:=–-])?\s*(?P<a>§a\d+§)(?: (?:usd|dollars))?[^\w\n]*(?=\n|$)",
    re.IGNORECASE,
)
_CARD_ALONE: Final = re.compile(
    r"(?:^|\n)[^\w\n]*(?:card|holder|cardholder|name|account)?(?: (?:no\.?|number|holder|of|ending(?: in| with)?))*\s*(?:is |[:=–-])?\s*(?P<c>§c\d+§)(?: card)?[^\w\n]*(?=\n|$)",
    re.IGNORECASE,
)


def _money(text: str, asked: re.Match[str]) -> Form | None:
    amount, card = _SUM_LINE.search(text), _CARD_ALONE.search(text)
    if amount is None or card is None:
        return None
    spans = (asked.span(), amount.span(), card.span())
    off = asked["verb"].lower().replace("-", "") in ("unload", "withdraw", "recall")
    verb = "take" if off else "load"
    return Form(f"please {verb} {amount['a']} {'off' if off else 'onto'} {card['c']}", spans)


def _signs(text: str, letter: str) -> list[str]:
    return re.findall(rf"§{letter}\d+§", text)


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [found.span() for found in pattern.finditer(text)]


def _order(text: str, entities: Sequence[Entity]) -> Form | None:
    if _NO_ORDER.search(text):
        return None
    spans: list[tuple[int, int]] = []
    named: re.Match[str] | None = next(
        (found for pattern in _ASKS_ORDER if (found := pattern.search(text))), None
    )
    amounts = _signs(text, "a")
    if named is None and (pronoun := _FOR_THEM.search(text)):
        names = {found["name"]: found for found in _SOMEBODY.finditer(text)}
        named = next(iter(names.values())) if len(names) == 1 else None
        spans = [pronoun.span()]
    if named is None or len(amounts) > 1:
        return None
    spans = (
        [*spans, named.span("name"), *_spans(_LABELLED, text)]
        if spans
        else [named.span(), *_spans(_LABELLED, text)]
    )
    load, loaded = "", (0, 0)
    if amounts:
        said = _SUM.search(text)
        if said is None or any(entity.doubt for entity in entities if entity.kind == "amount"):
            return None
        spans.append(said.span())
        loaded = said.span()
        load = f", initial load {said['a'] or said['b']}"
    phone, email = _signs(text, "t")[0], _signs(text, "e")[0]
    return Form(
        f"please order a new card for {named['name']}, {phone}, {email}{load}", tuple(spans), load=loaded
    )


#: A card that somebody is to get.
_GETS_A_CARD: Final = re.compile(
    rf"\b(?i:(?:get|gets|have|has to have|order|issu(?:e|es|ing)|mak(?:e|es|ing)|need|needs|requires?|want|wants|give|given|set|sort|create|open|arrange|print|provide|request|equip|put|receives?|obtains?|emit|grant|sanction|kit|fix|hand)\b[^.!?\n]{{0,60}}?\b(?:{_CARD}|one)\b|(?:an?|one|one more|new|another|fresh) (?:[a-z]+ ){{0,2}}?(?:card|plastic)\b(?=[^.!?\n]{{0,40}}\bfor\b)|\b(?:one more|another|new|next|extra) (?:prepaid |company )?card\b(?=\s*[,:(–→-])|\b(?:issue|order|get|give|make) (?:him|her|them) (?:ours|one of ours)\b|\bcard (?:please|pls|plz|for|4|order|needed|required|reqd|request)\b)"
)
#: In a sentence that asks for it or holds its values: it is not to be done, hangs on something, was done, or is about a card that is there.
_NO_ORDER_IN_IT: Final = re.compile(
    r"\b(?:not|never|no|nobody|none|without|cannot|dont|doesnt|wont|cant|if|unless|until|till|whether|whenever|maybe|perhaps|might|provided|depending|assuming|should (?:we|i)|shall (?:we|i)|what if|ordered|arrived|came|already|asked|told|tells|said|says|wrote|writes|wants (?:me|us)|declin\w*|froz\w*|freez\w*|block\w*|clos\w*|limits?|replac\w*|instead|cancel\w*|forget|wait|hold|test\w*|draft|approv\w*|agree\w*|sign|confirm\w*|pending|tomorrow|later|next|how (?:do|to|can)|old|lost|stolen|chang\w*|updat\w*|delivered|sent|unload\w*|refund\w*|example|template|fyi|i thought|i think|would have|kidding|jok\w+|never ?mind|nvm|scratch|daily|weekly|monthly|per (?:day|week|month)|a (?:day|week|month)|max\w*|balance|or)\b|n['’]t\b|§[hl]\d+§"
)
#: `on + or at @`, `either`: two ways to reach one person.
_EITHER: Final = re.compile(r"§[te]\d+§ or (?:(?:on|at|via|by|under|his|her|their|the) )*(?=§[te]\d+§)")
_PIECE: Final = re.compile(r"[.!?](?=\s|$)|\n")
_CAPITALS: Final = re.compile(
    rf"(?<![\w§.'’-])[A-ZÀ-Ž][\w'’-]*[a-zà-ž](?: {_PARTICLE})*(?: (?!{_LABEL})[A-ZÀ-Ž][\w'’-]*[a-zà-ž](?:(?: {_PARTICLE})*(?= [A-ZÀ-Ž]))?){{1,3}}"
)


def _order_by_email(text: str, entities: Sequence[Entity]) -> Form | None:
    """A card to order for the one person of whom the e-mail address speaks, in any words that say she gets a card."""
    email, phone, amounts = _signs(text, "e")[0], _signs(text, "t")[0], _signs(text, "a")
    local = next(one.written for one in entities if one.kind == "email").split("@")[0]
    names = {found[0]: found for found in _CAPITALS.finditer(text) if _speaks_of(local, found[0])}
    if len(names) != 1 or len(amounts) > 1 or _ONE_AT_A_TIME.search(text):
        return None
    if any(one.doubt for one in entities if one.kind == "amount"):
        return None
    (named,) = names.values()
    name = _without_its_verb(text, named)
    spans: list[tuple[int, int]] = []
    asked, load, at = False, "", 0
    for stop in [*_PIECE.finditer(text), None]:
        start, at, end = at, stop.end() if stop else len(text), stop.start() if stop else len(text)
        piece = text[start:end]
        asks = _GETS_A_CARD.search(piece) is not None
        if not (
            asks or name in piece or email in piece or phone in piece or (amounts and amounts[0] in piece)
        ):
            continue
        bare = _EITHER.sub(" ", piece.replace(name, " ")).lower()
        if _NO_ORDER_IN_IT.search(bare) or (stop and stop[0] == "?" and not _MAY.search(piece)):
            return None
        if amounts and amounts[0] in piece:
            if not _TO_BEGIN_WITH.search(piece.lower()):
                return None
            load = f", initial load {amounts[0]}"
        asked = asked or asks
        spans.append((start, end))
    if not asked or not spans or bool(amounts) != bool(load):
        return None
    return Form(f"please order a new card for {name}, {phone}, {email}{load}", tuple(spans), is_story=True)


_MAY: Final = re.compile(r"\b(?i:can|could|would|will|may|mind|please|pls|kindly)\b")
_ONE_AT_A_TIME: Final = re.compile(
    r"\b(?i:two|three|both|several|cards|each|everyone|wrong|phone (?:of|for)|number (?:of|for)) (?i:cards?|of them|§c)"
)
#: What a sum beside a card to order is: what it begins with.
_TO_BEGIN_WITH: Final = re.compile(
    r"\b(?:with|(?:pre-?)?load\w*|pre-?fund\w*|funded|start\w*|begin\w*|initial\w*|opening|put|chuck|stick|add|give|stake|credit|balance|bal|recharge|top[ -]?up|topup)\b(?:\W+[a-z]+){0,2}\W+§a|§a\d+§(?:\W+[a-z]+){0,3}?\W+(?:to (?:start|begin)|load\w*|initial\w*|first|opening|on it|on there|plenty|enough|will do|should do|would do)\b"
)


_NO_FIRST_NAME: Final = re.compile(
    rf"(?:{_VERBS}|set|give|equip|put|add|please|can|could|new|card|hi|hello|dear|name|holder|for|our|the|my)",
    re.IGNORECASE,
)


def _speaks_of(local: str, name: str) -> bool:
    """Does an e-mail address have a word of a name, or the end of one word and the letter of another?"""
    parts = [part for part in re.split(r"[^a-z]+", _plain(local)) if part]
    words = [word for word in _plain(name).split() if len(word) > 1]
    return any(
        part == word or (len(word) > 3 and (part.startswith(word) or part.endswith(word)))
        for part in parts
        for word in words
    )


def _plain(text: str) -> str:
    return "".join(
        one for one in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(one)
    )


def _without_its_verb(text: str, named: re.Match[str]) -> str:
    """`Order Giulia Ferrante a card`: the word that begins the sentence is no name."""
    first, _, rest = named[0].partition(" ")
    begins = not text[: named.start()].strip() or text[: named.start()].rstrip()[-1:] in ".!?\n:"
    return rest if begins and " " in rest and _NO_FIRST_NAME.fullmatch(first) else named[0]


def _funding(text: str, entities: Sequence[Entity]) -> Form | None:
    asked = _SUBMITS.search(text)
    said = " ".join(one for one in re.split(r"(?<=[.!?])\s|\n", text) if "§h" in one or _SUBMITS.search(one))
    networks = set(_signs(text, "n"))
    if asked is None or _ASKS_ABOUT.search(said) or len(networks) > 1 or len(_signs(text, "a")) > 1:
        return None
    network = f" on {networks.pop()}" if networks else ""
    spans = [*_spans(_SUBMITS, text), *_spans(_LABELLED, text)]
    return Form(f"please submit funding {_signs(text, 'h')[0]}{network}", tuple(spans), is_story=True)


def _limits(text: str, entities: Sequence[Entity]) -> Form | None:
    pairs = [
        (found["u"] or found["v"], found["a"] or found["b"], found.span()) for found in _PAIR.finditer(text)
    ]
    cards = _signs(text, "c")
    units = [
        {"day": "daily", "week": "weekly", "month": "monthly"}.get(u.lower(), u.lower()) for u, _, _ in pairs
    ]
    if len(pairs) != len(_signs(text, "a")) or len(set(units)) != len(units) or len(cards) != 1:
        return None
    asked = _SETS.search(text)
    if asked is None:
        return None
    said = ", ".join(f"{unit} {amount}" for unit, (_, amount, _) in zip(units, pairs, strict=True))
    spans = [asked.span(), *(span for _, _, span in pairs), *_spans(_CARD_LINE, text)]
    return Form(f"please set the limits of {cards[0]}: {said}", tuple(spans))


__all__ = ["Form", "form_of"]
