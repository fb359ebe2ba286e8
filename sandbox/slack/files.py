"""Files of the workspace: how Slack shows one, how one gets into a conversation, and who may fetch it.

A download without a token that may read files is not refused: Slack leads to its sign-in page, which
answers 200 with HTML. An app that does not look takes that page for the file.

Deviations: no previews, no thumbnails, no editing; a file is in one conversation.
"""

from __future__ import annotations

import mimetypes
from pathlib import PurePosixPath
from urllib.parse import quote

from aiohttp import web

from sandbox.slack.errors import SlackError
from sandbox.slack.faults import FILE_DOWNLOAD
from sandbox.slack.json_object import Json
from sandbox.slack.people import BOT_USER, TEAM_DOMAIN, TEAM_ID, Channel, Person
from sandbox.slack.store import StoredFile
from sandbox.slack.web_api import cut, strike_before
from sandbox.slack.workspace import Workspace

#: Slack takes 1 GB; the stand-in keeps files in memory.
MAX_BYTES = 50_000_000
MAX_FILES_A_MESSAGE = 10
READ_SCOPE = "files:read"
SIGN_IN = "/signin"
SIGN_IN_PAGE = "<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in to Slack</body></html>"


def kind_of(name: str) -> str:
    """Slack's `filetype`: the ending, or binary."""
    return PurePosixPath(name).suffix.removeprefix(".").lower() or "binary"


def file_json(workspace: Workspace, file: StoredFile, channel: Channel | None) -> Json:
    """A file object as messages and answers hold it."""
    kind = kind_of(file.name)
    name = quote(file.name.lower())
    private = f"{workspace.base_url}/files-pri/{TEAM_ID}-{file.id}"
    permalink = f"https://{TEAM_DOMAIN}.slack.com/files/{file.user}/{file.id}/{name}"
    return {
        "id": file.id,
        "created": file.created_at,
        "timestamp": file.created_at,
        "name": file.name,
        "title": file.title or file.name,
        "mimetype": mimetypes.guess_type(file.name)[0] or "application/octet-stream",
        "filetype": kind,
        "pretty_type": kind.upper(),
        "user": file.user,
        "user_team": TEAM_ID,
        "editable": False,
        "size": file.length,
        "mode": "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": channel is not None and not channel.is_private and not channel.is_im,
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": f"{private}/{name}",
        "url_private_download": f"{private}/download/{name}",
        "permalink": permalink,
        "permalink_public": f"https://slack-files.com/{TEAM_ID}-{file.id}-{file.id.lower()}",
        "comments_count": 0,
        "is_starred": False,
        "channels": [channel.id] if channel is not None and not channel.is_im else [],
        "groups": [],
        "ims": [channel.id] if channel is not None and channel.is_im else [],
        "has_more_shares": False,
        "has_rich_preview": False,
        "file_access": "visible",
        **({"alt_txt": file.alt_txt} if file.alt_txt else {}),
    }


async def download(workspace: Workspace, request: web.Request) -> web.StreamResponse:
    """`GET /files-pri/<team>-<file>/...`: the bytes for a bot token that may read files."""
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
