"""What our own records say of a request, where the API cannot: what was set here before, what reaches us.

Some settings no call reads back, so the requests that set them are the only source. And whether events come
through is known only by those that came: a delivery counts once its signature was verified here. What would rather
act blind than not at all waits for a live reading a moment only; then its card is shown as it was read last.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from bot.domain.cards import label
from bot.domain.errors import LookupFailed
from bot.domain.requests import UNSENT, Request, State
from bot.operations import DELIVERED_WITHIN, Facts, Operation
from bot.outcomes import planning
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.services.core import Core
from storage.cards import api_snapshots, cards, otp_recipients
from storage.events import inbox
from storage.operators import people
from storage.requests import attempts, requests
from storage.transaction import Tx

Found = TypeVar("Found")

READ_WITHIN_S = 2.0
"""A reading that answers at all answers in a fraction of this; who decides, or is in an emergency, waits no longer."""
PREVIEW_WITHIN_S = 10.0
"""How long a preview waits that cannot do without a live reading; whoever asks can ask again."""
SCARCE_SHARE = 0.5
"""Below this share of its minute a key is busy."""
SHOWN_FOR_S = 15.0
"""Then so long one reading is shown to all: money has a use for the calls."""
# A delivery of an event that was known already, as a redelivery is, leaves no row of its own.
_REPEATED = "webhook_repeated"


async def facts(tx: Tx, operation: Operation, program: str) -> Facts:
    """For `reads_back` and `needs_deliveries`; nothing for other kinds."""
    found: dict[str, Any] = {}
    if not operation.handling.reads_back:
        found["set_before"] = await _set_before(tx, operation)
    if operation.handling.needs_deliveries:
        verified_at = await verified_delivery_at(tx, program)
        found["verified_at"] = f"{verified_at:%Y-%m-%d %H:%M:%S} UTC" if verified_at else None
        found["is_verified"] = verified_at is not None and verified_at >= tx.now - DELIVERED_WITHIN
        found["code_person"] = await _code_person(tx, operation)
    return found


async def verified_delivery_at(tx: Tx, program: str) -> datetime | None:
    """When the newest delivery with a good signature came; None before the first."""
    first = await inbox.last_received(tx, program, "webhook")
    repeated = await api_snapshots.get(tx, program, _REPEATED)
    times = [at for at in (first, repeated.read_at if repeated else None) if at is not None]
    return max(times, default=None)


async def first_delivery_after(tx: Tx, program: str, at: datetime) -> datetime | None:
    """When the first delivery with a good signature from `at` on came; None where none did.

    Of those that repeat a known event the newest alone is on record.
    """
    first = await inbox.first_received(tx, program, "webhook", since=at)
    repeated = await api_snapshots.get(tx, program, _REPEATED)
    times = [one for one in (first, repeated.read_at if repeated else None) if one is not None and one >= at]
    return min(times, default=None)


async def note_repeated(core: Core, program: str) -> None:
    """A verified delivery of an event that was known already."""
    async with core.store.begin() as tx:
        await api_snapshots.put(tx, program, _REPEATED, {})


async def waits_for(tx: Tx, cls: type[Operation], subject: str, program: str) -> list[Request]:
    """What is sent already on the same target, its outcome not known yet: nothing of this kind is sent before it is.

    Empty for kinds that may be sent all the same.
    """
    handling = cls.handling
    if not subject or not (handling.alone or handling.doubts):
        return []
    return await requests.find(
        tx,
        states=(State.EXECUTING, State.UNRESOLVED),
        subject=subject,
        program=program,
        kinds=None if handling.alone else handling.doubts,
    )


async def goes_first(tx: Tx, core: Core, request: Request) -> tuple[str, ...]:
    """The ids of what an approved request waits for; empty in every other state, and where nothing does."""
    if request.state is not State.APPROVED or request.kind not in core.kinds:
        return ()
    others = await waits_for(tx, core.kinds[request.kind], request.subject, request.program)
    return tuple(sorted(other.id for other in others))


async def can_be_cancelled(tx: Tx, core: Core, request: Request) -> bool:
    """Nothing of it was carried out, and no call of it is under way: not sent yet, or refused each time."""
    if request.state in UNSENT:
        return True
    if request.state is not State.EXECUTING or request.is_batch or request.kind not in core.kinds:
        return False
    if await tx.lasts(request.lease_until):
        return False
    history = planning.History.of(await attempts.of(tx, request.id), core.kinds[request.kind].endpoint)
    return planning.was_refused(request, history)


async def _set_before(tx: Tx, operation: Operation) -> str | None:
    """The newest request of this kind that succeeded on this target."""
    done = await requests.find(
        tx, subject=operation.subject, kinds=(operation.kind,), states=(State.SUCCEEDED,), limit=1
    )
    if not done:
        return None
    at = done[0].finished_at or done[0].created_at
    return f"{done[0].summary} ({done[0].id}, {at:%Y-%m-%d %H:%M} UTC)"


async def _code_person(tx: Tx, operation: Operation) -> str | None:
    """The name of whoever gets the one-time codes of the card."""
    entry = await cards.get(tx, operation.subject)
    slack_id = await otp_recipients.person_of(tx, entry.partner_ref) if entry and entry.partner_ref else None
    if slack_id is None:
        return None
    known = await people.get(tx, slack_id)
    return known.actor.name if known else slack_id


async def facts_for_preview(core: Core, operation: Operation, program: str) -> Facts:
    """The facts read live; else, where the kind can do without, those last read. Raises PartnerError, LookupFailed."""
    if operation.handling.must_recheck:
        return await in_time(operation.read(shown_by(core, program)))
    return await read_now(operation, shown_by(core, program)) or await last_read(core, operation)


def shown_by(core: Core, program: str) -> PartnerClient:
    """The program's client for what is only shown.

    While less than half of the key's minute is left, what was read to show it is shown to others for a moment, too.
    Otherwise it is read each time; and what is sent is compared with a reading of its own, always.
    """
    partner = core.partners[program]
    if partner.budget_left >= partner.calls_a_minute * SCARCE_SHARE:
        return partner
    # Under names of their own: nothing that is to be sent waits for what somebody is shown.
    share = partial(core.accounts_seen.lately, clock=core.clock, within_s=SHOWN_FOR_S)
    return partner.with_account(partial(share, ("shown", program), partner.me)).with_card(
        lambda card_id: share(("shown", program, card_id), partial(partner.card, card_id))
    )


def other_card(operation: Operation, partner: PartnerClient) -> str:
    """Whose card it is, where the API just said that it is another one than people read; empty where it is that one.

    A card whose number people did not know yet may have one by now.
    """
    known = partner.identities.get(operation.subject)
    if known is None or operation.target_label in {label(*known), label(known[0], None)}:
        return ""
    return label(*known)


async def in_time(reading: Awaitable[Found]) -> Found:
    """What a preview cannot do without. Raises LookupFailed where it takes too long, and what the reading raises."""
    try:
        async with asyncio.timeout(PREVIEW_WITHIN_S):
            return await reading
    except TimeoutError:
        raise LookupFailed(
            f"Your card provider has not answered within {PREVIEW_WITHIN_S:g} seconds, so this cannot be shown now."
            " Nothing was recorded. Try again in a minute."
        ) from None


async def read_now(operation: Operation, partner: PartnerClient) -> Facts | None:
    """The facts read live within a moment; None where the API does not tell them by then."""
    try:
        async with asyncio.timeout(READ_WITHIN_S):
            return await operation.read(partner)
    except (PartnerError, TimeoutError):
        return None


async def last_read(core: Core, operation: Operation) -> Facts:
    """The facts as our directory last knew them, for a kind that can do without a live reading."""
    async with core.store.read() as tx:
        entry = await cards.get(tx, operation.subject)
        seen_at = await cards.seen_at(tx, operation.subject)
        return operation.facts_of_last_reading(entry, reading_of(seen_at, tx.now) if seen_at else "")


def reading_of(seen_at: datetime, now: datetime) -> str:
    """`2026-11-22 08:57 UTC, 12 min old`"""
    minutes = max(0, int((now - seen_at).total_seconds())) // 60
    age = f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
    return f"{seen_at:%Y-%m-%d %H:%M} UTC, {age} old"
