"""Answers `GET /metrics` on an address of its own, so that whoever may read the metrics reaches nothing else."""

from __future__ import annotations

import asyncio
from functools import partial

from aiohttp import web

from bot.metrics.sources import Sources
from bot.web import Server, application
from bot.web import serve as listen

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def serve(sources: Sources, *, host: str, port: int) -> Server:
    """Listen; port 0 picks a free one. Raises OSError when the address is taken."""
    app = application()
    app.router.add_get("/metrics", partial(_answer, sources, asyncio.Lock()))
    return await listen(app, host=host, port=port)


async def _answer(sources: Sources, turn: asyncio.Lock, _request: web.Request) -> web.Response:
    # Only now: a start does without Prometheus's library.
    from bot.metrics import exposition

    # One reading of the database at a time, however many ask.
    body = await exposition.text(sources, turn)
    return web.Response(body=body, headers={"Content-Type": _CONTENT_TYPE})
