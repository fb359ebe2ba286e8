"""No column is added without saying why a thief of the database gains nothing by changing it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from storage.cards import api_snapshots
from storage.protection import column_protection
from storage.protection.column_protection import Class
from storage.tables import metadata


def test_every_column_of_every_table_has_one_class() -> None:
    declared = {(table.name, column.name) for table in metadata.tables.values() for column in table.columns}
    classed = Counter((table, column) for table, column, _ in column_protection.protections())

    assert declared - set(classed) == set(), "say in storage/column_protection.py why it may be changed"
    assert set(classed) - declared == set(), "there is no such column"
    assert {name for name, count in classed.items() if count > 1} == set(), "one class a column"


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_what_is_harmless_says_why(table: str) -> None:
    for column, protection in column_protection.of_table(table).items():
        if protection.by is Class.HARMLESS:
            assert len(protection.why.split()) >= 6, (column, protection.why)


ROOT = Path(__file__).parents[2]
#: The functions that are given the name of a reading, and at which place.
_NAMED = {"get": 2, "get_signed": 2, "put": 2, "put_signed": 2, "named": 2, "take": 2, "drop": 2}


def names_of_readings() -> Iterator[tuple[Path, str]]:
    """How the name of each reading begins, wherever one is read or written, with the file."""
    for path in [*ROOT.glob("bot/**/*.py"), *ROOT.glob("storage/**/*.py")]:
        text = path.read_text()
        if "api_snapshots" not in text and "Kind(" not in text:
            continue
        module = import_module(
            ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        )
        for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
            match call.func:
                case ast.Attribute(ast.Name("api_snapshots"), called) if called in _NAMED:
                    given = call.args[_NAMED[called]]
                case ast.Name("Kind" | "SignedKind") if len(call.args) > 1:
                    given = call.args[0]
                case _:
                    continue
            if (begins := _begins(given, module)) is not None:
                yield path, begins


def _begins(given: ast.expr, module: object) -> str | None:
    """None where the name is an argument of the function."""
    match given:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr([first, *_]):
            return _begins(first.value if isinstance(first, ast.FormattedValue) else first, module)
        case ast.BinOp(left, ast.Add(), _):
            return _begins(left, module)
        case ast.Name(name) | ast.Call(ast.Name(name)):
            found = getattr(module, name, None)
            if callable(found):
                found = found("")
            return found if isinstance(found, str) else None
        case ast.Attribute(ast.Name(of), name):
            return str(getattr(getattr(module, of, None), name, "")) or None
    return None


def test_every_reading_has_a_class_by_its_name() -> None:
    found = {name for _, name in names_of_readings()}
    assert len(found) > 20, sorted(found)
    without = {
        name for name in found if not any(name.startswith(begins) for begins in column_protection.READINGS)
    }
    assert without == set(), "say in storage/column_protection.py why it may be changed"
    assert {
        name for name in column_protection.READINGS if not any(one.startswith(name) for one in found)
    } == set(), "there is no such reading"


def test_a_reading_that_is_said_to_be_signed_is() -> None:
    signed = {name for name, one in column_protection.READINGS.items() if one.by is Class.SIGNED}
    assert signed == api_snapshots.SIGNED | {"look:"}
    for name, one in column_protection.READINGS.items():
        assert len(one.why.split()) >= 6, name
