"""Twenty-five approved top-ups a minute pass within Slack's documented rates, on the stand-in that holds us to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial

import pytest

from bot.domain.requests import Request, State
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from bot.services.events import Poller
from bot.services.messages import Outbox, request_links
from bot.services.requests import approvals
from handlers.slack_api import SlackDirectory, SlackPublisher
from storage.messages import outbox as outbox_rows
from tests.handlers.slack_driver import ALICE, BOB, CAROL, SlackDriver

A_MINUTE = 25
PLENTY = 10_000
EVERY_S = 60 / A_MINUTE


class Minutes:
    """Time goes on by the second, for Slack, the bot and the API together; what is due is done each second."""

    def __init__(self, driver: SlackDriver, monkeypatch: pytest.MonkeyPatch) -> None:
        self.driver = driver
        clock = driver.slack.workspace.clock
        began = clock.now()
        monkeypatch.setattr(clock, "_source", lambda: began)  # it goes on as the test says, and by no other
        core = driver.core
        directory = SlackDirectory(
            driver.client, home_team="T0SANDBOX", sleep=self._sleep, clock=core.clock.monotonic
        )
        driver.world.rebuild(directory=directory)
        self.outbox = Outbox(
            driver.core, SlackPublisher(driver.client, partial(request_links.of, driver.core))
        )
        self.poller = Poller(driver.core, account_every=timedelta(minutes=1))
        self.passed_s = 0.0
        self.waited_s = 0.0

    async def _sleep(self, seconds: float) -> None:
        self.waited_s += seconds
        await self.go_on(seconds)

    async def go_on(self, seconds: float) -> None:
        self.driver.world.clock.advance(seconds)
        await self.driver.tell("clock", {"advance_seconds": seconds})
        await self.driver.world.tell("clock", {"advance_seconds": seconds})
        self.passed_s += seconds

    async def work(self) -> None:
        """What the bot does by itself meanwhile."""
        await self.driver.world.run_due()
        await self.poller.moved()
        await self.outbox.deliver_due()

    def calls(self) -> Counter[str]:
        return Counter(call["method"] for call in self.driver.slack.workspace.calls)

    def refused(self) -> list[str]:
        return [
            call["method"] for call in self.driver.slack.workspace.calls if call["error"] == "ratelimited"
        ]


async def ask(driver: SlackDriver, who: str, number: int) -> None:
    cards = driver.world.cards
    texts = {"card": cards[number % len(cards)]["id"], "amount_usd": str(number % 7 + 1)}
    await driver.world.ask("card_topup", texts, by=who)


async def approve(driver: SlackDriver, request: Request) -> None:
    """The click that opens the terms, and the one that approves them."""
    await approvals.require_may_approve(driver.core, request.id, BOB)
    await driver.world.approve(request, by=BOB)


async def load(driver: SlackDriver, minutes: Minutes, for_minutes: float) -> None:
    """So many minutes of it: each request is approved once its message is there."""
    total, asked, approved = round(for_minutes * A_MINUTE), 0, set[str]()
    while minutes.passed_s < for_minutes * 60:
        if asked < total and minutes.passed_s >= asked * EVERY_S:
            await ask(driver, (ALICE, CAROL)[asked % 2], asked)
            asked += 1
        for request in await driver.requests():
            if (
                request.state is State.PENDING
                and request.id not in approved
                and await is_posted(driver, request.id)
            ):
                approved.add(request.id)
                await approve(driver, request)
        await minutes.work()
        await minutes.go_on(1)


@pytest.fixture
async def unlimited(driver: SlackDriver) -> AsyncIterator[None]:
    """The key may make many calls: Slack is what limits here."""
    world = driver.world
    key = (await world.tell("keys", {"rate_limit_per_minute": PLENTY}))["key"]
    limiter = RateLimiter(world.clock, per_minute=PLENTY)
    client = PartnerClient(world.simulator.base_url, key, limiter=limiter, clock=world.clock)
    world.rebuild(partners={"main": client})
    yield
    await client.aclose()


async def is_posted(driver: SlackDriver, request_id: str) -> bool:
    async with driver.world.store.read() as tx:
        return await outbox_rows.place(tx, f"request:{request_id}", "card") is not None


@pytest.mark.usefixtures("unlimited")
async def test_twenty_five_approved_top_ups_a_minute_pass_within_the_rates_of_slack(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    minutes = Minutes(driver, monkeypatch)
    before = minutes.calls()

    await load(driver, minutes, 1)
    for _ in range(15):
        await minutes.work()
        await minutes.go_on(1)

    made = minutes.calls() - before
    states = Counter(request.state for request in await driver.requests())
    assert states == {State.SUCCEEDED: A_MINUTE}
    assert minutes.refused() == []
    assert minutes.waited_s == 0, "nobody waits for Slack, and nobody is refused for our own load"
    assert made["usergroups.list"] <= 20, made
    assert made["chat.update"] <= 2 * A_MINUTE, made
