"""Writes the audit chain out as JSON lines or CSV, with a manifest that says what was written."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from bot.cli.environment import open_store, operator
from bot.cli.errors import Mistake
from storage import audit
from storage.audit import Entry

if TYPE_CHECKING:
    from storage.store import Tx

_COLUMNS = [field.name for field in fields(Entry)]
# What a spreadsheet takes for a formula when a cell begins with it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


async def export_chain(form: str, output: Path | None) -> None:
    """Write every entry to `output` or standard output, then audit that it was done."""
    async with open_store(beside_the_bot=True) as store:
        with _opened(output) as file:
            async with store.read() as tx:
                manifest = await _write(tx, form, file)
        async with store.begin() as tx:
            await audit.append(
                tx,
                actor=operator(),
                action="audit.exported",
                subject=f"audit:1-{manifest['last']}",
                body=manifest,
            )
    if output is not None:
        output.with_name(output.name + ".manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
        typer.echo(f"{manifest['count']} entries written to {output}.", err=True)


def _opened(output: Path | None) -> AbstractContextManager[BinaryIO]:
    if output is None:
        return nullcontext(sys.stdout.buffer)
    try:
        return output.open("wb")
    except OSError as error:
        raise Mistake(f"{output} cannot be written ({error.strerror}).") from None


async def _write(tx: Tx, form: str, file: BinaryIO) -> dict[str, Any]:
    """Write the entries and return the manifest: form, count, the chain's end, SHA-256 of the bytes."""
    line = _csv_line if form == "csv" else _json_line
    digest = hashlib.sha256()
    count, last, end = 0, 0, ""
    if form == "csv":
        _put(file, digest.update, _row(_COLUMNS))
    async for entry in audit.entries(tx):
        _put(file, digest.update, line(entry))
        count, last, end = count + 1, entry.seq, entry.hash
    file.flush()
    return {"format": form, "count": count, "last": last, "hash": end, "sha256": digest.hexdigest()}


def _put(file: BinaryIO, update: Callable[[bytes], None], data: bytes) -> None:
    file.write(data)
    update(data)


def _json_line(entry: Entry) -> bytes:
    # `body` stays the text that was hashed, so that a reader can recompute the chain.
    values = {**asdict(entry), "at": entry.at.isoformat()}
    return (json.dumps(values, ensure_ascii=False) + "\n").encode()


def _csv_line(entry: Entry) -> bytes:
    values = {**asdict(entry), "at": entry.at.isoformat()}
    return _row([guarded(str(values[name])) for name in _COLUMNS])


def _row(cells: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().encode()


def guarded(cell: str) -> str:
    """The cell as text even where a spreadsheet would run it as a formula."""
    return "'" + cell if cell.startswith(_FORMULA) else cell
