"""What Prometheus gets of a running bot: every name that is promised, and nothing that should not leave."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal

import httpx
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from bot import startup
from bot.domain.requests import State
from bot.metrics import exposition
from bot.outcomes import Finding
from tests.integration.surroundings import Surroundings
from tests.test_deploy import documented, documented_labels

#: The contract with those who watch: these names stay.
PROMISED = {
    *("countersign_requests", "countersign_outbox_waiting", "countersign_outbox_oldest_seconds"),
    *("countersign_inbox_waiting", "countersign_poll_age_seconds", "countersign_float_available_usd"),
    *("countersign_executions", "countersign_api_calls"),  # with _total
}


def documented_families() -> set[str]:
    return {name.removesuffix("_total") for name in documented()}


async def scraped(around: Surroundings) -> dict[str, Metric]:
    """Families by name, without the suffixes of their samples."""
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"http://{around.env['COUNTERSIGN_METRICS_BIND']}/metrics", timeout=10)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def value(families: dict[str, Metric], name: str, **labels: str) -> float:
    (found,) = [
        sample.value
        for family in families.values()
        for sample in family.samples
        if sample.name == f"countersign_{name}" and sample.labels == labels
    ]
    return found


def labels_of(families: dict[str, Metric], name: str, label: str) -> set[str]:
    return {sample.labels[label] for sample in families[f"countersign_{name}"].samples}


async def test_every_promised_metric_is_served_from_the_start(around: Surroundings) -> None:
    running = await around.start()
    try:
        found = await scraped(around)

        named = {name for name in found if not name.startswith("countersign_process_")}
        assert named | PROMISED == documented_families(), "docs/metrics.md"
        for family in found.values():
            if family.name in documented_families() and family.samples:
                labels = {label for sample in family.samples for label in sample.labels} - {"le"}
                name = family.name + ("_total" if family.type == "counter" else "")
                assert labels == documented_labels()[name], "docs/metrics.md"
        assert labels_of(found, "requests", "state") == {state.value for state in State}
        assert labels_of(found, "requests", "kind") == set(running.core.kinds)
        assert all(sample.value == 0 for sample in found["countersign_requests"].samples)
        assert labels_of(found, "poll_age_seconds", "job") == set(exposition.JOBS)
        assert labels_of(found, "executions", "finding") == {finding.value for finding in Finding}
        assert value(found, "outbox_waiting", channel="alerts") >= 0
        assert value(found, "outbox_oldest_seconds", channel="approvals") == 0
        assert value(found, "inbox_waiting") == 0
        assert value(found, "api_calls_total", operation="GET /me", status="200") >= 1
        assert value(found, "api_call_seconds_count", operation="GET /me") >= 1
        assert value(found, "api_calls_total", operation="POST /cards/{cardId}/topup", status="200") == 0
        account = (await running.core.partners["main"].me()).float
        assert Decimal(str(value(found, "float_available_usd", program="main"))) == account.available_usd
        assert 0 < value(found, "api_budget_left", program="main") < 120
        assert value(found, "audit_entries") >= 2
        assert value(found, "slack_connected") == value(found, "database_up") == 1
        assert value(found, "reads", program="main") == 1
        assert [s.labels["database"] for s in found["countersign_build_info"].samples] == ["sqlite"]
    finally:
        await running.stop()


async def test_no_name_is_ours_without_saying_so_and_no_label_holds_an_id_or_a_person(
    around: Surroundings,
) -> None:
    running = await around.start()
    try:
        async with httpx.AsyncClient(base_url=around.slack.url, trust_env=False) as page:
            command = {"user": "U0ALICE", "channel": "C0OPS", "text": "/card topup"}
            await page.post("/_control/act/command", json=command)
        found = await scraped(around)

        assert all(name.startswith("countersign_") for name in found)
        assert value(found, "ack_seconds_count", kind="command") == 1
        labels = {text for f in found.values() for sample in f.samples for text in sample.labels.values()}
        assert not [text for text in labels if re.search(r"R-\w{4}|[UCST]0[A-Z]+|[0-9a-f]{12,}|co-", text)]
    finally:
        await running.stop()


async def test_a_database_that_does_not_answer_leaves_the_rest(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = await around.start()
    try:

        def away(*_: object, **__: object) -> None:
            raise OSError("gone")

        monkeypatch.setattr(exposition, "figures", away)
        found = await scraped(around)

        assert value(found, "database_up") == 0
        assert "countersign_requests" not in found
        assert value(found, "api_calls_total", operation="GET /me", status="200") >= 1
    finally:
        await running.stop()


async def test_a_database_that_hangs_leaves_the_rest_within_five_seconds(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each of those who ask, not for the first alone. A driver takes its time to give up a query, too."""
    running = await around.start()
    try:

        async def hangs(*_: object, **__: object) -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(10)
                raise

        monkeypatch.setattr(exposition, "figures", hangs)
        async with asyncio.timeout(5):
            both = await asyncio.gather(scraped(around), scraped(around))

        for found in both:
            assert value(found, "database_up") == 0
            assert "countersign_requests" not in found
            assert value(found, "api_calls_total", operation="GET /me", status="200") >= 1
    finally:
        await running.stop()


async def test_an_address_of_the_metrics_that_is_taken_stops_the_start_only_where_it_was_asked_for(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The usual one is taken wherever a second process runs on the machine."""
    taken = around.env["COUNTERSIGN_HTTP_BIND"]

    with pytest.raises(startup.CannotStart, match="Set COUNTERSIGN_METRICS_BIND"):
        await around.start(COUNTERSIGN_METRICS_BIND=taken)
