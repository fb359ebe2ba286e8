"""The pytest plugin: `partner_sandbox` and `slack_sandbox`, fresh for each test, on free ports, safe under xdist.

A server starts once in a test process for each way to begin; each test begins with it as it was at its start. A test
that fails is shown what went over the wire. Of one's own, in a conftest or a module: fixtures `slack_manifest`,
`slack_people`, `slack_channels` (each a path, or what stands in such a file) and `partner_start` (a function that is
given the simulator before the first test). Fixtures that need a server for longer than a module set
`sandbox_scope = session` in pytest's configuration; then all tests of a process begin in one way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox.partner.server import Running as RunningPartner
from sandbox.partner.server import serve as serve_partner
from sandbox.slack import Options
from sandbox.slack import Running as RunningSlack
from sandbox.slack import serve as serve_slack
from sandbox.slack.state import cast
from sandbox.testing.background import Background
from sandbox.testing.partner import FRESH, PartnerSandbox
from sandbox.testing.slack import SlackSandbox

#: What a workspace begins with: the path of a file, or what stands in it.
Beginning = Path | str | dict[str, Any] | list[Any]
ANY_APP = Path(__file__).parents[1] / "slack" / "any_app.yml"


@dataclass
class Servers:
    """The servers of a test process: the simulators by their `partner_start`, the stand-ins by what they began with."""

    partner: dict[Callable[[PartnerSandbox], None], PartnerSandbox]
    slack: dict[str, SlackSandbox]
    running: list[RunningPartner | RunningSlack]


def _scope(fixture_name: str, config: pytest.Config) -> Any:
    try:
        return config.getini("sandbox_scope")
    except ValueError:  # the fixtures were imported into a conftest, so there is no such setting
        return "module"


@pytest.hookimpl()
def pytest_addoption(parser: pytest.Parser) -> None:
    """The one setting."""
    parser.addini(
        "sandbox_scope", "scope of partner_server and slack_server: module or session", default="module"
    )


@pytest.fixture(scope="session")
def sandbox_background() -> Iterator[Background]:
    """The thread in which the servers run."""
    background = Background()
    yield background
    background.close()


@pytest.fixture(scope="session")
def partner_start() -> Callable[[PartnerSandbox], None]:
    """What each test finds in the simulator: override it to fund a float or to play a scenario."""
    return lambda simulator: None


@pytest.fixture(scope="session")
def sandbox_servers(sandbox_background: Background) -> Iterator[Servers]:
    """What runs in this test process, by the way in which it began."""
    servers = Servers({}, {}, [])
    yield servers
    for running in servers.running:
        sandbox_background.run(running.close())


@pytest.fixture(scope=_scope)
def partner_server(
    sandbox_background: Background,
    sandbox_servers: Servers,
    partner_start: Callable[[PartnerSandbox], None],
) -> PartnerSandbox:
    """The simulator of this test process that began with `partner_start`."""
    if partner_start not in sandbox_servers.partner:
        running = sandbox_background.run(serve_partner(port=0))
        sandbox_servers.running.append(running)
        simulator = PartnerSandbox(running, sandbox_background)
        partner_start(simulator)
        simulator.control(f"snapshots/{FRESH}")
        sandbox_servers.partner[partner_start] = simulator
    return sandbox_servers.partner[partner_start]


@pytest.fixture
def partner_sandbox(partner_server: PartnerSandbox) -> PartnerSandbox:
    """The Partner API, as `partner_start` left it."""
    partner_server.fresh()
    return partner_server


@pytest.fixture(scope="session")
def slack_manifest() -> Beginning:
    """The manifest of the app under test: override it with a path, or with the manifest as a mapping."""
    return ANY_APP


@pytest.fixture(scope="session")
def slack_people() -> Beginning | None:
    """People and groups in place of the demo's: a path, or what stands in such a file."""
    return None


@pytest.fixture(scope="session")
def slack_channels() -> Beginning | None:
    """Channels in place of the demo's: a path, or what stands in such a file."""
    return None


@pytest.fixture(scope=_scope)
def slack_server(
    sandbox_background: Background,
    sandbox_servers: Servers,
    slack_manifest: Beginning,
    slack_people: Beginning | None,
    slack_channels: Beginning | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> SlackSandbox:
    """The stand-in of this test process that has this manifest, these people and these channels."""
    began = json.dumps([slack_manifest, slack_people, slack_channels], default=str)
    if began not in sandbox_servers.slack:
        folder = tmp_path_factory.mktemp("sandbox")
        manifest = _as_file(slack_manifest, folder / "manifest.json")
        people = None if slack_people is None else _as_file(slack_people, folder / "people.json")
        channels = None if slack_channels is None else _as_file(slack_channels, folder / "channels.json")
        options = Options(cast=cast.load(people, channels))
        running = sandbox_background.run(serve_slack(port=0, manifest_path=manifest, options=options))
        sandbox_servers.running.append(running)
        sandbox_servers.slack[began] = SlackSandbox(running, sandbox_background)
    return sandbox_servers.slack[began]


def _as_file(given: Beginning, written: Path) -> Path:
    """The path that is given, or a file with what is given."""
    if isinstance(given, str | Path):
        return Path(given)
    written.write_text(json.dumps(given), encoding="utf-8")
    return written


@pytest.fixture
def slack_sandbox(slack_server: SlackSandbox) -> SlackSandbox:
    """The Slack stand-in with nothing said in it yet."""
    slack_server.fresh()
    return slack_server


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows what went over the wire."""
    report = yield
    if report.when == "call" and report.failed:
        for name in ("partner_sandbox", "slack_sandbox"):
            used = getattr(item, "funcargs", {}).get(name)
            if used is not None:
                report.sections.append((name, used.shown_log()))
    return report
