"""The few builders every view uses: they clean, escape and cut, so that no view has to think of it.

Text of people reaches Slack as `plain_text` wherever it can. Where it stands within a sentence of ours
it goes through `esc`, exactly once, and the sentence is `verbatim`: Slack then turns nothing in it into
a link, a channel or a mention that we did not write as one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from bot.domain.sentences import SHOWN_FOR, UNSEEN

Block = dict[str, Any]
Line = tuple[str, str]

# Slack's limits (Block Kit reference).
MESSAGE_BLOCKS: Final = 50
VIEW_BLOCKS: Final = 100
SECTION: Final = 3000
FIELD: Final = 2000
HEADER: Final = 150
BUTTON: Final = 75
OPTION: Final = 75
PLACEHOLDER: Final = 150
TITLE: Final = 24
# Not documented: Slack answers msg_blocks_too_long somewhere above this sum of all texts.
ALL_TEXT: Final = 10_000
# Slack keeps a message's own text whole up to here.
FALLBACK: Final = 3000
CONTEXT_TEXT: Final = 2000
CELL: Final = 120
# Of all the cells of a table together: the rest of the message needs its room, too.
TABLE_TEXT: Final = 7000
PAIRS_IN_A_SECTION: Final = 5

_SLACK_ID = re.compile(r"[UW][A-Z0-9]{3,20}")
_GROUP_ID = re.compile(r"S[A-Z0-9]{3,20}")
_CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{2,20}")
_LINK_DOTS = re.compile(r"(?<=[^\W_])\.(?=[^\W\d_]{2,})|(?<=\bwww)\.(?=[^\W\d_])", re.IGNORECASE)
_WORD_JOINER = "\N{WORD JOINER}"
# Slack knows no way to write these as themselves, and takes the full-width ones for markup, too. An underscore has no
# power within a word.
_WIDE = {"＊": "*", "～": "~", "｀": "`"}
_LIKE_MARKUP = str.maketrans(
    {sign: SHOWN_FOR[_WIDE.get(sign, sign)] for sign in ("*", "~", *_WIDE)},
)
_LIKE_BACKTICKS = str.maketrans({"`": SHOWN_FOR["`"]})
_UNDERSCORES = re.compile(r"(?<![^\W_])[_＿]|[_＿](?![^\W_])")
_OUR_CODE = re.compile(
    r"(`(?:/(?:card|float|funding|requests|countersign)\b[^`\n]*|countersign [^`\n]+|details\.hosts"
    r"|keys (?:rewrap|verify))`)"
)
# `:name:` is an emoji, also behind a digit where it is no time of day; and `>` at the beginning of a line is a quote.
_EMOJI = re.compile(r"(?P<time>(?<![\w:])[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?![\w:]))|:(?=[\w+'-]+:)")
_QUOTE = re.compile(r"^(?=\s*(?:&gt;|＞))")
# A cell that is an amount or a count, and what stands for one that is not known.
_FIGURE = re.compile(r"[−-]?[0-9][0-9,]*(?:\.[0-9]+)?(?: (?:USD|%))?")
_NO_FIGURE = ("–", "unknown")
# A time as services write it into sentences, which know no reader: 2026-03-02 09:00 UTC.
_UTC_TIME = re.compile(r"\b(\d{4}-\d\d-\d\d) (?:at )?(\d\d:\d\d)(:\d\d)? UTC\b")


def clean(text: str) -> str:
    """Without control, zero-width and direction-changing characters; line breaks and spaces stay plain."""
    if text.isprintable() and UNSEEN.isdisjoint(
        text
    ):  # nearly always, and far quicker than looking at each character
        return text
    text = text.replace("\u2028", "\n").replace("\u2029", "\n").replace("\t", " ")
    return "".join(
        c
        for c in text
        if c == "\n" or (c not in UNSEEN and unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    )


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def esc(text: str) -> str:
    """Text from outside for use inside mrkdwn: in one line, and nothing in it has a power of its own.

    It is cleaned and escaped. Signs of markup become signs that look like them, and addresses, quotes and emoji are
    broken by a character of no width, so that all of it stays readable; `bot.intents` reads both back as they were.
    A time in UTC becomes one in each reader's own time zone.
    """
    return _powerless(_in_one_line(text).translate(_LIKE_BACKTICKS))


def said(text: str) -> str:
    """As `esc`, of a sentence of ours with words of others in it: our commands and settings stay `code`."""
    return _powerless(_code_of_others(_in_one_line(text)))


def said_in_lines(text: str) -> str:
    """As `said`, of a text whose line breaks are ours: words of others in it went through `sentences.quoted`."""
    return "\n".join(map(_powerless, map(_code_of_others, clean(text).split("\n"))))


def _in_one_line(text: str) -> str:
    return clean(text).replace("\n", " ")


def _code_of_others(text: str) -> str:
    """Without the power of backticks that are not around a command or a setting of ours."""
    parts = _OUR_CODE.split(text)
    return "".join(part if n % 2 else part.translate(_LIKE_BACKTICKS) for n, part in enumerate(parts))


def _powerless(line: str) -> str:
    text = _UNDERSCORES.sub(SHOWN_FOR["_"], line.translate(_LIKE_MARKUP))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _QUOTE.sub(_WORD_JOINER, _EMOJI.sub(_no_emoji, text))
    text = text.replace("://", f":{_WORD_JOINER}//")
    return _UTC_TIME.sub(_in_readers_zone, _LINK_DOTS.sub(f".{_WORD_JOINER}", text))


def _no_emoji(found: re.Match[str]) -> str:
    return found["time"] or f":{_WORD_JOINER}"


def _in_readers_zone(found: re.Match[str]) -> str:
    day, minutes, seconds = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{minutes}{seconds or ''}+00:00")
    except ValueError:
        return found[0]  # it only looks like a time
    return when(moment, "{date_short_pretty} {time_secs}" if seconds else "{date_short_pretty} at {time}")


def counted(number: int, word: str) -> str:
    """`1 approval`, `2 approvals`, `1,200 approvals`."""
    return f"{number} {word}" if number == 1 else f"{number:,} {word}s"


def mention(slack_id: str) -> str:
    """`<@U…>`; anything that is no Slack id is shown as text."""
    return f"<@{slack_id}>" if _SLACK_ID.fullmatch(slack_id) else esc(slack_id)


def channel(channel_id: str) -> str:
    """A link to a channel; words where its id is not known yet."""
    return f"<#{channel_id}>" if _CHANNEL_ID.fullmatch(channel_id) else "the approvals channel"


def calling(slack_id: str) -> str:
    """A mention that calls: of a group by its id, else of a person."""
    return f"<!subteam^{slack_id}>" if _GROUP_ID.fullmatch(slack_id) else mention(slack_id)


def calls(slack_ids: Iterable[str]) -> str:
    """Mentions of all of these groups and people: each is notified by a new message."""
    return " ".join(calling(slack_id) for slack_id in slack_ids)


def money(live: bool, *, draft_only: bool = False) -> str:
    """Whether real money moves, as every first line says it; and that nothing is sent at all, where that is so."""
    kind = "LIVE" if live else "SANDBOX"
    return f"DRAFT ONLY · {kind}" if draft_only else kind


def when(moment: datetime, form: str = "{date_short_pretty} at {time}") -> str:
    """A moment in each reader's own time zone, with UTC where Slack cannot draw it."""
    return f"<!date^{int(moment.timestamp())}^{form}|{moment:%Y-%m-%d %H:%M} UTC>"


def plain(text: str, most: int) -> Block:
    """A plain_text object; never empty, which Slack refuses."""
    return {"type": "plain_text", "text": cut(clean(text), most).strip() or "–", "emoji": False}


def mrkdwn(text: str, most: int = SECTION) -> Block:
    """Our own marked-up sentence; what people wrote must have gone through `esc` before."""
    return {"type": "mrkdwn", "text": _cut_markup(text, most) or "–", "verbatim": True}


def _cut_markup(text: str, most: int) -> str:
    """Cut without leaving half an entity or half a `<…>` behind."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    if kept.rfind("<") > kept.rfind(">"):
        kept = kept[: kept.rfind("<")]
    if kept.rfind("&") > kept.rfind(";"):
        kept = kept[: kept.rfind("&")]
    return kept.rstrip() + "…"


def header(text: str) -> Block:
    return {"type": "header", "text": plain(" ".join(text.split()), HEADER)}


def section(text: str, accessory: Block | None = None) -> Block:
    block: Block = {"type": "section", "text": mrkdwn(text)}
    return {**block, "accessory": accessory} if accessory else block


def plain_section(text: str, most: int = SECTION) -> Block:
    """What a person wrote, as they wrote it."""
    return {"type": "section", "text": plain(text, most)}


def context(text: str) -> Block:
    return {"type": "context", "elements": [mrkdwn(text, CONTEXT_TEXT)]}


def pairs(lines: Sequence[Line]) -> list[Block]:
    """Label and value side by side; values are plain text, so they may come from anywhere, but for times in them."""
    blocks: list[Block] = []
    for start in range(0, len(lines), PAIRS_IN_A_SECTION):
        fields: list[Block] = []
        for label, value in lines[start : start + PAIRS_IN_A_SECTION]:
            shown = mrkdwn(esc(value), FIELD) if _UTC_TIME.search(value) else plain(value, FIELD)
            fields += [mrkdwn(f"*{esc(label)}*", FIELD), shown]
        blocks.append({"type": "section", "fields": fields})
    return blocks


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Block:
    """A native table; the first row is its head. Long cells are cut until the whole fits a message.

    A column of nothing but figures stands on the right, so that they can be compared.
    """
    texts = [[clean(cell).strip() or "–" for cell in row] for row in (head, *rows)]
    most = _widest(texts)
    cells = [[{"type": "raw_text", "text": cut(text, most)} for text in row] for row in texts]
    found: Block = {"type": "table", "rows": cells}
    aligns = [_align(column) for column in zip(*texts[1:], strict=True)]
    return {**found, "column_settings": aligns} if any(each["align"] == "right" for each in aligns) else found


def _align(column: Sequence[str]) -> Block:
    figures = [bool(_FIGURE.fullmatch(text)) for text in column if text not in _NO_FIGURE]
    return {"align": "right" if figures and all(figures) else "left"}


def _widest(texts: Sequence[Sequence[str]]) -> int:
    """How long a cell may be for all of them to fit."""
    lengths = [len(text) for row in texts for text in row]
    return next(
        (most for most in range(CELL, 4, -4) if sum(min(length, most) for length in lengths) <= TABLE_TEXT), 4
    )


def button(text: str, action_id: str, value: str = "", style: str = "") -> Block:
    element: Block = {"type": "button", "text": plain(text, BUTTON), "action_id": action_id}
    if value:
        element["value"] = value
    if style:
        element["style"] = style
    return element


def option(text: str, value: str, description: str = "") -> Block:
    found: Block = {"text": plain(text, OPTION), "value": value}
    return {**found, "description": plain(description, OPTION)} if description else found


def overflow(action_id: str, options: Sequence[Block]) -> Block:
    return {"type": "overflow", "action_id": action_id, "options": list(options)}


def select(action_id: str, placeholder: str, options: Sequence[Block]) -> Block:
    return {
        "type": "static_select",
        "action_id": action_id,
        "placeholder": plain(placeholder, PLACEHOLDER),
        "options": list(options),
    }


def actions(elements: Sequence[Block], block_id: str = "") -> Block:
    block: Block = {"type": "actions", "elements": list(elements)}
    return {**block, "block_id": block_id} if block_id else block


def field(block_id: str, label: str, element: Block, *, hint: str = "", optional: bool = False) -> Block:
    """An input block; its element is always called `value`."""
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": plain(label, 2000),
        "element": {**element, "action_id": "value"},
        "optional": optional,
    }
    return {**block, "hint": plain(hint, 2000)} if hint else block


def modal(
    callback_id: str,
    title: str,
    blocks: Sequence[Block],
    *,
    submit: str = "",
    close: str = "Close",
    meta: str = "",
) -> Block:
    """A modal. `meta` goes to private_metadata and holds ids only."""
    view: Block = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain(title, TITLE),
        "close": plain(close, TITLE),
        "blocks": fit(blocks, VIEW_BLOCKS),
        "private_metadata": meta,
    }
    return {**view, "submit": plain(submit, TITLE)} if submit else view


def message(text: str, blocks: Sequence[Block]) -> Block:
    """A message with its fallback text; `text` is mrkdwn, so it must be escaped already."""
    return {"text": _cut_markup(text, FALLBACK).strip() or "–", "blocks": fit(blocks, MESSAGE_BLOCKS)}


def fit(blocks: Sequence[Block], most: int, room: int = ALL_TEXT) -> list[Block]:
    """As many blocks as Slack takes, the last one (the buttons, if any) always among them.

    `room`: how many characters they may have in all, where others stand beside them.
    """
    blocks = list(blocks)
    if len(blocks) <= most and sum(map(weight, blocks)) <= room:
        return blocks
    shortened = context("Shortened: there is more than Slack shows in one message.")
    last = blocks[-1]
    room -= weight(last) + weight(shortened)
    kept: list[Block] = []
    for block in blocks[:-1]:
        room -= weight(block)
        if room < 0 or len(kept) + 2 >= most:
            break
        kept.append(block)
    return [*kept, shortened, last]


def weight(value: Any) -> int:
    """Characters of all texts in a block."""
    if isinstance(value, dict):
        return sum(len(v) if k == "text" and isinstance(v, str) else weight(v) for k, v in value.items())
    if isinstance(value, list):
        return sum(map(weight, value))
    return 0
