"""Which intents a text may mean where the rules are not sure: ranked, to be offered. Nothing here opens a form.

`features` makes numbers of a masked text, `ranker` weighs them by `weights.json` (made by `make ranker`), and
`suggestions` says what is answered at once and what is offered.
"""

from __future__ import annotations

from bot.intents.ranking.features import BUCKETS, features_of
from bot.intents.ranking.ranker import NONE, NOT_MEANT, NOT_OFFERED, WEIGHTS
from bot.intents.ranking.suggestions import Ranked, ranked

__all__ = [
    "BUCKETS",
    "NONE",
    "NOT_MEANT",
    "NOT_OFFERED",
    "WEIGHTS",
    "Ranked",
    "features_of",
    "ranked",
]
