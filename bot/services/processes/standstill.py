"""Notifies people of what this process does again and again and cannot do any more: an alert while it is so."""

from __future__ import annotations

import logging

from bot.domain.alerts import running_alerts
from bot.domain.errors import CountersignError
from bot.engine.failures import QUIET_S, Failing
from bot.engine.work_in_words import in_plain_words, is_of_request, of_request
from bot.partner.errors import PartnerError
from bot.services import alerts, execution
from bot.services.core import Core
from storage.errors import DatabaseFault, Unreadable
from storage.messages import alerts as alert_rows

log = logging.getLogger("countersign.standstill")

_KIND = running_alerts.JOB_FAILING


async def execute(core: Core, request_id: str) -> None:
    """Send, repeat or look once for a request that is due. That it fails again and again is noted."""
    name = of_request(request_id)
    try:
        await execution.execute(core, request_id)
    except Unreadable as error:  # of which people are notified by an alert of its own
        log.warning("engine.row_unreadable", extra={"request": request_id, "fault": str(error)})
    except Exception as error:
        core.failures.failed(name, error, core.clock, quiet_s=QUIET_S)
        raise
    else:
        if core.failures.fails(name):
            core.failures.worked(name)


async def report(core: Core) -> None:
    """Raise one alert for each, and end those of what works again."""
    # That the card provider does not answer has an alert of its own.
    failing = {
        one.name: one
        for one in core.failures.standing_still(core.clock.monotonic())
        if not isinstance(one.error, PartnerError)
    }
    async with core.store.read() as tx:
        with tx.leaving_out():
            known = {one.subject: one for one in await alert_rows.open_of(tx, _KIND.name)}
    over = [name for name in known if name not in failing and _works(core, name)]
    for name, one in failing.items():
        said = _KIND.says(
            what=in_plain_words(name), since=one.since, count=one.count, why=_why(one), name=name
        )
        if name in known:  # how often by now is no news
            continue
        async with core.store.begin() as tx:
            await alerts.keep(
                tx, core, said, condition=_KIND.condition(name), subject=name, program="", since=one.since
            )
    for name in over:
        async with core.store.begin() as tx:
            await alerts.resolve(tx, core, _KIND.condition(name))


def _works(core: Core, name: str) -> bool:
    """A request that is over is tried no more: it fails no longer either."""
    return core.failures.works(name) or (is_of_request(name) and not core.failures.fails(name))


def _why(one: Failing) -> str:
    """In a sentence where there is one: the rest is for whoever reads the log."""
    if isinstance(one.error, CountersignError):
        return str(one.error)
    if isinstance(one.error, DatabaseFault):
        return "The database refuses it."
    return f"This is an internal error ({type(one.error).__name__}), or somebody changed the database."
