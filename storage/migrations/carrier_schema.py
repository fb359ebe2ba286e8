"""The tables of the carrier on PostgreSQL: procrastinate's own, brought to the version that is installed.

They come as files of SQL in its package: the whole of it, and one file for each step between versions. Which step this
database is at is noted in `meta`. A revision of ours that goes with a newer procrastinate calls `bring_up` again.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from sqlalchemy import Connection, text

_NOTED = "carrier_schema"


def newest() -> str:
    """The last step that the installed package knows."""
    return _steps()[-1]


def bring_up(connection: Connection) -> None:
    """Make the tables, or take the steps that are missing. In the transaction of the migration."""
    noted = connection.execute(
        text("SELECT value FROM meta WHERE name = :name"), {"name": _NOTED}
    ).scalar_one_or_none()
    if noted is None:
        _run(connection, (_package() / "schema.sql").read_text(encoding="utf-8"))
    for step in _steps():
        if noted is not None and step > noted:
            _run(connection, (_package() / "migrations" / step).read_text(encoding="utf-8"))
    connection.execute(text("DELETE FROM meta WHERE name = :name"), {"name": _NOTED})
    connection.execute(
        text("INSERT INTO meta (name, value) VALUES (:name, :value)"), {"name": _NOTED, "value": newest()}
    )


def _package() -> Traversable:
    return files("procrastinate") / "sql"


def _steps() -> list[str]:
    return sorted(file.name for file in (_package() / "migrations").iterdir() if file.name.endswith(".sql"))


def _run(connection: Connection, sql: str) -> None:
    """As it is: it holds several statements, and percent signs of its own."""
    raw: Any = connection.connection.driver_connection
    raw.cursor().execute(sql.encode())
