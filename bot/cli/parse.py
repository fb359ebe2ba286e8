"""`countersign parse`: what the conversational layer makes of a text. Reads only; nothing is asked for or sent.

Text comes as an argument or on standard input, one text, or with --jsonl one `{"text": …}` a line; one JSON object
a line goes out.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.cli import terminal
from bot.cli.terminal import Mistake

if TYPE_CHECKING:
    from bot.intents import Facts, Parsed
    from storage.messages import UnreadText
    from storage.store import Store

_SLOTS: Final = frozenset(
    {
        *("card", "amount", "network", "tx_hash", "since", "until", "name", "phone", "email", "partner_ref"),
        *("limits", "status", "request", "merchant", "person", "above", "at_least", "below", "at_most"),
    }
)
_MOST_CARDS: Final = 1_000_000


def parse_command(text: str | None, directory: Path | None, *, jsonl: bool) -> None:
    """Print the reading of each text."""
    from bot.intents import parse
    from bot.operations import kinds

    facts = read_directory(directory) if directory is not None else asyncio.run(_from_database())
    for one in _texts(text, jsonl=jsonl):
        parsed = parse(one, facts, kinds=kinds())
        terminal.echo(json.dumps(as_json(parsed), ensure_ascii=False))


def unread_command() -> None:
    """Print the texts that nobody understood, as they are kept: one JSON object a line, the oldest first."""
    for one in asyncio.run(_unread()):
        said = {"said_at": one.said_at.isoformat(timespec="seconds"), "text": one.text}
        terminal.echo(json.dumps(said, ensure_ascii=False))


async def _unread() -> list[UnreadText]:
    from bot.cli.environment import open_store
    from storage.messages import unread_texts

    async with open_store(beside_the_bot=True) as store, store.read() as tx:
        return await unread_texts.kept(tx)


def as_json(parsed: Parsed) -> dict[str, Any]:
    """The output form of `countersign parse`."""
    reading = parsed.first
    ask = reading.ask
    slots = {name: value for name, value in reading.slots.items() if name in _SLOTS or reading.kind}
    return {
        "intent": reading.intent,
        "slots": slots,
        "opened": reading.opened,
        "ask": ask
        and {
            "slot": ask.slot,
            "question": ask.question,
            "options": [option.value for option in ask.options],
        },
        "suggestions": [
            {
                "intent": one.intent,
                "slots": {name: value for name, value in one.slots.items() if name in _SLOTS},
                "score": one.score,
            }
            for one in parsed.suggestions
        ],
    }


def read_directory(path: Path) -> Facts:
    """The facts of a JSON file: now, tz, week_starts, cards. Raises `Mistake` naming what is wrong with it."""
    from bot.intents import Directory, Facts, KnownCard

    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise Mistake(f"{path} cannot be read.") from None
    except ValueError:
        raise Mistake(f"{path} isn't valid JSON.") from None
    if not isinstance(given, dict) or not isinstance(given.get("cards"), list):
        raise Mistake(
            f'{path} is not a directory: a JSON object with "now", "tz", "week_starts" and "cards".'
        )
    cards = [KnownCard(*_card(row, path)) for row in given["cards"]]
    zone = str(given.get("tz") or "UTC")
    week_starts = str(given.get("week_starts") or "monday").lower()
    if week_starts not in ("monday", "saturday", "sunday"):
        raise Mistake(f'{path}: "week_starts" is monday, saturday or sunday.')
    return Facts(
        now=_now(given.get("now"), _zone(zone, path), path),
        tz=zone,
        week_starts=week_starts,
        cards=Directory(cards),
    )


def _card(row: Any, path: Path) -> tuple[str, str, str, str, str]:
    if not isinstance(row, dict) or not row.get("holder"):
        raise Mistake(f'{path}: each card is an object with "last4", "holder" and "partner_ref".')
    last4, holder, ref, card_id, status = (
        str(row.get(name) or "") for name in ("last4", "holder", "partner_ref", "id", "status")
    )
    return last4, holder, ref, card_id, status


def _zone(name: str, path: Path) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise Mistake(f"{path}: “{name}” isn't a time zone; write one like Europe/Lisbon.") from None


def _now(text: Any, zone: ZoneInfo, path: Path) -> datetime:
    """The moment of the file, or this one; without an offset it is meant in its zone."""
    if text is None:
        from bot.domain.time import SystemClock

        return SystemClock().now()
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        raise Mistake(f'{path}: "now" is an ISO time like 2026-03-11T10:00:00+00:00.') from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _texts(text: str | None, *, jsonl: bool) -> Iterator[str]:
    if text is None and sys.stdin.isatty():
        terminal.echo("Type a text, then Ctrl-D on a line of its own.", err=True)
    given = text if text is not None else sys.stdin.read()
    if not jsonl:
        yield given
        return
    for number, line in enumerate(
        given.split("\n"), 1
    ):  # JSON may hold any other separator of lines as it is
        if line.strip():
            yield _text_of(line, number)


def _text_of(line: str, number: int) -> str:
    try:
        row = json.loads(line)
    except ValueError:
        raise Mistake(f"Line {number} isn't valid JSON.") from None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise Mistake(f'Line {number} is not an object with a "text".')
    return str(row["text"])


async def _from_database() -> Facts:
    from bot.cli.environment import open_store

    async with open_store(beside_the_bot=True) as store:
        return await _facts_of(store)


async def _facts_of(store: Store) -> Facts:
    """The open cards of the database, as the bot reads a text by."""
    from bot.intents import Directory, Facts, KnownCard
    from storage.cards import cards

    async with store.read() as tx:
        entries = await cards.all(tx, limit=_MOST_CARDS)
    known = [KnownCard(e.last4 or "", e.holder, e.partner_ref or "", e.id, e.status or "") for e in entries]
    from bot.domain.time import SystemClock

    return Facts(now=SystemClock().now(), cards=Directory(known))
