"""A simulator made, with its standing key, and served over HTTP: `serve` starts one in one call."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
from collections.abc import Collection

from aiohttp import web

from sandbox.listening import checked_names, listen, own_host
from sandbox.partner.accounts import accounts, api_keys
from sandbox.partner.background import delivery_queue, due_timers
from sandbox.partner.calls import journal
from sandbox.partner.control import dispatch
from sandbox.partner.routes import BASE_PATH
from sandbox.partner.scenarios import catalogue
from sandbox.partner.server import answering, http_app
from sandbox.partner.state import KEY_PREFIX, Store, World

DEFAULT_SEED = "countersign"
_TICK_SECONDS = 0.25  # how late a timer may run on a real clock


def build_world(state_path: str = ":memory:", seed: str | None = None) -> World:
    """A simulator without a server; state found at `state_path` goes on where it was."""
    store = Store(state_path)
    chosen = store.note("seed") or seed or DEFAULT_SEED
    world = World.of(store, chosen)
    world.control = functools.partial(dispatch.handle, world)
    world.api = functools.partial(answering.answer_at_once, world)
    if not store.number("SELECT count(*) FROM accounts"):
        with store.transaction():
            store.keep("first_seed", chosen)
            accounts.open_account(world, "Northwind Cards", "ops@northwind.example")
            catalogue.empty(world, chosen)
    return world


def standing_key(world: World, wanted: str | None = None) -> str:
    """The first account's standing key: the one asked for, or the one that follows from the first seed."""
    digits = hashlib.sha256(f"standing:{world.store.note('first_seed')}".encode()).hexdigest()
    key = wanted or KEY_PREFIX + digits[:32]
    key = api_keys.issue_key(world, accounts.first_account(world), key=key, name="Standing key")
    world.standing_key = key
    if not journal.last(world):
        catalogue.note_beginning(world)
    return key


class Running:
    """A served simulator. `base_url` ends in the version segment, `control_url` in `/_control`.

    Both are on loopback; `own_base_url` is for whoever it is opened to, and `own_url` what that begins with.
    """

    def __init__(self, world: World, runner: web.AppRunner, address: str, key: str) -> None:
        self.world = world
        self.url = address
        self.base_url = address + BASE_PATH
        self.control_url = address + "/_control"
        self.own_url = world.origin
        self.own_base_url = world.origin + BASE_PATH
        self.key = key
        self._runner = runner
        self._working = [asyncio.create_task(_tick(world)), asyncio.create_task(_deliver(world))]

    async def close(self) -> None:
        """Stop serving and close the state."""
        for task in self._working:
            task.cancel()
        for task in self._working:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await delivery_queue.stop(self.world)
        await self._runner.cleanup()
        self.world.store.close()


async def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8401,
    state_path: str = ":memory:",
    seed: str | None = None,
    default_key: str | None = None,
    demo: bool = False,
    open_to: str = "",
    names: Collection[str] = (),
) -> Running:
    """Start a simulator; `port` 0 takes a free one.

    `demo` plays the happy-day scenario on new state. `default_key` (a `svc_live_00000000…`) is
    accepted beside those issued before; without it the key follows from the seed. `open_to` is an
    address at which other machines reach it too, its control calls included; `0.0.0.0` is every
    address of this one. `names` are host names by which it may be called. Raises OSError when the
    port is taken, AddressError for a name that is not a host name.
    """
    names = checked_names(names)
    world = build_world(state_path, seed)
    world.names = names
    try:
        key = standing_key(world, default_key)
    except ValueError:
        world.store.close()
        raise
    if demo:
        _plant_once(world)
    runner = web.AppRunner(
        http_app.application(world, is_open=bool(open_to)), access_log=None, shutdown_timeout=1
    )
    try:
        port = await listen(runner, host, port, open_to)
    except OSError:
        world.store.close()
        raise
    world.origin = f"http://{own_host(host, open_to, names)}:{port}"
    return Running(world, runner, f"http://{own_host(host, '')}:{port}", key)


def _plant_once(world: World) -> None:
    """The happy day, unless somebody has used this state: an emptied one stays empty over a restart."""
    if world.store.note("planted") or world.store.number("SELECT count(*) FROM ledger"):
        return
    catalogue.empty(world, None)
    catalogue.play(world, "happy-day")
    world.store.keep("planted", "yes")


async def _tick(world: World) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        if not world.catching_up:  # a clock call runs them in turn with the deliveries between them
            await due_timers.run_due_in_turns(world)


async def _deliver(world: World) -> None:
    """Attempt deliveries as they fall due, at once when something was queued."""
    while True:
        # No wait_for: where the event is set as the simulator ends, it forgets that it was cancelled.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TICK_SECONDS):
                await world.stirred.wait()
        world.stirred.clear()
        await delivery_queue.start_due(world)
