"""A request with its reason or story apart: what only tells opens no less than the request alone, and hides nothing."""

import os
from itertools import product

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors

REQUESTS = (
    "please freeze 3018",
    "can you load 50 onto 9140",
    "kindly close 2675 for good",
    "take 40 off 3018 please",
    "unfreeze 3018",
    "set the markup to 2%",
    "weekly limit 900 for 3018",
    "kindly route the purchase codes of 3018 to our webhook",
)
BACKGROUND = (
    "{}, because the steering committee approved it on 20/11",
    "{} since nobody in the depot is holding that phone",
    "{}, as the old SIM was cancelled",
    "{} cos the depot in Toledo is out of diesel",
    "the shop in Dayton was a mess and everybody got stuck there. {}",
    "{}. They're driving to Toledo and back twice this week",
    "{}, owing to the strike at Changi T3",
)
#: Some of them are reasons, some statements; each may mean that the request is not meant, not now, or not its writer's.
NOT_BACKGROUND = (
    "{}, because Bob has not approved it",
    "{} because Carol told me to",
    "{}, since he asked for it",
    "{}, because that's what the phisher wrote",
    "{} as the training slide shows",
    "{}, because this is a test",
    "{}, since it is only an example",
    "{}, because if he calls we are ready",
    "{} as we might need it",
    "{}, since it should be done next week",
    "{}, because 4402 was stolen",
    "{}, because the hotel costs 80 and he needs 90",
    "{}. He is waiting for approval",
    "{}. The boss is against it",
    "{}. Finance disagrees",
    "{}. It is not right",
    "{}. That was the intern typing",
    "{}, the intern typed",
    "{}. The audit team reads this as an order",
    "{}. She is still deciding",
    "{}. They are checking with Carol",
    "{}. He has it already",
    "{}. She got it yesterday already",
    "{}. He already did it",
    "{}. The guys took care of it",
    "{}. It was done last week",
    "he shouted, {}",
    "the manual was clear, {}",
    "the order was clear: {}",
    "Bob wrote a mail. It says the following. {}",
    "he kept saying one thing. {}",
    "{}. But the budget is gone",
    "{}, but his boss is away",
    "{}, my bad",
    "{}. We're thinking about it",
    "{}. We're planning it",
    "{}. It was a mistake because he is fine",
    "{}. The request was withdrawn",
    "{}. The request is on hold because he is away",
)


def opened(text: str) -> Reading | None:
    parsed = parse(text, authors.facts(), kinds=operations.kinds())
    return next((reading for reading in parsed.readings if reading.opened), None)


def _pairs(patterns: tuple[str, ...]) -> list[tuple[str, str]]:
    """One in three by turns, and in `make soak` all."""
    every = 1 if os.environ.get("SOAK") == "1" else 3
    pairs = product(enumerate(patterns), enumerate(REQUESTS))
    return [(p.format(r), r) for (row, p), (column, r) in pairs if (row + column) % every == 0]


@pytest.mark.parametrize(("text", "request_"), _pairs(BACKGROUND))
def test_a_reason_or_a_story_changes_nothing_of_the_request(text: str, request_: str) -> None:
    alone, whole = opened(request_), opened(text)

    assert alone is not None
    assert whole is not None
    assert (whole.intent, whole.slots) == (alone.intent, alone.slots)


@pytest.mark.parametrize(("text", "request_"), _pairs(NOT_BACKGROUND))
def test_what_may_be_more_than_a_tale_keeps_the_form_closed(text: str, request_: str) -> None:
    assert opened(text) is None, request_


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        (
            "jonas is stuck with a blown tire. told him I'd help. put 75 dollars on his visa ASAP",
            "topup_card",
            {"card": "jonas", "amount": "75"},
        ),
        (
            "nora dropped her phone (not kidding). new number is +1 419-555-0190, put that on her card pls",
            "change_phone",
            {"card": "nora", "phone": "+14195550190"},
        ),
        ("Can help to freeze May Sato? She is on no-pay leave.", "freeze_card", {"card": "May Sato"}),
        (
            "9140 need 200 more lah, hotel deposit going to bounce",
            "topup_card",
            {"card": "9140", "amount": "200"},
        ),
        ("3018 can unfreeze already pls, she is back from leave", "unfreeze_card", {"card": "3018"}),
        (
            "take 300 out of 9140 pls, put back to main account",
            "unload_card",
            {"card": "9140", "amount": "300"},
        ),
        (
            "can help to tag +6590017734 to 9140 instead of the old number?",
            "change_phone",
            {"card": "9140", "phone": "+6590017734"},
        ),
        (
            "change the mobile of 9140 from +65 8123 9900 to +65 8123 9911 please",
            "change_phone",
            {"card": "9140", "phone": "+6581239911"},
        ),
        (
            "can you throw five hundred on hugo's gas card, he's driving to toledo and back twice this week",
            "topup_card",
            {"card": "hugo", "amount": "500"},
        ),
    ],
)
def test_a_request_is_read_apart_from_its_tale(text: str, intent: str, slots: dict[str, object]) -> None:
    reading = opened(text)

    assert reading is not None
    assert (reading.intent, dict(reading.slots)) == (intent, slots)


@pytest.mark.parametrize(
    "text",
    [
        "nora lost her bag. hugo is fine. freeze her card",
        "jonas and nora are stuck. put 75 on his card",
        "how can you help to freeze 3018?",
        "who can help us freeze 3018",
        "Nora can freeze already",
        "freeze 3018. Nora's card was stolen too",
        "3018 can unfreeze 4402 already",
        "disable 3ds in 5530, meta doesn't receive the sms",
        "hey can u on-freeze april",
        "change the mobile of 9140 from +65 8123 9900 or +65 8123 9911",
        "change the mobile of 9140 to +65 8123 9911 from +65 8123 9900 to +65 8123 9912",
    ],
)
def test_what_only_looks_like_it_opens_nothing(text: str) -> None:
    assert opened(text) is None


def test_the_whole_name_is_on_the_card_though_the_address_has_a_part_of_it() -> None:
    reading = opened(
        "issue a prepaid card to Lim Wei Jie (weijie.lim@shop.example, +6587761204) with an initial load of 50"
    )

    assert reading is not None
    assert reading.slots["name"] == "Lim Wei Jie"
