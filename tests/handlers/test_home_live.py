"""Home shows each person their own, and follows what happens for those who look at it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.alerts import Said, Severity, decline_alerts, float_alerts
from bot.domain.people import Actor
from bot.services import alerts
from bot.services.alerts import alert_actions
from bot.services.execution import maintenance
from bot.services.money import float_lookups
from bot.services.operators import pausing
from bot.services.overview import status
from bot.services.people import ANSWERED_WITHIN_S
from handlers.home import ROUND_S, Homes
from storage.messages import home_views
from storage.operators import people
from tests.handlers.slack_driver import ALICE, BOB, CAROL, OPS, SlackDriver

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
    return {e["text"]["text"] for e in found if e["type"] == "button"}


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


async def snooze_the_low_float(driver: SlackDriver) -> None:
    """The float falls below its floor, and Bob snoozes the alert."""
    async with driver.core.store.begin() as tx:
        said = Said(float_alerts.FLOAT_LOW, Severity.CRITICAL, "Float is low", "Fund it.")
        raised = await alerts.raise_(tx, driver.core, said, condition="float", subject="main", program="main")
    until = driver.core.clock.now() + timedelta(hours=4)
    await alert_actions.snooze(driver.core, raised.id, BOB, until)


async def test_home_counts_the_snoozed_alerts_and_follows_a_snooze(
    driver: SlackDriver, homes: tuple[Homes, Counted]
) -> None:
    keeper, _ = homes
    await driver.home(ALICE)
    await keeper.tend()
    assert "✓ No alert is open." in await shown(driver, ALICE)

    await snooze_the_low_float(driver)

    assert await keeper.tend() == 1
    assert "✓ No other alert is open." in await shown(driver, ALICE)
    assert "1 snoozed: `/countersign alerts`" in await shown(driver, ALICE)
    assert ROUND_S < 5, "what changed is drawn within five seconds"


async def test_home_shows_the_float_with_its_floor_and_says_when_it_is_below(driver: SlackDriver) -> None:
    home = await driver.home(ALICE)
    fields = [f["text"] for b in home["blocks"] for f in b.get("fields", [])]
    assert fields[fields.index("*Floor*") + 1] == "1,000.00 USD"
    assert "below its floor" not in str(home)

    known = await status.program_state(driver.core, "main")
    assert known.float is not None
    await driver.world.tell("float", {"amount_usd": str(900 - known.float.balance_usd)})
    await driver.world.advance(60)

    assert "*▲ The float is below its floor.*" in str(await driver.home(ALICE))


async def test_the_chart_of_home_is_in_the_zone_of_the_person_who_looks(
    driver: SlackDriver, homes: tuple[Homes, Counted]
) -> None:
    keeper, _ = homes
    await driver.tell("people", {"id": ALICE, "tz": "Asia/Tokyo"})
    await driver.tell("people", {"id": BOB, "tz": "America/Lima"})
    await float_lookups.read_account(driver.core, "main")
    await driver.world.advance(3600)
    await driver.world.tell("float", {"amount_usd": "-10.00"})
    for person, zone in ((ALICE, "Asia/Tokyo"), (BOB, "America/Lima")):
        assert zones_of_charts(await driver.home(person)) == {zone}

    await driver.world.tell("float", {"amount_usd": "-20.00"})
    await driver.world.advance(120)
    await float_lookups.read_account(driver.core, "main")
    await keeper.tend()

    for person, zone in ((ALICE, "Asia/Tokyo"), (BOB, "America/Lima")):
        assert zones_of_charts((await driver.see(person))["home"]) == {zone}


def zones_of_charts(view: Json) -> set[str]:
    """What the time axes of the charts of a view are named by."""
    drawn = [block["chart"] for block in view["blocks"] if block["type"] == "data_visualization"]
    return {chart["axis_config"]["x_label"] for chart in drawn}


def actions(view: Json) -> tuple[list[str], list[str]]:
    """The buttons under Actions, and what the menu beside them offers."""
    after = view["blocks"][headers(view).index("Actions") :]
    block = next(
        b
        for b in after
        if b["type"] == "actions" and any(e["action_id"].startswith("form:open") for e in b["elements"])
    )
    pressed = [e["text"]["text"] for e in block["elements"] if e["type"] == "button"]
    chosen = [o["text"]["text"] for e in block["elements"] for o in e.get("options", [])]
    return pressed, chosen


async def test_home_offers_four_actions_and_a_menu_of_what_is_switched_on_and_allowed(
    driver: SlackDriver,
) -> None:
    main, menu = actions(await driver.home(ALICE))
    assert main == ["Top up a card", "Order a card", "Freeze a card", "Unfreeze a card"]
    assert "Submit funding" in menu
    assert "Quote a deposit" not in menu, "deposits are not set up"
    assert "Rotate the secret" not in menu, "that is for admins"
    assert "Rotate the secret" in actions(await driver.home(CAROL))[1]

    revealing = "Show card details"
    assert revealing in menu
    driver.world.rebuild(reveals=replace(driver.core.reveals, base_url=""))
    assert revealing not in actions(await driver.home(ALICE))[1], "there is no address for its page"


async def test_the_menu_on_home_opens_the_form_of_what_is_chosen(driver: SlackDriver) -> None:
    home = await driver.home(ALICE)
    select = next(
        e for b in home["blocks"] for e in b.get("elements", []) if e.get("action_id") == "form:open:menu"
    )
    option = next(o for o in select["options"] if o["text"]["text"] == "Submit funding")

    await driver.act(
        "click",
        {
            "user": ALICE,
            "view_id": home["id"],
            "action_id": "form:open:menu",
            "selected_option": option["value"],
        },
    )

    assert (await driver.modal(ALICE))["title"]["text"] == "Submit funding"


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
        await alerts.raise_(tx, driver.core, said, condition="d", subject="main", program="main")
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
            await alerts.raise_(tx, driver.core, said, condition=f"d{n % 7}", subject="main", program="main")
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
    driver.world.clock.advance(ANSWERED_WITHIN_S)
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


async def test_a_name_that_means_nobody_any_more_is_said_on_home_until_it_does_again(
    driver: SlackDriver, homes: tuple[Homes, Counted]
) -> None:
    """Who looks at Home sees it, and so does who opens it; a view from before would offer what nobody can do."""
    view, client = homes
    await driver.home(CAROL)
    groups = driver.slack.workspace.store.groups
    taken = {name: groups.pop(name) for name, one in dict(groups).items() if one.handle == "card-approvers"}
    driver.world.clock.advance(timedelta(minutes=1).total_seconds())
    await maintenance.policy_problems(driver.core)  # as every minute, with an alert

    await view.tend()
    await driver.home(BOB)
    for user in (BOB, CAROL):
        assert "Slack has that group no longer" in await shown(driver, user), user
        assert buttons((await driver.see(user))["home"]) == set()
    sent = len(client.sent)
    await view.tend()
    assert len(client.sent) == sent, "nothing new is nothing to draw"

    groups |= taken
    driver.world.clock.advance(timedelta(minutes=1).total_seconds())
    await maintenance.policy_problems(driver.core)
    await view.tend()
    for user in (BOB, CAROL):
        assert "Pause main" in buttons((await driver.see(user))["home"]), user


async def test_a_hand_over_is_read_in_the_channel_and_counted_among_no_alerts(driver: SlackDriver) -> None:
    await driver.command(BOB, "/countersign handover Marta's top-up waits")
    await driver.press(BOB, await driver.shown_to(BOB), "answer:page:post", channel=OPS)

    assert any("Shift of Bob Tanaka" in m["text"] for m in await driver.messages(CAROL, "C0ALERTS"))
    assert "✓ No alert is open." in str(await driver.home(ALICE))
    await driver.command(CAROL, "/countersign status")
    assert "0 open alerts" in (await driver.shown_to(CAROL))["text"]
