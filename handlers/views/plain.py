"""A message without any layout, for what cannot be shown as it should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.view_models import PlainView
from handlers.views import blocks as b

# What Slack asks for at most in `text` [chat.postMessage, chat.update], with room for the note.
LONGEST = 3_500


def message(view: PlainView) -> b.Block:
    """Text alone: there is nothing in it that Slack could refuse. No blocks, so an edit takes the old ones away."""
    return {"text": f"{view.text}\n{b.said(view.note)}", "blocks": []}


def text_of(drawn: b.Block) -> str:
    """All that a message says, in Slack's markup and without its layout: what its blocks show, but for the buttons.

    Cut at `LONGEST` characters. A message without blocks says its text.
    """
    lines = [line for block in drawn["blocks"] for line in _lines(block)] if drawn.get("blocks") else []
    return str(b.mrkdwn("\n".join([str(drawn["text"]), *lines]), LONGEST)["text"])


def _lines(block: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a block, in their order; a label and its value are in one line."""
    if block["type"] in ("header", "section") and "text" in block:
        yield _marked(block["text"])
    fields = [_marked(field) for field in block.get("fields", ())]
    yield from (" ".join(pair) for pair in zip(fields[::2], fields[1::2], strict=False))
    if block["type"] == "context":
        yield " · ".join(_marked(element) for element in block["elements"] if "text" in element)


def _marked(text: Mapping[str, Any]) -> str:
    """A text object as markup: what is plain text in it stays what it is."""
    return str(text["text"]) if text["type"] == "mrkdwn" else b.esc(str(text["text"]))
