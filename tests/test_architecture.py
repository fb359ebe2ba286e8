"""The architecture holds: the import contracts hold, and each would catch what it forbids."""

import ast
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "handlers", "storage", "sandbox")

#: Module that gets the import, what it imports, and the contract that must object.
PLANTED = [
    ("bot.domain.money.amounts", "slack_sdk", "Slack libraries"),
    ("bot.domain.money.amounts", "bot.services", "downward only"),
    ("bot.services", "bot.config", "downward only"),
    ("bot.web", "handlers.guard", "downward only"),
    ("bot.services", "sqlalchemy", "SQL only in storage"),
    ("bot.services", "httpx", "HTTP to the partner"),
    ("handlers", "aiohttp", "HTTP servers only"),
    ("handlers", "apscheduler", "Triggers and jobs only"),
    ("handlers.views", "slack_sdk", "Views are pure"),
    ("handlers.views", "storage.store", "Views are pure"),
    ("storage.instance", "cryptography", "Ciphers only in the vault"),
    ("bot.services.requests.approvals", "webauthn", "WebAuthn only"),
    ("bot.services.execution.executor", "opentelemetry", "OpenTelemetry only"),
    ("bot.intents.extraction.days", "bot.intents.readings", "Inside bot.intents"),
    ("handlers.slack_api.files", "bot.intents.recognition", "entered by its door"),
    ("sandbox.partner.money", "bot.domain.money.amounts", "The sandbox is the world outside"),
    ("bot.app", "sandbox.partner", "Only bot.cli starts the sandbox"),
    ("bot.partner.answers", "bot.domain.money.amounts", "The client of the Partner API"),
    ("bot.partner.answers", "bot.outcomes", "The client of the Partner API"),
    ("bot.outcomes.planning", "bot.operations", "downward only"),
    ("sandbox.slack.workspace", "sandbox.partner.money", "The two halves of the sandbox"),
    ("sandbox.partner.codec", "sandbox.slack.workspace", "The two halves of the sandbox"),
    ("sandbox.partner.cards.cards", "sandbox.partner.routes.table", "rooms import downward only"),
    ("sandbox.partner.ledger.rates", "sandbox.partner.events.event_log", "rooms import downward only"),
]


def lint_imports(where: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=50)


def test_every_import_keeps_to_the_contracts() -> None:
    done = lint_imports(ROOT)

    assert done.returncode == 0, done.stdout


def test_the_composition_root_hands_on_values() -> None:
    """No tuples of parts, and no row of arguments that a reader has to count."""
    root = ("app", "entrances", "jobs", "slack_connection", "slack_names", "startup")
    wide, tuples = [], []
    for path in (ROOT / "bot" / f"{name}.py" for name in root):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            given = node.args
            if len([*given.posonlyargs, *given.args, *given.kwonlyargs]) > 5:
                wide.append(f"{path.name}: {node.name}")
            if node.returns is not None and ast.unparse(node.returns).startswith("tuple"):
                tuples.append(f"{path.name}: {node.name}")

    assert (wide, tuples) == ([], [])


def test_the_wall_around_the_client_of_the_partner_api_has_no_gap() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    wall = next(contract for contract in contracts if contract.get("source_modules") == ["bot.partner"])
    beside = {f"bot.{module.name}" for module in pkgutil.iter_modules([str(ROOT / "bot")])}

    assert set(wall["forbidden_modules"]) == {*PACKAGES, *beside} - {"bot", "bot.partner"}
    # The contract cannot forbid `bot`, which holds the client itself.
    from_bot = re.compile(r"^\s*(from bot import|import bot\b)", re.MULTILINE)
    assert [
        path for path in (ROOT / "bot" / "partner").rglob("*.py") if from_bot.search(path.read_text())
    ] == []


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said about a copy of the code with every import of `PLANTED` in it: contract -> its text."""
    where = tmp_path_factory.mktemp("planted")
    for package in PACKAGES:
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, where / package, ignore=unwanted, symlinks=True)
    shutil.copy(ROOT / "pyproject.toml", where)
    for module, imported, _ in PLANTED:
        path = where.joinpath(*module.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        with path.open("a") as file:
            file.write(f"\nimport {imported}\n")
    done = lint_imports(where)
    assert done.returncode == 1
    # Below "Broken contracts" each has a heading underlined with dashes.
    parts = done.stdout.split("Broken contracts", 1)[1].split("\n---")
    headings = [part.strip().rsplit("\n", 1)[-1] for part in parts]
    return dict(zip(headings, parts[1:], strict=False))


@pytest.mark.parametrize(("module", "imported", "contract"), PLANTED)
def test_a_planted_import_across_a_wall_is_caught(
    report: dict[str, str], module: str, imported: str, contract: str
) -> None:
    said = [text for heading, text in report.items() if contract in heading]

    assert said, f"no contract objected; broken: {list(report)}"
    assert f"{module} -> {imported}" in said[0]


def test_no_test_writes_into_a_frozen_value_or_swaps_a_worlds_core() -> None:
    """`World.rebuild` alone does: it builds again what holds the core."""
    writing = re.compile(r"object\.__(set|del)attr__|\b(world|away|driver)\.core = ")
    here, builder = Path(__file__), ROOT / "tests/support/world.py"
    files = sorted({*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")} - {here, builder})

    found = [str(file.relative_to(ROOT)) for file in files if writing.search(file.read_text())]

    assert len(files) > 200
    assert found == []
