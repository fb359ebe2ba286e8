"""What each kind makes of an answer, and of what it reads where none came: never more than is proved."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot import operations
from bot.domain.errors import InvalidFields, InvalidInput
from bot.operations import Operation, card_close, event_redeliver
from bot.operations._base import Others, Sought
from bot.operations._fields import Field
from bot.operations.value_types import USD as USD_TYPE
from bot.operations.value_types import ValueType
from bot.outcomes import Evidence, Finding
from bot.partner.answers import NOT_SENT
from bot.partner.calls import cards as card_calls
from bot.partner.certainty import Certainty
from bot.partner.errors import Forbidden, NotSent
from tests.unit.test_concerns_of_kinds import made

USD = Decimal
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = AT + timedelta(days=3)


def of(**fields: Any) -> Any:
    return SimpleNamespace(**fields)


async def rows(found: Iterable[Any]) -> AsyncIterator[Any]:
    for one in found:
        yield one


class Partner:
    """Answers each call by what it was given for it, and raises what is an exception."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        answer = self._answers[name]
        if isinstance(answer, list) and name in ("cards", "events", "transactions"):
            return lambda *_, **__: rows(answer)

        async def call(*_: Any, **__: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


def sought(others: Others | None = None, **facts: Any) -> Sought:
    async def found() -> Others:
        return others or Others()

    return Sought(key="k1", since=AT, last_sent_at=AT, facts=facts, others=found)


async def sent(operation: Operation, **answers: Any) -> tuple[Finding, str, bool]:
    done = await operation.send(cast(Any, Partner(**answers)), "k1", b"{}")
    return done.finding, done.text, bool(done.alarm)


async def looked(operation: Operation, sought_: Sought, **answers: Any) -> tuple[Evidence, str]:
    found = await operation.look(cast(Any, Partner(**answers)), sought_)
    return found.evidence, found.text


MONEY: dict[str, tuple[str, dict[str, Any]]] = {
    "card_topup": ("top_up", {"credited_usd": USD(50)}),
    "card_unload": ("unload", {"unloaded_usd": USD(5)}),
    "card_close": ("close", {"returned_usd": USD(5)}),
}


@pytest.mark.parametrize("kind", MONEY)
async def test_an_answer_with_another_card_or_amount_is_no_success_and_alarms(kind: str) -> None:
    call, fields = MONEY[kind]
    right = {"card_id": "aB1", "partner_balance_usd": USD(10), **fields}
    name, amount = next(iter(fields.items()))
    wrong = [{**right, "card_id": "other"}]
    if kind != "card_close":  # what comes back is what was on the card
        wrong.append({**right, name: amount + 1})

    assert (await sent(made(kind), **{call: of(**right)}))[::2] == (Finding.SUCCEEDED, False)
    for answer in wrong:
        assert (await sent(made(kind), **{call: of(**answer)}))[::2] == (Finding.UNRESOLVED, True)


async def test_a_change_that_the_answer_does_not_show_is_not_confirmed() -> None:
    limits = dict.fromkeys(("weekly_limit", "monthly_limit"))
    markup = operations.kinds()["fees_markup"]
    markup_of = markup(markup.parse({"markup_percent": "1.5"}))
    cases: list[tuple[Operation, str, Any, Any]] = [
        (made("card_limits"), "set_limits", of(daily_limit=USD(10), **limits), of(daily_limit=USD(9), **limits)),
        (made("card_3ds"), "set_3ds", of(card_id="aB1", three_ds_method="webhook"),
         of(card_id="aB1", three_ds_method="sms")),
        (made("card_3ds"), "set_3ds", of(card_id="aB1", three_ds_method="webhook"),
         of(card_id="x", three_ds_method="webhook")),
        (markup_of, "set_fees", of(your_markup_pct=USD("0.015")), of(your_markup_pct=USD("0.0150001"))),
    ]  # fmt: skip
    for operation, call, shows, shows_not in cases:
        assert (await sent(operation, **{call: shows}))[0] is Finding.SUCCEEDED, operation.kind
        finding, text, _ = await sent(operation, **{call: shows_not})
        assert finding is Finding.UNKNOWN, operation.kind
        assert "do not repeat this" in text


@pytest.mark.parametrize(
    ("updated", "card_id", "finding"),
    [(True, "aB1", Finding.SUCCEEDED), (False, "aB1", Finding.UNKNOWN), (True, "x", Finding.UNKNOWN)],
)
async def test_a_phone_is_changed_only_where_the_answer_says_so_of_this_card(
    updated: bool, card_id: str, finding: Finding
) -> None:
    cls = operations.kinds()["card_phone"]
    operation = cls(
        {**cls.parse({"card": "x", "phone_country_code": "46", "phone": "701234567"}), "card": "aB1"}
    )
    assert (await sent(operation, set_phone=of(updated=updated, card_id=card_id)))[0] is finding
    assert (await looked(operation, sought()))[0] is Evidence.UNPROVEN


async def test_what_the_api_never_shows_is_never_proved_by_a_look() -> None:
    assert (await looked(made("card_3ds"), sought()))[0] is Evidence.UNPROVEN
    assert (await looked(made("card_reveal"), sought()))[0] is Evidence.UNDONE


QUOTE = {
    "deposit_id": "d1", "card_id": "aB1", "card_credit_usd": USD(49), "send_amount": "50.1", "asset": "USDC",
    "chain": "POLYGON", "deposit_address": "0x1", "expires_at": AT, "exact_amount_required": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("debit", "refund", "seen", "evidence"),
    [
        (None, None, {}, Evidence.ABSENT),
        (None, "50", {}, Evidence.ABSENT),
        ("-50", None, {}, Evidence.DEBITED),
        ("-50", "50", {}, Evidence.UNDONE),
        (None, "50", {"debit_usd": "-50"}, Evidence.UNDONE),
        (None, None, {"debit_usd": "-50"}, Evidence.DEBITED),
        (None, None, {"debit_usd": "-50", "refund_usd": "50"}, Evidence.UNDONE),
    ],
)
async def test_a_debit_is_judged_with_what_an_earlier_look_saw_and_the_next_look_goes_on_from_there(
    debit: str | None, refund: str | None, seen: dict[str, Any], evidence: Evidence
) -> None:
    def row(amount: str | None) -> Any:
        return amount and of(amount_usd=USD(amount))

    found = of(debit=row(debit), refund=row(refund), mark=of(rows=7, newest=("a", "b")))
    looking = replace(sought(), seen=seen)
    look = await made("card_topup").look(cast(Any, Partner(find_top_up=found)), looking)

    assert look.evidence is evidence
    assert (look.facts["ledger_rows"], look.facts["ledger_newest"]) == (7, ["a", "b"])


async def test_a_quote_is_of_this_card_or_is_given_to_nobody() -> None:
    operation = made("deposit_quote")
    finding, text, _ = await sent(operation, quote_deposit=of(**QUOTE))
    assert (finding, "to the digit" in text, "The card gets 49.00 USD." in text) == (
        Finding.SUCCEEDED,
        True,
        True,
    )

    loose = {**QUOTE, "card_credit_usd": None, "exact_amount_required": False}
    _, text, _ = await sent(operation, quote_deposit=of(**loose))
    assert "to the digit" not in text
    assert "The card gets" not in text
    finding, text, alarm = await sent(operation, quote_deposit=of(**{**QUOTE, "card_id": "other"}))
    assert (finding, alarm, "0x1" in text) == (Finding.UNRESOLVED, True, False)


async def test_a_quote_is_found_only_where_one_of_the_list_can_be_of_nobody_else() -> None:
    def deposit(name: str, card_id: str = "aB1", at: datetime = AT) -> Any:
        return of(id=name, card_id=card_id, created_at=at, amount_expected="50", **{
            name: QUOTE[name] for name in ("asset", "chain", "deposit_address", "expires_at")
        })  # fmt: skip

    operation = made("deposit_quote")
    for deposits, others, evidence in (
        ([deposit("d1")], Others(), Evidence.DONE),
        ([deposit("d1"), deposit("d2", "x"), deposit("d3", at=LATER)], Others(), Evidence.DONE),
        ([deposit("d1"), deposit("d2")], Others(), Evidence.UNPROVEN),
        ([deposit("d1")], Others(taken={"d1": "R-1"}), Evidence.UNPROVEN),
        ([deposit("d1")], Others(rivals=("R-1",)), Evidence.UNPROVEN),
        ([], Others(), Evidence.UNPROVEN),
    ):
        assert (await looked(operation, sought(others), deposits=deposits))[0] is evidence


@pytest.mark.parametrize(
    ("delivered_at", "evidence"),
    [(None, Evidence.ABSENT), (AT - timedelta(seconds=1), Evidence.ABSENT), (AT, Evidence.DONE)],
)
async def test_an_event_was_delivered_again_where_its_log_shows_it_since_then(
    delivered_at: datetime | None, evidence: Evidence
) -> None:
    operation = made("event_redeliver", event_id="e1")
    event = of(
        id=operation.subject, type="card.declined", delivered_at=delivered_at, created_at=AT, attempts=2
    )
    others = [of(id=f"x{n}") for n in range(3)]

    assert (await looked(operation, sought(), events=[*others, event]))[0] is evidence
    facts = await operation.read(cast(Any, Partner(webhook=of(url="https://h"), events=[*others, event])))
    assert facts["type"] == "card.declined"
    shown = dict(operation.lines(facts))["So far"]
    assert shown.startswith("not delivered" if delivered_at is None else "delivered 2026-03-02")


async def test_an_event_is_looked_for_among_so_many_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_redeliver, "_NEWEST", 3)
    operation = made("event_redeliver", event_id="e1")
    event = of(id=operation.subject, type="card.declined", delivered_at=AT, created_at=AT, attempts=1)
    old = [of(id=f"x{n}") for n in range(3)]

    assert (await looked(operation, sought(), events=[*old, event]))[0] is Evidence.ABSENT
    facts = await operation.read(cast(Any, Partner(webhook=None, events=[*old, event])))
    assert facts == {"webhook_url": None, "type": None}
    assert operation.lines(facts)[0] == ("Event", "not among the newest 3 of the log")


@pytest.mark.parametrize(
    ("updated_at", "evidence"),
    [(AT, Evidence.UNDONE), (AT - timedelta(days=1), Evidence.ABSENT), (None, Evidence.ABSENT)],
)
async def test_a_registration_that_changed_since_then_has_a_secret_that_nobody_has(
    updated_at: datetime | None, evidence: Evidence
) -> None:
    hook = None if updated_at is None else of(url="https://h", updated_at=updated_at)
    for kind in ("webhook_register", "webhook_rotate"):
        assert (await looked(made(kind), sought(), webhook=hook))[0] is evidence


async def test_a_markup_is_set_where_the_fees_show_it() -> None:
    cls = operations.kinds()["fees_markup"]
    operation = cls(cls.parse({"markup_percent": "1.5"}))
    for found, evidence in (("0.015", Evidence.DONE), ("0.01", Evidence.ABSENT)):
        assert (await looked(operation, sought(), fees=of(your_markup_pct=USD(found))))[0] is evidence


async def test_the_newest_purchases_that_are_not_settled_are_added_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(card_close, "_NEWEST", 3)
    found = [of(status=s, amount_usd=USD(1)) for s in ("pending", "cleared", "partially_reversed", "pending")]
    assert await card_close._open_purchases(cast(Any, Partner(transactions=found)), "aB1") == [USD(1), USD(1)]
    assert await card_close._open_purchases(cast(Any, Partner(transactions=found[1:2])), "aB1") == []


def back(reference: str = "", **fields: Any) -> Any:
    row = {"kind": "refund", "card_id": "aB1", "created_at": AT, "amount_usd": USD(5), "reference": reference}
    return of(**{**row, **fields})


@pytest.mark.parametrize(
    ("status", "balance", "ledger", "taken", "evidence"),
    [
        ("DELETED", 0, [back()], False, Evidence.DONE),
        ("DELETED", 0, [], False, Evidence.DONE),
        ("DELETED", 0, [back()], True, Evidence.UNDONE),
        ("ACTIVE", None, [], False, Evidence.UNPROVEN),
        ("ACTIVE", 5, [], False, Evidence.ABSENT),
        ("ACTIVE", 5, [back()], False, Evidence.ABSENT),
        (None, 0, [], False, Evidence.UNPROVEN),
        ("ACTIVE", 0, [back()], False, Evidence.HALF_DONE),
        ("ACTIVE", 5, [back("close:k1")], False, Evidence.HALF_DONE),
        ("ACTIVE", 0, [back("unload:k2")], False, Evidence.UNPROVEN),
        ("ACTIVE", 0, [back(created_at=LATER)], False, Evidence.UNPROVEN),
        ("ACTIVE", 0, [back(card_id=None)], False, Evidence.UNPROVEN),
        ("ACTIVE", 0, [back(kind="fee")], False, Evidence.UNPROVEN),
    ],
)
async def test_a_close_whose_answer_was_lost_is_judged_by_card_and_ledger_together(
    status: str | None, balance: int | None, ledger: list[Any], taken: bool, evidence: Evidence
) -> None:
    held = None if balance is None else USD(balance)
    found, _ = await looked(
        made("card_close"),
        sought(
            Others(taken={"aB1": "R-1"} if taken else {}), card_balance_usd=USD(5), float_balance_usd=USD(90)
        ),
        card=of(card=of(status=status), balance_usd=held),
        me=of(float=of(balance_usd=USD(95))),
        ledger_since=ledger,
    )
    assert found is evidence


def test_what_the_ledger_shows_of_a_close_is_said_and_nothing_is_said_to_be_there_that_is_not() -> None:
    assert card_close._back_in_words(None).startswith("The ledger shows no balance of it")
    assert card_close._back_in_words(USD(5)) == "The ledger shows 5.00 USD back on the float."


def a_card(name: str, at: datetime = AT, ref: str | None = None) -> Any:
    return of(id=name, card_holder_name="Nora Quist", partner_ref=ref, created_at=at, last4="3205")


def claim(names_key: bool) -> Any:
    return of(names_key=lambda key: names_key and key == "k1")


NO_SCOPE = Forbidden("No.", operation=card_calls.ORDER_CARD, certainty=Certainty.DEFINITE)


@pytest.mark.parametrize(
    ("cards", "claims", "others", "evidence"),
    [
        ([a_card("c1")], {"c1": claim(True)}, Others(), Evidence.DONE),
        ([a_card("c1")], {"c1": claim(True)}, Others(taken={"c1": "R-1"}), Evidence.UNPROVEN),
        ([a_card("c1")], {"c1": claim(False)}, Others(), Evidence.UNPROVEN),
        ([a_card("c1")], {}, Others(), Evidence.DONE),
        ([a_card("c1")], NO_SCOPE, Others(), Evidence.DONE),
        ([a_card("c1"), a_card("c2")], NO_SCOPE, Others(), Evidence.UNPROVEN),
        ([a_card("c1", LATER)], {}, Others(), Evidence.UNPROVEN),
        ([a_card("c1", ref="other")], {}, Others(), Evidence.UNPROVEN),
        ([], {"c1": claim(True)}, Others(), Evidence.UNPROVEN),
        ([a_card("c1")], {}, Others(rivals=("R-2",)), Evidence.UNPROVEN),
    ],
)
async def test_a_card_is_of_this_order_only_where_it_can_be_of_no_other(
    cards: list[Any], claims: Any, others: Others, evidence: Evidence
) -> None:
    order = made("card_order", partner_ref=None)
    assert (await looked(order, sought(others), cards=cards, order_claims=claims))[0] is evidence


async def test_for_each_row_of_a_list_of_orders_no_list_of_all_cards_is_read() -> None:
    partner = Partner(
        me=of(float=of(available_usd=USD(5)), cards=of(limit=None, total=7)),
        fees=of(transaction=of(monthly_per_card_usd=USD(1))),
    )
    batch = operations.kinds()["card_order"].of_many()
    facts = await batch.row_facts(made("card_order"), cast(Any, partner))
    assert (facts["twins"], facts["monthly_fee_usd"], facts["allowance_left"]) == ([], USD(1), None)


async def test_a_purchase_event_of_another_card_is_no_trace_of_an_unload() -> None:
    answers = {
        "card": of(balance_usd=None),
        "me": of(float=of(balance_usd=USD(95))),
        "ledger_since": [of(names_key=lambda _: False)],
    }
    events = [of(id="e1", payload={"card_id": "x"}), of(id="e2", payload={"card_id": "aB1"})]
    for found, has in ((events, "has one card.unloaded"), (events[:1], "has no card.unloaded")):
        evidence, text = await looked(made("card_unload"), sought(), events=found, **answers)
        assert evidence is Evidence.UNPROVEN
        assert has in text


def test_what_was_made_is_named_by_its_id_and_by_nothing_where_nothing_was_made() -> None:
    kinds = operations.kinds()
    for kind, name in (("card_close", "card_id"), ("card_order", "card_id"), ("deposit_quote", "deposit_id")):
        assert kinds[kind].effect({name: "x1"}) == "x1"
        assert kinds[kind].effect({}) == ""
    assert kinds["card_topup"].effect({"card_id": "x1"}) == ""
    assert made("card_order", partner_ref="r1").likeness == "Nora Quist\nr1"
    assert made("card_order", partner_ref=None).likeness == "Nora Quist\n"
    assert made("card_topup").likeness == made("card_topup").subject


def test_a_call_that_did_not_leave_is_judged_as_not_sent() -> None:
    not_sent = NotSent("No.", operation=card_calls.TOP_UP, certainty=Certainty.DEFINITE)
    assert made("card_topup")._answer(not_sent) is NOT_SENT
    assert made("card_topup").judge(not_sent, outcome_unknown=False).finding is NOT_SENT.first


def test_a_wrong_value_is_said_beside_the_field_that_it_names() -> None:
    def refuse(_: str) -> str:
        raise InvalidInput("other", "Wrong over there.")

    picky: ValueType[str] = ValueType(str, refuse, str)
    members: dict[str, Any] = {
        "kind": "odd",
        "title": "Odd",
        "mine": Field("Mine", picky),
        "other": Field("Other", USD_TYPE),
    }
    odd: Any = type("Odd", (Operation,), members)
    with pytest.raises(InvalidFields) as refused:
        odd.parse({"mine": "x", "other": "5"})
    assert refused.value.errors == {"other": "Wrong over there."}


def test_what_takes_a_change_back_is_filled_with_its_card_and_amount() -> None:
    cls = operations.kinds()["card_topup"]
    operation = cls({**cls.parse({"card": "x", "amount_usd": "50"}), "card": "aB1"})
    assert operation.opposite_texts({}) == {"card": "aB1", "amount_usd": "50.00"}


async def test_a_submission_is_followed_by_its_id_and_a_rejected_one_is_refused() -> None:
    cls: Any = operations.kinds()["funding_submit"]
    operation = cls(cls.parse({"tx_hash": "0x" + "ab" * 32, "network": "POLYGON"}))

    def funding(status: str = "pending", network: str = "POLYGON", at: datetime = AT) -> Any:
        return of(
            id="f1", tx_hash=operation.subject, network=network, status=status, reason=None, token=None, created_at=at,
            amount_usd=None, credited_usd=None, fee_usd=None, credited_at=None, updated_at=None, sent_usd=None, raw={},
            amount=None, float_credited_usd=None, arrived_at=None, confirmed_at=None,
        )  # fmt: skip

    assert operation.progress({}) is None
    for found, finding in (
        (funding(), Finding.SUCCEEDED),
        (funding("rejected"), Finding.REFUSED),
        (funding(network="BNB"), Finding.REFUSED),
    ):
        assert (await sent(operation, submit_funding=found))[0] is finding
    taken = Others(taken={"f1 POLYGON": "R-1"})
    for listed, others, evidence in (
        ([], Others(), Evidence.UNSEEN),
        ([funding()], Others(), Evidence.DONE),
        ([funding(network="BNB")], Others(), Evidence.UNSEEN),
        ([funding()], taken, Evidence.UNSEEN),
        ([funding("rejected")], Others(), Evidence.UNDONE),
        ([funding("rejected", at=AT - timedelta(days=9))], Others(), Evidence.UNSEEN),
    ):
        assert (await looked(operation, sought(others), funding_list=listed))[0] is evidence


def test_a_kind_that_says_nothing_of_it_has_nothing_against_it() -> None:
    assert Operation.concerns(made("card_reveal"), {}) == []
