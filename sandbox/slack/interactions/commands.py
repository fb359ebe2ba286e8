"""What a person does with slash commands, and what Slack makes of the answer.

Deviations: a command's text is delivered as typed (whether Slack escapes `& < >` in it is
unverified); people of other workspaces may send commands, which Slack's client does not offer them.
"""

from __future__ import annotations

import re

from sandbox.slack.delivery import Parcel, payloads
from sandbox.slack.errors import SlackError
from sandbox.slack.interactions.actors import find_channel, find_person, outcome, response_url
from sandbox.slack.json_object import Json
from sandbox.slack.state import Channel, Ephemeral, Person, messages
from sandbox.slack.web_api import check_blocks
from sandbox.slack.workspace import Workspace

#: Slack's wording is reported in many public threads; it is not documented.
COMMAND_FAILED = '{command} failed with the error "{reason}"'
REASON_TEXT = {"timeout": "operation_timeout"}


async def command(workspace: Workspace, user: str, channel_key: str, text: str) -> Json:
    """Send `/command text` in a channel, named by id or name.

    Answers an outcome, with `reply` (the message of the ack) or `refused` (why Slack does not show it). What Slack
    says of a failure is put into the channel for this person alone.
    Source: https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    who = find_person(workspace, user)
    where = find_channel(workspace, who, channel_key)
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
        reply = _answer_command(workspace, who, where, ack.payload)
    except SlackError as refusal:
        _command_failed(workspace, who, where, name, refusal.code)
        return {**outcome(ack), "refused": refusal.body()}
    return {**outcome(ack), **({"reply": reply} if reply else {})}


def _answer_command(workspace: Workspace, who: Person, where: Channel, given: Json | None) -> Json | None:
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
