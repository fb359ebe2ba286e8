"""The answers of look-ups at their largest, by name, with one text of a stranger's wherever it can get to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import bot.view_models as p
from bot.domain.events import (
    CardStatement,
    DeclineGroup,
    DeclineLine,
    DeclineReport,
    LedgerLine,
    LedgerReport,
    PurchaseLine,
    RequestPage,
    SpendReport,
    Spent,
)
from bot.domain.requests import Checked, State, Verification
from bot.domain.time import Period
from bot.partner.models import Earnings, Fees
from handlers.views import replies
from handlers.views.lookups import cards, exports, float_and_ledger, funding, request_lists, spend
from tests.handlers import sample_requests as given

Draw = Callable[[str], dict[str, Any]]

_ZONE = ZoneInfo("Europe/Berlin")
_PERIOD = Period(given.NOW - timedelta(days=90), given.NOW, str(_ZONE), "90d", was_cut=True)
# Short where the view is drawn for the snapshot, all there may be for every other text.
_MANY = 500


def _many(text: str, most: int = _MANY) -> int:
    return most if text != given.WORDS else 2


def _line(text: str, status: str = "pending", **more: Any) -> PurchaseLine:
    return PurchaseLine(
        at=given.NOW,
        status=status,
        merchant=text,
        charge_usd=Decimal("1234567.89"),
        fee_usd=Decimal("0.0123456789"),
        original=f"9 {text}",
        has_events=True,
        **more,
    )


def _statement(text: str) -> CardStatement:
    declined = _line(text, "declined", decline_code=text or "unknown", retryable=False)
    still_open = _line(text, text, open=("settled at another amount", text), listed=False)
    lines = (declined, still_open, *[_line(text)] * _many(text))
    return CardStatement("card_1", f"{text} ••4242", _PERIOD, lines, given.NOW, all_read=False)


def _card(text: str) -> p.CardView:
    frozen = replace(given.a_request(State.SUCCEEDED, text), kind="card_freeze", break_glass=True)
    declines = tuple(line for line in _statement(text).lines if line.is_declined) * _many(text, 30)
    many = (given.a_request(text=text),) * _many(text, 30)
    return replace(
        given.a_plastic(text),
        status="FROZEN",
        frozen_by=frozen,
        statement=_statement(text),
        declines=declines,
        open_requests=many,
        history=many,
    )


def _card_page(text: str) -> dict[str, Any]:
    more = [(f"Do {n}", f"card do{n} {'c' * 32}") for n in range(5)]
    found = cards.card_answer(
        _card(text), [("Unfreeze", "card unfreeze c"), ("Top up", "card topup c")], more
    )
    return replies.with_share(found, f"card show {text}")


def _declines(text: str) -> dict[str, Any]:
    line = DeclineLine(
        given.NOW, text, f"{text} ••4242", text, Decimal("5.00"), retryable=None, card_blocked=None
    )
    names = ((text, 1200), *[(text, 1)] * _many(text))
    group = DeclineGroup(text, 1200, Decimal("99999.99"), names, names, retryable=True)
    report = DeclineReport(
        text, _PERIOD, (group,) * _many(text, 14), (line,) * _many(text, 10), 10_000, 5_000, given.NOW
    )
    return cards.declines(report, _ZONE)


def _spend(text: str) -> dict[str, Any]:
    """Five purchases of 1,240.50 USD by card, by merchant and by day, and one declined of 900.00 USD."""
    others = tuple(Spent(f"{text} {n}", 1, Decimal(1)) for n in range(_many(text) - 2))
    report = SpendReport(
        program=text,
        period=Period(given.NOW - timedelta(days=2), given.NOW, str(_ZONE), "2d"),
        cards=(
            Spent(f"{text} ••5601", 2, Decimal("980.00")),
            Spent("MARTA KOWALSKA ••3205", 2, Decimal("210.50")),
            Spent("DANIEL OKAFOR ••6994", 1, Decimal("50.00")),
            *others,
        ),
        merchants=(
            Spent(text, 3, Decimal("1000.00")),
            Spent("Deutsche Bahn", 1, Decimal("190.50")),
            Spent("Office Depot", 1, Decimal("50.00")),
            *others,
        ),
        declined=(Spent("insufficient_card_balance", 1, Decimal("900.00")),),
        charged=(
            *((given.NOW - timedelta(days=1), amount) for amount in (Decimal("520.00"), Decimal("280.00"))),
            (given.NOW - timedelta(hours=10), Decimal("200.00")),
            (given.NOW - timedelta(hours=9), Decimal("190.50")),
            (given.NOW - timedelta(hours=8), Decimal("50.00")),
        ),
        fee_usd=Decimal("12.40"),
        back_usd=Decimal("50.00"),
        unknown=1,
        last_event_at=given.NOW,
        live=False,
        draft_only=True,
    )
    return spend.spend(report)


def _ledger(text: str) -> dict[str, Any]:
    line = LedgerLine(given.NOW, Decimal("-1234567.0123456789"), text, text, text, "R-7K3M")
    lines = (line, replace(line, amount_usd=Decimal(5), kind="funding")) * _many(text)
    report = LedgerReport(text, _PERIOD, lines, given.NOW, all_read=False)
    return float_and_ledger.ledger(report, f"float ledger {text}", page=2)


def _days(text: str) -> CardStatement:
    """Purchases on several days, all of them read: with a chart."""
    lines = tuple(replace(_line(text), at=given.NOW - timedelta(days=3 * n, hours=1)) for n in range(4))
    return CardStatement("card_1", f"{text} ••4242", _PERIOD, lines, given.NOW)


def _ledger_days(text: str) -> dict[str, Any]:
    week = Period(given.NOW - timedelta(days=7), given.NOW, "UTC", "7d")
    lines = tuple(
        LedgerLine(given.NOW - timedelta(days=n, hours=1), Decimal(n * 10 - 20), text, text, text)
        for n in range(5)
    )
    return float_and_ledger.ledger(LedgerReport(text, week, lines, given.NOW), f"float ledger {text}")


def _fees(text: str) -> dict[str, Any]:
    rate, usd = Decimal("0.0212345"), Decimal("3.50")
    found = Fees.read(
        {
            "svc_pct": rate,
            "your_markup_pct": rate,
            "total_pct": rate,
            "load_from_float_pct": rate,
            "load_from_user_deposit_pct": rate,
            "example_on_100_usd": {"svc_fee_usd": usd, "your_fee_usd": usd, "lands_on_card_usd": usd},
            "transaction": {
                "usd_purchase_pct": rate,
                "fx_purchase_pct": rate,
                "high_risk_surcharge_pct": rate,
                "atm_pct": rate,
                "visa_direct_pct": rate,
                "monthly_per_card_usd": usd,
                "your_markup_pct": rate,
            },
        }
    )
    return replies.with_share(float_and_ledger.fees(found, text, "float markup"), "float fees")


def _earnings(text: str) -> dict[str, Any]:
    found = Earnings.read(
        {
            "accrued_usd": Decimal("10.5"),
            "paid_out_usd": Decimal(4),
            "owed_usd": Decimal("6.5"),
            "last_payout_at": given.NOW.isoformat(),
        }
    )
    return float_and_ledger.earnings(found, text)


def _float(text: str) -> dict[str, Any]:
    runway = p.RunwayView(
        Decimal(1000), known=True, hours=31.4, at=given.NOW + timedelta(hours=31), looked_ahead_hours=336
    )
    found = replace(given.a_float(), program=text, runway=runway, period=_PERIOD)
    return replies.with_share(float_and_ledger.float_answer(found), f"float 90d {text}")


def _funding(text: str, **more: Any) -> p.FundingView:
    return replace(given.a_funding(text), age=timedelta(hours=30), usual=timedelta(minutes=50), **more)


def _fundings(text: str) -> dict[str, Any]:
    stuck = _funding(text, status="pending", word="submitted", overdue="more than 24 h", id=text)
    found = [stuck, *[_funding(text)] * _many(text)]
    return funding.funding_list(found, text, f"funding list {text}", page=1)


def _search(text: str) -> dict[str, Any]:
    page = RequestPage((given.a_request(text=text),) * _many(text, 25), 10_000, 3, 400)
    return request_lists.search(page, f"{text}, {_PERIOD.in_words()}", f"requests {text}", _ZONE)


def _of_card(text: str) -> dict[str, Any]:
    page = RequestPage((given.a_request(text=text),) * _many(text, 25), 10_000, 1, 400)
    newest = given.a_card(State.SUCCEEDED, text)
    found = p.CardRequestsView("card_1", text, text, _PERIOD, page, newest, given.NOW)
    return request_lists.of_card(found, f"card requests {text}", _ZONE)


def _verification(text: str, *, holds: bool) -> dict[str, Any]:
    checks = tuple(Checked(f"Part {n}", holds=holds or n > 0, found=text or "–") for n in range(6))
    return request_lists.verification(Verification(given.a_request(text=text), checks, given.NOW))


MESSAGES: Mapping[str, Draw] = {
    "look-card-page": _card_page,
    "look-card-tx": lambda text: cards.statement(_statement(text), f"card tx {text}", page=2),
    "look-card-tx-none": lambda text: cards.statement(
        CardStatement("card_1", text, _PERIOD, (), given.NOW), "card tx c"
    ),
    "look-declines": _declines,
    "look-spend": _spend,
    "look-card-tx-chart": lambda text: cards.statement(_days(text), f"card tx {text}"),
    "look-ledger": _ledger,
    "look-ledger-chart": _ledger_days,
    "look-fees": _fees,
    "look-earnings": _earnings,
    "look-float": _float,
    "look-float-unread": lambda text: float_and_ledger.float_answer(
        replace(
            given.a_float(), history=None, period=_PERIOD, runway=p.RunwayView(Decimal(1000), known=False)
        )
    ),
    "look-funding": _fundings,
    "look-funding-late": lambda text: funding.funding_answer(
        _funding(text, status="pending", word="submitted", overdue="more than 24 h"),
        "https://a.slack.com/archives/C/p1",
    ),
    "look-requests": _search,
    "look-requests-of-card": _of_card,
    "look-verified": lambda text: _verification(text, holds=True),
    "look-not-verified": lambda text: _verification(text, holds=False),
    "export-begun": lambda text: exports.begun(text, _PERIOD),
    "export-running": lambda text: exports.running(text, _PERIOD, 12_000),
    "export-done": lambda text: exports.done(text, _PERIOD, text, 1_200_000, ["ab" * 32] * _many(text, 40)),
    "export-stopped": lambda text: exports.stopped(text, 3, text),
}
