"""The metrics, with their values of now, in the text that Prometheus reads.

What the database can tell is read from it at each scrape, so every process of several says the same of it; what a
process has counted since its start is its own. While the database does not answer, the rest is served without it.
"""

from __future__ import annotations

import asyncio
import logging
import platform
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

import bot
from bot.domain import shared_work
from bot.domain.alerts import Severity
from bot.domain.requests import State
from bot.metrics.sources import Sources
from bot.outcomes import Finding
from bot.partner.client import ENDPOINTS
from bot.services import snapshots
from bot.services.core import Core
from bot.services.events import CURSOR, POLLED
from bot.services.measures import ACK_BOUNDS_S, Durations
from bot.services.operators import health
from bot.services.processes import start_holds
from storage.errors import DatabaseFault
from storage.maintenance import Figures, figures

log = logging.getLogger("countersign.metrics")

T = TypeVar("T")

# Prometheus gives up after ten seconds, and shows nothing of this process then.
READ_TIMEOUT_S = 3.0

#: The jobs that read the API on a cadence.
JOBS = ("account", "cards", "events", "funding", "ledger", "webhook")
CHANNELS = ("approvals", "alerts", "audit", "direct", "other")
ACKS = ("command", "button", "form", "event", "other")


async def text(sources: Sources, turn: asyncio.Lock) -> bytes:
    """All of them, as Prometheus reads them. `turn` is held while the database is read."""
    reading, is_writable = await asyncio.gather(
        from_the_database(sources.core, turn), _is_writable(sources.core)
    )
    is_connected = await sources.slack_connected()
    registry = CollectorRegistry()
    of_process = _of_process(sources, is_connected, is_writable=is_writable)
    registry.register(_Families([*of_process, *_of_database(sources, reading)]))
    ProcessCollector(namespace="countersign", registry=registry)
    return generate_latest(registry)


class _Families:
    """Metrics that are there already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable[Metric]:
        return self._families


class FromDatabase(NamedTuple):
    """By program: what can be spent, in USD, and whether sending waits since a start."""

    figures: Figures
    floats: Mapping[str, Decimal]
    held: Mapping[str, bool]


async def from_the_database(core: Core, turn: asyncio.Lock) -> FromDatabase | None:
    """None while it does not answer in time."""
    return await _in_time(_read(core, turn))


async def _in_time(asked: Coroutine[Any, Any, T]) -> T | None:
    """What the database answers; None while it does not in time."""
    answer = asyncio.create_task(asked)
    try:
        await asyncio.wait({answer}, timeout=READ_TIMEOUT_S)
        if answer.done():
            return answer.result()
    finally:
        # Not waited for: psycopg takes up to ten seconds to give up a query.
        answer.cancel()
    log.warning("metrics.database_not_read", extra={"error": "TimeoutError"})
    return None


async def _is_writable(core: Core) -> bool:
    """What `/readyz` says of it at this time: both try it when they are asked."""
    return bool(await _in_time(_is_well(core)))


async def _is_well(core: Core) -> bool:
    try:
        return await health.database_is_written(core) is None
    except (DatabaseFault, OSError):
        return False


async def _read(core: Core, turn: asyncio.Lock) -> FromDatabase | None:
    try:
        async with turn, core.store.read() as tx:
            found = await figures(tx, programs=core.partners, job_prefix=POLLED, events=CURSOR)
            accounts = {program: await snapshots.ACCOUNT.get(tx, program) for program in core.partners}
            held = {program: bool(await start_holds.why(tx, program)) for program in core.partners}
    except (DatabaseFault, OSError) as error:
        log.warning("metrics.database_not_read", extra={"error": type(error).__name__})
        return None
    floats = {name: kept.value.available_usd for name, kept in accounts.items() if kept is not None}
    return FromDatabase(found, floats, held)


def _of_process(sources: Sources, is_connected: bool | None, *, is_writable: bool) -> Iterator[Metric]:
    core, measures = sources.core, sources.core.measures
    yield _gauge(
        "build_info",
        "The version that runs, on which Python and database",
        ("version", "python", "database"),
        [((bot.__version__, platform.python_version(), sources.database), 1)],
    )
    if is_connected is not None:
        yield _single("slack_connected", "1 while Slack can reach this process", int(is_connected))
    yield _gauge(
        "reads",
        "1 in the process that reads this program on a cadence",
        ("program",),
        {(name,): int(core.holds(shared_work.reads(name))) for name in core.partners}.items(),
    )
    yield _single("storage_writable", "0 while nothing can be stored", int(is_writable))
    yield _gauge(
        "api_budget_left",
        "Calls that the key's minute still has room for, by program",
        ("program",),
        {(name,): partner.budget_left for name, partner in core.partners.items()}.items(),
    )
    yield _gauge(
        "api_unanswered_seconds",
        "Since the first call to which no answer came, or only an error of a server (5xx), by program; 0 while the card"
        " provider answers",
        ("program",),
        {(name,): _unanswered_s(core, name) for name in core.partners}.items(),
    )
    yield _single(
        "audit_verified_entries",
        "The last entry of the audit chain when this process found it whole last",
        measures.chain_checked_to,
    )
    checked_at_s = measures.chain_checked_at_s
    since_s = (
        core.clock.monotonic() - checked_at_s if checked_at_s is not None else _age_s(core, sources.began_at)
    )
    yield _single(
        "audit_verified_age_seconds",
        "Since this process found the audit chain whole last; before that since it started",
        since_s,
    )
    yield _counter(
        "executions", "Calls for approved requests, by what they came to", "finding",
        {finding.value: measures.executions[finding.value] for finding in Finding},
    )  # fmt: skip
    calls = CounterMetricFamily(
        "countersign_api_calls",
        "Calls of the card provider's API, by operation and status",
        labels=("operation", "status"),
    )
    known = {(endpoint.value, status) for endpoint in ENDPOINTS for status in ("200", "none")}
    for pair in sorted(known | measures.calls.keys()):
        calls.add_metric(pair, measures.calls[pair])
    yield calls
    yield _histogram(
        "api_call_seconds", "How long calls of the API took, by operation", "operation", measures.call_times
    )
    yield _histogram(
        "ack_seconds",
        "How long Slack waited for our answer, by what somebody did",
        "kind",
        {kind: measures.acks.get(kind, Durations(ACK_BOUNDS_S)) for kind in ACKS},
    )


def _of_database(sources: Sources, reading: FromDatabase | None) -> Iterator[Metric]:
    core = sources.core
    yield _single("database_up", "1 while the database answers", int(reading is not None))
    if reading is None:
        return
    found, floats, held = reading
    states = {
        (state.value, kind): found.requests.get((kind, state.value), 0)
        for kind in core.kinds
        for state in State
    }
    yield _gauge("requests", "Requests by state and kind; a batch is one", ("state", "kind"), states.items())
    waiting, oldest = outbox(core, found)
    yield _gauge("outbox_waiting", "Messages that wait for Slack, by channel", ("channel",), waiting.items())
    yield _gauge(
        "outbox_oldest_seconds",
        "How long the oldest of them is due, by channel",
        ("channel",),
        oldest.items(),
    )
    yield _single("inbox_waiting", "Events that wait to be handled", found.inbox_waiting)
    since = found.inbox_oldest_at
    yield _single(
        "inbox_oldest_seconds",
        "How long the oldest of them waits",
        _between_s(found.read_at, since) if since else 0.0,
    )
    ages = {(job,): _between_s(found.read_at, found.done_at.get(job, sources.began_at)) for job in JOBS}
    yield _single(
        "safe_mode", "1 while nothing is sent, as the database is an older copy", int(found.is_safe_mode)
    )
    yield _gauge(
        "held_since_start",
        "1 while sending waits, as no worker could read the ledger or Slack since its start, by program",
        ("program",),
        {(name,): int(is_held) for name, is_held in held.items()}.items(),
    )
    yield _gauge(
        "poll_age_seconds",
        "Since the API was last read, by job, of the program longest ago; before the first time since the start",
        ("job",),
        ages.items(),
    )
    yield _gauge(
        "float_available_usd",
        "What can be spent, as last read, by program",
        ("program",),
        {(name,): float(usd) for name, usd in floats.items()}.items(),
    )
    open_alerts = {(severity.value,): found.alerts.get(severity.value, 0) for severity in Severity}
    yield _gauge(
        "alerts_open", "Alerts that are not resolved, by severity", ("severity",), open_alerts.items()
    )
    yield _single("audit_entries", "Length of the audit chain", found.audit_entries)


def outbox(core: Core, found: Figures) -> tuple[dict[tuple[str], float], dict[tuple[str], float]]:
    """How many messages wait, and how long the oldest is due, by what a channel is for."""
    named = {getattr(core.channels, role): role for role in ("audit", "alerts", "approvals")}
    waiting: dict[tuple[str], float] = {(role,): 0 for role in CHANNELS}
    oldest: dict[tuple[str], float] = {(role,): 0.0 for role in CHANNELS}
    for channel, figure in found.outbox.items():
        role = (named.get(channel, "other") if channel else "direct",)
        waiting[role] += figure.waiting
        if figure.oldest_due_at is not None:
            oldest[role] = max(oldest[role], _between_s(found.read_at, figure.oldest_due_at))
    return waiting, oldest


def _unanswered_s(core: Core, program: str) -> float:
    since = core.partners[program].contact.unanswered_since
    return 0.0 if since is None else core.clock.monotonic() - since


def _age_s(core: Core, since: datetime) -> float:
    return _between_s(core.clock.now(), since)


def _between_s(now: datetime, then: datetime) -> float:
    return max(0.0, (now - then).total_seconds())


def _single(name: str, meaning: str, figure: float) -> Metric:
    return _gauge(name, meaning, (), [((), figure)])


def _gauge(
    name: str, meaning: str, labels: Sequence[str], values: Iterable[tuple[Sequence[str], float]]
) -> Metric:
    """`values`: for each combination of what the labels may be the figure."""
    family = GaugeMetricFamily(f"countersign_{name}", meaning, labels=labels)
    for of, figure in values:
        family.add_metric(of, figure)
    return family


def _counter(name: str, meaning: str, label: str, values: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(f"countersign_{name}", meaning, labels=(label,))
    for of, count in values.items():
        family.add_metric((of,), count)
    return family


def _histogram(name: str, meaning: str, label: str, values: Mapping[str, Durations]) -> Metric:
    family = HistogramMetricFamily(f"countersign_{name}", meaning, labels=(label,))
    for of, durations in sorted(values.items()):
        bounds = [*map(str, durations.bounds_s), "+Inf"]
        family.add_metric((of,), list(zip(bounds, durations.up_to, strict=True)), durations.total_s)
    return family
