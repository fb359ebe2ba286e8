"""Looking things up: float, cards, funding, requests, policy. Reads only; every number carries its time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.domain.approvals import DecisionKind
from bot.domain.cards import DELETED, CardEntry
from bot.domain.errors import NotFound
from bot.domain.money import exact_sum, format_usd
from bot.domain.policy import KINDS
from bot.domain.requests import OPEN, Request, State
from bot.operations.funding_words import reason_in_words
from bot.partner.errors import PartnerError
from bot.partner.models import Card, CardWithBalance, Funding
from bot.partner.ratelimit import Lane
from bot.services import float_history, people, pictures_of
from bot.services.core import Core
from bot.services.drafts import house_concerns, resolve_card
from bot.services.pictures import (
    AddressPicture,
    CardListPicture,
    CardPicture,
    Confirmation,
    FloatPicture,
    FundingPicture,
    InboxPicture,
    PolicyPicture,
    PolicyRow,
    RequestPicture,
    WhoPicture,
)
from bot.services.requests import existing
from storage import cards, decisions, history, readings, requests
from storage.errors import Purged

FLOAT_FRESH_FOR = timedelta(seconds=15)
PAGE = 25
SWEEP_BATCH = 500


async def float_now(core: Core, *, program: str | None = None) -> FloatPicture:
    """The float, read live when the last reading is older than 15 s. Raises PartnerError."""
    program = program or core.default_program
    async with core.store.read() as tx:
        kept = await readings.get(tx, program, "me")
    if kept is None or kept.read_at < core.clock.now() - FLOAT_FRESH_FOR:
        kept = await read_account(core, program)
    async with core.store.read() as tx:
        waiting = await requests.find(tx, states=(State.PENDING, State.APPROVED), limit=1000)
        past = await float_history.of(tx, core, program)
    moving = [r for r in waiting if r.program == program and _moves_float(core, r)]
    value = kept.value
    return FloatPicture(
        program=program,
        balance_usd=value["balance_usd"],
        available_usd=value["available_usd"],
        funded_usd=value["funded_usd"],
        spent_usd=value["spent_usd"],
        limit_usd=value["limit_usd"],
        pending_usd=str(exact_sum(r.exposure_usd for r in moving)),
        pending_count=len(moving),
        cards_total=value["cards_total"],
        cards_active=value["cards_active"],
        cards_limit=value["cards_limit"],
        read_at=kept.read_at,
        live=core.live.get(program, True),
        history=past,
    )


def _moves_float(core: Core, request: Request) -> bool:
    cls = core.kinds.get(request.kind)
    return cls is not None and cls.moves_float


async def read_account(core: Core, program: str, *, lane: Lane = Lane.PEOPLE) -> readings.Reading:
    """GET /me, kept as the program's last reading and in its history. Raises PartnerError."""
    me = await core.partners[program].me(lane=lane)
    value: dict[str, Any] = {
        "balance_usd": str(me.float.balance_usd),
        "available_usd": str(me.float.available_usd),
        "funded_usd": str(me.float.funded_usd),
        "spent_usd": str(me.float.spent_usd),
        "limit_usd": None if me.float.limit_usd is None else str(me.float.limit_usd),
        "cards_total": me.cards.total,
        "cards_active": me.cards.active,
        "cards_limit": me.cards.limit,
    }
    async with core.store.begin() as tx:
        await readings.put(tx, program, "me", value)
        await history.put(tx, program, "me", value)
        return readings.Reading(value, tx.now)


async def sync_cards(core: Core, program: str) -> int:
    """Read every open card into the directory; cards gone from the list are read singly [GET /cards].

    Written in batches, so that a large fleet neither fills the memory nor holds the database for long.
    """
    partner = core.partners[program]
    begun_at = core.clock.now()
    count, batch = 0, []
    async for card in partner.cards(lane=Lane.BACKGROUND):
        batch.append(_entry(program, card))
        if len(batch) == SWEEP_BATCH:
            count += await _keep_cards(core, program, batch)
            batch = []
    count += await _keep_cards(core, program, batch)
    async with core.store.begin() as tx:
        gone = await cards.mark_gone(tx, program, seen_before=begun_at)
        await cards.mark_synced(tx, program, count)
    for card_id in gone:
        found = await partner.card(card_id, lane=Lane.BACKGROUND)
        async with core.store.begin() as tx:
            if found.card.status == DELETED:
                await cards.set_status(tx, card_id, DELETED)
            else:  # a page that shifted had hidden it
                await cards.put_many(tx, program, [_entry(program, found.card)])
    return count


async def _keep_cards(core: Core, program: str, batch: list[CardEntry]) -> int:
    async with core.store.begin() as tx:
        await cards.put_many(tx, program, batch)
    return len(batch)


async def sweep_balances(core: Core, program: str) -> int:
    """The balances of the whole fleet as the service last read them, a thousand a call [POST /cards/balances].

    A card without a reading keeps the figure it had, with its own time.
    """
    count, batch = 0, []
    async for row in core.partners[program].fleet_balances(lane=Lane.BACKGROUND):
        if row.balance_usd is not None and row.as_of is not None:
            batch.append((row.card_id, row.balance_usd, row.as_of))
        if len(batch) == SWEEP_BATCH:
            count += await _keep_balances(core, batch)
            batch = []
    return count + await _keep_balances(core, batch)


async def _keep_balances(core: Core, batch: list[tuple[str, Decimal, datetime]]) -> int:
    async with core.store.begin() as tx:
        await cards.set_balances(tx, batch)
    return len(batch)


async def refresh_card(core: Core, program: str, card_id: str) -> CardWithBalance:
    """Read one card live and keep it in the directory. Raises PartnerError."""
    found = await core.partners[program].card(card_id)
    async with core.store.begin() as tx:
        entry = replace(
            _entry(program, found.card),
            balance_usd=found.balance_usd,
            balance_at=None if found.balance_usd is None else tx.now,
        )
        await cards.put_many(tx, program, [entry])
    return found


def _entry(program: str, card: Card) -> CardEntry:
    return CardEntry(
        id=card.id,
        program=program,
        holder=card.card_holder_name,
        last4=card.last4,
        partner_ref=card.partner_ref,
        status=card.status,
        created_at=card.created_at,
    )


async def card_now(core: Core, text: str) -> CardPicture:
    """The card that `text` names, with its live status and balance. Raises NotFound, PartnerError."""
    async with core.store.read() as tx:
        entry = await resolve_card(tx, text)
    found = await refresh_card(core, entry.program, entry.id)
    async with core.store.read() as tx:
        history = await requests.find(tx, subject=entry.id, limit=10)
        read_at = tx.now
    return replace(
        _card(entry),
        status=found.card.status,
        last4=found.card.last4 or entry.last4,
        balance_usd=None if found.balance_usd is None else str(found.balance_usd),
        read_at=read_at,
        open_requests=tuple(r for r in history if r.state in OPEN),
        history=tuple(r for r in history if r.state not in OPEN),
    )


def _card(entry: CardEntry) -> CardPicture:
    return CardPicture(
        id=entry.id,
        holder=entry.holder,
        last4=entry.last4,
        partner_ref=entry.partner_ref,
        status=entry.status,
        balance_usd=None if entry.balance_usd is None else str(entry.balance_usd),
        read_at=entry.balance_at,
        program=entry.program,
    )


async def card_list(core: Core, *, status: str | None = None, page: int = 1) -> CardListPicture:
    """One page of the directory with balances from POST /cards/balances (cached there, with their age)."""
    async with core.store.read() as tx:
        total = await cards.count(tx, status=status)
        pages = max(1, math.ceil(total / PAGE))
        page = min(max(page, 1), pages)
        rows = await cards.all(tx, status=status, limit=PAGE, offset=(page - 1) * PAGE)
        synced_at = await cards.synced_at(tx, core.default_program)
    shown = tuple(await _with_balances(core, rows))
    return CardListPicture(shown, total, status, page, pages, synced_at)


async def _with_balances(core: Core, rows: list[CardEntry]) -> list[CardPicture]:
    """Balances of these cards; where they cannot be read they stay what we last knew."""
    found: dict[str, tuple[Decimal | None, Any]] = {}
    for program in {row.program for row in rows}:
        try:
            answers = await core.partners[program].balances([r.id for r in rows if r.program == program])
        except PartnerError:
            continue
        found |= {a.card_id: (a.balance_usd, a.as_of) for a in answers}
    pictures = []
    for row in rows:
        picture = _card(row)
        if row.id in found:
            balance, as_of = found[row.id]
            picture = replace(picture, balance_usd=None if balance is None else str(balance), read_at=as_of)
        pictures.append(picture)
    return pictures


async def funding_list(core: Core, *, program: str | None = None) -> list[FundingPicture]:
    """The program's submissions, newest first. Raises PartnerError."""
    found = await core.partners[program or core.default_program].funding_list()
    return [await _funding(core, f) for f in found]


async def funding_show(core: Core, text: str, *, program: str | None = None) -> FundingPicture:
    """One submission by its id or hash. Raises NotFound, PartnerError."""
    wanted = text.strip().lower()
    partner = core.partners[program or core.default_program]
    if wanted.startswith("0x"):
        for funding in await partner.funding_list():
            if funding.tx_hash == wanted:
                return await _funding(core, funding)
        raise NotFound(f"No submission has the hash {wanted[:20]}…. Check it, or submit it.")
    return await _funding(core, await partner.funding(wanted))


async def _funding(core: Core, funding: Funding) -> FundingPicture:
    async with core.store.read() as tx:
        ours = await requests.find(tx, subject=funding.tx_hash, kind="funding_submit", limit=1)
    return FundingPicture(
        id=funding.id,
        network=funding.network,
        tx_hash=funding.tx_hash,
        status=funding.status,
        words=reason_in_words(funding.status, funding.reason),
        token=funding.token,
        amount_usd=_text(funding.amount_usd),
        fee_usd=_text(funding.fee_usd),
        credited_usd=_text(funding.credited_usd),
        created_at=funding.created_at,
        credited_at=funding.credited_at,
        request_id=ours[0].id if ours else None,
    )


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


async def funding_addresses(core: Core, *, program: str | None = None) -> list[AddressPicture]:
    """Always live: a remembered address is never shown. Raises PartnerError."""
    found = await core.partners[program or core.default_program].funding_addresses()
    return [AddressPicture(a.network, a.address, tuple(a.tokens)) for a in found]


async def inbox_of(core: Core, slack_id: str) -> InboxPicture:
    """What waits for this person, what they asked for, what was decided lately; oldest waiting first."""
    may_decide = slack_id in await people.approvers_lately(core)
    async with core.store.read() as tx:
        pending = await requests.find(tx, states=(State.PENDING,), limit=100, oldest_first=True)
        waiting = []
        for request in pending if may_decide else ():
            voted = {d.actor for d in await decisions.of(tx, request.id) if d.kind is DecisionKind.APPROVE}
            if request.requester != slack_id and slack_id not in voted:
                waiting.append(request)
        mine = await requests.find(tx, requester=slack_id, states=OPEN, limit=50)
        recent = await requests.find(tx, states=frozenset(State) - OPEN, limit=10)
    return InboxPicture(tuple(waiting), tuple(mine), tuple(recent))


async def request_picture(core: Core, request_id: str) -> RequestPicture:
    """Raises NotFound."""
    async with core.store.read() as tx:
        return await pictures_of.request(tx, core, await existing(tx, request_id))


async def private_of(core: Core, request_id: str) -> Mapping[str, str]:
    """The sealed values of a pending request, for the approver's modal only; empty once purged."""
    async with core.store.read() as tx:
        try:
            return (await requests.frozen(tx, request_id)).private
        except Purged:
            return {}


async def confirmation(core: Core, request_id: str) -> Confirmation:
    """The confirmation modal: frozen terms, the facts read again now, and what changed since submit."""
    picture = await request_picture(core, request_id)
    request = picture.request
    private = await private_of(core, request_id)
    operation = core.kinds[request.kind]({**request.terms, **private}, request.subject_label)
    try:
        facts = {**request.facts, **await operation.read(core.partners[request.program])}
    except PartnerError:
        return Confirmation(picture, picture.lines, picture.concerns, (), facts_read=False)
    lines = tuple(operation.lines(facts))
    before = dict(picture.lines)
    changed = tuple(f"{label}: now {value}" for label, value in lines if before.get(label, value) != value)
    concerns = (*operation.concerns(facts), *house_concerns(operation, facts))
    return Confirmation(picture, lines, concerns, changed, facts_read=True)


def policy_picture(core: Core) -> PolicyPicture:
    limits = core.policy.limits
    shown = [
        (label, format_usd(value))
        for label, value in (
            ("For each requester", limits.per_requester_usd),
            ("For each pair of requester and approver", limits.per_pair_usd),
            ("In all", limits.total_usd),
        )
        if value is not None
    ]
    rows = []
    for kind in KINDS:
        of = core.policy.of(kind)
        cls = core.kinds.get(kind)
        rows.append(
            PolicyRow(
                kind=kind,
                title=cls.title if cls else kind.replace("_", " "),
                approvals=of.approvals,
                tiers=tuple((str(t.above_usd), t.approvals) for t in of.tiers),
                expires=_duration(of.expires),
                run_now=kind == "card_freeze" and of.now,
                built=cls is not None,
            )
        )
    who = core.policy.people
    return PolicyPicture(
        tuple(rows), who.requesters, who.approvers, who.admins, tuple(shown), core.policy.version
    )


def _duration(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds % unit == 0 and seconds >= unit:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


async def who(core: Core, kind: str, requester: str) -> WhoPicture:
    """Who may approve this kind now, were `requester` to ask."""
    cls = core.kinds[kind]
    return WhoPicture(
        title=cls.title,
        approvals=core.policy.of(kind).approvals,
        able=tuple(sorted(await people.approvers_lately(core) - {requester})),
        names=core.policy.people.approvers,
        requester=requester,
    )
