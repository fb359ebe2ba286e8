"""The examples are somebody else's programs with somebody else's tests: they run as those would run them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.distributions import bare_environment, unpacked

pytestmark = [
    pytest.mark.timeout(180),  # a whole suite each, beside whatever else computes
    pytest.mark.by_turns(4),
]

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "tests" / "sandbox_slack" / "types" / "node_modules"


def pytest_run(*folders: str) -> str:
    """The last line of a run of pytest of its own over the given examples, with nothing of our configuration."""
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(ROOT / "examples")),
        *(
            "-p",
            "sandbox.testing.plugin",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:asyncio",
            "-p",
            "no:randomly",
            *folders,
        ),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NODE_PATH": str(MODULES)}
    done = subprocess.run(
        command, cwd=ROOT / "examples", capture_output=True, text=True, timeout=150, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_the_examples_in_python_and_that_of_the_readme_pass(tmp_path: Path) -> None:
    """What somebody who has the wheel alone reads in it can be copied into a file and run.

    It comes first and has no manifest and no `partner_start` of its own: those of the other two still count.
    """
    readme = (ROOT / "distributions" / "sandbox" / "README.md").read_text()
    copied = tmp_path / "test_readme.py"
    copied.write_text("\n\n".join(re.findall(r"```python\n(.*?)```", readme, re.DOTALL)))
    assert pytest_run(str(copied), "slack_bot", "api_client").startswith("12 passed")


def test_the_commands_of_the_readme_run_in_a_checkout(tmp_path: Path) -> None:
    """With the distributions installed and nothing of this repository's configuration but what lies above them."""
    checkout = tmp_path / "checkout"
    unwanted = shutil.ignore_patterns("node_modules", "__pycache__", ".*")
    shutil.copytree(ROOT / "examples", checkout / "examples", ignore=unwanted)
    shutil.copy(ROOT / "pyproject.toml", checkout)
    text = (ROOT / "examples" / "README.md").read_text()
    [packages] = re.findall(r"^pip install (.*)$", text, re.MULTILINE)
    [folders] = re.findall(r"^cd examples && pytest (.*)$", text, re.MULTILINE)
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    ours = [one.removeprefix("./distributions/") for one in packages.split() if one.startswith("./")]
    for name in ours:
        installed = unpacked(name, wheels)
    bare = bare_environment(installed, tmp_path / "bare", *packages.split()[len(ours) :])
    done = subprocess.run(
        [sys.executable, "-S", "-m", "pytest", "-q", *folders.split()],
        cwd=checkout / "examples",
        capture_output=True,
        text=True,
        timeout=150,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{installed}:{bare}"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(
    not (MODULES / "@slack" / "bolt").is_dir() or shutil.which("node") is None,
    reason="Bolt for JavaScript is not installed: npm ci in tests/sandbox_slack/types",
)
def test_the_example_in_javascript_passes() -> None:
    assert pytest_run("slack_bot_js").startswith("1 passed")
