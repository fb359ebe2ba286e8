"""One rolling minute for everybody who uses a key, and a share of it for people and money."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.partner.ratelimit import WINDOW_SECONDS, Lane, RateLimiter, RollingBudget
from tests.support.clock import AlarmClock


class Callers:
    """Tasks that each take one turn, and the order and time in which they got it."""

    def __init__(self, limiter: RateLimiter, clock: AlarmClock) -> None:
        self._limiter, self._clock = limiter, clock
        self._tasks: list[asyncio.Task[None]] = []
        self.turns: list[tuple[float, Lane]] = []

    def start(self, lane: Lane, count: int = 1) -> None:
        self._tasks += [asyncio.create_task(self._one(lane)) for _ in range(count)]

    async def _one(self, lane: Lane) -> None:
        await self._limiter.acquire(lane)
        self.turns.append((self._clock.monotonic(), lane))

    def lanes(self) -> list[Lane]:
        return [lane for _, lane in self.turns]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture
def clock() -> AlarmClock:
    return AlarmClock()


async def test_background_reads_leave_forty_percent_for_people_and_money(clock: AlarmClock) -> None:
    """H40."""
    callers = Callers(RateLimiter(clock, per_minute=10), clock)
    callers.start(Lane.BACKGROUND, 20)
    await clock.run(0)
    assert callers.lanes() == [Lane.BACKGROUND] * 6

    callers.start(Lane.PEOPLE, 2)
    callers.start(Lane.MONEY, 1)
    await clock.run(0)

    assert sorted(callers.lanes()[6:]) == [Lane.MONEY, Lane.PEOPLE, Lane.PEOPLE]
    await callers.stop()


async def test_a_minute_that_everything_else_used_up_has_a_tenth_for_what_is_urgent(
    clock: AlarmClock,
) -> None:
    """H40: a freeze does not wait for a place."""
    callers = Callers(RateLimiter(clock), clock)
    for lane in (Lane.MONEY, Lane.PEOPLE, Lane.BACKGROUND):
        callers.start(lane, 100)
    await clock.run(0)
    assert len(callers.turns) == 108

    callers.start(Lane.URGENT, 20)
    await clock.run(0)

    assert callers.lanes()[108:] == [Lane.URGENT] * 12
    await callers.stop()


async def test_what_is_urgent_waits_two_seconds_at_most_for_a_minute_that_others_used_up(
    clock: AlarmClock,
) -> None:
    """Others may have sent what they did a minute ago: only the service knows when there is room again."""
    limiter = RateLimiter(clock)
    limiter.observe(limit=120, remaining=0)
    callers = Callers(limiter, clock)
    callers.start(Lane.URGENT, 30)
    callers.start(Lane.MONEY, 5)
    await clock.run(1.9)
    assert callers.turns == []

    await clock.run(0.2)

    assert callers.lanes() == [Lane.URGENT] * 30
    await callers.stop()


async def test_a_place_counts_from_when_it_is_used_and_is_free_when_given_back(clock: AlarmClock) -> None:
    limiter = RateLimiter(clock, per_minute=2)
    used, given_back = await limiter.place(Lane.MONEY), await limiter.place(Lane.MONEY)
    await clock.run(30)
    assert used.use()
    assert not used.use()
    given_back.give_back()
    used.give_back()
    callers = Callers(limiter, clock)
    callers.start(Lane.MONEY, 2)

    await clock.run(1)
    assert len(callers.turns) == 1, "the one that was given back"
    await clock.run(59)
    assert len(callers.turns) == 1, "a minute from its use has not passed"
    await clock.run(2)
    assert len(callers.turns) == 2


async def test_a_place_of_a_minute_that_is_over_gives_nothing_back(clock: AlarmClock) -> None:
    """What it counted as is forgotten: to give it back takes no other request out of the minute."""
    limiter = RateLimiter(clock, per_minute=10)
    early = await limiter.place(Lane.URGENT)
    await clock.run(WINDOW_SECONDS)
    await limiter.acquire(Lane.URGENT)

    early.give_back()

    assert limiter.left == 9


async def test_a_place_is_given_back_where_its_block_ends_without_a_request(clock: AlarmClock) -> None:
    limiter = RateLimiter(clock, per_minute=10)
    with await limiter.place(Lane.URGENT) as used:
        assert used.use()
    with await limiter.place(Lane.URGENT) as unused:
        assert limiter.left == 8

    assert (limiter.left, unused.use(), used.use()) == (9, False, False)


async def test_when_the_minute_is_used_up_money_goes_first_then_people(clock: AlarmClock) -> None:
    callers = Callers(RateLimiter(clock, per_minute=2), clock)
    callers.start(Lane.PEOPLE, 2)
    await clock.run(0)
    for lane in (Lane.BACKGROUND, Lane.PEOPLE, Lane.MONEY):
        callers.start(lane, 2)
        await clock.run(1)

    waited = []
    for _ in range(5):
        begun = len(callers.turns)
        await clock.run(WINDOW_SECONDS)
        waited.append(callers.lanes()[begun:])

    assert waited == [[Lane.MONEY] * 2, [Lane.PEOPLE] * 2, [Lane.BACKGROUND], [Lane.BACKGROUND], []]
    await callers.stop()


async def test_a_cancelled_waiter_gives_its_turn_on(clock: AlarmClock) -> None:
    limiter = RateLimiter(clock, per_minute=1)
    await limiter.acquire(Lane.MONEY)
    gone = Callers(limiter, clock)
    gone.start(Lane.MONEY)
    await clock.run(1)
    await gone.stop()

    next_one = Callers(limiter, clock)
    next_one.start(Lane.PEOPLE)
    await clock.run(WINDOW_SECONDS)

    assert next_one.lanes() == [Lane.PEOPLE]


async def test_a_rate_limited_answer_blocks_everybody_for_its_time(clock: AlarmClock) -> None:
    limiter = RateLimiter(clock)
    limiter.block(60)
    callers = Callers(limiter, clock)
    for lane in Lane:
        callers.start(lane)

    await clock.run(59.9)
    assert callers.turns == []

    await clock.run(0.2)
    assert len(callers.turns) == len(Lane)


async def test_a_second_refusal_never_shortens_the_pause_of_the_first(clock: AlarmClock) -> None:
    limiter = RateLimiter(clock)
    limiter.block(60)
    limiter.block(5)
    callers = Callers(limiter, clock)
    callers.start(Lane.MONEY)

    await clock.run(59)

    assert callers.turns == []
    await callers.stop()


@pytest.mark.rule("R018")
async def test_a_slot_is_free_again_only_after_a_whole_minute_and_a_little(clock: AlarmClock) -> None:
    """R018: requests a minute apart here can be closer together there."""
    limiter = RateLimiter(clock, per_minute=1)
    await limiter.acquire(Lane.MONEY)
    callers = Callers(limiter, clock)
    callers.start(Lane.MONEY)

    await clock.run(60.5)
    assert callers.turns == []
    await clock.run(0.5)
    assert len(callers.turns) == 1


async def test_a_waiter_notices_a_block_that_came_while_it_waited(clock: AlarmClock) -> None:
    limiter = RateLimiter(clock)
    limiter.block(10)
    callers = Callers(limiter, clock)
    callers.start(Lane.MONEY)
    await clock.run(5)
    limiter.block(60)

    await clock.run(55)
    assert callers.turns == []
    await clock.run(5.1)
    assert len(callers.turns) == 1


@pytest.mark.rule("R022")
async def test_what_other_processes_sent_is_learnt_from_the_answers(clock: AlarmClock) -> None:
    """R022."""
    limiter = RateLimiter(clock)
    await limiter.acquire(Lane.PEOPLE)
    limiter.observe(limit=10, remaining=2)
    callers = Callers(limiter, clock)
    callers.start(Lane.URGENT, 5)

    await clock.run(0)

    assert limiter.per_minute == 10
    assert len(callers.turns) == 2
    await callers.stop()


async def test_an_answer_that_counted_less_than_we_sent_gives_nothing_back(clock: AlarmClock) -> None:
    limiter = RateLimiter(clock, per_minute=3)
    for _ in range(3):
        await limiter.acquire(Lane.MONEY)
    limiter.observe(limit=3, remaining=2)
    callers = Callers(limiter, clock)
    callers.start(Lane.MONEY)

    await clock.run(WINDOW_SECONDS - 1)

    assert callers.turns == []
    await callers.stop()


async def test_an_absurd_limit_does_not_stop_everything_permanently(clock: AlarmClock) -> None:
    limiter = RateLimiter(clock)
    limiter.set_limit(0)
    limiter.observe(limit=None, remaining=None)

    assert limiter.per_minute == 120


@pytest.mark.rule("R018")
@given(
    limit=st.integers(1, 30),
    asks=st.lists(st.tuples(st.sampled_from(Lane), st.floats(0, 20), st.integers(0, 40)), max_size=80),
)
def test_no_rolling_minute_ever_holds_more_than_the_limit_nor_more_background_than_its_share(
    limit: int, asks: list[tuple[Lane, float, int]]
) -> None:
    """R018: any 60 seconds, not those of a fixed window."""
    budget, at = RollingBudget(limit), 0.0
    sent: list[tuple[float, Lane]] = []

    for lane, later, ahead in asks:
        at += later
        at += budget.wait(lane, at, ahead)
        if budget.wait(lane, at, ahead) == 0:
            budget.take(at)
            sent.append((at, lane))

    assert len(sent) >= sum(ahead == 0 for _, _, ahead in asks), "nobody waits in vain"
    for began, _ in sent:
        minute = [lane for when, lane in sent if began <= when < began + 60]
        assert len(minute) <= limit
        assert minute.count(Lane.BACKGROUND) <= max(1, limit * 60 // 100)
