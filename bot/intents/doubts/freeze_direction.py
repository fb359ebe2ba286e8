"""Which way a freeze goes by the signs of its words, whatever frame read the request: `turn on the freeze` is minus one.

A freeze, a block or a lock stands against the use of a card, its access and its payments stand for it. What is done to it
keeps that sign (`enable`, `restore`, `on`) or turns it (`disable`, `lift`, `off`), each time it is said: `undo the removal of
the freeze` freezes. Only words that belong to the noun count: those right before it and right behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

FREEZE: Final = "freeze_card"
UNFREEZE: Final = "unfreeze_card"
#: A chain is a few words; nobody writes it across more.
_LONGEST: Final = 400

_ENDING: Final = (
    r"(?:e|es|ed|d|s|ing|ion|al|y|ies|ied|ting|ped|ping|ment|led|ling|lation|ation|ance|ition|sal)?"
)
_PUTS: Final = re.compile(
    rf"(?:re)?(?:enabl|activat|appl|impos|stor|instat|instal|plac|start|engag|initiat|introduc|implement|establish|trigger|new|maintain|retain|resum|continu|put|set|add|keep|bring|leav){_ENDING}"
    r"|kept|left|brought"
)
_TAKES: Final = re.compile(
    rf"(?:disabl|deactivat|disengag|remov|lift|stop|end|cancel|undo|undon|releas|revok|rescind|clear|drop|terminat|revers|revert|kill|scrap|waiv|annul|void|abolish|dissolv|delet|eras|withdraw|quit|exit|abandon|halt|discontinu|unset|uncheck|ditch|thaw|unfreez|unfro|unlock|unblock|unpaus|discard|finish|eliminat|clos|free){_ENDING}"
)
#: They only say the way together with "on" and "off".
_SWITCH: Final = re.compile(
    r"(?:turn|switch|toggl|flip|shut|tak|took|get|got|mak|hav|cut|com|go)(?:e|es|s|ed|ing|ped|ping|ting|en|n)?"
)
_HOLD: Final = re.compile(
    r"(?:freez(?:e|es|ing)|block(?:s|age|ing)?|locks?|locking|holds?|restrictions?|suspen(?:sion|d)|paus(?:e|ing))"
)
_PAST: Final = re.compile(
    rf"(?:{_PUTS.pattern}|{_TAKES.pattern}|{_SWITCH.pattern})(?<=ed)|kept|left|brought|took"
)
#: `frozen: off`: the name of a switch, and before a card no more than how it is.
_STOPPED: Final = re.compile(r"frozen|blocked|locked|suspended|paused")
_UNDONE: Final = re.compile(
    r"(?:un|de)(?:freeze|freezing|block|blocking|lock|locking|suspension|pause)|unfrozen|unblocked|unlocked|reactivation"
)
_ON: Final = frozenset({"on", "true", "yes", "y", "active", "live"})
_OFF: Final = frozenset({"off", "false", "no", "n", "none", "null", "inactive", "gone", "over", "not"})
_ITS: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "this",
        "that",
        "these",
        "those",
        "his",
        "her",
        "hers",
        "their",
        "its",
        "any",
        "all",
        "current",
        "existing",
        "active",
        "temporary",
        "old",
        "new",
        "full",
        "whole",
        "entire",
        "same",
        "card",
        "cards",
        "account",
        "spending",
        "payment",
        "payments",
        "fraud",
        "security",
        "my",
        "our",
        "s",
        "'s",
    ]
)
_JOINS: Final = frozenset(
    [
        "of",
        "on",
        "for",
        "from",
        "with",
        "upon",
        "back",
        "again",
        "please",
        "pls",
        "plz",
        "kindly",
        "now",
        "just",
        "also",
        "status",
        "state",
        "flag",
        "mode",
        "setting",
        "option",
        "field",
        "switch",
        "it",
        "'",
        "immediately",
        "today",
        "asap",
    ]
)
_IS: Final = frozenset(
    [
        ":",
        "=",
        "→",
        "is",
        "be",
        "to",
        "as",
        "should",
        "must",
        "needs",
        "need",
        "has",
        "have",
        "can",
        "could",
        "may",
        "been",
        "being",
        "gets",
        "get",
        "will",
        "shall",
        "it",
        "ought",
    ]
)
_AFTER_ALL: Final = frozenset(
    [
        "please",
        "pls",
        "plz",
        "kindly",
        "now",
        "again",
        "today",
        "asap",
        "thanks",
        "thx",
        "ta",
        "immediately",
        "tho",
        "though",
        "mate",
        "team",
    ]
)
_PLACE: Final = frozenset(["on", "for", "of", "from", "to"])
_DETERMINER: Final = frozenset(["the", "a", "an", "this", "that", "his", "her", "their", "its", "any", "all"])

#: What a card is used for.
_USE: Final = re.compile(r"access|spending|usage|use|payments?")
_GIVES: Final = re.compile(
    rf"(?:re)?(?:enabl|activat|stor|instat|allow|permit|grant|give|start|open){_ENDING}|resum{_ENDING}"
)
_DENIES: Final = re.compile(
    rf"(?:disabl|deactivat|stop|suspend|block|revok|remov|halt|end|cut|freez|prevent|forbid|deny|withdraw|lock|paus){_ENDING}"
)
#: `lift the spending limit` is about a limit.
_NO_USE: Final = re.compile(r"(?:limits?|caps?|alerts?|codes?|history|requests?|at|with|by)")

_CARD: Final = r"(?:§c\d+§(?:'s)?|(?:the|this|that|his|her|their) card|it)"
_RUNS: Final = r"(?:active|online|live|usable|operational|functional|enabled|activated|unfrozen|unblocked|unlocked|working)"
_STANDS: Final = r"(?:inactive|offline|unusable|disabled|deactivated|frozen|blocked|locked|suspended|out of (?:use|service|action|order)|nonactive)"


def _state(number: int) -> str:
    """A state, its groups numbered: one pattern holds it in several places."""
    return rf"(?P<no{number}>not )?(?:(?P<runs{number}>{_RUNS})|(?P<stands{number}>{_STANDS}))"


_SETS: Final = r"(?:set|make|take|put|bring|turn|mark|switch|flip|change|update|move|get|toggle)"
_CIVIL: Final = r"(?:(?:please|pls|hi|hey|card) )*"
_TO: Final = r"(?:(?:status|state|to|as|back|be|into|in|an?|on|for|of|card|=|:|→|again|please|pls) )*"
#: The card is put in a state; how it is now, or which one it is, is none.
_PUT_IN: Final = re.compile(
    rf"\b{_SETS} {_TO}(?:the |card )*{_CARD} {_TO}{_state(0)}(?! card)\b|\b{_SETS} {_TO}{_state(1)} (?:on |for )?(?:the |card )*{_CARD}"
    rf"|^{_CIVIL}(?:card )?(?:: )?§c\d+§ {_TO}{_state(2)}(?: (?:status|state|again|now))* (?:please|pls|thanks|asap)\b"
    rf"|^{_CIVIL}(?:card )?(?:: )?§c\d+§ (?:(?:status|state|back) )*(?:to|:|=|→) {_state(4)}$"
    rf"|\bstatus (?:(?:of|for|on) )?(?:the |card )*(?:{_CARD} )?(?:(?:to|as|:|=|→|be) )+{_state(3)}\b"
)
_NOW: Final = re.compile(
    r"\bfrom (?:active|inactive|frozen|blocked|locked|online|offline|live|suspended)\b|\b(?:active|frozen|blocked|locked|suspended|inactive) (?=→|to )"
)
#: When and why, which is no part of what is asked for: `freeze it until the hold is removed`.
_BESIDES: Final = re.compile(
    r"\b(?:until|till|if|when|while|after|before|because|since|once|unless|as soon as)\b[^.;!?,\n]*"
)
_STOP: Final = re.compile(r"[.;!?\n,()]+|\s[-–—]+\s|\b(?:and|but|then|so|or)\b")
_WORD: Final = re.compile(r"§[a-z]\d+§|[a-z]+(?:'[a-z]+)?|→|[^\w\s]")
_SAME: Final = (
    (re.compile(r"[’`]"), "'"),
    (re.compile(r"(?:->|=>)"), "→"),
    (re.compile(r"\bre-(?=[a-z])"), "re"),
    (re.compile(r"\b(?:un|de)-(?=[a-z])"), "un"),
    (re.compile(r"\bnon[ -](?=[a-z])"), "not "),
    (re.compile(r"\b(?:get rid of|do away with|take away|roll back|rollback|call off)\b"), "remove"),
    (re.compile(r"\b(?:in (?:place|force|effect))\b"), "active"),
    (
        re.compile(
            r"\b(?:out of|from|outta) (?=(?:the |this |that )?(?:freeze|block|lock|hold|suspension|pause)\b)"
        ),
        "off ",
    ),
    (re.compile(r"\b(?:no longer|not any ?more|no more)\b"), "not"),
    (re.compile(r"\bnot (?:needed|necessary|required|wanted|warranted|justified)\b(?: any ?more)?"), "off"),
)
#: `hold off on freezing it` is no switch; and what is not to be done says nothing of the other way.
_NOT_DONE: Final = re.compile(
    r"\bblock off §c|^\W*(?:\w+ )?hold on(?: please| pls| now| a (?:sec|second|moment|minute))?\W*$|\bhold(?:ing)? off (?:on |with )?(?:the |any )?(?:freez|block|lock|clos|suspen)|\b(?:don'?t|do not|never|no need|won't|shouldn't|should not|must not|not to|without|why|who|thanks for|thank you for|sorry for)\b"
)


@dataclass(slots=True)
class _Signs:
    """What is found on a walk from the noun: the product of the verbs, and whether an "off" stands by itself."""

    found: bool = False
    sign: int = 1
    turned_by_a_verb: bool = False
    off: bool = False

    def keeps(self) -> None:
        self.found = True

    def turns(self) -> None:
        self.found, self.turned_by_a_verb, self.sign = True, True, -self.sign

    def is_off(self) -> None:
        self.found = self.off = True

    @property
    def product(self) -> int:
        """`lift … off` turns it once: there the "off" belongs to the verb."""
        return -self.sign if self.off and not self.turned_by_a_verb else self.sign


def direction_of(text: str) -> str:
    """The intent that the signs of a masked text in small letters come to; empty where they say nothing, or two things."""
    return _agreed(_said_in(_words(clause)) for clause in _clauses(text))


def direction_of_a_hold(text: str) -> str:
    """The same, from what is done to a freeze, a block or a lock alone: `kill the freeze` closes no card."""
    return _agreed(_of_a_hold(_words(clause)) for clause in _clauses(text))


def _agreed(said: Iterable[str]) -> str:
    found = {one for one in said if one}
    return found.pop() if len(found) == 1 else ""


def _clauses(text: str) -> Iterator[str]:
    if len(text) > _LONGEST:
        return
    for pattern, plain in _SAME:
        text = pattern.sub(plain, text)
    for clause in _STOP.split(_BESIDES.sub(".", text)):
        if clause.strip() and not _NOT_DONE.search(clause):
            yield clause.strip()


def _words(clause: str) -> list[str]:
    return _WORD.findall(clause)


def _said_in(words: Sequence[str]) -> str:
    return _of_a_hold(words) or _of_its_use(words) or _of_its_state(" ".join(words))


def _of_a_hold(words: Sequence[str]) -> str:
    """The way of the last freeze, block or lock of a clause that anything is done to."""
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        stopped = _STOPPED.fullmatch(word) is not None
        undone = _UNDONE.fullmatch(word) is not None
        if not (stopped or undone or _HOLD.fullmatch(word)) or words[at + 1 : at + 2] == ["it"]:
            continue
        if stopped and (_is_card(words, at + 1) or words[at + 1 : at + 2] in (["→"], ["to"])):
            continue  # which card it is, or what becomes of it
        if word.endswith("ing") and not _ends(words, at):
            continue  # `locking herself out`
        signs = _Signs()
        if not stopped:
            _before(words, at, signs)
        _behind(words, at, signs)
        if signs.found:
            return UNFREEZE if signs.product * (1 if undone else -1) > 0 else FREEZE
    return ""


def _before(words: Sequence[str], at: int, signs: _Signs) -> None:
    """What is done to a noun by the words before it: `undo the removal of the`, `switch on`."""
    determined = False
    for place in range(at - 1, -1, -1):
        word, before = words[place], words[place - 1] if place else ""
        if _PAST.fullmatch(word):  # `Bob lifted the freeze`
            signs.found = False
            return
        if word == "off":
            signs.is_off()
        elif word == "on" and _SWITCH.fullmatch(before):
            signs.keeps()
        elif _TAKES.fullmatch(word) or (determined and _HOLD.fullmatch(word)):
            signs.turns()
        elif _PUTS.fullmatch(word):
            signs.keeps()
        elif word in _DETERMINER:
            determined = True
        elif not _is_beside(word) and not (place == at - 1 and before in _DETERMINER):
            return


def _behind(words: Sequence[str], at: int, signs: _Signs) -> None:
    """What is said of a noun by the words behind it: `on §c1§ to be lifted`, `: off`, `removal`."""
    for place in range(at + 1, len(words)):
        word = words[place]
        if word == "not" and _is_card(words, place + 1):
            return  # `freeze §c1§ not §c2§`
        if word in _OFF and _ends(words, place):
            signs.is_off()
        elif (
            word in _ON
            and _ends(words, place)
            and not (word == "on" and words[place - 1] not in (":", "=") and _is_card(words, place + 1))
        ):
            signs.keeps()
        elif _TAKES.fullmatch(word) and _ends(words, place):
            signs.turns()
        elif _PUTS.fullmatch(word) and _ends(words, place):
            signs.keeps()
        elif not (_is_beside(word) or word in _IS):
            return


def _is_beside(word: str) -> bool:
    """A word that may stand between a noun and what is done to it: whose it is, where it lies, half of a verb."""
    return (
        word in _ITS
        or word in _JOINS
        or word.startswith("§c")
        or _STOPPED.fullmatch(word) is not None
        or _HOLD.fullmatch(word) is not None
        or _SWITCH.fullmatch(word) is not None
    )


def _is_card(words: Sequence[str], at: int) -> bool:
    rest = [word for word in words[at : at + 3] if word not in _DETERMINER]
    return bool(rest) and (rest[0].startswith("§c") or rest[0] in ("card", "it", "hers", "them"))


def _ends(words: Sequence[str], at: int) -> bool:
    """Is nothing said behind a word but which card, and a courtesy? `off the back of …` is no switch."""
    place = at + 1
    while place < len(words) and (
        words[place] in _AFTER_ALL or words[place] in (":", "=", "'", '"', "s", "'s", "back", "by", "order")
    ):
        place += 1
    if place >= len(words) or _is_card(words, place):
        return True
    if words[place] in _PLACE:
        return place + 1 >= len(words) or _is_card(words, place + 1)
    return _PUTS.fullmatch(words[place]) is not None or _TAKES.fullmatch(words[place]) is not None


def _of_its_use(words: Sequence[str]) -> str:
    """The way of a card's access, use or payments."""
    for at, word in enumerate(words):
        if not _USE.fullmatch(word) or (at + 1 < len(words) and _NO_USE.fullmatch(words[at + 1])):
            continue
        signs = _Signs()
        for place in range(at - 1, -1, -1):
            one, before = words[place], words[place - 1] if place else ""
            if one == "off":
                signs.is_off()
            elif one == "on" and _SWITCH.fullmatch(before):
                signs.keeps()
            elif _DENIES.fullmatch(one):
                signs.turns()
            elif _GIVES.fullmatch(one) or (one == "bring" and "back" in words):
                signs.keeps()
            elif not (one in _ITS or one in _JOINS or one.startswith("§c") or _SWITCH.fullmatch(one)):
                break
        if signs.found:
            return UNFREEZE if signs.product > 0 else FREEZE
    return ""


def _of_its_state(clause: str) -> str:
    """The way to the state that a card is put in: `take §c1§ offline`."""
    found = _PUT_IN.search(_NOW.sub("", clause))
    if found is None:
        return ""
    named = {name.rstrip("01234"): value for name, value in found.groupdict().items() if value}
    return UNFREEZE if ("runs" in named) != ("no" in named) else FREEZE


__all__ = ["FREEZE", "UNFREEZE", "direction_of", "direction_of_a_hold"]
