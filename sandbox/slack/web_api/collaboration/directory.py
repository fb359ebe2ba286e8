"""More about who and what is there: users, user groups that are made and changed, bots, team, files and links."""

from __future__ import annotations

import re

from sandbox.slack.errors import SlackError, invalid_arguments
from sandbox.slack.json_object import Json
from sandbox.slack.state import (
    APP_ID,
    BOT_ID,
    BOT_USER,
    TEAM_DOMAIN,
    TEAM_ID,
    TEAM_NAME,
    Group,
    Person,
    email_of,
    file_objects,
    user_json,
)
from sandbox.slack.web_api import conversations, users
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import target_message
from sandbox.slack.web_api.dispatch import Method
from sandbox.slack.web_api.paging import page
from sandbox.slack.workspace import Workspace


def lookup_by_email(workspace: Workspace, args: Args) -> Json:
    """`users.lookupByEmail`: who has an address. Answers `{user}`.

    Source: https://docs.slack.dev/reference/methods/users.lookupByEmail
    """
    wanted = args.required("email").lower()
    people = (
        one for one in workspace.store.people.values() if not (one.is_bot or one.is_stranger or one.deleted)
    )
    found = next((one for one in people if email_of(one).lower() == wanted), None)
    if found is None:
        raise SlackError("users_not_found")
    return {"user": user_json(found, workspace.clock.now(), with_email=True)}


def _person(workspace: Workspace, args: Args) -> Person:
    found = workspace.store.people.get(args.text("user") or BOT_USER)
    if found is None:
        raise SlackError("user_not_found")
    return found


def profile(workspace: Workspace, args: Args) -> Json:
    """`users.profile.get`: somebody's profile. Answers `{profile}`.

    Source: https://docs.slack.dev/reference/methods/users.profile.get
    """
    with_email = "users:read.email" in workspace.manifest.scopes
    shown = user_json(_person(workspace, args), workspace.clock.now(), with_email=with_email)
    return {"profile": shown["profile"]}


def presence(workspace: Workspace, args: Args) -> Json:
    """`users.getPresence`: everybody is there. Answers `{presence}`.

    Source: https://docs.slack.dev/reference/methods/users.getPresence
    """
    return {"presence": "away" if _person(workspace, args).deleted else "active"}


def conversations_of(workspace: Workspace, args: Args) -> Json:
    """`users.conversations`: the channels that somebody is in, the app itself by default. Answers `{channels}`.

    Source: https://docs.slack.dev/reference/methods/users.conversations
    """
    who = _person(workspace, args).id
    found = [
        one
        for one in conversations.listed(workspace, args)
        if who in one.members and (one.bot_is_in or not one.is_private)
    ]
    shown, cursor = page(found, args)
    return {
        "channels": [conversations.channel_json(one) for one in shown],
        "response_metadata": {"next_cursor": cursor},
    }


def create_group(workspace: Workspace, args: Args) -> Json:
    """`usergroups.create`: a user group without people. Answers `{usergroup}`.

    Source: https://docs.slack.dev/reference/methods/usergroups.create
    """
    name = args.required("name")
    handle = args.text("handle") or name.lower().replace(" ", "-")
    if any(handle == one.handle for one in workspace.store.groups.values()):
        raise SlackError("name_already_exists")
    channels = list(dict.fromkeys(args.listing("channels")))
    if any(channel not in workspace.store.channels for channel in channels):
        raise SlackError("channel_not_found")
    group = Group(
        workspace.ids.fresh("S"),
        handle,
        name,
        description=args.text("description"),
        channels=channels,
        creator=BOT_USER,
    )
    workspace.store.put_group(group)
    shown = users.group_json(group, with_users=False)
    workspace.events.group_event("subteam_created", shown)
    return {"usergroup": shown}


def update_group_users(workspace: Workspace, args: Args) -> Json:
    """`usergroups.users.update`: who is in a group from now on. Answers `{usergroup}`.

    Source: https://docs.slack.dev/reference/methods/usergroups.users.update
    """
    group = workspace.store.groups.get(args.required("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    wanted = list(dict.fromkeys(args.listing("users")))
    if not wanted:
        raise SlackError("no_users_provided")
    if any(user not in workspace.store.people for user in wanted):
        raise SlackError("invalid_users")
    before, changed_at = list(group.users), group.updated_at
    group.users = wanted
    workspace.store.put_group(group)
    workspace.events.group_changed(group, before, changed_at)
    shown = users.group_json(group, with_users=True)
    workspace.events.group_event("subteam_updated", shown)
    return {"usergroup": shown}


def bot_info(workspace: Workspace, args: Args) -> Json:
    """`bots.info`: the app's own bot. Answers `{bot}`.

    Source: https://docs.slack.dev/reference/methods/bots.info
    """
    if (args.text("bot") or BOT_ID) != BOT_ID:
        raise SlackError("bot_not_found")
    now = int(workspace.clock.now())
    bot = {
        "id": BOT_ID,
        "deleted": False,
        "name": workspace.manifest.bot_name,
        "updated": now,
        "app_id": APP_ID,
    }
    return {"bot": {**bot, "user_id": BOT_USER, "icons": {}}}


def team_info(workspace: Workspace, args: Args) -> Json:
    """`team.info`: the workspace. Answers `{team}`.

    Source: https://docs.slack.dev/reference/methods/team.info
    """
    if args.text("team") not in ("", TEAM_ID):
        raise SlackError("team_not_found")
    team = {"id": TEAM_ID, "name": TEAM_NAME, "domain": TEAM_DOMAIN, "email_domain": "", "icon": {}}
    return {"team": {**team, "url": f"https://{TEAM_DOMAIN}.slack.com/", "is_verified": False}}


def emoji_list(workspace: Workspace, args: Args) -> Json:
    """`emoji.list`: a workspace without emoji of its own. Answers `{emoji}`.

    Source: https://docs.slack.dev/reference/methods/emoji.list
    """
    return {"emoji": {}, "cache_ts": str(workspace.clock.now())}


def _file(workspace: Workspace, args: Args) -> tuple[Json, str]:
    file = workspace.store.files.get(args.required("file"))
    if file is None or not file.complete:
        raise SlackError("file_not_found")
    channel = workspace.store.channels.get(file.channel)
    return file_objects.file_json(workspace.base_url, file, channel), file.id


def file_info(workspace: Workspace, args: Args) -> Json:
    """`files.info`: one file. Answers `{file, comments}`.

    Source: https://docs.slack.dev/reference/methods/files.info
    """
    shown, _ = _file(workspace, args)
    return {"file": shown, "comments": [], "response_metadata": {"next_cursor": ""}}


def _seconds(args: Args, name: str, default: int) -> int:
    """A time in seconds, whose part of a second does not count. Raises SlackError `invalid_arguments`."""
    given = args.text(name).partition(".")[0]
    if given and not (given.isascii() and given.isdigit()):
        raise invalid_arguments(f"must be a valid timestamp [json-pointer:/{name}]")
    return int(given) if given else default


def file_list(workspace: Workspace, args: Args) -> Json:
    """`files.list`: files, newest first, of a channel, a person, a type or a time where one is named.

    Answers `{files, paging}`.

    Source: https://docs.slack.dev/reference/methods/files.list
    """
    store = workspace.store
    types = args.listing("types") or ["all"]
    if any(one not in file_objects.TYPES for one in types):
        raise SlackError("unknown_type")
    since, until = _seconds(args, "ts_from", 0), _seconds(args, "ts_to", 2**40)
    held = [
        one
        for one in reversed(store.files.values())
        if one.complete
        and args.text("channel") in ("", one.channel)
        and args.text("user") in ("", one.user)
        and since <= one.created_at <= until
        and any(file_objects.is_of_type(one.name, wanted) for wanted in types)
    ]
    count = args.integer("count", 100, low=1, high=1000)
    number = args.integer("page", 1, low=1, high=10_000)
    shown = held[count * (number - 1) : count * number]
    files = [
        file_objects.file_json(workspace.base_url, one, store.channels.get(one.channel)) for one in shown
    ]
    pages = max(1, -(-len(held) // count))
    return {"files": files, "paging": {"count": count, "total": len(held), "page": number, "pages": pages}}


def file_delete(workspace: Workspace, args: Args) -> Json:
    """`files.delete`: a file of the app's own is gone. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/files.delete
    """
    shown, file_id = _file(workspace, args)
    if shown["user"] != BOT_USER:
        raise SlackError("cant_delete_file")
    workspace.store.remove_file(file_id)
    workspace.events.file_event("file_deleted", file_id, BOT_USER)
    return {}


def _unfurled(args: Args) -> tuple[str, str]:
    """Channel and ts of the message whose links are meant. Raises SlackError for half a name, or a wrong one."""
    if not (args.text("unfurl_id") or args.text("source")):
        for name in ("channel", "ts"):
            if not args.text(name):
                raise SlackError(f"missing_{name}")
        return args.text("channel"), args.text("ts")
    for name in ("unfurl_id", "source"):
        if not args.text(name):
            raise SlackError(f"missing_{name}")
    if args.text("source") not in ("composer", "conversations_history"):
        raise SlackError("invalid_source")
    found = re.fullmatch(r"([CGD][0-9A-Z]+)\.([0-9]+\.[0-9]+)\.[0-9a-f]+", args.text("unfurl_id"))
    if found is None:
        raise SlackError("invalid_unfurl_id")
    return found[1], found[2]


def unfurl(workspace: Workspace, args: Args) -> Json:
    """`chat.unfurl`: what the app shows below the links of a message. Answers nothing.

    The message is named by `channel` and `ts`, or by `unfurl_id` and `source`. A second call changes what the
    first showed.

    Source: https://docs.slack.dev/reference/methods/chat.unfurl
    """
    unfurls = args.structure("unfurls", dict, "cannot_parse_attachment")
    if not unfurls:
        raise invalid_arguments("missing required field: unfurls")
    channel, message = target_message(workspace, *_unfurled(args))
    written = str(message.get("text")).replace("&amp;", "&")
    if any(link.replace("&amp;", "&") not in written for link in unfurls):
        raise SlackError("cannot_unfurl_url")
    held = message.setdefault("attachments", [])
    for link, shown in unfurls.items():
        given = dict(shown) if isinstance(shown, dict) else {}
        place = next((n for n, one in enumerate(held) if one.get("from_url") == link), len(held))
        ours = {"id": place + 1, "from_url": link, "is_app_unfurl": True, "app_id": APP_ID}
        held[place : place + 1] = [{**given, **ours}]
    workspace.store.put_message(channel.id, message)
    return {}


def api_test(workspace: Workspace, args: Args) -> Json:
    """`api.test`: what was sent comes back as `args`; an `error` is answered as one.

    Source: https://docs.slack.dev/reference/methods/api.test
    """
    shown = {name: value for name, value in args.values.items() if name != "token"}
    if args.text("error"):
        raise SlackError(args.text("error"))
    return {"args": shown} if shown else {}


METHODS = {
    "users.lookupByEmail": Method(lookup_by_email, 3, "users:read.email"),
    "users.profile.get": Method(profile, 4, "users.profile:read"),
    "users.getPresence": Method(presence, 3, "users:read"),
    "users.conversations": Method(conversations_of, 3, conversations.list_scope),
    "usergroups.create": Method(create_group, 2, "usergroups:write"),
    "usergroups.users.update": Method(update_group_users, 2, "usergroups:write"),
    "bots.info": Method(bot_info, 3, "users:read"),
    "team.info": Method(team_info, 3, "team:read"),
    "emoji.list": Method(emoji_list, 2, "emoji:read"),
    "files.info": Method(file_info, 4, "files:read"),
    "files.list": Method(file_list, 3, "files:read"),
    "files.delete": Method(file_delete, 3, "files:write"),
    "chat.unfurl": Method(unfurl, 3, "links:write"),
    "api.test": Method(api_test, 4),
}
