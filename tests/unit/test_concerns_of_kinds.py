"""What speaks against a request of each kind, by what was read; and what its preview shows at the edges of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot import operations
from bot.domain.errors import InvalidFields, Stale
from bot.domain.money import funding_readings
from bot.domain.requests import State
from bot.domain.requests.lifecycle import EITHER
from bot.operations import Concern, Operation, funding_words, urgency
from bot.operations._base import Others
from bot.operations._facts import stored_facts
from bot.operations._whose import only_ours
from bot.operations.deposit_quote import QuoteDeposit
from bot.operations.urgency import HELD_BY_A_PAUSE
from bot.outcomes import Finding, Outcome
from tests.unit.test_domain_approvals import REQUEST

USD = Decimal
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
FLOAT = {"float_available_usd": USD(100), "float_balance_usd": USD(100), "allowance_left": 3}
ACTIVE = {"card_status": "ACTIVE", "card_balance_usd": USD(5), "card_last4": "3205"}
SETTLED = {**FLOAT, **ACTIVE, "monthly_fee_usd": USD(1), "open_purchases": 0, "open_usd": USD(0)}
VERIFIED = {**ACTIVE, "webhook_url": "https://h.example.com", "is_verified": True, "code_person": "Bob"}
LIMITS = {
    **ACTIVE,
    "daily_limit": USD(10),
    "weekly_limit": USD(50),
    "monthly_limit": None,
    "single_usd": USD(9),
}
FUNDING = {"listed": ["POLYGON"], "earlier_status": None, "earlier_network": None, "unverified": 0}
URL = "https://h.example.com/in"
EVENT = {"webhook_url": URL, "type": "card.declined"}
ORDERED = {**FLOAT, "monthly_fee_usd": USD(1), "twins": []}

VALUES: dict[str, dict[str, Any]] = {
    "card_topup": {"card": "aB1", "amount_usd": USD(50)},
    "card_unload": {"card": "aB1", "amount_usd": USD(5)},
    "card_close": {"card": "aB1", "last4": "3205"},
    "card_freeze": {"card": "aB1"},
    "card_unfreeze": {"card": "aB1"},
    "card_reveal": {"card": "aB1"},
    "card_limits": {"card": "aB1", "daily_limit": USD(10)},
    "card_3ds": {"card": "aB1", "program_enabled": True},
    "card_order": {"card_holder_name": "Nora Quist", "phone_country_code": 46},
    "funding_submit": {"network": "POLYGON"},
    "webhook_register": {"url": URL},
    "webhook_rotate": {"url": URL},
    "fees_markup": {},
    "event_redeliver": {},
    "deposit_quote": {"card": "aB1", "amount_usd": USD(50)},
}


def made(kind: str, **values: Any) -> Operation:
    """An operation, and beside its values what has a type of its own there."""
    cls: Any = operations.kinds()[kind]
    operation: Operation = cls.of_stored({}, "Nora ••3205")
    filled = {**VALUES[kind], **values}
    operation.values = filled
    vars(operation).update(filled)
    return operation


@pytest.mark.parametrize(
    ("kind", "facts", "says", "stops"),
    [
        ("card_topup", {**FLOAT, **ACTIVE}, "", False),
        ("card_topup", {**FLOAT, **ACTIVE, "float_available_usd": USD("49.99")}, "does not fit", True),
        ("card_topup", {**FLOAT, **ACTIVE, "card_status": "FROZEN"}, "is frozen", False),
        ("card_topup", {**FLOAT, **ACTIVE, "card_status": "DELETED"}, "is closed", True),
        ("card_topup", {**FLOAT, **ACTIVE, "card_status": "BLOCKED"}, "has blocked", True),
        ("card_topup", {**FLOAT, **ACTIVE, "card_status": "EXPIRED"}, "has expired", True),
        ("card_unload", {**FLOAT, **ACTIVE}, "holds less immediately", False),
        ("card_unload", {**FLOAT, **ACTIVE, "card_balance_usd": USD("4.99")}, "would refuse", True),
        ("card_unload", {**FLOAT, **ACTIVE, "card_balance_usd": None}, "cannot be read", False),
        ("card_unload", {**FLOAT, **ACTIVE, "card_status": "DELETED"}, "is closed", True),
        ("card_close", SETTLED, "cannot be opened again", False),
        ("card_close", {**SETTLED, "card_status": "DELETED"}, "closed already", True),
        ("card_close", {**SETTLED, "card_last4": "9999"}, "was typed", True),
        ("card_close", {**SETTLED, "card_balance_usd": USD(-1)}, "negative, 1.00 USD", True),
        ("card_close", {**SETTLED, "card_balance_usd": None}, "cannot be read", False),
        ("card_close", {**SETTLED, "open_purchases": 1, "open_usd": USD(7)}, "One purchase of 7.00 USD", False),
        ("card_close", {**SETTLED, "open_purchases": 2, "open_usd": USD(7)}, "2 purchases of 7.00 USD", False),
        ("card_freeze", ACTIVE, "", False),
        ("card_freeze", {**ACTIVE, "card_status": "FROZEN"}, "frozen already", False),
        ("card_freeze", {**ACTIVE, "card_status": "EXPIRED"}, "cannot be frozen", True),
        ("card_freeze", {**ACTIVE, "card_status": "EXPIRED", "read": "12 min old"}, "does not stop", False),
        ("card_unfreeze", {**ACTIVE, "card_status": "FROZEN"}, "", False),
        ("card_unfreeze", {**ACTIVE, "card_status": "BLOCKED"}, "only they can unblock", True),
        ("card_unfreeze", {**ACTIVE, "card_status": "DELETED"}, "cannot be unfrozen", True),
        ("card_unfreeze", {**ACTIVE, "card_status": "EXPIRED"}, "cannot be unfrozen", True),
        ("card_unfreeze", ACTIVE, "is not frozen", False),
        ("card_reveal", {**ACTIVE, "may_reveal": True}, "", False),
        ("card_reveal", {**ACTIVE, "may_reveal": False}, "lacks the scope", True),
        ("card_limits", {**LIMITS, "daily_limit": USD(9)}, "", False),
        ("card_limits", LIMITS, "set already", False),
        ("card_limits", {**LIMITS, "daily_limit": None}, "never removed", False),
        ("card_limits", {**LIMITS, "daily_limit": USD(9), "weekly_limit": USD(5)}, "decides alone", False),
        ("card_limits", {**LIMITS, "daily_limit": USD(9), "card_status": "DELETED"}, "is closed", True),
        ("card_3ds", VERIFIED, "cannot be undone", False),
        ("card_3ds", {**VERIFIED, "webhook_url": None}, "register one first", True),
        ("card_3ds", {**VERIFIED, "is_verified": False}, "No delivery was verified", True),
        ("card_3ds", {**VERIFIED, "code_person": None}, "Nobody is named", True),
        ("card_order", ORDERED, "", False),
        ("card_order", {**ORDERED, "allowance_left": None}, "", False),
        ("card_order", {**ORDERED, "allowance_left": 0}, "used up", True),
        ("card_order", {**ORDERED, "float_available_usd": USD("0.99")}, "does not cover", False),
        ("card_order", {**ORDERED, "twins": ["A ••1", "B ••2"]}, "already: A ••1, B ••2", False),
        ("funding_submit", FUNDING, "", False),
        ("funding_submit", {**FUNDING, "listed": ["BNB"]}, "does not list POLYGON", True),
        ("funding_submit", {**FUNDING, "unverified": 5}, "takes no sixth", True),
        ("funding_submit", {**FUNDING, "unverified": 5, "earlier_status": "review", "earlier_network": "BNB"},
         "it is review on BNB", False),
        ("webhook_register", {"url": None}, "expect old ones", False),
        ("webhook_register", {"url": URL}, "registered already", False),
        ("webhook_register", {"url": "https://o.example.com"}, "stop going to https://o.example.com", False),
        ("webhook_rotate", {"url": URL}, "old secret", False),
        ("webhook_rotate", {"url": None}, "register one first", True),
        ("webhook_rotate", {"url": "https://o.example.com"}, "put the old one back", True),
        ("event_redeliver", EVENT, "", False),
        ("event_redeliver", {**EVENT, "webhook_url": None}, "waits until there is one", False),
        ("event_redeliver", {**EVENT, "type": None}, "not found among the newest", False),
        ("event_redeliver", {**EVENT, "type": "card.3ds_challenge"}, "has expired", False),
    ],
)  # fmt: skip
def test_each_thing_that_speaks_against_it_is_said_and_stops_it_only_where_it_would_be_refused(
    kind: str, facts: Mapping[str, Any], says: str, stops: bool
) -> None:
    operation = made(kind)
    found = operation.concerns(facts)

    assert any(says in concern.text for concern in found) if says else found == []
    assert any(concern.stops for concern in found) is stops
    if kind == "card_close":
        assert operation.stops(facts, again=False) == [c.text for c in found if c.stops]


@pytest.mark.parametrize("kind", ["card_unload", "card_3ds"])
def test_what_doubt_makes_worse_is_repeated_whatever_is_read_by_then(kind: str) -> None:
    facts = {**FLOAT, **ACTIVE, "card_status": "DELETED", "webhook_url": None, "code_person": None}
    assert made(kind).stops(facts, again=False)
    assert made(kind).stops(facts, again=True) == []


@pytest.mark.parametrize(
    ("percent", "set_now", "says"),
    [
        ("1.5", "0.015", "this already"),
        ("0.5", "0.015", "50 basis points"),
        ("1", "0.015", ""),
        ("0", "0.015", ""),
    ],
)
def test_a_markup_that_may_be_a_fraction_typed_for_a_percentage_is_said(
    percent: str, set_now: str, says: str
) -> None:
    cls = operations.kinds()["fees_markup"]
    operation = cls(cls.parse({"markup_percent": percent}))
    found = operation.concerns({"markup_fraction": USD(set_now)})

    assert (says in found[0].text) if says else len(found) == 1
    assert operation.opposite_texts({"markup_fraction": USD("0.015")}) == {"markup_percent": "1.5"}
    assert operation.opposite_texts({}) == {}


def test_a_quote_needs_the_agreement_the_scope_and_an_open_card() -> None:
    facts = {**ACTIVE, "may_quote": True}
    plain = QuoteDeposit.of_stored({}, "")
    set_up = QuoteDeposit.configured({"amount_usd": "amount"}).of_stored({}, "")

    assert QuoteDeposit.is_set_up() is False
    assert any(c.stops for c in plain.concerns(facts))
    assert not any(c.stops for c in set_up.concerns(facts))
    assert next(c.text for c in set_up.concerns({**facts, "may_quote": False}) if c.stops).startswith(
        "The API key"
    )
    assert any(c.stops for c in set_up.concerns({**facts, "card_status": "DELETED"}))
    with pytest.raises(InvalidFields, match="one word"):
        QuoteDeposit.configured({"amount_usd": "a", "asset": "t"}).parse(
            {"amount_usd": "5", "card": "x", "asset": "two words"}
        )


def test_where_nothing_is_registered_there_is_no_secret_to_rotate() -> None:
    operation = made("webhook_rotate", url=None)
    with pytest.raises(Stale, match="No address is registered"):
        operation.body()
    assert operation.learned({"url": None}) == {}


def test_limits_that_were_set_before_fill_the_form_that_takes_them_back() -> None:
    operation = made("card_limits", weekly_limit=USD(60), monthly_limit=USD(70))
    assert operation.opposite_texts(LIMITS) == {
        "card": "aB1",
        "daily_limit": "10.00",
        "weekly_limit": "50.00",
    }
    assert operation.opposite_texts({}) == {}
    assert operation.settings == {"daily_limit", "weekly_limit", "monthly_limit"}


def test_the_digits_typed_again_are_four_digits_with_dots_before_them_or_without() -> None:
    cls = operations.kinds()["card_close"]
    field = next(field for field in cls.fields if field.name == "last4")
    assert [field.holds.read(text) for text in ("3205", "••3205", "xx3205", "** 3205")] == ["3205"] * 4
    for text in ("320", "32055", "32a5", "٣٢٠٥"):
        with pytest.raises(ValueError, match="last four digits"):
            field.holds.read(text)


def test_a_balance_that_is_not_known_is_said_as_unknown_and_never_as_zero() -> None:
    unknown = {**SETTLED, "card_balance_usd": None, "card_status": None}
    for kind in ("card_topup", "card_unload", "card_freeze", "card_unfreeze"):
        assert "unknown" in str(made(kind).lines(unknown)), kind
        assert "unknown" not in str(made(kind).lines(SETTLED)), kind
    closing = made("card_close")
    assert [line[0] for line in closing.lines(unknown)].count("Float balance") == 0
    assert ("Float balance", "100.00 USD → 105.00 USD") in closing.lines(SETTLED)


def test_of_what_was_shown_only_what_is_still_true_is_shown_afterwards() -> None:
    closing, ordering = made("card_close"), made("card_order")
    assert [label for label, _ in closing.lines_after(SETTLED)] == ["Monthly fee", "Card allowance"]
    assert "Float available" not in [label for label, _ in ordering.lines_after(ORDERED)]
    assert [label for label, _ in made("card_unload").lines_after(SETTLED)] == ["Fee"]
    for kind in ("card_topup", "funding_submit"):
        assert made(kind).lines_after(SETTLED) == []


def test_a_list_says_what_does_not_fit_before_what_is_said_of_its_rows() -> None:
    of_rows = [Concern("A row.")]
    topups, orders = (operations.kinds()[kind].of_many() for kind in ("card_topup", "card_order"))
    account = {**FLOAT, "monthly_fee_usd": USD(40), "pending_usd": USD(0)}

    assert orders.summary("3 cards", USD(0)) == "Order 3 cards"
    assert dict(orders.lines(2, USD(0), account)) == {
        "First month's fees": "80.00 USD",
        "Float available": "100.00 USD → 20.00 USD",
        "Card allowance": "3 → 1 left permanently",
    }
    assert dict(orders.lines(2, USD(0), {**account, "allowance_left": None}))["Card allowance"] == "no cap"
    assert topups.concerns(2, USD(100), account, of_rows) == of_rows
    assert next(c.text for c in topups.concerns(2, USD("100.01"), account, of_rows)).startswith(
        "This does not fit"
    )
    assert orders.concerns(2, USD(0), account, of_rows) == of_rows
    assert orders.concerns(2, USD(0), {**account, "allowance_left": None}, of_rows) == of_rows
    too_many = [c.text for c in orders.concerns(4, USD(0), account, of_rows)]
    assert too_many[0].startswith("The lifetime card allowance has 3 left")
    assert too_many[-1].startswith("The float (100.00 USD) does not cover")
    assert ("After all pending", "40.00 USD") in topups.lines(1, USD(50), {**account, "pending_usd": USD(10)})
    assert len(topups.lines(1, USD(50), account)) == 1


def test_an_amount_without_a_name_that_says_what_it_counts_is_not_stored() -> None:
    with pytest.raises(TypeError, match="does not say"):
        stored_facts({"amount": USD(5)})


def test_what_several_requests_may_have_made_is_evidence_of_none() -> None:
    nobody, taken = Others(), Others(taken={"a": "R-1"})
    rivals = Others(rivals=("R-2",))

    assert only_ours({}, nobody) == (None, "")
    assert only_ours({"a": 1}, nobody) == (1, "")
    assert only_ours({"a": 1, "b": 2}, taken) == (2, "")
    assert only_ours({"a": 1}, taken) == (None, "")
    for found, others, why in (({"a": 1, "b": 2}, nobody, "2 that fit"), ({"a": 1}, rivals, "may be of R-2")):
        thing, said = only_ours(found, others)
        assert thing is None
        assert why in said


FREEZE = replace(REQUEST, kind="card_freeze", state=State.UNRESOLVED, outcome_text="No answer.")


def test_an_urgent_request_waits_until_it_has_happened_or_a_newer_one_took_its_place() -> None:
    newer = replace(FREEZE, id="R-NEW")
    may_undo = urgency.for_now(Outcome(Finding.SUCCEEDED, "Frozen.", {}), "card_freeze", [newer])
    done_for_now = replace(FREEZE, outcome=may_undo.facts)

    assert (urgency.is_waiting(FREEZE), urgency.not_yet(FREEZE)) == (True, "Not frozen yet")
    assert (urgency.is_waiting(done_for_now), urgency.not_yet(done_for_now)) == (False, "Frozen for now")
    assert not urgency.is_waiting(replace(FREEZE, outcome=urgency.replaced_by(newer)))
    assert not urgency.is_waiting(replace(FREEZE, kind="card_topup"))
    assert not urgency.is_waiting(replace(FREEZE, state=State.SUCCEEDED))
    assert urgency.not_yet(replace(FREEZE, kind="card_topup")) == ""
    how = [urgency.failed_how(kind) for kind in ("card_freeze", "card_topup", "card_limits")]
    assert how == ["not frozen", EITHER, "nothing was changed"]
    assert urgency.no_longer_for_now(may_undo.facts) == {}
    assert urgency.no_longer_for_now(None) is None


def test_a_success_that_older_calls_may_undo_is_not_final_and_names_them() -> None:
    older = [replace(FREEZE, id=name) for name in ("R-B", "R-A")]
    done = Outcome(Finding.SUCCEEDED, "Frozen.", {"card_status": "FROZEN"})
    said = urgency.for_now(done, "card_freeze", older)

    assert said.finding is Finding.UNKNOWN
    assert said.text.index("R-A") < said.text.index("R-B")
    assert "are older and still under way: they may undo this" in said.text
    assert (
        "is older and still under way: it may undo this"
        in urgency.for_now(done, "card_freeze", older[:1]).text
    )
    assert urgency.for_now(done, "card_topup", older) is done


def test_the_next_try_is_said_by_when_it_was_first_sent() -> None:
    def shown(at: datetime) -> str:
        return f"{at:%H:%M:%S}"

    first = replace(FREEZE, first_sent_at=AT, due_at=AT + timedelta(seconds=5))
    late = replace(first, due_at=AT + timedelta(hours=1))
    for unknown in (replace(first, due_at=None), replace(first, first_sent_at=None)):
        assert urgency.next_try(unknown, shown) == "Countersign tries again every 5 seconds."
    assert "every 5 seconds until 09:02:00" in urgency.next_try(first, shown)
    assert urgency.next_try(late, shown) == "Countersign keeps trying. The next try is at 10:00:00."


def test_what_a_pause_held_back_before_its_first_try_is_known_by_its_outcome() -> None:
    assert urgency.waited_for_a_pause(replace(FREEZE, outcome=dict(HELD_BY_A_PAUSE)))
    assert not urgency.waited_for_a_pause(FREEZE)
    assert not urgency.waited_for_a_pause(replace(FREEZE, outcome={"status": 503}))


FUNDED: dict[str, Any] = {
    "status": "pending", "reason": None, "network": "POLYGON", "funding_id": "f1", "tx_hash": "0x1", "token": None,
    "amount_usd": None, "credited_usd": None, "fee_usd": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("say", "facts", "says"),
    [
        ("_submitted", {"status": "held"}, "does not know its status held"),
        ("_submitted", {}, "not verified yet"),
        ("_credited", {"credited_usd": USD(9)}, "9.00 USD reached the float after the load fee."),
        (
            "_credited",
            {"credited_usd": USD(9), "fee_usd": USD(1), "amount_usd": USD(10)},
            "load fee of 1.00 USD.",
        ),
        (
            "_credited",
            {"credited_usd": USD(8), "fee_usd": USD(1), "amount_usd": USD(10)},
            "less than the 10.00 USD",
        ),
        ("_rejected", {"status": "gone"}, "The float did not change."),
        ("_taken_back", {"credited_usd": USD(9)}, "the float fell by 9.00 USD"),
    ],
)
def test_how_far_a_funding_is_is_said_from_what_is_known_of_it(
    say: str, facts: dict[str, Any], says: str
) -> None:
    assert says in getattr(funding_words, say)({**FUNDED, **facts})


def test_a_funding_that_the_provider_no_longer_knows_is_said_to_be_claimed_perhaps() -> None:
    gone = {**FUNDED, "status": funding_readings.GONE}
    assert "no longer knows this submission" in funding_words._rejected(gone)
    assert "taken back" not in funding_words._taken_back(FUNDED)
