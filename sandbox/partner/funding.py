"""Funding submissions: from a hash to credit, review or rejection (Funding).

The service re-checks every couple of minutes; here a submission is looked at again whenever the
scripted chain changes and whenever one of its deadlines falls due, which shows the same states.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sandbox.partner import chain, codec, money
from sandbox.partner.accounts import NETWORKS, Settings, accounts
from sandbox.partner.calls import Call, paging
from sandbox.partner.chain import Transfer
from sandbox.partner.events import event_log
from sandbox.partner.http import Answer, Refusal, bad_request, not_found, unavailable
from sandbox.partner.ledger import ledger
from sandbox.partner.schemas import read_body, request_schemas
from sandbox.partner.state import World, stamp_now, timers

RECHECK_TIMER = "funding"
NOT_FOUND_AFTER = timedelta(hours=24)
UNVERIFIED_MOST = 5
_HASH = re.compile("0x[0-9a-fA-F]{64}")
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
    row = world.store.one("SELECT * FROM funding WHERE id = ?", funding_id)
    return of_row(row) if row else None


def all_submissions(world: World) -> list[Submission]:
    return [of_row(row) for row in world.store.all("SELECT * FROM funding ORDER BY seq")]


def shown(submission: Submission) -> dict[str, Any]:
    """The Funding submission object."""
    return {name: getattr(submission, name) for name in _SHOWN}


async def read_addresses(call: Call) -> Answer:
    """GET /funding/addresses: none is shown when any enabled one cannot be read."""
    settings = call.account.settings
    if set(settings.addresses_unreadable) & set(settings.networks):
        raise unavailable(503, "The funding addresses cannot be read now; do not send funds.")
    addresses = [
        {"network": name, "address": call.world.ids.address(name), "tokens": list(chain.TOKENS)}
        for name in NETWORKS
        if name in settings.networks
    ]
    return Answer.of({"addresses": addresses})


async def read_funding(call: Call) -> Answer:
    """GET /funding/{fundingId}: anything that is not an own submission is a 404."""
    found = find(call.world, call.path["fundingId"].lower())
    if found is None or found.account != call.account_id:
        raise not_found("The funding submission")
    return Answer.of(shown(found))


async def list_funding(call: Call) -> Answer:
    """GET /funding: newest first. Query and envelope are not documented (N3)."""
    page = paging.digits(call.query, default=50, most=100)
    total = call.world.store.number("SELECT count(*) FROM funding WHERE account = ?", call.account_id)
    rows = call.world.store.all(
        "SELECT * FROM funding WHERE account = ? ORDER BY created_at DESC, seq DESC LIMIT ? OFFSET ?",
        call.account_id,
        page.limit,
        page.skipped,
    )
    entries = [shown(of_row(row)) for row in rows]
    return Answer.of({"funding": entries, **paging.envelope(page, len(rows), total, zero_past_end=True)})


async def submit(call: Call) -> Answer:
    """POST /funding: idempotent on the hash; a 200 says nothing about credit."""
    body = read_body(request_schemas.FUNDING_BODY, call.request.body)
    network, tx_hash = _network(body["network"]), body["tx_hash"].lower()
    if not _HASH.fullmatch(body["tx_hash"]):
        raise bad_request("tx_hash must be 0x and 64 hex characters.")
    with call.world.store.transaction():
        own = _of_account(call.world, call.account_id, tx_hash)
        funding_id = _resubmitted(call, own, network) if own else _recorded(call, network, tx_hash)
        recheck(call.world, funding_id)
    found = find(call.world, funding_id)
    if found is None:
        raise not_found("The funding submission")
    return Answer.of(shown(found))


def _network(text: str) -> str:
    name = text.upper()
    name = "BNB" if name == "BSC" else name
    if name not in NETWORKS:
        raise bad_request("network must be POLYGON, BNB, BSC or BASE.")
    return name


def _of_account(world: World, account_id: str, tx_hash: str) -> Submission | None:
    row = world.store.one("SELECT * FROM funding WHERE account = ? AND tx_hash = ?", account_id, tx_hash)
    return of_row(row) if row else None


def _check_network(settings: Settings, network: str) -> None:
    if network not in settings.networks:
        raise bad_request(f"{network} is not a listed network.")
    if network in settings.addresses_unreadable:
        raise unavailable(503, f"The funding address on {network} cannot be read now.")


def _resubmitted(call: Call, own: Submission, network: str) -> str:
    """An own hash again: the record as it is, a corrected network, or a revived not_found."""
    revives = own.status == "rejected" and own.reason == "not_found"
    if network == own.network and not revives:
        return own.id
    if not own.unverified:
        if call.account.settings.late_network_change == "stored":
            return own.id
        raise bad_request(f"The transaction is verified on {own.network}; its network cannot be changed.")
    _check_network(call.account.settings, network)
    now = stamp_now(call.world)
    call.world.store.update(
        "funding",
        "id",
        own.id,
        network=network,
        status="pending",
        reason=None,
        lookup_from=now if revives else own.lookup_from,  # a correction does not restart the 24 hours
    )
    return own.id


def _recorded(call: Call, network: str, tx_hash: str) -> str:
    world = call.world
    _check_network(call.account.settings, network)
    transfer = chain.readable(world, network, tx_hash)
    if transfer and transfer.credited_elsewhere:
        raise Refusal(409, "ALREADY_CREDITED", "This transaction was already credited by other means.")
    for row in world.store.all("SELECT * FROM funding WHERE tx_hash = ?", tx_hash):
        _displace(call, of_row(row), network, transfer)
    waiting = world.store.number(
        "SELECT count(*) FROM funding WHERE account = ? AND status = 'pending' AND verified_at IS NULL",
        call.account_id,
    )
    if waiting >= UNVERIFIED_MOST:
        raise Refusal(429, "TOO_MANY_PENDING", f"{UNVERIFIED_MOST} submissions are still unverified.")
    return record(world, call.account_id, network, tx_hash)


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


def _displace(call: Call, other: Submission, network: str, transfer: Transfer | None) -> None:
    """Another account's claim on the hash: it vanishes, or this one is refused (POST /funding 3 to 5)."""
    taken = Refusal(409, "ALREADY_SUBMITTED", "Another account submitted this transaction.")
    if other.paid:
        raise taken
    if transfer is None and not other.unverified and other.network != network:
        raise taken  # the hash is a transaction of that other network
    if transfer is None:
        raise unavailable(503, "The transaction cannot be read on its network yet; nothing was recorded.")
    world = call.world
    sender = chain.sole_sender(world, transfer)
    wallet = world.store.one("SELECT * FROM wallets WHERE address = ?", sender or "")
    owned = wallet and wallet["owner"] == call.account_id and wallet["registered_at"] < other.created_at
    misplaced = other.unverified and other.network != network
    if not (owned or misplaced):
        raise taken
    world.store.run("DELETE FROM funding WHERE id = ?", other.id)


def recheck(world: World, funding_id: str) -> None:
    """Look at a pending submission again; credit it, decide it, or set the time of the next look."""
    submission = find(world, funding_id)
    if submission is None or submission.status != "pending":
        return
    transfer = chain.find(world, submission.network, submission.tx_hash)
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
    look = chain.verify(world, accounts.account(world, submission.account), transfer)
    amount = None if look.amount_usd is None else money.text(look.amount_usd)
    now = stamp_now(world)
    world.store.update("funding", "id", submission.id, verified_at=now, token=look.token, amount_usd=amount)
    if look.status != "pending":
        _decide(world, submission.id, look.status, look.reason)
    return look.status == "pending"


def _await_arrival(world: World, funding_id: str, transfer: Transfer) -> None:
    arrival = chain.arrival(transfer, world.clock.now())
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
    told = {
        "funding_id": submission.id,
        "fee_usd": fee_usd,
        "credited_usd": credited_usd,
        "network": submission.network,
        "tx_hash": submission.tx_hash,
        "token": submission.token,
        "amount_usd": submission.amount_usd,
        "credited_at": now,
    }
    event_log.emit(world, submission.account, "float.credited", told)


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
