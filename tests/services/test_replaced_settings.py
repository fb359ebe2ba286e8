"""An older request on a setting that a newer one has replaced: a reading shows the newer one alone.

What is set now is no proof that the older one never happened: it may have been in force for a while. So it is never
called failed for that, and whatever can be found out before the newer one is sent is found out.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot import operations
from bot.domain.requests import Request, State
from bot.outcomes.timing import QUIESCENCE
from tests.services.outcome_steps import alert_kinds, execute, jump_to_the_end
from tests.support.situations import card_of
from tests.support.world import ALICE, BOB, CAROL, World

pytestmark = pytest.mark.by_turns(4)

FREEZE, LIMITS, FEES = "POST /cards/{cardId}/freeze", "PUT /cards/{cardId}/limits", "PUT /fees"
# By the kind of the older request: what both set, the call, the newer kind.
PAIRS: dict[str, tuple[str, dict[str, str], str, str, dict[str, str]]] = {
    "an unfreeze, then a freeze": ("card_unfreeze", {}, FREEZE, "card_freeze", {}),
    "a freeze, then an unfreeze": ("card_freeze", {}, FREEZE, "card_unfreeze", {}),
    "limits": ("card_limits", {"daily_limit": "900"}, LIMITS, "card_limits", {"daily_limit": "10"}),
    "markup": ("fees_markup", {"markup_percent": "9"}, FEES, "fees_markup", {"markup_percent": "2"}),
}
EACH = pytest.mark.parametrize("pair", PAIRS)
LONG = (QUIESCENCE + timedelta(seconds=61)).total_seconds()  # no last look is waited for so long


def test_every_kind_whose_setting_can_be_read_and_replaced_is_walked_over_here() -> None:
    """What no call reads back is never called failed by a reading, nor is a submission that no list shows; and an event
    that is queued twice sets nothing."""
    kinds = {
        name
        for name, cls in operations.kinds().items()
        if cls.handling.superseded_by
        and cls.handling.reads_back
        and name not in ("event_redeliver", "funding_submit")
    }
    assert kinds == {pair[0] for pair in PAIRS.values()}


async def two_on_one_setting(world: World, pair: str, *, happened: bool) -> tuple[Request, Request]:
    """An older one whose answer was lost, and a newer one that was approved after it."""
    kind, texts, call, newer_kind, newer_texts = PAIRS[pair]
    card = {} if kind == "fees_markup" else {"card": world.cards[0]["id"]}
    by = CAROL if kind == "fees_markup" else ALICE
    if kind == "card_unfreeze":
        await world.tell(f"cards/{world.cards[0]['id']}", {"status": "FROZEN"})
    older = await world.ask(kind, {**texts, **card}, by=by)
    await world.approve(older)
    await world.fault("drop_after_commit" if happened else "drop_before_commit", call, times=4)
    assert (await execute(world, older)).outcome_unknown
    await world.control.delete("/_control/faults")
    await world.advance(1)
    newer = await world.ask(newer_kind, {**newer_texts, **card}, by=by)
    await world.approve(newer)
    return older, newer


@EACH
@pytest.mark.parametrize("happened", [True, False], ids=["in force for a while", "never in force"])
async def test_what_is_set_by_a_newer_request_is_no_proof_that_an_older_one_never_happened(
    world: World, pair: str, happened: bool
) -> None:
    """The bot was away, and had no look between the two."""
    older, newer = await two_on_one_setting(world, pair, happened=happened)
    await world.advance(LONG)
    await execute(world, newer)

    ended = await jump_to_the_end(world, older, within=timedelta(hours=1))

    assert ended.state is State.UNRESOLVED, ended.outcome_text
    assert ended.needs_person
    assert ended.outcome_text.startswith(f"Not known, replaced by {newer.id}")
    assert (await jump_to_the_end(world, newer, within=timedelta(hours=1))).state is State.SUCCEEDED
    assert await alert_kinds(world) == {"unresolved"}
    card = await card_of(world, older)
    for wrong in ("nothing moved", "nothing was changed", "not frozen yet", "Request again"):
        assert wrong.lower() not in card.lower(), card


@EACH
async def test_what_an_older_request_came_to_is_found_out_before_a_newer_one_is_sent(
    world: World, pair: str
) -> None:
    older, newer = await two_on_one_setting(world, pair, happened=False)
    until = world.clock.now() + timedelta(minutes=4)
    while world.clock.now() < until:
        await world.run(5)

    assert (await world.request(newer.id)).state is State.SUCCEEDED
    ended = await world.request(older.id)
    if operations.kinds()[newer.kind].handling.is_urgent:  # it does not wait for a look
        assert ended.state is State.UNRESOLVED
    else:
        assert ended.state is State.FAILED, ended.outcome_text
        assert await alert_kinds(world) == set()


async def test_what_asks_for_the_same_again_is_no_proof_of_what_was_replaced_before(world: World) -> None:
    """The markup was 9, perhaps; then 2, then 9 again: that it is 9 now is the third one's work."""
    older, newer = await two_on_one_setting(world, "markup", happened=False)
    await world.advance(LONG)
    await execute(world, newer)
    await world.advance(1)
    third = await world.ask("fees_markup", {"markup_percent": "9"}, by=CAROL)
    await world.approve(third, by=BOB)
    assert (await jump_to_the_end(world, third, within=timedelta(minutes=5))).state is State.SUCCEEDED

    ended = await jump_to_the_end(world, older, within=timedelta(hours=1))

    assert ended.state is State.UNRESOLVED, ended.outcome_text
