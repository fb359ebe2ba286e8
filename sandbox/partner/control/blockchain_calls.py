"""Control calls that script the chains: transfers, wallets, and the operators' decisions on funding."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec

from sandbox.partner import codec, money
from sandbox.partner.accounts import Network, Utc
from sandbox.partner.control import state_view
from sandbox.partner.control.forms import YEARS, ControlCall, Form, Nothing, Reply, Wrong, account_named
from sandbox.partner.funding import Payment, Route, Submission, blockchain, submissions
from sandbox.partner.state import World

_DECIMALS = 40  # more than any token has
Hash = Annotated[str, msgspec.Meta(pattern="^0x[0-9a-fA-F]{64}$")]


class TransferOrder(Form):
    """`payments`, or for a single one `senders`, `token` and `amount`."""

    network: Network
    tx_hash: Hash
    payments: list[Payment] | None = None
    senders: Annotated[list[str], msgspec.Meta(min_length=1)] | None = None
    token: str | None = None
    amount: Decimal | None = None
    route: Route = "direct"
    ok: bool = True
    listed: bool = True
    readable: bool = True
    sent_at: Utc | None = None
    arrives: Literal["now", "manual"] = "now"


class Mismatch(Form):
    """Which part of the arrival differs from what was verified."""

    field: Literal["token", "amount", "sender"]


class Wallet(Form):
    """Whose a wallet is: the account's, another partner's, or the card provider's own."""

    address: str
    owner: Literal["self", "other", "operator"]
    account: str | None = None


class Decision(Form):
    """What an operator decides on a submission; `amount_usd` only with a credit."""

    decision: Literal["credit", "credit_separately", "reject", "reverse", "hold"]
    amount_usd: Decimal | None = None


def add_transfer(world: World, form: TransferOrder) -> Reply:
    """Put a transaction on a chain; submissions that wait for it are looked at again at once."""
    tx_hash = form.tx_hash.lower()
    if blockchain.find(world, form.network, tx_hash):
        raise Wrong(f"tx_hash: {tx_hash} is on {form.network} already")
    now = world.clock.now()
    sent_at = form.sent_at or now
    if not YEARS[0] <= sent_at.year <= YEARS[1]:
        raise Wrong(f"sent_at: years run from {YEARS[0]} to {YEARS[1]}")
    arrives = form.arrives == "now"
    with world.store.transaction():
        world.store.insert(
            "transfers",
            network=form.network,
            tx_hash=tx_hash,
            payments=msgspec.json.encode(_payments(form)).decode(),
            route=form.route,
            ok=int(form.ok),
            listed=int(form.listed),
            readable=int(form.readable),
            sent_at=codec.stamp(sent_at),
            arrived_at=codec.stamp(now) if arrives else None,
            final_at=codec.stamp(now + blockchain.FINAL_AFTER) if arrives else None,
        )
        _look_again(world, tx_hash)
    return {"network": form.network, "tx_hash": tx_hash}


def _payments(form: TransferOrder) -> list[Payment]:
    if form.payments is not None:
        if form.senders is not None or form.token is not None or form.amount is not None:
            raise Wrong("payments: give either payments, or senders with token and amount")
        payments = form.payments
    else:
        if form.senders is None or form.token is None or form.amount is None:
            raise Wrong("payments: give either payments, or senders with token and amount")
        payments = _split(form.senders, form.token, form.amount)
    for paid in payments:
        if (
            not paid.amount.is_finite()
            or not 0 <= paid.amount < 10**12
            or money.decimals(paid.amount) > _DECIMALS
        ):
            raise Wrong(f"amount: a number from 0 to below 10^12 with at most {_DECIMALS} decimals")
    return payments


def _split(senders: list[str], token: str, amount: Decimal) -> list[Payment]:
    """One payment seen as coming from several wallets: the first pays it, the rest add nothing."""
    rest = [Payment(sender, token, money.ZERO) for sender in senders[1:]]
    return [Payment(senders[0], token, amount), *rest]


def change_transfer(change: str) -> Any:
    """The control call that applies one named change to a transfer."""

    def run(world: World, form: Form, tx_hash: str) -> Reply:
        rows = world.store.all("SELECT network FROM transfers WHERE tx_hash = ?", tx_hash.lower())
        if not rows:
            raise Wrong(f"tx_hash: {tx_hash} is on no chain", 404)
        with world.store.transaction():
            for row in rows:
                _apply(world, row["network"], tx_hash.lower(), change, form)
            _look_again(world, tx_hash.lower())
        return {"tx_hash": tx_hash.lower(), "applied": change}

    run.__doc__ = _CHANGED[change]
    return run


_CHANGED = {
    "arrive": "The transfer reaches the funding address now.",
    "finalize": "The transfer is final on its network now.",
    "drop": "The transfer is no longer on its chain as it was verified.",
    "duplicate_arrival": "Polygon reports the arrival a second time.",
    "unreadable": "The transaction cannot be read on its chain.",
    "readable": "The transaction can be read on its chain again.",
    "credited_elsewhere": "The same funds were credited by other means.",
    "mismatch": "An arrival is reported that differs in token, amount or sender.",
}


def _apply(world: World, network: str, tx_hash: str, change: str, form: Form) -> None:
    now = world.clock.now()
    stamp, past = codec.stamp(now), codec.stamp(now - timedelta(milliseconds=1))
    if change == "duplicate_arrival" and network != "POLYGON":
        raise Wrong("duplicate_arrival: only Polygon reports arrivals that way")
    changes: dict[str, dict[str, Any]] = {
        "arrive": {"arrived_at": stamp, "missing_since": None},
        "finalize": {"final_at": stamp},
        "drop": {"missing_since": stamp, **({"arrived_at": None} if network == "POLYGON" else {})},
        "duplicate_arrival": {"arrived_at": stamp, "doubled": 1},
        "mismatch": {"arrived_at": stamp, "mismatch": form.field if isinstance(form, Mismatch) else None},
        "unreadable": {"readable": 0},
        "readable": {"readable": 1},
        "credited_elsewhere": {"credited_elsewhere": 1},
    }
    if change == "finalize":
        row = world.store.one(
            "SELECT arrived_at FROM transfers WHERE network = ? AND tx_hash = ?", network, tx_hash
        )
        changes["finalize"]["arrived_at"] = (row["arrived_at"] if row else None) or past
    for column, value in changes[change].items():
        world.store.run(
            f"UPDATE transfers SET {column} = ? WHERE network = ? AND tx_hash = ?",  # noqa: S608 - names above
            value,
            network,
            tx_hash,
        )


def _look_again(world: World, tx_hash: str) -> None:
    for row in world.store.all("SELECT id FROM funding WHERE tx_hash = ?", tx_hash):
        submissions.recheck(world, row["id"])


def register_wallet(world: World, form: Wallet) -> Reply:
    """Register a wallet to the account, to some other account, or to the card provider itself."""
    owner = account_named(world, form.account) if form.owner == "self" else form.owner
    blockchain.register_wallet(world, form.address, owner)
    return {"address": form.address.lower(), "owner": owner}


def decide(world: World, form: Decision, funding_id: str) -> Reply:
    """An operator's decision: on a review, or a reversal of a credit, or a hold on what is pending."""
    found = submissions.find(world, funding_id)
    if found is None:
        raise Wrong(f"id: funding {funding_id} is not here", 404)
    needed = {"reverse": "credited", "hold": "pending"}.get(form.decision, "review")
    if found.status != needed:
        raise Wrong(
            f"decision: {form.decision} needs a submission that is {needed}; it is {found.status}", 409
        )
    if form.amount_usd is not None and form.decision != "credit":
        raise Wrong("amount_usd: only a credit takes an amount")
    with world.store.transaction():
        _carry_out(world, form, found)
    return {"funding": state_view.funding_text(submissions.find(world, funding_id) or found)}


def _carry_out(world: World, form: Decision, found: Submission) -> None:
    if form.decision == "credit":
        submissions.credit(world, found, _creditable(form, found))
    elif form.decision == "credit_separately":
        submissions.credit_separately(world, found)
    elif form.decision == "reject":
        submissions.decide(world, found, "rejected", "rejected_by_operator")
    elif form.decision == "hold":
        submissions.decide(world, found, "review", "held_by_operator")
    elif found.credited_usd is None:
        raise Wrong(
            "decision: these funds were credited by other means; there is no credit here to reverse", 409
        )
    else:
        submissions.reverse(world, found)


def _creditable(form: Decision, found: Submission) -> Decimal:
    amount_usd = form.amount_usd if form.amount_usd is not None else found.amount_usd
    if amount_usd is None:
        raise Wrong("amount_usd: what was sent was not read as one amount; say how much to credit")
    most_usd = found.amount_usd if found.amount_usd is not None else amount_usd
    if not amount_usd.is_finite() or not 0 < amount_usd <= most_usd or money.decimals(amount_usd) > 10:
        raise Wrong(f"amount_usd: above 0 and at most the {money.text(most_usd)} that was sent")
    return amount_usd


_CHANGES = ("arrive", "finalize", "drop", "duplicate_arrival", "unreadable", "readable", "credited_elsewhere")

CALLS: tuple[ControlCall, ...] = (
    ControlCall("POST", "chain/transfers", TransferOrder, add_transfer),
    *(
        ControlCall("POST", f"chain/transfers/{{}}/{change}", Nothing, change_transfer(change))
        for change in _CHANGES
    ),
    ControlCall("POST", "chain/transfers/{}/mismatch", Mismatch, change_transfer("mismatch")),
    ControlCall("POST", "wallets", Wallet, register_wallet),
    ControlCall("POST", "funding/{}/decide", Decision, decide),
)
