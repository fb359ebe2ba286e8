"""Other systems that get copies of events from a bot that is killed, and what must be true of what they got."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.crash.outside import Outside
from tests.relay.receivers import NAMES, Receiver, certificate

WANTED = {
    "ledger": ("card.authorized", "card.transaction"),
    "crm": ("card.authorized", "card.declined"),
}
CONFIG = "".join(
    f'\n[[relay.destinations]]\nname = "{name}"\nurl = "https://{host}/in"\nevents = {list(WANTED[name])}\n'
    for name, host in zip(WANTED, NAMES, strict=True)
)


@dataclass(frozen=True)
class Systems:
    """Two of them, listening; `given` is what a bot under test has to know of where they are."""

    receivers: dict[str, Receiver]
    given: dict[str, Any]

    def violations(self, world: Outside, kills: int) -> Iterator[str]:
        """Each event once at least to each that wanted it, under one id and with the same bytes; seldom more."""
        for name, types in WANTED.items():
            rows = world.rows("SELECT event_id, type FROM inbox")
            wanted = {row["event_id"] for row in rows if row["type"] in types}
            got: dict[str, list[bytes]] = {}
            for headers, body in self.receivers[name].got:
                got.setdefault(headers["webhook-id"], []).append(body)
            for event_id in wanted - got.keys():
                yield f"{name} never got {event_id}"
            for event_id in got.keys() - wanted:
                yield f"{name} got {event_id}, which it did not ask for"
            for event_id, bodies in got.items():
                if len(set(bodies)) > 1:
                    yield f"{name} got {event_id} with other bytes"
                if len(bodies) > 1 + kills:
                    yield f"{name} got {event_id} {len(bodies)} times"
        left = world.rows("SELECT event_id FROM relay_delivery WHERE state <> 'sent'")
        yield from (f"{row['event_id']} is still owed" for row in left)

    @property
    def repeats(self) -> int:
        """Copies that came more than once: the bot died between sending and marking."""
        return sum(len(one.got) - len(set(one.ids)) for one in self.receivers.values())


@asynccontextmanager
async def systems(folder: Path) -> AsyncIterator[Systems]:
    """Started on ports of their own, with a certificate for their names."""
    server, _ = certificate(folder)
    async with AsyncExitStack() as stack:
        receivers, ports = {}, {}
        for name, host in zip(WANTED, NAMES, strict=True):
            receiver = receivers[name] = Receiver()
            receiver.gate.set()
            app = web.Application()
            app.router.add_post("/in", receiver.handle)
            runner = web.AppRunner(app)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server).start()
            ports[host] = receiver.port = runner.addresses[0][1]
        yield Systems(receivers, {"ports": ports, "certificate": str(folder / "tls.pem")})
