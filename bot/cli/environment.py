"""What commands share: settings from the environment, the open database, and who is at the terminal."""

from __future__ import annotations

import getpass
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.config import Need, Settings

if TYPE_CHECKING:
    from bot.services.anchor_places import AnchorPlaces
    from storage.store import Store


def settings(*need: Need) -> Settings:
    """The settings of this process. Raises `SettingsError`, also for what `need` names and lacks."""
    return Settings.from_env(os.environ, need=need)


@asynccontextmanager
async def open_store(*, beside_the_bot: bool, checks_canaries: bool = True) -> AsyncIterator[Store]:
    """The database of the settings. `beside_the_bot` works while a bot runs on the same SQLite file; for
    `checks_canaries` see `Store.open`."""
    from bot.domain.time import SystemClock
    from storage.store import Store
    from storage.vault import Keyring, Vault

    found = settings(Need.MASTER_KEY)
    assert found.master_key is not None  # noqa: S101 - Need.MASTER_KEY made sure
    vault = Vault(Keyring.parse(found.master_key.read().reveal()))
    exclusive = not beside_the_bot
    store = await Store.open(
        found.database_url,
        vault=vault,
        clock=SystemClock(),
        exclusive=exclusive,
        checks_canaries=checks_canaries,
    )
    try:
        yield store
    finally:
        await store.close()


def anchor_places(store: Store) -> AnchorPlaces:
    """Where the end of the audit chain is kept outside this database, by the settings."""
    from bot.services.anchor_places import places

    found = settings(Need.MASTER_KEY)
    return places(store, found.anchors_file, found.anchors_command)


def operator() -> str:
    """The actor that the audit names for what is done at the terminal: `cli:` and the system's user."""
    try:
        return f"cli:{getpass.getuser()}"
    except (OSError, KeyError):  # a container's user may have no name
        return f"cli:{os.getuid()}"
