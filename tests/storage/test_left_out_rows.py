"""Rows that were set aside are in no statement's reach, whatever its form, and all others are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import (
    Column,
    Connection,
    Executable,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    delete,
    insert,
    join,
    outerjoin,
    select,
    text,
    union_all,
    update,
)
from sqlalchemy.dialects import postgresql

from storage.set_aside import SetAside, UnreadableRow
from storage.set_aside.left_out import tables_of

METADATA = MetaData()
ONE = Table("one", METADATA, Column("id", Text, primary_key=True), Column("n", Integer))
PAIR = Table(
    "pair", METADATA, Column("a", Text, primary_key=True), Column("b", Text, primary_key=True), Column("one_id", Text)
)  # fmt: skip


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as found:
        METADATA.create_all(found)
        found.execute(insert(ONE), [{"id": name, "n": n} for n, name in enumerate("xyz")])
        found.execute(insert(PAIR), [{"a": a, "b": b, "one_id": a} for a in "xyz" for b in "12"])
        yield found
    engine.dispose()


def row(table: str, *key: str) -> UnreadableRow:
    """As SQLite gives its key: bytes, whatever was written there."""
    return UnreadableRow(table, "n", tuple(part.encode() for part in key))


@pytest.fixture
def aside() -> SetAside:
    made = SetAside()
    assert made.put(row("one", "y"))
    assert made.put(row("pair", "x", "2"))
    return made


def run(connection: Connection, aside: SetAside, statement: Executable) -> Any:
    return connection.execute(aside.without(statement, is_postgres=False))


def test_a_select_meets_none_of_them_by_any_name_and_in_any_part(
    connection: Connection, aside: SetAside
) -> None:
    other = ONE.alias("other")
    within = select(ONE.c.id).where(ONE.c.id.in_(select(PAIR.c.a).where(PAIR.c.b == "2")))
    cases: list[tuple[Executable, list[str]]] = [
        (select(ONE.c.id), ["x", "z"]),
        (select(other.c.id), ["x", "z"]),
        (within, ["z"]),
        (union_all(select(ONE.c.id), select(ONE.c.id)), ["x", "x", "z", "z"]),
        (select(PAIR.c.a).select_from(join(ONE, PAIR, ONE.c.id == PAIR.c.a)), ["x", "z", "z"]),
    ]
    for statement, found in cases:
        assert sorted(run(connection, aside, statement).scalars()) == found, str(statement)


def test_what_an_outer_join_adds_is_missing_and_what_it_is_added_to_stays(
    connection: Connection, aside: SetAside
) -> None:
    joined = outerjoin(PAIR, ONE, ONE.c.id == PAIR.c.a)
    found = run(connection, aside, select(PAIR.c.a, ONE.c.id).select_from(joined)).all()

    assert sorted(found, key=str) == sorted(
        [("x", "x"), ("y", None), ("y", None), ("z", "z"), ("z", "z")], key=str
    )


def test_a_change_leaves_them_as_they_are(connection: Connection, aside: SetAside) -> None:
    run(connection, aside, update(ONE).values(n=9))
    run(connection, aside, delete(PAIR))
    run(connection, aside, insert(ONE).from_select(["id", "n"], select(ONE.c.id.concat("!"), ONE.c.n)))

    assert sorted(connection.execute(select(ONE.c.id, ONE.c.n)).all()) == [
        ("x", 9), ("x!", 9), ("y", 1), ("z", 9), ("z!", 9)
    ]  # fmt: skip
    assert connection.execute(select(PAIR.c.a, PAIR.c.b)).all() == [("x", "2")]


def test_what_is_no_statement_of_rows_and_a_plain_insert_stay_as_they_are(aside: SetAside) -> None:
    for statement in (text("SELECT 1"), insert(ONE).values(id="w")):
        assert aside.without(statement, is_postgres=False) is statement


def test_on_postgresql_they_are_left_out_by_their_keys_as_text() -> None:
    aside = SetAside()
    aside.put(UnreadableRow("one", "n", ("y",)))
    aside.put(UnreadableRow("pair", "n", ("x", "2")))
    for table, key in ((ONE, "NOT IN ('y')"), (PAIR, "NOT IN (('x', '2'))")):
        statement: Any = aside.without(select(table), is_postgres=True)
        sql = str(statement.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True}))  # type: ignore[no-untyped-call]
        assert key in sql


def test_a_row_is_set_aside_once_and_no_more_than_so_many_are() -> None:
    aside = SetAside()
    aside.most = 2
    assert not aside
    assert [aside.put(row("one", name)) for name in ("x", "x", "y", "z")] == [True, False, True, False]
    assert [one.key for one in aside] == [(b"x",), (b"y",)]
    assert aside.has_row(row("one", "x"))
    assert not aside.has_row(row("one", "z"))
    assert not aside.has_row(row("pair", "x"))


def test_a_row_that_is_taken_back_or_gone_is_met_again_and_makes_room_once() -> None:
    aside = SetAside()
    aside.put(row("one", "x"))
    aside.put(row("one", "y"))
    for _ in range(2):
        aside.take_back(row("one", "x"))
        aside.take_back(row("pair", "x"))
        assert aside.of("one") == [(b"y",)]
        assert aside.of("pair") == []
    for _ in range(2):
        aside.gone("one", (b"y",))
        aside.gone("pair", (b"y",))
        assert not aside


def test_a_key_is_found_as_text_or_as_bytes_and_a_name_as_people_write_it() -> None:
    aside = SetAside()
    aside.put(row("pair", "x", "2"))
    assert aside.has("pair", "x", "2")
    assert not aside.has("pair", "x", "1")
    assert not aside.has("one", "x")
    found = aside.find("pair", next(iter(aside)).row)
    assert found is not None
    assert aside.find("pair", "somebody else") is None
    assert aside.find("one", found.row) is None


def test_a_new_row_takes_out_the_one_whose_key_it_has_and_no_other(
    connection: Connection, aside: SetAside
) -> None:
    takes_out = [
        aside.takes_out(table, values, is_postgres=False)
        for table, values in (
            (ONE, {"id": "y", "n": 2}), (ONE, {"id": "x"}), (ONE, {"n": 2}), (PAIR, {"a": "x"}),
            (PAIR, {"a": "x", "b": "2"}),
        )
    ]  # fmt: skip
    assert [statement is None for statement in takes_out] == [False, False, True, True, False]
    assert SetAside().takes_out(ONE, {"id": "y"}, is_postgres=False) is None
    taken = [connection.execute(statement).all() for statement in takes_out if statement is not None]
    assert taken == [[(b"y",)], [], [(b"x", b"2")]]
    assert connection.execute(select(ONE.c.id)).scalars().all() == ["x", "z"]


def test_the_tables_of_a_statement_are_all_that_are_in_it() -> None:
    within = select(ONE.c.id).where(ONE.c.id.in_(select(PAIR.c.a)))
    assert tables_of(within) == {"one", "pair"}
    assert tables_of(text("SELECT 1")) == set()
