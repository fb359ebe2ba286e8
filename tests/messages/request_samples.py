"""A request in each state, its thread and its requester's messages: one top-up of 50.00 USD, with figures that add up.

The float goes from 4,341.95 to 4,291.95 USD, the card from 258.34 to 308.34 USD. What was done at once is a freeze.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import bot.view_models as p
from bot import operations
from bot.domain.error_messages import MESSAGES
from bot.domain.requests import REOPENED_AT, SENT, TERMINAL, Decision, DecisionKind, Request, Stage, State
from bot.operations import urgency
from bot.partner.secret import Secret
from handlers.views import card_details, replies
from handlers.views.requests import request_card
from tests.handlers.sample_requests import NOW, a_decision, a_request

View = dict[str, Any]
Sample = tuple[str, View]

_CODE = "TIW-3FY"
CARD = "MARTA KOWALSKA ••3205"
REASON = "Hotel in Porto for the trade fair"
_KINDS = operations.kinds()
_TOP_UP = _KINDS["card_topup"].of_stored({"card": "card_1", "amount_usd": "50.00"}, CARD)
_FREEZE = _KINDS["card_freeze"].of_stored({"card": "card_2"}, "DANIEL OKAFOR ••6994")
_FACTS = {
    "float_available_usd": Decimal("4341.95"),
    "float_balance_usd": Decimal("4341.95"),
    "card_status": "ACTIVE",
    "card_balance_usd": Decimal("258.34"),
}
_INSUFFICIENT = MESSAGES["INSUFFICIENT_FUNDS"]
#: What came of it, in the words that the product writes.
OUTCOMES = {
    State.SUCCEEDED: (
        f"50.00 USD moved from the float onto {CARD}. The float is 4,291.95 USD now. The card holds 308.34 USD now."
    ),
    State.FAILED: f"{_INSUFFICIENT.happened} Nothing moved. {_INSUFFICIENT.after_refusal}",
    State.UNRESOLVED: (
        "The ledger shows the debit and no refund: the money left the float, and the card may not have it. Do not"
        " repeat this; Countersign checks it with your card provider."
    ),
    State.REJECTED: "The reason given: wrong card. Nothing was sent.",
    State.CANCELLED: "Nothing was sent.",
    State.EXPIRED: "Nobody decided in time. Nothing was sent.",
}


def a_top_up(state: State = State.PENDING, **changes: Any) -> Request:
    of_the_top_up: dict[str, Any] = {
        "reason": REASON,
        "terms": _TOP_UP.terms(),
        "subject_label": CARD,
        "summary": _TOP_UP.summary(),
        "approvals_needed": 1,
        "outcome_text": OUTCOMES.get(state, ""),
        "finished_at": NOW + timedelta(minutes=5) if state in TERMINAL else None,
        "due_at": NOW + timedelta(minutes=6),
        "first_sent_at": NOW + timedelta(minutes=5) if state in SENT else None,
    }
    return a_request(state, **{**of_the_top_up, **changes})


def a_freeze(state: State, **changes: Any) -> Request:
    return a_top_up(
        state,
        id="R-M4RE",
        kind="card_freeze",
        terms=_FREEZE.terms(),
        subject="card_2",
        subject_label="DANIEL OKAFOR ••6994",
        summary=_FREEZE.summary(),
        exposure_usd=Decimal(0),
        reason="Lost on the train to Porto",
        break_glass=True,
        **changes,
    )


def a_funding(stage: Stage, text: str) -> Request:
    submit = _KINDS["funding_submit"].of_stored(
        {"tx_hash": "0x68105d" + "0" * 54 + "9005", "network": "POLYGON"}, ""
    )
    return a_top_up(
        State.SUCCEEDED,
        id="R-5QPX",
        kind="funding_submit",
        terms=submit.terms(),
        subject="",
        subject_label="",
        summary=submit.summary(),
        exposure_usd=Decimal(0),
        reason="Float for March",
        stage=stage,
        outcome_text=text,
    )


def decided(kind: DecisionKind, by: str = "Bob Tanaka", reason: str = "", verdict: str = "") -> Decision:
    made = a_decision(kind, f"U0{by.split(maxsplit=1)[0].upper()}", verdict=verdict)
    return replace(made, actor_name=by, reason=reason, decided_at=NOW + timedelta(minutes=5))


def _lines(request: Request) -> tuple[tuple[str, str], ...]:
    if request.kind != "card_topup" or request.state in TERMINAL:
        return ()
    return tuple(_TOP_UP.lines(_FACTS))


def view_of(request: Request, *decisions: Decision, **more: Any) -> p.RequestView:
    pending = request.state is State.PENDING
    looked_at = request.state in (State.EXECUTING, State.UNRESOLVED)
    return p.RequestView(
        request=request,
        title=_KINDS[request.kind].title,
        code=_CODE,
        decisions=decisions,
        approver_names=("@card-approvers",),
        live=False,
        **{
            "lines": _lines(request),
            "concerns": (),
            "mentions": ("S0APPROVERS",) if pending else (),
            "next_look_at": NOW + timedelta(minutes=6) if looked_at else None,
            **more,
        },
    )


def cards() -> Iterator[Sample]:
    """The message in the approvals channel."""
    approval = decided(DecisionKind.APPROVE)
    yield "Requested", request_card.card(view_of(a_top_up()))
    two = a_top_up(exposure_usd=Decimal("900.00"), approvals_needed=2)
    yield (
        "Approved by one of two",
        request_card.card(view_of(replace(two, exposure_usd=Decimal("50.00")), approval)),
    )
    for state in State:
        if state is State.PENDING:
            continue
        given = () if state in (State.REJECTED, State.CANCELLED, State.EXPIRED) else (approval,)
        rejected = (decided(DecisionKind.REJECT, reason="wrong card"),) if state is State.REJECTED else ()
        request = a_top_up(state, valid_until=NOW + timedelta(minutes=20))
        yield state.value.capitalize(), request_card.card(view_of(request, *given, *rejected))
    paused = "Sending to main is paused since 2026-03-02 08:50 UTC by Bob Tanaka: the API key may be stolen."
    waiting = a_top_up(State.APPROVED, valid_until=NOW + timedelta(minutes=20))
    yield "Approved while sending is paused", request_card.card(view_of(waiting, approval, paused=paused))
    held = replace(waiting, outcome_text="Your card provider could not be read just now.")
    yield "Approved, and not sent yet", request_card.card(view_of(held, approval))
    yield (
        "Approved behind another request",
        request_card.card(view_of(waiting, approval, waits_for=("R-2ZQC",))),
    )
    yield (
        "Approved, with time to stop it",
        request_card.card(view_of(waiting, approval, sent_from=NOW + timedelta(minutes=10))),
    )
    concerns = (
        operations.Concern("The card is frozen: the money will sit on it until it is unfrozen."),
        operations.Concern(
            "This does not fit: 50.00 USD is more than the 41.95 USD of float available now.", stops=True
        ),
    )
    yield "Requested, with what speaks against it", request_card.card(view_of(a_top_up(), concerns=concerns))
    yield "Draft only", request_card.card(view_of(a_top_up(), draft_only=True))
    frozen = a_freeze(State.SUCCEEDED, outcome_text="DANIEL OKAFOR ••6994 is frozen.")
    yield "Freeze now, done", request_card.card(view_of(frozen, mentions=("S0APPROVERS",)))
    confirmed = decided(DecisionKind.CONFIRM, "Carol Reyes")
    yield "Freeze now, confirmed", request_card.card(view_of(frozen, confirmed))
    to_send = a_freeze(State.APPROVED, first_sent_at=None)
    yield (
        "Freeze now while sending is paused",
        request_card.card(view_of(to_send, waiting=(to_send,), paused=paused)),
    )
    refused = a_freeze(
        State.FAILED, outcome_text="The card is closed. The card is not frozen, and this is not tried again."
    )
    yield "Freeze now, refused", request_card.card(view_of(refused))
    limits = a_top_up(
        State.FAILED,
        kind="card_limits",
        summary=f"Set the limits of {CARD}: daily limit 200.00 USD",
        exposure_usd=Decimal(0),
        outcome_text="Your card provider refused this as invalid. Nothing was changed. Check what you requested.",
    )
    yield "Failed, of a kind that moves no money", request_card.card(view_of(limits, approval))
    words = urgency.urgency_of("card_freeze")
    assert words is not None
    late = a_freeze(
        State.EXECUTING, outcome_text=f"Your card provider gave no usable answer. {words.meanwhile}"
    )
    yield "Freeze now, not done yet", request_card.card(view_of(late, waiting=(late,)))
    for stage, text in (
        (Stage.SUBMITTED, "Your card provider has it. It is not verified yet."),
        (Stage.IN_REVIEW, "Your card provider holds it. Contact them."),
        (Stage.CREDITED, "792.00 USD reached the float: 800.00 USD sent, 8.00 USD load fee."),
        (
            Stage.FUNDING_REJECTED,
            "It was under 10 USD, which is never picked up. Send at least 10 USD in one transfer.",
        ),
        (Stage.TAKEN_BACK, "It had been credited and was taken back: the float fell by 792.00 USD."),
    ):
        alert = "https://example.slack.com/archives/C0ALERTS/p1772442600" if stage is Stage.IN_REVIEW else ""
        yield (
            f"Funding, {stage.value}",
            request_card.card(view_of(a_funding(stage, text), approval, alert_link=alert)),
        )


def thread() -> Iterator[Sample]:
    """The lines under it."""
    approve = decided(DecisionKind.APPROVE)
    two = a_top_up(approvals_needed=2)
    called = ("S0APPROVERS",)

    def line(
        word: str,
        request: Request,
        *made: Decision,
        text: str = "",
        mentions: tuple[str, ...] = (),
        actor: str = "Bob Tanaka",
    ) -> View:
        return request_card.line(
            p.LineView(request, word, actor, text, made, ("@card-approvers",), False, mentions)
        )

    yield "First of two approvals", line("approval", two, approve, mentions=called)
    yield "Last approval", line("approval", a_top_up(State.APPROVED), approve)
    yield "Reminder", line("reminder", a_top_up(), mentions=called)
    yield (
        "Rejected",
        line("rejected", a_top_up(State.REJECTED), decided(DecisionKind.REJECT, reason="wrong card")),
    )
    for word in (
        "cancelled",
        "expired",
        "executing",
        "withdrawn",
        "voided",
        "ended_in_doubt",
        "ended_unread",
        "debited",
    ):
        yield word.replace("_", " ").capitalize(), line(word, a_top_up(State.CANCELLED), actor="Alice Moreau")
    for state in (State.SUCCEEDED, State.FAILED, State.UNRESOLVED):
        yield state.value.capitalize(), line(state.value, a_top_up(state), approve, text=OUTCOMES[state])
    unresolved = a_top_up(State.UNRESOLVED)
    yield "Reminder of an unknown outcome", line("reminder_unresolved", unresolved, mentions=called)
    says = decided(DecisionKind.RESOLVE, reason="The card shows 308.34 USD.", verdict="succeeded")
    said = "succeeded: The card shows 308.34 USD."
    yield "A person says how it ended", line("resolution", unresolved, says, text=said)
    yield "A person corrects it", line("resolution_corrected", unresolved, says, text=said)
    done = a_freeze(State.SUCCEEDED)
    for word in ("confirmed", "try_now", "not_yet", "opened", "unopened"):
        request = a_freeze(State.EXECUTING) if word in ("try_now", "not_yet") else done
        text = "Your card provider gave no usable answer." if word == "not_yet" else ""
        yield word.replace("_", " ").capitalize(), line(word, request, text=text)
    frozen = "Frozen for now: your card provider took the freeze, and the card does not read FROZEN yet."
    yield "For now", line("for_now", a_freeze(State.EXECUTING), text=frozen)
    yield "Freeze now, done", line("succeeded", done, text="DANIEL OKAFOR ••6994 is frozen.", mentions=called)
    yield "Reminder of a Freeze now", line("reminder", done, mentions=called)
    urgent = a_freeze(State.UNRESOLVED)
    yield "Reminder of a freeze with an unknown outcome", line("reminder_unresolved", urgent, mentions=called)
    credited = a_funding(Stage.CREDITED, "792.00 USD reached the float: 800.00 USD sent, 8.00 USD load fee.")
    held = "Your card provider holds it. Contact them."
    yield "Funding was in review", line("in review", credited, text=held)
    late = "50.00 USD moved from the float onto MARTA KOWALSKA ••3205."
    yield "Completed late", line("landed_late", a_top_up(State.SUCCEEDED), text=late)
    yield (
        "Your card provider disagrees",
        line("contradicted", a_top_up(State.FAILED), text="The ledger has the debit."),
    )
    yield (
        "The amount came back",
        line("returned", a_top_up(State.SUCCEEDED), text="50.00 USD are back in the float."),
    )


def direct() -> Iterator[Sample]:
    """To the requester alone."""
    link = "https://example.slack.com/archives/C0APPROVALS/p1772442000"
    for state in (
        State.APPROVED,
        State.SUCCEEDED,
        State.FAILED,
        State.UNRESOLVED,
        State.REJECTED,
        State.EXPIRED,
    ):
        made = p.DirectView(a_top_up(state), _CODE, "Bob Tanaka", link, False)
        yield state.value.capitalize(), request_card.direct(made)
    sent = p.DirectView(a_top_up(State.APPROVED), _CODE, "Bob Tanaka", link, False)
    paused = "Sending to main is paused since 2026-03-02 08:50 UTC by Bob Tanaka: the API key may be stolen."
    yield "Approved while sending is paused", request_card.direct(replace(sent, paused=paused))
    yield "Approved behind another request", request_card.direct(replace(sent, waits_for=("R-2ZQC",)))
    yield (
        "Approved, with time to stop it",
        request_card.direct(replace(sent, sent_from=NOW + timedelta(minutes=10))),
    )
    held = a_top_up(
        State.APPROVED,
        outcome_text="Your card provider could not be read just now.",
        valid_until=NOW + timedelta(minutes=20),
    )
    yield "Approved, and not sent yet", request_card.direct(replace(sent, request=held))
    late = a_freeze(
        State.EXECUTING, outcome_text="Your card provider gave no usable answer. Purchases still go through."
    )
    yield "Freeze now, not done yet", request_card.direct(replace(sent, request=late, waiting=(late,)))
    in_review = a_funding(Stage.IN_REVIEW, "Your card provider holds it. Contact them.")
    yield "Funding in review", request_card.direct(replace(sent, request=in_review))
    posted = p.DirectView(a_top_up(), _CODE, "", link, False, channel="C0APPROVALS")
    yield "Posted after all", request_card.direct(posted)
    unposted = p.DirectView(
        a_top_up(),
        _CODE,
        "",
        None,
        False,
        unposted="Countersign is not in the channel. Invite it with /invite.",
        channel="C0APPROVALS",
    )
    yield "Not posted yet", request_card.direct(unposted)
    url = Secret("https://countersign.example.com/details#…")
    reveal = a_top_up(State.SUCCEEDED, kind="card_reveal", summary=f"Show the card details of {CARD}, once")
    until = NOW + timedelta(minutes=2)
    yield (
        "Link to card details",
        card_details.link(p.LinkView(reveal, url, until, NOW + timedelta(minutes=15), live=False)),
    )


def details() -> Iterator[Sample]:
    """The window with everything about a request."""
    approval = decided(DecisionKind.APPROVE)
    yield "Details", replies.request_modal(view_of(a_top_up(State.SUCCEEDED, attempts=1), approval))
    answers = (
        decided(DecisionKind.RESOLVE, reason="The card shows 308.34 USD.", verdict="succeeded"),
        decided(DecisionKind.RESOLVE, "Carol Reyes", "The provider confirmed it.", "succeeded"),
    )
    unclear = view_of(a_top_up(State.UNRESOLVED, attempts=3), approval, *answers[:1])
    yield "Details of an unknown outcome", replies.request_modal(unclear)
    reopened = {REOPENED_AT: (NOW + timedelta(hours=1)).isoformat()}
    again = replace(a_top_up(State.UNRESOLVED, attempts=3), outcome=reopened)
    yield "Details of a reopened request", replies.request_modal(view_of(again, approval, *answers[:1]))
    rejected = decided(DecisionKind.REJECT, reason="wrong card")
    yield "Details of a rejected request", replies.request_modal(view_of(a_top_up(State.REJECTED), rejected))
    now = (decided(DecisionKind.BREAK_GLASS, "Alice Moreau"), decided(DecisionKind.CONFIRM, "Carol Reyes"))
    frozen = a_freeze(State.SUCCEEDED, outcome_text="DANIEL OKAFOR ••6994 is frozen.")
    yield "Details of a Freeze now", replies.request_modal(view_of(frozen, *now))
