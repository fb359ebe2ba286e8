"""Look-ups in their rarer cases: nothing there, not read, more than is shown, late; and declines, fees and earnings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import bot.view_models as p
from bot.domain.events import (
    CardStatement,
    DeclineLine,
    DeclineReport,
    LedgerReport,
    SpendReport,
    by_cause,
)
from bot.domain.freezes import Freeze
from bot.domain.money import exact_sum
from bot.domain.requests import State
from bot.domain.time import Period
from bot.partner.models import Earnings, Fees
from handlers.views import charts
from handlers.views.lookups import cards, float_and_ledger, funding, spend
from tests.handlers.sample_requests import NOW
from tests.messages.lookup_samples import (
    ZONE,
    a_card,
    a_ledger,
    a_statement,
    a_submission,
    the_float,
    the_spend,
)
from tests.messages.request_samples import CARD, Sample, a_freeze

_MONTH = Period(NOW - timedelta(days=30), NOW, str(ZONE), "30d")
_NOTHING = Decimal(0)


def of_cards() -> Iterator[Sample]:
    """Cards, purchases and declines."""
    yield "/card list, none", cards.card_list(p.CardListView((), 0, None, 1, 1, None))
    yield "/card list closed, none", cards.card_list(p.CardListView((), 0, "DELETED", 1, 1, None))
    blocked = a_card(status="BLOCKED", open_requests=(), history=(), statement=None)
    yield "/card show of a blocked card, history not read", cards.card_answer(blocked)
    outside = a_card(status="FROZEN", open_requests=(), history=())
    steps = [("Unfreeze", "card unfreeze card_1"), ("Top up", "card topup card_1")]
    menu = [("Set limits", "card limits card_1"), ("Close", "card close card_1")]
    yield "/card show of a card that somebody else froze", cards.card_answer(outside, steps, menu)
    for status in ("EXPIRED", "INACTIVE"):
        yield f"/card show, {status}", cards.card_answer(a_card(status=status, open_requests=(), history=()))
    closed = a_card(status="DELETED", balance_usd=_NOTHING, open_requests=(), history=())
    yield "/card show of a closed card", cards.card_answer(closed)
    new = a_card(status=None, balance_usd=None, read_at=None, partner_ref=None, open_requests=(), history=())
    declined = tuple(line for line in a_statement().lines if line.is_declined)
    unnamed = (replace(declined[0], merchant=""),)
    none = replace(a_statement(), lines=())
    yield "/card show of a new card", cards.card_answer(replace(new, statement=none, declines=unnamed))
    yield (
        "/card tx, nothing bought",
        cards.statement(CardStatement("card_1", CARD, _MONTH, (), NOW), "card tx 3205"),
    )
    bought = [line for line in a_statement().lines if not line.is_declined]
    many = tuple(
        replace(bought[1], at=NOW - timedelta(days=n, hours=2), listed=n != 2, open=()) for n in range(30)
    )
    more = CardStatement("card_1", CARD, _MONTH, many, NOW, all_read=False)
    yield "/card tx 3205 30d, with more pages", cards.statement(more, "card tx 3205 30d")
    quarter = Period(NOW - timedelta(days=90), NOW, str(ZONE), "90d", was_cut=True)
    weeks = CardStatement("card_1", CARD, quarter, many[::3], NOW)
    yield "/card tx 3205 90d", cards.statement(weeks, "card tx 3205 90d")
    yield "/card declines 30d", cards.declines(_declines(), ZONE)
    nothing = DeclineReport("main", _MONTH, (), (), 0, 0, None)
    each = replace(_declines(), total=3)
    yield "/card declines, each of them", cards.declines(each, ZONE)
    yield "/card declines, none", cards.declines(nothing, ZONE)
    nothing_spent = replace(
        the_spend(), cards=(), merchants=(), declined=(), charged=(), fee_usd=_NOTHING, back_usd=_NOTHING
    )
    yield "/card spend, nothing", spend.spend(replace(nothing_spent, last_event_at=None))
    yield "/card spend, one amount not known", spend.spend(_with_one_unknown())


def _declines() -> DeclineReport:
    frozen = a_freeze(State.SUCCEEDED, finished_at=NOW - timedelta(hours=3))
    held = Freeze(frozen, NOW - timedelta(hours=3))
    said = (
        ("insufficient_card_balance", "SOFIA MARCHETTI ••5601", "Corner Coffee", "900.00", True),
        ("insufficient_card_balance", CARD, "Hotel Ribeira", "412.00", True),
        ("card_frozen", "DANIEL OKAFOR ••6994", "", "12.00", None),
    )
    lines = tuple(
        DeclineLine(
            NOW - timedelta(hours=2 * n, minutes=12),
            code,
            label,
            merchant or "an unnamed merchant",
            Decimal(usd),
            retryable=may,
            card_blocked=None,
            **({"stopped_by": held} if code == "card_frozen" else {}),
        )
        for n, (code, label, merchant, usd, may) in enumerate(said)
    )
    return DeclineReport("main", _MONTH, by_cause(lines), lines, 5, 3, NOW)


def _with_one_unknown() -> SpendReport:
    return replace(the_spend(), unknown=1)


def of_money() -> Iterator[Sample]:
    """Float, ledger, fees, earnings, funding."""
    unread = replace(the_float(), history=None, runway=p.RunwayView(Decimal(1000), known=False))
    yield "/float, just set up", float_and_ledger.float_answer(unread)
    at_floor = p.RunwayView(Decimal(1000), known=True, hours=0.0, at=NOW, looked_ahead_hours=336)
    short = replace(
        the_float(),
        balance_usd=Decimal("862.45"),
        available_usd=Decimal("862.45"),
        pending_usd=Decimal("900.00"),
        limit_usd=Decimal("20000.00"),
        cards_limit=None,
        history=None,
        period=None,
    )
    yield "/float, too little", float_and_ledger.float_answer(replace(short, runway=at_floor))
    soon = p.RunwayView(
        Decimal(1000), known=True, hours=31.0, at=NOW + timedelta(hours=31), looked_ahead_hours=336
    )
    yield (
        "/float, a day left",
        float_and_ledger.float_answer(replace(the_float(), runway=soon, history=None, period=None)),
    )
    both_ways = _with_returns()
    drawn = float_and_ledger.float_answer(both_ways)
    yield "/float, with what came back", drawn
    yield (
        "/float where Slack takes no chart",
        charts.without_chart(drawn, "The chart is in a direct message to you."),
    )
    lines = a_ledger().lines * 20
    long = LedgerReport("main", _MONTH, lines, NOW, all_read=False)
    yield "/float ledger 30d, with more pages", float_and_ledger.ledger(long, "float ledger 30d")
    yield "/float fees", float_and_ledger.fees(_fees(), "main", "float markup")
    earned = {
        "accrued_usd": Decimal("310.50"),
        "paid_out_usd": Decimal("250.00"),
        "owed_usd": Decimal("60.50"),
    }
    paid = Earnings.read({**earned, "last_payout_at": (NOW - timedelta(days=12)).isoformat()})
    yield "/float earnings", float_and_ledger.earnings(paid, "main")
    yield "/funding list, none", funding.funding_list([], "main")
    yield "/funding list rejected, none", funding.funding_list([], "main", about="rejected, BNB")
    late = replace(
        a_submission(),
        status="pending",
        word="submitted",
        overdue="more than 6 h",
        age=timedelta(hours=7),
        words="",
    )
    yield "/funding list, one late", funding.funding_list([late, a_submission()], "main")
    link = "https://example.slack.com/archives/C0APPROVALS/p1772442000"
    yield "/funding show, late", funding.funding_answer(replace(late, request_id=None), link)
    credited = replace(
        a_submission(),
        status="credited",
        word="credited",
        words="",
        credited_usd=Decimal("792.00"),
        credited_at=NOW - timedelta(hours=1),
        age=None,
    )
    yield "/funding show, credited", funding.funding_answer(credited)
    yield "/funding addresses, none", funding.addresses([])


def _with_returns() -> p.FloatView:
    """100.00 USD came in and 80.00 USD was taken back; 40.00 USD came back from a card."""
    found = the_float()
    assert found.history is not None
    moves = (("4321.95", "0", "0"), ("4421.95", "100", "0"), ("4341.95", "-80", "0"), ("4381.95", "0", "-40"))
    points = tuple(
        p.FloatPoint(NOW - timedelta(hours=12 * (3 - n)), *map(Decimal, move)) for n, move in enumerate(moves)
    )
    history = replace(found.history, points=points, stretches=(points,))
    balance_usd = points[-1].balance_usd
    return replace(found, balance_usd=balance_usd, available_usd=balance_usd, history=history)


def _fees() -> Fees:
    """1 % on funding; 1.5 % and a markup of 2 % on a deposit."""
    transaction = {
        "usd_purchase_pct": Decimal("0.01"),
        "fx_purchase_pct": Decimal("0.02"),
        "high_risk_surcharge_pct": Decimal("0.015"),
        "atm_pct": Decimal("0.03"),
        "visa_direct_pct": Decimal("0.01"),
        "monthly_per_card_usd": Decimal("1.00"),
        "your_markup_pct": Decimal(0),
    }
    example = {
        "svc_fee_usd": Decimal("1.00"),
        "your_fee_usd": Decimal("2.00"),
        "lands_on_card_usd": Decimal("97.00"),
    }
    assert exact_sum(example.values()) == Decimal(100)
    return Fees.read(
        {
            "svc_pct": Decimal("0.01"),
            "your_markup_pct": Decimal("0.02"),
            "total_pct": Decimal("0.03"),
            "load_from_float_pct": Decimal("0.01"),
            "load_from_user_deposit_pct": Decimal("0.015"),
            "example_on_100_usd": example,
            "transaction": transaction,
        }
    )
