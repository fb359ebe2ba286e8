"""A master key is first, then previous until everything is moved, then retired: the database remembers which."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import update

import verify_audit
from bot import jobs
from bot.config import Poll
from bot.domain.events import Retention
from bot.domain.people import APPROVAL_VALID_FOR
from bot.domain.requests import DecisionKind, State
from bot.partner.secret import Secret
from bot.services.alerts import ledger_rules
from bot.services.core import never
from bot.services.events import Poller
from bot.services.operators import deep_check, key_change, safe_mode
from bot.services.requests import lifecycle, verification
from bot.services.requests.signatures import signed
from storage import audit, key_rotation, master_keys
from storage import tables as t
from storage.cards import cards
from storage.cards import otp_recipients as recipients
from storage.errors import CannotOpen, WrongMasterKey
from storage.events import webhook_secrets
from storage.log_record import on_record
from storage.operators import stops
from storage.requests import decisions
from storage.sealed_columns import PROGRAM_KEY, WEBHOOK_SECRET
from storage.store import Store
from storage.vault import Keyring, Vault, new_master
from tests.services.bulk_requests import a_list, ask_bulk, run_to_the_end
from tests.services.outcome_steps import execute, keys_sent
from tests.storage.test_restores_at_odd_times import lines_of, open_alerts
from tests.support.world import ALICE, BOB, MASTER, World

NEW = new_master()


@pytest.fixture(autouse=True)
async def closed(world: World) -> AsyncIterator[None]:
    yield
    await world.store.close()


async def _another_process(world: World) -> Store:
    """The store of one that has both keys. Whoever asks closes it."""
    url = f"sqlite:///{world.store.database.path}"
    vault = Vault(Keyring.parse(f"{NEW}\n{MASTER}"))
    return await Store.open(url, vault=vault, clock=world.clock, exclusive=False)


async def with_keys(world: World, *masters: str) -> None:
    """The bot is started again with these keys in its keyring."""
    path = world.store.database.path
    await world.store.close()
    vault = Vault(Keyring.parse("\n".join(masters)))
    world.store = await Store.open(f"sqlite:///{path}", vault=vault, clock=world.clock)
    world.rebuild(store=world.store)


async def rewrapped(world: World) -> list[str]:
    """`countersign keys rewrap`; returns the keys that are retired by it."""
    await key_rotation.rewrap(world.store)
    await key_change.sign_open_again(world.store, "cli:test")
    async with world.store.begin() as tx:
        return await master_keys.retire(tx, actor="cli:test")


OLD_KID = Vault(Keyring.parse(MASTER)).primary_kid


@pytest.mark.parametrize("ring", [(NEW, MASTER), (NEW,)])
async def test_what_was_approved_under_the_key_before_is_sent_once_it_is_moved(
    world: World, ring: tuple[str, ...]
) -> None:
    request = await world.top_up("50")
    async with world.store.begin() as tx:
        await recipients.put(tx, "emp-1", BOB)
    await with_keys(world, NEW, MASTER)
    assert await rewrapped(world) == [OLD_KID]
    await with_keys(world, *ring)

    sent = await execute(world, request)

    assert sent.state is State.SUCCEEDED
    async with world.store.begin() as tx:
        assert await recipients.person_of(tx, "emp-1") == BOB
        assert not (await stops.of(tx, "main")).changed_outside
        assert await cards.are_as_read(tx)


async def test_how_far_a_ledger_was_read_is_moved_with_the_rest(world: World) -> None:
    await ledger_rules.compare(world.core, "main")
    await with_keys(world, NEW, MASTER)
    assert await rewrapped(world) == [OLD_KID]
    await with_keys(world, NEW)
    assert await ledger_rules.is_begun(world.core, "main")

    await ledger_rules.compare(world.core, "main")

    assert await open_alerts(world, "changed_outside") == []


async def test_the_key_before_signs_until_everything_is_moved(world: World) -> None:
    request = await world.top_up("50")
    await with_keys(world, NEW, MASTER)

    assert (await execute(world, request)).state is State.SUCCEEDED


async def test_a_list_is_signed_again_with_its_rows(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await with_keys(world, NEW, MASTER)
    await rewrapped(world)
    await with_keys(world, NEW)

    await world.approve(await world.request(batch.id))
    ended = await run_to_the_end(world, batch)

    assert ended.state is State.SUCCEEDED
    async with world.store.read() as tx:
        assert await deep_check.differences(tx) == []


@pytest.mark.parametrize("is_retired", [False, True])
async def test_a_decision_forged_under_a_retired_key_approves_nothing(
    world: World, is_retired: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the old key and can write to the database and its log: before the key is retired that is enough."""
    await with_keys(world, NEW, MASTER)
    if is_retired:
        async with world.store.begin() as tx:
            await audit.append(tx, actor="x", action=master_keys.RETIRED, subject=f"master_key:{OLD_KID}")
            await master_keys.learn_retired(tx)
    request = await world.top_up("50", approved=False)
    thief = Vault(Keyring.parse(MASTER)).bound_to(world.store.instance)
    actor = await world.people.actor(BOB)
    async with world.store.begin() as tx:
        forged = signed(tx, world.core, request, DecisionKind.APPROVE, actor)
        forged = replace(forged, mac=decisions.mac(thief, forged))
        await decisions.insert(tx, forged)
        until = forged.decided_at + APPROVAL_VALID_FOR
        await tx.run(
            update(t.request).values(
                state="approved", approved_at=forged.decided_at, valid_until=until, due_at=tx.now
            )
        )
        body = {"kind": request.kind, "state": "approved", "digest": request.digest}
        subject = f"request:{request.id}:{request.version}"
        # They write by themselves, and hold nothing against the log.
        monkeypatch.setattr(tx, "hold_entries", lambda: None)
        await audit.append(tx, actor=BOB, action="request.approval", subject=subject, body=body)

    await execute(world, request)

    assert bool(keys_sent(world)) is not is_retired


async def test_a_retired_key_proves_what_it_signed_and_nothing_after(world: World) -> None:
    request = await world.top_up("50")
    await execute(world, request)
    await with_keys(world, NEW, MASTER)
    await rewrapped(world)

    found = await verification.verify(world.core, request.id)
    assert [check.found for check in found.checks if not check.holds] == []
    async with world.store.read() as tx:
        assert (await audit.verify(tx)).ok
        assert await deep_check.differences(tx) == []

    world.store.vault.primary_kid = OLD_KID  # somebody who has it writes the next entry
    async with world.store.begin() as tx:
        await audit.append(tx, actor="x", action="x", subject="x:1")
    async with world.store.read() as tx:
        assert (await audit.verify(tx)).kind == "mac"


async def test_a_retired_key_is_not_the_first_again(world: World) -> None:
    await world.top_up("50")
    await with_keys(world, NEW, MASTER)
    await rewrapped(world)

    with pytest.raises(WrongMasterKey, match="was retired"):
        await with_keys(world, MASTER, NEW)


async def test_a_key_that_is_to_come_is_not_retired(world: World) -> None:
    await world.top_up("50")
    await with_keys(world, MASTER, NEW)

    assert await rewrapped(world) == []
    await with_keys(world, NEW, MASTER)


async def test_a_running_process_learns_within_seconds_that_another_has_retired_a_key(world: World) -> None:
    """Also one that has no lock and watches nothing, as one that serves the web alone."""
    await world.top_up("50")
    await with_keys(world, NEW, MASTER)
    thief = Vault(Keyring.parse(MASTER)).bound_to(world.store.instance)
    sealed = thief.seal(b"svc_live_of_the_thief", PROGRAM_KEY.ref("main", 1, "https://evil.example"))
    other = await _another_process(world)
    try:
        await key_rotation.rewrap(other)
        await key_change.sign_open_again(other, "cli:test")
        async with other.begin() as tx:
            assert await master_keys.retire(tx, actor="cli:test") == [OLD_KID]
    finally:
        await other.close()
    world.rebuild(holds=never)
    nobody: Any = SimpleNamespace(run_once=None, report=None)
    watchers = jobs.Watchers(Poller(world.core, account_every=Poll().account), nobody, nobody)
    table = jobs.table(world.core, watchers, Poll(), Retention())
    (job,) = [one for one in table if one.name == "read-log"]

    await job.run()

    assert job.seconds <= 5
    assert job.name in jobs.OF_ITS_OWN, "it runs whatever the process does"
    with pytest.raises(CannotOpen, match="retired"):
        world.store.vault.open(sealed, PROGRAM_KEY.ref("main", 1, "https://evil.example"))


async def test_a_delivery_signed_with_a_secret_under_a_retired_key_is_refused_at_once(world: World) -> None:
    """Before this process knows that another one has retired the key: each look at the secrets learns it."""
    await world.top_up("50")
    await with_keys(world, NEW, MASTER)
    genuine = Secret("whsec_" + "g" * 32)
    async with world.store.begin() as tx:
        await webhook_secrets.put(tx, "main", genuine, previous_until=tx.now)
    await rewrapped(world)
    world.store.vault.retired.clear()
    thief = Vault(Keyring.parse(MASTER)).bound_to(world.store.instance)
    sealed = thief.seal(b"whsec_of_the_thief", WEBHOOK_SECRET.ref("main", 1))
    async with world.store.begin() as tx:
        await tx.run(update(t.webhook_secret).values(sealed_secret=sealed))

    with pytest.raises(CannotOpen, match="retired"):
        async with world.store.read() as tx:
            await webhook_secrets.accepted(tx, "main")


@pytest.mark.parametrize("is_moved", [False, True], ids=["of before", "of after"])
async def test_a_copy_of_before_the_key_was_changed_says_that_the_older_key_counts_again(
    world: World, *, is_moved: bool
) -> None:
    """What `countersign restore` puts in place does not know that the key was retired."""
    async with world.store.begin() as tx:
        await audit.append(tx, actor="test", action="something", subject="test")
    await with_keys(world, NEW, MASTER)
    if is_moved:
        await rewrapped(world)
    await safe_mode.enter(world.core, (0, None), (9, None))
    await safe_mode.at_start(world.core)

    (alert,) = await open_alerts(world, "older_copy")
    listed = await lines_of(world, alert)
    assert (f"under an older master key ({OLD_KID})" in listed) == (not is_moved)
    assert ("keys rewrap" in listed) == (not is_moved)
    if not is_moved:
        assert await rewrapped(world) == [OLD_KID], "what it says to do works in safe mode"
    async with world.store.read() as tx:
        assert await master_keys.older_in_use(tx) == []


async def test_what_becomes_of_a_request_is_recorded_with_what_another_process_has_signed_again(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its fingerprint is another then, and this process has read the log before that."""
    request = await world.top_up("50", approved=False)
    await with_keys(world, NEW, MASTER)
    async with world.store.read() as tx:
        await on_record.of(tx)
    other = await _another_process(world)
    try:
        await key_rotation.rewrap(other)
        await key_change.sign_open_again(other, "cli:test")
    finally:
        await other.close()

    await lifecycle.cancel(world.core, request.id, ALICE)

    lines: list[str] = []
    async with world.store.read() as tx:
        await audit.export(tx, lines.append, "jsonl")
    file = tmp_path / "audit.jsonl"
    file.write_text("".join(lines))
    is_whole = verify_audit.main([str(file)]) == 0
    assert is_whole, capsys.readouterr().out
