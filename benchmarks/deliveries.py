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
import sys
import time
from collections import deque
from urllib.parse import urlsplit

SECRET = "whsec_" + "b" * 32
# More than any closed loop here gets through in a second.
MOST_A_SECOND = 16_000
BODY_BYTES = 820


def signed(name: str, number: int, stamp: str) -> bytes:
    """One delivery, head and body, as the service sends it."""
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
    """What is to be sent, who is free to send it, and how long each took."""

    def __init__(self, deliveries: list[bytes], rate: float) -> None:
        self.deliveries = deliveries
        self.rate = rate
        self.free: deque[Connection] = deque()
        self.latencies_s: list[float] = []
        self.wrong = 0
        self.sent = 0
        self.began = 0.0
        self.until = 0.0

    def answered(self, is_ok: bool, due_at: float) -> None:
        self.latencies_s.append(time.perf_counter() - due_at)
        self.wrong += not is_ok

    def next(self) -> None:
        """Send what is due on whatever connection is free."""
        while self.free and self.sent < len(self.deliveries):
            now = time.perf_counter()
            due_at = self.began + self.sent / self.rate if self.rate else now
            if due_at > now or now > self.until:
                return
            self.free.popleft().send(self.deliveries[self.sent], due_at)
            self.sent += 1

    async def run(self, seconds: float) -> None:
        """Send for that long, then wait for the last answers."""
        self.began = time.perf_counter()
        self.until = self.began + seconds
        if self.rate:
            self.until += 60  # late ones are sent late, never left out
        self.next()
        while (time.perf_counter() < self.began + seconds) or len(self.latencies_s) < self.sent:
            await asyncio.sleep(0.0005 if self.rate else 0.05)
            self.next()
        assert not self.rate or self.sent == len(self.deliveries), "some were never sent"


async def main(url: str, name: str, connections: int, rate: float, seconds: float) -> None:
    """Sign, connect, send, print."""
    stamp = str(int(time.time()))
    count = int((rate or MOST_A_SECOND) * seconds)
    load = Load([signed(name, number, stamp) for number in range(count)], rate)
    address = urlsplit(url)
    host, port = str(address.hostname), int(address.port or 80)
    loop = asyncio.get_running_loop()
    for _ in range(connections):
        await loop.create_connection(lambda: Connection(load), host, port)
    await load.run(seconds)
    took = sorted(load.latencies_s)
    result = {
        "answered": len(took),
        "wrong": load.wrong,
        "exhausted": not rate and load.sent == count,
        "per_s": len(took) / seconds,
        "p50_ms": took[len(took) // 2] * 1000,
        "p99_ms": took[int(len(took) * 0.99)] * 1000,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    url, name, *numbers = sys.argv[1:]
    asyncio.run(main(url, name, int(numbers[0]), float(numbers[1]), float(numbers[2])))
