"""How branches that no test takes are found and named. `make branches` holds the core to it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.branches.__main__ import ROOT, TESTS, compared, may_stay, to_be_written
from tests.branches.measuring import MEASURED
from tests.branches.missing import _places, named

SOURCE = """
def price(count):
    if count > 3:
        return 1
    return 2


class Shop:
    def open(self):
        self.is_open = True

        self.light()
"""


def names(
    source: str,
    executed: list[int],
    never: list[int] | None = None,
    branches: list[tuple[int, int]] | None = None,
) -> list[str]:
    return named("shop.py", source, executed=executed, never=never or [], branches=branches or [])


def test_a_branch_is_named_by_its_code_and_where_it_leads() -> None:
    assert names(SOURCE, executed=[2, 3, 5], never=[4], branches=[(3, 4)]) == [
        "shop.py: price: `if count > 3:` → `return 1`"
    ]


def test_a_branch_out_of_a_function_leads_to_its_end() -> None:
    assert names(SOURCE, executed=[2, 3, 4, 5], branches=[(3, -2)]) == [
        "shop.py: price: `if count > 3:` → `the end`"
    ]


def test_what_is_never_called_is_named_by_its_first_line() -> None:
    assert names(SOURCE, executed=[8, 9], never=[10, 12]) == [
        "shop.py: Shop.open: never `self.is_open = True`"
    ]


def test_a_branch_of_what_is_never_called_is_not_named_once_more() -> None:
    assert names(SOURCE, executed=[2], never=[3, 4, 5], branches=[(3, 4), (3, 5)]) == [
        "shop.py: price: never `if count > 3:`"
    ]


def test_two_branches_that_read_alike_have_two_names() -> None:
    twice = "def one(a):\n    if a:\n        stop()\n    if a:\n        stop()\n"
    assert names(twice, executed=[1, 2, 4], never=[3, 5], branches=[(2, 3), (4, 5)]) == [
        "shop.py: one: `if a:` → `stop()`",
        "shop.py: one: `if a:` → `stop()` #1",
    ]


def test_a_line_above_leaves_the_names_as_they_are() -> None:
    below = names("\n" + SOURCE, executed=[3, 4, 6], never=[5], branches=[(4, 5)])
    assert below == names(SOURCE, executed=[2, 3, 5], never=[4], branches=[(3, 4)])


def test_a_new_branch_and_a_listed_one_that_is_taken_are_both_found() -> None:
    assert compared(["new", "listed"], ["listed", "taken"]) == (["new"], ["taken"])


def test_what_is_measured_and_run_exists_and_each_exception_says_why() -> None:
    assert [one for one in (*MEASURED, *TESTS) if not (ROOT / one).exists()] == []
    assert [key for key, because in may_stay().items() if len(because) < 20] == []


def test_a_branch_is_in_one_list_and_once() -> None:
    waiting = to_be_written()
    assert waiting == sorted(set(waiting))
    assert set(waiting).isdisjoint(may_stay())
    paths = {key.split(":", 1)[0] for key in (*waiting, *may_stay())}
    assert [path for path in paths if not (ROOT / path).exists()] == []


def is_in_the_code(key: str) -> bool:
    path, place, what = key.split(": ", 2)
    source = (ROOT / path).read_text()
    there = _places(source)
    here = [
        line.strip() for at, line in enumerate(source.splitlines(), 1) if there.get(at, "module") == place
    ]
    codes = re.sub(r" #\d+$", "", what).removeprefix("never ").strip("`").split("` → `")
    return all(code == "the end" or any(one.startswith(code.rstrip("…")) for one in here) for code in codes)


def test_what_is_listed_is_still_in_the_code() -> None:
    """A name is the code of its branch: where that was changed, the branch is another one, and comes with its test."""
    assert [key for key in (*to_be_written(), *may_stay()) if not is_in_the_code(key)] == []


@pytest.mark.timeout(300)
def test_a_branch_that_no_test_takes_is_a_failure(tmp_path: Path) -> None:
    """The whole way, with tests that take next to nothing of the core."""
    test = tmp_path / "test_nothing.py"
    test.write_text(
        "from bot.domain.sentences import with_stop\n\ndef test_it(): assert with_stop('a') == 'a.'\n"
    )
    command = [sys.executable, "-m", "tests.branches", str(test)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout[-3000:] + done.stderr[-2000:]
    assert "no test takes: bot/domain/sentences.py: quoted: never" in done.stdout
    assert "sentences.py: with_stop" not in done.stdout
