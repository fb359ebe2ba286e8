"""The parser stays small and quick: it sits in the path of every message."""

import subprocess
import sys
import time
from pathlib import Path

from benchmarks.bench_parser import weighed
from bot.intents import parse
from tests.support.utterances import facts, utterances

ROOT = Path(__file__).parents[2]
TEXTS = [said.text for part in ("dev", "held_out") for said in utterances(part)]


def test_a_text_takes_under_5_ms_at_the_99th_percentile() -> None:
    known = facts()
    for text in TEXTS:
        parse(text, known)
    spent = []
    for text in TEXTS:
        before = time.thread_time()
        parse(text, known)
        spent.append(time.thread_time() - before)

    assert sorted(spent)[int(len(spent) * 0.99)] < 0.005


def test_a_process_that_only_parses_takes_under_40_mb() -> None:
    whole_mb, _ = weighed(TEXTS)

    assert whole_mb < 40


def test_the_parser_draws_in_nothing_heavy() -> None:
    look = "import sys, bot.intents; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert not {"pydantic", "sqlalchemy", "httpx", "slack_sdk", "phonenumbers"} & set(loaded.stdout.split())
