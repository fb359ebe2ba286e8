"""Clients that others generate from the served description: they compile, and ten recipes work with each."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.partner.control import dispatch
from sandbox.partner.openapi import document
from sandbox.partner.server import Running, serve
from sandbox.testing.background import Background

# Generators and compilers of two languages take most of a minute where eight others compute.
pytestmark = pytest.mark.timeout(180)

HERE = Path(__file__).parent / "generated"
MODULES = HERE / "typescript" / "node_modules"
GENERATOR = Path(sys.prefix) / "client-generator"
# A field with a default may be left out of a body.
TYPES_AS_SENT = ("--default-non-nullable", "false")
COMPILER = (
    *("--strict", "--target", "es2022", "--module", "preserve", "--moduleResolution", "bundler"),
    *("--skipLibCheck", "false"),
)
RECIPES = [
    "read the account", "order a card once", "list the cards", "top up once", "read a card with its balance",
    "be refused for want of funds", "take money off a card", "set a limit", "freeze and find the event",
    "add up the ledger",
]  # fmt: skip


def run(*command: str, cwd: Path, **variables: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=150, env={**os.environ, **variables}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The description in a file."""
    path = tmp_path / "openapi.json"
    path.write_bytes(document.served())
    return path


def played(*command: str, cwd: Path, **variables: str) -> list[str]:
    """What a program prints that is given the address and key of a simulator with 5,000 USD."""
    background = Background()
    running = background.run(serve(port=0))
    try:
        background.run(_fund(running))
        return run(*command, running.base_url, running.key, cwd=cwd, **variables).splitlines()
    finally:
        background.run(running.close())
        background.close()


async def _fund(running: Running) -> None:
    status, answer = dispatch.handle(running.world, "POST", "float", b'{"amount_usd": "5000"}')
    assert status == 200, answer


@pytest.mark.by_turns(4)
@pytest.mark.skipif(
    not GENERATOR.is_dir(), reason="The generator of Python clients is not installed: make test does it"
)
def test_a_generated_python_client_compiles_and_plays_ten_recipes(described: Path, tmp_path: Path) -> None:
    package = tmp_path / "partner_api"
    arguments = ["generate", "--path", str(described), "--output-path", str(package), "--meta", "none"]
    tools = {"PYTHONPATH": str(GENERATOR), "PATH": f"{GENERATOR / 'bin'}:{os.environ['PATH']}"}
    said = run(sys.executable, "-m", "openapi_python_client", *arguments, cwd=tmp_path, **tools)
    assert "arning" not in said
    modules = list(package.rglob("*.py"))
    assert len(modules) < 250, "each error answer again for each call"
    run(sys.executable, "-m", "compileall", "-q", str(package), cwd=tmp_path)
    recipes = str(HERE / "python" / "recipes.py")
    assert played(sys.executable, recipes, cwd=tmp_path, PYTHONPATH=str(tmp_path)) == RECIPES


@pytest.mark.by_turns(4)
@pytest.mark.skipif(
    not MODULES.is_dir() or shutil.which("node") is None,
    reason="The generator of TypeScript clients is not installed: npm ci in tests/sandbox_partner/generated/typescript",
)
def test_a_generated_typescript_client_compiles_and_plays_ten_recipes(
    described: Path, tmp_path: Path
) -> None:
    (tmp_path / "node_modules").symlink_to(MODULES)
    shutil.copy(HERE / "typescript" / "recipes.ts", tmp_path)
    (tmp_path / "package.json").write_text(json.dumps({"type": "module"}))
    tool = MODULES / ".bin"
    run(
        str(tool / "openapi-typescript"),
        str(described),
        "-o",
        "partner_api.d.ts",
        *TYPES_AS_SENT,
        cwd=tmp_path,
    )
    run(str(tool / "tsc"), *COMPILER, "recipes.ts", cwd=tmp_path)
    assert played("node", "recipes.js", cwd=tmp_path) == RECIPES


def test_the_recipes_in_both_languages_are_the_same() -> None:
    for path in (HERE / "python" / "recipes.py", HERE / "typescript" / "recipes.ts"):
        assert re.findall(r'held\(\s*"([^"]+)"', path.read_text()) == RECIPES
