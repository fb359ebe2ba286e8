"""Who may still have something sent after the approval, whichever process approved it with whichever file.

Two questions, and the table `must` answers both. What *Slack* says counts always: who left a group, is a guest, or has
no account any more has nothing sent. What the *file* says is said by the newer of two files, in the order in which they
were read by the audit log: so a process with an older one sends what a newer one allowed, and nobody's clock is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from bot import startup
from bot.domain.errors import NotAllowed, PerhapsGone
from bot.domain.people import Actor, Delegation, KindPolicy, Limits, Policy
from bot.domain.requests import Request, State
from bot.services import people
from bot.services.core import Core
from bot.services.shared_look import SharedLooks
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.support.clock import FrozenClock
from tests.support.databases import BACKENDS
from tests.support.kinds import kind_class
from tests.support.world import ALICE, BOB, CAROL, HOME, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(13)

ANNA, DORA, ERIN = "U0ANNA", "U0DORA", "U0ERIN"
ROLES = ("requester", "admin", "approver", "delegate")
LOSSES = ("left the group", "deactivated", "a guest", "unknown to Slack", "not in the file")
#: Who sends: the process that approved it, one with an older file, one with a newer one.
SENDERS = ("the same", "an older file", "a newer file")
_FLAGS: dict[str, dict[str, bool]] = {
    "deactivated": {"deleted": True},
    "a guest": {"is_restricted": True},
}


@dataclass(frozen=True)
class Cell:
    """One request: whose right is lost, how and when, how many approvals it needs, as a list or not, and who sends."""

    role: str
    loss: str
    when: str  # before the last approval, or after it
    approvals: int
    what: str
    sender: str


def must(cell: Cell) -> str:
    """What has to happen: the table."""
    if cell.loss != "not in the file":
        return "refused" if cell.when == "before" else "cancelled"
    if cell.when == "before":  # the process that approves has the file without them
        return "refused"
    # Approved by a file that names them; the file of the sender does not.
    return {"a newer file": "cancelled", "an older file": "sent"}[cell.sender]


def cells(role: str, loss: str, *, is_fast: bool) -> list[Cell]:
    """Of lists, those that need two approvals and lose one after them: a list dates both by the last one. Where it
    isn't fast, those alone, and single requests like them."""
    senders = SENDERS if loss != "not in the file" else SENDERS[1:]
    whens, approvals = (("before", "after"), (1, 2)) if is_fast else (("after",), (2,))
    single = product(whens, approvals, ("single",), senders)
    lists = product(("after",), (2,), ("list",), senders)
    return [Cell(role, loss, *one) for one in (*single, *lists)]


@pytest.fixture
async def world(tmp_path: Path, url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        for one in (ANNA, DORA, ERIN):
            made.people.actors[one] = Actor(one, one[2:].title(), team_id=HOME)
        made.people.code_of_unknown = "user_not_found"
        yield made


def a_file(version: str, *, approvals: int = 1, without: str = "", **most: Any) -> Policy:
    """Groups for every role; `without` a role, it names others for it."""
    named = replace(
        a_policy().people,
        requesters=("@others",) if without == "requester" else ("@treasury",),
        admins=("@others",) if without == "admin" else ("@card-admins",),
        approvers=("@others", CAROL, ERIN) if without == "approver" else ("@card-approvers",),
    )
    now, month = FrozenClock().now(), timedelta(days=31)
    seat = Delegation("@away", DORA, now - month, now + month, "on leave")
    return replace(
        a_policy(),
        people=named,
        kinds={},
        default=KindPolicy(approvals=approvals),
        limits=Limits(**most),
        version=version,
        delegations=() if without == "delegate" else (seat,),
    )


def in_slack(world: World) -> None:
    """As it is before anything is lost."""
    world.people.groups |= {
        "@treasury": {ALICE, CAROL},
        "@card-admins": {ANNA, CAROL},
        "@card-approvers": {BOB, CAROL, ERIN},
        "@away": {BOB},
        "@others": {CAROL, ERIN},
    }
    for one in (ALICE, ANNA, BOB, DORA):
        world.people.actors[one] = Actor(one, one[2:].title(), team_id=HOME)


async def a_process(world: World, policy: Policy) -> Core:
    """One that starts now with this file, beside those that run."""
    core = replace(
        world.core,
        policy=policy,
        owner=policy.version,
        people_kept={},
        people_seen=SharedLooks(),
        roles_noted={},
        holding=Counter(),
    )
    await startup.note_start(core)
    return core


def lose(world: World, cell: Cell) -> None:
    who = {"requester": ALICE, "admin": ANNA, "approver": BOB, "delegate": DORA}[cell.role]
    match cell.loss:
        case "left the group":
            groups = {"requester": "@treasury", "admin": "@card-admins", "approver": "@card-approvers"}
            # A delegate loses it with the one in whose place she is.
            group = groups.get(cell.role, "@card-approvers")
            world.people.groups[group].discard(BOB if cell.role == "delegate" else who)
        case "unknown to Slack":
            del world.people.actors[who]
        case "not in the file":
            pass
        case flags:
            world.people.change(who, **_FLAGS[flags])


async def played(world: World, cell: Cell) -> str:
    """What became of it."""
    in_slack(world)
    files = (a_file("one", approvals=cell.approvals), a_file("two", approvals=cell.approvals))
    if cell.loss == "not in the file":
        narrow = a_file("narrow", approvals=cell.approvals, without=cell.role)
        wide = a_file("wide", approvals=cell.approvals)
        approving, sending = (narrow, wide) if cell.when == "before" else (wide, narrow)
        files = (sending, approving) if cell.sender == "an older file" else (approving, sending)
    # It was asked for while everybody might.
    world.goes_on_as(await a_process(world, a_file("asked", approvals=cell.approvals)))
    older, newer = await a_process(world, files[0]), await a_process(world, files[1])
    approves, sends = {
        "the same": (older, older),
        "an older file": (newer, older),
        "a newer file": (older, newer),
    }[cell.sender]
    request = await _asked(world, cell, ANNA if cell.role == "admin" else ALICE)
    givers = [DORA if cell.role == "delegate" else BOB, CAROL][: cell.approvals]
    world.goes_on_as(approves)
    if len(givers) == 2 and cell.when == "before" and cell.loss == "not in the file":
        # Whoever approves first does so by another file.
        world.goes_on_as(sends)
    try:
        for number, giver in enumerate(givers):
            if number == len(givers) - 1:
                world.goes_on_as(approves)
                if cell.when == "before":
                    await world.advance(61)
                    lose(world, cell)
            try:
                await world.approve(await world.request(request.id), by=giver)
            except PerhapsGone:
                await world.advance(people.GONE_AFTER_S)
                await world.approve(await world.request(request.id), by=giver)
    except NotAllowed:
        assert (await world.request(request.id)).state is State.PENDING
        return "refused"
    if cell.when == "after":
        lose(world, cell)
        await world.advance(16)
    world.goes_on_as(sends)
    # Slack has to say twice that it does not know somebody.
    await world.run(20 if cell.loss == "unknown to Slack" else 5)
    return await _ended(world, cell, request)


async def _asked(world: World, cell: Cell, by: str) -> Request:
    if cell.what == "list":
        return await ask_bulk(world, a_list(world, "1", "1"), by=by, kind="card_topup")
    given = {"card": world.cards[0]["id"], "amount_usd": "1"}
    return await world.ask("card_topup", given, by=by)


async def _ended(world: World, cell: Cell, request: Request) -> str:
    of = await rows_of(world, request) if cell.what == "list" else [await world.request(request.id)]
    states = {one.state for one in of}
    words = {State.SUCCEEDED: "sent", State.CANCELLED: "cancelled"}
    return " and ".join(sorted(words.get(state, str(state)) for state in states))


@pytest.fixture
def for_admins(monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    if role == "admin":
        cls = kind_class("card_topup")
        monkeypatch.setattr(cls, "handling", replace(cls.handling, asked_by_admins=True))


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.usefixtures("for_admins")
async def test_what_slack_says_counts_always_and_the_newer_file_decides(
    world: World, role: str, loss: str
) -> None:
    every = cells(role, loss, is_fast=world.store.database.path is not None)
    wrong = [(cell, found) for cell in every if (found := await played(world, cell)) != must(cell)]

    assert wrong == []
