"""The optional route of payments by the end user: POST /deposits and GET /deposits."""

from collections.abc import Mapping
from typing import Any

from bot.partner import answers, endpoints, models, shapes
from bot.partner.calls import Calls, as_model, change, frozen, member, objects_in
from bot.partner.endpoints import Endpoint
from bot.partner.ratelimit import Lane

# Errors of this call are not shown. It makes an offer and moves nothing, but where an offer was made an
# address waits for money, so a lost one is not called harmless.
QUOTE_DEPOSIT = Endpoint(
    "POST /deposits",
    "Deposits",
    endpoints.CHANGE,
    {**answers.CARD_CHANGE, (503, "UNAVAILABLE"): answers.OPEN},
    shapes.shape_of(models.DepositQuote),
)
DEPOSITS = Endpoint(
    "GET /deposits", "Deposits", endpoints.RECORD, answers.READ, shapes.rows_of(models.Deposit)
)


class DepositCalls(Calls):
    """Offers that credit a card, not the float, when a user's transfer arrives."""

    async def quote_deposit(
        self, body: Mapping[str, Any] | bytes, *, lane: Lane = Lane.MONEY
    ) -> models.DepositQuote:
        """An address and an amount for the end user to pay.

        The fields of the body are not shown in the document: what the agreement says goes in as it is,
        either as values (amounts as Decimal; a float is refused with NotSent) or as the bytes frozen with
        a request.
        """
        raw = body if isinstance(body, bytes) else frozen(QUOTE_DEPOSIT, body)
        out = change(QUOTE_DEPOSIT, body=raw)
        received = await self._call(out, lane)
        quotes = (item for item in objects_in(received.data) if member(item, "deposit_id") is not None)
        return as_model(models.DepositQuote, next(quotes, received.data), received, out)

    async def deposits(self, *, lane: Lane = Lane.PEOPLE) -> list[models.Deposit]:
        """The deposits the card provider lists unasked, perhaps not all: its query and envelope are not shown."""
        return await self._read_some_list(models.Deposit, DEPOSITS, lane)
