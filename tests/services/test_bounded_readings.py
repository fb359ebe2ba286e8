"""Nobody waits for a reading without end: a window opens with the last one, its age, and the means to decide.

For every kind, whether the API hangs or the minute's calls are used up.
"""

from __future__ import annotations

import asyncio

import pytest

from bot.domain.errors import CountersignError
from bot.partner.ratelimit import Lane
from bot.services.requests import approvals, drafts, local_facts, request_lookups
from handlers.views.requests import approval_modals
from storage.requests import Draft
from tests.services.bulk_requests import ask_bulk
from tests.services.outcome_steps import execute, status
from tests.support.kinds import EACH, asked, kind_class
from tests.support.view_text import view_text
from tests.support.world import BOB, World

pytestmark = pytest.mark.usefixtures("deposits_are_set_up")

TOPUP = "POST /cards/{cardId}/topup"
# Longer than any bound here, by the clock of the machine.
HANGS_S = 3.0


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_facts, "READ_WITHIN_S", 0.05)
    monkeypatch.setattr(local_facts, "PREVIEW_WITHIN_S", 0.1)


@pytest.mark.by_turns(5)
@EACH
async def test_the_window_of_an_approver_opens_with_the_last_reading_and_its_age(
    world: World, kind: str
) -> None:
    request = await asked(world, kind)
    await world.advance(180)
    world.limiter.block(3600)

    async with asyncio.timeout(HANGS_S):
        found = await request_lookups.confirmation(world.core, request.id, BOB)

    window = approval_modals.confirmation(found)
    assert window["submit"]["text"] == "Approve"
    text = view_text(window)
    assert "could not be read" in text or "cannot be read" in text
    assert "3 min old" in text or "no earlier reading" in text


async def test_so_does_that_of_a_list(world: World) -> None:
    batch = await ask_bulk(world, "card\n" + "\n".join(c["id"] for c in world.cards[:2]), kind="card_freeze")
    await world.advance(180)
    world.limiter.block(3600)
    standing = await approvals.require_may_approve(world.core, batch.id, BOB)

    async with asyncio.timeout(HANGS_S):
        shown = await request_lookups.confirmation_of_batch(world.core, batch.id, BOB, standing, 1)

    text = view_text(approval_modals.confirmation(shown.found))
    assert "could not be read for the cards of 2 rows" in text


@EACH
async def test_a_preview_shows_the_last_reading_or_says_that_there_is_none_and_that_nothing_was_recorded(
    world: World, kind: str
) -> None:
    request = await asked(world, kind)
    async with world.store.begin() as tx:
        draft = Draft(
            id="D1",
            owner=request.requester,
            kind=kind,
            program=request.program,
            values=dict(request.terms),
            target_label=request.subject_label,
            reason="because",
            run_now=False,
            facts={},
            created_at=tx.now,
        )
    world.limiter.block(3600)

    async with asyncio.timeout(HANGS_S):
        if kind_class(kind).handling.must_recheck:
            with pytest.raises(CountersignError, match="Nothing was recorded"):
                await drafts.preview(world.core, draft)
        else:
            found = await drafts.preview(world.core, draft)
            assert any("cannot be read right now" in concern.text for concern in found.concerns)


async def test_a_call_of_money_that_came_too_often_holds_up_no_reading_of_a_person_and_no_emergency(
    world: World,
) -> None:
    request = await world.top_up("50")
    await status(429, "RATE_LIMITED").set(world, TOPUP, times=1)
    await execute(world, request)

    async with asyncio.timeout(HANGS_S):  # the clock of the limiter stands
        assert (await world.core.partners["main"].card(world.cards[0]["id"])).card.status == "ACTIVE"
        await world.limiter.acquire(Lane.URGENT)
    for lane in (Lane.MONEY, Lane.BACKGROUND):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await world.limiter.acquire(lane)
