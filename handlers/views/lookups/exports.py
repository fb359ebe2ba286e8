"""An export in words: begun, running, done, stopped."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.time import Period
from handlers.views import blocks as b


def begun(kind: str, period: Period) -> b.Block:
    """The answer where it was asked for."""
    text = f"Exporting {b.esc(kind)}, {b.esc(period.in_words())}. The file comes in a direct message."
    return b.message(text, [b.section(text)])


def running(kind: str, period: Period, rows: int) -> b.Block:
    """The direct message while it runs."""
    text = f"◷ Exporting {b.esc(kind)}, {b.esc(period.in_words())}: {b.counted(rows, 'row')} so far."
    note = "If this number does not change for minutes, Countersign was restarted: request the export again."
    return b.message(text, [b.section(text), b.context(note)])


def done(kind: str, period: Period, source: str, rows: int, sha256: Sequence[str]) -> b.Block:
    """What was sent, from where, and the digest of each file."""
    files = b.counted(len(sha256), "file")
    text = f"✓ {b.counted(rows, 'row')} of {b.esc(kind)}, {b.esc(period.in_words())}, in {files}."
    digests = "\n".join(f"`{b.esc(one)}`" for one in sha256[:20])
    notes = (
        f"from {b.esc(source)} · times are in UTC · a cell that a spreadsheet would run as a formula has an apostrophe"
        " before it · recorded in the audit log with these SHA-256 fingerprints"
    )
    return b.message(text, [b.section(text), b.section(digests), b.context(notes)])


def stopped(kind: str, files: int, sentence: str) -> b.Block:
    """It ended early: what was sent is not all."""
    sent = (
        f"What was sent before ({b.counted(files, 'file')}) is only a part of it."
        if files
        else "Nothing was sent."
    )
    text = f"✗ The export of {b.esc(kind)} stopped. {sent} {b.said(sentence)} Request it again."
    return b.message(text, [b.section(text)])
