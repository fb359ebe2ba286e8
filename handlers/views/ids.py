"""Names of what can be pressed and submitted, and the little that travels with it: ids, never values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

# Buttons of a request; their value is `R-7K3M:version`.
APPROVE: Final = "request:approve"
REJECT: Final = "request:reject"
MORE: Final = "request:more"
CONFIRM: Final = "request:confirm"
UNDO: Final = "request:undo"
TRY_NOW: Final = "request:try_now"
RESOLVE: Final = "request:resolve"
AGAIN: Final = "request:again"
DETAILS: Final = "request:details"
CANCEL: Final = "request:cancel"

# Under a link to card details; its value is the request's id.
NEW_LINK: Final = "reveal:new_link"

# Opens the page for passkeys; its address is a one-time link.
PASSKEY_PAGE: Final = "passkey:page"

# Buttons of an alert; their value is its id.
ALERT_ACK: Final = "alert:ack"
ALERT_SNOOZE: Final = "alert:snooze"
ALERT_REMEDY: Final = "alert:remedy"
ALERT_REDELIVER: Final = "alert:redeliver"
ALERT_TRY_NOW: Final = "alert:try_now"
ALERT_SHOW_CARD: Final = "alert:show_card"
ALERT_CONFIRM: Final = "alert:confirm"
ALERT_DECLINE: Final = "alert:decline"
ALERT_RESUME: Final = "alert:resume"
ALERT_TAKE_OVER: Final = "alert:take_over"
ALERT_MORE: Final = "alert:more"
ALERT_ASSIGN: Final = "alert:assign"
SNOOZE_FORM: Final = "alert:snooze_form"

# Buttons that open a form or share an answer; their value is the command as typed.
OPEN_FORM: Final = "form:open"
EDIT: Final = "draft:edit"
SHARE: Final = "answer:share"

# Buttons that ask for another look-up, or for another page of this one in its place.
LOOK: Final = "answer:look"
TURN_PAGE: Final = "answer:page"

# Buttons of a conversation; their value is the dialog's id, its version, and where needed a number.
SAY_PICK: Final = "say:pick"
SAY_REVIEW: Final = "say:review"
SAY_SWITCH: Final = "say:switch"
SAY_STAY: Final = "say:stay"
SAY_FORGET: Final = "say:forget"
SAY_LOOK: Final = "say:look"
SAY_ELSE: Final = "say:else"
ASK_ABOUT: Final = "ask_about"  # the shortcut on messages

# Buttons that stop and resume sending; their value is the program's name.
PAUSE: Final = "sending:pause"
RESUME: Final = "sending:resume"
PAUSE_FORM: Final = "sending:pause_form"

# Batches; their values are ids and a page.
BULK_ROWS: Final = "request:rows"
BULK_REVIEW: Final = "bulk:review"
BULK_BACK: Final = "bulk:back"
BULK_ON: Final = "bulk:on"
BULK_LEAVE_OUT: Final = "bulk:leave_out"
BULK_PASTE: Final = "bulk:paste"
BULK_PREVIEW: Final = "bulk:preview"
BULK_LEFT_OUT: Final = "bulk:left_out"

# Modals.
FORM: Final = "draft:form"
PREVIEW: Final = "draft:preview"
NOTICE: Final = "notice"

Meta = Mapping[str, str]

# Slack takes 2,000 characters for a button's value.
_MOST_TYPED = 1500
_VERSION = re.compile("[0-9]{1,18}")


def stamp(request_id: str, version: int) -> str:
    return f"{request_id}:{version}"


def unstamp(value: str) -> tuple[str, int]:
    """The request id and version of a button, which is 0 where it is none of ours: somebody wrote it into the database
    while the button was drawn. Raises ValueError for anything else."""
    request_id, _, version = value.partition(":")
    if not request_id.startswith("R-"):
        raise ValueError("not a button of a request")
    return request_id, int(version) if _VERSION.fullmatch(version) else 0


def typed(text: str) -> str:
    return text[:_MOST_TYPED]


def pack(**ids: str | int) -> str:
    """private_metadata: at most 3,000 characters, and nobody but the app reads it back."""
    return json.dumps(ids, separators=(",", ":"))


def unpack(meta: str) -> Meta:
    return {key: str(value) for key, value in json.loads(meta or "{}").items()}
