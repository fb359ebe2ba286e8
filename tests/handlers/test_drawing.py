"""The float's chart as a picture of our own: what it shows, and who gets it where Slack takes no chart."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from bot.services.alerts import lifecycle as alerts
from bot.services.messages.delivery import Outbox
from bot.services.money import float_lookups
from handlers.slack_api.publish import SlackPublisher
from handlers.views import chart_picture, charts
from storage.messages import alerts as rows
from tests.handlers import sample_requests as given
from tests.handlers.office import ALICE, BOB, OPS, Office

Json = dict[str, Any]
ALERTS = "C0ALERTS"
COURSE = chart_picture.Course(
    title="Float of main",
    labels=["19 Nov 12:00", "20 Nov 12:00", "21 Nov 12:00"],
    balances=[3000, 1500, 750.5],
    floor=1000,
    funded=[0, 0, 0],
    spent=[0, 0, 0],
)


@dataclass(frozen=True)
class Pixels:
    """A decoded PNG: for each row the places of its pixels in the palette."""

    rows: list[bytes]

    def rows_of(self, color: int, at_x: int) -> list[int]:
        return [y for y, row in enumerate(self.rows) if row[at_x] == color and y > 110]

    def middle(self, color: int, at_x: int) -> float:
        found = self.rows_of(color, at_x)
        return (found[0] + found[-1]) / 2

    def columns_of(self, color: int) -> list[int]:
        """Below the legend."""
        return sorted({x for row in self.rows[110:] for x, pixel in enumerate(row) if pixel == color})


def decoded(png: bytes) -> Pixels:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        (crc,) = struct.unpack(">I", png[at + 8 + length : at + 12 + length])
        assert crc == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height, depth, color, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, color, rest) == (8, 3, [0, 0, 0])
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == height * (width + 1)
    lines = [raw[n : n + width + 1] for n in range(0, len(raw), width + 1)]
    assert {line[0] for line in lines} == {0}
    assert max(raw) < len(chunks[b"PLTE"]) // 3
    return Pixels([line[1:] for line in lines])


def test_heights_are_as_the_amounts_are_to_each_other() -> None:
    seen = decoded(chart_picture.png(COURSE))
    line = seen.columns_of(chart_picture.BALANCE)
    first, last = seen.middle(chart_picture.BALANCE, line[2]), seen.middle(chart_picture.BALANCE, line[-3])
    floor = seen.middle(chart_picture.FLOOR, seen.columns_of(chart_picture.FLOOR)[0])

    assert seen.rows_of(chart_picture.FLOOR, seen.columns_of(chart_picture.FLOOR)[-1]), (
        "the floor goes all the way"
    )
    assert (floor - first) / (last - first) == pytest.approx((3000 - 1000) / (3000 - 750.5), abs=0.01)
    assert first < floor < last


def test_each_funding_and_top_up_has_its_mark_at_its_moment_on_its_side_of_the_line() -> None:
    plain = decoded(chart_picture.png(COURSE))
    seen = decoded(chart_picture.png(replace(COURSE, funded=[0, 700, 0], spent=[0, 20, 30])))
    line = plain.columns_of(chart_picture.BALANCE)
    middle_x = (line[0] + line[-1]) // 2

    assert plain.columns_of(chart_picture.FUNDING) == plain.columns_of(chart_picture.SPENT) == []
    assert middle_x in seen.columns_of(chart_picture.FUNDING)
    assert seen.middle(chart_picture.FUNDING, middle_x) < plain.middle(chart_picture.BALANCE, middle_x)
    assert seen.middle(chart_picture.SPENT, middle_x) > plain.middle(chart_picture.BALANCE, middle_x)
    assert {x > middle_x + 100 for x in seen.columns_of(chart_picture.SPENT)} == {True, False}
    assert max(seen.columns_of(chart_picture.FUNDING)) < middle_x + 20


@pytest.mark.parametrize(
    "amounts", [(0, 0), (0.01, 0.02), (-50.25, -3), (999_999_999.99, 1), (1000, 1000), (-1e7, 1e7)]
)
def test_any_amounts_stay_within_the_picture(amounts: tuple[float, float]) -> None:
    course = replace(COURSE, labels=["a", "b"], balances=amounts, funded=[1, 1], spent=[1, 1])
    seen = decoded(chart_picture.png(course))

    assert len(seen.columns_of(chart_picture.BALANCE)) > 800
    assert 2 <= len([row for row in seen.rows if row.count(chart_picture.GRID) > 100]) <= 16
    assert not any(seen.rows[0]), "nothing runs into the edge"
    assert not any(row[0] for row in seen.rows), "no label is cut"


def test_the_same_figures_give_the_same_bytes_and_others_do_not() -> None:
    assert chart_picture.png(COURSE) == chart_picture.png(COURSE)
    assert chart_picture.png(COURSE) != chart_picture.png(replace(COURSE, balances=[3000, 1500, 900]))


async def a_past(office: Office) -> None:
    for _ in range(3):
        await office.world.tell("float", {"amount_usd": "-100"})
        await office.world.advance(3600)
        await float_lookups.read_account(office.core, "main")


async def no_charts(office: Office, method: str) -> None:
    """The next call is refused for its chart; the one after it, without, is not."""
    await office.tell("faults", {"method": method, "effect": "error", "error": "invalid_blocks"})


async def files_in(office: Office, user: str, channel: str) -> list[Json]:
    """Each file of the channel, with the thread it was sent to."""
    found = await office.messages(user, channel)
    return [{**file, "thread_ts": m.get("thread_ts")} for m in found for file in m.get("files") or ()]


async def test_float_comes_in_words_and_its_picture_directly_where_slack_takes_no_chart(
    office: Office,
) -> None:
    await a_past(office)
    await no_charts(office, "response_url")
    await office.command(ALICE, "/float")

    told = str(await office.told(ALICE))
    (file,) = await files_in(office, ALICE, "D0ALICE")
    assert "data_visualization" not in told
    assert "Its picture is in your direct messages with Countersign." in told
    alt = file["alt_txt"]
    assert (file["mimetype"], file["title"]) == ("image/png", "Float of main")
    assert alt.startswith("Float of main since 20")
    assert "<!date" not in alt
    assert alt.partition(": lowest ")[2] in told, "the words of the answer"
    assert await files_in(office, ALICE, OPS) == []


async def test_float_says_its_words_though_the_picture_is_not_taken_either(office: Office) -> None:
    await a_past(office)
    await no_charts(office, "response_url")
    await office.tell("faults", {"method": "files.completeUploadExternal", "effect": "reset_after"})
    await office.command(ALICE, "/float")

    told = str(await office.told(ALICE))
    assert "lowest" in told
    assert "direct messages" not in told


async def test_a_shared_float_has_its_picture_in_its_own_thread(office: Office) -> None:
    await a_past(office)
    await office.command(ALICE, "/float")
    await no_charts(office, "chat.postMessage")
    await office.press(ALICE, await office.told(ALICE), "answer:share", channel=OPS)

    (shared,) = [m for m in await office.messages(BOB, OPS) if "Shared by" in str(m)]
    (file,) = await files_in(office, BOB, OPS)
    assert file["thread_ts"] == shared["ts"]
    assert "lowest" in str(shared)


async def test_no_picture_is_sent_where_slack_takes_the_chart(office: Office) -> None:
    await a_past(office)
    await office.command(ALICE, "/float")
    await office.press(ALICE, await office.told(ALICE), "answer:share", channel=OPS)

    assert await files_in(office, ALICE, OPS) == await files_in(office, ALICE, "D0ALICE") == []


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
    office: Office, killed_at: int
) -> None:
    """Killed never, after the alert was sent, and after its picture was."""
    await an_alert_of_the_float(office)
    await no_charts(office, "chat.postMessage")
    if killed_at:
        core = replace(office.core, crash_point=dying_at("outbox.sent", killed_at))
        dying = Outbox(core, SlackPublisher(office.client), spacing_s=0)
        with pytest.raises(Killed):
            await delivered(dying.deliver_due)
    await office.outbox.heal()
    await delivered(office.outbox.deliver_due)
    assert len(await files_in(office, BOB, ALERTS)) == 1
    for _ in range(3):
        await no_charts(office, "chat.update")
        await drawn_again(office)
        await delivered(office.outbox.deliver_due)

    (alert,) = [m for m in await office.messages(BOB, ALERTS) if "Low" in m["text"]]
    (file,) = await files_in(office, BOB, ALERTS)
    assert file["thread_ts"] == alert["ts"]
    assert file["alt_txt"].partition(": lowest ")[2] in str(alert)
    assert "data_visualization" not in str(alert)


async def delivered(deliver_due: Callable[[], Awaitable[int]]) -> None:
    while await deliver_due():
        pass


async def an_alert_of_the_float(office: Office) -> None:
    await a_past(office)
    async with office.core.store.begin() as tx:
        await alerts.raise_(
            tx,
            office.core,
            dedupe="float:main",
            kind="float_low",
            subject="main",
            severity="warning",
            title="Low",
            text="The float is low.",
        )


async def drawn_again(office: Office) -> None:
    async with office.core.store.begin() as tx:
        found = await rows.open_one(tx, "float:main")
        assert found is not None
        await alerts.redraw(tx, office.core, found)


def test_the_words_for_those_who_do_not_see_it_are_those_below_the_chart() -> None:
    chart, words = charts.float_chart(given.a_history())
    alt = charts.drawn(chart, words).alt
    since = given.a_history().points[0].at

    assert alt.startswith(f"Float of main since {since:%Y-%m-%d %H:%M} UTC: lowest 1,000.00 USD")
    assert since == given.NOW - timedelta(hours=12 * 13)
    assert charts.picture({"blocks": []}) is None
