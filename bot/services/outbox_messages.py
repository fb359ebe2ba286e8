"""Slack messages owed: rows written in the transaction of the change they tell of.

A row never holds the picture, only what to draw: `request R-7K3M`, a thread line, an alert. The
picture is drawn from the database when the row is delivered, so lost, doubled or late rows heal.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from bot.domain.requests.lifecycle import Request
from bot.services.core import Core
from storage.audit import Anchor
from storage.messages import outbox
from storage.transaction import Tx

PROGRESS_EVERY = timedelta(seconds=3)
_TOLD_OF_ROWS = frozenset({"unresolved", "landed_late", "resolution"})


async def card(tx: Tx, core: Core, request: Request) -> None:
    """The request card in the approvals channel, drawn as the request is when it is delivered.

    A row of a batch has none of its own: its batch's is drawn.
    """
    if request.parent_id is not None:
        await _progress(tx, core, request.parent_id)
        return
    await _put(
        tx,
        core,
        channel=core.channels.approvals,
        kind="card",
        subject=f"request:{request.id}",
        body={},
        dedupe=f"card:{request.id}:{request.version}",
    )


async def redraw(tx: Tx, core: Core, request: Request) -> None:
    """Draw again though nothing changed: the message was lost or edited by somebody."""
    await _put(
        tx,
        core,
        channel=core.channels.approvals,
        kind="card",
        subject=f"request:{request.id}",
        body={},
        dedupe=f"card:{request.id}:{request.version}:{core.ids.ulid()}",
    )


async def progress(tx: Tx, core: Core, batch: Request) -> None:
    """Draw a batch while its rows go on: at most once in `PROGRESS_EVERY`, with all that has happened by then."""
    await _progress(tx, core, batch.id)


async def _progress(tx: Tx, core: Core, batch_id: str) -> None:
    await _put(
        tx,
        core,
        channel=core.channels.approvals,
        kind="card",
        subject=f"request:{batch_id}",
        body={},
        dedupe=f"card:{batch_id}:progress:{core.ids.ulid()}",
        due_at=tx.now + PROGRESS_EVERY,
    )


async def results(tx: Tx, core: Core, batch: Request) -> None:
    """What became of each row of a batch, as a CSV file in its thread."""
    await _put(
        tx,
        core,
        channel=core.channels.approvals,
        kind="line",
        subject=f"request:{batch.id}",
        body={"line": "results"},
        dedupe=f"results:{batch.id}:{batch.version}",
    )


async def line(
    tx: Tx, core: Core, request: Request, line: str, *, actor: str = "", tag: str = "", text: str = ""
) -> None:
    """One line in the request's thread. `line` is the word the view turns into a sentence.

    Of a row of a batch only what somebody has to look at is told, in the batch's thread and with the row's id.
    """
    if request.parent_id is not None:
        if line not in _TOLD_OF_ROWS:
            return
        text = f"{request.id} ({request.summary}): {text or request.outcome_text}"
    await _put(
        tx,
        core,
        channel=core.channels.approvals,
        kind="line",
        subject=f"request:{request.parent_id or request.id}",
        body={"line": line, "actor": actor, "text": text, "version": request.version},
        dedupe=f"line:{request.id}:{line}:{tag or request.version}",
    )


async def tell_requester(tx: Tx, core: Core, request: Request, actor: str) -> None:
    """A direct message to the requester, unless it was their own doing."""
    if actor == request.requester or request.parent_id is not None:
        return
    await _put(
        tx,
        core,
        channel="",
        user=request.requester,
        kind="direct",
        subject=f"request:{request.id}",
        body={"actor": actor},
        dedupe=f"direct:{request.id}:{request.version}",
    )


async def reveal_link(tx: Tx, core: Core, request: Request, nth: int) -> None:
    """The nth one-time link to card details, to the requester alone. Its token is made when it is delivered."""
    await _put(
        tx,
        core,
        channel="",
        user=request.requester,
        kind="direct",
        subject=f"reveal:{request.id}",
        body={},
        dedupe=f"reveal:{request.id}:{nth}",
    )


async def alert(tx: Tx, core: Core, alert_id: str, change: str, *, due_at: datetime | None = None) -> None:
    """The alert's one message, drawn as the alert is when it is delivered. `change` names this change."""
    await _put(
        tx,
        core,
        channel=core.channels.alerts,
        kind="alert",
        subject=f"alert:{alert_id}",
        body={},
        dedupe=f"alert:{alert_id}:{change}",
        due_at=due_at,
    )


async def alert_line(
    tx: Tx, core: Core, alert_id: str, n: int, *, actor: str, text: str, mentions: Sequence[str] = ()
) -> None:
    """Line `n` of the alert's history, in its thread. `mentions` are people or groups it calls for."""
    await _put(
        tx,
        core,
        channel=core.channels.alerts,
        kind="line",
        subject=f"alert:{alert_id}",
        body={"actor": actor, "text": text, "mentions": list(mentions)},
        dedupe=f"alert:{alert_id}:note:{n}",
    )


async def alert_chart(tx: Tx, core: Core, alert_id: str) -> None:
    """The alert's chart as a file in its thread: once, however often the alert is drawn again."""
    await _put(
        tx,
        core,
        channel=core.channels.alerts,
        kind="line",
        subject=f"alert:{alert_id}",
        body={"line": "chart"},
        dedupe=f"chart:{alert_id}",
    )


async def digest(tx: Tx, core: Core, day: str) -> None:
    """The morning's digest of this day, for the alerts channel; what it tells is kept as a reading."""
    await _put(
        tx,
        core,
        channel=core.channels.alerts,
        kind="direct",
        subject=f"digest:{day}",
        body={},
        dedupe=f"digest:{day}",
    )


async def anchor(tx: Tx, core: Core, anchor: Anchor) -> None:
    """Where the audit chain ends, for the audit channel."""
    await _put(
        tx,
        core,
        channel=core.channels.audit,
        kind="direct",
        subject=f"anchor:{anchor.seq}",
        body={"line": anchor.line(), "seq": anchor.seq},
        dedupe=f"anchor:{anchor.seq}:{anchor.at}",
    )


async def _put(tx: Tx, core: Core, **row: Any) -> None:
    await outbox.put(tx, **row)
    tx.after_commit(core.outbox_bell.set)
