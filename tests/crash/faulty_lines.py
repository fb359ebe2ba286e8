"""Lines between a bot and what it talks to, which are cut, slow, silent or torn off in the middle of an answer.

A line is a proxy of TCP: it knows nothing of HTTP or PostgreSQL, and spoils bytes as networks do.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_PIECE = 65_536
#: A reset, not an end: what is still on its way is thrown away.
_RESET = struct.pack("ii", 1, 0)
LASTS_S = (0.2, 1.5)
SILENT_S = (0.5, 3.0)
LATE_S = (0.02, 0.4)
SLOW_S, FEW = 0.01, 16
#: Of an answer so many bytes pass at most before the line is torn: none, part of its head, part of its body.
TORN_WITHIN = 400


@dataclass
class Line:
    """One proxy. It listens at `port` of this machine; `to` is where it leads: host and port, or a socket's path."""

    name: str
    to: tuple[str, int] | str
    rng: random.Random
    port: int = 0
    #: What happens to new connections and to bytes now.
    is_closed: bool = False
    carries: asyncio.Event = field(default_factory=asyncio.Event)
    is_slow: bool = False
    late_s: float = 0.0
    #: Bytes that may still come back to the bot before the line is torn; None = all.
    left: int | None = None
    connections: set[_Connection] = field(default_factory=set)

    async def cut(self) -> None:
        """Both ends see that the other has gone, in order."""
        for one in list(self.connections):
            one.end()

    async def reset(self) -> None:
        """As where a machine on the way forgets all connections."""
        self._reset_all()

    async def close(self) -> None:
        """Nobody gets through, and whoever was through is out."""
        self.is_closed = True
        self._reset_all()
        await self._lasts(LASTS_S)
        self.is_closed = False

    async def fall_silent(self) -> None:
        """Half-open: both ends think that they are connected, and nothing comes any more. Then it is reset."""
        self.carries.clear()
        await self._lasts(SILENT_S)
        self._reset_all()
        self.carries.set()

    async def be_late(self) -> None:
        self.late_s = self.rng.uniform(*LATE_S)
        await self._lasts(LASTS_S)
        self.late_s = 0.0

    async def trickle(self) -> None:
        """A few bytes at a time."""
        self.is_slow = True
        await self._lasts(LASTS_S)
        self.is_slow = False

    async def tear_an_answer(self) -> None:
        """What is asked gets there; of what is answered next only the beginning comes back."""
        self.left = self.rng.choice((0, self.rng.randrange(1, TORN_WITHIN)))
        await self._lasts(LASTS_S)
        self.left = None

    def troubles(self) -> list[Callable[[], Awaitable[None]]]:
        torn = [self.tear_an_answer] * 3
        return [self.cut, self.reset, self.close, self.fall_silent, self.be_late, self.trickle, *torn]

    async def _lasts(self, seconds: tuple[float, float]) -> None:
        await asyncio.sleep(self.rng.uniform(*seconds))

    def _reset_all(self) -> None:
        for one in list(self.connections):
            one.reset()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_closed:
            _reset(writer)
            return
        try:
            opened = (
                asyncio.open_unix_connection(self.to)
                if isinstance(self.to, str)
                else asyncio.open_connection(*self.to)
            )
            away_reader, away_writer = await opened
        except OSError:
            _reset(writer)
            return
        connection = _Connection(self, writer, away_writer)
        self.connections.add(connection)
        try:
            await asyncio.gather(
                connection.carry(reader, away_writer, is_answer=False),
                connection.carry(away_reader, writer, is_answer=True),
            )
        finally:
            self.connections.discard(connection)
            connection.end()


@dataclass(eq=False)
class _Connection:
    line: Line
    bot: asyncio.StreamWriter
    away: asyncio.StreamWriter

    async def carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool
    ) -> None:
        """Until one end is gone; then the other is ended."""
        with suppress(OSError):
            while piece := await reader.read(_PIECE):
                await asyncio.sleep(self.line.late_s)
                await self.line.carries.wait()
                passed = piece[: self.line.left] if is_answer else piece
                await self._write(writer, passed)
                if is_answer and self.line.left is not None:
                    self.line.left -= len(passed)
                if len(passed) < len(piece):
                    self.line.left = None  # one answer is enough
                    self.reset()
        self.end()

    async def _write(self, writer: asyncio.StreamWriter, piece: bytes) -> None:
        for at in range(0, len(piece), FEW):
            if not self.line.is_slow:
                writer.write(piece[at:])
                break
            writer.write(piece[at : at + FEW])
            await asyncio.sleep(SLOW_S)
        await writer.drain()

    def end(self) -> None:
        self.bot.close()
        self.away.close()

    def reset(self) -> None:
        _reset(self.bot)
        _reset(self.away)


def _reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    with suppress(OSError, AttributeError):
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()


@asynccontextmanager
async def line(name: str, to: tuple[str, int] | str, rng: random.Random) -> AsyncIterator[Line]:
    """A line that listens at a port of this machine."""
    made = Line(name, to, rng)
    made.carries.set()
    server = await asyncio.start_server(made.accept, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await made.cut()
