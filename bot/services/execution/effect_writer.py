"""Writes the effects of a step, in the transaction that changes the request: all of them, or none.

Which effects a step has is said in `bot.outcomes.effects` and by the operation kinds. Every record, message and
alert of an execution is written here, so that what leaves this bot because of an outcome is one list to read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from bot.domain.requests import Request
from bot.outcomes import effects as e
from bot.services import alerts, audit, outbox_messages
from bot.services.alerts import funding_rules, urgent_rules
from bot.services.cards import details_link
from bot.services.core import Core
from bot.services.execution import webhook_secret
from bot.services.requests import batch_rows
from storage.messages import outbox
from storage.requests import requests
from storage.transaction import Tx


async def write(tx: Tx, core: Core, request: Request, found: Iterable[e.Effect]) -> None:
    """Write what follows for `request`, which is as this transaction has left it, in the order of `effects.ORDER`."""
    async with outbox.put_together(tx):
        for effect in e.in_order(found):
            await _write(tx, core, request, effect)


async def _write(tx: Tx, core: Core, request: Request, effect: e.Effect) -> None:
    match effect:
        case e.SealSecret() | e.KeepSecret() | e.LoseSecret():
            await webhook_secret.record(tx, core, request, effect)
        case e.GrantLink() | e.FollowFunding():
            await _begin(tx, core, request, effect)
        case e.AuditEntry():
            await audit.of_request(tx, core, request, effect.actor, effect.action, effect.body)
        case e.RedrawCard():
            await outbox_messages.card(tx, core, request)
            if request.parent_id is not None:
                await batch_rows.row_changed(tx, core, request)
        case e.ThreadLine():
            await outbox_messages.line(tx, core, request, effect.line, text=effect.text)
        case e.PurgePrivate():
            await requests.purge(tx, request.id)
        case e.ResolveAlert():
            await alerts.resolve(tx, core, effect.condition)
        case e.RaiseAlert() | e.FollowUrgent():
            await _alert(tx, core, request, effect)
        case e.DirectMessage() | e.RedrawNotice():
            await _notice(tx, core, request, effect)
        case _:
            assert_never(effect)


async def _alert(tx: Tx, core: Core, request: Request, effect: e.RaiseAlert | e.FollowUrgent) -> None:
    if isinstance(effect, e.RaiseAlert):
        await alerts.raise_(
            tx, core, effect.said, condition=effect.condition, subject=request.id, program=request.program
        )
    else:
        await urgent_rules.follow(tx, core, request, is_refused=effect.is_refused)


async def _begin(tx: Tx, core: Core, request: Request, effect: e.GrantLink | e.FollowFunding) -> None:
    """What begins with this outcome and goes on by itself."""
    if isinstance(effect, e.GrantLink):
        await details_link.grant(tx, core, request)
    else:
        await funding_rules.answered(tx, core, request, effect.facts)


async def _notice(tx: Tx, core: Core, request: Request, effect: e.DirectMessage | e.RedrawNotice) -> None:
    if isinstance(effect, e.RedrawNotice):
        await outbox_messages.redraw_notice(tx, core, request)
    else:
        await outbox_messages.tell_requester(tx, core, request, "")
