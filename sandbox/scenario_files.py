"""Scenarios in files: steps and expectations in YAML or JSON that anybody can write, played on the simulator.

A step is a control call or a call of the API. What `expect` names must be in its answer; what `keep` names can be
used in later steps in braces. `begin` is one of the simulator's own scenarios, whose cards are kept as `card1` and so
on.
"""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import msgspec

from sandbox.partner import codec
from sandbox.partner.control import dispatch
from sandbox.partner.http import Request, Wire
from sandbox.partner.routes import BASE_PATH
from sandbox.partner.scenarios import SCENARIOS, catalogue
from sandbox.partner.server import answering
from sandbox.partner.state import World

Json = dict[str, Any]
_PATIENCE_SECONDS = 5.0  # a call that hangs is one whose answer is lost
_NAME = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


class WrongScenario(Exception):
    """The file cannot be played, or an expectation did not hold; the text says which step and why."""


class Step(msgspec.Struct, forbid_unknown_fields=True):
    """One step: `control` or `call`, such as `GET state` and `POST /cards`; without a method it is POST.

    `key` is an idempotency key. `expect` and `keep` have places in the answer, such as `data.float.balance_usd`,
    `entries.0.kind`, `status` for the HTTP status and `lost` for an answer that never came.
    """

    control: str | None = None
    call: str | None = None
    body: Json | None = None
    key: str | None = None
    expect: Json = {}
    keep: dict[str, str] = {}


class Scenario(msgspec.Struct, forbid_unknown_fields=True):
    """`about` says in a sentence what it shows."""

    about: str
    steps: list[Step]
    begin: str | None = None


def load(path: Path) -> Scenario:
    """The scenario in a file. Raises WrongScenario."""
    try:
        scenario = msgspec.yaml.decode(path.read_bytes(), type=Scenario)
    except OSError as error:
        raise WrongScenario(f"{path} cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WrongScenario(f"{path}: {error}") from error
    if scenario.begin is not None and scenario.begin not in SCENARIOS:
        raise WrongScenario(f"{path}: begin: {scenario.begin} is not a scenario here")
    for number, step in enumerate(scenario.steps, 1):
        if (step.control is None) is (step.call is None):
            raise WrongScenario(f"{path}: step {number}: give either control or call")
    return scenario


async def play(world: World, key: str, path: Path) -> Json:
    """Empty the simulator, play the file with this API key, and give what was kept. Raises WrongScenario."""
    scenario = load(path)
    catalogue.empty(world, None)
    kept: Json = {}
    if scenario.begin is not None:
        cards = catalogue.play(world, scenario.begin)["cards"]
        kept = {f"card{number}": card for number, card in enumerate(cards, 1)}
    for number, step in enumerate(scenario.steps, 1):
        title = f"{path.name}: step {number}, {step.control or step.call}"
        answer = await _answer(world, key, step, kept, title)
        for place, wanted in step.expect.items():
            found = _at(answer, place)
            if not _same(found, _filled(wanted, kept, title)):
                shown = codec.encode(found).decode()
                raise WrongScenario(
                    f"{title}: {place} is {shown}, and {wanted!r} was expected. The answer: {_short(answer)}"
                )
        kept |= {name: _at(answer, place) for name, place in step.keep.items()}
    return kept


async def _answer(world: World, key: str, step: Step, kept: Json, title: str) -> Json:
    """The answer of a step, with `status` and `lost` beside what it holds."""
    named = _filled(step.control or step.call or "", kept, title)
    method, _, path = named.rpartition(" ")
    body = b"" if step.body is None else codec.encode(_filled(step.body, kept, title))
    if step.control is not None:
        status, raw = await dispatch.handle_and_deliver(world, method or "POST", path, body)
        return {**codec.decode(raw), "status": status, "lost": False}
    headers = [("X-API-Key", key)]
    if step.key is not None:
        headers.append(("Idempotency-Key", _filled(step.key, kept, title)))
    place, _, query = path.partition("?")
    sent = Request(method or "POST", BASE_PATH + place, query, tuple(headers), body)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            answer = await answering.handle(world, sent)
    except TimeoutError:
        return {"status": None, "lost": True}
    if answer.wire is not Wire.ANSWER:
        return {"status": None, "lost": True}
    try:
        return {**codec.decode(answer.body), "status": answer.status, "lost": False}
    except codec.Malformed:
        return {"status": answer.status, "lost": False}


def _filled(value: Any, kept: Json, title: str) -> Any:
    """The value with what was kept in place of names in braces; a name alone gives the value as it was kept."""
    if isinstance(value, dict):
        return {name: _filled(item, kept, title) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, kept, title) for item in value]
    if isinstance(value, float):
        return Decimal(str(value))
    if not isinstance(value, str):
        return value

    def known(found: re.Match[str]) -> Any:
        if found[1] not in kept:
            raise WrongScenario(f"{title}: {found[1]} was not kept by an earlier step")
        return kept[found[1]]

    alone = _NAME.fullmatch(value)
    return known(alone) if alone else _NAME.sub(lambda found: str(known(found)), value)


def _at(answer: Any, place: str) -> Any:
    """What the answer has at a place; None where it has nothing there."""
    found = answer
    for name in place.split("."):
        if isinstance(found, list):
            found = found[int(name)] if name.isdigit() and int(name) < len(found) else None
        else:
            found = found.get(name) if isinstance(found, dict) else None
    return found


def _same(found: Any, wanted: Any) -> bool:
    """Equal, or the same number, whether it is written as a number or as a text."""
    if found == wanted or isinstance(found, bool) or isinstance(wanted, bool):
        return bool(found == wanted)
    try:
        return Decimal(str(found)) == Decimal(str(wanted))
    except InvalidOperation:
        return False


def _short(answer: Json) -> str:
    text = codec.encode(answer).decode()
    return text if len(text) <= 300 else text[:297] + "..."
