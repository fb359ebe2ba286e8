"""What no form can do is answered with a question, whatever the words: codes by mail, a number in the open."""

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

CODES = (
    *("3DS codes", "one-time codes", "verification codes", "OTPs", "checkout codes", "payment codes"),
    *("3-D Secure codes", "security codes"),
)
PLACES = (
    *("her email", "his phone", "telegram", "somebody who reads them", "SMS again", "the inbox of reception"),
    *("text message", "whatsapp"),
)
ASKED = (
    "please send the {} of 3205 to {}",
    "can the {} for 3205 go to {}?",
    "3205, {} to {}",
    "for 3205 let the {} come to {}",
    "I'd like the {} on 3205 delivered to {}",
)
NUMBERS = (
    *(
        "the full number of 3205",
        "all sixteen digits of 3205",
        "the whole PAN of 3205",
        "3205's complete number",
    ),
    *("the long number on 3205", "the card number of 3205"),
)
ASKS = (
    *(
        "give me {}",
        "can I have {}?",
        "need {} for a form",
        "{} please, the toll office wants it",
        "read me {}",
    ),
    *("paste {} here please",),
)
BRAKES = (
    *(
        "pull the handbrake, no money leaves",
        "emergency brake. nothing goes out",
        "hit the big red button please",
    ),
    *(
        "I'd like sending switched off please",
        "all outgoing money on hold now",
        "mind halting all payouts for now?",
        "let's have every transfer stopped",
        "nothing leaves until I know more",
    ),
)
_FACTS, _KINDS = authors.facts(), operations.kinds()


def _read(text: str) -> Parsed:
    return parse(text, _FACTS, kinds=_KINDS)


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("pattern", ASKED)
def test_where_codes_go_is_asked_back(pattern: str) -> None:
    first = {
        text: _read(text).first for text in (pattern.format(c, place) for c, place in product(CODES, PLACES))
    }

    assert [text for text, one in first.items() if one.intent != "set_3ds"] == []
    assert [text for text, one in first.items() if one.card is None or one.card.last4 != "3205"] == []


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("asks", ASKS)
def test_who_asks_for_a_number_reads_that_it_is_not_offered_and_is_asked_for_the_request(asks: str) -> None:
    for text in (asks.format(number) for number in NUMBERS):
        first = _read(text).first
        assert first.intent == "reveal_card", text
        if first.opened:  # it was asked for the way it is shown: to look at it
            assert "can I have" in text or "need" in text, text
            continue
        assert first.ask is not None, text
        assert "not offered in conversation" in first.ask.question


@pytest.mark.by_turns(3)
@pytest.mark.parametrize(
    "text",
    [
        "don't send the codes of 3205 to her email",
        "where do the codes of 3205 go?",
        "are the 3ds codes of 3205 sent by sms?",
        "if she agrees, send the codes of 3205 to her email",
        "Bob, ask the bot to send the codes of 3205 to your mail",
        "never read the full number of 3205 to anybody",
        "how does the reveal of a full number of 3205 work",
        "cvv of 3205 and the three digits on the back please",
        "what is the expiry date and the full number of 3205",
        "is everything that goes out on hold?",
        "he pulled the handbrake of the van",
        "don't halt the payouts",
        "did you stop all transfers yesterday?",
    ],
)
def test_what_is_not_asked_for_opens_nothing_and_is_not_asked_back(text: str) -> None:
    parsed = _read(text)

    assert not any(reading.opened for reading in parsed.readings)
    assert not {"pause_sending", "reveal_card", "set_3ds"} & {one.intent for one in parsed.readings}


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("text", BRAKES)
def test_the_brake_is_understood_by_its_names(text: str) -> None:
    assert _read(text).first.intent == "pause_sending"


@pytest.mark.by_turns(3)
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("mind putting 3205 on ice?", "freeze_card"),
        ("would you mind loading 60 onto 3205", "topup_card"),
        ("Deposits are due, so I'm keen to get 60 onto 3205", "topup_card"),
        ("mind dropping the markup to 1%?", "set_markup"),
    ],
)
def test_a_request_may_be_put_as_what_one_may_mind_or_is_keen_to(text: str, intent: str) -> None:
    first = _read(text).first

    assert (first.intent, first.opened) == (intent, True)


@pytest.mark.by_turns(3)
@pytest.mark.parametrize(
    "text",
    [
        "I don't mind loading 60 onto 3205",
        "never mind freezing 3205",
        "he would not mind loading 60 onto 3205",
        "she is keen to get 60 onto 3205",
        "I'm not keen to load 60 onto 3205",
        "would you mind not freezing 3205",
        "Bob minds freezing 3205",
    ],
)
def test_who_minds_nothing_asks_for_nothing(text: str) -> None:
    assert not any(reading.opened for reading in _read(text).readings)


ORDERED = (
    "new starter in Lisbon: {0}. Mobile {1}, mail {2}. She needs a fresh card with 300 on it",
    "Could we set {0} up with a card of her own, new. Number's {1}, email {2}, 300 should do for the first load.",
    "we have a new guide, {0}. she needs card, start with 300. her phone is {1} and mail {2}",
    "Could we have a fresh card made for {0}? You reach her on {1} or {2}, and 300 is plenty for her first week.",
)
PEOPLE = (("Beatriz Lopes", "b.lopes"), ("Mele Fonoti", "mele.fonoti"), ("Eleni Markou", "eleni.m"))


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("pattern", ORDERED)
def test_the_address_of_an_e_mail_tells_for_whom_a_card_is_ordered(pattern: str) -> None:
    for name, local in PEOPLE:
        first = _read(pattern.format(name, "+351912604418", f"{local}@northbyte.pl")).first

        assert (first.intent, first.opened) == ("order_card", True), first
        assert dict(first.slots) == {
            "name": name,
            "phone": "+351912604418",
            "email": f"{local}@northbyte.pl",
            "amount": "300",
        }


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("pattern", ORDERED)
@pytest.mark.parametrize(
    "danger",
    [
        *(
            "Do not order it yet.",
            "I ordered it yesterday.",
            "If Bob agrees.",
            "It already arrived.",
            "Never mind.",
        ),
        *(
            "Bob told me to write this.",
            "This is only a test.",
            "Wait for the approval.",
            "Not before next month.",
        ),
    ],
)
def test_a_card_that_is_not_to_be_ordered_is_not(pattern: str, danger: str) -> None:
    said = pattern.format("Beatriz Lopes", "+351912604418", "b.lopes@northbyte.pl")
    texts = (f"{said} {danger}", f"{danger} {said}", f"{said.rstrip('.')}. {danger}")

    assert [text for text in texts if any(one.opened for one in _read(text).readings)] == []
