"""`countersign audit …`: check the audit chain, or hand it out."""

from __future__ import annotations

import asyncio
import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli import terminal
from bot.cli.terminal import ExitCode, Mistake, in_sentences

if TYPE_CHECKING:
    from storage.audit import Anchor, Report

app = typer.Typer(help="The audit chain: who did what, in a form that shows tampering.", no_args_is_help=True)


class Format(StrEnum):
    """What an export is written as."""

    JSONL = "jsonl"
    CSV = "csv"


@app.command()
@in_sentences
def verify(
    first: Annotated[int, typer.Option("--from", min=1, help="The first entry to check.")] = 1,
    last: Annotated[int, typer.Option("--to", min=0, help="The last entry to check; 0 = the end.")] = 0,
    anchors: Annotated[
        Path | None, typer.Option(help="Anchors kept outside the database, one JSON object a line.")
    ] = None,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Also compare requests, decisions, outcomes and signed rows with the chain."
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One JSON object: whole, checked, last, first_bad, kind, differences."),
    ] = False,
) -> None:
    """Check the chain. Exits 0 when it is whole, 1 when it is broken, 2 when it cannot be read.

    Works beside a running bot. Only anchors can show that the end of the chain was cut off. With --deep, a request, a
    decision, a call or a signed row that was edited, deleted or invented is broken, too; the page Security says which
    columns are compared.
    """
    if deep and (first > 1 or last):
        raise Mistake("--deep needs the whole chain: leave --from and --to out.")
    asyncio.run(_verify(first, last or None, _read_anchors(anchors), deep=deep, as_json=as_json))


@app.command()
@in_sentences
def export(
    format_: Annotated[
        Format, typer.Option("--format", help="One JSON object a line, or a table.")
    ] = Format.JSONL,
    output: Annotated[
        Path | None,
        typer.Option(help="A file to write, with FILE.manifest.json beside it; default standard output."),
    ] = None,
) -> None:
    """Write the whole chain out. Works beside a running bot; the export is itself audited."""
    from bot.cli.exporting import export_chain

    asyncio.run(export_chain(format_.value, output))


def _read_anchors(path: Path | None) -> list[Anchor]:
    if path is None:
        return []
    from bot.services.anchor_places import Unreadable, anchors_among

    try:
        return anchors_among(path.read_text().splitlines(), str(path))
    except (OSError, UnicodeDecodeError):
        raise Mistake(f"{path} cannot be read.") from None
    except Unreadable:
        raise Mistake(f"{path} holds no anchors.") from None


async def _verify(first: int, last: int | None, anchors: list[Anchor], *, deep: bool, as_json: bool) -> None:
    from bot.cli.environment import open_store
    from bot.services.operators import deep_check
    from storage import audit
    from storage.operators import restored_copies

    if last is not None and first > last:
        raise Mistake(f"--from {first} is after --to {last}, so there is nothing to check.")
    async with open_store(beside_the_bot=True) as store, store.read() as tx:
        ours = await restored_copies.of_this_chain(tx, anchors)
        found: list[str] = []
        if deep:
            report, differences = await deep_check.compared(tx, ours)
            found = [str(one) for one in differences]
        else:
            report = await audit.verify(tx, from_seq=first, to_seq=last, anchors=ours)
    if report.ok and not report.count and first > 1:
        raise Mistake(
            f"There is no entry from {first} on, so nothing was checked. If there was one before, the end of the chain"
            " was cut off: check it with --anchors, and keep a copy of the database before anything else."
        )
    if as_json:
        terminal.echo(_as_json(report, found if deep else None))
    elif report.ok:
        terminal.echo(f"The audit chain is whole: {in_words(report.count)} checked, up to {report.last}.")
    else:
        _say_where_it_is_broken(report)
    if deep and not as_json:
        _say_what_differs(found)
    if found or not report.ok:
        raise typer.Exit(ExitCode.NOT_WELL)


def _say_what_differs(found: list[str]) -> None:
    if not found:
        terminal.echo("Requests, decisions, outcomes and signed rows are as the chain has them.")
        return
    for one in found:
        terminal.echo(terminal.in_a_line(one), err=True)
    terminal.echo(
        f"{len(found)} row(s) are not as the chain has them. Somebody changed the database outside Countersign: keep a"
        " copy of it before anything else.",
        err=True,
    )


def in_words(entries: int) -> str:
    """`1 entry`, `2 entries`."""
    return "1 entry" if entries == 1 else f"{entries} entries"


def _as_json(report: Report, differences: list[str] | None) -> str:
    """`differences` is there where tables were compared; then the whole is whole without any."""
    found = {"whole": report.ok and not differences, "checked": report.count, "last": report.last}
    more = {} if differences is None else {"differences": differences}
    return json.dumps({**found, "first_bad": report.first_bad, "kind": report.kind, **more})


def _say_where_it_is_broken(report: Report) -> None:
    from bot.services.audit import broken

    found = broken(report.first_bad, report.kind)
    terminal.echo(f"{found} Before that entry it is whole: {in_words(report.count)}.", err=True)
