"""Messages as Slack stores and returns them, and where they go.

Deviations: `markdown_text` is kept as the text, text is kept as sent (Slack links URLs and names by itself, and
gives `& < >` back as entities in every text of a payload), `attachments` are kept but neither checked nor
drawn, nothing is unfurled, and an edit of blocks alone counts as an edit.
"""

from __future__ import annotations

from sandbox.slack.block_kit import stored_blocks
from sandbox.slack.ids import Ids
from sandbox.slack.json_object import Json
from sandbox.slack.state.people import APP_ID, BOT_ID, BOT_USER, TEAM_ID, Person

MAX_TEXT = 40_000


def bot_message(ids: Ids, bot_name: str, created_at: int, content: Json) -> Json:
    """A message of the app. `content` has any of text, blocks, attachments, thread_ts, metadata."""
    message: Json = {
        "type": "message",
        "user": BOT_USER,
        "ts": ids.ts(),
        "bot_id": BOT_ID,
        "app_id": APP_ID,
        "team": TEAM_ID,
        "text": "",
        "bot_profile": {
            "id": BOT_ID,
            "app_id": APP_ID,
            "name": bot_name,
            "icons": {},
            "deleted": False,
            "updated": created_at,
            "team_id": TEAM_ID,
        },
    }
    put_content(message, content, ids)
    return message


def put_content(message: Json, content: Json, ids: Ids) -> None:
    """Write what is given over a message; what is not given stays."""
    if content.get("text") is not None:
        message["text"] = content["text"][:MAX_TEXT]
    if content.get("blocks") is not None:
        message["blocks"] = stored_blocks.completed(content["blocks"], ids)
        if not message["blocks"]:
            del message["blocks"]
    for key in ("attachments", "thread_ts", "metadata", "files"):
        if content.get(key) is not None:
            message[key] = numbered(content[key]) if key == "attachments" else content[key]
            if not content[key]:
                del message[key]


def numbered(attachments: list[Json]) -> list[Json]:
    """Attachments as Slack keeps them: each with a number, and a text for those who see none."""
    return [
        {"fallback": "[no preview available]", **one, "id": place} for place, one in enumerate(attachments, 1)
    ]


def user_message(ids: Ids, person: Person, text: str, parts: list[Json], thread_ts: str | None) -> Json:
    """A message a person typed; the composer of Slack sends one rich_text block with it."""
    message: Json = {
        "type": "message",
        "user": person.id,
        "ts": ids.ts(),
        "client_msg_id": ids.envelope_id(),
        "team": person.team_id,
        "text": text,
    }
    if parts:
        section = {"type": "rich_text_section", "elements": parts}
        message["blocks"] = [{"type": "rich_text", "block_id": ids.block_id(), "elements": [section]}]
    if thread_ts:
        message["thread_ts"] = thread_ts
    return message


def channel_message(ids: Ids, user: str, subtype: str, text: str, more: Json) -> Json:
    """A message that Slack writes about a channel: `user` joined it, renamed it, set its topic and so on.

    Source: https://docs.slack.dev/reference/events/message
    """
    words = f"<@{user}> {text}"
    return {
        "type": "message", "subtype": subtype, "ts": ids.ts(), "user": user, "text": words, "team": TEAM_ID, **more
    }  # fmt: skip


def with_files(message: Json, files: list[Json]) -> Json:
    """The same message as one that shares files; Slack gives it a subtype and no team."""
    rest = {key: value for key, value in message.items() if key != "team"}
    return {**rest, "subtype": "file_share", "files": files, "upload": False, "display_as_bot": False}


def by_the_app(message: Json) -> bool:
    """Whether the app wrote this message, and so may edit it."""
    return message.get("bot_id") == BOT_ID


def react(message: Json, user: str, name: str) -> bool:
    """Add somebody's reaction; False when it was there."""
    held: list[Json] = message.setdefault("reactions", [])
    found = next((one for one in held if one["name"] == name), None)
    if found is None:
        held.append({"name": name, "users": [user], "count": 1})
        return True
    if user in found["users"]:
        return False
    found["users"].append(user)
    found["count"] += 1
    return True


def unreact(message: Json, user: str, name: str) -> bool:
    """Take somebody's reaction back; False when there was none."""
    held: list[Json] = message.get("reactions", [])
    found = next((one for one in held if one["name"] == name and user in one["users"]), None)
    if found is None:
        return False
    found["users"].remove(user)
    found["count"] -= 1
    if not found["users"]:
        held.remove(found)
    if not held:
        del message["reactions"]
    return True
