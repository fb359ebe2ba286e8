"""A driver with a poller, and words for what is seen in the alerts channel."""

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
from storage.cards import otp_recipients
from tests.events.receiving import Bot, a_bot
from tests.handlers.slack_driver import BOB, CAROL, SlackDriver, a_slack_driver

ALERTS = "C0ALERTS"
Json = dict[str, Any]


HOST = "bot.example.com"


@dataclass
class Desk:
    """The driver, its receiver and poller, and the alerts channel as people see it."""

    driver: SlackDriver
    bot: Bot
    poller: Poller = field(init=False)
    codes: otp_delivery.Sender = field(init=False)

    def __post_init__(self) -> None:
        self.driver.world.built(self._build)

    def _build(self) -> None:
        self.poller = Poller(self.driver.core, account_every=timedelta(seconds=60))
        self.codes = otp_delivery.Sender(self.driver.core, SlackPublisher(self.driver.client))

    async def api(self, method: str, path: str, body: Json, *, key: str = "", as_key: str = "") -> Json:
        """A call of the API past the bot, with the program's key or another's; `key` is for money."""
        simulator = self.driver.world.simulator
        headers = {"X-API-Key": as_key or simulator.key, **({"Idempotency-Key": key} if key else {})}
        async with httpx.AsyncClient(trust_env=False, verify=False) as client:
            answer = await client.request(method, f"{simulator.base_url}{path}", json=body, headers=headers)
        assert answer.is_success, answer.text
        found: Json = answer.json()["data"]
        return found

    async def register(self) -> None:
        """The card provider delivers to this bot from now on, and its secret is known here."""
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
            await self.driver.world.advance(1)
            await self.bot.handle()
        await self.send_codes()
        await self.posted()

    async def send_codes(self) -> None:
        """Every code that waits now is sent, or found not to be sendable."""
        waiting = self.driver.core.codes.outgoing
        while not waiting.empty():
            await self.codes.send(waiting.get_nowait())

    async def buy(self, merchant: str, amount_usd: str = "45", *, card: int = 0, **more: Any) -> Json:
        body = {
            "card_id": self.driver.world.cards[card]["id"],
            "amount_usd": amount_usd,
            "merchant": merchant,
        }
        return await self.tell("purchases", {**body, **more})

    async def poll(self, *jobs: str, seconds: float = 60) -> None:
        """Time passes, these jobs run once, and everything that waits is posted."""
        await self.driver.world.advance(seconds)
        for job in jobs:
            await getattr(self.poller, job)()
        await self.posted()

    async def posted(self) -> None:
        """Messages that wait a few seconds for others go out, too."""
        await self.driver.settle()
        await self.driver.world.advance(6)
        await self.driver.settle()

    async def tell(self, call: str, body: Json) -> Json:
        found: Json = await self.driver.world.tell(call, body)
        return found

    async def everything(self) -> list[Json]:
        return [m for m in await self.driver.messages(BOB, ALERTS) if not m["ephemeral"]]

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
        return await self.driver.press(user, await self.message(), action_id, channel=ALERTS, **more)


def _words(message: Json) -> str:
    texts = [message["text"].removeprefix("SANDBOX · ")]
    for block in message.get("blocks") or []:
        parts = [block.get("text"), *block.get("elements", []), *block.get("fields", [])]
        texts += [p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str)]
    return " | ".join(texts)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_slack_driver(tmp_path) as driver, a_bot(driver.world) as bot:
        made = Desk(driver, bot)
        await bot.backfill.run_once()  # the log is read from here on
        await made.poller.funding()  # and what was final before is no news
        yield made


@pytest.fixture
async def challenged(desk: Desk) -> str:
    """A card in webhook mode, with a reference; its id."""
    await desk.register()
    await desk.tell("account", {"threeds_webhook_enabled": True})
    card = next(c for c in desk.driver.world.cards if c["partner_ref"])
    await desk.api("PUT", f"/cards/{card['id']}/3ds", {"method": "webhook"})
    async with desk.driver.world.store.begin() as tx:
        await otp_recipients.put(tx, card["partner_ref"], CAROL)
    return str(card["id"])
