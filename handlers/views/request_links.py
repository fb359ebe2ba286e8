"""Makes each request id in a drawn message or view a link to that request's own message in Slack.

It works on what the views have drawn, just before it is sent, so that no view has to know where a message is and no
id is forgotten. Text of people (`plain_text`), buttons and titles cannot hold a link; code and links stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from handlers.views import blocks as b

_ID: Final = re.compile(r"(?<![\w-])R-[0-9A-Z]{4,12}(?![\w-])")
# What is marked up already, and what stands in code.
_LEAVE: Final = re.compile(r"(<[^>]*>|`[^`]*`)")


def request_ids(drawn: b.Block) -> frozenset[str]:
    """The request ids in a message (`text`, `blocks`) or a view that can become links."""
    return frozenset(_ID.findall("\n".join(text for part in _parts(drawn) for text in _open_text(part))))


def linked(drawn: b.Block, links: Mapping[str, str]) -> b.Block:
    """The same with links; `links`: request id -> address. What has no room for its links is left as it was."""
    if not links:
        return drawn
    room = b.ALL_TEXT - b.weight(drawn.get("blocks") or [])
    return dict(_Writer(links, room).drawn(drawn))


def _parts(drawn: b.Block) -> tuple[Any, ...]:
    """A message shows its blocks; its own text only where it has none."""
    blocks = drawn.get("blocks")
    return (blocks,) if blocks else ({"type": "mrkdwn", "text": drawn.get("text") or ""},)


def _open_text(value: Any) -> Iterator[str]:
    match value:
        case {"type": "mrkdwn", "text": str(text)}:
            yield from (piece for piece in _LEAVE.split(text) if not _LEAVE.fullmatch(piece))
        case {"type": "raw_text", "text": str(text)}:
            yield text
        case dict():
            for inner in value.values():
                yield from _open_text(inner)
        case list():
            for inner in value:
                yield from _open_text(inner)


class _Writer:
    """Writes the links, as long as there is room for them in the whole message."""

    def __init__(self, links: Mapping[str, str], room: int) -> None:
        self._links = links
        self._room = room

    def drawn(self, drawn: b.Block) -> b.Block:
        blocks = drawn.get("blocks")
        if blocks:
            return {**drawn, "blocks": [self._value(block, b.SECTION) for block in blocks]}
        return {**drawn, "text": self._markup(str(drawn.get("text") or ""), b.FALLBACK)}

    def _value(self, value: Any, most: int) -> Any:
        match value:
            case {"type": "mrkdwn", "text": str(text)}:
                return {**value, "text": self._markup(text, most)}
            case {"type": "raw_text", "text": str(text)}:
                return self._cell(value, text)
            case dict():
                inside = min(most, b.CONTEXT_TEXT) if value.get("type") == "context" else most
                return {
                    key: self._value(inner, b.FIELD if key == "fields" else inside)
                    for key, inner in value.items()
                }
            case list():
                return [self._value(inner, most) for inner in value]
        return value

    def _markup(self, text: str, most: int) -> str:
        pieces = _LEAVE.split(text)
        written = "".join(p if _LEAVE.fullmatch(p) else _ID.sub(self._link, p) for p in pieces)
        return written if len(written) <= most and self._takes(len(written) - len(text)) else text

    def _link(self, found: re.Match[str]) -> str:
        address = self._links.get(found[0])
        return f"<{address}|{found[0]}>" if address else found[0]

    def _cell(self, cell: b.Block, text: str) -> b.Block:
        """A cell of a table: a link needs rich text."""
        known = [found for found in _ID.finditer(text) if found[0] in self._links]
        if not known or not self._takes(sum(len(self._links[found[0]]) for found in known)):
            return cell
        elements: list[b.Block] = []
        end = 0
        for found in known:
            elements += _plain(text[end : found.start()])
            elements.append({"type": "link", "url": self._links[found[0]], "text": found[0]})
            end = found.end()
        elements += _plain(text[end:])
        return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}

    def _takes(self, more: int) -> bool:
        if more > self._room:
            return False
        self._room -= more
        return True


def _plain(text: str) -> list[b.Block]:
    return [{"type": "text", "text": text}] if text else []
