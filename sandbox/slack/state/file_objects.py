"""A file as messages and answers of the Web API hold it.

Deviations: no previews, no thumbnails, no editing; a file is in one conversation.
"""

from __future__ import annotations

import mimetypes
from pathlib import PurePosixPath
from urllib.parse import quote

from sandbox.slack.json_object import Json
from sandbox.slack.state.people import TEAM_DOMAIN, TEAM_ID, Channel
from sandbox.slack.state.store import StoredFile

#: Slack takes 1 GB; the stand-in keeps files in memory.
MAX_BYTES = 50_000_000
MAX_FILES_A_MESSAGE = 10


#: What `types` of files.list may say; nothing here is a post, a snippet or of Google's.
TYPES = ("all", "spaces", "snippets", "images", "gdocs", "zips", "pdfs")


def is_of_type(name: str, wanted: str) -> bool:
    """Whether a file of this name is one of `TYPES`."""
    mime = mimetypes.guess_type(name)[0] or ""
    return (
        wanted == "all"
        or (wanted == "images" and mime.startswith("image/"))
        or (wanted == "zips" and mime == "application/zip")
        or (wanted == "pdfs" and mime == "application/pdf")
    )


def kind_of(name: str) -> str:
    """Slack's `filetype`: the ending, or binary."""
    return PurePosixPath(name).suffix.removeprefix(".").lower() or "binary"


def file_json(base_url: str, file: StoredFile, channel: Channel | None) -> Json:
    """A file object, shared in `channel` or nowhere. `base_url` is the stand-in's own, without a slash at its end.

    Source: https://docs.slack.dev/reference/objects/file-object
    """
    kind = kind_of(file.name)
    name = quote(file.name.lower())
    private = f"{base_url}/files-pri/{TEAM_ID}-{file.id}"
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
