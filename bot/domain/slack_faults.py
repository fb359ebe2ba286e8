"""What Slack's refusals mean to whoever runs Countersign: Slack's error code in plain words, and the fix.

Slack's codes are those of its Web API [docs.slack.dev/reference/methods/chat.postMessage, auth.test].
"""

from __future__ import annotations

import re
from typing import Final

TOKEN: Final = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
        "not_allowed_token_type",
    }
)
SCOPE: Final = frozenset({"missing_scope", "no_permission"})
WORKSPACE: Final = frozenset(
    {
        *("org_login_required", "team_access_not_granted", "access_denied", "ekm_access_denied"),
        "enterprise_is_restricted",
    }
)
CHANNEL: Final = frozenset(
    {
        *("not_in_channel", "channel_not_found", "is_archived", "restricted_action", "messages_tab_disabled"),
        *("is_ext_shared", "has_guests"),  # of ours: Slack would take the message
    }
)
OPEN_TO_OTHERS: Final = frozenset({"is_ext_shared", "has_guests"})
"""Of a channel in which others than full members of this workspace read: nothing is posted there."""

NOT_THERE: Final = frozenset({"user_not_found", "user_not_visible"})
"""What Slack says of somebody whom it does not know, or does not show us."""

EVERYWHERE: Final = TOKEN | SCOPE | WORKSPACE
"""Codes that hold for every channel, until somebody gives the app its access back."""
ACCESS: Final = EVERYWHERE | CHANNEL
"""Codes that end when somebody gives access: what waits for them is tried for as long as it takes."""

_WHEN_DISABLED: Final = (
    "If the app was disabled, enable it in Slack: Countersign continues by itself. If it has a new token, set that as"
    " SLACK_BOT_TOKEN and restart."
)
_CHANNEL_FIX: Final = "Or name another channel in countersign.toml and restart."
_OPEN: Final = {
    "is_ext_shared": "Nothing is posted in {where}, as it is shared with another organization (is_ext_shared).",
    "has_guests": "Nothing is posted in {where}, as guests or people of other workspaces are in it (has_guests).",
}
_CLOSE_IT: Final = (
    "Take them out of the channel. Or name another channel in countersign.toml, or allow it with slack.shared_ok, and"
    " restart."
)
_IS_AWAY: Final = re.compile(
    r"(5\d\d\b|no answer|internal_error|fatal_error|service_unavailable|request_timeout)"
)
_IS_CODE: Final = re.compile(r"[a-z0-9_]+")


def explained(error: str, channel: str = "") -> str:
    """What is wrong and what to do, in sentences.

    `error`: Slack's code, or what is kept of a message that was not sent. `channel`: which one it is about, where that
    is known.
    """
    where = channel or "the channel"
    if error in OPEN_TO_OTHERS:
        return f"{_OPEN[error].format(where=where)} {_CLOSE_IT}"
    match error:
        case "not_in_channel":
            return (
                f"Countersign is not in {where} (not_in_channel). Invite it there with /invite @Countersign."
            )
        case "is_archived":
            return f"{where[0].upper()}{where[1:]} is archived (is_archived). Unarchive it. {_CHANNEL_FIX}"
        case "channel_not_found":
            return (
                f"Slack does not show {where} to Countersign (channel_not_found). Create it if it is gone, and invite"
                f" Countersign with /invite @Countersign. {_CHANNEL_FIX}"
            )
        case "restricted_action":
            return (
                f"Posting in {where} is restricted (restricted_action). Allow Countersign to post there, in the"
                " channel's settings."
            )
        case "messages_tab_disabled":
            return (
                "The app may not write to people (messages_tab_disabled). In the app's settings, under App Home, switch"
                " on the Messages Tab."
            )
        case "paid_teams_only":
            return (
                "User groups need a paid plan of Slack (paid_teams_only). List member ids in countersign.toml instead"
                " of the group, and restart."
            )
        case "ratelimited":
            return "Slack takes no more messages right now (ratelimited). Nothing to do: they are sent a little later."
    if error in TOKEN:
        return f"Slack does not accept SLACK_BOT_TOKEN ({error}). {_WHEN_DISABLED}"
    if error in SCOPE:
        return (
            f"The Slack app lacks a permission ({error}). Give it those of manifest.yml and install it again in the"
            " workspace. If that gives it a new token, set it as SLACK_BOT_TOKEN and restart."
        )
    if error in WORKSPACE:
        return f"Slack does not let the app into the workspace ({error}). Ask an admin of the workspace to allow it."
    return _something_else(error)


def is_away(error: str) -> bool:
    """Whether this says that Slack gave no answer, or none that it meant to give."""
    return bool(_IS_AWAY.match(error))


def holds_for_others(error: str) -> bool:
    """Does what Slack said of one message keep the others from the same channel?"""
    return error in ACCESS or error == "ratelimited" or is_away(error)


def _something_else(error: str) -> str:
    if is_away(error):
        return (
            f"Slack does not work right now ({error}). Nothing to do: Countersign tries again until it does."
        )
    if error.startswith("not drawn"):
        return f"A message could not be built ({error}). The log has the cause: report it as a fault of Countersign."
    if _IS_CODE.fullmatch(error):
        return f"Slack answers {error}. Look this up in Slack's documentation of its Web API."
    return error if error.endswith(".") else f"{error}."
