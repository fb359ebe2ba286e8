"""The freezes of ours that a card has had, from the requests that were sent for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from bot import operations
from bot.domain.alerts import decline_causes
from bot.domain.freezes import Freeze, holding
from bot.domain.requests import Request, State
from bot.services.core import Core
from storage.requests import request_search
from storage.transaction import Tx

# What was sent and not refused: the card may be as asked though nobody has seen it yet.
_SENT = (State.EXECUTING, State.UNRESOLVED, State.SUCCEEDED)
_MOST = 200


async def of_card(tx: Tx, core: Core, card_id: str) -> list[Freeze]:
    """Every freeze of a card that was sent, the newest first, each with the request here that took it back."""
    freezing = operations.leaving(core.kinds, "FROZEN")
    switching = (*freezing, *operations.leaving(core.kinds, "ACTIVE"))
    wanted = request_search.Wanted(states=_SENT, kinds=switching, subject=card_id, each_row=True)
    switches = await request_search.page(tx, wanted, limit=_MOST)
    found: list[Freeze] = []
    until: datetime | None = None
    for request in sorted(switches, key=_since, reverse=True):
        if request.kind in freezing:
            found.append(Freeze(request, _since(request), until))
        elif request.state is State.SUCCEEDED:
            until = _since(request)
    return found


def _since(request: Request) -> datetime:
    return request.first_sent_at or request.created_at


async def now(tx: Tx, core: Core, card_id: str) -> Freeze | None:
    """The freeze of ours that holds, as far as requests here tell."""
    return holding(await of_card(tx, core, card_id), tx.now)


async def stopping(
    tx: Tx, core: Core, declines: Iterable[tuple[str | None, str, datetime]]
) -> Mapping[tuple[str, datetime], Freeze]:
    """The freezes that stopped these purchases, by card and time.

    `declines` are (card id, code of the decline, time). A decline for another cause was stopped by that.
    """
    known: dict[str, list[Freeze]] = {}
    found: dict[tuple[str, datetime], Freeze] = {}
    for card_id, code, at in declines:
        if not card_id or code != decline_causes.BLOCKED:
            continue
        if card_id not in known:
            known[card_id] = await of_card(tx, core, card_id)
        freeze = holding(known[card_id], at)
        if freeze is not None:
            found[card_id, at] = freeze
    return found
