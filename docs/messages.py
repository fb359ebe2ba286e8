"""Writes docs/messages.md: every message of Slack as text, with realistic data, for people to read.

The samples stand in tests/messages; `PYTHONPATH=. python docs/messages.py` writes the page, and a test says when that
is due.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from handlers.views import alerts
from tests.messages import (
    alert_samples,
    batch_samples,
    conversation_samples,
    form_samples,
    lookup_samples,
    operator_samples,
    rare_look_up_samples,
    request_samples,
)

TARGET = Path(__file__).with_name("messages.md")
Json = dict[str, Any]

_HEAD = """# Messages

For everybody who wants to know what Countersign says in Slack: each message with realistic data. Made by
`docs/messages.py` from the views and the samples in `tests/messages`. The first line of a message, in bold, is what a
phone shows; times are shown in each reader's own zone, here in UTC. `[Approve]` is a button.
"""
_NAMES = {"S0APPROVERS": "@card-approvers", "C0APPROVALS": "#card-approvals", "U0DAN": "@Daniel Okafor"}

# Of a long menu the first answers say enough.
_OPTIONS = 12


def sections() -> Mapping[str, Iterable[tuple[str, Json]]]:
    """Each heading of the page with its samples: a name, and what the view draws."""
    raised = ((name, alerts.alert(view)) for name, view in alert_samples.raised())
    ended = ((name, alerts.alert(view)) for name, view in alert_samples.ended())
    return {
        "A request in the approvals channel": request_samples.cards(),
        "Its thread": request_samples.thread(),
        "Direct messages to the requester": request_samples.direct(),
        "Forms": form_samples.all_forms(),
        "Previews": form_samples.previews(),
        "Deciding": form_samples.confirmations(),
        "Details": request_samples.details(),
        "Many cards in one request": batch_samples.lists(),
        "Plain English": conversation_samples.talks(),
        "Alerts": raised,
        "Alerts that are over": ended,
        "Daily summary and Home": lookup_samples.summaries(),
        "Answers to commands": lookup_samples.answers(),
        "Cards and purchases, rarer cases": rare_look_up_samples.of_cards(),
        "Money, rarer cases": rare_look_up_samples.of_money(),
        "An answer for the channel": operator_samples.shared(),
        "Help and policy": operator_samples.helps(),
        "For those who run it": operator_samples.looks(),
        "Passkeys": operator_samples.passkey_views(),
        "After a click or a command": operator_samples.clicks(),
        "Refusals": [*lookup_samples.refusals(), *operator_samples.slack_refusals()],
    }


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for title, samples in sections().items():
        parts.append(f"## {title}\n")
        parts += [f"### {name}\n\n{_drawn(drawn)}\n" for name, drawn in samples]
    return "\n".join(parts)


def _drawn(drawn: Json) -> str:
    """A message or a window: what a phone shows, then its blocks."""
    lines = [line for block in drawn.get("blocks", []) for line in _block(block)]
    title = drawn.get("title", {}).get("text", "")
    buttons = [drawn[name]["text"] for name in ("submit", "close") if name in drawn]
    first = _text(drawn["text"]) if "text" in drawn else title
    foot = ["".join(f"[{text}]" for text in buttons)] if buttons else []
    head = [f"**{first}**", ""] if first else []
    shown = [*lines, *foot]
    return "\n".join([*head, "```text", *shown, "```"] if shown else head)


def _block(block: Json) -> Iterator[str]:
    match block["type"]:
        case "header":
            yield f"## {_text(block['text'])}"
        case "section":
            yield from _section(block)
        case "context":
            yield from (f"({_text(element)})" for element in block["elements"])
        case "actions":
            yield " ".join(map(_element, block["elements"]))
        case "input":
            yield f"{_text(block['label'])}: {_element(block['element'])}"
            if "hint" in block:
                yield f"  ({_text(block['hint'])})"
        case "table":
            for row in block["rows"]:
                yield "| " + " | ".join(cell["text"] for cell in row) + " |"
        case "divider":
            yield "---"
        case _:
            yield f"<{block.get('title', block['type'])}: a chart>"


def _section(block: Json) -> Iterator[str]:
    if "text" in block:
        yield from _text(block["text"]).split("\n")
    fields = [_text(field) for field in block.get("fields", [])]
    for label, value in zip(fields[::2], fields[1::2], strict=True):
        yield f"{label} {value}"
    if "accessory" in block:
        yield f"  {_element(block['accessory'])}"


def _element(element: Json) -> str:
    if element["type"] == "button":
        return f"[{_text(element['text'])}]"
    options = element.get("options", [])
    if options:
        named = " / ".join(_text(option["text"]) for option in options[:_OPTIONS])
        if len(options) > _OPTIONS:
            named += f" / and {len(options) - _OPTIONS} more"
        return f"[{_text(element['placeholder'])}: {named}]" if "placeholder" in element else f"[… {named}]"
    return f"[{element.get('initial_value') or _text(element.get('placeholder', '')) or '…'}]"


def _text(text: Json | str) -> str:
    """Text as Slack shows it: times in UTC, names for ids, links by their words."""
    found = text["text"] if isinstance(text, dict) else text
    found = re.sub(r"<!date\^(\d+)\^([^|>]*)\|[^>]*>", _time, found)
    found = re.sub(r"<!subteam\^(\w+)>|<[@#](\w+)>", _name, found)
    found = re.sub(r"<[^|>]+\|([^>]*)>", r"\1", found)
    return html.unescape(found).replace("\N{WORD JOINER}", "").rstrip()


def _time(found: re.Match[str]) -> str:
    moment = datetime.fromtimestamp(int(found[1]), UTC)
    clock = f"{moment:%H:%M:%S}" if "secs" in found[2] else f"{moment:%H:%M}"
    if "date" not in found[2]:
        return clock
    return f"{moment.day} {moment:%B} {'at ' if ' at ' in found[2] else ''}{clock}"


def _name(found: re.Match[str]) -> str:
    known = found[1] or found[2]
    return _NAMES.get(known, f"@{known.removeprefix('U0').capitalize()}")


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
