"""`POST /response/<secret>`: an answer to an interaction, without a token.

Deviations: Slack accepts malformed blocks here with less explanation than this does.

Source: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
"""

from __future__ import annotations

from aiohttp import web

from sandbox.slack.errors import SlackError
from sandbox.slack.faults import RESPONSE_URL
from sandbox.slack.json_object import Json
from sandbox.slack.state import Ephemeral, ResponseUrl, messages
from sandbox.slack.web_api.content_checks import check_blocks
from sandbox.slack.web_api.dispatch import cut, strike_before
from sandbox.slack.workspace import Workspace


async def handle(workspace: Workspace, request: web.Request) -> web.StreamResponse:
    """200 `ok`, or the refusal as JSON with its status; only what worked counts as a use."""
    fault = workspace.faults.of_method(RESPONSE_URL)
    body: Json = {}
    try:
        await strike_before(fault)
        url = workspace.response_urls.look(request.match_info["secret"])
        body = await _body(request)
        _respond(workspace, url, body)
        url.uses += 1
    except SlackError as refusal:
        status = refusal.status if refusal.status != 200 else 400
        workspace.log_call(RESPONSE_URL, body, refusal.code, refusal.body())
        return web.json_response(refusal.body(), status=status, headers=refusal.headers)
    workspace.log_call(RESPONSE_URL, body, None, {"ok": True})
    if fault is not None and fault.effect == "reset_after":
        cut(request)
    return web.Response(text="ok")


async def _body(request: web.Request) -> Json:
    try:
        body = await request.json()
    except ValueError:
        raise SlackError("invalid_payload") from None
    if not isinstance(body, dict):
        raise SlackError("invalid_payload")
    return body


def _respond(workspace: Workspace, url: ResponseUrl, body: Json) -> None:
    original = _Original(workspace, url)
    if body.get("delete_original"):
        original.delete()
        return
    if body.get("blocks"):
        check_blocks(body["blocks"])
    if not (body.get("text") or body.get("blocks") or body.get("attachments")):
        raise SlackError("no_text")
    if body.get("replace_original") and original.replace(body):
        return
    channel = workspace.store.channels[url.channel]
    thread_ts = body.get("thread_ts") or url.thread_ts
    content = {**body, "thread_ts": thread_ts, "metadata": None}
    message = messages.bot_message(workspace.ids, workspace.manifest.bot_name, channel.created_at, content)
    if body.get("response_type") == "in_channel":
        workspace.store.put_message(channel.id, message)
    else:
        workspace.store.put_ephemeral(Ephemeral(url.user, channel.id, message))


class _Original:
    """The message an interaction came from, if it came from one."""

    def __init__(self, workspace: Workspace, url: ResponseUrl) -> None:
        self._workspace = workspace
        self._channel = url.channel
        ts = url.message_ts or ""
        self._ephemeral = workspace.store.ephemeral(url.channel, ts)
        self._message = workspace.store.message(url.channel, ts)

    def delete(self) -> None:
        if self._ephemeral is not None:
            self._workspace.store.remove_ephemeral(self._ephemeral)
        elif self._message is not None:
            self._workspace.store.remove_message(self._channel, self._message)
        else:
            raise SlackError("message_not_found", status=404)

    def replace(self, body: Json) -> bool:
        """Put the new content in its place; False when there is no original (a command)."""
        message = self._ephemeral.message if self._ephemeral is not None else self._message
        if message is None:
            return False
        content = {"text": body.get("text", ""), "blocks": body.get("blocks", []), "attachments": []}
        messages.put_content(message, content, self._workspace.ids)
        if self._ephemeral is None:
            self._workspace.store.put_message(self._channel, message)
        else:
            self._workspace.changed()
        return True
