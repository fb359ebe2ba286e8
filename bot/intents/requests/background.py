"""A request apart from what its message tells: `freeze 5589, because Jonas lost his wallet at the station`.

The text is cut at its stops, commas and words like "because". A piece that only tells something (a reason, a story, a
greeting) is set apart; what remains in one stretch is read once more by itself, as if nothing else had been written.
Each piece set apart is then judged: it may hold no second card, no amount, phone or hash, no hour to come, no condition,
no order and nobody's words. Where a piece may be more than a tale it stays with the request, and nothing is gained.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.intents.extraction import INCIDENTAL, LETTERS, Entity
from bot.intents.model import Facts, Reading
from bot.intents.readings import is_today
from bot.intents.requests.around import speaks_against_from_around, without_what_was_said
from bot.intents.requests.parts import tells_enough
from bot.intents.requests.wording import is_small, said_in

_MOST_WORDS: Final = 90
# Where so many words were taken out, there is nothing to tell apart; and patterns look through a gap again and again.
_GAP: Final = re.compile(r"\s{20}")
_MOST_PIECES: Final = 14
_REASON: Final = r"(?:because|becos|becoz|bcos|bcoz|bcause|becuase|becasue|cause|cos|coz|cuz|bcs|since|given that|given the|seeing (?:as|that)|considering that|as|due to|owing to|on account of|in view of|in light of|reason being)"
#: `as usual`, `as of now`, `as per the form` tell no reason; nor do `since Monday` and `as soon as`.
_NO_REASON: Final = (
    r"(?!as (?:well|usual|soon|per|above|below|of|at|from|follows?|following|requested|discussed|agreed|an?|many|much|long|far|always|before|for|in|to|if|though|when|the (?:daily|weekly|monthly|limit|name|holder|cardholder|new|amount|purpose|reason|user|owner|first|initial)|(?:daily|weekly|monthly|emergency|normal|planned|instructed|ordered|told|possible|early|quick\w*))\b)"
    r"(?!since (?:\d|then\b|when\b|yesterday|monday|tuesday|wednesday|thursday|friday|saturday|sunday|last\b|january|february|march|april|may \d|june|july|august|september|october|november|december))(?!cause (?:a|an|the|of)\b)"
)
_CUT: Final = re.compile(
    rf"(?P<end>(?<!\bno)(?<!\bnr)(?<!\bref)(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)(?<!\bapprox)(?<![.!?;…])[.!?;…]+(?=\s|$))|(?P<line>\s*\n\s*)|(?P<dash>\s+[-–—]+\s+|\s*[—(\[)\]]\s*)|(?P<comma>\s*,\s+)|(?P<why>\s+(?={_NO_REASON}{_REASON}\b))",
)
_SINCE_A_DAY: Final = re.compile(r"since (?:the )?(?:[\w'-]+ ){0,2}[\w'-]+(?=\s*(?:[.,;!?)\n]|$))")
_WHY: Final = re.compile(rf"^\W*(?:and |so |only |just |simply )?(?P<why>{_NO_REASON}{_REASON})\b\s*")
_JOINED: Final = re.compile(r"^(?:(?:hey|hi|hello|yo|and|so|well|ok|okay|you see|look|now)\b[\s,]*)+")
_NOUN_REASON: Final = re.compile(r"due to|owing to|on account of|in view of|in light of|given the")

_SUBJECT: Final = (
    r"(?:i|we|he|she|they|it|this|that|there|hes|shes|theyre|its|im|ive|weve|(?:he|she|it|there|that)'s|they're|we're|i'm|(?:i|we|they)'ve|nobody|no one|somebody|someone|everybody|everyone|people|both|some|most|none|one|§[cm]\d+§(?:'s|’s|')?(?: [\w'’-]+){0,3}?"
    r"|(?:the|his|her|their|our|my|an?|this|that|these|those|some|several|many|two|three) (?:[\w'’§&-]+ ){1,6}?|[a-z][\w'’&-]*(?: [\w'’&-]+){0,4}?)"
)
_FINITE: Final = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|needs?|lost|left|found|got|went|came|ran|stole|took|gave|broke|forgot|kept|paid|bought|spent|hit|blew|met|sent|saw|knew|will|can|must|do|does|did|goes|says?"
    r"|cannot|can't|cant|won't|wont|isn't|isnt|aren't|wasn't|don't|dont|doesn't|doesnt|didn't|didnt|hasn't|hasnt|haven't|gotta|gonna|[a-z]{2,}(?:ed|ing)|[a-z]{3,}(?:[^s]s))\b|(?:'s|’s|'re|'ve|n't)\b"
)
#: No tale: a condition, a doubt, an order, a hope, somebody's words, another time, a change of mind.
_NO_TALE: Final = re.compile(
    r"\b(?:if|unless|whether|once|until|till|til|maybe|perhaps|might|would|should|shall|could|ought|suppose\w*|imagine|pretend\w*|hypothe\w+|assum\w+|provided|depending|otherwise|else|however|though|although|except|rather|only if|either|or"
    r"|please|pls|plz|plss?|kindly|can (?:you|u|we|i)|let's|lets|let (?:me|us)|same|too|also|again|another|everything|ignore|disregard|forget|scratch|cancel|stop|wait|hold|never ?mind|nvm|undo|revers\w+|actually|correction|oops|mistake|joke|joking|kidding|test|drill|draft|sample|example|template|quote\w*|training"
    r"|(?:need|want|get)\w*\b[^.]*\btwice|fyi|todo|note|memo|subject|fwd?|approv(?:e|es|al|als)|confirm\w*|agree[sd]?|sign|signs|signed|sign-?off|authori[sz]\w*|decid\w*|decision|consent\w*|permission|pending|await\w*|check(?:s|ing)? with|ask|asks|tell|tells|told|say|saying|said|says|write|writes|wrote|written|typed?|types|yell\w*|shout\w*|beg|begs|begged|demand\w*|order(?:s|ed|ing)?|instruct\w*|command\w*|direct(?:s|ed|ing|ion)|advis\w+|recommend\w*|suggest\w*|propos\w+|insist\w*|request\w*|asked|asking|wants?|wanted|wish\w*|hopes?|thinks?|thought|guess\w*|believ\w*|wonder\w*|plan\w*|intend\w*|promis\w*|claim\w*|reckon\w*|warn\w*"
    r"|against|disagree\w*|object\w*|oppos\w*|veto\w*|refus\w*|why|who(?:m|se)?|which|how|what|when|where(?! (?:he|she|they|we|i|it)\b)|^re|later|tomorrow|tonight|soon|someday|eventually|sometimes|usually|normally|always|every|each|next|(?:do|does|did) (?:i|we|you)|don't (?:do|you)|words?|wording"
    r"|freez\w*|unfreez\w*|froz\w*|unfroz\w*|(?:un)?block(?:s|ing)?|(?:un)?lock(?:s|ing)?|suspend\w*|thaw\w*|clos(?:e|es|ing|ure)|terminat\w*|reactivat\w*|activat\w*|deactivat\w*|topp?\w*[ -]?up\w*|topup\w*|load(?:s|ed|ing)?|reload\w*|unload\w*|refill\w*|recharg\w*|submit\w*|reveal\w*|limits?|markup|threeds)\b|[?¿]|\bi (?:need|want)\b|\bwe (?:need|want)\b(?! (?:it|this|that|the money|the card) (?:for|to)\b)"
)
#: Said behind "because", these tell why: `because he asked for it back`, `since the committee approved it`.
_BACKGROUND_AS_WHY: Final = re.compile(
    r"\b(?:has |have |was |were |is |are |been |already |just )*(?:approved|agreed|signed|confirmed|decided|authori[sz]ed)(?: (?:it|this|that|by|on|in|to it|the|so))?\b|\b(?:again|also|too|another|always|every|each|next|soon|usually|orders?|test|plan(?:s|ned)?|sign|limit|everything)\b|\bwhere (?:he|she)\b"
)
_NOT: Final = re.compile(
    r"\b(?:dont|doesnt|didnt|cant|wont|isnt|arent|wasnt|hasnt|havent|aint|not|never|no|nobody|none|nothing|without|yet|before|after|first)\b|n't\b|n’t\b"
)
_COMMANDS: Final = re.compile(
    r"^\W*(?:do|put|add|give|send|take|pull|move|bring|get|set|make|change|raise|lower|bump|switch|turn|lift|remove|return|use|go|keep|leave|start|open|kill|shut|see|look|show|find|call|mail|email|ping|text|reply|revert|thank|hurry|help|be|try|run|order|issue|book|register|log|report)\b"
)
#: What an amount beside a reason is: a line that is drawn, or what something costs.
_A_LINE: Final = re.compile(
    r"\b(?:below|above|under|over|exceed\w*|at least|at most|minimum|maximum|threshold|charge[sd]?|charges? of|payments? of|purchases? of|bills? (?:of|is)|invoices? (?:of|is)|costs?|deposit of|balance (?:of|is))\s+(?:\w+ )?§a\d+§"
)
_SUM: Final = re.compile(r"§a\d+§")
#: Values that are a request's own, unless a reason tells of them.
_VALUE: Final = re.compile(r"§[athe]\d+§")
#: `Terminal T3`, `gate B12`, `audit finding no. 3`.
_PLACE: Final = re.compile(r"[A-Za-z]{1,2}-?\d{1,3}")
_NUMBERED: Final = re.compile(
    r"\b(?:no\.?|number|nr\.?|item|finding|clause|section|point|phase|part|gate|terminal|room|level|floor|stage|batch|lot|day) §[ax]\d+§"
)
#: Said of a story, not of the request.
_IDIOM: Final = re.compile(
    r"(?:i'?m )?(?:not kidding|no kidding|no joke|not joking|for real|true story|i swear)"
)
#: `would it help`: small words that ask.
_MODAL: Final = re.compile(
    r"\b(?:would|could|should|shall|may|might|can|must|will|needs?|wants?|do|does|is|are|has|have)\b"
)
#: What only a piece before the request may be: an apology, a "but" in its midst.
_EXCUSE: Final = re.compile(r"(?:my (?:bad|fault|mistake)|our (?:bad|fault|mistake)|long story(?: short)?)")
_NAMES: Final = re.compile(r"[^\W\d_]")
_FEWEST: Final = 2
_STOPS: Final = " \t\n,;:.!?-–—()[]*_"
#: What its writer promised somebody is no report: `promised him help`.
_I_PROMISED: Final = re.compile(
    r"\b(?:i )?(?:told|promised) (?:him|her|them|§c\d+§) (?:that )?(?:i|we)(?:'?d|'?ll| would| will)\b"
)


@dataclass(frozen=True, slots=True)
class Background:
    """A piece that only tells something: masked, in small letters, without its "because". `why` = it had one."""

    text: str
    why: bool
    goes_on: bool
    entities: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class Apart:
    """Where in the text the request stands, and the background around it."""

    start: int
    end: int
    background: tuple[Background, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    strong: bool  # a stop or a line end comes before it
    ended: bool  # the same after it
    tale: Background | None = None
    excuse: bool = False


def request_apart(text: str, entities: Sequence[Entity]) -> Apart | None:
    """The one stretch of a text that holds no background, and the background beside it; None where nothing is."""
    low = text.lower()
    if len(low) != len(text) or len(low.split()) > _MOST_WORDS or _GAP.search(low):
        return None
    pieces = _pieces(low, entities)
    if not 1 < len(pieces) <= _MOST_PIECES:
        return None
    kept = [number for number, piece in enumerate(pieces) if piece.tale is None and not piece.excuse]
    if not kept:
        return None
    first, last = kept[0], kept[-1]
    if any(piece.excuse or (piece.tale and _BUT.search(piece.tale.text)) for piece in pieces[last + 1 :]):
        return None
    if first and not (pieces[first - 1].ended or _ASKS_NOW.match(low[pieces[first].start :])):
        return None  # `he shouted, freeze it`: what stands before a comma may rule what follows
    background = tuple(
        piece.tale for number, piece in enumerate(pieces) if not first <= number <= last and piece.tale
    )
    if not background:
        return None
    return Apart(pieces[first].start, pieces[last].end, background)


_BUT: Final = re.compile(r"\bbut\b")
_ASKS_NOW: Final = re.compile(
    r"\W*(?:so |and |then )?(?:please|pls|plz|kindly|(?:can|could|would|will) (?:you|u|we|someone)|may i)\b"
)


def _pieces(low: str, entities: Sequence[Entity]) -> list[_Piece]:
    pieces: list[_Piece] = []
    at, strong, why = 0, True, False
    for found in _CUT.finditer(low):
        if any(entity.start < found.end() and found.start() < entity.end for entity in entities):
            continue
        if found["why"] is not None and _SINCE_A_DAY.match(low, found.end()):
            continue  # `he has not paid since labor day`
        ends = bool(found["end"] or found["line"])
        end = found.end("end") if found["end"] else found.start()
        if low[at:end].strip(_STOPS):
            piece = _piece(low, at, end, entities, strong=strong, ended=ends, asked="?" in found[0], why=why)
            pieces.append(piece)
            why = piece.tale is not None and piece.tale.why and not ends
            strong = ends
        elif ends:
            strong, why = True, False
            pieces[-1:] = [replace(piece, ended=True) for piece in pieces[-1:]]
        at = found.end()
    if low[at:].strip(_STOPS):
        pieces.append(_piece(low, at, len(low), entities, strong=strong, ended=True, asked=False, why=why))
    return pieces


def _piece(
    low: str,
    start: int,
    end: int,
    entities: Sequence[Entity],
    *,
    strong: bool,
    ended: bool,
    asked: bool,
    why: bool,
) -> _Piece:
    inside = [
        (number, entity)
        for number, entity in enumerate(entities)
        if start <= entity.start and entity.end <= end
    ]
    parts, at = [], start
    for number, entity in inside:
        parts += [low[at : entity.start], f"§{LETTERS[entity.kind]}{number}§"]
        at = entity.end
    masked = "".join([*parts, low[at:end]]).strip(_STOPS)
    tale = _tale(masked, why=why)
    if tale is not None and asked and (strong or not tale[1]):
        tale = None  # `freeze it, as she is away?` asks for the whole
    background = (
        Background(*tale, not strong, tuple(entity for _, entity in inside)) if tale is not None else None
    )
    excuse = _EXCUSE.fullmatch(masked) is not None
    return _Piece(start, end, strong, ended, background, excuse)


def _tale(masked: str, *, why: bool) -> tuple[str, bool] | None:
    """What a piece tells and whether it is a reason; None where it may be more than that."""
    found = _WHY.match(masked)
    bare = masked[found.end() :] if found else masked
    bare = bare[joined.end() :] if (joined := _JOINED.match(bare)) else bare
    bare = _I_PROMISED.sub("he was", bare)
    if _IDIOM.fullmatch(bare) or (is_small(bare) and "§" not in bare):
        return ("", False) if found is None and not _MODAL.search(bare) else None
    words = re.findall(r"§[a-z]\d+§|[a-z][\w'’-]*", bare)
    if len(words) < _FEWEST or _COMMANDS.match(bare) or _BUT.match(bare):
        return None
    reason = found is not None or why
    if not reason and _VALUE.search(bare):
        return None
    ruled = bare
    if reason and not _NOT.search(bare):
        ruled = _BACKGROUND_AS_WHY.sub(" ", bare)
    if _NO_TALE.search(without_what_was_said(ruled)) or _NEEDS_DONE.search(bare) or said_in(_spaced(bare)):
        return None
    if found is not None and _NOUN_REASON.match(found["why"]):
        return bare, True
    verb = _FINITE.search(bare)
    if verb is None or (verb.start() == 0 and not _LEFT_OUT.match(bare)) or not re.match(_SUBJECT, bare):
        return None
    return bare, reason


#: `sofia's card needs closed`: what has to be done with it.
_NEEDS_DONE: Final = re.compile(
    r"\b(?:needs?|requires?|has to|have to|must|gotta|got to)\b (?:to be |be )?[a-z]+ed\b"
)
#: `was going through the cards`: the "I" is left out.
_LEFT_OUT: Final = re.compile(r"(?:was|were|been|had|got|went|came|saw|forgot|lost|found|met|ran)\b")
_SIGN: Final = re.compile(r"(§\w\d+§)")


def _spaced(text: str) -> str:
    return _SIGN.sub(r" \1 ", text)


#: What points at the card of the tale.
_ITS_CARD: Final = re.compile(
    r"\b(?:his|her|their|that|the|this) (?:card|one|account|plastic)\b(?! (?:number|holder|of|for|ending))|\b(?:hers|theirs)\b|(?<=\w )(?:it|him|her|them)\b(?! (?:back|to|up with|card|\w+ card)\b)|(?<=\w )it\b(?= (?:back|up)\b)",
    re.IGNORECASE,
)


def with_card_of_the_tale(text: str, apart: Apart, entities: Sequence[Entity]) -> tuple[str, Entity | None]:
    """The request by itself; for "his card" in it the card that the background names, and which one that was."""
    own = text[apart.start : apart.end]
    inside = [one for one in entities if apart.start <= one.start and one.end <= apart.end]
    before = [one for one in entities if one.kind == "card" and one.end <= apart.start]
    if any(one.kind in ("card", "person") for one in inside) or not before:
        return own, None
    sure = [one for one in before if not one.traits & {"unknown", "weak"} and len(one.value) == 1]
    if len(sure) != len(before) or len({id(one.value[0]) for one in sure}) != 1:
        return own, None
    name = sure[-1].written
    plain = name if any(char.isdigit() for char in name) or "-" in name else f"{name}'s card"
    put = _ITS_CARD.sub(plain, own, count=1)
    return (put, sure[-1]) if put != own else (own, None)


def is_only_background(apart: Apart, reading: Reading, facts: Facts) -> bool:
    """Is everything beside the request harmless to it: no value that is not its own, nothing that speaks against it?"""
    return all(
        _is_harmless(background, reading, facts) and not _speaks_against(background, reading.intent)
        for background in apart.background
        if background.text and not (is_small(background.text) and "§" not in background.text)
    )


#: Whoever does or is the background here decides nothing about the request: `she is on no-pay leave`, `the old SIM was cancelled`.
_OF_SOMEBODY: Final = re.compile(
    r"^(?:(?:we're|we are|i'm|i am) (?!think|consider|plan|wait|go|check|ask|jok|kid|test|wonder|hop|try|about)[a-z]+ing\b|he|she|they|hes|shes|(?:he|she)'s|they're|§c\d+§|(?:(?:his|her|their|the|our|a|an) )?(?!(?:it|its|it's|this|that|that's|there|there's|nobody|none|nothing|not|no|i|i'm|we|you|these|those|one|all|both|what|request|top-?up|topup|freeze|block|load|order|change|closure|transfer|form|card(?! got| was)|amount|limit|markup|submission|answer|decision|approval|budget|boss|manager|director|cfo|ceo|board|finance|bob|carol|dave)\b)[a-z][\w'’-]* (?:[\w'’-]+ ){0,4}?(?:is|are|was|were|has|have|had|won't|can't|got|[a-z]+ed|[a-z]+ing|[a-z]+s)\b)"
)
#: A "not" about what is requested itself.
_NOT_NEEDED: Final = re.compile(
    r"\b(?:need\w*|necessary|required?|right|true|correct|serious|mean\w*|meant|allowed|allow\w*|supposed|ready|sure|ok|okay|fine|valid|mine|ours?|done|due|want\w*|should)\b"
)
_TAKES_AWAY: Final = frozenset({"freeze_card", "close_card", "unload_card"})


def _speaks_against(background: Background, intent: str) -> bool:
    """Does the background take the request back or doubt it? What somebody's reason says of him does neither."""
    if background.why or _OF_SOMEBODY.match(background.text):
        if intent not in _TAKES_AWAY and _NOT.search(background.text) and _NOT_NEEDED.search(background.text):
            return speaks_against_from_around(background.text, intent, goes_on=background.goes_on)
        return False
    return speaks_against_from_around(background.text, intent, goes_on=background.goes_on)


def _is_harmless(background: Background, reading: Reading, facts: Facts) -> bool:
    return all(_belongs(entity, background, reading, facts) for entity in background.entities)


def _belongs(entity: Entity, background: Background, reading: Reading, facts: Facts) -> bool:
    if entity.doubt:
        return False
    match entity.kind:
        case "card":
            if reading.intent == "pause_sending":
                return True
            if reading.card is not None:
                return all(card is reading.card for card in entity.value)
            return (
                reading.intent == "order_card"
                and background.why
                and _NAMES.search(entity.written) is not None
                and not any(char.isdigit() for char in entity.written)
            )
        case "person":
            return True
        case "period":
            past = entity.value is not None and entity.value.last_day <= facts.now.date()
            if past or is_today(entity, facts):
                return tells_enough(background.text)
            tells = background.why or _OF_SOMEBODY.match(background.text) is not None
            return tells and reading.intent != "close_card" and tells_enough(background.text)
        case "later":
            return background.why and reading.intent != "close_card" and tells_enough(background.text)
        case "number":
            if INCIDENTAL in entity.traits or (background.why and _PLACE.fullmatch(entity.written)):
                return tells_enough(background.text)
            return background.why and _NUMBERED.search(background.text) is not None
        case "amount":
            own = reading.slots.get("amount") or reading.slots.get("limits")
            lines = len(_A_LINE.findall(background.text)) if own else 0
            return background.why and len(_NUMBERED.findall(background.text)) + lines >= len(
                _SUM.findall(background.text)
            )
    return False


__all__ = ["Apart", "is_only_background", "request_apart", "with_card_of_the_tale"]
