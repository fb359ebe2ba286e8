"""Reading cards from the API into the directory: one, all of them, and what they hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from bot.domain.cards import DELETED, CardEntry
from bot.domain.errors import Stale
from bot.domain.requests import Request, State, fingerprints
from bot.partner.models import Card, CardWithBalance
from bot.partner.ratelimit import Lane
from bot.services import outbox_messages
from bot.services.core import Core
from storage.cards import api_snapshots, cards
from storage.requests import requests
from storage.transaction import Tx

SWEEP_BATCH = 500
CARD_QUEUED = "owed_card:"
"""Begins the name of the reading that says which card our own request has changed."""
BALANCE_QUEUED = "owed_balance:"
"""Begins the name of the reading that says of which card our own request has changed what it holds, and no more."""
CARD_AFTER = fingerprints.CARD_AFTER
"""The fact of a request's outcome that says what its card held when it was read after it, in USD."""
ACCOUNT_QUEUED = "owed_account"
"""The reading that says that our own requests changed the account."""


async def sync_cards(core: Core, program: str, *, begun_at: datetime | None = None) -> int:
    """Read every open card into the directory, as read at `begun_at`, None = now; cards gone from the list are read
    singly [GET /cards].

    Written in batches, so that a large fleet neither fills the memory nor holds the database for long.
    """
    partner = core.partners[program]
    begun_at = begun_at or core.clock.now()
    count, batch = 0, []
    async for card in partner.cards(lane=Lane.BACKGROUND):
        batch.append(_entry(program, card))
        if len(batch) == SWEEP_BATCH:
            count += await _keep_cards(core, program, batch, begun_at)
            batch = []
    count += await _keep_cards(core, program, batch, begun_at)
    async with core.store.begin() as tx:
        gone = await cards.mark_gone(tx, program, seen_before=begun_at)
        await cards.mark_synced(tx, program, count)
    for card_id in gone:
        read_at = core.clock.now()
        found = await partner.card(card_id, lane=Lane.BACKGROUND)
        async with core.store.begin() as tx:
            if found.card.status == DELETED:
                await cards.set_status(tx, card_id, DELETED)
            else:  # a page that shifted had hidden it
                await cards.put_many(tx, program, [_entry(program, found.card)], read_at=read_at)
    return count


async def _keep_cards(core: Core, program: str, batch: list[CardEntry], read_at: datetime) -> int:
    async with core.store.begin() as tx:
        await cards.put_many(tx, program, batch, read_at=read_at)
    return len(batch)


async def sweep_balances(core: Core, program: str) -> int:
    """The balances of the whole fleet as the card provider last read them, a thousand a call [POST /cards/balances].

    A card without a reading keeps the figure it had, with its own time.
    """
    count, batch = 0, []
    async for row in core.partners[program].fleet_balances(lane=Lane.BACKGROUND):
        if row.balance_usd is not None and row.as_of is not None:
            batch.append((row.card_id, row.balance_usd, row.as_of))
        if len(batch) == SWEEP_BATCH:
            count += await _keep_balances(core, batch)
            batch = []
    return count + await _keep_balances(core, batch)


async def _keep_balances(core: Core, batch: list[tuple[str, Decimal, datetime]]) -> int:
    async with core.store.begin() as tx:
        await cards.set_balances(tx, batch)
    return len(batch)


async def queue_reading(
    tx: Tx, card_id: str, request: Request, *, moves_money: bool = False, is_balance: bool = False
) -> None:
    """In the transaction of an outcome: this card has changed, and the account with it. Read soon, whatever dies.

    Kept with it is the request whose message shows less until then: the order of a new card, and a request that
    `moves_money` onto or off the card, which then says what the card holds. `is_balance`: nothing else of it changed.
    """
    is_shown = request.subject != card_id or (moves_money and request.parent_id is None)
    waits = request.id if is_shown else None
    name = BALANCE_QUEUED if is_balance else CARD_QUEUED
    queued = {f"{name}{card_id}": {"request": waits}, ACCOUNT_QUEUED: {}}
    await api_snapshots.put_all(tx, request.program, queued)


async def queue_reading_of_change(tx: Tx, program: str, card_id: str) -> None:
    """This card was changed, by whomever, or may have been: it is read soon."""
    name = f"{CARD_QUEUED}{card_id}"
    queued = await api_snapshots.get(tx, program, name)
    await api_snapshots.put(tx, program, name, queued.value if queued else {"request": None})


async def queued_readings(tx: Tx, program: str) -> dict[str, datetime]:
    """The cards that our requests changed and that were not read whole since, by id: since when."""
    return {
        name: kept.read_at for name, kept in (await api_snapshots.named(tx, program, CARD_QUEUED)).items()
    }


async def queued_balances(tx: Tx, program: str) -> dict[str, datetime]:
    """The cards that our requests moved money onto or off, and that were not read since, by id: since when."""
    return {
        name: kept.read_at for name, kept in (await api_snapshots.named(tx, program, BALANCE_QUEUED)).items()
    }


async def give_up_reading(tx: Tx, program: str, card_id: str) -> None:
    """The next sweep reads it with all others."""
    for name in (CARD_QUEUED, BALANCE_QUEUED):
        await api_snapshots.drop(tx, program, f"{name}{card_id}")


async def read_queued_balances(core: Core, program: str, queued_at: Mapping[str, datetime]) -> None:
    """What these cards hold now, read live together, 25 a call [POST /cards/balances]. Raises PartnerError.

    What cannot be read stays to be read, and what was queued again since these times.
    """
    read_at = core.clock.now()
    rows = await core.partners[program].balances(list(queued_at), refresh=True, lane=Lane.BACKGROUND)
    read = [(row.card_id, row.balance_usd, read_at) for row in rows if row.balance_usd is not None]
    async with core.store.begin() as tx:
        await cards.set_balances(tx, read)
        for card_id, balance_usd, _ in read:
            name = f"{BALANCE_QUEUED}{card_id}"
            queued = await api_snapshots.take(tx, program, name, of=queued_at[card_id])
            if queued is not None and queued.value["request"]:
                await _complete(tx, core, queued.value["request"], card_id, balance_usd)


async def refresh_card(
    core: Core,
    program: str,
    card_id: str,
    *,
    lane: Lane = Lane.PEOPLE,
    queued_at: datetime | None = None,
    then: Callable[[Tx, CardEntry], Awaitable[None]] | None = None,
) -> CardWithBalance:
    """Read one card live and keep it in the directory, with what `then` does in the same transaction. Raises
    PartnerError.

    `queued_at`: this is the reading that was queued then, as whoever asks knew before; None = it is another one, and
    whatever is queued stays so: nobody knows which came first, the change or this reading. A card that has just been
    ordered may have no number yet: then its reading stays to be made.
    """
    read_at = core.clock.now()
    found = await core.partners[program].card(card_id, lane=lane)
    async with core.store.begin() as tx:
        entry = replace(
            _entry(program, found.card),
            balance_usd=found.balance_usd,
            balance_at=None if found.balance_usd is None else tx.now,
        )
        known, queued = await cards.get(tx, card_id), None
        shown_since = await cards.put_many(tx, program, [entry], read_at=read_at)
        is_whole = entry.last4 and entry.status and entry.balance_usd is not None
        if queued_at is not None and is_whole and not shown_since:
            queued = await api_snapshots.take(tx, program, f"{CARD_QUEUED}{card_id}", of=queued_at)
        if queued is not None and queued.value["request"]:
            balance_usd = None if entry.status == DELETED else entry.balance_usd
            await _complete(tx, core, queued.value["request"], card_id, balance_usd)
        if queued is None and known is not None and known.status != entry.status:
            # Which of the two is newer is known by clocks alone, of two machines maybe: what is read next is.
            await queue_reading_of_change(tx, program, card_id)
        if then is not None:
            await then(tx, entry)
    return found


async def _complete(tx: Tx, core: Core, request_id: str, card_id: str, balance_usd: Decimal | None) -> None:
    """The messages of the request that made or changed the card show what was missing: its number, what it holds.

    None where it is closed.
    """
    request = await requests.get(tx, request_id)
    if request is None:
        return
    if request.subject == card_id and request.state is State.SUCCEEDED and balance_usd is not None:
        facts = {**(request.outcome or {}), CARD_AFTER: str(balance_usd)}
        try:
            request = await requests.touch(tx, request, outcome=facts)
        except Stale:  # it goes on meanwhile: the card shows its balance all the same
            return
    await outbox_messages.redraw_notice(tx, core, request)
    await outbox_messages.redraw(tx, core, request)


def _entry(program: str, card: Card) -> CardEntry:
    return CardEntry(
        id=card.id,
        program=program,
        holder=card.card_holder_name,
        last4=card.last4,
        partner_ref=card.partner_ref,
        status=card.status,
        created_at=card.created_at,
    )
