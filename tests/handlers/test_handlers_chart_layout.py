"""Where the parts of the float's picture go: no label covers another or is cut, whatever the figures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import ImageColor

from bot.view_models import FloatHistory, FloatPoint
from handlers.views import chart_picture, ticks

pytestmark = pytest.mark.by_turns(4)

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "America/Argentina/ComodRivadavia")
BEGINS = datetime(2026, 3, 20, tzinfo=UTC)  # nine days before the clocks change in Berlin

#: Cents, from none to more than any program holds, on both sides of zero.
amounts = st.one_of(st.integers(-10, 10), st.integers(-(10**6), 10**7), st.integers(-(10**22), 10**22)).map(
    lambda cents: Decimal(cents) / 100
)
flows = st.sampled_from([Decimal(0), Decimal(0), Decimal("0.01"), Decimal(3500)])
steps = st.one_of(st.integers(1, 300), st.integers(1, 10**5), st.integers(10**5, 10**8)).map(
    lambda seconds: timedelta(seconds=seconds)
)


@st.composite
def histories(draw: Any) -> FloatHistory:
    """From one reading to many, over seconds or years, whole or in parts, read until the end or not."""
    at = BEGINS + draw(st.integers(0, 10**7)) * timedelta(seconds=1)
    stretches: list[tuple[FloatPoint, ...]] = []
    for _ in range(draw(st.integers(1, 4))):
        stretch: list[FloatPoint] = []
        for balance in draw(st.lists(amounts, min_size=1, max_size=12)):
            stretch.append(FloatPoint(at, balance, draw(flows), draw(flows)))
            at += draw(steps)
        stretches.append(tuple(stretch))
    end = draw(st.sampled_from([stretches[-1][-1].at, at]))
    last = stretches[-1][-1]
    points = (stretches[0][0], FloatPoint(end, last.balance_usd, Decimal(0), Decimal(0)))
    name = draw(
        st.one_of(
            st.sampled_from(["main", "W" * 80, "Zahlungskarten für Geschäftsreisen, Überseehafen"]),
            st.text(max_size=80),
        )
    )
    return FloatHistory(name, draw(amounts), points, tuple(stretches), draw(st.sampled_from(ZONES)))


@given(histories())
def test_no_label_covers_another_or_a_mark_or_leaves_the_picture(history: FloatHistory) -> None:
    laid = chart_picture.laid_out(history)
    boxes = [(label.text, label.box) for label in laid.labels]
    marks = [("mark", (m.x - 11, m.y - 11, m.x + 11, m.y + 11)) for m in laid.marks]

    for text, (left, top, right, bottom) in [*boxes, *marks]:
        assert left >= 4, text
        assert top >= 4, text
        assert right <= chart_picture.WIDTH - 4, text
        assert bottom <= chart_picture.HEIGHT - 4, text
    for (text, one), (other_text, other) in combinations(boxes, 2):
        assert _are_apart(one, other), (text, other_text)
    for (text, one), (_, other) in ((label, mark) for label in boxes for mark in marks):
        assert _are_apart(one, other), text
    for (_, one), (_, other) in combinations(marks, 2):
        assert _are_apart(one, other), "one mark hides another"


@settings(max_examples=50)
@given(histories())
def test_the_lines_stay_in_a_plot_that_is_wide_enough_to_read(history: FloatHistory) -> None:
    laid = chart_picture.laid_out(history)
    places = [place for line in laid.lines for place in line]
    gaps = [x for gap in laid.gaps for x in gap]

    assert laid.right - laid.left > 560
    assert all(laid.left - 1 <= x <= laid.right + 1 for x in (*(x for x, _ in places), *gaps, *laid.columns))
    assert all(laid.rows[-1] - 1 <= y <= laid.rows[0] + 1 for y in (*(y for _, y in places), laid.minimum))
    assert 2 <= len(laid.rows) <= 6
    assert laid.columns, "at least one time is named"


def _are_apart(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_of_very_many_readings_only_what_can_be_seen_is_drawn_and_no_peak_is_lost() -> None:
    balances = [1000 + n % 2 for n in range(14 * 24 * 60)]
    balances[777] = 9000
    points = tuple(
        FloatPoint(BEGINS + n * timedelta(minutes=1), Decimal(usd), Decimal(0), Decimal(n % 7))
        for n, usd in enumerate(balances)
    )
    laid = chart_picture.laid_out(FloatHistory("main", Decimal(1000), points[-2:], (points,), "UTC"))
    (line,) = laid.lines
    peak = min(y for _, y in line)

    assert len(line) < 5 * (laid.right - laid.left)
    assert (laid.rows[0] - peak) / (laid.rows[0] - laid.minimum) == pytest.approx(9, abs=0.01)


NEXT_TO_NOTHING = tuple(
    FloatPoint(BEGINS + n * timedelta(hours=1), Decimal(usd), Decimal(0), Decimal(0))
    for n, usd in enumerate((10**20, 0))
)


@settings(max_examples=50)
@example(FloatHistory("main", Decimal("0.01"), NEXT_TO_NOTHING, (NEXT_TO_NOTHING,), "UTC"))
@given(histories())
def test_the_last_balance_and_the_minimum_stand_beside_their_lines_in_their_order(
    history: FloatHistory,
) -> None:
    laid = chart_picture.laid_out(history)
    last, minimum = history.stretches[-1][-1].balance_usd, history.floor_usd
    beside = {label.color: label.box[1] for label in laid.labels if label.x > laid.right}

    if last != minimum:
        assert (beside[chart_picture.BALANCE] < beside[chart_picture.MINIMUM]) == (last > minimum)


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        ("0", "0", ["0.00", "0.01"]),
        ("862.45", "4291.95", ["0", "1000", "2000", "3000", "4000", "5000"]),
        ("-30", "40", ["-40", "-20", "0", "20", "40", "60"]),
    ],
)
def test_amounts_are_marked_in_round_steps_with_air_above(least: str, most: str, said: list[str]) -> None:
    found = ticks.of_amounts(Decimal(least), Decimal(most), at_most=6)

    assert [Decimal(text) for text in said] == found


@given(amounts, amounts)
def test_steps_of_amounts_are_equal_round_and_hold_both_ends(one: Decimal, other: Decimal) -> None:
    least, most = sorted([one, other])
    found = ticks.of_amounts(least, most, at_most=6)
    (step,) = {later - earlier for earlier, later in pairwise(found)}

    assert 2 <= len(found) <= 6
    assert found[0] <= least
    assert most < found[-1]
    assert step.normalize().as_tuple().digits in {(1,), (2,), (5,)}
    assert all(amount % step == 0 for amount in found)


def test_days_begin_at_midnight_of_the_zone_also_when_the_clocks_change() -> None:
    zone = ZoneInfo("Europe/Berlin")
    since = datetime(2026, 3, 27, 12, tzinfo=zone)
    ways = ticks.of_times(since, since + timedelta(days=5), zone)
    daily = next(way for way in ways if way[0].text == "28 Mar")

    assert [tick.text for tick in daily] == ["28 Mar", "29 Mar", "30 Mar", "31 Mar", "1 Apr"]
    assert {tick.at.astimezone(zone).time().isoformat() for tick in daily} == {"00:00:00"}
    assert daily[2].at - daily[1].at == timedelta(hours=23)


def test_an_hour_that_the_clocks_leave_out_is_not_marked_and_one_they_repeat_is_once() -> None:
    zone = ZoneInfo("Europe/Berlin")
    for day, hours in ((datetime(2026, 3, 29, tzinfo=zone), 5), (datetime(2026, 10, 25, tzinfo=zone), 6)):
        hourly = next(
            w
            for w in ticks.of_times(day, day + timedelta(hours=5), zone)
            if w[1].at - w[0].at == timedelta(hours=1)
        )
        texts = [tick.text for tick in hourly]
        assert len(texts) == len(set(texts)) == hours
        assert [tick.at for tick in hourly] == sorted(tick.at for tick in hourly)


def test_the_date_stands_under_the_first_time_of_each_day() -> None:
    since = datetime(2026, 3, 1, 18, tzinfo=UTC)
    ways = ticks.of_times(since, since + timedelta(hours=15), ZoneInfo("UTC"))
    of_six = next(w for w in ways if w[1].at - w[0].at == timedelta(hours=6))

    assert [(t.text, t.date) for t in of_six] == [("18:00", "1 Mar"), ("00:00", "2 Mar"), ("06:00", "")]


# Machado, Oliveira and Fernandes (2009): what is seen by people without one kind of cone, in linear RGB.
SEEN_WITHOUT = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
DRAWN = (chart_picture.BALANCE, chart_picture.MINIMUM, chart_picture.FUNDING, chart_picture.SPENT)


@pytest.mark.parametrize("without", SEEN_WITHOUT)
def test_nobody_takes_one_colour_for_another(without: str) -> None:
    rows = SEEN_WITHOUT[without]
    lights = [_linear(color) for color in DRAWN]
    seen = [_lab([sum(a * b for a, b in zip(row, light, strict=True)) for row in rows]) for light in lights]

    for one, other in combinations(seen, 2):
        assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 20


@pytest.mark.parametrize("color", [*DRAWN, chart_picture.INK, chart_picture.QUIET])
def test_words_and_lines_have_the_contrast_that_wcag_asks_of_text(color: str) -> None:
    red, green, blue = _linear(color)

    assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5


def _linear(color: str) -> list[float]:
    values = [value / 255 for value in ImageColor.getrgb(color)[:3]]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def _lab(rgb: list[float]) -> tuple[float, float, float]:
    red, green, blue = (min(max(value, 0), 1) for value in rgb)
    x, y, z = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
        for value in (
            (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
            0.2126 * red + 0.7152 * green + 0.0722 * blue,
            (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
        )
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
