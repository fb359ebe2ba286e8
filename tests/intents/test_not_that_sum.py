"""What stands beside a number may make another sum of it: a point, a sign, a counted thing, another money, a card.

Each way to write a sum is tried with every verb. A form opens with exactly that sum, or it is asked for.
"""

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

KINDS = operations.kinds()
FRAMES = (
    *(
        "top up 3018 by {sum}",
        "top up 3018 with {sum}",
        "load {sum} onto 3018",
        "put {sum} on Hugo's card",
        "add {sum} to 3018",
    ),
    *(
        "take {sum} off 3018",
        "unload {sum} from 3018",
        "withdraw {sum} from Hugo's card",
        "please move {sum} from 3018 to the float",
    ),
    *(
        "can you load {sum} on 3018 please",
        "3018 needs {sum}",
        "give Hugo {sum}",
        "{sum} for 3018 please",
        "3018: load {sum}",
    ),
)
LIMITS = (
    *(
        "weekly limit {sum} for 3018",
        "daily limit of 3018 to {sum}",
        "set Hugo's monthly limit to {sum}",
        "cap 3018 at {sum} a day",
    ),
    *("limit 3018 to {sum} per week", "change the daily limit on 3018 to {sum}"),
)
EXACT = {
    ".5": "0.5",
    "$.99": "0.99",
    ".75": "0.75",
    ".25 usd": "0.25",
    "$ .50": "0.5",
    ".50 dollars": "0.5",
    ".05": "0.05",
    ".5k": "500",
    "0.5": "0.5",
    "$0.99": "0.99",
    "50.5": "50.5",
    "USD .5": "0.5",
}
OF_OTHER_MONEY = (
    *(
        "50¢",
        "50 ¢",
        "50 US cents",
        "50 cents",
        "50 cent",
        "99¢",
        "¢50",
        "50₿",
        "50 ₿",
        "₿50",
        "50₫",
        "50 ₴",
        "₴50",
        "50₮",
        "50 €",
        "€.50",
    ),
    *("£.5", "50 pence", ".5 €"),
)
OF_THINGS = (
    *(
        "5 fifties",
        "5 nickels",
        "5 dimes",
        "20 quarters",
        "5 tens",
        "5 twenties",
        "3 hundreds",
        "5 fifty",
        "10 fivers",
        "3 Benjamins",
        "4 notes",
    ),
    *(
        "5 bills",
        "12 coupons",
        "5 vouchers",
        "20 gallons",
        "50 litres",
        "3 payments",
        "6 units",
        "9 shares",
        "2 tickets",
        "5 thousands",
    ),
    *(
        "20 big ones",
        "50 R",
        "50 something",
        "50 odd",
        "50 squared",
        "50 and change",
        "50 and a bit",
        "min. 50",
        "50 c",
        "50 net",
        "50 gross",
    ),
)
OF_A_PART = (
    *(
        "a third of 90",
        "a fifth of 50",
        "half of 100",
        "two thirds of 90",
        "a quarter of 80",
        "a tenth of 500",
        "double 50",
        "twice 50",
    ),
    *("three quarters of 80", "half of the 100", "triple 20", "a fraction of 50"),
)
SAID_ELSEWHERE = (
    *(
        "{said}. In euros",
        "{said}. All in EUR",
        "{said}. Amounts in cents",
        "{said}. Amounts are in pounds",
        "{said}. Currency: EUR",
    ),
    *(
        "{said}. That's in euros",
        "{said}. It is in GBP",
        "{said} - in KES",
        "{said}. Everything in pence",
        "{said}. All amounts in naira",
    ),
    *(
        "In euros: {said}",
        "All amounts are in EUR. {said}",
        "{said}\ncurrency: EUR",
        "{said}. I mean euros",
        "{said}. The amount is in Swiss francs",
    ),
    *("{said}. These are Canadian dollars", "{said}. Sums in rand please"),
)


def _opened(text: str) -> list[str]:
    """The sums with which a form opens."""
    readings = [reading for reading in parse(text, authors.facts(), kinds=KINDS).readings if reading.opened]
    return [
        str(value)
        for reading in readings
        for value in (reading.slots.get("amount", ""), *dict(reading.slots.get("limits") or {}).values())
        if value
    ]


@pytest.mark.parametrize(("written", "value"), EXACT.items())
def test_a_point_before_the_first_digit_is_a_decimal_point(written: str, value: str) -> None:
    texts = [frame.format(sum=written) for frame in (*FRAMES, *LIMITS)]
    wrong = {text: sums for text in texts if (sums := _opened(text)) not in ([], [value])}

    assert wrong == {}
    assert sum(bool(_opened(text)) for text in texts) > len(texts) // 2


@pytest.mark.parametrize("written", [",5", "12.5.5", ".5.5", ".555", "..5", ". 5"])
def test_a_sum_that_can_be_read_in_two_ways_is_asked_for(written: str) -> None:
    assert [text for frame in (*FRAMES, *LIMITS) if _opened(text := frame.format(sum=written))] == []


def test_a_point_behind_a_card_makes_no_sum_of_it() -> None:
    assert _opened("top up 3018.50") == []
    assert _opened("load 3018 .50 2675") == []


@pytest.mark.parametrize("written", [*OF_OTHER_MONEY, *OF_THINGS, *OF_A_PART])
def test_a_number_of_something_else_is_no_sum_in_dollars(written: str) -> None:
    assert [text for frame in (*FRAMES, *LIMITS) if _opened(text := frame.format(sum=written))] == []


@pytest.mark.parametrize("around", SAID_ELSEWHERE)
def test_money_named_anywhere_in_the_message_is_asked_about(around: str) -> None:
    texts = [around.format(said=frame.format(sum="50")) for frame in (*FRAMES, *LIMITS)]

    assert [text for text in texts if _opened(text)] == []


@pytest.mark.parametrize(
    "frame",
    [
        *(
            "top up 3018 {card}",
            "load 3018 {card}",
            "load {card} on 3018",
            "load {card} onto 3018",
            "top up 3018 by {card}",
            "unload 3018 {card}",
        ),
        *(
            "top up 3018 with {card}",
            "take {card} off 3018",
            "3018 {card}",
            "daily limit 3018 {card}",
            "credit 3018 {card}",
        ),
    ],
)
def test_the_digits_of_another_card_are_no_sum(frame: str) -> None:
    texts = [frame.format(card=card.last4) for card in authors.facts().cards if card.last4 != "3018"]

    assert [text for text in texts if _opened(text)] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("top up 3018 by 50 thanks", "50"),
        ("load 9140 usd onto 3018", "9140"),
        ("load $50 onto 3018, the hotel charges in euros", "50"),
        ("top up 3018 by 50 bucks", "50"),
        ("can you stick 40 dolars on 3018", "40"),
        ("top up 3018 by eighty dollars", "80"),
    ],
)
def test_a_plain_sum_is_read(text: str, value: str) -> None:
    assert _opened(text) == [value]


@pytest.mark.parametrize("asks", ["Top-up request", "top up", "load"])
@pytest.mark.parametrize("named", ["Amount: USD 2,450.00", "amount = 2450", "Amount: $2450"])
def test_what_a_field_calls_the_amount_is_the_only_one(asks: str, named: str) -> None:
    for text in (
        f"Card: 3018, 1, {asks}, 2, 3, {named}",
        f"1, {asks}, Card: 3018, {named}, 2",
        f"Card: 3018, 1, {asks}, 2, 3, Reason: booth deposit for the expo, {named}",
        f"Card: 3018\n{named}\n{asks}",
    ):
        assert _opened(text) in ([], ["2450"], ["2450.00"]), text


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(
    "begun", ["two huedred and", "three hundret and", "one thousnd and", "Four hunderd And"]
)
@pytest.mark.parametrize("rest", ["ten", "fifty dollars", "12", "seventy-five"])
def test_a_number_in_words_that_lost_a_letter_is_asked_about(begun: str, rest: str) -> None:
    texts = [frame.format(sum=f"{begun} {rest}") for frame in FRAMES]

    assert [text for text in texts if _opened(text)] == []
