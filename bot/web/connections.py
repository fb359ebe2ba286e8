"""How much one stranger may hold of the web server: connections, unfinished requests, and refusals.

A connection whose request is not whole within ten seconds is closed. An address that was refused often lately is
answered 429 before anything is computed for it. What is accepted is never counted. Where genuine deliveries came
from within a day, others may send through the same address, as Slack and the card provider send for all their
customers: there so many signatures are checked a second that genuine ones pass all the same.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

from bot.partner.loopback import is_loopback

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_FORWARDED: Final = "X-Forwarded-For"
# What a program or a browser on this machine says of itself. Whatever a proxy adds, and whatever its name is, is more.
_OF_PROGRAMS: Final = re.compile(
    r"host|user-agent|accept(?:-[a-z]+)?|connection|keep-alive|cache-control|pragma|dnt|cookie|priority"
    r"|upgrade-insecure-requests|sec-[a-z-]+",
    re.IGNORECASE,
)
_TOO_MANY: Final = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_END_OF_HEAD: Final = b"\r\n\r\n"
_WITH_PORT: Final = re.compile(r"(?P<four>[0-9.]+)(?::[0-9]+)?|\[(?P<six>[0-9a-fA-F:.]+)\](?::[0-9]+)?")
# Addresses whose refusals are remembered: a flood from many must not fill the memory.
_MOST_ADDRESSES: Final = 10_000
_DELIVERS_FOR_S: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Limits:
    """`proxies`: of them the client's address is believed, and their connections are not counted by address."""

    connections: int = 200
    of_one_address: int = 20
    whole_within_s: float = 10.0
    refusals: int = 100
    in_the_last_s: float = 60.0
    refusals_a_second_of_who_delivers: int = 300
    proxies: Sequence[Network] = ()


class Door:
    """Counts connections and refusals. `now_s`: a monotonic clock."""

    def __init__(self, limits: Limits, now_s: Callable[[], float]) -> None:
        self.limits = limits
        self._now_s = now_s
        self._open: dict[_Connection, str] = {}
        self._of_address: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._refused: dict[str, deque[float]] = {}
        self._delivered: dict[str, float] = {}

    def enter(self, connection: _Connection, address: str) -> bool:
        """Whether there is room for one more of this address."""
        is_counted = bool(address) and not is_loopback(address) and not self._is_proxy(address)
        address = _counted_as(address)
        if len(self._open) >= self.limits.connections:
            return False
        if is_counted and self._of_address[address] >= self.limits.of_one_address:
            return False
        self._open[connection] = address if is_counted else ""
        self._of_address[self._open[connection]] += 1
        return True

    def leave(self, connection: _Connection) -> None:
        """The connection is over; nothing where it was not let in."""
        address = self._open.pop(connection, None)
        if address is not None:
            self._less(self._of_address, address)

    def client_of(self, request: web.BaseRequest) -> str:
        """The address that asks: behind a proxy of ours the last one that the proxy itself has seen."""
        address = request.remote or ""
        # A proxy adds to the line that is there, or a line of its own below it.
        hops = ",".join(request.headers.getall(_FORWARDED, ())).split(",")
        for hop in map(_without_port, reversed(hops)):
            if not self._is_proxy(address) or not _is_address(hop):
                break
            address = hop
        return address

    def is_local(self, request: web.BaseRequest) -> bool:
        """Whether a program on this machine asks, and no proxy here that says for whom."""
        return is_loopback(request.remote or "") and all(map(_OF_PROGRAMS.fullmatch, request.headers))

    def is_barred(self, address: str) -> bool:
        """Whether this address was refused too often lately. A proxy of ours that doesn't say for whom it asks is not:
        genuine deliveries come through it, too."""
        if self._is_proxy(address):
            return False
        address, now_s = _counted_as(address), self._now_s()
        most, within_s = self.limits.refusals, self.limits.in_the_last_s
        if self._delivered.get(address, -_DELIVERS_FOR_S) > now_s - _DELIVERS_FOR_S:
            most, within_s = self.limits.refusals_a_second_of_who_delivers, 1.0
        times = self._refused.get(address, ())
        return len(times) >= most and times[-most] > now_s - within_s

    def delivered(self, address: str) -> None:
        """Something genuine came from this address: only who holds a secret of ours gets here."""
        self._delivered.pop(_counted_as(address), None)
        if len(self._delivered) >= _MOST_ADDRESSES:
            del self._delivered[next(iter(self._delivered))]
        self._delivered[_counted_as(address)] = self._now_s()

    def refused(self, address: str) -> None:
        """Count one refusal."""
        address = _counted_as(address)
        if address not in self._refused and len(self._refused) >= _MOST_ADDRESSES:
            self._forget()
        most = max(self.limits.refusals, self.limits.refusals_a_second_of_who_delivers)
        times = self._refused.setdefault(address, deque(maxlen=most))
        times.append(self._now_s())

    def begin(self, request: web.BaseRequest, client: str) -> bool:
        """A request is whole but for its body. False where this client has too many under way, behind a proxy."""
        connection = _connection_of(request)
        if connection is not None:
            connection.has_head()
        if client == request.remote:
            return True
        client = _counted_as(client)
        if self._requests[client] >= self.limits.of_one_address:
            return False
        self._requests[client] += 1
        return True

    def end(self, request: web.BaseRequest, client: str) -> None:
        """A request that was begun is answered."""
        connection = _connection_of(request)
        if connection is not None:
            connection.is_answered(request.content_length)
        if client != request.remote:
            self._less(self._requests, _counted_as(client))

    def _forget(self) -> None:
        since = self._now_s() - self.limits.in_the_last_s
        self._refused = {one: times for one, times in self._refused.items() if times[-1] > since}
        while len(self._refused) >= _MOST_ADDRESSES:
            del self._refused[next(iter(self._refused))]

    def _is_proxy(self, address: str) -> bool:
        if not _is_address(address):
            return False
        found = ipaddress.ip_address(address)
        return any(found in network for network in self.limits.proxies)

    @staticmethod
    def _less(counter: Counter[str], name: str) -> None:
        counter[name] -= 1
        if counter[name] <= 0:
            del counter[name]


class Site(web.TCPSite):
    """As aiohttp's, with each connection let in by the door."""

    __slots__ = ("_door",)

    def __init__(self, runner: web.AppRunner, host: str, port: int, door: Door) -> None:
        super().__init__(runner, host, port)
        self._door = door

    async def start(self) -> None:
        await web.BaseSite.start(self)
        make = self._runner.server
        assert make is not None, "the runner was set up"  # noqa: S101 - what its own class says
        self._server = await asyncio.get_running_loop().create_server(
            lambda: _Connection(make(), self._door), self._host, self._port, backlog=self._backlog
        )


class _Connection(asyncio.Protocol):
    """One connection: aiohttp's protocol, closed where its request's head does not come in time."""

    def __init__(self, inner: Any, door: Door) -> None:
        self._inner = inner
        self._door = door
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_in = False
        self._is_in_request = False
        self._behind_the_head = 0  # so many bytes came after the last head that is whole

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type
        peer = transport.get_extra_info("peername")
        if not self._door.enter(self, str(peer[0]) if isinstance(peer, tuple) else ""):
            transport.write(_TOO_MANY)
            transport.close()
            return
        self._is_in, self._transport = True, transport
        _CONNECTIONS[transport] = self
        self._inner.connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._is_in:
            if not self._is_in_request and self._timer is None:
                self._wait()
            before, end, behind = data.rpartition(_END_OF_HEAD)
            self._behind_the_head = len(behind) if end else self._behind_the_head + len(before + behind)
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return bool(self._inner.eof_received()) if self._is_in else None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._door.leave(self)
        if self._is_in and self._transport is not None:
            _CONNECTIONS.pop(self._transport, None)
            self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def has_head(self) -> None:
        """The head of a request is whole: its body has a time of its own."""
        self._is_in_request = True
        self._stop_waiting()

    def is_answered(self, length: int | None) -> None:
        """The next request may come; more than this one's body of that length is the beginning of one that has come."""
        self._is_in_request = False
        if self._behind_the_head > (length or 0) and self._timer is None:
            self._wait()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._door.limits.whole_within_s, self._let_go)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _let_go(self) -> None:
        self._timer = None
        if self._transport is not None:
            self._transport.abort()


_CONNECTIONS: Final[dict[asyncio.BaseTransport, _Connection]] = {}


def _connection_of(request: web.BaseRequest) -> _Connection | None:
    return None if request.transport is None else _CONNECTIONS.get(request.transport)


def _counted_as(address: str) -> str:
    """What an address counts as: of IPv6 its network of 2⁶⁴, as everybody is given one; of IPv4 in IPv6 the IPv4."""
    if not _is_address(address):
        return address
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv4Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(found), 64), strict=False).network_address)


def _without_port(hop: str) -> str:
    """The address of `1.2.3.4:5678` and `[2001:db8::1]:5678`, as some proxies write it."""
    found = _WITH_PORT.fullmatch(hop.strip())
    return hop.strip() if found is None else found["four"] or found["six"]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
