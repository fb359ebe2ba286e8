"""Look-ups in other words, what is not done here by the kind of thing, and what is offered: by classes of sentences."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from bot import operations
from bot.intents import KnownCard, Parsed, Thread, parse
from tests.support import authors


def _read(text: str, thread: Thread | None = None) -> Parsed:
    return parse(text, authors.facts(), thread, kinds=operations.kinds())


def _all_slots(parsed: Parsed) -> list[Mapping[str, Any]]:
    """The slots of everything that was read or is offered."""
    return [one.slots for one in parsed.readings] + [one.slots for one in parsed.suggestions]


def _says_no(parsed: Parsed) -> bool:
    first = parsed.first
    return first.intent == "help" and bool(first.notes)


@pytest.mark.parametrize(
    ("intent", "text"),
    [
        ("ledger_show", "what was booked on 3205 in october"),
        ("ledger_show", "yesterday what got booked"),
        ("ledger_show", "book entries of last week please"),
        ("ledger_show", "the two parts of her unload confuse me, show me 3205 and her ledger lines"),
        ("spend_show", "long day here, but how much has gone to Esso from 3205 since monday"),
        ("spend_show", "what did Priya go through in total last week"),
        ("spend_show", "spending of all drivers last month, one figure is enough"),
        ("spend_show", "what's the damage on 5589 this week"),
        ("pending_approvals", "anything on me to sign?"),
        ("pending_approvals", "what has Marta gotta ok today"),
        ("pending_approvals", "what's jonas gotta sign off on this week"),
        ("card_requests", "is there a request open on 3205"),
        ("decline_explain", "the payment at Esso did not pass, what happened?"),
        ("decline_explain", "payment on 3205 did not go through, for what reason"),
        ("request_show", "R-4QX9 approved already or not"),
        ("request_show", "R-4QX9 got rejected? by whom"),
    ],
)
def test_a_look_up_is_read_in_other_words(intent: str, text: str) -> None:
    assert _read(text).first.intent == intent


_SCHEDULED = ("schedule a top-up of 50 for 3205", "set my monday top-ups up as a recurring thing")
_NOT_OURS = (
    *(
        f"{verb} {what}"
        for verb, what in product(("book", "please buy"), ("a flight to Rome for Marta", "two train tickets"))
    ),
    *(
        f"{verb} 50 worth of bitcoin {where}"
        for verb, where in product(("move", "send"), ("to the float", "to my wallet"))
    ),
    *(f"pay the {bill} by bank transfer" for bill in ("invoice of the venue", "landlord")),
    "add my card to apple pay",
    "put his card in google wallet please",
    "get our money back from Ryanair",
    "claim the refund from Ikea for me",
    "get Booking.com to refund the room",
    "charge back the subscription on 3205",
    "delete that purchase from the history",
    "raise our credit line with the provider",
)


@pytest.mark.parametrize("text", [*_NOT_OURS, *_SCHEDULED])
@pytest.mark.parametrize("before", ["", "could you ", "Morning! Please "])
def test_what_is_not_done_here_is_known_by_the_kind_of_thing(text: str, before: str) -> None:
    parsed = _read(before + text)

    assert _says_no(parsed) or parsed.first.intent == "none"
    assert not any(reading.opened for reading in parsed.readings)


@pytest.mark.parametrize(
    "text",
    [
        "R-4QX9 is a mistake, reject it for me",
        "abeg just approve it, R-4QX9 waits since morning",
        "please validate R-4QX9",
        "I hereby approve R-4QX9. Please release it.",
    ],
)
def test_a_decision_in_words_is_answered_first_with_where_decisions_are_made(text: str) -> None:
    assert any("Decisions are made with the buttons" in note for note in _read(text).first.notes)


@pytest.mark.parametrize(
    "text",
    [
        "Deniz bey, the customer asks for the warranty paper, could you send it to him?",
        "my back hurts from this chair, when do we get new ones",
        "how can I apply for leave in the HR system",
        "what size of bit do I need for a wedge anchor",
        "would you book the big meeting room for thursday",
    ],
)
def test_a_message_without_a_word_of_cards_or_money_is_left_alone(text: str) -> None:
    parsed = _read(text)

    assert parsed.first.intent == "none"
    assert not parsed.first.notes


@pytest.mark.parametrize("text", ["what can u do", "what all can this thing do", "how does this work"])
def test_a_question_for_help_needs_no_word_of_cards(text: str) -> None:
    assert _read(text).first.intent == "help"


@pytest.mark.parametrize(
    "text",
    ["tomas-r all 16 digits pls", "need marta's card number for a form", "5589 number in full, agency asks"],
)
def test_who_asks_for_a_card_number_is_offered_its_link(text: str) -> None:
    first = _read(text).first

    assert (first.intent, first.opened) == ("reveal_card", False)
    assert first.card is not None
    assert first.ask is not None
    assert "not offered in conversation" in first.ask.question
    assert [option.value for option in first.ask.options] == [f"reveal {first.slots['card']}"]


@pytest.mark.parametrize(
    "text", ["cvv of 3205 please", "the security code of nora's card number", "pin of 3205"]
)
def test_who_asks_for_what_is_shown_nowhere_is_offered_nothing(text: str) -> None:
    assert _read(text).suggestions == ()


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("limits for 2675: 100 each transaction, 250 a day, 1500 a month",
         {"per_transaction": "100", "daily": "250", "monthly": "1500"}),
        ("set 60 for a single transaction and 400 per month on 2675", {"per_transaction": "60", "monthly": "400"}),
        ("drop 0948 to 100 daily and 50 per purchase", {"daily": "100", "per_transaction": "50"}),
        ("limit 3018 to 200 per transaction", {"per_transaction": "200"}),
    ],
)  # fmt: skip
def test_a_limit_for_one_purchase_is_repeated_with_the_others_and_never_fills_a_form(
    text: str, limits: dict[str, str]
) -> None:
    reading = _read(text).first

    assert (reading.intent, reading.opened, reading.slots["limits"]) == ("set_limits", False, limits)
    assert reading.ask is not None
    assert "no limit for a single purchase" in reading.ask.question


def test_the_limits_that_can_be_set_stand_when_the_other_one_is_answered() -> None:
    card: KnownCard = authors.facts().cards[0]
    slots: dict[str, Any] = {"card": card.last4, "limits": {"weekly": "600", "per_transaction": "150"}}
    thread = Thread("set_limits", slots, asked_slot="limits")

    assert _read("daily 200", thread).first.slots["limits"] == {"weekly": "600", "daily": "200"}


def test_limits_in_turn_with_their_times_are_read_in_one_line() -> None:
    text = "2675 daily 150 / weekly 600 / monthly 2000 please set"

    assert _read(text).first.slots["limits"] == {"daily": "150", "weekly": "600", "monthly": "2000"}


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("spend by card in q3", "2026-07-01", "2026-09-30"),
        ("what did we spend from 2026-07-01 to 2026-09-30", "2026-07-01", "2026-09-30"),
        ("what did Priya get through last week in total", "2026-11-16", "2026-11-22"),
    ],
)
def test_a_whole_quarter_and_a_week_gone_through_are_not_cut(text: str, since: str, until: str) -> None:
    slots = _read(text).first.slots

    assert (slots["since"], slots["until"]) == (since, until)


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("I never copy an old deposit address. What is the current one for BNB, please?", "BNB"),
        (f"one from Base before the show, it's 0x{'ab' * 32}, what's its status", "BASE"),
        (f"is 0x{'ab' * 32} credited? it was sent on Ethereum", "Ethereum"),
        ("eth adress for the float?", "Ethereum"),
    ],
)
def test_the_network_of_a_look_up_may_stand_anywhere_in_its_message(text: str, network: str) -> None:
    assert _read(text).first.slots["network"] == network


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("why will refused @ bolt? limit or saldo", "will"),
        ("will: 250 off card, back to float. loaded too much", "will"),
    ],
)
def test_a_holder_called_by_a_common_word_is_found_where_it_can_only_be_a_name(text: str, card: str) -> None:
    parsed = _read(text)

    assert any(slots.get("card") == card for slots in _all_slots(parsed))
    assert not any(reading.opened for reading in parsed.readings)


@pytest.mark.parametrize(
    "text", ["will you be late", "it may rain tomorrow", "in april we ski", "may I ask where the stapler is"]
)
def test_a_common_word_that_names_nobody_is_no_card(text: str) -> None:
    assert not any("card" in slots for slots in _all_slots(_read(text)))


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("Set Gwen Tarot up with a card, 200 to start, she's at gwen@example.com and +13065550174",
         "order_card", {"amount": "200"}),
        ("it is 4% now I think and our boss hates it, lower the markup to 3.2%", "set_markup", {"amount": "3.2"}),
        ("I'd like 75 bucks moved from the float onto jonas-w, he buys pizza", "topup_card", {"amount": "75"}),
    ],
)  # fmt: skip
def test_what_is_offered_holds_the_values_that_are_in_no_doubt(
    text: str, intent: str, slots: dict[str, str]
) -> None:
    parsed = _read(text)

    read = {reading.wanted or reading.intent: reading.slots for reading in parsed.readings}
    found = {**{one.intent: one.slots for one in parsed.suggestions}, **read}[intent]
    assert slots.items() <= found.items()


@pytest.mark.parametrize(
    ("intent", "text"),
    [
        *(("set_3ds", f"{card}: {codes} should go by {way} from now, please")
          for card, codes, way in product(("5589", "sofia-l"), ("the payment codes", "3ds codes"), ("email", "sms"))),
        ("set_3ds", "the wall is thick as a bunker, so have Jonas' verification codes sent by email instead, 5589"),
        ("pause_sending", "hit the red button, something is off"),
        ("pause_sending", "nothing leaves till the treasurer says so"),
        ("set_limits", "one purchase on will-p must not pass 85"),
        ("set_limits", "no payment on 5589 above 120 please"),
        ("order_card", "get Rosa Metz a card, she runs the crew. rosa.m@example.com +14195550177 load 500"),
    ],
)  # fmt: skip
def test_a_request_in_seldom_words_is_done_or_offered(intent: str, text: str) -> None:
    parsed = _read(text)

    read = {name for one in parsed.readings for name in (one.intent, one.wanted)}
    assert intent in read | {one.intent for one in parsed.suggestions}
    assert len(parsed.suggestions) <= 3


@pytest.mark.parametrize(
    "text", ["what are codes by sms good for", "where does nothing go out", "which payment was over 85"]
)
def test_a_question_in_such_words_is_offered_no_request_for_them(text: str) -> None:
    offered = {one.intent for one in _read(text).suggestions}

    assert not offered & {"set_3ds", "pause_sending", "set_limits"}


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("please retract my request for April", "April"),
        ("mine is a double, recall my latest request, the May one", "May"),
        ("take back what I asked for sofia-l a minute ago", "sofia-l"),
    ],
)
def test_what_is_taken_back_is_of_the_card_that_is_named(text: str, card: str) -> None:
    reading = _read(text).first

    assert (reading.intent, reading.slots.get("card"), reading.opened) == ("undo", card, False)


@pytest.mark.parametrize(
    ("text", "intent", "card"),
    [
        ("the unload of sofia-l went in as two pieces, show me her ledger entries", "ledger_show", "sofia-l"),
        ("May's standing at the counter and the card got knocked back, why??", "decline_explain", "May"),
        (
            "hi, april is angry, her payment at Booking.com didn't go through on friday. why?",
            "decline_explain",
            "april",
        ),
    ],
)
def test_a_look_up_is_of_the_holder_named_before(text: str, intent: str, card: str) -> None:
    reading = _read(text).first

    assert (reading.intent, reading.slots.get("card")) == (intent, card)


@pytest.mark.parametrize("verb", ["didn't go through", "won't work", "bounced", "keeps failing"])
def test_what_happened_is_no_part_of_a_merchants_name(verb: str) -> None:
    parsed = _read(f"payments on 3205 at Booking.com {verb}")

    assert {slots["merchant"] for slots in _all_slots(parsed) if "merchant" in slots} <= {"Booking.com"}
