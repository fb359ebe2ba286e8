"""Changing the workspace behind the app's back: people, groups, channels, and messages tampered with."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sandbox.slack.errors import BadAct, SlackError
from sandbox.slack.interactions import actors, composer
from sandbox.slack.json_object import Json
from sandbox.slack.state import BOT_USER, TEAM_ID, Channel, Group, Person, messages
from sandbox.slack.web_api import check_blocks
from sandbox.slack.workspace import Workspace


def change_person(workspace: Workspace, given: Json) -> Json:
    """Add a person, or change the one with this id or name. `given` has fields of `Person`.

    The app gets `user_change` if it declared it. Answers `{ok, person}`. Raises BadAct for the app's own user, for an
    unknown time zone, and for a new person without a name.
    """
    store = workspace.store
    person = store.person(given.get("id") or given.get("name", ""))
    if person is not None and person.id == BOT_USER:
        raise BadAct("the app's own user is not changed")
    if "tz" in given:
        _check_zone(given["tz"])
    is_new = person is None
    if person is None:
        person = _new_person(workspace, given)
    else:
        for key, value in given.items():
            setattr(person, key, value)
    store.put_person(person)
    if is_new:
        workspace.events.person_joined(person)
    workspace.events.person_changed(person)
    return {"ok": True, "person": person.as_json()}


def _new_person(workspace: Workspace, given: Json) -> Person:
    if not given.get("name"):
        raise BadAct("name is missing: a new person needs one")
    person_id = given.get("id") or workspace.ids.fresh("U")
    team_id = given.get("team_id") or ("T0OTHER" if given.get("is_stranger") else TEAM_ID)
    fields = {**given, "id": person_id, "team_id": team_id}
    fields.setdefault("real_name", given["name"].title())
    return Person(**fields)


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (
        ZoneInfoNotFoundError,
        ValueError,
        OSError,
    ):  # zones are files: a folder's name, or one too long for any
        raise BadAct(f"tz: {name[:100]!r} is no time zone") from None


def _check_members(workspace: Workspace, members: list[str]) -> None:
    unknown = [user for user in members if user not in workspace.store.people]
    if unknown:
        raise BadAct(f"there is no person {unknown[0]!r}")


def change_group(workspace: Workspace, given: Json) -> Json:
    """Set the members of a user group, made if it is new. `given` has `handle`, `users` (ids) and maybe `name`.

    The app gets `subteam_members_changed` if it declared it. Answers `{ok, group}`. Raises BadAct for an unknown user.
    """
    _check_members(workspace, given["users"])
    handle = given["handle"].removeprefix("@")
    store = workspace.store
    group = next((one for one in store.groups.values() if handle in (one.handle, one.id)), None)
    if group is None:
        group = Group(workspace.ids.fresh("S"), handle, given.get("name", handle))
    before, previous_update = list(group.users), group.updated_at
    group.users = list(dict.fromkeys(given["users"]))
    group.name = given.get("name", group.name)
    store.put_group(group)
    workspace.events.group_changed(group, before, previous_update)
    return {"ok": True, "group": group.as_json()}


def change_channel(workspace: Workspace, given: Json) -> Json:
    """Add a channel, or change the one with this id or name. `given` has fields of `Channel`.

    A new one has the app in it only if `members` says so. Answers `{ok, channel}`. Raises BadAct for an unknown
    member, and for a new channel without a name.
    """
    store = workspace.store
    members = given.pop("members", None)
    if members is not None:
        _check_members(workspace, members)
    key = given.get("id") or given.get("name", "")
    channel = store.channels.get(key) or store.channel_named(key)
    if channel is None:
        if not given.get("name"):
            raise BadAct("name is missing: a new channel needs one")
        channel_id = given.pop("id", None) or workspace.ids.fresh("C")
        channel = Channel(channel_id, created_at=int(workspace.clock.now()), **given)
    else:
        given.pop("id", None)
        for name, value in given.items():
            setattr(channel, name, value)
    if members is not None:
        channel.members = list(dict.fromkeys(members))
    store.put_channel(channel)
    return {"ok": True, "channel": channel.as_json()}


def _message(workspace: Workspace, given: Json) -> tuple[Channel, Json]:
    channel = workspace.store.channels.get(given["channel"])
    message = workspace.store.message(given["channel"], given["ts"])
    if channel is None or message is None:
        raise BadAct(f"there is no message {given['ts']} in {given['channel']}")
    return channel, message


def edit_message(workspace: Workspace, given: Json) -> Json:
    """Edit a message with the app's token behind its back; the app gets only the event.

    `given` has `channel`, `ts` and maybe `text` and `blocks`. Answers `{ok, outcome: {ts}}`. Raises BadAct for a
    message that is not there and for blocks that Slack would refuse.
    """
    channel, message = _message(workspace, given)
    if given.get("blocks"):
        try:
            check_blocks(given["blocks"])
        except SlackError as refusal:
            raise BadAct(f"Slack would refuse these blocks: {refusal.body()}") from None
    before = dict(message)
    content = {"text": given.get("text"), "blocks": given.get("blocks")}
    if content["text"] and content["blocks"] is None and not messages.by_the_app(message):
        # What a person writes has blocks of the same words.
        content["text"], parts = composer.compose(
            content["text"], workspace.store, workspace.manifest.bot_name
        )
        section = {"type": "rich_text_section", "elements": parts}
        content["blocks"] = [{"type": "rich_text", "elements": [section]}]
    messages.put_content(message, content, workspace.ids)
    message["edited"] = {"user": message["user"], "ts": workspace.ids.ts()}
    workspace.store.put_message(channel.id, message)
    workspace.events.message_changed(channel, message, before)
    return {"ok": True, "outcome": {"ts": message["ts"]}}


def delete_message(workspace: Workspace, given: Json) -> Json:
    """Delete a message (`channel`, `ts`) behind the app's back. Answers and raises as `edit_message` does."""
    channel, message = _message(workspace, given)
    workspace.store.remove_message(channel.id, message)
    workspace.events.message_deleted(channel, message)
    return {"ok": True, "outcome": {"ts": message["ts"]}}


def react(workspace: Workspace, given: Json) -> Json:
    """Somebody reacts to a message, or with `remove` takes it back. Answers `{ok, reactions}`. Raises BadAct."""
    who = actors.find_person(workspace, given["user"])
    channel = actors.find_channel(workspace, who, given["channel"])
    message = workspace.store.message(channel.id, given["ts"])
    if message is None:
        raise BadAct(f"there is no message {given['ts']} in {channel.name}")
    name, back = given["name"].strip(":"), given.get("remove", False)
    change = messages.unreact if back else messages.react
    if not change(message, who.id, name):
        raise BadAct(f"{who.name} has {'not ' if back else ''}reacted with {name}")
    workspace.store.put_message(channel.id, message)
    workspace.events.reacted("reaction_removed" if back else "reaction_added", channel, message, who.id, name)
    return {"ok": True, "reactions": message.get("reactions", [])}


def come_or_go(workspace: Workspace, given: Json, *, comes: bool) -> Json:
    """Somebody joins a channel or leaves it; `user` may be the app, whom people invite and remove. Raises BadAct."""
    store = workspace.store
    channel = store.channels.get(given["channel"]) or store.channel_named(given["channel"])
    if channel is None or channel.is_im:
        raise BadAct(f"there is no channel {given['channel']!r}")
    if given["user"] not in store.people:
        raise BadAct(f"there is no person {given['user']!r}")
    if comes == (given["user"] in channel.members):
        raise BadAct(f"{given['user']} is {'already' if comes else 'not'} in {channel.name}")
    (workspace.join if comes else workspace.leave)(channel, given["user"])
    return {"ok": True, "channel": channel.as_json()}
