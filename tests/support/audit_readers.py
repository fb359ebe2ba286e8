"""Every reading of audit entries that happens in a test is one that somebody has thought about.

Whoever writes to the database can hide genuine entries from one query, by a view, a rule or an index. So whoever leans
on the log for money or keys reads it through `storage.log_record.on_record`, `passkeys_on_record` or the `take` of
`storage.audit.verify`, which use the rows that they check. `KNOWN` are all readings there are, and for each why a
lie to it is harmless. A new one is found by its statement, as it runs, and fails the test that ran it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from sqlalchemy import Engine, event

ROOT = Path(__file__).parents[2]
_READS = re.compile(r"\b(?:FROM|JOIN) audit\b", re.IGNORECASE)
_PRODUCT = tuple(f"{ROOT}/{name}/" for name in ("bot", "storage", "handlers"))
_TESTS = f"{ROOT}/tests/"
# What every statement goes through.
_WAY = (f"{ROOT}/storage/transaction.py", f"{ROOT}/storage/sqlite/connections.py")
_AUDIT = f"{ROOT}/storage/audit.py"

#: The function of `storage` that reads, and for those of `storage.audit` that do not check what they read, who leans on
#: it -> what a lie to it does.
KNOWN = {
    "storage.audit.piece": "it checks each row as it reads it, and gives that very row to whoever uses it",
    "storage.audit._before": "an entry hidden from it is a fault of the chain that is being checked",
    "storage.audit._require_appended": (
        "hidden entries: nothing is done. Shown one that is gone: this process knows it, and keeps anchors of it"
    ),
    "storage.audit._has": (
        "hidden an entry: nothing is done. Shown one that is gone: the reading that checks finds what follows it"
    ),
    "storage.protection.chain_replay._piece": "only for a chain that was found broken, which is reported as such",
    "storage.audit.about <- storage.master_keys.see_retired": (
        "a key it misses is learned by `learn_retired` before anything is sent, signed again or believed"
    ),
    "storage.audit.about <- storage.operators.restored_copies.of_this_chain": (
        "more anchors are held against the chain than are of it: the start is refused, or it is safe mode"
    ),
    "storage.audit.about <- bot.services.passkeys.proofs._has_had_digest": (
        "a fingerprint of before a change of the master key is not known: the approval counts as forged"
    ),
    "storage.audit.about <- storage.log_record.on_record.version": (
        "an entry about a request that has ended gets a number that another has, so an export is asked about"
    ),
    "storage.audit.about <- storage.requests.decisions._with_true_confirmations": (
        "a Freeze now is confirmed once more, and people are notified; what it shows is checked by its MAC"
    ),
    "storage.audit._piece <- storage.operators.restored_copies._entry": (
        "which entry of a log that is checked all the same is the first of another: no start, or safe mode"
    ),
    "storage.audit.made_at <- bot.startup._compare": "a time that people are shown; nothing is decided by it",
    "storage.audit.made_at <- storage.operators.safe_mode._with_its_time": (
        "a time that people are shown, of a safe mode that an older version began"
    ),
    "storage.audit.made_at <- storage.maintenance.copies.check": "a time that people are shown",
    "storage.audit.made_at <- storage.maintenance.copies._ask_for_safe_mode": "a time that people are shown",
    "storage.audit.made_at <- bot.services.older_copies.copy_detection._enter": "a time that people are shown",
    "storage.audit.made_at <- bot.services.older_copies.messages_in_slack.last_entry_before": (
        "a time that people are shown; the number comes from elsewhere"
    ),
    "storage.audit.last_until <- bot.services.older_copies.copy_detection._enter": (
        "safe mode begins with an earlier entry: more approvals are void, and more of the ledger is looked through"
    ),
    "storage.maintenance.copies._copy_rows": "the start on the copy finds what it lacks",
    "storage.audit.head_is_lost <- bot.services.operators.changed_rows._end_of_log_again": (
        "the row of the end is left, or set back to an entry that has one after it: the next entry is refused by its"
        " number, and the reading that checks says that the log isn't whole"
    ),
    "storage.audit.put_head_back <- bot.services.operators.changed_rows._end_of_log_again": "as `head_is_lost`",
    "storage.audit.head_is_lost <- storage.operators.passkeys_on_record._too_short": (
        "which of two sentences is read; no passkey counts in either case"
    ),
    "storage.audit.head_is_lost <- storage.operators.passkey_links.is_used": (
        "which of two sentences is read; no link opens anything in either case"
    ),
    "storage.audit.newest_about <- bot.services.alerts.card_rules._is_on_record": (
        "hidden an entry: a reading of before accuses, or ends an alert, until the next one. Shown one more: an alarm,"
        " or its end, waits, and the reading that checks finds that entry"
    ),
    "storage.audit._piece <- bot.cli.exporting.export_chain": "verify_audit.py finds what an export lacks",
    "storage.audit._piece <- bot.services.overview.export_rows._audit": "a table for people; an export can be verified",
}


class Seen:
    """Readings nobody has thought about, as they were seen."""

    def __init__(self) -> None:
        self.unknown: set[str] = set()

    def take(self, statement: str) -> None:
        """One statement, with the frames of whoever runs it."""
        if " audit" not in statement or not _READS.search(statement):
            return
        reader = _reader()
        if reader is not None and reader not in KNOWN:
            self.unknown.add(reader)


def _reader() -> str | None:
    """None where a test reads, and where another thread or greenlet hides who does."""
    found = ""
    for frame in _frames():
        path = frame.f_code.co_filename
        if path.startswith(_TESTS) and path != __file__:
            return None
        if not path.startswith(_PRODUCT) or path in _WAY:
            continue
        name = f"{path.removeprefix(f'{ROOT}/').removesuffix('.py').replace('/', '.')}.{frame.f_code.co_name}"
        if not found and (path != _AUDIT or name in KNOWN):
            return name
        if path != _AUDIT:
            return f"{found} <- {name}"
        found = found or name
    return None


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


@contextmanager
def watched() -> Iterator[Seen]:
    """Every statement of this process, on either database."""
    seen = Seen()

    def see(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        seen.take(statement)

    event.listen(Engine, "before_cursor_execute", see)
    yield seen
    event.remove(Engine, "before_cursor_execute", see)
