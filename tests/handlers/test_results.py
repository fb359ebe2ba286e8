"""The card of what succeeded: the balances after it, and nothing of the preview that no longer holds."""

from __future__ import annotations

from decimal import Decimal

from bot.domain.money import format_usd
from bot.domain.requests import State
from bot.services import execution
from tests.handlers.slack_driver import ALICE, BOB, SlackDriver


async def float_usd(driver: SlackDriver) -> Decimal:
    return Decimal((await driver.world.state())["float"]["balance_usd"])


async def succeeded(driver: SlackDriver, command: str, **values: str) -> str:
    """The card of a request that Alice made and Bob approved."""
    await driver.command(ALICE, command)
    await driver.submit(ALICE, {"reason": "Flight to the Lisbon trade fair", **values})
    await driver.submit(ALICE)
    request = await driver.newest()
    assert "→" in str(await driver.card(request.id)), "the preview shows before and after"
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await driver.submit(BOB)
    await execution.execute(driver.core, request.id)
    await driver.settle()
    assert (await driver.world.request(request.id)).state is State.SUCCEEDED
    return str(await driver.card(request.id))


async def test_a_top_up_an_unload_and_a_close_show_the_float_after_it_and_no_quote_of_before(
    driver: SlackDriver,
) -> None:
    card = driver.world.cards[0]
    for command, values in (
        (f"/card topup {card['id']} 120", {}),
        (f"/card unload {card['id']} 20", {}),
        (f"/card close {card['id']}", {"last4": card["last4"]}),
    ):
        shown = await succeeded(driver, command, **values)

        assert f"The float is {format_usd(await float_usd(driver))} now." in shown
        assert "→" not in shown
        assert "Card status" not in shown
