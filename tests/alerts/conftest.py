"""An office with a poller, and words for what is seen in the alerts channel."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.services.polling import Poller
from tests.handlers.office import BOB, Office, an_office

ALERTS = "C0ALERTS"
Json = dict[str, Any]


@dataclass
class Desk:
    """The office, its poller, and the alerts channel as people see it."""

    office: Office
    poller: Poller

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
        return await self.office.messages(BOB, ALERTS)

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


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack's SDK would send loopback through a proxy, whatever NO_PROXY says."""
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with an_office(tmp_path) as office:
        poller = Poller(office.core, account_every=timedelta(seconds=60))
        yield Desk(office, poller)
