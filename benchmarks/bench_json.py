"""What a thousand balances cost to read with every digit; the floor is orjson, which makes floats of them."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from decimal import Decimal

import orjson

from benchmarks import Row, wanted
from bot.partner import codec, models

CARDS = 1_000
ROUNDS = 60


def measure() -> list[Row]:
    """Processor time: medians of the ratios within a round, the three in turn; the first round is left out."""
    raw = _balances()
    ways: list[Callable[[], object]] = [
        lambda: orjson.loads(raw),
        lambda: codec.decode(raw),
        lambda: [models.BalanceRow.read(row) for row in codec.decode(raw)["data"]["balances"]],
    ]
    rounds = [[_seconds(way) for way in ways] for _ in range(ROUNDS)][1:]
    floats, exact, rows = (statistics.median(times) for times in zip(*rounds, strict=True))
    exact_times = statistics.median(times[1] / times[0] for times in rounds)
    rows_times = statistics.median(times[2] / times[0] for times in rounds)
    inexact = _inexact()
    return [
        Row("orjson, numbers as floats", f"{floats * 1e3:.2f} ms"),
        Row(
            "the client's JSON, numbers as Decimal",
            f"{exact * 1e3:.2f} ms",
            f"{exact_times:.1f} times orjson {wanted(exact_times, at_most=3)}",
        ),
        Row(
            "the same read as checked rows",
            f"{rows * 1e3:.2f} ms",
            f"{rows_times:.1f} times orjson {wanted(rows_times, at_most=5)}",
        ),
        Row("amounts that lost a digit", str(inexact), wanted(inexact, at_most=0)),
    ]


def _seconds(work: Callable[[], object]) -> float:
    before = time.thread_time()
    work()
    return time.thread_time() - before


def _amount(card: int) -> str:
    return f"{card * 7 % 5000}.{card % 100:02}"


def _balances() -> bytes:
    """A full page as the API answers it, without spaces."""
    rows = ",".join(
        f'{{"card_id":"crd_{card:024x}","balance_usd":{_amount(card)}'
        f',"as_of":"2026-11-20T09:{card % 60:02}:00.{card:03}Z","ok":true,"error":null}}'
        for card in range(CARDS)
    )
    counts = json.dumps({"count": CARDS, "page": 1, "total": CARDS, "total_pages": 1})
    return f'{{"data":{{"balances":[{rows}],{counts[1:]}}}'.encode()


def _inexact() -> int:
    """Of 20,000 amounts of ten decimals: those that do not come back to the digit."""
    texts = [f"{number * 7919}.{number * 104729 % 10**10:010}" for number in range(20_000)]
    read = codec.decode(f"[{','.join(texts)}]".encode())
    return sum(type(got) is not Decimal or f"{got:f}" != text for got, text in zip(read, texts, strict=True))
