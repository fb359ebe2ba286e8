"""The scripted chains: transfers, who owns which wallet, and what a look at a transfer tells.

Nothing here knows of submissions; `funding` asks and decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import msgspec

from sandbox.partner import codec, money
from sandbox.partner.accounts import Account
from sandbox.partner.state import World, stamp_now

Route = Literal["direct", "routed", "bridge"]
TOKENS = ("USDC", "USDT")
MINIMUM_USD = Decimal(10)
MOST_DECIMALS = 6
FINAL_AFTER = timedelta(hours=2)  # BNB Chain and Base, on the control API's word
ARRIVAL_WINDOW = timedelta(hours=72)
FINALITY_WINDOW = timedelta(hours=6)
MISSING_WINDOW = timedelta(hours=2)
_NEEDS_FINALITY = ("BNB", "BASE")


class Payment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One transfer of a token inside a transaction; `to` None is the funding address."""

    sender: str
    token: str
    amount: Decimal
    to: str | None = None


@dataclass(frozen=True)
class Transfer:
    """A transaction on a scripted chain, and how the card provider sees it arrive. Times are aware UTC."""

    network: str
    tx_hash: str
    payments: tuple[Payment, ...]
    route: Route
    ok: bool
    listed: bool
    readable: bool
    sent_at: datetime
    arrived_at: datetime | None
    final_at: datetime | None
    missing_since: datetime | None
    doubled: bool
    mismatch: str | None
    credited_elsewhere: bool

    def paid_in(self, address: str) -> list[Payment]:
        """The payments to the funding address; addresses compare case-insensitively."""
        return [paid for paid in self.payments if (paid.to or address).lower() == address.lower()]


@dataclass(frozen=True)
class Look:
    """What verification says: pending goes on to wait for the arrival."""

    status: Literal["pending", "rejected", "review"]
    reason: str | None = None
    token: str | None = None
    amount_usd: Decimal | None = None


def find(world: World, network: str, tx_hash: str) -> Transfer | None:
    """The transaction with this hash (lower case) on a network, or None."""
    row = world.store.one("SELECT * FROM transfers WHERE network = ? AND tx_hash = ?", network, tx_hash)
    if row is None:
        return None
    values: dict[str, Any] = {name: row[name] for name in Transfer.__dataclass_fields__}
    for name in ("sent_at", "arrived_at", "final_at", "missing_since"):
        values[name] = codec.moment(values[name]) if values[name] else None
    for name in ("ok", "listed", "readable", "doubled", "credited_elsewhere"):
        values[name] = bool(values[name])
    payments = msgspec.json.decode(row["payments"], type=tuple[Payment, ...])
    return Transfer(**{**values, "payments": payments})


def readable(world: World, network: str, tx_hash: str) -> Transfer | None:
    """The transfer as the card provider can read it now."""
    transfer = find(world, network, tx_hash)
    return transfer if transfer and transfer.readable else None


def owner_of(world: World, wallet: str) -> str | None:
    """An account id, `other` (an account elsewhere), `operator`, or None for nobody's."""
    row = world.store.one("SELECT owner FROM wallets WHERE address = ?", wallet.lower())
    return str(row["owner"]) if row else None


def sole_sender(world: World, transfer: Transfer) -> str | None:
    """The one wallet that paid the funding address, or None."""
    senders = _senders(transfer.paid_in(world.ids.address(transfer.network)))
    return senders[0] if len(senders) == 1 else None


def _senders(paid: Sequence[Payment]) -> list[str]:
    return sorted({payment.sender.lower() for payment in paid})


def verify(world: World, owner: Account, transfer: Transfer) -> Look:
    """Whose money it is first, then the amount (Decision order)."""
    paid = transfer.paid_in(world.ids.address(transfer.network))
    if not transfer.ok:
        return Look("rejected", "transaction_failed")
    if not paid:
        return Look("rejected", "not_a_funding_transfer")
    refused = _too_early(owner, transfer) or ("bridge_fill" if transfer.route == "bridge" else None)
    if refused:
        return _looked("rejected", refused, paid)
    return _whose(world, owner, transfer, paid) or _how_much(transfer, paid)


def _too_early(owner: Account, transfer: Transfer) -> str | None:
    if transfer.sent_at < codec.moment(owner.created_at):
        return "before_account_opened"
    since = owner.settings.automatic_funding_since
    return "before_automatic_funding" if since and transfer.sent_at < since else None


def _whose(world: World, owner: Account, transfer: Transfer, paid: list[Payment]) -> Look | None:
    senders = _senders(paid)
    owners = {owner_of(world, sender) for sender in senders}
    if "operator" in owners:
        return _looked("review", "operator_sender", paid)
    if len(senders) > 1:
        return _looked("review", "multiple_senders", paid)
    if owners - {None, owner.id}:
        return _looked("rejected", "unregistered_sender", paid)
    if None in owners and not owner.settings.accept_any_wallet:
        return _looked("review", "unregistered_sender", paid)
    if transfer.route == "routed":
        return _looked("review", "routed_transfer", paid)
    return None


def _how_much(transfer: Transfer, paid: list[Payment]) -> Look:
    """Token, mixture, minimum on the sum, decimals, in this order (U57)."""
    tokens = {payment.token for payment in paid}
    if tokens - set(TOKENS):
        return _looked("rejected", "unsupported_token", paid)
    if not transfer.listed:
        return _looked("review", "unlisted_token", paid)
    if len(tokens) > 1:
        return _looked("rejected", "mixed_tokens", paid)
    if money.total(payment.amount for payment in paid) < MINIMUM_USD:
        return _looked("rejected", "below_minimum", paid)
    if any(money.decimals(payment.amount) > MOST_DECIMALS for payment in paid):
        return _looked("review", "precision", paid)
    return _looked("pending", None, paid)


def _looked(
    status: Literal["pending", "rejected", "review"], reason: str | None, paid: list[Payment]
) -> Look:
    """Token and amount are shown when one accepted token was paid; the sum is what was sent."""
    tokens = {payment.token for payment in paid}
    if len(tokens) > 1 or tokens - set(TOKENS):
        return Look(status, reason)
    return Look(status, reason, tokens.pop(), money.total(payment.amount for payment in paid))


@dataclass(frozen=True)
class Arrival:
    """`arrived`, or a review reason, or neither: then look again at `again_at`."""

    arrived: bool = False
    reason: str | None = None
    again_at: datetime | None = None


def arrival(transfer: Transfer, now: datetime) -> Arrival:
    """Has the money of a verified transfer come in, as its network counts it?"""
    if transfer.credited_elsewhere:
        return Arrival(reason="already_credited")
    window_ends = transfer.sent_at + ARRIVAL_WINDOW
    if not transfer.readable:
        return _by(window_ends, now, "check_failed")
    if transfer.missing_since and transfer.network in _NEEDS_FINALITY:
        return _by(transfer.missing_since + MISSING_WINDOW, now, "receipt_changed")
    if transfer.arrived_at is None or transfer.arrived_at > now:
        return _by(window_ends, now, "not_arrived", transfer.arrived_at)
    if transfer.mismatch:
        return Arrival(reason="amount_mismatch")
    if transfer.doubled:
        return Arrival(reason="ambiguous_match")
    if transfer.network in _NEEDS_FINALITY and not (transfer.final_at and transfer.final_at <= now):
        return _by(transfer.arrived_at + FINALITY_WINDOW, now, "not_final", transfer.final_at)
    return Arrival(arrived=True)


def _by(deadline: datetime, now: datetime, reason: str, sooner: datetime | None = None) -> Arrival:
    if now >= deadline:
        return Arrival(reason=reason)
    return Arrival(again_at=min(deadline, sooner) if sooner and sooner > now else deadline)


def register_wallet(world: World, address: str, owner: str) -> None:
    """Register a wallet; `owner` is an account id, `other` or `operator`."""
    world.store.run(
        "INSERT INTO wallets VALUES (?, ?, ?) ON CONFLICT (address) DO UPDATE"
        " SET owner = excluded.owner, registered_at = excluded.registered_at",
        address.lower(),
        owner,
        stamp_now(world),
    )
