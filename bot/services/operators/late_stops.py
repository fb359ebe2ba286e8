"""Tries again to record what somebody stopped, every few seconds, and says so.

See `held_stops` for what is held until then. The alerts channel learns of it by an alert, or past the outbox where not
even that can be stored.
"""

from __future__ import annotations

import logging

from bot.domain.alerts import Ended, Severity, people_alerts
from bot.domain.errors import LookupFailed, TooMuch
from bot.domain.sentences import quoted
from bot.domain.time import in_words
from bot.services import alerts
from bot.services.core import Core
from bot.services.held_stops import Held, is_refusal
from bot.services.messages import mentions, storage_watch

log = logging.getLogger("countersign.stops")

TRIES_EVERY_S = 3.0


def sentence(core: Core) -> str | None:
    """What is held, for whoever runs this; None where nothing is."""
    held = core.held.waiting()
    if not held:
        return None
    first = held[0]
    more = f", and {len(held) - 1} more like this" if len(held) > 1 else ""
    return (
        f"Not recorded since {first.at:%Y-%m-%d %H:%M:%S} UTC: {first.stop.by} {first.stop.deed}{more}."
        f" {first.stop.meanwhile} A restart would forget it."
    )


class LateStops:
    """Tries again. One in a process."""

    def __init__(self, core: Core, say: storage_watch.Say) -> None:
        self._core = core
        self._say = say

    async def run(self) -> None:
        """Until cancelled."""
        held = self._core.held
        while True:
            if not held.all():
                await held.bell.wait()
            held.bell.clear()
            await self.look()
            await self._core.clock.sleep(TRIES_EVERY_S)

    async def look(self) -> None:
        """Try each once more, and say what is new of it."""
        for held in self._core.held.all():
            if not held.ended:
                await self._try(held)
            await self._tell(held)

    async def _try(self, held: Held) -> None:
        try:
            await held.again()
        except (LookupFailed, TooMuch):  # nobody knows yet whether they may
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again
            if not is_refusal(error):
                why = type(error).__name__
                log.warning("stop.still_not_recorded", extra={"about": held.stop.about, "error": why})
                return
            how, why = "not done", str(error)
        else:
            how, why = "recorded", ""
        if not held.ended:  # by somebody else meanwhile
            held.ended, held.why = how, why
        log.warning("stop.over", extra={"about": held.stop.about, "how": held.ended})

    async def _tell(self, held: Held) -> None:
        """By an alert; past the outbox while none can be stored. Once people know how it ended, it is forgotten."""
        if held.is_raised and not held.ended:
            return
        try:
            await self._alert(held)
        except Exception as error:
            log.warning("stop.no_alert", extra={"about": held.stop.about}, exc_info=error)
            if not await self._said_directly(held):
                return
        else:
            held.is_raised = True
        if held.ended:
            self._core.held.drop(held)

    async def _alert(self, held: Held) -> None:
        core, stop = self._core, held.stop
        words = people_alerts.STOP_NOT_RECORDED.says(
            who=self._name(held), deed=stop.deed, meanwhile=stop.meanwhile
        )
        condition = people_alerts.STOP_NOT_RECORDED.condition(*stop.about, stop.by)
        program = next((one[8:] for one in stop.about if one.startswith("program:")), "")
        async with core.store.begin() as tx:
            await alerts.keep(tx, core, words, condition=condition, subject=stop.subject, program=program)
            if held.ended:
                await alerts.resolve(tx, core, condition, ended=self._how_it_ended(held))

    async def _said_directly(self, held: Held) -> bool:
        """Once while it is held, and once when it is over."""
        if held.is_said and not held.ended:
            return True
        stop, name = held.stop, self._name(held)
        if held.ended:
            over = self._how_it_ended(held)
            text, severity = f"{over.title}. {over.text}", Severity.INFO
        else:
            words = people_alerts.STOP_NOT_RECORDED.says(who=name, deed=stop.deed, meanwhile=stop.meanwhile)
            text, severity = f"{words.title}. {words.text}", words.severity
        try:
            whom = await mentions.named(self._core, alerts.called(self._core, severity))
            await self._say(text, whom)
        except Exception as error:
            log.warning("stop.not_said", exc_info=error)
            return False
        held.is_said = True
        return True

    def _how_it_ended(self, held: Held) -> Ended:
        lasted = in_words(self._core.clock.now() - held.at)
        subject = quoted(held.stop.subject)
        if held.why:
            why = quoted(held.why)
            return people_alerts.STOP_NOT_RECORDED.ended("not done", subject=subject, lasted=lasted, why=why)
        return people_alerts.STOP_NOT_RECORDED.ended(subject=subject, lasted=lasted)

    def _name(self, held: Held) -> str:
        actor, _ = self._core.people_kept.get(held.stop.by, (None, 0.0))
        return actor.name if actor is not None else held.stop.by
