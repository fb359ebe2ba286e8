"""White space is read as what it looks like, whatever sign it is."""

import pytest

from bot.intents import clean, parse
from tests.support.utterances import facts
from tests.support.worst_texts import SPACES

_SEEN = [space for space in SPACES if space not in "\n\u2028\u0085\x0b"]


@pytest.mark.parametrize("space", _SEEN, ids=ascii)
def test_any_blank_between_words_reads_as_a_space(space: str) -> None:
    said = "load 50 onto 3018 please"

    assert parse(said.replace(" ", space), facts()) == parse(said, facts())


@pytest.mark.parametrize("space", SPACES, ids=ascii)
@pytest.mark.parametrize("other", [" ", "\u00a0", "\n", "\u200b", "<!here>", "§", ":tada:"], ids=ascii)
def test_no_more_than_two_blanks_or_ends_of_line_follow_each_other(space: str, other: str) -> None:
    text = clean(f"a{f'{space}{other}' * 300}b").text

    assert all(run == "\n" * len(run) or run == " " * len(run) for run in _runs(text))
    assert max(map(len, _runs(text)), default=0) <= 2


def test_lines_stay_lines() -> None:
    assert clean("a \u00a0\n\u3000\n \n b\n\u2003c").text == "a\n\nb\nc"


def _runs(text: str) -> list[str]:
    runs, run = [], ""
    for char in f"{text}.":
        if char.isspace():
            run += char
        elif run:
            runs.append(run)
            run = ""
    return runs
