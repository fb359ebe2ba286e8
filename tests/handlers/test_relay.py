"""Redeliver: one click on the alert of a destination that did not take its events."""

from sqlalchemy import text

from bot.domain.alerts import delivery_alerts
from bot.domain.events import Destination
from bot.services import alerts
from storage.events import Failed, relay
from tests.handlers.slack_driver import ALICE, BOB, SlackDriver


async def test_one_click_on_the_alert_sends_what_was_given_up_again(driver: SlackDriver) -> None:
    destination = Destination("core-ledger", "https://hooks.example.com/in", ("card.authorized",))
    driver.world.rebuild(destinations=(destination,))
    async with driver.core.store.begin() as tx:
        await relay.put(tx, destination="core-ledger", event_id="evt-1", body=b"{}")
        await relay.failed(tx, [Failed(relay.row_id_of("core-ledger", "evt-1"), "answered 503", None)])
        said = delivery_alerts.RELAY_DEAD.says(destination="core-ledger", count=1, error="answered 503")
        await alerts.raise_(
            tx, driver.core, said, condition="relay:core-ledger", subject="core-ledger", program=""
        )
    await driver.settle()
    channel = driver.core.channels.alerts
    (message,) = [m for m in await driver.messages(ALICE, channel) if "core-ledger" in m["text"]]
    assert "Redeliver" in str(message)
    assert "Suggest a fix" not in str(message)

    await driver.press(BOB, message, "alert:redeliver", channel=channel)

    async with driver.core.store.read() as tx:
        rows = (await tx.run(text("SELECT state, attempts FROM relay_delivery"))).all()
    assert [tuple(row) for row in rows] == [("owed", 0)]
    (after,) = [m for m in await driver.messages(ALICE, channel) if m["ts"] == message["ts"]]
    assert "Resolved" in after["text"]
