"""How soon Slack is answered: every listener over Socket Mode, bot and stand-in in processes of their own."""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks import Row, wanted
from sandbox.slack import Running, Workspace, interactions, serve
from tests.crash.outside import APPROVERS, ASKERS, Outside, outside
from tests.crash.people_at_work import GaveUp, Operators

ROOT = Path(__file__).parents[1]
ROUNDS = 25
BARE_ROUNDS = 200
WANTED_P95_MS = 300
COMMANDS = (
    "/card list",
    "/card show operators-1",
    "/float",
    "/funding list",
    "/funding addresses",
    "/requests",
    "/countersign help",
    "/countersign who card_topup",
    "/countersign policy",
)
Acks = dict[str, list[float]]


def measure() -> list[Row]:
    """Milliseconds from sending an envelope to its ack, by listener; the floor answers without a thought."""
    with tempfile.TemporaryDirectory() as folder:
        acks, ours_ms = asyncio.run(_ours(Path(folder)))
    bare_ms = asyncio.run(_bare())
    rows = [
        Row(name, _figure(times), wanted(_p95(times), at_most=WANTED_P95_MS, unit=" ms"))
        for name, times in sorted(acks.items())
    ]
    times_bare = statistics.median(ours_ms) / statistics.median(bare_ms)
    return [
        *rows,
        Row("all listeners", _figure([ms for times in acks.values() for ms in times])),
        Row("a command, from the act to the ack", _figure(ours_ms)),
        Row(
            "the same, with a bare WebSocket client",
            _figure(bare_ms),
            f"ours takes {times_bare:.1f} times as long {wanted(times_bare, at_most=8)}",
        ),
    ]


def _figure(times: list[float]) -> str:
    return f"p50 {statistics.median(times):.1f} ms, p95 {_p95(times):.1f} ms, {len(times)} times"


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


async def _ours(folder: Path) -> tuple[Acks, list[float]]:
    async with outside(folder) as world:
        await world.bot.start()
        operators, commands = Operators(world, random.Random(1)), list[float]()
        for _ in range(ROUNDS):
            commands += await _a_round(world, operators)
        return _by_listener(world.slack), commands


async def _timed(workspace: Workspace, text: str) -> float:
    """Milliseconds that a command takes until Slack has its ack."""
    before = time.perf_counter()
    outcome = await interactions.command(workspace, ASKERS[0], "C0OPS", text)
    if not outcome["acked"]:
        raise RuntimeError(f"{text} was not acked: {outcome}")
    return (time.perf_counter() - before) * 1000


async def _a_round(world: Outside, operators: Operators) -> list[float]:
    """Each command, a request from form to approval, Home and a direct message; limits are waited out."""
    workspace, asker = world.slack.workspace, ASKERS[0]
    took: list[float] = []
    for text in COMMANDS:
        took.append(await _timed(workspace, text))
        world.leap()
    with suppress(GaveUp):  # a window that is late is no ack that is late
        await operators.ask(asker, "card_topup")
        while not await operators.approve_one(APPROVERS[0]):
            world.leap()
            await asyncio.sleep(0.02)
    await interactions.open_home(workspace, asker, "home")
    await interactions.write(workspace, asker, "D0ALICE", "show my cards", None)
    for _ in range(10):  # what was started goes on before the next round
        world.leap()
        await asyncio.sleep(0.02)
    return took


def _by_listener(slack: Running) -> Acks:
    sent = {envelope["envelope_id"]: envelope for envelope in slack.workspace.delivery.payloads}
    found: Acks = {}
    for record in slack.workspace.delivery.records:
        if record.ack_ms is not None:
            found.setdefault(_listener(sent[record.id]), []).append(record.ack_ms)
    return found


def _listener(envelope: Any) -> str:
    """What the app would call the listener of this envelope."""
    payload = envelope["payload"]
    if envelope["type"] == "slash_commands":
        return f"{payload['command']} {payload['text'].split(' ')[0]}"
    if envelope["type"] == "events_api":
        return f"event {payload['event']['type']}"
    if payload["type"] == "view_submission":
        return f"submission {payload['view']['callback_id']}"
    return f"button {payload['actions'][0]['action_id']}"


async def _bare() -> list[float]:
    """The same stand-in, answered by a client that does nothing but answer."""
    slack = await serve(port=0, manifest_path=ROOT / "manifest.yml")
    command = (sys.executable, "-m", "benchmarks.floors.bare_socket", slack.api_url, slack.app_token)
    client = await asyncio.create_subprocess_exec(*command, cwd=ROOT)
    try:
        while not slack.workspace.delivery.transport.connections:
            await asyncio.sleep(0.02)
        return [await _timed(slack.workspace, COMMANDS[0]) for _ in range(BARE_ROUNDS)]
    finally:
        client.terminate()
        await client.wait()
        await slack.close()
