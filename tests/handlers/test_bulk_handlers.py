"""Many cards in one request, through Slack: paste or upload, preview, rows, approval, results."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from bot.domain.requests import Request, State
from bot.services import execution, requests
from bot.services.operators import pausing
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, CAROL, SlackDriver, a_slack_driver
from tests.services.bulk_requests import hold_rows_to_the_ledger, rows_of, states_of
from tests.services.outcome_steps import processor

pytestmark = pytest.mark.by_turns(4)

Json = dict[str, Any]


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[SlackDriver]:
    async with a_slack_driver(tmp_path) as made:
        yield made


def csv_of(driver: SlackDriver, *amounts: str) -> str:
    cards = zip(driver.world.cards, amounts, strict=False)
    return "\n".join(["Amount (USD);Card", *(f"{amount};{card['id']}" for card, amount in cards)])


async def upload(driver: SlackDriver, content: str, *, user: str = ALICE, name: str = "cards.csv") -> Json:
    """A file in the app's own conversation; the bot's answer."""
    where = {"U0GUEST": "D0GAIL"}.get(user, f"D0{user[2:]}")
    body = {"user": user, "channel": where, "files": [{"name": name, "content": content}]}
    await driver.tell(
        "clock", {"advance_seconds": 3}
    )  # a message a second is what Slack takes in one channel
    await driver.tell("act/upload", body)
    await driver.settle()
    return [m for m in await driver.messages(user, where) if m["is_app"]][-1]


async def ask_by_upload(driver: SlackDriver, *amounts: str) -> Request:
    said = await upload(driver, csv_of(driver, *amounts))
    await driver.press(ALICE, said, "bulk:review", channel="D0ALICE")
    await driver.submit(ALICE, {"reason": "Per diems of March"})
    return await driver.newest()


def words(shown: Json) -> str:
    return json.dumps(shown, ensure_ascii=False)


async def replies_with_files(driver: SlackDriver, batch: Request) -> list[Json]:
    ts = (await driver.card(batch.id))["ts"]
    return [m for m in await driver.messages(BOB, APPROVALS) if m["thread_ts"] == ts and m["files"]]


async def run(driver: SlackDriver, seconds: float) -> None:
    await driver.world.run(seconds, step=2)
    await driver.world.advance(5)
    await driver.settle()


async def test_an_uploaded_list_becomes_one_request_with_rows_and_a_file_of_results(
    driver: SlackDriver,
) -> None:
    said = await upload(driver, csv_of(driver, "10", "20.50"))
    assert "I read 2 rows for “Top up a card”" in words(said)
    assert await driver.requests() == []
    await driver.press(ALICE, said, "bulk:review", channel="D0ALICE")
    preview = await driver.modal(ALICE)
    assert "Top up 2 cards by 30.50 USD in all" in words(preview)
    assert "SANDBOX" in words(preview)
    await driver.submit(ALICE, {"reason": "Per diems of March"})

    batch = await driver.newest()
    card = await driver.card(batch.id)
    assert "1. Top up " in words(card)
    await driver.press(BOB, card, "request:approve")
    shown = await driver.modal(BOB)
    assert all(row.summary in words(shown) for row in await rows_of(driver.world, batch))
    await driver.submit(BOB)
    await run(driver, 8)

    card = await driver.card(batch.id)
    assert "2 of 2 rows succeeded. 30.50 USD of 30.50 USD moved." in words(card)
    results = await replies_with_files(driver, batch)
    assert [file["name"] for m in results for file in m["files"]] == [f"{batch.id}-results.csv"]
    assert [m["text"].split(" · ")[0] for m in results] == ["SANDBOX"]
    assert await hold_rows_to_the_ledger(driver.world, batch) == Decimal("30.50")


async def test_who_submits_a_batch_while_sending_is_paused_is_notified(driver: SlackDriver) -> None:
    await pausing.pause(driver.core, BOB, ["main"], "the key may be stolen")

    batch = await ask_by_upload(driver, "10", "20.50")

    displayed = words((await driver.messages(ALICE, "D0ALICE"))[-1])
    assert f"*{batch.id}* is pending" in displayed
    assert "Sending to main is paused since" in displayed
    assert "the key may be stolen. What is approved meanwhile waits 15 minutes at most." in displayed


async def test_cancelling_a_batch_under_way_by_command_claims_nothing_of_what_was_sent(
    driver: SlackDriver,
) -> None:
    batch = await ask_by_upload(driver, "10", "20", "30")
    await driver.world.approve(batch)
    await execution.execute(driver.core, (await rows_of(driver.world, batch))[0].id)

    await driver.command(ALICE, f"/requests cancel {batch.id}")

    displayed = words(await driver.shown_to(ALICE))
    assert f"{batch.id}: rows that were not sent yet will not be sent." in displayed
    assert "Nothing of it was sent" not in displayed
    assert await states_of(driver.world, batch) == {State.SUCCEEDED: 1, State.CANCELLED: 2}


async def test_the_results_name_each_row_with_its_key(driver: SlackDriver) -> None:
    batch = await ask_by_upload(driver, "10", "20")
    await driver.world.approve(batch)
    await run(driver, 8)
    file_id = (await replies_with_files(driver, batch))[0]["files"][0]["id"]
    address = f"{driver.slack.url}/_control/file/{file_id}?user={BOB}"
    content = (await driver.world.control.get(address)).text

    lines = content.splitlines()
    assert lines[0].startswith('"line","request","what","amount_usd","result"')
    for line, row in zip(lines[1:], await rows_of(driver.world, batch), strict=True):
        assert row.id in line
        assert row.key in line
        assert ',"succeeded",' in line


async def test_a_pasted_list_with_faults_keeps_the_form_and_names_every_line(driver: SlackDriver) -> None:
    await driver.command(ALICE, "/card topup bulk")
    form = await driver.modal(ALICE)
    assert "card,amount" in words(form)
    ids = [card["id"] for card in driver.world.cards]
    pasted = f"card,amount\n{ids[0]},ten\nnobody,5\n{ids[1]},7\n{ids[1]},8\n4242 4242 4242 4242,5"
    displayed = (await driver.submit(ALICE, {"rows": pasted}))["errors"]["rows"]

    assert all(f"Line {line}:" in displayed for line in (2, 3, 5, 6))
    assert "Line 4:" not in displayed
    assert "as line 4 does. Put the amounts into one row." in displayed
    assert "looks like a card number" in displayed
    assert "4242 4242" not in displayed
    await driver.submit(ALICE, {"rows": f"card,amount\n{ids[0]},10\n{ids[1]},7"})
    await driver.submit(ALICE, {"reason": "Per diems"})
    assert (await driver.newest()).summary == "Top up 2 cards by 17.00 USD in all"


async def test_the_requester_leaves_a_row_out_and_the_approver_sees_what_is_left(driver: SlackDriver) -> None:
    batch = await ask_by_upload(driver, "10", "20")
    rows = await rows_of(driver.world, batch)
    card = await driver.card(batch.id)
    await driver.press(BOB, card, "request:rows")
    assert "Leave rows out" not in words(await driver.modal(BOB))
    await driver.press(ALICE, card, "request:rows")
    await driver.press_in_modal(ALICE, "bulk:leave_out")
    await driver.submit(ALICE, {"rows": [rows[0].id]})

    card = await driver.card(batch.id)
    assert "Top up 1 card by 20.00 USD in all" in words(card)
    assert any("left rows out" in text for text in await driver.thread(batch.id))
    await driver.press(BOB, card, "request:approve")
    assert rows[0].summary not in words(await driver.modal(BOB))
    await driver.submit(BOB)
    await run(driver, 4)
    assert await hold_rows_to_the_ledger(driver.world, batch) == Decimal(20)


async def test_an_approval_of_what_was_shown_before_a_row_was_left_out_does_not_count(
    driver: SlackDriver,
) -> None:
    batch = await ask_by_upload(driver, "10", "20")
    card = await driver.card(batch.id)
    await driver.press(BOB, card, "request:approve")
    rows = await rows_of(driver.world, batch)
    await driver.press(ALICE, card, "request:rows")
    await driver.press_in_modal(ALICE, "bulk:leave_out")
    await driver.submit(ALICE, {"rows": [rows[0].id]})
    await driver.submit(BOB)

    assert "no longer what would be sent" in words(await driver.modal(BOB))
    assert (await driver.world.request(batch.id)).state is State.PENDING


async def test_progress_is_shown_on_the_message_while_it_runs_and_it_can_be_stopped(
    driver: SlackDriver,
) -> None:
    batch = await ask_by_upload(driver, "10", "20", "30")
    await driver.world.approve(batch)
    await driver.world.run_due()
    await driver.world.advance(4)
    await driver.settle()
    card = await driver.card(batch.id)
    assert "1 of 3 rows ended: 1 succeeded" in words(card)
    more = f"cancel:{batch.id}:{(await driver.world.request(batch.id)).version}"
    await driver.press(ALICE, card, "request:more", selected_option=more)
    await driver.submit(ALICE)

    assert "1 of 3 rows succeeded; 2 not sent." in words(await driver.modal(ALICE))
    assert "Not all done" in words(await driver.card(batch.id))
    assert await states_of(driver.world, batch) == {State.SUCCEEDED: 1, State.CANCELLED: 2}


async def test_request_again_asks_for_the_rows_of_which_nothing_came(driver: SlackDriver) -> None:
    batch = await ask_by_upload(driver, "10", "20", "30")
    await driver.world.approve(batch)
    await driver.world.run_due()
    await requests.cancel(driver.core, batch.id, ALICE)
    await run(driver, 4)
    await driver.press(ALICE, await driver.card(batch.id), "request:again")
    await driver.submit(ALICE, {"reason": "The rest"})

    rest = await driver.newest()
    done, *others = await rows_of(driver.world, batch)
    assert done.state is State.SUCCEEDED
    assert rest.summary == "Top up 2 cards by 50.00 USD in all"
    assert [row.subject for row in await rows_of(driver.world, rest)] == [row.subject for row in others]
    assert not {row.key for row in await rows_of(driver.world, rest)} & {row.key for row in others}


NO_LISTS = (
    ("cards.pdf", "%PDF-1.4", "one CSV file at a time"),
    ("cards.csv", "card,amount", "no row under it"),
    ("cards.csv", "card,colour\n4242,red", "The column “colour” is not known"),
    ("cards.csv", "4242424242424242,50\n1,2", "looks like a card number"),
    ("cards.csv", "card,amount\n" + "x,1\n" * 101, "at most 100 go into one request"),
    ("cards.csv", 'card,amount\n"x,1\n', "quotes do not match"),
    ("cards.csv", "card,amount\n" + "x" * 200_001, "at most 200,000 are read"),
)


async def test_a_file_that_is_no_list_is_answered_in_words(driver: SlackDriver) -> None:
    for name, content, said in NO_LISTS:
        answer = words(await upload(driver, content, name=name))

        assert said in answer
        assert "4242424242424242" not in answer
    assert await driver.requests() == []


async def test_a_file_that_slack_does_not_give_is_asked_for_again(driver: SlackDriver) -> None:
    for effect in ("500", "429"):
        await driver.tell("faults", {"method": "files.download", "effect": effect})
        assert "Upload it again in a minute" in words(await upload(driver, csv_of(driver, "10")))
    assert "I read 1 row" in words(await upload(driver, csv_of(driver, "10")))


async def test_those_who_may_not_ask_are_notified_and_nothing_is_read(driver: SlackDriver) -> None:
    answer = await upload(driver, csv_of(driver, "10"), user="U0GUEST")

    assert "full members" in words(answer) or "guest" in words(answer).lower()
    assert "I read" not in words(answer)


async def test_orders_in_bulk_show_the_approver_what_no_channel_shows(driver: SlackDriver) -> None:
    people = (
        "Max Muster,49,15112345678,max@example.com,T-1",
        "Eva Muster,49,15112345679,eva@example.com,T-2",
    )
    said = await upload(driver, "\n".join(["name,country,phone,email,ref", *people]))
    await driver.press(ALICE, said, "bulk:review", channel="D0ALICE")
    await driver.submit(ALICE, {"reason": "New hires"})
    batch = await driver.newest()
    card = await driver.card(batch.id)
    assert "15112345678" not in words(card)
    kept = b"".join(path.read_bytes() for path in driver.world.database.parent.glob("bot.db*"))
    assert b"15112345678" not in kept
    assert b"max@example.com" not in kept
    await driver.press(BOB, card, "request:approve")
    assert "15112345678" in words(await driver.modal(BOB))
    await driver.submit(BOB)
    await run(driver, 6)

    assert await states_of(driver.world, batch) == {State.SUCCEEDED: 2}
    everything = words({"messages": await driver.messages(BOB, APPROVALS)})
    assert "15112345678" not in everything
    assert "max@example.com" not in everything


async def test_long_lists_are_read_in_pages_by_who_asks_and_who_approves(driver: SlackDriver) -> None:
    people = [f"Max Muster {chr(65 + n)},49,1511234567{n:02},max{n}@example.com" for n in range(25)]
    said = await upload(driver, "\n".join(["name,country,phone,email", *people]))
    await driver.press(ALICE, said, "bulk:review", channel="D0ALICE")
    first = words(await driver.modal(ALICE))
    await driver.press_in_modal(ALICE, "bulk:on")
    second = words(await driver.modal(ALICE))
    assert ("MAX MUSTER A " in first, "MAX MUSTER Y " in first) == (True, False)
    assert ("MAX MUSTER A " in second, "MAX MUSTER Y " in second) == (False, True)
    await driver.submit(ALICE, {"reason": "New hires"})

    batch = await driver.newest()
    card = await driver.card(batch.id)
    await driver.press(BOB, card, "request:approve")
    await driver.press_in_modal(BOB, "bulk:on")
    assert "Phone: 151123456724" in words(await driver.modal(BOB))
    await driver.press_in_modal(BOB, "bulk:back")
    assert "Phone: 151123456700" in words(await driver.modal(BOB))
    await driver.submit(BOB)
    assert (await driver.world.request(batch.id)).state is State.APPROVED
    await driver.press(ALICE, card, "request:rows")
    await driver.press_in_modal(ALICE, "bulk:on")
    assert "Rows 21 to 25 of 25" in words(await driver.modal(ALICE))


async def test_who_may_no_longer_decide_turns_no_page_of_private_values(driver: SlackDriver) -> None:
    people = [f"Max Muster {chr(65 + n)},49,1511234567{n:02},max{n}@example.com" for n in range(25)]
    said = await upload(driver, "\n".join(["name,country,phone,email", *people]))
    await driver.press(ALICE, said, "bulk:review", channel="D0ALICE")
    await driver.submit(ALICE, {"reason": "New hires"})
    batch = await driver.newest()
    await driver.press(BOB, await driver.card(batch.id), "request:approve")
    assert "Phone: 151123456700" in words(await driver.modal(BOB))

    await driver.world.approve(batch, by=CAROL)
    await driver.press_in_modal(BOB, "bulk:on")

    displayed = words(await driver.modal(BOB))
    assert "Phone" not in displayed
    assert f"{batch.id} is approved already" in displayed


async def test_a_row_nobody_knows_of_is_resolved_from_the_window_of_its_rows(driver: SlackDriver) -> None:
    await processor("5xx").set(driver.world, "POST /cards/{cardId}/topup", times=1)
    batch = await ask_by_upload(driver, "10", "20")
    await driver.world.approve(batch)
    await driver.world.run(1200, step=40)
    await driver.settle()
    card = await driver.card(batch.id)
    assert "Unresolved" in words(card)
    for person in (BOB, CAROL):
        await driver.press(person, card, "request:rows")
        await driver.press_in_modal(person, "request:resolve")
        await driver.submit(person, {"verdict": "succeeded", "evidence": "The card shows it."})

    assert (await driver.world.request(batch.id)).state is State.SUCCEEDED
    assert "2 of 2 rows succeeded" in words(await driver.card(batch.id))


async def test_results_whose_answer_was_lost_are_found_again_and_not_sent_twice(driver: SlackDriver) -> None:
    await driver.tell("faults", {"method": "files.completeUploadExternal", "effect": "reset_after"})
    batch = await ask_by_upload(driver, "10", "20")
    await driver.world.approve(batch)
    await run(driver, 8)
    for _ in range(3):
        await driver.outbox.heal()
        await driver.world.advance(10)
        await driver.settle()

    assert len(await replies_with_files(driver, batch)) == 1
    stuck = "SELECT count(*) FROM outbox WHERE state <> 'sent'"
    async with driver.world.store.read() as tx:
        assert (await tx.run(text(stuck))).scalar_one() == 0


async def test_freezes_in_bulk_freeze_every_card(driver: SlackDriver) -> None:
    ids = [card["id"] for card in driver.world.cards[:2]]
    await driver.command(ALICE, "/card freeze bulk")
    await driver.submit(ALICE, {"rows": "\n".join(["card", *ids])})
    await driver.submit(ALICE, {"reason": "Stolen bag"})
    batch = await driver.newest()
    await driver.world.approve(batch)
    await run(driver, 6)

    statuses = {card["id"]: card["status"] for card in (await driver.world.state())["cards"]}
    assert [statuses[card] for card in ids] == ["FROZEN", "FROZEN"]
