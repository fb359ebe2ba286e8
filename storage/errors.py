"""What can go wrong with the database and its keys; the text of each is the sentence an operator reads.

StorageError
├── BadDatabaseUrl     the setting is not an address we can use
├── DatabaseMissing    a command that only reads found no database
├── DatabaseUnreachable  it cannot be used as it is: a wrong password, a file that is no database
│   └── DatabaseAway   no answer, or not now: it is worth starting again
│       └── DiskFull   no room where it is
├── DatabaseInUse      another process holds this SQLite file
├── SchemaBehind       the database needs `countersign migrate`
├── SchemaTooNew       the database was upgraded by a newer program
├── BadKeyring         the master keys given are not usable
├── WrongMasterKey     the database was sealed under keys we were not given
├── CannotOpen         one sealed value does not open: moved, changed, or sealed under a lost key
├── ChangedOutside     a signed row is not as we left it
│   ├── Unreadable     a row holds what is no value of its column
│   ├── LogNotWhole    an entry of the audit log is missing or is not ours
│   └── EndOfLogLost   nothing can be recorded: where the audit log ends was changed by somebody else
├── NotReadYet         the audit log has not been read so far, after a start
└── Purged             a sealed value was dropped on purpose
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from bot.domain.errors import CountersignError
from storage.set_aside import UnreadableRow

DatabaseFault = SQLAlchemyError
"""What a statement raises when the database does not do it: gone, locked, full."""


class StorageError(CountersignError):
    reason = "storage"


class BadDatabaseUrl(StorageError):
    reason = "bad_database_url"


class DatabaseMissing(StorageError):
    reason = "database_missing"


class DatabaseUnreachable(StorageError):
    reason = "database_unreachable"


class DatabaseAway(DatabaseUnreachable):
    """It may be back by itself, or when somebody makes room or repairs a server: it is worth starting again."""

    reason = "database_away"


class DiskFull(DatabaseAway):
    reason = "disk_full"


class DatabaseInUse(StorageError):
    reason = "database_in_use"


class SchemaBehind(StorageError):
    reason = "schema_behind"


class SchemaTooNew(StorageError):
    reason = "schema_too_new"


class BadKeyring(StorageError):
    reason = "bad_keyring"


class WrongMasterKey(StorageError):
    reason = "wrong_master_key"


class CannotOpen(StorageError):
    reason = "cannot_open"


class ChangedOutside(StorageError):
    reason = "changed_by_others"


class Unreadable(ChangedOutside):
    """A row that nothing can be done with until it is put right."""

    reason = "row_unreadable"

    def __init__(self, row: UnreadableRow) -> None:
        self.row = row = row.because or row
        super().__init__(
            f"The row {row.row} of the table {row.table} can't be read: its column {row.column} holds something that"
            " Countersign didn't write, so somebody changed the database. Nothing was done. Tell an admin: keep a copy"
            " of the database, put this row back as it is in a backup, and run `countersign audit verify --deep`."
        )


class LogNotWhole(ChangedOutside):
    """`seq` is the first entry that is missing or isn't ours; `kind` is as `storage.audit.Report` has it.

    `kids`: ids of master keys that signed entries, and are neither in the keyring nor retired.
    """

    def __init__(self, seq: int, kind: str, kids: Collection[str] = ()) -> None:
        self.seq, self.kind, self.kids = seq, kind, tuple(kids)
        super().__init__(
            f"The audit log isn't as Countersign left it, at entry {seq}. Nothing was done. Tell an admin: keep a copy"
            " of the database, and run `countersign audit verify`."
        )


class NotAsOnRecord(ChangedOutside):
    """The row of a request is not as the audit log has it; `why` follows its id in a sentence."""

    def __init__(self, request_id: str, why: str) -> None:
        self.request_id, self.why = request_id, why
        super().__init__(
            f"{request_id} {why}, so somebody changed the database. Nothing was done or sent. Tell an admin: keep a"
            " copy of the database, and run `countersign audit verify --deep`."
        )


class NotAsCounted(NotAsOnRecord):
    """A request that limits, tiers or the newest of a setting are counted from isn't in the database as on record."""


class EndOfLogLost(ChangedOutside):
    """`how`: what became of the row that says where the log ends."""

    reason = "end_of_log_lost"

    def __init__(self, how: str) -> None:
        super().__init__(
            f"Where the audit log ends is lost: its row in the database {how}. Somebody changed the database outside"
            " Countersign, so nothing can be recorded, and nothing was done. While Countersign runs, it writes the row"
            " again within a minute and says so in the alerts channel; then do this again. If it does not run: keep a"
            " copy of the database, run `countersign audit verify`, and restore a backup."
        )


class NotReadYet(StorageError):
    reason = "audit_log_not_read_yet"


class Purged(StorageError):
    reason = "purged"


FOR_EVERYBODY: Final = (ChangedOutside, CannotOpen, Purged, NotReadYet)
"""What is stored isn't as Countersign left it, or is not known to be: the text says what, for whoever clicked, too.

The other errors are about a database that cannot be used, and say what an operator does at the machine.
"""
