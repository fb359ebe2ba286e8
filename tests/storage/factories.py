"""Requests and decisions as storage tests need them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.domain.requests import Decision, DecisionKind, Event, Request, State
from storage.requests import decisions, requests
from storage.store import Store
from storage.transaction import Tx

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PRIVATE = {"phone": "+14155550123", "email": "alice.canary@example.com"}
BODY = b'{"amount_usd":50.00,"email":"alice.canary@example.com"}'


def request(request_id: str = "R-7K3M", **changes: Any) -> Request:
    made = Request(
        id=request_id,
        program="main",
        kind="card_topup",
        state=State.PENDING,
        version=1,
        requester="UALICE",
        requester_name="Alice",
        reason="Fuel",
        terms={"card_id": "c4rdA", "amount_usd": "50.00"},
        subject="card:c4rdA",
        subject_label="ALICE MOREAU ••4242",
        summary="Top up ALICE MOREAU ••4242 by 50.00 USD",
        exposure_usd=Decimal("50.00"),
        digest="ab" * 32,
        key=f"co-ab12cd-{request_id}",
        approvals_needed=1,
        policy_version="p1",
        created_at=NOW,
        expires_at=NOW + timedelta(hours=8),
    )
    return replace(made, **changes)


def decision(
    of: Request, actor: str = "UBOB", kind: DecisionKind = DecisionKind.APPROVE, **changes: Any
) -> Decision:
    made = Decision(
        id=f"{of.id}-{actor}-{kind}",
        request_id=of.id,
        kind=kind,
        actor=actor,
        actor_name=actor.title(),
        requester=of.requester,
        digest=of.digest,
        policy_version="p1",
        mac="mac",
        decided_at=NOW,
    )
    return replace(made, **changes)


async def insert(tx: Tx, *made: Request) -> None:
    for one in made:
        await requests.insert(tx, one, private=PRIVATE, body=BODY)


async def approved(store: Store, request_id: str = "R-7K3M", *, by: str = "UBOB", **changes: Any) -> Request:
    """A request that was asked for and approved at the store's present time."""
    made = request(request_id, **changes)
    async with store.begin() as tx:
        await insert(tx, made)
        await decisions.insert(tx, decision(made, by))
        return await requests.move(
            tx,
            made,
            Event.APPROVE,
            approved_at=tx.now,
            valid_until=tx.now + timedelta(minutes=15),
            due_at=tx.now,
        )
