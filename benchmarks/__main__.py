"""Runs every benchmark and writes benchmarks/RESULTS.md; or those named as arguments.

python -m benchmarks                                      all of them, as `make bench`
python -m benchmarks bench_audit                          one, printed
python -m benchmarks --write bench_audit                  and its section of the page made again
python -m benchmarks bench_growth --size 20000            where the size of the sample can be chosen
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import MISSED, Row

FOLDER = Path(__file__).parent
PAGE = FOLDER / "RESULTS.md"
GOALS = "## Goals that are missed"


def main(arguments: list[str]) -> None:
    """Measure, print as it goes, write the page when everything was measured."""
    asked = _options().parse_args(arguments)
    found = sorted(path.stem for path in FOLDER.glob("bench_*.py"))
    sections: dict[str, str] = {}
    for name in asked.names or found:
        module = importlib.import_module(f"benchmarks.{name}")
        rows = module.measure() if asked.size is None else module.measure(asked.size)
        sections[name] = _section(name, module.__doc__ or "", rows)
        sys.stdout.write(sections[name] + "\n")
    if not asked.names:
        PAGE.write_text(_heading() + _page(sections), encoding="utf-8")
    elif asked.write:
        PAGE.write_text(_replaced(PAGE.read_text(encoding="utf-8"), sections), encoding="utf-8")


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true", help="make these sections of the page again")
    parser.add_argument("--size", type=int, help="of the sample, of those benchmarks that have one")
    return parser


def _replaced(page: str, sections: dict[str, str]) -> str:
    """The page with these sections in the place of the old ones, all in the order of their names."""
    heading, *others = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    known = {other.split()[1]: other.rstrip("\n") + "\n" for other in others if not other.startswith(GOALS)}
    dated = {name: f"{text}\n{_when()}\n" for name, text in sections.items()}
    return heading + _page(known | dated)


def _when() -> str:
    """With what else the machine had to do: on two cores a load above 2 means that figures in ms say little."""
    load = os.getloadavg()[1]
    return f"Measured on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, a load of {load:.0f} over five minutes."


def _page(sections: Mapping[str, str]) -> str:
    """What was missed, and then each benchmark in the order of its name."""
    missed = [
        f"- {name}, {line.split(' | ')[0].removeprefix('| ')}: {line.split(' | ')[2].removesuffix(' |')}"
        for name, text in sorted(sections.items())
        for line in text.splitlines()
        if MISSED in line
    ]
    goals = "\n".join([GOALS, "", *(missed or ["No row below is marked as missed."]), ""])
    return "\n".join([goals, *(text for _, text in sorted(sections.items()))])


def _heading() -> str:
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    return f"# Results\n\nMade by `make bench` on {datetime.now(UTC):%Y-%m-%d}: {machine}.\n\n"


def _section(name: str, doc: str, rows: list[Row]) -> str:
    lines = [
        f"## {name}",
        "",
        doc.strip().splitlines()[0],
        "",
        "| metric | figure | compared with |",
        "|---|---|---|",
    ]
    lines += [f"| {row.metric} | {row.figure} | {row.compared} |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
