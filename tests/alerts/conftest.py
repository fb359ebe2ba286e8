"""An office with a poller, and words for what is seen in the alerts channel."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.services.events import Poller, otp_delivery
from handlers.slack_api import SlackPublisher
from tests.events.receiving import Bot, a_bot
from tests.handlers.office import BOB, Office, an_office

ALERTS = "C0ALERTS"
Json = dict[str, Any]


HOST = "bot.example.com"


@dataclass
class Desk:
    """The office, its receiver and poller, and the alerts channel as people see it."""

    office: Office
    bot: Bot
    poller: Poller = field(init=False)
    codes: otp_delivery.Sender = field(init=False)

    def __post_init__(self) -> None:
        self.office.world.built(self._build)

    def _build(self) -> None:
        self.poller = Poller(self.office.core, account_every=timedelta(seconds=60))
        self.codes = otp_delivery.Sender(self.office.core, SlackPublisher(self.office.client))

    async def api(self, method: str, path: str, body: Json, *, key: str = "", as_key: str = "") -> Json:
        """A call of the API past the bot, with the program's key or another's; `key` is for money."""
        simulator = self.office.world.simulator
        headers = {"X-API-Key": as_key or simulator.key, **({"Idempotency-Key": key} if key else {})}
        async with httpx.AsyncClient(trust_env=False, verify=False) as client:
            answer = await client.request(method, f"{simulator.base_url}{path}", json=body, headers=headers)
        assert answer.is_success, answer.text
        found: Json = answer.json()["data"]
        return found

    async def register(self) -> None:
        """The service delivers to this bot from now on, and its secret is known here."""
        url = str(self.bot.client._base_url).rstrip("/")
        await self.tell("deliveries", {"mode": "pause", "map": {HOST: url}})
        made = await self.api("PUT", "/webhook", {"url": f"https://{HOST}/webhooks/main"})
        await self.bot.keep_secret(made["secret"])
        await self.tell("deliveries", {"mode": "normal"})
        await self.handled()

    async def log(self) -> None:
        """The event log is read, as on every cadence."""
        await self.bot.backfill.run_once()

    async def handled(self) -> None:
        """What is due was delivered, what is in the inbox handled, its codes sent, its messages posted."""
        for _ in range(3):  # deliveries leave a few at a time
            await self.office.world.advance(1)
            await self.bot.handle()
        await self.send_codes()
        await self.posted()

    async def send_codes(self) -> None:
        """Every code that waits now is sent, or found not to be sendable."""
        waiting = self.office.core.codes.outgoing
        while not waiting.empty():
            await self.codes.send(waiting.get_nowait())

    async def buy(self, merchant: str, amount_usd: str = "45", *, card: int = 0, **more: Any) -> Json:
        body = {
            "card_id": self.office.world.cards[card]["id"],
            "amount_usd": amount_usd,
            "merchant": merchant,
        }
        return await self.tell("purchases", {**body, **more})

    async def poll(self, *jobs: str, seconds: float = 60) -> None:
        """Time passes, these jobs run once, and everything that is owed is posted."""
        await self.office.world.advance(seconds)
        for job in jobs:
            await getattr(self.poller, job)()
        await self.posted()

    async def posted(self) -> None:
        """Messages that wait a few seconds for others go out, too."""
        await self.office.settle()
        await self.office.world.advance(6)
        await self.office.settle()

    async def tell(self, call: str, body: Json) -> Json:
        found: Json = await self.office.world.tell(call, body)
        return found

    async def everything(self) -> list[Json]:
        return [m for m in await self.office.messages(BOB, ALERTS) if not m["ephemeral"]]

    async def seen(self) -> list[str]:
        """The messages of the channel itself, each with its header, text and facts in one line."""
        return [_words(m) for m in await self.everything() if m.get("thread_ts") in (None, m["ts"])]

    async def only(self) -> str:
        found = await self.seen()
        assert len(found) == 1, found
        return found[0]

    async def message(self) -> Json:
        """The one message of the channel, to press on."""
        found = [m for m in await self.everything() if m.get("thread_ts") in (None, m["ts"])]
        assert len(found) == 1, [m["text"] for m in found]
        return found[0]

    async def thread(self) -> list[str]:
        ts = (await self.message())["ts"]
        return [m["text"] for m in await self.everything() if m.get("thread_ts") == ts and m["ts"] != ts]

    async def press(self, user: str, action_id: str, **more: Any) -> Json:
        return await self.office.press(user, await self.message(), action_id, channel=ALERTS, **more)


def _words(message: Json) -> str:
    texts = [message["text"]]
    for block in message.get("blocks") or []:
        parts = [block.get("text"), *block.get("elements", []), *block.get("fields", [])]
        texts += [p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str)]
    return " | ".join(texts)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with an_office(tmp_path) as office, a_bot(office.world) as bot:
        made = Desk(office, bot)
        await bot.backfill.run_once()  # the log is read from here on
        await made.poller.funding()  # and what was final before is no news
        yield made
