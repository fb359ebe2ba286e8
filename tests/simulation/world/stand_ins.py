"""What stands in for parts of the bot and of the sandboxes that read the machine's clock, threads or files.

`take_over` puts them in place, once for all seeds, in a process that does nothing else afterwards; `follow` says which
world they serve.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from httpx import _urlparse, _urls
from slack_sdk.webhook import WebhookResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot import app, slack_names
from bot.engine.embedded import Embedded
from bot.services.core import Core
from bot.services.events import inbox, relay
from bot.services.messages import delivery
from bot.services.processes import Locks, ghost_leases
from bot.slack_names import SlackNames
from bot.startup import Start
from handlers import home
from sandbox.partner.background import deliveries
from sandbox.partner.calls import journal
from sandbox.slack.workspace import Workspace
from storage import store as stores
from storage.database import set_pragmas
from storage.events import ingest
from storage.operators import leases
from storage.store import Store
from storage.transaction import LONGEST_LEASE, Tx
from tests.simulation.loop import OWNER
from tests.simulation.world.names import START, Json

if TYPE_CHECKING:
    from tests.simulation.world.world import World

# Longer than in production, so that the clock may leap within it.
LOCKED_FOR = timedelta(seconds=120)

_current: World | None = None


def follow(world: World) -> None:
    """From now on everything here is about this world."""
    global _current  # noqa: PLW0603 - the SDK makes its client for response URLs itself, from the URL alone
    _current = world
    home.ROUND_S = world.home_round_s


class _Errors(logging.Handler):
    """What the bot logs as an error goes into the world's notes; what dead processes log is not theirs any more."""

    def emit(self, record: logging.LogRecord) -> None:
        owner = OWNER.get()
        if _current is None or owner is None or not owner.alive or record.exc_info is None:
            return
        error = record.exc_info[1]
        if error is not None:
            _current.note_error(record.getMessage(), error)


async def _perform(self: AsyncWebhookClient, *, body: Json, headers: Json) -> WebhookResponse:
    assert _current is not None
    return await _current.slack_side.respond(self.url, {k: v for k, v in body.items() if v is not None})


class _SimulatedTime:
    """`time` for the sandbox's deliveries: in the simulation their work takes no time."""

    @staticmethod
    def monotonic() -> float:
        return _current.loop.time() if _current is not None else 0.0


class _NoLock:
    """In place of the lock on the database file: here the seed says how many processes there are."""

    def __init__(self, path: Path) -> None: ...

    def note(self, *_inodes: int, changed_ns: int, is_news: bool = True) -> None: ...

    def release(self) -> None: ...


class _InPlace:
    """In place of the connection that keeps the database file open: nobody moves the file of a running process."""

    inodes = (0, 0)
    changed_ns = 0

    def __init__(self, path: Path) -> None: ...

    def misplaced(self) -> None: ...

    def require(self) -> None: ...

    def close(self) -> None: ...


_alone = app._locks


async def _locks(begun: Start, store: Store, owner: str, programs: Collection[str]) -> Any:
    """Several share the work, as on a database that several may use."""
    if _current is None or _current.replicas == 1:
        return await _alone(begun, store, owner, programs)
    locks = Locks(store, owner, begun.overrides.clock, lease=LOCKED_FOR)
    return await app._begin_locks(begun, store, locks, programs)


_honest_take = leases.take


async def _take(
    tx: Tx, names: Collection[str], owner: str, *, lasts: timedelta, ghosts: leases.Ghosts = leases.NO_GHOSTS
) -> frozenset[str]:
    """Whoever works alone believes that it has a lock for longer than any lease; nobody is there to take it."""
    return await _honest_take(tx, names, owner, lasts=min(lasts, LONGEST_LEASE), ghosts=ghosts)


async def _alive(tx: Tx, core: Core) -> frozenset[str]:
    """Several processes are on SQLite here, where none says that it works."""
    others = (
        () if _current is None else (one.core.owner for one in _current.processes if one.running is not None)
    )
    return frozenset({core.owner, *others})


def _machine_now(tx: Tx) -> datetime:
    """Several processes are on a database that runs leases on its own clock, which is right."""
    if _current is None or _current.replicas == 1:
        return tx.now
    return START + timedelta(seconds=_current.loop.time())


_between_looks = SlackNames._pause_s
# Most worlds ask Slack so seldom whether all is well, until the trouble ends.
_LOOKS_EVERY_S = 900.0


def _pause_s(names: SlackNames) -> float:
    pause_s = _between_looks(names)
    all_is_well = pause_s == slack_names._LOOK_EVERY_S
    return _LOOKS_EVERY_S if all_is_well and _current is not None and _current.is_late("names") else pause_s


def _not_logged(*_given: object) -> None:
    """In place of what the sandboxes keep of calls, which nobody reads here; the story has them."""


async def _is_current(url: str) -> None: ...


def take_over() -> None:
    """Once in a process, before its first world: parts of the bot and the sandboxes are replaced, logs go to the world,
    and coroutines of killed processes are thrown away in silence."""
    logging.basicConfig(level=logging.ERROR, handlers=[_Errors()], force=True)
    # By its own level the SDK decides whether to make a line of each call.
    logging.getLogger("slack_sdk.web.async_base_client").setLevel(logging.ERROR)
    sys.unraisablehook = lambda _unraisable: None
    warnings.simplefilter("ignore")
    AsyncWebhookClient._perform_http_request = _perform  # type: ignore[method-assign]
    app._locks = _locks
    leases.take = _take
    ghost_leases._alive = _alive
    stores.FileLock = _NoLock  # type: ignore[assignment, attr-defined]
    stores.OpenFile = _InPlace  # type: ignore[assignment, attr-defined]
    stores.require_current = _is_current  # type: ignore[attr-defined] # a copy of one that was just migrated
    Tx.machine_now = property(_machine_now)  # type: ignore[assignment, method-assign]
    # Nobody else could go on while it waits.
    ingest.set_pragmas = partial(set_pragmas, busy_ms=0)  # type: ignore[attr-defined]
    # Bells wake these; each idle round costs the simulation readings.
    delivery.IDLE_S = 5.0
    inbox.IDLE_S = 10.0
    Embedded.__init__.__kwdefaults__["sweep_every_s"] = 5.0  # type: ignore[index]
    relay.IDLE_S = 10.0
    SlackNames._pause_s = _pause_s  # type: ignore[assignment, method-assign]
    journal._masked_text = _not_logged  # type: ignore[assignment]
    # The same addresses again and again; reading one is most of what a request costs httpx.
    _urls.urlparse = lru_cache(maxsize=5000)(_urlparse.urlparse)  # type: ignore[attr-defined]
    Workspace.log_call = _not_logged  # type: ignore[assignment, method-assign]
    deliveries.time = _SimulatedTime  # type: ignore[attr-defined, assignment]
