"""The partner simulator in a test: its address and key, and what a tester can make happen in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from sandbox import scenario_files
from sandbox.partner.control import dispatch
from sandbox.partner.schemas import PAYLOADS, scrambled
from sandbox.partner.server import Running
from sandbox.partner.state import World
from sandbox.testing.background import Awaitables, Background, until

Json = dict[str, Any]
FRESH = "fresh"
SHOWN = 12
__tracebackhide__ = True  # a failure points at the line of the test


class PartnerWork:
    """What is done in the sandbox's own loop."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self._epoch = -1
        self._last_before = 0
        self._returned: set[tuple[str, str]] = set()

    @property
    def _world(self) -> World:
        return self.running.world

    async def control(self, path: str, method: str = "POST", **body: Any) -> Json:
        """A control call (docs/simulator.md). Raises AssertionError with the sentence of a refusal."""
        status, answer = await dispatch.handle_and_deliver(
            self._world, method, path, msgspec.json.encode(body) if body else b""
        )
        decoded: Json = msgspec.json.decode(answer)
        if status != 200:
            raise AssertionError(f"{method} /_control/{path}: {decoded.get('error')}")
        if self._world.epoch != self._epoch:
            self._begin()
        return decoded

    def _begin(self) -> None:
        """What the simulator begins with, such as the events of a scenario, is not waited for."""
        self._epoch = self._world.epoch
        self._last_before = self._world.store.number("SELECT max(seq) FROM events")
        self._returned.clear()

    async def state(self) -> Json:
        """Everything in the simulator, amounts as decimal strings."""
        return await self.control("state", "GET")

    async def journal(self) -> list[Json]:
        """Every request of the test, oldest first, with its answer."""
        requests: list[Json] = (await self.control("journal", "GET"))["requests"]
        return requests

    async def wait_for_event(self, kind: str, within_seconds: float = 5.0, **data: Any) -> Json:
        """The newest event of a type whose payload has these fields, since the test or its scenario began.

        An event is found once by the same wait. Raises AssertionError with the journal, and TypeError for a type of
        event, or a field, that there is not.
        """
        found = await self._wait_for_event("event", kind, within_seconds, data)
        self._returned.add((f"event {data}", found["id"]))
        return found

    async def _wait_for_event(self, wait: str, kind: str, within_seconds: float, data: Json) -> Json:
        _check_event(kind, data)
        begun = self._last_before if self._world.epoch == self._epoch else 0

        def look() -> Json | None:
            rows = self._world.store.all(
                "SELECT * FROM events WHERE type = ? AND seq > ? ORDER BY seq DESC", kind, begun
            )
            for row in rows:
                if (f"{wait} {data}", row["id"]) in self._returned:
                    continue
                payload = msgspec.json.decode(row["payload"])
                if all(payload.get(name) == value for name, value in data.items()):
                    return {
                        "id": row["id"],
                        "type": kind,
                        "data": payload,
                        "delivered": bool(row["delivered"]),
                    }
            return None

        found = await until(look, within_seconds)
        if found is None:
            wanted = f"{kind} with {data}" if data else kind
            raise AssertionError(
                f"No new event {wanted} within {within_seconds:g} s.\n{await self.shown_log()}"
            )
        return found

    async def wait_for_delivery(self, kind: str, within_seconds: float = 5.0) -> Json:
        """The newest event of a type once the endpoint has taken it, found once.

        Raises AssertionError with the journal.
        """
        found = await self._wait_for_event("delivery", kind, within_seconds, {})
        self._returned.add(("delivery {}", found["id"]))

        def look() -> Json | None:
            row = self._world.store.one("SELECT delivered FROM events WHERE id = ?", found["id"])
            return {**found, "delivered": True} if row and row["delivered"] else None

        delivered = await until(look, within_seconds)
        if delivered is None:
            raise AssertionError(
                f"{kind} was not delivered within {within_seconds:g} s.\n{await self.shown_log()}"
            )
        return delivered

    async def shown_log(self) -> str:
        """The last requests, events and deliveries, for people."""
        state = await self.state()
        lines = ["Requests of the Partner API, the last one at the end:"]
        for one in (await self.journal())[-SHOWN:]:
            lost = " (answer lost)" if one["lost"] else ""
            lines.append(f"  {one['method']} {one['path']} {_short(one['body'])} -> {one['status']}{lost}")
            if (one["status"] or 0) >= 400:
                lines.append(f"      {_short(one['response'])}")
        lines += ["Events:", *(f"  {one['type']} {_fate(one)}" for one in state["events"][-SHOWN:])]
        lines += [f"  invariant broken: {one}" for one in state["invariants"]["broken"]]
        return "\n".join(lines)

    async def play(self, path: str | Path) -> Json:
        """Play a file with a scenario; what it kept. Raises AssertionError where an expectation does not hold."""
        try:
            return await scenario_files.play(self._world, self.running.key, Path(path))
        except scenario_files.WrongScenario as error:
            raise AssertionError(str(error)) from None

    async def fresh(self, snapshot: str = FRESH) -> None:
        """As it was when the snapshot was taken."""
        await self.control(f"snapshots/{snapshot}/restore")


def _check_event(kind: str, data: Json) -> None:
    if kind not in PAYLOADS:
        raise TypeError(f"{kind} is no type of event; known: {', '.join(sorted(PAYLOADS))}")
    fields = [item.name for item in PAYLOADS[kind].fields]
    unknown = [name for name in data if name not in fields and name not in map(scrambled, fields)]
    if unknown:
        raise TypeError(
            f"{unknown[0]} is no field of {kind}; known: {', '.join(fields)}. How long to wait is within_seconds."
        )


def _short(value: Any) -> str:
    text = "" if value is None else msgspec.json.encode(value).decode()
    return text if len(text) < 160 else text[:157] + "..."


def _fate(event: Json) -> str:
    if event["delivered"]:
        return "delivered"
    return f"tried {event['attempts']} times" if event["attempts"] else "not delivered"


class Faults:
    """What goes wrong next."""

    def __init__(self, sandbox: PartnerSandbox) -> None:
        self._sandbox = sandbox

    def add(self, operation: str, effect: str, **more: Any) -> int:
        """Set a fault for the next call of an operation, such as `POST /cards/{cardId}/topup`; its number."""
        return int(self._sandbox.control("faults", operation=operation, effect=effect, **more)["id"])

    def clear(self) -> None:
        """Forget every fault."""
        self._sandbox.control("faults", method="DELETE")

    def chaos(self, percent: int, seed: str = "chaos", **more: Any) -> None:
        """Let this share of calls and deliveries go wrong, by the seed; 0 ends it."""
        self._sandbox.control("chaos", percent=percent, seed=seed, **more)


class SandboxClock:
    """The simulator's clock."""

    def __init__(self, sandbox: PartnerSandbox) -> None:
        self._sandbox = sandbox

    def freeze(self, at: str | None = None) -> str:
        """Stand still, at a time in ISO 8601 where one is given; the time."""
        return str(self._sandbox.control("clock", mode="frozen", **({"set": at} if at else {}))["clock"])

    def advance(self, seconds: float) -> str:
        """Go on by so many seconds; what falls due has happened when this returns. The time."""
        return str(self._sandbox.control("clock", advance_seconds=seconds)["clock"])


class Purchases:
    """What merchants do."""

    def __init__(self, sandbox: PartnerSandbox) -> None:
        self._sandbox = sandbox

    def buy(self, card_id: str, amount_usd: str, **more: Any) -> Json:
        """A purchase on a card: its transaction_id, whether it was authorized, and its fee."""
        return self._sandbox.control("purchases", card_id=card_id, amount_usd=amount_usd, **more)

    def settle(self, transaction_id: str, **more: Any) -> Json:
        """The merchant settles it."""
        return self._sandbox.control(f"purchases/{transaction_id}/settle", **more)

    def reverse(self, transaction_id: str, **more: Any) -> Json:
        """The merchant gives it up, or a part of it."""
        return self._sandbox.control(f"purchases/{transaction_id}/reverse", **more)

    def refund(self, transaction_id: str, **more: Any) -> Json:
        """The merchant pays it back, or a part of it."""
        return self._sandbox.control(f"purchases/{transaction_id}/refund", **more)


class PartnerSandbox:
    """A running simulator: `base_url` and `key` for the program under test, the rest for the test."""

    def __init__(self, running: Running, background: Background) -> None:
        self._work = PartnerWork(running)
        self._background = background
        self.base_url = running.base_url
        self.url = running.url
        self.key = running.key
        self.aio = Awaitables(self, background)
        self.faults = Faults(self)
        self.clock = SandboxClock(self)
        self.purchases = Purchases(self)

    def control(self, path: str, method: str = "POST", **body: Any) -> Json:
        """A control call (docs/simulator.md), such as `control("float", amount_usd="100")`."""
        return self._background.run(self._work.control(path, method, **body))

    def state(self) -> Json:
        """Everything in the simulator, amounts as decimal strings."""
        return self._background.run(self._work.state())

    def journal(self) -> list[Json]:
        """Every request of the test, oldest first, with its answer."""
        return self._background.run(self._work.journal())

    def wait_for_event(self, kind: str, within_seconds: float = 5.0, **data: Any) -> Json:
        """The newest event of a type whose payload has these fields, since the test or its scenario began.

        An event is found once by the same wait. Raises AssertionError with the journal.
        """
        return self._background.run(self._work.wait_for_event(kind, within_seconds, **data))

    def wait_for_delivery(self, kind: str, within_seconds: float = 5.0) -> Json:
        """The newest event of a type once the endpoint has taken it. Raises AssertionError with the journal."""
        return self._background.run(self._work.wait_for_delivery(kind, within_seconds))

    def deliver_to(self, host: str, address: str) -> None:
        """Lead deliveries for a public host to a loopback address, such as `http://127.0.0.1:9000`."""
        known = self.state()["delivery_map"]
        self.control("deliveries", map={**known, host: address})

    def play(self, path: str | Path) -> Json:
        """Play a file with a scenario; what it kept. Raises AssertionError where an expectation does not hold."""
        return self._background.run(self._work.play(path))

    def shown_log(self) -> str:
        """The last requests and events, for people."""
        return self._background.run(self._work.shown_log())

    def fresh(self) -> None:
        """As it was when it started."""
        self._background.run(self._work.fresh())
