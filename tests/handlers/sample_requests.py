"""Pictures to draw: requests in every state, with the texts a test puts into them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import bot.view_models as p
from bot.domain.ids import short_code
from bot.domain.requests import Decision, DecisionKind, Request, State
from bot.operations import Concern

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DIGEST = "ab" * 32
WORDS = "Team lunch"


def a_request(state: State = State.PENDING, text: str = WORDS, **changes: Any) -> Request:
    """A top-up of 50.00 USD; `text` is everything a person or the API wrote."""
    ended = state not in (State.PENDING, State.APPROVED, State.EXECUTING)
    made = Request(
        id="R-7K3M",
        program="main",
        kind="card_topup",
        state=state,
        version=3,
        requester="U0ALICE",
        requester_name=text if text != WORDS else "Alice Moreau",
        reason=text,
        terms={"card": "card_1", "amount_usd": "50.00"},
        subject="card_1",
        subject_label=f"{text} ••4242" if text != WORDS else "ALICE MOREAU ••4242",
        summary=f"Top up {text if text != WORDS else 'ALICE MOREAU'} ••4242 by 50.00 USD",
        exposure_usd=Decimal("50.00"),
        digest=DIGEST,
        key="co-abc123-01",
        approvals_needed=2,
        policy_version="0123456789abcdef",
        created_at=NOW,
        expires_at=NOW + timedelta(hours=8),
        outcome_text=f"{text} It is said." if ended else "",
        finished_at=NOW + timedelta(minutes=5) if ended else None,
    )
    return replace(made, **changes)


def a_decision(kind: DecisionKind, actor: str = "U0BOB", text: str = WORDS, verdict: str = "") -> Decision:
    return Decision(
        id="01",
        request_id="R-7K3M",
        kind=kind,
        actor=actor,
        actor_name="Bob Tanaka",
        requester="U0ALICE",
        digest=DIGEST,
        policy_version="0123456789abcdef",
        mac="",
        decided_at=NOW + timedelta(minutes=1),
        reason=text,
        verdict=verdict,
    )


def a_card(state: State = State.PENDING, text: str = WORDS, **changes: Any) -> p.RequestView:
    """The request card's picture, with one approval of two."""
    return p.RequestView(
        request=a_request(state, text, **changes),
        title="Top up a card",
        code=short_code(DIGEST),
        decisions=(a_decision(DecisionKind.APPROVE, text=text),),
        lines=(("Float available", "1,000.00 USD → 950.00 USD"), ("Card status", text)),
        concerns=(Concern(f"Note {text}"), Concern(f"Stop {text}", stops=True)),
        approver_names=("@card-approvers",),
        live=False,
        next_look_at=NOW + timedelta(minutes=6) if state in (State.EXECUTING, State.UNRESOLVED) else None,
        mentions=("S0APPROVERS",) if state is State.PENDING else (),
    )


def a_line(line: str, state: State, text: str = WORDS) -> p.LineView:
    decided = {
        "rejected": DecisionKind.REJECT,
        "resolution": DecisionKind.RESOLVE,
        "resolution_corrected": DecisionKind.RESOLVE,
    }.get(line, DecisionKind.APPROVE)
    says = line.startswith("resolution")
    found = (a_decision(decided, text=text, verdict="failed" if says else ""),)
    said = f"failed: {text}" if says else text
    called = ("S0APPROVERS",) if line in ("approval", "reminder", "reminder_unresolved") else ()
    return p.LineView(
        a_request(state, text), line, "Bob Tanaka", said, found, ("@card-approvers",), False, called
    )


def an_alert(state: str = "raised", text: str = WORDS) -> p.AlertView:
    over = NOW + timedelta(hours=3, minutes=20) if state == "resolved" else None
    return p.AlertView(
        "01", "unresolved", "R-7K3M", "critical", state, f"R-7K3M {text}", text, 3, NOW, NOW, over, live=False
    )


def an_alert_of_the_float() -> p.AlertView:
    return replace(an_alert(), kind="float_low", subject="main", history=a_history())


def a_float() -> p.FloatView:
    return p.FloatView(
        "main",
        Decimal("1000.00"),
        Decimal("990.5"),
        Decimal(5000),
        Decimal(4000),
        None,
        Decimal(1200),
        2,
        7,
        5,
        None,
        read_at=NOW,
        live=True,
        history=a_history(),
    )


def a_history() -> p.FloatHistory:
    points = [
        p.FloatPoint(NOW - timedelta(hours=12 * n), Decimal(1000 + 50 * n), Decimal(0), Decimal(50))
        for n in range(13, -1, -1)
    ]
    return p.FloatHistory("main", Decimal(1000), tuple(points), (tuple(points),), "Europe/Berlin")


def a_plastic(text: str = WORDS, number: int = 0) -> p.CardView:
    return p.CardView(
        id=f"card_{number}",
        holder=text,
        last4="4242",
        partner_ref=text,
        status="ACTIVE",
        balance_usd=None,
        read_at=NOW,
        program="main",
        open_requests=(a_request(text=text),),
        history=(a_request(State.FAILED, text),),
    )


def a_funding(text: str = WORDS) -> p.FundingView:
    return p.FundingView(
        "fund_1",
        "POLYGON",
        "0x" + "ab" * 32,
        "review",
        "in review",
        text,
        text,
        Decimal(100),
        None,
        None,
        NOW,
        None,
        "R-7K3M",
    )


def an_inbox(text: str = WORDS) -> p.InboxView:
    many = tuple(a_request(text=text) for _ in range(12))
    return p.InboxView(many, many, (a_request(State.REJECTED, text),))


def a_confirmation(text: str = WORDS) -> p.Confirmation:
    found = a_card(text=text)
    return p.Confirmation(found, found.lines, found.concerns, (f"Card status: now {text}",), facts_read=False)
