"""What limits, tiers and Freeze now count, and which request on a setting is the newest, somebody may change in the
database once it has ended: then nothing is sent that leans on it, and people are notified.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from bot.domain.errors import OverLimit
from bot.domain.people import Actor, KindPolicy, Limits, Per, Policy, Tier
from bot.domain.requests import Request, State
from storage import audit
from storage.columns import time_text
from storage.errors import NotAsOnRecord
from storage.log_record import LogFacts, counted
from tests.services.outcome_steps import TOPUP, alert_kinds, execute, open_alerts, processor, top_ups
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, HOME, World, a_policy, a_world
from tests.thief.edits import LONG_AGO, MALLORY, opened
from tests.thief.programme import place_of

FIVE_HUNDRED = Decimal(500)


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        made.people.actors[MALLORY] = Actor(MALLORY, "Mallory", team_id=HOME)
        yield made


#: What somebody does to requests that have ended, and to the approvals of them; `{but}` is the one that is to be sent.
EDITS = {
    "nothing": "",
    "approved long ago": f"UPDATE request SET approved_at = '{LONG_AGO}' WHERE id <> '{{but}}'",
    "never approved": "UPDATE request SET approved_at = NULL WHERE id <> '{but}'",
    "requested long ago": f"UPDATE request SET created_at = '{LONG_AGO}' WHERE id <> '{{but}}'",
    "deleted": "DELETE FROM request WHERE id <> '{but}'",
    "failed": "UPDATE request SET state = 'failed' WHERE id <> '{but}'",
    "of one dollar": "UPDATE request SET exposure_usd = '1' WHERE id <> '{but}'",
    "of another card": "UPDATE request SET subject = 'x' WHERE id <> '{but}'",
    "of another kind": "UPDATE request SET kind = 'card_unload' WHERE id <> '{but}'",
    "of another program": "UPDATE request SET program = 'other' WHERE id <> '{but}'",
    "of another requester": f"UPDATE request SET requester = '{MALLORY}' WHERE id <> '{{but}}'",
    "a list": "UPDATE request SET rows = 2 WHERE id <> '{but}'",
    "of another name": "UPDATE request SET id = id || 'X' WHERE id <> '{but}'",
    "not done at once": "UPDATE request SET break_glass = FALSE WHERE id <> '{but}'",
    "sets something else": """UPDATE request SET terms = '{{"monthly_limit_usd":"10.00"}}' WHERE id <> '{but}'""",
    "approved by another": f"UPDATE decision SET actor = '{MALLORY}' WHERE request_id <> '{{but}}'",
    "its approval deleted": "DELETE FROM decision WHERE request_id <> '{but}'",
}
Edit = Callable[[Request | None], None]
Story = Callable[[World, Edit], Awaitable[bool]]


def by(world: World, edit: str) -> Edit:
    def make(but: Request | None) -> None:
        if EDITS[edit]:
            with opened(place_of(world)) as database:
                database.write(EDITS[edit].format(but=but.id if but else ""))

    return make


def in_parts(policy: Policy, *, then: Policy | None = None, asked_first: bool = True) -> Story:
    """Two top-ups of a card in a day: together they are more than one approval is enough for, by a tier or a limit.

    The edit is made before the approval of the second or, where it is not `asked_first`, before its request. With
    `then`, which is the policy from the second approval on: before its call.
    """

    async def story(world: World, edit: Edit) -> bool:
        world.rebuild(policy=policy)
        await world.top_up("499")
        await world.run(30, step=10)
        assert len(top_ups(world)) == 1
        if not asked_first:
            edit(None)
        second = await world.top_up("2", approved=False)
        if asked_first and then is None:
            edit(second)
        with suppress(OverLimit, NotAsOnRecord):
            await world.approve(second)
        if then is not None:
            world.rebuild(policy=then)
            edit(second)
        await world.run(60, step=20)
        return len(top_ups(world)) > 1

    return story


async def frozen_too_often(world: World, edit: Edit) -> bool:
    world.rebuild(policy=replace(a_policy(), kinds={"card_freeze": KindPolicy(now_per_person=2)}))
    for card in (0, 1):
        await execute(world, await world.ask("card_freeze", {"card": world.cards[card]["id"]}, now=True))
    edit(None)
    with suppress(NotAsOnRecord):
        request = await world.ask("card_freeze", {"card": world.cards[2]["id"]}, now=True)
        await execute(world, request)
    return bool(await world.sent(f"POST /{world.cards[2]['id']}/freeze"))


async def unfrozen_after_a_freeze(world: World, edit: Edit) -> bool:
    card = world.cards[0]["id"]
    await world.tell(f"cards/{card}", {"status": "FROZEN"})
    older = await world.ask("card_unfreeze", {"card": card})
    await world.approve(older)
    await world.advance(5)
    newer = await world.ask("card_freeze", {"card": card})
    await world.approve(newer)
    assert (await execute(world, newer)).state is State.SUCCEEDED
    before = len(await world.sent("POST /freeze"))
    edit(older)
    await execute(world, older)
    await world.run(60, step=20)
    return len(await world.sent("POST /freeze")) > before


async def paid_beside_a_doubt(world: World, edit: Edit) -> bool:
    """A top-up of a card while nobody knows what became of the one before, which might pay as well."""
    world.rebuild(policy=NO_TIER)
    await processor("5xx").set(world, TOPUP, times=1)
    assert (await execute(world, await world.top_up("50"))).state is State.UNRESOLVED
    second = await world.top_up("60")
    edit(second)
    await execute(world, second)
    return len({call["idempotency_key"] for call in top_ups(world)}) > 1


async def a_limit_after_a_lower_one(world: World, edit: Edit) -> bool:
    card = world.cards[0]["id"]
    older = await world.ask("card_limits", {"card": card, "daily_limit": "900"})
    await world.approve(older)
    await world.advance(5)
    newer = await world.ask("card_limits", {"card": card, "daily_limit": "10"})
    await world.approve(newer)
    assert (await execute(world, newer)).state is State.SUCCEEDED
    before = len(await world.sent("PUT /limits"))
    edit(older)
    await execute(world, older)
    await world.run(60, step=20)
    return len(await world.sent("PUT /limits")) > before


def tier(per: Per, version: str = "tier") -> Policy:
    topup = KindPolicy(tiers=(Tier(FIVE_HUNDRED, 2, per=per),))
    return replace(a_policy(), kinds={"card_topup": topup}, version=version)


def limits(**most: Decimal) -> Policy:
    return replace(a_policy(), kinds={}, limits=Limits(**most), version="limits")


NO_TIER = replace(a_policy(), kinds={}, limits=Limits(), version="none")
STORIES: dict[str, Story] = {
    "a tier of a card": in_parts(tier(Per.CARD)),
    "a tier of a card, before it is requested": in_parts(tier(Per.CARD), asked_first=False),
    "a tier of a card that is new, before the call": in_parts(NO_TIER, then=tier(Per.CARD)),
    "a tier of a requester": in_parts(tier(Per.REQUESTER)),
    "a tier of a requester that is new, before the call": in_parts(NO_TIER, then=tier(Per.REQUESTER)),
    "a limit of a requester": in_parts(limits(per_requester_usd=FIVE_HUNDRED)),
    "a limit of a pair": in_parts(limits(per_pair_usd=FIVE_HUNDRED)),
    "a limit of all": in_parts(limits(total_usd=FIVE_HUNDRED)),
    "a limit of all, before it is requested": in_parts(limits(total_usd=FIVE_HUNDRED), asked_first=False),
    "Freeze now": frozen_too_often,
    "a freeze": unfrozen_after_a_freeze,
    "a lower limit": a_limit_after_a_lower_one,
    "a payment in doubt": paid_beside_a_doubt,
}


@pytest.mark.walk
@pytest.mark.by_turns(4)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("story", STORIES)
async def test_nothing_is_sent_by_what_somebody_changed_of_what_has_ended(
    world: World, story: str, edit: str
) -> None:
    assert not await STORIES[story](world, by(world, edit))


COUNTED = [
    ("a tier of a card", "of another card"),
    ("a tier of a requester", "of another requester"),
    ("a limit of a requester", "failed"),
    ("a limit of a pair", "its approval deleted"),
    ("a limit of all", "approved long ago"),
    ("Freeze now", "requested long ago"),
    ("a freeze", "deleted"),
    ("a lower limit", "sets something else"),
    ("a payment in doubt", "failed"),
]


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("url", BACKENDS[:1], indirect=True)
@pytest.mark.parametrize(("story", "edit"), COUNTED)
async def test_people_are_notified_of_it(world: World, story: str, edit: str) -> None:
    await STORIES[story](world, by(world, edit))

    assert "changed_outside" in await alert_kinds(world)
    (alert,) = [one async for one in _alerts(world)]
    assert "counts" in alert or "decides" in alert


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("url", BACKENDS[:1], indirect=True)
@pytest.mark.parametrize("story", STORIES)
async def test_who_changed_nothing_is_not_accused(world: World, story: str) -> None:
    assert not await STORIES[story](world, by(world, "nothing"))

    assert "changed_outside" not in await alert_kinds(world)
    assert not world.store.put_back


async def _alerts(world: World) -> AsyncIterator[str]:
    for alert in await open_alerts(world):
        if alert.kind == "changed_outside":
            yield str(alert)


def _entry(at: datetime, action: str, state: State, number: int = 1, **more: object) -> audit.Link:
    body = json.dumps({"kind": "card_topup", "state": state, "digest": "d", **more})
    return audit.Link(number, time_text(at), BOB, action, f"request:R-{number}:2", "ok", body, "v", hash="")


def _approved(at: datetime, number: int = 1) -> audit.Link:
    counts: dict[str, object] = {
        "program": "main",
        "subject": "c",
        "requester": ALICE,
        "usd": "50",
        "by": [BOB],
    }
    counts["asked"] = time_text(at)
    return _entry(at, "request.approval", State.APPROVED, number, counts=counts)


def test_what_was_approved_longer_than_two_days_ago_is_forgotten() -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)

    found = LogFacts().and_(_approved(began + timedelta(minutes=n), n) for n in range(10_000)).counted

    assert 48 * 60 <= sum(len(each) for each in found.values()) <= 49 * 60


@pytest.mark.parametrize("hours_apart", [0.01, 1, 30])
def test_a_first_reading_counts_what_reading_entry_by_entry_counts(
    monkeypatch: pytest.MonkeyPatch, hours_apart: float
) -> None:
    """It leaves out what is over before it looks at it: of long logs and short, where the clock was wrong for a while,
    and where requests are approved again, sent or stopped days later."""
    drawn = Random(7)
    began, steps = datetime(2026, 1, 1, tzinfo=UTC), list[audit.Link]()
    for n in range(300):
        wrong = timedelta(hours=drawn.choice([0, 0, 0, 0, 0, 20, -20]))
        at, number = began + timedelta(hours=n * hours_apart) + wrong, drawn.randrange(1, max(2, n))
        steps += [_approved(at, n)] if drawn.random() < 0.7 else []
        steps += [_approved(at, number)] if drawn.random() < 0.1 else []
        steps += [_entry(at, *drawn.choice(_MORE), number) for _ in range(drawn.randrange(3))]
    steps.append(_approved(began + timedelta(hours=300 * hours_apart), 1000))
    one_by_one = LogFacts()
    for step in steps:
        one_by_one = one_by_one.and_([step])

    monkeypatch.setattr(counted, "MOST_WAITING", 10)
    found = LogFacts().and_(steps).counted

    since = began + timedelta(hours=300 * hours_apart) - counted.KEPT_FOR / 2
    assert _since(found, since) == _since(one_by_one.counted, since) != {}


_MORE = (
    ("request.attempt", State.EXECUTING),
    ("request.outcome", State.SUCCEEDED),
    ("request.outcome", State.FAILED),
    ("request.cancelled", State.CANCELLED),
    ("request.put_right", State.EXPIRED),
)


def _since(hours: counted.Hours, since: datetime) -> dict[str, counted.Counted]:
    return {name: one for each in hours.values() for name, one in each.items() if one.approved_at >= since}


def test_reading_a_long_log_takes_time_that_grows_with_its_entries_alone() -> None:
    """Years of hours with a request each: each entry took a look at every hour before it, so a start and `countersign
    doctor` took minutes. By the processor's time, ten times as many may take twice as long each."""
    began = datetime(2020, 1, 1, tzinfo=UTC)

    def each_s(hours: int) -> float:
        times = [began + timedelta(hours=n) for n in range(hours)]
        steps = [
            one
            for n, at in enumerate(times)
            for one in (
                _entry(at, "request.submitted", State.PENDING, n),
                _approved(at, n),
                _entry(at, "request.attempt", State.EXECUTING, n),
                _entry(at, "request.outcome", State.SUCCEEDED, n),
            )
        ]
        started_s = time.process_time()
        LogFacts().and_(steps)
        return (time.process_time() - started_s) / hours

    assert min(each_s(4_000) for _ in range(2)) < 2 * max(each_s(400) for _ in range(3))


def test_what_was_sent_still_counts_after_its_row_was_put_back_and_expired() -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    steps = [
        _approved(began),
        _entry(began, "request.attempt", State.EXECUTING),
        _entry(began, "request.outcome", State.SUCCEEDED),
        _entry(began, "request.expired", State.EXPIRED),
    ]

    (found,) = LogFacts().and_(steps).counted.values()

    assert found["R-1"].is_committed
