"""Money that is not US dollars is asked about, whatever it is called and wherever in the sentence that is said."""

from __future__ import annotations

import pytest

from bot import operations
from bot.intents import parse
from bot.intents.plain_text import word_set
from tests.support import authors

MONEY = sorted(
    word_set(
        """
        canadian aussie australian kiwi swiss british jamaican mexican brazilian indian japanese chinese
        european taiwanese singaporean norwegian danish turkish thai namibian loonies quid sterling fiver
        squid pounds rupees pesos reais euros yen yuan francs zloty rand kwacha lakh sats satoshi tether CAD
        aud sek gbp chf guilders kroner kr cdn
        """
    )
)
SAID = (
    "put 120 {} on nora, shes up in windsor for the steel",
    "put 120 {} dollars on nora",
    "load 120 {} onto 9140 please",
    "take 120 {} off 9140",
    "top up 9140 by 120 in {}",
    "Nora needs 120 {} on her card",
    "load 120 (in {}) onto 9140",
    "load 120 dollars {} onto 9140",
    "set the weekly limit of 3018 to 900 {}",
    "load 120 onto 9140 in {}",
    "load 120 onto 9140, {} dollars",
)


def opens(text: str) -> bool:
    return any(one.opened for one in parse(text, authors.facts(), kinds=operations.kinds()).readings)


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("said", SAID)
def test_no_form_opens_for_an_amount_of_other_money(said: str) -> None:
    assert [word for word in MONEY if opens(said.format(word))] == []


@pytest.mark.parametrize(
    "text",
    [
        "put 120 on nora, shes up in windsor for the steel",
        "put 120 US dollars on nora",
        "load 120 american dollars onto 9140",
        "load 120 more onto 9140",
        "load another 120 bucks onto 9140, she pays in pesos there",
    ],
)
def test_us_dollars_by_any_of_their_names_are_read_at_once(text: str) -> None:
    assert opens(text)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("nora-h close. for always", "close_card"),
        ("9140 unfreeze pls", "unfreeze_card"),
        ("hi, 450 onto marta's pls", "topup_card"),
        ("I would like that you put 250 on the card of Nora - she leaves for Nantes.", "topup_card"),
        ("could you close permanently the card ending in 8863 ?", "close_card"),
        ("please withdraw 75 from 3018 and give them back to the float. We had put too much.", "unload_card"),
        ("Set Hugo's card to phone number +14405550171, he lost the other one", "change_phone"),
        ("send me the link to see will-p number", "reveal_card"),
    ],
)
def test_a_request_is_read_in_another_order_of_its_parts(text: str, intent: str) -> None:
    readings = parse(text, authors.facts(), kinds=operations.kinds()).readings

    assert [(one.intent, one.opened) for one in readings] == [(intent, True)]
