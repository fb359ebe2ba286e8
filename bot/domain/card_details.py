"""Showing card details: how long a link is good, where its page is, and whose pages it may embed. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlsplit

LINK_GOOD_FOR = timedelta(seconds=120)
"""From the making of a link to its last moment: long enough to find a message, too short to pass it on."""

PAGE_GOOD_FOR_S = 600
"""The card provider's page is valid this long from its answer [GET pan]."""


NOT_SET_UP = (
    "Showing card details is not set up: Countersign has no address that browsers reach. An admin sets"
    " COUNTERSIGN_PUBLIC_URL to the https address of its web server and starts it again. Nothing was recorded."
)


class Hidden(Protocol):
    """A secret text that shows itself only when asked, as the token of a link does."""

    def reveal(self) -> str: ...


class Manner(StrEnum):
    """How the details are shown: in the card provider's own page, or as text that the browser itself fetches."""

    FRAME = "frame"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Reveals:
    """`base_url` is where browsers reach this bot, empty = nowhere; `origins` serve card details."""

    base_url: str = ""
    origins: frozenset[str] = frozenset()

    def link(self, token: Hidden) -> str:
        """The token stands in the fragment, which no browser sends and no crawler fetches."""
        return f"{self.base_url}/details#{token.reveal()}"

    def may_show(self, origin: str | None) -> bool:
        """Is it one that card details are expected from? Takes what `origin_of` gives."""
        return origin in self.origins


def origin_of(url: str, is_loopback: Callable[[str], bool]) -> str | None:
    """`https://host[:port]`; None for anything a page may not embed.

    http is for this machine alone: `is_loopback` says which hosts are it.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return None
    if not host or "@" in parts.netloc or any(c in host for c in " ;,'\"*"):
        return None
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        return None
    name = f"[{host}]" if ":" in host else host
    usual = {"https": 443, "http": 80}[parts.scheme]
    return f"{parts.scheme}://{name}" + ("" if port in (None, usual) else f":{port}")


def origins(
    addresses: Iterable[str], hosts: Iterable[str], is_loopback: Callable[[str], bool]
) -> frozenset[str]:
    """Of the API's addresses, and of further hosts as `countersign.toml` names them."""
    found = (origin_of(url, is_loopback) for url in (*addresses, *(f"https://{host}" for host in hosts)))
    return frozenset(origin for origin in found if origin)


def digest_of(token: Hidden) -> str:
    """What is kept of a token. It has 256 random bits, so its plain digest cannot be guessed back."""
    return hashlib.sha256(token.reveal().encode()).hexdigest()
