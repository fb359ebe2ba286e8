"""Keeps the workspace over a restart: one SQLite table of JSON, written through at each change.

Each write is its own committed transaction in WAL mode, so a killed process loses nothing that
was answered. A power cut may lose the last moments; nobody's money is in here.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any


class Persist:
    """`path` None keeps nothing; then every method does nothing or answers empty."""

    def __init__(self, path: str | None) -> None:
        self._db = sqlite3.connect(path, isolation_level=None) if path is not None else None
        if self._db is not None:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS item"
                " (kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, id))"
            )

    def save(self, kind: str, key: str, body: Any) -> None:
        """Write an item, over any earlier one of that kind and key."""
        if self._db is not None:
            self._db.execute(
                "INSERT INTO item (kind, id, body) VALUES (?, ?, ?)"
                " ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body",
                (kind, key, json.dumps(body)),
            )

    def remove(self, kind: str, key: str) -> None:
        """Delete an item; one that is not there is no error."""
        if self._db is not None:
            self._db.execute("DELETE FROM item WHERE kind = ? AND id = ?", (kind, key))

    def load(self, kind: str) -> list[tuple[str, Any]]:
        """Everything of a kind, in the order in which it first came."""
        if self._db is None:
            return []
        rows = self._db.execute("SELECT id, body FROM item WHERE kind = ? ORDER BY rowid", (kind,))
        return [(key, json.loads(body)) for key, body in rows]

    def clear(self) -> None:
        """Delete everything."""
        if self._db is not None:
            self._db.execute("DELETE FROM item")

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()
