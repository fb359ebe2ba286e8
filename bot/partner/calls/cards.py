"""Cards: POST /cards to PUT 3ds."""

from collections.abc import AsyncIterator, Sequence

from bot.partner import codec, models, pages
from bot.partner.calls import Calls, as_model, change, member
from bot.partner.endpoints import Endpoint
from bot.partner.ratelimit import Lane
from bot.partner.wire import Outgoing

BALANCES_PAGE = 1000
LIVE_BALANCES = 25
"""Most cards in one call of POST /cards/balances: as cached, and read live."""


class CardCalls(Calls):
    """Ordering cards, moving money on and off them, and how they may be used."""

    async def order_card(self, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.Card:
        """Order a card. A repeat under the same key gives the first answer, so take only the id from it."""
        out = change(Endpoint.ORDER_CARD, body=body, key=key)
        received = await self._call(out, lane)
        return as_model(models.Card, member(received.data, "card"), received, out)

    async def cards(self, *, lane: Lane = Lane.BACKGROUND) -> AsyncIterator[models.Card]:
        """Every card that is not closed, newest first, each once."""

        async def fetch(offset: int) -> Sequence[models.Card]:
            query = {"limit": str(pages.PAGE), "offset": str(offset)}
            return await self._read_rows(models.Card, Outgoing(Endpoint.CARDS, query=query), "cards", lane)

        async for card in pages.by_offset(fetch, lambda card: card.id):
            yield card

    async def card(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.CardWithBalance:
        """One card, closed ones too, with its live balance (None: unreadable, not zero)."""
        return await self._read(models.CardWithBalance, Outgoing(Endpoint.CARD, ids=(card_id,)), lane)

    async def balances(
        self, card_ids: Sequence[str] | None = None, *, refresh: bool = False, lane: Lane = Lane.PEOPLE
    ) -> list[models.BalanceRow]:
        """Balances as last read by the service, of these cards in their order, or of the whole fleet.

        `refresh` reads these cards live, 25 a call. A card that is not ours is a row with an error.
        """
        if card_ids is None:
            if refresh:
                raise ValueError("the whole fleet cannot be read live: name the cards")
            return [row async for row in self.fleet_balances(lane=lane)]
        wanted = list(dict.fromkeys(card_ids))
        at_once = LIVE_BALANCES if refresh else BALANCES_PAGE
        rows: list[models.BalanceRow] = []
        for start in range(0, len(wanted), at_once):
            body = codec.encode({"card_ids": wanted[start : start + at_once], "refresh": refresh})
            rows += await self._read_rows(
                models.BalanceRow, Outgoing(Endpoint.BALANCES, body=body), "balances", lane
            )
        return rows

    async def fleet_balances(self, *, lane: Lane = Lane.PEOPLE) -> AsyncIterator[models.BalanceRow]:
        """The balances of all cards as last read by the service, a thousand a call, each card once."""

        async def fetch(number: int) -> pages.Page[models.BalanceRow]:
            body = codec.encode({"limit": BALANCES_PAGE, "page": number})
            out = Outgoing(Endpoint.BALANCES, body=body)
            return await self._read_page(models.BalanceRow, out, "balances", lane)

        async for row in pages.by_page(fetch, lambda row: row.card_id):
            yield row

    async def top_up(self, card_id: str, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.TopUp:
        """Move float onto a card, 1:1.

        A success whose card or `credited_usd` is not what was approved is evidence of a reused key, not
        a success: compare both. On a replay the balance is that of the later moment.
        """
        out = change(Endpoint.TOP_UP, card_id, body=body, key=key)
        return await self._read(models.TopUp, out, lane)

    async def unload(self, card_id: str, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.Unload:
        """Move money from a card back to the float; compare the answer with what was approved."""
        out = change(Endpoint.UNLOAD, card_id, body=body, key=key)
        return await self._read(models.Unload, out, lane)

    async def limits(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.Limits:
        """The spending limits of a card as the processor has them."""
        return await self._read(models.Limits, Outgoing(Endpoint.LIMITS, ids=(card_id,)), lane)

    async def set_limits(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Limits:
        """Set any of the three limits; one that is set can be replaced and never removed.

        The answer is what the processor reads back: compare it with what was approved.
        """
        out = change(Endpoint.SET_LIMITS, card_id, body=body)
        return await self._read(models.Limits, out, lane)

    async def freeze(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Freeze:
        """Freeze or unfreeze. The answer only echoes; read the card to see its status.

        Takes no key: the service would record it and not use it [Idempotency-Key header].
        """
        out = change(Endpoint.FREEZE, card_id, body=body)
        return await self._read(models.Freeze, out, lane)

    async def set_phone(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.PhoneUpdated:
        """Change the number that one-time codes of a card in sms mode go to. Nothing reads it back."""
        out = change(Endpoint.SET_PHONE, card_id, body=body)
        return await self._read(models.PhoneUpdated, out, lane)

    async def close(self, card_id: str, *, key: str, lane: Lane = Lane.MONEY) -> models.Close:
        """Sweep the balance to the float and delete the card for good."""
        out = change(Endpoint.CLOSE, card_id, key=key)
        return await self._read(models.Close, out, lane)

    async def set_3ds(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.ThreeDsMethod:
        """Have the one-time codes of a card sent to the webhook. A one-way door: `sms` is refused.

        That the program has webhook mode is not checked by the service. Takes no key: what the service
        would do with it is not shown, and the mode set twice is set once.
        """
        out = change(Endpoint.SET_3DS, card_id, body=body)
        return await self._read(models.ThreeDsMethod, out, lane)
