"""Cards, people, programs, alerts, readings and drafts are kept and found as people mean them."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from bot.domain.cards import CardEntry
from bot.domain.errors import NotFound
from bot.domain.people import Actor
from bot.partner.secret import Secret
from storage.cards import api_snapshots, cards
from storage.errors import CannotOpen
from storage.messages import Alert, alerts
from storage.operators import people, programs
from storage.requests import Draft, drafts
from storage.store import Store
from storage.transaction import Tx
from tests.storage.factories import NOW
from tests.support.clock import FrozenClock


def card(
    card_id: str, holder: str, last4: str | None = None, ref: str | None = None, **more: Any
) -> CardEntry:
    return replace(CardEntry(card_id, "main", holder, last4, ref, "ACTIVE", NOW), **more)


ALICE = card("c4rdA", "ALICE MOREAU", "4242", "emp-1")
TEAM = [
    ALICE,
    card("c4rda", "ALICE-ANNE VAN DER BERG", "1111", "emp-2"),
    card("cB", "BOB STONE", "4242", "Emp-1"),
    card("cC", "BOB STONEHAM", None, "4242"),
    card("cZ", "ZOË ÅSTRÖM", "9999", None),
    card("cX", "OLD FELLOW", "7777", "gone", status="DELETED"),
]


@pytest.fixture
async def team(store: Store) -> Store:
    async with store.begin() as tx:
        await cards.put_many(tx, "main", TEAM)
    return store


@pytest.mark.by_turns(5)
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("c4rdA", ["c4rdA"]),
        ("c4rda", ["c4rda"]),
        ("C4RDA", []),
        ("4242", ["c4rdA", "cB", "cC"]),
        ("••4242", ["c4rdA", "cB"]),
        ("emp-1", ["c4rdA"]),
        ("Emp-1", ["cB"]),
        ("EMP-1", []),
        ("Alice Moreau", ["c4rdA"]),
        ("  alice   moreau ", ["c4rdA"]),
        ("alice", ["c4rdA", "c4rda"]),
        ("moreau ali", ["c4rdA"]),
        ("bob stone", ["cB"]),
        ("bob sto", ["cB", "cC"]),
        ("zoe astrom", ["cZ"]),
        ("ström", []),
        ("al al", []),
        ("old fellow", ["cX"]),
        ("7777", ["cX"]),
        ("cX", ["cX"]),
        ("%", []),
        ("_", []),
        ("", []),
        ("  ", []),
        ("••", []),
    ],
)
async def test_a_card_is_named_the_way_people_name_it(team: Store, said: str, meant: list[str]) -> None:
    async with team.read() as tx:
        assert [found.id for found in await cards.match(tx, said)] == meant


async def test_an_open_card_is_meant_before_a_closed_one(team: Store) -> None:
    async with team.begin() as tx:
        await cards.put_many(tx, "main", [card("cN", "NEW FELLOW", "7777")])

        assert [found.id for found in await cards.match(tx, "7777")] == ["cN"]


async def test_ids_that_differ_in_case_are_two_cards(team: Store) -> None:
    async with team.begin() as tx:
        await cards.set_status(tx, "c4rda", "FROZEN")
        upper, lower = await cards.get(tx, "c4rdA"), await cards.get(tx, "c4rda")

    assert upper == ALICE
    assert lower is not None
    assert lower.status == "FROZEN"
    assert ALICE.label == "ALICE MOREAU ••4242"
    assert card("x", "NEW").label == "NEW ••????"


async def test_a_refresh_keeps_the_balance_read_before_and_its_time(team: Store, clock: FrozenClock) -> None:
    exact = Decimal("1234567890.1234567891")
    async with team.begin() as tx:
        await cards.set_balances(tx, [("c4rdA", exact, tx.now)])
    clock.advance(60)
    async with team.begin() as tx:
        await cards.put_many(tx, "main", [replace(ALICE, holder="ALICE DUPONT", last4="4343")])

        found = await cards.get(tx, "c4rdA")
        assert [c.id for c in await cards.match(tx, "dupont")] == ["c4rdA"]
        assert await cards.match(tx, "moreau") == []

    assert found is not None
    assert (found.balance_usd, found.balance_at) == (exact, NOW)
    assert (found.holder, found.last4) == ("ALICE DUPONT", "4343")


async def test_cards_a_whole_listing_did_not_show_are_closed_and_come_back_if_shown(
    team: Store, clock: FrozenClock
) -> None:
    clock.advance(600)
    began = clock.now()
    async with team.begin() as tx:
        await cards.put_many(tx, "other", [card("o1", "OTHER")])
        await cards.put_many(tx, "main", TEAM[1:])
    clock.advance(1)
    async with team.begin() as tx:
        assert await cards.mark_gone(tx, "main", seen_before=began) == ["c4rdA"]
        assert await cards.mark_gone(tx, "main", seen_before=began) == []
        await cards.mark_synced(tx, "main", 5)
        gone = await cards.get(tx, "c4rdA")
        assert gone is not None
        assert gone.gone_at == tx.now
        assert await cards.synced_at(tx, "main") == tx.now
        assert await cards.synced_at(tx, "other") is None

        await cards.put_many(tx, "main", TEAM)
        back = await cards.get(tx, "c4rdA")
        assert back is not None
        assert back.gone_at is None


async def test_cards_are_listed_by_name_and_status_in_pages(team: Store) -> None:
    async with team.begin() as tx:
        await cards.set_status(tx, "cB", "FROZEN")

        everyone = [c.id for c in await cards.all(tx)]
        assert everyone == ["c4rdA", "c4rda", "cB", "cC", "cZ"]
        assert [c.id for c in await cards.all(tx, limit=2, skip=2)] == ["cB", "cC"]
        assert [c.id for c in await cards.all(tx, status="FROZEN")] == ["cB"]
        assert [c.id for c in await cards.all(tx, status="DELETED")] == ["cX"]
        counts = [await cards.count(tx, status=s) for s in (None, "FROZEN", "DELETED", "BLOCKED")]
        assert counts == [5, 1, 1, 0]


async def test_ten_thousand_cards_go_in_at_once(sqlite_store: Store) -> None:
    async with sqlite_store.begin() as tx:
        await cards.put_many(
            tx, "main", (card(f"c{n}", f"HOLDER {n}", f"{n % 10000:04}") for n in range(10_000))
        )
        assert await cards.count(tx) == 10_000
        assert [c.id for c in await cards.match(tx, "holder 77")][:2] == ["c77"]


async def test_a_person_is_remembered_as_last_seen(store: Store, clock: FrozenClock) -> None:
    actor = Actor("U1", "alice", "T1", is_restricted=True, tz="Europe/Berlin")
    async with store.begin() as tx:
        assert await people.get(tx, "U1") is None
        await people.put(tx, actor, real_name="Alice Moreau")
    clock.advance(60)
    async with store.begin() as tx:
        await people.put(tx, replace(actor, is_restricted=False), real_name="Alice M")
        found = await people.get(tx, "U1")

    assert found == people.Seen(replace(actor, is_restricted=False), "Alice M", clock.now())


KEY = Secret("svc_live_c0ffee00-the-rest")


async def _program(tx: Tx, key: Secret = KEY) -> programs.Program:
    return await programs.put(tx, "main", base_url="https://api.example.com/api/partner/v1", key=key)


async def test_a_programs_key_comes_back_and_its_versions_move_on(store: Store) -> None:
    async with store.begin() as tx:
        first = await _program(tx)
        second = await _program(tx, Secret("svc_live_deadbeef-new"))

        assert (first.key_version, second.key_version) == (1, 2)
        assert (first.key_prefix, second.key_prefix) == ("svc_live_c0ffee00", "svc_live_deadbeef")
        assert (await programs.key(tx, "main")).reveal() == "svc_live_deadbeef-new"
        assert await programs.all(tx) == [second]
        with pytest.raises(NotFound, match="keys list"):
            await programs.key(tx, "other")


async def test_an_older_key_put_back_does_not_open(store: Store) -> None:
    async with store.begin() as tx:
        await _program(tx)
        old = (await tx.run(text("SELECT sealed_key FROM program"))).scalar_one()
        await _program(tx, Secret("svc_live_deadbeef-new"))
        await tx.run(text("UPDATE program SET sealed_key = :old"), {"old": old})

        with pytest.raises(CannotOpen):
            await programs.key(tx, "main")


async def test_a_program_is_tied_to_the_account_first_seen(store: Store) -> None:
    async with store.begin() as tx:
        await _program(tx)
        said = [await programs.learn_partner_id(tx, "main", p) for p in ("p1", "p1", "p2")]
        found = await programs.get(tx, "main")

    assert said == [True, True, False]
    assert found is not None
    assert found.partner_id == "p1"


async def test_a_pause_keeps_its_first_reason_until_it_ends(store: Store) -> None:
    async with store.begin() as tx:
        await _program(tx)
        assert [await programs.pause(tx, "main", r) for r in ("401 from your card provider", "other")] == [
            True,
            False,
        ]
        paused = await programs.get(tx, "main")
        assert [await programs.unpause(tx, "main"), await programs.unpause(tx, "main")] == [True, False]
        running = await programs.get(tx, "main")

    assert paused is not None
    assert (paused.is_paused, paused.paused_reason) == (True, "401 from your card provider")
    assert running is not None
    assert not running.is_paused


async def _raise(tx: Tx, dedupe: str = "float:main", text: str = "12.00 USD left") -> tuple[Alert, bool]:
    return await alerts.raise_(
        tx,
        dedupe=dedupe,
        kind="float_low",
        subject="program:main",
        severity="high",
        title="Float low",
        text=text,
    )


async def test_a_condition_has_one_open_alert_and_a_new_one_once_it_was_over(
    store: Store, clock: FrozenClock
) -> None:
    async with store.begin() as tx:
        first, is_new = await _raise(tx)
        again, is_new_again = await _raise(tx, text="8.00 USD left")
        other, _ = await _raise(tx, "float:second")
        ended = await alerts.resolve(tx, "float:main")
        over = await alerts.resolve(tx, "float:main")
        third, is_new_third = await _raise(tx)

        assert [a.id for a in await alerts.open_ones(tx)] == sorted([other.id, third.id])
        assert await alerts.get(tx, first.id) == ended
        assert await alerts.get(tx, "A-none") is None

    assert (is_new, is_new_again, is_new_third) == (True, False, True)
    assert (again.id, again.count, again.text) == (first.id, 2, "8.00 USD left")
    assert ended is not None
    assert ended.state == "resolved"
    assert over is None
    assert third.id != first.id
    assert third.count == 1


async def test_twenty_who_see_a_condition_at_once_raise_one_alert(store: Store) -> None:
    async def see() -> bool:
        async with store.begin() as tx:
            return (await _raise(tx))[1]

    assert (await asyncio.gather(*(see() for _ in range(20)))).count(True) == 1
    async with store.read() as tx:
        (found,) = await alerts.open_ones(tx)
    assert found.count == 20


async def test_what_people_did_with_an_alert_stands_when_it_is_seen_again(
    store: Store, clock: FrozenClock
) -> None:
    async with store.begin() as tx:
        first, _ = await _raise(tx)
        taken = await alerts.acknowledge(tx, first.id, by="U1")
        again, _ = await _raise(tx)
        assert taken is not None
        assert (again.state, again.acknowledged_by) == ("acknowledged", "U1")

        await alerts.assign(tx, first.id, to="U2")
        await alerts.snooze(tx, first.id, until=tx.now + timedelta(hours=1))
        quiet, _ = await _raise(tx)
        assert (quiet.state, quiet.assigned_to) == ("snoozed", "U2")
        assert await alerts.wake(tx) == []
    clock.advance(3600)

    async with store.begin() as tx:
        assert [a.state for a in await alerts.wake(tx)] == ["raised"]
        await alerts.resolve(tx, "float:main")
        assert await alerts.acknowledge(tx, first.id, by="U1") is None


async def test_the_last_reading_counts(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        assert await api_snapshots.get(tx, "main", "float") is None
        await api_snapshots.put(tx, "main", "float", {"balance_usd": Decimal("5.10")})
        await api_snapshots.put(tx, "other", "float", {"balance_usd": Decimal("7.00")})
    clock.advance(60)
    async with store.begin() as tx:
        await api_snapshots.put(tx, "main", "float", {"balance_usd": Decimal("4.1000000001")})

        found = await api_snapshots.get(tx, "main", "float")

    assert found == api_snapshots.Reading({"balance_usd": "4.1000000001"}, clock.now())


async def test_a_reading_is_taken_once_and_only_where_it_is_the_one_that_was_seen(
    store: Store, clock: FrozenClock
) -> None:
    async with store.begin() as tx:
        await api_snapshots.put(tx, "main", "queued", "first")
    seen_at = clock.now()
    for ahead_s in (1, -3600):
        clock.advance(ahead_s)
        async with store.begin() as tx:
            await api_snapshots.put(tx, "main", "queued", "again")
            assert await api_snapshots.take(tx, "main", "queued", of=seen_at) is None
            assert await api_snapshots.take(tx, "main", "queued", of=clock.now()) is not None
            assert await api_snapshots.take(tx, "main", "queued", of=clock.now()) is None
            await api_snapshots.put(tx, "main", "queued", "once more")
        seen_at = clock.now()


DRAFT = Draft(
    id="01J",
    owner="UALICE",
    kind="card_order",
    program="main",
    values={"phone": "+14155550123"},
    target_label="ALICE MOREAU ••4242",
    reason="New driver",
    run_now=False,
    facts={"float_usd": "10.00"},
    created_at=NOW,
)


async def test_a_draft_is_kept_changed_and_submitted_once(store: Store) -> None:
    async with store.begin() as tx:
        await drafts.put(tx, DRAFT)
        await drafts.put(tx, replace(DRAFT, facts={"float_usd": "11.00"}))
        assert await drafts.get(tx, "01J") == replace(DRAFT, facts={"float_usd": "11.00"})

    async def submit() -> Draft | None:
        async with store.begin() as tx:
            return await drafts.take(tx, "01J")

    taken = await asyncio.gather(*(submit() for _ in range(10)))
    assert len([d for d in taken if d is not None]) == 1


async def test_a_draft_nobody_submits_is_dropped(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        await drafts.put(tx, DRAFT)
        await drafts.put(tx, replace(DRAFT, id="02", created_at=NOW + timedelta(hours=1)))
    clock.advance(3601)

    async with store.begin() as tx:
        assert await drafts.drop_old(tx, older_than=timedelta(hours=1)) == 1
        assert await drafts.get(tx, "01J") is None
        assert await drafts.get(tx, "02") is not None


async def test_an_older_reading_leaves_a_card_as_a_later_one_showed_it(
    store: Store, clock: FrozenClock
) -> None:
    async with store.begin() as tx:
        await cards.put_many(tx, "main", TEAM)
    began = clock.now()
    clock.advance(5)
    async with store.begin() as tx:
        assert (
            await cards.put_many(tx, "main", [replace(ALICE, status="FROZEN")], read_at=clock.now()) == set()
        )
        assert await cards.put_many(tx, "main", TEAM, read_at=began) == {ALICE.id}
        found = await cards.get(tx, ALICE.id)
        gone = await cards.mark_gone(tx, "main", seen_before=began)

    assert found is not None
    assert (found.status, gone) == ("FROZEN", [])
