"""What was seen and where, in seconds since the trouble began; each thing once, when it changed."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.support.slack_people import ALERTS
from tests.troubles.surroundings import Surroundings

_EVERY_S = 0.5
# Gauges that the rules of deploy/prometheus look at, and from where on.
_WATCHED: dict[str, Callable[[float], bool]] = {
    "countersign_storage_writable": lambda value: value == 0,
    "countersign_database_up": lambda value: value == 0,
    "countersign_slack_connected": lambda value: value == 0,
    "countersign_api_unanswered_seconds": lambda value: value > 30,
}


@dataclass
class Timeline:
    """Of one trouble."""

    around: Surroundings
    began: float = field(default_factory=time.monotonic)
    seen: list[tuple[float, str, str]] = field(default_factory=list)
    _last: dict[str, str] = field(default_factory=dict)

    def note(self, where: str, what: str) -> None:
        """Something was seen now."""
        self.seen.append((time.monotonic() - self.began, where, _as_read(what)))

    def changed(self, where: str, key: str, what: str, usual: str) -> None:
        """What is looked at again and again is noted where it is not as before."""
        if self._last.get(key, usual) != what:
            self.note(where, what)
        self._last[key] = what

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Look at everything that speaks, all the time."""
        await self._alerts(is_new=False)
        log = self.around.log.stat().st_size
        self.began = time.monotonic()
        looks = [
            asyncio.create_task(self._again(look))
            for look in (self._ready, self._alerts, self._metrics, self._Log(self, self.around.log, log).look)
        ]
        try:
            yield
        finally:
            for task in looks:
                task.cancel()
            await asyncio.wait(looks)

    async def _again(self, look: Callable[[], Awaitable[None]]) -> None:
        while True:
            # What stands still is not seen by looking at it.
            with suppress(httpx.HTTPError, TimeoutError):
                await look()
            await asyncio.sleep(_EVERY_S)

    async def _ready(self) -> None:
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=15) as web:
                checks = (await web.get(f"{self.around.url}/readyz")).json()["checks"]
        except httpx.ConnectError:
            self.changed("/readyz", "ready", "answers nobody: the process does not run", "")
            return
        for name, said in checks.items():
            self.changed("/readyz", f"ready {name}", f"{name}: {_steady(said)}", f"{name}: ok")

    async def _metrics(self) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=15) as web:
            found = (await web.get(f"{self.around.metrics_url}/metrics")).text
        for family in text_string_to_metric_families(found):
            if (is_bad := _WATCHED.get(family.name)) is not None:
                bad = [sample for sample in family.samples if is_bad(sample.value)]
                self.changed(
                    "/metrics",
                    family.name,
                    f"{family.name} {'alarms' if bad else 'is well'}",
                    f"{family.name} is well",
                )

    async def _alerts(self, *, is_new: bool = True) -> None:
        """As an approver sees the alerts channel."""
        for message in await self.around.people.messages(ALERTS):
            key = f"alert {message['ts']}"
            if is_new:
                self.changed("alerts channel", key, message["text"], "")
            self._last[key] = " ".join(message["text"].split()) if not is_new else message["text"]

    @dataclass
    class _Log:
        timeline: Timeline
        path: Path
        read_to: int

        async def look(self) -> None:
            with self.path.open("rb") as file:
                file.seek(self.read_to)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self.read_to += len(line)
                    self._line(line)

        def _line(self, line: bytes) -> None:
            try:
                entry: dict[str, Any] = json.loads(line)
            except ValueError:
                self.timeline.changed("terminal", f"said {line!r}", line.decode(errors="replace"), "")
                return
            if str(entry.get("level", "")).lower() not in ("warning", "error", "critical"):
                return
            details = {
                k: v for k, v in entry.items() if k in ("fault", "error", "detail", "loop", "job") and v
            }
            event = str(entry.get("event", ""))
            key = f"log {event[:24]}"
            if key not in self.timeline._last:
                self.timeline.changed("log", key, f"{event} {json.dumps(details) if details else ''}", "")


def _as_read(text: str) -> str:
    """In one line, as people see it in Slack, and without the names of folders that are made for each run."""
    for pattern, shown in (
        (r"<!date\^[^|/>]*[|/]([^>]*)>", r"\1"),
        (r"<!subteam\^\w+>", "@card-approvers"),
        ("[\u200b\u2060]", ""),
        (r"/tmp/cs\w+/(w/)?(?=bot\.db)", ""),
        (r"postgresql:\S+data\b", "postgresql://…"),
        (r"\b(reference) [0-9A-Z]{6}\b", r"\1 7K3MQX"),
    ):
        text = re.sub(pattern, shown, text)
    return " ".join(text.split())


def _steady(said: str) -> str:
    """Without the figures that grow while one looks."""
    return re.sub(r"\bfor \d+ s\b", "for … s", said)
