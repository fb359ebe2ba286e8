"""One-time codes of 3-D Secure challenges, on their way from the event to a person: in memory only.

A code is here from the moment its event is received until it is taken or too old; a process that ends
forgets it. Nothing here is written to the database, a log or a channel.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.time import Clock
from bot.partner.secret import Secret

GOOD_FOR = timedelta(minutes=5)
"""Older codes are not sent: the shop has given up by then."""

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A code on its way to a person (a Slack id), who gets those of `partner_ref`. `label` is the card, `where` the
    purchase in words."""

    event_id: str
    program: str
    person: str
    partner_ref: str
    code: Secret = field(repr=False)
    label: str
    where: str
    good_until: datetime


class Codes:
    """Codes by event id. The receiver keeps them, who handles the event takes them, once."""

    def __init__(self) -> None:
        self.outgoing: asyncio.Queue[Outgoing] = asyncio.Queue()
        self._kept: dict[str, tuple[Secret | None, datetime]] = {}

    def keep(self, event_id: str, code: Secret | None, clock: Clock) -> None:
        """`code` is None where the event has none that could be found: nothing is to be waited for."""
        self._forget_old(clock.now())
        self._kept.setdefault(event_id, (code, clock.now() + GOOD_FOR))

    def known(self, clock: Clock) -> frozenset[str]:
        """The ids of events whose code, or whose having none, this process knows of."""
        self._forget_old(clock.now())
        return frozenset(self._kept)

    def take(self, event_id: str, clock: Clock) -> Secret | None:
        """The code, unless it was taken, is too old, or came before this process began."""
        self._forget_old(clock.now())
        code, _ = self._kept.pop(event_id, (None, None))
        return code

    def _forget_old(self, now: datetime) -> None:
        self._kept = {key: kept for key, kept in self._kept.items() if kept[1] > now}
        while len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]
