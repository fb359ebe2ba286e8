"""One delivery: an event on its way to the endpoint, signed, tried eight times on the clock (Delivery rules).

A delivery never leaves this machine: the map (control: deliveries) says to which loopback address a
public host leads, and a host that is not in it cannot be reached. The API still takes public https
addresses only, as documented (U71).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from urllib.parse import urljoin, urlsplit

import msgspec

from sandbox.partner import codec
from sandbox.partner.calls import chaos, journal
from sandbox.partner.events import Registration, webhooks
from sandbox.partner.purchases import three_d_secure
from sandbox.partner.state import World

Mode = Literal["normal", "pause", "duplicate", "reorder", "drop"]
Timestamps = Literal["clock", "wall"]
ATTEMPTS_MOST = 8
FIRST_BACKOFF = timedelta(minutes=1)  # doubles after each failure, to 64 minutes after the seventh
DEADLINE_SECONDS = 8.0  # the whole attempt, redirects included
_HOPS_MOST = 5
_BECOME_GET = (301, 302, 303)
_REDIRECTS = (*_BECOME_GET, 307, 308)


def mode(world: World) -> Mode:
    """How deliveries travel now: `normal` when nothing else was set."""
    kept = world.store.note("deliveries:mode")
    return next((one for one in get_args(Mode) if one == kept), "normal")


def hosts(world: World) -> dict[str, str]:
    """Public host -> loopback address."""
    return dict(msgspec.json.decode(world.store.note("deliveries:map") or "{}"))


def timestamps(world: World) -> str:
    """Whose time signs a delivery: the simulator's `clock`, or the machine's `wall` clock."""
    return world.store.note("deliveries:timestamps") or "clock"


def serial(world: World) -> bool:
    """Whether an account's deliveries go one after another, oldest first."""
    return world.store.note("deliveries:serial") == "yes"


def change(
    world: World,
    new_mode: Mode | None,
    new_hosts: dict[str, str] | None,
    new_timestamps: Timestamps | None = None,
    new_serial: bool | None = None,
) -> None:
    """Set what is given. What was held back by a pause is due now, not at the moments it missed."""
    if new_timestamps is not None:
        world.store.keep("deliveries:timestamps", new_timestamps)
    if new_serial is not None:
        world.store.keep("deliveries:serial", "yes" if new_serial else "no")
    if new_mode is not None:
        if mode(world) == "pause" and new_mode != "pause":
            make_due_now(world)
        world.store.keep("deliveries:mode", new_mode)
    if new_hosts is not None:
        lowered = {host.lower(): address for host, address in new_hosts.items()}
        world.store.keep("deliveries:map", msgspec.json.encode(lowered).decode())
    world.stirred.set()


def make_due_now(world: World) -> None:
    """After deliveries stood still: overdue attempts happen from now on."""
    now = codec.stamp(world.clock.now())
    world.store.run("UPDATE events SET next_at = ? WHERE next_at < ?", now, now)


def take_backlog(world: World) -> None:
    """Every event of an account with an endpoint counts as delivered when it happened, without an attempt."""
    waiting = (
        "SELECT id FROM events WHERE delivered = 0 AND account IN (SELECT account FROM webhooks) ORDER BY seq"
    )
    with world.store.transaction():
        for row in world.store.all(waiting):
            world.store.run(
                "UPDATE events SET delivered = 1, delivered_at = created_at, attempts = 1, next_at = NULL"
                " WHERE id = ?",
                row["id"],
            )
            three_d_secure.delivered(world, row["id"])


@dataclass(frozen=True)
class _Outcome:
    status: int | None
    problem: str | None
    hops: int = 0

    @property
    def success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300 and self.problem is None


async def deliver(world: World, event: Any, at: datetime) -> None:
    """One attempt, and what follows from it; a duplicate is one more of the same."""
    epoch = world.epoch
    endpoint = webhooks.find(world, event["account"])
    if endpoint is None:
        world.store.update("events", "id", event["id"], next_at=None)
        return
    how, began = mode(world), time.monotonic()
    dropped = _Outcome(None, "dropped on the way")
    outcome = dropped if how == "drop" else await _attempt(world, endpoint, event, at)
    twice = how == "duplicate" or chaos.comes_twice(world, event["id"], event["attempts"])
    if twice and outcome.success:
        await _attempt(world, endpoint, event, at)
    took = timedelta(seconds=time.monotonic() - began) if world.clock.mode == "realtime" else timedelta(0)
    with world.store.transaction():
        now = world.store.one("SELECT next_at, attempts FROM events WHERE id = ?", event["id"])
        if world.epoch != epoch or now is None or tuple(now) != (event["next_at"], event["attempts"]):
            return  # reset, restored or redelivered meanwhile: this attempt belongs to another time
        _record(world, endpoint, event, at, outcome)
        _follow(world, event, at + took, outcome)


def repeat(world: World, event_id: str, at: datetime, status: int | None, problem: str | None) -> None:
    """Have an attempt end as one did before (replay); an event that is not there is nobody's."""
    event = world.store.one("SELECT * FROM events WHERE id = ?", event_id)
    if event is not None:
        with world.store.transaction():
            _follow(world, event, at, _Outcome(status, problem))


def _record(world: World, endpoint: Registration, event: Any, at: datetime, outcome: _Outcome) -> None:
    world.store.insert(
        "deliveries",
        event_id=event["id"],
        account=event["account"],
        number=event["attempts"] + 1,
        at=codec.stamp(at),
        url=endpoint.url,
        status=outcome.status,
        problem=outcome.problem,
        hops=outcome.hops,
        after_call=journal.last(world),
    )


def _follow(world: World, event: Any, ended: datetime, outcome: _Outcome) -> None:
    attempts = event["attempts"] + 1
    if outcome.success:
        done = {"delivered": 1, "delivered_at": codec.stamp(ended), "next_at": None, "attempts": attempts}
        world.store.update("events", "id", event["id"], **done)
        with world.clock.at(ended):
            three_d_secure.delivered(world, event["id"])
        return
    again = codec.stamp(ended + FIRST_BACKOFF * 2 ** (attempts - 1)) if attempts < ATTEMPTS_MOST else None
    world.store.update("events", "id", event["id"], attempts=attempts, next_at=again)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Lowercase hex HMAC-SHA256 over timestamp, full stop, body; the key is the whole secret (Signature)."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def body_of(event: Any) -> bytes:
    """The delivery's body: the same bytes on every attempt, `data` being those of GET /events."""
    head = codec.encode({"id": event["id"], "type": event["type"], "created_at": event["created_at"]})
    payload: str = event["payload"]
    return head[:-1] + b',"data":' + payload.encode() + b"}"


async def _attempt(world: World, endpoint: Registration, event: Any, at: datetime) -> _Outcome:
    signed_at = world.clock.real_now if timestamps(world) == "wall" else at
    body, timestamp = body_of(event), str(int(signed_at.timestamp()))
    headers = {
        "Content-Type": "application/json",
        "X-SVC-Event": event["type"],
        "X-SVC-Delivery": event["id"],
        "X-SVC-Timestamp": timestamp,
        "X-SVC-Signature": signature(endpoint.secret, timestamp, body),
    }
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            return await _travel(world, endpoint.url, headers, body)
    except TimeoutError:
        return _Outcome(None, "no answer within 8 seconds")


async def _travel(world: World, url: str, headers: dict[str, str], body: bytes) -> _Outcome:
    """Follow redirects inside the map; the last hop's status counts (U63)."""
    method = "POST"
    for hop in range(_HOPS_MOST + 1):
        address = _loopback(world, url)
        if address is None or world.post is None:
            return _Outcome(None, f"{urlsplit(url).hostname} cannot be reached", hop)
        try:
            status, location = await world.post(method, address, headers, body)
        except OSError as error:
            return _Outcome(None, f"no connection: {type(error).__name__}", hop)
        if status not in _REDIRECTS or not location:
            return _Outcome(status, None, hop)
        url = urljoin(url, location)
        if not url.startswith("https://"):
            return _Outcome(status, "redirected to an address that is not https", hop)
        if status in _BECOME_GET:
            method, body = "GET", b""
    return _Outcome(None, "too many redirects", _HOPS_MOST)


def _loopback(world: World, url: str) -> str | None:
    parts = urlsplit(url)
    target = hosts(world).get((parts.hostname or "").lower())
    if target is None:
        return None
    path = parts.path or "/"
    return target.rstrip("/") + path + (f"?{parts.query}" if parts.query else "")
