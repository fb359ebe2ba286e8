"""Plain English in direct messages, mentions and threads, from the words to the form and no further."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.domain.errors import Stale
from bot.intents import Ask, Facts, Option, Reading
from bot.services import conversation
from bot.services.conversation import Place, ReceivedMessage
from bot.services.conversation import buttons as pressed
from bot.view_models import Look, Offers, Question
from handlers.conversation import messages
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, CAROL, OPS, SlackDriver, card_option
from tests.handlers.talk import DIRECT, Talk

pytestmark = pytest.mark.by_turns(4)

Json = dict[str, Any]


@pytest.fixture
async def talk(driver: SlackDriver) -> AsyncIterator[Talk]:
    """The cards are MARTA KOWALSKA 3205, JONAS ÄHLSTRÖM 7578, PRIYA NAIR 5589, DANIEL OKAFOR 6994 …"""
    talk = Talk(driver)
    yield talk
    assert not (await driver.state())["missed_acks"]


@pytest.fixture
def card(driver: SlackDriver) -> Json:
    return next(c for c in driver.world.cards if c["card_holder_name"] == "PRIYA NAIR")


async def test_a_read_is_answered_at_once_with_its_source_and_time(talk: Talk) -> None:
    shown = await talk.say("what's our float now?")

    assert "Available" in shown
    assert "<!date^" in shown
    assert "Share to channel" in await talk.buttons()


async def test_reads_of_words_take_the_same_path_as_commands(talk: Talk, card: Json) -> None:
    for words, command in (
        (f"tell me about {card['last4']}", f"card show {card['last4']}"),
        ("which requests need my decision", "requests"),
        ("open alerts please", "countersign alerts"),
        ("funding address please", "funding addresses"),
    ):
        # Times of reading differ by the seconds between the two.
        said, typed = await talk.say(words), await talk.say(command)
        blocks = [
            re.sub(r"<!date[^>]*>|'(?:block_id|value|ts)': '[^']*'", "", s).split("'blocks'")[1]
            for s in (said, typed)
        ]
        assert blocks[0] == blocks[1], words


async def test_a_whole_sentence_is_offered_and_becomes_a_request_only_when_its_form_is_submitted(
    talk: Talk, card: Json
) -> None:
    shown = await talk.say(f"please load 85 onto {card['last4']}")
    assert "PRIYA NAIR" in shown
    assert "85" in shown
    assert await talk.nothing_is_open()

    await talk.press("Review and submit")
    assert await talk.form() == {"card": card_option(card), "amount_usd": "85", "reason": None}
    assert "PRIYA NAIR" in str(await talk.driver.modal(ALICE))
    assert await talk.driver.requests() == []

    await talk.driver.submit(ALICE, {"reason": "Team lunch"})
    await talk.driver.submit(ALICE)
    request = await talk.driver.newest()
    assert (request.kind, request.terms["amount_usd"], request.requester) == ("card_topup", "85.00", ALICE)


async def test_missing_slots_are_asked_one_by_one(talk: Talk, card: Json) -> None:
    assert "Which card" in await talk.say("top up a card")
    assert "How much" in await talk.say(card["last4"])
    shown = await talk.say("120.50")

    assert "120.5" in shown
    await talk.press("Review and submit")
    assert (await talk.form())["amount_usd"] == "120.50"
    assert (await talk.form())["card"] == card_option(card)


async def test_an_answer_outside_the_thread_goes_to_the_open_question(talk: Talk, card: Json) -> None:
    await talk.say(f"top up {card['last4']}")

    shown = await talk.say("60", alone=True)

    assert "Review and submit" in shown
    assert talk.last(await talk.messages())["thread_ts"] == talk.thread


async def test_what_is_no_answer_begins_a_thread_of_its_own(talk: Talk, card: Json) -> None:
    await talk.say(f"top up {card['last4']}")

    for text, said in (("what's the float?", "Available"), (f"freeze {card['last4']}", "Review and submit")):
        other = Talk(talk.driver)
        assert said in await other.say(text)
        assert other.thread != talk.thread
    assert "Review and submit" in await talk.say("75"), "the first question is still open"


async def test_two_misses_end_the_questions_with_the_command(talk: Talk, card: Json) -> None:
    await talk.say(f"top up {card['last4']}")
    first = await talk.say("hmm well you know")
    second = await talk.say("the usual I guess")

    assert "How much" in first
    assert f"/card topup {card['last4']}" in second
    assert await talk.buttons() == []
    assert "How much" not in await talk.say("blah blah")


async def test_a_read_in_between_is_answered_and_the_question_stays(talk: Talk, card: Json) -> None:
    await talk.say(f"top up {card['last4']}")
    assert "Available" in await talk.say("what's the float?")

    assert "Review and submit" in await talk.say("75")


async def test_a_new_request_in_between_asks_whether_to_drop_the_old_one(talk: Talk, card: Json) -> None:
    other = next(c for c in talk.driver.world.cards if c["card_holder_name"] == "DANIEL OKAFOR")
    await talk.say(f"top up {card['last4']}")
    shown = await talk.say(f"freeze {other['last4']}")
    assert "still asking" in shown
    choice = talk.last(await talk.messages())

    await talk.press("Keep Top up")
    assert "How much" in str(talk.last(await talk.messages()))
    await talk.press("Continue with Freeze", choice)
    assert "moved on" in str(await answer(talk))

    await talk.say(f"freeze {other['last4']}")
    await talk.press("Continue with Freeze")
    await talk.press("Review and submit")
    assert (await talk.form())["card"] == card_option(other)


async def answer(talk: Talk) -> str:
    return str(talk.last(await talk.messages()))


async def test_never_mind_clears_the_question_and_touches_nothing_else(talk: Talk, card: Json) -> None:
    request = await talk.driver.ask_top_up()
    await talk.say(f"freeze or top up? top up {card['last4']}")
    await talk.say(f"top up {card['last4']}")
    assert "Dropped" in await talk.say("never mind")
    assert "How much" not in await talk.say("85")

    assert [r.id for r in await talk.driver.requests()] == [request.id]
    assert (await talk.driver.newest()).state == "pending"


async def test_it_is_the_card_of_this_conversation_and_of_this_person_only(talk: Talk, card: Json) -> None:
    await talk.say(f"balance of {card['last4']}")
    shown = await talk.say("put 40 on it")
    assert "PRIYA NAIR" in shown

    below = Talk(talk.driver)  # in the main box of the same direct message
    assert "PRIYA NAIR" in await below.say("put 40 on it")
    elsewhere = Talk(talk.driver, ALICE, OPS)
    assert "Which card" in await elsewhere.say("put 40 on it")
    bob = Talk(talk.driver, BOB, "D0BOB")
    assert "Which card" in await bob.say("put 40 on it")


async def test_after_half_an_hour_it_means_nothing(talk: Talk, card: Json) -> None:
    await talk.say(f"balance of {card['last4']}")
    talk.driver.world.clock.advance(31 * 60)

    assert "Which card" in await talk.say("put 40 on it")


async def test_buttons_of_an_older_question_say_so(talk: Talk, card: Json) -> None:
    await talk.say(f"top up {card['last4']}")
    first = talk.last(await talk.messages())
    await talk.say("95")

    await talk.press("Never mind", first)

    assert "moved on" in await answer(talk)


async def test_nobody_elses_buttons_work(talk: Talk, card: Json) -> None:
    """A dialog belongs to one person, even where another one got hold of its button."""
    await talk.say(f"please load 85 onto {card['last4']}")
    value = next(
        e["value"]
        for b in talk.last(await talk.messages())["blocks"]
        for e in b.get("elements", [])
        if e.get("text") and e.get("value")
    )
    stamp, _, number = value.rpartition(":")
    with pytest.raises(Stale):
        await pressed.form(talk.driver.core, stamp, int(number), BOB)
    assert (await pressed.form(talk.driver.core, stamp, int(number), ALICE)).cls.kind == "card_topup"


@pytest.mark.parametrize("word", ["yes", "ok do it", "go ahead", "confirm"])
async def test_a_bare_yes_does_nothing(talk: Talk, card: Json, word: str) -> None:
    await talk.say(f"please load 85 onto {card['last4']}")

    assert "does nothing" in await talk.say(word)
    assert await talk.nothing_is_open()
    assert await talk.driver.requests() == []


async def test_several_requests_are_buttons_of_their_own_and_the_read_beside_them_is_answered(
    talk: Talk, card: Json
) -> None:
    other = next(c for c in talk.driver.world.cards if c["card_holder_name"] == "DANIEL OKAFOR")
    await talk.say(f"freeze {card['last4']} and unload 20 from {other['last4']}. what's the float?")
    messages = [m for m in await talk.messages() if m["thread_ts"] == talk.thread]

    assert any("Available" in str(m) for m in messages)
    assert (await talk.buttons()).count("Review and submit") == 2
    assert await talk.nothing_is_open()


async def test_a_card_number_is_neither_read_nor_kept_nor_repeated(talk: Talk, caplog: Any) -> None:
    caplog.set_level("DEBUG")
    for text in (
        "card topup 4242 4242 4242 4242 50",
        "freeze 4242-4242-4242-4242",
        "`4242424242424242` frozen?",
    ):
        shown = await talk.say(text)
        assert "delete" in shown
        assert "4242" not in shown.split("'blocks'")[1]

    ours = "".join(str(vars(r)) for r in caplog.records if r.name.startswith("countersign"))
    assert "4242" not in ours
    async with talk.driver.world.store.begin() as tx:
        from sqlalchemy import text as sql

        for table in ("dialog", "draft", "audit"):
            assert "4242" not in str((await tx.run(sql(f"SELECT * FROM {table}"))).all())


async def test_a_typo_is_offered_and_never_taken(talk: Talk) -> None:
    shown = await talk.say("freeze Priyo's card")

    assert "Did you mean" in shown
    assert await talk.nothing_is_open()
    label = next(b for b in await talk.buttons() if "PRIYA" in b)
    await talk.press(label)
    assert "Review and submit" in await answer(talk)


async def test_what_a_person_may_not_ask_is_refused_before_any_form(talk: Talk, card: Json) -> None:
    from dataclasses import replace

    from bot.domain.people.policy import People

    driver = talk.driver
    people = People(requesters=(BOB,), approvers=("@card-approvers",), admins=("@card-admins",))
    driver.world.rebuild(policy=replace(driver.core.policy, people=people))

    shown = await talk.say(f"please load 85 onto {card['last4']}")

    assert "may be made by" in shown
    assert "Review and submit" not in shown
    assert "Available" in await talk.say("what's the float?")


async def test_a_guest_gets_a_refusal_and_no_answer(talk: Talk) -> None:
    await talk.driver.tell("people", {"id": ALICE, "is_restricted": True})

    shown = await talk.say("what's our float now?")

    assert "Guests cannot" in shown
    assert "Available" not in shown


async def test_approving_in_text_shows_the_queue_and_decides_nothing(talk: Talk) -> None:
    request = await talk.driver.ask_top_up()
    bob = Talk(talk.driver, BOB, "D0BOB")

    shown = await bob.say(f"approve {request.id}")

    assert request.id in shown
    assert "button" in shown
    assert (await talk.driver.newest()).state == "pending"


async def test_in_a_channel_everything_is_for_the_person_alone(talk: Talk, card: Json) -> None:
    channel = Talk(talk.driver, ALICE, OPS)
    await channel.say(f"balance of {card['last4']}")
    await channel.say(f"top up {card['last4']}")

    assert all(m["ephemeral"] for m in await channel.messages())
    assert not [m for m in await talk.driver.messages(CAROL, OPS) if m["is_app"]]
    assert "Review and submit" in await channel.say("85")


async def test_a_phone_is_masked_in_the_offer_and_whole_in_the_form(talk: Talk) -> None:
    driver = talk.driver
    shown = await talk.say("order a card for Hugo Okonkwo, phone +49 151 12345678, email hugo@example.com")
    assert "12345678" not in shown.split("'blocks'")[1]
    assert "hugo@example" not in shown.split("'blocks'")[1]

    await talk.press("Review and submit")
    form = await talk.form()
    assert (form["phone_country_code"], form["phone"], form["email"]) == (
        "49",
        "15112345678",
        "hugo@example.com",
    )
    async with driver.world.store.begin() as tx:
        from sqlalchemy import text as sql

        kept = str((await tx.run(sql("SELECT * FROM dialog"))).all())
    assert "15112345678" not in kept
    assert "hugo" not in kept.lower()


async def test_everything_is_the_number_read_live(talk: Talk, card: Json) -> None:
    await talk.driver.world.top_up("30", card=talk.driver.world.cards.index(card))
    await talk.driver.world.run(30)
    balance = (await talk.driver.core.partners["main"].card(card["id"])).balance_usd

    shown = await talk.say(f"unload everything from {card['last4']}")

    assert f"{balance:,.2f}" in shown
    await talk.press("Review and submit")
    assert (await talk.form())["amount_usd"] == f"{balance:.2f}"


async def test_bots_edits_and_joins_are_not_answered(driver: SlackDriver) -> None:
    before = len((await driver.state())["calls"])
    said = await driver.message(ALICE, "thanks everyone", OPS)
    await driver.tell(
        "act/edit", {"channel": OPS, "ts": said["ts"], "text": "<@U0COUNTERSIGN> what's our float"}
    )
    await driver.settle()

    assert not [m for m in await driver.messages(ALICE, OPS) if m["ephemeral"]]
    assert not [c for c in (await driver.state())["calls"][before:] if c["method"].startswith("chat.")]


@pytest.mark.parametrize(
    "more",
    [{"bot_id": "B1"}, {"subtype": "channel_join"}, {"edited": {"user": ALICE, "ts": "1.1"}}, {"user": ""}],
)
def test_only_what_a_person_wrote_just_now_is_read(more: Json) -> None:
    said = {"type": "app_mention", "user": ALICE, "text": "<@U0BOT> float", "ts": "1.0"}

    assert messages.is_said_by_a_person(said)
    assert not messages.is_said_by_a_person({**said, **more})


async def test_the_status_line_is_shown_while_it_works_and_prompts_where_talks_begin(
    driver: SlackDriver,
) -> None:
    await driver.tell("act/home", {"user": BOB, "tab": "messages"})
    await driver.settle()
    talk = Talk(driver)
    await talk.say("what's our float now?")

    calls = [c for c in (await driver.state())["calls"] if c["method"].startswith("assistant.")]
    assert [c["method"] for c in calls] == [
        "assistant.threads.setSuggestedPrompts", "assistant.threads.setStatus",
    ]  # fmt: skip
    assert all(c["ok"] for c in calls)
    for user, first in ((BOB, "Waiting for me"), (ALICE, "Float")):
        await driver.tell("act/home", {"user": user, "tab": "messages"})
        await driver.settle()
        direct = next(c for c in (await driver.see(user))["channels"] if c["is_im"])
        assert direct["prompts"]["prompts"][0]["title"] == first


async def test_without_the_agent_surface_everything_else_works(driver: SlackDriver) -> None:
    for method in ("assistant.threads.setStatus", "assistant.threads.setSuggestedPrompts"):
        await driver.tell(
            "faults", {"method": method, "effect": "error", "error": "feature_not_enabled", "times": 1}
        )
    await driver.tell("act/home", {"user": ALICE, "tab": "messages"})
    await driver.settle()
    talk = Talk(driver)

    assert "Available" in await talk.say("what's our float now?")
    assert "Available" in await talk.say("what's our float now?")
    calls = [c["method"] for c in (await driver.state())["calls"] if c["method"].startswith("assistant.")]
    assert len(calls) == 2, "it is not asked for again"


async def shortcut(driver: SlackDriver, user: str, channel: str, ts: str) -> None:
    body = {"user": user, "channel": channel, "ts": ts, "callback_id": "ask_about"}
    await driver.tell("act/shortcut", body)
    await driver.settle()


async def test_a_shortcut_on_ones_own_whole_request_opens_its_form_at_once(
    driver: SlackDriver, card: Json
) -> None:
    said = await driver.message(ALICE, f"please load 85 onto {card['last4']}", OPS)

    await shortcut(driver, ALICE, OPS, said["ts"])

    assert await Talk(driver).form() == {"card": card_option(card), "amount_usd": "85", "reason": None}
    assert await driver.requests() == []


async def test_a_shortcut_on_a_message_with_a_card_number_reads_nothing(driver: SlackDriver) -> None:
    said = await driver.message(BOB, "freeze `4242 4242 4242 4242`, what's our float?", OPS)

    await shortcut(driver, ALICE, OPS, said["ts"])

    shown = str((await driver.shown_to(ALICE))["blocks"])
    assert "delete" in shown
    assert "Available" not in shown
    assert "4242" not in shown


async def test_a_shortcut_on_somebody_elses_request_is_a_proposal_with_a_button(
    driver: SlackDriver, card: Json
) -> None:
    said = await driver.message(BOB, f"please load 85 onto {card['last4']}", OPS)
    asks = Talk(driver, ALICE, OPS)

    await shortcut(driver, ALICE, OPS, said["ts"])

    assert await asks.nothing_is_open()
    assert "Somebody else wrote" in await answer(asks)
    await asks.press("Review and submit")
    assert (await asks.form())["card"] == card_option(card)


async def test_a_shortcut_answers_a_question_that_somebody_asked_the_team(driver: SlackDriver) -> None:
    said = await driver.message(BOB, "does anybody know our float right now", APPROVALS)

    await shortcut(driver, ALICE, APPROVALS, said["ts"])

    answer = [m for m in await driver.messages(ALICE, APPROVALS) if m["ephemeral"]]
    assert "Available" in str(answer[-1])
    assert not [m for m in await driver.messages(BOB, APPROVALS) if m["ephemeral"]]


async def test_a_language_model_is_asked_only_where_nothing_was_understood(
    driver: SlackDriver, card: Json
) -> None:
    asked: list[str] = []

    async def guess(text: str, facts: Facts) -> Reading | None:
        asked.append(text)
        said = f"freeze card {card['last4']}"
        return Reading(
            "ambiguous", ask=Ask("meaning", f"Did you mean: {said}?", (Option(said, "Yes, that"),))
        )

    actor = await driver.core.directory.actor(ALICE)

    async def receive(text: str) -> Any:
        received = ReceivedMessage(Place("T0SANDBOX", DIRECT, "1.1", ALICE), actor, text)
        (step,), _ = await conversation.respond(driver.core, received, conversation.Reader(guess))
        return step

    assert isinstance(await receive("what's our float?"), Look)
    assert asked == []
    question = await receive("put that plastic of the lady on ice will ya")
    assert isinstance(question, Question)
    assert len(asked) == 1
    dialog, text = await pressed.picked(driver.core, f"{question.mark}", 0, ALICE)
    (offers,), _ = await conversation.respond(
        driver.core, ReceivedMessage(dialog.place, actor, text, is_pick=True), conversation.Reader(guess)
    )
    assert isinstance(offers, Offers)
    assert offers.offers[0].verb == "Freeze"
    assert len(asked) == 1


async def test_the_reason_that_a_message_gives_stands_in_its_form(talk: Talk) -> None:
    for text, reason in (
        ("freeze Daniel, he lost his wallet", "He lost his wallet"),
        ("add 25.50 to 5589 for the taxi", "The taxi"),
        ("please top up Priya by 40 because her train was cancelled", "Her train was cancelled"),
    ):
        talk.thread = ""
        shown = await talk.say(text)
        assert reason in shown
        await talk.press("Review and submit")
        assert (await talk.form())["reason"] == reason
        await talk.driver.close(ALICE)


async def test_a_reason_outlives_the_question_that_comes_first(talk: Talk) -> None:
    await talk.say("top up Priya because her train was cancelled")
    await talk.say("40")
    await talk.press("Review and submit")

    assert (await talk.form())["reason"] == "Her train was cancelled"


async def test_who_asks_for_all_cards_is_shown_the_command_for_lists_and_no_pointless_card(
    talk: Talk,
) -> None:
    for text, command in (
        ("top up everyone with 20", "/card topup bulk"),
        ("freeze all cards now", "/card freeze bulk"),
    ):
        talk.thread = ""
        shown = await talk.say(text)
        assert f"`{command}`" in shown
        assert "frozen" not in str(await talk.buttons())
        assert "active" in str(await talk.buttons())
    talk.thread = ""
    shown = await talk.say("unfreeze all cards")
    assert "bulk" not in shown
    assert "active" not in str(await talk.buttons())


async def test_what_was_not_read_for_certain_is_offered_and_a_press_opens_its_form_filled(talk: Talk) -> None:
    await talk.say("marta kowalska wants sixty dollars more on the plastic she carries, 60 that is")

    shown = await talk.buttons()

    assert len(shown) <= 4
    assert shown[-1] == "Something else"
    assert await talk.nothing_is_open()
    offered = next(label for label in shown if label.startswith("Top up"))
    await talk.press(offered)
    assert not await talk.nothing_is_open()


async def test_a_form_says_at_each_field_which_value_is_from_the_message(talk: Talk) -> None:
    await talk.say("top up 3205 by 40 because he needs it for the taxi")

    await talk.press("Review and submit")

    marked = {
        name for name, hint in (await talk.driver.hints(talk.user)).items() if "From your message." in hint
    }
    assert marked == {"card", "amount_usd", "reason"}


async def test_an_empty_field_is_not_said_to_be_from_the_message(talk: Talk) -> None:
    await talk.say("freeze 3205")

    await talk.press("Review and submit")

    marked = {
        name for name, hint in (await talk.driver.hints(talk.user)).items() if "From your message." in hint
    }
    assert marked == {"card"}


async def test_a_proposed_look_up_is_shown_when_its_button_is_pressed(talk: Talk) -> None:
    await talk.say("marta kowalska's plastic, something with it")
    looks = [
        label
        for label in await talk.buttons()
        if "MARTA" in label and label.startswith(("Show", "Balance", "Purchases", "Requests"))
    ]

    assert looks
    await talk.press(looks[0])

    assert await talk.nothing_is_open()


async def test_something_else_shows_what_can_be_done_and_requests_nothing(talk: Talk) -> None:
    await talk.say("marta kowalska wants sixty dollars more on the plastic she carries, 60 that is")

    await talk.press("Something else")

    assert await talk.nothing_is_open()
    assert "help" in str(talk.last(await talk.messages())).lower()
