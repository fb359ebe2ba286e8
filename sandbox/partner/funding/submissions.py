"""Funding submissions: from a hash to credit, review or rejection (Funding).

The card provider re-checks every couple of minutes; here a submission is looked at again whenever the
scripted chain changes and whenever one of its deadlines falls due, which shows the same states.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sandbox.partner import codec, money
from sandbox.partner.accounts import accounts
from sandbox.partner.events import event_log
from sandbox.partner.funding import blockchain
from sandbox.partner.funding.blockchain import Transfer
from sandbox.partner.ledger import ledger
from sandbox.partner.state import World, stamp_now, timers

RECHECK_TIMER = "funding"
NOT_FOUND_AFTER = timedelta(hours=24)
_SHOWN = (
    "id", "network", "tx_hash", "status", "reason", "token", "amount_usd", "fee_usd", "credited_usd",
    "created_at", "credited_at",
)  # fmt: skip


@dataclass(frozen=True)
class Submission:
    """A submission as stored; `lookup_from` starts the 24 hours in which it must be found."""

    id: str
    account: str
    network: str
    tx_hash: str
    status: str
    reason: str | None
    token: str | None
    amount_usd: Decimal | None
    fee_usd: Decimal | None
    credited_usd: Decimal | None
    created_at: str
    credited_at: str | None
    lookup_from: str
    verified_at: str | None

    @property
    def unverified(self) -> bool:
        """Whether its transaction has not been read on the network yet."""
        return self.verified_at is None

    @property
    def paid(self) -> bool:
        """Was ever credited: such a claim is never displaced."""
        return self.credited_at is not None


def of_row(row: Any) -> Submission:
    """A submission as its row holds it."""
    values = {name: row[name] for name in Submission.__dataclass_fields__}
    for name in ("amount_usd", "fee_usd", "credited_usd"):
        values[name] = None if values[name] is None else Decimal(values[name])
    return Submission(**values)


def find(world: World, funding_id: str) -> Submission | None:
    """The submission with this id, whoever's it is, or None."""
    row = world.store.one("SELECT * FROM funding WHERE id = ?", funding_id)
    return of_row(row) if row else None


def all_submissions(world: World) -> list[Submission]:
    """Every submission of every account, oldest first."""
    return [of_row(row) for row in world.store.all("SELECT * FROM funding ORDER BY seq")]


def shown(submission: Submission) -> dict[str, Any]:
    """The Funding submission object."""
    return {name: getattr(submission, name) for name in _SHOWN}


def record(world: World, account_id: str, network: str, tx_hash: str) -> str:
    """A new pending submission, not yet looked up; its id."""
    now, funding_id = stamp_now(world), world.ids.uuid("funding")
    world.store.insert(
        "funding",
        id=funding_id,
        account=account_id,
        network=network,
        tx_hash=tx_hash,
        status="pending",
        created_at=now,
        lookup_from=now,
    )
    return funding_id


def recheck(world: World, funding_id: str) -> None:
    """Look at a pending submission again; credit it, decide it, or set the time of the next look."""
    submission = find(world, funding_id)
    if submission is None or submission.status != "pending":
        return
    transfer = blockchain.find(world, submission.network, submission.tx_hash)
    if submission.unverified:
        if transfer is None or not transfer.readable:
            _wait_to_be_found(world, submission)
            return
        if not _verified(world, submission, transfer):
            return
    if transfer is not None:
        _await_arrival(world, submission.id, transfer)


def _wait_to_be_found(world: World, submission: Submission) -> None:
    deadline = codec.moment(submission.lookup_from) + NOT_FOUND_AFTER
    if world.clock.now() >= deadline:
        _decide(world, submission.id, "rejected", "not_found")
    else:
        timers.set_timer(world, deadline, RECHECK_TIMER, submission.id)


def _verified(world: World, submission: Submission, transfer: Transfer) -> bool:
    """Record what the chain says, from now on fixed; True when the money may still come."""
    look = blockchain.verify(world, accounts.account(world, submission.account), transfer)
    amount = None if look.amount_usd is None else money.text(look.amount_usd)
    now = stamp_now(world)
    world.store.update("funding", "id", submission.id, verified_at=now, token=look.token, amount_usd=amount)
    if look.status != "pending":
        _decide(world, submission.id, look.status, look.reason)
    return look.status == "pending"


def _await_arrival(world: World, funding_id: str, transfer: Transfer) -> None:
    arrival = blockchain.arrival(transfer, world.clock.now())
    submission = find(world, funding_id)
    if submission is None:
        return
    suspended = accounts.account(world, submission.account).settings.suspended
    if arrival.reason or (arrival.arrived and suspended):
        _decide(world, funding_id, "review", arrival.reason or "held_by_operator")
    elif arrival.arrived and submission.amount_usd is not None:
        credit(world, submission, submission.amount_usd)
    elif arrival.again_at:
        timers.set_timer(world, arrival.again_at, RECHECK_TIMER, funding_id)


def _decide(world: World, funding_id: str, status: str, reason: str | None) -> None:
    world.store.update("funding", "id", funding_id, status=status, reason=reason)


def credit(world: World, submission: Submission, amount_usd: Decimal) -> None:
    """Credit an amount less the load fee: two ledger rows and the event, in the caller's transaction.

    `amount_usd` of the submission stays what was sent; a review may credit less (R182).
    """
    fee_usd = money.share(amount_usd, accounts.account(world, submission.account).settings.load_pct)
    credited_usd, now = money.add(amount_usd, -fee_usd), stamp_now(world)
    reference = f"funding-{submission.network}-{submission.tx_hash}"
    ledger.post(world, submission.account, amount_usd, "funding", reference)
    if fee_usd != money.ZERO:
        ledger.post(world, submission.account, -fee_usd, "fee", f"{reference}:fee", description="Load fee")
    figures = {"fee_usd": money.text(fee_usd), "credited_usd": money.text(credited_usd)}
    world.store.update(
        "funding", "id", submission.id, status="credited", reason=None, credited_at=now, **figures
    )
    data = {
        "funding_id": submission.id,
        "fee_usd": fee_usd,
        "credited_usd": credited_usd,
        "network": submission.network,
        "tx_hash": submission.tx_hash,
        "token": submission.token,
        "amount_usd": submission.amount_usd,
        "credited_at": now,
    }
    event_log.emit(world, submission.account, "float.credited", data)


def credit_separately(world: World, submission: Submission) -> None:
    """Credited by other means: no figures, no rows here, no event (R183)."""
    now = stamp_now(world)
    reason = "credited_separately"
    world.store.update("funding", "id", submission.id, status="credited", reason=reason, credited_at=now)


def reverse(world: World, submission: Submission) -> None:
    """Take a credit back: two rows, no event; the figures stay on the record (R184, R186)."""
    if submission.fee_usd is None or submission.credited_usd is None:
        raise ValueError(f"submission {submission.id} credited nothing here")
    reference = f"funding-reversal-{submission.network}-{submission.tx_hash}"
    sent_usd = money.add(submission.credited_usd, submission.fee_usd)
    ledger.post(world, submission.account, -sent_usd, "funding", reference)
    if submission.fee_usd != money.ZERO:
        ledger.post(world, submission.account, submission.fee_usd, "fee", f"{reference}:fee")
    _decide(world, submission.id, "rejected", "reversed_by_operator")


def decide(world: World, submission: Submission, status: str, reason: str) -> None:
    """An operator's word on a submission that moves no money."""
    _decide(world, submission.id, status, reason)
