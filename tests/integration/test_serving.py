"""Commands that keep running: what they print, who may run beside them, and that they end cleanly."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]


@contextmanager
def command(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A running `countersign` in `folder`; killed at the end if it still runs."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "bot", *words],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], text: str) -> str:
    """Standard output up to the line that holds `text`."""
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if text in line:
            return seen
    assert process.stderr is not None
    raise AssertionError(seen + process.stderr.read())


def status(url: str) -> int:
    with urlopen(url, timeout=5) as answer:
        code: int = answer.status
        return code


def ended(process: subprocess.Popen[str], number: signal.Signals) -> float:
    """Send the signal; seconds until the process ended with 0 and without a complaint."""
    before = time.monotonic()
    process.send_signal(number)
    _, complaints = process.communicate(timeout=15)
    assert process.returncode == 0, complaints
    assert "Traceback" not in complaints
    return time.monotonic() - before


def test_the_sandbox_prints_what_to_connect_with_and_ends_on_a_signal(tmp_path: Path) -> None:
    port = free_ports(2)
    words = ("sandbox", "--slack-port", str(port), "--partner-port", str(port + 1))

    with command(tmp_path, *words) as running:
        said = read_until(running, "Ctrl-C")

        assert re.search(r"SLACK_BOT_TOKEN\s+xoxb-\S+", said)
        assert re.search(r"COUNTERSIGN_PARTNER_KEY\s+svc_live_00000000\w+", said)
        assert status(f"http://127.0.0.1:{port}/") == 200
        assert status(f"http://127.0.0.1:{port + 1}/api/partner/v1/openapi.json") == 200
        assert ended(running, signal.SIGTERM) < 10


def test_one_half_of_the_sandbox_can_be_left_out(tmp_path: Path) -> None:
    port = free_ports(1)

    with command(tmp_path, "sandbox", "--slack-port", "0", "--partner-port", str(port)) as running:
        said = read_until(running, "Ctrl-C")

        assert "SLACK" not in said
        assert ended(running, signal.SIGINT) < 10


def test_a_port_in_use_is_told_with_the_option_that_mends_it(tmp_path: Path) -> None:
    port = free_ports(1)
    words = ("sandbox", "--slack-port", "0", "--partner-port", str(port))

    with command(tmp_path, *words) as first:
        read_until(first, "Ctrl-C")
        with command(tmp_path, *words) as second:
            _, complaints = second.communicate(timeout=15)

        assert second.returncode == 2
        assert complaints == (
            f"Port {port} is used by another program. End that one, or choose another with --partner-port.\n"
        )
