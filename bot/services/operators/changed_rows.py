"""Reports rows that somebody else changed: those that decide who gets what are signed, and compared every minute."""

from __future__ import annotations

from bot.domain.alerts import request_alerts
from bot.services import alerts
from bot.services.core import Core
from storage.cards import cards
from storage.messages import alerts as alert_rows
from storage.protection import (
    CODE_RECIPIENT,
    CONSENT,
    DETAILS_LINK,
    MUTE,
    PAUSE,
    PROGRAM,
    SIGNED_TABLES,
    signed_rows,
)

CARDS = "card"
WORDS = {
    PROGRAM.name: "the account of a program, or whether it is for drafts only",
    PAUSE.name: "who stopped sending to a program",
    CODE_RECIPIENT.name: "who gets one-time codes",
    MUTE.name: "which alerts are muted",
    CONSENT.name: "who requested a confirmation, and of what",
    DETAILS_LINK.name: "a link to card details",
    CARDS: "the directory of cards",
}
"""What a table is about, for people, by its name."""


async def watch(core: Core) -> None:
    """Raise one alert for each table that holds rows which are not as we left them, and end it when none is left."""
    condition = request_alerts.CHANGED_OUTSIDE.condition
    async with core.store.read() as tx:
        changed = {
            signed.name
            for signed in SIGNED_TABLES
            if await signed_rows.changed_outside(tx, signed, only_alive=True)
        }
        open_ones = {name for name in WORDS if await alert_rows.open_one(tx, condition(name)) is not None}
        # All cards are looked at only once somebody met one: the API is asked about each before it is sent to.
        if CARDS in open_ones and not await cards.are_as_read(tx):
            changed.add(CARDS)
    if changed == open_ones:
        return
    async with core.store.begin() as tx:
        for name in sorted(changed - open_ones):
            said = request_alerts.CHANGED_OUTSIDE.says(what=WORDS[name])
            await alerts.raise_(tx, core, said, condition=condition(name), subject=name, program="")
        for name in sorted(open_ones - changed):
            await alerts.resolve(tx, core, condition(name))


async def note_signed(core: Core) -> None:
    """Say that the rows of an older database were signed when it was opened."""
    rows = core.store.signed_now
    if rows is None:
        return
    async with core.store.begin() as tx:
        said = request_alerts.ROWS_SIGNED.says(rows=rows)
        condition = request_alerts.ROWS_SIGNED.condition(core.store.instance)
        await alerts.tell(tx, core, said, condition=condition, subject="database", program="")
    core.store.signed_now = None
