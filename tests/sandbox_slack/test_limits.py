"""Every limit of Block Kit: what is just allowed, what is just too much, and Slack's words for it.

A second opinion comes from Slack's own Python models, where they check the same thing.
"""

from typing import Any

import pytest
from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from sandbox.slack.block_kit import limits
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import amount_input, button, modal, text

Json = dict[str, Any]


def _section(words: str = "x", **fields: Any) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words}, **fields}


def _options(count: int, words: str = "x", value: str = "") -> list[Json]:
    return [{"text": text(words), "value": value or str(n)} for n in range(count)]


def _select(**fields: Any) -> Json:
    return _section(accessory={"type": "static_select", "action_id": "a", **fields})


def _choice(kind: str, count: int) -> Json:
    return _section(accessory={"type": kind, "action_id": "a", "options": _options(count)})


def _table(rows: int, columns: int, **fields: Any) -> Json:
    row = [{"type": "raw_text", "text": "x"}] * columns
    return {"type": "table", "rows": [row] * rows, **fields}


def _data_table(rows: int, columns: int = 2, **fields: Any) -> Json:
    return {**_table(rows, columns), "type": "data_table", "caption": "c", **fields}


def _pie(segments: int, title: str = "t") -> Json:
    parts = [{"label": str(n), "value": n} for n in range(segments)]
    return {"type": "data_visualization", "title": title, "chart": {"type": "pie", "segments": parts}}


def _many(block: Json, count: int) -> list[Json]:
    return [block] * count


def _confirm(**fields: Any) -> Json:
    confirm = {"title": text("T"), "text": text("x"), "confirm": text("Yes"), "deny": text("No"), **fields}
    return button(confirm=confirm)


def _input(**element: Any) -> Json:
    return {**amount_input(**element)}


#: (what is allowed, what is one too much, where, Slack's words)
MESSAGE: list[tuple[str, list[Json], list[Json], str, str]] = [
    ("blocks", _many(_section(), 50), _many(_section(), 51), "no more than 50 items allowed", "/blocks"),
    (
        "section",
        [_section("x" * 3000)],
        [_section("x" * 3001)],
        "must be less than 3001 characters",
        "/blocks/0/text/text",
    ),
    ("empty", [_section("x")], [_section("")], "must be more than 0 characters", "/blocks/0/text/text"),
    (
        "fields",
        [_section(fields=[text("x")] * 10)],
        [_section(fields=[text("x")] * 11)],
        "no more than 10 items allowed",
        "/blocks/0/fields",
    ),
    (
        "field",
        [_section(fields=[text("x" * 2000)])],
        [_section(fields=[text("x" * 2001)])],
        "must be less than 2001 characters",
        "/blocks/0/fields/0/text",
    ),
    (
        "header",
        [{"type": "header", "text": text("x" * 150)}],
        [{"type": "header", "text": text("x" * 151)}],
        "must be less than 151 characters",
        "/blocks/0/text/text",
    ),
    (
        "header kind",
        [{"type": "header", "text": text("x")}],
        [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
        "unsupported type: mrkdwn",
        "/blocks/0/text/type",
    ),
    (
        "context",
        [{"type": "context", "elements": [text("x")] * 10}],
        [{"type": "context", "elements": [text("x")] * 11}],
        "no more than 10 items allowed",
        "/blocks/0/elements",
    ),
    (
        "button text",
        [button(text=text("x" * 75))],
        [button(text=text("x" * 76))],
        "must be less than 76 characters",
        "/blocks/0/elements/0/text/text",
    ),
    (
        "button value",
        [button(value="x" * 2000)],
        [button(value="x" * 2001)],
        "must be less than 2001 characters",
        "/blocks/0/elements/0/value",
    ),
    (
        "action_id",
        [button("x" * 255)],
        [button("x" * 256)],
        "must be less than 256 characters",
        "/blocks/0/elements/0/action_id",
    ),
    (
        "style",
        [button(style="danger")],
        [button(style="red")],
        "must be one of primary, danger",
        "/blocks/0/elements/0/style",
    ),
    (
        "options",
        [_select(options=_options(100))],
        [_select(options=_options(101))],
        "no more than 100 items allowed",
        "/blocks/0/accessory/options",
    ),
    (
        "option text",
        [_select(options=_options(1, "x" * 75))],
        [_select(options=_options(1, "x" * 76))],
        "must be less than 76 characters",
        "/blocks/0/accessory/options/0/text/text",
    ),
    (
        "option value",
        [_select(options=_options(1, value="x" * 150))],
        [_select(options=_options(1, value="x" * 151))],
        "must be less than 151 characters",
        "/blocks/0/accessory/options/0/value",
    ),
    (
        "overflow most",
        [_choice("overflow", 5)],
        [_choice("overflow", 6)],
        "no more than 5 items allowed",
        "/blocks/0/accessory/options",
    ),
    (
        "overflow least",
        [_choice("overflow", 2)],
        [_choice("overflow", 1)],
        "no fewer than 2 items allowed",
        "/blocks/0/accessory/options",
    ),
    (
        "checkboxes",
        [_choice("checkboxes", 10)],
        [_choice("checkboxes", 11)],
        "no more than 10 items allowed",
        "/blocks/0/accessory/options",
    ),
    (
        "confirm title",
        [_confirm(title=text("x" * 100))],
        [_confirm(title=text("x" * 101))],
        "must be less than 101 characters",
        "/blocks/0/elements/0/confirm/title/text",
    ),
    (
        "confirm text",
        [_confirm(text=text("x" * 300))],
        [_confirm(text=text("x" * 301))],
        "must be less than 301 characters",
        "/blocks/0/elements/0/confirm/text/text",
    ),
    (
        "confirm button",
        [_confirm(deny=text("x" * 30))],
        [_confirm(deny=text("x" * 31))],
        "must be less than 31 characters",
        "/blocks/0/elements/0/confirm/deny/text",
    ),
    ("table rows", [_table(100, 1)], [_table(101, 1)], "no more than 100 items allowed", "/blocks/0/rows"),
    ("table columns", [_table(1, 20)], [_table(1, 21)], "no more than 20 items allowed", "/blocks/0/rows/0"),
    ("tables", [_table(1, 1)], [_table(1, 1), _table(1, 1)], "only one table is allowed", "/blocks"),
    (
        "data_table",
        [_data_table(101)],
        [_data_table(102)],
        "no more than 101 items allowed",
        "/blocks/0/rows",
    ),
    (
        "data_table page",
        [_data_table(2, page_size=100)],
        [_data_table(2, page_size=101)],
        "must be between 1 and 100",
        "/blocks/0/page_size",
    ),
    ("chart", [_pie(6)], [_pie(7)], "no more than 6 items allowed", "/blocks/0/chart/segments"),
    (
        "charts",
        [_pie(1), _pie(1)],
        [_pie(1), _pie(1), _pie(1)],
        "no more than 2 data_visualization blocks allowed",
        "/blocks",
    ),
    (
        "markdown",
        [{"type": "markdown", "text": "x" * 6000}] * 2,
        [{"type": "markdown", "text": "x" * 6001}] * 2,
        "must be less than 12001 characters over all markdown blocks",
        "/blocks",
    ),
    (
        "block_id",
        [_section(block_id="a"), _section(block_id="b")],
        [_section(block_id="a"), _section(block_id="a")],
        "`block_id` a already exists",
        "/blocks/1/block_id",
    ),
    (
        "unknown block",
        [{"type": "divider"}],
        [{"type": "divide"}],
        "unsupported type: divide",
        "/blocks/0/type",
    ),
    (
        "unknown key",
        [{"type": "divider"}],
        [{"type": "divider", "txt": 1}],
        "invalid additional property: txt",
        "/blocks/0",
    ),
    (
        "alert",
        [_section()],
        [{"type": "alert", "text": text("x")}],
        "unsupported type: alert",
        "/blocks/0/type",
    ),
    (
        "section says",
        [_section()],
        [{"type": "section"}],
        "must define either `text` or `fields`",
        "/blocks/0",
    ),
    (
        "url",
        [button(url="https://a.example/x")],
        [button(url="javascript:alert(1)")],
        "must be a valid URL",
        "/blocks/0/elements/0/url",
    ),
]


@pytest.mark.parametrize(
    ("allowed", "refused", "words", "where"), [row[1:] for row in MESSAGE], ids=[row[0] for row in MESSAGE]
)
def test_a_message_limit_is_exact(allowed: list[Json], refused: list[Json], words: str, where: str) -> None:
    assert limits.message_complaints(allowed) == []
    assert limits.message_complaints(refused) == [f"{words} [json-pointer:{where}]"]


VIEW: list[tuple[str, Json, Json, str, str]] = [
    (
        "blocks",
        modal(*_many(_section(), 100)),
        modal(*_many(_section(), 101)),
        "no more than 100 items allowed",
        "/view/blocks",
    ),
    (
        "title",
        modal(title=text("x" * 24)),
        modal(title=text("x" * 25)),
        "must be less than 25 characters",
        "/view/title/text",
    ),
    (
        "submit",
        modal(submit=text("x" * 24)),
        modal(submit=text("x" * 25)),
        "must be less than 25 characters",
        "/view/submit/text",
    ),
    (
        "metadata",
        modal(private_metadata="x" * 3000),
        modal(private_metadata="x" * 3001),
        "must be less than 3001 characters",
        "/view/private_metadata",
    ),
    (
        "callback_id",
        modal(callback_id="x" * 255),
        modal(callback_id="x" * 256),
        "must be less than 256 characters",
        "/view/callback_id",
    ),
    (
        "alert",
        modal({"type": "alert", "text": text("x" * 200)}),
        modal({"type": "alert", "text": text("x" * 201)}),
        "must be less than 201 characters",
        "/view/blocks/0/text/text",
    ),
    (
        "alert level",
        modal({"type": "alert", "text": text("x"), "level": "error"}),
        modal({"type": "alert", "text": text("x"), "level": "bad"}),
        "must be one of default, info, warning, error, success",
        "/view/blocks/0/level",
    ),
    (
        "markdown",
        modal(),
        modal({"type": "markdown", "text": "x"}),
        "unsupported type: markdown",
        "/view/blocks/0/type",
    ),
    (
        "placeholder",
        modal(_input(placeholder=text("x" * 150))),
        modal(_input(placeholder=text("x" * 151))),
        "must be less than 151 characters",
        "/view/blocks/0/element/placeholder/text",
    ),
    (
        "max_length",
        modal(_input(max_length=3000)),
        modal(_input(max_length=3001)),
        "must be between 1 and 3000",
        "/view/blocks/0/element/max_length",
    ),
    (
        "lengths",
        modal(_input(min_length=5, max_length=5)),
        modal(_input(min_length=6, max_length=5)),
        "min_length must not be more than max_length",
        "/view/blocks/0/element",
    ),
]


@pytest.mark.parametrize(
    ("allowed", "refused", "words", "where"), [row[1:] for row in VIEW], ids=[row[0] for row in VIEW]
)
def test_a_view_limit_is_exact(allowed: Json, refused: Json, words: str, where: str) -> None:
    assert limits.view_complaints(allowed, ("modal",)) == []
    assert limits.view_complaints(refused, ("modal",)) == [f"{words} [json-pointer:{where}]"]


ONE, OTHER = ({"text": text(word), "value": word} for word in ("one", "other"))
GROUPED = {"option_groups": [{"label": text("All"), "options": [ONE]}]}


@pytest.mark.parametrize(
    ("kind", "offered", "chosen"),
    [
        ("static_select", {"options": [ONE]}, "initial_option"),
        ("static_select", GROUPED, "initial_option"),
        ("multi_static_select", {"options": [ONE]}, "initial_options"),
        ("multi_static_select", GROUPED, "initial_options"),
        ("checkboxes", {"options": [ONE]}, "initial_options"),
        ("radio_buttons", {"options": [ONE]}, "initial_option"),
    ],
)
def test_what_is_chosen_at_the_beginning_is_one_of_the_options(kind: str, offered: Json, chosen: str) -> None:
    def complaints(option: Json) -> list[str]:
        value = [option] if chosen.endswith("s") else option
        menu = {"type": kind, "action_id": "a", **offered, chosen: value}
        return limits.message_complaints([_section(accessory=menu)])

    assert complaints(ONE) == []
    assert complaints(OTHER) == [f"{chosen} must match one of the options [json-pointer:/blocks/0/accessory]"]


def test_a_filter_of_conversations_says_something_and_one_element_has_the_cursor() -> None:
    def menu(**more: Any) -> Json:
        return _section(accessory={"type": "conversations_select", "action_id": "a", **more})

    assert limits.message_complaints([menu(filter={"exclude_bot_users": True})]) == []
    [said] = limits.message_complaints([menu(filter={})])
    assert said.startswith("must provide at least one field")
    assert limits.message_complaints([menu(focus_on_load=True), menu(focus_on_load=False)]) == []
    [said] = limits.message_complaints([menu(focus_on_load=True), menu(focus_on_load=True)])
    assert said == "only one element may have focus_on_load [json-pointer:/blocks/1]"


def test_an_input_needs_a_submit_button() -> None:
    view = modal(amount_input())
    del view["submit"]

    assert limits.view_complaints(view, ("modal",)) == ["missing required field: submit [json-pointer:/view]"]


def test_what_a_view_lacks_is_named() -> None:
    assert limits.view_complaints({"type": "modal"}, ("modal",)) == [
        "missing required field: title [json-pointer:/view]",
        "missing required field: blocks [json-pointer:/view]",
    ]
    assert limits.view_complaints(modal(), ("home",)) == ["must be one of home [json-pointer:/view/type]"]


@pytest.mark.parametrize("rubbish", [None, 1, "x", [], [1], [None], [{}], [{"type": 1}], {"type": []}])
def test_rubbish_is_refused_and_never_crashes(rubbish: Any) -> None:
    assert limits.view_complaints(rubbish, ("modal",))
    assert limits.message_complaints([rubbish])
    for key in ("title", "submit", "blocks", "private_metadata"):
        if rubbish != []:
            assert limits.view_complaints({**modal(), key: rubbish}, ("modal",)) or rubbish == "x"


async def test_refused_blocks_are_answered_in_slacks_form(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    answer = await stage.api("chat.postMessage", channel="C0OPS", blocks=[_section("")])
    words = "must be more than 0 characters [json-pointer:/blocks/0/text/text]"

    assert (answer["_status"], answer["ok"], answer["error"]) == (200, False, "invalid_blocks")
    assert answer["response_metadata"] == {"messages": [f"[ERROR] {words}"]}
    assert answer["errors"] == [words]


async def test_the_text_of_all_blocks_together_has_its_own_limit(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    fits = await stage.api("chat.postMessage", channel="C0OPS", blocks=[_section("x" * 2835)] * 4)
    too_long = await stage.api("chat.postMessage", channel="C0OPS", blocks=[_section("x" * 2836)] * 4)

    assert fits["ok"]
    assert too_long["error"] == "msg_blocks_too_long"


async def test_a_view_over_250_kilobytes_is_too_large(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    blocks = [_section("ü" * 1300) for _ in range(100)]
    answer = await stage.api("views.publish", user_id="U0BOB", view={"type": "home", "blocks": blocks})

    assert answer["error"] == "view_too_large"


#: What Slack's models do not look at in a raw dict: totals, newer blocks, and options inside an element.
NOT_IN_MODELS = {
    "blocks", "field", "header kind", "checkboxes", "table rows", "table columns", "tables", "data_table",
    "data_table page", "chart", "charts", "markdown", "block_id", "unknown block", "unknown key", "alert",
    "url", "empty", "section says", "option text", "option value", "overflow least", "style",
}  # fmt: skip


@pytest.mark.parametrize(
    "row", [row for row in MESSAGE if row[0] not in NOT_IN_MODELS], ids=lambda row: row[0]
)
def test_slacks_own_models_agree(row: tuple[str, list[Json], list[Json], str, str]) -> None:
    _, allowed, refused, _, _ = row
    _check_by_model(allowed)
    with pytest.raises(SlackObjectFormationError):
        _check_by_model(refused)


def _check_by_model(blocks: list[Json]) -> None:
    for block in blocks:
        parsed = Block.parse(block)
        assert parsed is not None
        parsed.to_dict()
