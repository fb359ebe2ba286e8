"""Can everything that happens be stored? While it cannot, people are notified without the database.

An alert is a row, so it cannot say that no row can be stored: this message goes to the alerts channel past the outbox,
once, and a second one when it is over. Of several processes that one writes which held the lock for it last.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from bot.domain import shared_work
from bot.domain.alerts import Severity
from bot.domain.time import in_words
from bot.services import audit_anchors
from bot.services.alerts import called
from bot.services.core import Core
from bot.services.messages import mentions
from storage.maintenance import misplaced, why_not_written

log = logging.getLogger("countersign.storage")

#: Posts a text with mentions in the alerts channel now; raises what Slack's client raises.
Say = Callable[[str, Sequence[str]], Awaitable[None]]

_LOOKS_EVERY_S = 10.0
# What is said waits so long for places of the last anchor.
_PLACES_TAKE_S = 4.0
# A hiccup is over by the second look.
_FAULTS_BEFORE_IT_IS_SAID = 2


class StorageWatch:
    """One in a process."""

    def __init__(self, core: Core, say: Say) -> None:
        self._core = core
        self._say = say
        self._faults = 0
        self._since: datetime | None = None
        self._since_s = 0.0
        self._is_said = False
        self._held = core.holds(shared_work.STORAGE)

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self._core.clock.sleep(_LOOKS_EVERY_S)
            await self.look()

    async def look(self) -> None:
        """Try to store something, and say what has changed."""
        core = self._core
        if why := await misplaced(core.store):
            await self._is_misplaced(why)
            return
        if why := await why_not_written(core.store):
            await self._is_not_stored(why)
        else:
            await self._is_stored()

    async def _is_misplaced(self, why: str) -> None:
        """It does not pass by itself as a hiccup does, so it is said at once."""
        if self._since is None:
            await audit_anchors.drop_last(self._core, within_s=_PLACES_TAKE_S)
        since = self._begins(why)
        if not self._is_said and self._held:
            await self._call(
                f"Countersign does nothing since {since:%Y-%m-%d %H:%M:%S} UTC: commands, forms and buttons fail. {why}"
            )

    def _begins(self, why: str) -> datetime:
        """Since when nothing can be stored; what is in the way is logged once."""
        if self._since is None:
            self._since, self._since_s = self._core.clock.now(), self._core.clock.monotonic()
            log.error("storage.not_written", extra={"fault": why})
        return self._since

    async def _call(self, text: str) -> None:
        whom = await mentions.named(self._core, called(self._core, Severity.CRITICAL))
        self._is_said = await self._try_to_say(text, whom)

    async def _is_not_stored(self, why: str) -> None:
        self._faults += 1
        since = self._begins(why)
        if self._is_said or not self._held or self._faults < _FAULTS_BEFORE_IT_IS_SAID:
            return
        await self._call(
            f"Countersign cannot store anything since {since:%Y-%m-%d %H:%M:%S} UTC, so nothing is sent to your card"
            f" provider, and commands, forms and buttons fail. {why} Countersign continues by itself when that is"
            " fixed. What was confirmed before is not lost."
        )

    async def _is_stored(self) -> None:
        self._held, self._faults = self._core.holds(shared_work.STORAGE), 0
        if self._since is None:
            return
        lasted = in_words(timedelta(seconds=self._core.clock.monotonic() - self._since_s))
        log.info("storage.written_again", extra={"lasted": lasted})
        self._since = None
        if self._is_said:
            text = (
                f"Countersign stores everything again. It could not for {lasted}. Commands and approvals of that time"
                " that showed an error were not taken: repeat those that are still needed."
            )
            self._is_said = not await self._try_to_say(text, ())

    async def _try_to_say(self, text: str, whom: Sequence[str]) -> bool:
        try:
            await self._say(text, whom)
        except Exception as error:  # noqa: BLE001 - the SDK lets the errors of its HTTP library through as they are
            log.warning("storage.not_said", extra={"error": type(error).__name__})
            return False
        return True
