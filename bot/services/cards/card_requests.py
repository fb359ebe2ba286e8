"""The requests about one card: the newest with everything decided about it, and the others page by page."""

from __future__ import annotations

from bot.domain.time import Period
from bot.services.core import Core
from bot.services.requests import request_lookups, resolve_card
from bot.view_models import CardRequestsView


async def of_card(
    core: Core, text: str, *, kind: str = "", period: Period | None = None, page: int = 1, beside: str = ""
) -> CardRequestsView:
    """The requests about the card that `text` names, the rows of batches among them. Raises NotFound.

    `kind` is an operation kind, empty for all; `page` and `beside` as in `request_lookups.search`.
    """
    async with core.store.read() as tx:
        entry = await resolve_card(tx, text)
    found = await request_lookups.search(
        core, kinds=(kind,) if kind else (), subject=entry.id, period=period, page=page, beside=beside
    )
    newest = found.rows[0].id if found.rows and found.page == 1 else ""
    return CardRequestsView(
        card_id=entry.id,
        label=entry.label,
        kind=core.kinds[kind].title if kind else "",
        period=period,
        found=found,
        newest=await request_lookups.request_view(core, newest) if newest else None,
        read_at=core.clock.now(),
    )
