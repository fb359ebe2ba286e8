"""Holding something by its name until the transaction ends, where there is no row yet that could be locked."""

from __future__ import annotations

from sqlalchemy import text

from storage.transaction import Tx

_HOLD = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


async def hold(tx: Tx, name: str) -> None:
    """One transaction at a time goes on with `name`. SQLite's write lock does so already.

    Whoever holds several takes them in the order of their names, and locks rows only after that.
    """
    if tx.is_postgres:
        await tx.run(_HOLD.bindparams(name=name))
