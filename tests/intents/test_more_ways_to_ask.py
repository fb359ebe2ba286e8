"""Ways to ask that no writer before 56 used: names that are months, what a story may tell, orders of a card, look-ups.

Beside each class stands what looks like it and must not open.
"""

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

_FACTS, _KINDS = authors.facts(), operations.kinds()


def _read(text: str) -> Parsed:
    return parse(text, _FACTS, kinds=_KINDS)


def _opened(text: str) -> str:
    return next((reading.intent for reading in _read(text).readings if reading.opened), "")


@pytest.mark.parametrize(
    ("text", "intent", "name"),
    [
        ("add 55 to Will please", "topup_card", "Will"),
        ("toss will 200", "topup_card", "will"),
        ("feed may another 45", "topup_card", "may"),
        ("sort april out with 60", "topup_card", "april"),
        ("70 for April please, train to Leeds", "topup_card", "April"),
        ("40 off may please, back to float", "unload_card", "may"),
        ("yank 90 from April, her show got snowed out", "unload_card", "April"),
        ("new limits for april: 200 a day, 1000 a week", "set_limits", "april"),
    ],
)
def test_a_month_is_a_holder_where_money_goes_to_it(text: str, intent: str, name: str) -> None:
    first = _read(text).first

    assert (first.intent, first.opened, first.slots["card"]) == (intent, True, name)


@pytest.mark.parametrize(
    "text",
    [
        "move the offsite to May",
        "we sent 40 invoices to May",
        "in april 300 came in",
        "push 12 calls to April please",
        "will 200 be enough",
        "may 45 of us come",
        "send april 30",
        "the 60 for May were refunded",
        "hey Will, please ask the bot for your codes to come by email",
        "load 40 on may, said nobody ever",
    ],
)
def test_a_month_that_is_none_of_ours_opens_nothing(text: str) -> None:
    assert _opened(text) == ""


#: Said before or behind a request, in a sentence of its own: it has no say in it.
_STORIES = (
    "Hugo rang from the petrol station",
    "Hugo just texted me from the rental desk, they're asking for a deposit",
    "the B2B fair was a zoo",
    "no receipts for 6 weeks, policy point 4.2",
    "it is all in the travel policy v3",
    "the hotel wasn't cheap lol",
    "my manager signed the quote this morning",
    "I don't want to explain it to the design team again",
    "it was her own idea",
    "the hall is on level 3",
)
_REQUESTS = (
    ("load 90 onto 3018 please", "topup_card"),
    ("take 40 off 3018 please", "unload_card"),
    ("please set the daily limit of 3018 to 80", "set_limits"),
)


@pytest.mark.parametrize("story", _STORIES)
def test_a_story_of_a_sentence_keeps_no_request_closed(story: str) -> None:
    texts = {
        text: intent
        for said, intent in _REQUESTS
        for text in (f"{story}. {said}", f"{said}. {story}", f"{story} 🙃 {said}")
    }

    assert {text: _opened(text) for text in texts} == texts


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("false alarm from the bank, unfreeze 3205 please", "unfreeze_card"),
        ("no fraud, so please unfreeze 3205", "unfreeze_card"),
        ("3205 frozen, turn it back on please", "unfreeze_card"),
        ("until the plastic is found, please freeze 3018", "freeze_card"),
        ("he clicked a phishing link. Please freeze 3018", "freeze_card"),
        ("we loaded 500 instead of 50 on 3018. Please take 450 back from it.", "unload_card"),
        ("5530 can be shut down forever, not frozen, gone", "close_card"),
        ("lower the markup from 3% down to 2% please", "set_markup"),
        ("set 3018 to 80 a day from now on, please", "set_limits"),
    ],
)
def test_a_reason_of_this_request_is_no_word_against_it(text: str, intent: str) -> None:
    assert _opened(text) == intent


@pytest.mark.parametrize(
    "text",
    [
        "the block on 9140 must stay",
        "block on 9140 was a mistake",
        "please freeze 3018, he lost his wallet in the metro, Bob please",
        "unfreeze, will park, did that one get approved",
        "Priya's note on the trip form: top up 6051 with 140",
        "new limits for 3018: 80 a day, 300 a week, said Carol",
        "she asked us for it, new limits for 3018: 80 a day, 300 a week",
        "please don't will isn't getting his codes, switch will-p to +13035550158",
        "was it right to freeze 3018",
        "is it wise to load 60 onto 3018 now",
        "activate 3-D Seure on ads-eu now",
        "5000 in 3018, load Rs",
        "Mr Park demands, in a tone of his own, that his card be unfrozen",
        "the board insists, again, that 3018 be closed for good",
        "freeze 3018... actually scrap that, he just found it",
        "load 60 onto 3018. Strike that",
        "no need to replace the phone on may-s by +819048217763",
        "load Tomás with 60 when you get in please, I'm on the road, Pieter",
        "raise weeklyy for 8863 to 1.2k, office move",
        "float → ledger 3018 60",
        "Haddad freeze?, she asks, did anyone the card of Ms",
        f"our transfer is 0x{'6ceddf70' * 8}, and freeze 5589",
    ],
)
def test_what_only_looks_like_one_of_these_opens_nothing(text: str) -> None:
    assert _opened(text) == ""


@pytest.mark.parametrize(
    "said",
    [
        "Eva Horak needs plastic. {email} / {phone} / preload 75",
        "Eva Horak should receive a card with 75 at start: {phone}, {email}",
        "one more card, 75 on it, Eva Horak, {email}, {phone}",
        "I ask for the issue of a card to Eva Horak: phone {phone}, e-mail {email}, loaded at once with 75",
        "Eva Horak works with us since Monday. Please issue her ours: {phone}, {email}, first top-up 75.00",
    ],
)
def test_a_card_is_ordered_for_whom_the_address_speaks_of(said: str) -> None:
    first = _read(said.format(email="eva.horak@firm.example", phone="+420777888999")).first

    assert first.opened
    assert (first.intent, first.slots["name"], first.slots["amount"]) == ("order_card", "Eva Horak", "75")


@pytest.mark.parametrize("end", [" - just kidding", ", never mind", ". Joke", ". Scratch that"])
def test_an_order_taken_back_in_its_last_line_opens_nothing(end: str) -> None:
    text = "order a card fro Lorcan Fahy pls\n+353857713046\nlorcan.fahy@tidelinefilms.ie\n250 on it to start"

    assert _opened(text + end) == ""


@pytest.mark.parametrize(
    ("intent", "text"),
    [
        ("float_status", "how much money have we still at the provider"),
        ("float_status", "what is sitting with our card provider today"),
        ("fees_show", "which percentage does the issuer take on foreign currency"),
        ("card_list", "list the ones that are shut for good"),
        ("card_list", "show me everything that is frozen"),
        ("card_transactions", "has 3018 ever been charged by Canva"),
        ("card_requests", "overview of all requests on 3018 since monday"),
        ("spend_show", "hugo spend last month"),
        ("card_balance", "how empty is 3018"),
        ("card_balance", "how much money remained on 3018"),
        ("funding_list", "give me a summary of our deposits"),
        ("funding_addresses", "send me the deposit addys"),
        ("decline_explain", "reasons for the declines of 3018"),
        ("request_show", "R-M3XQ approved or not"),
        ("request_show", "R-M3XQ signed or nope"),
        ("help", "show me the menu"),
    ],
)
def test_a_look_up_is_read_in_these_words(intent: str, text: str) -> None:
    assert _read(text).first.intent == intent


def test_a_request_that_is_named_is_still_decided_by_the_buttons_alone() -> None:
    for text in ("R-M3XQ approved", "R-M3XQ: signed by me", "approved, R-M3XQ can go"):
        assert any("buttons" in note for reading in _read(text).readings for note in reading.notes), text
