"""What others write never looks like ours: a view has the markup, lines and fields that it has with harmless text."""

from __future__ import annotations

import ast
import os
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.domain.alerts import delivery_alerts
from bot.domain.sentences import as_written, quoted
from handlers.commands import grammar
from handlers.views import blocks as b
from tests.handlers.every_view import MESSAGES, VIEWS

ROOT = Path(__file__).parents[2]
ALL = {**MESSAGES, **VIEWS}
SEED = int(os.environ.get("SEED", "20261123"))
STRINGS = 100_000
PROGRESS = 2_000
PIECES = (
    "1:tada:",
    "9:white_check_mark:",
    "5:100:",
    "12:30:00",
    *(
        "*",
        "**",
        "_",
        "__",
        "~",
        "`",
        "```",
        ">",
        "&gt;",
        "＞",
        "＊",
        "＿",
        "～",
        "｀",
        "\n",
        "\r\n",
        "\u2028",
        "\t",
    ),
    *(
        "<!channel>",
        "<!here>",
        "<@U0CAROL>",
        "<#C0OPS>",
        "<!subteam^S0ADMINS>",
        "<https://evil.cc|Approve>",
        "<",
        "|",
    ),
    *(
        "https://evil.cc",
        "www.evil.cc",
        "evil.com/x",
        "mailto:a@evil.com",
        ":white_check_mark:",
        ":tada:",
        ":+1:",
        "•",
    ),
    *(
        "*✓ Succeeded.*",
        "\n*Approvals:* 2 of 2",
        "_approved_",
        "~50.00~",
        "`approved`",
        "\u202e",
        "\u200b",
    ),
    *(
        "Marta",
        "UBER",
        "a_b",
        "x*y",
        "O'Brien",
        "Łódź",
        "田中",
        "50.00 USD",
        " ",
        " ",
        "-",
        "••3205",
        "1. ",
        "{}",
        "%s",
    ),
)
OURS = re.compile(r"<(?:!date\^\d+\^[^|<>]*\|[^<>]*|[@#!][^<>]*|https://[^<>]*)>")
LINK = re.compile(r"(?i)https?://|\bwww\.[a-z]|[a-z0-9]\.(?:cc|com)\b")
#: Behind a digit as well, but for what is a time of day: 12:30:00.
EMOJI = re.compile(r"(?<![\w:])[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?![\w:])|(?P<emoji>:[a-z0-9_+'-]+:)")
BOUNDARY_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")


def hostile(chance: random.Random) -> str:
    text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 6)))
    return f"{text}X"[-40:]  # something to see, and short enough for nothing to be cut


def marked_texts(value: Any) -> Iterator[str]:
    """Texts in which Slack looks for markup: mrkdwn objects, and the fallback of a message."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str) and value.get("type") in ("mrkdwn", None):
            yield value["text"]
        for inner in value.values():
            yield from marked_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from marked_texts(inner)


def headers(value: Any) -> Iterator[str]:
    for block in value.get("blocks", ()):
        if block["type"] == "header":
            yield block["text"]["text"]


def signature(drawn: dict[str, Any]) -> list[object]:
    """All of a view that has a power: blocks and fields by kind, and the signs of markup in each text."""
    kinds = [(block["type"], len(block.get("fields", ()))) for block in drawn.get("blocks", ())]
    signs = []
    for text in marked_texts(drawn):
        rest, ours = OURS.sub("", text), len(OURS.findall(text))
        quotes = sum(line.startswith(("&gt;", ">", "＞")) for line in text.split("\n"))
        powers = [rest.count(sign) for sign in ("*", "~", "`", "\n", "<", ">", "＊", "～", "｀", "\u2028")]
        emoji = sum(one["emoji"] is not None for one in EMOJI.finditer(rest))
        found = (len(BOUNDARY_UNDERSCORE.findall(rest)), emoji, len(LINK.findall(rest)))
        signs.append((ours, quotes, *powers, *found))
    return [kinds, signs, [text.count("\n") for text in headers(drawn)]]


def reaches(name: str, text: str) -> str:
    """How the text gets to a view: into the text of an alert or a hand-over quoted."""
    return quoted(text) if name.startswith(("alert", "handover")) else text


def found_wrong(name: str, text: str, harmless: list[object]) -> str:
    try:
        drawn = ALL[name](reaches(name, text))
        if signature(drawn) == harmless or any("Shortened: " in shown for shown in marked_texts(drawn)):
            return ""
    except Exception as error:  # noqa: BLE001 - whatever a view does not survive
        return f"{name}: {error!r} at {text!r}"
    return f"{name}: other markup than with harmless text at {text!r}"


def walked(strings: int, seed: int) -> tuple[int, list[str]]:
    """Draw every view with so many strings; returns how many were drawn, and the first of what is wrong."""
    chance, wrong, drawn = random.Random(seed), list[str](), 0
    harmless = {name: signature(ALL[name]("Marta Kowalska")) for name in ALL}
    for number in range(strings):
        if number and number % PROGRESS == 0:
            print(f"{number} strings, {drawn} views, {len(wrong)} wrong, seed {seed}", flush=True)
        text = hostile(chance)
        for name in ALL:
            drawn += 1
            if said := found_wrong(name, text, harmless[name]):
                wrong.append(said)
        if len(wrong) > 20:
            break
    return drawn, wrong


def test_no_markup_link_mention_line_or_field_comes_from_what_others_write() -> None:
    drawn, wrong = walked(25, SEED)

    assert wrong == []
    assert drawn == 25 * len(ALL)


@pytest.mark.parametrize("text", ["`a_b`", "`www.evil.cc`", "`countersign.toml`", "`approved`"])
def test_what_others_write_between_backticks_is_no_code(text: str) -> None:
    harmless = {name: signature(ALL[name]("Marta Kowalska")) for name in ALL}

    assert [said for name in ALL if (said := found_wrong(name, text, harmless[name]))] == []


def sentences(folder: str) -> Iterator[str]:
    """The texts in the code of a folder, without docstrings; what is put into them stands as X."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text())
        aside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                aside.update(map(id, node.values))
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in aside:
                yield node.value


@pytest.mark.parametrize("folder", ["bot/services", "bot/operations"])
def test_what_our_sentences_have_between_backticks_is_shown_as_code(folder: str) -> None:
    found = {code for text in sentences(folder) for code in re.findall(r"`[^`\n]+`", text)}

    assert found
    assert {code for code in found if b.said(code).count("`") != 2} == set()


@pytest.mark.soak
def test_none_comes_from_a_hundred_thousand_hostile_strings_in_every_view() -> None:
    strings, begun = int(os.environ.get("HOSTILE_STRINGS", STRINGS)), time.process_time()

    drawn, wrong = walked(strings, SEED)

    print(
        f"{strings} hostile strings, {drawn} views drawn in {time.process_time() - begun:.0f} s, seed {SEED}"
    )
    assert wrong == []


@pytest.mark.parametrize(
    "name",
    [
        "*MARTA* KOWALSKA",
        "UBER *TRIP",
        "_J_ ~X~ `Y`",
        "WWW.EVIL.CC/X",
        "O'BRIEN > SONS",
        ":tada: SHOP",
        "A*B_C",
        "田中_",
    ],
)
def test_a_name_that_is_copied_from_a_message_has_the_same_letters(name: str) -> None:
    shown = b.esc(name).replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")

    assert as_written(shown) == name
    assert grammar.from_slash("/card", f"show {shown}") == grammar.from_slash("/card", f"show {name}")
    letters = [character for character in shown if character.isalnum()]
    assert letters == [character for character in name if character.isalnum()]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("*bold*", "∗bold∗"),
        ("a_b and _i_", "a_b and ▁i▁"),
        ("one\n*Approvals:* 2 of 2", "one ∗Approvals:∗ 2 of 2"),
        ("`x`", "‵x‵"),
        ("08:31:12", "08:31:12"),
        (":tada:", ":\u2060tada:"),
        ("> quoted", "\u2060&gt; quoted"),
    ],
)
def test_signs_are_readable_and_have_no_power(written: str, shown: str) -> None:
    assert b.esc(written) == shown


def test_in_a_sentence_of_ours_our_lines_and_our_code_stay() -> None:
    assert b.said_in_lines("First.\nType `/float`, *now*.") == "First.\nType `/float`, ∗now∗."


def test_of_what_others_write_not_even_our_commands_are_code() -> None:
    said = delivery_alerts.SLACK_ACCESS.says(faults="`/countersign resume`\nnow")

    assert "‵/countersign resume‵ now" in said.text
    assert b.esc("`/countersign resume`") == "‵/countersign resume‵"
