"""Handling the events of the inbox, each in the transaction that marks it handled.

So a crash in between repeats it whole, and nothing of it twice. An event that cannot be handled is tried
again, ever more rarely, with an alert: it holds up no other and is never dropped.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from bot.domain import shared_work
from bot.domain.alerts import delivery_alerts
from bot.domain.events import DeclineFacts, Kind, PurchaseLeg
from bot.partner.models import (
    CHALLENGE,
    Authorization,
    CardAuthorized,
    CardDeclined,
    CardStatusChanged,
    CardTransaction,
    Decline,
    FloatCredited,
    LaterLeg,
    ThreeDsChallenge,
    TypedEvent,
)
from bot.partner.webhooks import unwrap
from bot.services import alerts
from bot.services.alerts import decline_rules, funding_rules
from bot.services.cards import card_sync
from bot.services.core import Core
from bot.services.events import otp_delivery, relay
from bot.services.received_event import ReceivedEvent
from storage.cards import cards
from storage.events import InboxEvent, Share, inbox, purchases
from storage.transaction import Tx

log = logging.getLogger("countersign.inbox")

# Few, as deliveries wait for the database meanwhile; more than one, as they share a commit.
AT_ONCE = 5
# How long an idle loop rests; the bell wakes it at once after an event was stored by this process.
IDLE_S = 1.0
# A code that a process took with it when it died comes again: the card provider delivers what was not answered
# after a minute, and the event log is read as often.
CODE_AWAITED_FOR = timedelta(seconds=90)
_RETRIES = tuple(timedelta(seconds=s) for s in (5, 30, 120, 600, 3600))


async def run(core: Core) -> None:
    """Handle what is stored, until cancelled."""
    while True:
        core.inbox_bell.clear()
        while await process_next(core):
            pass
        # Not `wait_for`: in Python 3.11 it loses a cancellation that comes together with the bell.
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_S):
                await core.inbox_bell.wait()


async def process_next(core: Core, *, limit: int = AT_ONCE) -> int:
    """Handle the events that wait longest, in one commit; returns how many were taken up.

    Of several processes one handles the events of each program, in their order; whichever it is, those whose one-time
    code came to this process are handled here.
    """
    async with core.store.read() as tx:  # an idle round costs nobody the one place to write
        if not await inbox.any_waiting(tx):
            return 0
    share = _share(core)
    async with core.store.begin() as tx:
        waiting = await inbox.waiting(tx, limit=limit, share=share)
        for event in waiting:
            await _one(tx, core, event)
        if waiting:
            core.crash_point("inbox.handled")
    return len(waiting)


def _share(core: Core) -> Share:
    ours = [program for program in core.partners if core.holds(shared_work.events(program))]
    codes = core.codes.known(core.clock)
    holds_others = core.holds(shared_work.OTHER_EVENTS)
    if holds_others and len(ours) == len(core.partners):
        return Share(None, None, CHALLENGE, codes, CODE_AWAITED_FOR)
    return Share(ours, list(core.partners) if holds_others else None, CHALLENGE, codes, CODE_AWAITED_FOR)


async def _one(tx: Tx, core: Core, event: InboxEvent) -> None:
    try:
        async with tx.savepoint():
            await _handle(tx, core, event)
    except Exception:  # whatever is wrong with this event, the others must not wait for it
        log.exception("inbox.not_handled", extra={"event": event.event_id, "type": event.type})
        await _put_off(tx, core, event)


async def _handle(tx: Tx, core: Core, event: InboxEvent) -> None:
    typed = _with_code(core, unwrap(await inbox.payload(tx, event.event_id)))
    leg = purchase_leg_of(typed)
    if leg is not None:
        await purchases.add(tx, event.program, leg)
    received = ReceivedEvent(event.program, typed, event.source, event.received_at)
    await on_event(tx, core, received)
    await relay.enqueue(tx, core, received)
    await inbox.processed(tx, event.event_id)
    if event.attempts >= len(_RETRIES):
        await alerts.resolve(tx, core, delivery_alerts.EVENT_STUCK.condition(event.event_id))


def _with_code(core: Core, event: TypedEvent) -> TypedEvent:
    if not isinstance(event, ThreeDsChallenge):
        return event
    return event.model_copy(update={"code": core.codes.take(event.id, core.clock)})


async def _put_off(tx: Tx, core: Core, event: InboxEvent) -> None:
    wait = _RETRIES[min(event.attempts, len(_RETRIES) - 1)]
    attempts = await inbox.put_off(tx, event.event_id, until=tx.now + wait)
    if attempts == len(_RETRIES):
        said = delivery_alerts.EVENT_STUCK.says(
            event=event.event_id, type=event.type, program=event.program, attempts=attempts
        )
        condition = delivery_alerts.EVENT_STUCK.condition(event.event_id)
        await alerts.raise_(
            tx, core, said, condition=condition, subject=event.event_id, program=event.program
        )


async def on_event(tx: Tx, core: Core, received: ReceivedEvent) -> None:
    """Raise what the event calls for.

    An event of no rule raises nothing; it stays in the inbox for look-ups.
    """
    match received.event:
        case CardDeclined() as declined:
            await decline_rules.on_decline(tx, core, received, declined)
        case FloatCredited(data=data, created_at=created_at):
            await funding_rules.credited(tx, core, received.program, data, created_at)
        case CardStatusChanged(data=data) if data.card_id and await cards.get(tx, data.card_id):
            await card_sync.queue_reading_of_change(tx, received.program, data.card_id)
        case ThreeDsChallenge() as challenge:
            await otp_delivery.on_challenge(tx, core, challenge, received.program)


def purchase_leg_of(event: TypedEvent) -> PurchaseLeg | None:
    """The event as a leg of its purchase; None when it is of no purchase."""
    match event:
        case CardAuthorized(data=data) | CardTransaction(data=data):
            return _leg(event, data, data.transaction_id, data.event)
        # By its type: its status says settled, as that of a refund does [Event types].
        case CardDeclined(data=data) if data.transaction_id is not None:
            return _leg(event, data, data.transaction_id, Kind.DECLINED)
    return None


def _leg(
    event: TypedEvent, data: Authorization | LaterLeg | Decline, transaction_id: str, kind: str
) -> PurchaseLeg:
    return PurchaseLeg(
        event_id=event.id,
        transaction_id=transaction_id,
        kind=kind,
        occurred_at=data.occurred_at or event.created_at,
        card_id=data.card_id,
        amount_usd=data.amount_usd,
        fee_usd=data.fee_usd,
        original_amount=data.original_amount,
        original_currency=data.original_currency,
        merchant=data.merchant,
        merchant_country=data.merchant_country,
        mcc_code=data.mcc_code,
        decline=_decline(data) if isinstance(data, Decline) else None,
    )


def _decline(data: Decline) -> DeclineFacts | None:
    why = data.decline_reason
    if why is None:
        return None
    return DeclineFacts(
        code=why.code or "unknown",
        message=why.message or "",
        retryable=why.retryable,
        card_blocked=why.card_blocked,
    )
