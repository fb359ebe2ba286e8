"""The float over time: what a chart is drawn from, where it is seen, and what is said where Slack takes none."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.services.money import float_history, float_lookups
from bot.view_models import pictures
from handlers.slack_api.publish import SlackPublisher
from handlers.views import charts
from sandbox.slack import limits
from storage.cards import history
from storage.cards.api_snapshots import Reading
from tests.handlers import sample_requests as given
from tests.handlers.office import ALICE, Office


def reading(hours_ago: float, balance: int, funded: int = 0, spent: int = 0) -> Reading:
    value = {"balance_usd": str(balance), "funded_usd": str(funded), "spent_usd": str(spent)}
    return Reading(value, given.NOW - timedelta(hours=hours_ago))


def chart_of(message: dict[str, Any]) -> dict[str, Any]:
    (found,) = [block for block in message["blocks"] if block["type"] == "data_visualization"]
    return dict(found)


def test_nothing_that_came_in_or_went_out_is_lost_between_two_moments() -> None:
    readings = [reading(100 - n, 1000 + 7 * n - 3 * n, funded=7 * n, spent=3 * n) for n in range(101)]

    points = float_history.sampled(readings, given.NOW)

    assert len(points) == float_history.POINTS
    assert sum(p.funded_usd for p in points) == 700
    assert sum(p.spent_usd for p in points) == 300
    assert points[0].balance_usd == 1000
    assert points[-1].balance_usd == 1400
    assert points[-1].at == given.NOW


@pytest.mark.parametrize("hours", [0.01, 0.2, 1, 24, 167])
def test_labels_differ_and_slack_takes_the_block(hours: float) -> None:
    points = float_history.sampled([reading(hours, 10), reading(hours / 2, -5)], given.NOW)
    if len(points) < 2:
        assert hours < 0.1
        return
    blocks = charts.float_chart(pictures.FloatHistory("main" * 20, Decimal(1), points))
    series = blocks[0]["chart"]["series"]
    labels = [point["label"] for point in series[0]["data"]]

    assert len(set(labels)) == len(labels)
    assert labels == blocks[0]["chart"]["axis_config"]["categories"]
    assert all([p["label"] for p in one["data"]] == labels for one in series)
    assert all(len(label) <= 20 for label in labels)
    assert len(blocks[0]["title"]) <= 50
    assert limits.message_complaints(blocks) == []


def test_no_chart_of_less_than_two_moments() -> None:
    assert float_history.sampled([], given.NOW) == ()
    assert len(float_history.sampled([reading(0, 5)], given.NOW)) == 1


async def test_float_is_answered_with_its_chart_once_there_is_a_past(office: Office) -> None:
    for _ in range(5):
        await office.world.tell("float", {"amount_usd": "-100"})
        await office.world.advance(3600)
        await float_lookups.read_account(office.core, "main")
    await office.command(ALICE, "/float")

    told = await office.told(ALICE)
    chart = chart_of(told)
    names = [series["name"] for series in chart["chart"]["series"]]
    assert names == ["Balance", "Floor", "Funding in", "Top-ups and fees"]
    balances = [point["value"] for point in chart["chart"]["series"][0]["data"]]
    assert balances[0] - balances[-1] == 400
    assert {point["value"] for point in chart["chart"]["series"][1]["data"]} == {1000}
    assert "lowest" in str(told)


async def test_where_slack_takes_no_chart_the_figures_are_said_in_words(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = given.an_alert_of_the_float()
    publisher = SlackPublisher(office.client)
    sent: list[list[str]] = []
    post = office.client.chat_postMessage

    async def refusing(**body: Any) -> Any:
        sent.append([block["type"] for block in body["blocks"]])
        if "data_visualization" in sent[-1]:
            body["blocks"] = [{"type": "no_such_block"}]
        return await post(**body)

    monkeypatch.setattr(office.client, "chat_postMessage", refusing)
    posted = await publisher.post(picture, channel=office.core.channels.alerts, dedupe="x")

    (seen,) = [m for m in await office.messages(ALICE, posted.channel) if m["ts"] == posted.ts]
    assert ["data_visualization" in kinds for kinds in sent] == [True, False]
    assert "lowest 1,000.00 USD" in str(seen)


async def test_a_past_of_one_reading_draws_nothing(office: Office) -> None:
    async with office.core.store.begin() as tx:
        await history.drop_old(tx)
        assert await float_history.of(tx, office.core, "nobody") is None
