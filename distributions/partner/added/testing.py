"""The clients on the simulator, for tests of programs that use them (extra `testing`).

In a conftest: `pytest_plugins = ["countersign_partner.testing"]`. `partner_sandbox` comes from `countersign-sandbox`,
whose clock passes where a client would wait, so that no test waits for a rate limit or a pause between two tries.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from countersign_partner.client import PartnerClient
from countersign_partner.synchronous import SyncPartnerClient
from countersign_sandbox.testing import PartnerSandbox


class PassingClock:
    """A clock on which waiting costs no time: the simulator's clock goes on instead."""

    def __init__(self, sandbox: PartnerSandbox) -> None:
        self._sandbox = sandbox
        self._seconds = 0.0

    def monotonic(self) -> float:
        """Seconds that were waited so far."""
        return self._seconds

    async def sleep(self, seconds: float) -> None:
        """Let the simulator's clock go on by so many seconds."""
        if seconds > 0:
            self._seconds += seconds
            await self._sandbox.aio.control("clock", advance_seconds=seconds)


@pytest.fixture
def partner_client(partner_sandbox: PartnerSandbox) -> Iterator[SyncPartnerClient]:
    """The synchronous client with the simulator's key."""
    clock = PassingClock(partner_sandbox)
    with SyncPartnerClient(partner_sandbox.base_url, partner_sandbox.key, clock=clock) as client:
        yield client


@pytest.fixture
async def async_partner_client(partner_sandbox: PartnerSandbox) -> AsyncIterator[PartnerClient]:
    """The asynchronous client with the simulator's key; for a runner of asynchronous tests in its automatic mode."""
    clock = PassingClock(partner_sandbox)
    async with PartnerClient(partner_sandbox.base_url, partner_sandbox.key, clock=clock) as client:
        yield client


__all__ = ["PassingClock", "async_partner_client", "partner_client"]
