"""What a text is read against: the cards, the person's clock, and what this thread was about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from bot import intents
from bot.domain.cards import CardEntry
from bot.domain.people import Actor
from bot.intents import Facts, KnownCard, Thread
from bot.operations import refuse_card_number
from bot.services.cards import card_sync
from bot.services.core import Core
from storage.cards import card_counts, cards, otp_recipients
from storage.messages import Dialog, Place, dialogs
from storage.transaction import Tx

__all__ = [
    "Names",
    "Place",
    "ReceivedMessage",
    "all_on",
    "dialog_of",
    "facts",
    "holds_card_number",
    "known_card",
    "latest_dialog",
    "open_question",
    "thread_of",
]

# A program holds some ten thousand cards at most; beyond this a card is named by its id.
_MOST_CARDS = 20_000
# Digits of a hash are no card number.
_HEX = re.compile(r"0[xX][0-9a-fA-F]{6,}")


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """One thing said. `alone`: it stands in no thread. `is_own`: the asking person wrote it themselves.
    `is_pick`: it is an answer that was offered to them, pressed.
    """

    place: Place
    actor: Actor
    text: str
    our_id: str = ""
    alone: bool = False
    is_own: bool = True
    is_pick: bool = False

    @property
    def in_main_box(self) -> bool:
        """Typed in a direct message outside any thread: what was said there before is still known."""
        return self.alone and self.place.channel_id.startswith("D")


class Names:
    """The card directory with its indexes, kept for as long as it is the same: making it again takes a large
    fleet a quarter of a second. One instance in a process."""

    def __init__(self) -> None:
        self._mark: object = None
        self._directory = intents.Directory()

    async def read(self, tx: Tx) -> intents.Directory:
        mark = await card_counts.mark(tx)
        if mark != self._mark:
            self._directory = intents.Directory(
                [known_card(e) for e in await cards.all(tx, limit=_MOST_CARDS)]
            )
            self._mark = mark
        return self._directory


async def facts(core: Core, message: ReceivedMessage, names: Names) -> Facts:
    """Everything the readers may know. No network."""
    async with core.store.read() as tx:
        directory = await names.read(tx)
        people = await otp_recipients.refs(tx)
    return Facts(
        now=core.clock.now(),
        tz=message.actor.zone.key,
        cards=directory,
        our_id=message.our_id,
        people=people,
    )


def known_card(entry: CardEntry) -> KnownCard:
    return KnownCard(
        last4=entry.last4 or "",
        holder=entry.holder,
        partner_ref=entry.partner_ref or "",
        id=entry.id,
        status=entry.status or "",
    )


async def dialog_of(core: Core, message: ReceivedMessage) -> Dialog | None:
    """What this person is at in this thread."""
    async with core.store.begin() as tx:
        return await dialogs.at(tx, message.place)


async def open_question(core: Core, message: ReceivedMessage) -> Dialog | None:
    """The newest question that waits for this person in this channel."""
    async with core.store.begin() as tx:
        return await dialogs.asking(tx, message.place)


async def latest_dialog(core: Core, message: ReceivedMessage) -> Dialog | None:
    """What this person was at last in this channel, in whatever thread."""
    async with core.store.begin() as tx:
        return await dialogs.latest(tx, message.place)


async def thread_of(core: Core, dialog: Dialog | None, *, answering: bool = True) -> Thread | None:
    """What was said before. `answering` False: the text answers no question of this dialog."""
    if dialog is None:
        return None
    async with core.store.read() as tx:
        earlier = [await cards.get(tx, one) for one in (dialog.last_card_id, *dialog.slots.get("cards", []))]
    entry, *others = [None if one is None else known_card(one) for one in earlier]
    read = dialog.slots.get("read", {})
    return Thread(
        intent=dialog.intent,
        slots=dict(dialog.slots.get("slots", {})),
        asked_slot=dialog.asked_slot if answering else "",
        last_card=entry,
        read_intent=read.get("intent", ""),
        read_slots=dict(read.get("slots", {})),
        earlier_cards=tuple(filter(None, others)),
    )


async def all_on(core: Core, card: KnownCard) -> Decimal | None:
    """The balance of a card, read live; None where nobody can tell. Raises PartnerError."""
    async with core.store.read() as tx:
        entry = await cards.get(tx, card.id)
    if entry is None:
        return None
    return (await card_sync.refresh_card(core, entry.program, entry.id)).balance_usd


def holds_card_number(text: str) -> bool:
    """Does a text, however it is quoted or formatted, hold what looks like a full card number?"""
    try:
        refuse_card_number(_HEX.sub(" ", text))
    except ValueError:
        return True
    return False
