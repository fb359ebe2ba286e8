"""The table of what may be sent to Slack: each row is stored as ever, read back, drawn and published."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, get_args

import pytest
from sqlalchemy import text

from bot.domain.alerts import Said, Severity, float_alerts
from bot.domain.requests import Request, State
from bot.services import alerts, execution, outbox_messages
from bot.services import message_kinds as kinds
from bot.services.core import Core
from bot.services.message_kinds import MESSAGES, About, MessageKind, Subject
from bot.services.messages import view_model_loader
from bot.services.money import float_lookups
from bot.view_models import CodeView, MessageView, PlainView
from handlers.slack_api import publish
from storage import audit
from storage.audit import Anchor
from storage.cards import api_snapshots
from storage.messages import OutboxRow, outbox
from storage.transaction import Tx
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, SlackDriver

DAY = "2026-03-02"


@dataclass(frozen=True)
class Shown:
    """What the messages of these tests are about. `core` has an audit channel."""

    core: Core
    request: Request
    revealing: Request
    alert_id: str
    anchor: Anchor


@pytest.fixture
async def answer(driver: SlackDriver) -> Shown:
    """A request, one for card details that was executed, an alert of the float with its past, a digest."""
    core = replace(driver.core, channels=replace(driver.core.channels, audit=APPROVALS))
    for _ in range(3):
        await driver.world.tell("float", {"amount_usd": "-100"})
        await driver.world.advance(3600)
        await float_lookups.read_account(core, "main")
    await driver.command(ALICE, f"/card reveal {driver.world.cards[1]['id']}")
    await driver.submit(ALICE, {"reason": "Booking a hotel by phone"})
    await driver.submit(ALICE)
    revealing = await driver.newest()
    await driver.press(BOB, await driver.card(revealing.id), "request:approve", channel=APPROVALS)
    await driver.submit(BOB)
    await execution.execute(driver.core, revealing.id)
    await driver.settle()
    request = await driver.ask_top_up()
    async with core.store.begin() as tx:
        said = Said(float_alerts.FLOAT_LOW, Severity.WARNING, "Low", "Low.")
        condition = float_alerts.FLOAT_LOW.condition("main")
        alert = await alerts.raise_(tx, core, said, condition=condition, subject="main", program="main")
        await api_snapshots.put(tx, "", f"digest:{DAY}", {"lines": [["Top-ups", "3"]], "still_open": []})
        anchor = await audit.anchor(tx)
    assert anchor is not None
    await driver.settle()
    return Shown(core, request, revealing, alert.id, anchor)


Put = Callable[[Tx, Shown], Awaitable[None]]
Golden = dict[str, Any]


def _row(kind: str, subject: str, body: Golden, dedupe: str, channel: str, user: str | None = None) -> Golden:
    return {
        "kind": kind,
        "subject": subject,
        "body": body,
        "dedupe": dedupe,
        "channel": channel,
        "user": user,
    }


def _note(tx: Tx, t: Shown) -> Awaitable[None]:
    return outbox_messages.alert_line(tx, t.core, t.alert_id, 7, actor=BOB, text="Looks", mentions=["@ops"])


async def _notice_of_an_older_version(tx: Tx, t: Shown) -> None:
    await outbox.put(
        tx,
        channel="",
        user=ALICE,
        kind="direct",
        subject=f"request:{t.request.id}",
        body={"actor": BOB},
        dedupe=f"direct:{t.request.id}:8",
    )


def _failed(request: Request) -> Request:
    return replace(request, version=10, state=State.FAILED, outcome_text="Nothing moved.")


#: For each kind: how it is put, and the row that databases have always held, as text apart from the ids.
CASES: dict[MessageKind, tuple[Put, Callable[[Shown], Golden]]] = {
    kinds.REQUEST_CARD: (
        lambda tx, t: outbox_messages.card(tx, t.core, replace(t.request, version=9)),
        lambda t: _row("card", f"request:{t.request.id}", {}, f"card:{t.request.id}:9", "C0APPROVALS"),
    ),
    kinds.REQUEST_LINE: (
        lambda tx, t: outbox_messages.line(
            tx, t.core, t.request, "reminder", actor=ALICE, text="x", tag="60"
        ),
        lambda t: _row(
            "line",
            f"request:{t.request.id}",
            {"line": "reminder", "actor": ALICE, "text": "x", "version": t.request.version},
            f"line:{t.request.id}:reminder:60",
            "C0APPROVALS",
        ),
    ),
    kinds.BATCH_RESULTS: (
        lambda tx, t: outbox_messages.results(tx, t.core, replace(t.request, version=9)),
        lambda t: _row(
            "line",
            f"request:{t.request.id}",
            {"line": "results"},
            f"results:{t.request.id}:9",
            "C0APPROVALS",
        ),
    ),
    kinds.REQUESTER_NOTICE: (
        lambda tx, t: outbox_messages.tell_requester(tx, t.core, replace(t.request, version=9), BOB),
        lambda t: _row(
            "card", f"notice:{t.request.id}", {"actor": BOB}, f"notice:{t.request.id}:9", "", ALICE
        ),
    ),
    kinds.REQUESTER_LINE: (
        lambda tx, t: outbox_messages.tell_requester(tx, t.core, _failed(t.request), BOB),
        lambda t: _row(
            "line",
            f"notice:{t.request.id}",
            {"line": "failed", "actor": BOB, "text": "Nothing moved.", "version": 10},
            f"notice_line:{t.request.id}:10",
            "",
            ALICE,
        ),
    ),
    kinds.NOTICE_OF_ONE_CHANGE: (
        _notice_of_an_older_version,
        lambda t: _row(
            "direct", f"request:{t.request.id}", {"actor": BOB}, f"direct:{t.request.id}:8", "", ALICE
        ),
    ),
    kinds.DETAILS_LINK: (
        lambda tx, t: outbox_messages.reveal_link(tx, t.core, t.revealing, 2),
        lambda t: _row("direct", f"reveal:{t.revealing.id}", {}, f"reveal:{t.revealing.id}:2", "", ALICE),
    ),
    kinds.ALERT: (
        lambda tx, t: outbox_messages.alert(tx, t.core, t.alert_id, "redrawn"),
        lambda t: _row("alert", f"alert:{t.alert_id}", {}, f"alert:{t.alert_id}:redrawn", "C0ALERTS"),
    ),
    kinds.ALERT_LINE: (
        _note,
        lambda t: _row(
            "line",
            f"alert:{t.alert_id}",
            {"actor": BOB, "text": "Looks", "mentions": ["@ops"]},
            f"alert:{t.alert_id}:note:7",
            "C0ALERTS",
        ),
    ),
    kinds.ALERT_CHART: (
        lambda tx, t: outbox_messages.alert_chart(tx, t.core, t.alert_id),
        lambda t: _row("line", f"alert:{t.alert_id}", {"line": "chart"}, f"chart:{t.alert_id}", "C0ALERTS"),
    ),
    kinds.DIGEST: (
        lambda tx, t: outbox_messages.digest(tx, t.core, DAY),
        lambda t: _row("direct", "digest:2026-03-02", {}, "digest:2026-03-02", "C0ALERTS"),
    ),
    kinds.AUDIT_ANCHOR: (
        lambda tx, t: outbox_messages.anchor(tx, t.core, t.anchor),
        lambda t: _row(
            "direct",
            f"anchor:{t.anchor.seq}",
            {"line": t.anchor.line(), "seq": t.anchor.seq},
            f"anchor:{t.anchor.seq}:{t.anchor.at}",
            APPROVALS,
        ),
    ),
}


async def put_all(answer: Shown) -> dict[MessageKind, OutboxRow]:
    """One message of each kind, as stored."""
    async with answer.core.store.begin() as tx:
        for put, _ in CASES.values():
            await put(tx, answer)
        rows = {row.dedupe: row for row in await outbox.next_due(tx, limit=100)}
    return {kind: rows[golden(answer)["dedupe"]] for kind, (_, golden) in CASES.items()}


async def test_every_kind_is_stored_as_ever_read_back_drawn_and_published(
    driver: SlackDriver, answer: Shown
) -> None:
    assert set(CASES) == set(MESSAGES), "a kind without its golden row"
    rows = await put_all(answer)

    for kind, row in rows.items():
        expected = CASES[kind][1](answer)
        assert {name: getattr(row, name) for name in expected} == expected
        assert set(row.body) == set(kind.body)
        assert kinds.kind_of(row.kind, row.subject, row.body) is kind
        assert Subject.read(row.subject).stored() == row.subject
        view = await view_model_loader.row(answer.core, row)
        assert isinstance(view, kind.shows), kind
        assert publish.draw(view)["text"], kind
        assert (kinds.file_of(row.dedupe) is not None) == (kind.file_name is not None)

    await driver.settle()
    async with answer.core.store.read() as tx:
        assert await outbox.next_due(tx, limit=100) == await outbox.stuck(tx) == []
        found = await tx.run(text("SELECT id FROM outbox WHERE state = 'sent'"))
        sent = {row_id for (row_id,) in found.all()}
    shown = await driver.state()
    seen = json.dumps(shown, ensure_ascii=False)
    for kind, row in rows.items():
        assert row.id in sent, kind
        name = kinds.file_of(row.dedupe)
        assert name is None or name in seen, "the file is in Slack"


def test_every_view_model_of_the_outbox_has_one_kind_and_one_view() -> None:
    # What the requester alone is shown has the views of the channel's messages.
    shown = [
        kind.shows for kind in MESSAGES if kind not in (kinds.REQUESTER_LINE, kinds.NOTICE_OF_ONE_CHANGE)
    ]

    assert len(shown) == len(set(shown))
    assert set(view_model_loader.LOADERS) == set(MESSAGES)
    # Two are of no kind: a code is in memory alone, and plain text stands for a message of any kind.
    assert {*shown, CodeView, PlainView} == set(get_args(MessageView)) == set(publish.VIEWS)


def test_no_two_kinds_are_stored_alike() -> None:
    stored = [(kind.about, kind.form, kind.line) for kind in MESSAGES]
    files = [kind.dedupe for kind in MESSAGES if kind.file_name]

    assert len(stored) == len(set(stored))
    assert not {kind.dedupe for kind in MESSAGES if not kind.file_name} & set(files)


@pytest.mark.parametrize("about", About)
def test_a_subject_is_read_as_it_was_written(about: About) -> None:
    subject = Subject(about, "R-7K3M:1")

    assert Subject.read(subject.stored()) == subject
    assert subject.stored() == f"{about.value}:R-7K3M:1"


@pytest.mark.parametrize("written", ["", "request", "request:", "invoice:R-7K3M"])
def test_what_is_no_subject_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"subject|About"):
        Subject.read(written)
    assert kinds.kind_of("card", "invoice:1", {}) is None


async def test_a_row_of_a_kind_that_is_not_known_is_given_up(answer: Shown, driver: SlackDriver) -> None:
    async with answer.core.store.begin() as tx:
        await outbox.put(
            tx, channel=APPROVALS, kind="direct", subject="invoice:1", body={}, dedupe="invoice:1"
        )

    await driver.settle()

    async with answer.core.store.read() as tx:
        assert await outbox.next_due(tx) == await outbox.stuck(tx) == []
