"""Writes docs/cli.md from the command itself; `make docs` runs it and a test says when it is due."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from bot.cli import app

TARGET = Path(__file__).with_name("cli.md")


def cli_page() -> str:
    """The page: one heading a command, its help and its options."""
    lines = [
        "# Commands",
        "",
        "Made by `make docs` from the command itself; every command also answers `--help`.",
        "",
        "Exit codes: 0 done · 1 not done, or not well · 2 cannot be done as asked (usage, settings, a database"
        " that cannot be read) · 78 the master key does not fit the database.",
    ]
    for path, command in _walk(typer.main.get_command(app), ""):
        lines += ["", f"## countersign{path}", "", *_help(command)]
        options = [parameter for parameter in command.params if parameter.name != "help"]
        if options:
            lines += ["", "| | |", "|---|---|", *map(_row, options)]
    return "\n".join(lines) + "\n"


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", {})
    if path and not children:
        yield path, command
    for name, child in children.items():
        yield from _walk(child, f"{path} {name}")


def _help(command: Any) -> list[str]:
    paragraphs = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    return "\n\n".join(paragraphs).split("\n")


def _row(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    name = parameter.name.upper() if is_argument else ", ".join(parameter.opts)
    shows_default = not is_argument and not parameter.is_flag and parameter.default not in (None, "")
    default = (
        f" Default: `{getattr(parameter.default, 'value', parameter.default)}`." if shows_default else ""
    )
    return f"| `{name}` | {' '.join((parameter.help or '').split())}{default} |"


if __name__ == "__main__":
    TARGET.write_text(cli_page(), encoding="utf-8")
