"""A card that is named by its id is one card, also where another process reads its balance at the same moment."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import update

from bot.domain.cards import CardEntry
from storage import tables as t
from storage.cards import cards
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Keyring, Vault
from tests.support.databases import PostgresDatabases
from tests.support.world import MASTER, a_world


async def test_a_card_that_changes_between_two_statements_is_named_once(
    postgres_databases: PostgresDatabases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_databases.migrated()
    async with a_world(tmp_path, url=url) as world:
        other = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=world.clock)
        card, get = world.cards[0]["id"], cards.get

        async def changed_meanwhile(tx: Tx, card_id: str) -> CardEntry | None:
            async with other.begin() as theirs:
                await theirs.run(update(t.card).where(t.card.c.id == card_id).values(status="FROZEN"))
            return await get(tx, card_id)

        monkeypatch.setattr(cards, "get", changed_meanwhile)
        async with world.store.begin() as tx:
            found = await cards.match(tx, card)
        await other.close()
    postgres_databases.drop(url)

    assert [entry.id for entry in found] == [card]
