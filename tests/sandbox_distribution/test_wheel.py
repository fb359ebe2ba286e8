"""The distribution that others install: built from this repository under its own name, and used without it."""

from pathlib import Path

import pytest

from tests.support.distributions import bare_environment, unpacked, used_alone

pytestmark = pytest.mark.timeout(180)  # the wheel is built and used in processes of their own

USE = """
import asyncio, importlib.util, sys
import countersign_sandbox
from countersign_sandbox.command import MANIFEST, lines
from countersign_sandbox.launching import ANY_PORT, Launch, launch
from countersign_sandbox.testing import plugin

async def run():
    asked = Launch(manifest=MANIFEST, slack_port=ANY_PORT, partner_port=ANY_PORT, scenario="blocked-card")
    running = await launch(asked)
    assert len(lines(running)) == 9, lines(running)
    assert lines(running)[-1] == "Open an address in a browser. Nothing is kept. Ctrl-C ends it."
    await running.close()

asyncio.run(run())
assert countersign_sandbox.__file__.startswith(sys.path[0]), countersign_sandbox.__file__
assert not [name for name in sys.modules if name.split(".")[0] in ("sandbox", "bot", "handlers", "storage")]
assert importlib.util.find_spec("sandbox") is None
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of the wheel, as pip would lay it out."""
    return unpacked("sandbox", tmp_path_factory.mktemp("wheel"))


def test_the_wheel_has_one_name_and_none_of_the_products_packages(installed: Path) -> None:
    names = {path.name for path in installed.iterdir()}
    assert names == {"countersign_sandbox", "countersign_sandbox-0.1.0.dist-info"}
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    assert {
        "countersign_sandbox/py.typed",
        "countersign_sandbox/__main__.py",
        "countersign_sandbox/slack/any_app.yml",
        "countersign_sandbox/slack/page/static/page.html",
        "countersign_sandbox/partner/viewer/viewer_console.js",
        "countersign_sandbox/partner/scenarios/files/blocked-card.yml",
    } <= files
    entry_points = (installed / "countersign_sandbox-0.1.0.dist-info" / "entry_points.txt").read_text()
    assert "countersign_sandbox.testing.plugin" in entry_points
    assert "countersign-sandbox = countersign_sandbox.command:main" in entry_points


def test_no_module_of_the_wheel_imports_the_repositorys_name(installed: Path) -> None:
    for path in installed.rglob("*.py"):
        for line in path.read_text().splitlines():
            assert not line.lstrip().startswith(("from sandbox", "import sandbox")), (path, line)


def test_both_halves_run_from_the_wheel_beside_nothing_but_what_it_requires(
    installed: Path, tmp_path: Path
) -> None:
    bare = bare_environment(installed, tmp_path / "bare", "pytest")
    used_alone(USE, installed, bare, tmp_path)
