"""What a person writes: messages and files, and what Slack's composer makes of the text.

`@bob`, `@card-approvers` and `#card-ops` become ids when they name somebody; text that already has the form
`<@U0BOB>` is taken as it is; addresses of web pages become links; markup characters are escaped. Formatting (bold,
lists, code) is not parsed.

Source: https://docs.slack.dev/messaging/formatting-message-text
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Any

from sandbox.slack.block_kit import limits
from sandbox.slack.control_fields import Fields, take
from sandbox.slack.control_fields import text as text_field
from sandbox.slack.errors import BadAct
from sandbox.slack.interactions.actors import find_channel, find_person, first_ack
from sandbox.slack.json_object import Json
from sandbox.slack.state import (
    BOT_USER,
    Channel,
    Person,
    Store,
    StoredFile,
    file_objects,
    messages,
)
from sandbox.slack.workspace import Workspace

_TOKEN = re.compile(
    r"<@(?P<user>[UW]\w+)(\|[^>]*)?>|<#(?P<channel>C\w+)(\|[^>]*)?>|<!subteam\^(?P<group>S\w+)(\|[^>]*)?>"
    r"|<(?P<given>https?://[^\s<>|]+)(\|[^>]*)?>|(?P<link>https?://[^\s<>|]*[^\s<>|.,;:!?)'\"])"
    r"|(?<!\w)@(?P<at>[A-Za-z0-9][\w.-]*)|(?<!\w)#(?P<hash>[a-z0-9][\w-]*)"
)


#: A file as somebody shares it.
FILE = Fields(name=text_field).optional(content=text_field, content_base64=text_field)


async def write(workspace: Workspace, user: str, channel_key: str, text: str, thread_ts: str | None) -> Json:
    """Write a message, into a thread when `thread_ts` is its parent's.

    Answers `{ts, delivered, acked, ack_ms}`. Raises BadAct where nobody could write, and for an empty or too long text.
    """
    who = find_person(workspace, user)
    where = _writable(workspace, who, channel_key, thread_ts)
    if not text.strip() or len(text) > limits.TYPED_TEXT:
        raise BadAct(f"a message has 1 to {limits.TYPED_TEXT} characters")
    written, parts = compose(text, workspace.store, workspace.manifest.bot_name)
    message = messages.user_message(workspace.ids, who, written, parts, thread_ts)
    done = await _posted(workspace, where, message)
    workspace.events.links_shared(where, message)
    return done


async def share_files(workspace: Workspace, user: str, channel_key: str, given: Json) -> Json:
    """Upload files, with or without words. `given` has `files` and maybe `text` and `thread_ts`.

    Each file is `{name, content}` or `{name, content_base64}`. Answers and raises as `write` does.
    """
    who = find_person(workspace, user)
    text, thread_ts = given.get("text", ""), given.get("thread_ts")
    where = _writable(workspace, who, channel_key, thread_ts)
    if len(text) > limits.TYPED_TEXT:
        raise BadAct(f"a message has at most {limits.TYPED_TEXT} characters")
    if not 1 <= len(given["files"]) <= file_objects.MAX_FILES_A_MESSAGE:
        raise BadAct(f"a message has 1 to {file_objects.MAX_FILES_A_MESSAGE} files")
    stored = [_upload(workspace, who, where, one) for one in given["files"]]
    for file in stored:
        workspace.store.put_file(file)
    shown = [file_objects.file_json(workspace.base_url, file, where) for file in stored]
    written, parts = compose(text, workspace.store, workspace.manifest.bot_name)
    message = messages.user_message(workspace.ids, who, written, parts, thread_ts)
    done = await _posted(workspace, where, messages.with_files(message, shown))
    for file in stored:
        workspace.events.file_event("file_shared", file.id, who.id, where)
    return done


def _upload(workspace: Workspace, who: Person, where: Channel, given: Any) -> StoredFile:
    """One `{name, content}` or `{name, content_base64}`. Raises BadAct."""
    one = take(given if isinstance(given, dict) else {}, FILE)
    try:
        content = b64decode(one.get("content_base64", ""), validate=True) or one.get("content", "").encode()
    except ValueError:
        raise BadAct(f"{one['name']}: the content is not base64, or not text") from None
    if not one["name"].strip() or not 1 <= len(content) <= file_objects.MAX_BYTES:
        raise BadAct(f"a file has a name and 1 to {file_objects.MAX_BYTES} bytes")
    now = int(workspace.clock.now())
    file_id = workspace.ids.fresh("F")
    return StoredFile(file_id, one["name"], len(content), content, one["name"], True, who.id, now, where.id)


def _writable(workspace: Workspace, who: Person, channel_key: str, thread_ts: str | None) -> Channel:
    """Where they write. Raises BadAct where nobody can."""
    where = find_channel(workspace, who, channel_key)
    if where.archived:
        raise BadAct(f"{where.name} is archived")
    if where.is_im and not workspace.manifest.messages_tab:
        raise BadAct("the app's messages tab is switched off in the manifest")
    if where.is_im and workspace.manifest.messages_tab_read_only:
        raise BadAct("the app's messages tab is read-only in the manifest")
    if thread_ts and workspace.store.message(where.id, thread_ts) is None:
        raise BadAct(f"there is no message {thread_ts} to reply to")
    return where


async def _posted(workspace: Workspace, where: Channel, message: Json) -> Json:
    workspace.store.put_message(where.id, message)
    tasks = [workspace.events.message_posted(where, message)]
    if f"<@{BOT_USER}>" in message["text"] and where.bot_is_in and not where.is_im:
        tasks.append(workspace.events.mentioned(where, message))
    return {"ts": message["ts"], **await first_ack(tasks)}


def compose(text: str, store: Store, bot_name: str) -> tuple[str, list[Json]]:
    """The message's `text`, and the elements of its rich_text section."""
    written: list[str] = []
    parts: list[Json] = []
    position = 0
    for match in _TOKEN.finditer(text):
        found = _mention(match, store, bot_name)
        if found is not None:
            _plain(text[position : match.start()], written, parts)
            written.append(found[0])
            parts.append(found[1])
            position = match.end()
    _plain(text[position:], written, parts)
    return "".join(written), parts


def _plain(text: str, written: list[str], parts: list[Json]) -> None:
    if text:
        written.append(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
        parts.append({"type": "text", "text": text})


def _mention(match: re.Match[str], store: Store, bot_name: str) -> tuple[str, Json] | None:
    """The form in text and in rich text of the person, group or channel named; None for an unknown name."""
    link = match["given"] or match["link"]
    if link:
        url = link.replace("&amp;", "&")
        return "<" + url.replace("&", "&amp;") + ">", {"type": "link", "url": url}
    user, channel, group = match["user"], match["channel"], match["group"]
    if match["at"]:
        user, group = _named(match["at"], store, bot_name)
    elif match["hash"]:
        named = store.channel_named(match["hash"])
        channel = named.id if named is not None else None
    if user in store.people:
        return f"<@{user}>", {"type": "user", "user_id": user}
    if group in store.groups:
        return f"<!subteam^{group}>", {"type": "usergroup", "usergroup_id": group}
    if channel in store.channels:
        return f"<#{channel}>", {"type": "channel", "channel_id": channel}
    return None


def _named(name: str, store: Store, bot_name: str) -> tuple[str | None, str | None]:
    """Ids of the person or the group with this name."""
    if name.lower() == bot_name.lower():
        return BOT_USER, None
    for one in store.people.values():
        if one.name == name.lower():
            return one.id, None
    group = next((each.id for each in store.groups.values() if each.handle == name), None)
    return None, group
