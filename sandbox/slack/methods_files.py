"""Files in three steps: files.getUploadURLExternal, a raw upload, files.completeUploadExternal.

Deviations: contents are kept in memory and shown by name and size only; no previews, no thumbnails.
"""

import mimetypes
from pathlib import PurePosixPath
from typing import Any

from aiohttp import web

from sandbox.slack import events, messages
from sandbox.slack.arguments import Args
from sandbox.slack.errors import SlackError, invalid_arguments
from sandbox.slack.methods_chat import check_writable, target
from sandbox.slack.people import BOT_USER, TEAM_DOMAIN, TEAM_ID, Channel
from sandbox.slack.store import StoredFile
from sandbox.slack.web_api import Method
from sandbox.slack.workspace import Workspace

Json = dict[str, Any]

MAX_LENGTH = 50_000_000


def get_upload_url(workspace: Workspace, args: Args) -> Json:
    name = args.required("filename")
    length = args.integer("length", 0, low=1, high=MAX_LENGTH)
    if not length:
        raise invalid_arguments("missing required field: length")
    file = StoredFile(workspace.ids.fresh("F"), name, length)
    workspace.store.files[file.id] = file
    return {"upload_url": f"{workspace.base_url}/upload/{file.id}", "file_id": file.id}


async def upload(workspace: Workspace, request: web.Request) -> web.StreamResponse:
    """`POST /upload/<file id>`: the bytes, raw or as a form file."""
    file = workspace.store.files.get(request.match_info["file_id"])
    if file is None or file.complete:
        return web.Response(status=404, text="no such upload")
    if request.content_type == "multipart/form-data":
        parts = (await request.post()).values()
        files = [part for part in parts if isinstance(part, web.FileField)]
        content = files[0].file.read() if files else b""
    else:
        content = await request.read()
    if len(content) != file.length:
        return web.Response(status=400, text=f"{file.length} bytes were announced, {len(content)} came")
    file.content = content
    return web.Response(text=f"OK - {len(content)}")


def complete_upload(workspace: Workspace, args: Args) -> Json:
    """Share what was uploaded; without `channel_id` it stays private."""
    files = [
        _uploaded(workspace, entry) for entry in args.structure("files", list, "invalid_arguments") or ()
    ]
    if not files:
        raise invalid_arguments("missing required field: files")
    channel = None
    if args.text("channel_id"):
        channel = target(workspace, args.text("channel_id"))
        check_writable(workspace, channel)
    for file in files:
        file.complete = True
    shown = [_file_json(workspace, file, channel) for file in files]
    if channel is not None:
        _share(workspace, channel, shown, args)
    return {"files": shown}


def _uploaded(workspace: Workspace, entry: Any) -> StoredFile:
    file = workspace.store.files.get(str(entry.get("id"))) if isinstance(entry, dict) else None
    if file is None:
        raise SlackError("file_not_found")
    if file.complete or not file.content:
        raise SlackError("file_update_failed")
    file.title = str(entry.get("title") or file.name)
    return file


def _share(workspace: Workspace, channel: Channel, shown: list[Json], args: Args) -> None:
    thread_ts = args.text("thread_ts") or None
    if thread_ts and workspace.store.message(channel.id, thread_ts) is None:
        raise SlackError("thread_not_found")
    content = {"text": args.text("initial_comment"), "thread_ts": thread_ts, "files": shown}
    message = messages.bot_message(workspace.ids, workspace.manifest.bot_name, channel.created_at, content)
    workspace.store.put_message(channel.id, message)
    events.message_posted(workspace, channel, message)


def _file_json(workspace: Workspace, file: StoredFile, channel: Channel | None) -> Json:
    now = int(workspace.clock.now())
    link = f"https://{TEAM_DOMAIN}.slack.com/files/{BOT_USER}/{file.id}/{file.name}"
    kind = PurePosixPath(file.name).suffix.removeprefix(".") or "binary"
    return {
        "id": file.id,
        "created": now,
        "timestamp": now,
        "name": file.name,
        "title": file.title,
        "mimetype": mimetypes.guess_type(file.name)[0] or "application/octet-stream",
        "filetype": kind,
        "pretty_type": kind.upper(),
        "user": BOT_USER,
        "user_team": TEAM_ID,
        "editable": False,
        "size": file.length,
        "mode": "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": channel is not None and not channel.is_private,
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": link,
        "url_private_download": f"{link}/download",
        "permalink": link,
        "permalink_public": link,
        "comments_count": 0,
        "is_starred": False,
        "channels": [channel.id] if channel is not None and not channel.is_im else [],
        "groups": [],
        "ims": [channel.id] if channel is not None and channel.is_im else [],
        "has_more_shares": False,
        "has_rich_preview": False,
        "file_access": "visible",
    }


METHODS = {
    "files.getUploadURLExternal": Method(get_upload_url, 4, "files:write"),
    "files.completeUploadExternal": Method(complete_upload, 4, "files:write"),
}
