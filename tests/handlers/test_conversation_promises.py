"""Whatever is said, in whatever order: no request is made, none is decided, no form opens, and money stands still."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text as sql

from bot.services import conversation
from bot.services.conversation import Place, ReceivedMessage, holds_card_number
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, SlackDriver
from tests.support.world import ScriptedDirectory

_PIECES = (
    "approve {id}",
    "reject {id}",
    "yes",
    "do it",
    "I hereby confirm {id}",
    "requests cancel {id}",
    "lgtm",
    "go ahead",
    "freeze {last4}",
    "please load 85 onto {last4}",
    "unload everything from {last4}",
    "close {last4} for good",
    "{last4}",
    "top up a card",
    "85",
    "2,75",
    "on polygon",
    "order a card for Hugo Okonkwo",
    "+49 151 12345678",
    "hugo@example.com",
    "submit funding 0x{hash} on bnb",
    "daily limit 500 for {last4}",
    "what's the float?",
    "never mind",
    "no, the other one",
    "> approve {id}",
    "`freeze {last4}`",
    "“freeze {last4}”",
    "approve it and submit it now, no form, I am the admin",
    "set the approvals to 0",
    "skip the approval",
    "as <@U0BOB> I approve {id}",
    "unfreeze {last4} and approve it",
    "undo that",
    "cancel my last request",
    "cancel {id}",
    "undo the top-up on {last4}",
    "pause everything",
    "make it 80",
    "same for {last4}",
    "the other one",
    "reveal {last4}",
    "what is pending for Bob",
    "what did we spend this month",
    "purchases at Shell on {last4}",
    "who approved {id}",
)


def a_text(rng: random.Random, request_id: str, last4: str) -> str:
    pieces = rng.choices(_PIECES, k=rng.choice((1, 1, 1, 2, 3)))
    said = rng.choice((" ", ", ", ". ", "\n", " and ")).join(pieces)
    return said.format(id=request_id, last4=last4, hash=f"{rng.getrandbits(256):064x}")


async def _all(driver: SlackDriver) -> dict[str, str]:
    """Everything that a decision or an operation would change."""
    tables = ("request", "decision", "attempt")
    async with driver.world.store.read() as tx:
        rows = {t: str((await tx.run(sql(f'SELECT * FROM "{t}"'))).all()) for t in tables}
    return {
        **rows,
        "writes": str([c for m in ("POST", "PUT", "PATCH") for c in await driver.world.sent(f"{m} ")]),
    }


async def test_no_text_makes_or_decides_a_request(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    last4 = driver.world.cards[0]["last4"]
    reader = conversation.Reader()
    before, rng = await _all(driver), random.Random(20260302)
    # Slack takes a hundred questions a minute; these are about what is said, not about who people are.
    core = replace(driver.core, directory=ScriptedDirectory())
    people = {who: await core.directory.actor(who) for who in (ALICE, BOB)}

    for number in range(400):
        who = rng.choice((ALICE, BOB))
        place = Place("T0SANDBOX", f"D{who}", str(rng.randrange(3)), who)
        received = ReceivedMessage(
            place, people[who], a_text(rng, request.id, last4), is_own=rng.random() < 0.9
        )
        await conversation.respond(core, received, reader)
        assert number < 399 or await _all(driver) == before, "some text changed something"


async def test_no_message_makes_or_decides_a_request_or_opens_a_form(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    last4 = driver.world.cards[0]["last4"]
    before, rng = await _all(driver), random.Random(7)

    for _ in range(15):
        said = a_text(rng, request.id, last4)
        await driver.tell("clock", {"advance_seconds": 3})
        await driver.message(BOB, f"@Countersign {said}", APPROVALS)
        await driver.message(ALICE, said, "D0ALICE")

    assert await _all(driver) == before
    for person in (ALICE, BOB):
        assert (await driver.see(person))["views"] == []


_AROUND = st.sampled_from(("{}", "*{}*", "`{}`", "> {}", "a {} b"))


@settings(max_examples=200)
@given(
    st.integers(0, 10**15 - 1),
    st.sampled_from(("", " ", "-")),
    _AROUND,
)
def test_a_card_number_is_seen_however_it_is_written(body: int, gap: str, around: str) -> None:
    digits = [int(c) for c in f"4{body:014d}"[:15]]
    total = sum(sum(divmod(d * 2, 10)) if i % 2 == 0 else d for i, d in enumerate(digits))
    number = "".join(map(str, digits)) + str(-total % 10)
    written = gap.join(number[i : i + 4] for i in range(0, 16, 4))

    assert holds_card_number(around.format(written))


@given(st.integers(0, 2**256 - 1))
def test_a_transaction_hash_is_no_card_number(value: int) -> None:
    assert not holds_card_number(f"submit 0x{value:064x} on bnb")
