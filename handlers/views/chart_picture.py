"""The float's chart as a PNG, for a Slack that takes no chart: the same figures always give the same bytes.

Drawn twice as large as it is shown, in few colours and with letters of three by five dots.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH, HEIGHT = 1200, 640
_LEFT, _RIGHT, _TOP, _BOTTOM = 230, 1150, 140, 540  # of the plot, in pixels
# Colours by their place in the palette; each has its word in the legend, and its own form, too.
PAPER, GRID, INK, BALANCE, FLOOR, FUNDING, SPENT = range(7)
PALETTE = bytes.fromhex("ffffff e3e6ea 33383f 1a5fb4 c01c28 26812f b35900")
_DOT = 4  # pixels of one dot of a letter
_TIMES = 3  # labels under the plot, at most
_LINES = 5  # of the grid, at most
# Five rows of three dots for each character, as octal digits from the top.
_DOTS = (
    "7555726227717477171755711747177475771111757577571725755656563444365556746477464434553557557222711152"
    "5565544447577556555525552656442556365655342167222255557555525577555255552227124700700000020002402020"
)
_FONT = {
    character: _DOTS[5 * n : 5 * n + 5]
    for n, character in enumerate("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-.,:")
}


@dataclass(frozen=True, slots=True)
class Course:
    """What is drawn, in USD, oldest first: as many labels (`21 Nov 04:28`) and figures of each sort."""

    title: str
    labels: Sequence[str]
    balances: Sequence[float]
    floor: float
    funded: Sequence[float]
    spent: Sequence[float]


def png(course: Course) -> bytes:
    """Balance as a line, the floor dashed, funding pointing up and top-ups pointing down."""
    canvas = _Canvas()
    low, high, step = _scale([*course.balances, course.floor])

    def y_of(usd: float) -> int:
        return round(_BOTTOM - (usd - low) / (high - low) * (_BOTTOM - _TOP))

    gaps = max(len(course.balances) - 1, 1)
    xs = [_LEFT + round(n * (_RIGHT - _LEFT) / gaps) for n in range(len(course.balances))]
    for n in range(round((high - low) / step) + 1):
        usd = low + n * step
        canvas.box(_LEFT, y_of(usd), _RIGHT, y_of(usd) + 1, GRID)
        canvas.text(_LEFT - 16, y_of(usd) - 10, f"{usd:,.2f}" if step < 1 else f"{usd:,.0f}", end=1)
    _words(canvas, course, xs)
    for x in range(_LEFT, _RIGHT, 24):
        canvas.box(x, y_of(course.floor) - 1, min(x + 13, _RIGHT), y_of(course.floor) + 1, FLOOR)
    points = [(x, y_of(usd)) for x, usd in zip(xs, course.balances, strict=True)]
    for one, other in pairwise(points):
        canvas.line(one, other)
    for (x, y), funded, spent in zip(points, course.funded, course.spent, strict=True):
        if funded > 0:
            canvas.arrow(x, y - 26, 1, FUNDING)
        if spent > 0:
            canvas.arrow(x, y + 26, -1, SPENT)
    return canvas.png()


def _words(canvas: _Canvas, course: Course, xs: Sequence[int]) -> None:
    """Title, legend, and what the axes are; times at equal steps, the last one always."""
    canvas.text(_LEFT, 24, course.title)
    for x, color, word in (
        (_LEFT, BALANCE, "BALANCE"),
        (_LEFT + 190, FLOOR, "FLOOR"),
        (_LEFT + 340, FUNDING, "FUNDING IN"),
        (_LEFT + 570, SPENT, "TOP-UPS AND FEES"),
    ):
        if color in (FUNDING, SPENT):
            canvas.arrow(x + 10, 76, 1 if color == FUNDING else -1, color)
        else:
            canvas.box(x, 74, x + (20 if color == BALANCE else 8), 77, color)
            canvas.box(x + 14, 74, x + 21, 77, color)
        canvas.text(x + 32, 66, word)
    canvas.text(_LEFT - 16, _TOP - 44, "USD", end=1)
    canvas.text(_RIGHT, _BOTTOM + 60, "UTC", end=1)
    for n in _shown(len(xs)):
        canvas.box(xs[n], _BOTTOM, xs[n] + 1, _BOTTOM + 8, INK)
        canvas.text(xs[n], _BOTTOM + 22, course.labels[n], end=1 if n == len(xs) - 1 and n else 0.5)


def _shown(count: int) -> list[int]:
    last, times = count - 1, min(count, _TIMES)
    return sorted({last - round(n * last / max(times - 1, 1)) for n in range(times)})


def _scale(amounts_usd: Sequence[float]) -> tuple[float, float, float]:
    """From, to and step of the grid: round figures with all amounts between them."""
    least, most = min(amounts_usd), max(amounts_usd)
    step = 0.01
    factors = (2, 2.5, 2)  # 1, 2, 5, 10, …
    n = 0
    while most // step + 1 - least // step > _LINES - 1:
        step = round(step * factors[n % 3], 2)
        n += 1
    low = least // step * step
    high = (most // step + 1) * step
    return low, high, step


class _Canvas:
    """Pixels as places in the palette; what is outside is not drawn."""

    def __init__(self) -> None:
        self._rows = [bytearray(WIDTH) for _ in range(HEIGHT)]

    def box(self, x: int, y: int, to_x: int, to_y: int, color: int) -> None:
        """A filled box; its far edges belong to it."""
        x, to_x = max(x, 0), min(to_x, WIDTH - 1)
        for row in self._rows[max(y, 0) : to_y + 1]:
            row[x : to_x + 1] = bytes([color]) * max(to_x + 1 - x, 0)

    def line(self, one: tuple[int, int], other: tuple[int, int]) -> None:
        (x, y), (to_x, to_y) = one, other
        steps = max(abs(to_x - x), abs(to_y - y), 1)
        for n in range(steps + 1):
            at_x, at_y = round(x + (to_x - x) * n / steps), round(y + (to_y - y) * n / steps)
            self.box(at_x - 2, at_y - 2, at_x + 2, at_y + 2, BALANCE)

    def arrow(self, x: int, y: int, up: int, color: int) -> None:
        """A triangle around this point, up (1) or down (-1)."""
        for n in range(-8, 9):
            half = (n + 8) // 2
            self.box(x - half, y + up * n, x + half, y + up * n, color)

    def text(self, x: int, y: int, words: str, *, end: float = 0) -> None:
        """From `x` on; up to it with `end` 1, around it with 0.5. A character without dots is a gap."""
        x -= round(end * (len(words) * 4 - 1) * _DOT)
        for place, character in enumerate(words.upper()):
            for row, dots in enumerate(_FONT.get(character, "")):
                for column in range(3):
                    if int(dots) >> (2 - column) & 1:
                        at_x, at_y = x + (place * 4 + column) * _DOT, y + row * _DOT
                        self.box(at_x, at_y, at_x + _DOT - 1, at_y + _DOT - 1, INK)

    def png(self) -> bytes:
        """8 bits a pixel with a palette, rows unfiltered [PNG specification, section 11]."""
        header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)
        rows = zlib.compress(b"".join(b"\0" + row for row in self._rows), 9)
        chunks = ((b"IHDR", header), (b"PLTE", PALETTE), (b"IDAT", rows), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
