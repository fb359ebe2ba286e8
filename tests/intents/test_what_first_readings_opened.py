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


@pytest.mark.by_turns(4)
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


@pytest.mark.by_turns(4)
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


_TX = f"0x{'bc79b61effd1b2cf' * 4}"
_WHAT_BECAME_OF_IT = (
    "can you check {} on Polygon for me?",
    "please check {} on polygon",
    "could you have a look at {} on Base",
    "take a look at {} (polygon)",
    "kindly verify {} on Polygon",
    "can you look up {}, polygon",
    "can you find {} on polygon",
    "please trace {} on Polygon network",
    "could you track {} on base for me",
    "what became of {} on polygon",
    "whatever became of {} on polygon, please",
    "has {} come in yet, on polygon",
    "did {} go through on polygon",
    "did {} make it, polygon, please tell me",
    "is {} in yet? polygon",
    "any news of {} on polygon please",
    "any sign of {} on polygon please",
    "what's going on with {} on polygon please",
    "could you tell me about {} on polygon",
    "could you see whether {} on polygon reached us",
    "please find out if {} on polygon is in the float",
    "please confirm receipt of {} on Polygon",
    "can you confirm if {} on polygon was credited",
    "please show me {} on polygon",
    "keep an eye on {} on polygon please",
    "could you chase {} on polygon",
    "update on {} on polygon please",
)
_BEHIND_IT = (
    "",
    "The finance director sent it and has since vanished to lunch.",
    "Our co-producers transferred it on Thursday.",
    "It is for the float.",
    "It was paid in this morning, they say.",
    "I submitted the deposit myself.",
    "We need the funding for the reshoots.",
)


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("asked", _WHAT_BECAME_OF_IT)
def test_a_question_about_a_transfer_submits_none(asked: str) -> None:
    for number, story in enumerate(_BEHIND_IT):
        before, behind = f"{story} {asked.format(_TX)}", f"{asked.format(_TX)} {story}"
        text = before if number % 3 == 2 else behind
        assert opened(text) is None, text


@pytest.mark.parametrize(
    "text",
    [
        f"please submit {_TX} on polygon",
        f"Please report our deposit {_TX} on Polygon, because it is not reflected in the float after 3 hours.",
        f"Please report this deposit, on Polygon:\n{_TX}\nIt hasn't shown up.",
        f"Please register the deposit {_TX} on Base. It did not arrive in the float.",
        f"I would like to report deposit.\nNetwork: Polygon\nTx hash: {_TX}\nReason: regular funding for November",
    ],
)
def test_a_transfer_that_is_to_be_submitted_is(text: str) -> None:
    reading = opened(text)

    assert reading is not None, text
    assert reading.intent == "submit_funding"
    assert reading.slots["tx_hash"] == _TX


_GET_BACK = (
    *(
        "get back {a}",
        "get {a} back",
        "recover {a}",
        "reclaim {a}",
        "claim back {a}",
        "retrieve {a}",
        "return {a}",
    ),
    *("bring back {a}", "collect {a}", "take back {a}", "pull {a} back", "withdraw {a}", "transfer {a} back"),
)
_THIRD = ("Booking.com", "the hotel", "Hertz", "our supplier", "the airline")
_FROM_OTHERS = (
    "please contact {who} and {back} to card of Tomás Rivera",
    "please contact {who} and {back} to 1297, the hotel was closed",
    "call {who} and {back} on the card of Tomás Rivera",
    "please ask {who} to {back} to 1297",
    "please {back} from {who} to card of Tomás Rivera",
    "could you {back} from {who} onto 1297? The hotel was closed.",
    "please {back} from {who} for 1297",
    "1297: {back} from {who} please",
    "write to {who} and {back} for Tomás Rivera's card",
    "{who} should {back} to 1297, please arrange",
    "please {back} to card of Tomás Rivera from {who}",
    "please {back} to the card of Tomás Rivera",
    "please {back} onto 1297, {who} charged twice",
)


@pytest.mark.parametrize("text", _FROM_OTHERS)
def test_money_that_comes_back_to_a_card_is_not_taken_off_it(text: str) -> None:
    for number, back in enumerate(_GET_BACK):
        who = _THIRD[number % len(_THIRD)]
        said = text.format(who=who, back=back.format(a=("USD 210.00", "210")[number % 2]))
        reading = opened(said)
        assert reading is None or ("{who}" not in text and reading.intent == "topup_card"), said


@pytest.mark.parametrize(
    "text",
    [
        "please get back 210 from 1297 to the float",
        "take 210 off Tomás Rivera's card, the hotel was cheaper",
        "return 210 to the float from 1297. The hotel was closed.",
        "I would like to withdraw 210 USD from card 1297",
        "bring 210 back from 1297",
    ],
)
def test_money_that_leaves_a_card_is_taken_off_it(text: str) -> None:
    reading = opened(text)

    assert reading is not None, text
    assert reading.intent == "unload_card"


_ACTIVE_AGAIN = (
    *("activate", "reactivate", "re-activate", "enable", "re-enable", "open", "reopen", "restore", "release"),
    *("resume", "unlock", "unblock", "unfreeze", "thaw", "switch on", "turn on", "bring back", "free"),
    *("make active", "put back in service", "reinstate", "lift"),
)
_STATES = (
    "frozen",
    "blocked",
    "locked",
    "closed",
    "suspended",
    "paused",
    "disabled",
    "deactivated",
    "stopped",
)
_ORDERS_OF_IT = (
    "please kindly {verb} again the {state} card of Will Park. He found his wallet.",
    "please {verb} the {state} card of Will Park again",
    "please {verb} the {state} card of Will Park",
    "{verb} Will Park's {state} card once more please",
    "please {verb} once more {state} card 4402",
    "please once more {verb} the {state} 4402",
    "{verb} back the {state} card of Will Park",
    "the {state} card of Will Park, please {verb} it again",
    "the {state} card of Will Park please {verb} again",
    "{state} card of Will Park: please {verb} again",
    "4402 {state}, please {verb} again",
    "card 4402, {state} since Friday, kindly {verb} once more",
    "could you {verb} my colleague's {state} card 4402 again?",
    "Will Park's {state} card can be used again please, {verb} it",
    "please make the {state} card of Will Park work again",
    "please make work again the {state} card of Will Park",
    "kindly again {verb} the {state} one, 4402",
)


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("order", range(len(_ORDERS_OF_IT)))
def test_the_state_of_a_card_asks_for_nothing(order: int) -> None:
    for number, verb in enumerate(_ACTIVE_AGAIN):
        said = _ORDERS_OF_IT[order].format(verb=verb, state=_STATES[(number + order) % len(_STATES)])
        reading = opened(said)
        assert reading is None or reading.intent == "unfreeze_card", said


@pytest.mark.parametrize(
    "verb", ["freeze", "block", "lock", "suspend", "pause", "close for good", "deactivate"]
)
@pytest.mark.parametrize("state", ["active", "unfrozen", "unlocked", "unblocked", "reactivated", "open"])
def test_nor_is_it_where_the_card_is_to_be_stopped(verb: str, state: str) -> None:
    for text in _ORDERS_OF_IT[:12:3]:
        said = text.format(verb=verb, state=state)
        reading = opened(said)
        assert reading is None or reading.intent != "unfreeze_card", said


@pytest.mark.parametrize(
    "text",
    [
        "Please kindly activate again the frozen card of Will Park. He found his wallet.",
        "please reactivate the blocked card of Will Park",
        "unfreeze the frozen card of Will Park please, he found his wallet",
    ],
)
def test_a_frozen_card_that_shall_work_again_is_unfrozen(text: str) -> None:
    reading = opened(text)

    assert reading is not None, text
    assert reading.intent == "unfreeze_card"


@pytest.mark.parametrize(
    "text", ["I want the card of Will Park frozen", "4402 has to be blocked please", "get 4402 frozen please"]
)
def test_a_card_that_is_wanted_frozen_is(text: str) -> None:
    reading = opened(text)

    assert reading is not None, text
    assert reading.intent == "freeze_card"


@pytest.mark.parametrize("network", ["on Polygon", "(BNB)", "on base"])
@pytest.mark.parametrize(
    "asked",
    ["Whats the state of deposit {}", "whats the status of our transfer {}", "state of the deposit {}"],
)
@pytest.mark.parametrize(
    "story", ["", ", Alasdair keeps phoning me like Im the bank", ". They ask me every hour"]
)
def test_what_became_of_a_deposit_submits_none(asked: str, network: str, story: str) -> None:
    assert opened(f"{asked.format('0x' + '3ac85b9d' * 8)} {network}{story}") is None


@pytest.mark.parametrize("verb", ["move", "shift", "send", "transfer"])
@pytest.mark.parametrize("how", ["", "straight ", "directly "])
@pytest.mark.parametrize(
    "to", ["over to april's", "to may's", "across to marta's", "onto his boss's", "to april's card"]
)
def test_money_for_somebody_elses_card_is_not_taken_off_the_first(verb: str, how: str, to: str) -> None:
    assert opened(f"{verb} 50 {how}from will's card {to}") is None
