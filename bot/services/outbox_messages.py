"""Messages to Slack: a row of the outbox for each, written in the transaction of the change it reports.

A row holds what to draw, not how it looks: `request R-7K3M`, a thread line, an alert. The view is drawn from
the database when the row is delivered, so lost, doubled or late rows heal. What kinds there are, and what is
stored for each, is the table in `bot.services.message_kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from bot.domain.requests import UNWELCOME, Request, State, ended_line
from bot.services import message_kinds as kinds
from bot.services.core import Core
from bot.services.message_kinds import About, MessageKind, Subject, To
from storage import columns
from storage.audit import Anchor
from storage.messages import outbox
from storage.transaction import Tx

PROGRESS_EVERY = timedelta(seconds=3)
# What comes sooner after the last news is seen on the message itself: nobody has looked away from it yet.
NEWS_SEEN_FOR = timedelta(minutes=1)
_UNWELCOME_STATES = frozenset(
    {State.FAILED, State.UNRESOLVED, State.REJECTED, State.CANCELLED, State.EXPIRED}
)
_SHOWN_OF_ROWS = frozenset(
    {
        *("unresolved", "landed_late", "contradicted", "returned", "debited"),
        *("resolution", "resolution_corrected"),
    }
)


async def card(tx: Tx, core: Core, request: Request) -> None:
    """The request card in the approvals channel, drawn as the request is when it is delivered.

    A row of a batch has none of its own: its batch's is drawn.
    """
    if request.parent_id is not None:
        await _progress(tx, core, request.parent_id)
        return
    await _put(tx, core, kinds.REQUEST_CARD, request.id, (request.id, request.version))


async def redraw(tx: Tx, core: Core, request: Request) -> None:
    """Draw again though nothing changed: the message was lost or edited by somebody."""
    await _put(tx, core, kinds.REQUEST_CARD, request.id, (request.id, request.version, core.ids.ulid()))


async def post_again(tx: Tx, core: Core, subject: Subject, person: str | None) -> None:
    """The message in whose thread lines of this subject go: it is not in Slack any more. `person`: who gets it,
    where it is a direct message."""
    by_subject = {About.REQUEST: kinds.REQUEST_CARD, About.NOTICE: kinds.REQUESTER_NOTICE}
    kind = by_subject.get(subject.about, kinds.ALERT)
    body = {"actor": ""} if kind is kinds.REQUESTER_NOTICE else None
    await _put(tx, core, kind, subject.id, (subject.id, "anew", core.ids.ulid()), body=body, person=person)


async def progress(tx: Tx, core: Core, batch: Request) -> None:
    """Draw a batch while its rows go on: at most once in `PROGRESS_EVERY`, with all that has happened by then."""
    await _progress(tx, core, batch.id)


async def _progress(tx: Tx, core: Core, batch_id: str) -> None:
    key = (batch_id, "progress", core.ids.ulid())
    await _put(tx, core, kinds.REQUEST_CARD, batch_id, key, due_at=tx.now + PROGRESS_EVERY)


async def results(tx: Tx, core: Core, batch: Request) -> None:
    """What became of each row of a batch, as a CSV file in its thread."""
    await _put(tx, core, kinds.BATCH_RESULTS, batch.id, (batch.id, batch.version))


async def line(
    tx: Tx, core: Core, request: Request, line: str, *, actor: str = "", tag: str = "", text: str = ""
) -> None:
    """One line in the request's thread. `line` is the word the view turns into a sentence.

    Of a row of a batch only what somebody has to look at is reported, in the batch's thread and with the row's id.
    """
    if request.parent_id is not None:
        if line not in _SHOWN_OF_ROWS:
            return
        text = f"{request.id} ({request.summary}): {text or request.outcome_text}"
    body = {"line": line, "actor": actor, "text": text, "version": columns.counted(request.version)}
    key = (request.id, line, tag or request.version)
    await _put(tx, core, kinds.REQUEST_LINE, request.parent_id or request.id, key, body=body)


async def tell_requester(
    tx: Tx, core: Core, request: Request, actor: str, *, is_news: bool = True, is_loud: bool = False
) -> None:
    """The requester's one direct message about it, unless it was their own doing.

    An edit makes no sound in Slack, so what is bad, comes late or `is_loud` is a line in its thread as well. Without
    `is_news` the message is only drawn again.
    """
    if actor == request.requester or request.parent_id is not None:
        return
    is_bad = request.state in _UNWELCOME_STATES or request.stage in UNWELCOME
    shown_at = None
    if is_news and (is_bad or is_loud or not _was_shown_lately(tx, request)):
        subject = kinds.stored_subject(kinds.REQUESTER_NOTICE.about, request.id)
        shown_at = await outbox.last_put(tx, subject, kinds.REQUESTER_NOTICE.form.value)
    key = (request.id, request.version)
    to = request.requester
    await _put(tx, core, kinds.REQUESTER_NOTICE, request.id, key, body={"actor": actor}, person=to)
    if shown_at is None:
        return
    if is_bad or is_loud or tx.now - shown_at > NEWS_SEEN_FOR:
        shown = {"line": ended_line(request) or request.word, "text": request.outcome_text}
        body = {**shown, "actor": actor, "version": columns.counted(request.version)}
        await _put(tx, core, kinds.REQUESTER_LINE, request.id, key, body=body, person=to)


def _was_shown_lately(tx: Tx, request: Request) -> bool:
    """Its approval was: that is put into the outbox in the transaction that approves it."""
    return (
        request.approved_at is not None
        and not request.break_glass
        and tx.now - request.approved_at <= NEWS_SEEN_FOR
    )


async def tell_of_posting(tx: Tx, core: Core, request_id: str, requester: str, word: str) -> None:
    """To the requester: that the card of a pending request is not in the approvals channel yet, or that it is now.

    Drawn as things are when it is delivered. `word` names the occasion: each is said once.
    """
    key = (request_id, word)
    await _put(tx, core, kinds.REQUESTER_NOTICE, request_id, key, body={"actor": ""}, person=requester)


async def redraw_notice(tx: Tx, core: Core, request: Request) -> None:
    """Draw the requester's direct message again, where there is one: what it says of the program changed."""
    subject = Subject(kinds.REQUESTER_NOTICE.about, request.id).stored()
    if await outbox.last_put(tx, subject, kinds.REQUESTER_NOTICE.form.value) is None:
        return
    key = (request.id, request.version, core.ids.ulid())
    body = {"actor": ""}
    await _put(tx, core, kinds.REQUESTER_NOTICE, request.id, key, body=body, person=request.requester)


async def reveal_link(tx: Tx, core: Core, request: Request, nth: int) -> None:
    """The nth one-time link to card details, to the requester alone. Its token is made when it is delivered."""
    await _put(tx, core, kinds.DETAILS_LINK, request.id, (request.id, nth), person=request.requester)


async def alert(tx: Tx, core: Core, alert_id: str, change: str, *, due_at: datetime | None = None) -> None:
    """The alert's one message, drawn as the alert is when it is delivered. `change` names this change."""
    await _put(tx, core, kinds.ALERT, alert_id, (alert_id, change), due_at=due_at)


async def alert_line(
    tx: Tx, core: Core, alert_id: str, n: int, *, actor: str, text: str, mentions: Sequence[str] = ()
) -> None:
    """Line `n` of the alert's history, in its thread. `mentions` are people or groups it calls for."""
    body = {"actor": actor, "text": text, "mentions": list(mentions)}
    await _put(tx, core, kinds.ALERT_LINE, alert_id, (alert_id, "note", n), body=body)


async def alert_chart(tx: Tx, core: Core, alert_id: str) -> None:
    """The alert's chart as a file in its thread: once, however often the alert is drawn again."""
    await _put(tx, core, kinds.ALERT_CHART, alert_id, (alert_id,))


async def digest(tx: Tx, core: Core, day: str) -> None:
    """The morning's digest of this day, for the alerts channel; what it tells is kept as a reading."""
    await _put(tx, core, kinds.DIGEST, day, (day,))


async def anchor(tx: Tx, core: Core, anchor: Anchor) -> None:
    """Where the audit chain ends, for the audit channel."""
    body = {"line": anchor.line(), "seq": anchor.seq}
    await _put(tx, core, kinds.AUDIT_ANCHOR, str(anchor.seq), (anchor.seq, anchor.at), body=body)


async def readdress(tx: Tx, core: Core) -> None:
    """What waits for a channel that the settings do not name any more goes to the one that they name now."""
    in_use = _channels(core)
    for row in await outbox.for_other_channels(tx, in_use.values()):
        kind = kinds.kind_of(row.kind, row.subject, row.body)
        if kind is not None and in_use[kind.to]:
            await outbox.readdress(tx, row.id, in_use[kind.to])


def _channels(core: Core) -> Mapping[To, str]:
    """By where a message goes; "" for a person, and for a channel that is not set."""
    named = core.channels
    return {To.APPROVALS: named.approvals, To.ALERTS: named.alerts, To.AUDIT: named.audit, To.PERSON: ""}


async def _put(
    tx: Tx,
    core: Core,
    kind: MessageKind,
    subject_id: str,
    key: Sequence[object],
    *,
    body: Mapping[str, Any] | None = None,
    person: str | None = None,
    due_at: datetime | None = None,
) -> None:
    """Write the row of a message. `key` is what follows the kind's own word in the key it is known by."""
    marked = {} if kind.line is None else {"line": kind.line}
    await outbox.put(
        tx,
        channel=_channels(core)[kind.to],
        user=person,
        kind=kind.form.value,
        subject=kinds.stored_subject(kind.about, subject_id),
        body={**marked, **(body or {})},
        dedupe=":".join([kind.dedupe, *map(str, key)]),
        due_at=due_at,
    )
    tx.after_commit(core.outbox_bell.set)
