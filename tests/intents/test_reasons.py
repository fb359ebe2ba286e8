"""Which words of a message are taken for the reason of its request."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import operations
from bot.intents import reason_in
from bot.intents.readings.questions import IN_BULK


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("freeze Daniel, he lost his wallet", "He lost his wallet"),
        ("Freeze 6994. She left the company today!", "She left the company today"),
        ("add 25.50 to 5589 for the taxi, please", "The taxi"),
        ("close Lena's card since she left, thanks", "She left"),
        ("freeze daniel because his phone was stolen", "His phone was stolen"),
        ("top up Marta by 40, reason: hotel in Lisbon", "Hotel in Lisbon"),
    ],
)
def test_a_message_that_says_why_gives_the_reason(text: str, reason: str) -> None:
    assert reason_in(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        "top up Marta by 40",
        "set a limit for the card 6994",
        "freeze Daniel for the moment",
        "freeze Daniel for a week",
        "close 6994 for good",
        "order a card because her number is +49 151 12345678",
        "top up Priya because priya@example.com asked",
        "top up 3205 for the invoice 4711",
    ],
)
def test_what_is_no_reason_or_holds_figures_or_an_address_is_left_to_its_writer(text: str) -> None:
    assert reason_in(text) == ""


@given(st.text(max_size=300), st.sampled_from([" because ", ", he ", " for the ", " reason: "]), st.text())
def test_no_reason_holds_a_figure_or_a_mention(before: str, why: str, after: str) -> None:
    assert not re.search(r"[0-9@<>]", reason_in(f"{before}{why}{after}"))


def test_every_kind_that_takes_a_list_of_cards_is_named_with_its_command() -> None:
    in_lists = {
        cls.intent or cls.kind: f"/{' '.join(cls.command)} bulk"
        for cls in operations.kinds().values()
        if cls.batch is not None and any(field.card for field in cls.fields)
    }

    assert in_lists == IN_BULK
