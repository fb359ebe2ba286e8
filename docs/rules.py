"""Writes docs/rules.md: every numbered rule of the Partner API and the tests that prove it.

A test names its rules with ``@pytest.mark.rule("R123")``. The tests of the simulator speak to it over
HTTP with a client that knows nothing; those of the client are in tests/partner.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = Path(__file__).with_name("rules.md")
RULES = tuple(f"R{number:03}" for number in range(1, 261))

# Rules that no test proves, and why.
UNTESTED: dict[str, str] = {
    "R033": "About totals in the bot's own reports; the API has no call that adds balances up.",
    "R233": "About the order of work in a receiver, not about the API; tests/events holds the bot's inbox to it.",
    "R238": "The address deliveries come from is the live service's; on one machine there is nothing to tell apart.",
    "R257": "About help texts: nothing promises a wallet, so there is nothing to run.",
}


def proofs() -> dict[str, list[str]]:
    """Rule -> the tests that name it, as ``path::name``."""
    found: dict[str, list[str]] = {rule: [] for rule in RULES}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for test, rules in _marked(ast.parse(path.read_text(encoding="utf-8"))):
            for rule in rules:
                found.setdefault(rule, []).append(f"{path.relative_to(ROOT)}::{test}")
    return found


def _marked(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.rule":
                yield node.name, [str(one.value) for one in decorator.args if isinstance(one, ast.Constant)]


def page() -> str:
    """The page: one line a rule."""
    found = proofs()
    proved = [rule for rule in RULES if found[rule]]
    lines = [
        "# Rules of the Partner API and their tests",
        "",
        "Made by `python docs/rules.py` from the marks on the tests.",
        "",
        f"{len(proved)} of {len(RULES)} rules are proved by a test; {len(UNTESTED)} cannot be and say why.",
        "",
        "| Rule | Proved by |",
        "|---|---|",
    ]
    lines += [f"| {rule} | {_cell(rule, found[rule])} |" for rule in RULES]
    return "\n".join(lines) + "\n"


def _cell(rule: str, tests: list[str]) -> str:
    if not tests:
        return f"*{UNTESTED.get(rule, 'no test')}*"
    return "<br>".join(f"`{test}`" for test in dict.fromkeys(tests))


def main() -> None:
    """Write the page and say what is missing."""
    TARGET.write_text(page(), encoding="utf-8")
    missing = [rule for rule, tests in proofs().items() if not tests and rule not in UNTESTED]
    if missing:
        sys.stderr.write(f"No test and no reason: {', '.join(missing)}\n")


if __name__ == "__main__":
    main()
