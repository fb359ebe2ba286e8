"""Several processes with one key: together they send no more than one may, and what is urgent goes first anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.partner.ratelimit import Held, Lane, Place, SharedRateLimiter
from bot.partner.ratelimit.shared import LOT_GOOD_FOR_S
from tests.support.clock import AlarmClock


class Minute:
    """The budget where all find it; `is_away`: nobody gets an answer. `asked` counts questions."""

    def __init__(self, clock: AlarmClock) -> None:
        self._clock = clock
        self._turn = asyncio.Lock()
        self._stored: object = None
        self.asked = 0
        self.is_away = False

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Held]:
        if self.is_away:
            raise ConnectionError("the database is away")
        async with self._turn:
            self.asked += 1
            held = Held(self._stored, 5_000_000 + self._clock.monotonic())  # type: ignore[arg-type]
            yield held
            self._stored = held.stored


class Process:
    """One of them; `sent` is when it got each place, and in which lane."""

    def __init__(self, clock: AlarmClock, minute: Minute, name: str) -> None:
        self._clock = clock
        self.limiter = SharedRateLimiter(clock, minute, owner=name)
        self._tasks: list[asyncio.Task[None]] = []
        self.sent: list[tuple[float, Lane]] = []

    def start(self, lane: Lane, count: int) -> None:
        self._tasks += [asyncio.create_task(self._one(lane)) for _ in range(count)]

    async def _one(self, lane: Lane) -> None:
        (await self.limiter.place(lane)).use()
        self.sent.append((self._clock.monotonic(), lane))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.limiter.aclose()


class Both:
    def __init__(self) -> None:
        self.clock = AlarmClock()
        self.minute = Minute(self.clock)
        self.one, self.other = (Process(self.clock, self.minute, name) for name in ("one", "other"))

    async def run(self, seconds: float) -> None:
        """As time passes, in small steps, so that whoever waits is met in between."""
        for _ in range(max(1, int(seconds * 4))):
            await self.clock.run(seconds and 0.25)
            for _ in range(400):
                await asyncio.sleep(0)

    @property
    def sent(self) -> list[tuple[float, Lane]]:
        return sorted(self.one.sent + self.other.sent)

    def most_in_a_minute(self) -> int:
        times = [at for at, _ in self.sent]
        return max(sum(at <= other < at + 60 for other in times) for at in times)


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    made = Both()
    yield made
    await made.one.stop()
    await made.other.stop()


async def test_two_processes_send_what_one_may(both: Both) -> None:
    both.one.start(Lane.MONEY, 100)
    both.other.start(Lane.MONEY, 100)

    await both.run(1)
    assert len(both.sent) == 108
    await both.run(130)

    assert len(both.sent) == 200
    assert both.most_in_a_minute() <= 120
    assert min(len(both.one.sent), len(both.other.sent)) == 100, "neither was left behind"


async def test_the_tenth_for_what_is_urgent_is_kept_by_all_of_them(both: Both) -> None:
    both.one.start(Lane.MONEY, 150)
    await both.run(1)
    both.other.start(Lane.PEOPLE, 20)
    both.other.start(Lane.URGENT, 12)

    await both.run(1)

    assert [lane for _, lane in both.other.sent] == [Lane.URGENT] * 12


async def test_as_places_come_free_money_goes_before_people_of_another_process(both: Both) -> None:
    both.one.limiter.set_limit(10)
    for _ in range(9):
        both.one.start(Lane.MONEY, 1)
        await both.run(1)
    both.one.start(Lane.PEOPLE, 9)
    await both.run(1)
    both.other.start(Lane.MONEY, 9)

    await both.run(62)

    assert [lane for _, lane in both.sent[9:18]] == [Lane.MONEY] * 9


async def test_an_answer_with_nothing_left_closes_the_minute_for_all(both: Both) -> None:
    both.one.start(Lane.PEOPLE, 1)
    await both.run(0)
    both.one.limiter.observe(limit=120, remaining=0)
    await both.run(LOT_GOOD_FOR_S)
    both.other.start(Lane.MONEY, 1)
    both.other.start(Lane.PEOPLE, 1)

    await both.run(50)
    assert len(both.sent) == 1
    await both.run(15)
    assert len(both.sent) == 3


async def test_a_refusal_for_the_rate_rests_that_lane_everywhere(both: Both) -> None:
    both.one.limiter.block(20, Lane.MONEY)
    await both.run(0)
    both.other.start(Lane.MONEY, 1)
    both.other.start(Lane.PEOPLE, 1)

    await both.run(19)
    assert [lane for _, lane in both.sent] == [Lane.PEOPLE]
    await both.run(2)
    assert len(both.sent) == 2


async def test_a_lane_that_rests_gets_no_place_that_was_taken_ahead_for_another(both: Both) -> None:
    both.one.limiter.block(60, Lane.MONEY)
    await both.run(1)
    for _ in range(2):  # whoever calls often takes some ahead
        both.other.start(Lane.PEOPLE, 1)
        await both.run(0)
    assert both.other.limiter._spare, "there are places taken ahead"

    both.other.start(Lane.MONEY, 1)
    await both.run(1)

    assert [lane for _, lane in both.other.sent] == [Lane.PEOPLE] * 2


async def test_a_limit_that_one_learns_of_holds_for_all(both: Both) -> None:
    both.one.start(Lane.MONEY, 1)
    await both.run(0)
    both.one.limiter.set_limit(10)
    both.one.start(Lane.MONEY, 1)
    await both.run(LOT_GOOD_FOR_S + 1)
    both.other.start(Lane.MONEY, 20)

    await both.run(1)

    assert len(both.sent) == 9


async def test_whoever_calls_often_asks_less_often_than_it_calls(both: Both) -> None:
    both.one.start(Lane.MONEY, 60)

    await both.run(0)

    assert len(both.sent) == 60
    assert both.minute.asked <= 60 / 2


async def test_places_taken_ahead_and_not_used_are_given_back(both: Both) -> None:
    both.one.start(Lane.MONEY, 2)
    await both.run(LOT_GOOD_FOR_S + 1)
    both.one.start(Lane.MONEY, 1)
    await both.run(0)
    both.other.start(Lane.MONEY, 200)

    await both.run(0)

    assert len(both.sent) == 108


async def test_a_place_counts_for_all_from_when_it_is_used_and_is_free_when_given_back(both: Both) -> None:
    both.one.limiter.set_limit(3)
    used, given_back = [await both.one.limiter.place(Lane.URGENT) for _ in range(2)]
    await both.run(30)
    assert isinstance(used, Place)
    assert used.use()
    given_back.give_back()
    await both.run(0)
    both.other.start(Lane.URGENT, 2)
    await both.run(1)
    assert len(both.sent) == 2, "the third, and the one that was given back"

    both.other.start(Lane.MONEY, 3)
    await both.run(55)

    assert len(both.sent) == 2, "a minute from its use has not passed"


async def test_without_the_others_each_goes_on_by_what_it_knows(both: Both) -> None:
    both.minute.is_away = True
    both.one.start(Lane.MONEY, 120)
    both.one.start(Lane.URGENT, 1)

    await both.run(0)

    assert len(both.sent) == 109


async def test_a_place_taken_ahead_for_money_is_no_reading_in_the_background(both: Both) -> None:
    """The background has a smaller share of the minute, for which a question of its own is asked."""
    for _ in range(2):  # whoever calls often takes some ahead
        both.one.start(Lane.MONEY, 1)
        await both.run(0)
    ahead = len(both.one.limiter._spare)
    asked = both.minute.asked

    both.one.start(Lane.BACKGROUND, 1)
    await both.run(0)
    assert (len(both.one.sent), both.minute.asked) == (3, asked + 1)
    assert len([spare for spare in both.one.limiter._spare if spare.lane is Lane.MONEY]) == ahead > 0

    both.one.start(Lane.PEOPLE, 1)
    await both.run(0)
    assert (len(both.one.sent), both.minute.asked) == (4, asked + 1), "people may have it"


async def test_what_could_not_be_passed_on_goes_with_the_next_question(both: Both) -> None:
    both.one.start(Lane.PEOPLE, 1)
    await both.run(0)
    both.minute.is_away = True
    both.one.limiter.observe(limit=120, remaining=0)
    await both.run(1)
    both.minute.is_away = False
    both.other.start(Lane.PEOPLE, 1)
    await both.run(1)
    assert len(both.other.sent) == 1, "it knows nothing of it yet"

    both.one.start(Lane.PEOPLE, 1)
    await both.run(1)
    both.other.start(Lane.PEOPLE, 1)
    await both.run(1)

    assert (len(both.one.sent), len(both.other.sent)) == (1, 1)


async def test_a_process_that_ends_lets_arrive_what_it_passes_on(both: Both) -> None:
    both.one.start(Lane.PEOPLE, 1)
    await both.run(0)

    both.one.limiter.observe(limit=120, remaining=0)
    await both.one.limiter.aclose()

    both.other.start(Lane.MONEY, 1)
    await both.run(1)
    assert both.other.sent == []


async def test_an_answer_that_says_nothing_of_the_rate_changes_nothing(both: Both) -> None:
    both.one.limiter.observe(limit=None, remaining=None)
    both.one.limiter.observe(limit=None, remaining=119)
    await both.run(0)
    assert both.minute.asked == 0, "it goes with the next question, as there is enough left"

    both.one.start(Lane.MONEY, 1)
    both.other.start(Lane.MONEY, 120)
    await both.run(0)

    assert len(both.sent) == 107, "one of the 108 was used by somebody else"
