"""What was bought with a card, and the two ways to show its number: GET transactions to POST pan-token."""

from collections.abc import AsyncIterator
from datetime import date

from bot.partner import answers, endpoints, models, shapes
from bot.partner.calls import Calls, pages
from bot.partner.endpoints import Endpoint
from bot.partner.ratelimit import Lane
from bot.partner.shapes import Sent
from bot.partner.wire import Outgoing

TRANSACTIONS_PAGE = 25
"""More is refused, not cut [GET transactions]."""


TRANSACTIONS = Endpoint(
    "GET /cards/{cardId}/transactions",
    "Cards",
    endpoints.HISTORY,
    answers.READ,
    shapes.holding(transactions=shapes.rows_of(models.Transaction), **shapes.OF_A_CARD, **shapes.PAGED),
    Sent(query=("limit", "page", "from_date", "to_date")),
)
DETAILS = Endpoint(
    "GET /cards/{cardId}/pan",
    "Card details",
    endpoints.LIVE,
    answers.READ_ONCE,
    shapes.shape_of(models.CardDetails),
)
# A POST that changes nothing: an unused address expires within a minute.
DETAILS_ONCE = Endpoint(
    "POST /cards/{cardId}/pan-token",
    "Card details",
    endpoints.LIVE,
    answers.READ_ONCE,
    shapes.shape_of(models.PanToken),
)


class HistoryCalls(Calls):
    """One card, looked at closely."""

    async def transactions(
        self,
        card_id: str,
        *,
        from_date: date | None = None,
        to_date: date | None = None,
        lane: Lane = Lane.PEOPLE,
    ) -> AsyncIterator[models.Transaction]:
        """The purchases of a card, closed ones too, each once, in the order of the card provider.

        Both dates are days in UTC and included; None is no bound. A row that the card provider could not read
        is left out of its page without a word. Raises NotSent when the dates are the wrong way round.
        """
        query = {"limit": str(TRANSACTIONS_PAGE)}
        if from_date is not None:
            query["from_date"] = from_date.isoformat()
        if to_date is not None:
            query["to_date"] = to_date.isoformat()
        if from_date is not None and to_date is not None and from_date > to_date:
            raise Outgoing(TRANSACTIONS).refused("The first day is after the last day.")

        async def fetch(number: int) -> pages.Page[models.Transaction]:
            out = Outgoing(TRANSACTIONS, (card_id,), {**query, "page": str(number)})
            return await self._read_page(models.Transaction, out, "transactions", lane)

        async for row in pages.by_page(fetch, lambda row: row.id):
            # Whether the card provider counts its bounds in is not shown.
            day = row.occurred_at.date()
            if (from_date is None or from_date <= day) and (to_date is None or day <= to_date):
                yield row

    async def details(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.CardDetails:
        """Mint an address whose page shows number and security code, for 600 s; closed cards too.

        Each call mints another, so it is never repeated here.
        """
        return await self._read(models.CardDetails, Outgoing(DETAILS, ids=(card_id,)), lane)

    async def mint_pan_token(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.PanToken:
        """Mint an address that the end user's device may open once, within 60 s. Never open it here."""
        return await self._read(models.PanToken, Outgoing(DETAILS_ONCE, ids=(card_id,)), lane)
