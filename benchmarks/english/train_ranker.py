"""Trains the ranker: `make ranker` writes bot/intents/ranking/weights.json, the same bytes each time.

Softmax regression by gradient steps, in plain Python: ten thousand sentences take about four minutes. The training
authors and our own utterances are learned from; on the development authors the scores are calibrated, so that of what
is given 0.9 nine in ten are right.
"""

from __future__ import annotations

import json
import math
import random
from base64 import b64encode
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Final

from bot.intents import BUCKETS, NONE, NOT_MEANT, NOT_OFFERED, WEIGHTS, Facts, features_of, read_by_rules
from tests.support import authors, utterances

TO: Final = Path(__file__).parents[2] / "bot" / "intents" / "ranking" / WEIGHTS
ROUNDS: Final = 16
STEP: Final = 5.0
SEED: Final = 20261123
_LEAST: Final = 0.004  # a smaller error is not worth a step

Example = tuple[tuple[int, ...], int]


def main() -> None:
    learned = list(_said(authors.TRAINING)) + list(_ours())
    intents = sorted({intent for _, intent in learned})
    examples = [(buckets, intents.index(intent)) for buckets, intent in learned]
    weights, bias = train(examples, len(intents))
    held = [
        (buckets, intents.index(intent))
        for buckets, intent in _said(authors.DEVELOPMENT)
        if intent in intents
    ]
    sharpness = _calibrated(held, weights, bias)
    TO.write_text(_as_json(intents, weights, bias, sharpness), encoding="ascii")
    right = sum(_best(_points(one, weights, bias)) == label for one, label in held)
    print(f"{len(examples)} sentences learned; {right} of {len(held)} of the development authors first")


def _said(names: Sequence[str]) -> Iterator[tuple[tuple[int, ...], str]]:
    """The buckets and the intent of what these authors wrote; two wishes at once teach no intent.

    What only looks like a request is no small talk: its words are those of requests.
    """
    for said in authors.said_by(names):
        intent = {"refusal": NOT_OFFERED, "trap": NOT_MEANT}.get(said.kind, said.intent)
        if said.kind == "trap" and said.intent != NONE:
            intent = said.intent
        if intent != "several":
            yield from _seen(said.text, authors.facts(), intent)


def _ours() -> Iterator[tuple[tuple[int, ...], str]]:
    for said in utterances.utterances("dev"):
        if said.kind in ("query", "action") and len(said.intents) == 1 and said.intents != ["ambiguous"]:
            yield from _seen(said.text, utterances.facts(), said.intents[0])


def _seen(text: str, facts: Facts, intent: str) -> Iterator[tuple[tuple[int, ...], str]]:
    ruled = read_by_rules(text, facts)
    if ruled.context is not None:
        yield features_of(ruled.context.found.masked), intent


def train(examples: Sequence[Example], count: int) -> tuple[list[list[float]], list[float]]:
    """The weights by intent and bucket, and what each intent starts with."""
    weights = [[0.0] * BUCKETS for _ in range(count)]
    bias = [0.0] * count
    order = list(range(len(examples)))
    shuffled = random.Random(SEED)
    for turn in range(ROUNDS):
        shuffled.shuffle(order)
        step = STEP / (1 + 0.35 * turn)
        for number in order:
            buckets, label = examples[number]
            if len(buckets) < 2:
                continue
            shares = _shares(_points(buckets, weights, bias))
            length = math.sqrt(len(buckets))
            for intent, share in enumerate(shares):
                error = (1.0 if intent == label else 0.0) - share
                if abs(error) > _LEAST:
                    row, change = weights[intent], step * error / length
                    bias[intent] += 0.05 * step * error
                    for bucket in buckets:
                        row[bucket] += change
    return weights, bias


def _points(
    buckets: tuple[int, ...], weights: Sequence[Sequence[float]], bias: Sequence[float]
) -> list[float]:
    if len(buckets) < 2:
        return list(bias)
    pick, length = itemgetter(*buckets), math.sqrt(len(buckets))
    return [start + sum(pick(row)) / length for start, row in zip(bias, weights, strict=True)]


def _shares(points: Sequence[float], sharpness: float = 1.0) -> list[float]:
    most = max(points)
    parts = [math.exp(sharpness * (point - most)) for point in points]
    whole = sum(parts)
    return [part / whole for part in parts]


def _best(points: Sequence[float]) -> int:
    return max(range(len(points)), key=points.__getitem__)


def _calibrated(held: Sequence[Example], weights: Sequence[Sequence[float]], bias: Sequence[float]) -> float:
    """How much the differences between intents are stretched, so that the shares are true of unseen authors."""
    points = [(_points(buckets, weights, bias), label) for buckets, label in held]

    def surprise(sharpness: float) -> float:
        return -sum(math.log(max(_shares(one, sharpness)[label], 1e-9)) for one, label in points)

    return min((0.4 + 0.05 * number for number in range(60)), key=surprise)


def _as_json(
    intents: Sequence[str], weights: Sequence[Sequence[float]], bias: Sequence[float], sharpness: float
) -> str:
    most = max(abs(weight) for row in weights for weight in row)
    scale = most / 127
    raw = b"".join(bytes(128 + round(weight / scale) for weight in row) for row in weights)
    kept = {
        "intents": list(intents),
        "bias": [round(sharpness * start, 4) for start in bias],
        "scale": round(sharpness * scale, 8),
        "weights": b64encode(raw).decode("ascii"),
    }
    return json.dumps(kept, indent=0) + "\n"


if __name__ == "__main__":
    main()
