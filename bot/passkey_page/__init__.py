"""`/passkey`: the page on which a passkey is added or used, and the two calls it makes.

GET gives the page and changes nothing, so a link checker uses nothing up: the token is in the fragment, which only the
browser knows. The first POST turns the link into the page's content, the second brings what the device answered. Who
may do what is decided by the services.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Any

from aiohttp import web

from bot.partner.secret import Secret
from bot.services.passkeys import page as content
from bot.services.passkeys import page_content

#: Uses a link up; raises PageRefused.
Open = Callable[[Secret], Awaitable[page_content.Page]]
#: Uses a page up with what the device answered; raises PageRefused.
Finish = Callable[[Secret, Mapping[str, Any]], Awaitable[content.Done]]


_PATH = "/passkey"
# An attestation with its certificates is a few kilobytes.
_MOST_BYTES = 32 * 1024
_READ_TIMEOUT_S = 5.0
_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "publickey-credentials-get=(self), publickey-credentials-create=(self)",
}
_BARE = "default-src 'none'; frame-ancestors 'none'"
_YEAR_S = 31_536_000


class _Malformed(Exception):
    """The body isn't what the page sends; the text says what is wrong, without the body."""


def add_to(
    app: web.Application, open_link: Open, finish: Finish, *, nonce: Callable[[], str], https: bool
) -> None:
    """Put the page on the web server. `https`: browsers reach it so, and keep to it from then on."""
    document = _document()
    always = {**_HEADERS, **({"Strict-Transport-Security": f"max-age={_YEAR_S}"} if https else {})}

    async def show(_request: web.Request) -> web.Response:
        fresh = nonce()
        headers = {**always, "Content-Security-Policy": _policy(fresh)}
        return web.Response(
            text=document.replace("%NONCE%", fresh), content_type="text/html", headers=headers
        )

    async def opened(request: web.Request) -> web.Response:
        async def answer(asked: Mapping[str, Any]) -> Mapping[str, Any]:
            return _content(await open_link(Secret(asked["token"])))

        return await _answered(request, {"token"}, answer)

    async def finished(request: web.Request) -> web.Response:
        async def answer(asked: Mapping[str, Any]) -> Mapping[str, Any]:
            done = await finish(Secret(asked["token"]), asked["answer"])
            return {"title": done.title, "text": done.text}

        return await _answered(request, {"token", "answer"}, answer)

    async def _answered(
        request: web.Request,
        fields: set[str],
        answer: Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]],
    ) -> web.Response:
        headers = {**always, "Content-Security-Policy": _BARE}
        try:
            return web.json_response(await answer(await _read(request, fields)), headers=headers)
        except _Malformed as wrong:
            return web.json_response({"error": str(wrong)}, status=400, headers=headers)
        except content.PageRefused as refusal:
            said = {"error": str(refusal), "reason": refusal.reason}
            return web.json_response(said, status=refusal.status, headers=headers)

    app.router.add_get(_PATH, show)
    app.router.add_post(f"{_PATH}/open", opened)
    app.router.add_post(f"{_PATH}/finish", finished)


def _document() -> str:
    parts = {name: files(__package__).joinpath(f"page.{name}").read_text() for name in ("html", "css", "js")}
    return parts["html"].replace("%STYLE%", parts["css"]).replace("%SCRIPT%", parts["js"])


def _policy(nonce: str) -> str:
    """Its own script and style, and calls to this server; nothing from elsewhere, and no frame around it."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}'",
            f"style-src 'nonce-{nonce}'",
            "connect-src 'self'",
            "form-action 'none'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    )


async def _read(request: web.Request, fields: set[str]) -> Mapping[str, Any]:
    """Strictly a JSON object with these fields; a page elsewhere cannot send that type without being asked first."""
    if request.content_type != "application/json" or (request.content_length or 0) > _MOST_BYTES:
        raise _Malformed("This takes a small JSON object.")
    try:
        async with asyncio.timeout(_READ_TIMEOUT_S):
            raw = await request.read()
        body = json.loads(raw)
        json.dumps(body, ensure_ascii=False).encode()  # half a character, such as "\ud800", is no text
    except (TimeoutError, ValueError, RecursionError):
        raise _Malformed("This isn't a JSON object.") from None
    if len(raw) > _MOST_BYTES or not isinstance(body, dict) or set(body) != fields:
        raise _Malformed(f"This takes a small JSON object with {' and '.join(sorted(fields))}.")
    if not isinstance(body["token"], str) or not isinstance(body.get("answer", {}), dict):
        raise _Malformed("The token is a text, and the answer is an object.")
    return body


def _content(page: page_content.Page) -> Mapping[str, Any]:
    return {
        "token": page.token.reveal(),
        "person": page.person,
        "heading": page.heading,
        "lead": page.lead,
        "lines": page.lines,
        "warnings": page.warnings,
        "rows": page.rows,
        "button": page.button,
        "options": page.options,
        "expires_in": page.expires_in_s,
    }
