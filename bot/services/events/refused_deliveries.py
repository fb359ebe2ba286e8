"""Refused deliveries, as all processes together saw them: one alert, which a restart neither loses nor repeats.

Each process writes down what it refused; every process judges by all of it, so it does not matter which one does.
Nothing of a refused delivery is kept but when it came and why it was refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot import operations
from bot.domain.alerts import delivery_alerts
from bot.domain.requests import State
from bot.partner.calls import events as event_calls
from bot.services import alerts
from bot.services.core import Core
from bot.services.requests import local_facts
from storage.cards import api_snapshots
from storage.messages import alerts as alert_rows
from storage.requests import requests
from storage.transaction import Tx

# How many refusals in how long are worth a person's look: rotation, a wrong clock, somebody trying.
TROUBLE_AT = 5
WINDOW = timedelta(minutes=5)
NOT_OURS = "not signed with our secret"
# After a registration or rotation of ours the card provider may take this long until its first delivery is taken.
GRACE = timedelta(minutes=10)
_KEPT = "refused_deliveries:"
_OF_OURS = (State.EXECUTING, State.UNRESOLVED, State.SUCCEEDED)


@dataclass(frozen=True, slots=True)
class Refusal:
    """`count` deliveries that were refused for this cause within one second."""

    at: datetime
    cause: str
    count: int = 1


async def report(core: Core, program: str, mine: Sequence[Refusal], *, is_new: bool) -> None:
    """Write down what this process refused, where that is new, and raise or resolve by what all of them did."""
    async with core.store.read() as tx:
        kept = await api_snapshots.named(tx, program, _KEPT)
        is_open = await alert_rows.open_one(tx, delivery_alerts.DELIVERIES_REFUSED.condition(program))
    if not (is_new or kept or is_open):
        return
    async with core.store.begin() as tx:
        if is_new:
            value = [[refusal.at.isoformat(), refusal.cause, refusal.count] for refusal in mine]
            await api_snapshots.put(tx, program, f"{_KEPT}{core.owner}", value)
        await _judge(tx, core, program)


async def _judge(tx: Tx, core: Core, program: str) -> None:
    found = await _since(tx, program, tx.now - WINDOW)
    excused = await _excused(tx, core, program)
    causes: Counter[str] = Counter()
    for refusal in found:
        if refusal.cause != NOT_OURS or not excused.covers(refusal.at):
            causes[refusal.cause] += refusal.count
    condition = delivery_alerts.DELIVERIES_REFUSED.condition(program)
    if causes.total() >= TROUBLE_AT:
        said = delivery_alerts.deliveries_refused(program, dict(causes.most_common()), tx.now)
        since = min(refusal.at for refusal in found)
        await alerts.keep(tx, core, said, condition=condition, subject=program, program=program, since=since)
    elif not causes:
        await alerts.resolve(tx, core, condition)


async def _since(tx: Tx, program: str, since: datetime) -> list[Refusal]:
    """What all processes refused since then; what a process wrote down that is older is forgotten, and what is of a
    time to come, as its clock has stepped back: that would be old in hours or days."""
    found = []
    for owner, kept in (await api_snapshots.named(tx, program, _KEPT)).items():
        theirs = [Refusal(datetime.fromisoformat(at), cause, count) for at, cause, count in kept.value]
        late = [refusal for refusal in theirs if since <= refusal.at <= tx.now + WINDOW]
        found += late
        if not late:
            await api_snapshots.drop(tx, program, f"{_KEPT}{owner}")
    return found


@dataclass(frozen=True, slots=True)
class _Excused:
    """When deliveries that are not signed with our secret were to be expected: our own doing."""

    since: datetime | None = None
    until: datetime | None = None

    def covers(self, at: datetime) -> bool:
        after = self.since is None or at >= self.since.replace(microsecond=0)
        return self.until is not None and after and at <= self.until


async def _excused(tx: Tx, core: Core, program: str) -> _Excused:
    """While a registration or rotation of ours is under way, and until the first good delivery after it."""
    changing = operations.asking(core.kinds, event_calls.SET_WEBHOOK)
    asked = await requests.find(tx, program=program, kinds=changing, states=_OF_OURS, limit=20)
    sent = [(r.first_sent_at, r) for r in asked if r.first_sent_at is not None]
    if not sent:
        return _Excused()
    began, newest = max(sent, key=lambda pair: pair[0])
    if newest.state is not State.SUCCEEDED or newest.finished_at is None:
        over = began + GRACE
        return _Excused(began, tx.now) if tx.now <= over else _Excused()
    good = await local_facts.first_delivery_after(tx, program, newest.finished_at)
    if good is not None:  # what was refused before has no meaning any more
        return _Excused(None, min(good, newest.finished_at + GRACE))
    is_over = tx.now > newest.finished_at + GRACE
    return _Excused() if is_over else _Excused(began, tx.now)
