"""Look-ups by command, mention and direct message; sharing; Home."""

from bot.domain.requests import State
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, OPS, SlackDriver, card_option


async def answer(driver: SlackDriver, text: str, user: str = ALICE) -> str:
    await driver.command(user, text)
    return str(await driver.shown_to(user))


async def test_the_float_is_shown_with_what_is_pending_and_its_age(driver: SlackDriver) -> None:
    await driver.ask_top_up(amount="50")

    shown = await answer(driver, "/float")

    assert "Available" in shown
    assert "Held by 1 pending request" in shown
    assert "50.00 USD" in shown
    assert "<!date^" in shown
    assert "SANDBOX" in shown


async def test_a_word_that_is_no_filter_of_the_list_is_answered_with_those_there_are(
    driver: SlackDriver,
) -> None:
    for typed in ("zoe", "frozen zoe", "ended 2"):
        shown = await answer(driver, f"/card list {typed}")
        assert "isn't a filter" in shown, typed
        assert "active, frozen, blocked or closed" in shown
    for typed in ("", "frozen", "ACTIVE 1", "page 1", "blocked page 1", "closed"):
        assert "isn't a filter" not in await answer(driver, f"/card list {typed}")


async def test_cards_are_listed_and_shown(driver: SlackDriver) -> None:
    card = driver.world.cards[0]

    listed, one = await answer(driver, "/card list"), await answer(driver, f"/card show {card['id']}")

    assert card["card_holder_name"] in listed
    assert "'type': 'table'" in listed
    assert card["card_holder_name"] in one
    assert card["last4"] in one
    assert "No card matches" in await answer(driver, "/card show nobody at all")
    assert "Name the card" in await answer(driver, "/card show")


async def test_amounts_in_a_table_stand_on_the_right_and_words_on_the_left(driver: SlackDriver) -> None:
    await driver.command(ALICE, "/card list")
    table = next(b for b in (await driver.shown_to(ALICE))["blocks"] if b["type"] == "table")

    aligns = [each["align"] for each in table["column_settings"]]
    assert dict(zip([cell["text"] for cell in table["rows"][0]], aligns, strict=True)) == {
        "Cardholder": "left",
        "Card": "left",
        "Status": "left",
        "Balance": "right",
        "Reference": "left",
    }


async def test_funding_is_listed_and_addresses_are_live(driver: SlackDriver) -> None:
    assert "0x" in await answer(driver, "/funding addresses")
    assert "funding submission" in await answer(driver, "/funding list")
    assert "No submission has the hash" in await answer(driver, f"/funding show 0x{'cd' * 32}")


async def test_requests_show_what_waits_for_whom(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()

    assert "0 waiting for you, 1 of yours" in await answer(driver, "/requests")
    assert "1 waiting for you, 0 of yours" in await answer(driver, "/requests", BOB)
    assert "Team lunch" in await answer(driver, f"/requests show {request.id.lower()}")
    assert "Team lunch" in await answer(driver, f"/requests {request.id}")
    assert "There is no request" in await answer(driver, "/requests show R-NONE")


async def test_policy_and_who_say_it_in_words(driver: SlackDriver) -> None:
    policy = await answer(driver, "/countersign policy")
    assert "2 above 500.00 USD" in policy
    assert "@card-approvers" in policy

    who = await answer(driver, "/countersign who topup", BOB)
    assert "<@U0CAROL>" in who
    assert "Can approve now: <@U0CAROL>." in who, "never the requester"
    assert "card topup" in await answer(driver, "/countersign who dances")


async def test_help_lists_what_this_person_may_do(driver: SlackDriver) -> None:
    for text in ("/countersign", "/countersign help", "/card", "/funding"):
        assert "You can make requests" in await answer(driver, text)
    assert "decide on the requests of others" in await answer(driver, "/countersign help", BOB)
    assert "decide on the requests of others" not in await answer(driver, "/countersign help", ALICE)
    assert "“/card dance” is not understood" in await answer(driver, "/card dance")
    assert "“dance” isn't a state, a kind or a person" in await answer(driver, "/requests dance")
    for text in ("/float dance", "/float ledger dance"):
        assert "“dance” isn't a period" in await answer(driver, text), text


async def test_an_answer_is_shared_only_by_pressing_the_button(driver: SlackDriver) -> None:
    await driver.command(ALICE, "/float")
    hidden = await driver.shown_to(ALICE)
    assert not [m for m in await driver.messages(BOB, OPS) if "Float" in m["text"]]

    await driver.press(ALICE, hidden, "answer:share", channel=OPS)

    posted = [m for m in await driver.messages(BOB, OPS) if "Float" in m["text"]]
    assert len(posted) == 1
    assert "Shared by Alice Moreau" in str(posted[0])


async def test_sharing_where_the_app_is_not_says_how_to_invite_it(driver: SlackDriver) -> None:
    await driver.command(ALICE, "/float", channel="C0GENERAL")
    await driver.press(ALICE, await driver.shown_to(ALICE, "C0GENERAL"), "answer:share", channel="C0GENERAL")

    assert "/invite @Countersign" in (await driver.shown_to(ALICE, "C0GENERAL"))["text"]


async def test_a_mention_in_a_thread_is_answered_there_to_the_person_alone(driver: SlackDriver) -> None:
    start = await driver.message(BOB, "Who pays lunch?", OPS)
    await driver.message(ALICE, "@Countersign float", OPS, thread_ts=start["ts"])

    displayed = await driver.shown_to(ALICE)
    assert "Float" in displayed["text"]
    assert displayed["thread_ts"] == start["ts"]


async def test_a_direct_message_is_answered_in_the_conversation(driver: SlackDriver) -> None:
    await driver.message(ALICE, "card list", "D0ALICE")

    assert any("cards" in m["text"] for m in await driver.messages(ALICE, "D0ALICE"))


async def test_a_request_said_in_a_message_only_offers_its_form(driver: SlackDriver) -> None:
    card = driver.world.cards[0]
    for channel, text in ((OPS, "@Countersign card topup"), ("D0ALICE", "/card topup")):
        await driver.message(ALICE, f"{text} {card['id']} 50", channel)
        assert await driver.requests() == []
        message = [m for m in await driver.messages(ALICE, channel) if "check the fields" in m["text"]][-1]
        assert message["ephemeral"] is (channel == OPS)

        await driver.press(ALICE, message, "form:open", channel=channel)
        form = await driver.modal(ALICE)
        assert await driver.filled(ALICE) == {"card": card_option(card), "amount_usd": "50", "reason": None}
        await driver.tell("act/close", {"user": ALICE, "view_id": form["id"]})


async def test_nothing_said_in_text_approves_or_cancels(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    for text in (
        f"approve {request.id}",
        f"requests approve {request.id}",
        "yes",
        f"requests cancel {request.id}",
    ):
        await driver.message(BOB, f"@Countersign {text}", APPROVALS)
        await driver.message(ALICE, text, "D0ALICE")

    assert (await driver.newest()).state is State.PENDING


async def test_home_shows_what_waits_and_opens_forms(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    home = await driver.home(BOB)
    shown = str(home)
    assert request.id in shown
    assert "Available" in shown
    buttons = [e for b in home["blocks"] if b["type"] == "actions" for e in b["elements"]]
    main = {e["text"]["text"] for e in buttons if e["type"] == "button"}
    assert main >= {"Top up a card", "Freeze a card", "Order a card"}

    await driver.tell("act/click", {"user": BOB, "view_id": home["id"], "action_id": "form:open:card_topup"})
    await driver.settle()
    assert (await driver.modal(BOB))["title"]["text"] == "Top up a card"


async def test_a_request_is_approved_from_home_through_the_same_gate(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    for person in (ALICE, BOB):
        home = await driver.home(person)
        action = "request:approve" if person == BOB else "request:details"
        await driver.tell("act/click", {"user": person, "view_id": home["id"], "action_id": action})
        await driver.settle()
    assert "Team lunch" in str(await driver.modal(ALICE))
    await driver.submit(BOB)

    assert (await driver.newest()).state is State.APPROVED
    shown = (await driver.home(BOB))["blocks"]
    assert shown[0]["text"]["text"] == "Waiting for you"
    assert request.id not in str(shown[1])


async def test_another_program_is_named_last(driver: SlackDriver) -> None:
    assert "(main)" in await answer(driver, "/float main")
    assert "“other” isn't a period" in await answer(driver, "/float other")


async def test_home_says_when_the_api_cannot_be_read(driver: SlackDriver) -> None:
    await driver.world.fault("status", "GET /me", status=500, code="UNAVAILABLE", times=10)

    assert "an internal error" in str(await driver.home(ALICE))


async def test_a_repeated_event_is_answered_once(driver: SlackDriver) -> None:
    await driver.tell("faults", {"method": "app_mention", "effect": "duplicate"})
    await driver.message(ALICE, "@Countersign float", OPS)

    assert len([m for m in await driver.messages(ALICE, OPS) if m["ephemeral"]]) == 1
