"""Sends to addresses that people wrote into a file, without being led into our own network.

The name is resolved again for each connection, every answer is checked, and the connection is made to the
checked address itself, so that a second answer of the resolver cannot change where it goes; the
certificate is still that of the name. No redirects, no proxies, no cookies, a short answer, a short wait.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from bot.domain.addresses import is_address, is_denied

Resolve = Callable[[str], Awaitable[Sequence[str]]]

TIMEOUT_S = 10.0
MOST_OF_AN_ANSWER = 64 * 1024
AT_ONCE = 32
PORTS = frozenset({443})


class NotDelivered(Exception):
    """The text says why, in words for people. `status` is set where there was an answer."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class DeniedAddress(OSError):
    """The name leads to an address that nothing may be sent to."""


async def by_the_system(host: str) -> Sequence[str]:
    """All addresses of a name, as the machine's resolver tells them. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in found))


class CheckingResolver(AbstractResolver):
    """Gives aiohttp the addresses to connect to, or none: one bad answer spoils all."""

    def __init__(self, resolve: Resolve, denied: Callable[[str], bool]) -> None:
        self._resolve = resolve
        self._denied = denied

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._resolve(host)
        if not addresses or any(self._denied(address) for address in addresses):
            raise DeniedAddress(f"{host} leads to an address that nothing may be sent to")
        return [_result(host, port, address) for address in addresses]

    async def close(self) -> None:
        """Holds nothing."""


def _result(host: str, port: int, address: str) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)


class Sender:
    """One client for one destination, so that no other has to wait for it. Close it."""

    def __init__(
        self,
        *,
        resolve: Resolve = by_the_system,
        denied: Callable[[str], bool] = is_denied,
        ports: frozenset[int] = PORTS,
        tls: ssl.SSLContext | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._ports = ports
        connector = aiohttp.TCPConnector(
            resolver=CheckingResolver(resolve, denied),
            use_dns_cache=False,
            limit=AT_ONCE,
            ssl=tls or ssl.create_default_context(),
        )
        self._client = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=timeout_s),
        )

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """Send and give the 2xx status of the answer. Raises `NotDelivered` for everything else."""
        self._require_name(url)
        try:
            async with self._client.post(
                url, data=body, headers=dict(headers), allow_redirects=False
            ) as answer:
                status = answer.status
                await self._read_little(answer)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise NotDelivered(_in_words(error)) from None
        if not 200 <= status < 300:
            raise NotDelivered(f"answered {status}", status=status)
        return status

    def _require_name(self, url: str) -> None:
        """aiohttp asks no resolver about an address, so a host must be a name."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or 443
        except ValueError:
            raise NotDelivered("the address cannot be read") from None
        if parts.scheme != "https" or "@" in parts.netloc or port not in self._ports:
            raise NotDelivered("only https on its usual port is used, without a name or password in it")
        if not host or not host.isascii() or is_address(host):
            raise NotDelivered("the host isn't a plain name")

    async def _read_little(self, answer: aiohttp.ClientResponse) -> None:
        """Up to the limit, so that the connection can be used again; one that says more is closed."""
        left = MOST_OF_AN_ANSWER
        while left > 0:
            chunk = await answer.content.read(left)
            if not chunk:
                return
            left -= len(chunk)
        answer.close()

    async def close(self) -> None:
        await self._client.close()


def _in_words(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError) or isinstance(error.__cause__, DeniedAddress):
        cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
        return str(cause) if isinstance(cause, DeniedAddress) else "its name was not found"
    if isinstance(error, DeniedAddress):
        return str(error)
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        return "its certificate was not accepted"
    if isinstance(error, TimeoutError):
        return "gave no answer in time"
    return "the connection failed"
