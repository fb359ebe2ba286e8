"""Exports: CSV files in the person's direct messages, for those who may, and on record."""

import csv
import io
import json
from decimal import Decimal
from typing import Any

from bot.domain.money import exact_sum
from bot.services.overview import exports
from storage import audit
from tests.handlers.slack_driver import ALICE, BOB, SlackDriver

Json = dict[str, Any]


async def exported(driver: SlackDriver, text: str, user: str = BOB) -> tuple[Json, list[dict[str, str]]]:
    """The last word of the message that shows the progress, and the records of all files, heads left out."""
    await driver.command(user, f"/countersign export {text}")
    messages = await driver.messages(user, f"D0{user[2:]}")
    said = [m for m in messages if not m.get("files")][-1]
    records: list[dict[str, str]] = []
    for message in messages:
        for file in message.get("files") or ():
            content = driver.slack.workspace.store.files[file["id"]].content
            head, *rest = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
            assert len({len(head), *map(len, rest)}) == 1
            records += [dict(zip(head, row, strict=True)) for row in rest]
    return said, records


async def entries(driver: SlackDriver, action: str) -> list[audit.Entry]:
    async with driver.world.store.read() as tx:
        return [e async for e in audit.entries(tx) if e.action.startswith(action)]


async def test_requests_are_exported_with_no_cell_that_runs(driver: SlackDriver) -> None:
    request = await driver.ask_top_up(reason="=HYPERLINK(1)")

    said, records = await exported(driver, "requests today")

    assert [r["id"] for r in records] == [request.id]
    assert records[0]["reason"] == "'=HYPERLINK(1)"
    assert records[0]["amount_usd"] == "50.00"
    assert records[0]["requester"] == ALICE
    assert "1 row of requests" in said["text"]
    assert "2 Mar 2026 (Asia/Tokyo)" in said["text"], "in Bob's own time zone"


async def test_the_ledger_is_exported_to_the_last_row_and_adds_up(driver: SlackDriver) -> None:
    _, records = await exported(driver, "ledger 90d")

    rows = [e async for e in driver.core.partners["main"].ledger_entries()]
    assert len(records) == len(rows) > 3
    balance = Decimal((await driver.world.state())["float"]["balance_usd"])
    assert exact_sum(Decimal(r["amount_usd"]) for r in records) == balance
    assert all(r["what"] for r in records)


async def test_the_audit_is_exported_as_it_was_hashed(driver: SlackDriver) -> None:
    await driver.ask_top_up()

    _, records = await exported(driver, "audit today")

    async with driver.world.store.read() as tx:
        entry, *_ = [e async for e in audit.entries(tx)]
    assert records[0]["hash"] == entry.hash
    assert records[0]["body"] == entry.body
    assert records[-1]["action"] == "export.begun"


async def test_an_export_is_on_record_before_its_first_byte_and_with_its_digest_after(
    driver: SlackDriver,
) -> None:
    said, _ = await exported(driver, "ledger 7d")

    begun, done = await entries(driver, "export.")
    assert (begun.action, done.action) == ("export.begun", "export.done")
    assert begun.actor == done.actor == BOB
    (digest,) = json.loads(done.body)["sha256"]
    assert digest in str(said)


async def test_only_approvers_and_admins_export_and_a_refusal_is_on_record(driver: SlackDriver) -> None:
    await driver.command(ALICE, "/countersign export requests today")

    assert "for approvers and admins" in (await driver.shown_to(ALICE))["text"]
    (refused,) = await entries(driver, "export")
    assert (refused.actor, refused.outcome, refused.reason_code) == (ALICE, "refused", "not_an_exporter")
    assert not driver.slack.workspace.store.files


async def test_what_cannot_be_exported_is_said_with_what_can(driver: SlackDriver) -> None:
    for text in ("", "everything today", "requests", "requests sometime", "ledger 4242 7d"):
        await driver.command(BOB, f"/countersign export {text}")
        assert (
            "KIND is one of requests, audit, transactions, ledger" in (await driver.shown_to(BOB))["text"]
        ), text


async def test_a_long_export_comes_in_parts_each_with_its_head(driver: SlackDriver, monkeypatch: Any) -> None:
    monkeypatch.setattr(exports, "PART_BYTES", 600)

    said, records = await exported(driver, "ledger 90d")

    rows = [e async for e in driver.core.partners["main"].ledger_entries()]
    assert len(records) == len(rows)
    assert "1 file" not in said["text"]
    (_, done) = await entries(driver, "export.")
    assert len(json.loads(done.body)["sha256"]) > 1


async def test_an_export_that_stops_says_that_it_is_not_all(driver: SlackDriver) -> None:
    await driver.world.fault("status", "GET /ledger", status=500, code="UNAVAILABLE", times=20)

    said, records = await exported(driver, "ledger 90d")

    assert records == []
    assert "stopped. Nothing was sent" in said["text"]
    assert [e.action for e in await entries(driver, "export.")] == ["export.begun", "export.stopped"]


async def test_a_cards_purchases_are_exported_with_what_events_reported(driver: SlackDriver) -> None:
    card = driver.world.cards[0]
    for merchant in ("=cmd", "DECLINE fraud_risk_declined"):
        await driver.world.tell("purchases", {"card_id": card["id"], "amount_usd": "5", "merchant": merchant})

    said, records = await exported(driver, f"transactions {card['last4']} 1d")

    assert {r["card_id"] for r in records} == {card["id"]}
    merchants = {r["merchant"]: r["status"] for r in records}
    assert merchants["'=cmd"] == "pending"
    assert "declined" in merchants.values()
    assert "card provider's history" in str(said)


async def test_the_message_is_edited_while_it_runs_and_a_figure_lost_on_the_way_stops_nothing(
    driver: SlackDriver, monkeypatch: Any
) -> None:
    monkeypatch.setattr(exports, "PROGRESS_EVERY_S", 0.0)
    await driver.tell("faults", {"method": "chat.update", "effect": "429", "times": 1})

    said, records = await exported(driver, "ledger 90d")

    shown = [
        str(call["args"].get("text"))
        for call in driver.slack.workspace.calls
        if call["method"] == "chat.update"
    ]
    assert f"{len(records)} rows so far" in shown[-2]
    assert shown[-1].startswith(f"✓ {len(records)} rows of ledger")
    assert said["text"] == shown[-1]
