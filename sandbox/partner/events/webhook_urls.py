"""Which addresses PUT /webhook takes, and in what form they are stored (PUT /webhook, U64)."""

from __future__ import annotations

import re
import socket
from urllib.parse import quote, urlsplit

from sandbox.partner.http import Refusal, bad_request

URL_LIMIT = 2000
_LOCAL = (".localhost", ".local", ".internal")
_LABEL = re.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile("[0-9]+|0x[0-9a-f]*")
_UNWRITABLE = re.compile(r"[\x00-\x20\x7f\\]")


def normalized(url: str) -> str:
    """The stored form: host in lower case and punycode, no default port, no fragment. Raises a 400."""
    if len(url) > URL_LIMIT:
        raise _refused(f"is longer than {URL_LIMIT} characters")
    if _UNWRITABLE.search(url):
        raise _refused("holds a character that no address holds")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _refused("is not an absolute https address") from error
    if parts.scheme != "https" or not parts.hostname or port == 0:
        raise _refused("is not an absolute https address")
    if "@" in parts.netloc:
        raise _refused("must not hold a user name or password")
    if "[" in parts.netloc:
        raise _refused("must name a public host, not an IP address")
    host = _public(parts.hostname)
    shown_port = f":{port}" if port not in (None, 443) else ""
    path = quote(_without_dots(parts.path) or "/", safe="/%:@!$&'()*+,;=~-._")
    query = "?" + quote(parts.query, safe="/?%:@!$&'()*+,;=~-._") if parts.query else ""
    stored = f"https://{host}{shown_port}{path}{query}"
    if len(stored) > URL_LIMIT:
        raise _refused(f"is longer than {URL_LIMIT} characters")
    return stored


def _without_dots(path: str) -> str:
    """The path with `.` and `..` carried out, written plainly or percent-encoded, as browsers do it."""
    kept: list[str] = []
    segments = path.split("/")[1:]
    for place, segment in enumerate(segments):
        plain = segment.replace("%2e", ".").replace("%2E", ".")
        if plain == "..":
            kept = kept[:-1]
        elif plain != ".":
            kept.append(segment)
        if plain in (".", "..") and place == len(segments) - 1:
            kept.append("")
    return "/" + "/".join(kept) if segments else ""


def _public(given: str) -> str:
    """The host in punycode, refused when it is a literal address or a local name."""
    try:
        host = given.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError as error:
        raise _refused("has a host that is not a name") from error
    labels = host.split(".")
    if _is_ipv4(host) or _NUMBER.fullmatch(labels[-1]):
        raise _refused("must name a public host, not an IP address")
    if host == "localhost" or host.endswith(_LOCAL) or len(labels) == 1:
        raise _refused("must name a public host")
    if not all(_LABEL.fullmatch(label) for label in labels) or len(host) > 253:
        raise _refused("has a host that is not a name")
    return host


def _is_ipv4(host: str) -> bool:
    """As a browser reads it: 2130706433, 0x7f.1 and 127.1 are addresses too (R218)."""
    try:
        socket.inet_aton(host)
    except OSError:
        return False
    return True


def _refused(why: str) -> Refusal:
    return bad_request(f"url {why}.")
