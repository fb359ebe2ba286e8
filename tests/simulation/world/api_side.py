"""The API of one world: its sandbox, the calls that reach it, and the events it delivers to the bot."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from multidict import CIMultiDict

from bot.partner.webhooks import DeliveryRefused
from bot.services.events import Webhooks
from sandbox.partner import http
from sandbox.partner.background import delivery_queue
from sandbox.partner.control import dispatch
from sandbox.partner.server import answering
from sandbox.partner.state import Clock as PartnerClock
from sandbox.partner.state import Ids as PartnerIds
from sandbox.partner.state import Store as PartnerStore
from sandbox.partner.state import World as PartnerWorld
from tests.simulation.loop import Owner
from tests.simulation.network import RECEIVER, CutOff, Unreachable
from tests.simulation.world.furniture import furnished_partner
from tests.simulation.world.names import API_URL, START, Json

if TYPE_CHECKING:
    from tests.simulation.world.world import World


class ApiSide:
    """The sandbox of the API in one world, and its ways in and out."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.partner, self.key = self._furnish(seed)

    async def answer(self, request: http.Request) -> http.Answer:
        self.world.on_arrival(request, None)
        answer = await answering.handle(self.partner, request)
        self.world.on_arrival(request, answer)
        return answer

    def tell(self, call: str, body: Json | None = None, method: str = "POST") -> Any:
        """A control call of the API's sandbox."""
        data = json.dumps(body).encode() if body is not None else b""
        status, answer = dispatch.handle(self.partner, method, call, data)
        assert status == 200, (call, answer)
        return json.loads(answer)

    def _furnish(self, seed: int) -> tuple[PartnerWorld, str]:
        content, key = furnished_partner()
        store = PartnerStore(":memory:", content)
        name = f"sim-{seed}"
        clock = PartnerClock(store, real_now=lambda: START + timedelta(seconds=self.world.loop.time()))
        partner = PartnerWorld(store, clock, PartnerIds(store, name), name, random.Random(name))
        partner.origin = API_URL
        partner.post = self.deliver
        return partner, key

    async def tick(self) -> None:
        while True:
            try:
                async with asyncio.timeout(5):
                    await self.partner.stirred.wait()
            except TimeoutError:
                pass
            self.partner.stirred.clear()
            await delivery_queue.catch_up(self.partner)

    async def deliver(self, method: str, address: str, headers: dict[str, str], body: bytes) -> Any:
        """A webhook delivery of the API to the bot's receiver."""
        program = address.rpartition("/")[2]

        async def arrive() -> int:
            bot = self.world.bot
            if bot is None or bot.webhooks is None:
                raise Unreachable
            done = self.world.loop.spawn(
                bot.owner, _received(bot.webhooks, program, body, CIMultiDict(headers))
            )
            status: int = await self._outlived(done, bot.owner)
            return status

        try:
            return await self.world.network.carry(RECEIVER, headers["X-SVC-Event"], arrive, str), None
        except (Unreachable, CutOff) as error:
            raise ConnectionError(str(error)) from None

    async def _outlived(self, task: asyncio.Task[Any], owner: Owner) -> Any:
        """What a task of the bot returned. Raises CutOff once its process is gone."""
        done = self.world.loop.create_future()

        def tell(_task: object) -> None:
            if not done.done():
                done.set_result(None)

        task.add_done_callback(tell, context=self.world.world.context)
        while not done.done():
            if not owner.alive:
                raise CutOff
            try:
                async with asyncio.timeout(0.5):
                    await asyncio.shield(done)
            except TimeoutError:
                continue
        return task.result()


async def _received(webhooks: Webhooks, program: str, body: bytes, headers: Mapping[str, str]) -> int:
    """The answer of the bot's web server to a delivery, as `bot.web` gives it."""
    try:
        await webhooks.receive(program, body, headers)
    except DeliveryRefused as refusal:
        return refusal.status
    except Exception:  # noqa: BLE001 - the web server says 500, and the API delivers again
        return 500
    return 200
