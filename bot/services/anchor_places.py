"""Where anchors of the audit chain are kept outside the database: files, and a command of the settings."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

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
_COMMAND_TAKES_S = 10.0
_NAME_DIGITS = 16
# As `Anchor.line` begins.
_BEGINS = '{"at": "'


class Unreadable(Exception):
    """A place holds something else than anchors, or cannot be read; the text names it."""


class Place(Protocol):
    """One place outside the database. `str` of it is what the settings say. Both raise Unreadable."""

    async def lines(self) -> list[str]: ...

    async def append(self, line: str) -> None: ...


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file, which need not be there yet."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    async def lines(self) -> list[str]:
        return await asyncio.to_thread(_lines, self.path)

    async def append(self, line: str) -> None:
        try:
            await asyncio.to_thread(_append, self.path, line)
        except OSError as error:
            raise Unreadable(str(error)) from None


@dataclass(frozen=True, slots=True)
class CommandPlace:
    """A command: with `write` it takes a line on its standard input, with `read` it prints all lines it has."""

    command: Sequence[str]

    def __str__(self) -> str:
        return shlex.join(self.command)

    async def lines(self) -> list[str]:
        return (await _run([*self.command, "read"], b"")).decode(errors="replace").splitlines()

    async def append(self, line: str) -> None:
        await _run([*self.command, "write"], line.encode() + b"\n")


@dataclass(slots=True)
class AnchorPlaces:
    """Where anchors are kept, apart from the log and Slack: `files`, and `command` where it isn't empty.

    `last_seq` is the newest that this process has written; `kept_seq` is the newest that a place has for sure, as it
    took it or gave it. `due` is set from a stop that this process has committed until an anchor tells of it. `behind`:
    the places, by name, that did not take the newest one.
    """

    files: Sequence[Path] = ()
    command: Sequence[str] = ()
    last_seq: int = field(default=0)
    kept_seq: int = field(default=0)
    noted: Sequence[str] = ()  # the files that the database is known to know of
    due: asyncio.Event = field(default_factory=asyncio.Event)
    behind: frozenset[str] = frozenset()

    @property
    def is_anywhere(self) -> bool:
        """Is there a place outside the database at all?"""
        return bool(self.files or self.command)

    @property
    def places(self) -> Mapping[str, Place]:
        """Each place, by the name by which the audit log knows it."""
        found: list[Place] = [FilePlace(path) for path in self.files]
        if self.command:
            found.append(CommandPlace(self.command))
        return {hashlib.sha256(str(one).encode()).hexdigest()[:_NAME_DIGITS]: one for one in found}

    def kept_in(self) -> list[Path]:
        """The files that are there."""
        return [path for path in self.files if path.exists()]

    async def read(self) -> list[Anchor]:
        """All anchors of all places, by number. Raises Unreadable, with every place that fails: what such a place holds
        may show what the others do not, as none of them tells whether it was written to lately."""
        found: set[Anchor] = set()
        for kept in (await self.read_each()).values():
            found.update(kept)
        return sorted(found, key=lambda anchor: (anchor.seq, anchor.at))

    async def read_each(self) -> dict[str, list[Anchor]]:
        """The anchors of each place, by its name. Raises Unreadable as `read` does."""
        found: dict[str, list[Anchor]] = {}
        failed: list[str] = []
        for name, place in self.places.items():
            try:
                found[name] = await asyncio.to_thread(anchors_among, await place.lines(), str(place))
            except Unreadable as error:
                failed.append(str(error))
        if failed:
            raise Unreadable(" and ".join(failed))
        return found

    async def write(self, anchor: Anchor, *, only_behind: bool = False) -> dict[str, str]:
        """In every place, or in those that are behind. One that fails is logged and leaves the others; by its name,
        what is wrong with it."""
        failed: dict[str, str] = {}
        for name, place in self.places.items():
            if only_behind and name not in self.behind:
                continue
            try:
                await place.append(anchor.line())
            except Unreadable as error:
                log.error("audit.anchor_not_kept", extra={"place": str(place), "error": str(error)})  # noqa: TRY400
                failed[name] = f"{place} ({error})"
        self.last_seq, self.behind = anchor.seq, frozenset(failed)
        if self.places.keys() - failed.keys():
            self.kept_seq = max(self.kept_seq, anchor.seq)
        return failed


def places(store: Store, file: Path | None, command: str | None) -> AnchorPlaces:
    """The file beside an SQLite database, and what the settings name."""
    at = store.database.anchors_beside
    beside = [] if at is None else [at]
    files = [*beside, *([file] if file else [])]
    return AnchorPlaces(files, shlex.split(command or ""))


def empty_places(places: AnchorPlaces, kept: Mapping[str, Sequence[Anchor]], entries: int) -> str:
    """That places have nothing although so many entries were made, in a sentence; empty where it is as it should be."""
    empty = [str(place) for name, place in places.places.items() if not kept[name]]
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


async def _run(command: Sequence[str], given: bytes) -> bytes:
    """What the command prints. Raises Unreadable with why it did not do its work."""
    try:
        pipe = asyncio.subprocess.PIPE
        running = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        raise Unreadable(f"{command[0]} ({error.strerror})") from None
    try:
        async with asyncio.timeout(_COMMAND_TAKES_S):
            said, _ = await running.communicate(given)
    except TimeoutError:
        running.kill()
        await running.wait()
        raise Unreadable(f"{command[0]} (no answer within {_COMMAND_TAKES_S:g} seconds)") from None
    if running.returncode:
        raise Unreadable(f"{command[0]} (exit code {running.returncode})")
    return said
