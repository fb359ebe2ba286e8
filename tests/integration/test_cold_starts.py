"""What a command imports when it needs it can be imported first, by a process that has nothing of ours yet.

Most tests start our processes with everything imported: see `tests/support/warm_starts.py`. There a module would not be
missed whose import works only after another's, as where two import each other.
"""

from __future__ import annotations

import ast
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.ports import free_ports
from tests.support.warm_starts import MODULES, ROOMS, cold

ROOT = Path(__file__).parents[2]
SAMPLE = 20
#: Only what is of others is there before the fork: their imports take most of the time, and are not ours to test.
_EACH_IN_A_FORK = """
import os, sys
import aiohttp.web, alembic.command, apscheduler, cryptography.fernet, httpx, msgspec, prometheus_client
import slack_bolt.async_app, slack_sdk.web.async_client, sqlalchemy.ext.asyncio, typer
import webauthn
assert not any(name.partition(".")[0] in sys.argv[1].split() for name in sys.modules)
for name in sys.argv[2:]:
    pid = os.fork()
    if pid == 0:
        __import__(name)
        sys.stderr.flush()
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        print(name)
"""


def imported_late() -> set[str]:
    """Modules of ours that the commands import inside a function."""
    found = set(MODULES)
    for file in sorted((ROOT / "bot" / "cli").rglob("*.py")):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                        found.add(node.module)
                        found.update(f"{node.module}.{alias.name}" for alias in node.names)
                    elif isinstance(node, ast.Import):
                        found.update(alias.name for alias in node.names)
    return {name for name in found if _is_file(name)} - {"bot"} | {"bot.cli"}


def _is_file(name: str) -> bool:
    place = ROOT / name.replace(".", "/")
    return name.partition(".")[0] in ROOMS and (place.with_suffix(".py").exists() or place.is_dir())


def not_first(*names: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _EACH_IN_A_FORK, " ".join(ROOMS), *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.sampled
def test_whatever_a_command_imports_late_can_be_the_first_import_of_its_process() -> None:
    late = imported_late()
    drawn = sorted(late) if os.environ.get("SOAK") == "1" else random.sample(sorted(late), SAMPLE)

    assert {"bot.app", "bot.cli.demo", "storage.migrate", "sandbox.slack"} <= late, late
    assert not_first(*drawn) == []


def test_a_module_that_cannot_come_first_is_named() -> None:
    assert not_first("bot.cli", "bot.no_such_module") == ["bot.no_such_module"]


def test_a_warm_process_is_a_child_that_ends_as_a_cold_one_does(tmp_path: Path) -> None:
    given: Any = {"cwd": tmp_path, "env": {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}}
    for words, code in ((["--version"], 0), (["no-such-command"], 2), (["keys", "new-master"], 0)):
        asked = [sys.executable, "-m", "bot", *words]
        warm = subprocess.run(asked, capture_output=True, text=True, **given)
        with cold():
            known = subprocess.run(asked, capture_output=True, text=True, **given)
        assert warm.returncode == known.returncode == code
        assert warm.stderr == known.stderr
        assert len(warm.stdout) == len(known.stdout)

    asked = [sys.executable, "-m", "bot", "sandbox", "--partner-port", str(free_ports(1))]
    for number in (signal.SIGKILL, signal.SIGTERM):
        with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True, **given) as process:
            assert process.stdout is not None
            assert process.stdout.readline()
            assert psutil.Process(process.pid).ppid() == os.getpid()
            process.send_signal(number)
            process.stdout.read()
            assert process.wait(10) == (-number if number == signal.SIGKILL else 0)
