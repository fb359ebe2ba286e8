"""The endpoint that an account has registered for its events (Webhooks and events)."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.partner.state import World


@dataclass(frozen=True)
class Registration:
    """An account's endpoint as stored; the secret signs its deliveries."""

    account: str
    url: str
    secret: str
    updated_at: str


def find(world: World, account_id: str) -> Registration | None:
    """The endpoint of an account, or None before the first PUT /webhook."""
    row = world.store.one("SELECT * FROM webhooks WHERE account = ?", account_id)
    return Registration(**dict(row)) if row else None
