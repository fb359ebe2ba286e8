"""The table of operations, put together from the sections: routing, faults and OpenAPI read it."""

from __future__ import annotations

from sandbox.partner.calls import Operation
from sandbox.partner.routes import (
    account,
    balances,
    card_details,
    card_settings,
    cards,
    closing,
    deposits,
    events,
    funding,
    ledger,
    topups,
    transactions,
    unloads,
    webhooks,
)

BASE_PATH = "/api/partner/v1"

OPERATIONS: tuple[Operation, ...] = tuple(
    operation
    for section in (
        account,
        ledger,
        cards,
        topups,
        balances,
        unloads,
        closing,
        funding,
        events,
        card_settings,
        transactions,
        card_details,
        webhooks,
        deposits,
    )
    for operation in section.OPERATIONS
)


def by_name(name: str) -> Operation | None:
    """An operation as the control API names it: `POST /cards/{cardId}/topup`."""
    return next((operation for operation in OPERATIONS if operation.name == name), None)


def at_path(path: str) -> list[tuple[Operation, dict[str, str]]]:
    """Every operation on a path below the base path; a literal path wins over a template."""
    found = []
    for operation in OPERATIONS:
        match = operation.pattern.fullmatch(path)
        if match:
            found.append((operation, match.groupdict()))
    literal = [(operation, values) for operation, values in found if not values]
    return literal or found
