"""Looking at funding: the submissions with their age, and where funds may be sent now."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot import operations
from bot.domain.alerts import alert_rules
from bot.domain.errors import NotFound
from bot.operations import reason_in_words, stage_of
from bot.partner.calls import account as account_calls
from bot.partner.models import Funding
from bot.services.alerts import funding_rules
from bot.services.core import Core
from bot.view_models import AddressView, FundingView
from storage.requests import requests
from storage.transaction import Tx

_MOVING = ("pending", "review")
# What a person should look at first: late, in review, on its way, then what is over.
_FIRST = ("review", "pending")


async def funding_list(core: Core, *, program: str | None = None) -> list[FundingView]:
    """The program's submissions: stuck ones first, the oldest of them first; then the newest. Raises PartnerError."""
    program = program or core.default_program
    found = await core.partners[program].funding_list()
    pictures = await _pictures(core, program, found)
    moving = [p for p in pictures if p.age is not None]
    moving.sort(key=lambda p: (not p.overdue, _FIRST.index(p.status), p.created_at))
    over = sorted((p for p in pictures if p.age is None), key=lambda p: p.created_at, reverse=True)
    return moving + over


async def funding_show(core: Core, text: str, *, program: str | None = None) -> FundingView:
    """One submission by its id or hash. Raises NotFound, PartnerError."""
    wanted = text.strip().lower()
    program = program or core.default_program
    partner = core.partners[program]
    if not wanted.startswith("0x"):
        return (await _pictures(core, program, [await partner.funding(wanted)]))[0]
    for funding in await partner.funding_list():
        if funding.tx_hash == wanted:
            return (await _pictures(core, program, [funding]))[0]
    raise NotFound(f"No submission has the hash {wanted[:20]}…. Check it, or submit it.")


async def _pictures(core: Core, program: str, found: list[Funding]) -> list[FundingView]:
    async with core.store.read() as tx:
        took = await funding_rules.took(tx, program)
        return [await _picture(tx, core, funding, took.get(funding.network, [])) for funding in found]


async def _picture(tx: Tx, core: Core, funding: Funding, took: list[timedelta]) -> FundingView:
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
