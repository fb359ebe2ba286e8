"""Processes of ours that need not import everything first: forked from one that has.

Most of what `python -m bot …` costs is the second of processor time that its imports take, and the tests start it some
hundred times. So where a test asks for such a process, it comes from a process that has imported our rooms and done
nothing else. It is a real one all the same: a child of the test's with the environment, folder and pipes that were
asked for, which runs the module as `python -m` does and ends by itself or by any signal. What differs is that modules
are there already, so `tests/integration/test_cold_starts.py` imports each in a bare process. A test that is about the
start itself is marked `cold`.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import io
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

ROOT = Path(__file__).parents[2]
MODULES = (
    *("bot", "tests.crash.bot_under_test"),
    *("tests.engine.carrier_process", "tests.engine.sending_process"),
)
ROOMS = ("bot", "handlers", "sandbox", "storage")
_PR_SET_CHILD_SUBREAPER = 36
#: What Python reads as it starts. A process with another value than ours is started cold.
_AT_THE_START = ("LANG", "LC_ALL", "LC_CTYPE")
_LEFT_TO_US = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
_MOST_BYTES = 1 << 20


class Forks:
    """The process that has imported everything, and how to have it fork. Started when first asked."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    def start(self, module: str, words: list[str], cwd: str, env: dict[str, str], pipes: list[int]) -> int:
        """The pid of a new child of this process. `pipes`: its standard input, output and error."""
        order = json.dumps({"module": module, "words": words, "cwd": cwd, "env": env}).encode()
        with self._turn:
            line = self._line or self._begin()
            # A fork is left behind by who forked it, and then belongs to the nearest that takes such in.
            _take_in(True)
            try:
                socket.send_fds(line, [order], pipes)
                answer = line.recv(64)
            finally:
                _take_in(False)
        assert answer, "the process that forks has ended"
        return int(answer)

    def end(self) -> None:
        if self._process is not None and self._line is not None:
            self._line.close()
            self._process.wait(10)
            self._process = self._line = None

    def _begin(self) -> socket.socket:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            env = {name: os.environ[name] for name in ("PATH", *_AT_THE_START) if name in os.environ}
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; serve({theirs.fileno()})"],
                cwd=ROOT,
                env={**env, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        assert self._line.recv(64) == b"ready"
        return self._line


def _take_in(wanted: bool) -> None:
    """Whether processes that lose their parent become children of this one."""
    done = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)
    assert done == 0, os.strerror(ctypes.get_errno())


@contextmanager
def warm_starts() -> Iterator[None]:
    """Meanwhile `subprocess` and `asyncio` start our modules warm."""
    cold: Any = vars(subprocess.Popen)["_execute_child"]
    named = inspect.signature(cold)
    forks = Forks()

    def execute(self: Any, *given: Any, **more: Any) -> None:
        asked = named.bind(self, *given, **more).arguments
        words = _ours(asked)
        if words is None:
            cold(self, *given, **more)
            return
        pipes = [
            asked[name] if asked[name] != -1 else number
            for number, name in enumerate(("p2cread", "c2pwrite", "errwrite"))
        ]
        env = dict(os.environ if asked["env"] is None else asked["env"])
        try:
            self.pid = forks.start(words[0], words[1:], os.fspath(asked["cwd"] or Path.cwd()), env, pipes)
            self._child_created = True
        finally:
            self._close_pipe_fds(
                *(
                    asked[name]
                    for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
                )
            )

    setattr(subprocess.Popen, "_execute_child", execute)  # noqa: B010 - mypy knows it as another's
    try:
        yield
    finally:
        setattr(subprocess.Popen, "_execute_child", cold)  # noqa: B010 - as above
        forks.end()


def _ours(asked: dict[str, Any]) -> list[str] | None:
    """The module and its words where the order is one of `MODULES`, with nothing special about its start."""
    args = asked["args"]
    if not is_warm or isinstance(args, str | bytes | os.PathLike):
        return None
    words = [os.fsdecode(word) for word in args]
    if words[:2] != [sys.executable, "-m"] or words[2] not in MODULES:
        return None
    special = ("executable", "preexec_fn", "pass_fds", "shell", "start_new_session", "gid", "gids", "uid")
    if any(asked.get(name) for name in special) or asked.get("umask", -1) != -1:
        return None
    env = os.environ if asked["env"] is None else asked["env"]
    if any(name.startswith("PYTHON") and name not in _LEFT_TO_US for name in env):
        return None
    if any(env.get(name, os.environ.get(name)) != os.environ.get(name) for name in _AT_THE_START):
        return None
    return words[2:]


#: Elsewhere there is no way to have a process that another forked become a child of this one.
is_warm = sys.platform == "linux"


@contextmanager
def cold() -> Iterator[None]:
    """Meanwhile every process starts from nothing, as it does for people."""
    global is_warm  # noqa: PLW0603 - one switch for this process
    before, is_warm = is_warm, False
    try:
        yield
    finally:
        is_warm = before


def serve(number: int) -> None:
    """Import everything, then fork for every order on this socket; returns in the fork, where the module has run."""
    for room in ROOMS:
        for module in pkgutil.walk_packages(import_module(room).__path__, f"{room}."):
            if "migrations" not in module.name and not module.name.endswith("__main__"):
                import_module(module.name)
    import_module("alembic.command")
    gc.collect()
    gc.freeze()
    line = socket.socket(fileno=number)
    line.send(b"ready")
    while True:
        text, pipes, _, _ = socket.recv_fds(line, _MOST_BYTES, 3)
        if not text:
            return
        order = json.loads(text)
        asks, tells = os.pipe()
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid:
                os.write(tells, str(pid).encode())
                os._exit(0)
            line.detach()
            _run(order, pipes)
            return
        # Only when the one between has ended is the fork a child of who asked for it.
        os.waitpid(between, 0)
        line.send(os.read(asks, 64))
        for done in (asks, tells, *pipes):
            os.close(done)


def _run(order: dict[str, Any], pipes: list[int]) -> None:
    for place, pipe in enumerate(pipes):
        os.dup2(pipe, place)
    os.closerange(3, 1024)
    env: dict[str, str] = order["env"]
    os.environ.clear()
    os.environ.update(env)
    os.chdir(order["cwd"])
    time.tzset()
    sys.stdin = vars(sys)["__stdin__"] = _text(0, sys.stdin)
    sys.stdout = vars(sys)["__stdout__"] = _text(1, sys.stdout, at_once=bool(env.get("PYTHONUNBUFFERED")))
    sys.stderr = vars(sys)["__stderr__"] = _text(2, sys.stderr, by_lines=True)
    sys.argv = ["-m", *order["words"]]
    sys.path[0] = order["cwd"]
    run: Any = vars(runpy)["_run_module_as_main"]
    run(order["module"])


def _text(number: int, like: Any, *, at_once: bool = False, by_lines: bool = False) -> Any:
    """The text on a pipe, in the encoding that Python chose as it started."""
    raw: Any = open(number, "rb" if number == 0 else "wb", buffering=0 if at_once else -1)  # noqa: SIM115 - to the end
    return io.TextIOWrapper(
        raw, like.encoding, like.errors, line_buffering=by_lines or raw.isatty(), write_through=at_once
    )  # fmt: skip
