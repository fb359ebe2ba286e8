"""What people say of an unknown outcome can be corrected: the newest word of each person counts."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import select

from bot.domain.errors import AlreadyDecided
from bot.domain.people import Standing
from bot.domain.requests import DecisionKind, Request, State, two_agree
from bot.partner.client import PartnerClient
from bot.services import message_kinds
from bot.services.alerts import ledger_rules
from bot.services.execution import maintenance
from bot.services.requests import approvals, verification
from storage import audit
from storage import tables as t
from storage.requests import decisions
from storage.transaction import Tx
from tests.services.outcome_steps import Fault, execute, jump, open_alerts, processor
from tests.services.test_tampering import tamper
from tests.support.situations import to_send
from tests.support.world import ALICE, BOB, CAROL, World

TOPUP = "POST /cards/{cardId}/topup"
UNLOAD = "POST /cards/{cardId}/unload"
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


async def an_unload_that_the_service_credits_late(world: World) -> Request:
    """Unresolved, and due for a repeat of its key, which will be answered with success."""
    await world.run(1)
    await Fault("drop_midway").set(world, UNLOAD)
    texts = {"card": world.cards[0]["id"], "amount_usd": "5"}
    request = await execute(world, (await world.approve(await world.ask("card_unload", texts)))[0])
    while request.state is State.EXECUTING:
        request = await jump(world, request)
    assert request.state is State.UNRESOLVED
    await world.tell(f"unloads/{request.key}/resolve", {"as": "credited"})
    assert request.due_at is not None
    await world.advance((request.due_at - world.clock.now()).total_seconds())
    return request


@pytest.mark.parametrize("verdict", ["failed", "succeeded"])
async def test_an_answer_that_comes_after_two_people_agreed_and_says_otherwise_is_reported(
    world: World, monkeypatch: pytest.MonkeyPatch, verdict: str
) -> None:
    """Nothing else would ever tell: no reading proves what became of an unload."""
    request = await an_unload_that_the_service_credits_late(world)
    answered, go_on, unload = asyncio.Event(), asyncio.Event(), PartnerClient.unload

    async def slow(*args: Any, **named: Any) -> Any:
        done = await unload(*args, **named)
        answered.set()
        await go_on.wait()
        return done

    monkeypatch.setattr(PartnerClient, "unload", slow)
    executing = asyncio.create_task(execute(world, request))
    await answered.wait()
    await say(world, request, ALICE, verdict)
    await say(world, request, BOB, verdict)
    go_on.set()
    settled = await executing

    assert settled.state == verdict, "what people said stands"
    assert "Alice and Bob" in settled.outcome_text
    attempt = (await world.attempts(request.id))[-1]
    assert (attempt.status, attempt.finding) == (200, "succeeded"), "what was answered is on record"
    alerted = [alert for alert in await open_alerts(world) if alert.subject == request.id]
    if verdict == "succeeded":
        assert alerted == []
        return
    (alert,) = alerted
    assert "5.00 USD moved" in alert.text
    lines = await to_send(world, kind=message_kinds.REQUEST_LINE)
    assert any("5.00 USD moved" in line for line in lines), lines


async def test_an_unload_that_two_people_called_failed_and_the_ledger_shows_as_credited_calls_people(
    world: World,
) -> None:
    await Fault("drop_midway").set(world, UNLOAD, times=9)
    request = await world.ask("card_unload", {"card": world.cards[0]["id"], "amount_usd": "10"})
    await execute(world, (await world.approve(request))[0])
    request = await jump(world, request)
    assert request.state is State.UNRESOLVED
    await ledger_rules.compare(world.core, "main")
    for person in (ALICE, BOB):
        await say(world, request, person, "failed", "The float did not change")
    word = (await world.request(request.id)).outcome_text

    await world.tell(f"unloads/{request.key}/resolve", {"as": "credited"})
    for _ in range(2):
        await ledger_rules.compare(world.core, "main")
        await maintenance.sweep_late_landings(world.core)

    found = await world.request(request.id)
    assert (found.state, found.outcome_text) == (State.FAILED, word)
    (alert,) = [a for a in await open_alerts(world) if a.subject == request.id]
    assert "the ledger a row with this key" in alert.text
    assert alert.count == 1
