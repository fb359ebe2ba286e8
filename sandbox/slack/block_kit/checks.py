"""Small checks that are put together into a description of Block Kit, answering in Slack's words.

A check takes a value, its JSON pointer and a list for complaints. The wording follows answers that
people have published; where none was found it is in the same manner.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Complaints = list[str]
Check = Callable[[Any, str, Complaints], None]


def say(complaints: Complaints, text: str, pointer: str) -> None:
    """Add a complaint in Slack's form; `pointer` is a JSON pointer, such as `/blocks/0/text`."""
    complaints.append(f"{text} [json-pointer:{pointer}]")


def string(most: int, least: int = 1) -> Check:
    """A string of `least` to `most` characters."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if not isinstance(value, str):
            say(complaints, "must be a string", at)
        elif len(value) < least:
            say(complaints, f"must be more than {least - 1} characters", at)
        elif len(value) > most:
            say(complaints, f"must be less than {most + 1} characters", at)

    return check


def url(most: int = 3000) -> Check:
    """An absolute web address."""
    length = string(most)

    def check(value: Any, at: str, complaints: Complaints) -> None:
        length(value, at, complaints)
        if isinstance(value, str) and not re.match(r"(https?|slack)://[^\s]+$", value):
            say(complaints, "must be a valid URL", at)

    return check


def matching(pattern: str, what: str) -> Check:
    """A string that matches `pattern` as a whole; `what` names it in the complaint."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            say(complaints, f"must be a valid {what}", at)

    return check


def integer(low: int, high: int) -> Check:
    """A whole number from `low` to `high`, both allowed."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            say(complaints, "must be an integer", at)
        elif not low <= value <= high:
            say(complaints, f"must be between {low} and {high}", at)

    return check


def number(value: Any, at: str, complaints: Complaints) -> None:
    """A number, whole or not. A `Check`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        say(complaints, "must be a number", at)


def flag(value: Any, at: str, complaints: Complaints) -> None:
    """True or false. A `Check`."""
    if not isinstance(value, bool):
        say(complaints, "must be a boolean", at)


def one_of(*allowed: str) -> Check:
    """One of these values."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if value not in allowed:
            say(complaints, f"must be one of {', '.join(allowed)}", at)

    return check


def items(each: Check, most: int, least: int = 1) -> Check:
    """A list of `least` to `most` items, each checked by `each`."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if not isinstance(value, list):
            say(complaints, "must be an array", at)
            return
        if len(value) < least:
            say(complaints, f"no fewer than {least} items allowed", at)
        if len(value) > most:
            say(complaints, f"no more than {most} items allowed", at)
        for index, item in enumerate(value):
            each(item, f"{at}/{index}", complaints)

    return check


def record(required: dict[str, Check] | None = None, optional: dict[str, Check] | None = None) -> Check:
    """An object with these keys and no others."""
    needed, allowed = required or {}, optional or {}

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if not isinstance(value, dict):
            say(complaints, "must provide an object", at)
            return
        for key in needed:
            if key not in value:
                say(complaints, f"missing required field: {key}", at)
        for key, item in value.items():
            part = needed.get(key) or allowed.get(key)
            if part is None:
                say(complaints, f"invalid additional property: {key}", at)
            else:
                part(item, f"{at}/{key}", complaints)

    return check


def anything(value: Any, at: str, complaints: Complaints) -> None:
    """No check: Slack does check this, the stand-in does not."""


def by_type(kinds: dict[str, Check]) -> Check:
    """An object whose `type` says which description holds."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        if not isinstance(value, dict):
            say(complaints, "must provide an object", at)
            return
        kind = value.get("type")
        if kind is None:
            say(complaints, "missing required field: type", at)
        elif not isinstance(kind, str) or kind not in kinds:
            say(complaints, f"unsupported type: {kind}", f"{at}/type")
        else:
            kinds[kind](value, at, complaints)

    return check


def also(*checks: Check) -> Check:
    """All of these."""

    def check(value: Any, at: str, complaints: Complaints) -> None:
        for one in checks:
            one(value, at, complaints)

    return check
