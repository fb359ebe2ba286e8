"""Other systems: https servers on loopback under names of their own, and a relay that may reach them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bot.domain.events import Destination
from bot.services.events import Relay, Sender, inbox
from tests.events.receiving import Bot, a_bot
from tests.support.world import World

NAMES = ("ledger.example.com", "crm.example.com")


def certificate(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context and a client's that trusts it, for NAMES and nothing else."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(n) for n in NAMES]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "tls.pem"
    text = serialization.Encoding.PEM
    pem.write_bytes(
        key.private_bytes(text, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(text)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pem)
    return server, ssl.create_default_context(cadata=made.public_bytes(text).decode())


@dataclass
class Receiver:
    """One system: what it got, and what it answers. `gate` holds its answers back until it is set."""

    port: int = 0
    status: int = 200
    answer: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.Response:
        self.got.append(({k.lower(): v for k, v in request.headers.items()}, await request.read()))
        await self.gate.wait()
        return web.Response(status=self.status, body=self.answer, headers=self.headers)

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.got]


@dataclass
class Fleet:
    """A world whose events are relayed to two systems."""

    world: World
    bot: Bot
    receivers: dict[str, Receiver]
    senders: dict[str, Sender]
    new_sender: Callable[[], Sender]
    relay: Relay = field(init=False)

    def __post_init__(self) -> None:
        self.world.built(self._build)

    def _build(self) -> None:
        self.relay = Relay(self.world.core, self.new_sender)

    def destination(self, name: str) -> Destination:
        return next(d for d in self.relay.core.destinations if d.name == name)

    async def happens(self, kind: str, data: Any, **more: Any) -> str:
        """The card provider delivers an event and it is handled; returns its id."""
        event = self.bot.event(kind, data, **more)
        assert await self.bot.deliver(event) == 200
        await self.handle()
        return str(event["id"])

    async def handle(self) -> None:
        while await inbox.process_next(self.relay.core):
            pass

    async def deliver(self, name: str = "ledger") -> bool:
        return await self.relay.deliver(self.destination(name), self.senders[name])


@asynccontextmanager
async def a_fleet(world: World, folder: Path) -> AsyncIterator[Fleet]:
    """Two destinations, `ledger` and `crm`; the relay's loop is not started."""
    server, client = certificate(folder)
    async with AsyncExitStack() as stack:
        receivers = {}
        for name in ("ledger", "crm"):
            receiver = Receiver()
            receiver.gate.set()
            app = web.Application()
            app.router.add_route("*", "/{tail:.*}", receiver.handle)
            runner = web.AppRunner(app)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server)
            await site.start()
            receiver.port = runner.addresses[0][1]
            receivers[name] = receiver
        destinations = (
            Destination(
                "ledger", f"https://{NAMES[0]}:{receivers['ledger'].port}/in", ("card.authorized", "x.y")
            ),
            Destination(
                "crm", f"https://{NAMES[1]}:{receivers['crm'].port}/in", ("card.authorized", "float.credited")
            ),
        )
        world.rebuild(destinations=destinations)
        bot = await stack.enter_async_context(a_bot(world))
        ports = frozenset(r.port for r in receivers.values())

        async def resolve(host: str) -> list[str]:
            assert host in NAMES
            return ["127.0.0.1"]

        def sender() -> Sender:
            return Sender(resolve=resolve, denied=lambda address: False, ports=ports, tls=client, timeout_s=5)

        senders = {d.name: sender() for d in destinations}
        for one in senders.values():
            stack.push_async_callback(one.close)
        yield Fleet(world, bot, receivers, senders, sender)
