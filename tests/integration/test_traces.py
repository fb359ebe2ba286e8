"""One trace of a top-up, from the click to the ledger, as a collector of OpenTelemetry gets it."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bot import app, startup
from bot.domain.time import SystemClock
from bot.services.events import Poller
from bot.tracing import OpenTelemetry
from tests.integration.surroundings import Surroundings
from tests.support.slack_people import ALICE, OPS, People

pytestmark = pytest.mark.by_turns(4)


@dataclass(frozen=True, slots=True)
class Part:
    """A span as it was sent. Times are nanoseconds."""

    name: str
    trace: str
    id: str
    parent: str
    began: int
    ended: int
    facts: dict[str, Any]
    failed: bool

    @property
    def status(self) -> int:
        return int(self.facts["http.response.status_code"])


@dataclass
class Collector:
    """Takes what is sent to it."""

    url: str = ""
    parts: list[Part] = field(default_factory=list)
    services: set[str] = field(default_factory=set)

    async def take(self, request: web.Request) -> web.Response:
        sent = ExportTraceServiceRequest.FromString(await request.read())
        for of_resource in sent.resource_spans:
            attributes = {one.key: one.value.string_value for one in of_resource.resource.attributes}
            self.services.add(attributes["service.name"])
            for scope in of_resource.scope_spans:
                self.parts += [_part(span) for span in scope.spans]
        return web.Response(body=b"", content_type="application/x-protobuf")

    def of(self, request_id: str) -> list[Part]:
        """The trace of a request, in order."""
        (trace,) = {part.trace for part in self.parts if part.facts.get("countersign.request") == request_id}
        return sorted((part for part in self.parts if part.trace == trace), key=lambda part: part.began)


def _part(span: Any) -> Part:
    facts = {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}
    return Part(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        facts,
        span.status.code == 2,
    )


@pytest.fixture
async def collector() -> AsyncIterator[Collector]:
    taking = Collector()
    made = web.Application()
    made.router.add_post("/v1/traces", taking.take)
    runner = web.AppRunner(made)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    taking.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield taking
    await runner.cleanup()


@asynccontextmanager
async def started(around: Surroundings, collector: Collector) -> AsyncIterator[app.Running]:
    running = await around.start(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    try:
        yield running
    finally:
        await running.stop()


def named(parts: Sequence[Part], name: str) -> list[Part]:
    return [part for part in parts if part.name == name]


async def topped_up(around: Surroundings, running: app.Running, amount: str) -> str:
    """A top-up from the form to the ledger; the request's id."""
    people = People(around.slack.url)
    poller = Poller(running.core, account_every=timedelta(seconds=60))
    await poller.ledger()
    await people.approve(await people.ask(amount))
    card = await people.card(amount, "succeeded")
    await poller.ledger()
    (found,) = set(re.findall(r"R-[0-9A-Z]{4,8}", card["text"]))
    return str(found)


async def test_a_top_up_is_one_trace_from_the_click_to_the_ledger(
    around: Surroundings, collector: Collector
) -> None:
    async with started(around, collector) as running:
        request_id = await topped_up(around, running, "50.00")

    parts = collector.of(request_id)
    assert collector.services == {"countersign"}
    by_id = {part.id: part for part in parts}
    assert len(by_id) == len(parts)
    (first,) = [part for part in parts if part.parent not in by_id]
    assert (first.name, first.parent) == ("Slack form", ""), "the click on Submit"
    assert first.facts["countersign.kind"] == "card_topup"
    assert named(parts, "Database write"), "the request is recorded"
    pressed, submitted = named(parts, "request.approve")
    assert by_id[pressed.parent].name == "Slack button"
    assert by_id[submitted.parent].name == "Slack form"
    assert by_id[submitted.parent] != first
    (executed,) = named(parts, "Execute")
    assert executed.facts["countersign.finding"] == "succeeded"
    (call,) = named(parts, "POST /cards/{cardId}/topup")
    assert (call.parent, call.status, call.failed) == (executed.id, 200, False)
    assert [part for part in named(parts, "GET /me") if part.parent == executed.id], "looked at before"
    shown = [part for part in named(parts, "Message") if part.began > executed.began]
    assert [
        part for part in parts if part.name == "Slack chat.update" and part.parent in {s.id for s in shown}
    ]
    (debit,) = named(parts, "Debit in the ledger")
    assert first.began < submitted.began < executed.began < call.began < debit.ended
    assert all(part.began <= part.ended for part in parts)


async def test_processes_that_know_nothing_of_each_other_add_to_one_trace(collector: Collector) -> None:
    one, other, elsewhere = [
        OpenTelemetry(collector.url, installation=installation, process=process, clock=SystemClock())
        for installation, process in (("ABC123", "one"), ("ABC123", "other"), ("XYZ789", "one"))
    ]
    with one.click("Slack form"):
        one.took("Database write", 0.01)
        one.submitted("R-7K3M")
        one.acked()
    with other.of("R-7K3M", "Execute"):
        other.took("GET /me", 0.2, status=200)
    elsewhere.submitted("R-7K3M")
    for process in (one, other, elsewhere):
        await process.close()

    by_name = {part.name: part for part in collector.parts}
    first = by_name["Slack form"]
    assert {by_name[name].trace for name in ("Database write", "Execute", "GET /me")} == {first.trace}
    assert by_name["Database write"].parent == by_name["Execute"].parent == first.id
    assert by_name["GET /me"].parent == by_name["Execute"].id
    assert by_name["Submitted"].trace != first.trace, "the same id of a request in another installation"


async def test_of_a_request_all_parts_are_sampled_or_none(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    one, other = [
        OpenTelemetry(collector.url, installation="ABC123", process=name, clock=SystemClock())
        for name in ("one", "other")
    ]
    requests = [f"R-{number:04}" for number in range(60)]
    for request_id in requests:
        one.submitted(request_id)
        with other.of(request_id, "Execute"):
            pass
    await one.close()
    await other.close()

    parts = Counter(part.trace for part in collector.parts)
    assert set(parts.values()) == {2}
    assert 10 < len(parts) < 50


async def test_no_part_of_a_trace_names_a_person_an_amount_a_card_or_a_key(
    around: Surroundings, collector: Collector
) -> None:
    async with started(around, collector) as running:
        request_id = await topped_up(around, running, "51.37")
        async with running.core.store.read() as tx:
            from storage.requests import requests

            request = await requests.get(tx, request_id)

    assert request is not None
    said = " ".join(f"{part.name} {part.facts}" for part in collector.parts)
    for secret in ("51.37", "3205", "MARTA", "U0ALICE", "U0BOB", "Hotel", request.key, request.subject):
        assert secret not in said


async def test_look_ups_and_polls_are_no_traces(around: Surroundings, collector: Collector) -> None:
    """They are about no request: what they cost is among the metrics."""
    async with started(around, collector):
        await People(around.slack.url).act("command", user=ALICE, channel=OPS, text="/float")

    assert collector.parts == []


async def test_a_call_to_which_nothing_came_back_failed(around: Surroundings, collector: Collector) -> None:
    people = People(around.slack.url)
    async with started(around, collector):
        lost = {"operation": "POST /cards/{cardId}/topup", "effect": "drop_after_commit"}
        from tests.support.slack_people import control

        card = await people.ask("52.00")
        await control(around.partner.url, "faults", lost)
        await people.approve(card)
        card = await people.card("52.00", "succeeded", within_s=30)

    (request_id,) = set(re.findall(r"R-[0-9A-Z]{4,8}", card["text"]))
    parts = collector.of(request_id)
    calls = named(parts, "POST /cards/{cardId}/topup")
    assert [(part.failed, part.facts.get("http.response.status_code")) for part in calls] == [
        (True, None),
        (False, 200),
    ]
    assert len({part.parent for part in calls}) == 2, "each by an execution of its own, in one trace"


async def test_a_collector_that_does_not_answer_holds_up_neither_work_nor_the_end(
    around: Surroundings, collector: Collector
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and nobody reads them
        collector.url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        running = await around.start(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        await topped_up(around, running, "53.00")

        began = asyncio.get_running_loop().time()
        await running.stop()

        assert asyncio.get_running_loop().time() - began < 5


async def test_without_the_extra_it_starts_and_says_how_to_install_it(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "bot.tracing", None)
    running = await around.start(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4318")
    await running.stop()

    assert [r.__dict__["fault"] for r in caplog.records if r.message == "traces.not_installed"] == [
        startup.TRACES_NOT_INSTALLED
    ]
    assert "pip install 'countersign[otel]'" in startup.TRACES_NOT_INSTALLED
