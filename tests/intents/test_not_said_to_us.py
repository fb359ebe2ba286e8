"""A request that is said to somebody else, is somebody else's, is done already or waits for another opens no form."""

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

_FACTS, _KINDS = authors.facts(), operations.kinds()
ASKED = ("freeze 3018", "please freeze 3018", "top up 3018 by 50", "please close 3018")
HELLO = (
    "Hi Bob, {}",
    "Hi Bob,\n{}.",
    "Dear Bob, {}",
    "hey dave, {}",
    "Good morning Alice, {}",
    "bob please {}",
    "to: dave - {}",
)
OTHERS = (
    "---------- Forwarded message ---------\n{}",
    "From: bob@x.com\nTo: eve@x.com\n\n{}",
    "From: bob@x.com\nTo: eve@x.com\nSubject: card\n\n{}",
    "my boss: {}",
    "our cfo says: {}",
    "the old rule was: {}",
    "his mail: {}",
    "「{}」",
    "『{}』",
    "‹{}›",
    "《{}》",
)
SIGNS = (
    "{} ❌",
    "🚫 {}",
    "⛔ {}",
    "{} 👎",
    ":x: {}",
    "✅ {}",
    "{} ✅",
    "[x] {}",
    "- [x] {}",
    "{} 🙅",
    "☑️ {}",
)
BEHIND = (
    "{}. Nora must confirm",
    "{}. Dave has to approve",
    "{}. Would that work?",
    "{}. Would you do that?",
    "{}. Is this how it works?",
    "{}. Done already by Bob",
    "{}. Bob does it",
    "{}. Bob will do it",
    "{}. April fools",
    "{}. And the same for Nora",
)
HASH = "0x" + "1" * 64
SAID = (
    *(frame.format(asked) for frame, asked in product((*HELLO, *OTHERS, *SIGNS, *BEHIND), ASKED)),
    "Hi Hugo, please top up my card by 50",
    "Nora please freeze my card",
    *(f"submit {HASH} {net}" for net in ("polygon testnet", "on amoy polygon", "base sepolia")),
)
OURS = (
    *(
        f"{hello}, please freeze 3018"
        for hello in ("Hi", "Hi team", "Dear team", "hey mate", "Good morning", "Hi all")
    ),
    *("Hello Countersign, please freeze 3018", "Hi bot, please freeze 3018", "hey can you freeze 3018"),
    *("please freeze 3018 🙏", "❄️ 3018", "please freeze 3018. Thanks, Alice", "freeze 3018, he lost it"),
)


def _read(said: str) -> Parsed:
    return parse(said, _FACTS, kinds=_KINDS)


@pytest.mark.parametrize("said", SAID)
def test_what_may_be_said_to_or_by_somebody_else_opens_no_form(said: str) -> None:
    assert not any(one.opened for one in _read(said).readings)


@pytest.mark.parametrize("said", OURS)
def test_what_is_said_to_us_opens_its_form(said: str) -> None:
    (one,) = _read(said).readings

    assert (one.intent, one.opened) == ("freeze_card", True)


NAMES = (
    "kofi",
    "zorblat",
    "mehmet",
    "sanna",
    "oluwaseun",
    "bea",
    "ravi",
    "wei",
    "ola",
    "jp",
    "tess",
    "kofi mensah",
)
ASKING = ("please", "pls", "can you", "could you please", "kindly", "would you")
TO_SOMEBODY = (
    *(f"{name} {how} freeze 3018" for name, how in product(NAMES, ASKING)),
    *(f"{name}, {how} freeze 3018" for name, how in product(NAMES, ASKING)),
    *(f"{name}, {asked}" for name, asked in product(NAMES, ASKED)),
)
MENTIONED = (
    "<@U0BOB> freeze 3018 please",
    "<@U0BOB>, please freeze 3018",
    "<@U0BOB> can you top up 3018 by 50",
)
VERDICTS = (
    "deleted",
    "binned",
    "dismissed",
    "overtaken",
    "was withdrawn",
    "forgotten",
    "got shelved",
    "abandoned",
    "zorbed",
)
VALUES = (
    *("card for Carla Mendes, +351 912 345 678, carla@example.com", "top up 3018 by 50", "freeze 3018"),
    *(
        "weekly limit of 900 for 3018",
        "Nora's number is now +47 912 34 567",
        "close 3018 for good",
        "take 50 off 3018",
    ),
)
SAYING = (
    "cfo",
    "the cfo",
    "the director",
    "our boss",
    "boss",
    "dave",
    "Dave",
    "our auditor",
    "kofi",
    "my colleague",
)
SAID_SO = ("{}, {} said so", "{}. {} says so.", "{} because {} said so", "{}, as {} says so")


@pytest.mark.parametrize("said", [*TO_SOMEBODY, *MENTIONED])
def test_what_begins_with_a_name_that_is_no_card_is_said_to_that_person(said: str) -> None:
    assert not any(one.opened for one in _read(said).readings)


@pytest.mark.parametrize(
    "said", [f"{asked}{sign}{verdict}" for asked, sign, verdict in product(VALUES, (", ", " - "), VERDICTS)]
)
def test_what_became_of_a_request_said_at_its_end_opens_no_form(said: str) -> None:
    assert not any(one.opened for one in _read(said).readings)


@pytest.mark.parametrize("why", ["stolen", "lost", "hacked", "compromised", "skimmed", "cloned"])
def test_what_became_of_a_card_is_why_it_is_frozen(why: str) -> None:
    (one,) = _read(f"freeze 3018, {why}").readings

    assert (one.intent, one.opened) == ("freeze_card", True)


@pytest.mark.parametrize(
    "said",
    [
        frame.format(asked, who)
        for frame, asked, who in product(SAID_SO, ("freeze 3018", "top up 3018 by 50"), SAYING)
    ],
)
def test_whoever_said_so_is_why_it_is_asked(said: str) -> None:
    (one,) = _read(said).readings

    assert one.opened


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("who", ["Mr Park", "the driver", "our agency", "he", "Hugo", "my colleague"])
@pytest.mark.parametrize("does", ["demands", "insists", "begs", "demanded"])
@pytest.mark.parametrize("more", ["", ".", ", in a tone which I do not appreciate", " - since Friday"])
def test_who_wants_it_may_be_said_behind_it(who: str, does: str, more: str) -> None:
    for asked in ("that the card 3018 be unfrozen", "unfreeze 3018", "load 50 on 3018", "freeze 3018"):
        assert not any(one.opened for one in _read(f"{asked}, {who} {does}{more}").readings)
