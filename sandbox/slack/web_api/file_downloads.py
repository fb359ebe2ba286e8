"""Files of the workspace: how Slack shows one, how one gets into a conversation, and who may fetch it.

A download without a token that may read files is not refused: Slack leads to its sign-in page, which
answers 200 with HTML. An app that does not look takes that page for the file.

Deviations: no previews, no thumbnails, no editing; a file is in one conversation.
"""

from __future__ import annotations

import mimetypes
from urllib.parse import quote

from aiohttp import web

from sandbox.slack.errors import SlackError
from sandbox.slack.faults import FILE_DOWNLOAD
from sandbox.slack.state import BOT_USER, TEAM_ID, Channel, Person, StoredFile
from sandbox.slack.web_api.dispatch import cut, strike_before
from sandbox.slack.workspace import Workspace

READ_SCOPE = "files:read"
SIGN_IN = "/signin"
SIGN_IN_PAGE = "<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in to Slack</body></html>"


async def download(workspace: Workspace, request: web.Request) -> web.StreamResponse:
    """`GET /files-pri/<team>-<file>/...`: the bytes for a bot token that may read files, else the sign-in page.

    404 for a file that is not there or not complete.
    Source: https://docs.slack.dev/reference/objects/file-object
    """
    fault = workspace.faults.of_method(FILE_DOWNLOAD)
    try:
        await strike_before(fault)
    except SlackError as refusal:
        return web.Response(status=refusal.status, text=refusal.code, headers=refusal.headers)
    if fault is not None:
        cut(request)
    team, _, file_id = request.match_info["file_id"].partition("-")
    file = workspace.store.files.get(file_id)
    if not _may_download(workspace, request):
        return _to_sign_in(request)
    if team != TEAM_ID or file is None or not file.complete:
        return web.Response(status=404, text="file not found")
    # What nobody shared where the app is, is not there for it.
    channel = workspace.store.channels.get(file.channel)
    if file.user != BOT_USER and (channel is None or not channel.bot_is_in):
        return _to_sign_in(request)
    return _bytes(file)


def _to_sign_in(request: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": f"{SIGN_IN}?redir={quote(request.path)}"})


def _may_download(workspace: Workspace, request: web.Request) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or token.strip() != workspace.bot_token:
        return False
    return READ_SCOPE in workspace.manifest.scopes


async def sign_in(request: web.Request) -> web.StreamResponse:
    """`GET /signin`: Slack's sign-in page, which is HTML with status 200."""
    return web.Response(text=SIGN_IN_PAGE, content_type="text/html")


def person_download(workspace: Workspace, who: Person, file_id: str) -> web.StreamResponse:
    """What the page saves for a person; 404 for what they cannot see."""
    file = workspace.store.files.get(file_id)
    channel = workspace.store.channels.get(file.channel) if file is not None else None
    if file is None or channel is None or not _sees(who, channel):
        return web.Response(status=404, text="This file is not there, or not for you.")
    return _bytes(file)


def _sees(who: Person, channel: Channel) -> bool:
    if channel.is_im:
        return channel.im_user == who.id
    return not channel.is_private or who.id in channel.members


def _bytes(file: StoredFile) -> web.Response:
    """Never shown by a browser, always saved: the content is anybody's."""
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
        "X-Content-Type-Options": "nosniff",
    }
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return web.Response(body=file.content, content_type=kind, headers=headers)
