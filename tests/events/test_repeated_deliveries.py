"""A delivery of an event that is known already, as a redelivery is, shows that deliveries reach this bot."""

import json

from bot.services.requests import local_facts
from tests.events.receiving import Bot, authorized


async def test_a_redelivery_counts_as_a_verified_delivery_and_a_forged_one_does_not(bot: Bot) -> None:
    world, began_at = bot.world, bot.world.clock.now()
    raw = json.dumps(bot.event("card.authorized", authorized(), event_id="e1")).encode()
    assert await bot.post(raw) == 200
    await world.advance(3600)
    assert await bot.post(raw, bot.signed(raw, secret="whsec_" + "x" * 32)) == 401
    async with world.store.read() as tx:
        assert await local_facts.verified_delivery_at(tx, "main") == began_at

    assert await bot.post(raw) == 200

    async with world.store.read() as tx:
        assert await local_facts.verified_delivery_at(tx, "main") == world.clock.now()


async def test_what_the_poller_read_is_no_delivery(bot: Bot) -> None:
    """The log tells what the card provider has, not what reaches us."""
    await bot.backfill.run_once()  # the first reading begins at the end of the log
    await bot.world.advance(1)
    await bot.world.tell("purchases", {"card_id": bot.world.cards[0]["id"], "amount_usd": "5"})
    await bot.backfill.run_once()
    assert await bot.stored() != []

    async with bot.world.store.read() as tx:
        assert await local_facts.verified_delivery_at(tx, "main") is None
