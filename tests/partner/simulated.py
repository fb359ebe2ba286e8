"""A running simulator, and the real client that speaks to it over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx

from bot.partner import codec, models
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from sandbox.partner.server import Running, serve
from tests.support.clock import FrozenClock

ORDER = {
    "card_holder_name": "José Łukasz",
    "phone_country_code": 49,
    "phone": "15123456789",
    "email": "jose@example.org",
    "partner_ref": "emp-7",
}


@dataclass
class World:
    """A running simulator and a client that speaks to it."""

    running: Running
    client: PartnerClient
    control: httpx.AsyncClient
    profile: str = "plausible"

    async def act(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The tester's hand. A scenario begins from the defaults, so the profile is set again after it."""
        answer = await self.control.post(f"{self.running.control_url}/{path}", json=body or {})
        assert answer.status_code == 200, answer.text
        if path.startswith("scenarios/"):
            await self.act("account", {"profile": self.profile})
        done: dict[str, Any] = answer.json()
        return done

    async def fault(self, operation: str, effect: str, **fields: Any) -> None:
        await self.act("faults", {"operation": operation, "effect": effect, **fields})

    async def journal(self, method: str, path: str) -> list[dict[str, Any]]:
        """The requests that reached the simulator, by method and the end of their path."""
        answer = (await self.control.get(f"{self.running.control_url}/journal")).json()
        return [r for r in answer["requests"] if r["method"] == method and r["path"].endswith(path)]

    async def funding_scenario(self, name: str) -> models.Funding:
        """Play a named scenario of funding to its end, and read what became of the submission."""
        shown = await self.act(f"scenarios/funding-{name}")
        sent = await self.client.submit_funding(codec.encode(shown["submit"]))
        for step in shown["after"]:
            await self.act(step["path"].replace("{id}", sent.id), step["body"])
        return await self.client.funding(sent.id)

    def order_body(self, **changes: Any) -> bytes:
        return codec.encode({**ORDER, **changes})

    async def order(self, key: str = "order-1", **changes: Any) -> str:
        return (await self.client.order_card(self.order_body(**changes), key=key)).id

    async def funded_card(self, float_usd: str = "1000") -> str:
        await self.act("float", {"amount_usd": float_usd})
        return await self.order()

    async def top_up(self, card_id: str, amount_usd: str = "25.00", *, key: str = "k1") -> models.TopUp:
        return await self.client.top_up(card_id, codec.encode({"amount_usd": Decimal(amount_usd)}), key=key)

    def other_client(self, key: str) -> PartnerClient:
        clock = FrozenClock()
        return PartnerClient(self.running.base_url, key, limiter=RateLimiter(clock), clock=clock)


@asynccontextmanager
async def simulated(profile: str = "plausible") -> AsyncIterator[World]:
    """A world of its own, closed at the end; `profile` is how the simulator fills in what is not shown."""
    running = await serve(port=0)
    # Reading the machine's certificates takes longer than most tests, and nothing here is encrypted.
    async with httpx.AsyncClient(trust_env=False, verify=False) as control:
        # The client's clock stands still: pauses between repeats pass at once.
        clock = FrozenClock()
        wire = httpx.AsyncHTTPTransport(verify=False)
        client = PartnerClient(
            running.base_url, running.key, limiter=RateLimiter(clock), clock=clock, http=wire
        )
        world = World(running, client, control, profile)
        await world.act("account", {"profile": profile})
        yield world
        await client.aclose()
    await running.close()
