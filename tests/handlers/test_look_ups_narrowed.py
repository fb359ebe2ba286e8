"""What a question narrows a look-up by is in the answer, or the answer says that it is not."""

from collections.abc import AsyncIterator
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.intents import Reading, Thread, parse
from handlers.commands import intent_commands
from tests.handlers.slack_driver import SlackDriver
from tests.handlers.talk import Talk
from tests.support import authors

FACTS = authors.facts()
ZONE = ZoneInfo("Europe/London")
#: A value for each slot that a look-up can be narrowed by.
VALUES: dict[str, Any] = {
    "card": "4711",
    "since": "2026-11-02",
    "until": "2026-11-08",
    "status": "frozen",
    "merchant": "Zeppelin",
    "above": "777",
    "at_least": "666",
    "below": "555",
    "at_most": "444",
    "network": "POLYGON",
    "person": "Bob",
    "name": "Quist",
    "kind": "topup",
}
OCTOBER = {"since": "2026-10-01", "until": "2026-10-31"}
NEEDS = {"card_show", "card_balance", "card_transactions", "decline_explain", "card_requests"}


@pytest.fixture
async def talk(driver: SlackDriver) -> AsyncIterator[Talk]:
    yield Talk(driver)
    assert not (await driver.state())["missed_acks"]


def answered(reading: Reading) -> str:
    """The command that answers it, with what is said beside the answer."""
    command = intent_commands.command_of(reading, FACTS.now, ZONE).text
    return " ".join((command, *reading.notes, *intent_commands.not_applied(reading)))


@pytest.mark.parametrize("intent", sorted(intent_commands.COMMANDS))
@pytest.mark.parametrize("slot", VALUES)
def test_every_slot_of_every_look_up_is_in_its_answer_or_said_not_to_be(intent: str, slot: str) -> None:
    slots = {slot: VALUES[slot], **({"card": "4711"} if intent in NEEDS else {})}

    assert VALUES[slot] in answered(Reading(intent, slots))


@pytest.mark.parametrize("intent", sorted(intent_commands.COMMANDS))
def test_all_slots_at_once_are_in_the_answer_or_said_not_to_be(intent: str) -> None:
    said = answered(Reading(intent, VALUES))

    assert [value for value in VALUES.values() if value not in said] == []


@pytest.mark.parametrize("ask", ["which cards are", "list cards", "show me the cards that are"])
@pytest.mark.parametrize("state", ["not frozen", "not blocked", "not active", "not on hold"])
def test_a_state_that_is_denied_is_none_that_a_list_is_narrowed_to(ask: str, state: str) -> None:
    (reading,) = parse(f"{ask} {state}", FACTS).readings

    assert (reading.intent, reading.slots.get("status")) == ("card_list", None)
    assert state in " ".join(intent_commands.not_applied(reading))


OUT = [
    "without refunds", "excluding refunds", "except refunds", "but not refunds", "other than refunds",
    "apart from refunds", "not at Shell", "except Shell", "without Shell", "besides Shell",
    "that are not declined", "that aren't pending", "except declined payments", "leaving out refunds",
]  # fmt: skip


@pytest.mark.parametrize("ask", ["purchases on 3018", "spend on 3018", "what did we spend on 3018 this week"])
@pytest.mark.parametrize("out", OUT)
def test_what_is_to_be_left_out_of_purchases_is_never_what_is_shown(ask: str, out: str) -> None:
    reading = parse(f"{ask} {out}", FACTS).first

    assert {"status", "merchant"} & reading.slots.keys() == set()
    assert reading.slots["card"] == "3018"
    assert out.rsplit(maxsplit=1)[-1] in " ".join(intent_commands.not_applied(reading))


@pytest.mark.parametrize(
    ("text", "command", "out"),
    [
        ("balance of everyone but Marta", "card list", "everyone but Marta"),
        ("balances of all cards but Marta's", "card list", "all cards but Marta"),
        ("spend by everyone but Marta this month", "card spend 2026-11-01..2026-11-23", "everyone but Marta"),
        (
            "what did we spend besides Marta's card this month",
            "card spend 2026-11-01..2026-11-23",
            "besides Marta",
        ),
        ("spend of everybody except Marta", "card spend", "except Marta"),
        ("what did we spend everywhere but Uber", "card spend", "everywhere but Uber"),
    ],
)
def test_who_or_what_is_excepted_is_not_the_one_that_is_shown(text: str, command: str, out: str) -> None:
    reading = parse(text, FACTS).first

    assert intent_commands.command_of(reading, FACTS.now, ZONE).text == command
    assert out in " ".join(intent_commands.not_applied(reading))


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("cards ordered last week", "last week"),
        ("which cards were closed last month", "last month"),
        ("which cards have less than 50", "less than 50"),
        ("alerts yesterday", "yesterday"),
        ("alerts for 3018", "3018"),
        ("alerts on polygon", "polygon"),
        ("balance of 3018 last month", "last month"),
        ("float tomorrow", "tomorrow"),
        ("purchases on 3018 next week", "next week"),
        ("fundings last month on BNB above 1000", "above 1000"),
        ("open requests above 1000", "above 1000"),
        ("what did Bob approve today", "Bob"),
        ("purchases on 3018 at 3pm", "3pm"),
        ("purchases on 3018 of 50 usd", "50"),
        ("compare january with february spend", "february"),
        ("ledger for 3018", "3018"),
    ],
)
def test_what_a_look_up_cannot_be_narrowed_by_is_said(text: str, piece: str) -> None:
    reading = parse(text, FACTS).first

    assert piece in " ".join(intent_commands.not_applied(reading)), reading


@pytest.mark.parametrize(
    "text",
    [
        "what's our float today", "list the cards on hold", "purchases at Shell on 3018 this week",
        "purchases on 3018 between 50 and 100 usd", "fundings in review", "what is pending for Dave",
        "why does 3018 get refused", "is 3018 not frozen", "what's not approved yet", "refunds on 3018",
        "why was 3018 declined without any reason", "funding address on BNB", "tx on 3018 last 24h",
    ],
)  # fmt: skip
def test_nothing_is_said_where_all_of_it_is_applied(text: str) -> None:
    assert intent_commands.not_applied(parse(text, FACTS).first) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fundings in review", "funding list in review"),
        ("rejected fundings", "funding list rejected"),
        ("fundings on base", "funding list BASE"),
        ("fundings in october", "funding list 2026-10-01..2026-10-31"),
        ("how much did we fund this month", "funding list 2026-11-01..2026-11-23"),
        ("funding address on BNB", "funding addresses BNB"),
        (
            "what happened to the polygon funding from yesterday",
            "funding list POLYGON 2026-11-22..2026-11-22",
        ),
        ("what did Bob request yesterday", "requests by @Bob 2026-11-22..2026-11-22"),
        ("requests of Bob", "requests by @Bob"),
        ("how much did we top up 3018 this month", "topup 2026-11-01..2026-11-23"),
        ("show declines of 3018 in october", "declined 2026-10-01..2026-10-31"),
        ("declined payments on 3018 last month", "declined 2026-10-01..2026-10-31"),
        ("why was 3018 declined at Shell", 'at "Shell" declined'),
        ("which cards are closed", "card list closed"),
        ("purchases on 3018 between 50 and 100", "at least 50 at most 100"),
        ("purchases on 3018 in the last 90 minutes", "90min"),
        ("how much did Nora spend in the last 2 hours", "2h"),
    ],
)
def test_a_filter_that_the_answer_can_have_is_in_it(text: str, words: str) -> None:
    reading = parse(text, FACTS).first

    assert intent_commands.command_of(reading, FACTS.now, ZONE).text.endswith(words)


@pytest.mark.parametrize(
    ("said", "since", "until"),
    [
        ("in the past fortnight", "2026-11-09", "2026-11-23"),
        ("the week before last", "2026-11-09", "2026-11-15"),
        ("the month before last", "2026-09-01", "2026-09-30"),
        ("2 months ago", "2026-09-01", "2026-09-30"),
        ("since 2 months ago", "2026-09-23", "2026-11-23"),
        ("in the last week of october", "2026-10-25", "2026-10-31"),
        ("in the first week of november", "2026-11-01", "2026-11-07"),
        ("in the first half of october", "2026-10-01", "2026-10-15"),
        ("in september and october", "2026-09-01", "2026-10-31"),
        ("yesterday and today", "2026-11-22", "2026-11-23"),
        ("before november", "2026-08-02", "2026-10-31"),
        ("3 days ago", "2026-11-20", "2026-11-20"),
    ],
)
def test_the_days_that_are_named_are_the_days_that_are_shown(said: str, since: str, until: str) -> None:
    slots = parse(f"purchases on 3018 {said}", FACTS).first.slots

    assert (slots.get("since"), slots.get("until")) == (since, until)


@pytest.mark.parametrize(
    ("intent", "slots", "said", "wanted"),
    [
        ("funding_list", OCTOBER, "and the week before", ("2026-09-24", "2026-09-30")),
        ("spend_show", OCTOBER, "and before that?", ("2026-09-01", "2026-09-30")),
        ("spend_show", OCTOBER, "and the month before?", ("2026-09-01", "2026-09-30")),
        ("spend_show", OCTOBER, "and the day before", ("2026-09-30", "2026-09-30")),
    ],
)  # fmt: skip
def test_a_time_before_it_follows_what_was_shown(
    intent: str, slots: dict[str, str], said: str, wanted: tuple[str, str]
) -> None:
    reading = parse(said, FACTS, Thread(read_intent=intent, read_slots=slots)).first

    assert (reading.intent, reading.slots["since"], reading.slots["until"]) == (intent, *wanted)


def test_another_person_follows_what_waits_for_one() -> None:
    thread = Thread(read_intent="pending_approvals", read_slots={"person": "Bob"})

    reading = parse("and Carol?", FACTS, thread).first

    assert (reading.intent, reading.slots) == ("pending_approvals", {"person": "Carol"})


@pytest.mark.parametrize("said", ["not refunds", "without refunds", "but not refunds", "excluding refunds"])
def test_what_is_left_out_afterwards_keeps_the_card_and_is_said_again(said: str) -> None:
    card = next(card for card in FACTS.cards if card.last4 == "3018")
    before = {"card": "3018", "status": "refunded", "since": "2026-11-01", "until": "2026-11-22"}

    reading = parse(
        said, FACTS, Thread(read_intent="card_transactions", read_slots=before, last_card=card)
    ).first

    assert (reading.card, reading.slots["since"], reading.slots.get("status")) == (card, "2026-11-01", None)
    assert said in " ".join(intent_commands.not_applied(reading))


async def test_fundings_are_narrowed_by_status_network_and_time(talk: Talk) -> None:
    assert "1 funding submission" in await talk.say("list the fundings")
    assert "0 funding submissions: in review" in await talk.say("fundings in review")
    assert "0 funding submissions: BASE" in await talk.say("fundings on base")
    assert "0 funding submissions: 1 Jan 2026 to 31 Jan 2026" in await talk.say("fundings in january")
    assert "1 funding submission: credited, POLYGON" in await talk.say("credited fundings on polygon")


async def test_the_answer_says_in_plain_words_what_was_not_applied(talk: Talk) -> None:
    shown = await talk.say("purchases on 3205 excluding refunds")
    assert "I cannot narrow this answer down by “excluding refunds”: that was not applied." in shown

    assert "0 closed cards" in (shown := await talk.say("which cards were closed last month"))
    assert "“last month”: that was not applied" in shown


async def test_the_requests_of_a_colleague_are_theirs(talk: Talk) -> None:
    assert "by Bob Tanaka" in await talk.say("what did Bob request yesterday")


@pytest.mark.parametrize("name", ["zorblat", "marketing", "finance", "Oluwaseun"])
async def test_a_name_that_nobody_has_is_no_fault_of_the_settings(talk: Talk, name: str) -> None:
    await talk.say("what did Bob request yesterday")
    for said in (f"requests from {name}", f"any requests from {name}", f"and {name}?"):
        assert "An admin must" not in await talk.say(said), said


@pytest.mark.parametrize("said", ["and mine?", "and ours?", "and everyone?"])
async def test_ones_own_requests_are_those_of_no_colleague(talk: Talk, said: str) -> None:
    await talk.say("what did Bob request yesterday")
    shown = await talk.say(said)

    assert "An admin must" not in shown
    assert "is called" not in shown
