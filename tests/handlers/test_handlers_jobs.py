"""The four jobs, done by acts of people through Slack."""

from bot.domain.requests import State
from tests.handlers.office import ALICE, BOB, Office


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
    assert "Team lunch" in str(confirmation)
    await office.submit(BOB)
    assert "1 of 1" in str(await office.modal(BOB))

    await office.world.run_due()
    await office.settle()
    assert (await office.newest()).state is State.SUCCEEDED
    drawn = await office.card(request.id)
    assert drawn["ts"] == message["ts"], "redrawn in place"
    assert "succeeded" in drawn["text"]
    assert not {"request:approve", "request:reject"} & {
        e["action_id"] for e in drawn["blocks"][-1]["elements"]
    }
    assert any("Approved by <@U0BOB>: 1 of 1" in line for line in await office.thread(request.id))
