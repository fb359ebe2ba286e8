"""The same rules at every door: command, button, modal, message, list and passkey, through the real listeners.

Every cell is one person doing one thing to one request. Refused: they read the sentence of the rule, and nothing has
changed. Allowed: it is done, once.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

import handlers
from bot.domain.people import Delegation, KindPolicy
from bot.domain.requests import Event, Request
from bot.partner.codec import encode
from bot.services import audit
from bot.services.operators import pausing, people_watch
from bot.services.requests import drafts, lifecycle, local_facts
from handlers.background_tasks import AfterAck
from handlers.slack_api import SlackDirectory
from handlers.views import ids
from storage.cards import otp_recipients
from storage.operators import pauses
from storage.operators import people as people_rows
from storage.requests import decisions
from storage.requests import drafts as draft_rows
from storage.requests import requests as request_rows
from tests.authorization import cast
from tests.authorization.cast import ALICE, APPROVER, ASKERS, BY_ID, EVERYBODY, Person
from tests.authorization.rules import Cell, refused_with
from tests.authorization.slack_at_hand import HOME, SlackAtHand
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.support import posting
from tests.support.kinds import QUOTE_NAMES, TEXTS, kind_class
from tests.support.signed_requests import requested_with
from tests.support.walks import this_turn
from tests.support.world import World, a_policy, a_world

# Made once: that takes longer than a hundred cells do.
pytestmark = pytest.mark.asyncio(loop_scope="module")

APPROVALS, OPS, DIRECT = "C0APPROVALS", "C0OPS", "D0DIRECT"
REASON = "Team lunch in May"

#: The events that lead from pending to each state.
WAYS: dict[str, tuple[Event, ...]] = {
    "pending": (),
    "late": (),
    "approved": (Event.APPROVE,),
    "executing": (Event.APPROVE, Event.CLAIM),
    "succeeded": (Event.APPROVE, Event.CLAIM, Event.SUCCEED),
    "failed": (Event.APPROVE, Event.CLAIM, Event.FAIL),
    "unresolved": (Event.APPROVE, Event.CLAIM, Event.LOSE_SIGHT),
    "rejected": (Event.REJECT,),
    "cancelled": (Event.CANCEL,),
    "expired": (Event.EXPIRE,),
}


@dataclass
class Workspace:
    """The world with everybody in it, and requests in every state, made as they are needed."""

    world: World
    slack: SlackAtHand
    after: AfterAck
    _drafts: dict[tuple[str, str], tuple[Any, Any]] = field(default_factory=dict)
    _kept: dict[tuple[Any, ...], Request] = field(default_factory=dict)
    cells: int = 0

    @property
    def core(self) -> Any:
        return self.world.core

    async def request(self, cell: Cell) -> Request:
        """One that this cell's deed is done to; the same one as long as nobody has changed it."""
        await self._mind_the_budget()
        key = (cell.asker.id, cell.kind, cell.state, cell.approved_by, cell.at_once)
        if key not in self._kept:
            self._kept[key] = await self._made(cell)
        return self._kept[key]

    def used(self, request: Request) -> None:
        self._kept = {key: one for key, one in self._kept.items() if one.id != request.id}

    async def _mind_the_budget(self) -> None:
        """A minute goes by where few calls are left: the clock stands still else, and a look would wait without end."""
        partner = self.core.partners["main"]
        if partner.budget_left < partner.calls_a_minute / 2:
            await self.world.advance(61)

    async def _made(self, cell: Cell) -> Request:
        draft, operation = await self._draft(cell.kind, cell.asker.id)
        async with self.world.store.begin() as tx:
            asker = (await people_rows.get(tx, cell.asker.id)).actor  # type: ignore[union-attr]
            request = await lifecycle.record(tx, self.core, draft, operation, asker)
            if cell.state == "late":
                request = await requested_with(tx, request, expires_at=tx.now)
            for event in WAYS[cell.state]:
                more = {"break_glass": True} if cell.at_once and event is Event.APPROVE else {}
                event = Event.BREAK_GLASS if more else event
                request = await request_rows.move(tx, request, event, due_at=None, remind_at=None, **more)
                await audit.of_request(
                    tx, self.core, request, "system:test", "request.moved", {"digest": request.digest}
                )
        await posting.post(self.core, request.id)
        for one in cell.approved_by:
            await self.world.approve(request, by=one)
            request = await self.world.request(request.id)
        return request

    async def _draft(self, kind: str, owner: str) -> tuple[Any, Any]:
        if (kind, owner) not in self._drafts:
            texts = await self._texts(kind)
            draft = await drafts.begin(self.core, owner=owner, kind=kind, texts=texts, reason=REASON)
            operation = drafts.operation_of(self.core, draft)
            facts = await local_facts.facts_for_preview(self.core, operation, draft.program)
            values = {**operation.values, **operation.learned(dict(facts))}
            self._drafts[kind, owner] = draft, type(operation)(values, draft.target_label)
        return self._drafts[kind, owner]

    async def _texts(self, kind: str) -> dict[str, str]:
        texts, card = dict(TEXTS[kind]), self.world.cards[0]
        if any(f.card for f in self.core.kinds[kind].fields):
            texts["card"] = card["id"]
        if kind == "card_close":
            texts["last4"] = card["last4"]
        if kind == "event_redeliver":
            texts["event_id"] = (await self.world.state())["events"][0]["id"]
        return texts

    async def stands(self, request: Request) -> tuple[Any, ...]:
        """All that a deed could change of it."""
        async with self.world.store.read() as tx:
            now = await request_rows.get(tx, request.id)
            assert now is not None
            given = await decisions.of(tx, request.id)
        return now.state, now.version, [(d.actor, d.kind) for d in given]

    async def rest(self) -> None:
        """Until everything after the ack is done, and what that began."""
        while len(self.after):
            assert await self.after.drain(10) == 0, "something after an ack hangs"

    async def count(self) -> int:
        async with self.world.store.read() as tx:
            return len(await request_rows.find(tx, limit=10_000))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workspace(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Workspace]:
    with pytest.MonkeyPatch.context() as patch:
        async with a_workspace(tmp_path_factory.mktemp("workspace"), patch) as made:
            yield made


@asynccontextmanager
async def a_workspace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workspace]:
    # Slack has said it often enough of those whom it does not know.
    monkeypatch.setattr("bot.services.people.GONE_AFTER_S", 0)
    slack = SlackAtHand(cast.people_of_slack())
    slack.groups = {
        "card-approvers": [m for m in cast.members_of("approver") if cast.BY_ID[m].tie != "new"],
        "card-admins": cast.members_of("admin"),
    }
    slack.patch(monkeypatch)
    monkeypatch.setattr(kind_class("deposit_quote"), "body_names", QUOTE_NAMES)
    async with a_world(folder) as world:
        await _has_a_webhook(world)
        now = world.clock.now() + timedelta(hours=25)
        day = timedelta(days=1)
        policy = a_policy()
        people = replace(
            policy.people,
            admins=("@card-admins",),
            same_person=((ALICE.id, "U0ALICETWO"), ("U0ANN", "U0ANNTWO")),
            settle=timedelta(hours=24),
        )
        delegations = tuple(
            Delegation("U0ANN", who, now + since, now + until, "holiday")
            for who, since, until in (
                ("U0DAN", -day, 9 * day),
                ("U0EVE", -day, 9 * day),
                ("U0FAY", -9 * day, -day),
                ("U0GUS", day, 9 * day),
            )
        )
        kinds = {"card_topup": KindPolicy(approvals=2, expires=timedelta(days=30))}
        directory = SlackDirectory(
            AsyncWebClient("xoxb-none"),
            home_team=HOME,
            clock=world.clock.monotonic,
            sleep=world.clock.sleep,
            keyed=lambda mailbox: hashlib.sha256(mailbox.encode()).hexdigest(),
        )
        policy = replace(
            policy, people=people, delegations=delegations, kinds=kinds, default=KindPolicy(expires=30 * day),
            limits=replace(policy.limits, per_requester_usd=None, total_usd=None),
        )  # fmt: skip
        world.rebuild(policy=policy, directory=directory)
        async with world.store.begin() as tx:
            for one in EVERYBODY:
                if one.membership != "unknown to Slack":
                    await people_rows.put(tx, await directory.actor(one.id))
        # The new approver comes after a day in which the others were there.
        await people_watch.note(world.core, "approvers", frozenset(slack.groups["card-approvers"]))
        await world.advance(25 * 3600)
        slack.groups["card-approvers"].append("U0NEW")
        await people_watch.note(world.core, "approvers", frozenset(slack.groups["card-approvers"]))
        after = AfterAck()
        handlers.register(slack.app, handlers.Deps(core=world.core, after=after))
        yield Workspace(world, slack, after)
        await after.drain(5)


async def _has_a_webhook(world: World) -> None:
    """What requests about it need to be possible."""
    registered = encode({"url": "https://countersign.example.com/webhooks/main"})
    await world.core.partners["main"].set_webhook(registered)
    await world.advance(600)
    await local_facts.note_repeated(world.core, "main")
    async with world.store.begin() as tx:
        await otp_recipients.put(tx, world.cards[0]["partner_ref"], APPROVER.id)


Do = Callable[[Workspace, str, Request, str], Awaitable[None]]


@dataclass(frozen=True)
class Door:
    """One way to do a thing. `changes`: of the request, where it is allowed; else `shows` is what is seen then."""

    deed: str
    do: Do
    changes: bool = True
    shows: str = ""


def _button(action: str) -> Do:
    async def press(workspace: Workspace, user: str, request: Request, channel: str) -> None:
        await workspace.slack.press(user, action, ids.stamp(request.id, request.version), channel)

    return press


def _dots(verb: str) -> Do:
    async def press(workspace: Workspace, user: str, request: Request, channel: str) -> None:
        value = f"{verb}:{ids.stamp(request.id, request.version)}"
        await workspace.slack.press(user, "request:more", value, channel)

    return press


def _modal(callback: str, values: dict[str, str]) -> Do:
    async def submit(workspace: Workspace, user: str, request: Request, channel: str) -> None:
        meta = {"request": request.id, "version": request.version, "digest": request.digest}
        state = {name: {"value": _answer(name, text)} for name, text in values.items()}
        await workspace.slack.submit(user, callback, meta, state)

    return submit


def _answer(name: str, text: str) -> dict[str, Any]:
    if name == "verdict":
        return {"type": "radio_buttons", "selected_option": {"value": text}}
    return {"type": "plain_text_input", "value": text}


def _command(text: str) -> Do:
    async def type_(workspace: Workspace, user: str, request: Request, channel: str) -> None:
        await workspace.slack.command(user, text.format(id=request.id), channel.partition("/")[0])

    return type_


def _message(text: str) -> Do:
    async def say(workspace: Workspace, user: str, request: Request, channel: str) -> None:
        await workspace.slack.say(user, text.format(id=request.id), channel)

    return say


DOORS: dict[str, Door] = {
    "approve by button": Door(
        "approve", _button("request:approve"), changes=False, shows="You give approval"
    ),
    "approve by modal": Door("approve", _modal("request:approve", {})),
    "reject by button": Door(
        "open reject", _button("request:reject"), changes=False, shows="sees your reason"
    ),
    "reject by modal": Door("reject", _modal("request:reject", {"reason": "wrong card"})),
    "cancel by button": Door("open cancel", _dots("cancel"), changes=False, shows="Withdraw"),
    "cancel by modal": Door("cancel", _modal("request:cancel", {})),
    "cancel by command": Door("cancel", _command("/requests cancel {id}")),
    "cancel by message": Door("show", _message("requests cancel {id}"), changes=False, shows="ancel"),
    "confirm by button": Door("confirm", _button("request:confirm")),
    "resolve by button": Door("open resolve", _button("request:resolve"), changes=False, shows="evidence"),
    "resolve by modal": Door(
        "resolve", _modal("request:resolve", {"verdict": "succeeded", "evidence": "seen in the ledger"})
    ),
    "try now by button": Door("try now", _button("request:try_now")),
    "show by button": Door("show", _dots("details"), changes=False, shows=REASON),
    "show by command": Door("show", _command("/requests show {id}"), changes=False, shows=REASON),
    "show by message": Door("show", _message("requests show {id}"), changes=False, shows=REASON),
}
#: Doors that there must not be: nothing typed or said approves or rejects, whoever does it.
NO_DOORS: dict[str, Do] = {
    "approve by command": _command("/requests approve {id}"),
    "approve by message": _message("approve {id}"),
    "reject by message": _message("reject {id}, it is wrong"),
    "confirm by message": _message("yes, {id} is confirmed"),
}


async def _tried(workspace: Workspace, cell: Cell, name: str, channel: str = APPROVALS) -> str:
    """Try this cell; what is wrong with what came of it, empty where it is as the rules say."""
    workspace.cells += 1
    door = DOORS[name]
    expected = refused_with(door.deed, cell)
    request = await workspace.request(cell)
    before = await workspace.stands(request)
    workspace.slack.shown.clear()

    await door.do(workspace, cell.person.id, request, channel)
    await workspace.rest()

    seen = json.dumps(
        [what for who, what in workspace.slack.shown if who in ("", cell.person.id)], ensure_ascii=False
    )
    now = await workspace.stands(request)
    said = f"{name}, {cell.person.says}, asked by {cell.asker.says}, {cell.kind} {cell.state}, {channel}: "
    if now != before:
        workspace.used(request)
    if expected is not None:
        if expected not in seen:
            return f"{said}not told “{expected}” but {seen[:300]}"
        if now != before:
            return f"{said}refused and done all the same: {before} → {now}"
        if not cell.person.is_full and REASON in seen:
            return f"{said}an outsider reads the request: {seen[:300]}"
        return ""
    if door.changes and now == before:
        return f"{said}allowed and not done: {seen[:300]}"
    if not door.changes and (now != before or door.shows not in seen):
        return f"{said}allowed, and not shown “{door.shows}”: {seen[:300]}"
    return ""


async def _all(workspace: Workspace, cells: Iterable[tuple[Cell, str, str]]) -> None:
    wrong = [
        found for cell, name, channel in cells if (found := await _tried(workspace, cell, name, channel))
    ]
    assert not wrong, f"{len(wrong)} of {workspace.cells} cells:\n" + "\n".join(wrong[:8])


def _asked_by(person: Person) -> list[Person]:
    """By somebody else, and, where Slack knows them, by the person."""
    own = [] if person.membership == "unknown to Slack" else [person]
    return [*(one for one in ASKERS if one != person), *own]


def _sample(cells: list[tuple[Cell, str, str]], each: int) -> list[tuple[Cell, str, str]]:
    """One in so many, which take turns, another one at each door; all of them in `make soak`."""
    if os.environ.get("SOAK") == "1":
        return cells
    start = (zlib.crc32(cells[0][1].encode()) + this_turn()) % each
    return cells[start::each]


@pytest.mark.by_turns(4)
@pytest.mark.sampled
@pytest.mark.parametrize("name", DOORS)
async def test_every_person_at_every_state_of_everybodys_request(workspace: Workspace, name: str) -> None:
    cells = []
    for person in EVERYBODY:
        askers = _asked_by(person) if person.is_full else [ALICE, *_asked_by(person)[3:]]
        for asker in askers:
            states = WAYS if person.is_full else ("pending", "unresolved", "succeeded")
            cells += [(Cell(person, asker, state), name, APPROVALS) for state in states]
    await _all(workspace, _sample(cells, 26))


#: One for each answer that a rule about people gives.
FEW = [
    BY_ID[one] for one in ("U0MEMBERFULLMEMBER", "U0DAN", "U0NEW", "U0ALICETWO", "U0APPROVERGUEST", "U0ALICE")
]


@pytest.mark.by_turns(4)
@pytest.mark.sampled
@pytest.mark.parametrize("kind", TEXTS)
async def test_the_rules_are_the_same_for_every_kind(workspace: Workspace, kind: str) -> None:
    people = (*FEW, APPROVER)
    cells = [(Cell(one, ALICE, kind=kind), name, APPROVALS) for one in people for name in DOORS]
    await _all(workspace, _sample(cells, 10))


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("place", [OPS, f"{APPROVALS}/thread", DIRECT, f"{DIRECT}/thread", "home", "modal"])
async def test_where_somebody_is_changes_nothing(workspace: Workspace, place: str) -> None:
    only_pressed = place in ("home", "modal")
    names = [name for name in DOORS if not only_pressed or name.endswith("by button")]
    await _all(workspace, [(Cell(one, ALICE), name, place) for one in (*FEW, APPROVER) for name in names])


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("name", NO_DOORS)
async def test_nothing_that_is_typed_or_said_decides(workspace: Workspace, name: str) -> None:
    for person in EVERYBODY:
        if not person.is_full:
            continue
        for place in (APPROVALS, DIRECT):
            request = await workspace.request(Cell(person, ALICE))
            before = await workspace.stands(request)

            await NO_DOORS[name](workspace, person.id, request, place)
            await workspace.rest()

            assert await workspace.stands(request) == before, (name, person.says, place)


async def test_who_approved_already_gives_no_second_approval(workspace: Workspace) -> None:
    """Nor does their other account, nor anybody whose word would be the same person's."""
    given = {
        "U0ANN": {
            "U0ANN": "Your approval is in already",
            "U0ANNTWO": "You approved this with another account of yours",
            "U0DAN": "Somebody who counts as one person with you, by delegation, has approved this already",
        },
        "U0DAN": {
            "U0DAN": "Your approval is in already",
            "U0ANN": "Somebody who counts as one person with you, by delegation, has approved this already",
            "U0EVE": "Somebody who counts as one person with you, by delegation, has approved this already",
        },
    }
    for first, others in given.items():
        for second, sentence in others.items():
            for name in ("approve by button", "approve by modal"):
                request = await workspace.request(Cell(BY_ID[second], ALICE, approved_by=(first,)))
                before = await workspace.stands(request)
                workspace.slack.shown.clear()

                await DOORS[name].do(workspace, second, request, APPROVALS)
                await workspace.rest()

                assert sentence in json.dumps(workspace.slack.shown), (first, second, name)
                assert await workspace.stands(request) == before, (first, second, name)
        somebody = Cell(APPROVER, ALICE, approved_by=(first,))
        assert await _tried(workspace, somebody, "approve by modal") == ""


@pytest.mark.sampled
async def test_what_was_done_at_once_is_confirmed_by_a_second_person_alone(workspace: Workspace) -> None:
    cells = [
        (Cell(one, asker, state, "card_freeze", at_once=True), "confirm by button", APPROVALS)
        for one in EVERYBODY
        for asker in _asked_by(one)
        for state in ("approved", "executing", "succeeded", "failed", "unresolved")
    ]
    await _all(workspace, _sample(cells, 14))


ASKING: dict[str, Callable[[Workspace, str, str], Awaitable[None]]] = {
    "command": lambda o, user, typed: o.slack.command(user, f"/{typed}", OPS),
    "button": lambda o, user, typed: o.slack.press(user, ids.OPEN_FORM, typed, OPS),
    "button on Home": lambda o, user, typed: o.slack.press(user, ids.OPEN_FORM, typed, "home"),
}


@pytest.mark.parametrize("door", ASKING)
async def test_who_may_ask_for_what_by_opening_its_form(workspace: Workspace, door: str) -> None:
    wrong: list[tuple[str, ...]] = []
    for kind, cls in workspace.core.kinds.items():
        for person in EVERYBODY:
            expected = refused_with("ask", Cell(person, person, kind=kind))
            workspace.slack.shown.clear()
            await ASKING[door](workspace, person.id, " ".join(cls.command))
            await workspace.rest()
            forms = [view for _, view in workspace.slack.shown if view.get("callback_id") == ids.FORM]
            if expected is None and not forms:
                wrong.append((kind, person.says, "got no form"))
            if expected is not None and (forms or expected not in str(workspace.slack.shown)):
                wrong.append((kind, person.says, expected, str(workspace.slack.shown)[:200]))
    assert not wrong, (len(wrong), wrong[:5])


async def test_what_is_said_is_answered_with_a_button_at_most_and_to_members_alone(
    workspace: Workspace,
) -> None:
    for place in (OPS, DIRECT):
        for person in EVERYBODY:
            expected = refused_with("ask", Cell(person, person))
            before = await workspace.count()
            workspace.slack.shown.clear()
            await workspace.slack.say(person.id, "card topup 4242 50", place)
            await workspace.rest()
            seen = str(workspace.slack.shown)
            assert (expected or ids.OPEN_FORM) in seen, (person.says, place, seen[:300])
            assert expected is None or ids.OPEN_FORM not in seen, person.says
            assert await workspace.count() == before


@pytest.mark.parametrize("run_now", [False, True], ids=["to be approved", "Freeze now"])
async def test_a_form_is_previewed_for_its_owner_and_submitted_by_nobody_else(
    workspace: Workspace, *, run_now: bool
) -> None:
    """From the fields to the request: whoever may not ask is refused, and nobody submits somebody else's draft."""
    for person in EVERYBODY:
        expected = refused_with("ask", Cell(person, person))
        if person.membership == "unknown to Slack":
            continue
        draft = await drafts.begin(
            workspace.core,
            owner=person.id,
            kind="card_freeze",
            texts={"card": workspace.world.cards[1]["id"]},
            reason=REASON,
            run_now=run_now,
        )
        async with workspace.world.store.begin() as tx:
            await draft_rows.put(tx, draft)
            # As the preview does, which is not older than ten minutes.
            for one in {person.id, APPROVER.id, ALICE.id}:
                await people_rows.put(tx, await workspace.core.directory.actor(one))
        for somebody in (APPROVER.id, ALICE.id, person.id):
            before = await workspace.count()
            workspace.slack.shown.clear()
            await workspace.slack.submit(somebody, ids.PREVIEW, {"draft": draft.id, "channel": OPS})
            await workspace.rest()
            seen, made = str(workspace.slack.shown), await workspace.count() - before
            if expected is None and somebody == person.id:
                assert made == 1, (person.says, seen[:300])
                break
            assert made == 0, (person.says, somebody)
            if somebody == person.id:
                assert expected is not None
                assert expected in seen, (person.says, seen[:300])
            else:
                assert "This was submitted already, or the draft is gone" in seen, (person.says, seen[:300])


@pytest.mark.by_turns(2)
@pytest.mark.parametrize(
    "name", ["approve by button", "approve by modal", "reject by modal", "cancel by modal"]
)
async def test_a_list_is_decided_on_as_one_request_and_its_rows_by_nobody(
    workspace: Workspace, name: str
) -> None:
    door = DOORS[name]
    for asker in (ALICE, BY_ID["U0ANN"]):
        batch = None
        for person in EVERYBODY:
            if batch is None:
                batch = await ask_bulk(workspace.world, a_list(workspace.world, "10", "20"), by=asker.id)
                await posting.post(workspace.core, batch.id)
            row = (await rows_of(workspace.world, batch))[0]
            expected = refused_with(door.deed, Cell(person, asker))
            before = await workspace.stands(batch)
            workspace.slack.shown.clear()
            await door.do(workspace, person.id, row, APPROVALS)
            await workspace.rest()
            seen = str(workspace.slack.shown)
            assert await workspace.stands(row) == (row.state, row.version, []), (name, person.says)
            assert any(one in seen for one in (expected or "", "is a row of") if one), (
                name,
                person.says,
                seen[:300],
            )

            workspace.slack.shown.clear()
            await door.do(workspace, person.id, batch, APPROVALS)
            await workspace.rest()
            seen, now = str(workspace.slack.shown), await workspace.stands(batch)
            if expected is not None:
                assert expected in seen, (name, person.says, seen[:300])
                assert now == before, (name, person.says)
            else:
                assert (now != before) is door.changes, (name, person.says, seen[:300])
            if now != before:
                batch = None


async def test_sending_is_paused_by_approvers_and_admins_alone(workspace: Workspace) -> None:
    doors: list[Callable[[str], Awaitable[None]]] = [
        lambda user: workspace.slack.command(user, "/countersign pause main to look at it", OPS),
        lambda user: workspace.slack.say(user, "countersign pause main to look at it", DIRECT),
    ]
    for door in doors:
        for person in EVERYBODY:
            expected = refused_with("pause", Cell(person, person))
            workspace.slack.shown.clear()
            await door(person.id)
            await workspace.rest()
            paused = await pausing.of(workspace.core, "main")
            assert (paused is not None) is (expected is None), (person.says, str(workspace.slack.shown)[:300])
            if expected is not None:
                assert expected in str(workspace.slack.shown), (person.says, str(workspace.slack.shown)[:300])
            async with workspace.world.store.begin() as tx:
                await pauses.drop(tx, "main")
