"""Changing channels: conversations.create, invite, kick, leave, archive, unarchive, rename, setTopic, setPurpose."""

from __future__ import annotations

import re

from sandbox.slack.errors import SlackError
from sandbox.slack.json_object import Json
from sandbox.slack.state import BOT_USER, Channel
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import readable_channel, visible_channel
from sandbox.slack.web_api.conversations import channel_json
from sandbox.slack.web_api.dispatch import Method, Scopes
from sandbox.slack.workspace import Workspace

_NAME = re.compile(r"[a-z0-9_-]{1,80}")
_MOST_TEXT = 250


def _scope(*of_public: str) -> Scopes:
    """What a change needs: one of several scopes in a public channel, `groups:write` in a private one."""

    def needed(workspace: Workspace, args: Args) -> str:
        channel = workspace.store.channels.get(args.text("channel"))
        if (channel is not None and channel.is_private) or (channel is None and args.flag("is_private")):
            return "groups:write"
        held = [scope for scope in of_public if scope in workspace.manifest.scopes]
        return (held or list(of_public))[0]

    return needed


def _name(workspace: Workspace, args: Args) -> str:
    name = args.required("name").removeprefix("#")
    if not _NAME.fullmatch(name):
        raise SlackError("invalid_name_specials" if len(name) <= 80 else "invalid_name_maxlength")
    if workspace.store.channel_named(name) is not None:
        raise SlackError("name_taken")
    return name


def _changeable(workspace: Workspace, args: Args) -> Channel:
    channel = readable_channel(workspace, args.required("channel"))
    if channel.is_im:
        raise SlackError("method_not_supported_for_channel_type")
    if channel.archived:
        raise SlackError("is_archived")
    return channel


def _no_direct_message(channel: Channel) -> None:
    """A conversation of people is not changed as a channel. Raises SlackError."""
    if channel.is_im or channel.is_mpim:
        raise SlackError("method_not_supported_for_channel_type")


def create(workspace: Workspace, args: Args) -> Json:
    """`conversations.create`: a channel with the app in it. Answers `{channel}`.

    Source: https://docs.slack.dev/reference/methods/conversations.create
    """
    channel = Channel(
        workspace.ids.fresh("C"),
        _name(workspace, args),
        [BOT_USER],
        is_private=args.flag("is_private"),
        created_at=int(workspace.clock.now()),
        creator=BOT_USER,
    )
    workspace.store.put_channel(channel)
    workspace.events.channel_changed("channel_created", channel)
    return {"channel": channel_json(channel)}


def invite(workspace: Workspace, args: Args) -> Json:
    """`conversations.invite`: people come into a channel. Answers `{channel}`.

    One who cannot be invited keeps all out; with `force` the others come, and `errors` says who does not.

    Source: https://docs.slack.dev/reference/methods/conversations.invite
    """
    channel, users = _changeable(workspace, args), list(dict.fromkeys(args.listing("users")))
    if not users:
        raise SlackError("no_user")
    refused = {user: why for user in users if (why := _not_invited(workspace, channel, user))}
    errors = [{"user": user, "ok": False, "error": why} for user, why in refused.items()]
    if refused and not (args.flag("force") and len(refused) < len(users)):
        raise SlackError(next(iter(refused.values())), errors=errors)
    for user in users:
        if user not in refused:
            workspace.join(channel, user, inviter=BOT_USER)
    return {"channel": channel_json(channel), **({"errors": errors} if errors else {})}


def _not_invited(workspace: Workspace, channel: Channel, user: str) -> str:
    """Why somebody cannot be invited; "" for who can."""
    if user == BOT_USER:
        return "cant_invite_self"
    if user not in workspace.store.people:
        return "user_not_found"
    return "already_in_channel" if user in channel.members else ""


def kick(workspace: Workspace, args: Args) -> Json:
    """`conversations.kick`: somebody is taken out of a channel. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/conversations.kick
    """
    channel, user = _changeable(workspace, args), args.required("user")
    if user == BOT_USER:
        raise SlackError("cant_kick_self")
    if user not in workspace.store.people:
        raise SlackError("user_not_found")
    if user not in channel.members:
        raise SlackError("not_in_channel")
    workspace.leave(channel, user, of_own_will=False)
    return {"errors": {}}


def leave(workspace: Workspace, args: Args) -> Json:
    """`conversations.leave`: the app leaves a channel. Answers `not_in_channel` when it was not there.

    Source: https://docs.slack.dev/reference/methods/conversations.leave
    """
    channel = visible_channel(workspace, args.required("channel"))
    if channel.is_im:
        raise SlackError("method_not_supported_for_channel_type")
    if not channel.bot_is_in:
        return {"not_in_channel": True}
    if channel.name == "general":
        raise SlackError("cant_leave_general")
    workspace.leave(channel, BOT_USER)
    return {}


def archive(workspace: Workspace, args: Args) -> Json:
    """`conversations.archive`: nothing can be written any more. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/conversations.archive
    """
    channel = readable_channel(workspace, args.required("channel"))
    _no_direct_message(channel)
    if channel.archived:
        raise SlackError("already_archived")
    if channel.name == "general":
        raise SlackError("cant_archive_general")
    workspace.note_in_channel(channel, BOT_USER, "channel_archive", "archived the channel")
    channel.archived = True
    workspace.store.put_channel(channel)
    workspace.events.channel_changed("channel_archive", channel)
    return {}


def unarchive(workspace: Workspace, args: Args) -> Json:
    """`conversations.unarchive`: a channel is open again. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/conversations.unarchive
    """
    channel = visible_channel(workspace, args.required("channel"))
    _no_direct_message(channel)
    if not channel.archived:
        raise SlackError("not_archived")
    channel.archived = False
    workspace.store.put_channel(channel)
    workspace.events.channel_changed("channel_unarchive", channel)
    workspace.note_in_channel(channel, BOT_USER, "channel_unarchive", "un-archived the channel")
    return {}


def rename(workspace: Workspace, args: Args) -> Json:
    """`conversations.rename`: another name for a channel that the app made. Answers `{channel}`.

    Source: https://docs.slack.dev/reference/methods/conversations.rename
    """
    channel = _changeable(workspace, args)
    if channel.creator != BOT_USER:
        raise SlackError("not_authorized")
    before, channel.name = channel.name, _name(workspace, args)
    workspace.store.put_channel(channel)
    workspace.events.channel_changed("channel_rename", channel)
    workspace.note_in_channel(
        channel,
        BOT_USER,
        "channel_name",
        f'has renamed the channel from "{before}" to "{channel.name}"',
        old_name=before,
        name=channel.name,
    )
    return {"channel": channel_json(channel)}


def set_topic(workspace: Workspace, args: Args) -> Json:
    """`conversations.setTopic`. Answers `{channel}`.

    Source: https://docs.slack.dev/reference/methods/conversations.setTopic
    """
    return _described(workspace, args, "topic")


def set_purpose(workspace: Workspace, args: Args) -> Json:
    """`conversations.setPurpose`. Answers `{channel}`.

    Source: https://docs.slack.dev/reference/methods/conversations.setPurpose
    """
    return _described(workspace, args, "purpose")


def _described(workspace: Workspace, args: Args, what: str) -> Json:
    channel = _changeable(workspace, args)
    text = args.text(what)
    if len(text) > _MOST_TEXT:
        raise SlackError("too_long")
    setattr(channel, what, text)
    workspace.store.put_channel(channel)
    workspace.note_in_channel(
        channel, BOT_USER, f"channel_{what}", f"set the channel {what}: {text}", **{what: text}
    )
    return {"channel": channel_json(channel)}


_MANAGED = _scope("channels:manage")
METHODS = {
    "conversations.create": Method(create, 2, _MANAGED),
    "conversations.invite": Method(invite, 3, _scope("channels:manage", "channels:write.invites")),
    "conversations.kick": Method(kick, 3, _MANAGED),
    "conversations.leave": Method(leave, 3, _MANAGED),
    "conversations.archive": Method(archive, 2, _MANAGED),
    "conversations.unarchive": Method(unarchive, 2, _MANAGED),
    "conversations.rename": Method(rename, 2, _MANAGED),
    "conversations.setTopic": Method(set_topic, 2, _scope("channels:manage", "channels:write.topic")),
    "conversations.setPurpose": Method(set_purpose, 2, _scope("channels:manage", "channels:write.topic")),
}
