"""The other system that gets copies of events: what arrived there, and what it answered."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.services.events.ssrf import NotDelivered
from storage.vault import Keyring, Vault
from tests.simulation.network import RELAY, CutOff, Unreachable
from tests.simulation.world.installation import MASTERS

if TYPE_CHECKING:
    from tests.simulation.world.world import World

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Copy:
    """One copy as it arrived, and what was answered."""

    at: float
    url: str
    body: bytes
    headers: Mapping[str, str]
    status: int


@dataclass
class RelaySide:
    """One receiver for the one destination there is; `answers` are the next statuses, 200 after them."""

    world: World
    arrived: dict[str, list[Copy]] = field(default_factory=dict)
    answers: deque[int] = field(default_factory=deque)

    def sender(self) -> RelaySide:
        """In place of the relay's client."""
        return self

    def signing_keys(self) -> list[bytes]:
        """What copies may be signed with: made from each master key there has been."""
        instance = self.world.rows("SELECT value FROM meta WHERE name = 'instance'")[0]["value"]
        vault = Vault(Keyring.parse("\n".join(MASTERS)), instance=instance)
        return list(vault.derived("relay_secret", "ledger"))

    async def close(self) -> None: ...

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """As `bot.services.events.Sender.post`. Raises NotDelivered."""

        async def arrive() -> int:
            status = self.answers.popleft() if self.answers else 200
            copy = Copy(self.world.loop.time(), url, body, dict(headers), status)
            self.arrived.setdefault(headers["webhook-id"], []).append(copy)
            return status

        try:
            async with asyncio.timeout(TIMEOUT_S):
                status: int = await self.world.network.carry(RELAY, headers["webhook-id"], arrive, str)
        except (Unreachable, CutOff, TimeoutError):
            raise NotDelivered("simulated: no answer") from None
        if not 200 <= status < 300:
            raise NotDelivered(f"answered {status}", status=status)
        return status
