"""The float's chart as a PNG, for a Slack that takes no chart: the same figures always give the same bytes.

First everything gets its place (`laid_out`), so that a test can see that no label covers another; then Pillow paints
it (`png`), twice as large as it is shown. Pillow is imported when a chart is drawn: most processes never draw one.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import groupby, pairwise
from math import ceil, floor
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bot.domain.money import format_usd
from bot.view_models import FloatHistory, FloatPoint
from handlers.views import ticks

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

_X = Callable[[datetime], float]  # the place of a time
_Y = Callable[[Decimal], float]  # of an amount in USD
_Line = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 1280, 720
PAPER, FRAME, GRID, UNSEEN = "#ffffff", "#d0d7de", "#e3e6ea", "#eef0f3"
INK, QUIET = "#1f2328", "#57606a"
# Each is distinguished from the others by its brightness, too, so that no kind of colour blindness confuses them.
BALANCE, MINIMUM, FUNDING, SPENT = "#0a6ebd", "#c04a00", "#004d40", "#a8327e"
_TITLE, _TEXT, _SMALL, _TINY = 44, 28, 24, 8  # letter sizes in pixels
_MARGIN = 44
_TOP, _BOTTOM = 204, 596  # of the plot
_HIGHEST, _LOWEST = (
    _TOP + 36,
    _BOTTOM - 36,
)  # of the amounts; what came in is marked above, what went out below
_LINES = 6  # of the grid, at most
_AMOUNTS_WIDE = 260  # the amounts on the left, at most
_GUTTER_WIDE = 330  # what the lines are called, on the right, at most
_MARK = 11  # half the width of a triangle
_FINE = 3  # shapes are drawn this much larger and then reduced, for smooth edges
_SHORTEST = timedelta(minutes=10)  # of the time axis


@dataclass(frozen=True, slots=True)
class Label:
    """Words with their box: `x`, `y` is its upper left corner, in pixels."""

    text: str
    x: float
    y: float
    size: int
    color: str = INK

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return self.x, self.y, self.x + _wide(self.text, self.size), self.y + _high(self.size)


@dataclass(frozen=True, slots=True)
class Mark:
    """A triangle around this point, up for what came in and down for what went out."""

    x: float
    y: float
    up: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is, in pixels from the upper left corner."""

    left: float
    right: float
    labels: Sequence[Label]
    legend: Sequence[
        tuple[float, float, str]
    ]  # where the sample of each entry begins, its middle, and its word
    rows: Sequence[float]  # of the grid
    columns: Sequence[float]  # ticks under the plot
    minimum: float
    lines: Sequence[_Line]  # one for each stretch in which somebody read
    gaps: Sequence[tuple[float, float]]
    marks: Sequence[Mark]


def png(history: FloatHistory) -> bytes:
    """Balance as steps, the minimum dashed, funding pointing up and top-ups and fees pointing down."""
    from PIL import Image

    laid = laid_out(history)
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    _paint_plot(image, laid)
    _paint_legend(image, laid)
    _paint_words(image, laid)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


# --- where everything goes


def laid_out(history: FloatHistory) -> Layout:
    """The chart of at least one reading, whatever its amounts and times."""
    zone = ZoneInfo(history.zone)
    points = [point for stretch in history.stretches for point in stretch]
    since, until = _times(points[0].at, history.until)
    amounts = ticks.of_amounts(*_ends(points, history.floor_usd), at_most=_LINES)
    words = [f"{usd:,.2f}" if amounts[1] - amounts[0] < 1 else f"{usd:,.0f}" for usd in amounts]
    size = _fitting(words, _SMALL, _AMOUNTS_WIDE)
    left = _MARGIN + max(_wide(word, size) for word in words) + 16
    called, right = _called(history, points[-1], zone)

    def x_of(at: datetime) -> float:
        return left + (at - since) / (until - since) * (right - left)

    def y_of(usd: Decimal) -> float:
        return _LOWEST - float((usd - amounts[0]) / (amounts[-1] - amounts[0])) * (_LOWEST - _HIGHEST)

    rows = [y_of(usd) for usd in amounts]
    columns, times = _under(since, until, zone, x_of)
    lines, gaps = _stretches(history, x_of, y_of)
    marks = [
        *_marks((x_of(point.at) for point in points if point.funded_usd > 0), up=True),
        *_marks((x_of(point.at) for point in points if point.spent_usd > 0), up=False),
    ]
    entries, legend = _legend(marks, has_gaps=bool(gaps))
    labels = [
        *_head(history, since, until, zone),
        *entries,
        *(
            _ending_at(left - 16, y - _high(size) / 2, word, size)
            for y, word in zip(rows, words, strict=True)
        ),
        _ending_at(left - 16, _HIGHEST - 52, "USD", _SMALL),
        *times,
        *_beside(
            called,
            y_of(points[-1].balance_usd),
            y_of(history.floor_usd),
            right + 18,
            is_below=points[-1].balance_usd < history.floor_usd,
        ),
    ]
    return Layout(left, right, labels, legend, rows, columns, y_of(history.floor_usd), lines, gaps, marks)


def _times(first: datetime, last: datetime) -> tuple[datetime, datetime]:
    """The ends of the time axis. What was read only once is in its middle."""
    missing = max(_SHORTEST - (last - first), timedelta()) / 2
    return first - missing, last + missing


def _ends(points: Sequence[FloatPoint], minimum_usd: Decimal) -> tuple[Decimal, Decimal]:
    """Least and most, at least a fiftieth apart: a balance that hardly moves shall not look as if it did."""
    amounts = [minimum_usd, *(point.balance_usd for point in points)]
    least, most = min(amounts), max(amounts)
    air = max(max(abs(least), abs(most)) / 50 - (most - least), Decimal(0)) / 2
    return (max(least - air, Decimal(0)) if least >= 0 else least - air), most + air


def _head(history: FloatHistory, since: datetime, until: datetime, zone: ZoneInfo) -> list[Label]:
    first, last = _dated(since, zone), _dated(until, zone)
    days = first if first == last else f"{first} to {last}"
    widest = WIDTH - 2 * _MARGIN
    return [
        Label(_cut(_drawable(f"Float of {history.program}"), _TITLE, widest), _MARGIN, 34, _TITLE),
        Label(_cut(f"{days} · times in {zone.key}", _TEXT, widest), _MARGIN, 90, _TEXT, QUIET),
    ]


def _dated(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local.day} {local:%b %Y}"


def _legend(marks: Sequence[Mark], *, has_gaps: bool) -> tuple[list[Label], list[tuple[float, float, str]]]:
    """Only what the chart shows."""
    shown = {
        "Balance": True,
        "Minimum": True,
        "Funding in": any(mark.up for mark in marks),
        "Top-ups and fees": not all(mark.up for mark in marks),
        "No readings": has_gaps,
    }
    labels: list[Label] = []
    samples: list[tuple[float, float, str]] = []
    x: float = _MARGIN
    for word in (word for word, is_shown in shown.items() if is_shown):
        samples.append((x, 134 + _high(_SMALL) / 2, word))
        labels.append(Label(word, x + 44, 134, _SMALL))
        x = labels[-1].box[2] + 36
    return labels, samples


def _under(since: datetime, until: datetime, zone: ZoneInfo, x_of: _X) -> tuple[list[float], list[Label]]:
    """The finest ticks whose words leave room between them; dates below the times of day, where they have room."""
    for found in ticks.of_times(since, until, zone):
        times = [_around(x_of(tick.at), _BOTTOM + 26, tick.text, _SMALL) for tick in found]
        if times and _apart(times, 34):
            break
    else:
        return [], []
    dates: list[Label] = []
    for tick in found:
        date = _around(x_of(tick.at), _BOTTOM + 58, tick.date, _SMALL, QUIET)
        if tick.date and _apart([*dates[-1:], date], 20):
            dates.append(date)
    return [x_of(tick.at) for tick in found], [*times, *dates]


def _apart(labels: Sequence[Label], pixels: float) -> bool:
    """Is there so much room between each and the next?"""
    boxes = [label.box for label in labels]
    return all(one[2] + pixels <= other[0] for one, other in pairwise(boxes))


def _called(
    history: FloatHistory, last: FloatPoint, zone: ZoneInfo
) -> tuple[tuple[list[Label], list[Label]], float]:
    """What the ends of the two lines are called, at no place yet, and where the plot ends before them."""
    local = last.at.astimezone(zone)
    balance, minimum = format_usd(last.balance_usd), format_usd(history.floor_usd)
    size = _fitting([balance, minimum], _TEXT, _GUTTER_WIDE)
    blocks = (
        [Label(balance, 0, 0, size, BALANCE), Label(f"{local.day} {local:%b %H:%M}", 0, 0, _SMALL, QUIET)],
        [Label("Minimum", 0, 0, _SMALL, MINIMUM), Label(minimum, 0, 0, size, MINIMUM)],
    )
    widest = max(_wide(label.text, label.size) for block in blocks for label in block)
    return blocks, WIDTH - _MARGIN - 18 - widest


def _beside(
    blocks: tuple[list[Label], list[Label]], balance_y: float, minimum_y: float, x: float, *, is_below: bool
) -> list[Label]:
    """The two blocks, each as near to the end of its line as the other lets it."""
    high, low = (blocks[1], blocks[0]) if is_below else (blocks[0], blocks[1])
    high_y, low_y = min(balance_y, minimum_y), max(balance_y, minimum_y)
    first, second = _tall(high), _tall(low)
    pushed = max(0.0, (first + second) / 2 + 10 - (low_y - high_y)) / 2
    top = min(max(high_y - pushed - first / 2, _TOP - 24), _BOTTOM + 20 - first - second - 10)
    below = min(max(low_y + pushed - second / 2, top + first + 10), _BOTTOM + 20 - second)
    return [*_stacked(high, x, top), *_stacked(low, x, below)]


def _tall(block: Sequence[Label]) -> float:
    return sum(_high(label.size) for label in block)


def _stacked(block: Sequence[Label], x: float, y: float) -> list[Label]:
    placed: list[Label] = []
    for label in block:
        placed.append(Label(label.text, x, y, label.size, label.color))
        y += _high(label.size)
    return placed


def _stretches(history: FloatHistory, x_of: _X, y_of: _Y) -> tuple[list[_Line], list[tuple[float, float]]]:
    """A balance holds until the next reading, so the lines are steps; between two stretches nobody knows."""
    lines: list[_Line] = []
    gaps: list[tuple[float, float]] = []
    for stretch in history.stretches:
        line: list[tuple[float, float]] = []
        for point in stretch:
            x, y = x_of(point.at), y_of(point.balance_usd)
            if len(line) > 1 and line[-2][1] == line[-1][1]:
                line.pop()  # the same balance for longer
            line += [(x, line[-1][1]), (x, y)] if line else [(x, y)]
        if lines:
            gaps.append((lines[-1][-1][0], line[0][0]))
        lines.append(_thinned(line))
    if history.stretches[-1][-1].at < history.until:
        gaps.append((lines[-1][-1][0], x_of(history.until)))
    return lines, gaps


def _thinned(line: _Line) -> _Line:
    """Of what shares a column of pixels, the first, the last and the two farthest: more would not be seen."""
    kept: list[tuple[float, float]] = []
    for _, places in groupby(line, key=lambda place: floor(place[0])):
        column = list(places)
        if len(column) > 4:
            column = [column[0], min(column, key=_height), max(column, key=_height), column[-1]]
        kept += column
    return kept


def _height(place: tuple[float, float]) -> float:
    return place[1]


def _marks(xs: Iterable[float], *, up: bool) -> list[Mark]:
    """One for all that would cover each other."""
    marks: list[Mark] = []
    for x in xs:
        if not marks or x - marks[-1].x > 2 * _MARK:
            marks.append(Mark(x, _TOP + 16 if up else _BOTTOM - 16, up))
    return marks


# --- words


@cache
def _font(size: int) -> FreeTypeFont:
    """Pillow's own letters, laid out by Pillow alone, so that every machine draws the same."""
    from PIL import ImageFont

    found = ImageFont.load_default(size)
    if not isinstance(found, ImageFont.FreeTypeFont):
        raise TypeError("This Pillow was built without FreeType, so it has no letters that scale.")
    return found.font_variant(layout_engine=ImageFont.Layout.BASIC)


def _wide(text: str, size: int) -> float:
    return _font(size).getlength(text)


def _high(size: int) -> float:
    return float(sum(_font(size).getmetrics()))


def _fitting(words: Sequence[str], size: int, pixels: float) -> int:
    """The size at which the longest of these is no wider."""
    while size > _TINY and max(_wide(word, size) for word in words) > pixels:
        size -= 1
    return size


def _cut(text: str, size: int, pixels: float) -> str:
    while _wide(text, size) > pixels:
        text = text.removesuffix("…")[:-1] + "…"
    return text


def _drawable(text: str) -> str:
    """The letters have no accents, and some have no letter at all."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "replace").decode()
    return "".join(c for c in plain if c.isprintable())


def _ending_at(x: float, y: float, text: str, size: int) -> Label:
    return Label(text, x - _wide(text, size), y, size, QUIET)


def _around(x: float, y: float, text: str, size: int, color: str = INK) -> Label:
    return Label(text, x - _wide(text, size) / 2, y, size, color)


# --- paint


def _paint_plot(image: Image, laid: Layout) -> None:
    pen = _pen(image)
    pen.rectangle((0, 0, WIDTH - 1, HEIGHT - 1), outline=FRAME, width=2)
    for begins, ends in laid.gaps:
        pen.rectangle((begins, _TOP, ends, _BOTTOM), fill=UNSEEN)
    for y in laid.rows:
        pen.line((laid.left, y, laid.right, y), fill=GRID, width=2)
    pen.line((laid.left, _BOTTOM, laid.right, _BOTTOM), fill=QUIET, width=2)
    for x in laid.columns:
        pen.line((x, _BOTTOM, x, _BOTTOM + 10), fill=QUIET, width=2)
    _paint_lines(image, laid)
    _dashes(
        pen, laid.left, laid.right, laid.minimum
    )  # last, so that a balance at the minimum does not hide it
    for mark in laid.marks:
        _paint_mark(image, mark)


def _paint_lines(image: Image, laid: Layout) -> None:
    with _Fine(image, BALANCE, (laid.left - 8, _HIGHEST - 8, laid.right + 8, _LOWEST + 8)) as fine:
        for line in laid.lines:
            fine.line(line, 5)
            fine.dot(line[-1], 7)


def _paint_mark(image: Image, mark: Mark) -> None:
    x, y, half = mark.x, mark.y, _MARK
    tip, base = (y - half, y + half) if mark.up else (y + half, y - half)
    with _Fine(image, FUNDING if mark.up else SPENT, (x - half, y - half, x + half, y + half)) as fine:
        fine.filled(((x, tip), (x - half, base), (x + half, base)))


def _paint_legend(image: Image, laid: Layout) -> None:
    pen = _pen(image)
    for x, y, word in laid.legend:
        if word == "Balance":
            pen.line((x, y, x + 32, y), fill=BALANCE, width=5)
        elif word == "Minimum":
            _dashes(pen, x, x + 32, y)
        elif word == "No readings":
            pen.rectangle((x, y - 12, x + 32, y + 12), fill=UNSEEN, outline=FRAME, width=2)
        else:
            _paint_mark(image, Mark(x + 20, y, word == "Funding in"))


def _paint_words(image: Image, laid: Layout) -> None:
    pen = _pen(image)
    for label in laid.labels:
        pen.text((label.x, label.y), label.text, fill=label.color, font=_font(label.size))


def _pen(image: Image) -> ImageDraw:
    from PIL import ImageDraw

    return ImageDraw.Draw(image)


def _dashes(pen: ImageDraw, begins: float, ends: float, y: float) -> None:
    x = begins
    while x < ends:
        pen.line((x, y, min(x + 12, ends), y), fill=MINIMUM, width=4)
        x += 20


class _Fine:
    """Shapes with smooth edges: drawn larger than they are within this box, then reduced onto the picture."""

    def __init__(self, image: Image, color: str, box: tuple[float, float, float, float]) -> None:
        from PIL import Image as Images

        self._image, self._color = image, color
        self._left, self._top = floor(box[0]), floor(box[1])
        size = (ceil(box[2]) - self._left + 1) * _FINE, (ceil(box[3]) - self._top + 1) * _FINE
        self._mask = Images.new("L", size)
        self._pen = _pen(self._mask)

    def __enter__(self) -> _Fine:
        return self

    def __exit__(self, *_: object) -> None:
        self._image.paste(self._color, (self._left, self._top), self._mask.reduce(_FINE))

    def _at(self, points: _Line) -> _Line:
        return [((x - self._left) * _FINE, (y - self._top) * _FINE) for x, y in points]

    def line(self, points: _Line, width: int) -> None:
        if len(points) > 1:
            self._pen.line(self._at(points), fill=255, width=width * _FINE, joint="curve")

    def dot(self, point: tuple[float, float], radius: int) -> None:
        ((x, y),) = self._at([point])
        far = radius * _FINE
        self._pen.ellipse((x - far, y - far, x + far, y + far), fill=255)

    def filled(self, corners: _Line) -> None:
        self._pen.polygon(self._at(corners), fill=255)
