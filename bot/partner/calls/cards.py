"""Cards: POST /cards to PUT 3ds."""

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Literal, Self, overload

from bot.partner import answers, codec, endpoints, models, shapes
from bot.partner.answers import Answer, Finding, Key
from bot.partner.calls import Calls, as_model, body_of, change, member, pages
from bot.partner.endpoints import Endpoint
from bot.partner.ratelimit import Lane
from bot.partner.shapes import Sent
from bot.partner.wire import Outgoing

BALANCES_PAGE = 1000
LIVE_BALANCES = 25
"""Most cards in one call of POST /cards/balances: as cached, and read live."""
_IDENTITIES_KEPT = 10_000

_AMOUNT = {"amount_usd": "number"}
_PHONE = {"phone_country_code": "integer", "phone": "string"}

# Orders, top-ups, unloads and closes are never repeated by the client: a repeat can turn a clear refusal
# into an unclear 409, and must happen under the eyes of the stored request [POST topup: 503 spends the key].
ORDER_CARD = Endpoint(
    "POST /cards",
    "Cards",
    endpoints.CHANGE,
    {
        **answers.CARD_CHANGE,
        # The document does not say whether a 400 leaves the key usable, here as on top-up, unload and
        # close: the worse is assumed, and another try is a new request.
        (400, "BAD_REQUEST"): answers.REFUSED_FOR_GOOD,
        (400, "INVALID_NAME"): answers.REFUSED_FOR_GOOD,
        (400, "INVALID_EMAIL"): answers.REFUSED_FOR_GOOD,
        (400, "INVALID_PHONE"): answers.REFUSED_FOR_GOOD,
        (400, "PHONE_COUNTRY_NOT_ALLOWED"): answers.REFUSED_FOR_GOOD,
        (409, "QUOTA"): answers.REFUSED,  # nothing created, no allowance consumed
        (409, "ALREADY_PROCESSED"): answers.OPEN,  # same key in flight
        (502, "UNAVAILABLE"): replace(answers.OPEN, key=Key.RELEASED),  # the same key again
    },
    shapes.holding(card=shapes.shape_of(models.Card)),
    Sent(
        body={"card_holder_name": "string", **_PHONE, "email": "string", "partner_ref": "string"}, keyed=True
    ),
)
CARDS = Endpoint(
    "GET /cards",
    "Cards",
    endpoints.RECORD,
    answers.READ,
    shapes.holding(cards=shapes.rows_of(models.Card), **shapes.COUNT),
    Sent(query=("limit", "offset")),
)
CARD = Endpoint(
    "GET /cards/{cardId}", "Cards", endpoints.LIVE, answers.READ, shapes.shape_of(models.CardWithBalance)
)
# With `refresh` up to 25 processor reads; a POST that changes nothing.
BALANCES = Endpoint(
    "POST /cards/balances",
    "Cards",
    endpoints.LIVE,
    answers.READ,
    shapes.holding(balances=shapes.rows_of(models.BalanceRow), **shapes.COUNTED),
    Sent(body={"card_ids": "array", "refresh": "boolean", "limit": "integer", "page": "integer"}),
)
TOP_UP = Endpoint(
    "POST /cards/{cardId}/topup",
    "Cards",
    endpoints.CHANGE,
    {
        **answers.CARD_CHANGE,
        (400, "BAD_REQUEST"): answers.REFUSED_FOR_GOOD,  # nothing written, or refunded with the key spent
        (402, "INSUFFICIENT_FUNDS"): answers.REFUSED,  # nothing written, key unused
        (404, "NOT_FOUND"): answers.REFUSED,  # checked before the replay, so a repeat may meet it too
        (409, "QUOTA"): answers.REFUSED_FOR_GOOD,  # processor capacity; the float was refunded
        # Three cases with opposite consequences. A fresh 80-bit key cannot be known already: a restored
        # backup, or the key has leaked.
        (409, "ALREADY_PROCESSED"): Answer(Finding.UNRESOLVED, Finding.EVIDENCE),
        # Unresolved with the float debited, or refunded: it does not say.
        (502, "UNAVAILABLE"): Answer(Finding.UNRESOLVED, Finding.UNRESOLVED),
        # Treated as a rejection: refunded, which the ledger has to show.
        (503, "UPSTREAM_AUTH"): Answer(Finding.EVIDENCE, Finding.EVIDENCE, Key.SPENT),
    },
    shapes.shape_of(models.TopUp),
    Sent(body=_AMOUNT, keyed=True),
)
UNLOAD = Endpoint(
    "POST /cards/{cardId}/unload",
    "Cards",
    endpoints.CHANGE,
    {
        **answers.CARD_CHANGE,
        (400, "BAD_REQUEST"): answers.REFUSED_FOR_GOOD,
        (402, "INSUFFICIENT_FUNDS"): answers.REFUSED,  # the card holds less; nothing moves
        # As on a top-up: a fresh key cannot be known already.
        (409, "ALREADY_PROCESSED"): Answer(Finding.UNRESOLVED, Finding.EVIDENCE),
        (502, "UNAVAILABLE"): answers.OPEN,  # between card debit and float credit money is nowhere visible
    },
    shapes.shape_of(models.Unload),
    Sent(body=_AMOUNT, keyed=True),
)
LIMITS = Endpoint(
    "GET /cards/{cardId}/limits", "Cards", endpoints.LIVE, answers.READ, shapes.shape_of(models.Limits)
)
SET_LIMITS = Endpoint(
    "PUT /cards/{cardId}/limits",
    "Cards",
    endpoints.CHANGE,
    answers.CARD_SETTING,
    shapes.shape_of(models.Limits),
    Sent(body={"daily_limit": "number", "weekly_limit": "number", "monthly_limit": "number"}),
)
FREEZE = Endpoint(
    "POST /cards/{cardId}/freeze",
    "Cards",
    endpoints.SWITCH,
    {
        **answers.CARD_SETTING,
        (502, "UNAVAILABLE"): Answer(Finding.NOTHING_YET, Finding.EVIDENCE, repeats=1),  # changes nothing
        (503, "UPSTREAM_AUTH"): Answer(Finding.NOTHING_YET, Finding.EVIDENCE, repeats=1),  # the same
    },
    shapes.shape_of(models.Freeze),
    Sent(body={"frozen": "boolean"}),
)
SET_PHONE = Endpoint(
    "PUT /cards/{cardId}/phone",
    "Cards",
    endpoints.CHANGE,
    {
        **answers.CARD_SETTING,
        (400, "INVALID_PHONE"): answers.REFUSED,
        (400, "PHONE_COUNTRY_NOT_ALLOWED"): answers.REFUSED,
    },
    shapes.shape_of(models.PhoneUpdated),
    Sent(body=_PHONE),
)
CLOSE = Endpoint(
    "POST /cards/{cardId}/close",
    "Cards",
    endpoints.CHANGE,
    {
        **answers.CARD_CHANGE,
        (400, "BAD_REQUEST"): answers.REFUSED_FOR_GOOD,
        (409, "ALREADY_PROCESSED"): Answer(Finding.UNKNOWN, Finding.EVIDENCE),
        # The balance cannot be read: the card stays open.
        (503, "UNAVAILABLE"): Answer(Finding.NOTHING_YET, Finding.UNKNOWN),
    },
    shapes.shape_of(models.Close),
    Sent(keyed=True),
)
SET_3DS = Endpoint(
    "PUT /cards/{cardId}/3ds",
    "Cards",
    endpoints.CHANGE,
    answers.CARD_CHANGE,
    shapes.shape_of(models.ThreeDsMethod),
    Sent(body={"method": "string"}),
)


class CardCalls(Calls):
    """Ordering cards, moving money on and off them, and how they may be used."""

    @overload
    async def order_card(self, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.Card: ...

    @overload
    async def order_card(
        self,
        *,
        card_holder_name: str,
        phone_country_code: int,
        phone: str,
        email: str,
        partner_ref: str | None = None,
        key: str,
        lane: Lane = Lane.MONEY,
    ) -> models.Card: ...

    async def order_card(
        self,
        body: bytes | None = None,
        *,
        card_holder_name: str | None = None,
        phone_country_code: int | None = None,
        phone: str | None = None,
        email: str | None = None,
        partner_ref: str | None = None,
        key: str,
        lane: Lane = Lane.MONEY,
    ) -> models.Card:
        """Order a card. A repeat under the same key gives the first answer, so take only the id from it."""
        out = change(
            ORDER_CARD,
            body=body_of(
                ORDER_CARD,
                body,
                card_holder_name=card_holder_name,
                phone_country_code=phone_country_code,
                phone=phone,
                email=email,
                partner_ref=partner_ref,
            ),
            key=key,
        )
        received = await self._call(out, lane)
        return as_model(models.Card, member(received.data, "card"), received, out)

    async def cards(self, *, lane: Lane = Lane.BACKGROUND) -> AsyncIterator[models.Card]:
        """Every card that is not closed, newest first, each once."""

        async def fetch(offset: int) -> Sequence[models.Card]:
            query = {"limit": str(pages.PAGE), "offset": str(offset)}
            return await self._read_rows(models.Card, Outgoing(CARDS, query=query), "cards", lane)

        async for card in pages.by_offset(fetch, lambda card: card.id):
            yield card

    _card: Callable[[str], Awaitable[models.CardWithBalance]] | None = None

    def with_card(self, read: Callable[[str], Awaitable[models.CardWithBalance]]) -> Self:
        """The same client, whose `card` is what `read` tells: a reading that several share."""
        other = copy.copy(self)
        other._card = read
        return other

    async def card(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.CardWithBalance:
        """One card, closed ones too, with its live balance (None: unreadable, not zero)."""
        if self._card is not None:
            return await self._card(card_id)
        found = await self._read(models.CardWithBalance, Outgoing(CARD, ids=(card_id,)), lane)
        if len(self.identities) >= _IDENTITIES_KEPT:
            self.identities.clear()
        self.identities[card_id] = (found.card.card_holder_name, found.card.last4)
        return found

    async def balances(
        self, card_ids: Sequence[str] | None = None, *, refresh: bool = False, lane: Lane = Lane.PEOPLE
    ) -> list[models.BalanceRow]:
        """Balances as last read by the card provider, of these cards in their order, or of the whole fleet.

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
            rows += await self._read_rows(models.BalanceRow, Outgoing(BALANCES, body=body), "balances", lane)
        return rows

    async def fleet_balances(self, *, lane: Lane = Lane.PEOPLE) -> AsyncIterator[models.BalanceRow]:
        """The balances of all cards as last read by the card provider, a thousand a call, each card once."""

        async def fetch(number: int) -> pages.Page[models.BalanceRow]:
            body = codec.encode({"limit": BALANCES_PAGE, "page": number})
            out = Outgoing(BALANCES, body=body)
            return await self._read_page(models.BalanceRow, out, "balances", lane)

        async for row in pages.by_page(fetch, lambda row: row.card_id):
            yield row

    @overload
    async def top_up(
        self, card_id: str, body: bytes, *, key: str, lane: Lane = Lane.MONEY
    ) -> models.TopUp: ...

    @overload
    async def top_up(
        self, card_id: str, *, amount_usd: Decimal, key: str, lane: Lane = Lane.MONEY
    ) -> models.TopUp: ...

    async def top_up(
        self,
        card_id: str,
        body: bytes | None = None,
        *,
        amount_usd: Decimal | None = None,
        key: str,
        lane: Lane = Lane.MONEY,
    ) -> models.TopUp:
        """Move float onto a card, 1:1.

        A success whose card or `credited_usd` is not what was approved is evidence of a reused key, not
        a success: compare both. On a replay the balance is that of the later moment.
        """
        out = change(
            TOP_UP, card_id, body=body_of(TOP_UP, body, cents=("amount_usd",), amount_usd=amount_usd), key=key
        )
        return await self._read(models.TopUp, out, lane)

    @overload
    async def unload(
        self, card_id: str, body: bytes, *, key: str, lane: Lane = Lane.MONEY
    ) -> models.Unload: ...

    @overload
    async def unload(
        self, card_id: str, *, amount_usd: Decimal, key: str, lane: Lane = Lane.MONEY
    ) -> models.Unload: ...

    async def unload(
        self,
        card_id: str,
        body: bytes | None = None,
        *,
        amount_usd: Decimal | None = None,
        key: str,
        lane: Lane = Lane.MONEY,
    ) -> models.Unload:
        """Move money from a card back to the float; compare the answer with what was approved."""
        out = change(
            UNLOAD, card_id, body=body_of(UNLOAD, body, cents=("amount_usd",), amount_usd=amount_usd), key=key
        )
        return await self._read(models.Unload, out, lane)

    async def limits(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.Limits:
        """The spending limits of a card as the processor has them."""
        return await self._read(models.Limits, Outgoing(LIMITS, ids=(card_id,)), lane)

    @overload
    async def set_limits(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Limits: ...

    @overload
    async def set_limits(
        self,
        card_id: str,
        *,
        daily_limit_usd: Decimal | None = None,
        weekly_limit_usd: Decimal | None = None,
        monthly_limit_usd: Decimal | None = None,
        lane: Lane = Lane.MONEY,
    ) -> models.Limits: ...

    async def set_limits(
        self,
        card_id: str,
        body: bytes | None = None,
        *,
        daily_limit_usd: Decimal | None = None,
        weekly_limit_usd: Decimal | None = None,
        monthly_limit_usd: Decimal | None = None,
        lane: Lane = Lane.MONEY,
    ) -> models.Limits:
        """Set any of the three limits; one that is set can be replaced and never removed.

        The answer is what the processor reads back: compare it with what was approved.
        """
        out = change(
            SET_LIMITS,
            card_id,
            body=body_of(
                SET_LIMITS,
                body,
                cents=("daily_limit", "weekly_limit", "monthly_limit"),
                daily_limit=daily_limit_usd,
                weekly_limit=weekly_limit_usd,
                monthly_limit=monthly_limit_usd,
            ),
        )
        return await self._read(models.Limits, out, lane)

    @overload
    async def freeze(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Freeze: ...

    @overload
    async def freeze(self, card_id: str, *, frozen: bool, lane: Lane = Lane.MONEY) -> models.Freeze: ...

    async def freeze(
        self, card_id: str, body: bytes | None = None, *, frozen: bool | None = None, lane: Lane = Lane.MONEY
    ) -> models.Freeze:
        """Freeze or unfreeze. The answer only echoes; read the card to see its status.

        Takes no key: the card provider would record it and not use it [Idempotency-Key header].
        """
        out = change(FREEZE, card_id, body=body_of(FREEZE, body, frozen=frozen))
        return await self._read(models.Freeze, out, lane)

    @overload
    async def set_phone(
        self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY
    ) -> models.PhoneUpdated: ...

    @overload
    async def set_phone(
        self, card_id: str, *, phone_country_code: int, phone: str, lane: Lane = Lane.MONEY
    ) -> models.PhoneUpdated: ...

    async def set_phone(
        self,
        card_id: str,
        body: bytes | None = None,
        *,
        phone_country_code: int | None = None,
        phone: str | None = None,
        lane: Lane = Lane.MONEY,
    ) -> models.PhoneUpdated:
        """Change the number that one-time codes of a card in sms mode go to. Nothing reads it back."""
        out = change(
            SET_PHONE,
            card_id,
            body=body_of(SET_PHONE, body, phone_country_code=phone_country_code, phone=phone),
        )
        return await self._read(models.PhoneUpdated, out, lane)

    async def close(self, card_id: str, *, key: str, lane: Lane = Lane.MONEY) -> models.Close:
        """Sweep the balance to the float and delete the card for good."""
        out = change(CLOSE, card_id, key=key)
        return await self._read(models.Close, out, lane)

    @overload
    async def set_3ds(
        self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY
    ) -> models.ThreeDsMethod: ...

    @overload
    async def set_3ds(
        self, card_id: str, *, method: Literal["webhook"], lane: Lane = Lane.MONEY
    ) -> models.ThreeDsMethod: ...

    async def set_3ds(
        self,
        card_id: str,
        body: bytes | None = None,
        *,
        method: Literal["webhook"] | None = None,
        lane: Lane = Lane.MONEY,
    ) -> models.ThreeDsMethod:
        """Have the one-time codes of a card sent to the webhook. A one-way door: `sms` is refused.

        That the program has webhook mode is not checked by the card provider. Takes no key: what the card provider
        would do with it is not shown, and the mode set twice is set once.
        """
        out = change(SET_3DS, card_id, body=body_of(SET_3DS, body, method=method))
        return await self._read(models.ThreeDsMethod, out, lane)
