"""Events a second that the relay delivers, marked in the database; the floor is a bare client posting the same."""

from __future__ import annotations

import asyncio
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import httpx

from benchmarks import Row, wanted
from bot.domain.events import Destination, headers
from bot.domain.time import SystemClock
from bot.services.events import AT_ONCE, Relay, Sender
from storage.events import relay as rows
from tests.relay.receivers import NAMES, certificate
from tests.support.world import World, a_world

BODY = b'{"type":"card.authorized","data":"' + b"x" * 784 + b'"}'
EVENTS = 2000
ROUNDS = 5  # the first is thrown away
WANTED_TO_BARE, WANTED_TO_HTTPX = 0.5, 5.0
KEYS = (b"k" * 32,)


def measure() -> list[Row]:
    """Ours, a bare aiohttp client and httpx to one target over TLS, taking turns; ratios within a round."""
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_measured(Path(folder)))
    bare, ours, beside, peer = (found[name][1:] for name in ("bare", "ours", "beside", "httpx"))
    to_bare = [one / other for one, other in zip(ours, bare, strict=True)]
    to_peer = [one / other for one, other in zip(ours, peer, strict=True)]
    calm = [one / other for one, other in zip(beside, ours, strict=True)]
    bare_times, peer_times = statistics.median(to_bare), statistics.median(to_peer)
    return [
        Row(f"a bare aiohttp client, {AT_ONCE} at once", f"{statistics.median(bare):.0f}/s"),
        Row("httpx, the same", f"{statistics.median(peer):.0f}/s"),
        Row(
            "the relay: taken, opened, signed, checked address, marked",
            f"{statistics.median(ours):.0f}/s",
            f"{bare_times:.2f} of the bare client {_spread(to_bare)}"
            f" {wanted(bare_times, at_least=WANTED_TO_BARE)};"
            f" {peer_times:.1f} times httpx {wanted(peer_times, at_least=WANTED_TO_HTTPX)}",
        ),
        Row(
            "the same beside a destination that never answers",
            f"{statistics.median(beside):.0f}/s",
            f"{statistics.median(calm):.2f} of alone {_spread(calm)}",
        ),
    ]


def _spread(ratios: list[float]) -> str:
    return f"({min(ratios):.2f} to {max(ratios):.2f})"


@contextmanager
def _target(folder: Path) -> Iterator[int]:
    command = [sys.executable, "-m", "benchmarks.floors.target", str(folder / "tls.pem")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()


async def _measured(folder: Path) -> dict[str, list[float]]:
    _, tls = certificate(folder)
    per_s: dict[str, list[float]] = {"bare": [], "ours": [], "beside": [], "httpx": []}
    with _target(folder) as port:
        async with a_world(folder) as world:
            for number in range(ROUNDS):
                per_s["bare"].append(await _bare(port, tls))
                per_s["ours"].append(await _ours(world, port, tls, f"a{number}", hanging=False))
                per_s["beside"].append(await _ours(world, port, tls, f"b{number}", hanging=True))
                per_s["httpx"].append(await _httpx(port, tls))
    return per_s


async def _at_once(post: Callable[[int], Awaitable[None]], count: int) -> float:
    """`count` posts over AT_ONCE lanes; how many a second."""
    left = iter(range(count))

    async def lane() -> None:
        for number in left:
            await post(number)

    began = time.perf_counter()
    await asyncio.gather(*(lane() for _ in range(AT_ONCE)))
    return count / (time.perf_counter() - began)


async def _bare(port: int, tls: ssl.SSLContext) -> float:
    clock = SystemClock()
    connector = aiohttp.TCPConnector(limit=AT_ONCE, ssl=tls)
    async with aiohttp.ClientSession(connector=connector) as client:

        async def post(number: int) -> None:
            signed = headers(f"evt-{number}", BODY, clock.now(), KEYS)
            url = f"https://127.0.0.1:{port}/in"
            async with client.post(url, data=BODY, headers=signed, server_hostname=NAMES[0]) as answer:
                await answer.read()

        return await _at_once(post, EVENTS)


async def _httpx(port: int, tls: ssl.SSLContext) -> float:
    clock = SystemClock()
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(verify=tls, limits=limits, trust_env=False) as client:

        async def post(number: int) -> None:
            signed = headers(f"evt-{number}", BODY, clock.now(), KEYS)
            named = {"sni_hostname": NAMES[0]}
            await client.post(f"https://127.0.0.1:{port}/in", content=BODY, headers=signed, extensions=named)

        return await _at_once(post, EVENTS // 4)


async def _ours(world: World, port: int, tls: ssl.SSLContext, mark: str, *, hanging: bool) -> float:
    """Owed in the database before the clock starts; done when every row is marked as sent."""
    quick = Destination("quick", f"https://{NAMES[0]}:{port}/in", ("x.y",))
    stuck = Destination("stuck", f"https://{NAMES[1]}:{port}/hang", ("x.y",))
    for destination in (quick, stuck) if hanging else (quick,):
        async with world.store.begin() as tx:
            for number in range(EVENTS):
                event_id = f"evt-{mark}-{number}"
                await rows.put(tx, destination=destination.name, event_id=event_id, body=BODY)

    async def resolve(host: str) -> list[str]:
        return ["127.0.0.1"]

    def sender() -> Sender:
        return Sender(resolve=resolve, denied=lambda _: False, ports=frozenset({port}), tls=tls)

    core = replace(world.core, clock=SystemClock(), destinations=(quick, stuck))
    relay = Relay(core, sender)
    other = asyncio.create_task(_deliver(relay, stuck, sender())) if hanging else None
    await asyncio.sleep(0.1)
    began = time.perf_counter()
    await _deliver(relay, quick, sender())
    per_s = EVENTS / (time.perf_counter() - began)
    if other is not None:
        other.cancel()
        await asyncio.wait({other})
    async with world.store.begin() as tx:
        await rows.drop_destinations(tx, ["quick"])
    return per_s


async def _deliver(relay: Relay, destination: Destination, sender: Sender) -> None:
    try:
        while await relay.deliver(destination, sender):
            pass
    finally:
        await sender.close()
