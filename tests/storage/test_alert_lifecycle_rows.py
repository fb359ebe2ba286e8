"""The life of an alert, mute rules, readings over time and who gets codes, as both databases keep them."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from storage import tables
from storage.cards import api_snapshots, history, otp_recipients
from storage.columns import MOST
from storage.messages import alerts, mutes
from storage.store import Store
from storage.transaction import Tx
from tests.support.clock import FrozenClock


async def raised(tx: Tx, kind: str = "float_low") -> alerts.Alert:
    alert, _ = await alerts.raise_(
        tx, dedupe=f"{kind}:main", kind=kind, subject="main", severity="warning", title="Low", text="12.00"
    )
    return alert


async def test_an_acknowledgement_ends_by_itself_and_with_news(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        alert = await raised(tx)
        await alerts.acknowledge(tx, alert.id, by="U1", until=tx.now + timedelta(hours=4))
        assert await alerts.wake(tx) == []
    clock.advance(4 * 3600)
    async with store.begin() as tx:
        assert [a.id for a in await alerts.wake(tx)] == [alert.id]
        assert await alerts.wake(tx) == []
        await alerts.snooze(tx, alert.id, until=tx.now + timedelta(hours=1))
        same = await alerts.reword(tx, alert.id, severity="warning", title="Low", text="11.00")
        news = await alerts.reword(tx, alert.id, severity="critical", title="Lower", text="1.00", again=True)
    assert same is not None
    assert news is not None
    assert (same.state, news.state, news.snoozed_until, news.count) == ("snoozed", "raised", None, 1)


async def test_thread_lines_are_numbered_and_open_alerts_are_found_by_kind_and_condition(
    store: Store,
) -> None:
    async with store.begin() as tx:
        low, other = await raised(tx), await raised(tx, "runway")
        assert [await alerts.add_thread_line(tx, low.id, actor="U1", text=text) for text in ("a", "b")] == [
            1,
            2,
        ]
        assert await alerts.add_thread_line(tx, other.id, actor="U1", text="c") == 1
        line = tables.alert_thread_line.c
        kept = select(line.text).where(line.alert_id == low.id).order_by(line.n)
        assert list((await tx.run(kept)).scalars()) == ["a", "b"]
        assert [a.id for a in await alerts.open_of(tx, "runway")] == [other.id]
        assert [a.id for a in await alerts.raised_since(tx, tx.now)] == sorted([low.id, other.id])
        await alerts.resolve(tx, low.dedupe)
        assert await alerts.open_one(tx, low.dedupe) is None
        assert await alerts.open_one(tx, other.dedupe) == other


@pytest.mark.parametrize("numbers", [(MOST - 1, MOST), (MOST, MOST + 1), (2, MOST - 1, MOST), (2**31 - 1,)])
async def test_a_line_is_added_whatever_numbers_somebody_wrote_beside_it(
    store: Store, numbers: tuple[int, ...]
) -> None:
    async with store.begin() as tx:
        low = await raised(tx)
        await alerts.add_thread_line(tx, low.id, actor="U1", text="a")
        theirs = {"alert_id": low.id, "at": tx.now, "actor": "U2", "text": "x"}
        await tx.run(tables.alert_thread_line.insert(), [{**theirs, "n": number} for number in numbers])
    async with store.begin() as tx:
        for text in ("b", "c"):
            assert await alerts.add_thread_line(tx, low.id, actor="U1", text=text) not in (1, *numbers)


async def test_a_mute_rule_holds_until_its_end(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        end = tx.now + timedelta(days=7)
        await mutes.put(tx, name="week", kind="decline", about="ACME", by="U1", until=end)
        await mutes.put(tx, name="ever", kind="3ds", about="", by="U1", until=None)
        first, second = await mutes.in_force(tx)
    assert (first.name, second.name) == ("ever", "week")
    assert second.silences("decline", "x", "declined at ACME")
    assert not second.silences("decline", "x", "declined at OTHER")
    assert not second.silences("funding", "ACME")
    clock.advance(7 * 86400)
    async with store.begin() as tx:
        assert [rule.name for rule in await mutes.in_force(tx)] == ["ever"]
        assert [await mutes.drop(tx, "ever"), await mutes.drop(tx, "ever")] == [True, False]


async def test_history_has_a_row_where_a_value_changed_and_one_now_and_then(
    store: Store, clock: FrozenClock
) -> None:
    begun = clock.now()
    for minute in range(45):
        async with store.begin() as tx:
            await history.put(tx, "main", "me", {"spent_usd": "5" if minute < 40 else "6"})
        clock.advance(60)
    async with store.begin() as tx:
        rows = await history.since(tx, "main", "me", begun)
        assert [(r.value["spent_usd"], (r.read_at - begun).seconds // 60) for r in rows] == [
            ("5", 0),
            ("5", 30),
            ("6", 40),
        ]
    clock.advance(history.KEPT_FOR.total_seconds() - 10 * 60)
    async with store.begin() as tx:
        assert await history.drop_old(tx) == 2


async def test_readings_are_found_by_how_their_names_begin(store: Store) -> None:
    async with store.begin() as tx:
        for name in ("funding:a", "funding:b", "funding_watch", "fundingXc"):
            await api_snapshots.put(tx, "main", name, {"name": name})
        await api_snapshots.put(tx, "other", "funding:c", {})
        assert list(await api_snapshots.named(tx, "main", "funding:")) == ["a", "b"]
        await api_snapshots.drop(tx, "main", "funding:a")
        assert list(await api_snapshots.named(tx, "main", "funding:")) == ["b"]


async def test_the_person_of_a_reference_can_be_replaced_and_dropped(store: Store) -> None:
    async with store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", "U1")
        await otp_recipients.put(tx, "emp-1", "U2")
        assert await otp_recipients.person_of(tx, "emp-1") == "U2"
        assert await otp_recipients.person_of(tx, "EMP-1") is None
        assert [await otp_recipients.drop(tx, "emp-1"), await otp_recipients.drop(tx, "emp-1")] == [
            True,
            False,
        ]
