"""A text without its values: nothing of a card, an amount, a date, a number or a name is left."""

import pytest

from bot.intents import Facts, masked
from tests.support.utterances import facts

FACTS: Facts = facts()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("when does 3018 get its 40 usd back", "when does <card> get its <amount> back"),
        ("is Hugo Okonkwo's plastic ok", "is <card> plastic ok"),
        ("what did Ada Quist break yesterday", "what did <name> <name> break <date>"),
        ("ada broke it", "<name> broke it"),
        ("Ada broke it", "<name> broke it"),
        ("Please wiggle 9140", "please wiggle <card>"),
        ("mail x.y@example.com at +49 151 12345678", "mail <email> at <phone>"),
        ("0x" + "ab" * 32 + " vanished", "<hash> vanished"),
        ("see https://example.com/a?b=secret now", "see <other> now"),
        ("why R-7K3M so odd", "why <request> so odd"),
        ("flat 12b, room 7", "flat <amount>, room <amount>"),
    ],
)
def test_values_become_the_word_for_their_kind(text: str, left: str) -> None:
    assert masked(text, FACTS, ["Ada Quist"]) == left


def test_a_text_with_a_card_number_is_not_kept_at_all() -> None:
    assert masked("my card 4111 1111 1111 1111 is odd", FACTS) == ""


def test_no_digit_and_no_more_than_300_characters_are_left() -> None:
    left = masked("wiggle 9140 by 7 and 8,5 at 12:30 " * 30, FACTS)

    assert len(left) <= 300
    assert not any(char.isdigit() for char in left)
