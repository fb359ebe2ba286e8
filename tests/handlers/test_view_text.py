"""The form of the snapshots: short, and nothing that Slack would show or send is lost in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.handlers.every_view import MESSAGES, VIEWS
from tests.handlers.sample_requests import WORDS
from tests.support.view_text import view_text

ALL = {**MESSAGES, **VIEWS}
#: What is left out of the text, because it is Slack's own default.
DEFAULTS = ("optional", "multiline")


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def test_a_message_is_a_line_for_each_thing() -> None:
    message = {
        "text": "Float is low",
        "blocks": [
            {"type": "header", "text": plain("Float is low")},
            {"type": "section", "text": mrkdwn("*One*\ntwo")},
            {"type": "section", "fields": [mrkdwn("*Card*"), plain("Marta ••3205")]},
            {
                "type": "actions",
                "block_id": "alert:01",
                "elements": [
                    {
                        "type": "button",
                        "text": plain("Pause"),
                        "action_id": "alert:pause",
                        "value": "A-1",
                        "style": "danger",
                        "confirm": {
                            "title": plain("Pause?"),
                            "confirm": plain("Pause"),
                            "deny": plain("Back"),
                        },
                    },
                ],
            },
            {
                "type": "input",
                "label": plain("Network"),
                "optional": True,
                "element": {
                    "type": "static_select",
                    "action_id": "value",
                    "options": [
                        {"text": plain("Base"), "value": "base"},
                        {"text": plain("BNB"), "value": "bnb"},
                    ],
                    "initial_option": {"text": plain("BNB"), "value": "bnb"},
                },
            },
            {
                "type": "table",
                "rows": [[{"type": "raw_text", "text": "a|b"}, {"type": "raw_text", "text": ""}]],
            },
        ],
    }

    assert (
        view_text(message)
        == """message text="Float is low"
header "Float is low"
section *One*
  ¦ two
section
  *Card* | "Marta ••3205"
actions block_id=alert:01
  button "Pause" action_id=alert:pause value=A-1 style=danger
    confirm title="Pause?" confirm="Pause" deny="Back"
input label="Network" optional=true
  static_select action_id=value
    - "base" "Base"
    * "bnb" "BNB"
table
  | a\\|b |  |
"""
    )


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or list of a view with each of its keys or indexes."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"{value} x"


@pytest.mark.parametrize("name", sorted(ALL))
def test_no_value_of_a_view_can_change_unseen(name: str) -> None:
    drawn = ALL[name](WORDS)
    text = view_text(drawn)

    for holder, key in list(_places(drawn)):
        value = holder[key]
        if not isinstance(value, dict | list):
            holder[key] = _other(value)
            assert view_text(drawn) != text, (key, value)
            holder[key] = value


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("name", sorted(ALL))
def test_no_part_of_a_view_can_vanish_unseen(name: str) -> None:
    drawn = ALL[name](WORDS)
    text = view_text(drawn)

    for holder, key in list(_places(drawn)):
        if isinstance(holder, list) or (key in DEFAULTS and not holder[key]):
            continue
        before = dict(holder)
        del holder[key]
        assert view_text(drawn) != text, (key, before[key])
        holder.clear()
        holder.update(before)


@pytest.mark.parametrize("name", sorted(ALL))
def test_nothing_can_be_added_to_an_element_unseen(name: str) -> None:
    drawn = ALL[name](WORDS)
    text = view_text(drawn)
    additions = {
        "style": "danger",
        "confirm": {"title": plain("Sure?")},
        "url": "https://a.slack.com/x",
        "new": None,
    }

    for holder, key in list(_places(drawn)):
        if key == "action_id":
            for added in set(additions) - set(holder):
                holder[added] = additions[added]
                assert view_text(drawn) != text, added
                del holder[added]
