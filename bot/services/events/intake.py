"""The one way into the inbox, for deliveries and for the event log: stored once, and never again, without codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.domain.time import Clock
from bot.partner import codec
from bot.partner.models import CHALLENGE, Event, ThreeDsChallenge
from bot.partner.webhooks import Delivery, storable, unwrap
from bot.services.otp_store import Codes
from storage.events import Arrival, Ingest


@dataclass(frozen=True, slots=True)
class Intake:
    """`stored` is called after an event that was new became durable; `codes` gets what is cut out of it."""

    ingest: Ingest
    codes: Codes
    clock: Clock
    stored: Callable[[], None]
    crash_point: Callable[[str], None]

    async def accept(self, program: str, received: Delivery | Event, source: str, raw: bytes = b"") -> bool:
        """Store an event; False when it is known. Durable on return.

        `source` is webhook or poll; `raw` the bytes as delivered, kept as they are unless they hold a code.
        """
        if received.type == CHALLENGE:
            self._keep_code(received)
            raw = b""
        self.crash_point("inbox.verified")
        payload = raw or _envelope(received)
        is_new = await self.ingest.put(
            Arrival(received.id, program, received.type, received.created_at, source, payload)
        )
        self.crash_point("inbox.stored")
        if is_new or received.type == CHALLENGE:  # one known already may have waited for its code
            self.stored()
        return is_new

    def _keep_code(self, received: Delivery | Event) -> None:
        event = unwrap(received)
        self.codes.keep(received.id, event.code if isinstance(event, ThreeDsChallenge) else None, self.clock)


def _envelope(received: Delivery | Event) -> bytes:
    """The event as it may be written down, in the form of a delivery."""
    data = received.payload if isinstance(received, Event) else received.data
    created_at: datetime = received.created_at
    return codec.encode(
        {
            "id": received.id,
            "type": received.type,
            "created_at": created_at.isoformat(),
            "data": storable(received.type, data),
        }
    )
