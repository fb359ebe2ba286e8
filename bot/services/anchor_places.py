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
_COMMAND_TAKES_S = 10.0
_NAME_DIGITS = 16
# As `Anchor.line` begins.
_BEGINS = '{"at": "'


class Unreadable(Exception):
    """A place holds something else than anchors, or cannot be read; the text names it."""


@dataclass(slots=True)
class AnchorPlaces:
    """Where anchors are kept, apart from the log and Slack. `command` is run with `write` and the line on its standard
    input, and with `read` to print all lines it has. `last_seq` is the newest that this process has written;
    `kept_seq` is the newest that a place has for sure, as it took it or gave it."""

    files: Sequence[Path] = ()
    command: Sequence[str] = ()
    last_seq: int = field(default=0)
    kept_seq: int = field(default=0)
    noted: Sequence[str] = ()  # the files that the database is known to know of

    @property
    def is_anywhere(self) -> bool:
        """Is there a place outside the database at all?"""
        return bool(self.files or self.command)

    @property
    def names(self) -> Mapping[str, str]:
        """Of each place: the name by which the audit log knows it -> what the settings say."""
        shown = [*map(str, self.files), *([shlex.join(self.command)] if self.command else [])]
        return {hashlib.sha256(one.encode()).hexdigest()[:_NAME_DIGITS]: one for one in shown}

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
        for name, place in self.names.items():
            try:
                lines = await self._lines_of(place)
                found[name] = await asyncio.to_thread(anchors_among, lines, place)
            except Unreadable as error:
                failed.append(str(error))
        if failed:
            raise Unreadable(" and ".join(failed))
        return found

    async def _lines_of(self, place: str) -> list[str]:
        for path in self.files:
            if str(path) == place:
                return await asyncio.to_thread(_lines, path)
        return (await _run([*self.command, "read"], b"")).decode(errors="replace").splitlines()

    async def write(self, anchor: Anchor) -> dict[str, str]:
        """In every place. One that fails is logged and leaves the others; by its name, what is wrong with it."""
        failed: dict[str, str] = {}
        for name, place in self.names.items():
            try:
                await self._write(place, anchor.line())
            except (OSError, Unreadable) as error:
                log.error("audit.anchor_not_kept", extra={"place": place, "error": str(error)})  # noqa: TRY400
                failed[name] = f"{place} ({error})"
        self.last_seq = anchor.seq
        if set(self.names) - set(failed):
            self.kept_seq = max(self.kept_seq, anchor.seq)
        return failed

    async def _write(self, place: str, line: str) -> None:
        for path in self.files:
            if str(path) == place:
                await asyncio.to_thread(_append, path, line)
                return
        await _run([*self.command, "write"], line.encode() + b"\n")


def places(store: Store, file: Path | None, command: str | None) -> AnchorPlaces:
    """The file beside an SQLite database, and what the settings name."""
    at = store.database.anchors_beside
    beside = [] if at is None else [at]
    files = [*beside, *([file] if file else [])]
    return AnchorPlaces(files, shlex.split(command or ""))


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
