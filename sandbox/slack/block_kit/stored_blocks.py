"""Blocks as Slack keeps them: ids filled in, text objects completed, elements found again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.slack.ids import Ids
from sandbox.slack.json_object import Json


@dataclass(frozen=True)
class Placed:
    """An interactive element and the block that holds it."""

    block: Json
    element: Json

    @property
    def block_id(self) -> str:
        """The block's id; Slack gives one to every block that has none."""
        return str(self.block["block_id"])

    @property
    def action_id(self) -> str:
        """The element's id, which an action repeats."""
        return str(self.element["action_id"])

    @property
    def is_input(self) -> bool:
        """Whether the element is in an input block, and so is sent with the submission."""
        return bool(self.block["type"] == "input")


def completed(blocks: list[Json], ids: Ids) -> list[Json]:
    """A copy of blocks with the ids and text defaults that Slack adds."""
    done = [complete_text(block) for block in blocks]
    for block in done:
        block.setdefault("block_id", ids.block_id())
        for element in _elements_of(block):
            if element.get("type") not in ("image", "mrkdwn", "plain_text"):
                element.setdefault("action_id", ids.block_id())
    return done


def complete_text(value: Any) -> Any:
    """A copy with the defaults Slack adds to text objects."""
    if isinstance(value, list):
        return [complete_text(item) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {key: complete_text(item) for key, item in value.items()}
    if copy.get("type") == "plain_text":
        copy.setdefault("emoji", True)
    elif copy.get("type") == "mrkdwn":
        copy.setdefault("verbatim", False)
    return copy


def _elements_of(block: Json) -> list[Json]:
    kind = block.get("type")
    if kind == "input":
        return [block["element"]]
    if kind in ("actions", "context_actions"):
        return list(block["elements"])
    if kind == "section" and "accessory" in block:
        return [block["accessory"]]
    if kind == "card":
        return list(block.get("actions") or ())
    return []


def elements(blocks: list[Json]) -> Iterator[Placed]:
    """Every interactive element, also inside cards, carousels and containers."""
    for block in blocks:
        for element in _elements_of(block):
            if "action_id" in element:
                yield Placed(block, element)
        if block.get("type") == "carousel":
            yield from elements(block["elements"])
        elif block.get("type") == "container":
            yield from elements(block["child_blocks"])


def find(blocks: list[Json], action_id: str, block_id: str | None) -> Placed | None:
    """The element with this action id, in the given block or, without one, in any."""
    for placed in elements(blocks):
        if placed.action_id == action_id and block_id in (None, placed.block_id):
            return placed
    return None


def text_length(blocks: list[Json]) -> int:
    """How many characters all texts of the blocks have together."""
    return sum(len(text) for text in _texts(blocks))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "text" and isinstance(item, str):
                yield item
            else:
                yield from _texts(item)
