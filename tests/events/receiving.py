"""A bot that takes deliveries: the small world's core behind a real web server, and a signer for the card provider."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

import aiohttp
from sqlalchemy import text

from bot import web
from bot.domain.events import Purchase
from bot.partner.secret import Secret
from bot.services.events import Backfill, Intake, Webhooks, inbox
from bot.web.connections import Limits
from storage.events import Ingest, purchases, webhook_secrets
from storage.events import inbox as inbox_rows
from storage.messages import Alert, alerts
from tests.support.world import World

SECRET = "whsec_" + "k" * 32
Json = dict[str, Any]

# Whatever was refused before: these tests are about what is refused.
_NONE_BARRED = Limits(refusals=1_000_000, refusals_a_second_of_who_delivers=1_000_000)


@dataclass
class Bot:
    """What a test does with the receiver, and how it looks at what came of it."""

    world: World
    ingest: Ingest
    numbers: Iterator[int] = field(default_factory=count)
    client: aiohttp.ClientSession = field(init=False)
    intake: Intake = field(init=False)
    webhooks: Webhooks = field(init=False)
    backfill: Backfill = field(init=False)

    def __post_init__(self) -> None:
        self.world.built(self._build)

    def _build(self) -> None:
        """The receiver around the core of now; the web server asks for it at each delivery."""
        core = self.world.core
        self.intake = Intake(self.ingest, core.codes, core.clock, core.inbox_bell.set, core.crash_point)
        self.webhooks = Webhooks(core, self.intake)
        self.backfill = Backfill(core, self.intake)

    async def receive(self, program: str, raw: bytes, headers: Mapping[str, str]) -> bool:
        """A delivery, as the web server hands it on."""
        return await self.webhooks.receive(program, raw, headers)

    def signed(
        self,
        raw: bytes,
        *,
        secret: str = SECRET,
        seconds: float = 0,
        more: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """The card provider's headers for these bytes, its clock `seconds` ahead of ours."""
        stamp = str(int(self.world.clock.now().timestamp() + seconds))
        return {
            "Content-Type": "application/json",
            "X-SVC-Timestamp": stamp,
            "X-SVC-Signature": signature(secret, stamp, raw),
            **(more or {}),
        }

    async def post(
        self, raw: bytes, headers: Mapping[str, str] | None = None, *, program: str = "main"
    ) -> int:
        sent = headers if headers is not None else self.signed(raw)
        async with self.client.post(f"/webhooks/{program}", data=raw, headers=sent) as answer:
            await answer.read()
            return answer.status

    async def deliver(self, event: Json) -> int:
        return await self.post(json.dumps(event).encode())

    def event(self, kind: str, data: Json, *, event_id: str = "", minutes_ago: float = 0) -> Json:
        at = self.world.clock.now() - timedelta(minutes=minutes_ago)
        number = next(self.numbers)
        stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {"id": event_id or f"evt-{number:04}", "type": kind, "created_at": stamp, "data": data}

    async def stored(self) -> list[str]:
        """The ids in the inbox, handled or not."""
        return [row[0] for row in await self._rows("SELECT event_id FROM inbox ORDER BY event_id")]

    async def unhandled(self) -> list[str]:
        return [row[0] for row in await self._rows("SELECT event_id FROM inbox WHERE state = 'received'")]

    async def _rows(self, sql: str) -> list[Any]:
        async with self.world.store.read() as tx:
            return list((await tx.run(text(sql))).all())

    async def rows(self, *queries: str) -> str:
        """All that these queries find, as one text."""
        return "\n".join([str(row) for query in queries for row in await self._rows(query)])

    async def payload(self, event_id: str) -> Any:
        async with self.world.store.read() as tx:
            return json.loads(await inbox_rows.payload(tx, event_id))

    async def handle(self) -> None:
        """Handle whatever waits."""
        while await inbox.process_next(self.world.core):
            pass

    async def purchase(self, transaction_id: str) -> Purchase | None:
        async with self.world.store.read() as tx:
            return await purchases.get(tx, "main", transaction_id)

    async def open_alerts(self) -> list[Alert]:
        async with self.world.store.read() as tx:
            return await alerts.open_ones(tx)

    async def keep_secret(self, secret: str) -> None:
        async with self.world.store.begin() as tx:
            until = tx.now + timedelta(minutes=10)
            await webhook_secrets.put(tx, "main", Secret(secret), previous_until=until)


def signature(secret: str, stamp: str, raw: bytes) -> str:
    """As the document says it, with the standard library alone."""
    return hmac.new(secret.encode(), stamp.encode() + b"." + raw, hashlib.sha256).hexdigest()


def authorized(transaction_id: str = "tx-1", **more: Any) -> Json:
    """The data of a purchase's authorization."""
    return {
        "card_id": "card-1",
        "partner_ref": "emp-1",
        "transaction_id": transaction_id,
        "event": "authorized",
        "status": "pending",
        "is_pending": True,
        "merchant": "ACME STORE",
        "amount_usd": 12.34,
        "fee_usd": 0.34,
        "original_amount": 11.1,
        "original_currency": "EUR",
        "decline_reason": None,
        "occurred_at": "2026-03-02T08:59:00.000Z",
        **more,
    }


@asynccontextmanager
async def a_bot(world: World) -> AsyncIterator[Bot]:
    """The receiver of this world, listening on loopback, with its first secret stored."""
    async with AsyncExitStack() as stack:
        ingest = await Ingest.open(world.store, world.clock)
        stack.push_async_callback(ingest.close)
        bot = Bot(world, ingest)
        server = await web.serve(
            web.build({}, receive=bot.receive, limits=_NONE_BARRED), host="127.0.0.1", port=0
        )
        stack.push_async_callback(server.stop)
        bot.client = await stack.enter_async_context(aiohttp.ClientSession(server.url))
        await bot.keep_secret(SECRET)
        yield bot
