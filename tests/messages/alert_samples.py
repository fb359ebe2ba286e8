"""Each alert in each of its cases, and how it ends, with facts as they would be; figures add up where they meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.domain.alerts import AlertKind, Severity, process_alerts
from bot.domain.alerts.catalogue import CATALOGUE
from bot.domain.freezes import RIGHT
from bot.domain.passkeys import NO_TWO_OTHERS
from bot.domain.sentences import Lines
from bot.view_models import AlertView

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
Facts = Mapping[str, Any]

_HASH = "0x68105d…9005"
_PURCHASE = "12.00 USD at Corner Coffee"
_ABOUT = "800.00 USDC on POLYGON, sent 2026-03-02 at 07:40 UTC (R-5QPX)."

#: What a fact is, where its name says enough.
COMMON: Facts = {
    "program": "main",
    "card": "SOFIA MARCHETTI ••5601",
    "merchant": "Corner Coffee",
    "request": "R-7K3M",
    "subject": "R-7K3M",
    "submission": f"Funding {_HASH}",
    "about": _ABOUT,
    "who": "Bob Tanaka",
    "reference": "sales-team",
    "name": "Daniel Okafor",
    "floor": "1,000.00 USD",
    "clear": "1,200.00 USD",
    "usable": "862.45 USD",
    "available": "862.45 USD",
    "balance": "862.45 USD",
    "why": "",
    "late": "",
    "destination": "crm",
    "error": "the name hooks.crm.example cannot be resolved",
    "summary": "Top up MARTA KOWALSKA ••3205 by 50.00 USD",
    "lasted": "12 minutes",
    "open_for": "12 minutes",
    "purchase": _PURCHASE,
    "count": 3,
    "status": "ACTIVE",
    "left": 12,
    "limit": 100,
    "total": 88,
    "amount": "50.00 USD",
    "state": "cancelled",
}
_DECLINES: Facts = {
    "count": 3,
    "what": "the card does not hold enough",
    "total": "1,140.00 USD",
    "cards": "SOFIA MARCHETTI ••5601 (2), JONAS WEBER ••7578",
    "merchants": "Corner Coffee (2), Deutsche Bahn",
    "help": "A retry can help. Top up the card, then the cardholder can try again.",
}
_LEDGER_ROW = "2026-03-02 08:58:12 UTC · -50.00 USD · card_topup"
_WAITS = "It waits for Slack: Slack did not answer within 10 seconds."
_SUPPORT = Lines("""The ledger shows the debit and no refund: the money left the float, and the card may not have it.
Request R-7K3M: card_topup, MARTA KOWALSKA ••3205
Amount 50.00 USD
Program main, key prefix svc_live_3f9a
Idempotency-Key co-9f2c1e-01
Acts on card_1
Attempt 1 (send) 2026-03-02 08:55:00 UTC: no answer
Attempt 2 (replay) 2026-03-02 08:55:05 UTC: no answer
Ledger debit 50.00
Ledger refund none""")
_GAP = "from 2026-03-01 22:00 UTC to 2026-03-02 09:00 UTC"
#: What differs by kind and case.
FACTS: Mapping[tuple[str, str], Facts] = {
    ("older_copy", ""): {
        "since": "It ends at entry 4,021 of 2026-03-01 22:00 UTC. The newest one known is 4,310 of 2026-03-02 08:52"
        " UTC.",
        "voided": "3 requests were cancelled",
        "found": "The whole ledger was read: *100 debits of 300.00 USD in all* are not known to this copy. The thread"
        " lists them. For 24 hours they count towards everybody's limits, as nobody knows here who requested them.",
    },
    ("anchors_missing", ""): {},
    ("ledger_unseen", "held"): {"program": "main", "error": "Your card provider did not answer."},
    ("ledger_unseen", "sends"): {"program": "main", "error": "Your card provider did not answer."},
    ("ledger_unseen", "others"): {"program": "main", "error": "Your card provider did not answer."},
    ("slack_not_all_seen", ""): {"where": "<#C0ALERTS>"},
    ("requests_unseen", ""): {
        "count": "2 requests are",
        "found": "Not in <#C0APPROVALS> any more: R-7K3M, R-P2QX.",
    },
    ("new_database", ""): {"where": "<#C0ALERTS>"},
    ("slack_unseen", "others"): {"error": "Slack did not answer (ratelimited)."},
    ("slack_unseen", "held"): {"error": "Slack did not answer (ratelimited)."},
    ("slack_unseen", "sends"): {
        "error": "Slack doesn't let the app do this (missing_scope). Give it the scopes of manifest.yml."
    },
    ("runway", ""): {"hours": 31, "at": NOW + timedelta(hours=31)},
    ("ledger_differs", ""): {"difference": "50.00 USD", "total": "4,291.95 USD", "balance": "4,341.95 USD"},
    ("unexplained_movement", "orphans"): {"count": "1 movement", "rows": _LEDGER_ROW},
    ("unexplained_movement", "unsent"): {"rows": _LEDGER_ROW},
    ("unexplained_movement", "unsent_no_debit"): {
        "rows": "2026-03-02 09:00:40 UTC: 10.00 USD, refund, unload:co-0-1"
    },
    ("unexplained_movement", "returned"): {"rows": "2026-03-02 09:00:40 UTC · 50.00 USD · refund"},
    ("unexplained_movement", "foreign"): {"rows": _LEDGER_ROW},
    ("funding", "credited"): {"amount": ": 792.00 USD", "text": "800.00 USD sent, 8.00 USD load fee."},
    ("funding", "credited separately"): {"text": "Your card provider credited it by hand. " + _ABOUT},
    ("funding", "review"): {"reason": "Your card provider holds it. Contact them."},
    ("funding", "rejected"): {
        "reason": "It was under 10 USD, which is never picked up. Send at least 10 USD in one transfer."
    },
    ("funding", "taken back"): {
        "reason": "It had been credited and was taken back: the float fell. Stop top-ups and contact your card"
        " provider."
    },
    ("funding", "overdue"): {"mark": "more than 6 h"},
    ("funding", "unseen"): {"network": "POLYGON"},
    ("funding", "unknown status"): {"status": "paused"},
    ("funding_unverified", ""): {"count": 5, "limit": 5, "hashes": f"{_HASH}, 0xabab12…77fe"},
    ("poller_silent", ""): {"since": "since 2026-03-02 08:54 UTC", "error": "no answer within 10 seconds"},
    ("scope", ""): {"endpoint": "GET /funding", "error": "This key lacks funding:read."},
    ("key_trouble", ""): {"cause": "Your card provider does not accept the key (401)."},
    ("decline", "one"): {**_DECLINES, "purchase": "A purchase of 900.00 USD at Corner Coffee"},
    ("decline", "one card"): {**_DECLINES, "cards": "SOFIA MARCHETTI ••5601 (3)"},
    ("decline", "many cards"): _DECLINES,
    ("decline", "cluster"): {**_DECLINES, "count": 12, "total": "3,420.00 USD"},
    ("stopped", "one"): {
        "why": f"Frozen by Alice Moreau, 2026-03-02 at 08:41 UTC (R-Y6X4): “Lost phone”. {RIGHT}",
    },
    ("stopped", "more"): {
        "why": f"Frozen by Alice Moreau, 2026-03-02 at 08:41 UTC (R-Y6X4): “Lost phone”. {RIGHT}",
        "total": "36.00 USD",
    },
    ("card_blocked", ""): {"how": "A purchase was declined because the card is blocked."},
    ("card_status", "unfrozen"): {"freeze": "R-Y6X4", "cause": "No request here unfroze it."},
    ("card_status", "unfrozen before a restore"): {"freeze": "R-Y6X4", "gap": _GAP},
    ("card_status", "FROZEN before a restore"): {"gap": _GAP},
    ("card_status", "closed before a restore"): {"gap": _GAP},
    ("3ds", "may not have come"): {"title_before": "A code is needed for SOFIA MARCHETTI ••5601"},
    ("code_person", ""): {"how": "Bob Tanaka requested it, Carol Reyes confirmed."},
    ("webhook_failing", ""): {"first": NOW - timedelta(minutes=20)},
    ("deliveries_refused", ""): {"causes": "3 not signed with our secret", "now": NOW},
    ("event_stuck", ""): {"event": "evt_41c2", "type": "transaction.authorized", "attempts": 5},
    ("relay_destinations", ""): {
        "changes": "crm is new and gets card.authorized, card.transaction at https://hooks.crm.example/cards."
    },
    ("relay_unreadable", ""): {"events": "evt_41c2, evt_41c3, evt_41c4"},
    ("message_failed", "no layout"): {
        "error": "invalid_blocks",
        "where": Lines("See `/requests show R-7K3M`."),
    },
    ("message_failed", "not drawn"): {"error": "KeyError", "where": Lines("See `/requests show R-7K3M`.")},
    ("message_failed", "given up"): {
        "error": "channel_not_found",
        "where": Lines("See `/requests show R-7K3M`."),
    },
    ("messages_wait", ""): {"since": NOW - timedelta(minutes=4), "why": _WAITS},
    ("slack_access", ""): {"faults": "The bot token was revoked."},
    ("paused", ""): {"reason": "The API key may have been stolen."},
    ("stop_not_recorded", ""): {
        "who": "Carol Reyes",
        "deed": "rejected R-7K3M",
        "meanwhile": "Nothing of R-7K3M is sent meanwhile by the process of Countersign that was asked; where"
        " several run, another one may still send it.",
    },
    ("consent", "resume"): {
        "who": "Carol Reyes",
        "pause": "Bob Tanaka paused it: the API key may have been stolen.",
        "until": NOW + timedelta(hours=4),
    },
    ("changed_outside", "rows"): {"what": "who gets one-time codes"},
    ("changed_outside", "log"): {},
    ("rows_signed", ""): {"rows": 14},
    ("consent", "drafts_off"): {"who": "Carol Reyes", "until": NOW + timedelta(hours=4)},
    ("consent", "code_person"): {
        "holders": "It is the reference of SOFIA MARCHETTI ••5601, DANIEL OKAFOR ••6994.",
        "person": "U0DAN",
        "until": NOW + timedelta(hours=4),
    },
    ("consent", "passkey_add"): {
        "which": f"Two other people confirm this, as an earlier passkey is gone. {NO_TWO_OTHERS}",
        "name": "MacBook",
        "code": "K7F-2QX",
        "until": NOW + timedelta(hours=24),
    },
    ("consent", "passkey_lost"): {
        "who": "Carol Reyes",
        "name": "Bob Tanaka",
        "person": "U0BOB",
        "until": NOW + timedelta(hours=24),
    },
    ("passkey_ended", "removed"): {"owner": "Bob Tanaka", "name": "MacBook"},
    ("passkey_ended", "lost"): {"owner": "Bob Tanaka", "who": "Dora Klein"},
    ("passkey_ended", "lost_own"): {"owner": "Bob Tanaka"},
    ("passkey_ended", "copied"): {"owner": "Bob Tanaka", "name": "MacBook"},
    ("passkey_ended", "reset"): {"who": "cli:root", "at": NOW},
    ("handover", ""): {
        "note_and_what_is_open": Lines("R-7K3M waits for an approval.\nFunding in review: 800.00 USDC.")
    },
    ("delegation", "began"): {
        "delegation": "Bob Tanaka decides for Carol Reyes until 2026-03-05 09:00 UTC: holiday."
    },
    ("delegation", "ended"): {
        "delegation": "Bob Tanaka decided for Carol Reyes until 2026-03-05 09:00 UTC: holiday."
    },
    ("process_frozen", ""): {
        "process": "bot-2.internal:1",
        "roles": "slack, web, worker",
        "since": NOW - timedelta(seconds=12),
        "clicks": process_alerts.CLICKS_ARE_LOST,
    },
    **{
        ("unreadable_row", case): {"request": "R-7K3M", "table": table, "row": row, "column": column}
        for case, table, row, column in (
            ("unsent", "request", "R-7K3M", "terms"),
            ("sent", "attempt", "R-7K3M.1", "sent_at"),
            ("over", "request", "R-7K3M", "exposure_usd"),
            ("row", "reading", "main / me", "value"),
            ("needed", "program", "main", "created_at"),
            ("pause", "pause", "main", "since"),
        )
    },
    ("unreadable_row", "many"): {"count": 42, "named": "mute, m-1; reading, main / me; outbox, 01KJ"},
    ("people_changed", "approvers"): {
        "added": "Dave Lindqvist",
        "removed": "nobody",
        "now": "Bob Tanaka, Carol Reyes, Dave Lindqvist",
    },
    ("people_changed", "admins"): {"added": "nobody", "removed": "Bob Tanaka", "now": "Carol Reyes"},
    ("policy_changed", ""): {
        "changes": "people.approvers: was @card-approvers, is @card-approvers, @dave.",
        "before": "3f1c9a0b77de",
        "now": "91b2c4d05e6f",
    },
    ("policy", ""): {
        "problems": "Nobody is in people.approvers (@card-approvers). Add people to it in Slack."
    },
    ("unresolved", ""): {"support_card": _SUPPORT},
    ("landed_late", ""): {"how": "50.00 USD moved from the float onto MARTA KOWALSKA ••3205."},
    ("landed_late", "contradicted"): {
        "how": "Two people said that R-7K3M failed, and that counts. Your card provider disagrees: The ledger shows the"
        " debit and no refund."
    },
    ("key_reused", ""): {
        "alarm": "The answer to a top-up names another card or amount: the key may have been used before."
    },
    ("not_done_yet", ""): {
        "not_yet": "Not frozen yet",
        "what": "DANIEL OKAFOR ••6994",
        "request": "R-M4RE",
        "why": "Your card provider gave no usable answer.",
        "next": "Countersign tries again every 5 seconds until 2026-03-02 09:02:00 UTC, then less and less often.",
        "advice": "If it is urgent, call your card provider.",
    },
    ("not_done", ""): {
        "what": "DANIEL OKAFOR ••6994",
        "not_done": "not frozen",
        "how": "Your card provider refused it: the card is closed.",
        "advice": "If it is urgent, call your card provider.",
    },
}
#: How each ends, beside the facts of its first case.
ENDINGS: Facts = {
    "lowest": "842.45 USD",
    "usable": "4,362.45 USD",
    "last": NOW + timedelta(minutes=2),
    "count": "3 purchases",
    "total": "1,140.00 USD",
    "what": "the card does not hold enough",
    "state": "succeeded",
    "summary": "Top up MARTA KOWALSKA ••3205 by 50.00 USD",
    "outcome": "50.00 USD moved from the float onto MARTA KOWALSKA ••3205. The float is 4,291.95 USD now.",
    "status": "ACTIVE",
    "about": "R-7K3M",
    "done": "Frozen",
    "how": "Your card provider froze the card at the fourth try.",
    "title": "",
    "text": "",
}
_REFUSED = "Your card provider refused it: the card is closed."
_SUBJECTS = {
    "event_stuck": "evt_41c2",
    "funding": f"Funding {_HASH}",
    "relay_dead": "crm",
    "relay_unreadable": "crm",
}


def facts_of(kind: AlertKind, case: str) -> dict[str, Any]:
    return {**COMMON, **FACTS.get((kind.name, case), {})}


def raised() -> Iterator[tuple[str, AlertView]]:
    """Each kind in each case, as its message shows it at first; named `kind` or `kind: case`."""
    for kind in CATALOGUE.values():
        for case in kind.wordings:
            severity = Severity.CRITICAL if (kind.name, case) == ("decline", "cluster") else None
            said = kind.says(case, severity=severity, **facts_of(kind, case))
            yield (
                (f"{kind.name}: {case}" if case else kind.name),
                _view(kind, said.severity.value, said.title, said.text),
            )


def ended() -> Iterator[tuple[str, AlertView]]:
    """Each kind in each way to end."""
    for kind in CATALOGUE.values():
        case = next(iter(kind.wordings))
        said = kind.says(case, **facts_of(kind, case))
        facts = {**facts_of(kind, case), **ENDINGS, "subject": _SUBJECTS.get(kind.name, "R-7K3M")}
        if kind.name == "allowance":
            facts |= {"left": 62, "limit": 150}
        if kind.name in ("not_done_yet", "not_done"):
            facts |= {"what": "DANIEL OKAFOR ••6994", "request": "R-M4RE", "subject": "R-M4RE"}
        if kind.name == "funding":
            facts["status"] = "pending"
        if kind.name == "handover":
            facts["who"] = "Carol Reyes"
        if kind.name == "stop_not_recorded":
            facts["why"] = "R-7K3M is succeeded already."
        if kind.name == "consent":
            facts["text"] = (
                "Bob Tanaka confirmed it. Requests that are approved and still valid are sent now."
            )
        for way in kind.endings:
            facts["how"] = _REFUSED if way == "not done" else ENDINGS["how"]
            facts["usable"] = "862.45 USD" if way == "low" else ENDINGS["usable"]
            over = kind.ended(
                way, **{"text": said.text, **{k: v for k, v in facts.items() if v}, "title": said.title}
            )
            name = f"{kind.name}: {way}" if way else kind.name
            yield name, _view(kind, said.severity.value, over.title, over.text, over=True)


def _view(kind: AlertKind, severity: str, title: str, text: str, *, over: bool = False) -> AlertView:
    calls = severity == "critical" or kind.asks_second_person
    return AlertView(
        id="01",
        kind=kind.name,
        subject="main",
        severity=severity,
        state="resolved" if over else "raised",
        title=title,
        text=text,
        count=1,
        raised_at=NOW,
        updated_at=NOW,
        resolved_at=NOW + timedelta(minutes=12) if over else None,
        live=False,
        is_mutable=kind.is_mutable,
        mentions=("S0APPROVERS",) if calls and not over else (),
    )
