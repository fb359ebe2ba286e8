"""Approval health in Slack: on `/countersign status`, and with the first digest of a month."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.requests import State
from bot.services import requests
from bot.services.messages import digest
from tests.handlers.slack_driver import ALICE, BOB, CAROL, SlackDriver

ALERTS = "C0ALERTS"


async def ask(driver: SlackDriver, amount: str, reason: str) -> str:
    return (await driver.ask_top_up(amount=amount, reason=reason)).id


async def approve(driver: SlackDriver, person: str, request_id: str, *, after_s: float) -> None:
    await driver.world.advance(after_s)
    await driver.press(person, await driver.card(request_id), "request:approve")
    await driver.submit(person)


async def a_month_of_requests(driver: SlackDriver) -> None:
    """Three approved, two by Bob; one rejected; one that nobody decided on; one of Bob's own; a freeze at once."""
    for person, amount, minutes in ((BOB, "120", 10), (BOB, "80", 20), (CAROL, "45", 30)):
        await approve(
            driver,
            person,
            await ask(driver, amount, "Hotel in Porto for the trade fair"),
            after_s=60 * minutes,
        )
    rejected = await ask(driver, "900", "New laptop for the design team")
    await driver.world.advance(60 * 120)
    await driver.press(BOB, await driver.card(rejected), "request:reject")
    await driver.submit(BOB, {"reason": "Order it through IT"})
    forgotten = await ask(driver, "30", "Taxi to the airport")
    await driver.world.advance(timedelta(days=2).total_seconds())
    await requests.expire_due(driver.core)
    await driver.settle()
    assert (await driver.world.request(forgotten)).state is State.EXPIRED
    await driver.command(ALICE, f"/card freeze {driver.world.cards[1]['id']}")
    await driver.submit(ALICE, {"reason": "Lost on the train to Porto", "run_now": ["yes"]})
    await driver.submit(ALICE)


async def status(driver: SlackDriver) -> str:
    await driver.command(CAROL, "/countersign status")
    return str(await driver.shown_to(CAROL))


async def test_status_shows_how_long_requests_wait_how_many_expire_and_who_approves_for_whom(
    driver: SlackDriver,
) -> None:
    assert "nothing was requested" in await status(driver)
    await a_month_of_requests(driver)

    shown = await status(driver)

    assert "Approvals in the last 30 days" in shown
    assert "5 requests, 4 of them decided. Median time from request to decision: 25 minutes." in shown
    assert "1 expired without a decision." in shown
    assert "Bob Tanaka approves most often for Alice Moreau: 2 of 3 approvals." in shown
    assert "No approval was given within 3 seconds of its request." in shown


async def test_an_approval_that_nobody_can_have_read_is_counted(driver: SlackDriver) -> None:
    request = await ask(driver, "120", "Hotel in Porto for the trade fair")
    asked_at = (await driver.world.request(request)).created_at
    driver.world.clock.set_wrong((asked_at - driver.world.clock.now()).total_seconds())
    await approve(driver, BOB, request, after_s=0)

    assert "1 approval given within 3 seconds of the request, too soon to read it." in await status(driver)


async def test_the_first_digest_of_a_month_has_the_approval_health_of_the_month_before(
    driver: SlackDriver,
) -> None:
    core = driver.core
    await digest.post(core)
    await a_month_of_requests(driver)
    said = []
    for _ in range(40):
        await driver.world.advance(24 * 3600)
        day = driver.world.clock.now().date()
        before = len(await driver.messages(BOB, ALERTS))
        await digest.post(core)
        await driver.settle()
        new = str((await driver.messages(BOB, ALERTS))[before:])
        if "Approvals in" in new:
            said.append((day.day, new))

    assert [day for day, _ in said] == [1]
    assert "5 requests, 4 of them decided. Median time from request to decision: 25 minutes." in said[0][1]
