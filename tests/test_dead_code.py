"""Code that nothing runs: each function, method and class of the product is mentioned somewhere else in the product.

A mention in a test does not count: what only tests call is dead. A name that several things share hides a dead one
among them, so this finds less than all, but what it finds is dead, or is called by a library and named below.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import operations

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "handlers", "storage", "sandbox")

#: Name -> who calls it, where no line of the product does.
CALLED_FROM_OUTSIDE = {
    "load_dialect_impl": "SQLAlchemy, of a TypeDecorator",
    "process_bind_param": "SQLAlchemy, of a TypeDecorator",
    "process_result_value": "SQLAlchemy, of a TypeDecorator",
    "api_url": "whoever points Slack's SDK at the sandbox: the tests, and later users of the sandbox alone",
    "field_title_should_be_set": "pydantic, when it writes the JSON schema of countersign.toml",
    "settings_customise_sources": "pydantic-settings, when it asks where values come from",
    "calls_when": "docs/generate.py",
    "environment_table": "docs/generate.py",
    "file_table": "docs/generate.py",
    "setting_names": "the test that holds docs and the example file to the settings",
    "quiet_loggers": "whoever uses bot.partner without bot.log, which caps the same loggers",
}

Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def trees() -> Iterator[ast.Module]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ast.parse(path.read_text(encoding="utf-8"), str(path))


def definitions(body: list[ast.stmt]) -> Iterator[Defined]:
    """The functions and classes of a module, and the methods and classes in those."""
    for node in body:
        if isinstance(node, Defined):
            yield node
        if isinstance(node, ast.ClassDef):
            yield from definitions(node.body)


def is_registered(node: Defined) -> bool:
    """`@app.command("run")` and the like: the decorator keeps the function and calls it."""
    return any(
        isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)
        for decorator in node.decorator_list
    )


def unmentioned(parsed: list[ast.Module]) -> set[str]:
    """Names that are defined and, in all of the code, never used. An import alone is no use."""
    defined = {
        node.name
        for tree in parsed
        for node in definitions(tree.body)
        if not node.name.startswith("_") and not is_registered(node)
    }
    used: set[str] = set()
    for tree in parsed:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                used.add(node.id)
            elif isinstance(node, ast.Attribute):
                used.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.update(_type_in_quotes(node.value))
    return defined - used


def _type_in_quotes(text: str) -> set[str]:
    """The name of a forward reference: `cast("Store", …)`."""
    return {text} if text[:1].isupper() and text.isidentifier() else set()


@pytest.fixture(scope="module")
def dead() -> set[str]:
    # An operation is found by its module, so that its class needs no mention.
    kinds = {cls.__name__ for cls in operations.kinds().values()}
    return unmentioned(list(trees())) - kinds


def test_nothing_stands_there_that_only_tests_use(dead: set[str]) -> None:
    assert dead - CALLED_FROM_OUTSIDE.keys() == set()


def test_what_is_excused_is_still_there(dead: set[str]) -> None:
    assert CALLED_FROM_OUTSIDE.keys() - dead == set()


def test_a_dead_function_would_be_found() -> None:
    code = ast.parse(
        """
        class Kept:
            def used(self): ...
            def unused(self): ...
        @app.command("run")
        def registered(): ...
        def alone(): ...
        Kept().used()
        """.replace("\n        ", "\n")
    )

    assert unmentioned([code]) == {"unused", "alone"}
