"""What an input holds: its entry in `state.values`, its `actions[]` entry, and what Slack's own
client refuses before it sends anything.

Values come from the page as plain JSON: text, an option's value, a list of option values, or null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sandbox.slack.errors import BadAct
from sandbox.slack.json_object import Json

TEXT_INPUTS = frozenset({"plain_text_input", "number_input", "email_text_input", "url_text_input"})
#: Elements with one plain value: the key it has in the state, and the key of its initial value.
PLAIN_KEYS = {
    **dict.fromkeys(TEXT_INPUTS, ("value", "initial_value")),
    "users_select": ("selected_user", "initial_user"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "channels_select": ("selected_channel", "initial_channel"),
    "multi_users_select": ("selected_users", "initial_users"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
    "multi_channels_select": ("selected_channels", "initial_channels"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
    "rich_text_input": ("rich_text_value", "initial_value"),
    "file_input": ("files", ""),
}
ONE_OPTION = frozenset({"static_select", "external_select", "radio_buttons", "overflow"})
MANY_OPTIONS = frozenset({"multi_static_select", "multi_external_select", "checkboxes"})
EXTERNAL = frozenset({"external_select", "multi_external_select"})
STATELESS = frozenset({"button", "overflow", "icon_button", "feedback_buttons", "workflow_button"})
#: Keys of an element that Slack repeats in `actions[]`.
REPEATED = ("text", "value", "style", "url", "placeholder", "confirm", "min_query_length")

FORMS = {
    "datepicker": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "timepicker": re.compile(r"([01]\d|2[0-3]):[0-5]\d"),
}
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def options_of(element: Json) -> Iterator[Json]:
    """Every option an element offers by itself, groups included."""
    yield from element.get("options") or ()
    for group in element.get("option_groups") or ():
        yield from group["options"]


def initial_state(element: Json) -> Json:
    """The entry of an element nobody has touched."""
    kind = element["type"]
    if kind in MANY_OPTIONS:
        return {"type": kind, "selected_options": element.get("initial_options") or []}
    if kind in ONE_OPTION:
        return {"type": kind, "selected_option": element.get("initial_option")}
    key, initial = PLAIN_KEYS[kind]
    empty: Any = [] if kind.startswith("multi_") or kind == "file_input" else None
    return {"type": kind, key: element.get(initial, empty)}


def state(element: Json, given: Any, suggested: dict[str, Json]) -> Json:
    """The entry of an element in which a person has put `given`; `suggested` are an external
    select's last options. Raises BadAct when the value could not have been chosen."""
    kind = element["type"]
    if kind in MANY_OPTIONS:
        chosen = [_option(element, value, suggested) for value in _strings(element, given or [])]
        return {"type": kind, "selected_options": chosen}
    if kind in ONE_OPTION:
        option = None if given is None else _option(element, given, suggested)
        return {"type": kind, "selected_option": option}
    key, _ = PLAIN_KEYS[kind]
    if kind == "file_input":
        if given:
            raise BadAct("files cannot be put into a file_input of the stand-in")
        return {"type": kind, key: []}
    if kind.startswith("multi_"):
        return {"type": kind, key: _strings(element, given or [])}
    if kind == "datetimepicker":
        return {"type": kind, key: _moment(element, given)}
    if kind == "rich_text_input":
        return {"type": kind, key: _rich_text(given) if isinstance(given, str) else given}
    if given is not None and not isinstance(given, str):
        raise BadAct(f"{element['action_id']}: a text is wanted, not {given!r}")
    if given and kind in FORMS and not FORMS[kind].fullmatch(given):
        raise BadAct(f"{element['action_id']}: {given!r} cannot be chosen in a {kind}")
    return {"type": kind, key: given or None}


def _moment(element: Json, given: Any) -> int | None:
    """A datetimepicker's value: whole seconds since the epoch, as a number or as text."""
    if given in (None, ""):
        return None
    if isinstance(given, bool) or not re.fullmatch(r"\d{10}", str(given)):
        raise BadAct(f"{element['action_id']}: seconds since 1970 are wanted, not {given!r}")
    return int(given)


def _rich_text(text: str) -> Json | None:
    if not text:
        return None
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [section]}


def _strings(element: Json, given: Any) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise BadAct(f"{element['action_id']}: a list of texts is wanted, not {given!r}")
    return given


def _option(element: Json, value: Any, suggested: dict[str, Json]) -> Json:
    initial = [element.get("initial_option"), *(element.get("initial_options") or ())]
    known = [*options_of(element), *(one for one in initial if one)]
    for option in known:
        if option["value"] == value:
            return dict(option)
    if element["type"] in EXTERNAL and value in suggested:
        return suggested[value]
    raise BadAct(f"{element['action_id']} offers no option {value!r}")


def feedback(element: Json, value: Any) -> Json:
    """Which of the two feedback buttons was pressed. Raises BadAct when neither."""
    for button in (element["positive_button"], element["negative_button"]):
        if button["value"] == value:
            return {"type": element["type"], "text": button["text"], "value": value}
    raise BadAct(f"{element['action_id']} has no button with the value {value!r}")


def is_empty(entry: Json) -> bool:
    """Has nobody put anything into this element?"""
    return not any(value for key, value in entry.items() if key != "type")


def complaint(element: Json, entry: Json, *, required: bool) -> str | None:
    """What Slack's client says of a value before it sends anything, or None."""
    if is_empty(entry):
        return "Please complete this required field." if required else None
    most = element.get("max_selected_items")
    chosen = next((value for value in entry.values() if isinstance(value, list)), [])
    if most is not None and len(chosen) > most:
        return f"Please choose no more than {most}."
    text = entry.get("value")
    if not isinstance(text, str):
        return None
    kind = element["type"]
    if kind == "plain_text_input":
        if len(text) < element.get("min_length", 0):
            return f"Please enter at least {element['min_length']} characters."
        if len(text) > element.get("max_length", 3000):
            return f"Please enter no more than {element.get('max_length', 3000)} characters."
    if kind == "number_input":
        return _number_complaint(element, text)
    if kind == "email_text_input" and not _EMAIL.fullmatch(text):
        return "Please enter a valid email address."
    if kind == "url_text_input" and not re.match(r"https?://[^\s]+", text):
        return "Please enter a valid URL."
    return None


def _number_complaint(element: Json, text: str) -> str | None:
    if not _NUMBER.fullmatch(text):
        return "Please enter a valid number."
    if "." in text and not element["is_decimal_allowed"]:
        return "Please enter a whole number."
    number = float(text)
    if number < float(element.get("min_value", "-inf")):
        return f"Please enter a number that is at least {element['min_value']}."
    if number > float(element.get("max_value", "inf")):
        return f"Please enter a number that is at most {element['max_value']}."
    return None


def action(block_id: str, element: Json, entry: Json | None, action_ts: str) -> Json:
    """One entry of `actions[]`; `entry` is the state of an element that has one."""
    kind = element["type"]
    done: Json = {"type": kind, "action_id": element["action_id"], "block_id": block_id}
    done |= {key: element[key] for key in REPEATED if key in element}
    done |= {key: value for key, value in element.items() if key.startswith("initial_")}
    if entry is not None:
        done |= {key: value for key, value in entry.items() if key != "type"}
    return {**done, "action_ts": action_ts}
