"""The distribution that others install: built from this repository under its own name, and used without it."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DISTRIBUTION = ROOT / "distributions" / "sandbox"
SITE = sysconfig.get_paths()["purelib"]

USE = """
import asyncio, importlib.util, sys
import countersign_sandbox
from countersign_sandbox.command import MANIFEST, lines
from countersign_sandbox.launching import ANY_PORT, Launch, launch
from countersign_sandbox.testing import plugin

async def run():
    running = await launch(Launch(manifest=MANIFEST, slack_port=ANY_PORT, partner_port=ANY_PORT, scenario="happy-day"))
    assert len(lines(running)) == 8, lines(running)
    await running.close()

asyncio.run(run())
assert countersign_sandbox.__file__.startswith(sys.path[0]), countersign_sandbox.__file__
assert not [name for name in sys.modules if name.split(".")[0] in ("sandbox", "bot", "handlers", "storage")]
assert importlib.util.find_spec("sandbox") is None
"""


def python(*given: str, cwd: Path) -> str:
    """What a Python process without this checkout says; `-S` keeps the editable install out."""
    done = subprocess.run(
        [sys.executable, *given],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=50,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of the wheel, as pip would lay it out."""
    folder = tmp_path_factory.mktemp("wheel")
    build = f"import renamed_package; print(renamed_package.build_wheel({str(folder)!r}))"
    name = python("-c", build, cwd=DISTRIBUTION).split()[-1]
    with zipfile.ZipFile(folder / name) as wheel:
        wheel.extractall(folder / "installed")
    return folder / "installed"


def test_the_wheel_has_one_name_and_none_of_the_products_packages(unpacked: Path) -> None:
    names = {path.name for path in unpacked.iterdir()}
    assert names == {"countersign_sandbox", "countersign_sandbox-0.1.0.dist-info"}
    files = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    assert {
        "countersign_sandbox/py.typed",
        "countersign_sandbox/slack/any_app.yml",
        "countersign_sandbox/slack/page/static/page.html",
        "countersign_sandbox/partner/viewer/viewer_console.js",
    } <= files
    entry_points = (unpacked / "countersign_sandbox-0.1.0.dist-info" / "entry_points.txt").read_text()
    assert "countersign_sandbox.testing.plugin" in entry_points
    assert "countersign-sandbox = countersign_sandbox.command:main" in entry_points


def test_no_module_of_the_wheel_imports_the_repositorys_name(unpacked: Path) -> None:
    for path in unpacked.rglob("*.py"):
        for line in path.read_text().splitlines():
            assert not line.lstrip().startswith(("from sandbox", "import sandbox")), (path, line)


def test_both_halves_run_from_the_wheel_alone(unpacked: Path) -> None:
    script = unpacked.parent / "use.py"
    script.write_text(f"import sys\nsys.path[:] = [{str(unpacked)!r}, *sys.path[1:], {SITE!r}]\n{USE}")
    python("-I", "-S", str(script), cwd=unpacked.parent)
