"""Hundreds of thousands of spoiled deliveries: no 5xx, no forgery taken, nothing stored that cannot be read."""

import time
from collections.abc import Sequence

import pytest

from storage.events import Row
from tests.events.fuzzing import Fuzz
from tests.events.receiving import Bot

SEED = 20260304


class Counted:
    """Takes the place of the database where millions are thrown."""

    def __init__(self) -> None:
        self.written = 0

    async def write(self, rows: Sequence[Row]) -> list[bool]:
        self.written += len(rows)
        return [True] * len(rows)

    async def close(self) -> None:
        """Nothing was opened."""


@pytest.fixture
async def counted(bot: Bot) -> Counted:
    made = Counted()
    await bot.intake.ingest._writer.close()
    bot.intake.ingest._writer = made
    return made


async def _thrown(bot: Bot, counted: Counted, times: int, seed: int) -> Fuzz:
    fuzz, began = Fuzz(bot, seed), time.monotonic()
    await fuzz.throw(times)
    print(f"\nseed {seed}: {times} deliveries in {time.monotonic() - began:.0f} s, answers {fuzz.answers}")
    assert fuzz.wrong == []
    assert counted.written == fuzz.answers[200]
    return fuzz


async def test_spoiled_deliveries_are_refused_without_a_fault(bot: Bot, counted: Counted) -> None:
    fuzz = await _thrown(bot, counted, 8_000, SEED)

    assert min(fuzz.answers[status] for status in (200, 400, 401)) > 100, "each way was tried"
    assert fuzz.answers[413] > 0


async def test_a_receiver_that_looks_at_no_signature_is_caught(
    bot: Bot, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.partner.webhooks._signed", lambda *_: True)
    fuzz = Fuzz(bot, SEED)

    await fuzz.throw(500)

    assert any("a forgery was taken" in one for one in fuzz.wrong)


async def test_spoiled_deliveries_over_the_wire_are_stored_only_if_genuine_and_all_handled(bot: Bot) -> None:
    await _over_the_wire(bot, 600, SEED + 1)


async def _over_the_wire(bot: Bot, times: int, seed: int) -> None:
    fuzz, taken = Fuzz(bot, seed), 0
    for _ in range(times):
        raw, headers = fuzz.case()
        headers = {name: value.strip() for name, value in headers.items()}  # as HTTP does
        if all(value.isascii() and value.isprintable() and len(value) < 8000 for value in headers.values()):
            status = await bot.post(raw, headers)  # of other headers HTTP itself makes a 400
            fuzz.judge(raw, headers, status)
            taken += status == 200
    assert fuzz.wrong == []
    assert taken > 0
    await bot.handle()
    assert await bot.unhandled() == []


@pytest.mark.soak
async def test_a_million_spoiled_deliveries_are_refused_without_a_fault(bot: Bot, counted: Counted) -> None:
    await _thrown(bot, counted, 1_000_000, SEED + 2)


@pytest.mark.soak
async def test_twenty_thousand_over_the_wire(bot: Bot) -> None:
    await _over_the_wire(bot, 20_000, SEED + 3)
