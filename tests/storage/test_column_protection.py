"""No column is added without saying why a thief of the database gains nothing by changing it."""

from __future__ import annotations

from collections import Counter

import pytest

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
