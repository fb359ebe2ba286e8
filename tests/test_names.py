"""Names are the field's words: what a stranger would not guess names no file and no class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "handlers", "storage", "sandbox")

#: Private words of ours, and what the field says instead (docs/glossary.md).
PRIVATE = {
    "anchors": "audit_anchors",
    "asked": "commands",
    "endings": "effects",
    "gate": "presend_checks, slot_checks",
    "heard": "received",
    "house": "status, settings",
    "legs": "purchase_legs",
    "looking": "lookup",
    "owed": "outbox_messages",
    "pictures": "view_models",
    "refresh": "review",
    "talking": "conversation",
    "upkeep": "maintenance",
    "verifying": "verification",
}
#: A picture of pixels is one.
PIXELS = {"handlers.views.charts.Picture", "handlers.views.chart_picture"}


def names() -> Iterator[str]:
    """Every module and class of the product, with where it stands."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            yield module
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    yield f"{module}.{node.name}"


def private_words(name: str) -> list[str]:
    last = name.rpartition(".")[2]
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", last)]
    whole = {last.lower(), *words}
    return sorted(word for word in PRIVATE if word in whole and last.lower() != PRIVATE[word]) + (
        ["picture"] if "picture" in words else []
    )


def test_no_file_and_no_class_has_a_private_name() -> None:
    found = {name: words for name in names() if (words := private_words(name)) and name not in PIXELS}

    assert {name: words for name, words in found.items() if not name.endswith("audit_anchors")} == {}


@pytest.mark.parametrize(
    "name", ["bot.services.owed", "bot.x.RequestPicture", "bot.x.Heard", "handlers.gate"]
)
def test_a_private_name_is_found(name: str) -> None:
    assert private_words(name)
