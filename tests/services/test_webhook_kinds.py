"""Registering and rotating the webhook: asked by admins, made once, and the secret never anywhere but sealed."""

import pytest
from sqlalchemy import text

from bot.domain.errors import NotAllowed
from bot.domain.requests import Request, State
from bot.operations import readers
from bot.services.alerts import remedies
from bot.services.execution import presend_checks
from storage.events import webhook_secrets
from storage.messages import alerts as alert_rows
from tests.services.outcome_steps import alert_kinds, execute, jump, open_alerts
from tests.support.world import ALICE, CAROL, World

URL = "https://countersign.example.com/webhooks/main"


async def done(world: World, kind: str, url: str = URL) -> Request:
    """Asked by Carol, approved by Bob, carried out."""
    request = await world.ask(kind, {"url": url} if kind == "webhook_register" else {}, by=CAROL)
    await world.approve(request)
    return await execute(world, request)


async def secrets(world: World) -> list[str]:
    async with world.store.read() as tx:
        return [secret.reveal() for secret in await webhook_secrets.accepted(tx, "main")]


async def test_only_an_admin_may_ask_and_only_somebody_else_may_approve(world: World) -> None:
    with pytest.raises(NotAllowed, match="Only admins can request this: @card-admins"):
        await world.ask("webhook_register", {"url": URL}, by=ALICE)
    request = await world.ask("webhook_register", {"url": URL}, by=CAROL)
    with pytest.raises(NotAllowed):
        await world.approve(request, by=CAROL)

    await world.approve(request)
    world.people.groups["@card-admins"].clear()
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    assert (await execute(world, request)).state is State.CANCELLED
    assert await world.sent("PUT /webhook") == []


async def test_each_secret_is_sealed_with_the_outcome_and_shown_nowhere(world: World) -> None:
    first = await done(world, "webhook_register")
    assert first.state is State.SUCCEEDED
    (old,) = await secrets(world)
    second = await done(world, "webhook_rotate")
    new, kept = await secrets(world)

    assert second.state is State.SUCCEEDED
    assert kept == old != new
    assert new.startswith("whsec_")
    async with world.store.read() as tx:
        for table in ("request", "attempt", "audit", "outbox", "webhook_secret", "reading"):
            rows = str((await tx.run(text(f"SELECT * FROM {table}"))).all())  # names from the line above
            assert old not in rows
            assert new not in rows


async def test_the_same_address_again_keeps_the_secret(world: World) -> None:
    await done(world, "webhook_register")
    before = await secrets(world)

    again = await done(world, "webhook_register")

    assert again.state is State.SUCCEEDED
    assert "does not change" in again.outcome_text
    assert await secrets(world) == before


async def test_registered_by_others_no_secret_is_known_and_rotation_is_offered(world: World) -> None:
    await world.core.partners["main"].set_webhook(b'{"url":"%s"}' % URL.encode())

    assert (await done(world, "webhook_register")).state is State.SUCCEEDED

    (alert,) = [a for a in await open_alerts(world) if a.kind == "webhook_secret"]
    assert (await remedies.of(world.core, alert.id)).kind == "webhook_rotate"
    await done(world, "webhook_rotate")
    assert "webhook_secret" not in await alert_kinds(world)
    assert len(await secrets(world)) == 1


@pytest.mark.parametrize("kind", ["webhook_register", "webhook_rotate"])
async def test_after_a_lost_answer_it_is_never_sent_again_and_ends_in_rotate_again(
    world: World, kind: str
) -> None:
    if kind == "webhook_rotate":
        await done(world, "webhook_register")
        await world.advance(600)
    before = len(await world.sent("PUT /webhook"))
    await world.fault("drop_after_commit", "PUT /webhook")

    lost = await done(world, kind)
    assert lost.state is State.EXECUTING
    assert "do not repeat this" in lost.outcome_text
    ended = await jump(world, lost)

    assert ended.state is State.FAILED
    assert "Rotate the secret again" in ended.outcome_text
    assert len(await world.sent("PUT /webhook")) == before + 1
    assert "webhook_secret" in await alert_kinds(world)
    assert (await done(world, "webhook_rotate")).state is State.SUCCEEDED
    assert "webhook_secret" not in await alert_kinds(world)


async def test_dying_between_the_answer_and_its_storing_ends_in_rotate_again(world: World) -> None:
    """CP19: the answer was read, the secret is gone with the process."""
    request = await world.ask("webhook_register", {"url": URL}, by=CAROL)
    await world.approve(request)

    with world.dies_at("execution.finishing"):
        await execute(world, request)
    assert await secrets(world) == []
    await world.advance(world.core.lease_s + 1)

    assert (await execute(world, request)).state is State.FAILED
    assert len(await world.sent("PUT /webhook")) == 1
    assert "webhook_secret" in await alert_kinds(world)


async def test_a_call_that_never_arrived_is_not_made_again_and_nothing_is_lost(world: World) -> None:
    await done(world, "webhook_register")
    await world.advance(600)
    before = await secrets(world)
    await world.fault("drop_before_commit", "PUT /webhook")

    lost = await done(world, "webhook_rotate")
    for _ in range(8):
        if lost.state is State.EXECUTING:
            lost = await jump(world, lost)

    assert lost.state is State.FAILED
    assert await secrets(world) == before
    assert "webhook_secret" not in await alert_kinds(world)


async def test_two_never_go_at_once(world: World) -> None:
    await done(world, "webhook_register")
    await world.advance(600)
    first = await world.ask("webhook_rotate", {}, by=CAROL)
    second = await world.ask("webhook_rotate", {}, by=CAROL)
    await world.approve(first)
    await world.approve(second)
    await world.fault("drop_before_commit", "PUT /webhook")
    assert (await execute(world, first)).state is State.EXECUTING
    sent = len(await world.sent("PUT /webhook"))

    waiting = await execute(world, second)

    assert waiting.state is State.APPROVED
    assert first.id in waiting.outcome_text
    assert len(await world.sent("PUT /webhook")) == sent


async def test_a_rotation_does_not_put_an_old_address_back(world: World) -> None:
    await done(world, "webhook_register")
    rotate = await world.ask("webhook_rotate", {}, by=CAROL)
    await done(world, "webhook_register", "https://elsewhere.example.com/hook")
    await world.approve(rotate)

    assert (await execute(world, rotate)).state is State.CANCELLED
    async with world.store.read() as tx:
        assert await alert_rows.open_one(tx, "webhook_secret:main") is None


@pytest.mark.parametrize(
    "given",
    [
        "http://a.example.com/x", "https://localhost/x", "https://a.local", "https://a.internal/", "ftp://a.b",
        "https://127.0.0.1/x", "https://[::1]/x", "https://2130706433/", "https://0x7f.1/", "https://127.1/",
        "https://１２７.0.0.1/", "https://u:p@a.example.com/", "https://", "https://a.example.com/" + "x" * 2000,
        "https://localhost./", "https://a.example.com/#x",
    ],
)  # fmt: skip
def test_an_address_the_service_would_refuse_is_reported_on_the_field(given: str) -> None:
    with pytest.raises(ValueError, match=r"\."):
        readers.public_url(given)


def test_an_address_is_kept_as_the_service_writes_it() -> None:
    assert readers.public_url(" https://Cards.Example.COM:443/webhooks/main ") == (
        "https://cards.example.com/webhooks/main"
    )
