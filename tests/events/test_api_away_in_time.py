"""An API that answers nothing, or only errors however long each takes, is known to be away soon enough that /readyz and
the alert say so within a minute. On a clock of the test's own: an hour takes no time."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from bot import jobs
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.partner.ratelimit import DEFAULT_PER_MINUTE, Lane
from bot.services.events import Poller
from tests.support.partner_api import client_of, success

# What the outbox and Slack take after it.
_POSTED_S = 5
_EVERY_S = 1.1 * jobs.ANSWERS_EVERY_S  # with the jitter that timers have
_LONGEST_S = 15
ME = success({"account": {}})


class _NoTime(selectors.SelectSelector):
    """Whoever waits is woken at once, with the time that it would have taken gone by."""

    passed_s = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.passed_s += timeout or 0
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._passing = _NoTime()
        super().__init__(self._passing)

    def time(self) -> float:
        return self._passing.passed_s


class _Clock:
    def now(self) -> datetime:
        return datetime(2026, 3, 2, tzinfo=UTC) + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


#: How long the next call takes, and the status with which it ends; None = the connection breaks.
Next = Callable[[], tuple[float, int | None]]


class _Gateway(httpx.AsyncBaseTransport):
    """What stands before an API: once that is away, each call takes its time and ends with an error."""

    def __init__(self, next_: Next) -> None:
        self.next, self.is_away = next_, False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not self.is_away:
            return httpx.Response(404, json={"error": "No.", "code": "NOT_FOUND"})
        takes_s, status = self.next()
        await asyncio.sleep(takes_s)
        if status is None:
            raise httpx.ReadError("broken")
        return httpx.Response(status, text="<html>bad gateway</html>")


class _Noting(Poller):
    """Notes that it would look, in place of looking."""

    def __init__(self, core: Any) -> None:
        super().__init__(core, account_every=timedelta(seconds=60))
        self.is_known = asyncio.Event()

    async def watch(self) -> None:
        self.is_known.set()


@asynccontextmanager
async def _asking(
    gateway: httpx.AsyncBaseTransport, per_minute: int = DEFAULT_PER_MINUTE
) -> AsyncIterator[tuple[PartnerClient, _Noting]]:
    """A bot that nobody uses, whose key may make so many calls a minute."""
    clock = _Clock()
    client: PartnerClient = client_of(gateway, clock)
    client._limiter.set_limit(per_minute)
    core: Any = SimpleNamespace(partners={"main": client}, clock=clock, holds=lambda _name: True)
    poller = _Noting(core)

    async def run() -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            await poller.answers()

    task = asyncio.create_task(run())
    yield client, poller
    task.cancel()


async def _known_after_s(next_: Next, *, phase_s: float, per_minute: int) -> float:
    """From the moment when nothing is answered any more."""
    gateway, clock = _Gateway(next_), _Clock()
    async with _asking(gateway, per_minute) as (client, poller):
        await asyncio.sleep(120 + phase_s)
        assert not poller.is_known.is_set()
        gateway.is_away, began = True, clock.monotonic()
        async with asyncio.timeout(300):
            await poller.is_known.wait()
        # The page asks the same.
        assert client.contact.away_for_s
        return clock.monotonic() - began


def known_after_s(next_: Next, *, phase_s: float, per_minute: int = DEFAULT_PER_MINUTE) -> float:
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(_known_after_s(next_, phase_s=phase_s, per_minute=per_minute))


def of_one_length(seconds: float, status: int | None) -> Next:
    return lambda: (seconds, status)


@pytest.mark.parametrize("status", [502, 404, None])
def test_errors_that_all_take_as_long_are_known_in_time_however_long_that_is(status: int | None) -> None:
    late = {}
    for tenths in range(0, 10 * _LONGEST_S + 1, 5):
        took = max(
            known_after_s(of_one_length(tenths / 10, status), phase_s=phase) for phase in (0, 5, 10, 13, 16)
        )
        if took + _POSTED_S > 60:
            late[tenths / 10] = round(took)
    assert late == {}


@pytest.mark.parametrize("per_minute", [20, 30, 60])
def test_a_key_that_may_make_few_calls_a_minute_is_no_reason_to_know_it_late(per_minute: int) -> None:
    late = {}
    for takes_s in (0, 0.5, 1, 2, 4, 6, 8, 10, 15):
        took = max(
            known_after_s(of_one_length(takes_s, 502), phase_s=phase, per_minute=per_minute)
            for phase in (0, 5, 10, 13, 16)
        )
        if took + _POSTED_S > 60:
            late[takes_s] = round(took)
    assert late == {}


def test_any_mixture_of_quick_and_slow_errors_and_silence_is_known_in_time() -> None:
    late = {}
    for seed in range(400):
        draw = random.Random(seed)
        lengths = [draw.uniform(0, draw.choice((0.1, 2, 4, 8, _LONGEST_S))) for _ in range(3)]

        def mixed(draw: random.Random = draw, lengths: list[float] = lengths) -> tuple[float, int | None]:
            return draw.choice(lengths), draw.choice((502, 504, 404, None))

        took = known_after_s(mixed, phase_s=draw.uniform(0, 26))
        if took + _POSTED_S > 60:
            late[seed] = round(took)
    assert late == {}


@pytest.mark.parametrize("takes_s", [0, 1, 3, 5, 6, 7])
def test_what_came_in_place_of_answers_is_known_though_the_last_calls_are_given_up(takes_s: float) -> None:
    """What people read is that it answers errors, and not that it does not answer."""

    async def status() -> int | None:
        gateway = _Gateway(of_one_length(takes_s, 502))
        async with _asking(gateway) as (client, poller):
            await asyncio.sleep(60)
            gateway.is_away = True
            await poller.is_known.wait()
            return client.contact.status

    with asyncio.Runner(loop_factory=_Loop) as runner:
        assert runner.run(status()) == 502


class _HalfAway(_Gateway):
    """One of two servers is away, and each call is given to one of them by chance."""

    def __init__(self, takes_s: float) -> None:
        super().__init__(lambda: (takes_s, 502))
        self._draw = random.Random(f"half {takes_s}")

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.is_away = self._draw.random() < 0.5
        return await super().handle_async_request(request)


async def _alerts(takes_s: float, *, hours: float) -> int:
    """How often it is taken for away."""
    async with _asking(_HalfAway(takes_s)) as (client, poller):
        found, before = 0, False
        for _ in range(int(hours * 3600)):
            await asyncio.sleep(1)
            is_away = client.contact.away_for_s > 0
            found += is_away and not before
            before = is_away
        assert poller.is_known.is_set() == bool(found)
    return found


@pytest.mark.parametrize("takes_s", [0.1, 1, 2, 4, 5, 7, 8, 10])
def test_a_gateway_of_which_half_is_away_is_no_outage_however_long_its_errors_take(takes_s: float) -> None:
    """Two slow errors in a row were enough: up to 25 alerts an hour."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        assert runner.run(_alerts(takes_s, hours=3)) == 0


class _Late(httpx.AsyncBaseTransport):
    """Answers every call rightly, late."""

    def __init__(self, takes_s: float) -> None:
        self._takes_s, self.calls = takes_s, 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.calls += 1
        await asyncio.sleep(self._takes_s)
        return httpx.Response(404, json={"error": "No.", "code": "NOT_FOUND"})


@pytest.mark.parametrize("takes_s", [1, 3, 6, 7.5, 8.5, 10, 14, 18, 19.5])
def test_a_card_provider_that_answers_every_call_late_is_there_and_is_not_asked_more_for_it(
    takes_s: float,
) -> None:
    """As long as any reading waits for an answer. It was called away 50 times an hour, and asked 20 times a minute."""

    async def hour() -> tuple[int, float]:
        api, away = _Late(takes_s), 0
        async with _asking(api) as (client, _):
            for _ in range(3600):
                await asyncio.sleep(1)
                away += client.contact.away_for_s > 0
        return away, api.calls / 60

    with asyncio.Runner(loop_factory=_Loop) as runner:
        away_s, calls_a_minute = runner.run(hour())
    assert (away_s, calls_a_minute <= 10) == (0, True), calls_a_minute


@pytest.mark.parametrize("per_minute", [30, 60, 120])
def test_six_free_places_of_a_key_are_enough_to_know_it_in_time(per_minute: int) -> None:
    """The others were used just before, as by a reading of all cards."""

    async def known_after(takes_s: float, phase_s: float) -> float:
        gateway, clock = _Gateway(of_one_length(takes_s, 502)), _Clock()
        async with _asking(gateway, per_minute) as (client, poller):
            await asyncio.sleep(120 + phase_s)
            for _ in range(client._limiter._budget.free(Lane.BACKGROUND, clock.monotonic()) - 6):
                with suppress(PartnerError):
                    await client.me(lane=Lane.BACKGROUND)
            gateway.is_away, began = True, clock.monotonic()
            async with asyncio.timeout(300):
                await poller.is_known.wait()
            return clock.monotonic() - began

    late = {}
    for takes_s in (0, 2, 7, 10, 25):
        for phase_s in (0, 3, 6, 9):
            with asyncio.Runner(loop_factory=_Loop) as runner:
                took = runner.run(known_after(takes_s, phase_s))
            if took + _POSTED_S > 60:
                late[takes_s, phase_s] = round(took)
    assert late == {}
