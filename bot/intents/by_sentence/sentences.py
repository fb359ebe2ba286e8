"""A message cut into sentences, and the stretches of them that may be the request, in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.intents.by_sentence.beside import speaks_against_beside
from bot.intents.by_sentence.by_values import asked_by_values
from bot.intents.by_sentence.cores import core_of
from bot.intents.by_sentence.forms import Form, form_of
from bot.intents.by_sentence.stretches import Beside, Candidate
from bot.intents.by_sentence.wording import begins_at, without_courtesies
from bot.intents.directory import ORDINARY, fold
from bot.intents.extraction import AT_MOST, INCIDENTAL, LETTERS, Entity

_MOST_WORDS: Final = 110
_MOST_LETTERS: Final = 900
_MOST_SENTENCES: Final = 12
_MOST_HEADS: Final = 3
_LETTER: Final = re.compile(r"\w")
_LONGEST_WORD: Final = 80
#: Where so much was taken out, there is nothing to tell apart; and patterns look through a gap again and again.
_GAP: Final = re.compile(r"\s{20}")
_STOP: Final = re.compile(
    r"(?P<stop>(?<!\bno)(?<!\bnr)(?<!\bref)(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)(?<!\bapprox)(?<!\be\.g)(?<!\bi\.e)(?<![.!?;…])(?:[.!?;…]+(?=[\s)]|$)|\?(?=,))(?!\s+(?:for good|permanently|forever|for ever)\b))|\s*[\U0001f300-\U0001faff☀-➿♀♂]+\s*(?=\S)| {3,}(?=\S)|\s*\n\s*|\s+(?=[:;]-?[)(D](?:\s|$))",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(r"\?")
#: Before a request: why, up to a comma or a "so".
_HEAD: Final = re.compile(
    r"(?:,|\s[-–—]|(?<=thing)\s?:|(?<=thing only)\s?:|(?<=request)\s?:|(?<=favour)\s?:|(?<=favor)\s?:|(?<=urgent)\s?:|:\)|[)\]])\s*(?=\S)|\s+(?=(?:so|hence|therefore|thus)(?:,| (?:please|pls|plz|kindly|can|could|would|will|you|request|i|we)\b))|\s+(?=(?:please|pls|plz|kindly|you are (?:therefore |hereby |kindly )*requested|(?:can|could|would|will) (?:you|u|someone|somebody))\b)|\s+and\s+(?=(?:kindly|please|pls|therefore|hence)\b)|\s+(?=so (?:load|throw|put|add|give|send|take|pull|freeze|block|lock|unfreeze|unblock|unlock|top|stick|chuck|drop|close|cap|raise|lower)\b)",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(
    r"(?:\n|(?<=[.!?])\s)\s*(?:(?:many |much |kind |best |warm |with )*(?:thanks|thank you|thx|regards|rgds|cheers|best|sincerely|yours(?: (?:faithfully|sincerely|truly))?|ta)(?:\s*(?:&|and|,|with)\s*(?:best |kind |warm )?(?:regards|rgds))?[\s,.!]*)(?P<name>(?:[A-ZÀ-Ž][\w'’.-]*\s*){0,3})\s*$"
)
#: What "it" may be, if it is no card.
_THING: Final = re.compile(
    r"\b(?:phone|sim|laptop|tablet|app|account|site|website|number|door|van|car|truck|bag|mail|payment|transfer|subscription|order|contract)\b",
    re.IGNORECASE,
)
_ITS_CARD: Final = re.compile(
    r"§c\d+§(?:['’]s|['’])? card\b|\bcard (?:of |ending |no\.? )*§c\d+§", re.IGNORECASE
)
#: What makes a request of a question.
_POLITELY: Final = re.compile(
    r"\b(?:can|could|would|will|may|might|mind|possible|chance|please|pls|plz|kindly)\b", re.IGNORECASE
)
#: A sentence of its own, not whose words follow: four words and one of them a verb.
_TELLS: Final = re.compile(
    r"^(?=(?:\S+\s+){3})[^:]*(?:\b(?:is|are|was|were|has|have|had|got|gets?|did|does|do|went|came|lost|left|took|put|kept|keeps?|can|will|needs?|wants?|\w{2,}(?:ed|ing|es|ns|ts|ks|ds|ls|ps|rs))\b|['’](?:s|re|m|ll|ve)\b|n['’]t\b)[^:]*$"
)
_NO_NAME: Final = re.compile(r"[\d-]")
_SIGN: Final = re.compile(r"§[a-z](\d+)§")


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    asked: bool


def is_bare_number(entity: Entity) -> bool:
    """A number that nobody has placed: no card ends in it, nor does it count anything. In plain words it may be an amount."""
    if entity.kind == "number":
        return INCIDENTAL not in entity.traits and entity.written.isdigit()
    return entity.kind == "card" and "unknown" in entity.traits and entity.written.isdigit()


#: This day, in any words.
_TODAY: Final = frozenset(
    {
        f"{lead}{day}"
        for lead in ("", "from ", "as of ", "as from ", "starting ", "effective ", "since ", "for ")
        for day in ("today", "this morning")
    }
)


class _Masked:
    """A text with a sign for each of its values, and the way back from a place in one to the other."""

    def __init__(self, text: str, entities: Sequence[Entity]) -> None:
        self.written = text
        self.entities = entities
        parts: list[str] = []
        at = 0
        for number, entity in enumerate(entities):
            letter = "a" if is_bare_number(entity) else LETTERS[entity.kind]
            gap = " " if text[entity.start : entity.start + 1].isspace() else ""
            parts += [text[at : entity.start], f"{gap}§{letter}{number}§"]
            at = entity.end
        self.text = "".join([*parts, text[at:]])

    def unmasked(self, piece: str) -> str:
        return _SIGN.sub(lambda found: self._of(int(found[1])), piece)

    def plainly(self, piece: str) -> str:
        """The same, with a card that is called by a word of every day, or by its owner alone, named as a card."""
        return _SIGN.sub(lambda found: self._as_a_card(int(found[1])), piece)

    def _as_a_card(self, number: int) -> str:
        entity, written = self.entities[number], self._of(number)
        if entity.kind != "card" or "name" not in entity.traits or "weak" in entity.traits:
            return written
        if written.lower().endswith(("'s", "’s")):
            return f"{written} card"
        return f"card of {written}" if fold(written) in ORDINARY else written

    def inside(self, piece: str) -> tuple[Entity, ...]:
        return tuple(self.entities[int(number)] for number in _SIGN.findall(piece))

    def is_reference(self, piece: str) -> bool:
        """Is the card of a piece named by what nobody is called: a reference or digits?"""
        cards = [one for one in self.inside(piece) if one.kind == "card"]
        return len(cards) == 1 and _NO_NAME.search(cards[0].written) is not None

    def only_card_before(self, end: int) -> str:
        """The sign of the one card that is named up to a place; empty where it is none, or another as well."""
        named = [(sign[0], self.entities[int(sign[1])]) for sign in _SIGN.finditer(self.text)]
        cards = [(sign, one) for sign, one in named if one.kind == "card" and not is_bare_number(one)]
        if any(one.traits & {"unknown", "weak"} or len(one.value) != 1 for _, one in cards):
            return ""
        if len({id(one.value[0]) for _, one in cards}) != 1:
            return ""
        before = [sign for sign, _ in cards if self.text.index(sign) < end]
        return before[-1] if before else ""

    def signs_of(self, kind: str) -> list[str]:
        """The signs of all values of a kind."""
        return [sign[0] for sign in _SIGN.finditer(self.text) if self.entities[int(sign[1])].kind == kind]

    def today(self) -> tuple[str, ...]:
        """The signs of this day, which a request may name without being put off."""
        return tuple(
            sign
            for sign in self.signs_of("period")
            if self.entities[int(sign[2:-1])].written.lower() in _TODAY
        )

    def only_card(self) -> str:
        """The sign of the one card of the whole text; empty where it is none, or another as well."""
        return self.only_card_before(len(self.text))

    def _of(self, number: int) -> str:
        entity = self.entities[number]
        return self.written[entity.start : entity.end]


def candidates(text: str, entities: Sequence[Entity]) -> Iterator[Candidate]:
    """The stretches of a text that may be its one request, the whole sentences first."""
    words = text.split()
    if (
        len(words) > _MOST_WORDS
        or len(text) > _MOST_LETTERS
        or any(len(word) > _LONGEST_WORD for word in words)
        or _GAP.search(text)
        or "§" in text
    ):
        return
    masked = _Masked(text, entities)
    closing = _CLOSING.search(masked.text)
    whole = masked.text[: closing.start() + 1] if closing else masked.text
    sentences = list(_sentences(whole))
    if not 0 < len(sentences) <= _MOST_SENTENCES:
        return
    form = form_of(masked.text, entities)
    if form is not None:
        yield _as_form(form, whole, sentences, masked)
    for sentence in sentences:
        yield from _cores(whole, sentence, sentences, masked)
    for sentence in sentences:
        yield from _by_values(whole, sentence, sentences, masked)


def _cores(
    text: str, sentence: _Sentence, sentences: Sequence[_Sentence], masked: _Masked
) -> Iterator[Candidate]:
    """The request that a sentence begins with, or that follows what leads to it."""
    others = None
    heads = [found.end() for found in _HEAD.finditer(text, sentence.start, sentence.end)]
    for start in (sentence.start, *heads[-_MOST_HEADS:]):
        piece = text[start : sentence.end]
        if sentence.asked and not _POLITELY.search(piece):
            continue
        at = begins_at(piece)
        core = core_of(piece[at:])
        if core is None:
            continue
        if core.first and not masked.is_reference(core.text):
            continue
        end = start + at + core.end
        said = core.text
        own = list(masked.inside(said))
        if core.points:
            sign = masked.only_card_before(end)
            if core.it and _THING.search(text) and not _ITS_CARD.search(text):
                continue
            if not sign:
                continue
            said = said.replace("⟨card⟩", sign)
            own = list(masked.inside(said))
        if others is None:
            others = tuple(_beside(text, sentences, sentence, masked))
        around = []
        for there, before in (
            (text[sentence.start : start], True),
            (without_courtesies(text[end : sentence.end]), False),
        ):
            if _LETTER.search(there):
                around.append(
                    Beside(
                        _bare(there),
                        masked.inside(there),
                        before,
                        within=True,
                        written=masked.unmasked(there),
                    )
                )
        yield Candidate(
            masked.plainly(f"please {said}"),
            masked.unmasked(f"{text[: start + at]}{said}{text[end:]}"),
            tuple(own),
            (*around, *others),
        )


def _by_values(
    text: str, sentence: _Sentence, sentences: Sequence[_Sentence], masked: _Masked
) -> Iterator[Candidate]:
    """The requests that the values in a stretch of a sentence tell."""
    if sentence.asked and not _POLITELY.search(text[sentence.start : sentence.end]):
        return
    others: tuple[Beside, ...] | None = None
    read: set[str] = set()
    for asked in asked_by_values(
        text, sentence.start, sentence.end, is_question=sentence.asked, today=masked.today()
    ):
        said = asked.text
        if any(one.doubt for one in masked.inside(text[asked.start : asked.end])) and not (
            asked.intent == "set_limits" and _only_bounds(text[asked.start : asked.end], masked)
        ):
            continue
        if "⟨network⟩" in said:
            networks = masked.signs_of("network")
            if len(networks) > 1:
                continue
            said = said.replace("⟨network⟩", f"on {networks[0]}" if networks else "").strip()
        if "⟨card⟩" in said:
            sign = masked.only_card()
            if not sign:
                continue
            said = said.replace("⟨card⟩", sign)
        around = [
            Beside(
                _bare(there),
                masked.inside(there),
                before,
                within=True,
                is_why=before and asked.outright and _TELLS.match(_bare(there)) is not None,
                written=masked.unmasked(there),
            )
            for there, before in (
                (text[sentence.start : asked.start], True),
                (without_courtesies(text[asked.end : sentence.end]), False),
            )
            if _LETTER.search(there)
        ]
        others = others if others is not None else tuple(_beside(text, sentences, sentence, masked))
        # Whether anything speaks against it costs less than to read it.
        if said in read or any(speaks_against_beside(one, asked.intent) for one in (*around, *others)):
            continue
        read.add(said)
        yield Candidate(
            masked.plainly(f"please {said}"),
            masked.unmasked(text),
            masked.inside(said),
            (*around, *others),
            names_card="⟨card⟩" not in asked.text,
        )


def _only_bounds(stretch: str, masked: _Masked) -> bool:
    """Is every doubt about a value of a stretch that it is a bound, as each limit is: `no more than 120 a day`?"""
    if _MORE.search(stretch) and not _AT_ALL.search(stretch):
        return False
    return all(not one.doubt or AT_MOST in one.traits for one in masked.inside(stretch))


_MORE: Final = re.compile(r"\b(?:more than|over|above|beyond|past|exceed\w*|pass)\s+§a", re.IGNORECASE)
_AT_ALL: Final = re.compile(r"\b(?:no|not|never|nobody|nothing|cannot)\b|n['’]t\b", re.IGNORECASE)


def _as_form(form: Form, text: str, sentences: Sequence[_Sentence], masked: _Masked) -> Candidate:
    """The request of a form, and what its sentences say beside it."""
    beside = []
    asked = form.spans[0][0]
    for sentence in sentences:
        at = sentence.start
        ends = [span for span in sorted(form.spans) if span[0] < sentence.end and span[1] > sentence.start]
        for start, end in [*ends, (sentence.end, sentence.end)]:
            piece = text[at:start]
            leads = start == asked and at == sentence.start
            if _LETTER.search(piece):
                beside.append(
                    Beside(
                        _bare(piece),
                        masked.inside(piece),
                        before=leads,
                        within=leads,
                        asked=sentence.asked and form.is_story and not ends,
                        written=masked.unmasked(piece),
                    )
                )
            at = max(at, min(end, sentence.end))
    return Candidate(
        masked.unmasked(form.text),
        masked.unmasked(
            f"{masked.text[: form.load[0]]}{', ' if form.load[1] else ' '}{masked.text[form.load[1] :]}"
        ),
        masked.inside(form.text),
        tuple(beside),
    )


def _beside(text: str, sentences: Sequence[_Sentence], own: _Sentence, masked: _Masked) -> Iterator[Beside]:
    for sentence in sentences:
        if sentence is not own:
            piece = text[sentence.start : sentence.end]
            yield Beside(
                _bare(piece),
                masked.inside(piece),
                sentence.end <= own.start,
                asked=sentence.asked,
                colon=piece.rstrip().endswith(":"),
                written=masked.unmasked(piece),
            )


def _bare(piece: str) -> str:
    return piece.strip(" \t\n,;.-–—()[]").lower()


def without_list_marks(text: str) -> str:
    """`1) Card … 2) USD …`: the text without the marks of a list that counts from its first."""
    for marks in (_NUMBERED, _LETTERED, _DASHED):
        found = [one[1].lower() for one in marks.finditer(text)]
        if len(found) > 1 and found in (
            list("123456789")[: len(found)],
            list("abcdefghi")[: len(found)],
            ["-"] * len(found),
        ):
            return marks.sub("\n", text)
    return text


_NUMBERED: Final = re.compile(r"(?:^|\n|(?<=[\s,:;.-]))[ \t]*\(?(\d)[).](?=\s)[ \t]*")
_LETTERED: Final = re.compile(r"(?:^|\n|(?<=[\s,:;.-]))[ \t]*\(?([a-i])\)(?=\s)[ \t]*", re.IGNORECASE)
_DASHED: Final = re.compile(r"(?:^|\n)[ \t]*([-])(?=\s)[ \t]*")


def _sentences(text: str) -> Iterator[_Sentence]:
    at = 0
    for found in [*_STOP.finditer(text), None]:
        end = found.start() if found else len(text)
        if re.search(r"\w", text[at:end]):
            yield _Sentence(at, end, bool(found and _ASKED.search(found[0])))
        at = found.end() if found else end


__all__ = ["candidates", "is_bare_number", "without_list_marks"]
