"""Help, policy, the webhook, one-time codes, exports and the short answers to a click, for the people who run it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import bot.view_models as p
from bot import operations
from bot.domain import errors as domain
from bot.domain.alerts import decline_alerts
from bot.domain.passkeys import Purpose
from bot.domain.people import Per, Tier, draft_only
from bot.domain.requests import State
from bot.domain.time import Period
from bot.partner import errors as partner
from bot.partner.calls import account as account_calls
from bot.partner.certainty import Certainty
from bot.partner.secret import Secret
from bot.services import held_stops
from handlers.commands.all_lookups import LOOK_UPS
from handlers.views import alerts, error_messages, help_text, passkeys, plain, replies
from handlers.views.lookups import exports, float_and_ledger, otp_recipients, status, webhook
from storage.errors import LogNotWhole
from tests.handlers.sample_requests import NOW
from tests.messages.alert_samples import raised
from tests.messages.form_samples import URL
from tests.messages.lookup_samples import the_float
from tests.messages.request_samples import Sample, a_freeze, a_top_up

_WEEK = Period(NOW - timedelta(days=7), NOW, str(ZoneInfo("Europe/Paris")), "7d")
_UNTIL = NOW + timedelta(days=3)
_PAUSED = "Sending to main is paused since 2026-03-02 08:50 UTC by Bob Tanaka: the API key may be stolen."
_SHA = "9f2c41d07be58a36c1d94e02f7a85b1360cd29e84f71ab3c5d06e9f8a1b27c43"
_STOPPED = a_top_up(
    State.FAILED,
    id="R-B4TC",
    rows=24,
    outcome_text="14 of 24 rows succeeded; 10 not sent. 700.00 USD of 1,200.00 USD moved.",
)


def _uses(*, is_admin: bool, may_ask: bool) -> list[help_text.Use]:
    """As the commands have them."""
    found = [
        help_text.Use(row.name, row.group, row.usage.removeprefix(f"/{row.name[0]} "), row.usage, row.help)
        for row in LOOK_UPS.values()
        if row.usage and (row.role is None or is_admin)
    ]
    for cls in operations.kinds().values():
        if is_admin if cls.handling.asked_by_admins else may_ask:
            usage = f"{cls.command[1]} [bulk]" if cls.batch else cls.command[1]
            found.append(help_text.Use(cls.command, "request", usage, cls.example, cls.help))
    return found


def helps() -> Iterator[Sample]:
    """Help, policy and who decides."""
    everything = _uses(is_admin=True, may_ask=True)
    looks = _uses(is_admin=False, may_ask=False)
    more = "countersign help more"
    yield "/countersign help", help_text.help_answer(everything, may_ask=True, may_decide=True, more=more)
    yield (
        "/countersign help, of somebody who may only look",
        help_text.help_answer(looks, may_ask=False, may_decide=False, more=more),
    )
    yield "More", help_text.examples(everything, "3205", True, ("main", "events"))
    wrong = "“/card tpoup” isn't a command. Nothing was requested."
    yield "/card tpoup", help_text.not_understood(wrong, "card topup", "card")
    people = (("@everyone-in-finance",), ("@card-approvers",), ("@card-admins",))
    rows = tuple(
        p.PolicyRow(
            kind,
            cls.title,
            1,
            (Tier(Decimal(500), 2),) if cls.moves_money else (),
            "8 h",
            cls.handling.run_now,
            Decimal(500) if cls.moves_money else Decimal(0) if kind == "card_close" else None,
        )
        for kind, cls in operations.kinds().items()
    )
    away = p.DelegationView("Bob Tanaka", "Dora Klein", NOW, _UNTIL, "Holiday.", in_force=True)
    later = replace(away, since=NOW + timedelta(days=1), in_force=False, away="Carol Reyes")
    limits = (("One requester", "5,000.00 USD"), ("All together", "20,000.00 USD"))
    yield (
        "/countersign policy",
        help_text.policy(p.PolicyView(rows, *people, limits, "0123456789abcdef", (away, later))),
    )
    sums = (Tier(Decimal(500), 2, per=Per.REQUESTER), Tier(Decimal(2000), 2, cool_off=timedelta(minutes=10)))
    (top_up,) = (row for row in rows if row.kind == "card_topup")
    slow = (
        replace(top_up, tiers=sums, passkey_above_usd=None),
        replace(top_up, cool_off=timedelta(minutes=10)),
    )
    yield (
        "/countersign policy, with tiers that look at a day, and time to stop what is approved",
        help_text.policy(p.PolicyView(slow, *people, limits, "0123456789abcdef", ())),
    )
    yield (
        "/countersign policy, with nobody named",
        help_text.policy(p.PolicyView(rows[:1], (), (), (), (), "0123456789abcdef")),
    )
    asked = p.WhoView(
        "Top up a card", 1, ("U0BOB", "U0DORA"), ("@card-approvers",), "U0ALICE", {"U0DORA": ("U0CAROL",)}
    )
    yield "/countersign who topup", help_text.who(asked)
    yield (
        "/countersign who topup, with tiers",
        help_text.who(replace(asked, tiers=sums, granted_usd=Decimal("430.00"))),
    )
    yield "/countersign who topup, and nobody can", help_text.who(replace(asked, able=(), approvals=2))


def looks() -> Iterator[Sample]:
    """The webhook, one-time codes, alerts and exports."""
    hook = p.WebhookView(
        program="main",
        url=URL,
        updated_at=NOW - timedelta(days=40),
        our_url=URL,
        signing="current",
        secret_since=NOW - timedelta(days=40),
        last_delivery_at=NOW - timedelta(minutes=3),
        may_change=True,
        live=False,
    )
    yield "/countersign webhook", webhook.answer(hook)
    elsewhere = replace(hook, url="https://old.example.com/webhooks/main", signing="lost", may_change=False)
    yield "/countersign webhook, registered elsewhere", webhook.answer(elsewhere)
    none = replace(hook, url=None, our_url="", signing="none", updated_at=None, last_delivery_at=None)
    yield "/countersign webhook, not registered", webhook.answer(none)
    codes = (
        p.CodePerson("sales-team", "U0DAN", ("DANIEL OKAFOR ••6994", "MARTA KOWALSKA ••3205")),
        p.CodePerson("office", "U0JONAS", ()),
    )
    yield "/countersign people", otp_recipients.code_people(codes)
    mute = p.MuteView("quiet-test-card", "decline", "7578", "Bob Tanaka", _UNTIL)
    forever = replace(mute, name="no-runway", kind="runway", about="", until=None)
    yield "/countersign alerts, none open", alerts.open_alerts(p.AlertsView((), (mute, forever)))
    found = dict(raised())
    late = replace(
        found["funding: overdue"], state="acknowledged", acknowledged_by="Bob Tanaka", held_until=_UNTIL
    )
    busy = replace(late, id="02", state="snoozed", count=3, assigned_to="Carol Reyes")
    yield "/countersign alerts", alerts.open_alerts(p.AlertsView((late, busy, *([late] * 11)), (mute,)))
    yield "Alert, acknowledged", alerts.alert(late)
    yield "Alert, snoozed, with somebody's name", alerts.alert(busy)
    yield "Snooze", alerts.snooze("A-0123456789AB", "Until then its message stays as it is.")
    unresolved = found["unresolved"]
    yield "Suggest a fix: a text for the card provider", alerts.support(unresolved.title, unresolved.text)
    called = decline_alerts.cluster(12, "insufficient_card_balance")
    yield "In the thread of an alert", alerts.line(p.AlertLineView("", called, ("S0APPROVERS",), False))
    yield (
        "In the thread of an alert, by a person",
        alerts.line(p.AlertLineView("Bob Tanaka", "Acknowledged until 2026-03-02 13:00 UTC.", (), False)),
    )
    history = the_float().history
    assert history is not None
    yield (
        "The chart of an alert, as a file in its thread",
        alerts.chart(p.AlertChartView("A-1-float.png", history)),
    )
    line = '{"v":1,"seq":1184,"mac":"b1946ac92492d2347c6235b4d2611184","at":"2026-03-02T09:00:00Z"}'
    yield "Audit anchor", alerts.anchor(p.AnchorView(1184, line))
    code = Secret("493 117")
    until = NOW + timedelta(minutes=5)
    said = p.CodeView("DANIEL OKAFOR ••6994", "190.50 USD at Deutsche Bahn", code, until, False)
    yield "One-time code, to one person", alerts.code(said)
    yield "/countersign export, begun", exports.begun("transactions", _WEEK)
    yield "Export, running", exports.running("transactions", _WEEK, 12_000)
    yield "Export, done", exports.done("transactions", _WEEK, "events received here", 120, [_SHA])
    trouble = "Your card provider cannot be reached just now."
    yield "Export, stopped", exports.stopped("transactions", 1, trouble)
    yield "Export, stopped before the first file", exports.stopped("transactions", 0, trouble)


def passkey_views() -> Iterator[Sample]:
    """Passkeys: who has which, and the buttons that lead to their page."""
    page = Secret("https://countersign.example.com/passkey#one-time-token")
    mine = (
        p.PasskeyView(
            "K-7K3MQX", "MacBook", "active", NOW, NOW - timedelta(hours=3), "", "3f9a 12bc 77de 0412 aa91"
        ),
        p.PasskeyView("K-2ZQC4T", "Phone", "waiting", NOW, None, "K7F-2QX", ""),
        p.PasskeyView("K-5RWD8J", "New phone", "waiting_for_two", NOW, None, "M4C-8TD", ""),
        p.PasskeyView("K-6NVP3L", "New laptop", "waiting_for_second", NOW, None, "P2H-5WA", ""),
        p.PasskeyView("K-9HWB6R", "Old key", "expired", NOW, None, "", ""),
        p.PasskeyView("K-4TBCXN", "Tablet", "changed", NOW, None, "", ""),
    )
    found = p.PasskeysView(mine, (("U0CAROL", 1), ("U0DORA", 0)), is_set_up=True, is_needed=True)
    yield "/countersign passkey", passkeys.listed(found)
    none = p.PasskeysView((), (), is_set_up=False, is_needed=False)
    yield "/countersign passkey, none and not set up", passkeys.listed(none)
    yield "/countersign passkey add", passkeys.message(Purpose.ADD, page)
    yield "Confirm, with a passkey", passkeys.message(Purpose.CONSENT, page)
    yield "Resolve, with a passkey", passkeys.window("Resolve the outcome", Purpose.RESOLVE, page)


def clicks() -> Iterator[Sample]:
    """Windows and sentences after a click or a command."""
    yield "Pause", status.pause_form("main")
    yield "/countersign pause", status.paused(["main"], [])
    yield "/countersign pause, again", status.paused([], ["main"])
    yield "A submitted request", replies.submitted(a_top_up(), "C0APPROVALS")
    yield "A submitted request while sending is paused", replies.submitted(a_top_up(), "C0APPROVALS", _PAUSED)
    away = "Countersign is not in the channel. Invite it with /invite."
    yield (
        "A submitted request that could not be posted",
        replies.submitted(a_top_up(), "C0APPROVALS", trouble=away),
    )
    freeze = a_freeze(State.EXECUTING)
    yield "A submitted Freeze now", replies.submitted(freeze, "C0APPROVALS")
    waiting = a_freeze(State.APPROVED)
    yield "A submitted Freeze now while sending is paused", replies.submitted(waiting, "C0APPROVALS", _PAUSED)
    sent = a_top_up(State.APPROVED, valid_until=NOW + timedelta(minutes=15))
    two = a_top_up(approvals_needed=2)
    for name, text in (
        ("After Approve", replies.approved(sent, 1)),
        ("After Approve, first of two", replies.approved(two, 1)),
        ("After Approve while sending is paused", replies.approved(sent, 1, _PAUSED)),
        ("After Approve, draft only", replies.approved(sent, 1, draft_only.sentence("main"))),
        ("After Approve, behind another request", replies.approved(sent, 1, waits_for=("R-2ZQC",))),
        (
            "After Approve, with time to stop it",
            replies.approved(sent, 1, sent_from=NOW + timedelta(minutes=10)),
        ),
        ("After Approve, not read", replies.approved(sent, 1, unread=True)),
        ("After Cancel", replies.cancelled(a_top_up(State.CANCELLED))),
        ("After Cancel of a list under way", replies.cancelled(_STOPPED)),
        ("After Resolve, first person", replies.resolved(a_top_up(State.UNRESOLVED))),
        ("After Resolve, second person", replies.resolved(a_top_up(State.SUCCEEDED))),
    ):
        yield name, replies.said(text)
    note = "Slack refused the layout of this message, so it is plain text."
    text = plain.text_of(replies.submitted(a_top_up(), "C0APPROVALS"))
    yield "A message without its layout", plain.message(p.PlainView(text, note))


def slack_refusals() -> Iterator[Sample]:
    """What Slack or the database refused."""
    for code in (*error_messages.SLACK_SAID, "fatal_error"):
        yield f"Slack: {code}", replies.refusal(replies.explain_slack(code, "7K3MQX"))
    for error in (
        domain.CountersignError("the database is locked"),
        partner.NotSent(
            "The id of the card is empty.", operation=account_calls.ME, certainty=Certainty.DEFINITE
        ),
        partner.LedgerMoving("", operation=account_calls.ME, certainty=Certainty.DEFINITE),
        partner.NotConnected("refused", operation=account_calls.ME, certainty=Certainty.TRANSIENT),
        partner.NoAnswer("timeout", operation=account_calls.ME, certainty=Certainty.AMBIGUOUS),
    ):
        yield type(error).__name__, replies.refusal(replies.explain(error, "7K3MQX"))
    yield (
        "The database is full, locked, read-only or away",
        replies.refusal(replies.explain_database("7K3MQX")),
    )
    yield (
        "Where the audit log ends was changed in the database",
        replies.refusal(replies.explain_end_of_log("7K3MQX")),
    )
    for why in ("", "R-AB12 is approved by the audit log, and somebody changed its row to failed."):
        failed = RuntimeError()
        stop = held_stops.of_request("U0CAROL", "R-AB12", "rejected")
        held_stops.note(failed, stop, is_kept=True)
        yield (
            f"A stop that the database did not take{', as its row was changed' if why else ''}",
            replies.refusal(replies.explain_held(held_stops.said(failed), why, "7K3MQX")),
        )
    yield (
        "An entry of the audit log was changed",
        replies.refusal(replies.explain_stored(LogNotWhole(39, "hash"), "7K3MQX")),
    )


def shared() -> Iterator[Sample]:
    """An answer that was shared, and the button that does it."""
    answer = float_and_ledger.float_answer(the_float())
    yield "/float, with its button", replies.with_share(answer, "float")
    yield "/float, shared with the channel", replies.shared_by(answer, "Alice Moreau")
