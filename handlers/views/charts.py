"""The float as a chart: Slack's own block, with its figures in words below. Where Slack takes no chart, the words
stay, and the float's is drawn as a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from bot.domain.money import exact_sum, format_usd
from bot.view_models import FloatHistory
from handlers.views import blocks as b
from handlers.views import chart_picture

_CHART = "data_visualization"
Days = Sequence[tuple[date, Decimal]]
_BARS = "▁▂▃▄▅▆▇█"
_DATE = re.compile(r"<!date\^[^>|]*\|([^>]*)>")


class FloatChart(dict[str, Any]):
    """Slack's block, which remembers the history that it shows: where Slack refuses it, that is drawn as a file."""

    def __init__(self, block: b.Block, history: FloatHistory) -> None:
        super().__init__(block)
        self.history = history


@dataclass(frozen=True, slots=True)
class Picture:
    """The float's chart as a file: what is drawn, and the words that tell the same to those who do not see it."""

    title: str
    alt: str
    history: FloatHistory

    def png(self) -> bytes:
        """Some tens of milliseconds of work, which need not be the event loop's."""
        return chart_picture.png(self.history)


def float_chart(found: FloatHistory) -> list[b.Block]:
    """Balance with the floor; the sentence that tells the same; and as bars what came and what left, where any did."""
    return [_float_chart(found), b.context(_in_words(found)), *_flow_chart(found)]


def _float_chart(found: FloatHistory) -> FloatChart:
    labels = _labels(found)
    series = [
        _series("Balance", labels, [point.balance_usd for point in found.points]),
        _series("Floor", labels, [found.floor_usd] * len(labels)),
    ]
    axes = {"categories": labels, "x_label": found.zone, "y_label": "USD"}
    chart = {"type": "line", "series": series, "axis_config": axes}
    title = b.cut(f"Float of {b.clean(found.program)}", 50)
    return FloatChart({"type": _CHART, "title": title, "chart": chart}, found)


def _flow_chart(found: FloatHistory) -> list[b.Block]:
    """What came and what left between the moments of the float's chart, each by its name and above zero."""
    labels = _labels(found)
    flows = [(name, usd) for name, usd, _ in _flows(found) if any(usd)]
    if not flows:
        return []
    axes = {"categories": labels, "x_label": found.zone, "y_label": "USD"}
    series = [_series(name[:1].upper() + name[1:], labels, usd) for name, usd in flows]
    chart = {"type": "bar", "series": series, "axis_config": axes}
    title = b.cut(f"Into and out of the float of {b.clean(found.program)}", 50)
    return [{"type": _CHART, "title": title, "chart": chart}]


def _labels(found: FloatHistory) -> list[str]:
    """By the reader's clock, or the team's."""
    zone = ZoneInfo(found.zone)
    return [f"{point.at.astimezone(zone):%d %b %H:%M}" for point in found.points]


def _series(name: str, labels: list[str], amounts_usd: list[Decimal]) -> b.Block:
    # Numbers to draw, not to reckon with: cents are exact enough for a line.
    points = zip(labels, amounts_usd, strict=True)
    return {"name": name, "data": [{"label": label, "value": round(float(usd), 2)} for label, usd in points]}


def _in_words(found: FloatHistory) -> str:
    balances = [point.balance_usd for point in found.points]
    # Of all readings: the points of the chart shift with the time of asking, and may miss the lowest.
    known = balances + [point.balance_usd for stretch in found.stretches for point in stretch]
    return (
        f"{_line(balances)} since {b.when(found.points[0].at)}: lowest {format_usd(min(known))}, highest"
        f" {format_usd(max(known))}, now {format_usd(balances[-1])}, floor {format_usd(found.floor_usd)} ·"
        f" {_in_and_out(found)}"
    )


def _in_and_out(found: FloatHistory) -> str:
    return ", ".join(
        f"{name} {format_usd(exact_sum(usd))}" for name, usd, always in _flows(found) if any(usd) or always
    )


def _flows(found: FloatHistory) -> list[tuple[str, list[Decimal], bool]]:
    """What came and what left up to each point, in USD and above zero, each by its name: a fall is never called an
    income, and a rise no fee. The third says whether it is named where there was none."""
    funded = [point.funded_usd for point in found.points]
    spent = [point.spent_usd for point in found.points]
    none = Decimal(0)
    return [
        ("funding in", [max(usd, none) for usd in funded], True),
        ("funding taken back", [max(-usd, none) for usd in funded], False),
        ("top-ups and fees", [max(usd, none) for usd in spent], True),
        ("back from cards", [max(-usd, none) for usd in spent], False),
    ]


def _line(values: list[Decimal]) -> str:
    low, high = min(values), max(values)
    steps = (int((value - low) * 7 / (high - low)) if high > low else 0 for value in values)
    return "".join(_BARS[step] for step in steps)


def by_day(title: str, series: Sequence[tuple[str, Days]]) -> list[b.Block]:
    """Sums by day as bars, all series over the same days; nothing where there is no second day to compare with."""
    days = [day for day, _ in series[0][1]]
    if sum(1 for n in range(len(days)) if any(sums[n][1] for _, sums in series)) < 2:
        return []
    labels = [f"{day.day} {day:%b}" for day in days]
    drawn = [_series(name, labels, [amount_usd for _, amount_usd in sums]) for name, sums in series]
    axes = {"categories": labels, "x_label": "Day" if _is_daily(days) else "From", "y_label": "USD"}
    chart = {"type": "bar", "series": drawn, "axis_config": axes}
    block = {"type": _CHART, "title": b.cut(b.clean(title), 50).strip() or "–", "chart": chart}
    return [block, b.context(" · ".join(_most(name, sums, daily=_is_daily(days)) for name, sums in series))]


def _is_daily(days: Sequence[date]) -> bool:
    return (days[1] - days[0]).days == 1


def _most(name: str, sums: Days, *, daily: bool) -> str:
    day, amount_usd = max(sums, key=lambda one: one[1])
    when = f"on {day.day} {day:%b}" if daily else f"in the 7 days from {day.day} {day:%b}"
    return f"{name} {_line([usd for _, usd in sums])} most {when}: {format_usd(amount_usd)}"


def has_chart(message: b.Block) -> bool:
    return any(block["type"] == _CHART for block in message.get("blocks", ()))


def without_chart(message: b.Block, note: str = "") -> b.Block:
    """The same message for a Slack that takes no charts; the figures stand in the words, the note in its place."""
    left: list[b.Block] = []
    for block in message["blocks"]:
        if block["type"] != _CHART:
            left.append(block)
            continue
        if note:
            left.append(b.context(note))
            note = ""  # once is enough, however many charts there were
    return {**message, "blocks": left}


def picture(message: b.Block) -> Picture | None:
    """The float's chart in this message, for us to draw; None where it has none: charts by day are given in words."""
    for chart, words in pairwise(message.get("blocks", [])):
        if isinstance(chart, FloatChart):
            return _picture(chart, words["elements"][0]["text"])
    return None


def picture_of(history: FloatHistory) -> Picture:
    """The float's chart by itself."""
    return _picture(_float_chart(history), _in_words(history))


def _picture(chart: FloatChart, words: str) -> Picture:
    said = _DATE.sub(r"\1", words.lstrip(_BARS).strip())
    return Picture(chart["title"], f"{chart['title']} {said}", chart.history)
