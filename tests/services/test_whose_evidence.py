"""Whose effect is it? What another request has made proves nothing of this one, and a debit is not a credit."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from bot.domain.requests import Request, State
from bot.partner import errors
from bot.services.execution import maintenance, presend_checks
from bot.services.requests import approvals
from storage import tables as t
from tests.services.outcome_steps import (
    TOPUP,
    Fault,
    alert_kinds,
    card_balance,
    execute,
    hold_to_the_truth,
    jump,
    jump_to_the_end,
    keys_sent,
    open_alerts,
    processor,
    status,
)
from tests.support.kinds import NORA
from tests.support.situations import no_faults
from tests.support.world import ALICE, BOB, CAROL, World

pytestmark = pytest.mark.by_turns(4)

ORDER, FUNDING, CLOSE = "POST /cards", "POST /funding", "POST /cards/{cardId}/close"
HASH = "0x" + "cd" * 32
HOUR = timedelta(hours=1)


async def approved(world: World, kind: str, **texts: str) -> Request:
    return (await world.approve(await world.ask(kind, texts), by=CAROL))[0]


async def an_order(world: World) -> Request:
    return await approved(world, "card_order", **NORA)


async def cards_of_nora(world: World) -> int:
    return sum(card["card_holder_name"] == "NORA QUIST" for card in (await world.state())["cards"])


async def never_arrives(world: World, operation: str, request: Request) -> Request:
    """Its one call is lost on the way, and its approval does not hold any more: from then on it is looked for."""
    await Fault("drop_before_commit", {"times": 4}).set(world, operation)
    await execute(world, request)
    await no_faults(world)
    world.people.change(CAROL, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    end = await jump_to_the_end(world, request, within=HOUR)
    world.people.change(CAROL, deleted=False)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    return end


async def by_two_people(world: World, request: Request, verdict: str) -> None:
    for person in (ALICE, BOB):
        await approvals.resolve(world.core, request.id, person, verdict=verdict, evidence="We asked support")


async def thread_lines(world: World, request: Request) -> list[Any]:
    async with world.store.read() as tx:
        found = (
            await tx.run(select(t.outbox.c.body).where(t.outbox.c.subject.contains(request.id)))
        ).scalars()
        return [body for body in found if "line" in (body or {})]


async def test_an_order_that_never_arrived_is_not_called_done_by_the_card_of_another_order(
    world: World,
) -> None:
    first = await an_order(world)
    assert (await execute(world, first)).state is State.SUCCEEDED

    second = await never_arrives(world, ORDER, await an_order(world))

    assert second.state is State.UNRESOLVED, second.outcome_text
    assert await cards_of_nora(world) == 1


async def test_an_order_that_never_arrived_is_not_called_done_by_a_card_made_later(world: World) -> None:
    lost = await never_arrives(world, ORDER, await an_order(world))
    await world.advance(3600)
    assert (await execute(world, await an_order(world))).state is State.SUCCEEDED

    assert (await jump(world, lost)).state is State.UNRESOLVED


@pytest.mark.parametrize("claims", ["yes", "no"])
async def test_of_two_orders_alike_a_card_is_of_the_one_whose_key_the_ledger_names_or_of_neither(
    world: World, claims: str
) -> None:
    await world.tell("account", {"order_claim_row": claims})
    completed, lost = await an_order(world), await an_order(world)
    await Fault("drop_after_commit").set(world, ORDER)
    await execute(world, completed)

    missing = await never_arrives(world, ORDER, lost)
    world.people.change(CAROL, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    found = await jump_to_the_end(world, completed, within=timedelta(minutes=5))

    assert await cards_of_nora(world) == 1
    assert missing.state is State.UNRESOLVED, missing.outcome_text
    assert found.state is (State.SUCCEEDED if claims == "yes" else State.UNRESOLVED), found.outcome_text
    if claims == "no":
        assert lost.id in found.outcome_text, "it does not say whose the card may be"


@pytest.mark.parametrize("profile", ["plausible", "documented", "scrambled"])
async def test_an_order_whose_card_the_ledger_names_is_done_however_references_are_written(
    world: World, profile: str
) -> None:
    await world.tell("account", {"profile": profile})
    await Fault("drop_after_commit").set(world, ORDER)
    request = await an_order(world)
    await execute(world, request)
    world.people.change(CAROL, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    found = await jump(world, request)

    assert found.state is State.SUCCEEDED, found.outcome_text


CORRECTED = {
    "card_order": (ORDER, NORA),
    "funding_submit": (FUNDING, {"tx_hash": HASH, "network": "POLYGON"}),
}


@pytest.mark.parametrize("kind", CORRECTED)
async def test_what_two_people_called_failed_and_asked_again_stays_failed(world: World, kind: str) -> None:
    """The second one's card or submission is the second one's."""
    operation, texts = CORRECTED[kind]
    lost = await never_arrives(world, operation, await approved(world, kind, **texts))
    await by_two_people(world, lost, "failed")
    again = await execute(world, await approved(world, kind, **texts))
    assert again.state is State.SUCCEEDED

    await maintenance.sweep_late_landings(world.core)

    assert (await world.request(lost.id)).state is State.FAILED
    assert await alert_kinds(world) == set()


async def given_up(world: World) -> Request:
    """A top-up whose call is still on its way when it is given up: nothing of it is to be seen by then."""
    request = await world.top_up("50")
    await Fault("drop_before_commit").set(world, TOPUP)
    await execute(world, request)
    world.people.change(BOB, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    end = await jump_to_the_end(world, request, within=HOUR)
    world.people.change(BOB, deleted=False)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    assert end.state is State.FAILED
    return end


async def arrives_late(world: World, request: Request) -> None:
    """The call that was given up reaches the card provider, which debits and gets no answer of the processor."""
    await Fault("drop_midway").set(world, TOPUP)
    with pytest.raises(errors.NoAnswer):
        await world.core.partners["main"].top_up(request.subject, b'{"amount_usd":50.00}', key=request.key)


async def test_a_debit_that_arrives_after_it_was_given_up_is_unresolved_and_never_a_success(
    world: World,
) -> None:
    before_usd = card_balance(world)
    request = await given_up(world)
    await arrives_late(world, request)
    sent = keys_sent(world)

    await maintenance.sweep_late_landings(world.core)

    found = await world.request(request.id)
    assert (found.state, found.needs_person) == (State.UNRESOLVED, True)
    assert card_balance(world) == before_usd
    await hold_to_the_truth(world, found)
    assert [a.subject for a in await open_alerts(world) if a.kind == "unresolved"] == [request.id]

    still = await jump_to_the_end(world, request, within=3 * HOUR)
    assert still.state is State.UNRESOLVED
    assert "sent again" not in still.outcome_text
    assert keys_sent(world) == sent, "a key that was given up was sent again"


async def test_a_late_debit_that_comes_back_is_failed_and_says_that_it_came_back(world: World) -> None:
    request = await given_up(world)
    await arrives_late(world, request)
    await maintenance.sweep_late_landings(world.core)
    await world.tell(f"topups/{request.key}/resolve", {"as": "refunded"})

    end = await jump(world, request)

    assert end.state is State.FAILED
    assert "the debit and the refund" in end.outcome_text
    assert await alert_kinds(world) == set()


@pytest.mark.parametrize("again", [1, 3])
async def test_what_two_people_resolved_is_never_overturned_and_they_are_notified_once(
    world: World, again: int
) -> None:
    await processor("5xx").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    await jump(world, request)
    await by_two_people(world, request, "failed")
    word = (await world.request(request.id)).outcome_text

    for _ in range(again):
        await maintenance.sweep_late_landings(world.core)
        await world.advance(900)

    found = await world.request(request.id)
    assert (found.state, found.outcome_text) == (State.FAILED, word)
    (alert,) = [a for a in await open_alerts(world) if a.kind == "landed_late"]
    assert alert.count == 1
    assert "and that counts" in alert.text
    lines = [line for line in await thread_lines(world, request) if line["line"] == "contradicted"]
    assert len(lines) == 1


async def a_close(world: World) -> Request:
    card = world.cards[0]
    return await approved(world, "card_close", card=card["id"], last4=card["last4"])


async def test_a_close_that_died_half_way_says_where_the_money_is_and_is_not_called_failed(
    world: World,
) -> None:
    held = card_balance(world)
    await Fault("drop_midway").set(world, CLOSE)
    request = await a_close(world)
    await execute(world, request)
    world.people.change(CAROL, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    found = await jump_to_the_end(world, request, within=HOUR)

    assert (found.state, found.needs_person) == (State.UNRESOLVED, True), found.outcome_text
    assert f"it held {held:,.2f} USD" in found.outcome_text
    assert "holds 0.00 USD now" in found.outcome_text
    assert f"The ledger shows {held:,.2f} USD back on the float" in found.outcome_text
    assert "Nothing moved" not in found.outcome_text


async def test_a_close_that_died_half_way_is_finished_by_its_own_key(world: World) -> None:
    held = card_balance(world)
    await Fault("drop_midway").set(world, CLOSE)
    request = await a_close(world)
    await execute(world, request)

    found = await jump(world, request)

    assert found.state is State.SUCCEEDED, found.outcome_text
    assert f"{held:,.2f} USD went back to the float" in found.outcome_text


async def test_a_close_that_emptied_the_card_without_a_row_in_the_ledger_is_for_a_person(
    world: World,
) -> None:
    request = await a_close(world)
    await Fault("drop_before_commit").set(world, CLOSE)
    await execute(world, request)
    world.simulator.world.store.run("UPDATE cards SET balance_usd = '0' WHERE id = ?", request.subject)
    world.people.change(CAROL, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    found = await jump_to_the_end(world, request, within=HOUR)

    assert found.state is State.UNRESOLVED, found.outcome_text
    assert "The ledger shows no balance of it that went back" in found.outcome_text


@pytest.mark.parametrize("reference", ["key", "none"])
async def test_a_close_that_never_arrived_takes_no_unload_of_the_card_for_its_own_return(
    world: World, reference: str
) -> None:
    await world.tell("account", {"unload_reference": reference})
    unload = await approved(world, "card_unload", card=world.cards[0]["id"], amount_usd="10")
    assert (await execute(world, unload)).state is State.SUCCEEDED
    await world.advance(20)

    lost = await never_arrives(world, CLOSE, await a_close(world))

    assert lost.state is State.FAILED, lost.outcome_text
    assert "its money has left it" not in lost.outcome_text


@pytest.mark.parametrize("half", [True, False])
async def test_a_close_that_lands_after_it_was_given_up_is_found(world: World, half: bool) -> None:
    request = await never_arrives(world, CLOSE, await a_close(world))
    assert request.state is State.FAILED, request.outcome_text
    if half:
        await Fault("drop_midway").set(world, CLOSE)
        with pytest.raises(errors.NoAnswer):
            await world.core.partners["main"].close(request.subject, key=request.key)
    else:
        await world.core.partners["main"].close(request.subject, key=request.key)

    await maintenance.sweep_late_landings(world.core)

    found = await world.request(request.id)
    assert found.state is (State.UNRESOLVED if half else State.SUCCEEDED), found.outcome_text
    assert await alert_kinds(world) == {"unresolved" if half else "landed_late"}


async def test_a_close_given_up_is_not_called_done_by_the_close_that_was_asked_for_instead(
    world: World,
) -> None:
    lost = await never_arrives(world, CLOSE, await a_close(world))
    assert (await execute(world, await a_close(world))).state is State.SUCCEEDED

    await maintenance.sweep_late_landings(world.core)

    assert (await world.request(lost.id)).state is State.FAILED
    assert await alert_kinds(world) == set()


async def test_a_network_correction_that_never_arrived_is_not_done_by_the_record_it_should_correct(
    world: World,
) -> None:
    first = await approved(world, "funding_submit", tx_hash=HASH, network="POLYGON")
    assert (await execute(world, first)).state is State.SUCCEEDED

    lost = await never_arrives(
        world, FUNDING, await approved(world, "funding_submit", tx_hash=HASH, network="BNB")
    )

    assert lost.state is State.UNRESOLVED, lost.outcome_text
    assert "POLYGON" in lost.outcome_text


async def test_a_network_correction_that_arrived_is_found(world: World) -> None:
    await execute(world, await approved(world, "funding_submit", tx_hash=HASH, network="POLYGON"))
    await Fault("drop_after_commit", {"times": 4}).set(world, FUNDING)
    corrected = await approved(world, "funding_submit", tx_hash=HASH, network="BNB")
    await execute(world, corrected)
    world.people.change(CAROL, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    assert (await jump(world, corrected)).state is State.SUCCEEDED


async def test_a_submission_missing_from_a_list_whose_paging_nobody_knows_is_not_called_failed(
    world: World,
) -> None:
    lost = await never_arrives(
        world, FUNDING, await approved(world, "funding_submit", tx_hash=HASH, network="POLYGON")
    )

    assert (lost.state, lost.needs_person) == (State.UNRESOLVED, True), lost.outcome_text


async def test_a_502_after_which_the_approval_lapsed_is_looked_for_before_its_key_is_sent_again(
    world: World,
) -> None:
    """It may have been a gateway's: then hours later the repeat would be the first to arrive."""
    await status(502, "UNAVAILABLE").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    world.people.change(BOB, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    await world.advance(20 * 60)
    looked = await execute(world, request)

    assert keys_sent(world) == [request.key], "sent again without a look, and without an approval"
    assert looked.state is State.FAILED, looked.outcome_text
    assert Decimal(0) == await world.debits(request.key)


async def test_a_502_that_did_debit_is_asked_again_once_the_ledger_shows_it(world: World) -> None:
    await processor("5xx").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    await world.advance(20 * 60)

    await execute(world, request)
    await jump(world, request)

    assert keys_sent(world) == [request.key, request.key]


async def test_what_was_said_before_money_arrived_late_counts_no_longer(world: World) -> None:
    """It was said of a request of which nothing was to be seen; two people look again."""
    request = await world.top_up("50")
    await Fault("drop_before_commit").set(world, TOPUP)
    await execute(world, request)
    await world.fault("drop_before_commit", "GET /ledger", times=999)
    world.people.change(BOB, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    while (await world.request(request.id)).state is not State.UNRESOLVED:
        await jump(world, request)
    await no_faults(world)
    await approvals.resolve(world.core, request.id, CAROL, verdict="failed", evidence="nothing there")
    end = await jump_to_the_end(world, request, within=HOUR)
    world.people.change(BOB, deleted=False)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    assert end.state is State.FAILED
    await arrives_late(world, request)
    await maintenance.sweep_late_landings(world.core)
    assert (await world.request(request.id)).state is State.UNRESOLVED

    said = await approvals.resolve(world.core, request.id, BOB, verdict="failed", evidence="still nothing")
    assert said.state is State.UNRESOLVED, said.outcome_text
    await jump(world, request)
    said = await approvals.resolve(world.core, request.id, CAROL, verdict="failed", evidence="it came back")

    assert said.state is State.FAILED
    assert "it came back" in said.outcome_text
    assert await alert_kinds(world) == set()
