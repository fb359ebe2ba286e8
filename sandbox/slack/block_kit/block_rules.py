"""Block Kit as tables: every block, with Slack's limits, and which of them messages, modals and home tabs take.

Sources: Slack's reference of blocks and its published types. Not checked: the inside of rich_text
beyond its outermost form, the axes of charts, and what an image URL leads to.
"""

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
    number,
    one_of,
    record,
    say,
    string,
    url,
)
from sandbox.slack.block_kit.element_rules import (
    ACCESSORIES,
    ACTION_ELEMENTS,
    BLOCK_ID,
    BUTTONS,
    CONTEXT_TEXTS,
    FEEDBACK_BUTTON,
    ICON_BUTTON,
    IMAGE_ELEMENT,
    INPUT_ELEMENTS,
    SLACK_FILE,
    TYPE,
    either,
    element,
    mrkdwn,
    plain,
    text,
)


def block(required: dict[str, Check] | None = None, optional: dict[str, Check] | None = None) -> Check:
    """A block with these properties of its own; every block may have a `block_id`."""
    return record({"type": TYPE, **(required or {})}, {"block_id": BLOCK_ID, **(optional or {})})


def _section_says_something(value: Any, at: str, complaints: Complaints) -> None:
    if isinstance(value, dict) and not value.get("text") and not value.get("fields"):
        say(complaints, "must define either `text` or `fields`", at)


def _distinct_actions(value: Any, at: str, complaints: Complaints) -> None:
    """An action_id is unique within its block."""
    elements = value.get("elements") if isinstance(value, dict) else None
    held = elements if isinstance(elements, list) else []
    ids = [str(one["action_id"]) for one in held if isinstance(one, dict) and "action_id" in one]
    for twice in sorted({one for one in ids if ids.count(one) > 1}):
        say(complaints, f"`action_id` {twice} already exists", f"{at}/elements")


RICH_TEXT = block(
    {
        "elements": items(
            by_type(
                dict.fromkeys(
                    ("rich_text_section", "rich_text_list", "rich_text_quote", "rich_text_preformatted"),
                    anything,
                )
            ),
            1000,
            0,
        )
    }
)
CELL = by_type(
    {
        "raw_text": record({"type": TYPE, "text": string(3000, 0)}),
        "raw_number": record({"type": TYPE, "value": number, "text": string(255)}),
        "rich_text": RICH_TEXT,
    }
)
COLUMN_SETTING = record({}, {"align": one_of("left", "center", "right"), "is_wrapped": flag})
TASK_STATUS = one_of("pending", "in_progress", "complete", "error")
TASK = block(
    {"task_id": string(255), "title": string(150), "status": TASK_STATUS},
    {
        "details": RICH_TEXT,
        "output": RICH_TEXT,
        "sources": items(record({"type": one_of("url"), "url": url(), "text": string(255)}), 100, 0),
    },
)
CARD = block(
    {},
    {
        "hero_image": IMAGE_ELEMENT,
        "icon": IMAGE_ELEMENT,
        "title": mrkdwn(150),
        "subtitle": mrkdwn(150),
        "body": mrkdwn(200),
        "actions": items(by_type(BUTTONS), 25),
    },
)
POINT = record({"label": string(255), "value": number})
SERIES = items(record({"name": string(255), "data": items(POINT, 100)}), 6)
PLOTTED = record({"type": TYPE, "series": SERIES, "axis_config": anything})
CHART = by_type(
    {
        "pie": record({"type": TYPE, "segments": items(POINT, 6)}),
        "bar": PLOTTED,
        "line": PLOTTED,
        "area": PLOTTED,
    }
)

COMMON: dict[str, Check] = {
    "section": also(
        block(
            {},
            {
                "text": text(3000),
                "fields": items(text(2000), 10),
                "accessory": by_type(ACCESSORIES),
                "expand": flag,
            },
        ),
        _section_says_something,
    ),
    "header": block({"text": plain(150)}),
    "divider": block(),
    "context": block({"elements": items(by_type({**CONTEXT_TEXTS, "image": IMAGE_ELEMENT}), 10)}),
    "actions": also(block({"elements": items(by_type(ACTION_ELEMENTS), 25)}), _distinct_actions),
    "image": also(
        block(
            {"alt_text": string(2000)},
            {"image_url": url(), "slack_file": SLACK_FILE, "title": plain(2000)},
        ),
        either("image_url", "slack_file"),
    ),
    "input": block(
        {"label": plain(2000), "element": by_type(INPUT_ELEMENTS)},
        {"hint": plain(2000), "optional": flag, "dispatch_action": flag},
    ),
    "rich_text": RICH_TEXT,
    "table": block({"rows": items(items(CELL, 20), 100)}, {"column_settings": items(COLUMN_SETTING, 20, 0)}),
    "data_table": block(
        {"rows": items(items(CELL, 20), 101, 2), "caption": string(255)},
        {"page_size": integer(1, 100), "row_header_column_index": integer(0, 19)},
    ),
    "data_visualization": block({"title": string(50), "chart": CHART}),
    "card": CARD,
    "carousel": block({"elements": items(by_type({"card": CARD}), 10)}),
    "context_actions": also(
        block(
            {
                "elements": items(
                    by_type(
                        {
                            "feedback_buttons": element(
                                {"positive_button": FEEDBACK_BUTTON, "negative_button": FEEDBACK_BUTTON}
                            ),
                            "icon_button": ICON_BUTTON,
                        }
                    ),
                    5,
                )
            }
        ),
        _distinct_actions,
    ),
    "task_card": TASK,
    "plan": block({"title": string(150)}, {"tasks": items(by_type({"task_card": TASK}), 50, 0)}),
    "video": block(
        {"video_url": url(), "thumbnail_url": url(), "alt_text": string(2000), "title": plain(199)},
        {
            "title_url": url(),
            "author_name": string(49),
            "provider_name": string(255),
            "provider_icon_url": url(),
            "description": plain(200),
        },
    ),
    "file": block({"source": one_of("remote"), "external_id": string(255)}),
}
IN_CONTAINER = {
    kind: COMMON[kind]
    for kind in (
        "actions", "context", "divider", "file", "header", "image",
        "input", "rich_text", "section", "table", "video",
    )
}  # fmt: skip
CONTAINER = block(
    {"child_blocks": items(by_type(IN_CONTAINER), 10)},
    {
        "title": plain(150),
        "rich_text_title": RICH_TEXT,
        "subtitle": text(150),
        "width": one_of("narrow", "standard", "wide", "full"),
        "icon": IMAGE_ELEMENT,
        "is_collapsible": flag,
        "default_collapsed": flag,
        "has_header_divider": flag,
    },
)
MARKDOWN_MOST = 12_000
MARKDOWN = block({"text": string(MARKDOWN_MOST)})
ALERT = block({"text": text(200)}, {"level": one_of("default", "info", "warning", "error", "success")})

MESSAGE_BLOCKS = {**COMMON, "container": CONTAINER, "markdown": MARKDOWN}
MODAL_BLOCKS = {**COMMON, "container": CONTAINER, "alert": ALERT}
HOME_BLOCKS = {**COMMON, "container": CONTAINER}
