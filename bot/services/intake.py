"""The one way into the inbox, for deliveries and for the event log: stored once for ever, without codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.domain.clock import Clock
from bot.partner import codec
from bot.partner.models import Event
from bot.partner.models.events import ThreeDsChallenge
from bot.partner.webhooks import CHALLENGE, Delivery, storable, unwrap
from bot.services.codes import Codes
from storage.ingest import Arrival, Ingest


@dataclass(frozen=True, slots=True)
class Intake:
    """`stored` is called after an event that was new became durable; `codes` gets what is cut out of it."""

    ingest: Ingest
    codes: Codes
    clock: Clock
    stored: Callable[[], None]
    crash_point: Callable[[str], None]

    async def accept(self, program: str, told: Delivery | Event, source: str) -> bool:
        """Store an event; False when it is known. Durable on return. `source` is webhook or poll."""
        data = told.payload if isinstance(told, Event) else told.data
        if told.type == CHALLENGE:
            self._keep_code(told)
            data = storable(told.type, data)
        self.crash_point("inbox.verified")
        payload = _envelope(told, data)
        is_new = await self.ingest.put(Arrival(told.id, program, told.type, told.created_at, source, payload))
        self.crash_point("inbox.stored")
        if is_new:
            self.stored()
        return is_new

    def _keep_code(self, told: Delivery | Event) -> None:
        event = unwrap(told)
        if isinstance(event, ThreeDsChallenge) and event.code is not None:
            self.codes.keep(event.id, event.code, self.clock)


def _envelope(told: Delivery | Event, data: Mapping[str, Any]) -> bytes:
    """The same bytes whichever way the event came."""
    created_at: datetime = told.created_at
    return codec.encode(
        {"id": told.id, "type": told.type, "created_at": created_at.isoformat(), "data": data}
    )
