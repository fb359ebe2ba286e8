"""The people, cards and float that the demo and every scenario start from.

Everything is brought about as calls would have done it, at moments of the last days, so that
ledger, balances, keys and events add up by construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import msgspec

from sandbox.partner import codec
from sandbox.partner.accounts import accounts
from sandbox.partner.calls import idempotency
from sandbox.partner.cards import cards, topups
from sandbox.partner.funding import Payment, blockchain, submissions
from sandbox.partner.ledger import monthly_fees
from sandbox.partner.state import World

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
_START = timedelta(days=12)
_STEP = timedelta(hours=41)
_FUNDED = Decimal(5650)

# Holder, reference, top-ups, status. The fifth card's id is the fourth's with its case swapped.
_PEOPLE: tuple[tuple[str, str, Sequence[str], str], ...] = (
    ("MARTA KOWALSKA", "emp-1042", ("250.00", "70.00"), "ACTIVE"),
    ("JONAS ÄHLSTRÖM", "emp-1057", ("185.50",), "ACTIVE"),
    ("PRIYA NAIR", "emp-1063", ("400.00", "240.25"), "ACTIVE"),
    ("DANIEL OKAFOR", "emp-1071", ("75.00",), "ACTIVE"),
    ("SOFIA MARCHETTI", "emp-1088", (), "ACTIVE"),
    ("LENA FISCHER", "emp-1090", ("58.30",), "FROZEN"),
)


def tx_hash(number: int) -> str:
    """A transaction hash that is easy to tell from another, the same each time."""
    return f"0x{pow(7, number + 97, 2**256 - 189):064x}"


def plant(world: World) -> list[str]:
    """Fund the float and order the cards; the cards' ids, oldest first."""
    start = world.clock.now() - _START
    with world.store.transaction():
        with world.clock.at(start):
            blockchain.register_wallet(world, WALLET, accounts.first_account(world))
            fund(world, _FUNDED, tx_hash(1))
        made = []
        for number, person in enumerate(_PEOPLE):
            with world.clock.at(start + (number + 1) * _STEP):
                made.append(_employ(world, *person))
        _months_between(world, start)
    return made


def send(
    world: World, payments: Sequence[Payment], transaction: str, network: str = "POLYGON", **changes: object
) -> None:
    """Put a plain, arrived and readable transfer on a chain; `changes` are columns that differ."""
    now = world.clock.now()
    columns: dict[str, object] = {
        "network": network,
        "tx_hash": transaction,
        "payments": msgspec.json.encode(list(payments)).decode(),
        "route": "direct",
        "ok": 1,
        "listed": 1,
        "readable": 1,
        "sent_at": codec.stamp(now),
        "arrived_at": codec.stamp(now),
        "final_at": codec.stamp(now + blockchain.FINAL_AFTER),
    }
    world.store.insert("transfers", **{**columns, **changes})


def fund(world: World, amount_usd: Decimal, transaction: str) -> str:
    """A transfer from the registered wallet, submitted and credited at once; the submission's id."""
    send(world, [Payment(WALLET, "USDC", amount_usd)], transaction)
    submission = submissions.record(world, accounts.first_account(world), "POLYGON", transaction)
    submissions.recheck(world, submission)
    return submission


def order(world: World, name: str, partner_ref: str) -> str:
    """An ordered card that the processor has reported; its id."""
    account_id = accounts.first_account(world)
    claimed = idempotency.claim_for(world, account_id, "create", f"order-{partner_ref}")
    card = cards.issue(world, account_id, name, partner_ref, claimed)
    idempotency.settle(world, claimed, "done", {"card": cards.shown(world, card)})
    world.store.update("cards", "id", card.id, synced_at=card.created_at)
    return card.id


def _employ(world: World, name: str, partner_ref: str, top_ups: Sequence[str], status: str) -> str:
    card_id = order(world, name, partner_ref)
    for number, amount_usd in enumerate(top_ups, 1):
        top_up(world, card_id, Decimal(amount_usd), f"topup-{partner_ref}-{number}")
    world.store.update("cards", "id", card_id, status=status)
    return card_id


def top_up(world: World, card_id: str, amount_usd: Decimal, key: str) -> None:
    """A completed top-up under a key."""
    card = cards.find(world, card_id)
    if card is None:
        raise KeyError(card_id)
    topups.credit_top_up(world, topups.debit_for_top_up(world, card, amount_usd, key))


def _months_between(world: World, start: datetime) -> None:
    """Bill the months that began since the start, as the timer would have."""
    now = world.clock.now()
    month = datetime(now.year, now.month, 1, tzinfo=UTC)
    if start < month:
        owner = accounts.account(world, accounts.first_account(world))
        with world.clock.at(month):
            for card in cards.all_cards(world):
                if card.created_at < codec.stamp(month):
                    monthly_fees.charge_month(world, owner, card.id, month)
