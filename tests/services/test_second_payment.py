"""A second payment of a card waits until the outcome of the first is known, single or a row of a list alike.

And everybody who asks for it, approves it or looks at it reads that it waits, and never that it is sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from bot.domain.requests import Request, State
from bot.services.requests import approvals, request_lookups
from handlers.views import replies
from handlers.views.requests import approval_modals, request_card
from tests.services.bulk_requests import ask_bulk, rows_of
from tests.services.outcome_steps import execute, top_ups
from tests.support.view_text import view_text
from tests.support.world import ALICE, BOB, CAROL, World

FIRSTS = pytest.mark.parametrize("first_is", [State.EXECUTING, State.UNRESOLVED])
SENT_AT_ONCE = ("sent at once", "being sent now", "nothing will be sent meanwhile", "It is being sent")


async def left_in_doubt(world: World, request: Request, state: State) -> None:
    """Its money left and its answer was lost, or the API itself has no result."""
    if state is State.EXECUTING:
        await world.fault("drop_after_commit", times=1)
    else:
        await world.fault("processor", processor="5xx", times=1)
    assert (await execute(world, request)).state is state


async def a_single_one(world: World) -> Request:
    return await world.top_up("60")


async def a_row(world: World) -> Request:
    cards = [card["id"] for card in world.cards]
    batch = await ask_bulk(world, f"card,amount\n{cards[0]},60\n{cards[1]},1")
    await world.approve(batch)
    (row,) = [r for r in await rows_of(world, batch) if r.subject == cards[0]]
    return row


@pytest.mark.by_turns(4)
@FIRSTS
@pytest.mark.parametrize("second_is", [a_single_one, a_row])
@pytest.mark.parametrize("is_asked", ["before the doubt", "after it"])
async def test_a_second_top_up_of_a_card_waits_until_the_outcome_of_the_first_is_known(
    world: World, first_is: State, second_is: Callable[[World], Awaitable[Request]], is_asked: str
) -> None:
    first = await world.top_up("50")
    if is_asked == "before the doubt":
        second = await second_is(world)
        await left_in_doubt(world, first, first_is)
    else:
        await left_in_doubt(world, first, first_is)
        second = await second_is(world)

    waiting = await execute(world, second)
    assert waiting.state is State.APPROVED
    assert first.id in waiting.outcome_text
    assert len(top_ups(world)) == 1

    for by in (ALICE, CAROL) if first_is is State.UNRESOLVED else ():
        await approvals.resolve(
            world.core, first.id, by, verdict="failed", evidence="ledger: debit and return"
        )
    await world.run(180, step=30)
    assert (await world.request(second.id)).state is State.SUCCEEDED


@FIRSTS
async def test_whoever_approves_or_looks_reads_that_it_waits_for_the_first_and_never_that_it_is_sent(
    world: World, first_is: State
) -> None:
    first, second = await world.top_up("50"), await world.top_up("60", approved=False)
    await left_in_doubt(world, first, first_is)

    window = view_text(
        approval_modals.confirmation(await request_lookups.confirmation(world.core, second.id, BOB))
    )
    approved, _ = await world.approve(second)
    view = await request_lookups.request_view(world.core, second.id)
    after = replies.approved(approved, 1, view.paused, view.waits_for)
    card = view_text(request_card.card(view))
    await execute(world, second)
    later = view_text(request_card.card(await request_lookups.request_view(world.core, second.id)))

    for text in (window, after, card, later):
        assert "two people press Resolve" in text
        assert "approver who did not request it" in text
    for text in (window, after, card, later):
        assert first.id in text
        assert "wait" in text
        assert not [words for words in SENT_AT_ONCE if words in text]


async def test_the_words_of_a_row_and_of_a_single_request_are_both_true(world: World) -> None:
    first = await world.top_up("50")
    await left_in_doubt(world, first, State.UNRESOLVED)
    batch = await ask_bulk(world, f"card,amount\n{world.cards[0]['id']},60\n{world.cards[1]['id']},1")
    single = await world.top_up("7", approved=False)

    for asked in (batch, single):
        text = view_text(request_card.card(await request_lookups.request_view(world.core, asked.id)))
        assert "waits for it" in text
        assert "15 minutes" in text
        assert not [words for words in SENT_AT_ONCE if words in text]


async def test_what_waited_in_vain_says_what_it_waited_for(world: World) -> None:
    first, second = await world.top_up("50"), await world.top_up("60")
    await left_in_doubt(world, first, State.UNRESOLVED)
    await execute(world, second)
    await world.advance(15 * 60)

    ended = await execute(world, second)

    assert ended.state is State.EXPIRED
    assert first.id in ended.outcome_text
