"""A set of events -> the state of one purchase. Pure, and a function of the set alone.

Events come at least once and in any order [Delivery rules 3], so nothing here depends on which came
first to us: legs are told apart by their ids and put in the order in which they happened. The figures of
the authorization are the charge and are never overwritten; what they cannot settle is marked open for
the card provider to reconcile, never guessed [Purchase rules 2 and 3]. Direction comes from the leg's `kind`;
signs are as the processor reports them and tell nothing [Purchase rules 4].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from bot.domain.money import exact_sum


class Kind(StrEnum):
    """What a leg says happened, by `data.event`; a decline by the type of its event."""

    AUTHORIZED = "authorized"
    CLEARED = "cleared"
    REFUND = "refund"
    REVERSAL = "reversal"
    DECLINED = "declined"


class State(StrEnum):
    """How a purchase stands. `waiting`: later legs came, the authorization did not."""

    WAITING = "waiting"
    AUTHORIZED = "authorized"
    SETTLED = "settled"
    PARTIALLY_REVERSED = "partially_reversed"
    REVERSED = "reversed"
    PARTIALLY_REFUNDED = "partially_refunded"
    REFUNDED = "refunded"
    DECLINED = "declined"


class Open(StrEnum):
    """Why the charge is not sure and has to be reconciled with the card provider by its transaction id."""

    SETTLED_DIFFERENTLY = "settled_differently"  # or in a way that cannot be compared
    SETTLED_TWICE = "settled_twice"
    SETTLED_AFTER_REVERSAL = "settled_after_reversal"  # although all of it was given back
    AUTHORIZED_TWICE = "authorized_twice"
    DECLINED_AND_CHARGED = "declined_and_charged"
    UNKNOWN_LEG = "unknown_leg"  # an `event` that the document does not name


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class DeclineFacts(_Value):
    """Why a purchase did not take place, as the card provider says. `message` is safe to show to a cardholder."""

    code: str
    message: str = ""
    retryable: bool | None = None
    card_blocked: bool | None = None


class PurchaseLeg(_Value):
    """One event of a purchase: figures and codes, nothing personal.

    `amount_usd` includes `fee_usd`; `original_amount` is in `original_currency`. None: not reported.
    """

    event_id: str
    transaction_id: str
    kind: str
    occurred_at: datetime
    card_id: str | None = None
    amount_usd: Decimal | None = None
    fee_usd: Decimal | None = None
    original_amount: Decimal | None = None
    original_currency: str | None = None
    merchant: str | None = None
    merchant_country: str | None = None
    mcc_code: str | None = None
    decline: DeclineFacts | None = None


class Purchase(_Value):
    """A purchase as its legs tell it.

    `charge_usd` and `fee_usd` are the authorization's, None until it came. `settled_usd`, `reversed_usd`
    and `refunded_usd` add up what the legs of that kind report, without sign; they are not the charge.
    """

    transaction_id: str
    state: State
    open: tuple[Open, ...] = ()
    card_id: str | None = None
    merchant: str | None = None
    merchant_country: str | None = None
    mcc_code: str | None = None
    charge_usd: Decimal | None = None
    fee_usd: Decimal | None = None
    original_amount: Decimal | None = None
    original_currency: str | None = None
    settled_usd: Decimal = Decimal(0)
    reversed_usd: Decimal = Decimal(0)
    refunded_usd: Decimal = Decimal(0)
    declined_usd: Decimal | None = None
    decline: DeclineFacts | None = None
    first_at: datetime
    last_at: datetime
    legs: int

    @property
    def is_open(self) -> bool:
        """Must not be booked as it is."""
        return bool(self.open) or self.state is State.WAITING


def purchase_of(legs: Iterable[PurchaseLeg]) -> Purchase:
    """The purchase that these legs, all of one transaction, make; at least one. Copies count once."""
    known = {leg.event_id: leg for leg in legs}
    ordered = sorted(known.values(), key=lambda leg: (leg.occurred_at, leg.event_id))
    charge = next(iter(_of(ordered, Kind.AUTHORIZED)), None)
    decline = next(iter(_of(ordered, Kind.DECLINED)), None)
    first = charge or decline or ordered[0]
    return Purchase(
        transaction_id=first.transaction_id,
        state=_state(ordered, charge),
        open=tuple(_open(ordered, charge)),
        card_id=first.card_id or _first_given(ordered, "card_id"),
        merchant=first.merchant or _first_given(ordered, "merchant"),
        merchant_country=first.merchant_country or _first_given(ordered, "merchant_country"),
        mcc_code=first.mcc_code or _first_given(ordered, "mcc_code"),
        charge_usd=charge.amount_usd if charge else None,
        fee_usd=charge.fee_usd if charge else None,
        original_amount=charge.original_amount if charge else None,
        original_currency=charge.original_currency if charge else None,
        settled_usd=_sum_usd(_of(ordered, Kind.CLEARED)),
        reversed_usd=_sum_usd(_of(ordered, Kind.REVERSAL)),
        refunded_usd=_sum_usd(_of(ordered, Kind.REFUND)),
        declined_usd=decline.amount_usd if decline else None,
        decline=decline.decline if decline else None,
        first_at=ordered[0].occurred_at,
        last_at=ordered[-1].occurred_at,
        legs=len(ordered),
    )


def _state(legs: Sequence[PurchaseLeg], charge: PurchaseLeg | None) -> State:
    """Refunds say most, then the settlement, then reversals: a part may be reversed before the rest settles."""
    if charge is None:
        only_declined = all(leg.kind == Kind.DECLINED for leg in legs)
        return State.DECLINED if only_declined else State.WAITING
    if refunds := _of(legs, Kind.REFUND):
        return State.REFUNDED if _covers(refunds, charge) else State.PARTIALLY_REFUNDED
    if _of(legs, Kind.CLEARED):
        return State.SETTLED
    if reversals := _of(legs, Kind.REVERSAL):
        return State.REVERSED if _covers(reversals, charge) else State.PARTIALLY_REVERSED
    return State.AUTHORIZED


def _open(legs: Sequence[PurchaseLeg], charge: PurchaseLeg | None) -> Iterable[Open]:
    settlements, reversals = _of(legs, Kind.CLEARED), _of(legs, Kind.REVERSAL)
    if charge is not None and any(not _same_original(leg, charge) for leg in settlements):
        yield Open.SETTLED_DIFFERENTLY
    if len(settlements) > 1:
        yield Open.SETTLED_TWICE
    if charge is not None and settlements and reversals and _covers(reversals, charge):
        yield Open.SETTLED_AFTER_REVERSAL
    if len(_of(legs, Kind.AUTHORIZED)) > 1:
        yield Open.AUTHORIZED_TWICE
    if _of(legs, Kind.DECLINED) and not all(leg.kind == Kind.DECLINED for leg in legs):
        yield Open.DECLINED_AND_CHARGED
    if any(leg.kind not in set(Kind) for leg in legs):
        yield Open.UNKNOWN_LEG


def _of(legs: Sequence[PurchaseLeg], kind: Kind) -> list[PurchaseLeg]:
    return [leg for leg in legs if leg.kind == kind]


def _first_given(legs: Sequence[PurchaseLeg], name: str) -> str | None:
    """What the earliest leg that tells it says."""
    return next((value for leg in legs if (value := getattr(leg, name))), None)


def _same_original(leg: PurchaseLeg, charge: PurchaseLeg) -> bool:
    """Does the settlement name the amount the authorization named? Not reported is not the same."""
    if leg.original_amount is None or charge.original_amount is None:
        return False
    same_currency = leg.original_currency == charge.original_currency
    return same_currency and leg.original_amount.copy_abs() == charge.original_amount.copy_abs()


def _covers(back: Sequence[PurchaseLeg], charge: PurchaseLeg) -> bool:
    """Do these legs give back all of it? By the merchant's amounts where they can be compared: what comes
    back need not repeat the fee."""
    originals = [leg.original_amount for leg in back if leg.original_currency == charge.original_currency]
    amounts = [amount.copy_abs() for amount in originals if amount is not None]
    if charge.original_amount and len(amounts) == len(back):
        return exact_sum(amounts) >= charge.original_amount.copy_abs()
    return charge.amount_usd is not None and _sum_usd(back) >= charge.amount_usd.copy_abs()


# `copy_abs` throughout: abs() would round to the digits of the surrounding context.
def _sum_usd(legs: Sequence[PurchaseLeg]) -> Decimal:
    return exact_sum(leg.amount_usd.copy_abs() for leg in legs if leg.amount_usd is not None)
