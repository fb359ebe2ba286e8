"""What Slack would refuse: whole messages and views, against the tables of `block_kit`.

Complaints come in the words of Slack's `response_metadata.messages`, each with a JSON pointer,
without the leading `[ERROR]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.slack.block_kit.block_rules import HOME_BLOCKS, MARKDOWN_MOST, MESSAGE_BLOCKS, MODAL_BLOCKS
from sandbox.slack.block_kit.checks import Complaints, by_type, flag, items, one_of, record, say, string
from sandbox.slack.block_kit.element_rules import GROUPS, OPTIONS, TYPE, plain
from sandbox.slack.json_object import Json

#: Undocumented; 11,341 characters over all blocks were refused once (bolt-js #2509, #2867).
MESSAGE_TEXT_SUM = 11_340
#: What a person may type into the composer of a client.
TYPED_TEXT = 12_000
MAX_MESSAGE_BLOCKS = 50
MAX_VIEW_BLOCKS = 100
MAX_CHARTS = 2

_MESSAGE = items(by_type(MESSAGE_BLOCKS), MAX_MESSAGE_BLOCKS, 0)
_VIEW_COMMON = {
    "private_metadata": string(3000, 0),
    "callback_id": string(255, 0),
    "external_id": string(255, 0),
}
_MODAL = record(
    {"type": TYPE, "title": plain(24), "blocks": items(by_type(MODAL_BLOCKS), MAX_VIEW_BLOCKS, 0)},
    {
        **_VIEW_COMMON,
        "submit": plain(24),
        "close": plain(24),
        "clear_on_close": flag,
        "notify_on_close": flag,
    },
)
_HOME = record({"type": TYPE, "blocks": items(by_type(HOME_BLOCKS), MAX_VIEW_BLOCKS, 0)}, dict(_VIEW_COMMON))


def message_complaints(blocks: Any) -> Complaints:
    """What is wrong with the blocks of a message; empty if nothing."""
    complaints: Complaints = []
    _MESSAGE(blocks, "/blocks", complaints)
    if not complaints:
        _one_of_each_id(blocks, "/blocks", complaints)
        _one_focus(blocks, "/blocks", complaints)
        _per_message(blocks, complaints)
    return complaints


def view_complaints(view: Any, kinds: tuple[str, ...]) -> Complaints:
    """What is wrong with a view that must be of one of `kinds`; empty if nothing."""
    complaints: Complaints = []
    if isinstance(view, dict) and "type" in view:
        one_of(*kinds)(view["type"], "/view/type", complaints)
    if complaints:
        return complaints
    by_type({"modal": _MODAL, "home": _HOME})(view, "/view", complaints)
    if not complaints:
        _one_of_each_id(view["blocks"], "/view/blocks", complaints)
        _one_focus(view["blocks"], "/view/blocks", complaints)
        has_input = any(block["type"] == "input" for block in view["blocks"])
        if view["type"] == "modal" and has_input and "submit" not in view:
            say(complaints, "missing required field: submit", "/view")
    return complaints


def suggestion_complaints(answer: Any) -> Complaints:
    """What is wrong with the answer to a block_suggestion; empty if nothing."""
    complaints: Complaints = []
    if not isinstance(answer, dict) or not ("options" in answer or "option_groups" in answer):
        say(complaints, "must define either `options` or `option_groups`", "")
        return complaints
    # No result at all is a fair answer, unlike an empty list in a view.
    if answer.get("options"):
        OPTIONS(answer["options"], "/options", complaints)
    if answer.get("option_groups"):
        GROUPS(answer["option_groups"], "/option_groups", complaints)
    return complaints


def _every(blocks: list[Json], at: str) -> Iterator[tuple[Json, str]]:
    for index, block in enumerate(blocks):
        yield block, f"{at}/{index}"
        if block["type"] == "container":
            yield from _every(block["child_blocks"], f"{at}/{index}/child_blocks")


def _one_of_each_id(blocks: list[Json], at: str, complaints: Complaints) -> None:
    seen: set[str] = set()
    for block, pointer in _every(blocks, at):
        block_id = block.get("block_id")
        if block_id in seen:
            say(complaints, f"`block_id` {block_id} already exists", f"{pointer}/block_id")
        if block_id:
            seen.add(block_id)


def _one_focus(blocks: list[Json], at: str, complaints: Complaints) -> None:
    """One element of a message or view may ask for the cursor."""
    focused = [pointer for block, pointer in _every(blocks, at) if _asks_for_focus(block)]
    if len(focused) > 1:
        say(complaints, "only one element may have focus_on_load", focused[1])


def _asks_for_focus(block: Json) -> bool:
    held = [block.get("element"), block.get("accessory")]
    held += block["elements"] if block["type"] == "actions" else []
    return any(isinstance(one, dict) and one.get("focus_on_load") is True for one in held)


def _per_message(blocks: list[Json], complaints: Complaints) -> None:
    """Limits that count over the whole message."""
    kinds = [block["type"] for block, _ in _every(blocks, "")]
    if kinds.count("table") > 1:
        say(complaints, "only one table is allowed", "/blocks")
    if kinds.count("data_visualization") > MAX_CHARTS:
        say(complaints, f"no more than {MAX_CHARTS} data_visualization blocks allowed", "/blocks")
    written = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    if written > MARKDOWN_MOST:
        say(
            complaints,
            f"must be less than {MARKDOWN_MOST + 1} characters over all markdown blocks",
            "/blocks",
        )
