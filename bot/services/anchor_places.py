"""Where anchors of the audit chain are kept outside the database: files, and a command of the settings."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
from collections.abc import Sequence
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


class Unreadable(Exception):
    """A place holds something else than anchors, or cannot be read; the text names it."""


@dataclass(slots=True)
class AnchorPlaces:
    """Where anchors are kept, apart from the log and Slack. `command` is run with `write` and the line on its standard
    input, and with `read` to print all lines it has. `last_seq` is the newest that this process has written."""

    files: Sequence[Path] = ()
    command: Sequence[str] = ()
    last_seq: int = field(default=0)

    async def read(self) -> list[Anchor]:
        """All anchors of all places, by number. Raises Unreadable."""
        lines = [line for path in self.files for line in await asyncio.to_thread(_lines, path)]
        if self.command:
            said = await _run([*self.command, "read"], b"")
            lines += said.decode(errors="replace").splitlines()
        try:
            found = {Anchor.from_line(line) for line in lines if line.strip()}
        except ValueError:
            named = [*map(str, self.files), *([shlex.join(self.command)] if self.command else [])]
            raise Unreadable(" or ".join(named)) from None
        return sorted(found, key=lambda anchor: (anchor.seq, anchor.at))

    async def write(self, anchor: Anchor) -> None:
        """In every place; one that fails is logged and leaves the others."""
        for path in self.files:
            try:
                await asyncio.to_thread(_append, path, anchor.line())
            except OSError as error:
                log.error("audit.anchor_not_kept", extra={"place": str(path), "error": str(error)})  # noqa: TRY400
        if self.command:
            try:
                await _run([*self.command, "write"], anchor.line().encode() + b"\n")
            except Unreadable as error:
                log.error("audit.anchor_not_kept", extra={"place": self.command[0], "error": str(error)})  # noqa: TRY400
        self.last_seq = anchor.seq


def places(store: Store, file: Path | None, command: str | None) -> AnchorPlaces:
    """The file beside an SQLite database, and what the settings name."""
    path = store.database.path
    # A snapshot of its disk takes this one back with it, so it does not count as a place apart.
    beside = [] if path is None else [path.with_name(path.name + ".anchors")]
    return AnchorPlaces([*beside, *([file] if file else [])], shlex.split(command or ""))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError):
        raise Unreadable(str(path)) from None


def _append(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line + "\n")
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
