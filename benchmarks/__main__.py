"""Runs every benchmark, or those named as arguments, and writes benchmarks/RESULTS.md."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import Row

FOLDER = Path(__file__).parent


def main(names: list[str]) -> None:
    """Measure, print as it goes, write the page when everything was measured."""
    found = sorted(path.stem for path in FOLDER.glob("bench_*.py"))
    sections: list[str] = []
    for name in names or found:
        module = importlib.import_module(f"benchmarks.{name}")
        section = _section(name, module.__doc__ or "", module.measure())
        sys.stdout.write(section + "\n")
        sections.append(section)
    if not names:
        (FOLDER / "RESULTS.md").write_text(_heading() + "\n".join(sections), encoding="utf-8")


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
