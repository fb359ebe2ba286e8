"""Which way a freeze goes follows from two signs: what is done (`enable`, `lift`, `off`) and to what (a freeze, card).

The tables below are multiplied: every word with every thing, place and order. No form opens against the product,
and what is offered first never is its opposite.
"""

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

KINDS = operations.kinds()
FREEZE, UNFREEZE = "freeze_card", "unfreeze_card"
BOTH = {FREEZE: UNFREEZE, UNFREEZE: FREEZE}
CARDS = ("3018", "Hugo's card", "Nora", "card 3018")
#: What stands against the use of a card.
HOLDS = ("freeze", "block", "lock", "hold", "card freeze", "card block", "restriction", "suspension")
PUTS = (
    *(
        "enable",
        "activate",
        "reactivate",
        "re-enable",
        "turn on",
        "switch on",
        "apply",
        "impose",
        "set",
        "add",
    ),
    *(
        "restore",
        "reinstate",
        "reapply",
        "renew",
        "start",
        "keep",
        "maintain",
        "put back",
        "bring back",
        "place",
    ),
)
TAKES = (
    *("disable", "deactivate", "turn off", "switch off", "stop", "end", "lift", "remove", "cancel", "undo"),
    *(
        "release",
        "revoke",
        "clear",
        "drop",
        "terminate",
        "reverse",
        "revert",
        "take off",
        "get rid of",
        "kill",
    ),
)
ORDERS = (
    "{verb} the {noun} on {card}",
    "{verb} {noun} on {card}",
    "{verb} {noun} for {card}",
    "{verb} the {noun} of {card}",
    "{verb} {noun} {card}",
    "{verb} a {noun} for {card} please",
    "please {verb} the {noun} for {card}",
    "can you {verb} the {noun} on {card}?",
    "{verb} {card}'s {noun}",
    "{card}: {verb} the {noun}",
    "hi, for {card} {verb} the {noun} again, thanks",
)
#: The same with the two parts of a verb apart.
APART = (
    "turn the {noun} {way} for {card}",
    "turn the {noun} {way} on {card}",
    "switch the {noun} on {card} {way}",
    "switch {card}'s {noun} {way}",
    "toggle the {noun} {way} for {card}",
    "flip the {noun} of {card} {way} please",
)
#: A switch, without a verb or behind "set".
SWITCHES = (
    "{card}: {noun} {way}",
    "{noun} {way} for {card}",
    "{noun} {way} on {card}",
    "{noun} {way}, {card}",
    "{card} {noun} {way} please",
    "set {card}'s {noun} to {way}",
    "set the {noun} on {card} to {way}",
    "set {noun} = {way} on {card}",
    "set {noun} to {way} for {card}",
    "{noun}={way} {card}",
    "card: {card}\n{noun}: {way}",
    "{noun}: {way}\ncard: {card}",
    "the {noun} on {card} should be {way}",
    "the {noun} on {card} to be {way} please",
)
ON = ("on", "true", "enabled", "active")
OFF = ("off", "false", "disabled", "inactive")
LIVE = ("active", "online", "live", "usable", "operational")
DEAD = ("inactive", "offline", "unusable", "disabled", "non-active", "out of use", "out of service")
STATES = (
    "set {card} {state}",
    "set {card} to {state}",
    "make {card} {state}",
    "please make {card} {state}",
    "take {card} {state}",
    "bring {card} {state}",
    "mark {card} as {state}",
    "turn {card} {state}",
    "put {card} {state}",
    "{card} {state} please",
    "card: {card}\nstatus: {state}",
    "status of {card} to {state} please",
)
#: What a card is used for: to take it away is a freeze.
USES = ("access", "spending", "usage", "use", "payments")
GIVES_USE = (
    "enable",
    "activate",
    "restore",
    "reinstate",
    "resume",
    "allow",
    "turn on",
    "switch on",
    "bring back",
)
ENDS_USE = (
    "disable",
    "deactivate",
    "stop",
    "turn off",
    "switch off",
    "suspend",
    "block",
    "revoke",
    "remove",
    "halt",
)
OF_USE = (
    "{verb} {noun} on {card}",
    "{verb} the {noun} of {card}",
    "please {verb} {noun} for {card}",
    "{verb} {card}'s {noun}",
    "{card}: {verb} {noun}",
    "can you {verb} the {noun} on {card}?",
)


def _wrong(texts: list[str], direction: str) -> list[str]:
    """The texts for which the opposite of a direction opens, waits behind a question, or is offered first."""
    return [
        text for text in texts if BOTH[direction] in _put_first(parse(text, authors.facts(), kinds=KINDS))
    ]


def _put_first(parsed: Parsed) -> set[str]:
    first = {one.intent for one in parsed.readings} | {one.wanted for one in parsed.readings}
    ways = [one.intent for one in parsed.suggestions if one.intent in BOTH]
    return first | set(ways[:1])


def _offered(parsed: Parsed) -> set[str]:
    return {name for one in parsed.readings for name in (one.intent, one.wanted)} | {
        one.intent for one in parsed.suggestions
    }


def _texts(frames: tuple[str, ...], **words: tuple[str, ...]) -> list[str]:
    """Every frame with every word, the cards in turn."""
    made = [dict(zip(words, values, strict=True)) for values in product(*words.values())]
    return [
        frame.format(**one, card=CARDS[(number + place) % len(CARDS)])
        for number, frame in enumerate(frames)
        for place, one in enumerate(made)
    ]


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("verb", PUTS)
def test_a_freeze_that_is_put_in_place_never_unfreezes(verb: str) -> None:
    assert _wrong(_texts(ORDERS, verb=(verb,), noun=HOLDS), FREEZE) == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("verb", TAKES)
def test_a_freeze_that_is_taken_away_never_freezes(verb: str) -> None:
    assert _wrong(_texts(ORDERS, verb=(verb,), noun=HOLDS), UNFREEZE) == []


@pytest.mark.parametrize(("way", "direction"), [("on", FREEZE), ("off", UNFREEZE), ("back on", FREEZE)])
@pytest.mark.parametrize("frame", APART)
def test_the_second_part_of_a_verb_says_the_way_where_it_stands_alone(
    frame: str, way: str, direction: str
) -> None:
    assert _wrong(_texts((frame,), noun=HOLDS, way=(way,)), direction) == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(("ways", "direction"), [(ON, FREEZE), (OFF, UNFREEZE)], ids=["on", "off"])
@pytest.mark.parametrize("frame", SWITCHES)
def test_a_switch_says_the_way(frame: str, ways: tuple[str, ...], direction: str) -> None:
    texts = [text for text in _texts((frame,), noun=HOLDS[:6], way=ways) if not text.startswith("hold on,")]

    assert _wrong(texts, direction) == []


@pytest.mark.parametrize(("states", "direction"), [(LIVE, UNFREEZE), (DEAD, FREEZE)], ids=["live", "dead"])
@pytest.mark.parametrize("frame", STATES)
def test_the_state_that_a_card_is_put_in_says_the_way(
    frame: str, states: tuple[str, ...], direction: str
) -> None:
    assert _wrong(_texts((frame,) * 2, state=states), direction) == []


@pytest.mark.parametrize(
    ("verbs", "direction"), [(GIVES_USE, UNFREEZE), (ENDS_USE, FREEZE)], ids=["gives", "ends"]
)
@pytest.mark.parametrize("frame", OF_USE)
def test_the_use_of_a_card_given_or_taken_says_the_way(
    frame: str, verbs: tuple[str, ...], direction: str
) -> None:
    assert _wrong(_texts((frame,), verb=verbs, noun=USES), direction) == []


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("turn on the freeze for 3018", FREEZE),
        ("please enable the card freeze for hugo", FREEZE),
        ("turn the lock back on for 3018", FREEZE),
        ("restore the freeze on 3018", FREEZE),
        ("set 3018 inactive", FREEZE),
        ("make 3018 inactive", FREEZE),
        ("take 3018 offline", FREEZE),
        ("3018 inactive please", FREEZE),
        ("disable the freeze on 3018", UNFREEZE),
        ("switch off the freeze for 3018", UNFREEZE),
        ("stop the freeze on 3018", UNFREEZE),
        ("freeze off on 3018", UNFREEZE),
        ("turn off freeze 3018", UNFREEZE),
        ("stop the removal of the freeze on 3018", FREEZE),
        ("cancel the unfreeze of 3018", FREEZE),
        ("freeze 3018 not 9140", FREEZE),
        ("block off 3018", FREEZE),
        ("set 3018 to active", UNFREEZE),
    ],
)
def test_what_the_signs_say_is_among_what_is_offered(text: str, direction: str) -> None:
    parsed = parse(text, authors.facts(), kinds=KINDS)

    assert direction in _offered(parsed)
    assert BOTH[direction] not in _put_first(parsed)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("freeze 3018", FREEZE),
        ("put a freeze on 3018", FREEZE),
        ("activate a lock on 3018", FREEZE),
        ("put the freeze back on 3018", FREEZE),
        ("freeze 3018, he is off until january", FREEZE),
        ("turn off 3018", FREEZE),
        ("deactivate 3018", FREEZE),
        ("unfreeze 3018", UNFREEZE),
        ("lift the freeze on 3018", UNFREEZE),
        ("remove the block on hugo's card", UNFREEZE),
        ("take 3018 off hold", UNFREEZE),
        ("turn 3018 back on", UNFREEZE),
        ("enable 3018", UNFREEZE),
        ("make 3018 work again", UNFREEZE),
        ("Nora's frozen, turn her back on", UNFREEZE),
        ("make Hugo's frozen card active again pls", UNFREEZE),
        ("unfreeze 3018, I froze it by mistake", UNFREEZE),
    ],
)
def test_a_direction_that_both_agree_on_opens(text: str, intent: str) -> None:
    parsed = parse(text, authors.facts(), kinds=KINDS)

    assert {one.intent for one in parsed.readings if one.opened} == {intent}


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("how", ["", "still", "stll", "styll", "agin", "apparently", "xx", "somehow still"])
@pytest.mark.parametrize("state", ["frozen", "blocked", "locked"])
def test_how_a_card_is_never_freezes_it(how: str, state: str) -> None:
    frames = ("{card} {be} {how} {state}, {fix}", "{card} {be} {how} {state}. {fix}")
    texts = _texts(
        frames,
        be=("is", "stays", "has been", "got"),
        how=(how,),
        state=(state,),
        fix=("sort it please", "please fix", "can you fix it", "please help"),
    )

    read = [one for text in texts for one in parse(text, authors.facts(), kinds=KINDS).readings]
    assert [one for one in read if FREEZE in (one.intent, one.wanted)] == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("joke", ["just kidding", "kidding", "only joking", "jk", "I'm joking"])
@pytest.mark.parametrize("sign", [" - ", ". ", ", ", " — "])
def test_a_joke_behind_a_story_takes_it_back(joke: str, sign: str) -> None:
    story = (
        "",
        ", will send the paperwork when I am back",
        ". he lost it on the train",
        ",the hotel called me",
    )
    for asked in ("close 4402 for good pls", "freeze 3018", "unfreeze 3018 please", "load 50 on 3018"):
        texts = [f"{asked}{tale}{sign}{joke}" for tale in story]
        opened = [text for text in texts if any(one.opened for one in parse(text, authors.facts()).readings)]
        assert opened == []
