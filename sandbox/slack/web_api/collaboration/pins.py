"""What is kept at the top of a channel: pins.* and bookmarks.*."""

from __future__ import annotations

from sandbox.slack.errors import SlackError
from sandbox.slack.json_object import Json
from sandbox.slack.state import BOT_USER
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import readable_channel, target_message
from sandbox.slack.web_api.dispatch import Method
from sandbox.slack.workspace import Workspace


def pin(workspace: Workspace, args: Args) -> Json:
    """`pins.add`: pin a message to its channel. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/pins.add
    """
    channel, message = target_message(workspace, args.required("channel"), args.required("timestamp"))
    if message.get("pinned_to"):
        raise SlackError("already_pinned")
    message["pinned_to"] = [channel.id]
    message["pinned_info"] = {
        "channel": channel.id,
        "pinned_by": BOT_USER,
        "pinned_ts": int(workspace.clock.now()),
    }
    workspace.store.put_message(channel.id, message)
    workspace.events.pinned("pin_added", channel, message, BOT_USER)
    return {}


def unpin(workspace: Workspace, args: Args) -> Json:
    """`pins.remove`: take a message off the pins. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/pins.remove
    """
    channel, message = target_message(workspace, args.required("channel"), args.required("timestamp"))
    if not message.pop("pinned_to", None):
        raise SlackError("no_pin")
    message.pop("pinned_info", None)
    workspace.store.put_message(channel.id, message)
    workspace.events.pinned("pin_removed", channel, message, BOT_USER)
    return {}


def pins(workspace: Workspace, args: Args) -> Json:
    """`pins.list`: the pinned messages of a channel. Answers `{items}`.

    Source: https://docs.slack.dev/reference/methods/pins.list
    """
    channel = readable_channel(workspace, args.required("channel"))
    held = [one for one in workspace.store.messages[channel.id] if one.get("pinned_to")]
    return {
        "items": [
            {
                "type": "message",
                "channel": channel.id,
                "message": one,
                "created": one["pinned_info"]["pinned_ts"],
                "created_by": one["pinned_info"]["pinned_by"],
            }
            for one in held
        ]
    }


def add_bookmark(workspace: Workspace, args: Args) -> Json:
    """`bookmarks.add`: a link at the top of a channel. Answers `{bookmark}`.

    Source: https://docs.slack.dev/reference/methods/bookmarks.add
    """
    channel = readable_channel(workspace, args.required("channel_id"))
    if args.required("type") != "link":
        raise SlackError("invalid_bookmark_type")
    now = int(workspace.clock.now())
    bookmark = {
        "id": workspace.ids.fresh("Bk"),
        "channel_id": channel.id,
        "title": args.required("title"),
        "link": args.required("link"),
        "emoji": args.text("emoji"),
        "type": "link",
        "date_created": now,
        "date_updated": 0,
        "last_updated_by_user_id": BOT_USER,
        "app_id": None,
    }
    channel.bookmarks.append(bookmark)
    workspace.store.put_channel(channel)
    return {"bookmark": bookmark}


def _bookmark(workspace: Workspace, args: Args) -> tuple[list[Json], Json]:
    channel = readable_channel(workspace, args.required("channel_id"))
    wanted = args.required("bookmark_id")
    found = next((one for one in channel.bookmarks if one["id"] == wanted), None)
    if found is None:
        raise SlackError("not_found")
    return channel.bookmarks, found


def edit_bookmark(workspace: Workspace, args: Args) -> Json:
    """`bookmarks.edit`: another title, link or emoji. Answers `{bookmark}`.

    Source: https://docs.slack.dev/reference/methods/bookmarks.edit
    """
    _, found = _bookmark(workspace, args)
    found |= {name: args.text(name) for name in ("title", "link", "emoji") if args.has(name)}
    found["date_updated"] = int(workspace.clock.now())
    workspace.changed()
    return {"bookmark": found}


def remove_bookmark(workspace: Workspace, args: Args) -> Json:
    """`bookmarks.remove`: take a link away. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/bookmarks.remove
    """
    held, found = _bookmark(workspace, args)
    held.remove(found)
    workspace.changed()
    return {}


def bookmarks(workspace: Workspace, args: Args) -> Json:
    """`bookmarks.list`: the links of a channel. Answers `{bookmarks}`.

    Source: https://docs.slack.dev/reference/methods/bookmarks.list
    """
    return {"bookmarks": list(readable_channel(workspace, args.required("channel_id")).bookmarks)}


METHODS = {
    "pins.add": Method(pin, 2, "pins:write"),
    "pins.remove": Method(unpin, 2, "pins:write"),
    "pins.list": Method(pins, 2, "pins:read"),
    "bookmarks.add": Method(add_bookmark, 2, "bookmarks:write"),
    "bookmarks.edit": Method(edit_bookmark, 2, "bookmarks:write"),
    "bookmarks.remove": Method(remove_bookmark, 2, "bookmarks:write"),
    "bookmarks.list": Method(bookmarks, 3, "bookmarks:read"),
}
