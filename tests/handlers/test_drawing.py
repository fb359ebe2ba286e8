"""The float's chart as a picture of our own: what it shows, and who gets it where Slack takes no chart."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest
from PIL import Image, ImageColor

from bot.domain.alerts import Said, Severity, float_alerts
from bot.services.alerts import lifecycle as alerts
from bot.services.messages import Outbox
from bot.services.money import float_lookups
from bot.view_models import FloatHistory, FloatPoint
from handlers.slack_api import SlackPublisher
from handlers.views import blocks, chart_picture, charts
from storage.messages import alerts as rows
from tests.handlers import sample_requests as given
from tests.handlers.slack_driver import ALICE, BOB, OPS, SlackDriver

pytestmark = pytest.mark.by_turns(4)

Json = dict[str, Any]
ALERTS = "C0ALERTS"
NEVER = (0, 0, 0)


def a_history(
    balances: Sequence[float] = (3000, 1500, 750.5),
    funded: Sequence[float] = NEVER,
    spent: Sequence[float] = NEVER,
) -> FloatHistory:
    """A reading each day, the last one now, and the minimum of 1,000 USD."""
    found = [
        FloatPoint(
            given.NOW - timedelta(days=len(balances) - 1 - n),
            *(Decimal(str(usd)) for usd in (balance, came, went)),
        )
        for n, (balance, came, went) in enumerate(zip(balances, funded, spent, strict=False))
    ]
    points = tuple(found)
    return FloatHistory("main", Decimal(1000), points, (points,), "UTC")


@dataclass(frozen=True)
class Pixels:
    """A decoded picture; the legend above the plot does not count."""

    image: Image.Image
    top: int = 190

    def places_of(self, color: str) -> list[tuple[int, int]]:
        wanted = ImageColor.getrgb(color)
        width, height = self.image.size
        found = self.image.load()
        assert found is not None
        return [(x, y) for x in range(width) for y in range(self.top, height) if found[x, y] == wanted]

    def middle_of(self, color: str, at_x: int) -> float:
        ys = [y for x, y in self.places_of(color) if x == at_x]
        return (ys[0] + ys[-1]) / 2

    def columns_of(self, color: str) -> list[int]:
        return sorted({x for x, _ in self.places_of(color)})


def decoded(png: bytes) -> Pixels:
    image = Image.open(BytesIO(png))
    assert (image.format, image.mode, image.size) == (
        "PNG",
        "RGB",
        (chart_picture.WIDTH, chart_picture.HEIGHT),
    )
    assert image.info == {}, "no time of its making, no name of who made it"
    return Pixels(image)


def test_heights_are_as_the_amounts_are_to_each_other() -> None:
    laid = chart_picture.laid_out(a_history())
    seen = decoded(chart_picture.png(a_history()))
    first = seen.middle_of(chart_picture.BALANCE, round(laid.left) + 20)
    minimum = seen.middle_of(chart_picture.MINIMUM, round(laid.left) + 6)
    last = laid.lines[0][-1][1]

    assert max(seen.columns_of(chart_picture.MINIMUM)) > laid.right - 20, "the minimum goes all the way"
    assert first == pytest.approx(laid.lines[0][0][1], abs=2), "painted where it was laid out"
    assert (minimum - first) / (last - first) == pytest.approx((3000 - 1000) / (3000 - 750.5), abs=0.01)
    assert first < minimum < last


def test_each_funding_and_top_up_has_its_mark_at_its_moment_on_its_side_of_the_line() -> None:
    history = a_history(funded=[0, 700, 0], spent=[0, 20, 30])
    plain, seen = decoded(chart_picture.png(a_history())), decoded(chart_picture.png(history))
    laid = chart_picture.laid_out(history)
    middle_x = round((laid.left + laid.right) / 2)
    heights = [y for line in laid.lines for _, y in line]

    assert plain.columns_of(chart_picture.FUNDING) == plain.columns_of(chart_picture.SPENT) == []
    assert middle_x in seen.columns_of(chart_picture.FUNDING)
    assert seen.middle_of(chart_picture.FUNDING, middle_x) < min(heights)
    assert seen.middle_of(chart_picture.SPENT, middle_x) > max(heights)
    assert {x > middle_x + 100 for x in seen.columns_of(chart_picture.SPENT)} == {True, False}
    assert max(seen.columns_of(chart_picture.FUNDING)) < middle_x + 20


def test_what_nobody_read_is_a_gap_and_is_named_in_the_legend() -> None:
    whole = a_history()
    first, middle, last = whole.points
    parted = replace(whole, stretches=((first, middle), (last,)))
    laid = chart_picture.laid_out(parted)
    seen = decoded(chart_picture.png(parted))
    (gap,) = laid.gaps
    within = range(round(gap[0]) + 10, round(gap[1]) - 10)

    assert list(gap) == pytest.approx([(laid.left + laid.right) / 2, laid.right])
    assert not set(within) & set(seen.columns_of(chart_picture.BALANCE)), "no line where nothing is known"
    assert set(within) <= set(seen.columns_of(chart_picture.UNSEEN))
    assert "No readings" in [label.text for label in laid.labels]
    assert "No readings" not in [label.text for label in chart_picture.laid_out(whole).labels]


def test_the_ends_of_both_lines_are_labelled_and_the_axes_have_their_units() -> None:
    words = [label.text for label in chart_picture.laid_out(replace(a_history(), zone="Asia/Manila")).labels]

    assert {"750.50 USD", "Minimum", "1,000.00 USD", "USD", "2,000"} <= set(words)
    assert words[0] == "Float of main"
    assert words[1].endswith(" · times in Asia/Manila")


def test_the_same_figures_give_the_same_bytes_and_others_do_not() -> None:
    assert chart_picture.png(a_history()) == chart_picture.png(a_history())
    assert chart_picture.png(a_history()) != chart_picture.png(a_history([3000, 1500, 900]))


def test_pillow_is_loaded_when_a_picture_is_drawn_and_not_before() -> None:
    """It takes 10 MiB, and most processes never draw one."""
    asked = (
        "import sys, handlers.slack_api.chart_upload;"
        "print('handlers.views.chart_picture' in sys.modules, 'PIL' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, timeout=50)

    assert done.stdout.split() == ["True", "False"], done.stderr


async def a_past(driver: SlackDriver) -> None:
    for _ in range(3):
        await driver.world.tell("float", {"amount_usd": "-100"})
        await driver.world.advance(3600)
        await float_lookups.read_account(driver.core, "main")


async def no_charts(driver: SlackDriver, method: str) -> None:
    """The next call is refused for its chart; the one after it, without, is not."""
    await driver.tell("faults", {"method": method, "effect": "error", "error": "invalid_blocks"})


async def files_in(driver: SlackDriver, user: str, channel: str) -> list[Json]:
    """Each file of the channel, with the thread it was sent to."""
    found = await driver.messages(user, channel)
    return [{**file, "thread_ts": m.get("thread_ts")} for m in found for file in m.get("files") or ()]


async def test_float_comes_in_words_and_its_picture_directly_where_slack_takes_no_chart(
    driver: SlackDriver,
) -> None:
    await a_past(driver)
    await no_charts(driver, "response_url")
    await driver.command(ALICE, "/float")

    shown = str(await driver.shown_to(ALICE))
    (file,) = await files_in(driver, ALICE, "D0ALICE")
    assert "data_visualization" not in shown
    assert "Its chart is in your direct messages with Countersign." in shown
    alt = file["alt_txt"]
    assert (file["mimetype"], file["title"]) == ("image/png", "Float of main")
    assert alt.startswith("Float of main since 20")
    assert "<!date" not in alt
    assert alt.partition(": lowest ")[2] in shown, "the words of the answer"
    assert await files_in(driver, ALICE, OPS) == []


async def test_float_says_its_words_though_the_picture_is_not_taken_either(driver: SlackDriver) -> None:
    await a_past(driver)
    await no_charts(driver, "response_url")
    await driver.tell("faults", {"method": "files.completeUploadExternal", "effect": "reset_after"})
    await driver.command(ALICE, "/float")

    shown = str(await driver.shown_to(ALICE))
    assert "lowest" in shown
    assert "direct messages" not in shown


async def test_a_shared_float_has_its_picture_in_its_own_thread(driver: SlackDriver) -> None:
    await a_past(driver)
    await driver.command(ALICE, "/float")
    await no_charts(driver, "chat.postMessage")
    await driver.press(ALICE, await driver.shown_to(ALICE), "answer:share", channel=OPS)

    (shared,) = [m for m in await driver.messages(BOB, OPS) if "Shared by" in str(m)]
    (file,) = await files_in(driver, BOB, OPS)
    assert file["thread_ts"] == shared["ts"]
    assert "lowest" in str(shared)


async def test_no_picture_is_sent_where_slack_takes_the_chart(driver: SlackDriver) -> None:
    await a_past(driver)
    await driver.command(ALICE, "/float")
    await driver.press(ALICE, await driver.shown_to(ALICE), "answer:share", channel=OPS)

    assert await files_in(driver, ALICE, OPS) == await files_in(driver, ALICE, "D0ALICE") == []


class Killed(BaseException):
    """The process ends here."""


def dying_at(name: str, nth: int = 1) -> Callable[[str], None]:
    left = [nth]

    def crash_point(at: str) -> None:
        if at == name:
            left[0] -= 1
            if left[0] == 0:
                raise Killed

    return crash_point


@pytest.mark.parametrize("killed_at", [0, 1, 2])
async def test_an_alert_whose_chart_is_refused_has_one_picture_in_its_thread_whatever_crashes(
    driver: SlackDriver, killed_at: int
) -> None:
    """Killed never, after the alert was sent, and after its picture was."""
    await an_alert_of_the_float(driver)
    await no_charts(driver, "chat.postMessage")
    if killed_at:
        core = replace(driver.core, crash_point=dying_at("outbox.sent", killed_at))
        dying = Outbox(core, SlackPublisher(driver.client), spacing_s=0)
        with pytest.raises(Killed):
            await delivered(dying.deliver_due)
        driver.world.clock.advance(3)  # until then what it sent may still be on its way
    await driver.outbox.heal()
    await delivered(driver.outbox.deliver_due)
    assert len(await files_in(driver, BOB, ALERTS)) == 1
    for _ in range(3):
        await no_charts(driver, "chat.update")
        await drawn_again(driver)
        await delivered(driver.outbox.deliver_due)

    (alert,) = [m for m in await driver.messages(BOB, ALERTS) if "Low" in m["text"]]
    (file,) = await files_in(driver, BOB, ALERTS)
    assert file["thread_ts"] == alert["ts"]
    assert file["alt_txt"].partition(": lowest ")[2] in str(alert)
    assert "data_visualization" not in str(alert)


async def delivered(deliver_due: Callable[[], Awaitable[int]]) -> None:
    while await deliver_due():
        pass


async def an_alert_of_the_float(driver: SlackDriver) -> None:
    await a_past(driver)
    async with driver.core.store.begin() as tx:
        said = Said(float_alerts.FLOAT_LOW, Severity.WARNING, "Low", "The float is low.")
        await alerts.raise_(tx, driver.core, said, condition="float:main", subject="main", program="main")


async def drawn_again(driver: SlackDriver) -> None:
    async with driver.core.store.begin() as tx:
        found = await rows.open_one(tx, "float:main")
        assert found is not None
        await alerts.redraw(tx, driver.core, found)


def test_the_words_for_those_who_do_not_see_it_are_those_below_the_chart() -> None:
    alt = charts.picture_of(given.a_history()).alt
    since = given.a_history().points[0].at

    assert alt.startswith(f"Float of main since {since:%Y-%m-%d %H:%M} UTC: lowest 1,000.00 USD")
    assert since == given.NOW - timedelta(hours=12 * 13)
    assert charts.picture({"blocks": []}) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "Paused since 2026-03-02 09:00 UTC by Bob.",
            "Paused since <!date^1772442000^{date_short_pretty} at {time}|2026-03-02 09:00 UTC> by Bob.",
        ),
        (
            "tried at 2026-03-02 09:00:05 UTC",
            "tried at <!date^1772442005^{date_short_pretty} {time_secs}|2026-03-02 09:00 UTC>",
        ),
        ("on 2026-13-45 09:00 UTC", "on 2026-13-45 09:00 UTC"),
    ],
)
def test_a_time_in_a_sentence_is_shown_in_each_readers_own_zone(text: str, shown: str) -> None:
    assert blocks.esc(text) == shown
    (pair,) = blocks.pairs([("Since", text)])
    assert pair["fields"][1]["text"] == shown
