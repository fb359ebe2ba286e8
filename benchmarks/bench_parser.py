"""How quickly and how well plain English is read; the figures that docs/conversation.md quotes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import Row, wanted
from bot.intents import parse
from tests.support.utterances import facts, measured, utterances

ROOT = Path(__file__).parents[1]
ROUNDS = 20

_WEIGH = """
import json, sys
import psutil
bare = psutil.Process().memory_info().rss
from datetime import UTC, datetime
from bot.intents import Facts, parse
for line in sys.stdin:
    parse(json.loads(line), Facts(datetime(2026, 3, 11, tzinfo=UTC)))
print(psutil.Process().memory_info().rss / 2**20, (psutil.Process().memory_info().rss - bare) / 2**20)
"""


def measure() -> list[Row]:
    """Processor time of one text, over all utterances; memory in a process of its own."""
    texts = [said.text for part in ("dev", "held_out") for said in utterances(part)]
    spent = _spent(texts)
    whole_mb, own_mb = weighed(texts)
    p99_us = spent[int(len(spent) * 0.99)] * 1e6
    rows = [
        Row("one text, p50", f"{spent[len(spent) // 2] * 1e6:.0f} µs"),
        Row("one text, p99", f"{p99_us:.0f} µs", wanted(p99_us, at_most=5_000, unit=" µs")),
        Row(
            "resident memory of a process that only parses",
            f"{whole_mb:.0f} MB",
            wanted(whole_mb, at_most=40, unit=" MB"),
        ),
        Row("of it the parser", f"{own_mb:.0f} MB"),
    ]
    for part in ("dev", "held_out"):
        score = measured(part)
        shares = ", ".join(
            f"{score.right[kind]}/{score.of[kind]} {name}"
            for kind, name in (("query", "queries"), ("action", "actions"), ("slot", "slots"))
        )
        rows.append(Row(f"utterances, {part}", shares, f"wrong forms opened: {len(score.harm)}"))
    return rows


def _spent(texts: list[str]) -> list[float]:
    known, spent = facts(), []
    for _ in range(ROUNDS):
        for text in texts:
            before = time.thread_time()
            parse(text, known)
            spent.append(time.thread_time() - before)
    return sorted(spent)


def weighed(texts: list[str]) -> tuple[float, float]:
    """Megabytes of a process that parses `texts` and does nothing else: all of it, and what parsing added."""
    given = "\n".join(json.dumps(text) for text in texts)
    done = subprocess.run(
        [sys.executable, "-c", _WEIGH], cwd=ROOT, input=given, capture_output=True, text=True, check=True
    )
    whole, own = done.stdout.split()
    return float(whole), float(own)
