"""Emoji and arrows that stand for words, written as those words before anything is read: `❄️ 3018`, `float → 3018 60`.

A sign is a verb only in a line that has none of its own; beside one it is a decoration and goes. What is said against it
(`🚫❄️`, `❄️ 3018 off`) becomes a "not", and an arrow between two states that tells what happened stays a "to", so that no sign
ever turns a request round. A text without any of them is left as it is.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.directory import Directory
from bot.intents.plain_text import QUOTED

_FROST: Final = "[❄🧊🥶🔒🔐⏸]"
_THAW: Final = "[🔓▶]"
_NO: Final = "[🚫❌⛔❎✖]"
_FINAL: Final = "[💀☠🪦⚰🗑]"
_MEANS_MUCH: Final = re.compile(f"{_FROST}|{_THAW}|{_FINAL}")
_CARDS: Final = "[💳]"
_LINK: Final = "[🔗]"
_LOOK: Final = "[👀🔍🔎]"
_ANY: Final = re.compile(r"[❄🧊🥶🔒🔐⏸🔓▶💀☠🪦⚰🗑💳🔗👀🔍🔎➕➖]|→|➡|➜|⇒|->|=>")
_ARROWS: Final = re.compile(r"\s*(?:-{1,2}>|={1,2}>|[➡➜⇒⟶➔])\s*|\s*→\s*")

_OFF: Final = r"(?:off|out|away|gone|ended|over|no more|undone|removed|lifted)"
_IS_OFF: Final = re.compile(
    rf"{_FROST}(?:\s*(?:→|:|=|-|to be|can come|can go|comes|goes|has to come))*\s*{_OFF}\b", re.IGNORECASE
)
#: A slip of `❄️ off`, or the freeze of a card.
_OF: Final = re.compile(rf"{_FROST}\s*of\b", re.IGNORECASE)
_UN: Final = re.compile(rf"\b(?:un|de)[ -]?{_FROST}", re.IGNORECASE)
_NOT_IT: Final = re.compile(
    rf"(?:{_NO}|\b(?:no|not|don'?t|never|without|stop|why|no more)\b)\s*(?:{_FROST}|{_THAW})|(?:{_FROST}|{_THAW})\s*(?:{_NO}|\b(?:not?|never)\b)",
    re.IGNORECASE,
)
#: A freeze that somebody does something with: `lift the ❄️`, `put ❄️ on 3018`.
_AS_A_NOUN: Final = re.compile(
    rf"(\b(?:lift|remove|undo|end|cancel|drop|release|take|get|put|stick|slap)\s+(?:off\s+)?(?:the |that |her |his |an? )?){_FROST}",
    re.IGNORECASE,
)
_AS_A_STATE: Final = re.compile(
    rf"(\b(?:is|are|was|were|been|got|gets|still|stays?|already|went|goes|why|since|because|the|that|this|a|his|her|their|our|my|all|which|any|while)\s+){_FROST}",
    re.IGNORECASE,
)
#: A word that says what is asked for: then a sign beside it says nothing more.
_SAID_IN_WORDS: Final = re.compile(
    r"\b(?:un-?|de-?|re-?)?(?:freez\w*|froz\w*|block\w*|lock\w*|thaw\w*|defrost\w*|paus\w*|suspend\w*|activat\w*|enabl\w*|disabl\w*|clos(?:e|ing)|terminat\w*|cancel|kill|delete|load\w*|top(?:ping)?[ -]?up|topup|fund)\b"
    r"|\b(?:put|add|take|pull|send|give|move|bring|return|withdraw|refill|recharge|set|change|update|raise|lower|cap|order|issue|submit|register|book|reveal|show|list|undo)\b|\+\s?\$?\d",
    re.IGNORECASE,
)
#: The same within the clause of the sign, where a question or another thing of the card is spoken of.
_SPOKEN_OF: Final = re.compile(
    r"\b(?:limits?|daily|weekly|monthly|mark-?up|balance|spen[dt]|declin\w*|threeds|3-?ds|webhook|codes?|pin|phone|mobile|why|how|what|who|when|did|does|has|have|was|were|is|are|ski|snow|winter|ice|cold|said|says)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[^,.;!?()]*")
_FOR_GOOD: Final = re.compile(
    r"\b(?:permanently|permanent|for good|for ever|forever|definitively)\b", re.IGNORECASE
)

_STOPPED: Final = rf"(?:frozen|freeze|froze|blocked|locked|on hold|paused|suspended|inactive|{_FROST})"
_RUNNING: Final = (
    rf"(?:active|live|open|on|unfrozen|unfreeze|unblocked|unlocked|usable|working|{_THAW}|[🟢✅☀🌞🔥])"
)
_STATES: Final = re.compile(
    rf"(?P<head>(?:(?<=^)|(?<=[.!?;\n]))[^.!?;\n→]*?)(?P<from>(?<!\w)(?:{_STOPPED}|{_RUNNING}))\s*→\s*(?P<to>{_STOPPED}|{_RUNNING})(?!\w)(?P<tail>[^.!?;\n]*[?]?)",
    re.IGNORECASE,
)
_BECOMES: Final = re.compile(
    rf"(?P<head>(?:(?<=^)|(?<=[.!?;\n]))[^.!?;\n→]*?)\s*→\s*(?!freeze\b|unfreeze\b)(?P<to>{_STOPPED}|{_RUNNING})(?!\w)(?P<tail>[^.!?;\n]*[?]?)",
    re.IGNORECASE,
)
#: What may stand with a state that is wanted, beside the card: anything more tells what happened.
_BESIDE_A_STATE: Final = re.compile(
    r"\b(?:hi|hey|hello|morning|pls|please|plz|kindly|asap|now|urgent|today|thx|thanks|card|of|back|again|both ways|prepaid|ok)\b|(?<!\w)-|[\s,:()’–]+|[^\x00-\x7f\w]+",
    re.IGNORECASE,
)
_MONEY: Final = r"\+?\$?\d[\d.,']*k?(?:\s?(?:usd|dollars|bucks|\$))?"
_AMOUNT: Final = re.compile(rf"(?<![\w.,]){_MONEY}(?![\w.,]*\w)", re.IGNORECASE)
_FLOAT: Final = re.compile(
    r"\b(?:the |our |from |to |back to |into |on |onto )*\b(?:float|pot|pool|main account)\b", re.IGNORECASE
)
_POLITE: Final = re.compile(
    r"\b(?:hi|hey|hello|morning|moin|pls|please|plz|kindly|asap|now|urgent|today|thx|thanks|ty|also|and|then|usd|back|on|onto|from|to|card|move|send|transfer|shift)\b",
    re.IGNORECASE,
)
_SEGMENT: Final = re.compile(
    r"[^,;.!?\n]*(?:[.,](?=\d)[^,;.!?\n]*)*→[^,;.!?\n]*(?:[.,](?=\d)[^,;.!?\n]*)*(?P<stop>[?]?)"
)
_OF_LIMITS: Final = re.compile(
    r"\b(?:daily|weekly|monthly|limits?|caps?|ceiling|mark-?up|per (?:day|week|month)|a (?:day|week|month))\b|/\s?[dwm]\b|%",
    re.IGNORECASE,
)
_FROM_TO: Final = re.compile(r"(?<![\w.,])(?P<old>\$?\d[\d.,]*k?%?)\s*→\s*(?=\$?\d)", re.IGNORECASE)
#: `update nr 7716 → +48 …`: the number that is changed is a phone's.
_NUMBER_OF: Final = re.compile(
    r"\b(?P<verb>update|change|new|set|replace|correct)\s+(?:the )?(?:(?:phone|mobile|mob|cell|tel|handy)\s*)?(?:nr|no|num|number|phone|mobile|cell|tel)\b\.?\s*(?:of |for )?(?P<card>[\w'.-]+(?: [\w'-]+)?)\s*(?:→|:|=)\s*(?=(?:\+|00)\s?\d)",
    re.IGNORECASE,
)


#: `daily limit 3205 → 100`, `phone 9140 → +263 …`: a line with nothing else in it but courtesies.
_COURTESIES: Final = r"(?:(?:hi|hey|hello|morning|pls|please|plz|kindly|asap|now|thx|thanks)\b[\s,.!:]*)*"
_VALUE_OF: Final = re.compile(
    rf"^(?P<head>\W*{_COURTESIES})(?:(?P<every>daily|weekly|monthly)(?: limit| cap| max)?|(?P<phone>phone|mobile|mob|cell|tel)(?: (?:nr|no|number))?\.?)\s+(?:of |for |on )?(?P<card>\d{{4}})\s*→\s*(?P<value>(?:\+\d[\d ()-]{{6,}}\d|\$?\d[\d.,]*(?: ?usd)?))(?P<tail>[\s,.!]*{_COURTESIES})$",
    re.IGNORECASE,
)
#: Four digits that are as likely what a limit was before: `daily limit 2000 → 1500`.
_ROUND: Final = 50
#: More of them, or a longer line, is no message to us: there a sign keeps every form closed.
_MOST_SIGNS: Final = 12
_LONGEST_LINE: Final = 300


def in_words(text: str, cards: Directory) -> str:
    """The text with its signs written as words; as it is where it has none."""
    signs = len(_ANY.findall(text))
    if not signs:
        return text
    if signs > _MOST_SIGNS:
        return _MEANS_MUCH.sub(QUOTED, text)
    text = text.replace("➕", " +").replace("➖", " minus ")
    return "\n".join(_line_in_words(line, cards) for line in text.split("\n"))


def _line_in_words(line: str, cards: Directory) -> str:
    if not _ANY.search(line):
        return line
    if len(line) > _LONGEST_LINE:
        return _MEANS_MUCH.sub(QUOTED, line)
    line = _ARROWS.sub(" → ", _OF.sub(f"{QUOTED} of", line))
    if "→" in line:
        line = _STATES.sub(lambda found: _turned(found, cards), line)
        line = _BECOMES.sub(lambda found: _becomes(found, cards), line)
        line = _VALUE_OF.sub(lambda found: _of_a_card(found, cards), line)
        line = _NUMBER_OF.sub(lambda found: _of_a_phone(found, cards), line)
        line = _SEGMENT.sub(lambda found: _moved(found, cards), line)
        line = _old_and_new(line, cards)
    return _said(line, cards)


def _is_stopped(state: str) -> bool:
    return re.fullmatch(_STOPPED, state, re.IGNORECASE) is not None


def _asks_for_it(head: str, tail: str, cards: Directory) -> bool:
    """Do the words around a change of state hold nothing but a card and courtesies?"""
    if tail.endswith("?"):
        return False
    around = " ".join(_BESIDE_A_STATE.sub(" ", f"{head} {tail.partition(',')[0]}").split())
    return bool(cards.called(around.removesuffix("'s")))


def _turned(found: re.Match[str], cards: Directory) -> str:
    head, before, after, tail = found["head"], found["from"], found["to"], found["tail"]
    if _is_stopped(before) == _is_stopped(after):
        return found[0]
    if not re.search(r"[a-z]", before + after, re.IGNORECASE) and _SAID_IN_WORDS.search(head + tail):
        return f"{head} {tail}"  # `thaw it ❄️➡️☀️` says it twice
    if not _asks_for_it(head, tail, cards):
        return f"{head} was {_stopped(before)} to {_stopped(after)} {tail}"
    return f"{head}{'freeze' if _is_stopped(after) else 'unfreeze'}{tail}"


def _stopped(state: str) -> str:
    """A state as a word."""
    return "frozen" if _is_stopped(state) else "active"


def _becomes(found: re.Match[str], cards: Directory) -> str:
    head, after, tail = found["head"], found["to"], found["tail"]
    if not head.strip() or not _asks_for_it(head, tail, cards):
        return f"{head} to {_stopped(after)} {tail}"
    return f"{head} {'freeze' if _is_stopped(after) else 'unfreeze'}{tail}"


def _of_a_card(found: re.Match[str], cards: Directory) -> str:
    every, card, value = found["every"], found["card"], found["value"]
    if not cards.called(card) or bool(every) == value.startswith("+") or (every and not int(card) % _ROUND):
        return found[0]
    what = f"set the {every} limit" if every else "change the phone number"
    return f"{found['head']}{what} of card {card} to {value}{found['tail']}"


def _of_a_phone(found: re.Match[str], cards: Directory) -> str:
    if not cards.called(found["card"]):
        return found[0]
    return f"{found['verb']} phone of {found['card']} to "


def _moved(found: re.Match[str], cards: Directory) -> str:
    """`float → 3018 60` as a top-up, `3018 60 → float` as an unload, where nothing else is said in it."""
    left, _, right = found[0].partition("→")
    if found["stop"] or "→" in right or bool(_FLOAT.search(left)) == bool(_FLOAT.search(right)):
        return found[0]
    given = _FLOAT.search(left) is not None
    words = _FLOAT.sub(" ", f"{left} {right}")
    named = [one for one in _AMOUNT.finditer(words) if not cards.called(one[0])]
    if len(named) != 1:
        return found[0]
    card = " ".join(_POLITE.sub(" ", f"{words[: named[0].start()]} {words[named[0].end() :]}").split())
    if not card or not cards.called(card.removesuffix("'s")):
        return found[0]
    amount = named[0][0].strip().lstrip("+")
    return f" load {amount} from float onto {card}" if given else f" unload {amount} from {card}"


def _old_and_new(line: str, cards: Directory) -> str:
    """`daily 500 → 1100`: from the old to the new; a card before an arrow is none of them."""
    if "→" not in line or not _OF_LIMITS.search(line):
        return line
    return _FROM_TO.sub(
        lambda found: found[0] if cards.called(found["old"]) else f"from {found['old']} to ", line
    )


def _said(line: str, cards: Directory) -> str:
    """A line with its emoji as words."""
    if not _ANY.search(line):
        return line
    line = re.sub(f"{_CARDS}+", lambda found: " card " if len(found[0]) == 1 else " cards ", line)
    line = re.sub(f"{_LINK}+", " link ", line)
    if re.search(f"{_FROST}|{_THAW}", line):
        line = _frozen(line, cards)
    bare = re.sub(_FINAL, " ", line)
    if bare != line:
        close = _FOR_GOOD.search(line) and not _SAID_IN_WORDS.search(bare)
        line = re.sub(f"{_FINAL}+", " close ", line, count=1) if close else bare
    look = re.match(rf"\s*{_LOOK}\s*(?=\S)", line)
    if look and not _SAID_IN_WORDS.search(line):
        line = f"show {line[look.end() :]}"
    return line


#: What may stand between a sign and its card.
_NEXT: Final = re.compile(
    r"[\s:,()–-]*(?:(?:pls|please|plz|kindly|asap|now|the|card|cards|of|for|on|to|hi|hey|moin|urgent|quick)\b[\s:,()–-]*|[^\x00-\x7f\w]+\s*)*",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"\w[\w.+:-]*\w(?:'s)?|\w")
_BETWEEN: Final = frozenset({"pls", "please", "card", "cards", "now", "asap", "kindly", "plz"})


def _stands_by_a_card(line: str, cards: Directory) -> bool:
    """Does nothing but courtesies stand between the sign and a card: before it, or behind it?"""
    sign = re.search(f"(?:{_FROST}|{_THAW})+", line)
    if sign is None:
        return False
    after = _NAME.findall(_NEXT.sub("", line[sign.end() :], count=1))
    words = _NAME.findall(line[: sign.start()])
    while words and words[-1].lower() in _BETWEEN:
        words.pop()
    tried = (after[:1], after[:2], words[-1:], words[-2:])
    return any(cards.called(" ".join(some).removesuffix("'s")) for some in tried if some)


def _frozen(line: str, cards: Directory) -> str:
    line = _AS_A_NOUN.sub(r"\1freeze ", line)
    line = _IS_OFF.sub(" unfreeze ", _UN.sub(" unfreeze ", line))
    line = _NOT_IT.sub(" not freeze ", line)
    line = _AS_A_STATE.sub(r"\1frozen ", line)
    if not re.search(f"{_FROST}|{_THAW}", line):
        return line
    bare = re.sub(f"{_FROST}|{_THAW}", " ", line)
    own = " ".join(found[0] for found in _CLAUSE.finditer(line) if re.search(f"{_FROST}|{_THAW}", found[0]))
    if _SAID_IN_WORDS.search(bare) or _SPOKEN_OF.search(own):
        return bare
    if "⏸" in line and re.search(r"\b(?:everything|all|sending|payouts|outgoing)\b", line, re.IGNORECASE):
        return re.sub("⏸+", " pause ", line)
    if re.search(_FROST, line) and (re.search(_THAW, line) or re.search(rf"\b{_OFF}\b", own, re.IGNORECASE)):
        return f"not freeze {bare}"
    if not _stands_by_a_card(line, cards):
        return bare
    line = re.sub("⏸+", " pause ", line)
    line = re.sub(f"{_FROST}+", " freeze ", line, count=1)
    line = re.sub(f"{_THAW}+", " unfreeze ", line, count=1)
    return re.sub(f"{_FROST}|{_THAW}", " ", line)


__all__ = ["in_words"]
