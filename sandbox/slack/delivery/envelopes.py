"""Getting an envelope to the app and waiting for its ack.

Slack gives the app three seconds. Here the timer runs in real time for each envelope; acks are
matched by envelope id for the whole app, whichever socket they arrive on; late and unknown acks
are kept for tests to see. Events are tried again at once, after one and after five minutes.

Deviation: an interaction while no socket is open fails at once; what Slack does in those seconds
is not published.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, TypeVar

from sandbox.slack.clock import Clock
from sandbox.slack.faults import Fault, Faults
from sandbox.slack.ids import Ids
from sandbox.slack.json_object import Json

T = TypeVar("T")

RETRY_AFTER_SECONDS = (0.0, 60.0, 300.0)
KEPT_ENVELOPES = 2000


@dataclass
class Parcel:
    """Something to tell the app: `type` as on the wire, `kind` as a person would name it."""

    type: str
    kind: str
    payload: Json
    accepts_response: bool
    summary: str
    retry_attempt: int = 0
    retry_reason: str = ""


@dataclass
class Ack:
    """What came back: `payload` only if the app put one in; `reason` says why there was no ack."""

    acked: bool
    ack_ms: float | None = None
    payload: Json | None = None
    reason: str = ""


@dataclass
class EnvelopeRecord:
    """One line of the wire log."""

    id: str
    type: str
    kind: str
    sent_at: str
    payload_summary: str
    retry_attempt: int = 0
    acked: bool = False
    acked_at: str | None = None
    ack_ms: float | None = None
    late: bool = False
    ack_payload: Json | None = None
    seq: int = 0

    def as_json(self) -> Json:
        """The line as the control API gives it: these fields by name, times in ISO 8601, `ack_ms` in milliseconds."""
        return asdict(self)


@dataclass
class _Waiting:
    record: EnvelopeRecord
    started: float
    ack: asyncio.Future[Ack]
    ignore_ack: bool = False


class Transport(Protocol):
    """Socket Mode or signed HTTP; `effects` are the envelope faults it can have."""

    @property
    def effects(self) -> frozenset[str]:
        """Which envelope faults can happen here."""
        ...

    @property
    def connections(self) -> int:
        """How many connections the app has open now."""
        ...

    def reset(self) -> None:
        """Forget what tests switched; connections stay."""
        ...

    async def close(self) -> None:
        """End what is open."""
        ...

    async def deliver(self, envelope: Json, fault: Fault | None) -> bool:
        """Hand over; False when nobody took it."""
        ...

    async def fall_silent(self, seconds: float) -> None:
        """Send nothing for so many seconds, without closing anything."""
        ...

    async def disconnect(self, reason: str) -> None:
        """Tell the app to connect again, for one of `REASONS`."""
        ...


@dataclass
class Delivery:
    """Sends parcels through `transport` and keeps the log of them."""

    clock: Clock
    ids: Ids
    faults: Faults
    ack_seconds: float
    on_change: Callable[[], None]
    next_seq: Callable[[], int]
    transport: Transport = field(init=False)
    records: deque[EnvelopeRecord] = field(default_factory=lambda: deque(maxlen=KEPT_ENVELOPES))
    payloads: deque[Json] = field(default_factory=lambda: deque(maxlen=KEPT_ENVELOPES))
    unknown_acks: int = 0
    missed_acks: int = 0
    _waiting: dict[str, _Waiting] = field(default_factory=dict)
    _late: dict[str, _Waiting] = field(default_factory=dict)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _retries: set[asyncio.Task[None]] = field(default_factory=set)
    _resets: int = 0

    async def send(self, parcel: Parcel) -> Ack:
        """Deliver one parcel and wait for its ack, at most `ack_seconds`."""
        fault = self.faults.of_envelope(parcel.type, parcel.kind)
        if fault is not None and fault.effect == "delay":
            await asyncio.sleep(fault.seconds)
        waiting, envelope = self._start(parcel, fault)
        try:
            if not await self._hand_over(envelope, fault):
                return self._missed(waiting, "no_connection")
            ack = await asyncio.wait_for(asyncio.shield(waiting.ack), self.ack_seconds)
            return ack if ack.acked else self._missed(waiting, ack.reason)
        except TimeoutError:
            return self._missed(waiting, "timeout")
        finally:
            self._waiting.pop(envelope["envelope_id"], None)
            self.on_change()

    def acknowledge(self, envelope_id: str, payload: Json | None) -> None:
        """An ack arrived, on whatever connection."""
        waiting = self._waiting.get(envelope_id)
        if waiting is None:
            self._note_late(envelope_id)
            return
        if waiting.ignore_ack or waiting.ack.done():
            return
        ack_ms = round((asyncio.get_running_loop().time() - waiting.started) * 1000, 1)
        record = waiting.record
        record.acked, record.acked_at, record.ack_ms = True, self.clock.now_iso(), ack_ms
        record.ack_payload = payload
        waiting.ack.set_result(Ack(True, ack_ms, payload))

    def refuse(self, envelope_id: str, reason: str) -> None:
        """The app answered, but not with an ack (HTTP only)."""
        waiting = self._waiting.get(envelope_id)
        if waiting is not None and not waiting.ack.done():
            waiting.ack.set_result(Ack(False, reason=reason))

    def send_event(self, parcel: Parcel) -> asyncio.Task[Ack]:
        """Deliver an event; the task ends with its first attempt, retries go on in the background."""
        return self.background(self._first_attempt(parcel))

    def background(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run something that belongs to the stand-in; stopped by `close`."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def reset(self) -> None:
        """Forget what was sent, and send nothing of it again."""
        for retry in self._retries:
            retry.cancel()
        self._retries.clear()
        self._resets += 1
        self.records.clear()
        self.payloads.clear()
        self._late.clear()
        self.unknown_acks = self.missed_acks = 0

    async def close(self) -> None:
        """Stop the retries and whatever else runs in the background."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, parcel: Parcel, fault: Fault | None) -> tuple[_Waiting, Json]:
        envelope: Json = {
            "envelope_id": self.ids.envelope_id(),
            "type": parcel.type,
            "payload": parcel.payload,
            "accepts_response_payload": parcel.accepts_response,
        }
        if parcel.type == "events_api":
            envelope |= {"retry_attempt": parcel.retry_attempt, "retry_reason": parcel.retry_reason}
        record = EnvelopeRecord(
            id=envelope["envelope_id"],
            type=parcel.type,
            kind=parcel.kind,
            sent_at=self.clock.now_iso(),
            payload_summary=parcel.summary,
            retry_attempt=parcel.retry_attempt,
            seq=self.next_seq(),
        )
        loop = asyncio.get_running_loop()
        lost = fault is not None and fault.effect == "lost_ack"
        waiting = _Waiting(record, loop.time(), loop.create_future(), ignore_ack=lost)
        self._waiting[record.id] = waiting
        self.records.append(record)
        self.payloads.append(envelope)
        self.on_change()
        return waiting, envelope

    async def _hand_over(self, envelope: Json, fault: Fault | None) -> bool:
        effect = fault.effect if fault is not None else ""
        if fault is not None and effect == "silence":
            await self.transport.fall_silent(fault.seconds)
        taken = await self.transport.deliver(envelope, fault)
        if effect == "duplicate":
            await self.transport.deliver(envelope, fault)
        if fault is not None and effect == "disconnect":
            await self.transport.disconnect(fault.reason)
        return taken

    def _missed(self, waiting: _Waiting, reason: str) -> Ack:
        self.missed_acks += 1
        self._late[waiting.record.id] = waiting
        return Ack(False, reason=reason)

    def _note_late(self, envelope_id: str) -> None:
        waiting = self._late.pop(envelope_id, None)
        if waiting is None:
            again = any(record.id == envelope_id for record in self.records)
            self.unknown_acks += 0 if again else 1
            return
        waiting.record.late = True
        waiting.record.acked_at = self.clock.now_iso()
        waiting.record.ack_ms = round((asyncio.get_running_loop().time() - waiting.started) * 1000, 1)
        self.on_change()

    async def _first_attempt(self, parcel: Parcel) -> Ack:
        resets = self._resets
        ack = await self.send(parcel)
        if not ack.acked and resets == self._resets:
            retry = self.background(self._retry(parcel, ack.reason))
            self._retries.add(retry)
            retry.add_done_callback(self._retries.discard)
        return ack

    async def _retry(self, parcel: Parcel, reason: str) -> None:
        for attempt, wait in enumerate(RETRY_AFTER_SECONDS, start=1):
            await self.clock.sleep_until(self.clock.now() + wait)
            parcel.retry_attempt, parcel.retry_reason = attempt, reason
            ack = await self.send(parcel)
            if ack.acked:
                return
            reason = ack.reason
