"""An https server in a process of its own that answers every request at once, or never under /hang."""

from __future__ import annotations

import asyncio
import re
import ssl
import sys

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]+)\r\n", re.IGNORECASE)


class Target(asyncio.Protocol):
    """As little HTTP as a benchmark needs: one request after the other, bodies by their length."""

    def __init__(self) -> None:
        self._kept = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._kept += data
        while True:
            head, end, rest = self._kept.partition(b"\r\n\r\n")
            found = _LENGTH.search(head + b"\r\n")
            length = int(found[1]) if found else 0
            if not end or len(rest) < length:
                return
            self._kept = rest[length:]
            if not head.startswith(b"POST /hang"):
                self._transport.write(_ANSWER)


async def main(pem: str) -> None:
    """Serve until standard input ends; the port is the first line written."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pem)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Target, "127.0.0.1", 0, ssl=tls)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
