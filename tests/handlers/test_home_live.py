"""Home shows each person their own, and follows what happens for those who look at it."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.alerts import Said, Severity, decline_alerts
from bot.domain.people import Actor
from bot.services import alerts
from bot.services.money import float_lookups
from bot.services.operators import pausing
from bot.services.overview import status
from handlers.home import Homes
from storage.messages import home_views
from storage.operators import people
from tests.handlers.slack_driver import ALICE, BOB, CAROL, SlackDriver

Json = dict[str, Any]


class Counted(AsyncWebClient):
    """The bot's client, counting the Home views it sends."""

    sent: list[str]

    async def views_publish(self, *, user_id: str, **more: Any) -> Any:
        self.sent.append(user_id)
        return await super().views_publish(user_id=user_id, **more)


@pytest.fixture
async def homes(driver: SlackDriver) -> tuple[Homes, Counted]:
    client = Counted(driver.client.token, base_url=driver.client.base_url, retry_handlers=[])
    client.sent = []
    return Homes(driver.core, client, pace_s=0), client


async def shown(driver: SlackDriver, user: str) -> str:
    return str((await driver.see(user))["home"])


def headers(view: Json) -> list[str]:
    return [b["text"]["text"] for b in view["blocks"] if b["type"] == "header"]


def buttons(view: Json) -> set[str]:
    found = [e for b in view["blocks"] if b["type"] == "actions" for e in b["elements"]]
    return {e["text"]["text"] for e in found}


async def test_a_requester_an_approver_and_an_admin_see_different_homes(driver: SlackDriver) -> None:
    asks, decides, runs = [await driver.home(user) for user in (ALICE, BOB, CAROL)]

    assert "Waiting for you" not in headers(asks)
    assert not any("Pause" in text for text in buttons(asks))
    assert "Waiting for you" in headers(decides)
    assert "Pause main" in buttons(decides) & buttons(runs)
    assert "Webhook:" in str(runs)
    assert "Webhook:" not in str(decides) + str(asks)
    assert all("Read last: float" in str(view) for view in (asks, decides, runs))


async def test_home_comes_from_the_database_at_once_and_the_float_is_read_after(driver: SlackDriver) -> None:
    await float_lookups.read_account(driver.core, "main")
    await driver.world.tell("float", {"amount_usd": "-1000.00"})
    await driver.world.advance(60)
    before = len(await driver.world.sent("GET /me"))

    home = await driver.home(ALICE)

    assert len(await driver.world.sent("GET /me")) == before + 1
    known = await status.program_state(driver.core, "main")
    assert known.float is not None
    assert f"{float(known.float.balance_usd):,.2f} USD" in str(home)


async def test_who_looks_at_home_sees_a_request_come_and_go(
    driver: SlackDriver, homes: tuple[Homes, Counted]
) -> None:
    keeper, client = homes
    await driver.home(BOB)
    await keeper.tend()
    client.sent.clear()

    request = await driver.ask_top_up()
    assert await keeper.tend() == 1
    assert client.sent == [BOB]
    assert request.id in await shown(driver, BOB)

    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await driver.submit(BOB)
    assert await keeper.tend() == 1
    assert request.id not in await shown(driver, BOB)


async def test_an_alert_and_a_pause_reach_those_who_look_and_nothing_new_sends_nothing(
    driver: SlackDriver, homes: tuple[Homes, Counted]
) -> None:
    keeper, client = homes
    await driver.home(ALICE)
    await keeper.tend()
    client.sent.clear()
    assert [await keeper.tend() for _ in range(3)] == [0, 0, 0]

    async with driver.core.store.begin() as tx:
        said = Said(decline_alerts.DECLINE, Severity.WARNING, "Declines at a bakery", "Look at it.")
        await alerts.raise_(tx, driver.core, said, condition="d", subject="main")
    await pausing.pause(driver.core, BOB, ["main"], "the key may be stolen")

    assert await keeper.tend() == 1
    assert "Declines at a bakery" in await shown(driver, ALICE)
    assert "the key may be stolen" in await shown(driver, ALICE)


async def test_a_storm_is_one_redraw_and_who_went_away_is_not_drawn_for(
    driver: SlackDriver, homes: tuple[Homes, Counted]
) -> None:
    keeper, client = homes
    await driver.home(BOB)
    await driver.home(CAROL)
    await keeper.tend()
    client.sent.clear()

    for n in range(50):
        async with driver.core.store.begin() as tx:
            title = f"Declines of cause {n % 7}"
            said = Said(decline_alerts.DECLINE, Severity.WARNING, title, f"{n}")
            await alerts.raise_(tx, driver.core, said, condition=f"d{n % 7}", subject="main")
    assert await keeper.tend() == 2
    assert await keeper.tend() == 0

    await driver.world.advance(5 * 3600)
    await driver.ask_top_up()
    assert await keeper.tend() == 0


async def test_a_restart_forgets_nobody_who_looks(driver: SlackDriver, homes: tuple[Homes, Counted]) -> None:
    await driver.home(BOB)
    request = await driver.ask_top_up()

    after_the_restart, _ = homes
    assert await after_the_restart.tend() == 1

    assert request.id in await shown(driver, BOB)


async def test_who_may_not_look_any_more_gets_no_redraw(
    driver: SlackDriver, homes: tuple[Homes, Counted]
) -> None:
    keeper, client = homes
    await driver.home(BOB)
    await driver.tell("people", {"id": BOB, "is_restricted": True})
    await driver.command(BOB, "/float")
    client.sent.clear()

    await driver.ask_top_up()
    await keeper.tend()

    assert client.sent == []
    async with driver.core.store.read() as tx:
        assert [v.slack_id for v in await home_views.since(tx, tx.now.replace(year=2000), limit=10)] == []


async def test_a_view_that_slack_refuses_for_one_person_does_not_stop_the_others(
    driver: SlackDriver, homes: tuple[Homes, Counted]
) -> None:
    keeper, client = homes
    await driver.home(BOB)
    await driver.home(CAROL)
    request = await driver.ask_top_up()
    async with driver.core.store.begin() as tx:
        await home_views.opened(tx, "U0NOBODY")
        await home_views.published(tx, "U0NOBODY", "")
        await people.put(tx, Actor("U0NOBODY", "Nobody", team_id=driver.core.directory.home_team))

    assert await keeper.tend() == 2
    assert request.id in await shown(driver, BOB)
    client.sent.clear()
    await driver.ask_top_up(amount="51")
    await keeper.tend()
    assert "U0NOBODY" not in client.sent
