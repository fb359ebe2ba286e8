"""The picture of a purchase is a function of the set of its events, and says no more than they do."""

import itertools
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.events import DeclineFacts, Purchase, PurchaseLeg, State, purchase_of
from bot.domain.events.purchases import Open
from tests.events.receiving import Bot, Json, authorized

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def leg(
    kind: str, minute: int, amount_usd: str = "10.00", original: str | None = "9.00", **more: Any
) -> PurchaseLeg:
    return PurchaseLeg(
        event_id=more.pop("event_id", f"{kind}-{minute}"),
        transaction_id="tx-1",
        kind=kind,
        occurred_at=AT + timedelta(minutes=minute),
        amount_usd=Decimal(amount_usd),
        fee_usd=Decimal(more.pop("fee_usd", "0")),
        original_amount=None if original is None else Decimal(original),
        original_currency=more.pop("currency", "EUR"),
        card_id="card-1",
        merchant=more.pop("merchant", "ACME"),
        **more,
    )


CHARGE = leg("authorized", 0, "10.50", fee_usd="0.50")
CLEARED = leg("cleared", 1, "10.00")
DECLINE = leg("declined", 0, "10.00", None, decline=DeclineFacts(code="insufficient_card_balance"))
PART_BACK = leg("reversal", 2, "-4.00", "-4.00", fee_usd="0.10")
ALL_BACK = leg("reversal", 3, "10.50", "9.00")
REFUND = leg("refund", 4, "10.00", "9.00")
PART_REFUND = leg("refund", 5, "-3.00", "-2.70")
STRANGE = leg("chargeback", 6, "10.00")

#: Legs, then what the purchase is and why it is open.
PURCHASES: Sequence[tuple[str, Sequence[PurchaseLeg], State, Sequence[Open]]] = [
    ("authorized alone", [CHARGE], State.AUTHORIZED, []),
    ("settled as authorized", [CHARGE, CLEARED], State.SETTLED, []),
    ("settled first", [CLEARED], State.WAITING, []),
    ("refund without its charge", [REFUND], State.WAITING, []),
    ("declined", [DECLINE], State.DECLINED, []),
    ("reversed in part", [CHARGE, PART_BACK], State.PARTIALLY_REVERSED, []),
    ("reversed", [CHARGE, ALL_BACK], State.REVERSED, []),
    ("reversed in two parts", [CHARGE, PART_BACK, leg("reversal", 7, "5", "5")], State.REVERSED, []),
    ("refunded", [CHARGE, CLEARED, REFUND], State.REFUNDED, []),
    ("refunded in part", [CHARGE, CLEARED, PART_REFUND], State.PARTIALLY_REFUNDED, []),
    (
        "reversed in part, the rest settled",
        [CHARGE, PART_BACK, leg("cleared", 8, "5.00", "5.00")],
        State.SETTLED,
        [Open.SETTLED_DIFFERENTLY],
    ),
    (
        "settled in another currency",
        [CHARGE, leg("cleared", 1, "9.00", "9.00", currency="USD")],
        State.SETTLED,
        [Open.SETTLED_DIFFERENTLY],
    ),
    (
        "settled without saying what",
        [CHARGE, leg("cleared", 1, "10.00", None)],
        State.SETTLED,
        [Open.SETTLED_DIFFERENTLY],
    ),
    (
        "settled with the sign turned",
        [CHARGE, leg("cleared", 1, "-10.00", "-9.00")],
        State.SETTLED,
        [],
    ),
    ("settled twice", [CHARGE, CLEARED, leg("cleared", 2)], State.SETTLED, [Open.SETTLED_TWICE]),
    (
        "settled though all was reversed",
        [CHARGE, ALL_BACK, CLEARED],
        State.SETTLED,
        [Open.SETTLED_AFTER_REVERSAL],
    ),
    (
        "authorized twice",
        [CHARGE, leg("authorized", 1, "99.00")],
        State.AUTHORIZED,
        [Open.AUTHORIZED_TWICE],
    ),
    ("declined and charged", [DECLINE, CHARGE], State.AUTHORIZED, [Open.DECLINED_AND_CHARGED]),
    ("an unknown leg", [CHARGE, STRANGE], State.AUTHORIZED, [Open.UNKNOWN_LEG]),
]


@pytest.mark.parametrize(("name", "legs", "state", "why"), PURCHASES, ids=[row[0] for row in PURCHASES])
def test_a_purchase_is_what_the_document_makes_of_its_events(
    name: str, legs: Sequence[PurchaseLeg], state: State, why: Sequence[Open]
) -> None:
    found = purchase_of(legs)

    assert (found.state, list(found.open)) == (state, list(why))
    assert found.is_open == (bool(why) or state is State.WAITING)
    assert found.legs == len(legs)


def test_the_figures_of_the_authorization_stand_whatever_settles() -> None:
    found = purchase_of([CHARGE, leg("cleared", 1, "7.77", "9.00", fee_usd="0"), PART_REFUND])

    assert (found.charge_usd, found.fee_usd) == (Decimal("10.50"), Decimal("0.50"))
    assert (found.settled_usd, found.refunded_usd) == (Decimal("7.77"), Decimal("3.00"))


def test_a_settlement_without_its_authorization_books_nothing() -> None:
    found = purchase_of([CLEARED, REFUND])

    assert found.state is State.WAITING
    assert (found.charge_usd, found.fee_usd) == (None, None)


def test_directions_come_from_the_event_and_not_from_a_sign() -> None:
    turned = [
        one.model_copy(update={"amount_usd": -(one.amount_usd or 0)}) for one in (CLEARED, ALL_BACK, REFUND)
    ]

    assert purchase_of([CHARGE, *turned]) == purchase_of([CHARGE, CLEARED, ALL_BACK, REFUND])


def test_no_digit_is_lost_in_large_and_fine_amounts() -> None:
    exact = "123456789012345678901234567890.0123456789"
    found = purchase_of([leg("authorized", 0, exact, exact), leg("refund", 1, f"-{exact}", f"-{exact}")])

    assert found.refunded_usd == Decimal(exact)
    assert found.state is State.REFUNDED
    assert Purchase.model_validate(found.model_dump(mode="json")) == found


SETS = [
    [CHARGE, CLEARED, PART_BACK, REFUND, PART_REFUND, STRANGE],
    [CHARGE, leg("authorized", 0, "99.00", event_id="authorized-b"), DECLINE, CLEARED, ALL_BACK, REFUND],
    [leg(kind, 0, event_id=f"{kind}-same-time") for kind in ("authorized", "cleared", "reversal", "refund")],
    [CLEARED, leg("cleared", 2, merchant="OTHER"), REFUND, PART_BACK, ALL_BACK],
]


@pytest.mark.parametrize("legs", SETS, ids=["typical", "contradictory", "same moment", "no authorization"])
def test_every_order_of_up_to_six_events_makes_the_same_picture(legs: Sequence[PurchaseLeg]) -> None:
    for size in range(1, len(legs) + 1):
        for chosen in itertools.combinations(legs, size):
            expected = purchase_of(chosen)
            for order in itertools.permutations(chosen):
                assert purchase_of(order) == expected
                assert purchase_of([*order, order[0], *order]) == expected, "copies count once"


KINDS = st.sampled_from(["authorized", "cleared", "refund", "reversal", "declined", "chargeback"])
AMOUNTS = st.decimals("-100000", "100000", places=2).map(str)


@given(
    st.lists(st.tuples(KINDS, st.integers(0, 3), AMOUNTS, AMOUNTS | st.none()), min_size=1, max_size=10),
    st.randoms(use_true_random=False),
)
def test_any_set_in_any_order_makes_the_same_picture_and_never_moves_the_charge(
    shown: list[tuple[str, int, str, str | None]], rng: random.Random
) -> None:
    legs = [
        leg(kind, minute, usd, original, event_id=f"e{n}")
        for n, (kind, minute, usd, original) in enumerate(shown)
    ]
    expected = purchase_of(legs)
    shuffled = [*legs, *rng.sample(legs, rng.randint(0, len(legs)))]
    rng.shuffle(shuffled)

    assert purchase_of(shuffled) == expected
    charges = {one.amount_usd for one in legs if one.kind == "authorized"}
    assert expected.charge_usd in charges if charges else expected.charge_usd is None


def later(event: str, minute: int, **more: Any) -> Json:
    stamp = f"2026-03-02T09:{minute:02}:00.000Z"
    return authorized(event=event, status="settled", is_pending=False, occurred_at=stamp, **more)


async def test_what_the_database_keeps_is_the_same_in_every_order(bot: Bot) -> None:
    shown = [
        ("card.authorized", authorized()),
        ("card.transaction", later("cleared", 1, amount_usd=12, fee_usd=0)),
        ("card.transaction", later("reversal", 2, amount_usd=-5, original_amount=-5)),
        ("card.transaction", later("refund", 3, amount_usd=1, original_amount=1)),
    ]
    views = set()
    for number, order in enumerate(itertools.permutations(shown)):
        name = f"tx-{number}"
        for kind, data in order:
            event = bot.event(
                kind, {**data, "transaction_id": name}, event_id=f"{name}-{data['occurred_at']}"
            )
            assert await bot.deliver(event) == 200
            if number % 2:
                await bot.handle()  # one by one, else all in a batch
        await bot.handle()
        found = await bot.purchase(name)
        assert found is not None
        views.add(found.model_copy(update={"transaction_id": ""}).model_dump_json())

    (only,) = views
    kept = Purchase.model_validate_json(only)
    assert (kept.state, kept.charge_usd) == (State.PARTIALLY_REFUNDED, Decimal("12.34"))
    assert await bot.unhandled() == []


async def test_nothing_personal_is_kept_in_the_open(bot: Bot) -> None:
    event = bot.event(
        "card.authorized", authorized(partner_ref="jane.roe@example.com", cardholder_phone="4915112345678")
    )
    await bot.deliver(event)
    await bot.handle()

    kept = await bot.rows("SELECT * FROM purchase", "SELECT * FROM purchase_event", "SELECT * FROM inbox")

    assert "ACME STORE" in kept
    assert "jane.roe" not in kept
    assert "4915112345678" not in kept


async def test_a_decline_is_recognised_by_its_type_and_is_never_a_charge(bot: Bot) -> None:
    reason = {
        "code": "daily_limit_exceeded",
        "message": "Over the limit",
        "retryable": False,
        "card_blocked": False,
    }
    data = later("declined", 1, decline_reason=reason)
    await bot.deliver(bot.event("card.declined", data))
    await bot.handle()

    found = await bot.purchase("tx-1")

    assert found is not None
    assert (found.state, found.charge_usd) == (State.DECLINED, None)
    assert found.declined_usd == Decimal("12.34")
    assert found.decline is not None
    assert (found.decline.code, found.decline.retryable) == ("daily_limit_exceeded", False)
