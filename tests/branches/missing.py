"""The branches that were not taken, by their code: `storage/x.py: Store.read: `if row is None:` → `raise Gone``."""

from __future__ import annotations

import ast
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.branches.measuring import measure

_LONGEST_SHOWN = 90
_END = "the end"


def missing_of(seen: str) -> list[str]:
    """What all processes that wrote to `seen` did not take: each branch, and what is never come to at all."""
    found = measure(seen)
    found.combine()
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        found.json_report(outfile=report.name)
        files = json.loads(Path(report.name).read_text())["files"]
    return [
        key
        for path, one in sorted(files.items())
        for key in named(
            path,
            Path(path).read_text(),
            executed=one["executed_lines"],
            never=one["missing_lines"],
            branches=one["missing_branches"],
        )
    ]


def named(
    path: str,
    source: str,
    *,
    executed: Sequence[int],
    never: Sequence[int],
    branches: Sequence[tuple[int, int]],
) -> list[str]:
    """A name for each branch from a line that was executed, and for the first of lines that no such branch leads to."""
    code, places, times = source.splitlines(), _places(source), Counter[str]()

    def shown(line: int) -> str:
        text = code[line - 1].strip() if line > 0 else _END
        return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"

    def unique(line: int, what: str) -> str:
        key = f"{path}: {places.get(line, 'module')}: {what}"
        times[key] += 1
        return key if times[key] == 1 else f"{key} #{times[key] - 1}"

    taken = [(at, to) for at, to in sorted(branches) if at not in never]
    led_to = {to for _, to in taken}
    first = [line for line in _first_of_each(executed, never) if line not in led_to]
    found = [(at, f"`{shown(at)}` → `{shown(to)}`") for at, to in taken]
    found += [(at, f"never `{shown(at)}`") for at in first]
    return [unique(at, what) for at, what in sorted(found)]


def _first_of_each(executed: Sequence[int], never: Sequence[int]) -> Iterator[int]:
    """Those of `never` that follow, in the text, on a line that was executed."""
    after = True
    for line in sorted({*executed, *never}):
        if after and line in never:
            yield line
        after = line in executed


def _places(source: str) -> dict[int, str]:
    """Line -> the function or class it is in."""
    found: dict[int, str] = {}

    def walk(node: ast.AST, names: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            inner = names
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = (*names, child.name)
                found.update(dict.fromkeys(range(child.lineno, (child.end_lineno or 0) + 1), ".".join(inner)))
            walk(child, inner)

    walk(ast.parse(source), ())
    return found
