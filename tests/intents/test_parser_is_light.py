"""The parser stays small and quick: it sits in the path of every message."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.bench_parser import weighed
from bot.intents import Facts, parse
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


@pytest.mark.timed
@pytest.mark.parametrize(
    "said",
    [
        "pending ",
        "a",
        "1 ",
        "x" + " " * 40,
        "freeze 3018 ",
        "load 50 onto 9140, ",
        "Hugo ",
        "what i did ",
        "card for ",
        "0x",
        "not ",
        "@bob ",
    ],
)
def test_2000_characters_of_anything_take_under_20_ms(said: str) -> None:
    text, known = (said * 2_000)[:2_000], facts()

    assert min(_seconds(text, known) for _ in range(9)) < 0.020


def _seconds(text: str, known: Facts) -> float:
    before = time.thread_time()
    parse(text, known)
    return time.thread_time() - before


def test_a_process_that_only_parses_takes_under_40_mb() -> None:
    whole_mb, _ = weighed(TEXTS)

    assert whole_mb < 40


def test_the_parser_draws_in_nothing_heavy() -> None:
    look = "import sys, bot.intents; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert not {"pydantic", "sqlalchemy", "httpx", "slack_sdk", "phonenumbers"} & set(loaded.stdout.split())
