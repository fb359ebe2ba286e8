"""The programme of edits: a story of the bot, edits between two of its steps, then the bot goes on.

Holds when nothing leaves that was not approved as people read it, no key, code or link goes to anybody else, a pause
that two people have not ended goes on, and an edit of a signed row raises an alert.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from bot.domain import shared_work
from bot.domain.card_details import Manner, digest_of
from bot.domain.cards import label
from bot.domain.people import APPROVAL_VALID_FOR, KindPolicy, Per, Tier
from bot.domain.requests import Request
from bot.partner import models
from bot.partner.secret import Secret
from bot.partner.webhooks import unwrap
from bot.services import audit, execution
from bot.services.events import otp_delivery
from bot.services.execution import card_details_access, maintenance
from bot.services.messages import Outbox
from bot.services.operators import changed_rows, confirmation_answers, pausing
from bot.services.requests import approvals
from bot.view_models import LinkView
from storage.cards import otp_recipients
from storage.columns import time_text
from storage.errors import ChangedOutside, Unreadable
from storage.events import webhook_secrets
from storage.messages import mutes
from storage.operators import leases, passkeys_on_record, programs
from storage.protection import SIGNED_TABLES, signed_rows
from storage.requests import confirmations
from storage.transaction import ChainMemory
from tests.partner.test_typed_events import CODE, raw
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import top_ups
from tests.services.scripted_slack import ScriptedSlack
from tests.support.databases import PostgresDatabases
from tests.support.world import ALICE, BOB, CAROL, World, a_world
from tests.thief import stolen_session
from tests.thief.edits import (
    FAR,
    LONG_AGO,
    MALLORY,
    Edit,
    Snapshot,
    any_edit,
    log_cut_off,
    opened,
    put_back_all,
    put_back_signed,
    snapshot,
    sql,
)

REFERENCE = "emp-1042"
TOKEN = Secret("t" * 43)
LEAKED, REPLACED = (Secret(f"whsec_{letter * 32}") for letter in "ab")
WATCHES = shared_work.job("signed-rows")
TRIES = 60


@dataclass
class Truth:
    """What people did and read, kept outside the database."""

    world: World
    address: str  # of the card provider
    slack: ScriptedSlack = field(default_factory=ScriptedSlack)
    read_as: dict[str, tuple[str, str]] = field(
        default_factory=dict
    )  # by key: card label and amount as approved
    together: list[str] = field(default_factory=list)  # keys of one batch, in its order
    #: By key: what leaves before then was stopped by nobody only because nobody had the time.
    waits_until: dict[str, datetime] = field(default_factory=dict)
    paused: bool = False
    sent_before: int = 0
    wrong: list[str] = field(default_factory=list)

    def approved(self, request: Request) -> None:
        self.read_as[request.key] = (request.subject_label, str(request.terms.get("amount_usd")))


Story = Callable[[Truth], AsyncIterator[None]]


async def a_top_up(truth: Truth) -> AsyncIterator[None]:
    """Asked, approved by another person, sent."""
    world = truth.world
    yield
    request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "50"})
    await world.ask("card_topup", {"card": world.cards[1]["id"], "amount_usd": "70"})
    yield
    await world.approve(request)
    truth.approved(request)
    yield
    await world.run(10)
    yield
    await world.run(120, step=30)


async def a_batch(truth: Truth) -> AsyncIterator[None]:
    """Three top-ups as one list: approved as a whole."""
    world = truth.world
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    yield
    await world.approve(batch)
    for row in await rows_of(world, batch):
        truth.approved(row)
        truth.together.append(row.key)
    yield
    await world.run(30)


async def a_pause(truth: Truth) -> AsyncIterator[None]:
    """Approved and held back; then one person alone tries to end the pause."""
    world = truth.world
    request = await world.top_up("50")
    truth.approved(request)
    yield
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    truth.paused, truth.sent_before = True, len(top_ups(world))
    yield
    await world.run(10)
    with suppress(Exception):
        await pausing.resume(world.core, CAROL, ["main"])
    yield
    async with world.store.read() as tx:
        with suppress(Exception):
            asked = await confirmations.open_one(tx, "resume", "main")
    with suppress(Exception):
        assert asked is not None
        await confirmation_answers.give(world.core, asked.id, CAROL)
    await world.run(10)


async def a_code(truth: Truth) -> AsyncIterator[None]:
    """Bob gets the codes of one card; a code comes."""
    world = truth.world
    await _name_for_codes(world, MALLORY)
    yield
    await _name_for_codes(world, BOB)
    yield
    for card in world.cards[:2]:
        event = unwrap(raw("card.3ds_challenge", {"code": CODE, "card_id": card["id"]}))
        assert isinstance(event, models.ThreeDsChallenge)
        event = event.model_copy(update={"created_at": world.clock.now(), "id": f"e-{card['id']}"})
        with suppress(Exception):
            async with world.store.begin() as tx:
                await otp_delivery.on_challenge(tx, world.core, event, "main")
        while not world.core.codes.outgoing.empty():
            going = world.core.codes.outgoing.get_nowait()
            if (going.person, card["id"]) != (BOB, world.cards[0]["id"]):
                truth.wrong.append(f"a code of {card['id'][:6]} goes to {going.person}")


async def _name_for_codes(world: World, person: str) -> None:
    """As two people have it done: with its entry in the audit chain."""
    reference = world.cards[0]["partner_ref"]
    async with world.store.begin() as tx:
        await otp_recipients.put(tx, reference, person)
        body = {"person": person}
        await audit.record(tx, world.core, ALICE, "code.name_person", f"code:{reference}", body)


async def a_split(truth: Truth) -> AsyncIterator[None]:
    """Two top-ups of a card that are above a tier together: the second has one approval of two, and waits."""
    world = truth.world
    tier = Tier(Decimal(500), 2, per=Per.CARD)
    kinds = {"card_topup": KindPolicy(tiers=(tier,), cool_off=timedelta(minutes=10))}
    world.rebuild(policy=replace(world.core.policy, kinds=kinds))
    truth.approved(await world.top_up("499"))
    await world.run(620, step=60)
    second = await world.top_up("2", approved=False)
    await world.approve(second)
    yield
    await world.run(720, step=60)
    await world.approve(second, by=CAROL)
    truth.waits_until[second.key] = world.clock.now() + timedelta(minutes=10)
    truth.approved(second)
    yield
    await world.run(900, step=60)


async def a_second_part(truth: Truth) -> AsyncIterator[None]:
    """The first of two top-ups of a card that are above a tier together was sent; the second gets one approval."""
    world = truth.world
    kinds = {"card_topup": KindPolicy(tiers=(Tier(Decimal(500), 2, per=Per.CARD),))}
    world.rebuild(policy=replace(world.core.policy, kinds=kinds))
    truth.approved(await world.top_up("499"))
    await world.run(30, step=10)
    yield
    second = await world.top_up("2", approved=False)
    yield
    with suppress(Exception):
        await world.approve(second)
    yield
    await world.run(60, step=20)


async def an_older_switch(truth: Truth) -> AsyncIterator[None]:
    """A card is to be unfrozen; a freeze that was approved later is done first, so it stays frozen."""
    world = truth.world
    card = world.cards[0]["id"]
    await world.tell(f"cards/{card}", {"status": "FROZEN"})
    older = await world.ask("card_unfreeze", {"card": card})
    await world.approve(older)
    await world.advance(5)
    newer = await world.ask("card_freeze", {"card": card})
    await world.approve(newer)
    await execution.execute(world.core, newer.id)
    calls = len(await world.sent("POST /freeze"))
    yield
    await execution.execute(world.core, older.id)
    yield
    await world.run(60, step=20)
    if len(await world.sent("POST /freeze")) > calls:
        truth.wrong.append("a card was unfrozen although a freeze was approved later")


async def freezes_at_once(truth: Truth) -> AsyncIterator[None]:
    """One person may freeze at once twice a day, and tries it a third time."""
    world = truth.world
    kinds = {"card_freeze": KindPolicy(now_per_person=2)}
    world.rebuild(policy=replace(world.core.policy, kinds=kinds))
    for card in (0, 1):
        request = await world.ask("card_freeze", {"card": world.cards[card]["id"]}, now=True)
        await execution.execute(world.core, request.id)
    yield
    third = world.cards[2]["id"]
    with suppress(Exception):
        await world.ask("card_freeze", {"card": third}, now=True)
    yield
    await world.run(30, step=10)
    if await world.sent(f"POST /{third}/freeze"):
        truth.wrong.append("a third card was frozen at once")


async def a_stop(truth: Truth) -> AsyncIterator[None]:
    """One is approved and waits, one is not approved yet; an approver stops the one and rejects the other."""
    world = truth.world
    kinds = {"card_topup": KindPolicy(cool_off=timedelta(minutes=10))}
    world.rebuild(policy=replace(world.core.policy, kinds=kinds))
    waits = await world.top_up("50")
    pending = await world.top_up("60", card=1, approved=False)
    yield
    for request in (waits, pending):
        await approvals.reject(world.core, request.id, CAROL, reason="this is fraud")
    yield
    with suppress(Exception):
        await world.approve(pending)
    await world.run(900, step=60)


async def card_details(truth: Truth) -> AsyncIterator[None]:
    """Asked for, approved, the link sent; a month later the thief tries a link of his own."""
    world = truth.world
    request = await world.ask("card_reveal", {"card": world.cards[0]["id"]})
    yield
    await world.approve(request)
    await execution.execute(world.core, request.id)
    yield
    outbox = Outbox(world.core, truth.slack, spacing_s=0)
    for _ in range(2):
        await outbox.deliver_due()
        await world.advance(20)
    yield
    with suppress(Exception):
        await card_details_access.open_link(world.core, TOKEN, Manner.FRAME)
    await world.advance(30 * 86_400)
    yield
    with suppress(Exception):
        await card_details_access.open_link(world.core, TOKEN, Manner.FRAME)
    if await world.sent("GET /pan"):
        truth.wrong.append("card details were given for a link that nobody was sent")
    drawn = zip(truth.slack.messages, truth.slack.drawn, strict=False)
    places = {message.channel for message, view in drawn if isinstance(view, LinkView)}
    if any(ALICE not in place for place in places):
        truth.wrong.append(f"a link to card details was sent to {sorted(places)}")


async def a_start(truth: Truth) -> AsyncIterator[None]:
    """The bot is started again: where does it take the key?"""
    yield
    with suppress(Exception):
        async with truth.world.store.read() as tx:
            for program in await programs.all(tx):
                await programs.key(tx, program.name)
                if program.base_url != truth.address:
                    truth.wrong.append(f"the key is used for {program.base_url}")


async def a_mute(truth: Truth) -> AsyncIterator[None]:
    """No admin mutes anything."""
    yield
    async with truth.world.store.read() as tx:
        with suppress(Exception):
            if await mutes.in_force(tx):
                truth.wrong.append("an alert is muted by a rule that nobody made")


async def stolen_sessions(truth: Truth) -> AsyncIterator[None]:
    """The policy asks for passkeys, and the thief uses everybody's Slack session, but nobody's device."""
    world = truth.world
    truth.approved(await stolen_session.genuine(world))
    request = await world.top_up("50", approved=False)
    yield
    await stolen_session.press_everything(world, request)
    yield
    await stolen_session.press_everything(world, request)
    await world.run(30)


async def a_rotation(truth: Truth) -> AsyncIterator[None]:
    """The webhook's secret leaked and was replaced; a day later the thief signs deliveries with it."""
    world = truth.world
    async with world.store.begin() as tx:
        await webhook_secrets.put(tx, "main", LEAKED, previous_until=tx.now)
    yield
    async with world.store.begin() as tx:
        await webhook_secrets.put(tx, "main", REPLACED, previous_until=tx.now + timedelta(minutes=10))
    await world.advance(86_400)
    with suppress(Exception):
        await maintenance.purge(world.core)
    yield
    with suppress(Exception):
        async with world.store.read() as tx:
            if LEAKED in await webhook_secrets.accepted(tx, "main"):
                truth.wrong.append("a secret that leaked and was replaced signs deliveries again")


async def a_watch(truth: Truth) -> AsyncIterator[None]:
    """A process asks for the work of those who watch, which nobody has."""
    yield
    taken: frozenset[str] = frozenset()
    for _ in range(2):
        with suppress(Exception):
            async with truth.world.store.begin() as tx:
                taken = await leases.take(tx, [WATCHES], "ours", lasts=timedelta(seconds=7))
    if not taken:
        truth.wrong.append("nobody watches, and nobody is notified")


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        a_top_up,
        a_batch,
        a_pause,
        a_code,
        a_split,
        a_second_part,
        an_older_switch,
        freezes_at_once,
        a_stop,
        card_details,
        a_start,
        a_mute,
        a_rotation,
        a_watch,
        stolen_sessions,
    )
}
_STEPS = {
    "a_top_up": 4,
    "a_pause": 3,
    "a_second_part": 3,
    "card_details": 4,
    "a_start": 1,
    "a_mute": 1,
    "a_watch": 1,
}
"""How many steps there are before which something may be edited; 2 where it is not said."""


def place_of(world: World) -> str:
    """Where the thief connects to."""
    path = world.store.database.path
    if path is not None:
        return str(path)
    return world.store.database.url.set(drivername="postgresql").render_as_string(hide_password=False)


def _labels_swapped(world: World, *_: object) -> list[Edit]:
    first, second = world.cards[0], world.cards[1]
    return [
        sql(
            "labels of two cards swapped",
            "card",
            "UPDATE card SET holder = ?, holder_key = ?, last4 = ? WHERE id = ?",
            other["card_holder_name"],
            other["card_holder_name"].lower(),
            other["last4"],
            card["id"],
        )
        for card, other in ((first, second), (second, first))
    ]


def _bodies_swapped(world: World, *_: object) -> list[Edit]:
    with opened(place_of(world)) as database:
        rows = sorted((r for r in database.read("request") if r["parent_id"]), key=lambda r: str(r["id"]))[:2]
    one, other = rows
    return [
        sql(
            "bodies swapped",
            "request",
            "UPDATE request SET sealed_body = ? WHERE id = ?",
            source["sealed_body"],
            to["id"],
        )
        for to, source in ((one, other), (other, one))
    ]


def _as_approved(decided_at: Any, waits: timedelta = timedelta(0)) -> Edit:
    """What a row of a request says once its last approval, given then, has settled it."""
    is_text = isinstance(decided_at, str)
    at = datetime.fromisoformat(decided_at) if is_text else decided_at
    until: Any = at + waits + APPROVAL_VALID_FOR
    return sql(
        "approved",
        "request",
        "UPDATE request SET state = 'approved', due_at = created_at, approved_at = ?, valid_until = ? WHERE state ="
        " 'pending'",
        decided_at,
        time_text(until) if is_text else until,
    )


def _one_made_to_settle(world: World, *_: object) -> list[Edit]:
    with opened(place_of(world)) as database:
        (second,) = [row["id"] for row in database.read("request") if row["state"] == "pending"]
        (word,) = [row for row in database.read("decision") if row["request_id"] == second]
    waits = """UPDATE decision SET conditions = '{"waits_s":600}' WHERE id = ?"""
    return [
        sql("no conditions", "decision", waits, word["id"]),
        _as_approved(word["decided_at"], timedelta(minutes=10)),
    ]


def _approval_copied(world: World, *_: object) -> list[Edit]:
    copied = sql(
        "decision copied",
        "decision",
        "INSERT INTO decision SELECT id || '2', (SELECT id FROM request WHERE state = 'pending'), kind, actor,"
        " actor_name, requester, reason, verdict, (SELECT digest FROM request WHERE state = 'pending'),"
        " policy_version, mac, decided_at, assertion, conditions FROM decision WHERE kind = 'approve'",
    )
    with opened(place_of(world)) as database:
        word = next(row for row in database.read("decision") if row["kind"] == "approve")
    return [copied, _as_approved(word["decided_at"])]


def _no_passkey_was_ever(world: World, *_: object) -> list[Edit]:
    return [
        log_cut_off(place_of(world), "passkey.made"),
        sql("no passkeys", "passkey", "DELETE FROM passkey"),
        sql("no asking", "consent", "DELETE FROM consent WHERE kind = 'passkey_add'"),
    ]


def _put_back(table: str, world: World, before: Snapshot) -> list[Edit]:
    with opened(place_of(world)) as database:
        edit = put_back_signed(table, database, before)
    assert edit is not None
    return [edit]


def _secret_put_back(_world: World, before: Snapshot) -> list[Edit]:
    (row,) = before["webhook_secret"]
    again = {**row, "state": "previous", "until": FAR}
    names, marks = ", ".join(again), ", ".join("?" for _ in again)
    statement = f"INSERT INTO webhook_secret ({names}) VALUES ({marks})"
    return [sql("a secret put back", "webhook_secret", statement, *again.values())]


#: What a thief has thought of: the story, the step before which it is done, and the edit.
KNOWN: dict[str, tuple[str, int, Callable[[World, Snapshot], list[Edit]]]] = {
    "the address of the key": (
        "a_start",
        0,
        lambda *_: [
            sql("address", "program", "UPDATE program SET base_url = 'https://evil.example/api/partner/v1'")
        ],
    ),
    "a link of the thief": (
        "card_details",
        3,
        lambda *_: [
            sql(
                "own token",
                "card_reveal",
                "UPDATE card_reveal SET token_digest = ?, state = 'sent', spent_at = NULL, expires_at = ?,"
                " valid_until = ?",
                digest_of(TOKEN),
                FAR,
                FAR,
            )
        ],
    ),
    "who gets codes": (
        "a_code",
        1,
        lambda *_: [sql("other person", "person_card", "UPDATE person_card SET slack_id = ?", MALLORY)],
    ),
    "labels of two cards swapped": ("a_top_up", 0, _labels_swapped),
    "a pause deleted": ("a_pause", 1, lambda *_: [sql("no pause", "pause", "DELETE FROM pause")]),
    "who asked to resume changed": (
        "a_pause",
        2,
        lambda *_: [sql("other asker", "consent", "UPDATE consent SET asked_by = ?", BOB)],
    ),
    "sealed bodies swapped": ("a_batch", 1, _bodies_swapped),
    "a row of a list left out": (
        "a_batch",
        1,
        lambda *_: [
            sql(
                "left out",
                "request",
                "UPDATE request SET state = 'cancelled' WHERE id = (SELECT max(id) FROM request WHERE parent_id IS NOT"
                " NULL)",
            )
        ],
    ),
    "a replaced webhook secret put back": ("a_rotation", 1, _secret_put_back),
    "a lease of a ghost": (
        "a_watch",
        0,
        lambda *_: [
            sql(
                "ghost",
                "lease",
                "INSERT INTO lease (name, owner, until) VALUES (?, 'ghost', ?)",
                WATCHES,
                FAR,
            )
        ],
    ),
    "the link to another person": (
        "card_details",
        1,
        lambda *_: [
            sql("other person", "outbox", 'UPDATE outbox SET "user" = ? WHERE "user" IS NOT NULL', MALLORY)
        ],
    ),
    "everybody's Slack session": (
        "stolen_sessions",
        0,
        lambda *_: [sql("a name changed", "passkey", "UPDATE passkey SET name = 'Laptop of Bob'")],
    ),
    "the passkeys are deleted": (
        "stolen_sessions",
        0,
        lambda *_: [sql("no passkeys", "passkey", "DELETE FROM passkey")],
    ),
    "the passkeys are deleted, and the log tells of a reset": (
        "stolen_sessions",
        0,
        lambda *_: [
            sql("no passkeys", "passkey", "DELETE FROM passkey"),
            sql(
                "a reset",
                "audit",
                "INSERT INTO audit (seq, at, actor, action, subject, outcome, reason_code, body, policy_version, prev,"
                " hash, mac) SELECT seq + 1000, at, actor, 'passkey.reset', 'passkey:all', outcome, reason_code, body,"
                " policy_version, prev, hash, mac FROM audit WHERE seq = (SELECT max(seq) FROM audit)",
            ),
        ],
    ),
    "the log is cut off before the first passkey": ("stolen_sessions", 0, _no_passkey_was_ever),
    "the log is cut off before the first passkey while the bot is down": (
        "stolen_sessions",
        0,
        _no_passkey_was_ever,
    ),
    "a passkey of the thief made active": (
        "stolen_sessions",
        1,
        lambda *_: [sql("active", "passkey", "UPDATE passkey SET state = 'active', added_at = created_at")],
    ),
    "an approval copied with its signature": ("stolen_sessions", 0, _approval_copied),
    "a pause put back to none": ("a_pause", 1, partial(_put_back, "pause")),
    "codes put back to an earlier person": ("a_code", 1, partial(_put_back, "person_card")),
    "one approval of two made to settle": ("a_split", 0, _one_made_to_settle),
    "due before its time": (
        "a_split",
        1,
        lambda *_: [sql("due", "request", "UPDATE request SET due_at = created_at WHERE state = 'approved'")],
    ),
    "what was stopped and rejected put back": (
        "a_stop",
        1,
        lambda _, before: [
            Edit("all as it was", "request", lambda database: put_back_all(database, before)),
        ],
    ),
    "an earlier part approved long ago": (
        "a_second_part",
        1,
        lambda *_: [
            sql(
                "long ago",
                "request",
                "UPDATE request SET approved_at = ? WHERE state = 'succeeded'",
                LONG_AGO,
            )
        ],
    ),
    "an earlier part deleted": (
        "a_second_part",
        0,
        lambda *_: [sql("no first part", "request", "DELETE FROM request")],
    ),
    "the newer of two deleted": (
        "an_older_switch",
        0,
        lambda *_: [sql("no freeze", "request", "DELETE FROM request WHERE kind = 'card_freeze'")],
    ),
    "freezes at once requested long ago": (
        "freezes_at_once",
        0,
        lambda *_: [sql("long ago", "request", "UPDATE request SET created_at = ?", LONG_AGO)],
    ),
    "a mute rule": (
        "a_mute",
        0,
        lambda *_: [
            sql(
                "rule",
                "mute",
                "INSERT INTO mute (name, rule, by, since, until) VALUES ('quiet', ?, 'U0CAROL', ?, NULL)",
                '{"about":"","kind":"decline"}',
                "2026-01-01T00:00:00.000000Z",
            )
        ],
    ),
}


#: Of these, what is done while the bot is down.
WHILE_DOWN = frozenset(
    {
        "a pause put back to none",
        "codes put back to an earlier person",
        "the log is cut off before the first passkey while the bot is down",
    }
)


async def tried(
    folder: Path,
    story: str,
    step: int,
    choose: Callable[[World, Snapshot], Iterable[Edit]],
    *,
    most: int | None = None,
    url: str = "",
    restarts: bool = False,
) -> tuple[list[Edit], list[str]]:
    """Tell the story with these edits before step `step`; returns those that were made and what went wrong.

    `most`: how many of them are made; None is all. `restarts`: the bot was down meanwhile, and comes back with
    nothing in memory.
    """
    async with a_world(folder, url=url) as world:
        truth = Truth(world, world.simulator.base_url)
        steps, before = STORIES[story](truth), dict[str, Any]()
        done: list[Edit] = []
        try:
            number = 0
            async for _ in steps:
                if number == step:
                    done = _edited(world, choose(world, before), most)
                    if restarts:
                        await _restart(world)
                elif number < step:
                    with opened(place_of(world)) as database:
                        before = snapshot(database)
                number += 1
        except Exception as error:  # noqa: BLE001 - whatever the edit broke: refused is refused
            truth.wrong += [f"{type(error).__name__} without an edit: {error}"] if not done else []
        await _judge(truth, done)
        return done, truth.wrong


async def _restart(world: World) -> None:
    """With no memory of what was before; it reads the whole log, as passkeys need it."""
    world.store._versions.clear()
    world.store._chain = ChainMemory()
    await changed_rows.undo_what_was_put_back(world.core)
    with suppress(ChangedOutside):
        left = 1
        while left:
            async with world.store.read() as tx:
                left = await passkeys_on_record.learn(tx)


def _edited(world: World, edits: Iterable[Edit], most: int | None) -> list[Edit]:
    """Those that the database took: its own checks and triggers refuse some."""
    taken: list[Edit] = []
    for edit in edits:
        with suppress(Exception), opened(place_of(world)) as database:
            if edit.apply(database):
                taken.append(edit)
        if len(taken) == most:
            break
    return taken


async def _judge(truth: Truth, done: list[Edit]) -> None:
    world = truth.world
    sent = top_ups(world)
    if truth.paused and len(sent) > truth.sent_before:
        truth.wrong.append("something was sent although two people have not ended the pause")
    names = {card["id"]: label(card["card_holder_name"], card["last4"]) for card in world.cards}
    for call in sent:
        key, card = call["idempotency_key"], call["path"].split("/")[-2]
        if key not in truth.read_as:
            truth.wrong.append(f"{key} was sent and not approved")
        elif truth.read_as[key][0] != names[card]:
            truth.wrong.append(f"approved for {truth.read_as[key][0]}, sent to {names[card]}")
        sent_at = datetime.fromisoformat(call["at"])
        if sent_at < truth.waits_until.get(key, sent_at):
            truth.wrong.append(f"{key} was sent before the time to stop it was over")
    for key, count in Counter(call["idempotency_key"] for call in sent).items():
        if count > 1 and not done:
            truth.wrong.append(f"{key} was sent {count} times")
    batch_edited = any(edit.name in ("bodies swapped", "left out") for edit in done)
    if batch_edited and any(call["idempotency_key"] in truth.together for call in sent):
        truth.wrong.append("a row was sent of a list of which another was changed")
    if {edit.table for edit in done} & {signed.name for signed in SIGNED_TABLES}:
        await _must_be_reported(truth, done)


async def _until_read(look: Callable[[], Awaitable[None]]) -> None:
    """As a job does, each time that it is due: of a row that it cannot read people are notified, and it goes on
    without that one when it is due again."""
    for _ in range(10):
        with suppress(Unreadable):
            return await look()
    return await look()


async def _must_be_reported(truth: Truth, done: list[Edit]) -> None:
    """Rows that are not as they were left raise an alert."""
    core = truth.world.core
    async with core.store.read() as tx:
        changed = [
            signed.name
            for signed in SIGNED_TABLES
            if await signed_rows.changed_outside(tx, signed, only_alive=True)
        ]
    await _until_read(lambda: changed_rows.watch(core))
    # Read as text: the thief may have made a time of another alert what nobody can read.
    with opened(place_of(truth.world)) as database:
        kinds = {row["kind"] for row in database.read("alert") if row["state"] != "resolved"}
    if changed and "changed_outside" not in kinds:
        truth.wrong.append(f"{done[0].name}: no alert")


@contextmanager
def _lent(folder: Path, databases: PostgresDatabases | None) -> Iterator[tuple[Path, str]]:
    """A folder and a database for one story; both are gone afterwards."""
    folder.mkdir()
    url = "" if databases is None else databases.migrated()
    try:
        yield folder, url
    finally:
        if databases is not None:
            databases.drop(url)
        shutil.rmtree(folder)


async def known_holes(
    folder: Path, databases: PostgresDatabases | None = None, *, names: Collection[str] = tuple(KNOWN)
) -> dict[str, list[str]]:
    """What went wrong, by the names of `KNOWN`, or of those in `names`; empty = nothing did."""
    found = {}
    for number, name in enumerate(names):
        story, step, edits = KNOWN[name]
        asked: list[str] = []

        def choose(
            world: World,
            before: Snapshot,
            edits: Callable[[World, Snapshot], list[Edit]] = edits,
            asked: list[str] = asked,
        ) -> list[Edit]:
            made = edits(world, before)
            asked += [edit.name for edit in made]
            return made

        with _lent(folder / str(number), databases) as (place, url):
            done, wrong = await tried(place, story, step, choose, url=url, restarts=name in WHILE_DOWN)
        assert [edit.name for edit in done] == asked, f"{name}: not all of it was edited: {done}"
        if wrong:
            found[name] = wrong
    return found


@dataclass
class Figures:
    """How many stories and edits there were, of which tables, and what went wrong, by its seed."""

    stories: int = 0
    edits: int = 0
    tables: Counter[str] = field(default_factory=Counter)
    wrong: dict[int, tuple[str, list[str]]] = field(default_factory=dict)


async def by_chance(folder: Path, seeds: range, databases: PostgresDatabases | None = None) -> Figures:
    """A story with edits by chance for each seed, on SQLite unless databases are given.

    Half of the thieves make one edit, the others up to six, since a change may hide the traces of another.
    """
    figures = Figures()
    for seed in seeds:
        chance = random.Random(seed)
        story = chance.choice(list(STORIES))
        step, restarts = chance.randrange(_STEPS.get(story, 2)), chance.random() < 0.3
        most = chance.choice((1, chance.randint(2, 6)))

        with _lent(folder / str(seed), databases) as (place, url):
            choose = partial(_drawn, chance)
            done, wrong = await tried(place, story, step, choose, most=most, url=url, restarts=restarts)
        figures.stories += 1
        figures.edits += len(done)
        figures.tables.update(edit.table for edit in done)
        if wrong:
            start = ", started again" if restarts else ""
            names = "; ".join(edit.name for edit in done)
            figures.wrong[seed] = (f"{story} before step {step}: {names}{start}", wrong)
    return figures


def _drawn(chance: random.Random, world: World, before: Snapshot) -> Iterator[Edit]:
    """Edits of the database as it is at that moment; much of what is drawn changes nothing, or is refused."""
    for _ in range(TRIES):
        with opened(place_of(world)) as database:
            found = any_edit(chance, database, before)
        if found is not None:
            yield found
