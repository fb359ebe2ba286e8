"""Channels: conversations.list, info, members, open, history, replies.

Deviation: cursors count positions, so a page may shift when a message arrives between two calls.
"""

from __future__ import annotations

import re
from decimal import Decimal

from sandbox.slack.errors import SlackError, invalid_arguments
from sandbox.slack.json_object import Json
from sandbox.slack.state import BOT_USER, TEAM_ID, Channel
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import readable_channel, visible_channel
from sandbox.slack.web_api.dispatch import Method, Scopes
from sandbox.slack.web_api.paging import page
from sandbox.slack.workspace import Workspace

_TIME = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?", re.ASCII)


def channel_json(channel: Channel) -> Json:
    """A channel object; a direct message has another, smaller form.

    Source: https://docs.slack.dev/reference/objects/conversation-object
    """
    if channel.is_im:
        return {
            "id": channel.id,
            "created": channel.created_at,
            "is_archived": channel.archived,
            "is_im": True,
            "is_org_shared": False,
            "context_team_id": TEAM_ID,
            "updated": channel.created_at * 1000,
            "user": channel.im_user,
            "priority": 0,
        }

    def words(text: str) -> Json:
        return {
            "value": text,
            "creator": BOT_USER if text else "",
            "last_set": channel.created_at if text else 0,
        }

    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": not channel.is_private,
        "is_group": channel.is_private,
        "is_im": False,
        "is_mpim": channel.is_mpim,
        "is_private": channel.is_private,
        "created": channel.created_at,
        "is_archived": channel.archived,
        "is_general": channel.name == "general",
        "unlinked": 0,
        "name_normalized": channel.name,
        "is_shared": channel.is_ext_shared,
        "is_org_shared": False,
        "is_pending_ext_shared": False,
        "pending_shared": [],
        "context_team_id": TEAM_ID,
        "updated": channel.created_at * 1000,
        "creator": channel.creator,
        "is_ext_shared": channel.is_ext_shared,
        "shared_team_ids": [TEAM_ID],
        "pending_connected_team_ids": [],
        "is_member": channel.bot_is_in,
        "topic": words(channel.topic),
        "purpose": words(channel.purpose),
        "previous_names": [],
    }


def _kind(channel: Channel) -> str:
    if channel.is_im:
        return "im"
    if channel.is_mpim:
        return "mpim"
    return "private_channel" if channel.is_private else "public_channel"


MOST_IN_GROUP_MESSAGE = 8
SCOPE_PREFIX = {"im": "im", "private_channel": "groups", "public_channel": "channels", "mpim": "mpim"}


def _scope(right: str, argument: str = "channel") -> Scopes:
    """The scope by the kind of channel that is asked for."""

    def needed(workspace: Workspace, args: Args) -> str:
        channel = workspace.store.channels.get(args.text(argument))
        kind = _kind(channel) if channel is not None else "public_channel"
        return f"{SCOPE_PREFIX[kind]}:{right}"

    return needed


def list_scope(workspace: Workspace, args: Args) -> str:
    """What `conversations.list` needs: the first scope that the asked-for types need and the app lacks."""
    needed = [f"{SCOPE_PREFIX[kind]}:read" for kind in _types(args)]
    lacking = [scope for scope in needed if scope not in workspace.manifest.scopes]
    return (lacking or needed)[0]


def _types(args: Args) -> list[str]:
    types = args.listing("types") or ["public_channel"]
    if any(kind not in SCOPE_PREFIX for kind in types):
        raise SlackError("invalid_types")
    return types


def _visible(workspace: Workspace, args: Args) -> Channel:
    return visible_channel(workspace, args.required("channel"))


def _readable(workspace: Workspace, args: Args) -> Channel:
    return readable_channel(workspace, args.required("channel"))


def listed(workspace: Workspace, args: Args) -> list[Channel]:
    """The channels of the asked-for types, without archived ones where the caller says so."""
    types, skip_archived = _types(args), args.flag("exclude_archived")
    return [
        channel
        for channel in workspace.store.channels.values()
        if _kind(channel) in types and not (skip_archived and channel.archived)
    ]


def conversations_list(workspace: Workspace, args: Args) -> Json:
    """`conversations.list`: the channels of the asked-for types that the app may see, a page at a time.

    Source: https://docs.slack.dev/reference/methods/conversations.list
    """
    found = [one for one in listed(workspace, args) if one.bot_is_in or not one.is_private]
    shown, cursor = page(found, args)
    channels = [{**channel_json(one), **_count(one)} for one in shown]
    return {"channels": channels, "response_metadata": {"next_cursor": cursor}}


def _count(channel: Channel) -> Json:
    return {} if channel.is_im else {"num_members": len(channel.members)}


def info(workspace: Workspace, args: Args) -> Json:
    """`conversations.info`: one channel. Answers `{channel}`.

    Source: https://docs.slack.dev/reference/methods/conversations.info
    """
    channel = _visible(workspace, args)
    more = _count(channel) if args.flag("include_num_members") else {}
    return {"channel": {**channel_json(channel), **more}}


def members(workspace: Workspace, args: Args) -> Json:
    """`conversations.members`: the ids of a channel's members, a page at a time.

    Source: https://docs.slack.dev/reference/methods/conversations.members
    """
    channel = _visible(workspace, args)
    shown, cursor = page(channel.members, args)
    return {"members": shown, "response_metadata": {"next_cursor": cursor}}


def open_conversation(workspace: Workspace, args: Args) -> Json:
    """`conversations.open`: the app's conversation with one person, or with up to eight. Answers `{channel}`.

    Source: https://docs.slack.dev/reference/methods/conversations.open
    """
    held = set(workspace.store.channels)
    channel = workspace.store.channels.get(args.text("channel"))
    if channel is None:
        channel = _opened(workspace, args.listing("users"))
    if channel is None:
        raise SlackError("channel_not_found")
    shown = channel_json(channel) if args.flag("return_im") else {"id": channel.id}
    was_open = {"no_op": True, "already_open": True} if channel.id in held else {}
    return {**was_open, "channel": shown}


def _opened(workspace: Workspace, users: list[str]) -> Channel:
    """The conversation of the app with these people: a direct message, or a group message for up to eight."""
    if not users:
        raise invalid_arguments("missing required field: users")
    if len(users) > MOST_IN_GROUP_MESSAGE:
        raise SlackError("too_many_users")
    for user in users:
        person = workspace.store.people.get(user)
        if person is None:
            raise SlackError("user_not_found")
        if person.deleted:
            raise SlackError("user_disabled")
        if person.is_bot:
            raise SlackError("cannot_dm_bot")
    if len(users) == 1:
        found = workspace.store.direct_message(users[0])
        if found is None:
            raise SlackError("channel_not_found")
        return found
    if "mpim:write" not in workspace.manifest.scopes:
        scopes = ",".join(sorted(workspace.manifest.scopes))
        raise SlackError("missing_scope", needed="mpim:write", provided=scopes)
    members = {*users, BOT_USER}
    held = (one for one in workspace.store.channels.values() if one.is_mpim and set(one.members) == members)
    group = next(held, None)
    if group is None:
        names = "--".join(workspace.store.people[user].name for user in users)
        group = Channel(
            workspace.ids.fresh("C"), f"mpdm-{names}-1", [*users, BOT_USER], is_private=True, is_mpim=True,
            created_at=int(workspace.clock.now()), creator=BOT_USER,
        )  # fmt: skip
        workspace.store.put_channel(group)
    return group


def _as_read(message: Json, args: Args) -> Json:
    """A message as read back; metadata only on request."""
    if args.flag("include_all_metadata"):
        return message
    return {key: value for key, value in message.items() if key != "metadata"}


def _between(found: list[Json], args: Args) -> list[Json]:
    """Messages after `oldest` and before `latest`, the ends themselves only if `inclusive`."""
    oldest, latest = _bound(args, "oldest"), _bound(args, "latest")

    def fits(message: Json) -> bool:
        ts = Decimal(message["ts"])
        if args.flag("inclusive") and ts in (oldest, latest):
            return True
        return (oldest is None or ts > oldest) and (latest is None or ts < latest)

    return [one for one in found if fits(one)]


def _bound(args: Args, name: str) -> Decimal | None:
    """A time in seconds; 0 is none. Raises SlackError, such as `invalid_ts_oldest`."""
    given = args.text(name)
    if given and not _TIME.fullmatch(given):
        raise SlackError(f"invalid_ts_{name}")
    return Decimal(given) if given and Decimal(given) else None


def _answer(shown: list[Json], cursor: str, args: Args) -> Json:
    answer: Json = {"messages": [_as_read(one, args) for one in shown], "has_more": bool(cursor)}
    if cursor:
        answer["response_metadata"] = {"next_cursor": cursor}
    return answer


def history(workspace: Workspace, args: Args) -> Json:
    """`conversations.history`: newest first, without the replies of threads, unless they were sent to the channel too.

    Source: https://docs.slack.dev/reference/methods/conversations.history
    """
    channel = _readable(workspace, args)
    top = [
        one
        for one in workspace.store.messages[channel.id]
        if one.get("thread_ts") in (None, one["ts"]) or one.get("subtype") == "thread_broadcast"
    ]
    shown, cursor = page(_between(top, args)[::-1], args)
    return {**_answer(shown, cursor, args), "pin_count": 0}


def replies(workspace: Workspace, args: Args) -> Json:
    """`conversations.replies`: a thread, parent first.

    Source: https://docs.slack.dev/reference/methods/conversations.replies
    """
    channel = _readable(workspace, args)
    asked = workspace.store.message(channel.id, args.required("ts"))
    if asked is None:
        raise SlackError("thread_not_found")
    parent = workspace.store.message(channel.id, asked.get("thread_ts") or asked["ts"])
    thread = [
        *([parent] if parent else []),
        *workspace.store.replies(channel.id, asked.get("thread_ts") or ""),
    ]
    shown, cursor = page(_between(thread, args), args)
    return _answer(shown, cursor, args)


def join(workspace: Workspace, args: Args) -> Json:
    """`conversations.join`: the app joins a public channel by itself. Answers `{channel}`.

    Source: https://docs.slack.dev/reference/methods/conversations.join
    """
    channel = _visible(workspace, args)
    if channel.is_private or channel.is_im:
        raise SlackError("method_not_supported_for_channel_type")
    if channel.archived:
        raise SlackError("is_archived")
    if channel.bot_is_in:
        warning = "already_in_channel"
        return {
            "channel": channel_json(channel),
            "warning": warning,
            "response_metadata": {"warnings": [warning]},
        }
    workspace.join(channel, BOT_USER)
    return {"channel": channel_json(channel)}


METHODS = {
    "conversations.list": Method(conversations_list, 2, list_scope),
    "conversations.info": Method(info, 3, _scope("read")),
    "conversations.members": Method(members, 4, _scope("read")),
    "conversations.open": Method(open_conversation, 3, "im:write"),
    "conversations.history": Method(history, 3, _scope("history")),
    "conversations.replies": Method(replies, 3, _scope("history")),
    "conversations.join": Method(join, 3, "channels:join"),
}
