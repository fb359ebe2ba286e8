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
    began = world.clock.now()
    if scenario.begin == scenario_file.PEOPLE:
        kept = scenario_file.named(seeds.plant(world))
    elif scenario.begin is not None:
        kept = scenario_file.named(catalogue.play(world, scenario.begin)["cards"])
    times = scenario_file.times(world)
    for number, step in enumerate(scenario.steps, 1):
        title, known = f"{path.name}: step {number}, {step.name}", times | kept
        if step.ago is not None:
            answer = scenario_file.at_once(world, key, step, known, title, began)
        else:
            answer = await _answer(world, key, step, known, title)
        kept |= scenario_file.check(step, answer, known, title)
    left = scenario_file.filled(scenario.left, times | kept, None)
    return {**kept, "left": left} if left else kept


async def _answer(world: World, key: str, step: scenario_file.Step, kept: Json, title: str) -> Json:
    """The answer of a step, with `status` and `lost` beside what it holds."""
    method, place, body, headers = scenario_file.request(step, kept, title, key)
    if step.control is not None:
        status, raw = await dispatch.handle_and_deliver(world, method, place, body)
        return {**codec.decode(raw), "status": status, "lost": False}
    path, _, query = place.partition("?")
    sent = http.Request(method, BASE_PATH + path, query, tuple(headers), body)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            answer = await answering.handle(world, sent)
    except TimeoutError:
        return scenario_file.answer_of(None, b"")
    return scenario_file.answer_of(answer.status if answer.wire is http.Wire.ANSWER else None, answer.body)
