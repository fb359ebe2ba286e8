"""Each process says every two seconds that it works; one that stands still is noticed by the others and reported.

A process that was killed loses its connections at once, so Slack and the database give its work to others. One that
stands still (a frozen machine, a stopped container) keeps them: its work is taken over when its leases end, but Slack
goes on sending it a part of what people do. So one that is silent while it still holds its connections is an alert.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from bot.domain.alerts import process_alerts
from bot.domain.process_roles import Role
from bot.services import alerts
from bot.services.core import Core
from storage.messages import alerts as alert_rows
from storage.operators import replicas
from storage.store import Store

log = logging.getLogger("countersign.processes")

BEAT_EVERY_S = 2.0
# So long a process may be silent, by the clock of the database.
SILENT_AFTER = timedelta(seconds=10)
_ENDS_WITHIN_S = 1.0


class Replica:
    """This process, as the others know it."""

    def __init__(self, store: Store, owner: str, roles: frozenset[Role]) -> None:
        self._store = store
        self._owner = owner
        self._roles = ", ".join(role for role in Role if role in roles)

    async def run(self) -> None:
        """Until cancelled. What the database does not take is written the next time."""
        async with self._store.begin() as tx:
            await replicas.begin(tx, self._owner, self._roles)
        while True:
            await asyncio.sleep(BEAT_EVERY_S)
            async with self._store.begin() as tx:
                await replicas.beat(tx, self._owner, self._roles)

    async def end(self) -> None:
        """It ends in order: nobody has to notice."""
        try:
            async with asyncio.timeout(_ENDS_WITHIN_S), self._store.begin() as tx:
                await replicas.end(tx, self._owner)
        except Exception:  # the end goes on without it
            log.exception("replica.not_ended")


async def look(core: Core) -> None:
    """Report those that stand still, and forget those that are gone. Nothing on SQLite, which has one process."""
    if core.store.database.path is not None:
        return
    async with core.store.read() as tx:
        found = await replicas.silent(tx, since=SILENT_AFTER)
        kind = process_alerts.PROCESS_FROZEN.name
        reported = {alert.subject for alert in await alert_rows.open_ones(tx) if alert.kind == kind}
    for silent in found:
        await (_report(core, silent) if silent.is_connected else _forget(core, silent))
    frozen = {_subject(silent.process) for silent in found if silent.is_connected}
    for subject in sorted(reported - frozen):
        async with core.store.begin() as tx:
            await alerts.resolve(tx, core, process_alerts.PROCESS_FROZEN.condition(subject))


async def _report(core: Core, silent: replicas.Silent) -> None:
    subject, roles = _subject(silent.process), silent.roles.split(", ")
    said = process_alerts.PROCESS_FROZEN.says(
        process=silent.process,
        roles=silent.roles,
        since=silent.beat_at,
        clicks=process_alerts.CLICKS_ARE_LOST if Role.SLACK in roles else process_alerts.NO_CLICK_IS_LOST,
    )
    condition = process_alerts.PROCESS_FROZEN.condition(subject)
    async with core.store.begin() as tx:
        await alerts.keep(tx, core, said, condition=condition, subject=subject, program="")


async def _forget(core: Core, silent: replicas.Silent) -> None:
    async with core.store.begin() as tx:
        await replicas.end(tx, silent.owner)
    log.info("replica.gone", extra={"owner": silent.owner})


def _subject(process: str) -> str:
    return f"process:{process}"
