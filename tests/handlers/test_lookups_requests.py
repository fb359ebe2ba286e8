"""Look-ups of requests: searching them, and proving that one is what was approved."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot import operations
from bot.domain.requests import OPEN, Request, State
from bot.services.core import Core
from bot.services.requests import request_lookups, verification
from handlers.commands import request_lookups as request_commands
from handlers.views.lookups import request_lists
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.handlers.slack_driver import ALICE, BOB, OPS, SlackDriver
from tests.support.view_text import cell_text
from tests.support.world import MASTER

Json = dict[str, Any]
KINDS = operations.kinds()


async def answer(driver: SlackDriver, text: str, user: str = ALICE) -> Json:
    await driver.command(user, text)
    return await driver.shown_to(user)


def ids(message: Json) -> list[str]:
    tables = [block for block in message["blocks"] if block["type"] == "table"]
    return [cell_text(row[0]) for table in tables for row in table["rows"][1:]]


async def some(driver: SlackDriver) -> list[Request]:
    """Alice's top-up that succeeded, her freeze that waits, and Bob's top-up that waits."""
    world = driver.world
    done = await world.top_up("20")
    await world.run_due()
    await world.advance(60)
    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]})
    await world.advance(60)
    other = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "7"}, by=BOB)
    return [done, freeze, other]


async def test_requests_are_found_by_state_kind_person_and_period(driver: SlackDriver) -> None:
    done, freeze, other = [r.id for r in await some(driver)]
    for asked, wanted in {
        "all": [other, freeze, done],
        "succeeded": [done],
        "open": [other, freeze],
        "topup": [other, done],
        "pending top-up": [other],
        "mine": [freeze, done],
        "by @bob": [other],
        f"<@{BOB}|bob> pending": [other],
        "all today": [other, freeze, done],
        "all yesterday": [],
        "freeze 24h": [freeze],
    }.items():
        assert ids(await answer(driver, f"/requests {asked}")) == wanted, asked
    assert "isn't a state, a kind or a person" in str(await answer(driver, "/requests of my dreams"))
    assert "isn't a period" in str(await answer(driver, "/requests all 3 months"))

    shown = str(await answer(driver, "/requests open this week"))
    assert "open, 2 Mar 2026 (" in shown
    assert "Countersign's own database" in shown


async def test_many_requests_come_page_by_page_in_place(driver: SlackDriver, monkeypatch: Any) -> None:
    monkeypatch.setattr(request_lookups, "REQUESTS_PAGE", 2)
    wanted = [r.id for r in await some(driver)]
    first = await answer(driver, "/requests all")

    await driver.press(ALICE, first, "answer:page:on", channel=OPS)

    second = await driver.shown_to(ALICE)
    assert second["ts"] == first["ts"]
    assert "page 2 of 2" in str(second)
    assert sorted(ids(first) + ids(second)) == sorted(wanted)


async def test_each_request_is_listed_once_though_others_are_made_while_the_pages_are_turned(
    driver: SlackDriver, monkeypatch: Any
) -> None:
    monkeypatch.setattr(request_lookups, "REQUESTS_PAGE", 2)
    wanted = [(await driver.world.top_up("1", approved=False)).id for _ in range(5)]
    shown = await answer(driver, "/requests all")
    walked = ids(shown)
    while "More" in str(shown["blocks"][-1]):
        await driver.world.top_up("2", approved=False)
        await driver.press(ALICE, shown, "answer:page:on", channel=OPS)
        shown = await driver.shown_to(ALICE)
        walked += ids(shown)
    await driver.press(ALICE, shown, "answer:page:back", channel=OPS)
    before = ids(await driver.shown_to(ALICE))

    assert sorted(walked) == sorted(wanted)
    assert before == walked[-3:-1]


async def test_more_requests_than_are_counted_are_said_to_be_more(
    driver: SlackDriver, monkeypatch: Any
) -> None:
    monkeypatch.setattr(request_lookups, "MOST_COUNTED", 2)
    monkeypatch.setattr(request_lookups, "REQUESTS_PAGE", 2)
    for _ in range(3):
        await driver.world.top_up("1", approved=False)

    shown = str(await answer(driver, "/requests all"))

    assert "more than 2 requests, page 1" in shown
    assert "page 1 of" not in shown


@pytest.mark.parametrize("word", sorted(State))
def test_every_state_is_a_word_of_the_search(word: str) -> None:
    found = request_commands.read(word, ALICE, KINDS)

    assert found is not None
    assert found.states == {State(word)}


def test_groups_of_states_leave_none_out() -> None:
    both = [request_commands.read(word, ALICE, KINDS) for word in ("open", "decided")]

    assert [f.states for f in both if f] == [OPEN, frozenset(State) - OPEN]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_is_found_by_its_own_name(kind: str) -> None:
    found = request_commands.read(kind, ALICE, KINDS)

    assert found is not None
    assert found.kinds == (kind,)


@asynccontextmanager
async def changed(driver: SlackDriver, copy: Path, statement: str, request_id: str) -> AsyncIterator[Core]:
    """The same bot over a copy of the database, changed as somebody without the key could."""
    with closing(sqlite3.connect(driver.world.database)) as whole, closing(sqlite3.connect(copy)) as raw:
        whole.backup(raw)
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f'DROP TRIGGER "{name}"')
        assert raw.execute(statement, (request_id,)).rowcount, "nothing was changed"
        raw.commit()
    vault = Vault(Keyring.parse(MASTER))
    store = await Store.open(f"sqlite:///{copy}", vault=vault, clock=driver.world.clock, exclusive=False)
    try:
        yield replace(driver.core, store=store)
    finally:
        await store.close()


async def test_verify_says_exactly_what_was_checked_and_when(driver: SlackDriver) -> None:
    done, freeze, _ = await some(driver)

    shown = await answer(driver, f"/requests verify {done.id.lower()}")

    assert shown["text"] == f"{done.id}: all checks passed"
    text = str(shown)
    for part in ("Terms", "Body as sent", "Decisions", "Approvals", "Audit entries", "Audit chain"):
        assert f"✓ *{part}:*" in text, part
    assert "approve by" in text
    assert "1 of 1 needed, none of them the requester's" in text
    assert "checked <!date^" in text
    assert "as it was frozen at submit" in str(await answer(driver, f"/requests verify {freeze.id}"))
    assert "There is no request" in (await answer(driver, "/requests verify R-NONE"))["text"]
    assert "Name the request" in (await answer(driver, "/requests verify"))["text"]


TAMPERED = [
    ("Terms", "UPDATE request SET summary = 'Top up by 1.00 USD' WHERE id = ?"),
    ("Terms", "UPDATE request SET exposure_usd = '1.00' WHERE id = ?"),
    ("Terms", "UPDATE request SET requester_name = 'Carol' WHERE id = ?"),
    ("Decisions", "UPDATE decision SET actor = 'U0CAROL' WHERE request_id = ?"),
    ("Decisions", "UPDATE decision SET decided_at = '2020-01-01T00:00:00.000000Z' WHERE request_id = ?"),
    ("Approvals", "DELETE FROM decision WHERE request_id = ?"),
    ("Audit entries", "DELETE FROM audit WHERE subject = 'request:' || ? || ':1'"),
    ("Audit chain", "UPDATE audit SET actor = 'x' WHERE seq = (SELECT max(seq) FROM audit) AND ? <> ''"),
    ("Audit chain", "UPDATE audit SET at = '2020' WHERE seq = (SELECT max(seq) FROM audit) AND ? <> ''"),
    ("Audit chain", "UPDATE audit SET actor = 'U0CAROL' WHERE subject LIKE 'request:' || ? || ':%'"),
    ("Audit chain", "UPDATE audit SET body = 'x' WHERE subject LIKE 'request:' || ? || ':%'"),
]


async def test_what_was_changed_behind_the_bots_back_is_found(driver: SlackDriver, tmp_path: Path) -> None:
    done, *_ = await some(driver)
    for number, (part, statement) in enumerate(TAMPERED):
        async with changed(driver, tmp_path / f"{number}.db", statement, done.id) as core:
            found = await verification.verify(core, done.id)

            assert not found.holds
            assert part in {check.what for check in found.checks if not check.holds}, statement
            shown = request_lists.verification(found)
            assert shown["text"] == f"{done.id}: SOMETHING WAS CHANGED"
            assert f"✗ *{part}:*" in str(shown)
            assert "Keep a copy of it" in str(shown)


async def test_a_long_check_says_first_that_it_takes_a_while(driver: SlackDriver, monkeypatch: Any) -> None:
    done, *_ = await some(driver)
    monkeypatch.setattr(verification, "LONG_CHAIN", 1)

    await driver.command(ALICE, f"/requests verify {done.id}")

    hidden = [m["text"] for m in await driver.messages(ALICE, OPS) if m["ephemeral"]]
    assert "audit entries; this takes a few seconds" in hidden[-2]
    assert hidden[-1].endswith("all checks passed")


async def test_an_approver_whom_slack_does_not_know_keeps_nobody_from_looking_at_a_request(
    driver: SlackDriver,
) -> None:
    _, freeze, _ = await some(driver)
    del driver.slack.workspace.store.people["U0CAROL"]

    shown = str(await answer(driver, f"/requests show {freeze.id}"))
    waiting = str(await answer(driver, "/requests waiting Bob"))

    assert freeze.id in shown
    assert "Bob Tanaka" in shown
    assert freeze.id in waiting
