"""A scenario in a file, in YAML or JSON: steps, what is expected of them, and what is left to do.

A step is a control call or a call of the API. What `expect` names must be in its answer; what `keep` names can be
used in later steps in braces.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import msgspec

from sandbox.partner import codec
from sandbox.partner.state import World

Json = dict[str, Any]
PEOPLE = "people"
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

    @property
    def name(self) -> str:
        """The call as the file has it."""
        return self.control or self.call or ""


class Scenario(msgspec.Struct, forbid_unknown_fields=True):
    """`about` says in a sentence what it shows; `begin` is `people`, or the name of another scenario to begin with.

    `left` says what remains to be done, for whoever played it: names in braces that were not kept stay as they are.
    """

    about: str
    steps: list[Step]
    begin: str | None = None
    left: Json = {}


def load(path: Path) -> Scenario:
    """The scenario in a file. Raises WrongScenario."""
    try:
        scenario = msgspec.yaml.decode(path.read_bytes(), type=Scenario)
    except OSError as error:
        raise WrongScenario(f"{path} cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WrongScenario(f"{path}: {error}") from error
    for number, step in enumerate(scenario.steps, 1):
        if (step.control is None) is (step.call is None):
            raise WrongScenario(f"{path}: step {number}: give either control or call")
    return scenario


def set_up(world: World, cards: list[str], path: Path) -> Json:
    """Play a file of control calls on planted cards; what is left to do. Raises WrongScenario."""
    scenario, kept = load(path), named(cards)
    for number, step in enumerate(scenario.steps, 1):
        title = f"{path.name}: step {number}, {step.name}"
        if step.control is None or world.control is None:
            raise WrongScenario(f"{title}: only control calls of a running simulator are played here")
        method, _, place = str(filled(step.control, kept, title)).rpartition(" ")
        body = b"" if step.body is None else codec.encode(filled(step.body, kept, title))
        status, raw = world.control(method or "POST", place, body)
        answer: Json = {**codec.decode(raw), "status": status}
        if status != 200:
            raise WrongScenario(f"{title}: {answer.get('error')}")
        kept |= check(step, answer, kept, title)
    left: Json = filled(scenario.left, kept, None)
    return left


def named(cards: list[str]) -> Json:
    """The cards as steps name them: `card1`, `card2` and so on."""
    return {f"card{number}": card for number, card in enumerate(cards, 1)}


def check(step: Step, answer: Json, kept: Json, title: str) -> Json:
    """What the step keeps of the answer. Raises WrongScenario where it is not as expected."""
    for place, wanted in step.expect.items():
        found = _at(answer, place)
        if not _same(found, filled(wanted, kept, title)):
            shown = codec.encode(found).decode()
            raise WrongScenario(
                f"{title}: {place} is {shown}, and {wanted!r} was expected. The answer: {_short(answer)}"
            )
    return {name: _at(answer, place) for name, place in step.keep.items()}


def filled(value: Any, kept: Json, title: str | None) -> Any:
    """The value with what was kept in place of names in braces; a name alone gives the value as it was kept.

    A name that was not kept raises WrongScenario with `title`; without a title it stays as it is.
    """
    if isinstance(value, dict):
        return {name: filled(item, kept, title) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, kept, title) for item in value]
    if isinstance(value, float):
        return Decimal(str(value))
    if not isinstance(value, str):
        return value

    def known(found: re.Match[str]) -> Any:
        if found[1] not in kept and title is not None:
            raise WrongScenario(f"{title}: {found[1]} was not kept by an earlier step")
        return kept.get(found[1], found[0])

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
