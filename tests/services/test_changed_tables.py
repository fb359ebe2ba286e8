"""Rows that carry no money but decide who gets what: changed in the database by hand, they give nobody anything."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from bot import startup
from bot.domain.card_details import Manner, digest_of
from bot.domain.errors import CountersignError
from bot.domain.requests import Request, State
from bot.partner.models import CardWithBalance
from bot.partner.secret import Secret
from bot.services.execution import NotShown, card_details_access
from bot.services.messages import Outbox
from bot.services.operators import changed_rows, confirmation_answers, confirmations, pausing
from bot.view_models import LinkView
from sandbox.partner.openapi import document
from storage import audit
from storage.cards import otp_recipients
from storage.errors import EndOfLogLost
from storage.messages import alerts as alert_rows
from storage.messages import mutes
from storage.operators import programs
from storage.protection import DETAILS_LINK, SIGNED_TABLES, signed_rows
from storage.requests import Consent
from storage.requests import confirmations as consent_rows
from storage.tables import card_reveal
from tests.services.outcome_steps import alert_kinds, execute, keys_sent
from tests.services.scripted_slack import ScriptedSlack
from tests.support.world import BOB, CAROL, World

MALLORY = "U0MALLORY"


def by_hand(world: World, statement: str, *values: object) -> None:
    """What somebody who can write to the database does."""
    with closing(sqlite3.connect(world.database)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement, values)
        connection.commit()


async def person_of(world: World, reference: str) -> str | None:
    async with world.store.read() as tx:
        return await otp_recipients.person_of(tx, reference)


async def asked_to_resume(world: World) -> Consent:
    async with world.store.read() as tx:
        found = await consent_rows.open_one(tx, "resume", "main")
    assert found is not None
    return found


async def test_a_key_is_used_for_the_address_alone_that_it_was_set_for(world: World) -> None:
    by_hand(world, "UPDATE program SET base_url = 'https://elsewhere.example/api/partner/v1'")

    async with world.store.read() as tx:
        with pytest.raises(CountersignError):
            await programs.key(tx, "main")


@pytest.mark.by_turns(3)
@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO person_card (partner_ref, slack_id) VALUES ('emp-9', 'U0MALLORY')",
        "UPDATE person_card SET slack_id = 'U0MALLORY'",
        "UPDATE person_card SET partner_ref = 'emp-9'",
    ],
)
async def test_codes_go_to_nobody_whom_nobody_named(world: World, change: str) -> None:
    async with world.store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", BOB)
    by_hand(world, change)

    assert await person_of(world, "emp-9") is None
    assert await person_of(world, "emp-1") in (None, BOB)


async def test_an_earlier_person_put_back_gets_no_codes(world: World) -> None:
    async with world.store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", MALLORY)
    async with world.store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", BOB)
    by_hand(world, "UPDATE person_card SET slack_id = 'U0MALLORY'")

    assert await person_of(world, "emp-1") is None


async def test_a_pause_that_somebody_deletes_goes_on(world: World) -> None:
    request = await world.top_up("50")
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    by_hand(world, "DELETE FROM pause")

    waiting = await execute(world, request)

    assert waiting.state is State.APPROVED
    assert keys_sent(world) == []


async def test_a_pause_that_somebody_deleted_ends_by_two_people(world: World) -> None:
    request = await world.top_up("50")
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    by_hand(world, "DELETE FROM pause")
    await pausing.resume(world.core, BOB, ["main"])
    await confirmation_answers.give(world.core, (await asked_to_resume(world)).id, CAROL)

    sent = await execute(world, request)

    assert sent.state is State.SUCCEEDED


async def test_draft_only_that_somebody_switches_off_goes_on(world: World) -> None:
    async with world.store.begin() as tx:
        await programs.begin_drafts(tx, "main")
    request = await world.top_up("50")
    by_hand(world, "UPDATE program SET drafts_since = NULL")

    await execute(world, request)

    assert keys_sent(world) == []


@pytest.mark.by_turns(3)
@pytest.mark.parametrize(
    "column", ["asked_by = 'U0BOB'", "kind = 'resume'", "expires_at = '2099-01-01T00:00:00.000000Z'"]
)
async def test_who_asked_cannot_be_changed_so_that_one_person_is_two(world: World, column: str) -> None:
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    await pausing.resume(world.core, CAROL, ["main"])
    asked = await asked_to_resume(world)
    by_hand(world, f"UPDATE consent SET {column}")
    if column.startswith("kind"):
        by_hand(world, "UPDATE consent SET subject = 'other'")
    if column.startswith("expires"):
        await world.advance(2 * 3600)

    with pytest.raises(CountersignError):
        await confirmations.give(world.core, pausing.ACT, asked.id, CAROL if "asked_by" in column else BOB)

    async with world.store.read() as tx:
        assert await programs.get(tx, "main") is not None
    assert await pausing.of(world.core, "main") is not None


async def test_an_answered_confirmation_that_is_opened_again_is_not_given_twice(world: World) -> None:
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    await pausing.resume(world.core, BOB, ["main"])
    asked = await asked_to_resume(world)
    await confirmation_answers.give(world.core, asked.id, CAROL)
    await pausing.pause(world.core, BOB, ["main"], "again")
    by_hand(world, "UPDATE consent SET state = 'open', answered_by = NULL, answered_at = NULL")

    with pytest.raises(CountersignError):
        await confirmation_answers.give(world.core, asked.id, CAROL)

    assert await pausing.of(world.core, "main") is not None


async def test_a_mute_rule_that_no_admin_made_silences_nothing(world: World) -> None:
    by_hand(
        world,
        'INSERT INTO mute (name, rule, by, since, until) VALUES (\'quiet\', \'{"about":"","kind":"decline"}\','
        " 'U0CAROL', '2026-01-01T00:00:00.000000Z', NULL)",
    )

    async with world.store.read() as tx:
        assert await mutes.in_force(tx) == []


async def revealed(world: World) -> Request:
    """Asked by Alice, approved by Bob, carried out."""
    request = await world.ask("card_reveal", {"card": world.cards[0]["id"]})
    await world.approve(request)
    return await execute(world, request)


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("days", [0, 30])
async def test_a_link_that_somebody_writes_into_the_database_opens_nothing(world: World, days: int) -> None:
    await revealed(world)
    await world.advance(days * 86_400)
    token = Secret("x" * 43)
    by_hand(
        world,
        "UPDATE card_reveal SET token_digest = ?, state = 'sent', spent_at = NULL, links = 1,"
        " expires_at = '2099-01-01T00:00:00.000000Z', valid_until = '2099-01-01T00:00:00.000000Z'",
        digest_of(token),
    )

    with pytest.raises(NotShown):
        await card_details_access.open_link(world.core, token, Manner.FRAME)

    assert await world.sent("GET /pan") == []


async def test_an_approval_of_a_month_ago_opens_no_link_however_genuine_it_is(world: World) -> None:
    """Also where somebody signed the row: what counts is when people approved it."""
    request = await revealed(world)
    await world.advance(30 * 86_400)
    token = Secret("x" * 43)
    until = world.clock.now() + timedelta(minutes=5)
    async with world.store.begin() as tx:
        await tx.run(
            update(card_reveal).values(
                token_digest=digest_of(token), state="sent", expires_at=until, valid_until=until, links=1
            )
        )
        await signed_rows.sign(tx, DETAILS_LINK, request.id)

    with pytest.raises(NotShown) as caught:
        await card_details_access.open_link(world.core, token, Manner.FRAME)

    assert caught.value.reason == "lapsed"
    assert await world.sent("GET /pan") == []


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("change", ["user = 'U0MALLORY'", "channel = 'C0ELSEWHERE'"])
async def test_a_link_to_card_details_is_sent_to_nobody_but_its_requester(world: World, change: str) -> None:
    await revealed(world)
    by_hand(world, f"UPDATE outbox SET {change} WHERE user IS NOT NULL")
    slack = ScriptedSlack()
    outbox = Outbox(world.core, slack, spacing_s=0)

    for _ in range(3):
        await outbox.deliver_due()
        await world.advance(30)

    assert not [view for view in slack.drawn if isinstance(view, LinkView)]
    assert await alert_kinds(world) == {"tampered"}


async def test_the_signing_of_an_older_database_is_reported_once(world: World) -> None:
    world.store.signed_now = 14
    await changed_rows.note_signed(world.core)
    await changed_rows.note_signed(world.core)

    async with world.store.read() as tx:
        (alert,) = [
            one
            for one in await alert_rows.raised_since(tx, world.clock.now() - timedelta(days=1))
            if one.kind == "rows_signed"
        ]
    assert "14" in alert.title


async def test_rows_that_somebody_changed_are_reported_until_they_are_right_again(world: World) -> None:
    async with world.store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", BOB)
    await changed_rows.watch(world.core)
    assert await alert_kinds(world) == set()
    by_hand(world, "UPDATE person_card SET slack_id = 'U0MALLORY'")

    await changed_rows.watch(world.core)
    assert await alert_kinds(world) == {"changed_outside"}
    async with world.store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", BOB)
    await changed_rows.watch(world.core)

    assert await alert_kinds(world) == set()


async def test_nobody_asks_for_one_card_under_the_label_of_another(world: World) -> None:
    first, second = world.cards[0], world.cards[1]
    for card, other in ((first, second), (second, first)):
        by_hand(
            world,
            "UPDATE card SET holder = ?, holder_key = ?, last4 = ?, partner_ref = ? WHERE id = ?",
            other["card_holder_name"],
            other["card_holder_name"].lower(),
            other["last4"],
            other["partner_ref"],
            card["id"],
        )

    with pytest.raises(CountersignError):
        await world.ask("card_topup", {"card": first["id"], "amount_usd": "50"})

    assert await alert_kinds(world) == {"changed_outside"}


async def test_nothing_is_sent_to_a_card_that_is_another_than_people_read(world: World) -> None:
    """The directory was changed while nobody could compare it: the API is asked again before it is sent to."""
    request = await world.top_up("50")
    partner = world.core.partners["main"]
    read = partner.card

    async def another(card_id: str, **how: Any) -> CardWithBalance:
        found = await read(card_id, **how)
        partner.identities[card_id] = ("SOMEBODY ELSE", "0000")
        return found

    partner.card = another  # type: ignore[method-assign]

    stopped = await execute(world, request)

    assert stopped.state is State.CANCELLED
    assert keys_sent(world) == []
    assert await alert_kinds(world) == {"tampered"}


#: A row of each signed table, with something in it that none of its columns ever holds.
UNREADABLE = {
    "program": "UPDATE program SET drafts_since = 'U0MALLORY'",
    "pause": "INSERT INTO pause (program, by, by_name, reason, since) VALUES ('main', 'U0BOB', 'Bob', 'r', 'soon')",
    "mute": "INSERT INTO mute (name, rule, by, since, until) VALUES ('quiet', '{', 'U0CAROL', 'x', NULL)",
    "consent": "INSERT INTO consent (id, kind, subject, terms, asked_by, asked_by_name, asked_at, expires_at, state)"
    " VALUES ('c1', 'resume', 'main', '[', 'U0BOB', 'Bob', 'x', 'y', 'open')",
    "card_reveal": "INSERT INTO card_reveal (request_id, state, valid_until, links) SELECT id, 'sent', 'later', 1"
    " FROM request",
}


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("table", UNREADABLE)
async def test_what_cannot_be_read_is_reported_like_any_other_change(world: World, table: str) -> None:
    await world.top_up("50")
    by_hand(world, UNREADABLE[table])

    await changed_rows.watch(world.core)

    assert "changed_outside" in await alert_kinds(world)
    assert await deep_check_finds(world, table)


async def deep_check_finds(world: World, table: str) -> bool:
    async with world.store.read() as tx:
        found = await signed_rows.changed_outside(tx, next(s for s in SIGNED_TABLES if s.name == table))
    return bool(found)


async def test_a_mute_rule_that_cannot_be_read_silences_no_alert(world: World) -> None:
    by_hand(world, UNREADABLE["mute"])
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")

    async with world.store.read() as tx:
        assert await mutes.in_force(tx) == []
    assert "paused" in await alert_kinds(world)


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("change", ["DELETE FROM audit_head", "UPDATE audit_head SET seq = 0"])
async def test_without_the_end_of_the_log_nothing_is_done_until_it_is_written_again_and_reported(
    world: World, change: str
) -> None:
    await world.top_up("50", approved=False)
    by_hand(world, change)

    with pytest.raises(
        EndOfLogLost,
        match=r"Where the audit log ends is lost: its row in the database (is gone|was set back)",
    ):
        await world.top_up("50")
    await changed_rows.watch(world.core)

    assert "changed_outside" in await alert_kinds(world)
    async with world.store.read() as tx:
        assert (await audit.verify(tx)).ok
    request = await world.top_up("70")
    await world.run(10)
    assert keys_sent(world) == [request.key]


async def test_a_start_without_the_end_of_the_log_is_refused_as_a_broken_log_is(world: World) -> None:
    await world.top_up("50")
    by_hand(world, "DELETE FROM audit_head")

    async def nothing_kept() -> list[str]:
        return []

    with pytest.raises(startup.CannotStart, match=r"broken at entry \d+ \(head\)"):
        await startup.check_audit_channel(world.store, nothing_kept)


def test_no_call_of_the_api_changes_who_a_card_is() -> None:
    """So an older row of a card, put back with its MAC, says what the newest one says; only where a card is made is it
    said whose it is."""
    described = json.loads(document.served())
    taken = {
        f"{method} {path}": set(described["components"]["schemas"][_schema_of(call)]["properties"])
        for path, calls in described["paths"].items()
        for method, call in calls.items()
        if isinstance(call, dict) and "requestBody" in call
    }

    assert len(taken) > 10
    says_who = {
        call for call, fields in taken.items() if fields & {"card_holder_name", "partner_ref", "last4"}
    }
    assert says_who == {"post /cards"}


def _schema_of(call: dict[str, Any]) -> str:
    reference: str = call["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    return reference.rpartition("/")[2]
