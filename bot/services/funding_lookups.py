"""Looking at funding: the submissions, and where funds may be sent now."""

from __future__ import annotations

from decimal import Decimal

from bot.domain.errors import NotFound
from bot.operations.funding_words import reason_in_words
from bot.partner.models import Funding
from bot.services.core import Core
from bot.services.pictures import (
    AddressPicture,
    FundingPicture,
)
from storage import requests


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
