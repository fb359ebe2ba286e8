"""Names that are words, values and stories in other words: read as they are meant, or asked about."""

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors


def read(text: str) -> Reading:
    return parse(text, authors.facts(), kinds=operations.kinds()).first


@pytest.mark.parametrize(
    ("text", "intent", "card"),
    [
        ("bung 60 dollars on april please", "topup_card", "8863"),
        ("take 25 back off may", "unload_card", "0948"),
        ("credit 35 usd to april o's card", "topup_card", "8863"),
        ("can will have 45 bucks on his, he is at the depot", "topup_card", "4402"),
        ("May's train was moved, put 30 more on her card", "topup_card", "0948"),
        ("raise april to 300 per day", "set_limits", "8863"),
        ("may daily limit to 90", "set_limits", "0948"),
        ("how much did april spend last week", "spend_show", "8863"),
    ],
)
def test_a_name_that_is_also_a_word_is_one_where_only_a_person_can_be_meant(
    text: str, intent: str, card: str
) -> None:
    reading = read(text)

    assert reading.intent == intent
    assert reading.card is not None
    assert reading.card.last4 == card


@pytest.mark.parametrize(
    "text",
    [
        "put 40 on the april report",
        "we spent 40 dollars on april 5",
        "take 40 off may's budget",
        "may I have 40",
    ],
)
def test_a_month_and_a_verb_stay_what_they_are(text: str) -> None:
    assert not read(text).opened


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("load 45 dollars and 50 cents on 3018", {"amount": "45.5"}),
        ("load twenty dollars and five cents on 3018", {"amount": "20.05"}),
        ("set the markup to zero", {"amount": "0"}),
        ("set our markup to one and a half percent", {"amount": "1.5"}),
        ("3018: fifty dollars a day please, limit", {"limits": {"daily": "50"}}),
        ("set the daily limit of 3018 to 120 instead of 90", {"limits": {"daily": "120"}}),
        ("purchases on 3018 since the tenth", {"since": "2026-11-10"}),
        (
            "purchases on 3018 from the second to the sixth of november",
            {"since": "2026-11-02", "until": "2026-11-06"},
        ),
        ("purchases on 3018 between 9 and 13 november", {"since": "2026-11-09", "until": "2026-11-13"}),
        ("purchases on 3018 from 10/nov to today", {"since": "2026-11-10", "until": "2026-11-23"}),
    ],
)
def test_a_value_is_read_however_it_is_said(text: str, slots: dict[str, object]) -> None:
    assert slots.items() <= read(text).slots.items()


@pytest.mark.parametrize(
    "text",
    [
        "put foty five dollars on 3018",
        "put sevnty-five dollars on 3018",
        "send wto hundred to 2675",
        "send to hundred dollars to 2675",
        "put 1 dollar and 150 cents on 3018",
    ],
)
def test_a_value_with_a_slip_in_it_is_asked_about(text: str) -> None:
    assert not read(text).opened


@pytest.mark.parametrize("network", ["Tron", "Ethereum", "solana", "trc20"])
def test_a_network_that_is_none_of_ours_is_said_back_and_fills_no_form(network: str) -> None:
    address = read(f"what is our deposit address on {network}")
    submission = read(f"please submit 0x{'ab' * 32} on {network}")

    assert address.slots["network"] == submission.slots["network"] == network
    assert any("can't be used here" in note for note in address.notes)
    assert not submission.opened
    assert submission.ask is not None
    assert submission.ask.slot == "network"


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("cancel 3018, he resigned", "close_card"),
        ("8863 is still blocked by mistake, lift it please", "unfreeze_card"),
        ("we froze 3018 for the holiday, he is back so open it", "unfreeze_card"),
        ("everything that is on 3018, please return it to the float", "unload_card"),
        ("load 60 on 3018 against PO 5512", "topup_card"),
        ("load 60 on 3018, or the hotel loses the booking", "topup_card"),
        ("load 60 on 3018. There's no signal at the warehouse", "topup_card"),
        ("Right, load 60 on 3018", "topup_card"),
        ("withdraw the request I raised on 3018 a minute ago", "undo"),
        ("halt please all things which are being sent", "pause_sending"),
        ("I made a mistake, please undo the top up on 3018", "undo"),
    ],
)
def test_a_story_or_another_word_order_hides_no_request(text: str, intent: str) -> None:
    reading = read(text)

    assert reading.intent == intent
    assert reading.opened or reading.takes_back


@pytest.mark.parametrize(
    "text",
    [
        "cancel 3018",
        "8863 is still blocked, sort it out with Bob first",
        "everything that is on 3018 please",
        "load 60 on 3018. There's no approval",
        "load 60 on 3018 or 70",
        "load 60 on 3018, or she said so",
        "freeze a card, Nora is angry",
        "I would like to put 1,500 on 3018",
        "the new intern: freeze 3018",
        "who knows, freeze 3018",
        "pause sendinh pls. everything. Nora's orders",
        "stop sendng, all of it, Nora is on her way",
        "pls up her daily limit to $400 and switch on 3DS for Will's card as well",
        "cap it at 90 a day and turn 3018 back on",
        "Will's card has no one-time code yet. Enable it for him please",
        "Hugo's card: the verification, please activate it",
    ],
)
def test_what_is_open_to_doubt_stays_asked_about(text: str) -> None:
    assert not read(text).opened


@pytest.mark.parametrize(
    "before", ["wrong card", "wrog card", "crong card", "oopss", "sory", "my mistke", "worng one"]
)
def test_undoing_a_freeze_is_no_request_to_unfreeze_whatever_slip_stands_before(before: str) -> None:
    for text in (f"{before}, undo the freeze on nora", f"{before} - please undo the freeze on 9140"):
        assert not read(text).opened


def test_a_card_is_ordered_from_a_list_in_any_form() -> None:
    texts = [
        "card pls | Ada Quist | +31612849375 | ada@tidewater.example",
        "Issue please\nAda Quist\n+31612849375\nada@tidewater.example",
        "Kindly order one card:\n1. Name: Ada Quist\n2. Mobile: +31612849375\n3. Email: ada@tidewater.example",
    ]
    readings = [read(text) for text in texts]

    assert [reading.slots["name"] for reading in readings] == ["Ada Quist"] * 3
    assert [reading.intent for reading in readings] == ["order_card"] * 3


def test_a_card_opens_with_the_amount_that_is_to_be_on_it() -> None:
    reading = read("New card for Ada Quist, ada@tidewater.example, +31612849375, load $100 to start")

    assert reading.slots["amount"] == "100"
