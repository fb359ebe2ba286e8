"""Copies of events for other systems: written with the event, signed, tried for a day, never to where they must not.

Each destination has a loop, a client and a lane of its own, so that a slow one holds up neither the others
nor the receiver. A message keeps its id and its bytes at every attempt, so a receiver knows a repeat: there
is one whenever this process dies between sending and marking.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.alerts import delivery_alerts
from bot.domain.errors import NotAllowed, NotFound
from bot.domain.events import Destination, relay
from bot.partner.codec import encode
from bot.partner.models import CHALLENGE
from bot.services import alerts, audit, people
from bot.services.core import Core
from bot.services.events.ssrf import AT_ONCE, NotDelivered, Sender
from bot.services.people import Role
from bot.services.received_event import ReceivedEvent
from bot.together import Together
from storage.cards import api_snapshots
from storage.events import Failed, RelayDelivery
from storage.events import relay as rows
from storage.messages import alerts as alert_rows
from storage.transaction import Tx

log = logging.getLogger("countersign.relay")

IDLE_S = 0.5
# Sent and marked in one go; what is lost by a crash between is sent again under the same ids.
BATCH = 256
# Longer than two batches of timeouts take: one is taken while the one before it is sent.
LEASE = timedelta(minutes=3)
# So many events are named in an alert.
_NAMED = 10
_DESTINATIONS = "relay_destinations"
_Answered = tuple[RelayDelivery, NotDelivered | None]


async def enqueue(tx: Tx, core: Core, received: ReceivedEvent) -> None:
    """In the transaction that handles the event: each destination that named its type gets a copy."""
    event = received.event
    wanted = [d for d in core.destinations if event.type in d.events and event.type != CHALLENGE]
    if not wanted:
        return
    copied = relay.content(event.type, event.created_at, received.program, event.raw.get("data"))
    body = encode(copied)
    for destination in wanted:
        await rows.put(tx, destination=destination.name, event_id=event.id, body=body)


async def note_destinations(core: Core) -> None:
    """At the start: a changed list of destinations is audited and reported, and what is for none of them is dropped."""
    now = {d.name: {"url": d.url, "events": sorted(d.events)} for d in core.destinations}
    async with core.store.begin() as tx:
        kept = await api_snapshots.get(tx, "", _DESTINATIONS)
        before: Mapping[str, object] = kept.value if kept else {}
        if before == now:
            return
        await api_snapshots.put(tx, "", _DESTINATIONS, now)
        dropped = await rows.drop_destinations(tx, list(now))
        for name in set(before) - set(now):
            for kind in (delivery_alerts.RELAY_DEAD, delivery_alerts.RELAY_UNREADABLE):
                await alerts.resolve(tx, core, kind.condition(name), case="not a destination")
        body = {"before": dict(before), "now": now, "dropped": dropped}
        await audit.record(tx, core, "system:app", "relay.destinations", "relay", body)
        said = delivery_alerts.destinations_changed(before, now, dropped)
        condition = said.kind.condition(core.ids.ulid())
        await alerts.tell(tx, core, said, condition=condition, subject="relay", program="")


async def redeliver(core: Core, alert_id: str, slack_id: str) -> int:
    """One click of an approver or admin: send again what was given up. Returns how many.

    Raises NotFound and NotAllowed; refusals are audited.
    """
    await _require_approver_or_admin(core, slack_id)
    async with core.store.begin() as tx:
        alert = await alert_rows.get(tx, alert_id)
        if alert is None or alert.subject not in {d.name for d in core.destinations}:
            raise NotFound("There is no such destination any more. Nothing was sent.")
        count = await rows.revive(tx, alert.subject)
        subject = f"relay:{alert.subject}"
        await audit.record(tx, core, slack_id, "relay.redelivered", subject, {"count": count})
        await alerts.thread_line(tx, core, alert, slack_id, f"{count} messages are sent again.")
        for kind in (delivery_alerts.RELAY_DEAD, delivery_alerts.RELAY_UNREADABLE):
            await alerts.resolve(tx, core, kind.condition(alert.subject), actor=slack_id)
    return count


async def _require_approver_or_admin(core: Core, slack_id: str) -> None:
    """What was kept back for a day goes out to another system again: not for just anybody."""
    names = dict.fromkeys((*core.policy.people.approvers, *core.policy.people.admins))
    refusal = NotAllowed(
        f"Only {', '.join(names)} may have events sent again. Nothing was sent. Ask one of them.",
        "not_an_approver",
    )
    await people.require_role(core, slack_id, Role.APPROVER_OR_ADMIN, refusal, action="relay.redeliver")


async def drop_dead(core: Core, kept_for: timedelta) -> int:
    """Messages that were given up and not sent again in all that time are forgotten; returns how many.

    Audited, and reported in the thread of the alert that stands for them; it ends with the last of them.
    """
    async with core.store.begin() as tx:
        dropped = await rows.drop_dead(tx, before=tx.now - kept_for)
        for name, count in dropped.items():
            await audit.record(tx, core, "system:relay", "relay.dropped", f"relay:{name}", {"count": count})
            alert = await alert_rows.open_one(tx, delivery_alerts.RELAY_DEAD.condition(name))
            await _tell_unreadable(tx, core, name)
            if alert is None:
                continue
            text = f"{count} messages were dropped: nobody had them sent again in {kept_for.days} days."
            await alerts.thread_line(tx, core, alert, "system:relay", text)
            error = (await alerts.facts_of(tx, alert)).get("error", "not known")
            await _tell_dead(tx, core, name, error, over="dropped")
    return sum(dropped.values())


async def _tell_dead(tx: Tx, core: Core, name: str, error: str, *, over: str = "") -> None:
    """The one alert of a destination that does not take its events, with how many wait for a person."""
    count = await rows.dead(tx, name)
    if not count:
        await alerts.resolve(tx, core, delivery_alerts.RELAY_DEAD.condition(name), case=over)
        return
    said = delivery_alerts.RELAY_DEAD.says(destination=name, count=count, error=error)
    await alerts.keep(
        tx,
        core,
        said,
        condition=delivery_alerts.RELAY_DEAD.condition(name),
        subject=name,
        program="",
        facts={"error": error},
    )


async def _tell_unreadable(tx: Tx, core: Core, name: str) -> None:
    """The one alert of a destination with copies that nobody can open any more."""
    condition = delivery_alerts.RELAY_UNREADABLE.condition(name)
    events = await rows.unreadable(tx, name)
    if not events:
        await alerts.resolve(tx, core, condition)
        return
    more = f" and {len(events) - _NAMED} more" if len(events) > _NAMED else ""
    said = delivery_alerts.RELAY_UNREADABLE.says(
        destination=name, count=len(events), events=", ".join(events[:_NAMED]) + more
    )
    await alerts.keep(tx, core, said, condition=condition, subject=name, program="")


@dataclass(slots=True)
class Relay:
    """Delivers for all destinations; `run` until cancelled."""

    core: Core
    sender: Callable[[], Sender] = Sender

    async def run(self) -> None:
        """A loop for each destination, side by side; one that breaks goes on after a rest."""
        async with Together() as group:
            for destination in self.core.destinations:
                group.create_task(self._serve(destination), name=f"relay {destination.name}")

    async def _serve(self, destination: Destination) -> None:
        sender = self.sender()
        try:
            while True:
                try:
                    busy = await self.deliver(destination, sender)
                except Exception:  # the database was away; nothing is lost, and the others must go on
                    log.exception("relay.failed", extra={"destination": destination.name})
                    busy = False
                if not busy:
                    await asyncio.sleep(IDLE_S)
        finally:
            await sender.close()

    async def deliver(self, destination: Destination, sender: Sender) -> bool:
        """Send all that is due to one destination; False when nothing was.

        While a batch is being sent the one before it is marked and the next one taken, in one commit.
        """
        async with self.core.store.read() as tx:
            if not await rows.is_due(tx, destination.name):
                return False
            keys = tx.vault.derived("relay_secret", destination.name)
        answered: list[_Answered] = []
        queued = await self._turn(destination, answered)
        while queued or answered:
            async with Together() as group:
                sending = group.create_task(self._send_all(destination, sender, queued, keys))
                following = group.create_task(self._turn(destination, answered))
            self.core.crash_point("relay.sent")
            answered, queued = sending.result(), following.result()
        return True

    async def _send_all(
        self, destination: Destination, sender: Sender, queued: Sequence[RelayDelivery], keys: Sequence[bytes]
    ) -> list[_Answered]:
        answered: list[_Answered] = []
        left = iter(queued)

        async def lane() -> None:
            for message in left:
                failure = await self._send(destination, sender, message, keys)
                answered.append((message, failure))

        await asyncio.gather(*(lane() for _ in range(min(AT_ONCE, len(queued)))))
        return answered

    async def _send(
        self, destination: Destination, sender: Sender, message: RelayDelivery, keys: Sequence[bytes]
    ) -> NotDelivered | None:
        signed = relay.headers(message.event_id, message.body, self.core.clock.now(), keys)
        try:
            await sender.post(destination.url, message.body, signed)
        except NotDelivered as failure:
            return failure
        return None

    async def _turn(self, destination: Destination, answered: Sequence[_Answered]) -> list[RelayDelivery]:
        """Write down what became of one batch, and take the next."""
        async with self.core.store.begin() as tx:
            await rows.sent(tx, [message.id for message, failure in answered if failure is None])
            failures = [
                Failed(message.id, str(failure), self._again(message, failure, tx))
                for message, failure in answered
                if failure is not None
            ]
            await rows.failed(tx, failures)
            given_up = [failure.error for failure in failures if failure.due_at is None]
            if given_up:
                await _tell_dead(tx, self.core, destination.name, given_up[-1])
            taken = await rows.take(tx, destination.name, limit=BATCH, lease=LEASE)
            if taken.unreadable:
                log.error(
                    "relay.unreadable", extra={"destination": destination.name, "events": taken.unreadable}
                )
                await _tell_unreadable(tx, self.core, destination.name)
        if taken.deliveries:
            self.core.crash_point("relay.taken")
        return taken.deliveries

    def _again(self, message: RelayDelivery, failure: NotDelivered, tx: Tx) -> datetime | None:
        if failure.status == 410:  # the receiver says that it wants no more of this
            return None
        return relay.next_attempt(message.event_id, message.attempts, message.created_at, tx.now)
