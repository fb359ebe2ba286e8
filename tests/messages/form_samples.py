"""The form of each operation kind, its preview and its confirmation, with the figures that each of them reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import bot.view_models as p
from bot import operations
from bot.domain.cards import CardEntry
from bot.domain.people import draft_only
from bot.domain.requests import DecisionKind, State
from bot.operations import Operation
from bot.partner.secret import Secret
from handlers.views.requests import approval_modals, forms
from tests.messages.request_samples import CARD, REASON, Sample, a_freeze, a_top_up, decided, view_of

HASH = "0x68105d" + "0" * 54 + "9005"
URL = "https://countersign.example.com/webhooks/main"
_PAUSED = "Sending to main is paused since 2026-03-02 08:50 UTC by Bob Tanaka: the API key may be stolen."
_READ = "2026-03-02 08:48 UTC, 12 min old"

#: What is typed into each form, and why.
_TYPED: Mapping[str, tuple[dict[str, str], str]] = {
    "card_order": (
        {
            "card_holder_name": "Elena Petrova",
            "phone_country_code": "49",
            "phone": "15112345678",
            "email": "elena.petrova@example.com",
            "partner_ref": "sales-team",
        },
        "New colleague in sales, starts on 9 March",
    ),
    "card_topup": ({"card": "card_1", "amount_usd": "50.00"}, REASON),
    "card_unload": ({"card": "card_1", "amount_usd": "50.00"}, "The trip to Porto was cancelled"),
    "card_freeze": ({"card": "card_1"}, "Lost on the train to Porto"),
    "card_unfreeze": ({"card": "card_1"}, "Found in the hotel safe"),
    "card_limits": (
        {"card": "card_1", "daily_limit": "200.00", "monthly_limit": "1500.00"},
        "Travel budget for March",
    ),
    "card_phone": (
        {"card": "card_1", "phone_country_code": "48", "phone": "601234567"},
        "New SIM card; asked Marta on her office phone",
    ),
    "card_close": ({"card": "card_1", "last4": "3205"}, "Marta leaves on 6 March"),
    "card_reveal": ({"card": "card_1"}, "Marta books the hotel in Porto online"),
    "card_3ds": ({"card": "card_1", "program_enabled": "yes"}, "Codes by SMS do not reach Marta abroad"),
    "funding_submit": ({"tx_hash": HASH, "network": "POLYGON"}, "Float for March"),
    "fees_markup": ({"markup_percent": "2.5"}, "Price list of March"),
    "deposit_quote": (
        {"card": "card_1", "amount_usd": "50.00", "asset": "USDC", "chain": "POLYGON"},
        "Marta pays in her own part of the hotel",
    ),
    "event_redeliver": ({"event_id": "evt_41c2"}, "The bot was down from 08:20 to 08:45"),
    "webhook_register": ({"url": URL}, "First registration"),
    "webhook_rotate": ({"url": URL}, "Rotated every quarter"),
}
#: What the preview of each kind reads of the API: the float has 4,341.95 USD, the card 258.34 USD.
_READ_NOW: Mapping[str, Any] = {
    "float_available_usd": Decimal("4341.95"),
    "float_balance_usd": Decimal("4341.95"),
    "allowance_left": 12,
    "monthly_fee_usd": Decimal("1.00"),
    "twins": [],
    "card_status": "ACTIVE",
    "card_last4": "3205",
    "card_balance_usd": Decimal("258.34"),
    "read": None,
    "daily_limit": Decimal("150.00"),
    "weekly_limit": None,
    "monthly_limit": Decimal("1000.00"),
    "single_usd": Decimal("5000.00"),
    "set_before": "",
    "open_purchases": 1,
    "open_usd": Decimal("50.00"),
    "may_reveal": True,
    "webhook_url": URL,
    "url": URL,
    "verified_at": "2026-03-02 08:59 UTC",
    "is_verified": True,
    "code_person": "Daniel Okafor",
    "listed": ["POLYGON", "BNB", "BASE"],
    "load_pct": Decimal("0.01"),
    "unverified": 1,
    "earlier_status": None,
    "earlier_network": None,
    "markup_fraction": Decimal("0.02"),
    "deposit_fraction": Decimal("0.015"),
    "may_quote": True,
    "type": "transaction.authorized",
    "created": "2026-03-02 08:31:12 UTC",
    "delivered": None,
    "attempts": 3,
}
_OF_A_KIND: Mapping[str, Mapping[str, Any]] = {
    "card_unfreeze": {"card_status": "FROZEN"},
    "webhook_register": {"url": None},
}
OFFERED = frozenset(kind for kind, cls in operations.kinds().items() if cls.is_set_up())


def facts_of(kind: str) -> Mapping[str, Any]:
    """As `Operation.read` gives them."""
    return {**_READ_NOW, **_OF_A_KIND.get(kind, {})}


def an_operation(kind: str) -> Operation:
    """As it is requested; private values are masked where people read them."""
    cls = operations.kinds()[kind]
    texts, _ = _TYPED[kind]
    return cls.of_stored(texts, CARD if cls.has_card else "", private=texts)


def shown(kind: str, **changes: Any) -> forms.Shown:
    operation = an_operation(kind)
    found = operation.concerns(facts_of(kind))
    if kind not in OFFERED:  # its settings are not those of a test
        found = [concern for concern in found if not concern.stops]
    made = forms.Shown(
        draft_id="01",
        operation=operation,
        lines=operation.lines(facts_of(kind)),
        concerns=found,
        reason=_TYPED[kind][1],
        approvals_needed=1,
        approvers=["U0BOB", "U0CAROL"],
        run_now=False,
        program="main",
        live=False,
    )
    return replace(made, **changes)


def _form(kind: str) -> dict[str, Any]:
    cls = operations.kinds()[kind]
    urgent = bool(cls.handling.run_now)
    return forms.form(cls, forms.Filled(program="main"), programs=("main",), run_now=urgent, channel="C0OPS")


def all_forms() -> Iterator[Sample]:
    """Each kind as its form opens."""
    for kind in operations.kinds():
        yield f"Form: {kind}", _form(kind)
    yield (
        "Form: several programs",
        forms.form(
            operations.kinds()["card_order"], forms.Filled(program="main"), programs=("main", "events")
        ),
    )
    card = CardEntry("card_1", "main", "MARTA KOWALSKA", "3205", "sales-team", "ACTIVE")
    filled = forms.Filled({"card": "card_1", "amount_usd": "50.00"}, REASON, cards={"card": card})
    said = "Drafted for “Float of main is low”. Check it before you submit."
    yield "Form: filled by a button", forms.form(operations.kinds()["card_topup"], filled, note=said)
    read = replace(filled, from_message=frozenset({"card", "amount_usd", "reason"}))
    yield "Form: filled from a message", forms.form(operations.kinds()["card_topup"], read)
    tron = forms.Filled({"tx_hash": HASH, "network": "TRON"}, program="main")
    yield "Form: what does not fit", forms.form(operations.kinds()["funding_submit"], tron)


def previews() -> Iterator[Sample]:
    """Each kind before it is submitted, and what can stand in its way."""
    yield "Reading", forms.loading("Top up a card", "Reading the float and the card…")
    for kind in operations.kinds():
        yield f"Preview: {kind}", forms.preview(shown(kind), channel="C0OPS")
    big = operations.kinds()["card_topup"].of_stored({"card": "card_1", "amount_usd": "5000.00"}, CARD)
    facts = facts_of("card_topup")
    too_much = shown(
        "card_topup",
        operation=big,
        lines=big.lines(facts),
        concerns=big.concerns({**facts, "card_status": "FROZEN"}),
    )
    yield "Preview: more than the float has", forms.preview(replace(too_much, approvals_needed=2))
    yield (
        "Preview: too few approvers",
        forms.preview(shown("card_topup", approvers=["U0BOB"], approvals_needed=2)),
    )
    yield "Preview: Freeze now", forms.preview(shown("card_freeze", run_now=True))
    nobody = shown("card_freeze", run_now=True, approvers=[], paused=_PAUSED)
    yield "Preview: Freeze now while sending is paused", forms.preview(nobody)
    drafts = shown("card_freeze", run_now=True, paused=draft_only.sentence("main"))
    yield "Preview: Freeze now, draft only", forms.preview(drafts)
    yield "Preview: real money", forms.preview(shown("card_topup", live=True))
    trouble = (
        "Your card provider cannot be reached just now. Nothing was recorded or sent. Ask again in a minute."
    )
    yield "Preview: not read", forms.trouble("Top up a card", trouble, draft_id="01", channel="C0OPS")


def confirmations() -> Iterator[Sample]:
    """What an approver reads before pressing Approve."""
    lines = tuple(an_operation("card_topup").lines(facts_of("card_topup")))
    yield "Reading before an approval", approval_modals.opening("R-7K3M")
    found = p.Confirmation(view_of(a_top_up()), lines, (), (), facts_read=True)
    yield "Confirmation", approval_modals.confirmation(found)
    concern = operations.Concern("The card is frozen: the money will sit on it until it is unfrozen.")
    after = (("Float available", "4,120.00 USD → 4,070.00 USD"), *lines[1:2], ("Card status", "FROZEN"))
    changed = (
        "Float available: now 4,120.00 USD → 4,070.00 USD",
        "Card status: now FROZEN",
    )
    yield (
        "Confirmation, with what has changed",
        approval_modals.confirmation(replace(found, lines=after, changed=changed, concerns=(concern,))),
    )
    two = view_of(a_top_up(approvals_needed=2))
    yield "Confirmation, first of two", approval_modals.confirmation(replace(found, view=two))
    one = view_of(a_top_up(approvals_needed=2), decided(DecisionKind.APPROVE))
    yield "Confirmation, second of two", approval_modals.confirmation(replace(found, view=one))
    slow = replace(found, view=view_of(a_top_up(), cool_off=timedelta(minutes=10)))
    yield "Confirmation, with time to stop it", approval_modals.confirmation(slow)
    paused = replace(found, view=view_of(a_top_up(), paused=_PAUSED))
    yield "Confirmation while sending is paused", approval_modals.confirmation(paused)
    draft = view_of(a_top_up(), draft_only=True, paused=draft_only.sentence("main"))
    yield "Confirmation, draft only", approval_modals.confirmation(replace(found, view=draft))
    page = Secret("https://countersign.example.com/passkey#one-time-token")
    yield "Confirmation with a passkey", approval_modals.confirmation(found, passkey=page)
    yield "Confirmation behind another request", approval_modals.confirmation(replace(found, waits=True))
    unread = replace(found, facts_read=False, last_read=_READ)
    yield "Confirmation, not read", approval_modals.confirmation(unread)
    never = replace(found, facts_read=False, lines=())
    yield "Confirmation, never read", approval_modals.confirmation(never)
    freeze = view_of(replace(a_freeze(State.PENDING), break_glass=False))
    of_a_freeze = tuple(an_operation("card_freeze").lines(facts_of("card_freeze")))
    yield (
        "Confirmation of a freeze",
        approval_modals.confirmation(replace(found, view=freeze, lines=of_a_freeze)),
    )
    order = an_operation("card_order")
    asked = a_top_up(
        kind="card_order",
        terms=order.terms(),
        subject="",
        subject_label="",
        summary=order.summary(),
        exposure_usd=Decimal(0),
        reason=_TYPED["card_order"][1],
    )
    yield (
        "Confirmation of an order, with its private details",
        approval_modals.confirmation(
            replace(found, view=view_of(asked), lines=tuple(order.lines(facts_of("card_order")))),
            order.in_full(private_alone=True),
        ),
    )
    yield "Reject", approval_modals.reject("R-7K3M", 3)
    yield "Cancel", approval_modals.cancel("R-7K3M", 3)
    yield "Cancel a list under way", approval_modals.cancel("R-B4TC", 3, stops=True)
    yield "Resolve", approval_modals.resolve("R-7K3M", 3)
