"""Named situations of funding: `funding-<status>-<reason>` for every reason, and the claims on a hash.

Each puts a transaction on a chain and says what to `submit`; some need control calls `after` the
submission, in which `{id}` is the submission's id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sandbox.partner import codec
from sandbox.partner.accounts import accounts
from sandbox.partner.funding import Payment, blockchain, submissions
from sandbox.partner.scenarios import seeds
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


def _decided(decision: str) -> dict[str, Any]:
    return {"path": "funding/{id}/decide", "body": {"decision": decision}}


def _on_chain(change: str, **body: Any) -> dict[str, Any]:
    return {"path": f"chain/transfers/{_HASH}/{change}", "body": body}


def _passes(hours: float) -> dict[str, Any]:
    return {"path": "clock", "body": {"advance_seconds": hours * 3600}}


def _before_automatic(world: World, cards: list[str]) -> dict[str, Any]:
    since = codec.stamp(world.clock.now() + _LONG_AGO)
    accounts.change_settings(world, accounts.first_account(world), {"automatic_funding_since": since})
    return _found()(world, cards)


def _not_found(world: World, _cards: list[str]) -> dict[str, Any]:
    return {"submit": {"network": "POLYGON", "tx_hash": _HASH}, "after": [_passes(24)]}


def _wrong_network(world: World, cards: list[str]) -> dict[str, Any]:
    """The money went over BASE; the submission names POLYGON first."""
    left = _found(network="BASE")(world, cards)
    return {**left, "submit": {"network": "POLYGON", "tx_hash": _HASH}}


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


_MANUAL: dict[str, Any] = {"arrived_at": None, "final_at": None}

FUNDING: dict[str, Setup] = {
    "funding-rejected-transaction_failed": _found(ok=0),
    "funding-rejected-not_a_funding_transfer": _found(_pay(to=_STRANGER)),
    "funding-rejected-unsupported_token": _found(_pay(coin="DAI")),
    "funding-rejected-mixed_tokens": _found(_pay(), _pay(coin="USDT")),
    "funding-rejected-below_minimum": _found(_pay(amount="9.99")),
    "funding-rejected-unregistered_sender": _found(_pay(_ELSEWHERE)),
    "funding-rejected-bridge_fill": _found(route="bridge"),
    "funding-rejected-before_automatic_funding": _before_automatic,
    "funding-rejected-before_account_opened": _found(sent_at="2023-06-01T00:00:00.000Z"),
    "funding-rejected-not_found": _not_found,
    "funding-rejected-rejected_by_operator": _found(route="routed", after=[_decided("reject")]),
    "funding-rejected-reversed_by_operator": _found(after=[_decided("reverse")]),
    "funding-review-unregistered_sender": _found(_pay(_STRANGER)),
    "funding-review-operator_sender": _found(_pay(_OPERATOR)),
    "funding-review-multiple_senders": _found(_pay(), _pay(_STRANGER)),
    "funding-review-routed_transfer": _found(route="routed"),
    "funding-review-precision": _found(_pay(amount="250.0000001")),
    "funding-review-unlisted_token": _found(listed=0),
    "funding-review-not_arrived": _found(sent_at=_ago(hours=72), **_MANUAL),
    "funding-review-ambiguous_match": _found(doubled=1),
    "funding-review-amount_mismatch": _found(mismatch="amount"),
    "funding-review-receipt_changed": _found(network="BNB", missing_since=_ago(hours=2)),
    "funding-review-not_final": _found(
        network="BASE", sent_at=_ago(hours=7), arrived_at=_ago(hours=6), final_at=None
    ),
    "funding-review-check_failed": _found(after=[_on_chain("unreadable"), _passes(72)], **_MANUAL),
    "funding-review-already_credited": _found(after=[_on_chain("credited_elsewhere")], **_MANUAL),
    "funding-review-held_by_operator": _found(after=[_decided("hold")], **_MANUAL),
    "funding-credited-credited_separately": _found(route="routed", after=[_decided("credit_separately")]),
    "funding-wrong-network": _wrong_network,
    "funding-claim-replaced": _claim_replaced,
    "funding-five-unverified": _five_unverified,
}
