"""`/_control` over HTTP, and the same calls for a test that runs in this process: by method and path to an answer."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl

from aiohttp import web

from sandbox.slack.control import description
from sandbox.slack.control.calls import CALLS, SNAPSHOT_VERSION
from sandbox.slack.errors import BadAct
from sandbox.slack.json_object import Json
from sandbox.slack.page import state_seen_by, whole_state
from sandbox.slack.state import Person
from sandbox.slack.web_api import file_downloads
from sandbox.slack.workspace import Workspace

SNAPSHOT_CAP = 256 * 1024 * 1024


class NoSuchCall(Exception):
    """There is no control call of this method and path; the text says so."""


def _index(workspace: Workspace, query: Json) -> Json:
    posts = [("POST", name, call.summary) for name, call in CALLS.items()]
    return {
        "calls": [
            {"method": method, "path": description.full(path), "summary": summary}
            for method, path, summary in (*description.READS, *posts)
        ]
    }


def _openapi(workspace: Workspace, query: Json) -> Json:
    return description.document({name: (call.summary, call.fields) for name, call in CALLS.items()})


def _snapshot(workspace: Workspace, query: Json) -> Json:
    content = workspace.store.written_out()
    return {"half": "slack", "version": SNAPSHOT_VERSION, "content": content}


def _state(workspace: Workspace, query: Json) -> Json:
    return whole_state(workspace)


def _see(workspace: Workspace, query: Json) -> Json:
    return state_seen_by(workspace, _person(workspace, query))


def _person(workspace: Workspace, query: Json) -> Person:
    user = query.get("user")
    if not user:
        raise BadAct("user is missing: say who looks, by an id such as U0ALICE")
    who = workspace.store.people.get(user)
    if who is None:
        raise BadAct(f"user: there is no person {user!r}")
    return who


def _clear_faults(workspace: Workspace, query: Json) -> Json:
    workspace.faults.clear()
    return {"ok": True}


#: By method and path, each given what stands in the query; `description.READS` says what each does.
WITHOUT_BODY: dict[tuple[str, str], Callable[[Workspace, Json], Json]] = {
    ("GET", ""): _index,
    ("GET", "openapi.json"): _openapi,
    ("GET", "state"): _state,
    ("GET", "snapshot"): _snapshot,
    ("GET", "see"): _see,
    ("DELETE", "faults"): _clear_faults,
}


async def answer(workspace: Workspace, method: str, path: str, given: Json) -> Json:
    """Answer a call; `given` is its body, or its query where it has no body. Raises NoSuchCall and BadAct."""
    read = WITHOUT_BODY.get((method, path))
    if read is not None:
        return read(workspace, given)
    call = CALLS.get(path) if method == "POST" else None
    if call is None:
        raise NoSuchCall(f"there is no call {method} {description.full(path)}")
    return await call(workspace, given)


class Control:
    """The routes under `/_control`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """`/_control/<call>`: 200 with the answer, 400 `{error}` for a wrong body, 404 for no such call."""
        path = request.match_info.get("call", "")
        try:
            given = await _body(request, path) if request.method == "POST" else dict(request.query)
            return web.json_response(await answer(self._workspace, request.method, path, given))
        except NoSuchCall as error:
            return web.json_response({"error": str(error)}, status=404)
        except BadAct as error:
            return web.json_response({"error": str(error)}, status=400)

    async def file(self, request: web.Request) -> web.StreamResponse:
        """`GET /_control/file/<id>?user=`: what this person's client would save."""
        try:
            who = _person(self._workspace, dict(request.query))
        except BadAct as error:
            return web.json_response({"error": str(error)}, status=400)
        return file_downloads.person_download(self._workspace, who, request.match_info["file_id"])


async def _body(request: web.Request, path: str) -> Json:
    if path == "snapshot":
        request = request.clone(client_max_size=SNAPSHOT_CAP)
    try:
        body = await request.json() if request.can_read_body else {}
    except ValueError:
        raise BadAct("the body is not JSON") from None
    if not isinstance(body, dict):
        raise BadAct("the body is not an object")
    return body


async def answer_to(workspace: Workspace, method: str, address: str, body: Json) -> Json:
    """The same for a path that may have a query, such as `see?user=U0ALICE`. Raises NoSuchCall and BadAct."""
    path, _, query = address.partition("?")
    return await answer(workspace, method, path, {**dict(parse_qsl(query)), **body})
