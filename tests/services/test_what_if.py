"""What-if answers: the most that fits does fit, one more does not, and each thing in the way is named."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from bot.domain.people import KindPolicy, Limits, Policy
from bot.domain.people.policy import Tier
from bot.intents import WhatIf
from bot.services.money import float_lookups
from bot.services.operators import pausing
from bot.services.overview import what_if
from tests.support.world import ALICE, BOB, World, a_policy, a_world


def unlimited() -> Policy:
    return Policy(a_policy().people, {"card_topup": KindPolicy(tiers=(Tier(Decimal(500), 2),))}, version="p")


CASES = (("0.01", False), ("33.33", True), ("250", False), ("99999", True), (None, True))


async def test_the_most_that_fits_does_fit_and_one_more_does_not(tmp_path: Path) -> None:
    async with a_world(tmp_path, policy=unlimited()) as world:
        await world.top_up("77.70", approved=False)
        money = await float_lookups.float_now(world.core)
        room_usd = Decimal(money.available_usd) - Decimal("77.70")
        for amount, orders in CASES:
            amount_usd = Decimal(amount) if amount else None
            most = (await what_if.answer(world.core, WhatIf(None, amount_usd, orders), ALICE)).most
            assert most is not None

            for count, fits in ((most, most > 0), (most + 1, False)):
                if count:
                    found = await what_if.answer(world.core, WhatIf(count, amount_usd, orders), ALICE)
                    assert found.fits is fits
                    assert bool(found.obstacles) is not fits
                    assert (found.needed_usd <= room_usd) is fits


async def test_the_funding_named_covers_what_is_missing_once_its_load_fee_is_off(tmp_path: Path) -> None:
    async with a_world(tmp_path, policy=unlimited()) as world:
        money = await float_lookups.float_now(world.core)
        wanted_usd = Decimal(money.available_usd) + Decimal("990.00")

        found = await what_if.answer(world.core, WhatIf(1, wanted_usd, orders=False), ALICE)

        assert not found.fits
        rows = dict(found.lines)
        assert rows["Available"] == f"{money.available_usd:,.2f} USD"
        assert rows["Needed"] == f"{wanted_usd:,.2f} USD"
        assert rows["Short by"] == "990.00 USD"
        assert "990.00 USD short" in found.obstacles[0]
        assert "at least 1,000.00 USD" in found.obstacles[0]  # of which one per cent goes off


async def test_each_limit_is_named_and_the_tightest_says_how_many(world: World) -> None:
    await world.tell("account", {"cards_limit": len((await world.state())["cards"]) + 3})
    await world.tell("float", {"amount_usd": "100000"})

    ordered = await what_if.answer(world.core, WhatIf(30, Decimal(200), orders=True), ALICE)
    topped = await what_if.answer(world.core, WhatIf(30, Decimal(200), orders=False), ALICE)

    assert ordered.most is not None
    assert ordered.most <= 3
    assert any("card allowance has" in text for text in ordered.obstacles)
    assert topped.most == 25
    assert topped.obstacles == ("Your limit in 24 hours is 5,000.00 USD. This needs 6,000.00 USD.",)
    assert ("Your limit in 24 hours", "6,000 of 5,000 used") in topped.lines


async def test_what_was_spent_today_and_a_pause_count(world: World) -> None:
    await world.tell("float", {"amount_usd": "100000"})
    await world.top_up("400")
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")

    found = await what_if.answer(world.core, WhatIf(None, Decimal(100), orders=False), ALICE)

    assert found.most == 46
    assert found.obstacles == (found.obstacles[0],)
    assert "the key may be stolen" in found.obstacles[0]
    assert world.core.policy.limits != Limits()
