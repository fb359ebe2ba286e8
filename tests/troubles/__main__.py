"""Play the troubles, print what was seen, and with `--write` keep it in benchmarks/TROUBLES.md."""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests.troubles import plays
from tests.troubles.timeline import Timeline

PAGE = Path(__file__).parents[2] / "benchmarks" / "TROUBLES.md"
EVERY = (*plays.ON_A_FILE, *plays.ON_A_SMALL_DISK, *plays.ON_POSTGRESQL)


def section(which: plays.Play, line: Timeline) -> str:
    """A trouble as a table."""
    rows = [f"| {at:.0f} | {where} | {what.replace('|', '/')} |" for at, where, what in line.seen]
    doc = (which.__doc__ or "").strip()
    return "\n".join([f"## {doc}", "", "| after s | where | what |", "|---:|---|---|", *rows, ""])


def _replaced(page: str, sections: list[str]) -> str:
    """The page with these sections in the place of the old ones."""
    made = {text.splitlines()[0]: text for text in sections}
    heading, *others = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    return heading + "\n".join(made.get(text.splitlines()[0], text.rstrip("\n") + "\n") for text in others)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.troubles")
    parser.add_argument("names", nargs="*", help=", ".join(one.__name__ for one in EVERY))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args(arguments)
    found = []
    for which in EVERY:
        if asked.names and which.__name__ not in asked.names:
            continue
        with tempfile.TemporaryDirectory(prefix="cstr") as folder:
            line = asyncio.run(plays.play(which, Path(folder) / "w"))
            found.append(section(which, line))
        sys.stdout.write(found[-1] + "\n")
        sys.stdout.flush()
    if asked.write and asked.names:
        PAGE.write_text(_replaced(PAGE.read_text(), found))
    elif asked.write:
        PAGE.write_text(
            "# Troubles\n\nWhat goes wrong around a running bot, and who is notified of it, where, and when. Made by"
            f" `python -m tests.troubles --write` on {datetime.now(UTC):%Y-%m-%d}, with everything on one machine.\n\n"
            + "\n".join(found)
        )


if __name__ == "__main__":
    main(sys.argv[1:])
