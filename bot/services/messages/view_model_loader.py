"""Reading pictures from the database: the current state of a request or alert, ready to be drawn."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.errors import LookupFailed
from bot.domain.ids import short_code
from bot.domain.requests.lifecycle import UNSENT, Request, State
from bot.operations._base import Concern, Line
from bot.services.alerts.lifecycle import NEVER_MUTED
from bot.services.cards import details_link
from bot.services.core import Core
from bot.services.money import float_history
from bot.services.operators import programs
from bot.services.requests import batch_results
from bot.services.requests.drafts import house_concerns
from bot.view_models.pictures import (
    AlertChartPicture,
    AlertLinePicture,
    AlertPicture,
    AnchorPicture,
    DigestPicture,
    DirectPicture,
    LinePicture,
    Picture,
    RequestPicture,
)
from storage.cards import api_snapshots
from storage.messages import alerts, outbox
from storage.messages.outbox import OutboxRow
from storage.requests import decisions, requests
from storage.store import Tx


async def row(core: Core, owed: OutboxRow) -> Picture | None:
    """What this outbox row asks to draw, as things are now; None when its subject no longer exists."""
    subject_kind, _, subject_id = owed.subject.partition(":")
    if subject_kind == "anchor":
        return AnchorPicture(int(owed.body["seq"]), str(owed.body["line"]))
    if subject_kind == "reveal":
        return await details_link.make_link(core, subject_id)
    if subject_kind == "alert" and owed.body.get("line") == "chart":
        async with core.store.read() as tx:
            return await _alert_chart(tx, core, subject_id)
    if subject_kind == "alert" and owed.kind == "line":
        return await _alert_line(core, owed)
    async with core.store.read() as tx:
        if subject_kind == "digest":
            return await digest(tx, core, subject_id)
        if subject_kind == "alert":
            return await alert(tx, core, subject_id)
        found = await requests.get(tx, subject_id)
        if found is None:
            return None
        if owed.kind == "line" and owed.body.get("line") == "results":
            return await batch_results.results(tx, found)
        if owed.kind == "line":
            return await _line(tx, core, found, owed)
        if owed.kind == "direct":
            actor = str(owed.body.get("actor", ""))
            deciders = tuple(d.actor for d in await decisions.of(tx, found.id))
            paused = await programs.why_paused(tx, found.program)
            return DirectPicture(found, short_code(found.digest), actor, None, deciders, paused)
        return await request(tx, core, found)


async def request(tx: Tx, core: Core, found: Request) -> RequestPicture:
    lines, concerns = shown_facts(core, found)
    return RequestPicture(
        request=found,
        title=core.kinds[found.kind].title if found.kind in core.kinds else found.kind,
        code=short_code(found.digest),
        decisions=tuple(await decisions.of(tx, found.id)),
        lines=lines,
        concerns=concerns,
        approver_names=core.policy.people.approvers,
        live=core.live.get(found.program, True),
        next_look_at=found.due_at if found.state in (State.EXECUTING, State.UNRESOLVED) else None,
        batch=await batch_results.batch(tx, core, found) if found.is_batch else None,
        paused=await programs.why_paused(tx, found.program) if found.state in UNSENT else "",
    )


def shown_facts(core: Core, found: Request) -> tuple[tuple[Line, ...], tuple[Concern, ...]]:
    """The lines and concerns of the facts kept with the request."""
    cls = core.kinds.get(found.kind)
    if cls is None or not found.facts or found.parent_id is not None:
        return (), ()
    if found.is_batch:
        return batch_results.effect(core, found, found.facts)
    operation = cls(found.terms, found.subject_label)
    concerns = [*operation.concerns(found.facts), *house_concerns(operation, found.facts)]
    return tuple(operation.lines(found.facts)), tuple(concerns)


async def _line(tx: Tx, core: Core, found: Request, owed: OutboxRow) -> LinePicture:
    return LinePicture(
        request=found,
        line=str(owed.body.get("line", "")),
        actor=str(owed.body.get("actor", "")),
        text=str(owed.body.get("text", "")),
        decisions=tuple(await decisions.of(tx, found.id)),
        approver_names=core.policy.people.approvers,
    )


async def _alert_line(core: Core, owed: OutboxRow) -> AlertLinePicture:
    body = owed.body
    names = [str(name) for name in body["mentions"] if name]
    try:
        called = await core.directory.called(names) if names else ()
    except LookupFailed:
        called = ()  # the line matters more than who it calls for
    return AlertLinePicture(str(body["actor"]), str(body["text"]), tuple(called))


async def _alert_chart(tx: Tx, core: Core, alert_id: str) -> AlertChartPicture | None:
    found = await alert(tx, core, alert_id)
    if found is None or found.history is None:
        return None
    return AlertChartPicture(chart_name(alert_id), found.history)


async def digest(tx: Tx, core: Core, day: str) -> DigestPicture | None:
    kept = await api_snapshots.get(tx, "", f"digest:{day}")
    if kept is None:
        return None
    lines = tuple((str(label), str(text)) for label, text in kept.value["lines"])
    return DigestPicture(day, lines, tuple(kept.value["still_open"]), all(core.live.values()))


def chart_name(alert_id: str) -> str:
    """Of the file with an alert's chart, by which it is known again in Slack."""
    return f"{alert_id}-float.png"


async def alert(tx: Tx, core: Core, alert_id: str) -> AlertPicture | None:
    found = await alerts.get(tx, alert_id)
    if found is None:
        return None
    picture = alert_picture(core, found)
    if found.kind not in ("float_low", "runway"):
        return picture
    return replace(picture, history=await float_history.of(tx, core, found.subject))


def alert_picture(core: Core, found: alerts.Alert) -> AlertPicture:
    return AlertPicture(
        id=found.id,
        kind=found.kind,
        subject=found.subject,
        severity=found.severity,
        state=found.state,
        title=found.title,
        text=found.text,
        count=found.count,
        raised_at=found.raised_at,
        updated_at=found.updated_at,
        resolved_at=found.resolved_at,
        live=all(core.live.values()),
        acknowledged_by=(found.acknowledged_by or "") if found.state == "acknowledged" else "",
        held_until=found.snoozed_until,
        assigned_to=found.assigned_to or "",
        is_mutable=found.kind not in NEVER_MUTED,
    )


async def place(core: Core, request_id: str) -> outbox.Place | None:
    """Where the request's card is in Slack."""
    async with core.store.read() as tx:
        return await outbox.place(tx, f"request:{request_id}", "card")
