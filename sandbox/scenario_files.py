"""Plays a scenario that somebody wrote in a file, API calls included, on a simulator that runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from sandbox.partner import codec, http
from sandbox.partner.control import dispatch
from sandbox.partner.routes import BASE_PATH
from sandbox.partner.scenarios import SCENARIOS, catalogue, scenario_file, seeds
from sandbox.partner.server import answering
from sandbox.partner.state import World

Json = dict[str, Any]
WrongScenario = scenario_file.WrongScenario
_PATIENCE_SECONDS = 5.0  # a call that hangs is one whose answer is lost


async def play(world: World, key: str, path: Path) -> Json:
    """Empty the simulator, play the file with this API key, and give what was kept and `left`. Raises WrongScenario."""
    scenario = scenario_file.load(path)
    if scenario.begin not in (None, scenario_file.PEOPLE, *SCENARIOS):
        raise WrongScenario(f"{path}: begin: {scenario.begin} is not a scenario here")
    catalogue.empty(world, None)
    kept: Json = {}
    if scenario.begin == scenario_file.PEOPLE:
        kept = scenario_file.named(seeds.plant(world))
    elif scenario.begin is not None:
        kept = scenario_file.named(catalogue.play(world, scenario.begin)["cards"])
    for number, step in enumerate(scenario.steps, 1):
        title = f"{path.name}: step {number}, {step.name}"
        kept |= scenario_file.check(step, await _answer(world, key, step, kept, title), kept, title)
    left = scenario_file.filled(scenario.left, kept, None)
    return {**kept, "left": left} if left else kept


async def _answer(world: World, key: str, step: scenario_file.Step, kept: Json, title: str) -> Json:
    """The answer of a step, with `status` and `lost` beside what it holds."""
    method, _, path = str(scenario_file.filled(step.name, kept, title)).rpartition(" ")
    body = b"" if step.body is None else codec.encode(scenario_file.filled(step.body, kept, title))
    if step.control is not None:
        status, raw = await dispatch.handle_and_deliver(world, method or "POST", path, body)
        return {**codec.decode(raw), "status": status, "lost": False}
    headers = [("X-API-Key", key)]
    if step.key is not None:
        headers.append(("Idempotency-Key", scenario_file.filled(step.key, kept, title)))
    place, _, query = path.partition("?")
    sent = http.Request(method or "POST", BASE_PATH + place, query, tuple(headers), body)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            answer = await answering.handle(world, sent)
    except TimeoutError:
        return {"status": None, "lost": True}
    if answer.wire is not http.Wire.ANSWER:
        return {"status": None, "lost": True}
    try:
        return {**codec.decode(answer.body), "status": answer.status, "lost": False}
    except codec.Malformed:
        return {"status": answer.status, "lost": False}
