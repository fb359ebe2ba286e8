"""The Web API: who calls, may they, are they too fast, then the method.

A method is called as `(workspace, args) -> fields`; `{"ok": true}` is put around its answer. Each
family of methods is a module of its own and lists what it offers as `METHODS`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from sandbox.slack.errors import SlackError
from sandbox.slack.faults import Fault
from sandbox.slack.json_object import Json
from sandbox.slack.web_api import arguments
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.workspace import Workspace

#: The scopes of which the app needs one; given the workspace and the arguments.
Scopes = Callable[[Workspace, Args], str]


#: The one method that needs no token.
OPEN_TO_ALL = "api.test"


@dataclass(frozen=True)
class Method:
    """One method: `tier` None is Slack's "special", `scope` None needs no more than a token."""

    call: Callable[[Workspace, Args], Json]
    tier: int | None
    scope: str | Scopes | None = None
    app_token: bool = False


class WebApi:
    """Dispatches `/api/<method>`."""

    def __init__(self, workspace: Workspace, methods: dict[str, Method]) -> None:
        self._workspace = workspace
        self._methods = methods

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer `/api/<method>`: JSON with `ok`, 200 also for most refusals, 429 over a rate limit.

        Source: https://docs.slack.dev/apis/web-api
        """
        name = request.match_info["method"]
        fault = self._workspace.faults.of_method(name)
        args = Args({})
        try:
            args = await arguments.read(request)
            await strike_before(fault)
            body = _with_warning(request, self._answer(name, args))
            status, headers, error = 200, {}, None
        except SlackError as refusal:
            body, status, headers = refusal.body(), refusal.status, refusal.headers
            error = refusal.code
        self._workspace.log_call(name, args.values, error, body)
        if fault is not None and fault.effect == "reset_after":
            cut(request)
        if status >= 500:
            return web.Response(status=status, text=f"{status} by a switched-on fault")
        return web.json_response(
            body, status=status, headers={**self._scope_headers(name, args, error), **headers}
        )

    def _answer(self, name: str, args: Args) -> Json:
        method = self._methods.get(name)
        if method is None:
            raise SlackError("unknown_method", req_method=name)
        if name != OPEN_TO_ALL:
            self._check_token(method, args.text("token"))
        self._check_scope(method, args)
        self._workspace.rates.call(name, method.tier)
        return {"ok": True, **method.call(self._workspace, args)}

    def _check_token(self, method: Method, token: str) -> None:
        workspace = self._workspace
        if not token:
            raise SlackError("not_authed")
        if token not in (workspace.bot_token, workspace.app_token):
            raise SlackError("invalid_auth")
        wanted = workspace.app_token if method.app_token else workspace.bot_token
        if token != wanted:
            raise SlackError("not_allowed_token_type")

    def _check_scope(self, method: Method, args: Args) -> None:
        """`missing_scope` names what is needed and what the manifest provides."""
        needed = method.scope
        if callable(needed):
            needed = needed(self._workspace, args)
        scopes = self._workspace.manifest.scopes
        if needed is not None and needed not in scopes:
            raise SlackError("missing_scope", needed=needed, provided=",".join(sorted(scopes)))

    def _scope_headers(self, name: str, args: Args, error: str | None) -> dict[str, str]:
        """What the token may do and what the method needs; nothing of either where nobody is known."""
        if error in ("not_authed", "invalid_auth"):
            return {}
        method = self._methods.get(name)
        needed = method.scope if method is not None else None
        try:
            needed = needed(self._workspace, args) if callable(needed) else needed
        except SlackError:
            needed = None
        held = {"x-oauth-scopes": ",".join(sorted(self._workspace.manifest.scopes))}
        return {**held, **({"x-accepted-oauth-scopes": needed} if needed else {})}


def _with_warning(request: web.Request, body: Json) -> Json:
    """The answer, with what Slack thinks of the way in which arguments came."""
    if request.method != "POST" or request.content_type != "application/json" or request.charset is not None:
        return body
    metadata = {**body.get("response_metadata", {}), "warnings": ["missing_charset"]}
    return {**body, "warning": "missing_charset", "response_metadata": metadata}


async def strike_before(fault: Fault | None) -> None:
    """Let a switched-on fault happen instead of the call, or before it. Raises the SlackError that it names."""
    if fault is None or fault.effect == "reset_after":
        return
    if fault.effect == "delay":
        await asyncio.sleep(fault.seconds)
    elif fault.effect == "429":
        raise SlackError("ratelimited", status=429, headers={"Retry-After": str(max(1, int(fault.seconds)))})
    elif fault.effect == "error":
        raise SlackError(fault.error)
    else:
        raise SlackError("internal_error", status=int(fault.effect))


def cut(request: web.Request) -> None:
    """Break the connection instead of answering."""
    if request.transport is not None:
        request.transport.abort()
