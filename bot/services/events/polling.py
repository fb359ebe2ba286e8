"""The poller: what no event tells is read on a cadence, for every program, in the background lane.

A job that fails for a program rests longer each time, up to ten minutes, and the others go on. People's
calls always have room: background reads wait for their share of the rate limit (`bot.partner.ratelimit`).
That the account could not be read for a while is an alert itself, as nobody is watching then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import cycle

from bot.domain import shared_work
from bot.domain.alerts import account_alerts
from bot.partner.endpoints import RECORD_READ_SECONDS
from bot.partner.errors import Forbidden, PartnerError
from bot.partner.ratelimit import Lane
from bot.partner.wire import AWAY_AFTER_MISSED
from bot.services import alerts, snapshots
from bot.services.alerts import card_rules, float_rules, funding_rules, ledger_rules, webhook_rules
from bot.services.cards import card_sync
from bot.services.core import Core
from bot.services.money import float_lookups
from bot.services.operators import programs
from storage import audit
from storage.cards import api_snapshots
from storage.messages import alerts as open_alerts
from storage.operators import programs as program_rows

log = logging.getLogger("countersign.polling")

_FIRST_REST_S = 30.0
_LONGEST_REST_S = 600.0
POLLED = "polled:"
"""Begins the name of the reading that says when a job was last done for a program."""
# Among the facts of the alert that it is not read: which reading was the last one then.
_LAST_READ = "last read"
_SILENT_AFTER = timedelta(minutes=3)
_MISSED_POLLS = 3
# An API that has said nothing for so long is asked whether it is there, and asked again before the last call ended,
# until it has answered anything or is away (`Contact.away_for_s`): each second where a call had no answer, else more
# seldom, as it may only be slow. None is given up before the last look: six have waited by then, and the first one for
# as long as any reading of a record. With the job's cadence of ten seconds that is known within 55.
_QUIET_S, _LOOKS_AGAIN_S, _LOOKS, _SLOW_LOOKS = 15.0, 1.0, 26, 4

# A list of cards that was empty is read again after this long, then twice as long, …
_FIRST_CARDS_AGAIN_S = 5.0
# A card that our own request changed is read at every turn for so long, then each half minute, then by the sweep.
_QUEUED_AT_ONCE_S = 120.0
_QUEUED_AGAIN_S = 30.0
_QUEUED_FOR_S = 3600.0

Work = Callable[[str], Awaitable[None]]


async def _ask(reading: Callable[..., Awaitable[object]]) -> None:
    """What it refuses is an answer as well; the poller handles it."""
    with suppress(PartnerError):
        await reading(lane=Lane.BACKGROUND)


async def _nothing(program: str) -> None:
    """Where a ledger is compared without further ado."""


@dataclass(frozen=True, slots=True)
class _Queued:
    """A reading of a card that was queued at `since` by any clock; when it was first seen here, and last read."""

    since: datetime
    seen_s: float
    read_s: float = float("-inf")


class Poller:
    """One in a process. Each public method is one job of `bot.jobs`.

    `account_every`: the cadence of `account`. `before_ledger` is done before each comparison of a ledger.
    """

    def __init__(self, core: Core, *, account_every: timedelta, before_ledger: Work = _nothing) -> None:
        self._core = core
        self._before_ledger = before_ledger
        self._silent_after = max(_SILENT_AFTER, account_every * _MISSED_POLLS)
        self._begun_s = core.clock.monotonic()
        self._failures: dict[tuple[str, str], int] = {}
        self._rests_until: dict[tuple[str, str], float] = {}
        self._refused: dict[tuple[str, str], str] = {}  # the endpoint that the key may not call
        self._last_error: dict[str, str] = {}
        self._with_cards: set[str] = set()
        self._with_ledger: set[str] = set()
        self._first_tries: dict[str, int] = {}
        self._first_cards_at: dict[str, float] = {}
        self._queued: dict[tuple[str, str], _Queued] = {}  # by program and name of the reading
        self._away: set[str] = set()

    def _programs(self) -> list[str]:
        """Those that this process reads: of several processes one reads each."""
        return [program for program in self._core.partners if self._core.holds(shared_work.reads(program))]

    async def account(self) -> None:
        """GET /me: float and allowance."""
        await self._each("account", self._read_account)

    async def answers(self) -> None:
        """Is the API there? Asked where no other call has shown it lately, or the last one had no answer; where it is
        not, people are notified."""
        await asyncio.gather(*(self._ask_whether_there(program) for program in self._programs()))
        before = self._away
        self._away = {p for p in self._programs() if self._core.partners[p].contact.away_for_s}
        for program in before - self._away:
            # To rest longer and longer was for as long as nothing answers.
            self._rests_until.pop(("account", program), None)
            await self._one("account", program, self._read_account)
        if self._away or before:
            await self.watch()

    async def _ask_whether_there(self, program: str) -> None:
        """By two different readings in turn, as one that fails alone says nothing of the others; and again before the
        last one has ended, as an error may take long, and who answers none of many at once is not there."""
        partner, clock = self._core.partners[program], self._core.clock
        contact = partner.contact
        if not contact.missed and contact.quiet_for_s < _QUIET_S:
            return
        if contact.away_for_s:
            with suppress(TimeoutError):
                async with asyncio.timeout(RECORD_READ_SECONDS):
                    await _ask(partner.me)
            return
        begun_s, asked = clock.monotonic(), list[asyncio.Task[None]]()
        try:
            readings = cycle((partner.me, partner.webhook))
            for look in range(_LOOKS):
                if contact.answered_at >= begun_s or contact.away_for_s:
                    break
                is_its_turn = contact.missed > 0 or look % _SLOW_LOOKS == 0
                if is_its_turn and (contact.missed < AWAY_AFTER_MISSED or all(task.done() for task in asked)):
                    asked.append(asyncio.create_task(_ask(next(readings))))
                await clock.sleep(_LOOKS_AGAIN_S)
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    async def runway(self) -> None:
        """No call: the readings of the last days say how long the float lasts."""
        for program in self._programs():
            await float_rules.look_ahead(self._core, program)

    async def funding(self) -> None:
        """Submissions that are not final, and credited ones for thirty days."""
        await self._each("funding", lambda program: funding_rules.read(self._core, program))

    async def cards(self) -> None:
        """Every card, a hundred a call: directory and statuses; then the balances, a thousand a call."""
        await self._each("cards", self._sweep_cards)

    async def first_cards(self) -> None:
        """Where no card was read since the start, soon again: an empty list may have been read too early."""
        now, due = self._core.clock.monotonic(), list[str]()
        for program in self._programs():
            if program in self._with_cards or now < self._first_cards_at.get(program, float("-inf")):
                continue
            tries = self._first_tries[program] = self._first_tries.get(program, 0) + 1
            self._first_cards_at[program] = now + min(
                _LONGEST_REST_S, _FIRST_CARDS_AGAIN_S * 2 ** (tries - 1)
            )
            due.append(program)
        await asyncio.gather(*(self._one("cards", program, self._sweep_cards) for program in due))

    async def moved(self) -> None:
        """What our own requests changed: the cards, and the account once for all of them."""
        await asyncio.gather(*(self._moved_of(program) for program in self._programs()))

    async def _moved_of(self, program: str) -> None:
        try:
            await self._read_moved(program)
        except PartnerError as error:  # what is to be read stays so
            log.info("poll.moved_not_read", extra={"program": program, "error": str(error)})

    async def ledger(self) -> None:
        """The ledger adds up to the float."""
        await self._each("ledger", self._compare_ledger)

    async def first_ledger(self) -> None:
        """Read once right after the start where it never was: what comes in after that is reported."""
        due = []
        for program in set(self._programs()) - self._with_ledger:
            if await ledger_rules.is_begun(self._core, program):
                self._with_ledger.add(program)
            else:
                due.append(program)
        await asyncio.gather(*(self._one("ledger", program, self._compare_ledger) for program in due))

    async def _compare_ledger(self, program: str) -> None:
        """First whether the database is older than the ledger: after the comparison nothing in it is new any more."""
        await self._before_ledger(program)
        await ledger_rules.compare(self._core, program)

    async def webhook(self) -> None:
        """Deliveries arrive."""
        await self._each("webhook", lambda program: webhook_rules.look(self._core, program))

    async def _read_account(self, program: str) -> None:
        try:
            reading = await float_lookups.read_account(self._core, program, lane=Lane.BACKGROUND)
        except programs.OtherAccount:
            return  # sending has stopped, and people are notified
        await float_rules.look(self._core, program, reading)

    async def _sweep_cards(self, program: str) -> None:
        async with self._core.store.read() as tx:
            after = (await audit.head(tx)).seq
        begun_at = self._core.clock.now()
        if await card_sync.sync_cards(self._core, program, begun_at=begun_at):
            self._with_cards.add(program)
        await card_rules.compare(self._core, program, begun_at, after=after)
        await card_sync.sweep_balances(self._core, program)

    async def _read_moved(self, program: str) -> None:
        async with self._core.store.read() as tx:
            queued = await card_sync.queued_readings(tx, program)
            balances = await card_sync.queued_balances(tx, program)
            account = await api_snapshots.get(tx, program, card_sync.ACCOUNT_QUEUED)
            after = (await audit.head(tx)).seq if queued else 0
        names = {f"{card_sync.CARD_QUEUED}{card_id}" for card_id in queued}
        names |= {f"{card_sync.BALANCE_QUEUED}{card_id}" for card_id in balances}
        self._queued = {key: one for key, one in self._queued.items() if key[0] != program or key[1] in names}
        if account is not None:
            await self._read_account(program)
            async with self._core.store.begin() as tx:
                # Not where it changed while it was read.
                await api_snapshots.take(tx, program, card_sync.ACCOUNT_QUEUED, of=account.read_at)
        moved = {
            card_id: since
            for card_id, since in balances.items()
            if await self._is_its_turn(program, card_sync.BALANCE_QUEUED, card_id, since)
        }
        if moved:
            await card_sync.read_queued_balances(self._core, program, moved)
        for card_id, since in queued.items():
            if await self._is_its_turn(program, card_sync.CARD_QUEUED, card_id, since):
                await card_sync.refresh_card(
                    self._core,
                    program,
                    card_id,
                    lane=Lane.BACKGROUND,
                    queued_at=since,
                    then=partial(card_rules.look_at, core=self._core, after=after),
                )

    async def _is_its_turn(self, program: str, name: str, card_id: str, since: datetime) -> bool:
        """At every turn at first; a card that goes on without its number is asked for less and less."""
        key, now = (program, f"{name}{card_id}"), self._core.clock.monotonic()
        known = self._queued.get(key)
        if known is None or known.since != since:
            known = _Queued(since, now)
        age_s = now - known.seen_s
        if age_s > _QUEUED_FOR_S:
            self._queued.pop(key, None)
            async with self._core.store.begin() as tx:
                await card_sync.give_up_reading(tx, program, card_id)
            return False
        if age_s >= _QUEUED_AT_ONCE_S and now - known.read_s < _QUEUED_AGAIN_S:
            return False
        self._queued[key] = replace(known, read_s=now)
        return True

    async def _each(self, job: str, work: Work) -> None:
        await asyncio.gather(*(self._one(job, program, work) for program in self._programs()))

    async def _one(self, job: str, program: str, work: Work) -> None:
        """Run it unless it rests; a PartnerError is counted and logged, never lost on the way."""
        key = (job, program)
        if self._core.clock.monotonic() < self._rests_until.get(key, float("-inf")):
            return
        try:
            await work(program)
        except PartnerError as error:
            await self._after(key, error)
            return
        self._failures.pop(key, None)
        refused = self._refused.pop(key, None)
        async with self._core.store.begin() as tx:
            await api_snapshots.put(tx, program, f"{POLLED}{job}", {})
            if refused is not None:
                await programs.release(tx, self._core, program, refused)
        self._rests_until.pop(key, None)

    async def _after(self, key: tuple[str, str], error: PartnerError) -> None:
        job, program = key
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        rest_s = min(_LONGEST_REST_S, _FIRST_REST_S * 2 ** (failures - 1))
        self._rests_until[key] = self._core.clock.monotonic() + rest_s
        self._last_error[program] = str(error)
        log.warning(
            "poll.failed",
            extra={"job": job, "program": program, "error": str(error), "again_in_s": rest_s},
        )
        await programs.key_refused(self._core, program, error)
        if isinstance(error, Forbidden):
            self._refused[key] = error.operation.value

    async def watch(self) -> None:
        """Is anybody watching? Reported for each program whose account could not be read for a while."""
        async with self._core.store.begin() as tx:
            known = await program_rows.all(tx)
            paused = {p.name for p in known if p.paused_reason not in (None, programs.NOT_READ)}
            for program in self._programs():
                last = await snapshots.ACCOUNT.get(tx, program)
                # What a process before this one read says nothing of this one.
                runs_s = age_s = self._core.clock.monotonic() - self._begun_s
                if last is not None:
                    age_s = self._core.measures.readings.age_s(program, last.read_at, self._core.clock)
                condition = account_alerts.POLLER_SILENT.condition(program)
                contact = self._core.partners[program].contact
                is_there = not contact.away_for_s
                is_seen = is_there and min(runs_s, age_s) <= self._silent_after.total_seconds()
                open_ = await open_alerts.open_one(tx, condition)
                if is_seen and open_ is not None:
                    # It ends by a reading of after it, and not because something else was answered.
                    before = (await alerts.facts_of(tx, open_)).get(_LAST_READ, "")
                    is_seen = last is not None and last.read_at.isoformat() != before
                if is_seen or program in paused:
                    await alerts.resolve(tx, self._core, condition)
                    continue
                said = account_alerts.poller_silent(
                    program,
                    last_read_at=last.read_at if last else None,
                    error=self._last_error.get(program)
                    if is_there
                    else account_alerts.no_answer(contact.status),
                )
                await alerts.keep(
                    tx,
                    self._core,
                    said,
                    condition=condition,
                    subject=program,
                    program=program,
                    facts={"program": program, _LAST_READ: last.read_at.isoformat() if last else ""},
                    since=tx.now - timedelta(seconds=age_s) if open_ is None else None,
                )
