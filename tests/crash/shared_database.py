"""A PostgreSQL database that several bots share: read from outside, cut off, and closed to everybody for a while."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row
from sqlalchemy import make_url

# While it is closed to everybody, whoever reads it from outside asks again for so long.
OPENS_WITHIN_S = 20.0


class SharedDatabase:
    """One database of a server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._name = make_url(url).database or ""
        # Its own door is the only one that can be closed from outside.
        self._beside = make_url(url).set(database="postgres").render_as_string(hide_password=False)
        self._connection: psycopg.Connection[dict[str, Any]] | None = None

    def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        """As SQLite would give them: times and JSON as text."""
        until = time.monotonic() + OPENS_WITHIN_S
        while True:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = psycopg.connect(self.url, autocommit=True, row_factory=dict_row)
                found = self._connection.execute(sql.replace("?", "%s"), values or None).fetchall()
            except psycopg.OperationalError:
                self._connection = None
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
            else:
                return [{name: _as_text(value) for name, value in row.items()} for row in found]

    def listens_at(self) -> tuple[str, int] | str:
        """Host and port of its server, or the path of its socket."""
        url = make_url(self.url)
        host, port = url.host or str(url.query.get("host", "localhost")), url.port or 5432
        return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)

    def url_at(self, port: int) -> str:
        """The same database, by a line of this machine."""
        url = make_url(self.url).difference_update_query(["host", "port"]).set(host="127.0.0.1", port=port)
        return url.render_as_string(hide_password=False)

    def cut_everybody_off(self) -> int:
        """End every connection to it, in the middle of whatever it does; how many there were."""
        return len(self._say("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"))

    def close_for(self, seconds: float) -> None:
        """Nobody gets in, and whoever is in is out; then it is open again."""
        self._say(f"ALTER DATABASE {self._name} ALLOW_CONNECTIONS false")
        try:
            self.cut_everybody_off()
            time.sleep(seconds)
        finally:
            self._say(f"ALTER DATABASE {self._name} ALLOW_CONNECTIONS true")

    def forget(self) -> None:
        """Close the connection that reads."""
        if self._connection is not None:
            self._connection.close()

    def _say(self, sql: str) -> list[Any]:
        with psycopg.connect(self._beside, autocommit=True) as connection:
            done = connection.execute(sql, (self._name,) if "%s" in sql else None)
            with suppress(psycopg.ProgrammingError):  # nothing to fetch
                return done.fetchall()
        return []


def _as_text(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return json.dumps(value) if isinstance(value, dict | list) else value
