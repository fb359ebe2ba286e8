"""Bugs planted in the simulator, one at a time: the state machine finds each. A machine that could not
would prove nothing when it is clean."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from sandbox.partner import codec, money
from sandbox.partner.background import deliveries
from sandbox.partner.calls import idempotency
from sandbox.partner.cards import Card, cards, topups, unloads
from sandbox.partner.events import event_log, webhooks
from sandbox.partner.funding import submissions
from sandbox.partner.ledger import ledger, monthly_fees
from sandbox.partner.purchases import Figures, authorization_rules, pricing, purchases
from sandbox.partner.routes import topups as topup_route
from sandbox.partner.routes import unloads as unload_route
from tests.sandbox_partner.machine import Machine

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]
SEARCH = settings(
    max_examples=5000, stateful_step_count=50, deadline=None, phases=[Phase.generate], database=None,
    report_multiple_bugs=False, suppress_health_check=list(HealthCheck),
)  # fmt: skip


def a_refused_top_up_keeps_the_money(patch: Patch) -> None:
    def settle_only(world: Any, keyed: Any) -> None:
        idempotency.settle(world, keyed, "refunded")

    patch.setattr(topups, "refund_top_up", settle_only)


def a_top_up_credits_twice(patch: Patch) -> None:
    real = topups.credit_top_up

    def twice(world: Any, keyed: Any) -> Any:
        card = cards.find(world, keyed.card_id)
        assert card is not None
        cards.change_balance(world, card, keyed.amount_usd)
        return real(world, keyed)

    patch.setattr(topups, "credit_top_up", twice)


def the_limit_on_the_float_is_ignored(patch: Patch) -> None:
    patch.setattr(ledger, "available_usd", lambda world, owner: max(money.ZERO, owner.balance_usd))


def funds_are_not_checked(patch: Patch) -> None:
    patch.setattr(topup_route, "_check_funds", lambda call, amount_usd: None)


def a_refunded_key_can_be_used_again(patch: Patch) -> None:
    real = idempotency.settle

    def forgets(world: Any, keyed: Any, state: Any, answer: Any = None) -> None:
        if state == "refunded":
            idempotency.release(world, keyed)
        else:
            real(world, keyed, state, answer)

    patch.setattr(idempotency, "settle", forgets)


def a_replayed_unload_credits_again(patch: Patch) -> None:
    from sandbox.partner.http import Answer

    def again(call: Any, earlier: Any, *_rest: Any) -> Answer:
        return Answer.of(unloads.credit_unload(call.world, earlier))

    patch.setattr(unload_route, "_repeated_unload", again)


def a_closed_card_comes_back(patch: Patch) -> None:
    patch.setattr(Card, "closed", property(lambda self: False))


def a_close_keeps_the_balance(patch: Patch) -> None:
    real = ledger.post

    def lossy(
        world: Any, account_id: str, amount_usd: Decimal, kind: Any, reference: Any = None, **more: Any
    ) -> None:
        if not str(reference).startswith("card-close:"):
            real(world, account_id, amount_usd, kind, reference, **more)

    patch.setattr(ledger, "post", lossy)


def the_monthly_fee_comes_again(patch: Patch) -> None:
    def always(world: Any, owner: Any, card_id: str, moment: Any) -> None:
        reference = f"card-fee:{card_id}:{moment:%Y-%m}"
        for _ in range(2):
            ledger.post(world, owner.id, Decimal(-1), "fee", reference)

    patch.setattr(monthly_fees, "charge_month", always)


def funding_is_credited_at_every_look(patch: Patch) -> None:
    def paid_again(world: Any, funding_id: str) -> None:
        found = submissions.find(world, funding_id)
        if found is not None and found.amount_usd is not None and found.status == "credited":
            submissions.credit(world, found, found.amount_usd)
        else:
            real(world, funding_id)

    real = submissions.recheck
    patch.setattr(submissions, "recheck", paid_again)


def a_reversal_gives_nothing_back(patch: Patch) -> None:
    patch.setattr(purchases, "_pay_back", lambda world, purchase, back_usd: None)


def a_decline_costs_a_fee(patch: Patch) -> None:
    def priced(charge_usd: Decimal) -> Figures:
        return Figures(money.cents(charge_usd), Decimal("0.10"), money.ZERO, money.ZERO)

    patch.setattr(Figures, "free_of_fees", priced)


def spending_limits_are_ignored(patch: Patch) -> None:
    patch.setattr(authorization_rules, "_limit", lambda world, card, charge_usd: None)


def an_authorization_takes_the_charge_without_its_fee(patch: Patch) -> None:
    real = pricing.figures_of

    def short(*given: Any) -> Figures:
        figures = real(*given)
        return replace(figures, amount_usd=money.add(figures.amount_usd, Decimal("-0.01")))

    def mixed(world: Any, card: Any, by_usd: Decimal) -> None:
        change(world, card, money.add(by_usd, Decimal("0.01")) if by_usd < 0 else by_usd)

    change = cards.change_balance
    patch.setattr(pricing, "figures_of", short)
    patch.setattr(cards, "change_balance", mixed)


def a_ninth_attempt_is_made(patch: Patch) -> None:
    patch.setattr(deliveries, "ATTEMPTS_MOST", 12)


def a_delivery_carries_something_else_than_the_log(patch: Patch) -> None:
    def other(event: Any) -> bytes:
        head = {"id": event["id"], "type": event["type"], "created_at": event["created_at"]}
        payload = {**codec.decode(event["payload"].encode()), "note": ""}
        return codec.encode({**head, "data": payload})

    patch.setattr(deliveries, "body_of", other)


def a_retry_is_signed_with_the_old_secret(patch: Patch) -> None:
    known: dict[str, Any] = {}
    real = webhooks.find

    def stale(world: Any, account_id: str) -> Any:
        found = real(world, account_id)
        return known.setdefault(f"{id(world)}{account_id}", found) if found else None

    patch.setattr(webhooks, "find", stale)


def an_event_nobody_documented_is_sent(patch: Patch) -> None:
    real = event_log.emit

    def renamed(world: Any, account_id: str, kind: str, payload: Any) -> str:
        event_id = real(world, account_id, kind, payload)
        world.store.update("events", "id", event_id, type=kind.replace("unloaded", "emptied"))
        return event_id

    patch.setattr(event_log, "emit", renamed)


QUICK: tuple[Plant, ...] = (
    a_refused_top_up_keeps_the_money,
    spending_limits_are_ignored,
    a_decline_costs_a_fee,
)
SLOW: tuple[Plant, ...] = (
    a_top_up_credits_twice,
    the_limit_on_the_float_is_ignored,
    a_refunded_key_can_be_used_again,
    a_replayed_unload_credits_again,
    a_closed_card_comes_back,
    funds_are_not_checked,
    a_retry_is_signed_with_the_old_secret,
    the_monthly_fee_comes_again,
    funding_is_credited_at_every_look,
    a_reversal_gives_nothing_back,
    a_close_keeps_the_balance,
    an_authorization_takes_the_charge_without_its_fee,
    a_ninth_attempt_is_made,
    a_delivery_carries_something_else_than_the_log,
    an_event_nobody_documented_is_sent,
)


def hunt(plant: Plant) -> int:
    """How many steps the machine took until it found the bug; fails when it did not."""
    before = Machine.steps
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        try:
            run_state_machine_as_test(Machine, settings=SEARCH)
        except (AssertionError, ArithmeticError, LookupError, ValueError):
            return Machine.steps - before
    pytest.fail(f"{plant.__name__} was not found in {Machine.steps - before} steps")


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("plant", QUICK, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant: Plant) -> None:
    assert hunt(plant) > 0


@pytest.mark.soak
def test_every_planted_bug_is_found() -> None:
    found = {plant.__name__: hunt(plant) for plant in (*QUICK, *SLOW)}
    for name, steps in found.items():
        print(f"{name}: found after {steps} steps")
    assert len(found) >= 10
