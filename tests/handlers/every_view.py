"""Every view the app can draw, by name, with one text of a stranger's in every place it can get to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import bot.view_models as p
from bot import operations
from bot.domain import slack_faults
from bot.domain.errors import NotAllowed
from bot.domain.people import Tier
from bot.domain.requests import Stage, State
from bot.operations import Concern
from bot.partner.secret import Secret
from handlers.views import alerts, card_details, help_text, replies
from handlers.views.lookups import cards, float_and_ledger, funding, request_lists, webhook
from handlers.views.requests import approval_modals, forms, request_card
from tests.handlers import bulk_views, conversation_views, look_up_views, status_views
from tests.handlers import sample_requests as given

View = dict[str, Any]
Draw = Callable[[str], View]

_KINDS = operations.kinds()
_TOPUP = _KINDS["card_topup"]
_LINES = (
    "approval",
    "reminder",
    "rejected",
    "cancelled",
    "withdrawn",
    "expired",
    "confirmed",
    "opened",
    "unopened",
    "resolution",
    "resolution_corrected",
    "landed_late",
    "contradicted",
    "returned",
)
_WORDS = (*_LINES, "succeeded", "failed", "unresolved", "something_new")


def _form(kind: str) -> Draw:
    cls = _KINDS[kind]

    def draw(text: str) -> View:
        filled = forms.Filled({f.name: text for f in cls.fields}, reason=text, run_now=True, program="main")
        return forms.form(cls, filled, programs=("main", "other"), run_now=True, note=text, channel="C0OPS")

    return draw


def _preview(text: str) -> View:
    operation = _TOPUP.of_stored({"card": "card_1", "amount_usd": "50.00"}, text)
    return forms.preview(
        forms.Shown(
            draft_id="01",
            operation=operation,
            lines=[("Float available", text)],
            concerns=[Concern(text), Concern(text, stops=True)],
            reason=text,
            approvals_needed=2,
            approvers=["U0BOB"],
            run_now=False,
            program=text,
            live=True,
        ),
        channel="C0OPS",
    )


def _policy(text: str) -> View:
    rows = tuple(
        p.PolicyRow(k, text, 1, (Tier(Decimal(500), 2),), "8 h", _KINDS[k].handling.run_now) for k in _KINDS
    )
    return help_text.policy(p.PolicyView(rows, (text,), (text,), (), (("In all", text),), text))


def _state(state: State) -> Draw:
    return lambda text: request_card.card(given.a_card(state, text))


def _stage(stage: Stage) -> Draw:
    def draw(text: str) -> View:
        card = given.a_card(State.SUCCEEDED, text, stage=stage)
        return request_card.card(replace(card, alert_link="https://a.slack.com/archives/C/p2"))

    return draw


def _line(word: str) -> Draw:
    state = State(word) if word in set(State) else State.PENDING
    return lambda text: request_card.line(given.a_line(word, state, text))


def _digest(text: str) -> p.DigestView:
    """Figures that add up: 1,240.50 USD spent, of which 412.00 USD yesterday; two cards at 1.00 USD a month."""
    lines = (
        ("Float of main", "4,291.95 USD available, floor 1,000.00 USD"),
        ("Spent yesterday", "412.00 USD in 3 purchases"),
        ("Spent this month, up to yesterday", "1,240.50 USD in 9 purchases"),
        ("Top-ups yesterday", "350.00 USD in 2 top-ups"),
        ("Top-ups this month, up to yesterday", "1,350.00 USD in 7 top-ups"),
        ("Declined yesterday", "900.00 USD in 1 purchase: the card does not hold enough (1, 900.00 USD)"),
        (
            "Funding on its way",
            "0x68105d…9005 on POLYGON: 792.00 USD, in review for 3 hours; usually 45 minutes",
        ),
        (
            "Frozen for 30 days or more",
            "2 cards, 2.00 USD a month in fees: DANIEL OKAFOR ••6994, JONAS WEBER ••7578",
        ),
        ("Requests made", text),
    )
    waits = f"R-7K3M: {text}, requested by Alice, waits for @card-approvers"
    return p.DigestView(
        "2026-03-02",
        lines,
        (text,),
        live=False,
        first="Float 4,291.95 USD (floor 1,000.00 USD), 1 request waits, 1 alert is open",
        waiting=((waits, given.NOW - timedelta(hours=2), given.NOW + timedelta(hours=6)),),
        waiting_in_all=1,
    )


MESSAGES: Mapping[str, Draw] = {
    **{f"card-{state}": _state(state) for state in State},
    "card-freeze-now": lambda text: request_card.card(
        given.a_card(State.SUCCEEDED, text, kind="card_freeze", break_glass=True)
    ),
    **{f"line-{word}": _line(word) for word in _WORDS},
    **{"card-" + stage.replace(" ", "-"): _stage(stage) for stage in Stage},
    "line-in-review": lambda text: request_card.line(given.a_line(Stage.IN_REVIEW, State.SUCCEEDED, text)),
    "direct-taken-back": lambda text: request_card.direct(
        p.DirectView(
            given.a_request(State.SUCCEEDED, text, stage=Stage.TAKEN_BACK), "K7F-2QX", "", None, False
        )
    ),
    **look_up_views.MESSAGES,
    "direct-unposted": lambda text: request_card.direct(
        p.DirectView(
            given.a_request(text=text),
            "TIW-3FY",
            "",
            None,
            True,
            unposted=slack_faults.explained("not_in_channel", "#card-approvals"),
            channel="C0APPROVALS",
        )
    ),
    "direct-posted": lambda text: request_card.direct(
        p.DirectView(given.a_request(text=text), "TIW-3FY", "", None, True, channel="C0APPROVALS")
    ),
    "direct-approved": lambda text: request_card.direct(
        p.DirectView(given.a_request(State.APPROVED, text), "K7F-2QX", "Bob Tanaka", None, False)
    ),
    "direct-failed": lambda text: request_card.direct(
        p.DirectView(
            given.a_request(State.FAILED, text),
            "K7F-2QX",
            "Bob Tanaka",
            "https://a.slack.com/archives/C/p1",
            True,
        )
    ),
    "alert-raised": lambda text: alerts.alert(given.an_alert(text=text)),
    "alert-resolved": lambda text: alerts.alert(given.an_alert("resolved", text)),
    "alert-float": lambda _: alerts.alert(given.an_alert_of_the_float()),
    "alert-chart": lambda text: alerts.chart(p.AlertChartView("A-1-float.png", given.a_history())),
    "alert-line": lambda text: alerts.line(
        p.AlertLineView("Bob Tanaka", text, ("S0APPROVERS", "U0CAROL"), True)
    ),
    "alerts": lambda text: alerts.open_alerts(
        p.AlertsView(
            (given.an_alert(text=text),), (p.MuteView("quiet", "decline", text, "Bob Tanaka", None),)
        )
    ),
    "link": lambda text: card_details.link(
        p.LinkView(
            given.a_request(State.SUCCEEDED, text),
            Secret("https://countersign.example.com/details#tHe-tOkEn"),
            given.NOW,
            given.NOW,
            live=True,
        )
    ),
    "digest": lambda text: alerts.digest(_digest(text)),
    "anchor": lambda text: alerts.anchor(p.AnchorView(7, text)),
    "float": lambda text: replies.with_share(float_and_ledger.float_answer(given.a_float()), f"float {text}"),
    "webhook": lambda text: webhook.answer(
        p.WebhookView(
            text,
            text,
            given.NOW,
            "https://countersign.example.com/webhooks/main",
            "current",
            given.NOW,
            given.NOW,
            may_change=True,
            live=True,
        )
    ),
    "card-show": lambda text: replies.shared_by(cards.card_answer(given.a_plastic(text)), "U0ALICE"),
    "card-list": lambda text: cards.card_list(
        p.CardListView(tuple(given.a_plastic(text, n) for n in range(25)), 60, "ACTIVE", 1, 3, given.NOW)
    ),
    "funding-list": lambda text: funding.funding_list([given.a_funding(text)] * 40, text),
    "funding-show": lambda text: funding.funding_answer(given.a_funding(text)),
    "funding-addresses": lambda text: funding.addresses([p.AddressView("POLYGON", text, ("USDC", text))]),
    "requests": lambda text: request_lists.inbox(given.an_inbox(text)),
    "requests-of-somebody": lambda text: request_lists.inbox(replace(given.an_inbox(text), name=text)),
    "request-show-waiting": lambda text: replies.request_answer(
        given.a_card(State.PENDING, text), (text,) * 12
    ),
    "request-show": lambda text: replies.request_answer(given.a_card(State.FAILED, text)),
    "policy": _policy,
    "who": lambda text: help_text.who(p.WhoView(text, 1, ("U0BOB",), (text,), "U0ALICE")),
    "help": lambda text: help_text.help_answer(
        [help_text.Use(("card", "x"), text, text, text, text)],
        may_ask=True,
        may_decide=True,
        more="card help more",
    ),
    "help-examples": lambda text: help_text.examples(
        [help_text.Use(("card", "x"), text, text, text, text)], "3205", True, (text, text)
    ),
    "not-understood": lambda text: help_text.not_understood(text, text, "card"),
    "review": lambda text: replies.review(_TOPUP, f"card topup {text}"),
    "cancel": lambda text: replies.cancel(given.a_request(text=text)),
    "submitted-unposted": lambda text: replies.submitted(
        given.a_request(text=text), "C0APPROVALS", trouble=slack_faults.explained("is_archived")
    ),
    "submitted": lambda text: replies.submitted(given.a_request(text=text), "C0APPROVALS"),
    **status_views.MESSAGES,
    **bulk_views.MESSAGES,
    **conversation_views.MESSAGES,
    "refusal": lambda text: replies.refusal(replies.explain(NotAllowed(text))),
    "said": replies.said,
}

VIEWS: Mapping[str, Draw] = {
    "alert-snooze": lambda text: alerts.snooze("A-0123456789AB", text),
    "alert-support": lambda text: alerts.support(text, text),
    **{f"form-{kind}": _form(kind) for kind in _KINDS},
    "preview": _preview,
    "loading": lambda text: forms.loading("Top up a card", text),
    "trouble": lambda text: forms.trouble("Top up a card", text, draft_id="01", channel="C0OPS"),
    "confirmation": lambda text: approval_modals.confirmation(given.a_confirmation(text), (("Phone", text),)),
    "opening": lambda text: approval_modals.opening("R-7K3M"),
    "reject": lambda text: approval_modals.reject("R-7K3M", 3),
    "cancel-modal": lambda text: approval_modals.cancel("R-7K3M", 3),
    "resolve": lambda text: approval_modals.resolve("R-7K3M", 3),
    "details": lambda text: replies.request_modal(given.a_card(State.UNRESOLVED, text)),
    **status_views.VIEWS,
    **bulk_views.VIEWS,
}
