"""Files of the app in three steps: files.getUploadURLExternal, a raw upload, files.completeUploadExternal.

Deviation: an upload address is good until it is used, and one file is shared into one channel.
"""

from __future__ import annotations

from typing import Any

from aiohttp import web

from sandbox.slack.errors import SlackError, invalid_arguments
from sandbox.slack.json_object import Json
from sandbox.slack.state import BOT_USER, Channel, StoredFile, file_objects, messages
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import check_writable, target_channel
from sandbox.slack.web_api.dispatch import Method
from sandbox.slack.workspace import Workspace


def get_upload_url(workspace: Workspace, args: Args) -> Json:
    """`files.getUploadURLExternal`: where to put a file of `length` bytes. Answers `{upload_url, file_id}`.

    Source: https://docs.slack.dev/reference/methods/files.getUploadURLExternal
    """
    name = args.required("filename")
    length = args.integer("length", 0, low=1, high=file_objects.MAX_BYTES + 1)
    if not length:
        raise invalid_arguments("missing required field: length")
    if length > file_objects.MAX_BYTES:
        raise SlackError("file_upload_size_restricted")
    file = StoredFile(
        workspace.ids.fresh("F"), name, length, user=BOT_USER, created_at=int(workspace.clock.now())
    )
    file.alt_txt = args.text("alt_txt")
    workspace.store.files[file.id] = file
    return {"upload_url": f"{workspace.base_url}/upload/{file.id}", "file_id": file.id}


async def upload(workspace: Workspace, request: web.Request) -> web.StreamResponse:
    """`POST /upload/<file id>`: the bytes, raw or as a form file. 404 for no such upload, 400 for another length."""
    file = workspace.store.files.get(request.match_info["file_id"])
    if file is None or file.complete:
        return web.Response(status=404, text="no such upload")
    if request.content_type == "multipart/form-data":
        parts = (await request.post()).values()
        sent = [part for part in parts if isinstance(part, web.FileField)]
        content = sent[0].file.read() if sent else b""
    else:
        content = await request.read()
    if len(content) != file.length:
        return web.Response(status=400, text=f"{file.length} bytes were announced, {len(content)} came")
    file.content = content
    return web.Response(text=f"OK - {len(content)}")


def complete_upload(workspace: Workspace, args: Args) -> Json:
    """`files.completeUploadExternal`: share what was uploaded; private without `channel_id`. Answers `{files}`.

    Source: https://docs.slack.dev/reference/methods/files.completeUploadExternal
    """
    given = args.structure("files", list, "invalid_arguments") or ()
    uploaded = [_uploaded(workspace, entry) for entry in given]
    if not uploaded:
        raise invalid_arguments("missing required field: files")
    channel = None
    if args.text("channel_id"):
        channel = target_channel(workspace, args.text("channel_id"))
        check_writable(workspace, channel)
        _check_thread(workspace, channel, args)
    for file in uploaded:
        file.complete = True
        file.channel = channel.id if channel is not None else ""
        workspace.store.put_file(file)
    shown = [file_objects.file_json(workspace.base_url, file, channel) for file in uploaded]
    if channel is not None:
        _share(workspace, channel, shown, args)
        for file in uploaded:
            workspace.events.file_event("file_shared", file.id, BOT_USER, channel)
    return {"files": shown}


def _uploaded(workspace: Workspace, entry: Any) -> StoredFile:
    file_id = entry.get("id") if isinstance(entry, dict) else None
    file = workspace.store.files.get(file_id) if isinstance(file_id, str) else None
    if file is None or file.user != BOT_USER:
        raise SlackError("file_not_found")
    if file.complete or not file.content:
        raise SlackError("file_update_failed")
    file.title = str(entry.get("title") or file.name)
    return file


def _check_thread(workspace: Workspace, channel: Channel, args: Args) -> None:
    thread_ts = args.text("thread_ts")
    if thread_ts and workspace.store.message(channel.id, thread_ts) is None:
        raise SlackError("thread_not_found")


def _share(workspace: Workspace, channel: Channel, shown: list[Json], args: Args) -> None:
    thread_ts = args.text("thread_ts") or None
    content = {"text": args.text("initial_comment"), "thread_ts": thread_ts, "files": shown}
    message = messages.bot_message(workspace.ids, workspace.manifest.bot_name, channel.created_at, content)
    workspace.store.put_message(channel.id, message)
    workspace.events.message_posted(channel, message)


METHODS = {
    "files.getUploadURLExternal": Method(get_upload_url, 4, "files:write"),
    "files.completeUploadExternal": Method(complete_upload, 4, "files:write"),
}
