"""The float's movements as CSV, without an event loop: every page of the ledger is read as it is needed."""

from __future__ import annotations

import csv
from decimal import Decimal
from typing import TextIO

from countersign_partner import SyncPartnerClient


def write_statement(client: SyncPartnerClient, out: TextIO) -> Decimal:
    """One line a movement, the newest first; the sum of all of them in USD, which is the balance of the float."""
    lines = csv.writer(out)
    lines.writerow(["created_at", "kind", "card_id", "amount_usd", "description"])
    total_usd = Decimal(0)
    for entry in client.ledger_entries():
        total_usd += entry.amount_usd
        lines.writerow(
            [entry.created_at.isoformat(), entry.kind, entry.card_id, entry.amount_usd, entry.description]
        )
    return total_usd
