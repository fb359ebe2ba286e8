"""Several things are done one after another, and one that fails is in the way of no other."""

import sqlite3
from collections.abc import Sequence

import pytest
from sqlalchemy.exc import DataError, OperationalError

from bot.together import each_by_itself

UNREADABLE = DataError("SELECT", {}, Exception("integer out of range"))
DISK = sqlite3.OperationalError("database or disk is full")
DISK.sqlite_errorcode = sqlite3.SQLITE_FULL
FULL = OperationalError("UPDATE", {}, DISK)


async def tried(of_each: Sequence[Exception | None]) -> tuple[list[int], Exception | None]:
    turns = list[int]()
    try:
        async with each_by_itself() as each:
            for number, error in enumerate(of_each):
                with each():
                    turns.append(number)
                    if error is not None:
                        raise error
    except Exception as error:  # noqa: BLE001 - whichever it is
        return turns, error
    return turns, None


@pytest.mark.parametrize("error", [UNREADABLE, OverflowError("too large"), KeyError("no such kind")])
async def test_the_first_error_is_raised_when_all_had_their_turn(error: Exception) -> None:
    assert await tried([None, error, ValueError("a later one"), None]) == ([0, 1, 2, 3], error)


async def test_a_database_that_takes_nothing_is_asked_for_no_more() -> None:
    assert await tried([UNREADABLE, FULL, None, None]) == ([0, 1], FULL)


async def test_nothing_is_raised_where_nothing_failed() -> None:
    assert await tried([None, None]) == ([0, 1], None)
