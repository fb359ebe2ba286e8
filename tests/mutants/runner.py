"""Runs the tests of a room against each mutant of a module, in a process that is forked for it.

Pytest collects once. Where the tests would begin, the process forks instead, once a mutant: the child gets the
changed code and runs them until the first failure. A change of what a module does at import (a table, a default) needs
a process in which the module was not imported yet: it forks before anything is collected.
"""

from __future__ import annotations

import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import Phase, settings

from tests.mutants.operators import Mutant, mutants, mutated
from tests.mutants.rooms import ROOT, module_name, room_of

KILLED, SURVIVED, ENDLESS, BROKEN = "killed", "survived", "endless", "broken"
# A mutant that has not ended by then never does: the tests of a room take seconds. Where they take longer, as on a busy
# machine, it is so many times as long as with nothing changed: a slow machine is to notice no mutant.
_PATIENCE_S = 60.0
_TIMES_AS_LONG = 5.0
_PATIENCE_UNCHANGED_S = 600.0
# In place of a mutant's number: the tests with nothing changed.
_UNCHANGED = -1
_OPTIONS = (
    "-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:warnings",
    "--tb=no",
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    mutant: Mutant
    outcome: str
    seconds: float


class Unsound(Exception):
    """The tests of a room fail without any mutant, so nothing can be said."""


def run(path: str, chosen: Sequence[Mutant]) -> Iterator[Result]:
    """Each mutant of `chosen`, all of the module at `path`, with what became of it. Raises `Unsound`."""
    source = (ROOT / path).read_text()
    tests = room_of(path)
    in_functions = [m for m in chosen if m.in_function]
    if in_functions:
        yield from _in_collected(path, source, tests, in_functions)
    of_module = [m for m in chosen if not m.in_function]
    if not of_module:
        return
    outcome, patience_s = _unchanged(partial(_pytest, tests))
    _require_sound(path, tests, outcome)
    for mutant in of_module:
        yield _timed(mutant, partial(_imported_as, path, source, mutant, tests), patience_s)


def all_of(path: str) -> list[Mutant]:
    return mutants(path, (ROOT / path).read_text())


def _require_sound(path: str, tests: Sequence[str], outcome: str) -> None:
    """The tests pass while nothing is changed. Raises `Unsound`."""
    if outcome != SURVIVED:
        raise Unsound(f"The tests of {path} do not pass without a mutant: {' '.join(tests)} ({outcome})")


def _unchanged(child: Callable[[], int]) -> tuple[str, float]:
    """What the tests come to with nothing changed, and how long to wait for a mutant then."""
    began = time.monotonic()
    outcome = _forked(child, _PATIENCE_UNCHANGED_S)
    return outcome, max(_PATIENCE_S, _TIMES_AS_LONG * (time.monotonic() - began))


def _timed(mutant: Mutant, child: Callable[[], int], patience_s: float) -> Result:
    began = time.monotonic()
    return Result(mutant, _forked(child, patience_s), time.monotonic() - began)


def _in_collected(path: str, source: str, tests: Sequence[str], part: Sequence[Mutant]) -> Iterator[Result]:
    """One process collects the tests and forks for each mutant; its results come through a pipe, a line each."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _quiet()
        loop = _ForkInstead(path, source, part, writing)
        code = 3
        try:
            code = int(pytest.main([*_OPTIONS, *tests], plugins=[loop]))
        finally:
            os._exit(code)
    os.close(writing)
    by_index = {m.index: m for m in part}
    with os.fdopen(reading) as lines:
        for line in lines:
            index, outcome, seconds = line.split()
            if int(index) == _UNCHANGED:
                _require_sound(path, tests, outcome)
                continue
            yield Result(by_index.pop(int(index)), outcome, float(seconds))
    os.waitpid(pid, 0)
    for mutant in by_index.values():  # code that cannot be exchanged, such as of a closure that lost a name
        yield _timed(mutant, partial(_imported_as, path, source, mutant, tests), _PATIENCE_UNCHANGED_S)


class _SameExamples:
    """A plugin of pytest: the same examples each time, and none is made smaller, as nobody reads it."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", deadline=None, database=None, derandomize=True, phases=phases)
        settings.load_profile("mutants")


class _ForkInstead(_SameExamples):
    """Where the tests would run, it forks for each mutant and lets them run there."""

    def __init__(self, path: str, source: str, part: Sequence[Mutant], writing: int) -> None:
        self._path, self._source, self._part, self._writing = path, source, part, writing

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        from _pytest.main import pytest_runtestloop

        gc.unfreeze()  # what is frozen is not among the objects
        functions = _functions_of(ROOT / self._path)
        gc.collect()
        gc.freeze()

        def all_pass() -> int:
            try:
                pytest_runtestloop(session)
            except (session.Failed, session.Interrupted):
                return 1
            return 1 if session.testsfailed else 0

        outcome, patience_s = _unchanged(all_pass)
        self._say(_UNCHANGED, outcome, 0)
        for mutant in self._part:
            code = compile(mutated(self._source, mutant.index), str(ROOT / self._path), "exec")
            if not _exchangeable(functions, code):
                continue

            def child(code: CodeType = code) -> int:
                _exchange(functions, code)
                return all_pass()

            result = _timed(mutant, child, patience_s)
            self._say(mutant.index, result.outcome, result.seconds)
        return True

    def _say(self, index: int, outcome: str, seconds: float) -> None:
        os.write(self._writing, f"{index} {outcome} {seconds:.3f}\n".encode())


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _functions_of(file: Path) -> list[FunctionType]:
    """Every function of the file that exists now, whatever holds it."""
    return [
        f for f in gc.get_objects() if isinstance(f, FunctionType) and f.__code__.co_filename == str(file)
    ]


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    found = {_place(code): code}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _codes(constant)
    return found


def _pairs(functions: Iterable[FunctionType], code: CodeType) -> list[tuple[FunctionType, CodeType]]:
    new = _codes(code)
    return [(f, new[_place(f.__code__)]) for f in functions if _place(f.__code__) in new]


def _exchangeable(functions: Iterable[FunctionType], code: CodeType) -> bool:
    """Can the changed code take the place of the old one: does it close over the same names?"""
    pairs = _pairs(functions, code)
    return bool(pairs) and all(old.__code__.co_freevars == new.co_freevars for old, new in pairs)


def _exchange(functions: Iterable[FunctionType], code: CodeType) -> None:
    for function, new in _pairs(functions, code):
        function.__code__ = new


def _imported_as(path: str, source: str, mutant: Mutant, tests: Sequence[str]) -> int:
    """In a process that has not imported the module: import it with this change, and run the tests."""
    assert module_name(path) not in sys.modules, f"{path} was imported before it could be changed"
    code = compile(mutated(source, mutant.index), str(ROOT / path), "exec")
    sys.meta_path.insert(0, _Changed(module_name(path), ROOT / path, code))
    try:
        importlib.import_module(module_name(path))
    except Exception:  # noqa: BLE001  whatever it raises: whoever imports the module notices
        return int(pytest.ExitCode.TESTS_FAILED)
    return _pytest(tests)


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from changed code, and leaves all others alone."""

    def __init__(self, name: str, file: Path, code: CodeType) -> None:
        self._name, self._file, self._code = name, file, code

    def find_spec(
        self, fullname: str, path: Any, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._file, loader=self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)


def _pytest(tests: Sequence[str]) -> int:
    return int(pytest.main([*_OPTIONS, *tests], plugins=[_SameExamples()]))


def _quiet() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _forked(child: Callable[[], int], patience_s: float) -> str:
    """Run this in a process of its own: 0 = all tests passed, 1 = one failed, anything else = broken at import."""
    pid = os.fork()
    if pid == 0:
        code = 3
        try:
            os.setsid()
            _quiet()
            code = child()
        except BaseException:  # noqa: BLE001  whatever it raises: this process must not go on as its parent
            code = 3
        finally:
            os._exit(code)
    watched = os.pidfd_open(pid)
    try:
        ended = select.select([watched], [], [], patience_s)[0]
    finally:
        os.close(watched)
    if not ended:
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not ended:
        return ENDLESS
    if os.WIFSIGNALED(status):
        return KILLED  # the interpreter itself ended
    match os.waitstatus_to_exitcode(status):
        case 0:
            return SURVIVED
        case pytest.ExitCode.TESTS_FAILED | pytest.ExitCode.INTERRUPTED | pytest.ExitCode.INTERNAL_ERROR:
            return KILLED  # a failed test, or a module that cannot even be imported
        case _:
            return BROKEN
