"""Requests behind a story, and words of other trades for what is ours; with what only looks like one of them."""

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors

HASH = "0x" + "9c4d12ab" * 8


def opened(text: str) -> Reading | None:
    parsed = parse(text, authors.facts(), kinds=operations.kinds())
    return next((reading for reading in parsed.readings if reading.opened), None)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("The shop keeps asking for a deposit. Please put 60 on 3018.", "topup_card"),
        ("they ran out of diesel on the motorway put 60 on 3018", "topup_card"),
        ("sofia is at zero and stuck at the counter, 110 please", "topup_card"),
        ("Please be informed that 3018 requires an additional 75 USD.", "topup_card"),
        ("Not all the money was spent. Please return 75 from 3018 to the float.", "unload_card"),
        ("take 75 off 3018 and put it back in the float", "unload_card"),
        ("there is still 75 on 3018. move it back to the float please", "unload_card"),
        ("There are charges on 5589 that nobody can explain. Freeze it.", "freeze_card"),
        ("will lost his wallet in the park. freeze his card, perhaps it turns up", "freeze_card"),
        ("the bank says it cannot be found. please freeze 7716", "freeze_card"),
        ("3205 can go live again, she has found it", "unfreeze_card"),
        ("2675 doesn't have to stay frozen. unfreeze 2675 please", "unfreeze_card"),
        ("he won't be back so close 3018 for good", "close_card"),
        ("close 3018 permanently, a freeze is not enough", "close_card"),
        ("let me see the full card number of 3018 please", "reveal_card"),
        ("can you send me the private link for the number of ads-eu", "reveal_card"),
        ("the purchase codes of 4402 must go to our web hook", "set_3ds"),
        ("please change the percentage that we add on top to 1.2%", "set_markup"),
        ("drop the markup to half a percent", "set_markup"),
        ("change the phone of 3018 to plus 1 615 555 0142", "change_phone"),
        (f"please register this deposit, network is base, hash {HASH}", "submit_funding"),
    ],
)
def test_a_request_is_read_behind_its_story(text: str, intent: str) -> None:
    reading = opened(text)

    assert reading is not None
    assert reading.intent == intent


@pytest.mark.parametrize(
    "text",
    [
        "the drivers who work at the depot put 60 on 3018",
        "he said she lost it at the station freeze 3018",
        "if she lost it at the station freeze 3018",
        "she told me to go to the bank and put 60 on 3018",
        "they were about to freeze 3018",
        "The hotel says freeze 3018.",
        "the bank told us to wait. close 3018 for good",
        "The request is not approved. Please close 3018 for good.",
        "Bob does not agree. Freeze 3018.",
        "It is not right. Load 60 on 3018.",
        "We do not do this. Freeze 3018.",
        "He has not signed. Close 3018 permanently.",
        "The top-up is not needed. Load 60 on 3018.",
        "Nobody approved it. Load 60 on 3018.",
        "perhaps freeze 3018",
        "freeze 3018, perhaps",
        "there is still 75 on 3018. should I move it back to the float?",
        "freeze 3018 on december 1st",
        "put next friday 60 on 3018",
        "don't show me the full card number of 3018",
        "why can I see the full card number of 3018",
        "write me the full card number of 3018 here in the chat",
        "show me the card number of 3018 and the cvv",
        "are the purchase codes of 4402 going to the webhook?",
        "the purchase codes of 4402 go to the webhook already",
        "don't send the purchase codes of 4402 to our webhook",
        "is the percentage we add 2%?",
        "the percentage we add is 2%",
        "we should not change the percentage we add to 2%",
        "3018 is frozen, 60 please?",
        "close 3018? a freeze is not enough",
        "take 75 off 3018 and put it on 9140",
        "April's at the desk today, pls up her daily limit to $400 and switch on 3DS for Will's card",
        "Please be informed that we froze 3018.",
        "we owe the bank a lot of money so they freeze 3018",
    ],
)
def test_what_only_looks_like_one_opens_nothing(text: str) -> None:
    assert opened(text) is None


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("what did Sophia buy yesterday", "card_transactions", {"since": "2026-11-22"}),
        ("balance on oh nine four eight", "card_balance", {}),
        ("list every Home Depot purchase on 3018", "card_transactions", {"merchant": "Home Depot"}),
        ("how much money went to meta last month", "spend_show", {"merchant": "meta"}),
        ("any reqs on 3018", "card_requests", {"card": "3018"}),
        ("can you look up request R 8T2N", "request_show", {"request": "R-8T2N"}),
        (f"did this one land?\n{HASH}\nbnb", "funding_show", {"tx_hash": HASH, "network": "BNB"}),
        ("all crypto deposits this mo", "funding_list", {"since": "2026-11-01"}),
        ("eth deposit address?", "funding_addresses", {"network": "Ethereum"}),
    ],
)
def test_a_question_is_answered_in_other_words(text: str, intent: str, slots: dict[str, str]) -> None:
    first = parse(text, authors.facts(), kinds=operations.kinds()).first

    assert first.intent == intent
    assert slots.items() <= first.slots.items()


@pytest.mark.parametrize("text", ["top up Sophia by 60", "freeze Thomas please", "put 60 on Martha's card"])
def test_a_name_that_only_sounds_like_a_holders_opens_nothing(text: str) -> None:
    assert opened(text) is None
