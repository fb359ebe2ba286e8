"""What belongs to a row of another table is found without reading the whole of its own."""

import pytest
from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint

from storage import tables as t

OWNED = [
    (table, [column.name for column in key.columns])
    for table in t.request.metadata.sorted_tables
    for key in sorted(table.foreign_key_constraints, key=lambda key: str(key.name))
]


def leading_columns(table: Table) -> set[str]:
    """The first column of every index of all rows: a partial one serves only searches that repeat its condition."""
    whole = [index for index in table.indexes if not _is_partial(index)]
    constraints = [c for c in table.constraints if isinstance(c, PrimaryKeyConstraint | UniqueConstraint)]
    return {next(iter(found.columns)).name for found in (*whole, *constraints) if len(found.columns)}


def _is_partial(index: Index) -> bool:
    return any(index.dialect_options[name].get("where") is not None for name in ("sqlite", "postgresql"))


@pytest.mark.parametrize(
    ("table", "columns"), OWNED, ids=[f"{table.name}.{columns[0]}" for table, columns in OWNED]
)
def test_rows_that_belong_to_another_have_an_index_by_it(table: Table, columns: list[str]) -> None:
    assert columns[0] in leading_columns(table)
