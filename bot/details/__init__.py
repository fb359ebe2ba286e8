"""`/details`: the page that shows card details, and the one call that uses a link up.

GET gives the page and changes nothing, so a link checker spends nothing: the token is in the fragment,
which only the browser knows. POST takes it, once. Who may see what is decided by the services.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from aiohttp import web

from bot.details.page import Page
from bot.domain.card_details import Manner
from bot.partner.secret import Secret
from bot.services.execution import NotShown, Shown

#: Uses a link up; raises NotShown.
Open = Callable[[Secret, Manner], Awaitable[Shown]]

_PATH = "/details"
# A token and a word are a tenth of this.
_MOST_BYTES = 1024
_READ_TIMEOUT_S = 5.0
_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_BARE = "default-src 'none'; frame-ancestors 'none'"
_YEAR_S = 31_536_000


class _Malformed(Exception):
    """The body is not `{"token": …}`; the text says what is wrong, without the body."""


@dataclass(frozen=True, slots=True)
class _LinkUse:
    token: Secret
    manner: Manner


def add_to(
    app: web.Application, open_link: Open, *, origins: Collection[str], nonce: Callable[[], str], https: bool
) -> None:
    """Put the page on the web server. `https`: browsers reach it so, and are told to keep to it."""
    page = Page(origins)
    always = {**_HEADERS, **({"Strict-Transport-Security": f"max-age={_YEAR_S}"} if https else {})}

    async def show(request: web.Request) -> web.Response:
        manner = Manner.TEXT if request.query.get("as") == Manner.TEXT else Manner.FRAME
        fresh = nonce()
        headers = {**always, "Content-Security-Policy": page.policy(manner, fresh)}
        return web.Response(text=page.html(manner, fresh), content_type="text/html", headers=headers)

    async def spend(request: web.Request) -> web.Response:
        headers = {**always, "Content-Security-Policy": _BARE}
        try:
            asked = await _read(request)
            shown = await open_link(asked.token, asked.manner)
        except _Malformed as wrong:
            return web.json_response({"error": str(wrong)}, status=400, headers=headers)
        except NotShown as refusal:
            answer = {"error": str(refusal), "reason": refusal.reason}
            return web.json_response(answer, status=refusal.status, headers=headers)
        return web.json_response(_answer(shown), headers=headers)

    app.router.add_get(_PATH, show)
    app.router.add_post(_PATH, spend)


async def _read(request: web.Request) -> _LinkUse:
    """Strictly a small JSON object; a page elsewhere cannot send that type without being asked first."""
    if request.content_type != "application/json" or (request.content_length or 0) > _MOST_BYTES:
        raise _Malformed("This takes a small JSON object.")
    try:
        async with asyncio.timeout(_READ_TIMEOUT_S):
            raw = await request.read()
        body = json.loads(raw)
    except (TimeoutError, ValueError, RecursionError):
        raise _Malformed("This isn't a JSON object.") from None
    if len(raw) > _MOST_BYTES:
        raise _Malformed("This takes a small JSON object.")
    if not isinstance(body, dict) or not set(body) <= {"token", "as"}:
        raise _Malformed('This takes {"token": …}.')
    token, manner = body.get("token"), body.get("as", Manner.FRAME.value)
    if not isinstance(token, str) or not token.isascii() or manner not in (Manner.FRAME, Manner.TEXT):
        raise _Malformed('This takes {"token": …}, and "as" is "frame" or "text".')
    return _LinkUse(Secret(token), Manner(manner))


def _answer(shown: Shown) -> Mapping[str, str | int]:
    name = "details_url" if shown.manner is Manner.FRAME else "exchange_url"
    note = {"note": shown.note} if shown.note else {}
    return {name: shown.url.reveal(), "expires_in": shown.expires_in_s, **note}
