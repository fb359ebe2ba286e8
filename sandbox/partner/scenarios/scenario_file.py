"""A scenario in a file, in YAML or JSON: steps, what is expected of them, and what is left to do.

A step is a control call or a call of the API, made now or some time `ago`. What `expect` names must be in its answer;
what `keep` names can be used in later steps in braces. `{now}` and `{next_month}` are times, also with a distance:
`{now-72h}`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import msgspec
import yaml

from sandbox import strict_yaml
from sandbox.partner import codec
from sandbox.partner.accounts import accounts, api_keys
from sandbox.partner.ledger import monthly_fees
from sandbox.partner.state import KEY_PREFIX, World

Json = dict[str, Any]
PEOPLE = "people"
_NAME = re.compile(r"\{([a-z_][a-z0-9_]*)([+-][0-9]{1,6}[smhd])?\}")
_SPAN = re.compile(r"[0-9]{1,6}[smhd]")
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_OWN_KEY = KEY_PREFIX + "scenario"  # there only while a file is played that comes without a key
_OWN_LIMIT = 10**6
_NOTHING = object()  # what an answer has at a place that is not in it; null is something


class WrongScenario(Exception):
    """The file cannot be played, or an expectation did not hold; the text says which step and why."""


class Step(msgspec.Struct, forbid_unknown_fields=True):
    """One step: `control` or `call`, such as `GET state` and `POST /cards`; without a method it is POST.

    `key` is an idempotency key. `ago`, such as `52h` (s, m, h, d), has the step happen that long before the file
    began to be played. `expect` and `keep` have places in the answer, such as `data.float.balance_usd`,
    `entries.0.kind`, `status` for the HTTP status and `lost` for an answer that never came. A step that expects
    neither of these two has to succeed.
    """

    control: str | None = None
    call: str | None = None
    body: Json | None = None
    key: str | None = None
    ago: str | None = None
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
        scenario = msgspec.convert(strict_yaml.read(path.read_text(encoding="utf-8")), Scenario)
    except OSError as error:
        raise WrongScenario(f"{path} cannot be read: {error.strerror}") from error
    except (msgspec.ValidationError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise WrongScenario(f"{path}: {error}") from error
    for number, step in enumerate(scenario.steps, 1):
        if (step.control is None) is (step.call is None):
            raise WrongScenario(f"{path}: step {number}: give either control or call")
        if step.ago is not None and not _SPAN.fullmatch(step.ago):
            raise WrongScenario(f"{path}: step {number}: ago is a number with s, m, h or d, such as 52h")
        if step.ago is not None and step.control == "clock":
            raise WrongScenario(f"{path}: step {number}: the clock cannot be changed in the past")
    return scenario


def set_up(world: World, cards: list[str], scenario: Scenario, name: str) -> Json:
    """Play a scenario on planted cards, at once; what is left to do. `name` is the file's. Raises WrongScenario."""
    kept, began = named(cards) | times(world), world.clock.now()
    with _own_key(world):
        for number, step in enumerate(scenario.steps, 1):
            title = f"{name}: step {number}, {step.name}"
            kept |= check(step, at_once(world, _OWN_KEY, step, kept, title, began), kept, title)
    left: Json = filled(scenario.left, kept, None)
    return left


@contextlib.contextmanager
def _own_key(world: World) -> Iterator[None]:
    """An API key of the first account for the calls of a file; nothing of it stays."""
    api_keys.issue_key(world, accounts.first_account(world), key=_OWN_KEY, rate_limit_per_minute=_OWN_LIMIT)
    try:
        yield
    finally:
        api_keys.forget(world, _OWN_KEY)


def at_once(world: World, key: str, step: Step, kept: Json, title: str, began: datetime) -> Json:
    """The answer of a step, with `status` and `lost` beside what it holds. Raises WrongScenario if it has to wait."""
    if world.control is None or world.api is None:
        raise WrongScenario(f"{title}: steps are played in a running simulator only")
    method, place, body, headers = request(step, kept, title, key)
    moment = began - span(step.ago) if step.ago else None
    with world.clock.at(moment) if moment else contextlib.nullcontext():
        if step.control is not None:
            status, raw = world.control(method, place, body)
            return {**codec.decode(raw), "status": status, "lost": False}
        try:
            answered, raw = world.api(method, place, headers, body)
        except RuntimeError as error:
            raise WrongScenario(f"{title}: {error}; steps that happened some time ago cannot") from error
    return answer_of(answered, raw)


def request(step: Step, kept: Json, title: str, key: str) -> tuple[str, str, bytes, list[tuple[str, str]]]:
    """Method, place, body and headers of a step. Raises WrongScenario for a name that was not kept."""
    method, _, place = str(filled(step.name, kept, title)).rpartition(" ")
    body = b"" if step.body is None else codec.encode(filled(step.body, kept, title))
    headers = [("X-API-Key", key)]
    if step.key is not None:
        headers.append(("Idempotency-Key", filled(step.key, kept, title)))
    return method or "POST", place, body, headers


def answer_of(status: int | None, raw: bytes) -> Json:
    """The answer of an API call as expectations see it; no status is an answer that was lost."""
    if status is None:
        return {"status": None, "lost": True}
    try:
        return {**codec.decode(raw), "status": status, "lost": False}
    except codec.Malformed:
        return {"status": status, "lost": False}


def times(world: World) -> Json:
    """What steps name `now` and `next_month`, as they are when the file begins."""
    now = world.clock.now()
    return {"now": now, "next_month": monthly_fees.next_month(now)}


def span(text: str) -> timedelta:
    """How long `52h` is."""
    return int(text[:-1]) * _UNITS[text[-1]]


def named(cards: list[str]) -> Json:
    """The cards as steps name them: `card1`, `card2` and so on."""
    return {f"card{number}": card for number, card in enumerate(cards, 1)}


def check(step: Step, answer: Json, kept: Json, title: str) -> Json:
    """What the step keeps of the answer. Raises WrongScenario where it is not as expected."""
    if not {"status", "lost"} & step.expect.keys() and (answer["lost"] or answer["status"] >= 300):
        raise WrongScenario(
            f"{title}: this was refused, and nothing else was expected. The answer: {_short(answer)}"
        )
    for place, wanted in step.expect.items():
        found = _at(answer, place)
        if found is _NOTHING:
            raise WrongScenario(f"{title}: there is no {place}. The answer: {_short(answer)}")
        if not _same(found, filled(wanted, kept, title)):
            shown = codec.encode(found).decode()
            raise WrongScenario(
                f"{title}: {place} is {shown}, and {wanted!r} was expected. The answer: {_short(answer)}"
            )
    newly = {name: _at(answer, place) for name, place in step.keep.items()}
    for name, found in newly.items():
        if found is _NOTHING:
            raise WrongScenario(
                f"{title}: there is no {step.keep[name]} to keep as {name}. The answer: {_short(answer)}"
            )
    return newly


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
        if found[1] not in kept:
            if title is not None:
                raise WrongScenario(f"{title}: {found[1]} was not kept by an earlier step")
            return found[0]
        value = kept[found[1]]
        if isinstance(value, datetime):
            shift = span(found[2][1:]) if found[2] else timedelta(0)
            return codec.stamp(value - shift if (found[2] or "").startswith("-") else value + shift)
        if found[2]:
            raise WrongScenario(f"{title}: {found[1]} is not a time, so {found[2]} cannot be added to it")
        return value

    alone = _NAME.fullmatch(value)
    return known(alone) if alone else _NAME.sub(lambda found: str(known(found)), value)


def _at(answer: Any, place: str) -> Any:
    """What the answer has at a place; `_NOTHING` where it has nothing there."""
    found = answer
    for name in place.split("."):
        if isinstance(found, list):
            found = found[int(name)] if name.isdecimal() and int(name) < len(found) else _NOTHING
        else:
            found = found.get(name, _NOTHING) if isinstance(found, dict) else _NOTHING
    return found


def _same(found: Any, wanted: Any) -> bool:
    """Equal, or the same number, whether it is written as a number or as a text; true is no number."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(_same(found[name], wanted[name]) for name in found)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if found == wanted:
        return True
    try:
        return Decimal(str(found)) == Decimal(str(wanted))
    except InvalidOperation:
        return False


def _short(answer: Json) -> str:
    text = codec.encode(answer).decode()
    return text if len(text) <= 300 else text[:297] + "..."
