"""Of a place for anchors that is slow: what it is given waits for nobody who reads, and nothing newer is left out."""

from __future__ import annotations

import asyncio
import errno
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

from bot.services import anchor_places
from bot.services.anchor_places import Lane, Unreadable
from storage.audit import Anchor

SLOW_S = 0.05


class SlowPlace:
    """Takes its time for each thing, and one after the other would be too long."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.reads = 0
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()

    def lines(self) -> list[str]:
        self._slowly(lambda: None)
        self.reads += 1
        return list(self.kept)

    def append(self, line: str) -> None:
        self._slowly(lambda: self.kept.append(line))

    def _slowly(self, do: Callable[[], None]) -> None:
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(SLOW_S)
        do()
        with self._lock:
            self.at_once -= 1


def anchor(seq: int) -> Anchor:
    return replace(Anchor(0, "0" * 64, "2026-01-01T00:00:00+00:00", "m"), seq=seq)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> SlowPlace:
    monkeypatch.setattr(anchor_places, "TAKES_S", 3 * SLOW_S)
    return SlowPlace()


async def test_a_dozen_who_read_hold_up_no_anchor_and_are_all_answered(place: SlowPlace) -> None:
    lane = Lane(place, lambda _anchor: None)
    reading = [asyncio.create_task(lane.read()) for _ in range(12)]
    await asyncio.sleep(0)

    assert await lane.give(anchor(1)) == ""

    found = await asyncio.gather(*reading)
    assert not any(isinstance(one, Unreadable) for one in found)
    assert place.reads <= 2
    assert place.most_at_once <= 2


async def test_who_reads_after_an_anchor_was_taken_sees_it(place: SlowPlace) -> None:
    lane = Lane(place, lambda _anchor: None)
    first = asyncio.create_task(lane.read())
    await asyncio.sleep(SLOW_S / 2)
    await lane.give(anchor(1))

    found = await lane.read()

    assert not isinstance(found, Unreadable)
    assert [one.seq for one in found] == [1]
    await first


@pytest.mark.parametrize("order", [(4, 6, 5), (6, 5, 4), (4, 5, 6), (5, 6, 6)])
async def test_of_those_that_wait_the_newest_is_taken_in_whichever_order_they_come(
    place: SlowPlace, order: tuple[int, ...]
) -> None:
    lane = Lane(place, lambda _anchor: None)

    said = [lane.give(anchor(seq)) for seq in order]

    assert [await one for one in said] == ["", "", ""]
    assert lane.kept is not None
    assert lane.kept.seq == 6
    assert any('"seq": 6' in line for line in place.kept)
    assert not lane.is_behind


class Threads(Executor):
    """What is asked of a place waits here for its answer."""

    def __init__(self) -> None:
        self._asked: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = Future[Any]()
        self._asked.append((future, partial(fn, *args, **kwargs)))
        return future

    @property
    def is_asked(self) -> bool:
        return bool(self._asked)

    def answer(self) -> None:
        future, do = self._asked.pop(0)
        try:
            future.set_result(do())
        except OSError as error:
            future.set_exception(error)


class MoodyPlace:
    """On a disk that is full now and then."""

    def __init__(self) -> None:
        self.kept: list[int] = []
        self.is_full = False

    def lines(self) -> list[str]:
        return []

    def append(self, line: str) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.kept.append(Anchor.from_line(line).seq)


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Threads:
    found = Threads()
    monkeypatch.setattr(anchor_places, "_THREADS", found)
    return found


async def _turns() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


@pytest.mark.parametrize("seed", range(300))
async def test_in_whatever_order_anchors_come_and_fail_a_place_is_behind_until_it_has_the_newest(
    threads: Threads, seed: int
) -> None:
    """Who gives one has read where the log ends a moment before, so an older one may come after a newer."""
    draw, place, head = Random(seed), MoodyPlace(), 10
    lane = Lane(place, lambda _anchor: None)
    given: list[tuple[int, asyncio.Future[str]]] = []

    def is_right() -> None:
        newest, has = max((seq for seq, _ in given), default=0), max(place.kept, default=0)
        assert lane.is_behind is (newest > has), (given, place.kept)
        for seq, said in given:
            assert not said.done() or said.result() or has >= seq, "what it is said to have is there"

    for _ in range(draw.randint(2, 12)):
        if draw.random() < 0.5:
            head += draw.randint(0, 2)
            seq = head - draw.choice((0, 0, 1, 3))
            given.append((seq, lane.give(anchor(seq))))
        elif threads.is_asked:
            place.is_full = draw.random() < 0.5
            threads.answer()
        await _turns() if draw.random() < 0.7 else await asyncio.sleep(0)
        if not threads.is_asked or draw.random() < 0.5:
            await _turns()
            is_right()
    while threads.is_asked:
        place.is_full = draw.random() < 0.5
        threads.answer()
        await _turns()
    is_right()
    assert all(said.done() for _, said in given)

    if lane.is_behind:  # as the loop that tries again does
        place.is_full = False
        lane.give(anchor(head))
        await _turns()
        threads.answer()
        await _turns()
        assert place.kept[-1] == head
    assert not lane.is_behind


async def test_what_is_being_written_is_not_written_again_for_who_gives_it_meanwhile(
    threads: Threads,
) -> None:
    place = MoodyPlace()
    lane = Lane(place, lambda _anchor: None)
    said = [lane.give(anchor(10))]
    await _turns()
    said += [lane.give(anchor(10)), lane.give(anchor(9))]

    threads.answer()

    assert [await one for one in said] == ["", "", ""]
    assert place.kept == [10]
    assert not threads.is_asked
    assert not lane.is_behind
