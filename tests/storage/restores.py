"""An older copy of the database put in place, and debits that it does not know, as tests of restores need them."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

from bot import startup
from bot.services.operators import safe_mode
from storage.database import Database
from storage.maintenance import copies
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.support.databases import Databases
from tests.support.world import MASTER, World

VAULT = Vault(Keyring.parse(MASTER))


async def restart_on(world: World, url: str) -> startup.OlderCopy | None:
    """As another process on this database, which is looked at as each start does."""
    await world.store.close()
    world.store = await Store.open(url, vault=VAULT, clock=world.clock)
    world.rebuild(store=world.store)
    found = await startup.check_audit(world.store, world.core.anchors)
    if found is not None:
        await safe_mode.enter(world.core, found.head, found.anchor, found.lost)
    await safe_mode.at_start(world.core)
    return found


async def put_in_place(copy: Path, databases: Databases) -> str:
    """As an operator without `countersign restore` does it: a volume, or a dump. Returns where it is."""
    url = databases.migrated()
    await asyncio.to_thread(copies._copy_rows, Database.parse(f"sqlite:///{copy}"), Database.parse(url))
    return url


async def debit(world: World, number: int, *, key: str = "") -> Decimal:
    """A top-up through the API under a key of this installation, or this one, for which it has no request; what it
    took, in USD."""
    amount = Decimal(number % 5 + 1)
    card = world.cards[number % 3]["id"]
    if number % 40 == 0:
        await world.advance(61)  # the API takes so many a minute
    body = f'{{"amount_usd": {amount}}}'.encode()
    await world.core.partners["main"].top_up(card, body, key=key or world.core.ids.idempotency_key())
    return amount
