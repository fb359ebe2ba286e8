"""The four jobs, done by acts of people through Slack, and what follows a decision."""

from bot.domain.requests import State
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, CAROL, OPS, Json, SlackDriver, card_option

HASH = "0x" + "ab" * 32


def buttons(message: Json) -> list[str]:
    return [
        e["action_id"] for block in message["blocks"] if block["type"] == "actions" for e in block["elements"]
    ]


async def approved_by_bob(driver: SlackDriver, request_id: str) -> None:
    await driver.press(BOB, await driver.card(request_id), "request:approve")
    await driver.submit(BOB)


async def execute(driver: SlackDriver) -> None:
    await driver.world.run(20, step=5)
    await driver.settle()


async def test_a_top_up_is_asked_for_approved_and_executed(driver: SlackDriver) -> None:
    card = driver.world.cards[0]
    await driver.command(ALICE, f"/card topup {card['last4']} 50")
    form = await driver.modal(ALICE)
    assert form["title"]["text"] == "Top up a card"
    assert [b["label"]["text"] for b in form["blocks"] if b["type"] == "input"] == [
        "Card",
        "Amount (USD)",
        "Reason",
    ]

    await driver.submit(ALICE, {"card": card["id"], "reason": "Team lunch"})
    preview = await driver.modal(ALICE)
    assert preview["submit"]["text"] == "Submit", preview
    assert "Float available" in str(preview)

    await driver.submit(ALICE)
    assert (await driver.see(ALICE))["views"] == []
    request = await driver.newest()
    assert request.state is State.PENDING
    assert request.id in (await driver.shown_to(ALICE))["text"]

    message = await driver.card(request.id)
    await driver.press(BOB, message, "request:approve")
    confirmation = await driver.modal(BOB)
    assert confirmation["submit"]["text"] == "Approve"
    assert not [b for b in confirmation["blocks"] if b["type"] == "input"]
    assert "Team lunch" in str(confirmation)
    await driver.submit(BOB)
    assert (await driver.see(BOB))["views"] == [], "the window closes by itself"

    await execute(driver)
    assert (await driver.newest()).state is State.SUCCEEDED
    drawn = await driver.card(request.id)
    assert drawn["ts"] == message["ts"], "redrawn in place"
    assert "Succeeded" in drawn["text"]
    assert not {"request:approve", "request:reject"} & set(buttons(drawn))
    thread = await driver.thread(request.id)
    assert any("Approved by Bob Tanaka: 1 of 1" in line for line in thread)
    assert any("Succeeded" in line for line in thread)
    directs = [m["text"] for m in await driver.messages(ALICE, "D0ALICE")]
    assert any("Succeeded" in text and request.id in text for text in directs)
    assert "|open the request>" in str((await driver.messages(ALICE, "D0ALICE"))[-1]["blocks"])


async def test_a_card_is_ordered_and_no_channel_ever_shows_phone_or_email(driver: SlackDriver) -> None:
    await driver.command(ALICE, "/card order Nora Weiss")
    await driver.submit(
        ALICE,
        {
            "phone_country_code": "49",
            "phone": "15112345678",
            "email": "nora.weiss@example.com",
            "partner_ref": "emp-77",
            "reason": "New colleague",
        },
    )
    assert "NORA WEISS" in str(await driver.modal(ALICE))
    await driver.submit(ALICE)
    request = await driver.newest()

    await driver.press(BOB, await driver.card(request.id), "request:approve")
    assert "15112345678" in str(await driver.modal(BOB)), "the approver reads what is sent"
    await driver.submit(BOB)
    await execute(driver)

    assert (await driver.newest()).state is State.SUCCEEDED
    state = await driver.state()
    shown = str(state["messages"]) + str(state["ephemerals"])
    assert "NORA WEISS" in shown
    assert "15112345678" not in shown
    assert "nora.weiss@example.com" not in shown


async def test_a_card_is_frozen_and_unfrozen_by_two_people(driver: SlackDriver) -> None:
    for verb, status in (("freeze", "FROZEN"), ("unfreeze", "ACTIVE")):
        await driver.command(ALICE, f"/card {verb} {driver.world.cards[0]['id']}")
        await driver.submit(ALICE, {"reason": "Lost and found"})
        await driver.submit(ALICE)
        request = await driver.newest()
        assert request.state is State.PENDING, "Freeze now was not ticked"
        await approved_by_bob(driver, request.id)
        await execute(driver)

        cards = {c["id"]: c["status"] for c in (await driver.world.state())["cards"]}
        assert cards[driver.world.cards[0]["id"]] == status
        driver.world.clock.advance(1)


async def test_freeze_now_acts_at_once_and_a_second_person_confirms(driver: SlackDriver) -> None:
    await driver.command(ALICE, f"/card freeze {driver.world.cards[0]['id']}")
    await driver.submit(ALICE, {"run_now": ["yes"], "reason": "Stolen"})
    assert "second person" in str(await driver.modal(ALICE))
    await driver.submit(ALICE)
    await execute(driver)
    request = await driver.newest()
    assert request.state is State.SUCCEEDED
    message = await driver.card(request.id)
    assert {"request:confirm", "request:undo"} <= set(buttons(message))

    await driver.press(ALICE, message, "request:confirm")
    assert "somebody else has to decide" in (await driver.shown_to(ALICE, APPROVALS))["text"]
    await driver.press(BOB, message, "request:confirm")

    assert not {"request:confirm", "request:undo"} & set(buttons(await driver.card(request.id)))
    assert any("Bob Tanaka confirmed" in line for line in await driver.thread(request.id))


async def test_undo_opens_a_filled_unfreeze_form(driver: SlackDriver) -> None:
    await driver.command(ALICE, f"/card freeze {driver.world.cards[0]['id']}")
    await driver.submit(ALICE, {"run_now": ["yes"], "reason": "Stolen"})
    await driver.submit(ALICE)
    await execute(driver)
    frozen = await driver.newest()

    await driver.press(BOB, await driver.card(frozen.id), "request:undo")
    form = await driver.modal(BOB)
    assert form["title"]["text"] == "Unfreeze a card"
    assert await driver.filled(BOB) == {
        "card": card_option(driver.world.cards[0], "Frozen"),
        "reason": f"Undo {frozen.id}",
    }


async def test_a_funding_transfer_is_submitted(driver: SlackDriver) -> None:
    await driver.command(ALICE, f"/funding submit {HASH} base")
    form = await driver.modal(ALICE)
    network = next(b for b in form["blocks"] if b.get("block_id") == "network")
    assert network["element"]["initial_option"]["value"] == "BASE"
    await driver.submit(ALICE, {"reason": "March float"})
    await driver.submit(ALICE)
    request = await driver.newest()
    assert HASH in request.summary
    await approved_by_bob(driver, request.id)
    await execute(driver)

    assert (await driver.newest()).state is State.SUCCEEDED
    assert HASH in str((await driver.world.state())["funding"])


async def test_above_a_tier_two_others_have_to_approve(driver: SlackDriver) -> None:
    request = await driver.ask_top_up(amount="501")
    await approved_by_bob(driver, request.id)
    assert any("1 more approval is needed" in line for line in await driver.thread(request.id))
    assert (await driver.newest()).state is State.PENDING
    assert "request:approve" in buttons(await driver.card(request.id))

    await driver.press(CAROL, await driver.card(request.id), "request:approve")
    await driver.submit(CAROL)
    assert (await driver.newest()).state is State.APPROVED


async def test_a_rejection_needs_a_reason_and_ends_it(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    await driver.press(BOB, await driver.card(request.id), "request:reject")
    outcome = await driver.submit(BOB, {"reason": ""})
    assert "reason" in outcome["errors"]
    await driver.submit(BOB, {"reason": "Not in the budget"})

    assert (await driver.newest()).state is State.REJECTED
    card = await driver.card(request.id)
    assert "Not in the budget" in str(card)
    assert "request:again" in buttons(card)
    thread = [m for m in await driver.messages(BOB, APPROVALS) if m.get("thread_ts") == card["ts"]]
    assert "Not in the budget" in str(thread)


async def test_request_again_opens_the_form_with_the_public_terms(driver: SlackDriver) -> None:
    request = await driver.ask_top_up(amount="51", reason="Second try")
    await driver.press(BOB, await driver.card(request.id), "request:reject")
    await driver.submit(BOB, {"reason": "No"})

    await driver.press(ALICE, await driver.card(request.id), "request:again")
    assert await driver.filled(ALICE) == {
        "card": card_option(driver.world.cards[0]),
        "amount_usd": "51.00",
        "reason": "Second try",
    }


async def test_only_the_requester_cancels(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    card = await driver.card(request.id)
    option = f"cancel:{request.id}:{request.version}"

    await driver.press(BOB, card, "request:more", selected_option=option)
    assert "Only the person who asked can cancel" in str(await driver.shown_to(BOB, APPROVALS))
    assert (await driver.newest()).state is State.PENDING

    await driver.press(ALICE, card, "request:more", selected_option=option)
    await driver.submit(ALICE)
    assert (await driver.newest()).state is State.CANCELLED
    assert "Cancelled" in (await driver.card(request.id))["text"]


async def test_an_unknown_outcome_is_resolved_by_two_people(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    await driver.world.fault("drop_midway")
    await approved_by_bob(driver, request.id)
    await driver.world.run(3600, step=60)
    await driver.settle()
    assert (await driver.newest()).state is State.UNRESOLVED
    message = await driver.card(request.id)
    assert "do not repeat" in str(message).lower()

    for person in (ALICE, BOB):
        await driver.press(person, await driver.card(request.id), "request:resolve")
        await driver.submit(person, {"verdict": "failed", "evidence": "No ledger row"})
    assert (await driver.newest()).state is State.FAILED


async def test_edit_goes_back_to_the_fields_as_they_were(driver: SlackDriver) -> None:
    card = driver.world.cards[0]["id"]
    await driver.command(ALICE, f"/card topup {card} 50")
    await driver.submit(ALICE, {"reason": "Team lunch"})
    await driver.press_in_modal(ALICE, "draft:edit")

    assert await driver.filled(ALICE) == {
        "card": card_option(driver.world.cards[0]),
        "amount_usd": "50.00",
        "reason": "Team lunch",
    }
    await driver.submit(ALICE, {"amount_usd": "60"})
    await driver.submit(ALICE)
    assert "60" in (await driver.newest()).terms["amount_usd"]
    assert len(await driver.requests()) == 1
    assert OPS in str((await driver.state())["ephemerals"]), "the note is where it was asked"
