"""What a preview says of other requests on the same target: those that matter, and no others."""

from __future__ import annotations

from bot.partner.secret import Secret
from bot.services.requests import drafts
from storage.operators import programs
from tests.support.situations import on_its_way
from tests.support.world import ALICE, CAROL, World


async def concerns_of(world: World, kind: str, texts: dict[str, str], *, program: str = "main") -> str:
    owner = CAROL if kind == "fees_markup" else ALICE
    draft = await drafts.begin(
        world.core, owner=owner, kind=kind, texts=texts, reason="because", program=program
    )
    return " ".join(concern.text for concern in (await drafts.preview(world.core, draft)).concerns)


async def test_many_newer_requests_do_not_hide_one_whose_outcome_is_not_known(world: World) -> None:
    older = await on_its_way(world, "card_topup", {"card": world.cards[0]["id"], "amount_usd": "7"})
    for _ in range(51):
        await world.top_up("1", approved=False)
    await world.advance(61)  # a minute's budget of calls went into the previews

    said = await concerns_of(world, "card_topup", {"card": world.cards[0]["id"], "amount_usd": "9"})

    assert older.id in said


async def test_a_request_for_another_limit_of_the_card_does_not_set_the_same(world: World) -> None:
    card = {"card": world.cards[0]["id"]}
    daily = await on_its_way(world, "card_limits", {**card, "daily_limit": "100"})

    assert daily.id not in await concerns_of(world, "card_limits", {**card, "weekly_limit": "700"})
    assert daily.id in await concerns_of(world, "card_limits", {**card, "daily_limit": "90"})


async def test_a_request_of_another_program_is_not_on_the_same_target(world: World) -> None:
    """The markup of each account is its own, though both are called so."""
    other = await on_its_way(world, "fees_markup", {"markup_percent": "2"}, by=CAROL)
    async with world.store.begin() as tx:
        await programs.put(tx, "other", base_url=world.simulator.base_url, key=Secret(world.simulator.key))
    world.rebuild(partners={**world.core.partners, "other": world.core.partners["main"]})

    assert other.id not in await concerns_of(world, "fees_markup", {"markup_percent": "3"}, program="other")
    assert other.id in await concerns_of(world, "fees_markup", {"markup_percent": "3"})
