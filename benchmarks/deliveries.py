"""Load for a receiver, as a process of its own: `python -m benchmarks.deliveries URL NAME CONNECTIONS RATE SECONDS`.

RATE 0 is a closed loop: each connection sends again as soon as it was answered. Else an open one: events are
due at fixed times, and latency counts from the moment an event was due, whether or not a connection was
free. Everything is signed before the first is sent. Prints one JSON object.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import select
import socket
import sys
import time
from collections import deque
from dataclasses import dataclass
from urllib.parse import urlsplit

SECRET = "whsec_" + "b" * 32
# More than any closed loop here gets through in a second.
MOST_A_SECOND = 20_000
BODY_BYTES = 820


def signed(name: str, number: int, stamp: str) -> bytes:
    """One delivery, head and body, as the card provider sends it."""
    body = json.dumps(
        {
            "id": f"{name}-{number}",
            "type": "card.authorized",
            "created_at": "2026-03-02T09:00:00.000Z",
            "data": {
                "card_id": f"card-{number % 500}",
                "transaction_id": f"tx-{name}-{number}",
                "event": "authorized",
                "status": "pending",
                "amount_usd": 12.34,
                "fee_usd": 0.34,
                "original_amount": 11.1,
                "original_currency": "EUR",
                "merchant": "ACME STORE",
                "occurred_at": "2026-03-02T09:00:00.000Z",
                "padding": "",
            },
        }
    ).encode()
    body = body.replace(b'"padding": ""', b'"padding": "' + b"x" * (BODY_BYTES - len(body)) + b'"')
    signature = hmac.new(SECRET.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    head = (
        "POST /webhooks/main HTTP/1.1\r\nHost: receiver\r\nContent-Type: application/json\r\n"
        f"X-SVC-Event: card.authorized\r\nX-SVC-Delivery: {name}-{number}\r\nX-SVC-Timestamp: {stamp}\r\n"
        f"X-SVC-Signature: {signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def closed_loop(
    address: tuple[str, int], connections: int, deliveries: list[bytes], seconds: float
) -> Result:
    """Each connection sends again as soon as it was answered. By hand: a framework would take the time of the
    core that others need."""
    sockets = [socket.create_connection(address) for _ in range(connections)]
    poll = select.epoll()
    by_number = {one.fileno(): one for one in sockets}
    sent_at, latencies_s, wrong, sent = dict.fromkeys(by_number, 0.0), list[float](), 0, 0
    for one in sockets:
        poll.register(one.fileno(), select.EPOLLIN)
        sent_at[one.fileno()] = time.perf_counter()
        one.sendall(deliveries[sent])
        sent += 1
    until = time.perf_counter() + seconds
    while len(latencies_s) < sent:
        for number, _ in poll.poll():
            answer = by_number[number].recv(65536)
            while not answer.endswith(b"}"):
                answer += by_number[number].recv(65536)
            now = time.perf_counter()
            latencies_s.append(now - sent_at[number])
            wrong += not answer.startswith(b"HTTP/1.1 200 ")
            if now < until and sent < len(deliveries):
                sent_at[number] = now
                by_number[number].sendall(deliveries[sent])
                sent += 1
    for one in sockets:
        one.close()
    return Result(latencies_s, wrong, exhausted=sent == len(deliveries))


@dataclass(frozen=True, slots=True)
class Result:
    """How long each answer took, and how many were not 200. `exhausted`: there was nothing left to send."""

    latencies_s: list[float]
    wrong: int
    exhausted: bool = False


class Connection(asyncio.Protocol):
    """One keep-alive connection: a delivery, its answer, the next. Tells the load when it is free."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._due_at = 0.0
        self._answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._load.free.append(self)

    def send(self, delivery: bytes, due_at: float) -> None:
        self._due_at = due_at
        assert isinstance(self._transport, asyncio.WriteTransport)
        self._transport.write(delivery)

    def data_received(self, data: bytes) -> None:
        self._answer += data
        if self._answer.endswith(b"}"):
            self._load.answered(self._answer.startswith(b"HTTP/1.1 200 "), self._due_at)
            self._answer = b""
            self._load.free.append(self)
            self._load.next()


class Load:
    """Deliveries due at fixed times, who is free to send one, and how long each took."""

    def __init__(self, deliveries: list[bytes], rate: float) -> None:
        self.deliveries = deliveries
        self.rate = rate
        self.free: deque[Connection] = deque()
        self.latencies_s: list[float] = []
        self.wrong = 0
        self.sent = 0
        self.began = 0.0

    def answered(self, is_ok: bool, due_at: float) -> None:
        self.latencies_s.append(time.perf_counter() - due_at)
        self.wrong += not is_ok

    def next(self) -> None:
        """Send what is due on whatever connection is free. Late ones are sent late, never left out."""
        while self.free and self.sent < len(self.deliveries):
            due_at = self.began + self.sent / self.rate
            if due_at > time.perf_counter():
                return
            self.free.popleft().send(self.deliveries[self.sent], due_at)
            self.sent += 1

    async def run(self) -> Result:
        """Send them all, and wait for the last answer."""
        self.began = time.perf_counter()
        while len(self.latencies_s) < len(self.deliveries):
            self.next()
            await asyncio.sleep(0.0005)
        return Result(self.latencies_s, self.wrong)


async def open_loop(
    address: tuple[str, int], connections: int, deliveries: list[bytes], rate: float
) -> Result:
    load = Load(deliveries, rate)
    for _ in range(connections):
        await asyncio.get_running_loop().create_connection(lambda: Connection(load), *address)
    return await load.run()


def main(url: str, name: str, connections: int, rate: float, seconds: float) -> None:
    """Sign, send, print."""
    stamp = str(int(time.time()))
    deliveries = [signed(name, number, stamp) for number in range(int((rate or MOST_A_SECOND) * seconds))]
    parts = urlsplit(url)
    address = (str(parts.hostname), int(parts.port or 80))
    if rate:
        result = asyncio.run(open_loop(address, connections, deliveries, rate))
    else:
        result = closed_loop(address, connections, deliveries, seconds)
    took = sorted(result.latencies_s)
    shown = {
        "answered": len(took),
        "wrong": result.wrong,
        "exhausted": result.exhausted,
        "per_s": len(took) / seconds,
        "p50_ms": took[len(took) // 2] * 1000,
        "p99_ms": took[int(len(took) * 0.99)] * 1000,
    }
    print(json.dumps(shown))


if __name__ == "__main__":
    url, name, *numbers = sys.argv[1:]
    main(url, name, int(numbers[0]), float(numbers[1]), float(numbers[2]))
