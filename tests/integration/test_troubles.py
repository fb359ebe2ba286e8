"""What goes wrong around a running bot, and who is notified and where: Slack, the page for machines, the log."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from bot import app, jobs
from bot.services.events import polling
from bot.services.messages import storage_watch
from bot.web import NOT_READ
from storage import store
from tests.integration.surroundings import Surroundings, ready
from tests.support.disks import fill
from tests.support.waiting import eventually

READS = (
    *("GET /me", "GET /webhook", "GET /cards", "GET /events", "GET /funding", "GET /ledger"),
    "POST /cards/balances",
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_watch, "_LOOKS_EVERY_S", 0.2)
    monkeypatch.setattr(store, "_PROBE_WAITS_MS", 100)


@asynccontextmanager
async def started(around: Surroundings) -> AsyncIterator[app.Running]:
    running = await around.start()
    try:
        yield running
    finally:
        await running.stop()


async def said_in(around: Surroundings, channel: str, user: str = "U0BOB") -> str:
    """Every text of a channel, as this person sees it."""
    async with httpx.AsyncClient(base_url=around.slack.url, trust_env=False) as page:
        return (await page.get(f"/_control/see?user={user}&channel={channel}")).text


async def alerted(around: Surroundings, *words: str) -> str:
    async def is_said() -> str:
        seen = await said_in(around, "C0ALERTS")
        return seen if all(word in seen for word in words) else ""

    return await eventually(f"the alerts channel says {words}", is_said)


async def asked_for_help(around: Surroundings) -> dict[str, Any]:
    """Somebody types a command."""
    async with httpx.AsyncClient(base_url=around.slack.url, trust_env=False) as page:
        body = {"user": "U0ALICE", "channel": "C0OPS", "text": "/card topup"}
        found: dict[str, Any] = (await page.post("/_control/act/command", json=body)).json()["outcome"]
        return found


async def is_answered(around: Surroundings) -> bool:
    """By what is shown to whoever asked, alone."""
    seen = await said_in(around, "C0OPS", user="U0ALICE")
    return "cannot use its database right now, and nothing is sent" in seen and "reference" in seen


@contextmanager
def write_lock(database: Path) -> Iterator[None]:
    other = sqlite3.connect(database)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.rollback()
        other.close()


async def test_while_another_process_holds_the_write_lock_it_is_not_ready_and_people_are_notified(
    around: Surroundings,
) -> None:
    async with started(around) as running:
        assert (await ready(running))["database"] == "ok"

        with write_lock(around.database):
            assert "holds the write lock" in (await ready(running))["database"]
            said = await alerted(around, "cannot store anything since", "holds the write lock")
            assert "S0APPROVERS" in said or "subteam" in said, "those who are called by a critical alert"

        await alerted(around, "stores everything again")
        assert (await ready(running))["database"] == "ok"


async def test_with_a_full_disk_it_is_not_ready_and_people_are_notified(
    around: Surroundings, small_disk: Path
) -> None:
    around.put_database_in(small_disk)
    async with started(around) as running:
        filler = small_disk / "filler"
        fill(filler)

        assert "is full" in (await ready(running))["database"]
        assert (await asked_for_help(around))["acked"]
        await eventually("who asks is answered in the right words", partial(is_answered, around))
        await alerted(around, "cannot store anything since", "Free some space")

        filler.unlink()
        await alerted(around, "stores everything again")
        assert (await ready(running))["database"] == "ok"


@pytest.mark.parametrize(
    ("effect", "in_slack", "on_page"),
    [
        ({"effect": "hang", "seconds": 60}, "it did not answer in time", "does not answer: main"),
        (
            {"effect": "status", "status": 503},
            "it answers only errors (HTTP 503)",
            "only errors: main (HTTP 503",
        ),
    ],
    ids=["hangs", "answers errors"],
)
async def test_an_api_that_does_not_answer_is_reported_in_slack_and_on_the_page(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch, effect: dict[str, Any], in_slack: str, on_page: str
) -> None:
    monkeypatch.setattr(polling, "_QUIET_S", 0.2)
    monkeypatch.setattr(polling, "_LOOKS_AGAIN_S", 0.05)
    monkeypatch.setattr(polling, "RECORD_READ_SECONDS", 0.3)
    monkeypatch.setattr("bot.partner.wire._UNANSWERED_S", 0.2)
    monkeypatch.setattr("bot.partner.wire.AWAY_AFTER_S", 0.5)
    monkeypatch.setattr("bot.partner.wire.SURELY_AFTER_S", 0.5)
    monkeypatch.setattr(jobs, "ANSWERS_EVERY_S", 1)
    async with started(around) as running:
        faults = [{"operation": one, "times": 1000, **effect} for one in READS]
        async with httpx.AsyncClient(base_url=around.partner.url, trust_env=False, verify=False) as control:
            for fault in faults:
                assert (await control.post("/_control/faults", json=fault)).is_success

            await alerted(around, "The account of main cannot be read", in_slack)
            assert on_page in (await ready(running))["poller"]

            assert (await control.delete("/_control/faults")).is_success

        async def is_over() -> bool:
            return (await ready(running))["poller"] == "ok"

        assert await eventually("it is ready again", is_over)
        await alerted(around, "The account of main is read again")


async def test_without_a_database_the_page_says_what_is_wrong_in_words(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No check shows the name of an error, whichever part of the database does not answer."""
    async with started(around) as running:

        def away(_self: store.Store) -> None:
            raise OperationalError("SELECT 1", {}, sqlite3.OperationalError("disk I/O error"))

        monkeypatch.setattr(store.Store, "read", away)
        checks = await ready(running)

    assert {checks[name] for name in ("key", "safe_mode", "outbox")} == {NOT_READ}
    assert [said for said in checks.values() if "Error" in said] == []


async def test_a_slack_that_does_not_answer_is_reported_on_the_page(around: Surroundings) -> None:
    async with started(around) as running:
        await around.slack.close()

        assert "Slack does not answer" in (await ready(running))["slack"]
