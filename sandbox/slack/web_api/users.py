"""Who is who: auth.test, users.*, usergroups.*, and apps.connections.open."""

from __future__ import annotations

from sandbox.slack.errors import SlackError
from sandbox.slack.json_object import Json
from sandbox.slack.state import APP_ID, BOT_ID, BOT_USER, TEAM_DOMAIN, TEAM_ID, TEAM_NAME, Group, user_json
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.dispatch import Method
from sandbox.slack.web_api.paging import page
from sandbox.slack.workspace import Workspace


def auth_test(workspace: Workspace, args: Args) -> Json:
    """`auth.test`: who the app is. Answers ids and names of the workspace and of the app's user.

    Source: https://docs.slack.dev/reference/methods/auth.test
    """
    return {
        "url": f"https://{TEAM_DOMAIN}.slack.com/",
        "team": TEAM_NAME,
        "user": workspace.store.people[BOT_USER].name,
        "team_id": TEAM_ID,
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


def connections_open(workspace: Workspace, args: Args) -> Json:
    """`apps.connections.open`: the address of one WebSocket, good for 30 seconds. Answers `{url}`.

    How Slack names the error while Socket Mode is turned off is not documented; `access_denied` is a guess.

    Source: https://docs.slack.dev/reference/methods/apps.connections.open
    """
    if not workspace.sockets.is_on:
        raise SlackError("access_denied")
    base = workspace.base_url.replace("http://", "ws://", 1)
    return {"url": f"{base}/socket?ticket={workspace.sockets.issue_ticket()}&app_id={APP_ID}"}


def users_info(workspace: Workspace, args: Args) -> Json:
    """`users.info`: one person. Answers `{user}`.

    Source: https://docs.slack.dev/reference/methods/users.info
    """
    person = workspace.store.people.get(args.required("user"))
    if person is None:
        raise SlackError("user_not_found")
    return {"user": user_json(person, workspace.clock.now(), with_email=_may_see_email(workspace))}


def _may_see_email(workspace: Workspace) -> bool:
    return "users:read.email" in workspace.manifest.scopes


def users_list(workspace: Workspace, args: Args) -> Json:
    """`users.list`: the people of the workspace, without strangers, a page at a time. Answers `{members}`.

    Source: https://docs.slack.dev/reference/methods/users.list
    """
    own = [one for one in workspace.store.people.values() if not one.is_stranger]
    shown, cursor = page(own, args, default=len(own) or 1)
    now, with_email = workspace.clock.now(), _may_see_email(workspace)
    return {
        "members": [user_json(person, now, with_email=with_email) for person in shown],
        "cache_ts": int(now),
        "response_metadata": {"next_cursor": cursor},
    }


def group_json(group: Group, *, with_users: bool) -> Json:
    """A user group as Slack shows it, with its members where wanted."""
    shown: Json = {
        "id": group.id,
        "team_id": TEAM_ID,
        "is_usergroup": True,
        "is_subteam": True,
        "name": group.name,
        "description": group.description,
        "handle": group.handle,
        "is_external": False,
        "date_create": group.updated_at,
        "date_update": group.updated_at,
        "date_delete": 0,
        "auto_provision": False,
        "enterprise_subteam_id": "",
        "created_by": group.creator,
        "updated_by": group.creator,
        "prefs": {"channels": list(group.channels), "groups": []},
        "user_count": len(group.users),
    }
    if with_users:
        shown["users"] = list(group.users)
    return shown


def usergroups_list(workspace: Workspace, args: Args) -> Json:
    """`usergroups.list`: every user group, with its members when asked. Answers `{usergroups}`.

    Source: https://docs.slack.dev/reference/methods/usergroups.list
    """
    with_users = args.flag("include_users")
    groups = workspace.store.groups.values()
    return {"usergroups": [group_json(group, with_users=with_users) for group in groups]}


def usergroups_users_list(workspace: Workspace, args: Args) -> Json:
    """`usergroups.users.list`: the ids of a group's members. Answers `{users}`.

    Source: https://docs.slack.dev/reference/methods/usergroups.users.list
    """
    group = workspace.store.groups.get(args.required("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group.users)}


METHODS = {
    "auth.test": Method(auth_test, None),
    "apps.connections.open": Method(connections_open, 3, app_token=True),
    "users.info": Method(users_info, 4, "users:read"),
    "users.list": Method(users_list, 2, "users:read"),
    "usergroups.list": Method(usergroups_list, 2, "usergroups:read"),
    "usergroups.users.list": Method(usergroups_users_list, 2, "usergroups:read"),
}
