"""The calls on /funding: addresses, submit a transaction hash, read and list submissions (Funding)."""

from __future__ import annotations

import re

from sandbox.partner.accounts import NETWORKS, Settings
from sandbox.partner.calls import PAGED, Call, Operation, paging
from sandbox.partner.funding import Submission, Transfer, blockchain, submissions
from sandbox.partner.http import Answer, Refusal, bad_request, not_found, unavailable
from sandbox.partner.schemas import read_body, request_schemas, response_schemas
from sandbox.partner.state import World, stamp_now

UNVERIFIED_MOST = 5
_HASH = re.compile("0[xX][0-9a-fA-F]{64}")


async def read_addresses(call: Call) -> Answer:
    """GET /funding/addresses: none is shown when any enabled one cannot be read."""
    settings = call.account.settings
    if set(settings.addresses_unreadable) & set(settings.networks):
        raise unavailable(503, "The funding addresses cannot be read now; do not send funds.")
    addresses = [
        {"network": name, "address": call.world.ids.address(name), "tokens": list(blockchain.TOKENS)}
        for name in NETWORKS
        if name in settings.networks
    ]
    return Answer.of({"addresses": addresses})


async def read_funding(call: Call) -> Answer:
    """GET /funding/{fundingId}: anything that is not an own submission is a 404."""
    found = submissions.find(call.world, call.path["fundingId"].lower())
    if found is None or found.account != call.account_id:
        raise not_found("The funding submission")
    return Answer.of(submissions.shown(found))


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
    entries = [submissions.shown(submissions.of_row(row)) for row in rows]
    found = paging.envelope(page, len(rows), total, call.account.settings)
    return Answer.of({"funding": entries, **found})


async def submit(call: Call) -> Answer:
    """POST /funding: idempotent on the hash; a 200 says nothing about credit."""
    body = read_body(request_schemas.FUNDING_BODY, call.request.body)
    network, tx_hash = _network(body["network"]), body["tx_hash"].lower()
    any_case = call.account.settings.tx_hash_prefix == "any_case"
    if not _HASH.fullmatch(body["tx_hash"]) or not (any_case or body["tx_hash"].startswith("0x")):
        raise bad_request("tx_hash must be 0x and 64 hex characters.")
    with call.world.store.transaction():
        own = _of_account(call.world, call.account_id, tx_hash)
        funding_id = _resubmitted(call, own, network) if own else _recorded(call, network, tx_hash)
        submissions.recheck(call.world, funding_id)
    found = submissions.find(call.world, funding_id)
    if found is None:
        raise not_found("The funding submission")
    return Answer.of(submissions.shown(found))


def _network(text: str) -> str:
    name = text.upper()
    name = "BNB" if name == "BSC" else name
    if name not in NETWORKS:
        raise bad_request("network must be POLYGON, BNB, BSC or BASE.")
    return name


def _of_account(world: World, account_id: str, tx_hash: str) -> Submission | None:
    row = world.store.one("SELECT * FROM funding WHERE account = ? AND tx_hash = ?", account_id, tx_hash)
    return submissions.of_row(row) if row else None


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
    transfer = blockchain.readable(world, network, tx_hash)
    if transfer and transfer.credited_elsewhere:
        raise Refusal(409, "ALREADY_CREDITED", "This transaction was already credited by other means.")
    for row in world.store.all("SELECT * FROM funding WHERE tx_hash = ?", tx_hash):
        _displace(call, submissions.of_row(row), network, transfer)
    waiting = world.store.number(
        "SELECT count(*) FROM funding WHERE account = ? AND status = 'pending' AND verified_at IS NULL",
        call.account_id,
    )
    if waiting >= UNVERIFIED_MOST:
        raise Refusal(429, "TOO_MANY_PENDING", f"{UNVERIFIED_MOST} submissions are still unverified.")
    return submissions.record(world, call.account_id, network, tx_hash)


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
    sender = blockchain.sole_sender(world, transfer)
    wallet = world.store.one("SELECT * FROM wallets WHERE address = ?", sender or "")
    owned = wallet and wallet["owner"] == call.account_id and wallet["registered_at"] < other.created_at
    misplaced = other.unverified and other.network != network
    if not (owned or misplaced):
        raise taken
    world.store.run("DELETE FROM funding WHERE id = ?", other.id)


OPERATIONS = (
    Operation(
        "GET",
        "/funding/addresses",
        "users:read",
        read_addresses,
        response_schemas.ADDRESSES,
        codes={503: ("UNAVAILABLE",)},
    ),
    Operation(
        "POST",
        "/funding",
        "users:write",
        submit,
        response_schemas.FUNDING,
        body=request_schemas.FUNDING_BODY,
        codes={
            400: ("BAD_REQUEST",),
            409: ("ALREADY_SUBMITTED", "ALREADY_CREDITED"),
            429: ("TOO_MANY_PENDING",),
            503: ("UNAVAILABLE",),
        },
    ),
    Operation(
        "GET",
        "/funding",
        "users:read",
        list_funding,
        response_schemas.FUNDING_LIST,
        query=PAGED,
        scope_source="invented",
        codes={400: ("BAD_REQUEST",)},
    ),
    Operation(
        "GET",
        "/funding/{fundingId}",
        "users:read",
        read_funding,
        response_schemas.FUNDING,
        codes={404: ("NOT_FOUND",)},
    ),
)
