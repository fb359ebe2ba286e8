"""What the outcome tests do over and over: move to the next due time, and hold the truth beside the claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from bot.domain.money import exact_sum
from bot.domain.requests import OPEN, Request, State
from bot.services import execution
from sandbox.partner.calls import journal
from sandbox.partner.cards import cards
from storage.messages import alerts
from tests.support.world import World

TOPUP = "POST /cards/{cardId}/topup"


@dataclass(frozen=True)
class Fault:
    """A fault of the simulator, by the words of its control API."""

    effect: str
    more: dict[str, Any] = field(default_factory=dict)

    async def set(self, world: World, operation: str, **more: Any) -> None:
        await world.fault(self.effect, operation, **self.more, **more)


def status(number: int, code: str) -> Fault:
    """Answered so before anything of the call happens."""
    return Fault("status", {"status": number, "code": code})


def processor(answer: str) -> Fault:
    return Fault("processor", {"processor": answer})


async def execute(world: World, request: Request) -> Request:
    """Let the executor have it now."""
    await execution.execute(world.core, request.id)
    return await world.request(request.id)


async def jump(world: World, request: Request) -> Request:
    """Move to the moment the request is due, let the executor have it, and hold the truth beside the claim."""
    current = await world.request(request.id)
    assert current.due_at is not None, f"{current.state} is never due again"
    pause = (current.due_at - world.clock.now()).total_seconds()
    if pause > 0:
        await world.advance(pause)
    done = await execute(world, request)
    if done.kind == "card_topup":
        await hold_to_the_truth(world, done)
    return done


async def jump_to_the_end(world: World, request: Request, *, within: timedelta) -> Request:
    """Jump until it is settled, or the next step would be later than `within` from now."""
    until = world.clock.now() + within
    current = await world.request(request.id)
    while current.state in OPEN and current.due_at is not None and current.due_at <= until:
        current = await jump(world, current)
    return current


async def hold_to_the_truth(world: World, request: Request) -> None:
    """I-1 and I-7: one key, at most one debit, and a word only where the ledger bears it out."""
    calls = [c for c in top_ups(world) if c["idempotency_key"] == request.key]
    assert len({str(c["body"]) for c in calls}) <= 1
    net_usd = net_of(world, request.key)
    assert net_usd in (Decimal(0), -request.exposure_usd), f"more than one debit: {net_usd}"
    if request.state is State.FAILED:
        assert net_usd == 0, "called failed although money moved"
    if request.state is State.SUCCEEDED:
        assert net_usd == -request.exposure_usd, "called succeeded although nothing moved"
    if request.state is State.UNRESOLVED:
        assert any(a.subject == request.id for a in await open_alerts(world)), "unresolved without an alert"
    if request.state in (State.EXECUTING, State.UNRESOLVED) and request.outcome_unknown:
        assert "do not repeat" in request.outcome_text.lower(), request.outcome_text


async def open_alerts(world: World) -> list[Any]:
    async with world.store.read() as tx:
        return list(await alerts.open_ones(tx))


async def alert_kinds(world: World) -> set[str]:
    return {alert.kind for alert in await open_alerts(world)}


def card_balance(world: World, card: int = 0) -> Decimal:
    found = cards.find(world.simulator.world, world.cards[card]["id"])
    assert found is not None
    return found.balance_usd


def top_ups(world: World) -> list[dict[str, Any]]:
    """Every call of POST topup that reached the simulator, in order."""
    return [
        e
        for e in journal.read(world.simulator.world)
        if e["method"] == "POST" and e["path"].endswith("/topup")
    ]


def keys_sent(world: World) -> list[str]:
    return [c["idempotency_key"] for c in top_ups(world)]


def net_of(world: World, key: str) -> Decimal:
    """What the simulator's ledger took for this key, less what it gave back."""
    rows = world.simulator.world.store.all("SELECT amount_usd, reference FROM ledger")
    wanted = f"topup:{key}"
    return exact_sum(
        Decimal(row["amount_usd"])
        for row in rows
        if row["reference"] == wanted or (row["reference"] or "").startswith(f"{wanted}:")
    )


def due_in(world: World, request: Request) -> float | None:
    """Seconds until it is due; None when never."""
    return None if request.due_at is None else (request.due_at - world.clock.now()).total_seconds()
