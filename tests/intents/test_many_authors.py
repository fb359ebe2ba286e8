"""What many people wrote who did not see the rules: nothing opens that was not asked for, and most is understood."""

import os

import pytest

from benchmarks.english.__main__ import Score, measured
from bot import operations
from bot.intents import parse
from tests.support import authors
from tests.support.mutations import harm_of, mutations

_FULL = 100_000
_SAMPLE = 500


@pytest.fixture(scope="module")
def development() -> Score:
    return measured(names=authors.DEVELOPMENT)["all"]


def test_there_are_at_least_5000_sentences_of_these_authors() -> None:
    said = list(authors.said_by())

    assert len(said) >= 5_000
    assert {one.author for one in said} == {*authors.TRAINING, *authors.DEVELOPMENT}


@pytest.mark.sampled
def test_no_form_opens_that_an_author_did_not_ask_for_nor_with_another_value(development: Score) -> None:
    training = measured(names=("03", "06", "07") if os.environ.get("SOAK") == "1" else ("06",))["all"]

    assert development.harm + training.harm == []
    assert development.flipped + training.flipped == 0


@pytest.mark.parametrize(
    ("kind", "at_once", "or_offered"),
    [("question", 0.88, 0.95), ("wish", 0.85, 0.96), ("must_ask", 0.95, 0.95), ("trap", 1, 1)],
)
def test_an_author_who_taught_the_ranker_nothing_is_understood(
    development: Score, kind: str, at_once: float, or_offered: float
) -> None:
    assert development.right[kind] >= at_once * development.of[kind]
    assert development.near[kind] >= or_offered * development.of[kind]


def _harm_in(count: int, seed: int = 3) -> list[str]:
    said, kinds = list(authors.said_by(authors.TRAINING)), operations.kinds()
    changed = mutations(said, count, seed=seed)
    found = ((one, harm_of(one, parse(one.text, authors.facts(), kinds=kinds))) for one in changed)
    return [f"{one.how}: {harm}: {one.text}" for one, harm in found if harm]


def test_a_changed_sentence_opens_nothing_that_it_does_not_say() -> None:
    assert _harm_in(_SAMPLE) == []


@pytest.mark.soak
@pytest.mark.skipif(not os.environ.get("SOAK"), reason="the long form; SOAK=1 runs it")
def test_100_000_changed_sentences_open_nothing_that_they_do_not_say() -> None:
    """`SOAK_SENTENCES` says how many in all, and `SEED` which."""
    count = int(os.environ.get("SOAK_SENTENCES") or _FULL)

    assert _harm_in(count, int(os.environ.get("SEED") or 3)) == []
