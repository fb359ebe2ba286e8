"""Named situations of funding: `funding-<status>-<reason>` for every reason, and the claims on a hash.

Each puts a transaction on a chain and says what to `submit`; some need control calls `after` the
submission, in which `{id}` is the submission's id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from sandbox.partner import codec
from sandbox.partner.accounts import accounts
from sandbox.partner.funding import Payment, blockchain, submissions
from sandbox.partner.scenarios import scenario_file, seeds
from sandbox.partner.scenarios.files import FILES
from sandbox.partner.state import World

_STRANGER = "0x000000000000000000000000000000000000bEEF"
_ELSEWHERE = "0x000000000000000000000000000000000000cAFE"
_OPERATOR = "0x000000000000000000000000000000000000FeeD"
_HASH = seeds.tx_hash(2)
_LONG_AGO = timedelta(days=1)

Setup = Callable[[World, list[str]], dict[str, Any]]
After = Sequence[dict[str, Any]]


def _pay(
    sender: str = seeds.WALLET, amount: str = "250", coin: str = "USDC", to: str | None = None
) -> Payment:
    return Payment(sender, coin, Decimal(amount), to)


def _found(*payments: Payment, network: str = "POLYGON", after: After = (), **columns: Any) -> Setup:
    """A transaction on its chain, to be submitted there."""

    def set_up(world: World, _cards: list[str]) -> dict[str, Any]:
        blockchain.register_wallet(world, _ELSEWHERE, "other")
        blockchain.register_wallet(world, _OPERATOR, "operator")
        made = {name: value(world) if callable(value) else value for name, value in columns.items()}
        seeds.send(world, payments or [_pay()], _HASH, network, **made)
        return {"submit": {"network": network, "tx_hash": _HASH}, "after": list(after)}

    return set_up


def _ago(**span: float) -> Callable[[World], str]:
    return lambda world: codec.stamp(world.clock.now() - timedelta(**span))


def _before_automatic(world: World, cards: list[str]) -> dict[str, Any]:
    since = codec.stamp(world.clock.now() + _LONG_AGO)
    accounts.change_settings(world, accounts.first_account(world), {"automatic_funding_since": since})
    return _found()(world, cards)


def _claim_replaced(world: World, cards: list[str]) -> dict[str, Any]:
    """The first account claims a transaction that a second account's registered wallet paid."""
    rows = world.store.all("SELECT id FROM accounts ORDER BY seq")
    second = rows[1]["id"] if len(rows) > 1 else accounts.open_account(world, "Partner 2", None)
    with world.clock.at(world.clock.now() - _LONG_AGO):
        blockchain.register_wallet(world, _STRANGER, second)
    claim = submissions.record(world, accounts.first_account(world), "POLYGON", _HASH)
    seeds.send(world, [_pay(_STRANGER)], _HASH, arrived_at=None, final_at=None)
    submissions.recheck(world, claim)
    submit = {"network": "POLYGON", "tx_hash": _HASH, "account": second}
    return {"claim": claim, "submit": submit}


def _five_unverified(world: World, _cards: list[str]) -> dict[str, Any]:
    for number in range(5):
        made = submissions.record(world, accounts.first_account(world), "POLYGON", seeds.tx_hash(10 + number))
        submissions.recheck(world, made)
    return {"submit": {"network": "POLYGON", "tx_hash": _HASH}}


def _of_file(path: Path) -> Setup:
    return lambda world, cards: scenario_file.set_up(world, cards, path)


_MANUAL: dict[str, Any] = {"arrived_at": None, "final_at": None}

FUNDING: dict[str, Setup] = {
    **{name: _of_file(path) for name, path in FILES.items() if name.startswith("funding-")},
    "funding-rejected-before_automatic_funding": _before_automatic,
    "funding-review-not_arrived": _found(sent_at=_ago(hours=72), **_MANUAL),
    "funding-review-receipt_changed": _found(network="BNB", missing_since=_ago(hours=2)),
    "funding-review-not_final": _found(
        network="BASE", sent_at=_ago(hours=7), arrived_at=_ago(hours=6), final_at=None
    ),
    "funding-claim-replaced": _claim_replaced,
    "funding-five-unverified": _five_unverified,
}
