"""The state itself: upgrades of old files, deep pages that agree with a scan, and kill -9 in mid-life."""

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox.partner import invariants
from sandbox.partner.accounts import accounts
from sandbox.partner.cards import cards
from sandbox.partner.server import Running, build_world, serve
from sandbox.partner.state import stamp_now, store
from tests.sandbox_partner.conftest import Api, Hand


def test_a_file_of_the_first_version_is_upgraded_and_still_adds_up(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as old:
        old.executescript(store._STEPS[0] + "PRAGMA user_version = 1;")
        old.execute(
            "INSERT INTO accounts VALUES ('a', 1, 'Old', NULL, '2024-01-01T00:00:00.000Z', '{}', '100', '25', '0',"
            " '0', '0', NULL, 2)"
        )
        for number, status in ((1, "ACTIVE"), (2, "DELETED")):
            closed = "2026-01-02T00:00:00.000Z" if status == "DELETED" else None
            old.execute(
                "INSERT INTO cards VALUES (?, ?, 'a', NULL, 'OLD', '4242', ?, '2026-01-01T00:00:00.000Z',"
                " '2026-01-01T00:00:00.000Z', ?, ?, 1, NULL, NULL)",
                (number, f"card{number}", status, closed, "25" if number == 1 else "0"),
            )
        old.execute(
            "INSERT INTO keyed VALUES (1, 'a', 'topup', 'k', 'card1', '25', 'done', '{}', '2026-01-01', 0, 1)"
        )
        rows = [("100", "funding", None, None), ("-25", "card_topup", "topup:k", 1)]
        for amount, kind, reference, keyed in rows:
            old.execute(
                "INSERT INTO ledger (account, amount_usd, kind, reference, card_id, created_at, keyed)"
                " VALUES ('a', ?, ?, ?, NULL, '2026-01-01T00:00:00.000Z', ?)",
                (amount, kind, reference, keyed),
            )
    old.close()

    world = build_world(str(path))

    owner = accounts.account(world, "a")
    assert (owner.open_cards, owner.ledger_rows, str(owner.net_topups_usd)) == (1, 2, "25")
    assert invariants.broken(world) == []
    world.store.close()
    build_world(str(path)).store.close()


def test_a_file_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with sqlite3.connect(path) as new:
        new.execute("PRAGMA user_version = 99")
    new.close()
    with pytest.raises(ValueError, match="version 99"):
        build_world(str(path))


@pytest.mark.rule("R076", "R075", "R078")
async def test_pages_of_cards_agree_with_the_whole_whatever_was_closed(api: Api, simulator: Running) -> None:
    """R075, R076, R078: also across the blocks by which a deep page is found."""
    world = simulator.world
    owner = accounts.first_account(world)
    with world.store.transaction():
        made = [cards.issue(world, owner, f"NO {number}", None).id for number in range(1300)]
        for card_id in made[::7]:
            world.store.update("cards", "id", card_id, status="DELETED", closed_at=stamp_now(world))
            cards.count_open(world, owner, card_id, -1)
    expected = [card_id for card_id in reversed(made) if card_id not in set(made[::7])]

    found: list[str] = []
    while True:
        page = (await api.get(f"/cards?limit=100&offset={len(found)}")).data
        found += [card["id"] for card in page["cards"]]
        if page["count"] < 100:
            break
    assert found == expected
    assert invariants.broken(world) == []


@pytest.mark.rule("R196")
async def test_the_ledger_stays_in_order_when_the_clock_was_set_back(api: Api, hand: Hand) -> None:
    """R196: by moment, then by internal id, which are not the same then."""
    moments = ["2026-03-03T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "2026-03-02T00:00:00Z"]
    for number, moment in enumerate(moments, 1):
        await hand("clock", mode="frozen", set=moment)
        await hand("float", amount_usd=str(number))
    pages = [(await api.get(f"/ledger?limit=3&page={page}")).data["entries"] for page in (1, 2)]
    assert [row["amount_usd"] for page in pages for row in page] == [1, 4, 3, 2]


PROCESS = """
import asyncio, sys
from sandbox.partner.server import serve

async def main():
    running = await serve(port=0, state_path=sys.argv[1])
    print(running.base_url, running.control_url, running.key, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def started(state: Path) -> tuple[asyncio.subprocess.Process, list[str]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROCESS, str(state), stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": "."},
    )  # fmt: skip
    assert process.stdout is not None
    return process, (await process.stdout.readline()).decode().split()


async def test_everything_answered_is_there_after_kill_9(tmp_path: Path) -> None:
    """Purchases, limits, a registration with its secret, a backlog and its schedule survive; twice."""
    path = tmp_path / "partner.db"
    seen: list[Any] = []
    for life in range(3):
        process, (base_url, control_url, key) = await started(path)
        async with (
            httpx.AsyncClient(base_url=base_url) as http,
            httpx.AsyncClient(base_url=control_url + "/") as control,
        ):
            api, hand = Api(http, key), Hand(control)
            state = await hand.state()
            assert state["invariants"] == {"ok": True, "broken": []}
            if life:
                assert {**state, "clock": ""} == seen[-1]
            else:
                await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")
                await api.call("PUT", "/webhook", {"url": "https://hooks.example.com/"})
            card = await api.loaded(hand, "100", f"life-{life}")
            await api.call("PUT", f"/cards/{card}/limits", {"daily_limit": 50})
            await hand.buy(card, "20")
            await hand("clock", advance_seconds=90)
            seen.append({**await hand.state(), "clock": ""})
            process.send_signal(signal.SIGKILL)
            await process.wait()
    assert [event["attempts"] for event in seen[-1]["events"]] == [3, 3, 2]


async def test_a_snapshot_restored_into_a_file_is_there_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "partner.db")
    running = await serve(port=0, state_path=path)
    async with httpx.AsyncClient(base_url=running.control_url + "/") as control:
        hand = Hand(control)
        await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")
        await hand("float", amount_usd="7")
        await hand("snapshots/seven")
        await hand("float", amount_usd="1")
        await hand("clock", advance_seconds=3600)
        await hand("snapshots/seven/restore")
        before = await hand.state()
    await running.close()
    running = await serve(port=0, state_path=path)
    async with httpx.AsyncClient(base_url=running.control_url + "/") as control:
        assert await Hand(control).state() == before
    assert before["float"]["balance_usd"] == "7"
    await running.close()
