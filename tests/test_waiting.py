"""A wait in a test is bounded, and says what did not happen."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.waiting import eventually

TESTS = Path(__file__).parent

#: Clocks, whose `sleep` is such a loop.
CLOCKS = {"crash/time_jumps.py", "support/clock.py"}


async def test_what_comes_is_returned() -> None:
    left = [3]

    async def there() -> int:
        left[0] -= 1
        return 7 if not left[0] else 0

    assert await eventually("counted down", there, every_s=0) == 7


async def test_what_never_comes_is_named() -> None:
    with pytest.raises(AssertionError, match=r"pigs flew: not within 0\.05 s; seen last: \[\]"):
        await eventually("pigs flew", list, within_s=0.05)


async def test_a_condition_that_hangs_is_named_too_and_its_own_time_out_is_not_ours() -> None:
    async def own() -> bool:
        raise TimeoutError("mine")

    with pytest.raises(AssertionError, match="an answer"):
        await eventually("an answer", asyncio.Event().wait, within_s=0.05)
    with pytest.raises(TimeoutError, match="mine"):
        await eventually("an answer", own)


def test_no_test_waits_by_a_loop_of_its_own() -> None:
    found = {
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if "node_modules" not in path.parts and any(_own_loops(path.read_text()))
    }

    assert found - CLOCKS == set(), "use tests/support/waiting.py: eventually(what, look)"
    assert CLOCKS - found == set(), "these wait well now: take them off the list"


def test_a_loop_of_its_own_is_found() -> None:
    assert list(_own_loops("while not done:\n    await asyncio.sleep(1)"))
    assert not list(_own_loops("while True:\n    await asyncio.sleep(1)")), "a task that somebody cancels"


def _own_loops(source: str) -> Iterator[ast.While]:
    """Loops with a condition that do nothing but sleep."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.While)
            and not isinstance(node.test, ast.Constant)
            and all(ast.unparse(line).startswith("await asyncio.sleep(") for line in node.body)
        ):
            yield node
