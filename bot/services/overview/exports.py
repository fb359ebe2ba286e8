"""Handing out rows as CSV: who may, what is on record of it, and the parts it goes out in.

An export is audited before its first byte leaves and again when it is done, with the digest of each part.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from bot.domain.errors import NotAllowed
from bot.domain.money import line
from bot.services import audit, people
from bot.services.core import Core
from bot.services.overview.export_rows import KINDS, ExportSpec
from bot.services.people import Role

PART_BYTES = 5_000_000
"""A part is in memory once; more goes into the next file, with its own head."""
PROGRESS_EVERY_S = 3.0
# What makes spreadsheets read UTF-8 as such.
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of an export."""

    name: str
    content: bytes
    rows: int

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class Exported:
    """What was handed out. `sha256` is of each file, in order."""

    rows: int
    sha256: tuple[str, ...]


class Receiver(Protocol):
    """Where the parts go: the person's direct messages."""

    async def progress(self, rows: int) -> None:
        """So many rows were read; called now and then."""
        ...

    async def file(self, part: Part) -> None: ...


async def require_exporter(core: Core, slack_id: str, spec: ExportSpec) -> None:
    """Approvers and admins: an export takes much away at once. A refusal is audited; raises NotAllowed."""
    names = ", ".join(dict.fromkeys((*core.policy.people.approvers, *core.policy.people.admins)))
    refusal = NotAllowed(
        f"Exports are for approvers and admins: {names}. Nothing was exported; ask one of them.",
        "not_an_exporter",
    )
    await people.require_role(
        core, slack_id, Role.APPROVER_OR_ADMIN, refusal, action="export", subject=f"export:{spec.kind}"
    )


async def export(core: Core, slack_id: str, spec: ExportSpec, to: Receiver) -> Exported:
    """Send every part to `to`. Raises PartnerError, and what `to` raises; that it stopped is audited, too."""
    await require_exporter(core, slack_id, spec)
    await _note(core, slack_id, spec, "export.begun", {})
    rows, digests = 0, list[str]()
    try:
        async for part in _parts(core, spec, to):
            await to.file(part)
            rows += part.rows
            digests.append(part.sha256)
    except BaseException:
        await _note(core, slack_id, spec, "export.stopped", {"rows": rows, "sha256": digests})
        raise
    await _note(core, slack_id, spec, "export.done", {"rows": rows, "sha256": digests})
    return Exported(rows, tuple(digests))


async def _parts(core: Core, spec: ExportSpec, to: Receiver) -> AsyncIterator[Part]:
    """Files of at most about PART_BYTES; one with the head alone where there are no rows."""
    kind = KINDS[spec.kind]
    head = (_BOM + line(kind.head)).encode()
    content, rows, total, number = bytearray(head), 0, 0, 1
    shown_at = core.clock.monotonic()
    async for record in kind.rows(core, spec):
        if len(content) >= PART_BYTES:
            yield Part(_name(spec, number), bytes(content), rows)
            content, rows, number = bytearray(head), 0, number + 1
        content += line(record).encode()
        rows, total = rows + 1, total + 1
        if core.clock.monotonic() - shown_at >= PROGRESS_EVERY_S:
            shown_at = core.clock.monotonic()
            await to.progress(total)
    yield Part(_name(spec, number), bytes(content), rows)


def _name(spec: ExportSpec, number: int) -> str:
    """`ledger-main-2026-03-01-to-2026-03-07.csv`, the later parts with their number."""
    of = spec.card.last4 or spec.card.id if spec.card else spec.program
    part = f"-part-{number}" if number > 1 else ""
    return f"{spec.kind}-{of}-{spec.period.dated()}{part}.csv"


async def _note(core: Core, slack_id: str, spec: ExportSpec, action: str, more: dict[str, object]) -> None:
    body = {
        "kind": spec.kind,
        "program": spec.program,
        "card_id": spec.card.id if spec.card else "",
        "since": spec.period.since,
        "until": spec.period.until,
        **more,
    }
    async with core.store.begin() as tx:
        await audit.record(tx, core, slack_id, action, f"export:{spec.kind}", body)
