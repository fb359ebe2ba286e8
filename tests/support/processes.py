"""Another process of the installation, which knows of the audit log only what it has read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from bot.services.operators import changed_rows
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.support.world import MASTER, World

WHO = ["the process that was asked", "another, which has not read on"]


@asynccontextmanager
async def who_goes_on(world: World, who: str) -> AsyncIterator[Callable[[], None]]:
    """Called, it hands over to this process of the installation. Another one knows of the log what it has up to now:
    what is done until then it has not read."""
    vault = Vault(Keyring.parse(MASTER))
    url = world.store.database.url.render_as_string(hide_password=False)
    store = await Store.open(url, vault=vault, clock=world.clock, exclusive=False)
    other = replace(world.core, store=store, owner="another")
    try:
        await changed_rows.read_log(other)
        yield lambda: None if who == WHO[0] else world.goes_on_as(other)
    finally:
        await store.close()
