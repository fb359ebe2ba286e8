"""Where anchors of the audit chain are kept outside the database: files, and a command of the settings.

Each may hang: a frozen file system or a hard NFS mount answers hours later, or never. So each is asked in a thread of
its own, for a time, and what hangs holds up nobody else.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Protocol, TypeVar

from bot import together
from storage.audit import Anchor
from storage.store import Store

log = logging.getLogger("countersign.audit")

#: Of places apart from the database, the audit channel among them: one alone is lost with what it is on.
ENOUGH_PLACES = 2
FEW_PLACES = (
    "The end of the audit chain is kept in {count} apart from the database and its disk. Two are needed, so that an"
    " older copy of the database is noticed for sure. Set slack.audit_channel, COUNTERSIGN_ANCHORS_COMMAND, or"
    " COUNTERSIGN_ANCHORS_FILE on another disk."
)
#: An anchor is kept after so many entries at the latest.
EVERY_ENTRIES = 100
EMPTY = (
    "No audit anchor is in {places}, although the audit log has {entries:,} entries. If the place was set since"
    " Countersign ran last, that is right. If not, its disk isn't mounted, or somebody emptied it: an older copy of the"
    " database would not be noticed."
)
#: A place that has no answer by then is away.
TAKES_S = 10.0
# What was killed has its end this much later, unless it hangs in the system itself.
_ENDS_WITHIN_S = 1.0
_NAME_DIGITS = 16
# As `Anchor.line` begins.
_BEGINS = '{"at": "'

T = TypeVar("T")


class Unreadable(Exception):
    """A place holds something else than anchors, or cannot be read; the text names it."""


class NoAnswer(Unreadable):
    """It may be read later: a command failed, or something hangs."""


def _no_answer(place: object) -> NoAnswer:
    return NoAnswer(f"{place} (no answer within {TAKES_S:g} seconds)")


class Place(Protocol):
    """One place outside the database. `str` of it is what the settings say. Both may never return, and raise
    Unreadable."""

    def lines(self) -> list[str]: ...

    def append(self, line: str) -> None: ...


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file, which need not be there yet."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def lines(self) -> list[str]:
        return _lines(self.path)

    def append(self, line: str) -> None:
        try:
            _append(self.path, line)
        except OSError as error:
            raise Unreadable(f"{self.path} ({error.strerror or error})") from None


@dataclass(frozen=True, slots=True)
class CommandPlace:
    """A command: with `write` it takes a line on its standard input, with `read` it prints all lines it has."""

    command: Sequence[str]
    # What hangs in the system itself cannot be killed: while one does, no other is begun.
    _left: list[subprocess.Popen[bytes]] = field(default_factory=list, compare=False, repr=False)

    def __str__(self) -> str:
        return shlex.join(self.command)

    def lines(self) -> list[str]:
        said = self._run("read", None, subprocess.PIPE)
        return said.decode(errors="replace").splitlines()

    def append(self, line: str) -> None:
        self._run("write", line.encode() + b"\n", subprocess.DEVNULL)

    def _run(self, what: str, given: bytes | None, out: int) -> bytes:
        """What it prints. Raises Unreadable with why it did not do its work."""
        command, into = [*self.command, what], subprocess.DEVNULL if given is None else subprocess.PIPE
        self._left[:] = [one for one in self._left if one.poll() is None]
        if self._left:
            raise _no_answer(self)
        try:
            running = subprocess.Popen(  # noqa: S603 - the operator's own, without a shell
                command, stdin=into, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise Unreadable(f"{command[0]} ({error.strerror})") from None
        try:
            said, _ = running.communicate(given, timeout=TAKES_S)
        except subprocess.TimeoutExpired:
            _kill(running)
            self._left.append(running)
            raise _no_answer(self) from None
        if running.returncode:
            raise NoAnswer(f"{command[0]} (exit code {running.returncode})")
        return said or b""


class _Threads(Executor):
    """Each call has a thread of its own. The process's end waits for none of them."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future = Future[T]()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                found = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - handed to whoever asked
                future.set_exception(error)
            else:
                future.set_result(found)

        Thread(target=run, name="anchors", daemon=True).start()
        return future


_THREADS = _Threads()


@dataclass(slots=True, eq=False)
class _Turns:
    """A place is asked one thing at a time: nothing ends a thread that hangs, so there is one at most."""

    place: Place
    _asked: asyncio.Future[Any] | None = None
    _overdue_at: float = 0.0

    async def free(self) -> None:
        """Once nothing is asked any more. Raises Unreadable where that takes too long: at once where it has already."""
        loop = asyncio.get_running_loop()
        while self._asked is not None and not self._asked.done():
            left = self._overdue_at - loop.time()
            if left <= 0:
                raise _no_answer(self.place)
            await asyncio.wait({self._asked}, timeout=left)

    async def ask(self, do: Callable[[], T]) -> T:
        """What `do` returns, in a thread. Raises Unreadable where that takes too long, from when it begins."""
        await self.free()
        loop = asyncio.get_running_loop()
        asked: asyncio.Future[T] = loop.run_in_executor(_THREADS, do)
        asked.add_done_callback(_seen)
        self._asked, self._overdue_at = asked, loop.time() + TAKES_S
        await asyncio.wait({asked}, timeout=TAKES_S)
        if not asked.done():
            raise _no_answer(self.place)
        return asked.result()


@dataclass(slots=True, eq=False)
class Lane:
    """One place. What it is given waits for nobody who reads.

    `newest`: of what it was given. `kept`: of what it took from this process. `took` is given each that it takes.
    """

    place: Place
    took: Callable[[Anchor], None]
    kept: Anchor | None = None
    newest: Anchor | None = None
    _writing: tuple[Anchor, asyncio.Future[str]] | None = None
    _waiting: asyncio.Future[str] | None = None  # for `newest`
    _work: asyncio.Task[None] | None = None
    _next_read: asyncio.Task[list[Anchor] | Unreadable] | None = None
    _reads: _Turns = field(init=False)
    _writes: _Turns = field(init=False)

    def __post_init__(self) -> None:
        self._reads, self._writes = _Turns(self.place), _Turns(self.place)

    async def ask(self, do: Callable[[], T]) -> T:
        """What `do` returns, which is about the place. Raises Unreadable where that takes too long."""
        return await self._reads.ask(do)

    async def read(self) -> list[Anchor] | Unreadable:
        """The anchors that it has, or what is wrong with it. Those who come before it is read share one answer."""
        if self._next_read is None:
            self._next_read = asyncio.create_task(self._read(), name="anchors")
        return await asyncio.shield(self._next_read)

    async def _read(self) -> list[Anchor] | Unreadable:
        try:
            try:
                await self._reads.free()
            finally:
                self._next_read = None  # who comes from here on is to see what was written until then
            return await self._reads.ask(lambda: anchors_among(self.place.lines(), str(self.place)))
        except Unreadable as error:
            return error

    @property
    def is_behind(self) -> bool:
        """Has it not taken the newest that it was given, so far?"""
        return self.newest is not None and self.lacks(self.newest)

    def lacks(self, anchor: Anchor) -> bool:
        """Has it taken neither this one nor a later one from this process?"""
        return self.kept is None or self.kept.seq < anchor.seq

    def give(self, anchor: Anchor) -> asyncio.Future[str]:
        """It takes it as soon as it can; then what is wrong is known, empty where it has it. Of those that wait, and
        those that it did not take, it takes the newest alone, which says what they say and more."""
        if self.newest is None or anchor.seq >= self.newest.seq:
            self.newest = anchor
        if self._writing is not None and self._writing[0].seq >= anchor.seq:
            return self._writing[1]
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().create_future()
        said = self._waiting
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._take(), name="anchors")
        return said

    async def _take(self) -> None:
        while self._waiting is not None and self.newest is not None:
            anchor, said = self._writing = self.newest, self._waiting
            self._waiting = None
            fault = ""
            try:
                await self._writes.ask(partial(self.place.append, anchor.line()))
            except Exception as error:  # noqa: BLE001 - whatever it is, the place has not taken it
                fault = str(error) if isinstance(error, Unreadable) else f"{self.place} ({error})"
                log.error("audit.anchor_not_kept", extra={"place": str(self.place), "error": fault})  # noqa: TRY400
            else:
                if self.lacks(anchor):
                    self.kept = anchor
                self.took(anchor)
            self._writing = None
            said.set_result(fault)


def _seen(asked: asyncio.Future[Any]) -> None:
    """What goes wrong after its time is nobody's any more."""
    if not asked.cancelled():
        asked.exception()


@dataclass(slots=True)
class AnchorPlaces:
    """Where anchors are kept, apart from the log and Slack: `files`, and `command` where it isn't empty.

    `last_seq` is the newest that was stated to all of them, the audit channel among them; `kept_seq` is the newest that
    a place has for sure, as it took it or gave it. `due` is set from a stop that this process has committed until an
    anchor tells of it.
    """

    files: Sequence[Path] = ()
    command: Sequence[str] = ()
    last_seq: int = field(default=0)
    kept_seq: int = field(default=0)
    noted: frozenset[str] = frozenset()  # the files that the database is known to know of
    due: asyncio.Event = field(default_factory=asyncio.Event)
    _lanes: dict[str, Lane] = field(default_factory=dict, repr=False)

    @property
    def is_anywhere(self) -> bool:
        """Is there a place outside the database at all?"""
        return bool(self.files or self.command)

    @property
    def lanes(self) -> Mapping[str, Lane]:
        """Each place, by the name by which the audit log knows it."""
        found: list[Place] = [FilePlace(path) for path in self.files]
        if self.command:
            found.append(CommandPlace(self.command))
        return {
            name: self._lanes.setdefault(name, Lane(place, self._took))
            for place in found
            for name in [_name_of(place)]
        }

    def _took(self, anchor: Anchor) -> None:
        self.kept_seq = max(self.kept_seq, anchor.seq)

    @property
    def behind(self) -> Mapping[str, Lane]:
        """The places, by name, that have not taken the newest one."""
        return {name: lane for name, lane in self.lanes.items() if lane.is_behind}

    def lacking(self, anchor: Anchor) -> Mapping[str, Lane]:
        """The places, by name, that have taken neither this one nor a later one from this process."""
        return {name: lane for name, lane in self.lanes.items() if lane.lacks(anchor)}

    def kept_in(self) -> frozenset[Path]:
        """The files that have taken an anchor of this process."""
        lanes = self.lanes
        return frozenset(path for path in self.files if lanes[_name_of(FilePlace(path))].kept is not None)

    async def missing(self, among: Collection[str]) -> list[Path]:
        """Of these files those that are not there. Raises Unreadable."""
        return [
            path for path in self.files if str(path) in among and not await self.ask_file(path, path.exists)
        ]

    async def ask_file(self, path: Path, do: Callable[[], T]) -> T:
        """What `do` returns, which is about one of the files. Raises Unreadable where that takes too long."""
        return await self.lanes[_name_of(FilePlace(path))].ask(do)

    async def read(self) -> list[Anchor]:
        """All anchors of all places, by number. Raises Unreadable, with every place that fails: what such a place holds
        may show what the others do not, as none of them tells whether it was written to lately."""
        found: set[Anchor] = set()
        for kept in (await self.read_each()).values():
            found.update(kept)
        return sorted(found, key=lambda anchor: (anchor.seq, anchor.at))

    async def read_each(self) -> dict[str, list[Anchor]]:
        """The anchors of each place, by its name. Raises Unreadable as `read` does."""
        lanes = self.lanes
        said = await together.each(lane.read() for lane in lanes.values())
        if failed := [str(one) for one in said if isinstance(one, Unreadable)]:
            raise Unreadable(" and ".join(failed))
        return {name: one for name, one in zip(lanes, said, strict=True) if not isinstance(one, Unreadable)}

    async def write(
        self, anchor: Anchor, lanes: Mapping[str, Lane] | None = None, *, within_s: float | None = None
    ) -> dict[str, str]:
        """In every place at once, or in these. One that fails is logged and leaves the others; by its name, what is
        wrong with it. What has no answer within `within_s`, by default the time that a place may take, goes on by
        itself."""
        lanes = self.lanes if lanes is None else lanes
        given = {name: lane.give(anchor) for name, lane in lanes.items()}
        if given:
            await asyncio.wait(given.values(), timeout=TAKES_S if within_s is None else within_s)
        failed: dict[str, str] = {}
        for name, said in given.items():
            if fault := said.result() if said.done() else str(_no_answer(lanes[name].place)):
                failed[name] = fault
        return failed


def _name_of(place: Place) -> str:
    return hashlib.sha256(str(place).encode()).hexdigest()[:_NAME_DIGITS]


def places(store: Store, file: Path | None, command: str | None) -> AnchorPlaces:
    """The file beside an SQLite database, and what the settings name."""
    at = store.database.anchors_beside
    beside = [] if at is None else [at]
    files = [*beside, *([file] if file else [])]
    return AnchorPlaces(files, shlex.split(command or ""))


def empty_places(places: AnchorPlaces, kept: Mapping[str, Sequence[Anchor]], entries: int) -> str:
    """That places have nothing although so many entries were made, in a sentence; empty where it is as it should be."""
    empty = [str(lane.place) for name, lane in places.lanes.items() if not kept[name]]
    return (
        EMPTY.format(places=" and ".join(empty), entries=entries) if empty and entries > EVERY_ENTRIES else ""
    )


def anchors_among(lines: Sequence[str], place: str) -> list[Anchor]:
    """The anchors of a place. What is none is skipped and logged: a full disk or a lost connection cuts a line off.
    Raises Unreadable where no line is one, or begins as one: that is another file."""
    found, others = [], []
    for line in filter(str.strip, lines):
        try:
            found.append(Anchor.from_line(line))
        except ValueError:
            others.append(line)
    if others and not found and not any(line.startswith(_BEGINS[: len(line)]) for line in others):
        raise Unreadable(place)
    if others:
        log.warning("audit.anchors_skipped", extra={"place": place, "lines": len(others)})
    return found


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(errors="replace").splitlines() if path.exists() else []
    except OSError:
        raise Unreadable(str(path)) from None


def _append(path: Path, line: str) -> None:
    """On a line of its own, whatever the line before it was cut off by."""
    with path.open("a+b") as file:
        file.seek(0, os.SEEK_END)
        is_cut = False
        if file.tell():
            file.seek(-1, os.SEEK_END)
            is_cut = file.read(1) != b"\n"
        file.write(b"\n" * is_cut + line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _kill(running: subprocess.Popen[bytes]) -> None:
    """With all that it has begun, which may hold its pipes: nobody waits for those."""
    with suppress(OSError):
        os.killpg(running.pid, signal.SIGKILL)
    for pipe in (running.stdin, running.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    with suppress(subprocess.TimeoutExpired):
        running.wait(_ENDS_WITHIN_S)
