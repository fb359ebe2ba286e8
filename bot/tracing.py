"""Traces of requests, sent by OpenTelemetry to the address in OTEL_EXPORTER_OTLP_ENDPOINT.

The id of a trace is a hash of the installation and the request, and so is that of its first part. So any process, at
any later time, adds to the trace of a request without knowing more of it. The click that made the request is that
first part: until its request is known, a click keeps what was called for it.

Needs the extra `otel`; nothing else imports this module or OpenTelemetry.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

import bot
from bot.domain.time import Clock
from bot.services.traces import Fact, Span, Traces

# Of the ten seconds a shutdown may take: a collector that does not answer loses the last spans.
_FLUSHES_WITHIN_S = 1.5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class _Click:
    """What somebody does in Slack. `span`: once its request is known."""

    name: str
    began_ns: int
    span: trace.Span | None = None
    acked_ns: int | None = None
    early: list[_Call] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    began_ns: int
    ended_ns: int
    failed: bool
    facts: Mapping[str, Fact]


_click: ContextVar[_Click | None] = ContextVar("click", default=None)
_first: ContextVar[SpanContext | None] = ContextVar("first", default=None)


class _Ids(RandomIdGenerator):
    """At random, except for the first part of a request's trace."""

    def generate_trace_id(self) -> int:
        first = _first.get()
        return super().generate_trace_id() if first is None else first.trace_id

    def generate_span_id(self) -> int:
        first = _first.get()
        return super().generate_span_id() if first is None else first.span_id


class _Noted(Span):
    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, **facts: Fact) -> None:
        for name, fact in facts.items():
            self._span.set_attribute(_named(name), fact)


class OpenTelemetry(Traces):
    """One in a process. `installation`: which of several whose traces are collected in one place."""

    def __init__(self, endpoint: str, *, installation: str, process: str, clock: Clock) -> None:
        # Sent by HTTP; headers and certificates come from OpenTelemetry's own variables.
        self._exporter = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces")
        own = {SERVICE_VERSION: bot.__version__, SERVICE_INSTANCE_ID: process}
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES count before ours.
        resource = Resource.create()
        if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
            own[SERVICE_NAME] = "countersign"
        self._provider = TracerProvider(
            resource=resource.merge(Resource(own)), id_generator=_Ids(), shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("countersign", bot.__version__)
        self._installation = installation
        self._clock = clock

    async def close(self) -> None:
        """Send what is left, as far as it is taken soon."""
        loop, closed = asyncio.get_running_loop(), asyncio.Event()

        def shut_down() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # nobody waits any more
                loop.call_soon_threadsafe(closed.set)

        # A daemon: Python waits for other threads before it ends.
        threading.Thread(target=shut_down, name="traces", daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(_FLUSHES_WITHIN_S):
                await closed.wait()

    @contextmanager
    def click(self, name: str) -> Iterator[None]:
        token = _click.set(_Click(name, self._now_ns()))
        try:
            yield
        finally:
            _click.reset(token)

    def acked(self) -> None:
        click = _click.get()
        if click is None or click.acked_ns is not None:
            return
        click.acked_ns = self._now_ns()
        if click.span is not None:
            click.span.end(click.acked_ns)

    def submitted(self, request_id: str, **facts: Fact) -> None:
        first = self._first_of(request_id)
        click = _click.get()
        if click is None or click.span is not None:
            click = _Click("Submitted", self._now_ns(), acked_ns=self._now_ns())
        token = _first.set(first)
        try:
            self._begin(click, Context(), request_id, facts)
        finally:
            _first.reset(token)
        self._tell_of_early(click)

    @contextmanager
    def of(self, request_id: str, name: str, **facts: Fact) -> Iterator[Span]:
        began_ns = self._now_ns()
        span = self._tracer.start_span(
            name,
            self._parent(request_id),
            attributes=_attributes(request_id, facts),
            start_time=began_ns,
            record_exception=False,
        )
        try:
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                yield _Noted(span)
        except Exception as error:
            # By its kind alone: its text may name a person or a card.
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise
        finally:
            span.end(self._now_ns())

    def since(self, request_id: str, name: str, began_at: datetime, **facts: Fact) -> None:
        span = self._tracer.start_span(
            name,
            self._parent(request_id),
            attributes=_attributes(request_id, facts),
            start_time=_ns(began_at),
        )
        span.end(self._now_ns())

    def took(self, name: str, seconds: float, *, failed: bool = False, **facts: Fact) -> None:
        ended_ns = self._now_ns()
        call = _Call(name, ended_ns - int(seconds * 1e9), ended_ns, failed, facts)
        current, click = trace.get_current_span(), _click.get()
        if current.get_span_context().is_valid:
            self._tell(call, trace.set_span_in_context(current))
        elif click is not None and click.span is not None:
            self._tell(call, trace.set_span_in_context(click.span))
        elif click is not None:
            click.early.append(call)

    def _parent(self, request_id: str) -> Context:
        """Below what is under way for this request, or its click; else below the first part of its trace."""
        first = self._first_of(request_id)
        current, click = trace.get_current_span(), _click.get()
        if current.get_span_context().trace_id == first.trace_id:
            return trace.set_span_in_context(current)
        beginning = trace.set_span_in_context(trace.NonRecordingSpan(first), Context())
        if click is not None and click.span is None:
            self._begin(click, beginning, request_id, {})
            self._tell_of_early(click)
        if click is not None and click.span is not None:
            own = click.span.get_span_context()
            if own.trace_id == first.trace_id:
                return trace.set_span_in_context(click.span)
        return beginning

    def _begin(self, click: _Click, parent: Context, request_id: str, facts: Mapping[str, Fact]) -> None:
        """The click is about this request."""
        click.span = self._tracer.start_span(
            click.name, parent, attributes=_attributes(request_id, facts), start_time=click.began_ns
        )
        if click.acked_ns is not None:
            click.span.end(click.acked_ns)

    def _tell_of_early(self, click: _Click) -> None:
        if click.span is not None:
            for call in click.early:
                self._tell(call, trace.set_span_in_context(click.span))
        click.early.clear()

    def _tell(self, call: _Call, parent: Context) -> None:
        span = self._tracer.start_span(
            call.name,
            parent,
            kind=SpanKind.CLIENT,
            attributes={_named(name): fact for name, fact in call.facts.items()},
            start_time=call.began_ns,
        )
        if call.failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(call.ended_ns)

    def _first_of(self, request_id: str) -> SpanContext:
        """The first part of the request's trace, whether or not it is sampled."""
        made = hashlib.sha256(f"{self._installation}:{request_id}".encode()).digest()
        trace_id, span_id = int.from_bytes(made[:16]), int.from_bytes(made[16:24])
        sampled = self._provider.sampler.should_sample(None, trace_id, "").decision
        flags = TraceFlags(TraceFlags.DEFAULT if sampled is Decision.DROP else TraceFlags.SAMPLED)
        return SpanContext(trace_id, span_id, is_remote=True, trace_flags=flags)

    def _now_ns(self) -> int:
        return _ns(self._clock.now())


def _ns(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1) * 1000


def _attributes(request_id: str, facts: Mapping[str, Fact]) -> dict[str, Fact]:
    return {"countersign.request": request_id, **{_named(name): fact for name, fact in facts.items()}}


#: Where OpenTelemetry has a name of its own for it [semantic conventions].
_CONVENTION = {"status": "http.response.status_code"}


def _named(name: str) -> str:
    return _CONVENTION.get(name, f"countersign.{name}")
