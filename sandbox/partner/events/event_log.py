"""The event log: what happened, kept whether or not a webhook is registered."""

from __future__ import annotations

from typing import Any

from sandbox.partner import codec
from sandbox.partner.accounts import account
from sandbox.partner.schemas import PAYLOADS, project
from sandbox.partner.state import World, stamp_now


def emit(world: World, account_id: str, kind: str, payload: dict[str, Any]) -> str:
    """Record an event in the caller's transaction; its id. Its bytes never change afterwards.

    With an endpoint registered the first attempt is due at once, without one the event waits (U61, U66).
    """
    shown = project(PAYLOADS[kind], payload, account(world, account_id).settings.profile)
    registered = world.store.one("SELECT 1 FROM webhooks WHERE account = ?", account_id)
    event_id = world.ids.uuid("event")
    world.store.insert(
        "events",
        id=event_id,
        account=account_id,
        type=kind,
        payload=codec.encode(shown).decode(),
        created_at=stamp_now(world),
        delivered=0,
        delivered_at=None,
        attempts=0,
        next_at=stamp_now(world) if registered else None,
    )
    world.stirred.set()
    return event_id


def queue_waiting(world: World, account_id: str) -> None:
    """The first endpoint: everything that waited for one is due, oldest first (U66)."""
    world.store.run(
        "UPDATE events SET next_at = ? WHERE account = ? AND delivered = 0 AND attempts = 0",
        stamp_now(world),
        account_id,
    )
    world.stirred.set()


def record(row: Any) -> dict[str, Any]:
    """An Event record as GET /events shows it."""
    return {
        "id": row["id"],
        "type": row["type"],
        "payload": codec.decode(row["payload"].encode()),
        "delivered": bool(row["delivered"]),
        "delivered_at": row["delivered_at"],
        "attempts": row["attempts"],
        "created_at": row["created_at"],
    }
