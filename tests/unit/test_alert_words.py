"""What alerts say of figures, at the edges of what the figures can be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot.domain.alerts import decline_alerts, delivery_alerts, float_alerts, funding_alerts, running_alerts
from bot.domain.alerts.alert_kind import Remedy, Said, Severity
from bot.domain.alerts.alert_rules import FloatAlert
from bot.domain.requests import results_name
from bot.domain.requests.approval_health import ApprovalHealth, approval_health
from bot.domain.shared_work import ALWAYS, channel, events, job, of_programs, reads
from bot.domain.slack_faults import (
    ACCESS,
    CHANNEL,
    OPEN_TO_OTHERS,
    SCOPE,
    TOKEN,
    WORKSPACE,
    explained,
    holds_for_others,
    is_away,
)

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
RULE = FloatAlert(Decimal(1000), Decimal(1200))


def low(usable: str, balance: str, available: str) -> Said:
    usd = dict(
        zip(
            ("usable_usd", "balance_usd", "available_usd"),
            map(Decimal, (usable, balance, available)),
            strict=True,
        )
    )
    return float_alerts.float_low("main", RULE, **usd, pending_usd=Decimal(0), coming_usd=Decimal(0))


def test_a_float_below_zero_and_a_cap_of_the_provider_are_two_reasons_and_none_is_guessed() -> None:
    assert "below zero" in low("-5", "-5", "-5").text
    assert "caps what may be on cards" in low("5", "100", "5").text
    for text in (low("5", "5", "5").text, low("1100", "1100", "1100").text):
        assert "below zero" not in text
        assert "caps" not in text


def test_a_float_is_critical_from_where_nothing_of_it_can_be_used() -> None:
    levels = [low(usable, "5", "5").severity for usable in ("0.01", "0", "-0.01")]
    assert levels == [Severity.WARNING, Severity.CRITICAL, Severity.CRITICAL]


@pytest.mark.parametrize("pending", ["0", "5"])
@pytest.mark.parametrize("coming", ["0", "7"])
def test_only_what_is_about_to_change_the_float_is_said(pending: str, coming: str) -> None:
    said = " ".join(float_alerts.about_to_change(Decimal(pending), Decimal(coming)))
    assert ("would take 5.00 USD" in said) is (pending == "5")
    assert ("Funding of 7.00 USD" in said) is (coming == "7")
    assert bool(said) is (pending != "0" or coming != "0")


def test_rows_by_which_an_amount_came_back_are_listed_and_the_request_is_named() -> None:
    rows = [f"row {number}" for number in range(30)]
    said = float_alerts.returned("main", rows, Decimal("30.5"), request="R-7K3M: top up")
    shown = [row for row in rows if f"{row}\n" in f"{said.text}\n"]

    assert "R-7K3M: top up" in said.text + said.title
    assert "30.50 USD" in said.text + said.title
    assert f"and {len(rows) - len(shown)} more" in said.text


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("not_found", Remedy.SUBMIT_FUNDING),
        ("transaction_failed", Remedy.SUBMIT_FUNDING),
        ("blocked_by_compliance", None),
        ("", None),
    ],
)
def test_what_did_not_arrive_may_be_submitted_again_and_what_was_refused_may_not(
    reason: str, remedy: Remedy | None
) -> None:
    assert funding_alerts.FUNDING.remedy({"reason": reason}) is remedy


@pytest.mark.parametrize(
    ("amounts", "said"),
    [
        ([], "0 debits of 0.00 USD in all* are"),
        (["-4", "-5"], "2 debits of 9.00 USD in all* are"),
        (["-4"], "1 debit of 4.00 USD in all* are"),
        (["0"], "1 row that moved no money* are"),
        (["0", "0", "-1"], "1 debit of 1.00 USD in all* and 2 rows that moved no money are"),
        (["3"], "0 debits of 0.00 USD in all* and 1 row that gave 3.00 USD back to the float are"),
        (["0", "3", "4"], "1 row that moved no money* and 2 rows that gave 7.00 USD back to the float are"),
    ],
)
def test_what_came_back_or_moved_nothing_is_counted_as_no_debit(amounts: list[str], said: str) -> None:
    assert running_alerts.of_orphans([*map(Decimal, amounts)]) == said


def test_messages_that_wait_say_why_slack_does_not_take_them() -> None:
    said = delivery_alerts.messages_wait(3, AT, "is_archived")
    assert explained("is_archived") in said.text


@pytest.mark.parametrize(
    "error", sorted(TOKEN | SCOPE | WORKSPACE | CHANNEL | {"paid_teams_only", "ratelimited"})
)
def test_each_refusal_of_slacks_that_we_know_has_its_own_words_with_what_to_do_and_its_code(
    error: str,
) -> None:
    said = explained(error, "#ops")
    assert error in said
    assert "Look this up" not in said
    assert said.endswith(".")
    if error in CHANNEL and error != "messages_tab_disabled":
        assert "#ops" in said
    if error in OPEN_TO_OTHERS:
        assert said.startswith("Nothing is posted in #ops")
    if error in TOKEN:
        assert "SLACK_BOT_TOKEN" in said
    assert holds_for_others(error) is (error in ACCESS or error == "ratelimited")


@pytest.mark.parametrize(
    ("error", "away", "said"),
    [
        ("503 Service Unavailable", True, "Slack does not work right now"),
        ("no answer", True, "Slack does not work right now"),
        ("internal_error", True, "Slack does not work right now"),
        ("not drawn: KeyError", False, "report it as a fault of Countersign"),
        ("msg_too_long", False, "Slack answers msg_too_long. Look this up"),
        ("The disk is full", False, "The disk is full."),
        ("The disk is full.", False, "The disk is full."),
    ],
)
def test_what_else_keeps_a_message_back_is_said_by_what_it_is(error: str, away: bool, said: str) -> None:
    assert said in explained(error)
    assert explained(error).count("full.") <= 1
    assert is_away(error) is holds_for_others(error) is away


def test_figures_of_approvals_are_said_where_there_are_some() -> None:
    none = approval_health([])
    assert (none.requests, none.text) == (0, "")

    undecided = ApprovalHealth(2, 0, None, 0, 0, None, 0)
    assert undecided.text == "2 requests, 0 of them decided. None expired without a decision."

    few = ApprovalHealth(1, 1, timedelta(minutes=5), 0, 1, ("Bob", "Alice", 1), 0)
    assert "approves most often" not in few.text
    assert "Median time from request to decision: 5 minutes." in few.text
    assert few.text.endswith("No approval was given within 3 seconds of its request.")

    many = ApprovalHealth(1200, 1100, timedelta(minutes=5), 3, 1100, ("Bob", "Alice", 900), 1)
    assert "Bob approves most often for Alice: 900 of 1,100 approvals." in many.text
    assert "3 expired without a decision." in many.text
    assert many.text.endswith("1 approval given within 3 seconds of the request, too soon to read it.")


def test_a_file_of_results_is_named_by_its_request() -> None:
    assert results_name("R-7K3M") == "R-7K3M-results.csv"


def test_the_work_of_a_program_is_locked_by_names_of_its_own() -> None:
    names = [*ALWAYS, channel("C1"), job("x"), *of_programs(["main", "other"])]
    assert of_programs(["main"]) == [reads("main"), events("main")]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("cards", "is_cluster", "late", "says"),
    [
        ({"A ••1": 1}, False, 0, "A ••1"),
        ({"A ••1": 3}, False, 1, "A ••1"),
        ({"A ••1": 2, "B ••2": 1}, False, 0, "A ••1 (2), B ••2"),
        ({"A ••1": 2, "B ••2": 1}, True, 2, "A ••1 (2), B ••2"),
    ],
)
def test_declines_name_their_cards_and_call_people_when_they_are_a_cluster(
    cards: dict[str, int], is_cluster: bool, late: int, says: str
) -> None:
    found = decline_alerts.Declines(
        code="insufficient_funds",
        count=sum(cards.values()),
        late=late,
        total_usd=Decimal(9),
        cards=cards,
        merchants={"Shell": 1},
        retryable=None,
    )
    said = decline_alerts.declined(
        found, card="A ••1", amount_usd=None, merchant=None, is_severe=False, is_cluster=is_cluster
    )
    assert says in said.title + said.text
    assert said.severity is (Severity.CRITICAL if is_cluster else Severity.INFO)
    assert ("Received late" in said.text) is bool(late)
