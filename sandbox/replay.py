"""Plays an HTTP archive against a simulator and says where it answers otherwise than it was answered then.

An archive of `GET /_control/journal.har` says what it began with, and has the tester's calls, so the whole is played
again: seed, scenario, clock, money. One that a browser or a proxy recorded elsewhere has neither; ids and times of it
are then taken for those that the simulator gives in their place.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sandbox.partner import codec, http
from sandbox.partner.accounts import accounts, api_keys
from sandbox.partner.background import deliveries, due_timers
from sandbox.partner.calls import journal
from sandbox.partner.control import dispatch
from sandbox.partner.routes import BASE_PATH
from sandbox.partner.scenarios import SCENARIOS, catalogue
from sandbox.partner.server import answering, build_world, standing_key
from sandbox.partner.state import World

Json = dict[str, Any]
_PATIENCE_SECONDS = 5.0  # a call that hangs is one whose answer is lost
_NEAR_SECONDS = 2.0  # the journal notes the end of a call, and what it made has the time within it
_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9A-Za-z]{32}|(0x)?[0-9a-f]{64}"
)
_VERSION = re.compile(r".*?(/api/partner/v1/.*)")


class NotReplayable(Exception):
    """The file is no archive that can be played; the text says why."""


@dataclass(frozen=True)
class Difference:
    """Where an answer differs: the number of the call in the archive, from 1, the call, the place, and both values."""

    number: int
    call: str
    place: str
    recorded: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.number}. {self.call}: {self.place}: recorded {_short(self.recorded)}, now {_short(self.now)}"


@dataclass
class Replayed:
    """How many calls were compared, and every difference."""

    compared: int = 0
    differences: list[Difference] = field(default_factory=list)


@dataclass
class _Play:
    world: World
    keys: dict[int | None, str]  # by the number that the archive has for it
    is_ours: bool
    ids: dict[str, str] = field(default_factory=dict)
    done: Replayed = field(default_factory=Replayed)


async def replay(path: Path) -> Replayed:
    """Play the archive against a new simulator in memory. Raises NotReplayable."""
    entries, begun = _read(path)
    ours = begun is not None
    world = build_world(":memory:", (begun or {}).get("seed"))
    try:
        play = _Play(world, {}, ours)
        scenario = (begun or {}).get("scenario")
        if scenario is not None and scenario not in SCENARIOS:
            raise NotReplayable(f"{path}: {scenario} is not a scenario here")
        if entries:
            world.clock.change("frozen", _begun_at(entries, begun or {}), None)
        catalogue.empty(world, (begun or {}).get("seed"))
        if scenario:
            catalogue.play(world, scenario)
        _give_keys(play, begun or {})
        _deliver(play, (begun or {}).get("deliveries", ()))
        for number, entry in enumerate(entries, 1):
            await _one(play, number, entry)
        return play.done
    finally:
        world.store.close()


def _begun_at(entries: list[Json], begun: Json) -> datetime:
    """When the world began: what a scenario plants is dated from then."""
    return _time(begun.get("begun_at") or entries[0]["startedDateTime"])


def _give_keys(play: _Play, begun: Json) -> None:
    """The accounts and the API keys that the archive began with."""
    if not play.is_ours:
        play.keys[None] = standing_key(play.world)
    for number, one in enumerate(begun.get("accounts", ())):
        first = accounts.first_account(play.world)
        play.ids[one["id"]] = accounts.open_account(play.world, one["name"], None) if number else first
    for one in begun.get("keys", ()):
        limit, scopes = one["rate_limit_per_minute"], tuple(one["scopes"])
        account = play.ids[one["account"]]
        key = api_keys.issue_key(
            play.world, account, name=one["name"], scopes=scopes, rate_limit_per_minute=limit
        )
        play.keys[one["number"]] = key
        found = api_keys.find_key(play.world, key)
        if one["revoked"] and found is not None:
            api_keys.revoke(play.world, found)


def _deliver(play: _Play, recorded: Iterable[Json]) -> None:
    """Deliveries end as they did, whatever the endpoint would say today; timers keep their place between them."""
    for one in recorded:
        at = _time(one["at"])
        due_timers.run_due(play.world, codec.stamp(at))
        event_id = str(play.ids.get(one["event_id"], one["event_id"]))
        deliveries.repeat(play.world, event_id, at, one["status"], one["problem"])


def _read(path: Path) -> tuple[list[Json], Json | None]:
    try:
        log = codec.decode(path.read_bytes())["log"]
        entries: list[Json] = log["entries"]
        for entry in entries:
            _time(entry["startedDateTime"])
            entry["request"]["url"], entry["request"]["method"], entry["response"]["status"]
        begun: Json | None = log.get("_sandbox")
        if begun is not None:
            _time(begun.get("begun_at") or "2026-01-01")
    except OSError as error:
        raise NotReplayable(f"{path} cannot be read: {error.strerror}") from error
    except (codec.Malformed, KeyError, TypeError, ValueError) as error:
        raise NotReplayable(f"{path} is not an HTTP archive (HAR): {error}") from error
    return entries, begun


async def _one(play: _Play, number: int, entry: Json) -> None:
    at = _time(entry["startedDateTime"])
    if play.is_ours:
        play.world.clock.change("frozen", at, None)
    request, recorded = entry["request"], entry["response"]
    parts = urlsplit(_translated(play, request["url"]))
    path = unquote(parts.path)
    body = _translated(play, request.get("postData", {}).get("text", "")).encode()
    if entry.get("_control"):
        await _control(play, request["method"], path.removeprefix("/_control/"), body, entry.get("_key"))
        _deliver(play, entry.get("_deliveries", ()))
        return
    found = _VERSION.fullmatch(path)
    path = found[1] if found else path
    if not path.startswith(BASE_PATH):
        return  # an archive of a browser holds other traffic, too
    status, value, lost = await _asked(play, entry, request, path, parts.query, body)
    _deliver(play, entry.get("_deliveries", ()))
    call = f"{request['method']} {path.removeprefix(BASE_PATH)}"
    play.done.compared += 1
    was = {
        "status": recorded["status"] or None,
        "lost": bool(entry.get("_lost")),
        "body": _parsed(recorded.get("content", {}).get("text")),
    }
    now = {"status": status, "lost": lost, "body": value}
    for place, one, other in _compared(play, was, now, ""):
        play.done.differences.append(Difference(number, call, place, one, other))


async def _control(play: _Play, method: str, path: str, body: bytes, number: int | None) -> None:
    """Play a tester's call; `number` is that of the key that it issued or revoked."""
    if path == "keys" and number in play.keys:  # its text is masked
        body = codec.encode({**codec.decode(body), "key": play.keys[number]})
    _, answer = await dispatch.handle_and_deliver(play.world, method, path, body, deliver=False)
    value = codec.decode(answer)
    if path == "keys" and "key" in value:
        play.keys[number] = value["key"]


async def _asked(
    play: _Play, entry: Json, request: Json, path: str, query: str, body: bytes
) -> tuple[int | None, Any, bool]:
    headers = [(one["name"], one["value"]) for one in request.get("headers", ())]
    kept = [(name, value) for name, value in headers if name.lower() in ("idempotency-key", "content-type")]
    key = play.keys.get(entry.get("_key"))
    if key is not None and not (not play.is_ours and entry["response"]["status"] == 401):
        kept.append(("X-API-Key", key))
    sent = http.Request(request["method"], path, query, tuple(kept), body)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            answer = await answering.handle(play.world, sent)
    except TimeoutError:
        return None, None, True
    noted = journal.read_all(play.world)[-1]
    lost = answer.wire is not http.Wire.ANSWER
    return noted["status"], noted["response"], lost


def _compared(play: _Play, was: Any, now: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Every place at which two answers differ; ids and times that stand for each other are none."""
    if isinstance(was, dict) and isinstance(now, dict):
        for name in sorted({**was, **now}):
            below = f"{place}.{name}" if place else name
            yield from _compared(play, was.get(name), now.get(name), below)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for number, (one, other) in enumerate(zip(was, now, strict=True)):
            yield from _compared(play, one, other, f"{place}[{number}]")
    elif was != now and not _stands_for(play, was, now):
        yield place, was, now


def _stands_for(play: _Play, was: Any, now: Any) -> bool:
    if not isinstance(was, str) or not isinstance(now, str):
        return False
    if "[masked]" in (was, now):
        return True
    if _ID.fullmatch(was) and _ID.fullmatch(now):
        return play.ids.setdefault(was, now) == now
    try:
        apart = abs((_time(was) - _time(now)).total_seconds())
    except (ValueError, TypeError):
        return False
    return apart <= _NEAR_SECONDS or not play.is_ours


def _translated(play: _Play, text: str) -> str:
    """The text with the ids that stand here for the recorded ones."""
    for was, now in play.ids.items():
        text = text.replace(was, now)
    return text


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _parsed(text: str | None) -> Any:
    return journal.masked(codec.decode(text.encode())) if text else None


def _short(value: Any) -> str:
    text = codec.encode(value).decode()
    return text if len(text) <= 80 else text[:77] + "..."
