"""The float over time: what a chart is drawn from, where it is seen, and what is said where Slack takes none."""

import ast
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as property_of
from hypothesis import strategies as st
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook import WebhookResponse

import bot.view_models as pictures
from bot.domain.money import format_usd
from bot.services.money import float_history, float_lookups
from bot.services.snapshots import Account, Kept
from handlers.slack_api import SlackPublisher, chart_upload
from handlers.views import charts
from sandbox.slack.block_kit import limits
from storage.cards import history
from tests.handlers import sample_requests as given
from tests.handlers.slack_driver import ALICE, SlackDriver


def reading(hours_ago: float, balance: int, funded: int = 0, spent: int = 0) -> Kept[Account]:
    balance_usd = Decimal(balance)
    value = Account(balance_usd, balance_usd, Decimal(funded), Decimal(spent), None, 0, 0, None)
    return Kept(value, given.NOW - timedelta(hours=hours_ago))


def chart_of(message: dict[str, Any]) -> dict[str, Any]:
    """The chart of the balance; another shows what came and left."""
    found = [block for block in message["blocks"] if block["type"] == "data_visualization"]
    return dict(found[0])


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
    blocks = charts.float_chart(pictures.FloatHistory("main" * 20, Decimal(1), points, (points,), "UTC"))
    series = blocks[0]["chart"]["series"]
    labels = [point["label"] for point in series[0]["data"]]

    assert len(set(labels)) == len(labels)
    assert labels == blocks[0]["chart"]["axis_config"]["categories"]
    assert all([p["label"] for p in one["data"]] == labels for one in series)
    assert all(len(label) <= 20 for label in labels)
    assert len(blocks[0]["title"]) <= 50
    assert limits.message_complaints(blocks) == []


@property_of(st.lists(st.integers(-500, 5000), min_size=20, max_size=60), st.integers(0, 600))
def test_the_lowest_is_that_of_all_readings_whenever_it_is_asked_for(
    balances: list[int], later_s: int
) -> None:
    readings = [reading((len(balances) - n) / 6, usd) for n, usd in enumerate(balances)]
    until = given.NOW + timedelta(seconds=later_s)
    points = float_history.sampled(readings, until)
    found = pictures.FloatHistory("main", Decimal(1), points, float_history.stretches(readings, until), "UTC")

    said = charts.float_chart(found)[1]["elements"][0]["text"]

    assert (
        f"lowest {format_usd(Decimal(min(balances)))}, highest {format_usd(Decimal(max(balances)))}" in said
    )


def test_a_balance_that_nobody_read_for_long_is_not_known() -> None:
    readings = [reading(20, 500), reading(19.5, 500), reading(19, 400, spent=100), reading(2, 300, spent=250)]

    first, second = float_history.stretches(readings, given.NOW - timedelta(hours=1.5))

    assert [p.balance_usd for p in first] == [500, 500, 400]
    assert [p.spent_usd for p in second] == [150, 0], "what went meanwhile is marked when it was seen"
    assert second[-1].at == given.NOW - timedelta(hours=1.5), "the last balance still holds"


def test_a_float_that_is_read_rarely_has_no_gaps_between_its_usual_readings() -> None:
    daily = [reading(24 * days, 500 + days) for days in range(9, 0, -1)]

    (whole,) = float_history.stretches(daily, given.NOW)

    assert len(whole) == 10
    assert len(float_history.stretches([*daily[:2], *daily[6:]], given.NOW)) == 2


def test_a_balance_that_was_last_read_long_ago_is_not_said_to_hold_now() -> None:
    ((*_, last),) = float_history.stretches([reading(9, 1), reading(8.5, 1), reading(8, 1)], given.NOW)

    assert last.at == given.NOW - timedelta(hours=8)


def test_no_chart_of_less_than_two_moments() -> None:
    assert float_history.sampled([], given.NOW) == ()
    assert len(float_history.sampled([reading(0, 5)], given.NOW)) == 1


async def test_float_is_answered_with_its_chart_once_there_is_a_past(driver: SlackDriver) -> None:
    for _ in range(5):
        await driver.world.tell("float", {"amount_usd": "-100"})
        await driver.world.advance(3600)
        await float_lookups.read_account(driver.core, "main")
    await driver.command(ALICE, "/float")

    shown = await driver.shown_to(ALICE)
    chart = chart_of(shown)
    names = [series["name"] for series in chart["chart"]["series"]]
    assert names == ["Balance", "Floor"], "a level and its floor, no flows among them"
    (flows,) = [
        b for b in shown["blocks"] if b["type"] == "data_visualization" and b["title"] != chart["title"]
    ]
    assert flows["chart"]["type"] == "bar"
    assert [series["name"] for series in flows["chart"]["series"]] == ["Funding taken back"]
    assert all(point["value"] >= 0 for series in flows["chart"]["series"] for point in series["data"])
    balances = [point["value"] for point in chart["chart"]["series"][0]["data"]]
    assert balances[0] - balances[-1] == 400
    assert {point["value"] for point in chart["chart"]["series"][1]["data"]} == {1000}
    assert "lowest" in str(shown)


async def test_where_slack_takes_no_chart_the_figures_are_said_in_words(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = given.an_alert_of_the_float()
    publisher = SlackPublisher(driver.client)
    sent: list[list[str]] = []
    post = driver.client.chat_postMessage

    async def refusing(**body: Any) -> Any:
        sent.append([block["type"] for block in body["blocks"]])
        if "data_visualization" in sent[-1]:
            body["blocks"] = [{"type": "no_such_block"}]
        return await post(**body)

    monkeypatch.setattr(driver.client, "chat_postMessage", refusing)
    posted = await publisher.post(picture, channel=driver.core.channels.alerts, dedupe="x")

    (seen,) = [m for m in await driver.messages(ALICE, posted.channel) if m["ts"] == posted.ts]
    assert ["data_visualization" in kinds for kinds in sent] == [True, False]
    assert "lowest 1,000.00 USD" in str(seen)


async def test_a_past_of_one_reading_draws_nothing(driver: SlackDriver) -> None:
    async with driver.core.store.begin() as tx:
        await history.drop_old(tx)
        assert await float_history.of(tx, driver.core, "nobody") is None


HANDLERS = Path(__file__).parents[2] / "handlers"
_WHAT_SLACK_REFUSES = {"invalid_blocks", "invalid_arguments"}


def mentions(path: Path) -> set[str]:
    """What in this module deals with a refused chart: Slack's codes for it, and the message without it."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return (texts & _WHAT_SLACK_REFUSES) | (names & {"without_chart", "has_chart"})


def test_what_is_done_where_slack_refuses_a_chart_is_said_in_one_place() -> None:
    found = {path.name: mentions(path) for path in HANDLERS.rglob("*.py")}

    assert [name for name, said in found.items() if said] == ["chart_upload.py"]
    assert found["chart_upload.py"] == {*_WHAT_SLACK_REFUSES, "without_chart", "has_chart"}


CHART = {"text": "Float", "blocks": charts.float_chart(given.a_history())}
WORDS = {"text": "Float", "blocks": [{"type": "section"}]}


def refusing(code: str) -> SlackApiError:
    return SlackApiError(code, {"ok": False, "error": code})  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("code", ["invalid_blocks", "invalid_arguments"])
async def test_a_refused_chart_is_sent_again_once_in_words_with_the_note_in_its_place(code: str) -> None:
    sent: list[dict[str, Any]] = []

    async def call(message: dict[str, Any]) -> str:
        sent.append(message)
        if len(sent) == 1:
            raise refusing(code)
        return "taken"

    async def note(drawn: charts.Picture) -> str:
        return f"See the picture {drawn.title}."

    assert await chart_upload.send(call, CHART, note=note) == ("taken", True)
    assert [block["type"] for block in sent[1]["blocks"]] == ["context", "context"]
    assert "See the picture Float of main." in str(sent[1])


@pytest.mark.parametrize(("message", "code"), [(WORDS, "invalid_blocks"), (CHART, "channel_not_found")])
async def test_any_other_refusal_is_raised_and_nothing_is_sent_again(
    message: dict[str, Any], code: str
) -> None:
    sent: list[dict[str, Any]] = []

    async def call(message: dict[str, Any]) -> None:
        sent.append(message)
        raise refusing(code)

    with pytest.raises(SlackApiError, match=code):
        await chart_upload.send(call, message)
    assert len(sent) == 1


@pytest.mark.parametrize(("message", "times"), [(CHART, 2), (WORDS, 1)])
async def test_a_response_url_that_refuses_gets_the_words_where_there_was_a_chart(
    message: dict[str, Any], times: int
) -> None:
    sent: list[dict[str, Any]] = []

    async def call(message: dict[str, Any]) -> WebhookResponse:
        sent.append(message)
        return WebhookResponse(url="", status_code=400, body="", headers={})

    answer, refused = await chart_upload.send(call, message)

    assert (answer.status_code, refused, len(sent)) == (400, times == 2, times)
