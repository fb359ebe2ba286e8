"""A kind is named in its own file and nowhere else: the rest goes by what its class says of itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import operations

ROOT = Path(__file__).parents[1]
KINDS = frozenset(operations.kinds())
# Words of others that happen to be spelt like a kind: rows of the API's ledger, and a table of the database.
OTHER_WORDS = {
    "bot/domain/money/ledger_text.py": {"card_topup"},
    "bot/partner/calls/account.py": {"card_topup"},
    "bot/partner/models/funding.py": {"card_topup"},
    "storage/migrations/versions/0003_operators.py": {"card_reveal"},
    "storage/tables.py": {"card_reveal"},
}


def named(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of every text constant that is a kind's name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in KINDS:
            yield node.lineno, node.value


def test_no_kind_is_named_outside_its_file() -> None:
    own = ROOT / "bot" / "operations"
    modules = [path for room in ("bot", "handlers", "storage") for path in (ROOT / room).rglob("*.py")]
    found = {}
    for module in modules:
        if not module.is_relative_to(own):
            path = module.relative_to(ROOT).as_posix()
            found[path] = {name for _, name in named(module.read_text())}

    assert {path: names for path, names in found.items() if names} == OTHER_WORDS


#: The alert catalogue lies below the kinds, and advises one in a sentence.
SAID_IN_ADVICE = {"bot/domain/alerts/card_alerts.py"}


def test_what_people_call_sending_at_once_is_said_by_the_kind_alone() -> None:
    labels = {cls.handling.run_now for cls in operations.kinds().values()} - {""}
    own = ROOT / "bot" / "operations"
    found = {
        path.relative_to(ROOT).as_posix()
        for room in ("bot", "handlers", "storage", "docs")
        for path in (ROOT / room).rglob("*.py")
        if not path.is_relative_to(own)
        and any(label in text for text in spoken(path.read_text()) for label in labels)
    }

    assert labels
    assert found == SAID_IN_ADVICE


def spoken(source: str) -> Iterator[str]:
    """Every text constant apart from docstrings."""
    tree = ast.parse(source)
    explained = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explained:
            yield node.value


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('if request.kind == "card_freeze":\n    pass', ["card_freeze"]),
        ('_FIRST = {"ACTIVE": ("card_topup", "card_freeze")}', ["card_freeze", "card_topup"]),
        ('match kind:\n    case "card_order":\n        pass', ["card_order"]),
        ('"""Nothing is said of card_topup."""\nkind = cls.kind', []),
    ],
)
def test_a_name_is_found_wherever_it_stands(source: str, names: list[str]) -> None:
    assert sorted(name for _, name in named(source)) == names
