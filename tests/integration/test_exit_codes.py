"""With which exit code a start ends that is refused: 1 where starting again may help by itself, which service managers
do, 2 where it stays wrong until somebody changes something.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bot import startup
from bot.cli.terminal import ExitCode, explain
from storage import errors
from storage.maintenance.copies import CopyRefused

ROOT = Path(__file__).parents[2]
AGAIN, FOR_GOOD, KEY = ExitCode.NOT_WELL, ExitCode.UNUSABLE, ExitCode.WRONG_MASTER_KEY

#: Every place that refuses a start, by its function, with how often, and the codes.
REFUSALS = {
    "open_store": (2, {FOR_GOOD}),  # no master key, --roles on SQLite
    "passkey_site": (2, {FOR_GOOD}),
    "check_audit": (
        2,
        {AGAIN, FOR_GOOD},
    ),  # anchors without permission; a command that fails, a disk not mounted
    "_broken": (1, {FOR_GOOD}),
    "programs": (3, {FOR_GOOD}),
    "_require_slack_itself": (1, {FOR_GOOD}),
    "_keep_key": (1, {FOR_GOOD}),
    "_same_partner": (2, {FOR_GOOD}),
    "check_names": (1, {FOR_GOOD}),
    "client": (1, {FOR_GOOD}),
    "bolt_app": (1, {FOR_GOOD}),
    "_serve_metrics": (1, {FOR_GOOD}),
}
#: What is neither here nor below has 2.
STORAGE = {
    errors.DatabaseAway: AGAIN,
    errors.DiskFull: AGAIN,
    errors.DatabaseInUse: AGAIN,
    errors.WrongMasterKey: KEY,
    errors.DatabaseUnreachable: FOR_GOOD,
    errors.DatabaseMissing: FOR_GOOD,
    errors.BadDatabaseUrl: FOR_GOOD,
    errors.SchemaBehind: FOR_GOOD,
    errors.SchemaTooNew: FOR_GOOD,
    errors.BadKeyring: FOR_GOOD,
    errors.CannotOpen: FOR_GOOD,
    errors.ChangedOutside: FOR_GOOD,
    errors.Purged: FOR_GOOD,
    errors.NotReadYet: FOR_GOOD,
    CopyRefused: FOR_GOOD,
}


def code_of(error: Exception) -> ExitCode:
    found = explain(error)
    assert found is not None
    return found[1]


def refusals() -> dict[str, list[str]]:
    """The names of what is made, by the function that makes it."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "bot").rglob("*.py")):
        text = path.read_text()
        if "CannotStart" not in text:
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for call in ast.walk(function):
                    name = (
                        call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
                    )
                    if name in ("CannotStart", "NotNow", "kind"):
                        found.setdefault(function.name, []).append(name)
    return found


def test_every_refusal_of_a_start_is_classified() -> None:
    made = refusals()
    assert {name: len(calls) for name, calls in made.items()} == {
        name: n for name, (n, _) in REFUSALS.items()
    }
    for name, calls in made.items():
        codes = {
            code_of(startup.NotNow("x") if one == "NotNow" else startup.CannotStart("x")) for one in calls
        }
        assert codes == REFUSALS[name][1], name


@pytest.mark.parametrize("kind", STORAGE, ids=lambda kind: kind.__name__)
def test_every_error_of_the_database_is_classified(kind: type[errors.StorageError]) -> None:
    assert code_of(kind.__new__(kind)) is STORAGE[kind]


def test_no_error_of_the_database_is_left_out() -> None:
    assert {*errors.StorageError.__subclasses__(), *errors.DatabaseUnreachable.__subclasses__()} <= set(
        STORAGE
    )


def test_the_docs_and_the_unit_say_the_same() -> None:
    unit = (ROOT / "deploy" / "systemd" / "countersign.service").read_text()
    assert "RestartPreventExitStatus=2 78" in unit
    deploy = (ROOT / "docs" / "deploy.md").read_text()
    for what in ("a group", "anchors", "another process", "a full disk", "not mounted"):
        assert what in deploy, what
