"""Rules for every test: nothing leaves this machine, and nothing is skipped silently."""

import gc
import os
import socket
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialectAsync_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from bot.services import people
from handlers import budget
from storage import database
from tests.support import audit_readers
from tests.support.clock import FrozenClock
from tests.support.databases import (
    BACKENDS,
    Databases,
    PostgresDatabases,
    SqliteFiles,
    databases_on_one_server,
)
from tests.support.ports import free_ports
from tests.support.walks import left_to_other_turns, left_to_the_soak, this_turn
from tests.support.warm_starts import cold, warm_starts

# A slow machine is not a bug; pytest's own timeout still ends what hangs.
settings.register_profile("house", deadline=None)
settings.load_profile("house")

#: All databases of one of these are alike to SQLAlchemy: SQLite files, and databases of one PostgreSQL server.
DIALECTS = (SQLiteDialect_pysqlite, PGDialectAsync_psycopg)

#: The one reason to skip that is no failure in CI: sample data that is not part of the repository.
SAMPLE_DATA = "shared/data"


#: Folders whose tests wait for processes, browsers and clocks: one of their files after some of others, so that the
#: processor has something to do meanwhile, and none near the end, so that no worker ends alone with it.
WAITING = ("crash", "browser", "leaks", "demo", "sandbox_distribution", "integration", "engine", "events")
#: Folders whose files take long: first.
LONG = ("simulation", "mutants", "thief", "authorization", "services")
#: The part of all other files, but for the short ones, among which those that wait are.
AMONG = 0.75
#: Those whose files take a second each: last, so that all workers end together.
SHORT = ("partner", "unit")

#: What each suite may take of `make test`, in seconds of its tests, so that all of it stays under ten minutes on two
#: cores. One that takes longer is named at the end. A suite is a part of the names of its tests. Where there are more
#: processes than cores, each is counted for its share of one.
BUDGETS_S = {
    "/simulation/": 60,
    "/crash/": 60,
    "/thief/": 20,
    "/mutants/": 60,
    "/authorization/": 30,
    "[postgresql": 60,
    "/browser/": 90,
    "/sandbox_distribution/": 30,
}

HERE = Path(__file__).parent

#: Which of the tests that take turns run; None: all of them.
TURN = pytest.StashKey[int | None]()


class LeftTheMachine(RuntimeError):
    """A test tried to reach something that is not on this machine."""


def _refuse_outside(host: object) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name in ("localhost", ""):
        return
    try:
        inside = ip_address(name.split("%")[0]).is_loopback
    except ValueError:
        inside = False
    if not inside:
        raise LeftTheMachine(f"a test tried to reach {name}; tests speak to loopback only")


@pytest.fixture(scope="session", autouse=True)
def _stay_on_this_machine() -> Iterator[None]:
    """Refuse connections and name look-ups that leave loopback."""
    real_connect, real_connect_ex = socket.socket.connect, socket.socket.connect_ex
    real_getaddrinfo = socket.getaddrinfo

    def connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            _refuse_outside(address[0])
        real_connect(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        if self.family != socket.AF_UNIX:
            _refuse_outside(address[0])
        return real_connect_ex(self, address)

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        # Listening on all interfaces looks up "0.0.0.0"; only connecting there is refused.
        if host is not None and str(host) not in ("0.0.0.0", "::"):
            _refuse_outside(host)
        return real_getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket.socket, "connect_ex", connect_ex)
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_power_cut() -> Iterator[None]:
    """Nobody pulls the plug of a test: it need not wait for the disk. Processes that tests start do."""
    kept = database.PRAGMAS
    database.PRAGMAS = tuple("synchronous=OFF" if "synchronous" in pragma else pragma for pragma in kept)
    yield
    database.PRAGMAS = kept


@pytest.fixture(scope="session", autouse=True)
def _compiled_once() -> Iterator[None]:
    """Thousands of databases are opened here, always by the same statements: what SQLAlchemy has made of them for one
    is good for the next of the same kind, as in a process that stays."""
    kept: Any = LRUCache(10_000)

    def cache_of(engine: Engine) -> Any:
        return kept if type(engine.dialect) in DIALECTS else engine.__dict__["cache of its own"]

    def keep(engine: Engine, cache: Any) -> None:
        engine.__dict__["cache of its own"] = cache

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "_compiled_cache", property(cache_of, keep), raising=False)
        # What it has made is kept under the dialect, of which every engine has one of its own.
        for dialect in DIALECTS:
            patch.setattr(dialect, "__eq__", lambda one, other: type(one) is type(other))
            patch.setattr(dialect, "__hash__", lambda one: hash(type(one)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_proxy() -> Iterator[None]:
    """Slack's SDK and Chromium would send loopback through a proxy, whatever NO_PROXY says."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _warm_starts() -> Iterator[None]:
    """What tests start has imported everything before, but for the tests marked `cold`, and in `make soak`."""
    if os.environ.get("SOAK") == "1":
        yield
        return
    with warm_starts():
        yield


#: What one person may do in a minute: of Slack's looks at them, and in all.
MOST_LOOKS, MOST_DONE = people.MOST_LOOKS, budget.MOST_DONE


@pytest.fixture(scope="session", autouse=True)
def _no_minute_is_full() -> Iterator[None]:
    """Where the clock stands, all that somebody does in a test falls into one minute. Floods have the real numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(people, "MOST_LOOKS", 1_000_000)
        patch.setattr(budget, "MOST_DONE", 1_000_000)
        yield


@pytest.fixture(scope="session")
def audit_readings() -> Iterator[audit_readers.Seen]:
    """See `tests.support.audit_readers`."""
    with audit_readers.watched() as seen:
        yield seen


@pytest.fixture(autouse=True)
def _no_unknown_reading_of_the_log(audit_readings: audit_readers.Seen) -> Iterator[None]:
    """Whoever reads audit entries in a new place says what a lie to that statement does."""
    audit_readings.unknown.clear()
    yield
    assert not audit_readings.unknown, (
        "somebody who writes to the database can hide entries from this reading: lean on storage.log_record.on_record,"
        f" or say in tests/support/audit_readers.py why a lie is harmless: {sorted(audit_readings.unknown)}"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if item.get_closest_marker("cold"):
        with cold():
            return (yield)
    return (yield)


@pytest.fixture(scope="session")
def postgres_databases() -> Iterator[PostgresDatabases]:
    """Databases on PostgreSQL; one server for all tests of this process, as to start one takes seconds."""
    yield from databases_on_one_server()


@pytest.fixture(scope="session")
def sqlite_files(tmp_path_factory: pytest.TempPathFactory) -> SqliteFiles:
    """Databases in SQLite files."""
    return SqliteFiles(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(params=BACKENDS)
def databases(request: pytest.FixtureRequest) -> Databases:
    """Databases of either kind: the test runs on SQLite and on PostgreSQL."""
    name = "sqlite_files" if request.param == "sqlite" else "postgres_databases"
    found: Databases = request.getfixturevalue(name)
    return found


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands still at 2026-03-02 09:00 UTC until the test moves it."""
    return FrozenClock()


@pytest.fixture
def free_port() -> int:
    """A port on 127.0.0.1 that nothing listens on."""
    return free_ports(1)


def pytest_configure(config: pytest.Config) -> None:
    """Every process of a run has the same turn."""
    given: dict[str, int | None] | None = getattr(config, "workerinput", None)
    config.stash[TURN] = _turn(config) if given is None else given["turn"]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of the run its turn."""
    node.workerinput["turn"] = node.config.stash[TURN]


def _turn(config: pytest.Config) -> int | None:
    if os.environ.get("SOAK") == "1":
        return None
    of_all = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return this_turn() if of_all or "WALK_TURN" in os.environ else None


def pytest_report_header(config: pytest.Config) -> str:
    """Say how to run the same tests again."""
    turn = config.stash[TURN]
    return "" if turn is None else f"tests that take turns: WALK_TURN={turn}"


def pytest_sessionstart(session: pytest.Session) -> None:
    """What is imported and collected stays until the end: to look through it for garbage is a tenth of all the time.

    On a fresh checkout pytest rewrites each file of tests. The processes of a run begin at different folders, so that
    each rewrites its part, and finds the rest done by the others.
    """
    gc.disable()
    config = session.config
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is not None and config.args == config.getini("testpaths"):
        parts = sorted(str(part) for part in HERE.iterdir() if part.is_dir() or part.match("test_*.py"))
        first = int(given["workerid"].removeprefix("gw")) * len(parts) // given["workercount"]
        config.args[:] = [*parts[first:], *parts[:first]]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only the timed tests run, no other file is looked through: that would take as long as some of them."""
    if config.option.markexpr != "timed" or not collection_path.match("test_*.py"):
        return None
    return True if "mark.timed" not in collection_path.read_text(encoding="utf-8") else None


def pytest_collection_finish() -> None:
    """From here on garbage is collected, among what the tests make."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


def _places(files: Sequence[Path]) -> dict[Path, tuple[float, str]]:
    """Where each file of tests comes, by the folders above."""
    ranks = {name: place for place, name in enumerate((*LONG, "", *SHORT))}
    working = [file for file in files if file.parent.name not in WAITING]
    working.sort(key=lambda file: ranks.get(file.parent.name, len(LONG)))
    waiting = [file for file in files if file.parent.name in WAITING]
    waiting.sort(key=lambda file: WAITING.index(file.parent.name))
    among = AMONG * sum(file.parent.name not in SHORT for file in working)
    places = {file: float(place) for place, file in enumerate(working)}
    places.update((file, among * place / len(waiting) - 0.5) for place, file in enumerate(waiting))
    return {file: (place, str(file)) for file, place in places.items()}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest folders first, the shortest last, and between them what waits, in each in random order; soak only
    where asked for, of a walk no more than its sample, and what takes turns in its turn."""
    places = _places(sorted({item.path for item in items}))
    items.sort(key=lambda item: places[item.path])
    if os.environ.get("SOAK") == "1":
        return
    left = {item for item in items if item.get_closest_marker("soak")}
    left.update(left_to_the_soak([item for item in items if item not in left]))
    if (turn := config.stash[TURN]) is not None:
        left.update(left_to_other_turns([item for item in items if item not in left], turn))
    if left:
        config.hook.pytest_deselected(items=[*left])
        items[:] = [item for item in items if item not in left]


def _skips(config: pytest.Config) -> dict[str, int]:
    """Reason -> how many tests (or modules) did not run because of it."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    reasons: dict[str, int] = {}
    for report in reporter.stats.get("skipped", ()) if reporter else ():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        reasons[reason] = reasons.get(reason, 0) + 1
    return reasons


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name what could not run, so that green never means less than it seems."""
    _name_what_took_long(terminalreporter)
    reasons = _skips(config)
    if reasons:
        terminalreporter.section("Did not run")
        for reason, count in sorted(reasons.items()):
            terminalreporter.line(f"{count} x {reason}")
        if _fails_here(reasons):
            terminalreporter.line("With CI=true that is a failure.", red=True)


def _seconds_of(terminalreporter: Any, suite: str) -> float:
    """What the tests of a suite took together, with what they needed before and after."""
    reports = (one for found in terminalreporter.stats.values() for one in found)
    return sum(getattr(one, "duration", 0.0) for one in reports if suite in f"/{getattr(one, 'nodeid', '')}")


def _name_what_took_long(terminalreporter: Any) -> None:
    if os.environ.get("SOAK") == "1":
        return
    processes = terminalreporter.config.getoption("numprocesses", None) or 1
    share = min(1.0, (os.cpu_count() or 1) / processes)
    took = {suite: _seconds_of(terminalreporter, suite) * share for suite in BUDGETS_S}
    over = {suite: seconds for suite, seconds in took.items() if seconds > BUDGETS_S[suite]}
    if over:
        terminalreporter.section("Over its budget")
        for suite, seconds in sorted(over.items()):
            terminalreporter.line(f"{suite.strip('[/')} took {seconds:.0f} s of {BUDGETS_S[suite]} s")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """With CI=true a suite that could not run is a failure; absent sample data is not."""
    if session.exitstatus == pytest.ExitCode.OK and _fails_here(_skips(session.config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _fails_here(reasons: dict[str, int]) -> bool:
    in_ci = os.environ.get("CI", "").lower() in ("true", "1")
    return in_ci and any(SAMPLE_DATA not in reason for reason in reasons)
