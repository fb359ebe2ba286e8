"""Block Kit's elements as tables: text objects, options, buttons, menus, pickers and inputs, with limits."""

from __future__ import annotations

from typing import Any

from sandbox.slack.block_kit.checks import (
    Check,
    Complaints,
    also,
    anything,
    by_type,
    flag,
    integer,
    items,
    matching,
    one_of,
    record,
    say,
    string,
    url,
)

TYPE: Check = anything  # already told apart by `by_type`


def plain(most: int, least: int = 1) -> Check:
    """A plain_text object of `least` to `most` characters.

    Source: https://docs.slack.dev/reference/block-kit/composition-objects/text-object
    """
    fields = record({"type": one_of("plain_text"), "text": string(most, least)}, {"emoji": flag})
    return by_type({"plain_text": fields})


def mrkdwn(most: int) -> Check:
    """A mrkdwn object of 1 to `most` characters."""
    fields = record({"type": TYPE, "text": string(most)}, {"verbatim": flag})
    return by_type({"mrkdwn": fields})


def text(most: int) -> Check:
    """A plain_text or mrkdwn object of 1 to `most` characters."""
    return by_type(
        {
            "plain_text": record({"type": TYPE, "text": string(most)}, {"emoji": flag}),
            "mrkdwn": record({"type": TYPE, "text": string(most)}, {"verbatim": flag}),
        }
    )


ACTION_ID = string(255)
BLOCK_ID = string(255)
PLACEHOLDER = plain(150)
STYLE = one_of("primary", "danger")
CONFIRM = record(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)}, {"style": STYLE}
)
OPTION = record(
    {"text": plain(75), "value": string(150)}, {"description": plain(75), "url": url(), "emoji": flag}
)
RICH_OPTION = record({"text": text(75), "value": string(150)}, {"description": text(75)})
OPTIONS = items(OPTION, 100)
GROUP = record({"label": plain(75), "options": OPTIONS})
GROUPS = items(GROUP, 100)
DISPATCH = record({}, {"trigger_actions_on": items(one_of("on_enter_pressed", "on_character_entered"), 2)})
DATE = matching(r"\d{4}-\d{2}-\d{2}", "date")
TIME = matching(r"([01]\d|2[0-3]):[0-5]\d", "time")
SLACK_FILE = record({}, {"id": string(255), "url": url()})


def either(one: str, other: str) -> Check:
    """Exactly one of two keys."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if isinstance(value, dict) and (one in value) == (other in value):
            say(complaints, f"must define either `{one}` or `{other}`", at)

    return check


def among_options(name: str) -> Check:
    """What is chosen at the beginning (in `name`, an option or a list of them) is one of the options, word for word."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if not isinstance(value, dict) or name not in value:
            return
        groups = [value.get("options"), *(one.get("options") for one in _objects(value.get("option_groups")))]
        offered = [option for group in groups for option in _objects(group)]
        chosen = value[name] if isinstance(value[name], list) else [value[name]]
        if any(one not in offered for one in chosen):
            say(complaints, f"{name} must match one of the options", at)

    return check


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def not_empty(value: Any, at: str, complaints: Complaints) -> None:
    """An object with any field. A `Check`."""
    if value == {}:
        say(complaints, "must provide at least one field", at)


def bounded(low: str, high: str) -> Check:
    """`low` is not above `high`."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if not isinstance(value, dict) or low not in value or high not in value:
            return
        try:
            if float(value[low]) > float(value[high]):
                say(complaints, f"{low} must not be more than {high}", at)
        except (TypeError, ValueError):
            say(complaints, f"{low} and {high} must be numbers", at)

    return check


def element(required: dict[str, Check] | None = None, optional: dict[str, Check] | None = None) -> Check:
    """An interactive element: type, action_id, and its own."""
    return record({"type": TYPE, **(required or {})}, {"action_id": ACTION_ID, **(optional or {})})


FILTER = also(
    record(
        {},
        {
            "include": items(one_of("im", "mpim", "private", "public"), 4),
            "exclude_external_shared_channels": flag,
            "exclude_bot_users": flag,
        },
    ),
    not_empty,
)
FOCUS: dict[str, Check] = {"focus_on_load": flag}
PLACED: dict[str, Check] = {"placeholder": PLACEHOLDER, "confirm": CONFIRM, **FOCUS}
TYPED: dict[str, Check] = {"placeholder": PLACEHOLDER, "dispatch_action_config": DISPATCH, **FOCUS}
MAX_ITEMS: dict[str, Check] = {"max_selected_items": integer(1, 100)}
MEMBERS = items(string(255), 100, 0)

IMAGE_ELEMENT = also(
    record({"type": TYPE, "alt_text": string(2000)}, {"image_url": url(), "slack_file": SLACK_FILE}),
    either("image_url", "slack_file"),
)
BUTTON = element(
    {"text": plain(75)},
    {
        "value": string(2000),
        "url": url(),
        "style": STYLE,
        "confirm": CONFIRM,
        "accessibility_label": string(75),
    },
)
FEEDBACK_BUTTON = record({"text": plain(75), "value": string(2000)}, {"accessibility_label": string(75)})
ICON_BUTTON = element(
    {"icon": string(75), "text": plain(75)},
    {
        "value": string(2000),
        "confirm": CONFIRM,
        "accessibility_label": string(75),
        "visible_to_user_ids": MEMBERS,
    },
)
STATIC_SELECT = also(
    element({}, {**PLACED, "options": OPTIONS, "option_groups": GROUPS, "initial_option": OPTION}),
    either("options", "option_groups"),
    among_options("initial_option"),
)
MULTI_STATIC_SELECT = also(
    element(
        {},
        {
            **PLACED,
            **MAX_ITEMS,
            "options": OPTIONS,
            "option_groups": GROUPS,
            "initial_options": items(OPTION, 100),
        },
    ),
    either("options", "option_groups"),
    among_options("initial_options"),
)
RESPONDS: dict[str, Check] = {"response_url_enabled": flag}
CONVERSATIONS: dict[str, Check] = {**PLACED, "default_to_current_conversation": flag, "filter": FILTER}

BUTTONS: dict[str, Check] = {"button": BUTTON}
SELECTS: dict[str, Check] = {
    "static_select": STATIC_SELECT,
    "external_select": element(
        {}, {**PLACED, "initial_option": OPTION, "min_query_length": integer(0, 3000)}
    ),
    "users_select": element({}, {**PLACED, "initial_user": string(255)}),
    "conversations_select": element({}, {**CONVERSATIONS, **RESPONDS, "initial_conversation": string(255)}),
    "channels_select": element({}, {**PLACED, **RESPONDS, "initial_channel": string(255)}),
}
MULTI_SELECTS: dict[str, Check] = {
    "multi_static_select": MULTI_STATIC_SELECT,
    "multi_external_select": element(
        {},
        {**PLACED, **MAX_ITEMS, "initial_options": items(OPTION, 100), "min_query_length": integer(0, 3000)},
    ),
    "multi_users_select": element({}, {**PLACED, **MAX_ITEMS, "initial_users": MEMBERS}),
    "multi_conversations_select": element(
        {}, {**CONVERSATIONS, **MAX_ITEMS, "initial_conversations": MEMBERS}
    ),
    "multi_channels_select": element({}, {**PLACED, **MAX_ITEMS, "initial_channels": MEMBERS}),
}
CHOICES: dict[str, Check] = {
    "checkboxes": also(
        element(
            {"options": items(RICH_OPTION, 10)},
            {"initial_options": items(RICH_OPTION, 10), "confirm": CONFIRM, **FOCUS},
        ),
        among_options("initial_options"),
    ),
    "radio_buttons": also(
        element(
            {"options": items(RICH_OPTION, 10)}, {"initial_option": RICH_OPTION, "confirm": CONFIRM, **FOCUS}
        ),
        among_options("initial_option"),
    ),
}
PICKERS: dict[str, Check] = {
    "datepicker": element({}, {**PLACED, "initial_date": DATE}),
    "timepicker": element({}, {**PLACED, "initial_time": TIME, "timezone": string(255)}),
    "datetimepicker": element(
        {}, {"initial_date_time": integer(10**9, 10**10 - 1), "confirm": CONFIRM, **FOCUS}
    ),
}
OVERFLOW: dict[str, Check] = {"overflow": element({"options": items(OPTION, 5, 2)}, {"confirm": CONFIRM})}
RICH_INPUT: dict[str, Check] = {
    "rich_text_input": element(
        {}, {**TYPED, "initial_value": anything, "min_lines": integer(1, 100), "max_lines": integer(1, 100)}
    )
}
TEXT_INPUTS: dict[str, Check] = {
    "plain_text_input": also(
        element(
            {},
            {
                **TYPED,
                "initial_value": string(3000, 0),
                "multiline": flag,
                "min_length": integer(0, 3000),
                "max_length": integer(1, 3000),
            },
        ),
        bounded("min_length", "max_length"),
    ),
    "number_input": also(
        element(
            {"is_decimal_allowed": flag},
            {**TYPED, "initial_value": string(255), "min_value": string(255), "max_value": string(255)},
        ),
        bounded("min_value", "max_value"),
    ),
    "email_text_input": element({}, {**TYPED, "initial_value": string(3000, 0)}),
    "url_text_input": element({}, {**TYPED, "initial_value": string(3000, 0)}),
    "file_input": element({}, {"filetypes": items(string(255), 100), "max_files": integer(1, 10)}),
}
CONTEXT_TEXTS: dict[str, Check] = {
    "plain_text": record({"type": TYPE, "text": string(3000)}, {"emoji": flag}),
    "mrkdwn": record({"type": TYPE, "text": string(3000)}, {"verbatim": flag}),
}
WORKFLOW_BUTTON: dict[str, Check] = {
    "workflow_button": element(
        {"text": plain(75), "workflow": anything},
        {"style": STYLE, "accessibility_label": string(75), "confirm": CONFIRM},
    )
}

ACTION_ELEMENTS = {
    **BUTTONS, **SELECTS, **MULTI_SELECTS, **CHOICES, **PICKERS, **OVERFLOW, **RICH_INPUT, **WORKFLOW_BUTTON
}  # fmt: skip
ACCESSORIES = {
    "image": IMAGE_ELEMENT, **BUTTONS, **SELECTS, **MULTI_SELECTS, **CHOICES, **PICKERS, **OVERFLOW,
    **WORKFLOW_BUTTON,
}  # fmt: skip
INPUT_ELEMENTS = {**SELECTS, **MULTI_SELECTS, **CHOICES, **PICKERS, **RICH_INPUT, **TEXT_INPUTS}
