"""What opened a form with another value, or the other way round, when a new author was read first; by its class."""

import pytest

from bot import operations
from bot.intents import Reading, parse
from bot.intents.plain_text import word_set
from tests.support import authors


def opened(text: str) -> Reading | None:
    parsed = parse(text, authors.facts(), kinds=operations.kinds())
    return next((reading for reading in parsed.readings if reading.opened), None)


#: By their codes and by what people call them: none of it is on a card of ours.
_OTHER_MONEY = word_set(
    """
    ksh kshs kes sh shs tsh tzs ush ugx zar rand ghs cedi cedis xof fcfa cfa etb birr egp mad dirham
    dirhams dh dhs aed sar riyal riyals qar kwd bhd omr php peso pesos thb baht idr rp rupiah myr
    ringgit rm vnd dong krw won twd hkd cny rmb yuan mxn cop clp ars uyu soles bgn leva ron lei uah
    hryvnia rub roubles rubles ils shekel shekels lkr npr bdt taka isk hrk rsd kzt tenge nzd
    shilling shillings kronor kroner krona krone dinar dinars lira liras leones kwacha zmw mwk rwf
    dop pkr afn forint forints koruna satoshi sats btc dai pyusd
    """
)


@pytest.mark.parametrize("money", sorted(_OTHER_MONEY))
def test_an_amount_of_other_money_opens_nothing(money: str) -> None:
    said = (
        "load {} 150 on 3018",
        "pls load {} 15,000 on 3018",
        "load 150 {} on 3018",
        "put 150{} on 3018 please",
    )
    for text in (one.format(word) for one in said for word in (money, money.upper(), money.capitalize())):
        assert opened(text) is None, text
    for text in (f"can you give hugo {money} 150", f"take 150 {money} off 3018", f"3018 +150 {money}"):
        assert opened(text) is None, text


@pytest.mark.parametrize(
    "text", ["load usd 150 on 3018", "load 150 bucks on 3018", "load us$ 150 on 3018", "load 150 on 3018"]
)
def test_dollars_still_open_it(text: str) -> None:
    reading = opened(text)

    assert reading is not None
    assert reading.slots["amount"] == "150"


_NAMES = (
    "Femke de Boer",
    "Pieter van der Meer",
    "Omar al Rashid",
    "Ana dos Santos",
    "Ludwig von Stein",
    "Bram Hendriks",
    "Jean Le Goff",
    "Siti binti Rahman",
    "Maria del Carmen Ruiz",
    "Ole Bull Hansen",
    "Mary Ann O'Neil",
    "Lotte ten Brink",
    "Jan-Willem de Groot",
    "Nguyen Thi Hoa",
)
_ORDERS = (
    "order a card for {}. phone +31638814402 mail new.person@kadeworks.example",
    "we need one more card, for {} (new.person@kadeworks.example, +31 6 4433 0915)",
    "we need a new card for {}, +31638814402, new.person@kadeworks.example",
    "order card {}, new.person@kadeworks.example, +31638814402",
    "please issue a card in the name of {}, tel +31638814402, email new.person@kadeworks.example",
    "new card: {}, +31638814402, new.person@kadeworks.example",
    "can you order a card, it is for {}, +31638814402 and new.person@kadeworks.example",
    "order a card called {} with +31638814402 and new.person@kadeworks.example",
    "{} needs a card, +31638814402, new.person@kadeworks.example",
    "order a card for our new driver {}, +31638814402, new.person@kadeworks.example, load 150",
    "another card please, to {}, +31638814402, new.person@kadeworks.example",
)


@pytest.mark.parametrize("name", _NAMES)
def test_a_card_is_ordered_for_the_whole_name_or_the_name_is_asked_for(name: str) -> None:
    for text in (one.format(said) for one in _ORDERS for said in (name, name.lower())):
        reading = opened(text)
        assert reading is None or str(reading.slots["name"]).lower() == name.lower(), (text, reading.slots)


@pytest.mark.parametrize("verb", ["freeze", "block", "lock", "suspend"])
@pytest.mark.parametrize("first_word", ["on", "un", "an", "in", "own", "uhn", "one", "hun"])
def test_an_unfreeze_that_was_dictated_as_two_words_freezes_nothing(first_word: str, verb: str) -> None:
    for card in ("Noras card", "3018", "the card of Hugo", "her card, Nora is back,"):
        for text in (
            f"{first_word} {verb} {card} please",
            f"please {first_word} {verb} {card}",
            f"{first_word} {verb} {card} she is back",
        ):
            reading = opened(text)
            assert reading is None or reading.intent == "unfreeze_card", text
        assert opened(f"and {verb} {card} she is back") is None


@pytest.mark.parametrize(
    "text",
    ["put 3018 on freeze please", "put a block on 3018", "place 3018 on hold", "and freeze 3018 please"],
)
def test_a_freeze_with_such_a_word_is_one(text: str) -> None:
    reading = opened(text)

    assert reading is not None
    assert reading.intent == "freeze_card"
