"""What follows from each step of a request, pure: over every state, outcome and event that can meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import get_args

import pytest

from bot import operations
from bot.domain.requests import Attempt, Event, Request, State, advance, fingerprints
from bot.operations import Operation
from bot.outcomes import Finding, Outcome, planning
from bot.outcomes import effects as e
from bot.partner.secret import Secret
from tests.unit.test_outcomes_planning import REQUEST, SENT_AT, attempt, history

SUMMARY = "Top up ALICE MOREAU ••4242 by 50.00 USD"

SENT = e.Sent(
    (attempt("unknown"), attempt("unknown", number=2, status=503, code="UNAVAILABLE")), "co_live_1a2b"
)
SETTLED = [e.AuditEntry, e.RedrawCard, e.ThreadLine, e.DirectMessage, e.ResolveAlert]
LOST = [e.AuditEntry, e.RedrawCard, e.ThreadLine, e.RaiseAlert, e.DirectMessage]
STILL_THERE = [e.AuditEntry, e.RedrawCard]
EXPECTED = {Event.SUCCEED: SETTLED, Event.FAIL: SETTLED, Event.LOSE_SIGHT: LOST, None: STILL_THERE}


def types(found: Sequence[e.Effect]) -> list[type[e.Effect]]:
    """The types in the order they are written."""
    return [type(effect) for effect in e.in_order(found)]


def moved(request: Request, event: Event | None, text: str = "It happened.") -> Request:
    state = request.state if event is None else advance(request.state, event)
    return replace(request, state=state, version=request.version + 1, outcome_text=text)


@pytest.mark.parametrize("parent_id", [None, "R-BATC"])
@pytest.mark.parametrize("finding", list(Finding))
@pytest.mark.parametrize("state", [State.EXECUTING, State.UNRESOLVED])
def test_each_outcome_in_each_state_has_its_effects(
    state: State, finding: Finding, parent_id: str | None
) -> None:
    """Whatever the plan makes of an outcome: the event alone says what is written, and nothing is left out."""
    late = SENT_AT + timedelta(minutes=20)
    for unknown, readable, repeats, now in product((False, True), (False, True), (1, 9), (SENT_AT, late)):
        request = replace(REQUEST, state=state, outcome_unknown=unknown, parent_id=parent_id)
        outcome = Outcome(finding, "It happened.", {"code": "ODD"})
        past = history(*(attempt(finding.value, number=n) for n in range(1, repeats + 1)))
        change = planning.after(outcome, request, past, now, readable=readable)

        found = e.of_outcome(moved(request, change.event), change.event, outcome, sent=SENT)

        assert types(found) == EXPECTED[change.event]
        (entry,) = (effect for effect in found if isinstance(effect, e.AuditEntry))
        assert entry == e.AuditEntry(
            "request.outcome",
            {
                "finding": finding.value,
                "attempt": 2,
                "answer": fingerprints.of_answer(SENT.attempts[-1]),
                "code": "ODD",
            },
            "system:execution",
        )


@pytest.mark.parametrize("event", [Event.SUCCEED, Event.FAIL, Event.LOSE_SIGHT])
def test_the_effects_name_the_request_as_it_now_is(event: Event) -> None:
    after = moved(replace(REQUEST, summary=SUMMARY), event)

    found = e.of_outcome(after, event, Outcome(Finding.UNKNOWN, ""), sent=SENT)

    assert e.ThreadLine(after.state.value, "It happened.") in found
    raised = [effect for effect in found if isinstance(effect, e.RaiseAlert)]
    if event is not Event.LOSE_SIGHT:
        assert e.ResolveAlert("unresolved:R-7K3M") in found
        assert raised == []
        return
    (alert,) = raised
    assert (alert.said.kind.name, alert.condition) == ("unresolved", "unresolved:R-7K3M")
    assert alert.said.title == f"Outcome not known: {SUMMARY} (R-7K3M)"
    assert alert.said.text.startswith("It happened.\nRequest R-7K3M: card_topup, card1\nAmount 50.00 USD\n")
    assert "key prefix co_live_1a2b" in alert.said.text
    assert alert.said.text.endswith("Attempt 2 (send) 2026-03-02 09:00:00 UTC: 503 UNAVAILABLE")


def test_an_alarm_is_an_alert_of_its_own_beside_everything_else() -> None:
    outcome = Outcome(Finding.UNRESOLVED, "", alarm="The key was used before.")
    after = moved(replace(REQUEST, summary=SUMMARY), Event.LOSE_SIGHT)

    without = e.of_outcome(after, Event.LOSE_SIGHT, replace(outcome, alarm=""), sent=SENT)
    found = e.of_outcome(after, Event.LOSE_SIGHT, outcome, sent=SENT)

    (alarm,) = (effect for effect in found if effect not in without)
    assert isinstance(alarm, e.RaiseAlert)
    assert (alarm.said.kind.name, alarm.condition) == ("key_reused", "alarm:R-7K3M")
    assert alarm.said.title == f"Unexpected answer, check it: {SUMMARY} (R-7K3M)"
    assert alarm.said.text == "The key was used before."


def test_what_a_kind_adds_is_written_first_whatever_its_place() -> None:
    outcome = Outcome(Finding.SUCCEEDED, "")
    after = moved(REQUEST, Event.SUCCEED)

    found = e.of_outcome(after, Event.SUCCEED, outcome, sent=SENT, of_kind=(e.GrantLink(), e.LoseSecret()))

    assert types(found) == [e.LoseSecret, e.GrantLink, *SETTLED]
    assert types(found[::-1]) == types(found)


@pytest.mark.parametrize("event", [Event.FAIL, Event.LOSE_SIGHT])
def test_an_ending_without_a_call_has_the_effects_of_its_event(event: Event) -> None:
    after = moved(REQUEST, event)

    found = e.of_ending_without_call(after, event, sent=SENT)

    assert set(types(found)) == {*EXPECTED[event], *([e.PurgePrivate] if event is Event.FAIL else [])}
    body = {"without_a_call": True, **fingerprints.leant_on(SENT.attempts)}
    assert e.AuditEntry("request.outcome", body) in found


def test_after_the_first_attempt_no_alert_of_an_unknown_outcome_is_looked_for() -> None:
    first = replace(SENT, attempts=SENT.attempts[:1])

    found = e.of_outcome(
        moved(REQUEST, Event.SUCCEED), Event.SUCCEED, Outcome(Finding.SUCCEEDED, ""), sent=first
    )

    assert types(found) == [each for each in SETTLED if each is not e.ResolveAlert]


@pytest.mark.parametrize("state", [State.APPROVED, State.EXECUTING, State.UNRESOLVED])
@pytest.mark.parametrize("parent_id", [None, "R-BATC"])
def test_a_claim_is_shown_when_it_is_the_first(state: State, parent_id: str | None) -> None:
    before = Attempt("R.2", "R", 2, 2, "me", "send", SENT_AT)
    made = Attempt("R.3", "R", 3, 3, "me", "look", SENT_AT)
    body = {"number": 3, "step": "look", **fingerprints.on_record(made, [before])}

    found = e.of_claim(replace(REQUEST, state=state, parent_id=parent_id), made, made=[before])

    assert found == [
        e.AuditEntry("request.attempt", body),
        *([e.RedrawCard()] if state is State.APPROVED else []),
    ]


def test_a_late_landing_and_a_changed_row_are_alerts() -> None:
    failed = replace(REQUEST, state=State.FAILED, outcome={"debit_usd": "50.00"})

    late = e.of_late_landing(moved(failed, Event.LAND_LATE))

    assert types(late) == [e.AuditEntry, e.RedrawCard, e.ThreadLine, e.RaiseAlert]
    assert late[0] == e.AuditEntry("request.landed_late", {"debit_usd": "50.00"}, "system:upkeep")
    assert e.ThreadLine("landed_late", "It happened.") in late
    assert [a.condition for a in late if isinstance(a, e.RaiseAlert)] == ["late:R-7K3M"]
    (tampered,) = e.of_tampering(REQUEST)
    assert isinstance(tampered, e.RaiseAlert)
    assert (tampered.said.kind.name, tampered.condition) == ("tampered", "tampered:R-7K3M")


def test_what_is_reopened_is_alerted_like_any_outcome_that_nobody_knows() -> None:
    failed = replace(REQUEST, state=State.FAILED, outcome={"debit_usd": "50.00"})

    found = e.of_reopening(moved(failed, Event.REOPEN), sent=SENT)

    assert types(found) == LOST
    assert found[0] == e.AuditEntry("request.reopened", {"debit_usd": "50.00"}, "system:upkeep")
    assert [a.condition for a in found if isinstance(a, e.RaiseAlert)] == ["unresolved:R-7K3M"]


def test_every_effect_has_its_place_in_the_order() -> None:
    assert set(e.ORDER) == set(get_args(e.Effect))
    assert len(e.ORDER) == len(set(e.ORDER))


ONE_SECRET = Secret("whsec_1")
OF_KINDS: list[tuple[str, Outcome, tuple[e.Effect, ...]]] = [
    *(
        (kind, outcome, effects)
        for kind in ("webhook_register", "webhook_rotate")
        for outcome, effects in (
            (Outcome(Finding.SUCCEEDED, "", {"signing": "kept"}), (e.KeepSecret(),)),
            (
                Outcome(Finding.SUCCEEDED, "", {"signing": "replaced"}, secret=ONE_SECRET),
                (e.SealSecret(ONE_SECRET),),
            ),
            (Outcome(Finding.REFUSED, "", {"signing": "lost"}), (e.LoseSecret(),)),
            (Outcome(Finding.REFUSED, "", {"status": 400}), ()),
            (Outcome(Finding.UNKNOWN, ""), ()),
        )
    ),
    *(
        ("card_freeze", Outcome(finding, "", cause=cause), (e.FollowUrgent(is_refused=is_refused),))
        for finding in Finding
        for cause in ("", "Because.")
        for is_refused in (finding is Finding.REFUSED and bool(cause),)
    ),
    *(
        ("card_reveal", Outcome(finding, ""), (e.GrantLink(),) if finding is Finding.SUCCEEDED else ())
        for finding in Finding
    ),
]


def operation(kind: str) -> Operation:
    return operations.kinds()[kind].of_stored({"card": "card1"}, "ALICE MOREAU ••4242")


@pytest.mark.parametrize(("kind", "outcome", "effects"), OF_KINDS)
def test_a_kind_says_what_its_outcome_has_written(
    kind: str, outcome: Outcome, effects: tuple[e.Effect, ...]
) -> None:
    assert tuple(operation(kind).effects(outcome)) == effects


@pytest.mark.parametrize("kind", sorted(set(operations.kinds()) - {kind for kind, _, _ in OF_KINDS}))
def test_most_kinds_add_nothing(kind: str) -> None:
    facts = {"signing": "lost", "link": "granted", "card_id": "card2"}

    assert [operation(kind).effects(Outcome(finding, "", facts)) for finding in Finding] == [()] * len(
        Finding
    )


def test_the_card_to_read_again_is_the_one_that_was_changed_or_made() -> None:
    done = Outcome(Finding.SUCCEEDED, "", {"card_id": "card2"})

    assert operation("card_order").changed_card(done) == "card2"
    assert operation("card_topup").changed_card(done) == "card1"
    assert operation("fees_markup").changed_card(done) is None


@pytest.mark.parametrize("urgent", [False, True])
def test_what_is_held_back_is_drawn_again_and_followed_where_it_cannot_wait(*, urgent: bool) -> None:
    followed = e.FollowUrgent() if urgent else e.RedrawNotice()
    assert e.of_holding_back(is_urgent=urgent) == [e.RedrawCard(), followed]
    assert e.FollowUrgent() == e.FollowUrgent(is_refused=False)


def test_what_happened_for_now_is_a_line_and_a_direct_message() -> None:
    request = replace(REQUEST, outcome_text="Frozen for now.")
    assert e.of_being_not_final(request) == [e.ThreadLine("for_now", "Frozen for now."), e.DirectMessage()]


def test_what_came_out_otherwise_is_on_record_with_what_was_known() -> None:
    facts = {"debit_usd": "-50.00"}
    for outcome in (None, {}, facts):
        known = outcome or {}
        request = replace(
            REQUEST, state=State.FAILED, outcome=outcome, outcome_text="Seen late.", summary=SUMMARY
        )
        entry, card, line, alert = e.of_contradiction(request, "The ledger shows it.")
        assert entry == e.AuditEntry("request.contradicted", known, e.UPKEEP)
        assert (card, line) == (e.RedrawCard(), e.ThreadLine("contradicted", "The ledger shows it."))
        assert isinstance(alert, e.RaiseAlert)
        assert alert.said != e.of_late_landing(request)[3].said, "an alert of its own"  # type: ignore[union-attr]

        entry, card, line, _ = e.of_late_landing(request)
        assert entry == e.AuditEntry("request.landed_late", known, e.UPKEEP)
        assert (card, line) == (e.RedrawCard(), e.ThreadLine("landed_late", "Seen late."))
        assert e.of_reopening(request, sent=SENT)[0] == e.AuditEntry("request.reopened", known, e.UPKEEP)
