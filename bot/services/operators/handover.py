"""The note from one shift to the next: what is open, in the alerts channel, until somebody takes it over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.domain.alerts import people_alerts
from bot.domain.errors import InvalidInput, NotAllowed, NotFound
from bot.domain.requests import State
from bot.domain.sentences import Lines, quoted
from bot.operations import read_reason
from bot.services import alerts, audit, people
from bot.services.alerts import funding_rules
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.operators import programs
from storage.cards import cards
from storage.messages import Alert, mutes
from storage.messages import alerts as alert_rows
from storage.requests import requests
from storage.transaction import Tx

# A shift reads the first of each; the rest is a command away.
_SHOWN = 5
_MOST = 200


async def preview(core: Core, slack_id: str, note: str) -> str:
    """What `give` would post now. Raises NotAllowed, InvalidInput."""
    await people.require_member(core, slack_id, action="handover.give")
    async with core.store.read() as tx:
        return await _text(tx, core, note)


async def give(core: Core, slack_id: str, note: str) -> Alert:
    """Post what is open, with this person's note. Raises NotAllowed, InvalidInput."""
    actor = await people.require_member(core, slack_id, action="handover.give")
    async with core.store.begin() as tx:
        for earlier in await alert_rows.open_of(tx, people_alerts.HANDOVER.name):
            await alerts.resolve(tx, core, earlier.dedupe, actor=actor.id, case="next")
        text = await _text(tx, core, note)
        said = people_alerts.HANDOVER.says(who=actor.name, note_and_what_is_open=text)
        condition = people_alerts.HANDOVER.condition(core.ids.ulid())
        alert = await alerts.raise_(tx, core, said, condition=condition, subject=actor.id, program="")
        await audit.record(tx, core, actor.id, "handover.given", f"alert:{alert.id}")
    return alert


async def _text(tx: Tx, core: Core, note: str) -> str:
    """The note, and what is open."""
    note = _words(note) if note.strip() else ""
    return Lines("\n".join([*([quoted(note), ""] if note else []), *await _open(tx, core)]))


def _words(note: str) -> str:
    try:
        return read_reason(note)
    except ValueError as error:
        raise InvalidInput("note", str(error)) from None


async def accept(core: Core, alert_id: str, slack_id: str) -> Alert:
    """This person has read it and is on it from now on. Raises NotAllowed for who gave it, NotFound."""
    async with audited_refusal(core, slack_id, "handover.accept", f"alert:{alert_id}"):
        actor = await people.member(core, slack_id)
        async with core.store.begin() as tx:
            alert = await alert_rows.get(tx, alert_id)
            if alert is None or alert.kind != people_alerts.HANDOVER.name or alert.state == "resolved":
                raise NotFound("This shift was taken over already. Nothing was changed.")
            if alert.subject == actor.id:
                raise NotAllowed("You hand this over, so somebody else has to accept it.", "own_handover")
            await alert_rows.assign(tx, alert.id, to=actor.id)
            await alerts.resolve(tx, core, alert.dedupe, actor=actor.id)
            await alerts.thread_line(tx, core, alert, actor.id, "Took it over.")
            await audit.record(tx, core, actor.id, "handover.accepted", f"alert:{alert.id}")
        return alert


async def _open(tx: Tx, core: Core) -> list[str]:
    """One line for each thing that is open, under a line that counts them; nothing where nothing is."""
    lines: list[str] = []
    for program in sorted(core.partners):
        why = await programs.why_paused(tx, program)
        lines += [why] if why else []
    waiting = await requests.find(tx, states=(State.PENDING, State.APPROVED, State.EXECUTING), limit=_MOST)
    lost = await requests.find(tx, states=(State.UNRESOLVED,), limit=_MOST)
    lines += _section("Outcome not known", [f"{r.id}: {r.summary}" for r in lost])
    lines += _section("Open requests", [f"{r.id} {r.state}: {r.summary}" for r in waiting])
    lines += await _about_alerts(tx)
    funding = [
        f.text for program in sorted(core.partners) for f in await funding_rules.under_way(tx, program)
    ]
    lines += _section("Funding under way", funding)
    frozen = await cards.all(tx, status="FROZEN", limit=_SHOWN)
    lines += _section("Frozen cards", [c.label for c in frozen], count=await cards.count(tx, status="FROZEN"))
    rules = await mutes.in_force(tx)
    lines += _section("Muted", [f"{r.name}: {r.kind}{_until(r.until)}" for r in rules])
    return lines or ["Nothing is open."]


async def _about_alerts(tx: Tx) -> list[str]:
    found = [a for a in await alert_rows.open_ones(tx) if a.kind != people_alerts.HANDOVER.name]
    firing = [a.title for a in found if a.state != "snoozed"]
    held = sorted((a for a in found if a.state == "snoozed" and a.snoozed_until), key=_ends)
    return [
        *_section("Open alerts", firing),
        *_section("Snoozes that end", [f"{a.title}{_until(a.snoozed_until)}" for a in held]),
    ]


def _ends(alert: Alert) -> datetime:
    return alert.snoozed_until or alert.raised_at


def _until(at: datetime | None) -> str:
    return f" until {at:%Y-%m-%d %H:%M} UTC" if at else ""


def _section(title: str, rows: Sequence[str], *, count: int | None = None) -> list[str]:
    total = len(rows) if count is None else count
    if not total:
        return []
    shown = [f"• {row[:160]}" for row in rows[:_SHOWN]]
    more = [f"• and {total - len(shown)} more"] if total > len(shown) else []
    return [f"{title}: {total}", *shown, *more]
