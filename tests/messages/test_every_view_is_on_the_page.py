"""Nothing that a person can be shown is missing on docs/messages.md: it is found by drawing the page, not by a list."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

from handlers import views
from tests.support.docs_scripts import docs_script

ROOT = Path(views.__file__).parent

#: What need not be on the page, and why.
NOT_ON_THE_PAGE = {
    **dict.fromkeys(
        (
            "handlers.views.chart_picture.laid_out",
            "handlers.views.chart_picture.png",
            "handlers.views.charts.has_chart",
            "handlers.views.charts.picture",
            "handlers.views.charts.picture_of",
            "handlers.views.ticks.of_amounts",
            "handlers.views.ticks.of_times",
        ),
        "a chart as a file: pixels, seen in tests/handlers/test_drawing.py",
    ),
    **dict.fromkeys(
        (
            "handlers.views.ids.unpack",
            "handlers.views.ids.unstamp",
            "handlers.views.requests.approval_modals.was_unread",
            "handlers.views.requests.forms.answer",
            "handlers.views.requests.forms.errors_of",
            "handlers.views.requests.forms.read",
        ),
        "reads what was pressed or typed",
    ),
    **dict.fromkeys(
        ("handlers.views.request_links.linked", "handlers.views.request_links.request_ids"),
        "links, of which the page shows the words",
    ),
    "handlers.views.error_messages.is_said": "decides what the log gets",
}
#: Strings of a view that nobody reads as a sentence, or only where there is too much of everything.
NOT_SENTENCES = {
    "Shortened: there is more than Slack shows in one message.": "fills the place of what did not fit",
    "This Pillow was built without FreeType, so it has no letters that scale.": "of the installation, for the log",
    "%d %b %H:%M": "a form of dates",
}
_FEWEST_WORDS = 3
_GAP = re.compile(r"<[^>|]*\||[<>|]|\s+")


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(views.__path__, f"{views.__name__}."):
        yield importlib.import_module(found.name)


def _public() -> dict[str, CodeType]:
    """Each public function of a view by its full name."""
    return {
        f"{module.__name__}.{name}": made.__code__
        for module in _modules()
        for name, made in inspect.getmembers(module, inspect.isfunction)
        if made.__module__ == module.__name__ and not name.startswith("_")
    }


@cache
def _drawn() -> tuple[frozenset[CodeType], str]:
    """What was called to draw the page, and all that it shows."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called.add(frame.f_code)

    script = docs_script("messages")
    sys.setprofile(note)
    try:
        drawn = [made for samples in script.sections().values() for _, made in samples]
    finally:
        sys.setprofile(None)
    return frozenset(called), _even(" ".join(json.dumps(made, ensure_ascii=False) for made in drawn))


def _even(text: str) -> str:
    """Without line breaks, links and marks of JSON, so that a sentence is found wherever it was broken."""
    return _GAP.sub(" ", text.replace("\\n", " ").replace('\\"', '"'))


def _is_pattern(node: ast.AST) -> bool:
    """`re.compile(…)`, or an error of ours that nobody is shown."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) in (
        "re.compile",
        "ValueError",
        "RuntimeError",
    )


def _sentences(source: str) -> Iterator[tuple[int, str]]:
    """Each string of three or more words that is no docstring, with its line; an f-string in its pieces."""
    tree = ast.parse(source)
    explained = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and isinstance(node.body[0], ast.Expr)
    }
    explained |= {id(part) for call in ast.walk(tree) if _is_pattern(call) for part in ast.walk(call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explained:
            for piece in re.split(r"\{[^}]*\}|\n", node.value):
                said = _even(piece).strip()
                if len(said.split()) >= _FEWEST_WORDS:
                    yield node.lineno, said


def test_every_public_view_is_drawn_for_the_page() -> None:
    called, _ = _drawn()
    missing = {name for name, code in _public().items() if code not in called}

    assert missing - set(NOT_ON_THE_PAGE) == set()


def test_what_need_not_be_on_the_page_is_still_there_and_not_on_it() -> None:
    called, _ = _drawn()
    known = _public()

    assert {name for name in NOT_ON_THE_PAGE if name not in known or known[name] in called} == set()


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_sentence_of_a_view_is_on_the_page(path: Path) -> None:
    """So that somebody has read it with the amounts, names and times it comes with."""
    _, shown = _drawn()
    source = path.read_text(encoding="utf-8")

    missing = [(line, said) for line, said in _sentences(source) if said not in shown]

    assert [(line, said) for line, said in missing if said not in NOT_SENTENCES] == []


def test_a_sentence_that_no_sample_shows_would_be_found() -> None:
    source = 'def f(n):\n    """Not this one."""\n    return f"You have {n} open\\nrequests in this list"'

    assert [said for _, said in _sentences(source)] == ["requests in this list"]
