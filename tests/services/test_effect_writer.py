"""Each effect, written: what it leaves in the database, and that the order of the list does not matter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.domain.alerts import request_alerts
from bot.outcomes import effects as e
from bot.partner.secret import Secret
from bot.services.execution import effect_writer
from storage import audit
from storage.errors import Purged
from storage.events import webhook_secrets
from storage.requests import card_details_links, requests
from tests.services.outcome_steps import open_alerts
from tests.support.walk import over_a_top_up
from tests.support.world import ALICE, World

SAID = request_alerts.UNRESOLVED.says(request="R-HERE", summary="Top up a card", support_card="Look.")
LOST = e.RaiseAlert(SAID, "unresolved:here")
EVERY_ONE: list[e.Effect] = [
    e.ResolveAlert("unresolved:gone"),
    e.DirectMessage(),
    LOST,
    e.PurgePrivate(),
    e.ThreadLine("succeeded", "Done."),
    e.RedrawCard(),
    e.AuditEntry("request.outcome", {"attempt": 1}),
    e.GrantLink(),
    e.SealSecret(Secret("whsec_of_the_test")),
]


async def messages(world: World) -> set[tuple[str, str, str]]:
    """(kind, what it is about, whom it is for) of all that is to be sent about requests."""
    async with world.store.read() as tx:
        rows = (await tx.run(text("SELECT kind, subject, outbox.user FROM outbox"))).all()
    return {(row.kind, row.subject.partition(":")[0], row.user or "") for row in rows}


async def test_every_effect_is_written_whatever_its_place_in_the_list(world: World) -> None:
    request = await world.ask("card_reveal", {"card": world.cards[0]["id"]})
    async with world.store.begin() as tx:
        await effect_writer.write(tx, world.core, request, [e.RaiseAlert(SAID, "unresolved:gone")])
        await tx.run(text("DELETE FROM outbox"))

    async with world.store.begin() as tx:
        await effect_writer.write(tx, world.core, request, EVERY_ONE)

    async with world.store.read() as tx:
        actions = [entry.action async for entry in audit.entries(tx)]
        assert actions[-4:] == ["webhook.secret", "request.outcome", "alert.raised", "alert.resolved"]
        assert [s.reveal() for s in await webhook_secrets.accepted(tx, "main")] == ["whsec_of_the_test"]
        link = await card_details_links.get(tx, request.id)
        assert link is not None
        with pytest.raises(Purged):
            await requests.frozen(tx, request.id)
    assert [alert.dedupe for alert in await open_alerts(world)] == ["unresolved:here"]
    assert await messages(world) == {
        ("direct", "reveal", ALICE),
        ("card", "request", ""),
        ("line", "request", ""),
        ("alert", "alert", ""),
        ("card", "notice", ALICE),
    }


@pytest.mark.parametrize(
    ("effect", "state"),
    [(e.LoseSecret(), "lost"), (e.KeepSecret(), "lost"), (e.SealSecret(Secret("w")), "current")],
)
async def test_the_state_of_the_webhook_secret_is_on_record(
    world: World, effect: e.SecretEffect, state: str
) -> None:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]})
    async with world.store.begin() as tx:
        await effect_writer.write(tx, world.core, request, [effect])

    async with world.store.read() as tx:
        *_, entry = [entry async for entry in audit.entries(tx) if entry.action == "webhook.secret"]
        found = await webhook_secrets.newest(tx, "main")
    assert found is not None
    assert found.state == state
    assert state in str(entry.body)


async def test_an_execution_writes_what_follows_at_its_claim_and_at_its_end(tmp_path: Path) -> None:
    """The walk from the executor to the records and messages leads through the writer, twice, and no other way."""
    walk = await over_a_top_up(tmp_path)

    assert walk.entered[0] == "bot.services.execution.executor:execute"
    assert walk.entered.count("bot.services.execution.effect_writer:write") == 2
    assert walk.crossings == len(walk.back_in) > 0


async def test_a_row_takes_its_batch_with_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = []

    async def row_changed(_tx: object, _core: object, row: object) -> None:
        followed.append(row)

    monkeypatch.setattr("bot.services.requests.batch_rows.row_changed", row_changed)
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]})
    row = replace(request, parent_id="R-BATC")
    async with world.store.begin() as tx:
        await effect_writer.write(tx, world.core, request, [e.RedrawCard()])
        await effect_writer.write(tx, world.core, row, [e.RedrawCard()])

    assert followed == [row]
