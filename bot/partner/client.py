"""PartnerClient: one method per endpoint, in the order of the API document.

What every method does: waits its turn in the key's rate budget, sends, repeats by itself only what can
do no harm twice (`retrying`), and returns a model or raises a PartnerError (`errors`). Reads wait in
the people's lane unless told otherwise; changes go before everything else.

Calls that change something take the values of their body by name, or the body as the bytes that were frozen when
the request was made, which are sent as they are. Those that move money or create a card also take the idempotency
key that is stored with the request: the client never makes one, and never repeats such a call by itself.
"""

from typing import Self

from bot.partner.calls import account, cards, deposits, events, history
from bot.partner.calls.account import AccountCalls
from bot.partner.calls.cards import CardCalls
from bot.partner.calls.deposits import DepositCalls
from bot.partner.calls.events import EventCalls
from bot.partner.calls.history import HistoryCalls
from bot.partner.endpoints import Endpoint
from bot.partner.http_library import httpx
from bot.partner.wire import Contact

#: Carries HTTP requests; what takes the place of the network in a test.
Transport = httpx.AsyncBaseTransport

ENDPOINTS = tuple(
    value
    for chapter in (account, cards, history, events, deposits)
    for value in vars(chapter).values()
    if isinstance(value, Endpoint)
)
"""Every endpoint this client calls, in the order of the API document."""


class PartnerClient(AccountCalls, CardCalls, HistoryCalls, EventCalls, DepositCalls):
    """The Partner API as one program's key sees it.

    `http` is an HTTP client to use, or a transport to build one on; None builds one. One `limiter`
    belongs to one key and is shared by every client of it in this process; None makes one of this client's own. Without
    a `clock` it is the machine's. `async with` closes it. Raises AccessRefused when the key may not be sent to that
    address.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def key_prefix(self) -> str:
        """The part of the key that may be shown."""
        return self._wire.key_prefix

    @property
    def contact(self) -> Contact:
        """Whether the API answers, as this client's calls have found it."""
        return self._wire.contact

    @property
    def budget_left(self) -> int:
        """How many calls the key's minute still has room for."""
        return self._limiter.left

    @property
    def calls_a_minute(self) -> int:
        """The limit of the key that is in force."""
        return self._limiter.per_minute

    async def aclose(self) -> None:
        """Close the connections this client opened."""
        await self._wire.close()
