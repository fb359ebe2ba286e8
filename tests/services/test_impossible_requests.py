"""What a 24-hour limit never lets anybody approve is stopped before it is asked for, and spoils no figure."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from bot.domain.errors import InvalidFields, OverLimit
from bot.domain.people import KindPolicy, Limits
from bot.domain.requests import State, Unreadable
from bot.services import people, requests
from bot.services.money import float_lookups
from bot.services.requests import approvals, batch_reading, batch_submission, drafts, request_lookups
from storage.requests import Draft
from tests.services.bulk_requests import a_list, ask_bulk
from tests.support.world import ALICE, BOB, CAROL, World, a_policy

TIGHT = Limits(per_requester_usd=Decimal(100), total_usd=Decimal(300))


def limit(world: World, limits: Limits, *, approvals_needed: int = 1) -> None:
    kinds = {"card_topup": KindPolicy(approvals=approvals_needed)}
    world.rebuild(policy=replace(a_policy(), kinds=kinds, limits=limits))


async def begun(world: World, amount: str) -> Draft:
    await people.require_member(world.core, ALICE, action="test")
    texts = {"card": world.cards[0]["id"], "amount_usd": amount}
    return await drafts.begin(world.core, owner=ALICE, kind="card_topup", texts=texts, reason="because")


NEVER = r"Your limit in 24 hours is 100\.00 USD: 100\.01 USD in one request can never be approved"


async def test_an_amount_above_a_limit_is_stopped_on_its_field(world: World) -> None:
    limit(world, TIGHT)

    with pytest.raises(InvalidFields) as stopped:
        await begun(world, "100.01")
    assert list(stopped.value.errors) == ["amount_usd"]
    assert "can never be approved. Request 100.00 USD at most." in stopped.value.errors["amount_usd"]
    await begun(world, "100.00")


async def test_a_row_and_a_list_above_a_limit_are_stopped_when_the_list_is_read(world: World) -> None:
    limit(world, TIGHT)

    with pytest.raises(Unreadable, match=f"Line 3: {NEVER}"):
        await batch_reading.begin(world.core, owner=ALICE, text=a_list(world, "5", "100.01"))
    with pytest.raises(Unreadable, match=r"All rows together: Your limit in 24 hours is 100\.00 USD"):
        await batch_reading.begin(world.core, owner=ALICE, text=a_list(world, "60", "60"))
    await batch_reading.begin(world.core, owner=ALICE, text=a_list(world, "60", "40"))


async def test_a_form_filled_before_the_limit_was_lowered_is_neither_previewed_nor_submitted(
    world: World,
) -> None:
    draft = await begun(world, "100.01")
    await drafts.preview(world.core, draft)
    read = await batch_reading.begin(world.core, owner=ALICE, text=a_list(world, "60", "60"))
    await batch_submission.preview(world.core, read.draft_id, ALICE)
    limit(world, TIGHT)

    for refused in (
        drafts.preview(world.core, draft),
        requests.submit(world.core, draft.id, ALICE),
        batch_submission.preview(world.core, read.draft_id, ALICE),
        batch_submission.submit(world.core, read.draft_id, ALICE, reason="because"),
    ):
        with pytest.raises(OverLimit, match="can never be approved"):
            await refused
    limit(world, Limits())
    assert (await requests.submit(world.core, draft.id, ALICE)).state is State.PENDING, "nothing was lost"


async def test_an_old_request_above_a_limit_spoils_nobodys_figures_and_takes_no_approval(
    world: World,
) -> None:
    before = await float_lookups.float_now(world.core)
    old = await world.top_up("150", approved=False)
    batch = await ask_bulk(world, a_list(world, "60", "60"))
    limit(world, TIGHT, approvals_needed=2)

    shown = await float_lookups.float_now(world.core)
    assert (shown.pending_usd, shown.pending_count) == (before.pending_usd, before.pending_count)
    preview = await drafts.preview(world.core, await begun(world, "5"))
    assert "After all pending" not in dict(preview.lines), "nothing is held"
    for request in (old, batch):
        with pytest.raises(OverLimit, match=r"more than a 24-hour limit of 100\.00 USD by itself"):
            await world.approve(request)
        with pytest.raises(OverLimit, match="nobody can approve this"):
            await approvals.require_may_approve(world.core, request.id, BOB)
        view = await request_lookups.request_view(world.core, request.id)
        assert "nobody can approve this" in view.concerns[0].text


async def test_what_was_approved_before_the_limit_was_lowered_is_still_held(world: World) -> None:
    before = Decimal((await float_lookups.float_now(world.core)).pending_usd)
    await world.top_up("150")
    limit(world, TIGHT)

    assert Decimal((await float_lookups.float_now(world.core)).pending_usd) == before + 150


async def test_a_limit_passed_by_what_else_was_approved_is_said_in_the_preview_and_at_the_first_approval(
    world: World,
) -> None:
    limit(world, TIGHT)
    await world.top_up("60")
    limit(world, TIGHT, approvals_needed=2)
    again = "from 2026-03-03 09:01 UTC on, unless more is approved meanwhile"

    preview = await drafts.preview(world.core, await begun(world, "60"))
    answer = [concern.text for concern in preview.concerns]
    assert any("leaves 40.00 USD, which is less than 60.00 USD" in text and again in text for text in answer)
    request = await requests.submit(world.core, preview.draft.id, ALICE)
    confirmation = await request_lookups.confirmation(world.core, request.id, BOB)
    assert any("by this requester: 60.00 USD and 60.00 USD" in c.text for c in confirmation.concerns)
    assert any("The last approval is refused until it fits" in c.text for c in confirmation.concerns)
    await world.approve(request, by=BOB)
    with pytest.raises(OverLimit, match="it fits from 2026-03-03 09:01 UTC on"):
        await world.approve(request, by=CAROL)


async def test_a_list_that_passes_a_limit_only_now_says_so_in_its_preview(world: World) -> None:
    limit(world, TIGHT)
    await world.top_up("60")
    read = await batch_reading.begin(world.core, owner=ALICE, text=a_list(world, "30", "30"))

    found = await batch_submission.preview(world.core, read.draft_id, ALICE)

    assert "leaves 40.00 USD, which is less than 60.00 USD" in found.concerns[0].text
