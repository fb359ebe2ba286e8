"""Writes the audit chain to a file or to standard output, with a manifest that says what was written."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from bot.cli import terminal
from bot.cli.environment import open_store, operator
from bot.cli.terminal import Mistake
from storage import audit


async def export_chain(form: str, output: Path | None) -> None:
    """Write every entry to `output` or standard output, then audit that it was done."""
    async with open_store(beside_the_bot=True) as store:
        with _opened(output) as file:
            async with store.read() as tx:
                written = await audit.export(tx, lambda line: file.write(line.encode()), form)
            file.flush()
            manifest = {"format": form, **asdict(written)}
        async with store.begin() as tx:
            await audit.append(
                tx,
                actor=operator(),
                action="audit.exported",
                subject=f"audit:1-{written.head_seq}",
                body=manifest,
            )
    if output is not None:
        output.with_name(output.name + ".manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
        terminal.echo(f"{written.count} entries written to {output}.", err=True)


def _opened(output: Path | None) -> AbstractContextManager[BinaryIO]:
    if output is None:
        return nullcontext(sys.stdout.buffer)
    try:
        return output.open("wb")
    except OSError as error:
        raise Mistake(f"{output} cannot be written ({error.strerror}).") from None
