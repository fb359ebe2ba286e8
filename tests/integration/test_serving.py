"""Commands that keep running: what they print, who may run beside them, and that they end cleanly."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psutil
import pytest

from bot.cli.sandboxes import opened_to
from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]


@contextmanager
def command(folder: Path, *words: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """A running `countersign` in `folder`; killed at the end if it still runs."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **settings}
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


def ended(process: subprocess.Popen[str], number: signal.Signals, *, logs: bool = False) -> float:
    """Send the signal; seconds until the process ended with 0 and without a complaint.

    `logs`: standard error holds the log, where nothing may be worse than a warning.
    """
    before = time.monotonic()
    process.send_signal(number)
    _, complaints = process.communicate(timeout=15)
    assert process.returncode == 0, complaints
    if logs:
        assert {json.loads(line)["level"] for line in complaints.splitlines()} <= {"info", "warning"}
    else:
        assert complaints == ""
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


def test_a_port_in_use_is_reported_with_the_option_that_fixes_it(tmp_path: Path) -> None:
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


def own_address() -> str:
    """An address of this machine that is not loopback; the test is skipped where there is none."""
    for addresses in psutil.net_if_addrs().values():
        for one in addresses:
            if one.family == socket.AF_INET and not ip_address(one.address).is_loopback:
                return one.address
    pytest.skip("this machine has no address but loopback")


def is_answered(*urls: str) -> list[bool]:
    """Whether each answers 200, asked by a process of its own: this one speaks to 127.0.0.1 alone."""
    script = (
        "import sys, urllib.request as u\n"
        "ask = u.build_opener(u.ProxyHandler({})).open\n"
        "for url in sys.argv[1:]:\n"
        "    try: print(ask(url, timeout=5).status == 200)\n"
        "    except OSError: print(False)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, *urls], capture_output=True, text=True, check=True)
    return [line == "True" for line in done.stdout.split()]


def test_the_sandbox_is_reached_from_this_machine_alone_unless_it_is_opened(tmp_path: Path) -> None:
    here, port = own_address(), free_ports(2)
    words = ("sandbox", "--slack-port", str(port), "--partner-port", str(port + 1))

    with command(tmp_path, *words) as closed:
        read_until(closed, "Ctrl-C")
        assert is_answered(f"http://{here}:{port}/", f"http://{here}:{port + 1}/") == [False, False]
        assert ended(closed, signal.SIGTERM) < 10
    for host in ("0.0.0.0", here):
        with command(tmp_path, *words, "--host", host) as opened:
            said = read_until(opened, "Ctrl-C")
            halves = [
                f"http://{address}:{half}" for address in ("127.0.0.1", here) for half in (port, port + 1)
            ]
            assert all(
                is_answered(*(f"{half}{path}" for half in halves for path in ("/", "/_control/state")))
            )
            simulator = f"http://127.0.0.1:{port + 1}"
            for path in ("/", "/_control/state"):
                with pytest.raises(HTTPError, match="403"):
                    urlopen(Request(simulator + path, headers={"Origin": "https://b.example"}), timeout=5)
                own = Request(simulator + path, headers={"Origin": simulator})
                assert urlopen(own, timeout=5).status == 200
            # The bot sends the key of a sandbox to this machine alone.
            assert f"COUNTERSIGN_PARTNER_URL  http://127.0.0.1:{port + 1}/" in said
            assert f"Slack stand-in      http://{here if host == here else '127.0.0.1'}:{port}" in said
            opened.send_signal(signal.SIGTERM)
            _, warned = opened.communicate(timeout=15)
            assert opened.returncode == 0
            assert "can act as anybody" in warned
            assert "no real token, key or card number" in warned


def test_an_opened_demo_serves_every_page_from_elsewhere_and_its_links_lead_there(tmp_path: Path) -> None:
    here, port = own_address(), free_ports(4)

    with command(tmp_path, "demo", "--port", str(port), "--host", here) as demo:
        said = read_until(demo, "Ctrl-C")

        assert f"http://{here}:{port}\n" in said
        assert f"http://{here}:{port + 1}" in said
        assert all(
            is_answered(*(f"http://{here}:{port + n}{path}" for n, path in enumerate(("/", "/", "/readyz"))))
        )
        demo.send_signal(signal.SIGTERM)
        _, warned = demo.communicate(timeout=15)
        assert demo.returncode == 0
        assert "can act as anybody" in warned


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.2"])
def test_every_name_of_this_machine_alone_opens_nothing_and_warns_of_nothing(
    host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opened_to(host) == ""
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("host", ["somewhere", "192.0.2.77"])
@pytest.mark.parametrize("name", ["demo", "sandbox"])
def test_an_address_that_is_not_of_this_machine_is_refused_with_what_to_give(
    tmp_path: Path, name: str, host: str
) -> None:
    with command(tmp_path, name, "--host", host) as refused:
        _, complaints = refused.communicate(timeout=20)

    assert refused.returncode == 2
    assert f"{host} is not an address of this machine. Use --host 0.0.0.0" in complaints
    assert "Traceback" not in complaints


def instance_of(database: Path) -> str:
    """The name drawn when the database was made: another one means another database."""
    with sqlite3.connect(database) as connection:
        (name,) = connection.execute("SELECT value FROM meta WHERE name = 'instance'").fetchone()
    return str(name)


@pytest.mark.timed
@pytest.mark.cold
def test_the_demo_prints_one_address_that_answers_within_five_seconds(tmp_path: Path) -> None:
    port = free_ports(4)
    began = time.monotonic()

    with command(tmp_path, "demo", "--port", str(port)) as demo:
        said = read_until(demo, "Ctrl-C")
        answered = status(f"http://127.0.0.1:{port}/")
        took = time.monotonic() - began

        assert answered == 200
        assert took < 5
        assert status(f"http://127.0.0.1:{port + 2}/readyz") == 200
        assert f"http://127.0.0.1:{port + 1}" in said
        assert "svc_live_00000000…" in said
        assert (tmp_path / "var/demo/master.key").stat().st_mode & 0o777 == 0o600
        assert ended(demo, signal.SIGINT) < 10


def test_a_second_demo_says_where_the_first_runs(tmp_path: Path) -> None:
    port = free_ports(8)

    with command(tmp_path, "demo", "--port", str(port)) as first:
        read_until(first, "Ctrl-C")
        for other in (port, port + 4):
            with command(tmp_path, "demo", "--fresh", "--port", str(other)) as second:
                _, complaints = second.communicate(timeout=20)
                assert second.returncode == 2
                assert f"already running at http://127.0.0.1:{port}" in complaints

        assert status(f"http://127.0.0.1:{port + 2}/readyz") == 200, "the first one was left alone"
        assert ended(first, signal.SIGTERM) < 10


def test_the_state_of_the_demo_survives_a_kill_unless_fresh(tmp_path: Path) -> None:
    port = free_ports(4)
    database = tmp_path / "var/demo/countersign.db"
    with command(tmp_path, "demo", "--port", str(port)) as demo:
        read_until(demo, "Ctrl-C")
        before = instance_of(database)
        demo.kill()

    with command(tmp_path, "demo", "--port", str(port)) as demo:
        read_until(demo, "Ctrl-C")
        after = instance_of(database)
        ended(demo, signal.SIGTERM)
    with command(tmp_path, "demo", "--fresh", "--port", str(port)) as demo:
        read_until(demo, "Ctrl-C")
        fresh = instance_of(database)
        ended(demo, signal.SIGTERM)

    assert before == after
    assert fresh != before


def test_the_log_of_a_demo_is_json_and_holds_none_of_its_secrets(tmp_path: Path) -> None:
    port = free_ports(4)
    with command(tmp_path, "demo", "--port", str(port)) as demo:
        read_until(demo, "Ctrl-C")
        ended(demo, signal.SIGTERM)

    log = (tmp_path / "var/demo/countersign.log").read_text()

    assert all(json.loads(line)["event"] for line in log.splitlines())
    assert not re.search(r"svc_live_\w{9}|xoxb-|xapp-", log)


@pytest.mark.cold
def test_the_bot_runs_against_a_sandbox_as_it_does_in_production(tmp_path: Path) -> None:
    port = free_ports(4)
    words = ("sandbox", "--slack-port", str(port), "--partner-port", str(port + 1))
    with command(tmp_path, *words) as outside:
        said = read_until(outside, "Ctrl-C")
        settings = dict(re.findall(r"^  ((?:SLACK|COUNTERSIGN)_\w+) +(\S+)$", said, re.MULTILINE))
        del settings["SLACK_SIGNING_SECRET"]
        settings |= {
            "COUNTERSIGN_CONFIG": str(ROOT / "countersign.toml"),
            "COUNTERSIGN_MASTER_KEYS": "hVXvTjwYcVCMXAWOV3Pv9H3Hg7IaLo3n8iN8V5oBBJw=",
            "COUNTERSIGN_HTTP_BIND": f"127.0.0.1:{port + 2}",
        }
        with command(tmp_path, "run", "--no-migrate", **settings) as bot:
            _, complaints = bot.communicate(timeout=20)
            assert bot.returncode == 2
            assert "countersign migrate" in complaints
        with command(tmp_path, "run", **settings) as bot:
            wait_for(f"http://127.0.0.1:{port + 2}/readyz")
            # A crash leaves no copy of the keys in memory on a disk.
            assert psutil.Process(bot.pid).rlimit(psutil.RLIMIT_CORE) == (0, 0)
            with command(tmp_path, "run", **settings) as second:
                _, complaints = second.communicate(timeout=20)
                assert second.returncode == 1
                assert "Another Countersign process" in complaints
            assert ended(bot, signal.SIGTERM, logs=True) < 10


def wait_for(url: str) -> None:
    """Until the address answers 200."""
    deadline = time.monotonic() + 20
    while True:
        try:
            assert status(url) == 200
        except OSError:
            assert time.monotonic() < deadline, f"{url} does not answer"
            time.sleep(0.1)
        else:
            return
