"""Entries about one request that contradict each other about its calls are found in an export, and by `--deep`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import verify_audit
from bot.services import requests
from bot.services.requests import approvals
from storage import audit
from storage.protection.chain_replay import Replayed
from tests.services.outcome_steps import TOPUP, execute, processor, status
from tests.support.world import ALICE, World, a_world

Json = dict[str, Any]
OTHER = "0" * 32
UNSENT_ENDS = ("request.rejected", "request.cancelled", "request.expired")


async def _exported(folder: Path) -> list[Json]:
    async with a_world(folder) as world:
        await _work(world)
        lines: list[str] = []
        async with world.store.read() as tx:
            await audit.export(tx, _kept(lines), "jsonl")
    return [json.loads(line) for line in "".join(lines).splitlines()]


def _kept(lines: list[str]) -> Callable[[str], int]:
    def write(text: str) -> int:
        lines.append(text)
        return len(text)

    return write


async def _work(world: World) -> None:
    """One that is tried three times, one that nobody knows the outcome of and two people resolve, some that end."""
    await status(500, "UNAVAILABLE").set(world, TOPUP, times=2)
    await world.top_up("50")
    await world.run(60)
    lost = await world.top_up("55", card=2)
    with world.dies_at("execution.claimed"):
        await execute(world, lost)
    await world.run(world.core.lease_s + 60)
    await processor("5xx").set(world, TOPUP, times=1)
    lost = await execute(world, await world.top_up("60", card=1))
    for person in ("U0BOB", "U0CAROL"):
        await approvals.resolve(world.core, lost.id, person, verdict="failed", evidence="not in the ledger")
    await approvals.reject(world.core, (await world.top_up("7", approved=False)).id, "U0BOB", reason="no")
    await requests.cancel(world.core, (await world.top_up("8")).id, ALICE)
    await world.top_up("9", approved=False)
    await world.advance(9 * 3600)
    await requests.expire_due(world.core)


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    return asyncio.run(_exported(tmp_path_factory.mktemp("export")))


def _is_noticed(entries: list[Json]) -> bool:
    """By the script, with the chain made again around what was changed: it is broken, or to be asked about."""
    before, lines = "", []
    for entry in map(dict, entries):
        entry["prev"] = before
        entry["hash"] = before = verify_audit.fingerprint(entry)
        lines.append(json.dumps(entry))
    passkeys = verify_audit.Passkeys(None)
    try:
        verify_audit.check_chain(lines, passkeys.see)
        passkeys.finish()
    except verify_audit.Broken:
        return True
    return bool(passkeys.to_ask_about)


def _wrong(entries: list[Json]) -> list[tuple[str, str]]:
    """By the check of the product, had somebody with the master key written these entries."""
    found = Replayed()
    names = audit.Link._fields
    for entry in entries:
        found.take_link(audit.Link(**{name: entry[name] for name in names if name in entry}))
    return found.wrong


def _changes(entries: list[Json]) -> Iterator[tuple[int, str]]:
    """Each fingerprint of calls that another entry depends on: the place of its entry, and its name."""
    for place, entry in enumerate(entries):
        body = json.loads(entry["body"])
        later = [json.loads(one["body"]) for one in entries[place + 1 :] if _about(one) == _about(entry)]
        counting = [one for one in later if "calls" in one]
        if "calls" in body:
            yield place, "calls"
        if "call" in body and any(body["number"] in one["unanswered"] for one in counting):
            yield place, "call"
        if "answer" in body and counting:
            yield place, "answer"
        if entry["action"] in verify_audit._KEEPS_CALLS:
            yield place, "progress"


def _about(entry: Json) -> str:
    return str(entry["subject"].partition(":")[2].partition(":")[0])


def _changed(entries: list[Json], place: int, change: Json) -> list[Json]:
    found = [dict(entry) for entry in entries]
    found[place]["body"] = json.dumps({**json.loads(found[place]["body"]), **change})
    return found


def test_what_countersign_wrote_is_whole(entries: list[Json]) -> None:
    assert not _is_noticed(entries)
    assert _wrong(entries) == []
    assert {name for _, name in _changes(entries)} == {"calls", "call", "answer", "progress"}


def test_every_fingerprint_of_calls_that_says_something_else_is_found(entries: list[Json]) -> None:
    missed = []
    for place, name in _changes(entries):
        changed = _changed(entries, place, {name: OTHER})
        if not _is_noticed(changed):
            missed.append(("verify_audit.py", entries[place]["action"], name))
        # Where it ended and was not sent, that is all there is to it.
        if not _wrong(changed) and entries[place]["action"] not in (
            "request.rejected",
            "request.cancelled",
            "request.expired",
        ):
            missed.append(("--deep", entries[place]["action"], name))

    assert missed == [], missed


def test_an_answered_call_that_is_said_to_have_none_is_found(entries: list[Json]) -> None:
    place = next(
        n
        for n, one in enumerate(entries)
        if one["action"] == "request.attempt" and '"number":2' in one["body"]
    )
    changed = _changed(entries, place, {"unanswered": [1]})

    assert _is_noticed(changed)
    assert _wrong(changed)
