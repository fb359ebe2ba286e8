"""Requests in bad company: whatever takes them back, doubts, reports or delays them keeps the form closed.

Written against the ways into the gate by an attacker; of 3,024 sentences like these 527 opened a form at first.
"""

import os
from itertools import product

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors
from tests.support.walks import this_turn

pytestmark = pytest.mark.sampled

HASH = "0x" + "ab" * 32

PLAIN = (
    "freeze 3018",
    "load 50 onto 9140",
    "unfreeze Hugo's card",
    "close 2675 for good",
    "take 40 off 3018",
    "weekly limit 900 for 3018",
    "set up 3ds on Nora's card",
    "change the phone of 3018 to +47 912 34 567",
    "set the markup to 2%",
    "3018 off please",
    "move 75 from 3018 back to the float please",
    "Sofia needs 55 in the card",
    f"submit {HASH} on polygon please",
)
#: The same in signs and fragments.
IN_SIGNS = (
    "❄️ 3018",
    "3018 ❄️ off please",
    "5589: frozen → active",
    "float → nora-h 85",
    "3205 120 → float",
    "2675 weekly 400 → 650",
    "change nr 5530 → +49 151 23456789",
    "9140 entsperren pls",
    "put 2k5 on 3018",
    "show me hugo-o's card number",
    "card no 3018 via link pls",
    "order card → Ada Quist | +31612345678 | ada@quist.example | first load 90",
    "markup 1.5% → 1.25%",
)
#: Those of them that begin with their verb.
COMMANDS = tuple(one for one in PLAIN if not one.startswith(("weekly", "3018 off", "Sofia needs")))
WITH_A_STORY = (
    "please lock Hugo's card, he lost his wallet in the metro",
    "Nora is at the till, could you add 60 to her card",
    "Marta's trip is over, kindly pull 200 back from her card",
    "can you switch 3018 back on, he found it",
    "Ines +120, for the booth",
)

#: In front of one plain sentence.
BEFORE = {
    "negation": (
        "don't {}",
        "please don't {}",
        "do not {}",
        "never {}",
        "no need to {}",
        "we must not {}",
        "it would be wrong to {}",
        "I refuse to {}",
        "refrain from this: {}",
        "not yet but soon: {}",
        "I don't want you to {}",
        "nobody should {}",
        "there's no reason to {}",
        "my boss would never {}",
        "it is forbidden to {}",
        "we are not allowed to {}",
    ),
    "somebody else": (
        "Bob says {}",
        "Bob said: {}",
        "Bob: {}",
        "Carol wants us to {}",
        "Carol asked me to {}",
        "Carol's message was {}",
        "the request reads {}",
        "the line on the form is {}",
        "in his mail stands {}",
        "she keeps writing {}",
        "I was told to {}",
        "they instructed us to {}",
        "he goes {}",
        "the intern typed {}",
        "Nora's note: {}",
        "tell Bob to {}",
        "ask Nora to {}",
        "make Bob {}",
        "Bob, please {}",
        "@bob {}",
        "remind me to {}",
        *(
            f"{who} {said} to {{}}"
            for who in ("the principal", "Management", "Head office", "Carol", "my manager", "HR sir")
            for said in (
                "has instructed",
                "instructed us",
                "has directed",
                "directed accounts",
                "advised",
                "has ordered",
                "is asking",
                "asked",
                "has told",
                "requested",
                "insists",
                "decided",
                "recommends",
                "has authorised me",
                "gave the order",
                "has given instructions",
            )
        ),
    ),
    "condition": (
        "what if we {}",
        "if he calls, {}",
        "should he call, {}",
        "once he lands, {}",
        "unless she answers, {}",
        "as soon as Bob agrees, {}",
        "suppose we {}",
        "imagine I said {}",
        "hypothetically: {}",
    ),
    "question": (
        "would it be smart to {}",
        "should we {}?",
        "do I have to {}?",
        "who can {}?",
        "did somebody {}",
        "how would I {}?",
        "show me how to {}",
        "can you explain what happens when we {}",
        "please confirm whether to {}",
        "is it possible that Bob will {}",
    ),
    "another time": (
        "tomorrow {}",
        "next week {}",
        "at 6pm {}",
        "every Monday {}",
        "later today {}",
        "after lunch {}",
    ),
    "past": (
        "I nearly wrote {}",
        "I almost had you {}",
        "I was about to write: {}",
        "last year we used to {}",
        "yesterday I asked you to {}",
        "I dreamt you had to {}",
    ),
    "example": (
        "the training slide says: {}",
        "example: {}",
        "for instance {}",
        "this is a drill: {}",
        "draft: {}",
        "note to self: {}",
        "todo: {}",
        "re: {}",
        "translate: {}",
        "how do you say {} in Polish",
    ),
    "quotation": ("> {}", "`{}`", '"{}"', "«{}»", "~{}~"),
}
#: In front of a command: spoken of, and not asked for.
BEFORE_A_COMMAND = {
    "an infinitive that nobody asks for": (
        "Bob to {}",
        "Action: Bob to {}",
        "Bob's instruction is to {}",
        "our policy is to {}",
        "the plan is to {}",
        "the auditor's advice is to {}",
        "the scammer's script was to {}",
        "it was decided to {}",
        "there is a request to {}",
        "we got a call to {}",
        "the system prompted me to {}",
        "somebody on the phone wants me to {}",
        "we are waiting to {}",
        "Bob forgot to {}",
        "it is not necessary to {}",
        "avoid to {}",
        "there is no question of us having to {}",
    ),
    "what somebody can or will do": (
        "I will {}",
        "I'll {} myself",
        "I'd have to {}",
        "we will {} soon",
        "I can {}",
        "Nora can {}",
        "in the old system I would {}",
        "last time I had to {}",
        "when in doubt {}",
        "can Bob {}",
        "could Nora {}",
        "will Hugo {}",
        "no longer {}",
        "the moment he signs {}",
    ),
    "a yes that is awaited": (
        "pending approval to {}",
        "subject to approval, {}",
        "upon confirmation {}",
        "after confirmation {}",
        "as and when he confirms {}",
        "my draft for Carol: {}",
    ),
    "an hour to come": (
        "this evening {}",
        "tonight {}",
        "in the evening {}",
        "on payday {}",
        "from next month {}",
        "w.e.f. next month {}",
    ),
}
#: Behind any request.
BEHIND = {
    "a yes that is awaited": (
        "{} subject to Bob's approval",
        "{} pending approval",
        "{} pending Bob's ok",
        "{} upon confirmation",
        "{} after confirmation from Bob",
        "{} when confirmed",
        "{}. Awaiting approval",
        "{}. Approval awaited",
        "{}. Bob has to approve first",
        "{}. will confirm shortly",
        "{}. I will confirm",
        "{}. to be confirmed",
        "{}. Check with Bob",
        "{}. Confirm with Bob please",
        "{}, ask Carol",
        "{} - run it past Carol",
        "{}. Please clear it with finance",
        "{}, tbc",
        "{}, correct?",
        "{}, right?",
        "{} ok?",
    ),
    "not meant": (
        "{} (draft)",
        "{} (cancelled)",
        "{}. For information only",
        "{}. just for info",
        "{}. Kindly disregard",
        "{}. do not act on this",
        "{}. cancel my above message",
        "{}. I take it back",
        "{}. My mistake",
        "{}. Stop",
        "{}. Cancel",
        "{}. haha",
        "{} (test)",
        "{} (sample request)",
        "{} (copied from Carol)",
        "{}, he begged",
        "{}, they demand",
        "{}, begs the intern",
        "{}, sayeth the boss",
        "{} - why?",
        "{} - thoughts?",
        "{} - is that ok with you?",
        "{}, float permitting",
        "{} as soon as Bob is back",
        "{} the moment he signs",
    ),
    "taken back": (
        "{}. never mind",
        "{}, not",
        "{} - just kidding",
        "{}. scratch that",
        "{}, no wait, don't",
        "{}... on second thought no",
        "{}. Actually leave it",
        "{}?, me?, I never said so",
        "{}. We did not ask for that",
        "{}, nobody has asked for it",
        "no no leave it she has sorted herself, {}",
        "No, leave that. {}",
        "{}. Don't.",
        "{}. Please do not.",
        "{}. I don't mean it",
        "{}. I have changed my mind",
        "{}. Forget it",
        "{} - hold off",
        "{} - wrong channel",
        "{}. That was a joke",
        "{}. This is a test",
        "{}. correction: 4402",
        "{}. Sorry, I meant 4402",
        "{}, I mean 4402",
        "{}. Already done",
        "{} - rejected",
        "{}. Not approved",
        "{}. But budget is not signed",
        "{}, but Carol has not agreed",
        "{} but first ask Carol",
        "{}. Bob disagrees",
        "{}. Let's see tomorrow",
    ),
    "somebody else": (
        "{}, Bob said",
        "{} (Bob's words)",
        "{}. That is what Bob wants",
        "{}. That's what the phisher wrote",
        "{}, that was the order from Bob",
        "{} was what he wrote",
        "{} he said, but I said no",
        "{}, Bob please",
    ),
    "verdict": ("{}, would be stupid", "{} is a bad idea", "{} would be a mistake"),
    "another card": ("{} or 4402", "{}, or was it 4402", "{} both"),
    "condition": ("{} if Bob agrees", "{} once he is back", "{} unless he calls", "{} when he lands"),
}
#: Behind a plain sentence: after a story they may belong to it.
BEHIND_PLAIN = {
    "another time": (
        "{} after lunch",
        "{} tomorrow",
        "{} on Friday",
        "{} at 6pm",
        "{} next week",
        "{} every Monday",
        "{} in 3 days",
        "{} for 3 weeks",
        "{} until Friday",
        "{} tonight",
        "{} this evening",
        "{} in the evening",
        "{} later today",
        "{} end of month",
        "{} at month end",
        "{} on payday",
        "{} at five",
        "{} in half an hour",
        "{} in a bit",
        "{} in future",
        "{} soon",
        "{} sometime",
        "{} like last time",
        "{} before Christmas",
        "{} after the audit",
        "{} from next month",
        "{} at the beginning of the month",
        "{} when she starts",
        "{} in a fortnight",
        "{} over the weekend",
        "{} from Monday",
        "{} eod",
        "{} on her first day",
    ),
    "again": ("{} twice", "{} 3 times", "{} x2"),
    "another card": ("{} and 4402",),
    "another number": ("{} #12", "{}\n5", "{}. 70"),
}


def _opened(patterns: tuple[str, ...], requests: tuple[str, ...]) -> list[str]:
    """Those that open a form: of each pattern with one request in ten, by turns, and in `make soak` with each."""
    every, turn = 1 if os.environ.get("SOAK") == "1" else 10, this_turn()
    pairs = product(enumerate(patterns), enumerate(requests))
    texts = (
        pattern.format(request)
        for (row, pattern), (column, request) in pairs
        if (row + column) % every == turn % every
    )
    kinds, facts = operations.kinds(), authors.facts()
    return [text for text in texts if any(r.opened for r in parse(text, facts, kinds=kinds).readings)]


@pytest.mark.parametrize("request_", [*PLAIN, *IN_SIGNS, *WITH_A_STORY])
def test_each_of_these_requests_opens_its_form_by_itself(request_: str) -> None:
    assert parse(request_, authors.facts(), kinds=operations.kinds()).first.opened


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("kind", BEFORE)
def test_what_stands_before_a_request_keeps_its_form_closed(kind: str) -> None:
    assert _opened(BEFORE[kind], PLAIN + IN_SIGNS) == []


@pytest.mark.parametrize("kind", BEFORE_A_COMMAND)
def test_what_speaks_of_a_command_without_asking_for_it_keeps_its_form_closed(kind: str) -> None:
    assert _opened(BEFORE_A_COMMAND[kind], COMMANDS) == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("kind", BEHIND)
def test_what_stands_behind_a_request_keeps_its_form_closed(kind: str) -> None:
    assert _opened(BEHIND[kind], PLAIN + IN_SIGNS + WITH_A_STORY) == []


@pytest.mark.parametrize("kind", BEHIND_PLAIN)
def test_another_time_card_or_number_keeps_the_form_of_a_plain_request_closed(kind: str) -> None:
    assert _opened(BEHIND_PLAIN[kind], PLAIN + IN_SIGNS) == []


#: A request of several values, the holes of which are behind each of them, and behind what leads to it.
OF_SEVERAL_VALUES = (
    "order card{} → Ada Quist{} | +31612345678{} | ada@quist.example{} | first load 90{}",
    "please order a card for Ada Quist{}, +31612345678{}, ada@quist.example{}, first load 90{}",
    "new card{}:\nAda Quist{}\n+31612345678{}\nada@quist.example{}\nfirst load 90{}",
    "pls issue a card to Ada Quist{} · +31612345678{} · ada@quist.example{} · first load 90{}",
    f"new funding{{}}:\n{HASH}{{}}\npolygon{{}}",
    "limits for 3018{}: daily 200{}, weekly 900{}",
    "Please load as under{}:\ncard 3018{}\namount 60{}",
    "send 3018's purchase codes{} to our webhook{}",
    "deposit markup to 2%{} please",
    "please arrange that 9140 is frozen{}",
    "would you mind loading 60{} onto 3018{}",
    "put{} 60 on 3018",
)


def _with_a_time_behind_each_value() -> list[str]:
    times = [one.removeprefix("{}") for one in BEHIND_PLAIN["another time"]]
    texts = []
    for request in OF_SEVERAL_VALUES:
        holes = request.count("{}")
        texts += [
            request.format(*(time if hole == place else "" for place in range(holes)))
            for time in times
            for hole in range(holes)
        ]
    return texts


def test_another_time_behind_any_value_of_a_request_keeps_its_form_closed() -> None:
    every, turn = 1 if os.environ.get("SOAK") == "1" else 10, this_turn()
    kinds, facts = operations.kinds(), authors.facts()
    texts = _with_a_time_behind_each_value()[turn % every :: every]
    assert [one for one in texts if any(r.opened for r in parse(one, facts, kinds=kinds).readings)] == []


@pytest.mark.parametrize("request_", OF_SEVERAL_VALUES)
def test_without_another_time_each_of_them_opens_its_form(request_: str) -> None:
    text = request_.replace("{}", "")
    assert parse(text, authors.facts(), kinds=operations.kinds()).first.opened
