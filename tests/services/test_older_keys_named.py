"""After the master key was changed: what names the older one, or is older than the change, misleads no record."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

import verify_audit
from bot.domain.errors import CountersignError
from bot.services.operators import changed_rows, key_change
from bot.services.requests import approvals, lifecycle
from storage import audit, key_rotation, master_keys
from storage.cards import otp_recipients as recipients
from storage.log_record import on_record
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.services.outcome_steps import alert_kinds
from tests.services.test_key_change import NEW, rewrapped, with_keys
from tests.support.world import ALICE, BOB, MASTER, World
from tests.thief.edits import opened
from tests.thief.programme import place_of


@pytest.fixture(autouse=True)
async def closed(world: World) -> AsyncIterator[None]:
    yield
    await world.store.close()


async def _another_process_signs_again(world: World, *, retires: bool) -> None:
    vault = Vault(Keyring.parse(f"{NEW}\n{MASTER}"))
    url = f"sqlite:///{world.store.database.path}"
    other = await Store.open(url, vault=vault, clock=world.clock, exclusive=False)
    try:
        await key_rotation.rewrap(other)
        await key_change.sign_open_again(other, "cli:test")
        if retires:
            async with other.begin() as tx:
                await master_keys.retire(tx, actor="cli:test")
    finally:
        await other.close()


def _is_whole(export: str, file: Path) -> bool:
    file.write_text(export)
    return verify_audit.main([str(file)]) == 0


@pytest.mark.parametrize("deed", ["cancel", "reject", "expire"])
@pytest.mark.parametrize("retires", [False, True])
async def test_no_export_breaks_by_a_fingerprint_of_before_the_change(
    world: World, tmp_path: Path, deed: str, retires: bool
) -> None:
    request = await world.top_up("50", approved=False)
    await with_keys(world, NEW, MASTER)
    async with world.store.read() as tx:
        await on_record.of(tx)
    await _another_process_signs_again(world, retires=retires)
    with opened(place_of(world)) as database:
        database.write("UPDATE request SET digest = ? WHERE id = ?", request.digest, request.id)

    for _ in range(2):  # the first may be asked to try again
        with suppress(CountersignError):
            if deed == "cancel":
                await lifecycle.cancel(world.core, request.id, ALICE)
            elif deed == "reject":
                await approvals.reject(world.core, request.id, BOB, reason="no")
            else:
                world.clock.advance(3 * 24 * 3600)
                await lifecycle.expire_due(world.core)
    await changed_rows.watch(world.core)

    lines: list[str] = []
    async with world.store.read() as tx:
        await audit.export(tx, lines.append, "jsonl")
    assert _is_whole("".join(lines), tmp_path / "audit.jsonl")


async def test_a_signature_that_only_names_the_retired_key_is_reported(world: World) -> None:
    async with world.store.begin() as tx:
        await recipients.put(tx, "emp-1", BOB)
    await with_keys(world, NEW, MASTER)
    (old,) = await rewrapped(world)
    await with_keys(world, NEW, MASTER)
    await changed_rows.read_log(world.core)
    with opened(place_of(world)) as database:
        (kept,) = [row for row in database.read("row_signature") if row["row_key"] == "emp-1"]
        database.write("UPDATE person_card SET slack_id = 'U0MALLORY' WHERE partner_ref = 'emp-1'")
        named = old + "0" * (len(kept["mac"]) - len(old))
        database.write("UPDATE row_signature SET mac = ? WHERE row_key = 'emp-1'", named)

    async with world.store.read() as tx:
        assert await recipients.person_of(tx, "emp-1") is None
    with opened(place_of(world)) as database:
        database.write("UPDATE person_card SET slack_id = ? WHERE partner_ref = 'emp-1'", BOB)
        database.write("UPDATE row_signature SET mac = ? WHERE row_key = 'emp-1'", kept["mac"])
    await changed_rows.tell_of_those_met(world.core)

    assert "changed_outside" in await alert_kinds(world)
