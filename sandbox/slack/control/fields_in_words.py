"""What each field of a control call's body is for, in words: by its name, or by call and name where it differs."""

from __future__ import annotations

from sandbox.slack.faults import ENVELOPE_TYPES, FILE_DOWNLOAD, INTERACTIONS, RESPONSE_URL
from sandbox.slack.json_object import Json

FIELDS: dict[str, str] = {
    "user": "Who acts: the id of a person.",
    "channel": "The id of a channel or conversation.",
    "ts": "The timestamp of a message.",
    "thread_ts": "The timestamp of the message whose thread is meant.",
    "text": "The words.",
    "action_id": "Which button or menu, as the app named it.",
    "block_id": "The block that it is in, as the app named it.",
    "view_id": "The modal, by its id.",
    "value": "What was chosen or typed.",
    "selected_option": "The option that was chosen, or its value.",
    "selected_options": "The options that were chosen, or their values.",
    "values": "What the form holds, by block id, then by action id.",
    "callback_id": "Which shortcut, as the manifest names it.",
    "files": "The files, each with a name and its content.",
    "content": "The content, as text.",
    "content_base64": "The content, in base64.",
    "tab": "Which tab of the app is opened.",
    "remove": "Take the reaction back.",
    "blocks": "The blocks that the message has from now on.",
    "id": "Which one is changed, or the id of the new one.",
    "name": "A name.",
    "real_name": "The full name.",
    "is_restricted": "Whether the person is a guest of several channels.",
    "is_ultra_restricted": "Whether the person is a guest of one channel.",
    "is_stranger": "Whether the person belongs to another workspace.",
    "is_bot": "Whether it is a bot.",
    "deleted": "Whether the account is deactivated.",
    "team_id": "The workspace that the person belongs to.",
    "tz": "The person's time zone, such as Europe/Berlin.",
    "email": "The person's address.",
    "handle": "The name by which the user group is mentioned.",
    "users": "Who is in the group, by their ids.",
    "members": "Who is in the channel, by their ids; the app's is U0BOT.",
    "archived": "Whether the channel is archived.",
    "is_private": "Whether the channel is private.",
    "is_ext_shared": "Whether the channel is shared with another workspace.",
    "method": (
        f"What goes wrong: a method, {RESPONSE_URL} or {FILE_DOWNLOAD}; or what is sent to the app:"
        f" {', '.join(sorted(ENVELOPE_TYPES | INTERACTIONS))}, or an event by its name, such as reaction_added."
        " Anything where none is named."
    ),
    "effect": "What happens to it; disconnect by Socket Mode only, skew over HTTP only.",
    "nth": "The first call that it strikes, counted from 1.",
    "times": "How many calls it strikes.",
    "error": "The error to answer, for the effect error.",
    "seconds": "How long, for a delay or a silence; what Retry-After says, for 429.",
    "reason": "The reason that is given when connections end.",
    "advance_seconds": "Go on by so many seconds.",
    "enabled": "Whether Socket Mode is on.",
    "half": "Which half of the sandbox wrote the file.",
    "version": "The version of the form of the file.",
}
OF_A_CALL: dict[tuple[str, str], str] = {
    ("act/command", "text"): "The command and what follows it, as it is typed.",
    ("act/react", "name"): "The name of the emoji, with or without colons.",
    ("act/upload", "name"): "The name of the file.",
    ("snapshot", "content"): "The state, as GET snapshot wrote it.",
}
EXAMPLES: dict[str, Json] = {
    "act/command": {"user": "U0ALICE", "channel": "C0OPS", "text": "/lunch Noodle Bar"},
    "act/click": {"user": "U0BOB", "action_id": "come", "channel": "C0OPS", "ts": "1772442000.000100"},
    "act/submit": {"user": "U0ALICE", "view_id": "V0123456789", "values": {"place": {"name": "Taqueria"}}},
    "act/close": {"user": "U0ALICE", "view_id": "V0123456789"},
    "act/suggest": {
        "user": "U0ALICE", "view_id": "V0123456789", "block_id": "place", "action_id": "name", "value": "Taq",
    },
    "act/message": {"user": "U0ALICE", "channel": "C0OPS", "text": "<@U0BOT> hello"},
    "act/upload": {"user": "U0ALICE", "channel": "C0OPS", "files": [{"name": "a.txt", "content": "Hello"}]},
    "act/home": {"user": "U0ALICE"},
    "act/shortcut": {"user": "U0ALICE", "callback_id": "new_lunch"},
    "act/react": {"user": "U0ALICE", "channel": "C0OPS", "ts": "1772442000.000100", "name": "eyes"},
    "act/join": {"user": "U0BOT", "channel": "C0OPS"},
    "act/leave": {"user": "U0BOT", "channel": "C0OPS"},
    "act/edit": {"channel": "C0OPS", "ts": "1772442000.000100", "text": "Changed"},
    "act/delete": {"channel": "C0OPS", "ts": "1772442000.000100"},
    "people": {"id": "U0BOB", "deleted": True},
    "groups": {"handle": "cooks", "users": ["U0ALICE"]},
    "channels": {"name": "kitchen", "members": ["U0BOT", "U0ALICE"]},
    "faults": {"method": "chat.update", "effect": "429", "seconds": 30},
    "clock": {"advance_seconds": 3600},
    "disconnect": {"reason": "refresh_requested"},
    "socket_mode": {"enabled": False},
    "verify_url": {},
    "reset": {},
    "snapshot": {"half": "slack", "version": 1, "content": []},
}  # fmt: skip


def described(call: str, schema: Json) -> Json:
    """The schema of a call's body with the words for each field, also of those within, and an example."""
    fields = {name: _described(call, name, one) for name, one in schema["properties"].items()}
    return {**schema, "properties": fields, "examples": [EXAMPLES[call]]}


def _described(call: str, name: str, field: Json) -> Json:
    words = OF_A_CALL.get((call, name)) or FIELDS[name]
    if field.get("items", {}).get("properties"):
        within = {below: _described(call, below, one) for below, one in field["items"]["properties"].items()}
        field = {**field, "items": {**field["items"], "properties": within}}
    return {**field, "description": words}
