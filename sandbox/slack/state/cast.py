"""Who and what a new workspace starts with, where somebody else than the demo's people is wanted: read from files.

A file is YAML or JSON. People: a list, or a mapping with `people` and `groups`. Channels: a list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sandbox import strict_yaml
from sandbox.slack.json_object import Json
from sandbox.slack.state.people import BOT_USER, Channel, Group, Person, seed_people

_TOP = ("people", "groups")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_CHANNEL_NAME = re.compile(r"[\w-]{1,80}")
_PERSON = {
    "id",
    "name",
    "real_name",
    "email",
    "tz",
    "is_restricted",
    "is_ultra_restricted",
    "is_stranger",
    "deleted",
}
_GROUP = {"id", "handle", "name", "users"}
_CHANNEL = {"id", "name", "members", "is_private", "is_ext_shared", "archived", "app"}


class CastError(Exception):
    """A file of people or channels cannot be used; the text says what is wrong with it."""


@dataclass(frozen=True)
class Cast:
    """The people, groups and channels of a new workspace; an empty list is the demo's."""

    people: list[Person] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)


def load(people: Path | None, channels: Path | None) -> Cast:
    """Read the files that are given. Raises CastError."""
    given = _read(people) if people else []
    listed, grouped = given, list[Any]()
    if isinstance(given, dict):
        unknown = sorted(str(one) for one in given if one not in _TOP)
        if unknown:
            raise CastError(f"{unknown[0]} in {people} is not known; known: {', '.join(_TOP)}")
        listed, grouped = given.get("people") or [], given.get("groups") or []
    found = [_person(one) for one in _entries(listed, "people")]
    ids = _ids_of(found or seed_people(""))
    everybody = [one.id for one in found]
    return Cast(
        people=found,
        groups=[_group(one, ids) for one in _entries(grouped, "groups")],
        channels=[
            _channel(one, ids, everybody) for one in _entries(_read(channels) if channels else [], "channels")
        ],
    )


def _ids_of(everybody: list[Person]) -> dict[str, str]:
    """Ids by name and by id. Raises CastError where two people have one of either."""
    for what in ("id", "name"):
        given: list[str] = [getattr(one, what) for one in everybody]
        twice = [one for one in given if given.count(one) > 1]
        if twice:
            raise CastError(f"two people have the {what} {twice[0]}")
    return {one.name: one.id for one in everybody} | {one.id: one.id for one in everybody}


def _read(path: Path) -> Any:
    try:
        return strict_yaml.read(path.read_text(encoding="utf-8")) or []
    except OSError as error:
        raise CastError(f"cannot read {path}: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise CastError(f"cannot read {path}: {error}") from error


def _entries(value: Any, what: str) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise CastError(f"{what}: a list of mappings is wanted")
    return value


def _known(entry: Json, fields: set[str], needed: str) -> Json:
    unknown = sorted(set(entry) - fields)
    if unknown:
        raise CastError(f"{unknown[0]} is not a field; known: {', '.join(sorted(fields))}")
    if not isinstance(entry.get(needed), str) or not entry[needed]:
        raise CastError(f"{needed} is missing: {entry!r}")
    return dict(entry)


def _person(entry: Json) -> Person:
    given = _known(entry, _PERSON, "name")
    email = given.get("email")
    if email is not None and not (isinstance(email, str) and _EMAIL.fullmatch(email)):
        raise CastError(
            f"{email!r} is not an e-mail address: {given['name']} needs one such as ann@shop.example"
        )
    given.setdefault("id", f"U0{given['name'].upper()}")
    given.setdefault("real_name", given["name"].title())
    return Person(**{**given, **({"team_id": "T0OTHER"} if given.get("is_stranger") else {})})


def _group(entry: Json, ids: dict[str, str]) -> Group:
    given = _known(entry, _GROUP, "handle")
    handle: str = given["handle"]
    name: str = given.get("name", handle)
    return Group(given.get("id") or f"S0{handle.upper()}", handle, name, _ids(given.get("users") or [], ids))


def _channel(entry: Json, ids: dict[str, str], everybody: list[str]) -> Channel:
    """A channel; without members everybody is in it, and the app is unless `app: false`."""
    given = _known(entry, _CHANNEL, "name")
    given["name"] = given["name"].removeprefix("#")
    if not _CHANNEL_NAME.fullmatch(given["name"]) or given["name"] != given["name"].lower():
        raise CastError(
            f"{given['name']!r} cannot be a channel's name: lower case, digits, - and _, up to 80"
        )
    with_app = given.pop("app", True)
    members = _ids(given.pop("members", None) or everybody, ids)
    given.setdefault("id", f"C0{given['name'].upper().replace('-', '')}")
    return Channel(**given, members=[*members, *([BOT_USER] if with_app else [])])


def _ids(names: Any, ids: dict[str, str]) -> list[str]:
    """Ids of people named by id or name. Raises CastError for somebody who is not there."""
    if not isinstance(names, list):
        raise CastError(f"{names!r}: a list of people is wanted, by name or id")
    missing = [str(name) for name in names if name not in ids and name != BOT_USER]
    if missing:
        known = ", ".join(sorted(name for name in set(ids) - set(ids.values()) if name))
        raise CastError(f"{missing[0]} is not a person here; known: {known}")
    return [ids.get(name, BOT_USER) for name in names]
