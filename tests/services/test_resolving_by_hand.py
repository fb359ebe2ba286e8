"""What people say of an unknown outcome can be corrected: the newest word of each person counts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from sqlalchemy import select

from bot.domain.errors import AlreadyDecided
from bot.domain.people import Standing
from bot.domain.requests import DecisionKind, Request, State, two_agree
from bot.services.requests import approvals, verification
from storage import audit
from storage import tables as t
from storage.requests import decisions
from storage.transaction import Tx
from tests.services.outcome_steps import execute, processor
from tests.services.test_tampering import tamper
from tests.support.world import ALICE, BOB, CAROL, World

TOPUP = "POST /cards/{cardId}/topup"
Word = tuple[str, str]


async def an_unresolved(world: World) -> Request:
    await processor("5xx").set(world, TOPUP)
    return await execute(world, await world.top_up("50"))


async def say(world: World, request: Request, who: str, verdict: str, evidence: str = "I looked") -> Request:
    return await approvals.resolve(world.core, request.id, who, verdict=verdict, evidence=evidence)


async def test_the_evidence_of_both_who_agree_is_shown(world: World) -> None:
    request = await an_unresolved(world)
    await say(world, request, ALICE, "failed", "The ledger shows the return")

    settled = await say(world, request, BOB, "failed", "The card was never credited.")

    assert "Alice: The ledger shows the return." in settled.outcome_text
    assert "Bob: The card was never credited." in settled.outcome_text


async def test_a_person_who_said_the_wrong_word_can_correct_it(world: World) -> None:
    request = await an_unresolved(world)
    await say(world, request, ALICE, "failed")
    await say(world, request, BOB, "succeeded")

    settled = await say(world, request, ALICE, "succeeded", "The card shows it after all")

    assert settled.state is State.SUCCEEDED
    assert "Alice and Bob" in settled.outcome_text


async def test_a_word_that_was_taken_back_counts_no_longer(world: World) -> None:
    request = await an_unresolved(world)
    await say(world, request, BOB, "failed")
    await say(world, request, BOB, "succeeded")

    assert (await say(world, request, CAROL, "failed")).state is State.UNRESOLVED
    assert (await say(world, request, ALICE, "succeeded")).state is State.SUCCEEDED


async def test_a_word_said_again_is_told_apart_from_a_correction(world: World) -> None:
    request = await an_unresolved(world)
    await say(world, request, BOB, "failed")

    with pytest.raises(AlreadyDecided, match="You said failed already"):
        await say(world, request, BOB, "failed")


async def test_every_word_is_kept_shown_and_on_the_audit_chain(world: World) -> None:
    request = await an_unresolved(world)
    words = [("failed", "nothing there"), ("succeeded", "there it is")]
    for verdict, evidence in words:
        await say(world, request, BOB, verdict, evidence)

    async with world.store.read() as tx:
        made = [d for d in await decisions.of(tx, request.id) if d.kind is DecisionKind.RESOLVE]
        shown = [e async for e in audit.about(tx, f"request:{request.id}")]
        lines = await _lines(tx)
    assert [(d.verdict, d.reason) for d in made] == words
    proposed = [e for e in shown if e.action == "request.resolution_proposed"]
    assert len(proposed) == 2
    assert all(d.mac in e.body for d, e in zip(made, proposed, strict=True))
    assert [text for text in lines if "nothing there" in text or "there it is" in text] == [
        "failed: nothing there",
        "succeeded: there it is",
    ]
    assert (await verification.verify(world.core, request.id)).holds


async def _lines(tx: Tx) -> list[str]:
    rows = (await tx.run(select(t.outbox.c.body).order_by(t.outbox.c.id))).scalars().all()
    return [str(body.get("text")) for body in rows if body and str(body.get("line")).startswith("resolution")]


async def test_a_newest_word_spoilt_by_hand_does_not_bring_the_older_one_back(world: World) -> None:
    request = await an_unresolved(world)
    await say(world, request, BOB, "succeeded")
    await say(world, request, BOB, "failed")
    tamper(world, "UPDATE decision SET mac = 'x' WHERE kind = 'resolve' AND verdict = 'failed'")

    assert (await say(world, request, CAROL, "succeeded")).state is State.UNRESOLVED


async def test_the_newest_word_is_the_last_one_said_also_when_the_clock_stepped_back(world: World) -> None:
    request = await an_unresolved(world)
    await say(world, request, BOB, "succeeded")
    world.clock.advance(-5)
    await say(world, request, BOB, "failed")

    assert (await say(world, request, CAROL, "succeeded")).state is State.UNRESOLVED
    assert (await say(world, request, ALICE, "failed")).state is State.FAILED


WORDS = tuple(itertools.product((ALICE, BOB, CAROL), ("succeeded", "failed")))


def _should_end(said: Sequence[Word]) -> str:
    """The plain rule: the newest word of each; two of them agree, one of them not the requester's."""
    newest = dict(said)
    for verdict in ("succeeded", "failed"):
        agree = {who for who, word in newest.items() if word == verdict}
        if two_agree(agree, asked_by=ALICE, standing=Standing(frozenset({BOB, CAROL}))):
            return verdict
    return "unresolved"


@pytest.mark.parametrize("seed", range(3))
async def test_it_ends_as_soon_as_the_newest_words_of_two_people_agree_and_not_before(
    world: World, seed: int
) -> None:
    drawn = random.Random(seed)
    for nth in range(4):
        request = await execute(world, await _lost(world, nth))
        said: list[Word] = []
        while _should_end(said) == "unresolved":
            who, verdict = drawn.choice(WORDS)
            world.clock.advance(drawn.choice((-3, 0, 3)))
            if dict(said).get(who) == verdict:
                continue
            said.append((who, verdict))
            ended = await say(world, request, who, verdict)
            assert str(ended.state) == _should_end(said), said


async def _lost(world: World, nth: int) -> Request:
    await processor("5xx").set(world, TOPUP)
    return await world.top_up("5", card=nth % len(world.cards))
