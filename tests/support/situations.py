"""Situations that many tests begin with: sending paused, a key that may do less, a call on its way, an urgent request.

And what people read in them: the messages that wait to be sent, as text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.domain.requests import Request
from bot.partner.calls import cards as card_calls
from bot.partner.certainty import Certainty
from bot.partner.errors import Unauthorized
from bot.services import message_kinds
from bot.services.message_kinds import MessageKind
from bot.services.messages import view_model_loader
from bot.services.operators import confirmation_answers, pausing, programs
from bot.services.requests import request_lookups
from handlers.slack_api.publish import draw
from handlers.views import replies
from handlers.views.requests import request_card
from sandbox.partner.calls import journal
from storage.messages import outbox
from storage.requests import confirmations
from tests.services.outcome_steps import execute, status
from tests.support.view_text import view_text
from tests.support.world import ALICE, BOB, CAROL, World

FREEZE, READ = "POST /cards/{cardId}/freeze", "GET /cards/{cardId}"
REFUSING = status(502, "UNAVAILABLE")
ALWAYS = 10_000


def at(world: World, crash_point: str, act: Callable[[], None]) -> None:
    """Do this each time an execution comes to this point."""

    def reached(point: str) -> None:
        if point == crash_point:
            act()

    world.rebuild(crash_point=reached)


async def pause(world: World) -> None:
    """Bob pauses sending to the program."""
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")


async def resume(world: World) -> None:
    """Bob and Carol let sending go on."""
    await pausing.resume(world.core, BOB, ["main"])
    await confirm(world, "resume", by=CAROL)


async def confirm(world: World, kind: str, *, by: str) -> None:
    """The second person gives the confirmation of this kind that is open for the program."""
    async with world.store.read() as tx:
        waiting = await confirmations.open_one(tx, kind, "main")
    assert waiting is not None
    await confirmation_answers.give(world.core, waiting.id, by)


async def refuse_the_key(world: World) -> None:
    """The API does not take the key any more."""
    error = Unauthorized("no such key", operation=card_calls.TOP_UP, certainty=Certainty.DEFINITE)
    await programs.pause(world.core, "main", error)


def scopes(world: World, *given: str) -> None:
    """The key has these and no others from now on."""
    world.simulator.world.store.run("UPDATE api_keys SET scopes = ?", " ".join(given))


async def no_faults(world: World) -> None:
    """The API answers as it should again."""
    (await world.control.delete("/_control/faults")).raise_for_status()


async def a_freeze(world: World, *, now: bool = True, reason: str = "Lost phone", card: int = 0) -> Request:
    """Asked by Alice; approved by Bob where it does not run now."""
    request = await world.ask("card_freeze", {"card": world.cards[card]["id"]}, now=now, reason=reason)
    return request if now else (await world.approve(request))[0]


async def on_its_way(world: World, kind: str, texts: dict[str, str], *, by: str = ALICE) -> Request:
    """Approved, and its call left: nobody knows whether it arrived, and the simulator has not had it yet."""
    request = await world.ask(kind, texts, by=by)
    await world.approve(request)
    with world.dies_at("execution.claimed"):
        await execute(world, request)
    await world.advance(1)
    return await world.request(request.id)


async def card_status(world: World, card: int = 0) -> Any:
    """As the API has it."""
    found = next(c for c in (await world.state())["cards"] if c["id"] == world.cards[card]["id"])
    return found["status"]


def changes(world: World) -> int:
    """How many calls reached the simulator that change something."""
    calls = journal.read(world.simulator.world)
    return len([c for c in calls if c["method"] != "GET" and not c["path"].endswith("/balances")])


async def to_send(world: World, *, kind: MessageKind | None = None) -> list[str]:
    """Every message that waits to be sent, as people will read it."""
    async with world.store.read() as tx:
        rows = await outbox.next_due(tx, limit=1000)
    found = []
    for row in rows:
        of = message_kinds.kind_of(row.kind, row.subject, row.body)
        view = await view_model_loader.row(world.core, row)
        if view is not None and kind in (None, of):
            found.append(view_text(draw(view)))
    return found


async def card_of(world: World, request: Request) -> str:
    """The request's card in the approvals channel, as text."""
    return view_text(request_card.card(await request_lookups.request_view(world.core, request.id)))


async def everything_said(world: World, request: Request) -> list[str]:
    """The messages that wait to be sent, and what the other views show of it."""
    view = await request_lookups.request_view(world.core, request.id)
    return [
        *await to_send(world),
        view_text({"type": "modal", "blocks": request_card.details(view)}),
        view_text(replies.submitted(request, "C0APPROVALS")),
        request_card.row(request),
        view_text(request_card.card(view)),
    ]
