"""The builders of blocks, one by one: what is cleaned, escaped and cut, and where Slack's limits are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from bot.domain.sentences import UNSEEN
from handlers.views import blocks

JOINER = "\N{WORD JOINER}"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("as it is: é 中 1", "as it is: é 中 1"),
        ("a\r\nb\nc\u2028d\u2029e", "a\nb\nc\nd\ne"),
        ("a\tb\n", "a b\n"),
        ("a\x00\x1b\x7f\x85b\r", "ab"),  # control characters
        ("a\u200b\u202e\u2066\ufeffb", "ab"),  # of no width, or of direction
        ("a\ud800b", "ab"),  # half a character
        ("a\ue000b", "ab"),  # what only some font knows
        ("a\u0378b", "ab"),  # what is no character yet
        (f"a{''.join(sorted(UNSEEN))}b", "ab"),
        ("\u00a0", "\u00a0"),
    ],
)
def test_nothing_unseen_stays_in_a_text_and_each_line_break_is_one(text: str, clean: str) -> None:
    assert blocks.clean(text) == clean


def test_each_character_nobody_sees_is_dropped_also_where_all_others_can_be_printed() -> None:
    for character in UNSEEN:
        assert blocks.clean(f"a{character}b") == "ab"


@pytest.mark.parametrize(
    ("text", "cut"), [("", ""), ("abcd", "abcd"), ("abcde", "abc…"), ("ab  ef", "ab…"), ("     ", "…")]
)
def test_a_text_is_cut_to_four_with_a_sign_that_it_was(text: str, cut: str) -> None:
    assert blocks.cut(text, 4) == cut


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("123456789012", "123456789012"),
        ("1234567890123", "12345678901…"),
        ("see <@U1234567>", "see…"),
        ("<@U123456> abc", "<@U123456>…"),
        ("<a> <b> <cdef>", "<a> <b>…"),
        ("12345678 &amp; x", "12345678…"),
        ("1234 &amp; 12345", "1234 &amp;…"),
        ("a &lt; &amp; bcd", "a &lt;…"),
    ],
)
def test_no_half_of_an_entity_or_a_mention_stays_where_a_sentence_is_cut(text: str, cut: str) -> None:
    assert blocks.mrkdwn(text, 12) == {"type": "mrkdwn", "text": cut, "verbatim": True}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a & b < c", "a &amp; b &lt; c"),
        ("> quote", f"{JOINER}&gt; quote"),
        ("a\nb", "a b"),
        (":tada: 10:30:00 x", f":{JOINER}tada: 10:30:00 x"),
        ("http://x.com", f"http:{JOINER}//x.{JOINER}com"),
        ("www.a", f"www.{JOINER}a"),
        ("1.50 a.b", "1.50 a.b"),
        ("snake_case", "snake_case"),
        (
            "at 2026-03-02 09:00 UTC",
            "at <!date^1772442000^{date_short_pretty} at {time}|2026-03-02 09:00 UTC>",
        ),
        (
            "2026-03-02 at 09:00:01 UTC",
            "<!date^1772442001^{date_short_pretty} {time_secs}|2026-03-02 09:00 UTC>",
        ),
        ("2026-13-02 09:00 UTC", "2026-13-02 09:00 UTC"),
    ],
)
def test_what_others_write_has_no_power_in_a_sentence(written: str, shown: str) -> None:
    assert blocks.esc(written) == shown


def test_our_code_stays_code_in_our_sentences_and_nothing_else_is() -> None:
    tick = blocks.esc("`")
    assert tick != "`"
    assert blocks.said("type `/card list` and `rm -rf`") == f"type `/card list` and {tick}rm -rf{tick}"
    assert blocks.said("a\nb") == "a b"
    assert blocks.said_in_lines("a `x`\r\n> `keys rewrap`") == f"a {tick}x{tick}\n{JOINER}&gt; `keys rewrap`"


def test_counts_are_said_with_their_word() -> None:
    assert [blocks.counted(n, "approval") for n in (0, 1, 2, 1200)] == [
        "0 approvals",
        "1 approval",
        "2 approvals",
        "1,200 approvals",
    ]


@pytest.mark.parametrize(
    ("slack_id", "mention", "calling", "channel"),
    [
        ("U0BOB", "<@U0BOB>", "<@U0BOB>", None),
        ("W0BOB", "<@W0BOB>", "<@W0BOB>", None),
        ("S0GROUP", "S0GROUP", "<!subteam^S0GROUP>", None),
        ("C0OPS", "C0OPS", "C0OPS", "<#C0OPS>"),
        ("D0OPS", "D0OPS", "D0OPS", "<#D0OPS>"),
        ("G0OPS", "G0OPS", "G0OPS", "<#G0OPS>"),
        ("<!here>", "&lt;!here&gt;", "&lt;!here&gt;", None),
        ("U0BOB>", "U0BOB&gt;", "U0BOB&gt;", None),
        ("#approvals", "#approvals", "#approvals", None),
    ],
)
def test_only_an_id_of_slack_becomes_a_mention(
    slack_id: str, mention: str, calling: str, channel: str | None
) -> None:
    assert blocks.mention(slack_id) == mention
    assert blocks.calling(slack_id) == calling
    assert blocks.channel(slack_id) == (channel or "the approvals channel")


def test_several_are_called_in_one_line() -> None:
    assert blocks.calls(["S0GROUP", "U0BOB"]) == "<!subteam^S0GROUP> <@U0BOB>"


def test_every_first_line_says_whether_real_money_moves() -> None:
    assert [blocks.money(live, draft_only=only) for live in (True, False) for only in (False, True)] == [
        *("LIVE", "DRAFT ONLY · LIVE", "SANDBOX", "DRAFT ONLY · SANDBOX"),
    ]
    assert (blocks.money(True), blocks.money(False)) == ("LIVE", "SANDBOX")


def test_a_moment_is_one_moment_wherever_its_clock_stands() -> None:
    at = datetime(2026, 3, 2, 9, 0, 0, 999_999, tzinfo=UTC)
    assert blocks.when(at) == "<!date^1772442000^{date_short_pretty} at {time}|2026-03-02 09:00 UTC>"
    assert blocks.when(at.replace(tzinfo=UTC), "{time}") == "<!date^1772442000^{time}|2026-03-02 09:00 UTC>"
    assert blocks.when(at + timedelta(seconds=1)).startswith("<!date^1772442001^")
    assert blocks.when(at.astimezone(timezone(timedelta(hours=2)))).startswith("<!date^1772442000^")


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _marked(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def test_no_text_is_empty_and_each_is_as_long_as_slack_takes_at_most() -> None:
    assert blocks.plain(" \u200b ", 10) == _plain("–")
    assert blocks.plain(" x\u200b<b> ", 10) == _plain("x<b>")
    assert blocks.mrkdwn("") == _marked("–")
    long = "x" * 20_000
    longest = {
        3000: blocks.section(long)["text"]["text"],
        2999: blocks.plain_section(long[:2999])["text"]["text"],
        150: blocks.header(long)["text"]["text"],
        2000: blocks.context(long)["elements"][0]["text"],
        75: blocks.button(long, "a")["text"]["text"],
    }
    assert {most: len(text) for most, text in longest.items()} == {most: most for most in longest}
    assert len(blocks.plain_section(long)["text"]["text"]) == 3000
    assert len(blocks.option(long, "v", long)["description"]["text"]) == 75
    assert len(blocks.option(long, "v")["text"]["text"]) == 75
    assert len(blocks.select("a", long, [])["placeholder"]["text"]) == 150
    field = blocks.field("b", long, {}, hint=long)
    assert (len(field["label"]["text"]), len(field["hint"]["text"])) == (2000, 2000)
    view = blocks.modal("c", long, [], submit=long, close=long)
    assert [len(view[name]["text"]) for name in ("title", "submit", "close")] == [24, 24, 24]
    assert len(blocks.message(long, [])["text"]) == 3000
    (pair,) = blocks.pairs([(long, long)])
    assert [len(one["text"]) for one in pair["fields"]] == [2000, 2000]
    ((_, cell), _) = zip(*(row for row in blocks.table(["a", "b"], [[long, "c"]])["rows"]), strict=True)
    assert len(cell["text"]) == 120


def test_each_builder_makes_the_block_that_slack_knows() -> None:
    assert blocks.header(" a \n b ") == {"type": "header", "text": _plain("a b")}
    button = blocks.button("Go", "act")
    assert button == {"type": "button", "text": _plain("Go"), "action_id": "act"}
    assert blocks.button("Go", "act", "v", "primary") == {**button, "value": "v", "style": "primary"}
    assert blocks.section("*a*") == {"type": "section", "text": _marked("*a*")}
    assert blocks.section("a", button) == {"type": "section", "text": _marked("a"), "accessory": button}
    assert blocks.plain_section("*a*") == {"type": "section", "text": _plain("*a*")}
    assert blocks.context("a") == {"type": "context", "elements": [_marked("a")]}
    option = blocks.option("A", "a")
    assert option == {"text": _plain("A"), "value": "a"}
    assert blocks.option("A", "a", "more") == {**option, "description": _plain("more")}
    assert blocks.overflow("o", (option,)) == {"type": "overflow", "action_id": "o", "options": [option]}
    assert blocks.select("s", "Choose", (option,)) == {
        "type": "static_select",
        "action_id": "s",
        "placeholder": _plain("Choose"),
        "options": [option],
    }
    assert blocks.actions((button,)) == {"type": "actions", "elements": [button]}
    assert blocks.actions((button,), "b") == {"type": "actions", "elements": [button], "block_id": "b"}
    field = blocks.field("amount", "Amount", {"type": "plain_text_input", "action_id": "other"})
    assert field == {
        "type": "input",
        "block_id": "amount",
        "label": _plain("Amount"),
        "element": {"type": "plain_text_input", "action_id": "value"},
        "optional": False,
    }
    hinted = blocks.field("amount", "Amount", field["element"], hint="In USD", optional=True)
    assert hinted == {**field, "optional": True, "hint": _plain("In USD")}
    modal = blocks.modal("c", "Title", [field])
    assert modal == {
        "type": "modal",
        "callback_id": "c",
        "title": _plain("Title"),
        "close": _plain("Close"),
        "blocks": [field],
        "private_metadata": "",
    }
    submitted = blocks.modal("c", "Title", [field], submit="Send", close="Back", meta="R-1")
    assert submitted == {
        **modal,
        "submit": _plain("Send"),
        "close": _plain("Back"),
        "private_metadata": "R-1",
    }
    assert blocks.message(" a ", [button]) == {"text": "a", "blocks": [button]}
    assert blocks.message(" ", [])["text"] == "–"


def test_labels_and_values_stand_five_pairs_to_a_section_and_times_are_the_readers() -> None:
    lines = [(f"L{n}", f"*{n}*") for n in range(6)]
    first, second = blocks.pairs(lines)
    assert first["type"] == second["type"] == "section"
    assert first["fields"] == [one for n in range(5) for one in (_marked(f"*L{n}*"), _plain(f"*{n}*"))]
    assert second["fields"] == [_marked("*L5*"), _plain("*5*")]
    (timed,) = blocks.pairs([("<At>", "2026-03-02 09:00 UTC")])
    assert timed["fields"][0] == _marked("*&lt;At&gt;*")
    assert timed["fields"][1]["text"].startswith("<!date^1772442000^")
    assert blocks.pairs([]) == []


def _texts(table: dict[str, Any]) -> list[list[str]]:
    return [[cell["text"] for cell in row] for row in table["rows"]]


def test_a_column_of_figures_stands_on_the_right_and_no_cell_is_empty() -> None:
    rows = [("Ann", "1,000.50 USD", "–", "5 %", "1"), ("", "−2", "unknown", " 7 ", "x")]
    table = blocks.table(("Name", "Sum", "Old", "Part", "Mixed"), rows)
    assert table["type"] == "table"
    assert _texts(table)[1:] == [[*rows[0]], ["–", "−2", "unknown", "7", "x"]]
    assert {cell["type"] for row in table["rows"] for cell in row} == {"raw_text"}
    sides = [each["align"] for each in table["column_settings"]]
    assert sides == ["left", "right", "left", "right", "left"]
    assert "column_settings" not in blocks.table(("Name",), [("Ann",)])


def test_the_first_row_below_the_head_counts_for_where_a_column_stands() -> None:
    (right,) = blocks.table(("Sum",), [("12.00",)])["column_settings"]
    assert right == {"align": "right"}
    assert "column_settings" not in blocks.table(("Sum",), [("none of them",), ("12.00",)])


def test_a_table_whose_rows_are_of_different_lengths_is_refused() -> None:
    """Slack would refuse it, or draw a figure below the head of another column."""
    with pytest.raises(ValueError, match=r"shorter|longer"):
        blocks.table(("Name", "Sum"), [("Ann", "1"), ("Bob",)])


def test_a_table_that_fits_to_the_sign_is_not_cut() -> None:
    rows = [("x" * blocks.CELL,)] * (blocks.TABLE_TEXT // blocks.CELL)
    left = blocks.TABLE_TEXT - len(rows) * blocks.CELL
    fits, one_more = (_texts(blocks.table(("h" * head,), rows)) for head in (left, left + 1))
    assert {len(text) for (text,) in fits[1:]} == {blocks.CELL}
    assert {len(text) for (text,) in one_more[1:]} == {blocks.CELL - 4}


def test_cells_are_cut_until_all_of_a_table_fits() -> None:
    whole = blocks.table(("h",), [("x" * 200,)] * 58)
    assert {len(text) for (text,) in _texts(whole)[1:]} == {120}
    for count in (59, 100, 500):
        texts = [text for (text,) in _texts(blocks.table(("h",), [("x" * 200,)] * count))]
        (length,) = {len(text) for text in texts[1:]}
        assert sum(map(len, texts)) <= 7000 < (length + 4) * count + 1
    assert {len(text) for (text,) in _texts(blocks.table(("h",), [("x" * 200,)] * 3000))[1:]} == {4}


def test_what_does_not_fit_is_left_out_before_the_last_block_which_says_so() -> None:
    some = [blocks.section(f"{n}") for n in range(60)]
    last = blocks.actions([blocks.button("Go", "act")])
    kept = blocks.fit([*some, last], 50)
    assert (len(kept), kept[:48], kept[-1]) == (50, some[:48], last)
    assert "Shortened" in kept[48]["elements"][0]["text"]
    assert blocks.fit([*some[:49], last], 50) == [*some[:49], last]
    assert len(blocks.message("a", some)["blocks"]) == 50
    assert len(blocks.modal("c", "t", [*some, *some])["blocks"]) == 100


def test_all_texts_of_a_message_together_are_as_long_as_slack_takes() -> None:
    long = [blocks.section("x" * 2500) for _ in range(4)]
    assert blocks.fit(long, 50) == long
    one_more = blocks.fit([*long, blocks.section("y")], 50)
    assert [blocks.weight(block) for block in one_more] == [2500, 2500, 2500, 57, 1]
    assert blocks.fit(long, 50, 9_999)[-1] == long[-1]
    assert len(blocks.fit(long, 50, 9_999)) == 4
    exact = blocks.fit([*long, blocks.section("y")], 50, 2500 + 57 + 1)
    assert [blocks.weight(block) for block in exact] == [2500, 57, 1]


def test_a_block_weighs_what_is_read_in_it() -> None:
    assert blocks.weight(blocks.section("abc", blocks.button("de", "action", "value"))) == 5
    assert blocks.weight([blocks.context("abc"), {"text": 7}, "text", None]) == 3
