"""Looking at funding: the submissions with their age, and where funds may be sent now."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from bot import operations
from bot.domain.alerts import alert_rules
from bot.domain.errors import NotFound
from bot.domain.ids import short_hash
from bot.domain.time import Period
from bot.operations import reason_in_words, refuse_card_number, stage_of
from bot.partner import errors as partner_errors
from bot.partner.calls import account as account_calls
from bot.partner.client import PartnerClient
from bot.partner.models import FUNDING_STATUSES, Funding
from bot.services.alerts import funding_rules
from bot.services.core import Core
from bot.view_models import AddressView, FundingView
from storage.requests import requests
from storage.transaction import Tx

_MOVING = ("pending", "review")
# What a person should look at first: late, in review, on its way, then what is over.
_FIRST = ("review", "pending")
_WHERE = "/funding list shows them all."
# As a person copies it from a message: whole, its beginning, or `0x68105d…9005`.
_HASH = re.compile(r"(?P<begins>0x[0-9a-f]{4,64})(?:(?:…|\.{2,3})(?P<ends>[0-9a-f]{0,64}))?")
_SHORT = 20
_NAMED = 5


async def funding_list(
    core: Core,
    *,
    program: str | None = None,
    status: str = "",
    network: str = "",
    period: Period | None = None,
) -> list[FundingView]:
    """The program's submissions: stuck ones first, the oldest of them first; then the newest. Raises PartnerError.

    Those of a status, a network and a period alone, where they are given.
    """
    program = program or core.default_program
    found = [
        one
        for one in await core.partners[program].funding_list()
        if status in ("", _known(one.status))
        and network in ("", one.network)
        and (period is None or one.created_at in period)
    ]
    views = await _views(core, program, found)
    moving = [p for p in views if p.age is not None]
    moving.sort(key=lambda p: (not p.overdue, _FIRST.index(p.status), p.created_at))
    over = sorted((p for p in views if p.age is None), key=lambda p: p.created_at, reverse=True)
    return moving + over


def _known(status: str) -> str:
    """A status that is not known here is one that was submitted."""
    return status if status in FUNDING_STATUSES else "pending"


async def funding_show(core: Core, text: str, *, program: str | None = None) -> FundingView:
    """One submission by its id, its hash or the beginning of its hash. Raises NotFound, PartnerError.

    That it is not there is never a reason to submit it: the list may lack it for a while.
    """
    wanted = text.strip().lower()
    program = program or core.default_program
    found = await _submission(core.partners[program], wanted)
    return (await _views(core, program, [found]))[0]


async def _submission(partner: PartnerClient, wanted: str) -> Funding:
    """The only one that is named. Raises NotFound with those that may be meant, PartnerError."""
    try:
        refuse_card_number("" if wanted.startswith("0x") else wanted)
    except ValueError as refusal:
        raise NotFound(str(refusal)) from None
    if not wanted.startswith("0x"):
        try:
            return await partner.funding(wanted)
        except partner_errors.NotFound:
            raise NotFound(f"No submission has the id “{wanted[:40]}”. {_WHERE}") from None
    hash_ = _HASH.fullmatch(wanted)
    if hash_ is None:
        raise NotFound(
            f"“{wanted[:40]}” isn't a transaction hash. Write at least 0x and its first four characters."
        )
    begins, ends = hash_["begins"], hash_["ends"] or ""
    listed = await partner.funding_list()
    found = [f for f in listed if f.tx_hash.startswith(begins) and f.tx_hash.endswith(ends)]
    if len(found) == 1:
        return found[0]
    shown = short_hash(wanted) if len(wanted) > _SHORT else wanted
    if not found:
        raise NotFound(f"No submission has the hash {shown}. {_WHERE}")
    several = "; ".join(f"{short_hash(f.tx_hash)} ({f.network}, {f.id})" for f in found[:_NAMED])
    raise NotFound(f"{shown} fits {len(found)} submissions: {several}. Write more of the hash, or the id.")


async def _views(core: Core, program: str, found: list[Funding]) -> list[FundingView]:
    async with core.store.read() as tx:
        took = await funding_rules.took(tx, program)
        return [await _view(tx, core, funding, took.get(funding.network, [])) for funding in found]


async def _view(tx: Tx, core: Core, funding: Funding, took: list[timedelta]) -> FundingView:
    submitting = operations.asking(core.kinds, account_calls.SUBMIT_FUNDING)
    ours = await requests.find(tx, subject=funding.tx_hash, kinds=submitting, limit=1)
    usual = alert_rules.usual_time(funding.network, took)
    age = _age(funding, tx.now)
    return FundingView(
        id=funding.id,
        network=funding.network,
        tx_hash=funding.tx_hash,
        status=funding.status,
        word=stage_of(funding.status, funding.reason).value,
        words=reason_in_words(funding.status, funding.reason),
        token=funding.token,
        amount_usd=funding.amount_usd,
        fee_usd=funding.fee_usd,
        credited_usd=funding.credited_usd,
        created_at=funding.created_at,
        credited_at=funding.credited_at,
        request_id=ours[0].id if ours else None,
        age=age,
        usual=usual,
        overdue=alert_rules.overdue_mark(age, usual)
        if age is not None and funding.status == "pending"
        else "",
    )


def _age(funding: Funding, now: datetime) -> timedelta | None:
    return max(now - funding.created_at, timedelta(0)) if funding.status in _MOVING else None


async def funding_addresses(core: Core, *, program: str | None = None) -> list[AddressView]:
    """Always live: a remembered address is never shown. Raises PartnerError."""
    found = await core.partners[program or core.default_program].funding_addresses()
    return [AddressView(a.network, a.address, tuple(a.tokens)) for a in found]
