"""The house keeps its walls: the import contracts hold, and they would catch what they forbid."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "handlers", "storage", "sandbox")


def lint_imports(where: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=50)


def test_every_import_keeps_to_the_contracts() -> None:
    done = lint_imports(ROOT)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("bot/domain/money.py", "import slack_sdk", "Slack libraries"),
        ("bot/domain/money.py", "import bot.services", "downward only"),
        ("handlers/views/__init__.py", "import storage.store", "Views are pure"),
        ("handlers/views/__init__.py", "import slack_sdk", "Views are pure"),
        ("bot/services/__init__.py", "import sqlalchemy", "SQL only in storage"),
        ("bot/services/__init__.py", "import httpx", "HTTP to the partner"),
        ("bot/services/__init__.py", "import bot.settings", "downward only"),
        ("storage/meta.py", "import cryptography", "Ciphers only in the vault"),
        ("sandbox/partner/money.py", "import bot.domain.money", "The sandbox is the world outside"),
        ("bot/app.py", "import sandbox.partner", "Only bot.cli starts the sandbox"),
    ],
)
def test_a_planted_import_across_a_wall_is_caught(
    tmp_path: Path, module: str, line: str, contract: str
) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a") as file:
        file.write(f"\n{line}\n")

    done = lint_imports(tmp_path)

    assert done.returncode == 1
    broken = [row for row in done.stdout.splitlines() if row.endswith("BROKEN")]
    assert any(contract in row for row in broken), done.stdout
