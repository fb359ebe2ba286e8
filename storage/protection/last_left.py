"""Is the database as Countersign left it last, or may it be an older copy of that?

Nothing within a database says that it is the newest one. What can say so is a memory that no copy of the disk has: on
SQLite that of the machine, in a file of `/dev/shm`, which says where the audit log ended with each change; it is gone
with the machine's or container's next start. On PostgreSQL that of the server: it has run without a break since it
wrote a row, and that row was written by the transaction that it names, so it was not put there by a dump. Where
neither says so, nobody knows, and that is no sign of a copy.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select, text

from storage import tables as t
from storage.upsert import upsert

if TYPE_CHECKING:
    from storage.transaction import Tx

#: In memory on every Linux; where it is missing, nothing is remembered.
#: In a folder of its own there, of this user alone.
MEMORY = Path("/dev/shm")  # noqa: S108  # nosec B108
# Who was away for longer may have worked on another machine meanwhile, and put the file back that was left here.
LASTS = timedelta(hours=1)
_FORGOTTEN_AFTER_S = 2 * 86_400.0
_SERVER = "postgres_server"
# Since when this server runs, and which of its databases this is: one that is restored is another one, or the server
# was stopped for it.
_RUNS = text(
    "SELECT extract(epoch FROM pg_postmaster_start_time())::text || ' ' || oid::text || ' '"
    " FROM pg_database WHERE datname = current_database()"
)
_WRITER = text("SELECT ((pg_current_xact_id()::text)::numeric % 4294967296)::text")
_WRITTEN_BY = text("SELECT value, xmin::text FROM meta WHERE name = :name")


class MachineMemory:
    """Where the audit log of an SQLite file ended with the last change, kept by this machine while it runs.

    It is written before each change is committed: what a crash leaves in between is not taken for the newest.
    """

    def __init__(self, path: Path) -> None:
        name = sha256(os.fsencode(path.resolve())).hexdigest()[:32]
        self._folder = MEMORY / f"countersign-{os.geteuid()}"
        self._file = self._folder / name

    def read(self) -> tuple[int, str, datetime] | None:
        """Number and fingerprint of the last entry, and when that was written; None where it is not known."""
        try:
            if not self._is_ours():
                return None
            seq, digest, at = self._file.read_text(encoding="ascii").split()
            return int(seq), digest, datetime.fromisoformat(at)
        except (OSError, ValueError):
            return None

    def write(self, seq: int, digest: str, now: datetime) -> None:
        """Where it cannot be written, nothing is remembered."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if not self._is_ours():
                return
            handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                line = f"{seq} {digest} {now.isoformat()}\n".encode("ascii")
                os.pwrite(handle, line, 0)
                os.ftruncate(handle, len(line))
            finally:
                os.close(handle)
        except OSError:
            with suppress(OSError):
                self._file.unlink()

    def forget_others(self, now_s: float) -> None:
        """Of databases that nobody has opened for days."""
        with suppress(OSError):
            for one in self._folder.iterdir():
                if now_s - one.stat().st_mtime > _FORGOTTEN_AFTER_S:
                    one.unlink(missing_ok=True)

    def _is_ours(self) -> bool:
        found = os.lstat(self._folder)
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


async def is_new(tx: Tx) -> bool:
    """Was nothing ever recorded in it?"""
    return not (await tx.run(select(t.audit_head.c.seq))).scalar_one_or_none()


async def has_end(tx: Tx, memory: MachineMemory) -> bool:
    """Does the log have the entry with which this machine left it a while ago?"""
    left = memory.read()
    if left is None or not timedelta(0) <= tx.now - left[2] <= LASTS:
        return False
    a = t.audit.c
    found = (await tx.run(select(a.hash).where(a.seq == left[0]))).scalar_one_or_none()
    end = (await tx.run(select(t.audit_head.c.seq))).scalar_one_or_none()
    return found == left[1] and end is not None and end >= left[0]


async def is_on_same_server(tx: Tx) -> bool:
    """Has this PostgreSQL server run without a break since `note_server`, with this database?"""
    row = (await tx.run(_WRITTEN_BY, {"name": _SERVER})).one_or_none()
    if row is None:
        return False
    runs: str = (await tx.run(_RUNS)).scalar_one()
    return bool(row.value == runs + row.xmin)


async def note_server(tx: Tx) -> None:
    """This database is the newest as far as anybody knows: from now on its server says so."""
    value = (await tx.run(_RUNS)).scalar_one() + (await tx.run(_WRITER)).scalar_one()
    await upsert(tx, t.meta, [{"name": _SERVER, "value": value}], key=("name",))
