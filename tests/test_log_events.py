"""There is one way of logging: a dotted name of the event, always the same, and its values in `extra`."""

from __future__ import annotations

import ast
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.log import MASK, redact

ROOT = Path(__file__).parents[1]
#: Writes what the loggers are given: structlog and the root logger are its business alone.
WRITES = ROOT / "bot" / "log.py"
FILES = [
    path
    for package in ("bot", "handlers", "storage")
    for path in sorted((ROOT / package).rglob("*.py"))
    if path != WRITES
]
LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
#: What a call may hold beside the event.
KEYWORDS = {"extra", "exc_info"}
_EVENT = re.compile(r"[a-z_]+(\.[a-z_]+)+")
#: A record has these already; a field of that name in `extra` would be an error when it is logged.
_TAKEN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def loggers(tree: ast.Module) -> dict[str, ast.Call]:
    """The names of a module that are loggers, with the calls that made them."""
    return {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).endswith(("getLogger", "get_logger"))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def log_calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Every call that logs: of a logger of this module, of one made on the spot, or of `logging` itself."""
    known = set(loggers(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS:
            of = ast.unparse(node.func.value)
            if of in known or of == "logging" or "getLogger(" in of or "get_logger(" in of:
                yield node


def events(call: ast.Call) -> list[str | None]:
    """What a call says happened, one for each arm of an `if`; None for what is no constant text."""
    if len(call.args) != 1:
        return [None]
    said = call.args[0]
    arms = [said.body, said.orelse] if isinstance(said, ast.IfExp) else [said]
    return [
        arm.value if isinstance(arm, ast.Constant) and isinstance(arm.value, str) else None for arm in arms
    ]


def fields(call: ast.Call) -> list[str]:
    """The names of the values that a call gives."""
    shown = [word.value for word in call.keywords if word.arg == "extra"]
    return [
        str(key.value)
        for node in shown
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant)
    ]


def faults(source: str) -> list[str]:
    """What is not as it should be in the text of a module, a sentence each."""
    tree = ast.parse(source)
    found = []
    for name, made in loggers(tree).items():
        if not re.fullmatch(r"""logging\.getLogger\('countersign\.[a-z_]+'\)""", ast.unparse(made)):
            found.append(f"{name} is not a logger of the standard library under 'countersign.'")
    for call in log_calls(tree):
        where = f"line {call.lineno}: "
        if not all(event and _EVENT.fullmatch(event) for event in events(call)):
            found.append(f"{where}the message is not one dotted name of an event")
        if strange := {str(word.arg) for word in call.keywords} - KEYWORDS:
            found.append(f"{where}values go into extra, not into {sorted(strange)}")
        for field in fields(call):
            if field in _TAKEN:
                found.append(f"{where}a log record has a {field} of its own")
            if redact(None, "info", {field: 1}) != {field: 1}:
                found.append(f"{where}{field} is always written as {MASK}")
    if re.search(r"^\s*(import|from) structlog\b", source, re.MULTILINE):
        found.append("structlog is imported")
    return found


def test_what_is_logged_is_an_event_with_its_values_beside_it() -> None:
    found = {str(path.relative_to(ROOT)): faults(path.read_text()) for path in FILES}

    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_the_calls_are_found() -> None:
    """The walk above sees every logger there is: an import or a spelling it does not know would hide calls."""
    made = [path for path in FILES if "getLogger(" in path.read_text()]

    assert len(made) >= 25
    assert all(loggers(ast.parse(path.read_text())) for path in made)
    assert sum(len(list(log_calls(ast.parse(path.read_text())))) for path in FILES) >= 40


HEAD = 'import logging\nlog = logging.getLogger("countersign.x")\n'


@pytest.mark.parametrize(
    "wrong",
    [
        HEAD + 'log.info(f"outbox.row_{n}")',
        HEAD + 'log.info("outbox.row %s", n)',
        HEAD + 'log.info("outbox.row" % n)',
        HEAD + 'log.warning("The row was refused")',
        HEAD + 'log.warning("refused")',
        HEAD + 'log.log(20, "outbox.refused")',
        HEAD + 'log.error("outbox.refused", row=3)',
        HEAD + 'log.error("outbox.refused", extra={"name": 3})',
        HEAD + 'log.error("outbox.refused", extra={"idempotency_key": 3})',
        'import logging\nlogging.info("%s", n)',
        'import logging\nlogging.getLogger("countersign.x").info("in words")',
        "import logging\nlog = logging.getLogger(__name__)",
        'import structlog\nlog = structlog.get_logger("countersign.x")',
        "from structlog import get_logger",
    ],
)
def test_another_way_of_logging_is_found(wrong: str) -> None:
    assert faults(wrong) != []
