"""Moving money between the float and a card: top-up, unload, close (Cards).

A top-up has two commits: the float is debited before the processor is called, and the outcome is
recorded after. What dies in between is a debit without an outcome, which is the truth of the
service and not an accident of the simulator.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sandbox.partner import cards, money
from sandbox.partner.accounts import accounts
from sandbox.partner.calls import Call, Keyed, idempotency, processor
from sandbox.partner.http import Answer, Refusal, bad_request, conflict
from sandbox.partner.ledger import ledger
from sandbox.partner.schemas import read_body, request_schemas
from sandbox.partner.state import World


async def top_up(call: Call) -> Answer:
    """POST /cards/{cardId}/topup, in the order of checks of U19."""
    card = cards.of_call(call)
    key = idempotency.key_of(call.request)
    amount_usd: Decimal = read_body(request_schemas.TOPUP_BODY, call.request.body)["amount_usd"]
    if call.account.settings.funds_check == "before_replay":
        _check_funds(call, amount_usd)
    earlier = idempotency.find(call, "topup", key)
    if earlier:
        return _repeated_top_up(call, earlier, card.id, amount_usd)
    if card.closed:
        raise bad_request("The card is closed.")
    _check_funds(call, amount_usd)
    keyed = debit_for_top_up(call.world, card, amount_usd, key)
    await call.crash_point()
    keyed = idempotency.after_waiting(call.world, keyed)
    if keyed.state != "in_flight":
        return _repeated_top_up(call, keyed, card.id, amount_usd)
    return await _ask_for_credit(call, keyed, cards.of_call(call))


def debit_for_top_up(world: World, card: cards.Card, amount_usd: Decimal, key: str | None) -> Keyed:
    """The first commit: the key is bound and the float debited."""
    with world.store.transaction():
        keyed = idempotency.claim_for(
            world, card.account, "topup", key, card_id=card.id, amount_usd=amount_usd
        )
        reference = f"topup:{keyed.key}"
        ledger.post(
            world, card.account, -amount_usd, "card_topup", reference, card_id=card.id, keyed=keyed.id
        )
    return keyed


def _check_funds(call: Call, amount_usd: Decimal) -> None:
    available_usd = ledger.available_usd(call.world, call.account)
    if amount_usd > available_usd:
        message = f"The amount is above the {money.text(available_usd)} USD available."
        raise Refusal(402, "INSUFFICIENT_FUNDS", message)


def _repeated_top_up(call: Call, earlier: Keyed, card_id: str, amount_usd: Decimal) -> Answer:
    """The three meanings of ALREADY_PROCESSED, or the original amounts with today's float."""
    if earlier.card_id != card_id:
        raise conflict(idempotency.OTHER_USE)
    if call.account.settings.key_amount == "conflict" and earlier.amount_usd != amount_usd:
        raise conflict(idempotency.OTHER_USE)
    if earlier.state == "refunded":
        raise conflict(idempotency.REFUNDED)
    if earlier.state != "done" or earlier.answer is None:
        raise conflict(idempotency.IN_FLIGHT)
    return Answer.of({**earlier.answer, "partner_balance_usd": call.account.balance_usd})


async def _ask_for_credit(call: Call, keyed: Keyed, card: cards.Card) -> Answer:
    refuses_frozen = card.status == "FROZEN" and call.account.settings.topup_frozen == "refuse"
    spendable = card.status == "ACTIVE" or (card.status == "FROZEN" and not refuses_frozen)
    reply = processor.ask(call, "" if spendable else "400")
    if reply.verdict == "unknown":
        idempotency.settle(call.world, keyed, "unresolved")
        raise await processor.timed_out(call) if reply.code == "timeout" else processor.error_of(reply)
    if reply.verdict == "refused":
        refund_top_up(call.world, keyed)
        raise processor.error_of(reply, issues=True)
    return Answer.of(credit_top_up(call.world, keyed))


def credit_top_up(world: World, keyed: Keyed) -> dict[str, Any]:
    """The second commit: the card is credited and the answer recorded."""
    card, amount_usd = _money_of(world, keyed)
    with world.store.transaction():
        cards.change_balance(world, card, amount_usd)
        answer = {
            "card_id": card.id,
            "amount_requested_usd": amount_usd,
            "fee_usd": money.ZERO,  # the load fee was taken when the float was funded
            "credited_usd": amount_usd,
            "partner_balance_usd": accounts.account(world, keyed.account).balance_usd,
        }
        idempotency.settle(world, keyed, "done", answer)
    return answer


def refund_top_up(world: World, keyed: Keyed) -> None:
    """The other second commit: the float gets its money back and the key is spent."""
    _, amount_usd = _money_of(world, keyed)
    same = accounts.account(world, keyed.account).settings.refund_reference == "same"
    reference = f"topup:{keyed.key}" + ("" if same else ":refund")
    with world.store.transaction():
        ledger.post(
            world,
            keyed.account,
            amount_usd,
            "refund",
            reference,
            keyed=keyed.id,
            description="Top-up returned",
        )
        idempotency.settle(world, keyed, "refunded")


def _money_of(world: World, keyed: Keyed) -> tuple[cards.Card, Decimal]:
    card = cards.find(world, keyed.card_id or "")
    if card is None or keyed.amount_usd is None:
        raise ValueError(f"keyed call {keyed.id} moves no money")
    return card, keyed.amount_usd
