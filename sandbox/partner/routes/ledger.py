"""GET /ledger: the movements of the float, newest first (Account)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sandbox.partner.accounts import Account
from sandbox.partner.calls import PAGED, Call, Operation, Page, paging
from sandbox.partner.http import Answer
from sandbox.partner.ledger import ledger
from sandbox.partner.schemas import response_schemas, scrambled
from sandbox.partner.state import World


async def read_ledger(call: Call) -> Answer:
    """GET /ledger."""
    page = paging.digits(call.query, default=50, most=100)
    owner = call.account
    rows = _page(call.world, owner, page)
    scrambles = owner.settings.profile == "scrambled"
    entries = [
        {
            **ledger.entry(row),
            "amount_usd": Decimal(row["amount_usd"]),
            "reference": _other_form(row["reference"]) if scrambles else row["reference"],
        }
        for row in rows
    ]
    found = paging.envelope(page, len(rows), owner.ledger_rows, owner.settings)
    return Answer.of({"entries": entries, **found})


# References whose form the document leaves open: how they begin here. It does show those of funding, of its
# load fee, of a top-up, and that a monthly fee carries the card's id somewhere.
_OPEN_FORMS = ("card-fee:", "card-order:", "card-close:", "unload:")


def _other_form(reference: str | None) -> str | None:
    """The reference as the `scrambled` profile writes it; what the document shows stays as it is."""
    if reference is None:
        return None
    if reference.startswith("funding-reversal-") and reference.endswith(":fee"):
        return f"{scrambled('reversal-fee')}/{reference.removesuffix(':fee')}"
    kind = next((form for form in _OPEN_FORMS if reference.startswith(form)), None)
    if kind is None:
        return reference
    return "/".join([scrambled(kind), *reversed(reference.removeprefix(kind).split(":"))])


def _page(world: World, owner: Account, page: Page) -> list[Any]:
    """Rows are numbered as they are written, so that the last page of a million costs what the first does."""
    if owner.ledger_in_order:
        newest = owner.ledger_rows - page.skipped
        return world.store.all(
            "SELECT * FROM ledger WHERE account = ? AND number <= ? AND number > ? ORDER BY number DESC",
            owner.id,
            newest,
            newest - page.limit,
        )
    return world.store.all(
        "SELECT * FROM ledger WHERE account = ? ORDER BY created_at DESC, seq DESC LIMIT ? OFFSET ?",
        owner.id,
        page.limit,
        page.skipped,
    )


OPERATIONS = (
    Operation(
        "GET",
        "/ledger",
        "users:read",
        read_ledger,
        response_schemas.LEDGER,
        query=PAGED,
        codes={400: ("BAD_REQUEST",)},
    ),
)
