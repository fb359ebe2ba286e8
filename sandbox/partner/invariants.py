"""What must hold after every step, recomputed from the rows; each break is a sentence.

The running totals of an account and the ledger are written separately, so that one can convict the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from sandbox.partner import money
from sandbox.partner.accounts import Account, all_accounts
from sandbox.partner.background import ATTEMPTS_MOST
from sandbox.partner.calls import Keyed, idempotency
from sandbox.partner.cards import Card, cards
from sandbox.partner.funding import deposits, submissions
from sandbox.partner.ledger import ledger
from sandbox.partner.purchases import purchases
from sandbox.partner.schemas import PAYLOADS
from sandbox.partner.state import World

_SUSPENDED = ("in_flight", "unresolved")


def broken(world: World) -> list[str]:
    """Every invariant that does not hold, as a sentence with its number; empty when all is well."""
    found: list[str] = []
    every_card, every_keyed = cards.all_cards(world), idempotency.all_keyed(world)
    for owner in all_accounts(world):
        own_cards = [card for card in every_card if card.account == owner.id]
        own_keyed = [keyed for keyed in every_keyed if keyed.account == owner.id]
        found += _float(world, owner)
        found += _top_ups(world, own_keyed)
        found += _conservation(world, owner, own_cards, own_keyed)
        found += _counts(world, owner, own_cards)
        found += _funding(world, owner)
        found += _fees(world, owner, own_cards)
    found += _purchases(world, every_card)
    return found + list(_keys(world)) + list(_closed(every_card)) + list(_events(world))


def _float(world: World, owner: Account) -> Iterator[str]:
    ledger_usd = ledger.rows_total(world, owner.id)
    if ledger_usd != owner.balance_usd:
        yield f"1: the ledger of {owner.id} sums to {ledger_usd}, its float is {owner.balance_usd}"
    funded_usd = ledger.rows_total(world, owner.id, "funding")
    if funded_usd != owner.funded_usd:
        yield f"1: the funding rows of {owner.id} sum to {funded_usd}, funded is {owner.funded_usd}"
    available_usd, limit_usd = ledger.available_usd(world, owner), owner.settings.float_limit_usd
    if available_usd < 0 or available_usd > max(money.ZERO, owner.balance_usd):
        yield f"2: available of {owner.id} is {available_usd} with a balance of {owner.balance_usd}"
    if limit_usd is not None and available_usd > max(
        money.ZERO, money.add(limit_usd, -ledger.outstanding_usd(world, owner))
    ):
        yield f"2: available of {owner.id} is {available_usd}, above what its limit leaves"


_TOPUP_ROWS = {
    "done": ["card_topup"],
    "refunded": ["card_topup", "refund"],
    "unresolved": ["card_topup"],
    "in_flight": ["card_topup"],
}


def _top_ups(world: World, own: list[Keyed]) -> Iterator[str]:
    for keyed in own:
        if keyed.kind != "topup":
            continue
        rows = world.store.all("SELECT * FROM ledger WHERE keyed = ? ORDER BY seq", keyed.id)
        if [row["kind"] for row in rows] != _TOPUP_ROWS.get(keyed.state):
            yield f"3: top-up {keyed.key} is {keyed.state} with rows {[row['kind'] for row in rows]}"
        moved_usd = money.total(Decimal(row["amount_usd"]) for row in rows)
        if keyed.state == "refunded" and moved_usd != 0:
            yield f"3: refunded top-up {keyed.key} still moved {moved_usd}"


def _conservation(
    world: World, owner: Account, own_cards: list[Card], own_keyed: list[Keyed]
) -> Iterator[str]:
    from_float_usd = -ledger.rows_total(world, owner.id, "card_topup", "refund")
    on_cards_usd = money.total(card.balance_usd for card in own_cards)
    if from_float_usd != owner.net_topups_usd:
        yield f"2: {owner.net_topups_usd} count against the limit of {owner.id}, {from_float_usd} left its float"
    deposited_usd = deposits.credited_usd(world, owner.id)
    suspended_usd = _unresolved_usd(own_keyed)
    spent_usd = money.total(
        one.taken_usd for one in purchases.all_purchases(world) if one.account == owner.id
    )
    if money.add(from_float_usd, deposited_usd) != money.add(on_cards_usd, suspended_usd, spent_usd):
        yield (
            f"4: {from_float_usd} left the float of {owner.id} for cards and {deposited_usd} was deposited; cards"
            f" hold {on_cards_usd} and spent {spent_usd}, with {suspended_usd} unresolved"
        )


def suspense_usd(world: World, account_id: str) -> Decimal:
    """What is neither on the float nor on a card: calls that moved one side only, and what merchants gave
    back to cards that are closed."""
    own = [keyed for keyed in idempotency.all_keyed(world) if keyed.account == account_id]
    rows = world.store.all("SELECT suspense_usd FROM purchases WHERE account = ?", account_id)
    returned_usd = money.total(Decimal(row["suspense_usd"]) for row in rows)
    return money.add(_unresolved_usd(own), returned_usd)


def _unresolved_usd(own: list[Keyed]) -> Decimal:
    waiting = (keyed for keyed in own if keyed.kind in ("topup", "unload") and keyed.state in _SUSPENDED)
    return money.total(keyed.amount_usd or money.ZERO for keyed in waiting)


def _purchases(world: World, every_card: list[Card]) -> Iterator[str]:
    """What a purchase took from its card is what its row says, unless the card was closed meanwhile."""
    closed = {card.id for card in every_card if card.closed}
    for one in purchases.all_purchases(world):
        if one.status == "declined":
            if one.taken_usd or one.fee_usd or one.client_fee_usd:
                yield f"10: declined purchase {one.transaction_id} took {one.taken_usd}"
            continue
        if one.status == "pending" and one.taken_usd != one.amount_usd:
            yield f"10: authorization {one.transaction_id} of {one.amount_usd} took {one.taken_usd}"
        if one.card_id in closed or one.suspense_usd:
            continue
        owed_usd = money.add(one.amount_usd, -one.refunded_usd)
        # A refund may cost a fee of its own, which the row does not show.
        if one.taken_usd < owed_usd or (one.taken_usd > owed_usd and not one.refunded_usd):
            yield f"10: purchase {one.transaction_id} took {one.taken_usd} where its row owes {owed_usd}"


def _counts(world: World, owner: Account, own_cards: list[Card]) -> Iterator[str]:
    open_cards = sum(not card.closed for card in own_cards)
    in_blocks = world.store.number("SELECT sum(open) FROM card_blocks WHERE account = ?", owner.id)
    if not owner.open_cards == in_blocks == open_cards:
        yield f"5: {owner.id} is said to have {owner.open_cards} open cards, {open_cards} are"
    if owner.cards_ordered != len(own_cards):
        yield f"5: {owner.id} ordered {owner.cards_ordered} cards, {len(own_cards)} exist"


def _keys(world: World) -> Iterator[str]:
    rows = world.store.all(
        "SELECT account, reference FROM ledger WHERE kind = 'card_topup' AND keyed NOT IN"
        " (SELECT id FROM keyed WHERE retired = 1) GROUP BY account, reference HAVING count(*) > 1"
    )
    for row in rows:
        yield f"6: more than one debit under {row['reference']}"


def _closed(every_card: list[Card]) -> Iterator[str]:
    for card in every_card:
        if card.closed != (card.closed_at is not None):
            yield f"7: card {card.id} is {card.status} with closed_at {card.closed_at}"
        if card.closed and card.balance_usd != 0:
            yield f"7: closed card {card.id} holds {card.balance_usd}"


def _events(world: World) -> Iterator[str]:
    for row in world.store.all("SELECT DISTINCT type FROM events"):
        if row["type"] not in PAYLOADS:
            yield f"9: an event of type {row['type']}, which nothing here emits"
    for row in world.store.all("SELECT id FROM events WHERE delivered = 1 AND delivered_at IS NULL"):
        yield f"8: event {row['id']} is delivered at no time"
    for row in world.store.all("SELECT id, attempts FROM events WHERE attempts > ?", ATTEMPTS_MOST):
        yield f"8: event {row['id']} was tried {row['attempts']} times on one schedule"


def _funding(world: World, owner: Account) -> Iterator[str]:
    for one in submissions.all_submissions(world):
        if one.account != owner.id or one.credited_usd is None:
            continue
        suffix = f"{one.network}-{one.tx_hash}"
        rows = world.store.all(
            "SELECT amount_usd FROM ledger WHERE account = ? AND reference IN (?, ?, ?, ?)",
            owner.id,
            *(f"funding-{kind}{suffix}{fee}" for kind in ("", "reversal-") for fee in ("", ":fee")),
        )
        moved_usd = money.total(Decimal(row["amount_usd"]) for row in rows)
        expected_usd = money.ZERO if one.reason == "reversed_by_operator" else one.credited_usd
        if moved_usd != expected_usd:
            yield f"1: funding {one.id} is {one.status} and moved {moved_usd} instead of {expected_usd}"


def _fees(world: World, owner: Account, own_cards: list[Card]) -> Iterator[str]:
    rows = world.store.all(
        "SELECT reference, count(*) AS times FROM ledger WHERE account = ? AND kind = 'fee'"
        " AND reference LIKE 'card-fee:%' GROUP BY reference",
        owner.id,
    )
    closed_in = {card.id: (card.closed_at or "9999")[:7] for card in own_cards}
    for row in rows:
        _, card_id, month = row["reference"].split(":")
        if row["times"] > 1 or month > closed_in.get(card_id, ""):
            yield f"11: {row['times']} monthly fees under {row['reference']}"
