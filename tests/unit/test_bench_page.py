"""The page of results says first which goals are missed, whatever part of it was made again."""

from __future__ import annotations

import pytest

from benchmarks import Row, wanted
from benchmarks.__main__ import _page, _replaced, _section


@pytest.mark.parametrize(
    ("found", "goal", "said"),
    [
        (2.5, {"at_most": 2.5}, "(wanted: at most 2.5)"),
        (2.51, {"at_most": 2.5}, "(wanted: at most 2.5; **missed**)"),
        (0.5, {"at_least": 0.5}, "(wanted: at least 0.5)"),
        (0.49, {"at_least": 0.5}, "(wanted: at least 0.5; **missed**)"),
        (301, {"at_most": 300, "unit": " ms"}, "(wanted: at most 300 ms; **missed**)"),
    ],
)
def test_a_goal_is_missed_beyond_its_figure(found: float, goal: dict[str, float], said: str) -> None:
    assert wanted(found, **goal) == said  # type: ignore[arg-type]  # a unit among the figures


def test_the_page_names_each_goal_that_is_missed_before_the_figures() -> None:
    kept = _section("bench_a", "How quick.", [Row("start", "1 s", f"4 times {wanted(4, at_most=5)}")])
    missed = _section("bench_b", "How much.", [Row("import", "2 s", f"6 times {wanted(6, at_most=5)}")])

    page = _page({"bench_a": kept, "bench_b": missed})

    goals, _ = page.split("## bench_a")
    assert (
        goals == "## Goals that are missed\n\n- bench_b, import: 6 times (wanted: at most 5; **missed**)\n\n"
    )


def test_a_benchmark_that_is_made_again_takes_its_goal_off_the_list() -> None:
    missed = _section("bench_b", "How much.", [Row("import", "2 s", f"6 times {wanted(6, at_most=5)}")])
    page = "# Results\n\nMade now.\n\n" + _page({"bench_b": missed})
    met = _section("bench_b", "How much.", [Row("import", "1 s", f"5 times {wanted(5, at_most=5)}")])

    again = _replaced(page, {"bench_b": met})

    assert "No row below is marked as missed." in again
    assert again.count("## Goals that are missed") == 1
    assert again.startswith("# Results\n\nMade now.\n\n## Goals")
