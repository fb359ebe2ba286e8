"""The other operation kinds from the command to the simulator: form, preview, second person, effect."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from bot.domain.requests import Request, State
from bot.services import execution
from bot.services.requests import local_facts
from handlers.commands import grammar
from storage.cards import cards as card_rows
from storage.cards import otp_recipients
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, CAROL, OPS, Json, SlackDriver, card_option

pytestmark = pytest.mark.by_turns(4)


async def plastic(driver: SlackDriver) -> dict[str, Any]:
    """The first card as the simulator has it."""
    card_id = driver.world.cards[0]["id"]
    found: dict[str, Any] = next(c for c in (await driver.world.state())["cards"] if c["id"] == card_id)
    return found


async def asked(driver: SlackDriver, user: str, command: str, values: Json) -> tuple[Request, str]:
    """Form, preview, submit: the request, and what the preview said."""
    await driver.command(user, command)
    await driver.submit(user, {**values, "reason": "It is time"})
    said = str(await driver.modal(user))
    await driver.submit(user)
    return await driver.newest(), said


async def done(driver: SlackDriver, request: Request) -> Request:
    """Approved by Bob, carried out."""
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await driver.submit(BOB)
    await execution.execute(driver.core, request.id)
    await driver.settle()
    return await driver.world.request(request.id)


async def test_a_card_is_closed_after_its_last_four_digits_were_typed(driver: SlackDriver) -> None:
    card = await plastic(driver)
    held = Decimal(card["balance_usd"])
    await driver.world.tell("account", {"cards_limit": 100})
    await driver.command(ALICE, f"/card close {card['id']} {card['last4']}")
    form = await driver.modal(ALICE)
    assert [b["label"]["text"] for b in form["blocks"] if b["type"] == "input"] == [
        "Card",
        "Last four digits",
        "Reason",
    ]
    wrong = "0000" if card["last4"] != "0000" else "1111"
    outcome = await driver.submit(ALICE, {"last4": "", "reason": "Left us"})
    assert "required" in outcome["errors"]["last4"], "the digits in the command are not taken for typed"
    outcome = await driver.submit(ALICE, {"last4": wrong, "reason": "Left us"})
    assert "not the last four digits" in outcome["errors"]["last4"]

    await driver.submit(ALICE, {"last4": card["last4"], "reason": "Left us"})
    said = str(await driver.modal(ALICE))
    for answer in ("freeze it: /card freeze", "Goes back to the float", "in full", "none comes back"):
        assert answer in said, answer
    await driver.submit(ALICE)
    request = await driver.newest()
    ended = await done(driver, request)

    assert ended.state is State.SUCCEEDED, ended.outcome_text
    after = await plastic(driver)
    assert (after["status"], Decimal(after["balance_usd"])) == ("DELETED", Decimal(0))
    assert f"{held:.2f} USD went back to the float" in ended.outcome_text
    async with driver.world.store.read() as tx:
        entry = await card_rows.get(tx, card["id"])
        assert entry is not None
        assert entry.status == "DELETED", "the directory knows"
        assert card["id"] not in {c.id for c in await card_rows.all(tx, limit=500)}


async def test_who_asks_again_for_a_close_types_the_digits_again(driver: SlackDriver) -> None:
    card = await plastic(driver)
    request, _ = await asked(driver, ALICE, f"/card close {card['id']}", {"last4": card["last4"]})
    await driver.press(BOB, await driver.card(request.id), "request:reject")
    await driver.submit(BOB, {"reason": "Not yet"})

    await driver.press(CAROL, await driver.card(request.id), "request:again")

    assert await driver.filled(CAROL) == {"card": card_option(card), "last4": None, "reason": "It is time"}


async def test_a_card_is_unloaded(driver: SlackDriver) -> None:
    card = await plastic(driver)
    before = Decimal(card["balance_usd"])
    too_much, said = await asked(driver, ALICE, f"/card unload {card['id']} {before + 1}", {})
    assert "would be blocked right now" in said
    assert "The card holds less" in said
    assert (await done(driver, too_much)).state is State.CANCELLED

    request, said = await asked(driver, ALICE, f"/card unload {card['id']} 5", {})
    assert f"{before:,.2f} USD → {before - 5:,.2f} USD" in said
    ended = await done(driver, request)

    assert ended.state is State.SUCCEEDED, ended.outcome_text
    assert Decimal((await plastic(driver))["balance_usd"]) == before - 5
    assert len(await driver.world.sent("POST /unload")) == 1


async def test_limits_are_set_one_at_least_and_read_back(driver: SlackDriver) -> None:
    card = await plastic(driver)
    await driver.command(ALICE, f"/card limits {card['id']}")
    outcome = await driver.submit(ALICE, {"reason": "Travel"})
    assert "at least one limit" in outcome["errors"]["daily_limit"]
    outcome = await driver.submit(ALICE, {"daily_limit": "0", "reason": "Travel"})
    assert "more than zero" in outcome["errors"]["daily_limit"]

    await driver.submit(ALICE, {"daily_limit": "800", "weekly_limit": "500", "reason": "Travel"})
    said = str(await driver.modal(ALICE))
    for answer in (
        "not set → 800.00 USD",
        "never removed",
        "weekly limit is below the daily limit",
        "not set, kept",
    ):
        assert answer in said, answer
    await driver.submit(ALICE)
    ended = await done(driver, await driver.newest())

    assert ended.state is State.SUCCEEDED, ended.outcome_text
    after = await plastic(driver)
    assert (after["daily_limit"], after["weekly_limit"], after["monthly_limit"]) == ("800", "500", None)


async def test_a_phone_is_shown_to_the_approver_and_nowhere_else(driver: SlackDriver) -> None:
    card = await plastic(driver)
    number = {"phone_country_code": "46", "phone": "701234567"}
    request, said = await asked(driver, ALICE, f"/card phone {card['id']}", number)
    assert "is how cards are taken over" in said
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    assert "701234567" in str(await driver.modal(BOB))
    await driver.submit(BOB)
    await execution.execute(driver.core, request.id)
    await driver.settle()

    ended = await driver.world.request(request.id)
    assert ended.state is State.SUCCEEDED, ended.outcome_text
    state = await driver.state()
    assert "701234567" not in str(state["messages"]) + str(state["ephemerals"])
    (call,) = await driver.world.sent("PUT /phone")
    assert call["status"] == 200
    again, said = await asked(driver, ALICE, f"/card phone {card['id']}", {**number, "phone": "709999999"})
    assert f"Change the phone of {again.subject_label} to +46 ••••4567 ({request.id}" in said


async def test_codes_by_webhook_need_an_admins_word_a_delivery_and_somebody_to_get_them(
    driver: SlackDriver,
) -> None:
    """H11: one way, and nothing at the card provider says that it is safe."""
    card = await plastic(driver)
    await driver.command(ALICE, f"/card 3ds {card['id']}")
    assert "Only admins can" in (await driver.shown_to(ALICE))["text"]
    await driver.command(CAROL, f"/card 3ds {card['id']}")
    outcome = await driver.submit(CAROL, {"reason": "Codes in Slack"})
    assert "Tick this" in outcome["errors"]["program_enabled"]

    ticked = {"program_enabled": ["yes"]}
    request, said = await asked(driver, CAROL, f"/card 3ds {card['id']}", ticked)
    for answer in ("No address is registered", "Nobody is named", "cannot be undone"):
        assert answer in said, answer
    assert (await done(driver, request)).state is State.CANCELLED
    assert await driver.world.sent("PUT /3ds") == []

    partner = driver.core.partners["main"]
    await partner.set_webhook(b'{"url":"https://countersign.example.com/webhooks/main"}')
    async with driver.world.store.begin() as tx:
        await otp_recipients.put(tx, card["partner_ref"], BOB)
    request, said = await asked(driver, CAROL, f"/card 3ds {card['id']}", ticked)
    assert "No delivery was verified here in the last 15 minutes" in said

    await local_facts.note_repeated(driver.core, "main")
    request, said = await asked(driver, CAROL, f"/card 3ds {card['id']}", ticked)
    assert "would not be sent" not in said
    ended = await done(driver, request)
    assert ended.state is State.SUCCEEDED, ended.outcome_text
    assert (await plastic(driver))["three_ds_method"] == "webhook"


async def test_a_delivery_that_is_too_old_by_then_stops_it_at_the_last_gate(driver: SlackDriver) -> None:
    card = await plastic(driver)
    await driver.core.partners["main"].set_webhook(b'{"url":"https://countersign.example.com/webhooks/main"}')
    async with driver.world.store.begin() as tx:
        await otp_recipients.put(tx, card["partner_ref"], BOB)
    await local_facts.note_repeated(driver.core, "main")
    request, _ = await asked(driver, CAROL, f"/card 3ds {card['id']}", {"program_enabled": ["yes"]})
    await driver.world.advance(16 * 60)

    ended = await done(driver, request)

    assert ended.state is State.CANCELLED
    assert "No delivery was verified" in ended.outcome_text
    assert await driver.world.sent("PUT /3ds") == []


async def test_the_markup_is_typed_in_percent_and_sent_as_a_fraction(driver: SlackDriver) -> None:
    await driver.command(ALICE, "/float markup 51")
    outcome = await driver.submit(ALICE, {"reason": "New price"})
    assert "at most 50 percent" in outcome["errors"]["markup_percent"]

    request, said = await asked(driver, ALICE, "/float markup 12.5", {})
    for answer in ("0 % → 12.5 %", "0 → 1250", "0.125", "12.50 USD yours", "deposits alone"):
        assert answer in said, answer
    ended = await done(driver, request)

    assert ended.state is State.SUCCEEDED, ended.outcome_text
    assert (await driver.world.state())["account"]["markup_pct"] == "0.125"
    _, said = await asked(driver, ALICE, "/float markup 0.2", {})
    assert "less than one percent (20 basis points)" in said


async def test_an_event_is_delivered_again(driver: SlackDriver) -> None:
    event = (await driver.world.state())["events"][0]
    request, said = await asked(driver, ALICE, f"/countersign webhook redeliver {event['id']}", {})
    assert event["type"] in said
    assert "No address is registered" in said

    ended = await done(driver, request)

    assert ended.state is State.SUCCEEDED, ended.outcome_text
    assert [c["path"].split("/")[-2] for c in await driver.world.sent("POST /redeliver")] == [event["id"]]


async def test_a_quote_is_off_until_the_agreement_names_its_fields(driver: SlackDriver) -> None:
    card = await plastic(driver)
    await driver.world.tell("account", {"deposits_enabled": True})
    values = {"asset": "usdc", "chain": "polygon"}
    await driver.command(ALICE, f"/funding deposit 50 {card['id']}")
    await driver.submit(ALICE, {**values, "reason": "User pays"})
    assert "Deposits are not set up here" in str(await driver.modal(ALICE))
    await driver.submit(ALICE)
    assert "Nothing was recorded" in str(await driver.modal(ALICE))
    assert await driver.requests() == []

    kinds = dict(driver.core.kinds)
    names = {"card": "card_id", "amount_usd": "amount_usd", "asset": "asset", "chain": "chain"}
    kinds["deposit_quote"] = kinds["deposit_quote"].configured(names)  # type: ignore[attr-defined]  # of that kind
    driver.world.rebuild(kinds=kinds)
    request, said = await asked(driver, ALICE, f"/funding deposit 50 {card['id']}", values)
    assert "Credited to the card" in said
    ended = await done(driver, request)

    assert ended.state is State.SUCCEEDED, ended.outcome_text
    (deposit,) = await driver.core.partners["main"].deposits()
    assert deposit.deposit_address in str(await driver.messages(BOB, APPROVALS))


@pytest.mark.parametrize(
    ("command", "text", "subcommand", "rest"),
    [
        ("/card", "3ds 4242", "3ds", "4242"),
        ("/card", "Unload 4242 50", "unload", "4242 50"),
        ("/float", "markup 12.5", "markup", "12.5"),
        ("/funding", "deposit 50 4242", "deposit", "50 4242"),
        ("/countersign", "webhook redeliver ev_1", "webhook redeliver", "ev_1"),
    ],
)
def test_the_new_subcommands_are_read(command: str, text: str, subcommand: str, rest: str) -> None:
    found = grammar.from_slash(command, text)

    assert (found.subcommand, found.rest) == (subcommand, rest)
    assert grammar.from_text(found.text) == found


async def test_help_names_them_and_more_shows_how_each_is_typed(driver: SlackDriver) -> None:
    await driver.command(ALICE, "/countersign help", channel=OPS)
    shown = str(await driver.shown_to(ALICE))
    for name in ("close", "limits", "markup"):
        assert f"`{name}`" in shown, name
    assert "`deposit`" not in shown, "deposits are not set up here"

    await driver.command(ALICE, "/countersign help more", channel=OPS)
    examples = str(await driver.shown_to(ALICE))
    for example in (
        "/card close [0-9]{4}`",
        "/card limits [0-9]{4}`",
        "/float markup 2.5`",
    ):
        assert re.search(example, examples), example
