"""What goes into a column comes out as it was, on both databases, and what is wrong does not go in."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, MetaData, Table, Text, insert, select, text
from sqlalchemy.exc import StatementError

from bot.domain.requests import State
from storage.columns import Json, Money, SealedText, UtcDateTime, Word, json_text, money_text
from storage.store import Store

pytestmark = pytest.mark.by_turns(2)

THINGS = Table(
    "thing",
    MetaData(),
    Column("id", Text, primary_key=True),
    Column("amount_usd", Money),
    Column("at", UtcDateTime),
    Column("secret", SealedText),
    Column("facts", Json),
    Column("state", Word(State)),
)


@pytest.fixture
async def things(own_store: Store) -> Store:
    async with own_store.begin() as tx:
        await tx.connection.run_sync(THINGS.create)
    return own_store


async def _kept(store: Store, column: str, value: Any) -> Any:
    async with store.begin() as tx:
        await tx.run(text("DELETE FROM thing"))
        await tx.run(insert(THINGS).values(id="x", **{column: value}))
    async with store.read() as tx:
        return (await tx.run(select(THINGS.c[column]))).scalar_one()


@pytest.mark.parametrize("state", [None, *State])
async def test_a_word_comes_back_as_the_member_it_was(things: Store, state: State | None) -> None:
    assert await _kept(things, "state", state) is state
    async with things.read() as tx:
        assert (await tx.run(text("SELECT state FROM thing"))).scalar_one() == (state and state.value)


async def test_a_word_that_is_none_of_the_enumeration_is_refused_both_ways(things: Store) -> None:
    with pytest.raises(StatementError, match="not a valid State"):
        await _kept(things, "state", "sent")
    async with things.begin() as tx:
        await tx.run(text("INSERT INTO thing (id, state) VALUES ('y', 'sent')"))
    with pytest.raises(ValueError, match="not a valid State"):
        async with things.read() as tx:
            (await tx.run(select(THINGS.c.state).where(THINGS.c.id == "y"))).scalar_one()


@pytest.mark.parametrize(
    "amount",
    [
        "0",
        "0.01",
        "-0.0000000001",
        "1234567890.1234567891",
        "99999999999999999999.9999999999",
        "50.00",
        "1E+3",
    ],
)
async def test_an_amount_keeps_every_digit(things: Store, amount: str) -> None:
    kept = await _kept(things, "amount_usd", Decimal(amount))

    assert kept == Decimal(amount)
    assert Decimal(money_text(kept)) == kept


async def test_amounts_that_are_equal_have_one_text_on_both_databases(things: Store) -> None:
    kept = [str(await _kept(things, "amount_usd", Decimal(a))) for a in ("5", "5.0", "5.000", "0.50", "-0.0")]

    assert kept == ["5.00", "5.00", "5.00", "0.50", "0.00"]


@pytest.mark.parametrize(
    "wrong", [1.5, 3, "5.00", Decimal("NaN"), Decimal("Infinity"), Decimal("0.00000000001"), Decimal(10**20)]
)
async def test_what_is_no_exact_amount_is_refused(things: Store, wrong: Any) -> None:
    with pytest.raises(StatementError):
        await _kept(things, "amount_usd", wrong)


async def test_a_time_comes_back_aware_and_exact(things: Store) -> None:
    in_tokyo = datetime(2026, 3, 2, 9, 0, 0, 123456, tzinfo=timezone(timedelta(hours=9)))

    kept = await _kept(things, "at", in_tokyo)

    assert kept == in_tokyo
    assert kept.tzinfo is UTC


async def test_a_time_without_a_zone_is_refused(things: Store) -> None:
    with pytest.raises(StatementError):
        await _kept(things, "at", datetime(2026, 3, 2))  # noqa: DTZ001


async def test_times_sort_as_times(things: Store) -> None:
    whole, later = datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 3, 2, 9, 0, 0, 1, tzinfo=UTC)
    async with things.begin() as tx:
        await tx.run(insert(THINGS), [{"id": "b", "at": later}, {"id": "a", "at": whole}])
        found = (await tx.run(select(THINGS.c.id).where(THINGS.c.at > whole))).scalars().all()

    assert found == ["b"]


async def test_a_plain_text_does_not_go_into_a_sealed_column(things: Store) -> None:
    with pytest.raises(StatementError):
        await _kept(things, "secret", "svc_live_plain")


async def test_json_is_canonical_and_holds_amounts_and_times_as_text(things: Store) -> None:
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    value = {"b": [Decimal("1.50"), None, True], "a": {"at": at}, "é": "“"}

    kept = await _kept(things, "facts", value)

    assert kept == {"a": {"at": "2026-03-02T09:00:00.000000Z"}, "b": ["1.50", None, True], "é": "“"}
    assert json_text({"b": 1, "a": 2}) == json_text({"a": 2, "b": 1}) == '{"a":2,"b":1}'


@pytest.mark.parametrize("wrong", [{"a": 1.5}, {"a": b"x"}, {1: "a"}, {"a": object()}, {"a": {1, 2}}])
async def test_json_refuses_floats_and_what_is_not_json(things: Store, wrong: Any) -> None:
    with pytest.raises(StatementError):
        await _kept(things, "facts", wrong)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.decimals(min_value=-(10**19), max_value=10**19, places=10))
def test_the_text_of_an_amount_is_exact_and_says_one_thing(amount: Decimal) -> None:
    written = money_text(amount)

    assert Decimal(written) == amount
    assert money_text(Decimal(written)) == written
    assert len(written.partition(".")[2]) >= 2
