"""Requests as people write them: dictated, about somebody called Will, with numbers and days of the story around."""

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors


def read(text: str) -> Reading:
    return parse(text, authors.facts(), kinds=operations.kinds()).first


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("freeze the card ending in seven seven one six", "freeze_card", {"card": "7716"}),
        (
            "put fifty dollars on the card ending in zero nine four eight",
            "topup_card",
            {"card": "0948", "amount": "50"},
        ),
        (
            "two hundred and ten dollars for Ines Duarte comma she changes hotel full stop",
            "topup_card",
            {"amount": "210"},
        ),
    ],
)
def test_a_dictated_request_is_read(text: str, intent: str, slots: dict[str, str]) -> None:
    reading = read(text)

    assert (reading.intent, reading.opened) == (intent, True)
    assert slots.items() <= dict(reading.slots).items()


@pytest.mark.parametrize(
    "text", ["seven seven one six dollars on it", "freeze seven seven one", "call seven seven one six"]
)
def test_digits_in_words_that_nobody_calls_a_card_are_none(text: str) -> None:
    assert not read(text).opened


@pytest.mark.parametrize(
    "text",
    [
        "Will lost his wallet in the metro, lock his card",
        "will needs 120 for a hydraulic hose can you load him up",
        "Claw back 150 from Will. Overfunded.",
        "Update April's number to +2348035550142, she changed line",
    ],
)
def test_a_name_that_is_also_a_word_counts_where_a_person_is_meant(text: str) -> None:
    assert read(text).opened


@pytest.mark.parametrize(
    "text",
    [
        "may I freeze it",
        "the freeze will last",
        "fund May",
        "close April",
        "in May load 50",
        "what will it cost to load 50",
    ],
)
def test_a_word_that_is_also_a_name_opens_nothing(text: str) -> None:
    assert not read(text).opened


@pytest.mark.parametrize(
    "text",
    [
        "FREEZE 7716 PLS. Hotel charged her 3 times",
        "could you put 310 on 9140? the hotel bill PO 4410 is due",
        "Somebody paid with it 2 hours ago, can you freeze 3018",
        "Hugo left his wallet in a cab on Friday. Please lock his card",
    ],
)
def test_a_number_or_a_day_of_the_story_belongs_to_it(text: str) -> None:
    assert read(text).opened


@pytest.mark.parametrize(
    "text",
    [
        "freeze 3018 3 times",
        "freeze 3018 for 3 weeks",
        "load 50 onto 9140 for 5 nights",
        "move 75 from 3018 back to the float please 3 times",
        "load 50 onto 9140, PO 4410",
        "load 50 onto 9140 on Friday",
    ],
)
def test_a_number_or_a_day_of_the_request_itself_is_asked_about(text: str) -> None:
    assert not read(text).opened


@pytest.mark.parametrize(
    "text",
    [
        "put R$ 500 on 5530",
        "Please load 5589 with 1.200 dollars.",
        "Jonas wants 310.00",
        "Kindly give 9140 one of the two, 50 or 60",
    ],
)
def test_an_amount_in_doubt_or_only_wanted_by_somebody_is_not_filled_in(text: str) -> None:
    assert not read(text).opened


@pytest.mark.parametrize(
    "text",
    [
        "freeze tomas-r tomorrow at 8:00, when he already lands",
        "top up nora every monday with 50",
        "Freeze Tomás on Friday at 18:00.",
    ],
)
def test_a_request_for_another_time_gets_the_answer_that_nothing_is_scheduled(text: str) -> None:
    ask = read(text).ask

    assert ask is not None
    assert "Nothing is scheduled for another time" in ask.question


@pytest.mark.parametrize(
    "text", ["R-7K3M: signed. Go ahead.", "With my approval R-4Q9X can be executed", "nack R-4Q9X from me"]
)
def test_a_decision_in_any_words_leads_to_the_buttons(text: str) -> None:
    assert "Decisions are made with the buttons of a request" in read(text).notes[0]


@pytest.mark.parametrize("text", ["who approved R-7K3M", "has R-7K3M been approved", "is R-7K3M signed"])
def test_a_question_about_a_decision_is_none(text: str) -> None:
    assert read(text).notes == ()
