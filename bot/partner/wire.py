"""One HTTP exchange with the card provider: bytes out, an answer or a PartnerError in.

Nothing here retries or waits in line. Each exchange leaves one log line with the path's template, never
the path, a body, a name or a key. Errors of the HTTP library are not chained to ours, since they carry
the request and with it the key.
"""

import asyncio
import logging
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any
from urllib.parse import quote

import httpx

from bot.partner import codec
from bot.partner.answers import NOT_CONNECTED, NOT_SENT
from bot.partner.certainty import classify, documented, proved_by, unanswered
from bot.partner.clock import Clock
from bot.partner.endpoints import CONNECT_SECONDS, Endpoint
from bot.partner.errors import (
    CLASSES,
    NoAnswer,
    NotConnected,
    NotSent,
    PartnerError,
    UnreadableAnswer,
)
from bot.partner.key_guard import check_access, key_prefix
from bot.partner.loopback import is_loopback
from bot.partner.redaction import private_values, redact
from bot.partner.secret import Secret

log = logging.getLogger("countersign.partner")

_ERRORS_OF_SERVERS = 500
# Whoever gives up earlier says nothing of the API.
_UNANSWERED_S = 5.0

#: Is given each exchange that ended: the endpoint's name, the status (None where nothing came back), and seconds.
Observe = Callable[[str, int | None, float], None]

MOST_ANSWER_BYTES = 5 * 1024 * 1024
"""A thousand balances are 180 kB; what is larger than this is not an answer of this API."""

# Of the distribution that it was installed with: the product, or the one that holds this client alone.
_DISTRIBUTION = "countersign" if __name__.startswith("bot.") else "countersign-partner"
_USER_AGENT = f"{_DISTRIBUTION}/{metadata.version(_DISTRIBUTION)}"
# Ids are opaque, and those of events of no stated form. What begins with a letter or digit and has no
# slash is one segment of a path, whatever a proxy makes of it.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
_IDEMPOTENCY_KEY = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SMALL_NUMBER = re.compile(r"[0-9]{1,6}")

# "Retry-After is always 60 seconds" [Errors]; taken where the header is missing or beyond reason.
_RETRY_AFTER_SECONDS = 60.0
_MOST_RETRY_AFTER_SECONDS = 600.0

# Raised while a connection is being made or waited for: no byte of the request has been written.
_BEFORE_SENDING = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


def quiet_loggers() -> None:
    """Keep the HTTP library's own loggers from writing addresses and headers, at any level of ours.

    httpx writes each full path at INFO, httpcore each header of an answer at DEBUG. Call it once where
    logging is set up.
    """
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request: what goes out, byte for byte."""

    endpoint: Endpoint
    ids: tuple[str, ...] = ()
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)
    key: str | None = None

    def check(self) -> None:
        """Raise NotSent for an id or idempotency key that the API could not take as meant."""
        if not all(_ID.fullmatch(value) for value in self.ids):
            raise self.refused("This id has characters that no id of your card provider has.")
        if self.key is not None and not _IDEMPOTENCY_KEY.fullmatch(self.key):
            raise self.refused("An idempotency key is 1 to 128 letters, digits, hyphens or underscores.")

    def refused(self, message: str) -> NotSent:
        """The error for a request that may not leave."""
        return NotSent(message, operation=self.endpoint, certainty=proved_by(NOT_SENT))

    @property
    def path(self) -> str:
        """The path with its ids filled in, each quoted."""
        parts = iter(self.ids)
        return re.sub(r"\{\w+\}", lambda _: quote(next(parts), safe=""), self.endpoint.template)


@dataclass(frozen=True, slots=True)
class Received:
    """A success: its payload and what its headers say of the rate, None where they do not."""

    status: int
    data: Any = field(repr=False)
    rate_limit: int | None = None
    rate_remaining: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    attempts: int = 1


# Nothing is answered for so long, and not to so many calls: where one of two servers behind a gateway is away, some in
# a row may all be of that one. Whoever has to know soon asks several times at once. A key that may make few calls a
# minute cannot be asked so often: then fewer are enough, after some more seconds.
AWAY_AFTER_S, AWAY_AFTER_MISSED = 15.0, 18
SURELY_AFTER_S, SURELY_AFTER_MISSED = 25.0, 6
_KNOWN_FOR_S = 60.0


class Contact:
    """Does the API answer one client? A refusal is an answer as well. An error of a server, and what no such API says,
    is none: it comes from whatever stands before an API that is away. Times are seconds of the clock's `monotonic`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.answered_at = float("-inf")
        self.unanswered_since: float | None = None
        """When the first of the exchanges began to which no answer came since the last one; None while it answers."""
        self.missed = 0
        """How many there were of them."""
        self.missed_at = float("-inf")
        """When the last of them ended."""
        self.status: int | None = None
        """What came in place of an answer to the last of them that was not given up; None where nothing did."""

    def answered(self) -> None:
        """The API itself has said something."""
        self.answered_at = self._clock.monotonic()
        self.unanswered_since, self.missed, self.status = None, 0, None

    def unanswered(self, began_at: float, status: int | None = None) -> None:
        """No answer came back to an exchange that began then; `status`: what did."""
        if began_at < self.answered_at:
            return  # others were answered meanwhile
        self.missed += 1
        self.missed_at = self._clock.monotonic()
        self.status = status
        # Of those that were on their way at once, the last one may be the first to end.
        since = self.unanswered_since
        self.unanswered_since = began_at if since is None else min(since, began_at)

    def given_up(self, began_at: float) -> None:
        """Nobody waits any more for the answer to an exchange that began then."""
        if self._clock.monotonic() - began_at >= _UNANSWERED_S:
            self.unanswered(began_at, self.status)

    @property
    def away_for_s(self) -> float:
        """For how long it is away, and not only to calls that fail beside others: 0 while it answers anything. Whoever
        asked last long ago does not know."""
        if self.unanswered_since is None or self._clock.monotonic() - self.missed_at > _KNOWN_FOR_S:
            return 0.0
        lasts = self._clock.monotonic() - self.unanswered_since
        is_away = lasts >= AWAY_AFTER_S and self.missed >= AWAY_AFTER_MISSED
        is_away |= lasts >= SURELY_AFTER_S and self.missed >= SURELY_AFTER_MISSED
        return lasts if is_away else 0.0

    @property
    def quiet_for_s(self) -> float:
        """Since the last answer."""
        return self._clock.monotonic() - self.answered_at


class Wire:
    """Sends requests of one key to one base address."""

    def __init__(
        self,
        base_url: str,
        key: Secret,
        *,
        http: httpx.AsyncClient | httpx.AsyncBaseTransport | None,
        clock: Clock,
        observe: Observe | None = None,
    ) -> None:
        self._observe = observe
        self.contact = Contact(clock)
        self._base = str(check_access(base_url, key))
        self._key = key
        self._clock = clock
        self.key_prefix = key_prefix(key)
        self._closed = False
        self._owned = not isinstance(http, httpx.AsyncClient)
        self._http = http if isinstance(http, httpx.AsyncClient) else _client(self._base, http)

    async def close(self) -> None:
        """Close the connections, unless they belong to an HTTP client that was handed in. Nothing is sent after it."""
        self._closed = True
        if self._owned:
            await self._http.aclose()

    def check_open(self, out: Outgoing) -> None:
        """Raise NotSent after `close`."""
        if self._closed:
            raise out.refused("This client is closed. Make another one to call again.")

    async def exchange(self, out: Outgoing) -> Received:
        """Send once and read the answer. Raises PartnerError for everything but a readable success."""
        self.check_open(out)
        out.check()
        began = self._clock.monotonic()
        try:
            async with asyncio.timeout(out.endpoint.facts.deadline_seconds):
                status, headers, raw = await self._transfer(out)
            received = self._read(out, status, headers, raw)
        except TimeoutError:
            error: PartnerError = _lost(out, "the answer took too long")
        except _BEFORE_SENDING as failure:
            error = _not_connected(out, type(failure).__name__)
        except (httpx.HTTPError, httpx.StreamError, OSError) as failure:
            error = _lost(out, type(failure).__name__)
        except PartnerError as failure:
            error = failure
        except asyncio.CancelledError:
            self.contact.given_up(began)
            raise
        else:
            self.contact.answered()
            self._observed(out, began, status)
            self._log(out, began, str(status))
            return received
        if _is_answer(error):
            self.contact.answered()
        else:
            self.contact.unanswered(began, error.status)
        self._observed(out, began, error.status)
        self._log(out, began, f"{error.status or '-'} {error.code or type(error).__name__}")
        raise error from None

    def _observed(self, out: Outgoing, began: float, status: int | None) -> None:
        """`status`: None where nothing came back."""
        if self._observe is not None:
            self._observe(out.endpoint.value, status, self._clock.monotonic() - began)

    async def _transfer(self, out: Outgoing) -> tuple[int, httpx.Headers, bytes]:
        """The exchange itself; the answer's bytes up to the cap."""
        headers = {
            "X-API-Key": self._key.reveal(),
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        headers["User-Agent"] = _USER_AGENT
        if out.body is not None:
            headers["Content-Type"] = "application/json"
        if out.key is not None:
            headers["Idempotency-Key"] = out.key
        timeout = httpx.Timeout(
            out.endpoint.facts.read_seconds, connect=CONNECT_SECONDS, write=CONNECT_SECONDS
        )
        request = self._http.build_request(
            out.endpoint.method,
            f"{self._base}{out.path}",
            params=dict(out.query) or None,
            content=out.body,
            headers=headers,
            timeout=timeout,
        )
        response = await self._http.send(request, stream=True, auth=_no_auth, follow_redirects=False)
        try:
            raw = bytearray()
            async for piece in response.aiter_bytes():
                raw += piece
                if len(raw) > MOST_ANSWER_BYTES:
                    raise _unreadable(out, response.status_code, "the answer is larger than any of this API")
            return response.status_code, response.headers, bytes(raw)
        finally:
            await response.aclose()

    def _read(self, out: Outgoing, status: int, headers: httpx.Headers, raw: bytes) -> Received:
        try:
            value = codec.decode(raw)
        except codec.BadJson:
            raise _unreadable(out, status, "the answer isn't JSON") from None
        if not isinstance(value, dict):
            raise _unreadable(out, status, "the answer isn't a JSON object")
        if status >= 400:
            raise _refusal(out, status, headers, value)
        if status not in (200, 201) or "data" not in value:
            # A redirect among them: followed, a POST would become an empty GET.
            raise _unreadable(out, status, "neither a success nor an error of this API")
        return Received(
            status,
            value["data"],
            rate_limit=_small_number(headers.get("X-RateLimit-Limit")),
            rate_remaining=_small_number(headers.get("X-RateLimit-Remaining")),
            headers=dict(headers),
        )

    def _log(self, out: Outgoing, began: float, result: str) -> None:
        milliseconds = round((self._clock.monotonic() - began) * 1000)
        log.info(
            "partner.called",
            extra={
                "endpoint": out.endpoint.value,
                "result": result,
                "milliseconds": milliseconds,
                "key_prefix": self.key_prefix,
                # A field named `…_key` would be hidden as a secret; this is what support asks for.
                "idempotency": out.key or "-",
            },
        )


@cache
def _trusted() -> ssl.SSLContext:
    """Whom TLS trusts, read once: it takes tens of milliseconds, and every program's client needs it."""
    return httpx.create_ssl_context()


def _client(base: str, transport: httpx.AsyncBaseTransport | None) -> httpx.AsyncClient:
    """An HTTP client that adds nothing of its own: no redirects, no cookies, no proxy to this machine."""
    return httpx.AsyncClient(
        transport=transport,
        verify=_trusted(),
        trust_env=not is_loopback(httpx.URL(base).host),
        follow_redirects=False,
        # The rate limit bounds how many calls are on their way; a full pool would keep a freeze behind calls that hang.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=10, keepalive_expiry=15),
    )


def _no_auth(request: httpx.Request) -> httpx.Request:
    """In place of what httpx would derive from the address or the environment."""
    request.headers.pop("Cookie", None)
    return request


def _refusal(out: Outgoing, status: int, headers: httpx.Headers, value: dict[str, Any]) -> PartnerError:
    """The card provider's error body as an error; without a code the document gives here, no answer."""
    code = value.get("code")
    message = redact(value.get("error"), private_values(out.body))
    if not isinstance(code, str) or (status, code) not in documented(out.endpoint):
        return _unreadable(out, status, f"an error of no kind the document gives for this call: {message}")
    return CLASSES[code](
        message,
        operation=out.endpoint,
        certainty=classify(out.endpoint, status, code),
        status=status,
        code=code,
        retry_after=_retry_after(headers) if code == "RATE_LIMITED" else None,
        sent_key=out.key,
        body={"error": message, "code": code},
    )


def _is_answer(error: PartnerError) -> bool:
    """Does it show that the API is there?"""
    return (
        error.status is not None
        and error.status < _ERRORS_OF_SERVERS
        and not isinstance(error, UnreadableAnswer)
    )


def _unreadable(out: Outgoing, status: int, why: str) -> UnreadableAnswer:
    return UnreadableAnswer(
        why, operation=out.endpoint, certainty=unanswered(out.endpoint), status=status, sent_key=out.key
    )


def _lost(out: Outgoing, why: str) -> NoAnswer:
    return NoAnswer(why, operation=out.endpoint, certainty=unanswered(out.endpoint), sent_key=out.key)


def _not_connected(out: Outgoing, why: str) -> NotConnected:
    return NotConnected(why, operation=out.endpoint, certainty=proved_by(NOT_CONNECTED), sent_key=out.key)


def _retry_after(headers: httpx.Headers) -> float:
    seconds = _small_number(headers.get("Retry-After"))
    return float(seconds) if seconds and seconds <= _MOST_RETRY_AFTER_SECONDS else _RETRY_AFTER_SECONDS


def _small_number(text: str | None) -> int | None:
    return int(text) if text is not None and _SMALL_NUMBER.fullmatch(text) else None
