"""Puts the addresses of requests into what is about to be sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping

from handlers.views import Block, request_links

#: Asks for the addresses of requests' messages, by request id.
Links = Callable[[Collection[str]], Awaitable[Mapping[str, str]]]


async def no_links(_: Collection[str]) -> Mapping[str, str]:
    """For a Slack without addresses."""
    return {}


async def with_links(drawn: Block, links: Links, *, but: Collection[str] = ()) -> Block:
    """A message or view in which each request id is a link; `but`: those that lead to where it is itself."""
    return request_links.linked(drawn, await links(request_links.request_ids(drawn) - set(but)))
