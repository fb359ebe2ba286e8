"""A request whose effect goes on after the call is moved to where that effect is now, and people are notified once.

What moves it is what is known of the thing at the API, whoever brought that: an event, a reading, an answer. The
request is changed and its messages are written in the transaction that keeps what was learned, so doing it again finds
nothing to do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from bot.domain.requests import UNWELCOME, Progress, Request, State
from bot.services import audit, outbox_messages
from bot.services.core import Core
from storage.requests import requests
from storage.transaction import Tx

_MOST = 50


async def follow(
    tx: Tx, core: Core, *, program: str, kinds: Collection[str], subject: str, facts: Mapping[str, Any]
) -> None:
    """Move the requests of these kinds that succeeded on `subject` to where `facts` say that their effect is."""
    done = await requests.find(
        tx, program=program, states=(State.SUCCEEDED,), kinds=kinds, subject=subject, limit=_MOST
    )
    for found in done:
        progress = core.kinds[found.kind].of_stored(found.terms, found.subject_label).progress(facts)
        is_behind = progress and (progress.stage, progress.text) != (found.stage, found.outcome_text)
        if progress and is_behind:
            await _move(tx, core, found.id, progress)


async def _move(tx: Tx, core: Core, request_id: str, progress: Progress) -> None:
    await requests.lock(tx, request_id)
    before = await requests.get(tx, request_id)
    if before is None:
        return
    after = await requests.touch(tx, before, stage=progress.stage, outcome_text=progress.text)
    await outbox_messages.card(tx, core, after)
    # A request from before it had a stage sends nothing: its alerts have said all there was.
    if before.stage is not None:
        await _tell(tx, core, before, after)
    if before.stage is not progress.stage:
        body = {"kind": after.kind, "stage": after.word, "before": before.word, "digest": after.digest}
        body |= audit.ended(tx, after)
        await audit.record(
            tx, core, "system:funding", "request.stage", f"request:{after.id}:{after.version}", body
        )


async def _tell(tx: Tx, core: Core, before: Request, now: Request) -> None:
    """The requester's message shows it; what is bad or late, or ends what was bad, is a line in the threads as well."""
    is_news = before.stage is not now.stage
    is_late = now.finished_at is None or tx.now - now.finished_at > outbox_messages.NEWS_SEEN_FOR
    is_loud = is_news and (is_late or bool({before.stage, now.stage} & UNWELCOME))
    if is_loud:
        await outbox_messages.line(tx, core, now, now.word, text=now.outcome_text)
    await outbox_messages.tell_requester(tx, core, now, "", is_news=is_news, is_loud=is_loud)
