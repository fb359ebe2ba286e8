"""Purchases: what merchants do with a card, from authorization to refund (Transaction status).

`charge_usd` is what the merchant asks for; the processor's fees come on top, and `amount_usd` is
both together to the cent, which is what the card pays. A purchase that gives money back to a card that
is closed meanwhile leaves it in suspense (U37).
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from sandbox.partner import codec, money
from sandbox.partner.accounts import accounts
from sandbox.partner.cards import Card, cards
from sandbox.partner.purchases import authorization_rules, pricing, purchase_events
from sandbox.partner.purchases.pricing import Figures
from sandbox.partner.purchases.purchase import OPEN, LegName, Order, Purchase, PurchaseLeg
from sandbox.partner.state import World, stamp_now, timers

AUTHORIZATION_TIMER = "authorization"
_MCC: dict[str, str] = {"purchase": "5814", "atm": "6011", "high_risk": "7995"}


def of_row(row: Any) -> Purchase:
    """A purchase as its row holds it."""
    values: dict[str, Any] = {
        name: Decimal(row[name]) if name.endswith("_usd") or name == "original_amount" else row[name]
        for name in Purchase.__dataclass_fields__
    }
    return Purchase(**{**values, "card_blocked": bool(values["card_blocked"])})


def find(world: World, transaction_id: str) -> Purchase | None:
    """The purchase with this transaction_id, or None."""
    row = world.store.one("SELECT * FROM purchases WHERE transaction_id = ?", transaction_id)
    return of_row(row) if row else None


def all_purchases(world: World) -> list[Purchase]:
    """Every purchase of every card, oldest first, declined ones included."""
    return [of_row(row) for row in world.store.all("SELECT * FROM purchases ORDER BY seq")]


def authorize(world: World, card: Card, order: Order, transaction_id: str | None = None) -> Purchase:
    """A purchase at a terminal: authorized and paid by the card, or declined and costing nothing."""
    with world.store.transaction():
        figures = pricing.figures_of(
            world, card.account, order.kind, order.original_currency, order.amount_usd
        )
        code = authorization_rules.refusal(world, card, order, figures.amount_usd)
        blocks = code is not None and authorization_rules.blocks(world, card, code)
        if code is not None:
            figures = Figures.free_of_fees(order.amount_usd)
        unusable = blocks or authorization_rules.reads_blocked(world, card, code)
        purchase = _record(world, card, order, figures, code, transaction_id, unusable)
        if code is not None:
            if blocks:
                world.store.update("cards", "id", card.id, status="BLOCKED")
            purchase_events.tell_decline(world, purchase)
            return purchase
        cards.change_balance(world, card, -figures.amount_usd)
        purchase_events.tell_authorization(world, purchase)
        _await_expiry(world, purchase)
    return purchase


def _record(
    world: World, card: Card, order: Order, figures: Figures, code: str | None, transaction_id: str | None,
    card_blocked: bool,
) -> Purchase:  # fmt: skip
    chosen = transaction_id or world.ids.uuid("transaction")
    world.store.insert(
        "purchases",
        id=world.ids.uuid("movement"),
        transaction_id=chosen,
        account=card.account,
        card_id=card.id,
        partner_ref=card.partner_ref,
        at=stamp_now(world),
        status="pending" if code is None else "declined",
        kind=order.kind,
        merchant=order.merchant,
        mcc_code=order.mcc_code or _MCC[order.kind],
        original_amount=money.text(order.original_amount or order.amount_usd),
        original_currency=order.original_currency,
        authorized_usd=money.text(order.amount_usd),
        charge_usd=money.text(order.amount_usd),
        **figures.columns(),
        own_fee_usd="0",
        decline_code=code,
        card_blocked=int(card_blocked),
        taken_usd="0" if code else money.text(figures.amount_usd),
        refunded_usd="0",
        suspense_usd="0",
    )
    return _stored(world, chosen)


def _stored(world: World, transaction_id: str) -> Purchase:
    found = find(world, transaction_id)
    if found is None:
        raise KeyError(transaction_id)
    return found


def _await_expiry(world: World, purchase: Purchase) -> None:
    days = accounts.account(world, purchase.account).settings.authorization_days
    if days:
        due_at = codec.moment(purchase.at) + timedelta(days=days)
        timers.set_timer(world, due_at, AUTHORIZATION_TIMER, purchase.transaction_id)


def _end_waiting(world: World, purchase: Purchase, status: str) -> None:
    """A purchase that no merchant can settle any more does not run out."""
    if status not in OPEN:
        timers.clear_timer(world, AUTHORIZATION_TIMER, purchase.transaction_id)


def expire(world: World, transaction_id: str) -> None:
    """An authorization that no merchant settled is reversed (U48)."""
    purchase = find(world, transaction_id)
    if purchase is not None and purchase.status in OPEN:
        reverse(world, purchase, purchase.charge_usd, money.ZERO)


def settle(world: World, purchase: Purchase, charge_usd: Decimal, own_fee_usd: Decimal) -> Purchase:
    """The merchant's settlement. The same charge moves nothing; another one is priced and adjusted once."""
    with world.store.transaction():
        after = _reprice(world, purchase, charge_usd, own_fee_usd, "settled")
        part = original_part(purchase, charge_usd)
        leg = PurchaseLeg("cleared", charge_usd, after.amount_usd, part, own_fee_usd)
        purchase_events.tell_leg(world, purchase, leg)
    return _stored(world, purchase.transaction_id)


def reverse(world: World, purchase: Purchase, charge_usd: Decimal, own_fee_usd: Decimal) -> Purchase:
    """The merchant gives up all or part of an authorization; the row's amount falls."""
    with world.store.transaction():
        left_usd = money.add(purchase.charge_usd, -charge_usd)
        status = "reversed" if left_usd == money.ZERO else "partially_reversed"
        after = _reprice(world, purchase, left_usd, own_fee_usd, status)
        released_usd = money.add(purchase.amount_usd, -after.amount_usd, own_fee_usd)
        part = original_part(purchase, charge_usd)
        leg = PurchaseLeg("reversal", released_usd, released_usd, part, own_fee_usd)
        purchase_events.tell_leg(world, purchase, leg)
    return _stored(world, purchase.transaction_id)


def refund(world: World, purchase: Purchase, charge_usd: Decimal, own_fee_usd: Decimal) -> Purchase:
    """The merchant pays back; the card is credited, the row keeps its amount and changes its status (U47)."""
    refunded_usd = money.add(purchase.refunded_usd, charge_usd)
    status = "refunded" if refunded_usd >= purchase.charge_usd else "partially_refunded"
    with world.store.transaction():
        leg = PurchaseLeg("refund", charge_usd, charge_usd, original_part(purchase, charge_usd), own_fee_usd)
        changed = {"status": status, "refunded_usd": money.text(refunded_usd)}
        world.store.update("purchases", "transaction_id", purchase.transaction_id, **changed)
        _end_waiting(world, purchase, status)
        _pay_back(world, purchase, money.add(charge_usd, -own_fee_usd))
        purchase_events.tell_leg(world, purchase, leg)
    return _stored(world, purchase.transaction_id)


def original_part(purchase: Purchase, charge_usd: Decimal) -> Decimal:
    """The part of the original amount that a charge is, to the cent of its currency."""
    if charge_usd == purchase.authorized_usd:
        return purchase.original_amount
    share = money.EXACT.divide(charge_usd, purchase.authorized_usd)
    return money.cents(money.EXACT.multiply(purchase.original_amount, share))


def _reprice(
    world: World, purchase: Purchase, charge_usd: Decimal, own_fee_usd: Decimal, status: str
) -> Purchase:
    """Set the charge and its fees; the card pays or gets back the difference."""
    columns: dict[str, Any] = {"status": status, "charge_usd": money.text(charge_usd)}
    amount_usd = purchase.amount_usd
    if charge_usd != purchase.charge_usd:
        figures = pricing.figures_of(
            world, purchase.account, purchase.kind, purchase.original_currency, charge_usd
        )
        amount_usd = money.add(figures.amount_usd, purchase.own_fee_usd)
        columns |= figures.columns()
    amount_usd = money.add(amount_usd, own_fee_usd)
    columns["amount_usd"] = money.text(amount_usd)
    columns["own_fee_usd"] = money.text(money.add(purchase.own_fee_usd, own_fee_usd))
    _end_waiting(world, purchase, status)
    world.store.update("purchases", "transaction_id", purchase.transaction_id, **columns)
    back_usd = money.add(purchase.amount_usd, -amount_usd)
    settles_late = status == "settled" and _card(world, purchase).closed  # changes only the row (U37)
    if back_usd != money.ZERO and not settles_late:
        _pay_back(world, purchase, back_usd)
    return _stored(world, purchase.transaction_id)


def _card(world: World, purchase: Purchase) -> Card:
    card = cards.find(world, purchase.card_id)
    if card is None:
        raise KeyError(purchase.card_id)
    return card


def _pay_back(world: World, purchase: Purchase, back_usd: Decimal) -> None:
    """To the card, or while it is closed into suspense; a negative amount is taken."""
    card, key = _card(world, purchase), purchase.transaction_id
    if card.closed:
        suspense_usd = money.add(purchase.suspense_usd, back_usd)
        world.store.update("purchases", "transaction_id", key, suspense_usd=money.text(suspense_usd))
        return
    cards.change_balance(world, card, back_usd)
    taken_usd = money.add(purchase.taken_usd, -back_usd)
    world.store.update("purchases", "transaction_id", key, taken_usd=money.text(taken_usd))


_NEEDS: dict[str, tuple[str, ...]] = {
    "settle": OPEN,
    "reverse": OPEN,
    "refund": ("pending", "settled", "partially_refunded", "partially_reversed"),
}


def why_not(purchase: Purchase, leg: LegName) -> str | None:
    """Why this leg cannot follow, or None."""
    if purchase.status in _NEEDS[leg]:
        return None
    return f"a purchase that is {purchase.status} cannot be followed by {leg}"


def left_usd(purchase: Purchase, leg: LegName) -> Decimal:
    """What the leg takes when nothing else is said, and the most of a reversal or refund."""
    if leg == "refund":
        return money.add(purchase.charge_usd, -purchase.refunded_usd)
    return purchase.charge_usd
