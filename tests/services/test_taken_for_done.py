"""Nothing is taken for done already, or refused, because of a row that somebody else wrote, changed or took out for
that moment: it is done all the same, or refused, and people are notified."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.domain.errors import AlreadyDecided, CountersignError, NotFound
from bot.domain.people import KindPolicy
from bot.domain.requests import Request, State
from bot.services.alerts import alert_actions
from bot.services.operators import (
    changed_rows,
    confirmation_answers,
    deep_check,
    draft_only,
    otp_recipients,
    pausing,
)
from bot.services.requests import approvals
from storage.cards import otp_recipients as code_rows
from storage.errors import ChangedOutside
from storage.messages import mutes
from storage.operators import pauses
from storage.requests import confirmations
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.outcome_steps import alert_kinds, top_ups
from tests.services.test_cool_off import policy
from tests.services.test_resolving_by_hand import an_unresolved, say
from tests.support import posting
from tests.support.databases import BACKENDS
from tests.support.processes import WHO, who_goes_on
from tests.support.situations import confirm
from tests.support.world import ALICE, BOB, CAROL, World, a_world
from tests.thief.edits import FAR, LONG_AGO, Database, insert, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(4)

Step = Callable[[World], Awaitable[Any]]
Edit = Callable[[Database], Any]
A_PAUSE = {"program": "main", "by": BOB, "by_name": "Bob", "reason": "x", "since": LONG_AGO}


async def nothing(_world: World) -> None:
    """There is nothing to be done before."""


def replaced(table: str, **values: Any) -> tuple[Edit, Edit]:
    """All rows of the table say something else, and then what they said before."""
    kept: list[dict[str, Any]] = []
    names = ", ".join(f'"{name}" = ?' for name in values)

    def edit(database: Database) -> None:
        kept[:] = database.read(table)
        database.write(f'UPDATE "{table}" SET {names}', *values.values())

    def undo(database: Database) -> None:
        for row in kept:
            database.write(f'UPDATE "{table}" SET {names}', *(row[name] for name in values))

    return edit, undo


def hidden(table: str) -> tuple[Edit, Edit]:
    """All rows of the table are out, and then there again, unless others took their place."""
    kept: list[dict[str, Any]] = []

    def edit(database: Database) -> None:
        kept[:] = database.read(table)
        assert kept
        database.write(f'DELETE FROM "{table}"')

    def undo(database: Database) -> None:
        for row in kept:
            with suppress(Exception):
                insert(database, table, row)

    return edit, undo


def invented(table: str, row: dict[str, Any], by: str) -> tuple[Edit, Edit]:
    return (
        lambda database: insert(database, table, row),
        lambda database: database.write(f'DELETE FROM "{table}" WHERE "{by}" = ?', row[by]),
    )


def a_consent(kind: str, subject: str) -> tuple[Edit, Edit]:
    about = {"kind": kind, "subject": subject, "terms": "{}", "state": "open"}
    who = {"asked_by": BOB, "asked_by_name": "Bob", "asked_at": LONG_AGO, "expires_at": FAR}
    return invented("consent", {"id": "C-made-up", **about, **who}, "id")


@dataclass(frozen=True)
class Deed:
    """`before`: what is so until then; `do`: what a person does while the rows are edited; `is_done`: is it so, once
    the rows are as they were. `edits`: by their names."""

    before: Step
    do: Step
    is_done: Step
    edits: dict[str, Callable[[], tuple[Edit, Edit]]]


async def _pause(world: World) -> None:
    assert await pausing.pause(world.core, CAROL, ["main"], "stolen key")


async def _is_paused(world: World) -> bool:
    sent = len(top_ups(world))
    await world.top_up("50")
    await world.run(20)
    async with world.store.read() as tx:
        held = await pauses.of(tx, "main")
    return held is not None and len(top_ups(world)) == sent


async def _drafts(world: World) -> None:
    await draft_only.at_start(world.core, is_on=True)


async def _sends_nothing(world: World) -> bool:
    with suppress(ChangedOutside):
        await _drafts(world)  # a start that was refused is tried again
    await world.top_up("50")
    await world.run(20)
    return not top_ups(world)


async def _codes_to_alice(world: World) -> None:
    await otp_recipients.ask(world.core, CAROL, "emp-1042", ALICE)
    async with world.store.read() as tx:
        asked = await confirmations.open_one(tx, "code_person", "emp-1042")
    assert asked is not None
    await confirmation_answers.give(world.core, asked.id, BOB)


async def _unname(world: World) -> None:
    await otp_recipients.unname(world.core, CAROL, "emp-1042")


async def _nobody_gets_codes(world: World) -> bool:
    async with world.store.read() as tx:
        return await code_rows.person_of(tx, "emp-1042") is None


async def _mute(world: World) -> None:
    await alert_actions.mute(world.core, CAROL, name="quiet", kind="decline")


async def _unmute(world: World) -> None:
    await alert_actions.unmute(world.core, CAROL, "quiet")


async def _silences_nothing(world: World) -> bool:
    async with world.store.read() as tx:
        return await mutes.in_force(tx) == []


async def _ask_to_resume(world: World) -> None:
    (said,) = await pausing.resume(world.core, CAROL, ["main"])
    assert said.startswith("Asked.")


async def _can_be_confirmed(world: World) -> bool:
    await confirm(world, "resume", by=BOB)
    return not await _is_paused(world)


DEEDS: dict[str, Deed] = {
    "pause": Deed(
        nothing,
        _pause,
        _is_paused,
        {"invented": lambda: invented("pause", A_PAUSE, "program")},
    ),
    "pause again": Deed(
        _pause,
        _pause,
        _is_paused,
        {
            "hidden": lambda: hidden("pause"),
            "changed": lambda: replaced("pause", by=BOB),
        },
    ),
    "draft only by the file": Deed(
        nothing,
        _drafts,
        _sends_nothing,
        {
            "changed": lambda: replaced("program", drafts_since=LONG_AGO),
            "hidden": lambda: hidden("program"),
        },
    ),
    "nobody gets codes": Deed(
        _codes_to_alice,
        _unname,
        _nobody_gets_codes,
        {
            "hidden": lambda: hidden("person_card"),
            "changed": lambda: replaced("person_card", slack_id=CAROL),
        },
    ),
    "unmute": Deed(
        _mute,
        _unmute,
        _silences_nothing,
        {"hidden": lambda: hidden("mute"), "changed": lambda: replaced("mute", by=BOB)},
    ),
    "ask to resume": Deed(
        _pause,
        _ask_to_resume,
        _can_be_confirmed,
        {"invented": lambda: a_consent("resume", "main")},
    ),
}


async def said_so(world: World) -> bool:
    await changed_rows.tell_of_those_met(world.core)
    return "changed_outside" in await alert_kinds(world)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize(
    ("deed", "edit"), [(deed, edit) for deed, one in DEEDS.items() for edit in one.edits]
)
async def test_it_is_done_all_the_same_or_refused_and_people_are_notified(
    url: str, tmp_path: Path, deed: str, edit: str, who: str
) -> None:
    made = DEEDS[deed]
    async with a_world(tmp_path, url=url) as world, who_goes_on(world, who) as hand_over:
        await made.before(world)
        hand_over()
        await world.advance(10)
        edit_rows, undo = made.edits[edit]()
        with opened(place_of(world)) as database:
            edit_rows(database)
        refusal: Exception | None = None
        try:
            await made.do(world)
        except (CountersignError, ChangedOutside) as error:
            refusal = error
        assert await said_so(world), refusal
        with opened(place_of(world)) as database:
            undo(database)

        assert refusal is None or isinstance(refusal, ChangedOutside)
        if refusal is None or deed == "draft only by the file":
            assert await made.is_done(world)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("edit", ["hidden", "changed"])
async def test_who_declines_what_is_hidden_reads_that_it_was_changed(
    url: str, tmp_path: Path, edit: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        await _pause(world)
        await _ask_to_resume(world)
        async with world.store.read() as tx:
            asked = await confirmations.open_one(tx, "resume", "main")
        assert asked is not None
        edit_rows, _ = hidden("consent") if edit == "hidden" else replaced("consent", state="declined")
        with opened(place_of(world)) as database:
            edit_rows(database)

        with pytest.raises(ChangedOutside):
            await confirmation_answers.decline(world.core, asked.id, BOB)
        assert await said_so(world)


# Decisions.

OTHERS = (BOB, CAROL)


@dataclass(frozen=True)
class Decided:
    """`kind`: of the decision that somebody invents; `ask`: the request; `do`: what an approver does."""

    kind: str
    ask: Callable[[World], Awaitable[Request]]
    do: Callable[[World, Request, str], Awaitable[Any]]
    ends: State


async def _ask_top_up(world: World) -> Request:
    return await world.top_up("50", approved=False)


async def _approved(world: World) -> Request:
    return (await world.approve(await _ask_top_up(world), by=BOB))[0]


async def _list(world: World) -> Request:
    return await ask_bulk(world, a_list(world, "10", "20"))


async def _frozen_now(world: World) -> Request:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True, by=ALICE)
    await world.run(10)
    return request


async def _reject(world: World, request: Request, who: str) -> None:
    await approvals.reject(world.core, request.id, who, reason="stop it")


async def _approve(world: World, request: Request, who: str) -> None:
    await posting.post(world.core, request.id)
    await approvals.require_may_approve(world.core, request.id, who)
    await world.approve(request, by=who)


async def _confirm(world: World, request: Request, who: str) -> None:
    await approvals.confirm(world.core, request.id, who)


async def _resolve(world: World, request: Request, who: str) -> None:
    await say(world, request, ALICE, "succeeded")
    await say(world, request, who, "succeeded")


DECIDED = {
    "reject": Decided("reject", _ask_top_up, _reject, State.REJECTED),
    "reject a list": Decided("reject", _list, _reject, State.REJECTED),
    "stop": Decided("reject", _approved, _reject, State.CANCELLED),
    "approve": Decided("approve", _ask_top_up, _approve, State.APPROVED),
    "approve a list": Decided("approve", _list, _approve, State.APPROVED),
    "confirm": Decided("confirm", _frozen_now, _confirm, State.SUCCEEDED),
    "resolve": Decided("resolve", an_unresolved, _resolve, State.SUCCEEDED),
}


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("how", ["invented", "of another request"])
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("what", DECIDED)
async def test_a_decision_that_nobody_made_is_in_nobodys_way(
    url: str, tmp_path: Path, what: str, how: str, who: str
) -> None:
    made = DECIDED[what]
    waits = replace(policy(), kinds={"card_topup": policy().kinds["card_topup"]} if what == "stop" else {})
    async with a_world(tmp_path, url=url, policy=waits) as world, who_goes_on(world, who) as hand_over:
        if how != "invented":  # a genuine one, which is about something else
            other = await world.top_up("5", card=1, approved=False)
            await world.approve(other, by=CAROL)
        request = await made.ask(world)
        hand_over()
        with opened(place_of(world)) as database:
            pattern = next(iter(database.read("decision")), None) or {
                "actor_name": "Bob",
                "policy_version": "x",
                "mac": "x",
                "decided_at": FAR,
                "reason": "",
                "assertion": None,
                "conditions": None,
                "requester": request.requester,
            }
            for actor in OTHERS:
                values = {"id": f"D{actor}", "request_id": request.id, "kind": made.kind, "actor": actor}
                about = {"requester": request.requester, "digest": request.digest, "decided_at": FAR}
                verdict = "failed" if made.kind == "resolve" else ""
                with suppress(Exception):  # this one is there, and genuine
                    insert(database, "decision", {**pattern, **values, **about, "verdict": verdict})

        await made.do(world, request, CAROL)

        assert await said_so(world)
        assert (await world.request(request.id)).state is made.ends
        with opened(place_of(world)) as database:
            database.write("DELETE FROM decision WHERE id IN (?, ?)", "D" + BOB, "D" + CAROL)
        async with world.store.read() as tx:
            assert await deep_check.differences(tx) == []


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("edit", ["in another's name", "hidden"])
async def test_an_edited_approval_keeps_nobody_from_approving(
    url: str, tmp_path: Path, edit: str, who: str
) -> None:
    two = replace(policy(), kinds={"card_topup": KindPolicy(approvals=2)})
    async with a_world(tmp_path, url=url, policy=two) as world, who_goes_on(world, who) as hand_over:
        request = await _ask_top_up(world)
        await world.approve(request, by=BOB)
        hand_over()
        edit_rows, _ = hidden("decision") if edit == "hidden" else replaced("decision", actor=CAROL)
        with opened(place_of(world)) as database:
            edit_rows(database)

        _, verdict = await world.approve(request, by=CAROL)

        assert verdict.counts
        assert await said_so(world)
        assert top_ups(world) == []


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_one_that_nobody_meets_is_found_within_a_minute(url: str, tmp_path: Path) -> None:
    async with a_world(tmp_path, url=url) as world:
        request = await _approved(world)
        with opened(place_of(world)) as database:
            (pattern,) = database.read("decision")
            values = {"id": "D", "kind": "reject", "actor": CAROL}
            insert(database, "decision", {**pattern, **values})
        await changed_rows.watch(world.core)
        assert "changed_outside" in await alert_kinds(world)

        with opened(place_of(world)) as database:
            database.write("DELETE FROM decision WHERE id = ?", "D")
        await changed_rows.watch(world.core)
        assert "changed_outside" not in await alert_kinds(world)
        assert request.state is State.APPROVED


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_doing_something_twice_says_already_and_accuses_nobody(url: str, tmp_path: Path) -> None:
    two = replace(policy(), kinds={"card_topup": KindPolicy(approvals=2)})
    async with a_world(tmp_path, url=url, policy=two) as world:
        assert await pausing.pause(world.core, CAROL, ["main"], "first") == ["main"]
        assert await pausing.pause(world.core, BOB, ["main"], "second") == []
        await _ask_to_resume(world)
        (said,) = await pausing.resume(world.core, CAROL, ["main"])
        assert "already" in said
        await _drafts(world)
        await _drafts(world)
        request = await _ask_top_up(world)
        await world.approve(request, by=BOB)
        with pytest.raises(AlreadyDecided):
            await world.approve(request, by=BOB)
        frozen = await world.ask("card_freeze", {"card": world.cards[1]["id"]}, by=ALICE)
        await _reject(world, frozen, BOB)
        with pytest.raises(NotFound):
            await _unname(world)
        with pytest.raises(NotFound):
            await _unmute(world)

        await changed_rows.watch(world.core)
        assert not await said_so(world)
