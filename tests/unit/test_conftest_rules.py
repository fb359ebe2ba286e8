"""The rules of conftest.py hold: tests stay on this machine, and a skip is named and fails in CI."""

import os
import socket
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.inner_pytest import inner_pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("host", ["192.0.2.1", "example.com", "127.0.0.1.example.com"])
def test_a_test_cannot_leave_the_machine(host: str) -> None:
    with pytest.raises(RuntimeError, match="loopback only"), socket.socket() as outgoing:
        outgoing.connect((host, 80))
    with pytest.raises(RuntimeError, match="loopback only"):
        socket.create_connection((host, 80), timeout=1)


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=1).close()


def run_pytest(tmp_path: Path, reason: str, *, ci: str) -> CompletedProcess[str]:
    """Run a suite of one passing and one skipped test under the real conftest."""
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tests / "test_two.py").write_text(
        f"import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip({reason!r})\n"
    )
    return inner_pytest(tmp_path, "-q", str(tests), env={**os.environ, "CI": ci})


def test_a_suite_that_could_not_run_is_named_and_fails_in_ci(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "Chromium is not installed", ci="true")

    assert "1 x Chromium is not installed" in done.stdout
    assert done.returncode == 1, done.stdout


def test_a_suite_that_could_not_run_is_named_and_passes_elsewhere(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "Chromium is not installed", ci="")

    assert "1 x Chromium is not installed" in done.stdout
    assert done.returncode == 0, done.stdout


def test_absent_sample_data_is_no_failure_in_ci(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "sample data ../shared/data/x is absent", ci="true")

    assert "1 x sample data" in done.stdout
    assert done.returncode == 0, done.stdout


def test_a_suite_over_its_budget_is_named_with_its_seconds(tmp_path: Path) -> None:
    suite = tmp_path / "tests" / "thief"
    suite.mkdir(parents=True)
    rules = (ROOT / "tests" / "conftest.py").read_text().replace('"/thief/": 20', '"/thief/": 0.2')
    (tmp_path / "tests" / "conftest.py").write_text(rules)
    (suite / "test_slow.py").write_text("import time\ndef test_a(): time.sleep(0.3)\n")
    (tmp_path / "tests" / "test_quick.py").write_text("def test_a(): pass\n")

    done = inner_pytest(tmp_path, "-q", str(tmp_path / "tests"), env={**os.environ, "SOAK": ""})

    assert "Over its budget" in done.stdout, done.stdout
    assert "thief took 0 s of 0.2 s" in done.stdout
    assert "quick" not in done.stdout
