"""The ranker: how likely each intent is for a text nobody has read with certainty. It proposes and opens nothing.

A linear model over the buckets of `features`, one byte a weight, trained by `make ranker` from the sentences in
tests/intents/authors. It knows no names, numbers or addresses: those are masked before it sees the text.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import itemgetter
from typing import Final

from bot.intents.ranking.features import BUCKETS, features_of

WEIGHTS: Final = "weights.json"
#: What the ranker may say beside the intents: nothing is asked of us, or something that is not done here.
NONE: Final = "none"
NOT_OFFERED: Final = "not_offered"
#: Or what only looks like a request: a report, a "not", a joke.
NOT_MEANT: Final = "not_meant"
_MIDDLE: Final = 128  # the byte of the weight 0


@dataclass(frozen=True, slots=True)
class Ranker:
    """`rows` are the weights of each intent, a byte a bucket; `scale` makes of their sum what is compared."""

    intents: Sequence[str]
    rows: Sequence[bytes]
    bias: Sequence[float]
    scale: float

    def ranked(self, masked: str) -> list[tuple[str, float]]:
        """Every intent with its likelihood, the likeliest first; they add up to one."""
        buckets = features_of(masked)
        if len(buckets) < 2:
            return [(NONE, 1.0)]
        pick, length = itemgetter(*buckets), math.sqrt(len(buckets))
        points = [
            bias + self.scale * (sum(pick(row)) - _MIDDLE * len(buckets)) / length
            for bias, row in zip(self.bias, self.rows, strict=True)
        ]
        most = max(points)
        parts = [math.exp(point - most) for point in points]
        whole = sum(parts)
        shares: Mapping[str, float] = dict(zip(self.intents, (part / whole for part in parts), strict=True))
        return sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))


@cache
def ranker() -> Ranker:
    """The ranker that ships with the package, read at first use."""
    kept = json.loads(files("bot.intents.ranking").joinpath(WEIGHTS).read_text(encoding="ascii"))
    raw = b64decode(kept["weights"])
    rows = [raw[at : at + BUCKETS] for at in range(0, len(raw), BUCKETS)]
    return Ranker(kept["intents"], rows, kept["bias"], kept["scale"])
