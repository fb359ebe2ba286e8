"""Code that nothing runs: each function, class and constant of the product is mentioned somewhere else in the product.

A mention in a test does not count: what only tests call is dead. A name that several things share hides a dead one
among them, so this finds less than all, but what it finds is dead, or is called by a library and named below. The
same holds for what a function takes and does not look at, and for a setting that nothing reads.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import operations
from bot.config import Settings, sections
from tests.support.source_trees import tree_of, walk

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "handlers", "storage", "sandbox")

#: Name -> who calls it, where no line of the product does.
CALLED_FROM_OUTSIDE = {
    "load_dialect_impl": "SQLAlchemy, of a TypeDecorator",
    "process_bind_param": "SQLAlchemy, of a TypeDecorator",
    "process_result_value": "SQLAlchemy, of a TypeDecorator",
    "buy": "tests of other programs, of the fixture partner_sandbox",
    "deliver_to": "tests of other programs, of the fixture partner_sandbox",
    "partner_sandbox": "pytest, of a fixture",
    "slack_sandbox": "pytest, of a fixture",
    "fetchmany": "SQLAlchemy, of a cursor",
    "field_title_should_be_set": "pydantic, when it writes the JSON schema of countersign.toml",
    "settings_customise_sources": "pydantic-settings, when it asks where values come from",
    "calls_when": "docs/generate.py",
    "environment_table": "docs/generate.py",
    "file_table": "docs/generate.py",
    "setting_names": "the test that holds docs and the example file to the settings",
    "quiet_loggers": "whoever uses bot.partner without bot.log, which caps the same loggers",
}

#: The variable -> why it is only checked.
READ_BY_NOTHING_YET: dict[str, str] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def trees() -> Iterator[ast.Module]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield tree_of(path)


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


def constants(body: list[ast.stmt]) -> Iterator[str]:
    """The names in capitals that a module gives to values."""
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper() and not target.id.startswith("_"):
                yield target.id


def unmentioned(parsed: list[ast.Module]) -> set[str]:
    """Names that are defined and, in all of the code, never used. An import alone is no use."""
    defined = {
        node.name
        for tree in parsed
        for node in definitions(tree.body)
        if not node.name.startswith("_") and not is_registered(node)
    }
    defined.update(name for tree in parsed for name in constants(tree.body))
    used: set[str] = set()
    for tree in parsed:
        listed = _listed_by_a_door(tree)
        for node in walk(tree):
            if id(node) in listed:
                continue
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used.add(node.id)
            elif isinstance(node, ast.Attribute):
                used.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.update(_type_in_quotes(node.value))
    return defined - used


def _listed_by_a_door(tree: ast.Module) -> set[int]:
    """What stands in `__all__`: to offer a name is not to use it."""
    lists = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    return {id(node) for listed in lists for node in walk(listed)}


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


def test_a_dead_constant_would_be_found() -> None:
    code = ast.parse('__all__ = ["LEAST", "MOST"]\nMOST = 3\nLEAST: int = 1\nprint(MOST)')

    assert unmentioned([code]) == {"LEAST"}


def ignored(parsed: list[ast.Module]) -> set[str]:
    """`function: parameter` of what is taken and not looked at, by functions that are only ever called by name.

    A method may have its parameters from the class above, a function in a table from its neighbours there.
    """
    nodes = [node for tree in parsed for node in walk(tree)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    handed_on = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in nodes
        if isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and id(node) not in called
    }
    functions = [node for tree in parsed for node in tree.body if isinstance(node, Function)]
    return {
        f"{function.name}: {given}"
        for function in functions
        if function.name not in handed_on and not function.decorator_list
        for given in _parameters(function)
        if not given.startswith("_") and not _looks_at(function, given)
    }


def _parameters(function: Function) -> list[str]:
    args = function.args
    return [given.arg for given in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def _looks_at(function: Function, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in walk(function))


def test_no_function_takes_what_it_does_not_look_at() -> None:
    assert ignored(list(trees())) == set()


def test_a_parameter_that_nothing_looks_at_would_be_found() -> None:
    code = ast.parse(
        """
        def adds(a, b, c): return a + b
        def one_of_a_table(a): return 1
        TABLE = [one_of_a_table, adds(1, 2, 3)]
        """.replace("\n        ", "\n")
    )

    assert ignored([code]) == {"adds: c"}


def unread(fields: set[str], parsed: list[ast.Module]) -> set[str]:
    """Those of the fields that no attribute of this name is read of."""
    return fields - {
        node.attr
        for tree in parsed
        for node in walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


def test_every_setting_is_read_by_something() -> None:
    tables = [
        table
        for table in vars(sections).values()
        if isinstance(table, type) and issubclass(table, sections.Table)
    ]
    fields = {name for table in tables for name in table.model_fields} | set(Settings.model_fields)

    assert {"cards", "floor_usd", "metrics_bind"} <= fields
    assert unread(fields, list(trees())) == READ_BY_NOTHING_YET.keys()


def test_a_setting_that_nothing_reads_would_be_found() -> None:
    code = ast.parse("every(poll.cards)\npoll.weather = 3")

    assert unread({"cards", "weather"}, [code]) == {"weather"}
