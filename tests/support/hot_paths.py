"""What is done all the time: each command, Home, each round of polling, a claim, an approval. For plans and times.

Each works on a world with whatever rows there are and leaves them as they are, or nearly: an approval approves a
request that was made for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from bot.domain.requests import OPEN, Request, State
from bot.domain.time import Period
from bot.services import execution
from bot.services.alerts import alert_actions
from bot.services.cards import card_choice, card_lookups
from bot.services.events import inbox as event_inbox
from bot.services.execution import maintenance
from bot.services.messages import reminders, waiting
from bot.services.operators import health
from bot.services.overview import home, status
from bot.services.requests import request_lookups, resolve_card
from storage import audit
from storage.cards import card_counts
from storage.events import inbox
from storage.events.ingest import Arrival, Ingest
from storage.log_record import LogFacts
from storage.messages import outbox
from storage.requests import requests
from storage.transaction import Tx
from tests.support.large_data import Size, fill
from tests.support.world import ALICE, BOB, World

WAITING = 4
_KEPT_FOR = timedelta(days=30)
#: Of the rows of `fill`, which one is looked at.
ONE = "0000500"


@dataclass(frozen=True, slots=True)
class Hot:
    """One thing that is done all the time. `prepared`: what has to be there before, made each time."""

    name: str
    work: Callable[[World, Any], Awaitable[object]]
    prepared: Callable[[World], Awaitable[Any]] | None = None


class _Undone(Exception):
    pass


@asynccontextmanager
async def undone(world: World) -> AsyncIterator[Tx]:
    """A transaction that is rolled back at its end."""
    with suppress(_Undone):
        async with world.store.begin() as tx:
            yield tx
            raise _Undone


async def begin(world: World, size: Size) -> None:
    """Some requests that wait, one that is due, and `size` rows of years before them."""
    for _ in range(WAITING):
        await world.top_up("1", approved=False)
    await world.top_up("1")
    fill(world.store.database.url.render_as_string(hide_password=False), size, world.clock.now())
    async with world.store.begin() as tx:
        for _ in range(size.requests // 5_000 + 1):  # as the cards would have been written some at a time
            await card_counts.put_together(tx)
    await world.store.optimize()
    await _as_if_read(world)


async def _as_if_read(world: World) -> None:
    """The entries of years before are no genuine ones: the process has read all of the log, as after a start."""
    chain = world.store._chain
    async with world.store.read() as tx:
        end = await audit.head(tx)
    assert isinstance(chain.log, LogFacts)
    chain.log = replace(chain.log, seq=end.seq, hash=end.hash)
    chain.own.clear()


async def _home(world: World, _: Any) -> None:
    await home.due(world.core, "")
    await home.of(world.core, await home.shared(world.core), BOB)


def _search(**wanted: Any) -> Callable[[World, Any], Awaitable[object]]:
    async def search(world: World, _: Any) -> object:
        return await request_lookups.search(world.core, **wanted)

    return search


async def _search_month(world: World, _: Any) -> None:
    now = world.clock.now()
    await request_lookups.search(world.core, period=Period(now - timedelta(days=30), now, "UTC"))


async def _read(world: World, read: Callable[[Tx], Awaitable[object]]) -> None:
    async with world.store.read() as tx:
        await read(tx)


async def _card_show(world: World, _: Any) -> None:
    async with world.store.read() as tx:
        entry = await resolve_card(tx, f"c{ONE}")
        await requests.find(tx, subject=entry.id, limit=10)


async def _verify_entries(world: World, _: Any) -> None:
    async with world.store.read() as tx:
        assert [entry async for entry in audit.about(tx, f"request:R-L{ONE}")]


def _offered(text: str) -> Callable[[World, Any], Awaitable[object]]:
    return lambda world, _: card_choice.offered(world.core, ALICE, text)


def _chosen(text: str) -> Callable[[World, Any], Awaitable[object]]:
    return lambda world, _: card_choice.chosen(world.core, text)


async def _messages(world: World, _: Any) -> None:
    async with world.store.read() as tx:
        await outbox.sendable(tx, each=20)
        await outbox.stuck(tx)
        await outbox.waiting(tx)
        await outbox.last_sent_at(tx)


async def _forget_payloads(world: World, _: Any) -> None:
    async with undone(world) as tx:
        await inbox.purge_payloads(tx, before=tx.now - _KEPT_FOR, limit=500)


async def _last_received(world: World, _: Any) -> None:
    async with world.store.read() as tx:
        await inbox.last_received(tx, "main", "webhook")
        await inbox.first_received(tx, "main", "webhook", since=tx.now)


async def _purge_due(world: World, _: Any) -> None:
    async with world.store.read() as tx:
        await requests.purge_due(tx, unresolved_after=timedelta(days=3))
        await requests.expiring(tx)
        await requests.reminding(tx)
        await requests.failed_in_doubt(tx, since=tx.now - timedelta(hours=48))


async def _claim(world: World, _: Any) -> None:
    async with undone(world) as tx:
        (due, *_rest) = await requests.due(tx, limit=1)
        assert await requests.claim(tx, due, owner="p", lease_s=30, may_expire=False)


async def _waits(world: World) -> Request:
    return await world.top_up("1", approved=False)


async def _limits(world: World, _: Any) -> None:
    async with world.store.read() as tx:
        for with_approvers in (False, True):
            await requests.grants(tx, tx.now - timedelta(hours=24), with_approvers=with_approvers)
        await requests.done_at_once(tx, "card_freeze")


async def _put(world: World, _: Any) -> None:
    ingest = await Ingest.open(world.store, world.clock)
    try:
        now = world.clock.now()
        await ingest.put(Arrival(f"evt-{id(ingest)}", "main", "card.transaction", now, "webhook", b"{}"))
    finally:
        await ingest.close()


HOT = (
    Hot("Home, all of it", _home),
    Hot("/requests of an approver", lambda w, _: request_lookups.inbox_of(w.core, BOB)),
    Hot("/requests of a requester", lambda w, _: request_lookups.inbox_of(w.core, ALICE)),
    Hot("/requests all", _search()),
    Hot("/requests all, page 2 by More", _search(page=2, beside=f"after:R-L{ONE}")),
    Hot("/requests all, back from page 3", _search(page=2, beside=f"before:R-L{ONE}")),
    Hot("/requests all, page 20 by number", _search(page=20)),
    Hot("/requests of the last 30 days", _search_month),
    Hot("/requests by a person", _search(requester="U0003")),
    Hot("/requests by a person who has none", _search(requester="U9999")),
    Hot("/requests failed", _search(states=(State.FAILED,))),
    Hot("/requests decided", _search(states=tuple(sorted(frozenset(State) - OPEN)))),
    Hot("/requests of a kind", _search(kinds=("card_freeze",))),
    Hot(
        "/requests of a kind in a state that none has",
        _search(kinds=("card_order",), states=(State.UNRESOLVED,)),
    ),
    Hot("/requests show", lambda w, _: request_lookups.request_view(w.core, f"R-L{ONE}")),
    Hot("/requests verify, the entries of one", _verify_entries),
    Hot("/countersign status", lambda w, _: status.now(w.core)),
    Hot("/card show", _card_show),
    Hot("/card list", lambda w, _: card_lookups.card_list(w.core)),
    Hot(
        "/card list, page 2 by More",
        lambda w, _: card_lookups.card_list(w.core, page=2, beside=f"after:c{ONE}"),
    ),
    Hot("/card list, page 20 by number", lambda w, _: card_lookups.card_list(w.core, page=20)),
    Hot("/card list frozen", lambda w, _: card_lookups.card_list(w.core, status="FROZEN")),
    Hot("choosing a card, nothing typed", _offered("")),
    Hot("choosing a card, a name", _offered("garciabamar")),
    Hot("choosing a card, a name and a first name", _offered("greta garciaba")),
    Hot("choosing a card, one letter", _offered("g")),
    Hot("choosing a card, the last four", _offered("3500")),
    Hot("choosing a card, a reference", _offered("team-000500")),
    Hot("choosing a card, a status", _offered("frozen")),
    Hot("choosing a card, a name misspelt", _offered("garziaba")),
    Hot("choosing a card, nothing fits", _offered("qqqq")),
    Hot("a card named in a command", _chosen("greta garciaba")),
    Hot("a card that nobody has, named in a command", _chosen("nobody")),
    Hot("poll: what is due", lambda w, _: execution.due(w.core)),
    Hot("poll: events that wait", lambda w, _: event_inbox.process_next(w.core)),
    Hot("poll: messages to send", _messages),
    Hot("poll: /readyz of messages", lambda w, _: health.messages_go_out(w.core)),
    Hot("poll: messages that wait", lambda w, _: waiting.watch(w.core)),
    Hot("poll: expire, remind, purge", _purge_due),
    Hot("poll: reminders", lambda w, _: reminders.remind(w.core)),
    Hot("poll: purge", lambda w, _: maintenance.purge(w.core)),
    Hot("poll: alerts", lambda w, _: alert_actions.tend(w.core)),
    Hot("poll: events of long ago forgotten", _forget_payloads),
    Hot("poll: the last delivery", _last_received),
    Hot("what of a limit was used", _limits),
    Hot("a claim", _claim),
    Hot("an approval", lambda w, made: w.approve(made), _waits),
    Hot("an event put into the inbox", _put),
)
