"""The four jobs, done by acts of people through Slack, and what follows a decision."""

from bot.domain.requests import State
from tests.handlers.office import ALICE, APPROVALS, BOB, CAROL, OPS, Json, Office

HASH = "0x" + "ab" * 32


def buttons(message: Json) -> list[str]:
    return [
        e["action_id"] for block in message["blocks"] if block["type"] == "actions" for e in block["elements"]
    ]


async def approved_by_bob(office: Office, request_id: str) -> None:
    await office.press(BOB, await office.card(request_id), "request:approve")
    await office.submit(BOB)


async def execute(office: Office) -> None:
    await office.world.run(20, step=5)
    await office.settle()


async def test_a_top_up_is_asked_for_approved_and_executed(office: Office) -> None:
    card = office.world.cards[0]
    await office.command(ALICE, f"/card topup {card['last4']} 50")
    form = await office.modal(ALICE)
    assert form["title"]["text"] == "Top up a card"
    assert [b["label"]["text"] for b in form["blocks"] if b["type"] == "input"] == [
        "Card",
        "Amount (USD)",
        "Reason",
    ]

    await office.submit(ALICE, {"card": card["id"], "reason": "Team lunch"})
    preview = await office.modal(ALICE)
    assert preview["submit"]["text"] == "Submit", preview
    assert "Float available" in str(preview)

    await office.submit(ALICE)
    assert (await office.see(ALICE))["views"] == []
    request = await office.newest()
    assert request.state is State.PENDING
    assert request.id in (await office.told(ALICE))["text"]

    message = await office.card(request.id)
    await office.press(BOB, message, "request:approve")
    confirmation = await office.modal(BOB)
    assert confirmation["submit"]["text"] == "Approve"
    assert not [b for b in confirmation["blocks"] if b["type"] == "input"]
    assert "Team lunch" in str(confirmation)
    await office.submit(BOB)
    assert "1 of 1" in str(await office.modal(BOB))

    await execute(office)
    assert (await office.newest()).state is State.SUCCEEDED
    drawn = await office.card(request.id)
    assert drawn["ts"] == message["ts"], "redrawn in place"
    assert "succeeded" in drawn["text"]
    assert not {"request:approve", "request:reject"} & set(buttons(drawn))
    thread = await office.thread(request.id)
    assert any("Approved by <@U0BOB>: 1 of 1" in line for line in thread)
    assert any("Succeeded" in line for line in thread)
    directs = [m["text"] for m in await office.messages(ALICE, "D0ALICE")]
    assert any(f"{request.id} succeeded" in text for text in directs)
    assert "|open the request>" in str((await office.messages(ALICE, "D0ALICE"))[-1]["blocks"])


async def test_a_card_is_ordered_and_no_channel_ever_shows_phone_or_email(office: Office) -> None:
    await office.command(ALICE, "/card order Nora Weiss")
    await office.submit(
        ALICE,
        {
            "phone_country_code": "49",
            "phone": "15112345678",
            "email": "nora.weiss@example.com",
            "partner_ref": "emp-77",
            "reason": "New colleague",
        },
    )
    assert "NORA WEISS" in str(await office.modal(ALICE))
    await office.submit(ALICE)
    request = await office.newest()

    await office.press(BOB, await office.card(request.id), "request:approve")
    assert "15112345678" in str(await office.modal(BOB)), "the approver reads what is sent"
    await office.submit(BOB)
    await execute(office)

    assert (await office.newest()).state is State.SUCCEEDED
    state = await office.state()
    shown = str(state["messages"]) + str(state["ephemerals"])
    assert "NORA WEISS" in shown
    assert "15112345678" not in shown
    assert "nora.weiss@example.com" not in shown


async def test_a_card_is_frozen_and_unfrozen_by_two_people(office: Office) -> None:
    for verb, status in (("freeze", "FROZEN"), ("unfreeze", "ACTIVE")):
        await office.command(ALICE, f"/card {verb} {office.world.cards[0]['id']}")
        await office.submit(ALICE, {"reason": "Lost and found"})
        await office.submit(ALICE)
        request = await office.newest()
        assert request.state is State.PENDING, "Freeze now was not ticked"
        await approved_by_bob(office, request.id)
        await execute(office)

        cards = {c["id"]: c["status"] for c in (await office.world.state())["cards"]}
        assert cards[office.world.cards[0]["id"]] == status
        office.world.clock.advance(1)


async def test_freeze_now_acts_at_once_and_a_second_person_confirms(office: Office) -> None:
    await office.command(ALICE, f"/card freeze {office.world.cards[0]['id']}")
    await office.submit(ALICE, {"run_now": ["yes"], "reason": "Stolen"})
    assert "second person" in str(await office.modal(ALICE))
    await office.submit(ALICE)
    await execute(office)
    request = await office.newest()
    assert request.state is State.SUCCEEDED
    message = await office.card(request.id)
    assert {"request:confirm", "request:undo"} <= set(buttons(message))

    await office.press(ALICE, message, "request:confirm")
    assert "somebody else has to decide" in (await office.told(ALICE, APPROVALS))["text"]
    await office.press(BOB, message, "request:confirm")

    assert not {"request:confirm", "request:undo"} & set(buttons(await office.card(request.id)))
    assert any("<@U0BOB> confirmed" in line for line in await office.thread(request.id))


async def test_undo_opens_a_filled_unfreeze_form(office: Office) -> None:
    await office.command(ALICE, f"/card freeze {office.world.cards[0]['id']}")
    await office.submit(ALICE, {"run_now": ["yes"], "reason": "Stolen"})
    await office.submit(ALICE)
    await execute(office)
    frozen = await office.newest()

    await office.press(BOB, await office.card(frozen.id), "request:undo")
    form = await office.modal(BOB)
    assert form["title"]["text"] == "Unfreeze a card"
    filled = {
        b["block_id"]: b["element"].get("initial_value") for b in form["blocks"] if b["type"] == "input"
    }
    assert filled == {"card": office.world.cards[0]["id"], "reason": f"Undo {frozen.id}"}


async def test_a_funding_transfer_is_submitted(office: Office) -> None:
    await office.command(ALICE, f"/funding submit {HASH} base")
    form = await office.modal(ALICE)
    network = next(b for b in form["blocks"] if b.get("block_id") == "network")
    assert network["element"]["initial_option"]["value"] == "BASE"
    await office.submit(ALICE, {"reason": "March float"})
    await office.submit(ALICE)
    request = await office.newest()
    assert HASH in request.summary
    await approved_by_bob(office, request.id)
    await execute(office)

    assert (await office.newest()).state is State.SUCCEEDED
    assert HASH in str((await office.world.state())["funding"])


async def test_above_a_tier_two_others_have_to_approve(office: Office) -> None:
    request = await office.ask_top_up(amount="501")
    await approved_by_bob(office, request.id)
    assert "1 more needed" in str(await office.modal(BOB))
    assert (await office.newest()).state is State.PENDING
    assert "request:approve" in buttons(await office.card(request.id))

    await office.press(CAROL, await office.card(request.id), "request:approve")
    await office.submit(CAROL)
    assert (await office.newest()).state is State.APPROVED


async def test_a_rejection_needs_a_reason_and_ends_it(office: Office) -> None:
    request = await office.ask_top_up()
    await office.press(BOB, await office.card(request.id), "request:reject")
    outcome = await office.submit(BOB, {"reason": ""})
    assert "reason" in outcome["errors"]
    await office.submit(BOB, {"reason": "Not in the budget"})

    assert (await office.newest()).state is State.REJECTED
    card = await office.card(request.id)
    assert "Not in the budget" in str(card)
    assert "request:again" in buttons(card)
    thread = [m for m in await office.messages(BOB, APPROVALS) if m.get("thread_ts") == card["ts"]]
    assert "Not in the budget" in str(thread)


async def test_request_again_opens_the_form_with_the_public_terms(office: Office) -> None:
    request = await office.ask_top_up(amount="51", reason="Second try")
    await office.press(BOB, await office.card(request.id), "request:reject")
    await office.submit(BOB, {"reason": "No"})

    await office.press(ALICE, await office.card(request.id), "request:again")
    form = await office.modal(ALICE)
    filled = {
        b["block_id"]: b["element"].get("initial_value") for b in form["blocks"] if b["type"] == "input"
    }
    assert filled == {"card": office.world.cards[0]["id"], "amount_usd": "51.00", "reason": "Second try"}


async def test_only_the_requester_cancels(office: Office) -> None:
    request = await office.ask_top_up()
    card = await office.card(request.id)
    option = f"cancel:{request.id}:{request.version}"

    await office.press(BOB, card, "request:more", selected_option=option)
    await office.submit(BOB)
    assert "Only the person who asked can cancel" in str(await office.modal(BOB))
    assert (await office.newest()).state is State.PENDING

    await office.press(ALICE, card, "request:more", selected_option=option)
    await office.submit(ALICE)
    assert (await office.newest()).state is State.CANCELLED
    assert "cancelled" in (await office.card(request.id))["text"]


async def test_an_unknown_outcome_is_resolved_by_two_people(office: Office) -> None:
    request = await office.ask_top_up()
    await office.world.fault("drop_midway")
    await approved_by_bob(office, request.id)
    await office.world.run(3600, step=60)
    await office.settle()
    assert (await office.newest()).state is State.UNRESOLVED
    message = await office.card(request.id)
    assert "do not repeat" in str(message).lower()

    for person in (ALICE, BOB):
        await office.press(person, await office.card(request.id), "request:resolve")
        await office.submit(person, {"verdict": "failed", "evidence": "No ledger row"})
    assert (await office.newest()).state is State.FAILED


async def test_edit_goes_back_to_the_fields_as_they_were(office: Office) -> None:
    card = office.world.cards[0]["id"]
    await office.command(ALICE, f"/card topup {card} 50")
    await office.submit(ALICE, {"reason": "Team lunch"})
    await office.press_in_modal(ALICE, "draft:edit")

    form = await office.modal(ALICE)
    filled = {
        b["block_id"]: b["element"].get("initial_value") for b in form["blocks"] if b["type"] == "input"
    }
    assert filled == {"card": card, "amount_usd": "50.00", "reason": "Team lunch"}
    await office.submit(ALICE, {"amount_usd": "60"})
    await office.submit(ALICE)
    assert "60" in (await office.newest()).terms["amount_usd"]
    assert len(await office.requests()) == 1
    assert OPS in str((await office.state())["ephemerals"]), "the note is where it was asked"
