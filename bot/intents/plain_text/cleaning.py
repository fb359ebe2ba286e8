"""What Slack sends, as the plain text that is read: markup undone, quoted text blanked, oddities noted.

Text in quotes, in code and in `>` lines is evidence of what somebody said, never a request of the writer.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from bot.domain.card_numbers import holds_card_number
from bot.domain.sentences import UNSEEN

MOST_CHARS: Final = 2000
QUOTED: Final = "□"  # stands where evidence was
GUARDED: Final = "■"  # stands where a card number was

_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛`´′", "'"),
        **dict.fromkeys("“”„‟«»″「」『』‹›《》〈〉〝〞＂", '"'),
        # Whatever else is white space, but for what nobody sees.
        **dict.fromkeys(
            "\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
            " ",
        ),
        **dict.fromkeys("‐‑", "-"),
        # What our own messages show in their place, as Slack takes these for markup: a name that is copied from one.
        **dict(zip("∗∼▁‵", "*~_'", strict=True)),  # `bot.domain.sentences.SHOWN_FOR`
    }
)
_HIDDEN: Final = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
_CONTROL: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e0fff]"
)
_UNSEEN: Final = re.compile(f"[{''.join(sorted(UNSEEN))}]")
# Joiners and selectors belong between or behind emoji; beside a letter, a digit or a sign they hide.
_MISJOINED: Final = re.compile(
    "[\x20-\x7e\n\u00a0-\u04ff][\u200d\ufe00-\ufe0f]|^[\u200d\ufe00-\ufe0f]|\u200d[\x21-\x7e]"
)
_SELECTOR: Final = re.compile("[\u200d\ufe00-\ufe0f]")
_MARKUP: Final = re.compile(r"<([^<>\n]*)>")
_CODE: Final = re.compile(r"```(.*?)```|`([^`\n]*)`", re.DOTALL)
_LONE: Final = re.compile(r"\s*[\w.:#/…-]+\s*")
_STRUCK: Final = re.compile(r"(?<![\w~])~(?=\S)[^~\n]+~(?![\w~])")
_QUOTE_LINE: Final = re.compile(r"^[ ]*>.*$", re.MULTILINE)
#: Whole lines of a quote at the beginning, with words of the writer's own below. `> Bob wrote:` is followed by Bob's.
_ABOVE: Final = re.compile(r"\A\s*(?P<quoted>(?:[ ]*>[^\n]*\n)+)(?P<own>(?=\s*[^\s>])[\s\S]+)\Z")
_GOES_ON: Final = re.compile(r"[:,–—-]\s*$")
#: Several lines between one pair of signs.
_WHOLE: Final = re.compile(r"""\A\s*(?P<sign>["`~])[^"`~]*\n[^"`~]*(?P=sign)\s*\Z""")
_GOES_ON_BELOW: Final = re.compile(r"\A\s*(?:[ ]*>[^\n]*\n)*[ ]*>[^\n]*:[ ]*\n")
_A_HASH: Final = re.compile(r"(?<!\w)0[xX][0-9a-fA-F]{64}(?!\w)")
_DOUBLE: Final = re.compile(r'"[^"\n]*(?:"|$)', re.MULTILINE)
#: The first sign of a line ends a quote whose beginning is not there: which words are quoted, nobody can tell.
_ENDS_A_QUOTE: Final = re.compile(r'^[^"\n]*[^\s"(\[{=:–—/-]"', re.MULTILINE)
_SINGLE: Final = re.compile(r"(?<!\w)'[^'\n]+(?:'\w[^'\n]*)*'(?!\w)")
_BOLD: Final = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_ITALIC: Final = re.compile(r"(?<![\w_])_(?=\S)([^_\n]+?)(?<=\S)_(?![\w_])")
_EMOJI: Final = re.compile(r"(?<!\w):[a-z][a-z0-9_+'-]*:(?!\w)")
#: Slack sends an emoji by its name; these may be a word of the request.
_NAMED_EMOJI: Final = {
    **dict.fromkeys(("snowflake", "ice_cube", "cold_face", "lock", "closed_lock_with_key"), "❄"),
    **dict.fromkeys(("unlock", "arrow_forward"), "🔓"),
    **dict.fromkeys(("double_vertical_bar", "pause_button"), "⏸"),
    **dict.fromkeys(("skull", "skull_and_crossbones", "coffin", "headstone", "wastebasket"), "💀"),
    **dict.fromkeys(("no_entry", "no_entry_sign", "x", "negative_squared_cross_mark"), "🚫"),
    **dict.fromkeys(("arrow_right", "arrow_right_hook"), "→"),
    **dict.fromkeys(("large_green_circle", "white_check_mark", "heavy_check_mark", "sunny", "fire"), "✅"),
    "credit_card": "💳",
    "link": "🔗",
    "eyes": "👀",
    "mag": "🔍",
    "heavy_plus_sign": "➕",
    "heavy_minus_sign": "➖",
}
_HEXES: Final = re.compile(r"0[xX][0-9a-fA-F]{6,}")
_BLANK: Final = re.compile(r"\s{2,}")
_GROUPS: Final = re.compile(r"(?<![+0-9])[0-9]+(?:[ .\-–]{1,2}[0-9]+)*")
_SHORTEST_NUMBER: Final = 13
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
#: "Please" of Lagos; a name is written with a capital.
_PLEASE: Final = re.compile(r"(?<![\w@.-])(?:[Aa]beg|biko)(?![\w@-]|\.\w)")


@dataclass(frozen=True, slots=True)
class Clean:
    """`doubts` are sentences: while there is one, no form opens. `guarded` = a card number was cut out.
    `below_a_quote` = it is what the writer says below somebody else's words, which were left out."""

    text: str
    doubts: tuple[str, ...] = ()
    guarded: bool = False
    too_long: bool = False
    below_a_quote: bool = False


def clean(raw: str, our_id: str = "") -> Clean:
    """The text to read. Never raises; a text above `MOST_CHARS` is not read at all."""
    if len(raw) > MOST_CHARS:
        return Clean("", (f"That is longer than {MOST_CHARS:,} characters.",), too_long=True)
    doubts: list[str] = []
    text = unicodedata.normalize("NFC", raw.replace("\r\n", "\n").replace("\r", "\n"))
    text = _folded(_without_hidden(_CODE.sub(_code, text).translate(_PLAIN), doubts))
    text = _MARKUP.sub(lambda found: _markup(found[1], our_id, doubts), text)
    text = text.replace("§", " ")  # the sign that will stand for what is found
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    _look_at_scripts(text, doubts)
    text, guarded = _guard(text)
    if guarded:
        doubts.append(
            "This held what looks like a full card number. It was not kept: please delete your message, and name"
            " the card by its last four digits."
        )
    text = _WHOLE.sub(f" {QUOTED} ", text)
    if _GOES_ON_BELOW.match(text):
        doubts.append("What stands below the quote may be part of it. Say it again without the quote.")
    if _ENDS_A_QUOTE.search(text):
        doubts.append("A quotation mark stands alone, so that I can't tell which words are yours.")
    own = _below_a_quote(text)
    text = own or text
    for pattern in (_STRUCK, _QUOTE_LINE, _DOUBLE, _SINGLE):
        text = pattern.sub(f" {QUOTED} " if pattern is not _STRUCK else " ", text)
    text = _ITALIC.sub(r"\1", _BOLD.sub(r"\1", _EMOJI.sub(_emoji, text)))
    text = _PLEASE.sub("please", text)
    return Clean(_folded(text), tuple(dict.fromkeys(doubts)), guarded, below_a_quote=bool(own))


def _folded(text: str) -> str:
    """Two blanks or two ends of line at most in a row: every look for a word begins again at each of them."""
    return _BLANK.sub(lambda found: "\n" * min(found[0].count("\n"), 2) or "  ", text)


def _below_a_quote(text: str) -> str:
    """What the writer says below quoted lines, with the one hash of theirs where it has none; empty where the quote
    may go on in it. A hash is a fact, whoever wrote it down."""
    found = _ABOVE.match(text)
    if found is None or _GOES_ON.search(found["quoted"]) or _QUOTE_LINE.search(found["own"]):
        return ""
    hashes = dict.fromkeys(_A_HASH.findall(found["quoted"]))
    if len(hashes) == 1 and not _HEXES.search(found["own"]):
        return f"{found['own'].rstrip()}\n{next(iter(hashes))}"
    return found["own"]


def _code(found: re.Match[str]) -> str:
    """A lone hash, reference or number in backticks is still one; anything longer is evidence."""
    inside = found[1] if found[1] is not None else found[2]
    return f" {inside.strip()} " if _LONE.fullmatch(inside) else f" {QUOTED} "


def _without_hidden(text: str, doubts: list[str]) -> str:
    """Without what nobody sees. Only what joins or colours an emoji is no reason to doubt."""
    if text.isascii() and (text.isprintable() or not _CONTROL.search(text)):
        return text
    if _CONTROL.search(text) or _UNSEEN.search(text) or _MISJOINED.search(text):
        doubts.append("There are invisible characters in it. Type it again by hand.")
    kept = (c for c in text if c == "\n" or unicodedata.category(c) not in _HIDDEN)
    return _UNSEEN.sub("", _SELECTOR.sub("", "".join(kept)))


def _markup(inside: str, our_id: str, doubts: list[str]) -> str:
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return " " if target[1:] == our_id else f" {target} "
    if target.startswith(("#", "!")):
        return " "
    for scheme in ("tel:", "mailto:"):
        if target.startswith(scheme):
            target = target.removeprefix(scheme)
            if label and _bare(label) != _bare(target):
                doubts.append("A link in it shows something else than it leads to. Write it out.")
            return f" {target} "
    if label and _says_otherwise(label, target):
        doubts.append("A link in it shows something else than it leads to. Write it out.")
    return f" {target} " if "://" in target else f"<{inside}>"


def _emoji(found: re.Match[str]) -> str:
    return f" {_NAMED_EMOJI.get(found[0].strip(':'), '')} "


def _bare(text: str) -> str:
    return re.sub(r"[\s().\-/]", "", text).lower()


def _says_otherwise(label: str, target: str) -> bool:
    """Does the label hold a hash or a number that the target does not?"""
    shown = re.findall(r"0[xX][0-9a-fA-F]+|\d{2,}", label)
    return any(value.lower() not in target.lower() for value in shown)


def _look_at_scripts(text: str, doubts: list[str]) -> None:
    if text.isascii():
        return
    if any(c.isnumeric() and not c.isascii() for c in text):
        doubts.append("There are digits of another script in it. Write numbers with 0 to 9.")
    for word in _WORD.findall(text):
        scripts = {_script(c) for c in word}
        if (len(scripts) > 1 and "LATIN" in scripts) or "FULLWIDTH" in scripts or "MATHEMATICAL" in scripts:
            doubts.append("A word in it mixes letters that only look alike. Type it again by hand.")
            return


def _script(char: str) -> str:
    return "LATIN" if char.isascii() else unicodedata.name(char, "?").split()[0]


def _guard(text: str) -> tuple[str, bool]:
    """Cut out what could be a card number: 13 to 19 digits in groups that pass Luhn."""
    shadow = _HEXES.sub(lambda found: "x" * len(found[0]), text)
    if not shadow.isascii():
        shadow = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in shadow)
    spans = [
        run.span()
        for run in _GROUPS.finditer(shadow)
        if len(run[0]) >= _SHORTEST_NUMBER and holds_card_number(re.findall("[0-9]+", run[0]))
    ]
    for start, end in reversed(spans):
        text = f"{text[:start]} {GUARDED} {text[end:]}"
    return text, bool(spans)
