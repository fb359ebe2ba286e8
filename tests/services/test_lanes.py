"""Of a place for anchors that is slow: what it is given waits for nobody who reads, and nothing newer is left out."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace

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
