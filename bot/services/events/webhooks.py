"""Deliveries: are they signed with this program's secret, and what is said when they are not.

Nothing of a delivery that is refused is stored; only how often that happened and why is counted, as the
card provider's own log does not show it to anybody here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from bot.partner.secret import Secret
from bot.partner.webhooks import Delivery, DeliveryRefused, Malformed, NotGenuine, Stale, TooLarge, verify
from bot.services.core import Core
from bot.services.events import refused_deliveries
from bot.services.events.intake import Intake
from bot.services.events.refused_deliveries import Refusal
from bot.services.requests import local_facts
from storage.events import webhook_secrets

# A rotation by another process is seen after this long; a delivery that does not verify asks again sooner.
SECRETS_KEPT_S = 5.0
ASKED_AGAIN_AFTER_S = 0.5
REPEATS_NOTED_S = 30.0
# More seconds than that in which something was refused say nothing new.
_COUNTED = 400

_CAUSES: Mapping[type[DeliveryRefused], str] = {
    NotGenuine: refused_deliveries.NOT_OURS,
    Stale: "a timestamp too far from our clock",
    TooLarge: "too large",
    Malformed: "not of an event's form",
}


class Webhooks:
    """Takes deliveries for all programs. One in a process."""

    def __init__(self, core: Core, intake: Intake) -> None:
        self._core = core
        self._intake = intake
        self._secrets: dict[str, tuple[tuple[Secret, ...], float]] = {}
        self._reading: dict[str, asyncio.Task[tuple[Secret, ...]]] = {}
        self._refused: dict[str, deque[Refusal]] = {}
        self._not_reported: set[str] = set()
        self._repeated: dict[str, float] = {}

    async def receive(self, program: str, raw: bytes, headers: Mapping[str, str]) -> bool:
        """Store the event of this delivery; False when it was stored before. Durable on return.

        Raises `DeliveryRefused`, whose `status` is the answer it gets.
        """
        try:
            delivery = await self._verified(program, raw, headers)
        except DeliveryRefused as refusal:
            self._count(program, refusal)
            raise
        is_new = await self._intake.accept(program, delivery, "webhook", raw)
        if not is_new:
            await self._note_repeated(program)
        return is_new

    async def _note_repeated(self, program: str) -> None:
        """That a delivery came shows that deliveries do. Once in a while is enough: repeats come in bursts."""
        now, last = self._core.clock.monotonic(), self._repeated.get(program)
        if last is None or now - last >= REPEATS_NOTED_S:
            self._repeated[program] = now
            await local_facts.note_repeated(self._core, program)

    async def _verified(self, program: str, raw: bytes, headers: Mapping[str, str]) -> Delivery:
        now = self._core.clock.now()
        try:
            return verify(raw, headers, await self._accepted(program, SECRETS_KEPT_S), now)
        except NotGenuine:
            return verify(raw, headers, await self._accepted(program, ASKED_AGAIN_AFTER_S), now)

    async def _accepted(self, program: str, at_most_s: float) -> tuple[Secret, ...]:
        """The secrets of a program, read no longer ago than that. None for a program that is not ours."""
        if program not in self._core.partners:
            return ()
        known = self._secrets.get(program)
        if known is not None and self._core.clock.monotonic() - known[1] < at_most_s:
            return known[0]
        reading = self._reading.get(program)
        if reading is None:
            reading = self._reading[program] = asyncio.create_task(self._read(program))
        return await asyncio.shield(reading)

    async def _read(self, program: str) -> tuple[Secret, ...]:
        """One reading for all who ask at once, as a flood of forgeries may."""
        try:
            began = self._core.clock.monotonic()
            async with self._core.store.read() as tx:
                found = await webhook_secrets.accepted(tx, program)
            self._secrets[program] = (found, began)
            return found
        finally:
            del self._reading[program]

    def _count(self, program: str, refusal: DeliveryRefused) -> None:
        if program in self._core.partners:
            counted = self._refused.setdefault(program, deque(maxlen=_COUNTED))
            at = self._core.clock.now().replace(microsecond=0)
            cause = _CAUSES.get(type(refusal), str(refusal))
            last = counted[-1] if counted else None
            if last is not None and (last.at, last.cause) == (at, cause):
                counted[-1] = replace(last, count=last.count + 1)
            else:
                counted.append(Refusal(at, cause))
            self._not_reported.add(program)

    async def report(self) -> None:
        """An alert for each program whose deliveries are being refused; resolved when that has stopped."""
        since = self._core.clock.now() - refused_deliveries.WINDOW
        for program in self._core.partners:
            is_new = program in self._not_reported
            self._not_reported.discard(program)
            mine = [refusal for refusal in self._refused.get(program, ()) if refusal.at >= since]
            await refused_deliveries.report(self._core, program, mine, is_new=is_new)
