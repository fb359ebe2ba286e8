"""Leases that a test writes by itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from storage.transaction import DATABASE_CLOCK, Tx


def lease_end(tx: Tx, lasts: timedelta) -> Any:
    """So long from now on the clock of leases, as a value to write."""
    return DATABASE_CLOCK + lasts if tx.is_postgres else tx.machine_now + lasts
