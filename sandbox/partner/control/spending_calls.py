"""Control calls for what merchants, cardholders and end users do: purchases, 3-D Secure, deposits; and for
the way deliveries take."""

from __future__ import annotations

import ipaddress
from decimal import Decimal
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

from sandbox.partner import money
from sandbox.partner.accounts import accounts
from sandbox.partner.background import Mode, Timestamps, deliveries
from sandbox.partner.cards import Card, cards
from sandbox.partner.control import state_view
from sandbox.partner.control.forms import ControlCall, Form, Nothing, Reply, Wrong, account_named
from sandbox.partner.funding import deposits
from sandbox.partner.purchases import DeclineCode, LegName, Order, PurchaseKind, purchases, three_d_secure
from sandbox.partner.state import World, stamp_now

_MOST_USD = 10**9
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Terminal(Form):
    """`amount_usd` is the merchant's charge; `original_amount` what it was in another currency."""

    card_id: str
    amount_usd: Decimal
    merchant: Text = "Corner Coffee"
    mcc_code: Annotated[str, msgspec.Meta(pattern="^[0-9]{4}$")] | None = None
    original_amount: Decimal | None = None
    original_currency: Annotated[str, msgspec.Meta(pattern="^[A-Z]{3}$")] = "USD"
    kind: PurchaseKind = "purchase"
    decline_code: DeclineCode | None = None


class LegOrder(Form):
    """How much of a purchase a later stage takes, in USD (all that is left by default), and its own fee."""

    amount_usd: Decimal | None = None
    fee_usd: Decimal = money.ZERO


class Challenge(Form):
    """An online purchase that asks for a one-time code, in USD: completed by itself, or by the code."""

    amount_usd: Decimal
    merchant: Text = "Corner Coffee"
    complete: three_d_secure.Completion = "at once"


class ChallengeAnswer(Form):
    """What the cardholder does: one of the three. `enter` is for a tester who cannot see the code."""

    code: Annotated[str, msgspec.Meta(min_length=1, max_length=20)] | None = None
    enter: Literal["right", "wrong"] | None = None
    abandon: Literal[True] | None = None


class Transfer(Form):
    """What an end user sent for a deposit, in USD; the quoted amount by default."""

    amount_usd: Decimal | None = None


class Payout(Form):
    """Commission to pay out, in USD; all that is due by default."""

    amount_usd: Decimal | None = None
    account: str | None = None


class Way(Form):
    """How deliveries travel, which loopback address each public host leads to, and an end to what waits."""

    mode: Mode | None = None
    map: dict[str, str] | None = None
    serial: bool | None = None
    timestamps: Timestamps | None = None
    backlog: Literal["delivered"] | None = None


def _positive(name: str, amount_usd: Decimal, places: int = 2) -> Decimal:
    fits = amount_usd.is_finite() and 0 < amount_usd <= _MOST_USD and money.decimals(amount_usd) <= places
    if not fits:
        raise Wrong(f"{name}: above 0, at most {_MOST_USD}, with at most {places} decimals")
    return amount_usd


def _card(world: World, card_id: str, status: int) -> Card:
    card = cards.find(world, card_id)
    if card is None:
        raise Wrong(f"card_id: card {card_id} is not here", status)
    return card


def purchase(world: World, form: Terminal) -> Reply:
    """A purchase at a terminal; fees come on top of the charge."""
    _positive("amount_usd", form.amount_usd)
    if form.original_amount is None and form.original_currency != "USD":
        raise Wrong("original_amount: needed with an original_currency other than USD")
    if form.original_amount is not None:
        _positive("original_amount", form.original_amount)
    order = Order(**{name: getattr(form, name) for name in Order.__dataclass_fields__})
    made = purchases.authorize(world, _card(world, form.card_id, 400), order)
    return {
        "transaction_id": made.transaction_id,
        "outcome": "declined" if made.decline_code else "authorized",
        "decline_code": made.decline_code,
        "amount_usd": money.text(made.amount_usd),
        "fee_usd": money.text(made.fee_usd),
    }


def leg(name: LegName) -> Any:
    """The control call for one later leg of a purchase."""
    run_leg = {"settle": purchases.settle, "reverse": purchases.reverse, "refund": purchases.refund}[name]

    def run(world: World, form: LegOrder, transaction_id: str) -> Reply:
        found = purchases.find(world, transaction_id)
        if found is None:
            raise Wrong(f"transaction_id: no purchase {transaction_id}", 404)
        why = purchases.why_not(found, name)
        if why:
            raise Wrong(f"transaction_id: {why}", 409)
        most_usd = purchases.left_usd(found, name)
        charge_usd = most_usd if form.amount_usd is None else _positive("amount_usd", form.amount_usd)
        if charge_usd > most_usd and name != "settle":
            raise Wrong(f"amount_usd: at most the {money.text(most_usd)} that is left")
        if form.fee_usd != money.ZERO:
            _positive("fee_usd", form.fee_usd)
        after = run_leg(world, found, charge_usd, form.fee_usd)
        return {"purchase": state_view.purchase_text(after)}

    run.__doc__ = {
        "settle": "The merchant settles the purchase, for the same amount or another.",
        "reverse": "The merchant gives up all or a part of an authorization.",
        "refund": "The merchant pays all or a part back.",
    }[name]
    return run


def challenge(world: World, form: Challenge, card_id: str) -> Reply:
    """A 3-D Secure purchase on a card; in sms mode the answer has the code that the phone shows."""
    amount_usd = _positive("amount_usd", form.amount_usd)
    card = _card(world, card_id, 404)
    opened = three_d_secure.open_challenge(world, card, amount_usd, form.merchant, form.complete)
    by_sms = {"sms_code": opened.code} if opened.code and card.threeds == "sms" else {}
    return {
        "challenge_id": opened.id,
        "transaction_id": opened.transaction_id,
        "state": opened.state,
        "outcome": _outcome(world, opened.transaction_id),
        **by_sms,
    }


def _outcome(world: World, transaction_id: str) -> str | None:
    """What became of a purchase; None for one that was not made yet."""
    bought = purchases.find(world, transaction_id)
    return None if bought is None else "declined" if bought.decline_code else "authorized"


def answer_challenge(world: World, form: ChallengeAnswer, challenge_id: str) -> Reply:
    """The cardholder enters a code, right or wrong, or gives up; a late answer finds the challenge expired."""
    found = three_d_secure.find(world, challenge_id)
    if found is None:
        raise Wrong(f"id: challenge {challenge_id} is not here", 404)
    if sum(given is not None for given in (form.code, form.enter, form.abandon)) != 1:
        raise Wrong("code, enter, abandon: give one of them")
    if found.state not in ("open", "expired"):
        raise Wrong(f"id: challenge {challenge_id} is already {found.state}", 409)
    if found.state == "open":
        if form.abandon:
            found = three_d_secure.abandon(world, found)
        else:
            wrong = "wrong"  # a code has digits only
            entered = form.code or (found.code if form.enter == "right" else None) or wrong
            found = three_d_secure.enter(world, found, entered)
    return {
        "challenge_id": found.id,
        "transaction_id": found.transaction_id,
        "state": found.state,
        "tries_left": three_d_secure.tries_left(world, found),
        "outcome": _outcome(world, found.transaction_id),
    }


def confirm_deposit(world: World, form: Transfer, deposit_id: str) -> Reply:
    """The transfer of a deposit confirms; its card is credited."""
    row = _pending_deposit(world, deposit_id)
    if _card(world, row["card_id"], 404).closed:
        raise Wrong("id: the card is closed; there is nothing to credit", 409)
    arrived_usd = form.amount_usd
    deposits.confirm(world, row, arrived_usd and _positive("amount_usd", arrived_usd, 6))
    return _shown_deposit(world, deposit_id)


def expire_deposit(world: World, form: Nothing, deposit_id: str) -> Reply:
    """Nothing arrived in time; the deposit expires."""
    _pending_deposit(world, deposit_id)
    deposits.end(world, deposit_id, "expired")
    return _shown_deposit(world, deposit_id)


def cancel_deposit(world: World, form: Nothing, deposit_id: str) -> Reply:
    """The deposit is cancelled."""
    _pending_deposit(world, deposit_id)
    deposits.end(world, deposit_id, "cancelled")
    return _shown_deposit(world, deposit_id)


def _pending_deposit(world: World, deposit_id: str) -> Any:
    row = deposits.find(world, deposit_id)
    if row is None:
        raise Wrong(f"id: deposit {deposit_id} is not here", 404)
    if row["status"] != "pending":
        raise Wrong(f"id: deposit {deposit_id} is already {row['status']}", 409)
    return row


def _shown_deposit(world: World, deposit_id: str) -> Reply:
    return {"deposit": state_view.texts(deposits.shown(deposits.find(world, deposit_id)))}


def pay_out(world: World, form: Payout) -> Reply:
    """The card provider pays the partner its commission: what is due, or a part of it."""
    owner = accounts.account(world, account_named(world, form.account))
    owed_usd = money.add(owner.accrued_usd, -owner.paid_out_usd)
    amount_usd = owed_usd if form.amount_usd is None else _positive("amount_usd", form.amount_usd, 10)
    if amount_usd > owed_usd:
        raise Wrong(f"amount_usd: at most the {money.text(owed_usd)} that is owed")
    paid = {
        "paid_out_usd": money.text(money.add(owner.paid_out_usd, amount_usd)),
        "last_payout_at": stamp_now(world),
    }
    if amount_usd > money.ZERO:
        world.store.update("accounts", "id", owner.id, **paid)
    return {"paid_out_usd": money.text(amount_usd), "owed_usd": money.text(money.add(owed_usd, -amount_usd))}


def change_deliveries(world: World, form: Way) -> Reply:
    """How deliveries travel, and where each public host leads on this machine.

    `backlog: delivered` counts every event that waits for its endpoint as taken.
    """
    for host, address in (form.map or {}).items():
        _check_loopback(host, address)
    deliveries.change(world, form.mode, form.map, form.timestamps, form.serial)
    if form.backlog == "delivered":
        deliveries.take_backlog(world)
    return {
        "mode": deliveries.mode(world),
        "map": deliveries.hosts(world),
        "serial": deliveries.serial(world),
        "timestamps": deliveries.timestamps(world),
    }


def _check_loopback(host: str, address: str) -> None:
    try:
        parts = urlsplit(address)
        name, port = parts.hostname or "", parts.port
        loopback = name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError as error:
        raise Wrong(f"map: {host} must lead to http://127.0.0.1:PORT") from error
    if parts.scheme != "http" or not loopback or port is None or parts.path not in ("", "/") or parts.query:
        raise Wrong(f"map: {host} must lead to http://127.0.0.1:PORT")


CALLS: tuple[ControlCall, ...] = (
    ControlCall("POST", "purchases", Terminal, purchase),
    ControlCall("POST", "purchases/{}/settle", LegOrder, leg("settle")),
    ControlCall("POST", "purchases/{}/reverse", LegOrder, leg("reverse")),
    ControlCall("POST", "purchases/{}/refund", LegOrder, leg("refund")),
    ControlCall("POST", "cards/{}/3ds", Challenge, challenge),
    ControlCall("POST", "challenges/{}", ChallengeAnswer, answer_challenge),
    ControlCall("POST", "deposits/{}/confirm", Transfer, confirm_deposit),
    ControlCall("POST", "deposits/{}/expire", Nothing, expire_deposit),
    ControlCall("POST", "deposits/{}/cancel", Nothing, cancel_deposit),
    ControlCall("POST", "payouts", Payout, pay_out),
    ControlCall("POST", "deliveries", Way, change_deliveries),
)
