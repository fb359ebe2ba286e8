"""The views of Countersign and its people: status, Home, hand-over, what-if, second words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import bot.view_models as h
import bot.view_models as p
from bot import operations
from bot.domain.requests import ApprovalHealth, State
from bot.view_models import OpenFunding
from handlers.views import alerts, help_text, home, replies
from handlers.views.lookups import otp_recipients, status
from handlers.views.requests import approval_modals, request_card
from tests.handlers import sample_requests as given

View = dict[str, Any]
Draw = Callable[[str], View]

_KINDS = operations.kinds()
_HEALTH = ApprovalHealth(41, 36, timedelta(minutes=12), 3, 40, ("Bob Tanaka", "Alice Moreau", 18), 2)
_RUNWAY = p.RunwayView(Decimal(1000), known=True, hours=None, at=None, looked_ahead_hours=336)


def a_state(text: str = given.WORDS, *, paused: bool = True) -> h.ProgramState:
    under_way = OpenFunding("fund_1", text, "POLYGON", "review", Decimal("500.00"), given.NOW)
    return h.ProgramState(
        program="main",
        live=True,
        paused=f"Sending to main is paused since 2026-03-02 09:00 UTC by {text}: {text}" if paused else "",
        may_resume=paused,
        float=replace(given.a_float(), runway=_RUNWAY),
        funding=(under_way, replace(under_way, status="pending", amount_usd=None)),
        signing="lost",
        last_delivery_at=given.NOW,
        fresh=(h.Freshness("float", given.NOW), h.Freshness("ledger", None)),
        cards={"active": 9_990, "frozen": 10},
    )


def a_home(text: str = given.WORDS, **changes: Any) -> h.HomeTabView:
    drawn = (
        given.an_alert(text=text),
        replace(given.an_alert("acknowledged", text), acknowledged_by="U0BOB"),
    )
    made = h.HomeTabView(
        inbox=given.an_inbox(text),
        programs=(a_state(text),),
        alerts=(*drawn, an_alert_of("consent", text)) * 2,
        may_ask=True,
        may_decide=True,
        is_admin=True,
        at=given.NOW,
    )
    return replace(made, **changes)


def an_alert_of(kind: str, text: str) -> p.AlertView:
    return replace(given.an_alert(text=text), kind=kind, title=text, is_mutable=False, count=1)


def _status(text: str) -> View:
    counts = {"pending": 3, "unresolved": 1}
    trouble = {"main": text}
    states = (a_state(text), replace(a_state(text, paused=False), program="other", float=None, funding=()))
    drawn = (given.an_alert(text=text),) * 12
    return status.status(
        h.StatusView(given.NOW, states, counts, given.NOW, drawn, trouble, _HEALTH), may_pause=True
    )


def _what_if(text: str) -> View:
    return status.what_if(
        h.WhatIfView(
            asked="Order 40 cards at 200.00 USD each",
            fits=False,
            verdict="No. Order 40 cards at 200.00 USD each: it does not fit just now. 5 would.",
            lines=(("Float", text), ("Card allowance", "no cap")),
            obstacles=(text, text),
            most=5,
            program="main",
            live=True,
            float_read_at=given.NOW,
            needed_usd=Decimal("8040.00"),
        )
    )


def _delegation(text: str) -> p.DelegationView:
    until = given.NOW + timedelta(days=3)
    return p.DelegationView("@bob", "@dora", given.NOW, until, text, in_force=True)


def _policy(text: str) -> View:
    later = replace(_delegation(text), in_force=False)
    return help_text.policy(p.PolicyView((), (), (text,), (), (), text, (_delegation(text), later)))


def _who(text: str) -> View:
    able = ("U0BOB", "U0DORA")
    return help_text.who(p.WhoView(text, 1, able, (text,), "U0ALICE", {"U0DORA": ("U0BOB",)}))


def _waiting(state: State) -> Draw:
    def draw(text: str) -> View:
        until = given.NOW + timedelta(minutes=15) if state is State.APPROVED else None
        found = given.a_card(state, text, valid_until=until)
        return request_card.card(replace(found, paused=f"Sending to main is paused by {text}"))

    return draw


def _frozen_later(text: str) -> View:
    found = given.a_request(State.APPROVED, text, break_glass=True)
    return replies.submitted(found, "C0APPROVALS", f"Sending to main is paused by {text}")


def _direct(text: str) -> View:
    found = given.a_request(State.APPROVED, text)
    return request_card.direct(
        p.DirectView(found, "K7F-2QX", "Bob Tanaka", None, False, f"Sending is paused by {text}")
    )


MESSAGES: Mapping[str, Draw] = {
    "submitted-freeze-paused": _frozen_later,
    "direct-approved-paused": _direct,
    "status": _status,
    "what-if": _what_if,
    "handover-preview": lambda text: status.handover_preview(text, f"countersign handover post {text}"),
    "code-people": lambda text: otp_recipients.code_people(
        [h.CodePerson(text, "U0ALICE", (text, text)), h.CodePerson(text, "U0BOB", ())] * 30
    ),
    "paused": lambda text: status.paused(["main"], [text]),
    "policy-delegated": _policy,
    "who-delegated": _who,
    "alert-paused": lambda text: alerts.alert(an_alert_of("paused", text)),
    "alert-consent": lambda text: alerts.alert(an_alert_of("consent", text)),
    "alert-handover": lambda text: alerts.alert(an_alert_of("handover", text)),
    "card-pending-paused": _waiting(State.PENDING),
    "card-approved-paused": _waiting(State.APPROVED),
}


def _confirmation(text: str) -> View:
    found = given.a_confirmation(text)
    return approval_modals.confirmation(replace(found, view=replace(found.view, paused=text)))


VIEWS: Mapping[str, Draw] = {
    "confirmation-paused": _confirmation,
    "pause-form": lambda _: status.pause_form("main"),
    "home": lambda text: home.home(a_home(text), _KINDS),
    "home-of-a-requester": lambda text: home.home(
        a_home(text, may_decide=False, is_admin=False, programs=(a_state(text, paused=False),)), _KINDS
    ),
    "home-no-float": lambda text: home.home(
        a_home(
            inbox=p.InboxView((), (), ()),
            alerts=(),
            programs=(replace(a_state(text), float=None, funding=(), cards={}),),
            may_ask=False,
            is_admin=False,
        ),
        _KINDS,
        {"main": text},
    ),
    "home-closed": home.closed,
}
