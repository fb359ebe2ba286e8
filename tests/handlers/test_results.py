"""The card of what succeeded: the balances after it, and nothing of the preview that no longer holds."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from bot.domain.money import format_usd
from bot.domain.requests import State
from bot.services import execution
from bot.services.events import Poller
from tests.handlers.slack_driver import ALICE, BOB, Json, SlackDriver


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
    assert (await driver.world.request(request.id)).state is State.SUCCEEDED
    await Poller(driver.core, account_every=timedelta(minutes=1)).moved()  # within seconds
    await driver.settle()
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


async def test_a_top_up_and_an_unload_show_what_the_card_holds_after_it_also_to_their_requester(
    driver: SlackDriver,
) -> None:
    card = driver.world.cards[0]
    for command in (f"/card topup {card['id']} 120", f"/card unload {card['id']} 20"):
        shown = await succeeded(driver, command)

        now = next(c for c in (await driver.world.state())["cards"] if c["id"] == card["id"])
        holds = f"The card holds {format_usd(Decimal(str(now['balance_usd'])))} now."
        assert holds in shown
        request = await driver.newest()
        assert holds in str(await notice(driver, request.id))
        await driver.command(ALICE, f"/card topup {card['id']} 7")  # what comes later changes no result
        await driver.close(ALICE)
        assert holds in str(await driver.card(request.id))


async def test_a_result_says_nothing_of_a_card_that_cannot_be_read(driver: SlackDriver) -> None:
    card = driver.world.cards[0]
    await driver.command(ALICE, f"/card topup {card['id']} 120")
    await driver.submit(ALICE, {"reason": "Flight to the Lisbon trade fair"})
    await driver.submit(ALICE)
    request = await driver.newest()
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await driver.submit(BOB)
    await driver.world.fault("status", "GET /cards/{cardId}", times=9, status=503, nth=2)
    await execution.execute(driver.core, request.id)
    await driver.settle()

    shown = str(await driver.card(request.id))
    assert "Succeeded" in shown
    assert "The card holds" not in shown


async def notice(driver: SlackDriver, request_id: str) -> Json:
    """The one message of the request that its requester has directly."""
    direct = [c for c in (await driver.see(ALICE))["channels"] if c["id"].startswith("D")]
    said = [m for c in direct for m in c["messages"] if request_id in str(m)]
    found = [m for m in said if m.get("thread_ts") in (None, m["ts"])]
    assert len(found) == 1, found
    return dict(found[0])


async def test_the_preview_of_an_order_shows_the_float_without_the_first_months_fee(
    driver: SlackDriver,
) -> None:
    before = await float_usd(driver)
    await driver.command(ALICE, "/card order")
    person = {"card_holder_name": "Nora Lindqvist", "phone_country_code": "46", "phone": "701234567"}
    await driver.submit(
        ALICE, {**person, "email": "nora@example.com", "reason": "New colleague in the Lisbon office"}
    )

    assert f"{format_usd(before)} → {format_usd(before - 1)}" in str(await driver.modal(ALICE))
