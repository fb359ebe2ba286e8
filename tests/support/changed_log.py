"""What somebody does to the audit log who can write to the database, but has no master key."""

from __future__ import annotations

from sqlalchemy import text

from storage.store import Store


async def raw(store: Store, *statements: str) -> None:
    """Triggers off, then anything."""
    async with store.begin() as tx:
        if tx.is_postgres:
            await tx.run(text("SET LOCAL session_replication_role = replica"))
        else:
            for name in ("audit_no_update", "audit_no_delete"):
                await tx.run(text(f"DROP TRIGGER IF EXISTS {name}"))
        for statement in statements:
            await tx.run(text(statement.replace(":", r"\:")))
