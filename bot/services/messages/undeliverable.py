"""Messages that cannot be shown as they should: sent as plain text instead, or set aside; reported either way.

Only what Slack can never take for its content, and what could not be drawn in three tries, comes here. Everything
else is tried for as long as it takes (`delivery`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.alerts import delivery_alerts
from bot.domain.requests import Request, State
from bot.domain.sentences import Lines
from bot.services import alerts, message_kinds
from bot.services.core import Core
from bot.services.message_kinds import About, Subject
from bot.view_models import PlainView
from storage.messages import OutboxRow, outbox
from storage.messages import alerts as alert_rows
from storage.requests import requests
from storage.transaction import Tx


class Fate(StrEnum):
    """What became of it; the words are the cases of the alert."""

    NO_LAYOUT = "no layout"
    NOT_DRAWN = "not drawn"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a message is not as it should be. `error`: Slack's code, or the name of what was raised."""

    fate: Fate
    error: str


def stub(row: OutboxRow, fault: Fault) -> PlainView:
    """In place of a message that cannot be drawn: what it is about, and where to look."""
    return PlainView(f"About {named(row)}.", _note(row, fault))


def plain(row: OutboxRow, text: str, fault: Fault) -> PlainView:
    """In place of a message whose layout Slack refused: what it says."""
    return PlainView(text, _note(row, fault))


def _note(row: OutboxRow, fault: Fault) -> str:
    what = "Slack refused the layout" if fault.fate is Fate.NO_LAYOUT else "This message could not be drawn"
    return f"{what} ({fault.error}), so there are no buttons here. {_where(row)}"


def _where(row: OutboxRow) -> str:
    subject = _subject(row)
    if subject is None:
        return "An alert has been raised."
    if subject.about in (About.REQUEST, About.NOTICE, About.DETAILS_LINK):
        return Lines(f"Use `/requests show {subject.id}` or the Home tab.")
    return (
        Lines("Use `/countersign alerts`.") if subject.about is About.ALERT else "An alert has been raised."
    )


def named(row: OutboxRow) -> str:
    """What the message is about, in words."""
    subject = _subject(row)
    if subject is None:
        return row.subject
    match subject.about:
        case About.REQUEST | About.DETAILS_LINK:
            return f"request {subject.id}"
        case About.NOTICE:
            return f"request {subject.id}, to its requester,"
        case About.ALERT:
            return f"alert {subject.id}"
        case About.DIGEST:
            return f"the daily summary of {subject.id}"
        case About.ANCHOR:
            return f"audit entry {subject.id}"


def _subject(row: OutboxRow) -> Subject | None:
    try:
        return Subject.read(row.subject)
    except ValueError:
        return None


async def report(tx: Tx, core: Core, row: OutboxRow, fault: Fault) -> None:
    """One alert for each subject and form. That an alert itself cannot be shown is in the log alone: it would
    raise the next one."""
    if await _is_about_us(tx, row):
        return
    where = _where(row)
    if fault.fate is Fate.GIVEN_UP and (request := await _not_approved_without_it(tx, core, row)):
        where = Lines(
            f"Nobody can approve the request without it: reject it with `/requests show {request.id}` or on the Home"
            " tab, and request it again."
        )
    said = delivery_alerts.MESSAGE_FAILED.says(
        fault.fate.value, subject=named(row), error=fault.error, where=where
    )
    await alerts.keep(tx, core, said, condition=_condition(row), subject=row.subject, program="")


async def _not_approved_without_it(tx: Tx, core: Core, row: OutboxRow) -> Request | None:
    """The request that waits for approvals, where this was to be its first message."""
    subject, kind = _subject(row), message_kinds.REQUEST_CARD
    if subject is None or subject.about is not kind.about or row.kind != kind.form.value:
        return None
    if await outbox.place(tx, row.subject, row.kind) is not None:
        return None
    found = await requests.get(tx, subject.id)
    if found is None or found.state is not State.PENDING or core.kinds[found.kind].handling.is_urgent:
        return None
    return found


async def recovered(tx: Tx, core: Core, row: OutboxRow) -> None:
    """A message about it was sent as it should be."""
    await alerts.resolve(tx, core, _condition(row))


async def _is_about_us(tx: Tx, row: OutboxRow) -> bool:
    subject = _subject(row)
    if subject is None or subject.about is not About.ALERT:
        return False
    found = await alert_rows.get(tx, subject.id)
    return found is None or found.kind == delivery_alerts.MESSAGE_FAILED.name


def _condition(row: OutboxRow) -> str:
    return delivery_alerts.MESSAGE_FAILED.condition(row.kind, row.subject)
