"""Have one event of the log delivered again, under its own id [POST /events/{eventId}/redeliver].

Nothing moves: whoever knows the event takes it for a repeat. Safe to send again, so a lost answer is
settled by the same call.
"""

from __future__ import annotations

import re
from contextlib import aclosing
from itertools import count
from typing import Any, ClassVar, cast

from bot.operations._base import Concern, Facts, InWords, Line, Look, Operation, Sought
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations.value_types import ValueType
from bot.outcomes import Evidence, Finding, Outcome
from bot.partner.calls import events as event_calls
from bot.partner.client import PartnerClient
from bot.partner.models import CHALLENGE, Event

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
# There is no call for one event; older ones are redelivered unseen.
_NEWEST = 300


def event_id(text: str) -> str:
    """An event id as the API gives it, 1 to 128 characters. Raises ValueError with the sentence for the field."""
    if not _ID.fullmatch(text):
        raise ValueError("This isn't an event id. Copy it from the alert, the log or the export.")
    return text


EVENT_ID = ValueType(str, event_id, str)


class Redeliver(Operation):
    """Having one event delivered to the webhook again, under its own id; no money moves.

    Source: Webhooks and events, POST /events/{eventId}/redeliver.
    """

    kind = "event_redeliver"
    title = "Deliver an event again"
    verb = "Deliver again"
    command = ("countersign", "webhook redeliver")
    example = "/countersign webhook redeliver EVENT"
    help = "have your card provider deliver one event to the webhook again"
    phrases = ("redeliver the event {event_id}",)
    endpoint = event_calls.REDELIVER
    event_id = Field("Event", EVENT_ID, hint="The id of the event, as deliveries carry it.")
    # The card provider may have delivered it since of its own accord: that is no late effect of this.
    handling = Handling(superseded_by=("event_redeliver",))
    in_words: ClassVar[InWords] = {
        (404, "NOT_FOUND"): (
            "Your card provider does not know this event.",
            "Check its id and the program, then make a new request.",
        ),
    }
    place = 15

    @property
    def subject(self) -> str:
        """The id of the event."""
        return self.event_id

    def summary(self) -> str:
        """Names the event by its id."""
        return f"Have the event {self.subject} delivered again"

    def body(self) -> dict[str, Any]:
        """Empty: the call has no body."""
        return {}

    async def read(self, partner: PartnerClient) -> Facts:
        """The registered address and, if it is among the newest 300, the event's type, times (UTC) and attempts."""
        hook = await partner.webhook()
        event = await _find(partner, self.subject)
        facts: dict[str, Any] = {"webhook_url": hook.url if hook else None, "type": event and event.type}
        if event is not None:
            facts |= {"created": f"{event.created_at:%Y-%m-%d %H:%M:%S} UTC", "attempts": int(event.attempts)}
            facts["delivered"] = f"{event.delivered_at:%Y-%m-%d %H:%M:%S} UTC" if event.delivered_at else None
        return facts

    def lines(self, facts: Facts) -> list[Line]:
        """The event, when it happened, and how often its delivery was tried."""
        lines = [("Registered address", facts["webhook_url"] or "none"), ("Money", "none moves")]
        if facts["type"] is None:
            return [("Event", f"not among the newest {_NEWEST} of the log"), *lines]
        delivered = f"delivered {facts['delivered']}" if facts["delivered"] else "not delivered"
        tried = "once" if facts["attempts"] == 1 else f"{facts['attempts']} times"
        return [
            ("Event", facts["type"]),
            ("Happened", facts["created"]),
            ("So far", f"{delivered}, tried {tried}"),
            *lines,
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Nothing here stops it; a one-time code in the event has expired by then."""
        found = []
        if facts["webhook_url"] is None:
            found.append(Concern("No address is registered, so the event waits until there is one."))
        if facts["type"] is None:
            found.append(
                Concern("The event was not found among the newest; your card provider refuses unknown ones.")
            )
        if facts["type"] == CHALLENGE:
            found.append(Concern("The code in it has expired: a redelivery does not help the purchase."))
        return found

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Queues the event; the API sends it later, with a new schedule of attempts."""
        done = await partner.redeliver(self.subject)
        text = f"The {done.type} event is queued again, with a fresh schedule of attempts. Nothing moved."
        return Outcome(Finding.SUCCEEDED, text, {"event_type": done.type})

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Done when the event log shows a delivery since the request was sent."""
        event = await _find(partner, self.subject)
        if event is not None and event.delivered_at is not None and event.delivered_at >= sought.since:
            text = f"The {event.type} event was delivered since."
            return Look(Evidence.DONE, text, {"event_type": event.type})
        return Look(Evidence.ABSENT, "The event log shows no delivery of it since.", {})


async def _find(partner: PartnerClient, wanted: str) -> Event | None:
    """The event among the newest of the log. Its payload, which may hold a code, is left where it is."""
    seen = count(1)
    async with aclosing(cast(Any, partner.events())) as events:  # left early, so it is closed
        async for event in events:
            if event.id == wanted:
                return cast(Event, event)
            if next(seen) == _NEWEST:
                break
    return None
