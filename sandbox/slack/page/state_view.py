"""What can be read through `/_control`: everything, and what one person sees."""

from __future__ import annotations

from dataclasses import asdict

from sandbox.slack.json_object import Json
from sandbox.slack.state import Channel, Person, View
from sandbox.slack.workspace import Workspace


def whole_state(workspace: Workspace) -> Json:
    """Everything there is, for tests: people, channels, messages, views, calls, envelopes, faults, `now` (ISO 8601)."""
    store = workspace.store
    return {
        "now": workspace.clock.now_iso(),
        "people": [_person_json(person) for person in store.people.values()],
        "groups": [group.as_json() for group in store.groups.values()],
        "channels": [channel.as_json() for channel in store.channels.values()],
        "messages": store.messages,
        "ephemerals": [asdict(one) for one in store.ephemerals],
        "views": {
            user: [_view_json(view) for view in stack] for user, stack in workspace.views.stacks.items()
        },
        "homes": {user: _home(workspace, user) for user in store.homes},
        "calls": list(workspace.calls),
        "envelopes": [record.as_json() for record in workspace.delivery.records],
        "payloads": list(workspace.delivery.payloads),
        "connections": workspace.delivery.transport.connections,
        "missed_acks": workspace.delivery.missed_acks,
        "unknown_acks": workspace.delivery.unknown_acks,
        "faults": workspace.faults.as_json(),
    }


def state_seen_by(workspace: Workspace, who: Person) -> Json:
    """The workspace as this person's client shows it: what they may see, their modals and home tab, the wire log."""
    store = workspace.store
    return {
        "now": workspace.clock.now_iso(),
        "me": _person_json(who),
        "app": {
            "name": workspace.manifest.bot_name,
            "connected": workspace.delivery.transport.connections > 0,
        },
        "people": [_person_json(person) for person in store.people.values()],
        "groups": [group.as_json() for group in store.groups.values()],
        "commands": [
            {"command": one.command, "description": one.description, "usage_hint": one.usage_hint}
            for one in workspace.manifest.commands
        ],
        "shortcuts": [
            {"callback_id": one.callback_id, "name": one.name, "description": one.description}
            for one in workspace.manifest.shortcuts
            if one.kind == "message"
        ],
        "channels": [
            _channel_json(workspace, who, channel)
            for channel in store.channels.values()
            if _may_see(who, channel)
        ],
        "views": [_view_json(view) for view in workspace.views.stack(who.id)],
        "home": _home(workspace, who.id),
        "wire": workspace.wire(),
        "tour": [step.as_json() for step in workspace.options.tour],
    }


def _may_see(who: Person, channel: Channel) -> bool:
    if channel.is_im:
        return channel.im_user == who.id
    return not channel.is_private or who.id in channel.members


def _person_json(person: Person) -> Json:
    return {**person.as_json(), "is_full_member": person.is_full_member}


def _channel_json(workspace: Workspace, who: Person, channel: Channel) -> Json:
    hidden = [
        {**one.message, "ephemeral": True}
        for one in workspace.store.ephemerals
        if one.channel == channel.id and one.user == who.id
    ]
    shown = [{**message, "ephemeral": False} for message in workspace.store.messages[channel.id]]
    ordered = sorted(shown + hidden, key=lambda message: str(message["ts"]))
    return {
        "id": channel.id,
        "name": channel.name,
        "is_im": channel.is_im,
        "is_member": who.id in channel.members,
        "is_private": channel.is_private,
        "is_ext_shared": channel.is_ext_shared,
        "archived": channel.archived,
        "app_is_member": channel.bot_is_in,
        "messages": [_message_json(workspace, message) for message in ordered],
        "statuses": workspace.agent.statuses(channel.id),
        "prompts": _prompts(workspace, channel),
    }


def _prompts(workspace: Workspace, channel: Channel) -> Json | None:
    """What a press would say, in the app's conversation of an agent app."""
    if not channel.is_im or not workspace.manifest.agent_view:
        return None
    suggested = workspace.agent.prompts(channel.id)
    if suggested is not None:
        return {"title": suggested.title, "prompts": list(suggested.prompts)}
    return {"title": "", "prompts": list(workspace.manifest.prompts)}


def _message_json(workspace: Workspace, message: Json) -> Json:
    author = workspace.store.people.get(message["user"])
    return {
        "ts": message["ts"],
        "thread_ts": message.get("thread_ts"),
        "subtype": message.get("subtype"),
        "user": message["user"],
        "username": author.real_name if author is not None else message.get("username", message["user"]),
        "is_app": bool(message.get("bot_id")),
        "text": message.get("text", ""),
        "blocks": message.get("blocks", []),
        "files": message.get("files", []),
        "edited": message.get("edited"),
        "reply_count": message.get("reply_count", 0),
        "ephemeral": message["ephemeral"],
        "metadata": message.get("metadata"),
    }


def _view_json(view: View) -> Json:
    return {**view.as_json(), "loading": view.submitting}


def _home(workspace: Workspace, user: str) -> Json | None:
    home = workspace.views.home(user)
    return None if home is None else home.as_json()
