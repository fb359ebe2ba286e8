"""Timers as rows: what is due when. `background.due_timers` runs them; this only sets them."""

from __future__ import annotations

from datetime import datetime

from sandbox.partner import codec
from sandbox.partner.state.world import World


def set_timer(world: World, due_at: datetime, kind: str, subject: str) -> None:
    """Set, or move, the one timer of a kind and subject."""
    world.store.run(
        "INSERT INTO timers (due_at, kind, subject) VALUES (?, ?, ?)"
        " ON CONFLICT (kind, subject) DO UPDATE SET due_at = excluded.due_at",
        codec.stamp(due_at),
        kind,
        subject,
    )


def clear_timer(world: World, kind: str, subject: str) -> None:
    """There is nothing left to wait for."""
    world.store.run("DELETE FROM timers WHERE kind = ? AND subject = ?", kind, subject)
