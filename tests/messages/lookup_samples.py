"""Answers to look-ups, Home, the daily summary and refusals, about the same cards and float as the requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import bot.view_models as p
from bot import operations
from bot.domain import errors as domain
from bot.domain.error_messages import MESSAGES
from bot.domain.events import (
    CardStatement,
    LedgerLine,
    LedgerReport,
    PurchaseLine,
    RequestPage,
    SpendReport,
    Spent,
)
from bot.domain.freezes import Freeze
from bot.domain.requests import ApprovalHealth, Checked, Request, State, Verification
from bot.domain.time import Period
from bot.partner import errors as partner
from bot.partner.calls import account as account_calls
from bot.partner.certainty import Certainty
from bot.view_models import OpenFunding
from handlers.views import alerts, home, replies
from handlers.views.lookups import cards, float_and_ledger, funding, request_lists, spend, status
from tests.handlers.sample_requests import NOW
from tests.messages import alert_samples
from tests.messages.request_samples import CARD, Sample, a_freeze, a_top_up, view_of

ZONE = ZoneInfo("Europe/Paris")
_WEEK = Period(NOW - timedelta(days=7), NOW, str(ZONE), "7d")
_HASH = "0x68105d" + "0" * 54 + "9005"
#: 550.00 USD went in six days: 3,341.95 USD above the floor last five weeks.
_RUNWAY = p.RunwayView(Decimal(1000), known=True, hours=None, at=None, looked_ahead_hours=336)
_HEALTH = ApprovalHealth(41, 36, timedelta(minutes=12), 3, 40, ("Bob Tanaka", "Alice Moreau", 18), 2)


def the_float() -> p.FloatView:
    points = tuple(
        p.FloatPoint(NOW - timedelta(days=n), Decimal(usd), Decimal(0), Decimal(spent))
        for n, usd, spent in (
            (6, "4891.95", "0"),
            (4, "4741.95", "150"),
            (2, "4391.95", "350"),
            (0, "4341.95", "50"),
        )
    )
    return p.FloatView(
        "main",
        Decimal("4341.95"),
        Decimal("4341.95"),
        Decimal(0),
        Decimal(550),
        None,
        Decimal("50.00"),
        1,
        88,
        62,
        100,
        read_at=NOW,
        live=False,
        history=p.FloatHistory("main", Decimal(1000), points, (points,), str(ZONE)),
        runway=_RUNWAY,
        period=_WEEK,
    )


def a_card(**changes: Any) -> p.CardView:
    made = p.CardView(
        id="card_1",
        holder="MARTA KOWALSKA",
        last4="3205",
        partner_ref="sales-team",
        status="ACTIVE",
        balance_usd=Decimal("258.34"),
        read_at=NOW,
        program="main",
        open_requests=(a_top_up(),),
        history=(a_top_up(State.SUCCEEDED, id="R-2ZQC"),),
        statement=a_statement(),
    )
    return replace(made, **changes)


def a_statement() -> CardStatement:
    def bought(merchant: str, usd: str, days: int, **more: Any) -> PurchaseLine:
        at = NOW - timedelta(days=days, hours=3, minutes=7 * days + 12)
        made = PurchaseLine(at, "settled", merchant, Decimal(usd), Decimal("0.50"), has_events=True)
        return replace(made, **more)

    lines = (
        bought("Hotel Ribeira", "412.00", 0, status="declined", decline_code="insufficient_card_balance"),
        bought("Deutsche Bahn", "190.50", 1, original="175.20 EUR"),
        bought("Office Depot", "50.00", 3, open=("settled at another amount",)),
    )
    return CardStatement("card_1", CARD, _WEEK, lines, NOW)


def a_submission() -> p.FundingView:
    return p.FundingView(
        "fund_1",
        "POLYGON",
        _HASH,
        "review",
        "in review",
        "Your card provider holds it. Contact them.",
        "USDC",
        Decimal("800.00"),
        Decimal("8.00"),
        None,
        NOW - timedelta(hours=3),
        None,
        "R-5QPX",
        age=timedelta(hours=3),
        usual=timedelta(minutes=45),
    )


def the_program(*, paused: str = "") -> p.ProgramState:
    on_its_way = OpenFunding("fund_1", "0x68105d…9005", "POLYGON", "review", Decimal("800.00"), NOW)
    read = tuple(
        p.Freshness(part, NOW) for part in ("float", "events", "cards", "funding", "ledger", "webhook")
    )
    return p.ProgramState(
        program="main",
        live=False,
        paused=paused,
        may_resume=bool(paused),
        float=the_float(),
        funding=(on_its_way,),
        signing="current",
        last_delivery_at=NOW,
        fresh=read,
        cards={"active": 62, "frozen": 3, "blocked": 1},
    )


def _open_alerts(*names: str) -> tuple[p.AlertView, ...]:
    found = dict(alert_samples.raised())
    return tuple(found[name] for name in names)


def answers() -> Iterator[Sample]:
    """Look-ups."""
    yield "/float", float_and_ledger.float_answer(the_float())
    yield "/float ledger 7d", float_and_ledger.ledger(a_ledger(), "float ledger 7d")
    sofia = a_card(holder="SOFIA MARCHETTI", last4="5601", status="FROZEN", balance_usd=Decimal("298.34"))
    yield "/card list", cards.card_list(p.CardListView((a_card(), sofia), 66, None, 1, 3, NOW, has_more=True))
    steps = [("Top up", "card topup card_1"), ("Freeze", "card freeze card_1")]
    yield "/card show 3205", cards.card_answer(a_card(), steps)
    frozen = replace(a_freeze(State.SUCCEEDED), finished_at=NOW)
    yield (
        "/card show of a frozen card",
        cards.card_answer(_frozen_card(frozen)),
    )
    yield "/card tx 3205 7d", cards.statement(a_statement(), "card tx 3205 7d")
    yield "/card spend 7d", spend.spend(the_spend())
    none_spent = replace(the_spend(), cards=(), merchants=(), declined=(), charged=(), about="at “Shell”")
    yield (
        "/card spend at Shell 7d",
        spend.spend(replace(none_spent, elsewhere=("Corner Coffee", "Office Depot"))),
    )
    about = p.CardRequestsView("card_1", CARD, "Top up a card", _WEEK, RequestPage((), 0, 1, 1), None, NOW)
    yield "/card requests 3205 topup 7d", request_lists.of_card(about, "card requests 3205 topup 7d", ZONE)
    done = a_top_up(State.SUCCEEDED)
    both = RequestPage((done, a_top_up(State.REJECTED, id="R-XVXH")), 2, 1, 1)
    of_marta = replace(about, kind="", period=None, found=both, newest=view_of(done))
    yield "/card requests 3205", request_lists.of_card(of_marta, "card requests 3205", ZONE)
    yield "/funding list", funding.funding_list([a_submission()], "main", "funding list")
    yield "/funding show", funding.funding_answer(a_submission())
    yield (
        "/funding addresses",
        funding.addresses([p.AddressView("POLYGON", "0x4f0c77…", ("USDC", "USDT"))]),
    )
    bobs = a_top_up(id="R-C8WD", requester_name="Bob Tanaka")
    rejected = a_top_up(State.REJECTED, id="R-XVXH")
    yield "/requests", request_lists.inbox(p.InboxView((a_top_up(),), (bobs,), (rejected,)))
    yield "/requests, none", request_lists.inbox(p.InboxView((), (), ()))
    yield "/requests waiting @bob", request_lists.inbox(p.InboxView((a_top_up(),), (), (), "Bob Tanaka"))
    yield "/requests waiting @carol", request_lists.inbox(p.InboxView((), (), (), "Carol Diaz"))
    page = RequestPage((a_top_up(), bobs, rejected), 3, 1, 1)
    yield "/requests all 7d", request_lists.search(page, "all, last 7 days", "requests all 7d", ZONE)
    many = RequestPage((a_top_up(), bobs, rejected), 1000, 2, None, has_more=True)
    yield "/requests all, of more than are counted", request_lists.search(many, "all", "requests all", ZONE)
    none = RequestPage((), 0, 1, 1)
    yield "/requests failed 7d", request_lists.search(none, "failed, last 7 days", "requests failed 7d", ZONE)
    yield "/requests show", replies.request_answer(view_of(a_top_up(State.SUCCEEDED)))
    waiting = view_of(a_top_up())
    yield "/requests show last", replies.request_answer(waiting, ("Bob Tanaka", "Carol Diaz"))
    yield "/requests show, nobody there", replies.request_answer(waiting)
    checks = (
        Checked("Terms", holds=True, found="the fingerprint is the one stored; its check code is TIW-3FY"),
        Checked("Approvals", holds=True, found="1 of 1: Bob Tanaka"),
        Checked(
            "Audit entries", holds=True, found="6, from its submission on, with its fingerprint: 112 to 121"
        ),
    )
    yield "/requests verify", request_lists.verification(Verification(a_top_up(State.SUCCEEDED), checks, NOW))
    broken = replace(checks[0], holds=False, found="the fingerprint is not the one that was approved")
    yield (
        "/requests verify, changed",
        request_lists.verification(Verification(a_top_up(State.SUCCEEDED), (broken, *checks[1:]), NOW)),
    )
    yield "/countersign status", status.status(_status(), may_pause=True)
    yield "/countersign status, paused and unread", status.status(_status_in_trouble(), may_pause=False)
    yield "/countersign status, nothing open", status.status(replace(_status(), alerts=()), may_pause=True)
    waits = "• R-7K3M pending: Top up MARTA KOWALSKA ••3205 by 50.00 USD"
    open_now = f"Marta asks about her hotel.\n\nOpen requests: 1\n{waits}"
    yield "/countersign handover", status.handover_preview(open_now, "countersign handover post")
    yield "/countersign what-if", status.what_if(the_what_if())
    yield "/countersign alerts", alerts.open_alerts(p.AlertsView(_open_alerts("funding: review"), ()))


def _frozen_card(frozen: Request) -> p.CardView:
    return a_card(
        holder="DANIEL OKAFOR",
        last4="6994",
        status="FROZEN",
        balance_usd=Decimal("112.40"),
        frozen_by=frozen,
        open_requests=(),
        history=(frozen,),
        statement=replace(a_statement(), lines=()),
        declines=(_stopped(frozen),),
    )


def _stopped(frozen: Request) -> PurchaseLine:
    """What the freeze stopped."""
    since = frozen.finished_at or frozen.created_at
    made = PurchaseLine(
        NOW + timedelta(hours=1), "declined", "Corner Coffee", Decimal("12.00"), None, has_events=True
    )
    return replace(made, decline_code="card_frozen", stopped_by=Freeze(frozen, since))


def a_ledger() -> LedgerReport:
    rows = (
        ("-50.00", "card_topup", f"Top-up of {CARD}", "R-2ZQC"),
        ("792.00", "funding", "Funding received on POLYGON", "R-5QPX"),
        ("-1.00", "fee", "Monthly fee of MARTA KOWALSKA ••3205", ""),
        ("0.00", "adjustment", "Marker in your card provider's books; moves nothing", ""),
    )
    lines = tuple(
        LedgerLine(NOW - timedelta(days=n + 1, minutes=17 * n + 4), Decimal(usd), kind, words, "ref", request)
        for n, (usd, kind, words, request) in enumerate(rows)
    )
    return LedgerReport("main", _WEEK, lines, NOW)


def the_spend() -> SpendReport:
    return SpendReport(
        program="main",
        period=_WEEK,
        cards=(Spent("SOFIA MARCHETTI ••5601", 2, Decimal("980.00")), Spent(CARD, 2, Decimal("240.50"))),
        merchants=(
            Spent("Corner Coffee", 2, Decimal("980.00")),
            Spent("Deutsche Bahn", 1, Decimal("190.50")),
            Spent("Office Depot", 1, Decimal("50.00")),
        ),
        declined=(Spent("insufficient_card_balance", 2, Decimal("1312.00")),),
        charged=(
            (NOW - timedelta(days=3), Decimal("50.00")),
            (NOW - timedelta(days=2), Decimal("800.00")),
            (NOW - timedelta(hours=27), Decimal("190.50")),
            (NOW - timedelta(hours=20), Decimal("180.00")),
        ),
        fee_usd=Decimal("12.40"),
        back_usd=Decimal("50.00"),
        unknown=0,
        last_event_at=NOW,
        live=False,
    )


def _status() -> p.StatusView:
    return p.StatusView(
        NOW, (the_program(),), {"pending": 1}, NOW, _open_alerts("funding: review"), {}, _HEALTH
    )


_TROUBLE = {
    "main": "Your card provider cannot be reached just now. Nothing was recorded or sent. Ask again in a minute."
}
_PAUSED = "Sending to main is paused since 2026-03-02 08:50 UTC by Bob Tanaka: the API key may be stolen."


def _in_trouble() -> p.ProgramState:
    """Paused, never read, no secret, nothing delivered."""
    unread = tuple(p.Freshness(part, None) for part in ("float", "events"))
    state = the_program(paused=_PAUSED)
    return replace(
        state, float=None, funding=(), signing="none", last_delivery_at=None, fresh=unread, cards={}
    )


def _status_in_trouble() -> p.StatusView:
    none = ApprovalHealth(0, 0, None, 0, 0, None, 0)
    lost = replace(the_program(), program="events", signing="lost", draft_only=False)
    many = _open_alerts("unresolved", "ledger_differs", *("funding: review",) * 8)
    return p.StatusView(NOW, (_in_trouble(), lost), {}, None, many, _TROUBLE, none)


def _home_in_trouble() -> p.HomeTabView:
    """Nothing open; of one program the float was never read, of the other it is below its floor."""
    low = replace(
        the_float(),
        balance_usd=Decimal("862.45"),
        available_usd=Decimal("862.45"),
        runway=replace(_RUNWAY, hours=0.0, at=NOW),
        history=None,
    )
    under_way = the_program().funding * 6
    events = replace(the_program(), program="events", float=low, funding=under_way)
    return p.HomeTabView(
        inbox=p.InboxView((), (), ()),
        programs=(_in_trouble(), events),
        alerts=(),
        may_ask=True,
        may_decide=True,
        is_admin=True,
        at=NOW,
        snoozed=1,
    )


def _home_with_much() -> p.HomeTabView:
    """Nine alerts: the worst five are shown."""
    names = (
        "unresolved",
        "ledger_differs",
        "float_low",
        "funding: review",
        "decline: one",
        "scope",
        "webhook_silent",
    )
    found = replace(_home_in_trouble(), programs=(the_program(),), alerts=_open_alerts(*names), snoozed=0)
    return replace(found, inbox=p.InboxView((a_top_up(),) * 9, (), ()))


def the_what_if() -> p.WhatIfView:
    return p.WhatIfView(
        asked="Order 40 cards at 200.00 USD each",
        fits=False,
        verdict="No. Order 40 cards at 200.00 USD each: it does not fit just now. 21 would.",
        lines=(
            ("Available", "4,341.95 USD"),
            ("Needed", "8,040.00 USD: 40 × 200.00 USD, and 1.00 USD of each for the first month"),
            ("Short by", "3,698.05 USD"),
        ),
        obstacles=(
            "The float is 3,698.05 USD short. Send at least 3,735.41 USD (a load fee of 1.00 % is deducted).",
        ),
        most=21,
        program="main",
        live=False,
        float_read_at=NOW,
        needed_usd=Decimal("8040.00"),
    )


def summaries() -> Iterator[Sample]:
    """The daily summary and Home."""
    lines = (
        ("Float of main", "4,341.95 USD available, floor 1,000.00 USD"),
        ("Alerts", "1 funding, 1 decline"),
        ("Requests made", "1 pending, 2 succeeded"),
        ("Spent yesterday", "370.50 USD in 2 purchases"),
        ("Spent this month, up to yesterday", "370.50 USD in 2 purchases"),
        ("Top-ups yesterday", "50.00 USD in 1 top-up"),
        ("Declined yesterday", "900.00 USD in 1 purchase: the card does not hold enough (1, 900.00 USD)"),
        (
            "Funding on its way",
            "0x68105d…9005 on POLYGON: 800.00 USD, in review for 3 hours; usually 45 minutes",
        ),
        ("Frozen for 30 days or more", "1 card, 1.00 USD a month in fees: JONAS WEBER ••7578"),
        ("Approvals in February 2026", _HEALTH.text),
    )
    waits = "R-7K3M: Top up MARTA KOWALSKA ••3205 by 50.00 USD, requested by Alice Moreau, waits for @card-approvers"
    yield (
        "Daily summary",
        alerts.digest(
            p.DigestView(
                "2026-03-02",
                lines,
                ("Funding 0x68105d…9005 is in review",),
                live=False,
                first="Float 4,341.95 USD (floor 1,000.00 USD), 1 request waits, 1 alert is open",
                waiting=((waits, NOW, NOW + timedelta(hours=8)),),
                waiting_in_all=1,
            )
        ),
    )
    bobs = a_top_up(id="R-C8WD", requester_name="Bob Tanaka")
    for name, may_decide, is_admin in (("requester", False, False), ("admin", True, True)):
        found = p.HomeTabView(
            inbox=p.InboxView((a_top_up(),), (bobs,), ())
            if may_decide
            else p.InboxView((), (a_top_up(),), ()),
            programs=(the_program(),),
            alerts=_open_alerts("funding: review", "decline: one"),
            may_ask=True,
            may_decide=may_decide,
            is_admin=is_admin,
            at=NOW,
            snoozed=1,
        )
        yield f"Home of {'an' if is_admin else 'a'} {name}", home.home(found, operations.kinds())
    yield "Home of an admin, in trouble", home.home(_home_in_trouble(), operations.kinds(), _TROUBLE)
    yield "Home of an admin, with much to do", home.home(_home_with_much(), operations.kinds())
    quiet = replace(
        _home_in_trouble(), programs=(the_program(),), may_ask=False, may_decide=False, is_admin=False
    )
    yield "Home of somebody who may only look", home.home(replace(quiet, snoozed=0), operations.kinds())
    nobody = "Guests and people of other workspaces cannot use Countersign."
    yield "Home of somebody who may not use it", home.closed(nobody)


def refusals() -> Iterator[Sample]:
    """What is refused, and why something could not be read."""
    said = (
        domain.OwnRequest(),
        domain.NotAllowed("Only @card-approvers can decide on this. Nothing has changed."),
        domain.NotAllowed(
            "You and the requester are linked by a delegation, so you cannot decide on this. Somebody else has to."
            " Nothing has changed."
        ),
        domain.AlreadyDecided("Your approval is in already; somebody else has to give the next one."),
        domain.Stale("R-7K3M is rejected already."),
        domain.NotFound("There is no request R-NONE."),
        RuntimeError("a fault of ours"),
    )
    for error in said:
        yield type(error).__name__, replies.refusal(replies.explain(error, "7K3MQX"))
    for code in MESSAGES:
        cls = partner.CLASSES[code]
        refused = cls("", operation=account_calls.ME, certainty=Certainty.DEFINITE, status=400, code=code)
        yield code, replies.refusal(replies.explain(refused))
