"""A sentence of story keeps no form closed, whatever its words are; nothing that could be about the request is a story.

Each request opens beside stories of many kinds; beside each thing that could be about it, in each place, it does not.
"""

from itertools import product

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors

REQUESTS = (
    ("please unfreeze 3205", "unfreeze_card"),
    ("please freeze 3205", "freeze_card"),
    ("load 60 onto 3205 please", "topup_card"),
    ("60 onto 3205 now please", "topup_card"),
    ("pull 45 back off 3205 please", "unload_card"),
    ("daily limit 300 on 3205 please", "set_limits"),
    ("please close 3205 for good", "close_card"),
)
STORIES = (
    *("google sent me an angry red mail", "sofia found her wallet in the fridge", "I wish I was joking"),
    *(
        "he wrote to me that he lost his bag in naples",
        "she told me herself that she spends when she is tired",
        "somebody posted its number on a public board",
    ),
    *(
        "the kitchen smelled of fish all week",
        "our printer broke on monday and my boss laughed",
        "he's on sick leave until further notice",
    ),
    *(
        "first time I've done one of these by myself",
        "the auditors were here with three dogs",
        "do not ask",
        "SEC-77 was closed as a false positive",
    ),
)
#: Each could be about the request: it takes it back, puts it off, tells whose it is or that it was done.
ABOUT_IT = (
    *(
        "do not do it yet",
        "do not",
        "never mind",
        "it was done on monday",
        "sofia did it",
    ),
    *(
        "my boss wants it",
        "finance told me to",
        "the boss said to wait",
        "she told me that it must wait",
        "he wrote that we should do it",
    ),
    *(
        "wait until he lands",
        "only if he agrees",
        "once she has signed",
    ),
    *(
        "the approval was missing",
        "bob has not agreed",
        "it is not urgent and can wait till friday",
        "this was only a test",
        "I was joking",
    ),
    *(
        "that was the wrong card",
        "same for 9140",
        "and 9140",
        "9140 needs it too",
        "the other one was meant",
        "carol handled it",
        "I changed my mind",
    ),
    *(
        "he asked for it yesterday and I said no",
        "the old request was rejected",
        "we agreed on tomorrow",
        "is that allowed",
        "nobody approved it",
        "the note read as follows",
    ),
)
#: The same of what is given: nobody gives it twice, or for nothing.
OF_WHAT_IS_GIVEN = (
    *(
        "he got it",
        "she has it already",
        "she received it and bought us soup",
        "he told me that it was not needed",
    ),
    *("sofia says she does not need it any more", "it is no longer needed"),
)
GIVEN = ("load 60 onto 3205 please", "60 onto 3205 now please", "daily limit 300 on 3205 please")
PLACES = ("{0}. {1}", "{1}. {0}", "{1}, {0}", "my cat was sick. {1}. {0}", "{0}. my cat was sick. {1}")
_FACTS, _KINDS = authors.facts(), operations.kinds()


def _opened(text: str) -> Reading | None:
    return next((one for one in parse(text, _FACTS, kinds=_KINDS).readings if one.opened), None)


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(("said", "intent"), REQUESTS)
def test_a_story_keeps_no_form_closed(said: str, intent: str) -> None:
    texts = [place.format(story, said) for story in STORIES for place in ("{0}. {1}", "{1}. {0}")]

    assert [text for text in texts if (reading := _opened(text)) is None or reading.intent != intent] == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("said", [said for said, _ in REQUESTS])
def test_what_could_be_about_the_request_is_no_story(said: str) -> None:
    texts = [place.format(about, said) for about, place in product(ABOUT_IT, PLACES)]

    assert [text for text in texts if _opened(text)] == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("said", GIVEN)
def test_nothing_is_given_that_was_given_or_is_not_needed(said: str) -> None:
    texts = [place.format(about, said) for about, place in product(OF_WHAT_IS_GIVEN, PLACES)]

    assert [text for text in texts if _opened(text)] == []


def test_a_ticket_is_no_amount_and_the_code_of_a_money_is_no_ticket() -> None:
    reading = _opened("TRE-633: load 145 USD onto 3205 please")

    assert reading is None or dict(reading.slots) == {"card": "3205", "amount": "145"}
    codes = ("KES", "EUR", "GBP", "NZD", "ZAR", "PLN", "INR")
    assert [code for code in codes if _opened(f"load {code}-150 onto 3205")] == []


def test_a_number_with_the_thanks_for_it_is_no_request() -> None:
    thanks = ("thanks", "thank you", "thx", "cheers")
    texts = [
        f"{thank} for {the} 60 on 3205{behind}"
        for thank, the, behind in product(thanks, ("the", "that", "those"), ("", ", she bought us all soup"))
    ]

    assert [text for text in texts if _opened(text)] == []
