"""One decision a person, never on one's own request, refused by the database itself."""

import asyncio
from dataclasses import asdict, replace

import pytest
from sqlalchemy import Text, literal
from sqlalchemy import insert as insert_row
from sqlalchemy.exc import IntegrityError

from bot.domain.errors import AlreadyDecided, OwnRequest
from bot.domain.requests import Decision, DecisionKind
from storage import tables as t
from storage.requests import attempts, decisions, requests
from storage.store import Store
from tests.storage.factories import approved, decision, insert, request
from tests.support.clock import FrozenClock

pytestmark = pytest.mark.by_turns(2)

NOT_OWN = [DecisionKind.APPROVE, DecisionKind.REJECT, DecisionKind.CONFIRM]


async def _raw_insert(store: Store, made: Decision) -> None:
    async with store.begin() as tx:
        await tx.run(insert_row(t.decision).values(asdict(made)))


async def test_decisions_come_back_as_they_were_made_in_their_order(store: Store) -> None:
    first = decision(request(), "UBOB", mac="k.m", reason="fine")
    second = decision(request(), "UCAROL", DecisionKind.RESOLVE, verdict="failed")
    async with store.begin() as tx:
        await insert(tx, request(), request("R-2222"))
        await decisions.insert(tx, first)
        await decisions.insert(tx, second)
        await decisions.insert(tx, decision(request("R-2222")))

        assert await decisions.of(tx, "R-7K3M") == [first, second]
        assert await decisions.of(tx, "R-none") == []


async def test_a_person_decides_once_and_the_first_word_stands(store: Store) -> None:
    first = decision(request(), reason="first")
    async with store.begin() as tx:
        await insert(tx, request())
        await decisions.insert(tx, first)

        with pytest.raises(AlreadyDecided):
            await decisions.insert(tx, replace(first, id="other", reason="second"))

        assert await decisions.of(tx, "R-7K3M") == [first]


async def test_of_ten_clicks_at_once_one_counts(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())

    async def click(n: int) -> bool:
        try:
            async with store.begin() as tx:
                await decisions.insert(tx, decision(request(), id=f"d{n}"))
        except AlreadyDecided:
            return False
        return True

    assert (await asyncio.gather(*(click(n) for n in range(10)))).count(True) == 1


@pytest.mark.parametrize("kind", NOT_OWN)
async def test_the_requester_cannot_decide_on_their_own_request(store: Store, kind: DecisionKind) -> None:
    async with store.begin() as tx:
        await insert(tx, request())
        with pytest.raises(OwnRequest):
            await decisions.insert(tx, decision(request(), "UALICE", kind))

        assert await decisions.of(tx, "R-7K3M") == []


@pytest.mark.parametrize("kind", NOT_OWN)
async def test_raw_sql_cannot_write_a_decision_on_ones_own_request(store: Store, kind: DecisionKind) -> None:
    async with store.begin() as tx:
        await insert(tx, request())

    with pytest.raises(IntegrityError, match="ck_decision_not_own"):
        await _raw_insert(store, decision(request(), "UALICE", kind))


async def test_raw_sql_cannot_pretend_that_somebody_else_asked(store: Store) -> None:
    """The requester in a decision is tied to the request's own, so the CHECK cannot be fooled."""
    async with store.begin() as tx:
        await insert(tx, request())

    with pytest.raises(IntegrityError, match=r"(?i)foreign key"):
        await _raw_insert(store, decision(request(), "UALICE", requester="UNOBODY"))


async def test_raw_sql_cannot_write_a_second_decision(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())
    await _raw_insert(store, decision(request(), id="d1"))

    with pytest.raises(IntegrityError, match=r"(?i)unique"):
        await _raw_insert(store, decision(request(), id="d2"))


@pytest.mark.parametrize("changes", [{"kind": "bless"}, {"verdict": "maybe"}])
async def test_raw_sql_cannot_write_a_word_that_does_not_exist(store: Store, changes: dict[str, str]) -> None:
    async with store.begin() as tx:
        await insert(tx, request())

    # As SQL: the column's own type refuses it before.
    words = {name: literal(word, Text) for name, word in changes.items()}
    with pytest.raises(IntegrityError, match=r"(?i)check"):
        async with store.begin() as tx:
            await tx.run(insert_row(t.decision).values({**asdict(decision(request())), **words}))


async def test_emergencies_and_resolution_are_open_to_the_requester(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())
        for kind in (DecisionKind.BREAK_GLASS, DecisionKind.RESOLVE):
            await decisions.insert(tx, decision(request(), "UALICE", kind))

        assert len(await decisions.of(tx, "R-7K3M")) == 2


async def test_an_attempt_is_on_record_before_its_answer_and_answered_once(
    store: Store, clock: FrozenClock
) -> None:
    await approved(store)
    async with store.begin() as tx:
        held = await requests.claim(tx, "R-7K3M", owner="w1", lease_s=30)
        assert held is not None
        sent = await attempts.start(tx, held, "send")
    async with store.read() as tx:
        assert await attempts.of(tx, "R-7K3M") == [sent]
    assert (sent.number, sent.fence, sent.owner, sent.answered_at) == (1, 1, "w1", None)

    clock.advance(3)
    async with store.begin() as tx:
        await attempts.answer(
            tx, sent, status=502, code="UNAVAILABLE", certainty="ambiguous", finding="unknown"
        )
        late = await attempts.answer(
            tx, sent, status=200, code=None, certainty="definite", finding="succeeded"
        )
        again = await attempts.start(tx, held, "replay")
        found = await attempts.of(tx, "R-7K3M")

    assert late is False
    assert [(a.number, a.status, a.finding) for a in found] == [(1, 502, "unknown"), (2, None, None)]
    assert found[0].answered_at == clock.now()
    assert found[1] == again


async def test_an_attempt_has_a_known_purpose(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())
        with pytest.raises(IntegrityError, match="ck_attempt_purpose"):
            await attempts.start(tx, request(), "guess")
