"""One authenticated call on its way through a handler."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from sandbox.listening import is_known_host
from sandbox.partner.accounts import Account, ApiKey, account
from sandbox.partner.calls.faults import Fault
from sandbox.partner.http import Lost, Request, Wire
from sandbox.partner.state import World


@dataclass
class Call:
    """`key` is the checked Idempotency-Key or None; `path` the values of the path template."""

    world: World
    request: Request
    api_key: ApiKey
    account_id: str
    path: dict[str, str]
    fault: Fault | None = None
    query: dict[str, str] = field(default_factory=dict)

    @property
    def account(self) -> Account:
        """Read again each time: the float moves while a call waits for the processor."""
        return account(self.world, self.account_id)

    @property
    def origin(self) -> str:
        """What links in the answer begin with: where the caller called, if that host is known here."""
        host = self.request.header("Host")
        return f"http://{host[0]}" if host and is_known_host(host[0], self.world.names) else self.world.origin

    async def crash_point(self) -> None:
        """Between the two commits of a call that has two: the injected delay, and `drop_midway`."""
        if self.fault and self.fault.effect == "delay" and self.fault.seconds:
            await asyncio.sleep(self.fault.seconds)
        if self.fault and self.fault.effect == "drop_midway":
            raise Lost(Wire.DROP)
