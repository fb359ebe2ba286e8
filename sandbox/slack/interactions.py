"""What a person does with commands, messages and the home tab, and what Slack makes of the answer.

People may act wherever the control call says, members of the channel or not, deactivated or not:
such clicks reach real apps too, in the seconds before Slack's own clients notice, and an app must
not rely on Slack to stop them. What nobody can do is touch another person's ephemeral message,
direct message or modal.

Deviations: a command's text is delivered as typed (whether Slack escapes `& < >` in it is
unverified); people of other workspaces may send commands, which Slack's client does not offer them.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64decode
from typing import Any

from sandbox.slack.block_kit import input_values, limits, stored_blocks
from sandbox.slack.composer import compose
from sandbox.slack.delivery import Ack, Parcel, payloads
from sandbox.slack.errors import BadAct, SlackError
from sandbox.slack.fields import Fields, take
from sandbox.slack.fields import text as text_field
from sandbox.slack.json_object import Json
from sandbox.slack.state import BOT_USER, Channel, Ephemeral, Person, StoredFile, file_objects, messages
from sandbox.slack.web_api import check_blocks
from sandbox.slack.workspace import Workspace

#: Slack's wording is reported in many public threads; it is not documented.
COMMAND_FAILED = '{command} failed with the error "{reason}"'
REASON_TEXT = {"timeout": "operation_timeout"}
CLICK_FAILED = "This app is not responding. Try again in a moment."


def person(workspace: Workspace, user: str) -> Person:
    """Who acts. Raises BadAct for somebody unknown, or the app itself."""
    found = workspace.store.people.get(user)
    if found is None:
        raise BadAct(f"there is no person {user!r}")
    if found.id == BOT_USER:
        raise BadAct("the app's own user does not act; use the Web API")
    return found


def channel(workspace: Workspace, who: Person, key: str) -> Channel:
    """Where they act. Raises BadAct for an unknown one, or somebody else's direct message."""
    found = workspace.store.channels.get(key) or workspace.store.channel_named(key)
    if found is None:
        raise BadAct(f"there is no channel {key!r}")
    if found.is_im and found.im_user != who.id:
        raise BadAct(f"{found.id} is somebody else's conversation")
    return found


def outcome(ack: Ack) -> Json:
    return {"acked": ack.acked, "ack_ms": ack.ack_ms, **({} if ack.acked else {"reason": ack.reason})}


def response_url(workspace: Workspace, who: Person, where: Channel, message: Json | None = None) -> str:
    ts = message["ts"] if message else None
    thread_ts = message.get("thread_ts") if message else None
    secret = workspace.response_urls.issue(who.id, where.id, ts, thread_ts)
    return f"{workspace.base_url}/response/{secret}"


async def command(workspace: Workspace, user: str, channel_key: str, text: str) -> Json:
    """Somebody sends `/command text`."""
    who = person(workspace, user)
    where = channel(workspace, who, channel_key)
    name, _, rest = text.strip().partition(" ")
    declared = workspace.manifest.command(name)
    if declared is None:
        _tell(workspace, who, where, f"{name} is not a valid command.")
        return {"acked": False, "ack_ms": None, "reason": "not_declared"}
    rest = rest.strip()
    if declared.should_escape:
        rest = _escaped(workspace, rest)
    payload = payloads.slash_command(
        declared, rest, who, where, workspace.triggers.issue(who.id), response_url(workspace, who, where)
    )
    summary = f"{who.name} in {where.name}: {name} {rest}".strip()
    ack = await workspace.delivery.send(Parcel("slash_commands", "slash_commands", payload, True, summary))
    if not ack.acked:
        _command_failed(workspace, who, where, name, REASON_TEXT.get(ack.reason, "dispatch_failed"))
        return outcome(ack)
    try:
        reply = answer_command(workspace, who, where, ack.payload)
    except SlackError as refusal:
        _command_failed(workspace, who, where, name, refusal.code)
        return {**outcome(ack), "refused": refusal.body()}
    return {**outcome(ack), **({"reply": reply} if reply else {})}


def answer_command(workspace: Workspace, who: Person, where: Channel, given: Json | None) -> Json | None:
    """Show the reply in a command's ack. Raises SlackError when Slack would not."""
    if not given or not (given.get("text") or given.get("blocks") or given.get("attachments")):
        return None
    if given.get("blocks"):
        check_blocks(given["blocks"])
    message = _bot_message(workspace, where, given)
    if given.get("response_type") == "in_channel":
        workspace.store.put_message(where.id, message)
    else:
        workspace.store.put_ephemeral(Ephemeral(who.id, where.id, message))
    return message


def _bot_message(workspace: Workspace, where: Channel, given: Json) -> Json:
    return messages.bot_message(workspace.ids, workspace.manifest.bot_name, where.created_at, given)


def _tell(workspace: Workspace, who: Person, where: Channel, text: str) -> None:
    """Slack itself says something to one person."""
    message = {
        "type": "message",
        "user": "USLACKBOT",
        "username": "Slackbot",
        "ts": workspace.ids.ts(),
        "text": text,
    }
    workspace.store.put_ephemeral(Ephemeral(who.id, where.id, message))


def _command_failed(workspace: Workspace, who: Person, where: Channel, name: str, reason: str) -> None:
    _tell(workspace, who, where, COMMAND_FAILED.format(command=name, reason=reason))


def _escaped(workspace: Workspace, text: str) -> str:
    """Names become ids where the command asks for it (`should_escape`)."""

    def user(match: re.Match[str]) -> str:
        found = workspace.store.person(match[1])
        return f"<@{found.id}|{found.name}>" if found and found.name == match[1] else match[0]

    def place(match: re.Match[str]) -> str:
        found = workspace.store.channel_named(match[1])
        return f"<#{found.id}|{found.name}>" if found else match[0]

    return re.sub(r"#([a-z0-9_-]+)", place, re.sub(r"@([a-z0-9._-]+)", user, text))


async def click_message(
    workspace: Workspace,
    user: str,
    channel_key: str,
    ts: str,
    block_id: str | None,
    action_id: str,
    value: Any,
) -> Json:
    """Somebody uses a button, menu or picker of a message; `value` is what they chose."""
    who = person(workspace, user)
    where = channel(workspace, who, channel_key)
    hidden = workspace.store.ephemeral(where.id, ts)
    if hidden is not None and hidden.user != who.id:
        raise BadAct(f"only {hidden.user} sees that message")
    message = hidden.message if hidden else workspace.store.message(where.id, ts)
    if message is None:
        raise BadAct(f"there is no message {ts} in {where.name}")
    placed = _placed(message.get("blocks") or [], action_id, block_id)
    entry = chosen(placed.element, value, {})
    values = _message_values(message, placed, entry)
    payload = payloads.message_action(
        who,
        where,
        message,
        input_values.action(placed.block_id, placed.element, entry, workspace.ids.ts()),
        is_ephemeral=hidden is not None,
        values=values,
        trigger_id=workspace.triggers.issue(who.id),
        response_url=response_url(workspace, who, where, message),
    )
    return await send_click(workspace, who, payload, placed)


def _placed(held: list[Json], action_id: str, block_id: str | None) -> stored_blocks.Placed:
    placed = stored_blocks.find(held, action_id, block_id)
    if placed is None:
        raise BadAct(f"there is no element {action_id!r} there")
    return placed


def chosen(element: Json, value: Any, suggested: dict[str, Json]) -> Json | None:
    """The state an element takes from a click; a button has none."""
    if element["type"] == "overflow" and value is None:
        raise BadAct("selected_option is missing: say which entry of the menu")
    if element["type"] == "feedback_buttons":
        return input_values.feedback(element, value)
    if element["type"] in input_values.STATELESS - {"overflow"}:
        return None
    return input_values.state(element, value, suggested)


def _message_values(message: Json, placed: stored_blocks.Placed, entry: Json | None) -> Json:
    values: Json = {}
    for other in stored_blocks.elements(message["blocks"]):
        if other.element["type"] not in input_values.STATELESS:
            values.setdefault(other.block_id, {})[other.action_id] = input_values.initial_state(other.element)
    if entry is not None and placed.element["type"] not in input_values.STATELESS:
        values[placed.block_id][placed.action_id] = entry
    return values


async def send_click(workspace: Workspace, who: Person, payload: Json, placed: stored_blocks.Placed) -> Json:
    """Deliver a block_actions payload; a link button opens its link whatever the app says."""
    if not workspace.manifest.interactive:
        workspace.toast(who.id, CLICK_FAILED)
        return {"acked": False, "ack_ms": None, "reason": "interactivity_not_enabled"}
    summary = f"{who.name} used {placed.action_id}"
    ack = await workspace.delivery.send(Parcel("interactive", "block_actions", payload, False, summary))
    if not ack.acked:
        workspace.toast(who.id, CLICK_FAILED)
    return outcome(ack)


async def write(workspace: Workspace, user: str, channel_key: str, text: str, thread_ts: str | None) -> Json:
    """Somebody writes a message."""
    who = person(workspace, user)
    where = _writable(workspace, who, channel_key, thread_ts)
    if not text.strip() or len(text) > limits.TYPED_TEXT:
        raise BadAct(f"a message has 1 to {limits.TYPED_TEXT} characters")
    written, parts = compose(text, workspace.store, workspace.manifest.bot_name)
    message = messages.user_message(workspace.ids, who, written, parts, thread_ts)
    return await _posted(workspace, where, message)


async def share_files(workspace: Workspace, user: str, channel_key: str, given: Json) -> Json:
    """Somebody uploads files, with or without words. `given` has files, and maybe text and thread_ts."""
    who = person(workspace, user)
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
    return await _posted(workspace, where, messages.with_files(message, shown))


def _upload(workspace: Workspace, who: Person, where: Channel, given: Any) -> StoredFile:
    """One `{name, content}` or `{name, content_base64}`. Raises BadAct."""
    wanted = Fields(name=text_field).optional(content=text_field, content_base64=text_field)
    one = take(given if isinstance(given, dict) else {}, wanted)
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
    where = channel(workspace, who, channel_key)
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
    return {"ts": message["ts"], **await _first_ack(tasks)}


async def open_home(workspace: Workspace, user: str, tab: str) -> Json:
    """Somebody opens the app's Home or Messages tab."""
    who = person(workspace, user)
    where = workspace.store.direct_message(who.id)
    if where is None:
        raise BadAct(f"{who.name} has no conversation with the app")
    return await _first_ack([workspace.events.home_opened(who, where, tab)])


async def _first_ack(tasks: list[asyncio.Task[Ack] | None]) -> Json:
    """How the app took what was sent; `delivered` false when it had declared none of it."""
    sent = [task for task in tasks if task is not None]
    if not sent:
        return {"delivered": False, "acked": False, "ack_ms": None}
    acks = await asyncio.gather(*sent)
    worst = next((ack for ack in acks if not ack.acked), acks[0])
    return {"delivered": True, **outcome(worst)}
