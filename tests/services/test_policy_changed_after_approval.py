"""A policy that was changed after an approval and before the first call: who may ask, and limits, are those of the
newer file. Who is still in a group is asked of Slack: see `test_two_files_at_once`.

What was sent already is settled under its key whatever the policy says, and nothing is refused by the same policy.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot import app, startup
from bot.config import Config
from bot.domain.errors import NotAllowed
from bot.domain.people import Actor, KindPolicy, Limits, Per, Policy, Tier
from bot.domain.requests import Event, Request, State
from bot.services import audit
from bot.services.execution import presend_checks
from bot.services.requests import approvals
from bot.services.shared_look import SharedLooks
from bot.startup import Overrides
from storage import audit as log
from storage import tables as t
from storage.requests import requests
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Vault
from tests.integration.surroundings import CONFIG
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.outcome_steps import TOPUP, alert_kinds, execute, keys_sent, status
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, HOME, World, a_policy, a_world
from tests.thief import junk_starts
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(4)

ALICE_TWO = "U0ALICETWO"
SQLITE = pytest.mark.parametrize("url", BACKENDS[:1], indirect=True)
BOTH = pytest.mark.parametrize("url", BACKENDS, indirect=True)


@pytest.fixture
async def world(tmp_path: Path, url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url, policy=limited(version="before")) as made:
        made.people.actors[ALICE_TWO] = Actor(ALICE_TWO, "Alice two", team_id=HOME, mailbox="of alice")
        made.people.change(ALICE, mailbox="of alice")
        made.people.groups["@treasury"] = {ALICE, ALICE_TWO, CAROL}
        await startup.note_start(made.core)
        yield made


def limited(version: str, **most: Decimal) -> Policy:
    named = replace(a_policy().people, requesters=("@treasury",))
    return replace(a_policy(), people=named, kinds={}, limits=Limits(**most), version=version)


async def change(world: World, policy: Policy) -> None:
    """Another process goes on with another file, which it has just read."""
    world.rebuild(policy=policy, people_kept={}, people_seen=SharedLooks())
    await startup.note_start(world.core)


async def _top_up(world: World, amount: str, *, by: str = ALICE, approver: str = BOB) -> Request:
    await world.advance(1)  # so that one comes after the other
    request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": amount}, by=by)
    return (await world.approve(request, by=approver))[0]


@BOTH
@pytest.mark.parametrize("narrowed", ["in the file", "in Slack"])
async def test_who_may_not_ask_any_more_has_nothing_sent(world: World, narrowed: str) -> None:
    approved = await _top_up(world, "50")
    if narrowed == "in the file":
        named = replace(world.core.policy.people, requesters=(CAROL,))
        await change(world, replace(world.core.policy, people=named, version="after"))
    else:
        world.people.groups["@treasury"].discard(ALICE)
        await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    ended = await execute(world, approved)

    assert ended.state is State.CANCELLED
    assert "may not make requests any more: only" in ended.outcome_text
    assert "Nothing was sent" in ended.outcome_text
    assert keys_sent(world) == []


@BOTH
@pytest.mark.parametrize("narrowed", ["in the file", "in Slack", "by a limit"])
async def test_a_freeze_is_sent_although_its_requester_may_not_ask_any_more(
    world: World, narrowed: str
) -> None:
    approved = await _freeze(world)
    if narrowed == "in the file":
        named = replace(world.core.policy.people, requesters=(CAROL,))
        await change(world, replace(world.core.policy, people=named, version="after"))
    elif narrowed == "by a limit":
        await _top_up(world, "300")
        await change(world, limited("after", total_usd=Decimal(100), per_requester_usd=Decimal(100)))
    else:
        world.people.groups["@treasury"].discard(ALICE)
        await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    assert (await execute(world, approved)).state is State.SUCCEEDED
    assert await alert_kinds(world) == set()


@SQLITE
@pytest.mark.parametrize("why", ["an approver left", "more approvals", "a newer unfreeze"])
async def test_a_freeze_that_is_stopped_before_its_first_try_leaves_an_alert(world: World, why: str) -> None:
    approved = await _freeze(world)
    match why:
        case "an approver left":
            world.people.groups["@card-approvers"].discard(BOB)
            await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
        case "more approvals":
            kinds = {"card_freeze": KindPolicy(approvals=2)}
            await change(world, replace(world.core.policy, kinds=kinds, version="after"))
        case _:
            await world.advance(1)
            await world.approve(await world.ask("card_unfreeze", {"card": world.cards[0]["id"]}))

    ended = await execute(world, approved)

    assert ended.state is State.CANCELLED
    assert await alert_kinds(world) == (set() if why == "a newer unfreeze" else {"not_done"})


async def _freeze(world: World) -> Request:
    return (await world.approve(await world.ask("card_freeze", {"card": world.cards[0]["id"]})))[0]


@BOTH
@pytest.mark.parametrize("clock", [-60, 0, 60], ids=["behind", "right", "ahead"])
@pytest.mark.parametrize("narrower", ["limits", "requesters"])
@pytest.mark.parametrize("sender", ["older", "newer"])
async def test_the_newer_of_two_files_counts_and_no_clock_is_asked(
    world: World, narrower: str, sender: str, clock: int
) -> None:
    """The sender has the narrower file. An older one stops nothing that a newer one allowed; a newer one stops it.

    `clock`: of the machine that approves, in seconds before or after the others'.
    """
    wide = limited("wide")
    narrow = {
        "requesters": replace(wide, people=replace(wide.people, requesters=(CAROL,)), version="narrow"),
        "limits": limited("narrow", per_requester_usd=Decimal(100)),
    }[narrower]
    if sender == "older":
        await change(world, narrow)
        await world.advance(5)
    await change(world, wide)
    world.clock.advance(clock)
    approved = await _top_up(world, "300")
    world.clock.advance(-clock)
    if sender == "older":
        world.rebuild(policy=narrow, people_kept={}, people_seen=SharedLooks())
    else:
        await world.advance(5)
        await change(world, narrow)
    await world.advance(max(0, clock))  # it is due by the clock of who approved it

    ended = await execute(world, approved)

    assert ended.state is (State.SUCCEEDED if sender == "older" else State.CANCELLED), ended.outcome_text


@SQLITE
@pytest.mark.parametrize("loaded", ["while the newer one runs", "after a long start"])
async def test_a_file_is_as_new_as_its_reading(world: World, loaded: str) -> None:
    """One that is put back counts from then on; one that was read before, by one that starts for long, does not."""
    wide, narrow = limited("wide"), limited("narrow", per_requester_usd=Decimal(100))
    async with world.store.read() as tx:
        read_after = (await log.head(tx)).seq
    await change(world, wide)
    approved = await _top_up(world, "300")
    world.rebuild(policy=narrow, people_kept={}, people_seen=SharedLooks())
    await startup.note_start(world.core, read_after=read_after if loaded == "after a long start" else None)

    ended = await execute(world, approved)

    assert ended.state is (State.SUCCEEDED if loaded == "after a long start" else State.CANCELLED)


POINTS = range(4)
"""In a start: before it, after its first reading of the file, after the end of the log was asked, and after all."""


@SQLITE
async def test_a_file_that_was_read_earlier_never_ranks_newer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long a start takes, whenever the file is changed meanwhile, and whenever another process starts."""
    asked, wrong = log.head, list[str]()

    async def something() -> None:
        async with world.store.begin() as tx:
            await log.append(tx, actor="system:test", action="something", subject="test")

    for changes, starts, is_change_first in itertools.product(POINTS, POINTS, (True, False)):
        content, others = ["old"], list[tuple[str, int]]()

        def read(content: list[str] = content) -> Any:
            return SimpleNamespace(digest=content[0])

        async def at(
            point: int, its: tuple[Any, ...] = (changes, starts, is_change_first, content, others)
        ) -> None:
            changes, starts, is_change_first, content, others = its
            for is_change in (is_change_first, not is_change_first):
                if is_change and point == changes:
                    content[:] = ["new"]
                if not is_change and point == starts:
                    monkeypatch.setattr(log, "head", asked)
                    await something()
                    found = await startup.read_with_log(world.store, partial(read, content))
                    others.append((found.config.digest, found.after))
                    await something()

        async def head(tx: Tx) -> Any:
            monkeypatch.setattr(log, "head", asked)
            await at(1)
            async with world.store.read() as now:
                found = await asked(now)
            await at(2)
            return found

        await at(0)
        monkeypatch.setattr(log, "head", head)
        mine = await startup.read_with_log(world.store, read)
        monkeypatch.setattr(log, "head", asked)
        await at(3)

        ranks = {mine.config.digest: mine.after} | dict(others)
        if others[0][0] != mine.config.digest and ranks["old"] > ranks["new"]:
            wrong.append(f"changed at {changes}, another started at {starts}: {ranks}")

    assert wrong == []


async def test_where_the_log_ends_is_not_what_somebody_says_while_the_file_is_read(tmp_path: Path) -> None:
    """Else a newer and stricter file would be recorded as the older one, for good."""
    async with a_world(tmp_path) as made:
        for _ in range(3):
            await startup.note_start(made.core)
        await made.store.close()
        readings = 0

        def ends_at(statement: str) -> None:
            with opened(place_of(made)) as database:
                database.write(f"UPDATE audit_head SET seq = {statement}")
                database.write(
                    "UPDATE audit_head SET hash = (SELECT hash FROM audit a WHERE a.seq = audit_head.seq)"
                )

        def read() -> Config:
            nonlocal readings
            readings += 1
            if readings == 2:  # the first one within the start, before the log is asked
                ends_at("1")
            elif readings == 3:
                ends_at("(SELECT max(seq) FROM audit)")
            return Config.parse(CONFIG)

        async def doors(*_given: Any) -> str:
            return "http://nowhere"

        overrides = Overrides(timers=junk_starts._NoTimers, doors=doors)
        with pytest.raises(startup.CannotStart, match="Nothing was started"):
            await app.start(junk_starts._settings(made, Path(place_of(made))), read, overrides)


async def test_a_start_reads_the_file_once_the_database_is_open_and_again_in_each_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may go by a newer file by then. The first try fails for a row that cannot be read."""
    async with a_world(tmp_path) as made:
        await made.store.close()
        with opened(place_of(made)) as database:
            database.write("INSERT INTO draft VALUES (" + ", ".join(["'x'"] * len(t.draft.columns)) + ")")
        tries = 0

        async def open_store(url: str, *, vault: Vault, clock: Any) -> Store:
            nonlocal tries
            tries += 1
            return await Store.open(url, vault=vault, clock=clock)

        async def doors(*_given: Any) -> str:
            if tries == 1:
                raise ValueError("a row that cannot be read")
            return "http://nowhere"

        def read() -> Config:
            return Config.parse(CONFIG + b"\n# changed " + str(tries).encode())

        overrides = Overrides(timers=junk_starts._NoTimers, doors=doors, open_store=open_store)
        running = await app.start(junk_starts._settings(made, Path(place_of(made))), read, overrides)
        await running.stop()

        assert tries > 1
        assert running.core.policy.version == read().digest


@SQLITE
async def test_a_request_of_who_may_not_ask_any_more_is_not_approved(world: World) -> None:
    request = await world.top_up("50", approved=False)
    world.people.groups["@treasury"].discard(ALICE)
    await change(world, world.core.policy)

    with pytest.raises(NotAllowed, match="may not request this any more: only @treasury may"):
        await approvals.require_may_approve(world.core, request.id, BOB)
    with pytest.raises(NotAllowed, match="may not request this any more: only @treasury may"):
        await world.approve(request)


LOWERED: dict[str, dict[str, Decimal]] = {
    "by one requester": {"per_requester_usd": Decimal(500)},
    "by one requester with one approver": {"per_pair_usd": Decimal(500)},
    "in all": {"total_usd": Decimal(500)},
}


@BOTH
@pytest.mark.parametrize("words", LOWERED)
async def test_a_limit_that_was_lowered_stops_what_it_would_have_refused_and_no_more(
    world: World, words: str
) -> None:
    first, second = await _top_up(world, "300"), await _top_up(world, "300")
    await change(world, limited("after", **LOWERED[words]))

    ended = await execute(world, second)
    paid = await execute(world, first)

    assert ended.state is State.CANCELLED
    assert (
        f"limit {words} of 500.00 USD: 300.00 USD approved before and 300.00 USD pass it."
        in ended.outcome_text
    )
    assert (paid.state, keys_sent(world)) == (State.SUCCEEDED, [first.key])


@SQLITE
async def test_one_that_is_more_than_the_limit_of_now_by_itself_is_not_sent(world: World) -> None:
    approved = await _top_up(world, "600")
    await change(world, limited("after", total_usd=Decimal(500)))

    ended = await execute(world, approved)

    assert ended.state is State.CANCELLED
    assert "in all of 500.00 USD: 600.00 USD pass it. Nothing was sent" in ended.outcome_text


@SQLITE
@pytest.mark.parametrize("other", [(ALICE_TWO, BOB), (CAROL, BOB)], ids=["of one person", "of another"])
@pytest.mark.parametrize("rule", ["limit", "tier"])
async def test_it_counts_all_accounts_of_the_person(world: World, rule: str, other: tuple[str, str]) -> None:
    by, approver = other
    await _top_up(world, "300", by=by, approver=approver)
    approved = await _top_up(world, "300")
    tiers = (Tier(Decimal(500), 2, per=Per.REQUESTER),)
    after = limited("after", per_requester_usd=Decimal(500))
    if rule == "tier":
        after = replace(limited("after"), kinds={"card_topup": KindPolicy(tiers=tiers)})
    await change(world, after)

    ended = await execute(world, approved)

    assert ended.state is (State.CANCELLED if by == ALICE_TWO else State.SUCCEEDED), ended.outcome_text


@SQLITE
async def test_by_the_same_policy_and_by_a_wider_one_nothing_is_stopped(world: World) -> None:
    """Neither by what was approved later, nor by itself, nor because a limit is used up."""
    await change(world, limited("narrow", per_requester_usd=Decimal(600), per_pair_usd=Decimal(600)))
    sent = [await _top_up(world, "300"), await _top_up(world, "300")]
    assert (await execute(world, sent[0])).state is State.SUCCEEDED
    await change(
        world, limited("narrow but another file", per_requester_usd=Decimal(600), total_usd=Decimal(600))
    )

    assert (await execute(world, sent[1])).state is State.SUCCEEDED


@SQLITE
async def test_of_a_list_no_row_stops_the_others_by_itself(world: World) -> None:
    batch = await _list(world, "200", "200")
    await change(world, limited("after", per_requester_usd=Decimal(400)))

    await world.run(30)

    assert (await world.request(batch.id)).state is State.SUCCEEDED


@SQLITE
async def test_a_list_that_is_over_a_lowered_limit_is_not_sent(world: World) -> None:
    batch = await _list(world, "200", "200")
    await change(world, limited("after", per_requester_usd=Decimal(399)))

    await world.run(30)

    assert (await world.request(batch.id)).state in (State.CANCELLED, State.FAILED)
    assert keys_sent(world) == []


async def _list(world: World, *amounts: str) -> Request:
    return (await world.approve(await ask_bulk(world, a_list(world, *amounts))))[0]


@BOTH
@pytest.mark.parametrize("change_it", ["requesters", "limits"])
async def test_what_was_sent_and_got_no_answer_is_settled_under_its_key(world: World, change_it: str) -> None:
    await status(500, "UNAVAILABLE").set(world, TOPUP, times=1)
    approved = await _top_up(world, "300")
    begun = await execute(world, approved)
    assert begun.state is State.EXECUTING
    if change_it == "requesters":
        named = replace(world.core.policy.people, requesters=(CAROL,))
        await change(world, replace(world.core.policy, people=named, version="after"))
    else:
        await change(world, limited("after", total_usd=Decimal(100)))

    await world.run(120)

    assert (await world.request(approved.id)).state is State.SUCCEEDED
    assert set(keys_sent(world)) == {approved.key}


NO_CHANGE: dict[str, Policy] = {
    "a comment": limited("after", per_requester_usd=Decimal(500)),
    "another limit is new": limited("after", per_requester_usd=Decimal(500), total_usd=Decimal(2000)),
    "a raised limit": limited("after", per_requester_usd=Decimal(550)),
    "no limit any more": limited("after"),
}


@BOTH
@pytest.mark.parametrize("what", NO_CHANGE)
async def test_a_file_that_lowers_no_limit_stops_nothing(world: World, what: str) -> None:
    """Also where a recount would: what failed, did not count, and came late counts since."""
    await change(world, limited("before it", per_requester_usd=Decimal(500)))
    first = await _top_up(world, "300")
    await _moved(world, first, Event.CLAIM, Event.FAIL)
    approved = await _top_up(world, "300")
    await _moved(world, first, Event.LAND_LATE)
    await change(world, NO_CHANGE[what])

    assert (await execute(world, approved)).state is State.SUCCEEDED


@BOTH
@pytest.mark.parametrize("after", ["a comment", "a lower step"])
async def test_a_tier_of_sums_is_asked_again_only_where_it_was_changed(world: World, after: str) -> None:
    steps = {"before it": 500, "a comment": 500, "a lower step": 400}
    policies = {
        name: replace(
            limited(name), kinds={"card_topup": KindPolicy(tiers=(Tier(Decimal(usd), 2, per=Per.REQUESTER),))}
        )
        for name, usd in steps.items()
    }
    await change(world, policies["before it"])
    first = await _top_up(world, "300")
    await _moved(world, first, Event.CLAIM, Event.FAIL)
    approved = await _top_up(world, "300")
    await _moved(world, first, Event.LAND_LATE)
    await change(world, policies[after])

    ended = await execute(world, approved)

    assert ended.state is (State.SUCCEEDED if after == "a comment" else State.CANCELLED), ended.outcome_text


@SQLITE
async def test_a_limit_counts_again_where_two_accounts_are_one_persons_by_the_file_since(
    world: World,
) -> None:
    world.people.change(ALICE, mailbox="")
    limits = {"per_requester_usd": Decimal(500)}
    await change(world, limited("before it", **limits))
    await _top_up(world, "300", by=ALICE_TWO)
    approved = await _top_up(world, "300")
    after = limited("after", **limits)
    await change(world, replace(after, people=replace(after.people, same_person=((ALICE, ALICE_TWO),))))

    assert (await execute(world, approved)).state is State.CANCELLED


async def _moved(world: World, request: Request, *events: Event) -> None:
    """Its row says so, and the audit log as well."""
    for event in events:
        async with world.store.begin() as tx:
            found = await requests.get(tx, request.id)
            assert found is not None
            moved = await requests.move(tx, found, event, due_at=None)
            await audit.of_request(tx, world.core, moved, "system:test", "request.moved")
