"""PartnerClient: one method per endpoint, in the order of the API document.

What every method does: waits its turn in the key's rate budget, sends, repeats by itself only what can
do no harm twice (`retrying`), and returns a model or raises a PartnerError (`errors`). Reads wait in
the people's lane unless told otherwise; changes go before everything else.

Calls that change something take the body as the bytes that were frozen when the request was made, and
send them as they are. Those that move money or create a card also take the idempotency key that is
stored with the request: the client never makes one, and never repeats such a call by itself.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx

from bot.domain.clock import Clock
from bot.domain.secret import Secret
from bot.partner import codec, models, pages
from bot.partner.endpoints import Endpoint
from bot.partner.errors import (
    LedgerMoving,
    PartnerError,
    RateLimited,
    UnreadableAnswer,
    unanswered,
)
from bot.partner.ratelimit import Lane, RateLimiter
from bot.partner.retrying import pause_before_repeat
from bot.partner.wire import Outgoing, Received, Wire

M = TypeVar("M", bound=models.Answer)

BALANCES_PAGE = 1000
LIVE_BALANCES = 25
"""Most cards in one call of POST /cards/balances: as cached, and read live."""


class PartnerClient:
    """The Partner API as one program's key sees it.

    `http` is an HTTP client to use, or a transport to build one on; None builds one. One `limiter`
    belongs to one key and is shared by every client of it in this process. Raises AccessRefused when the
    key may not be sent to that address.
    """

    def __init__(
        self,
        base_url: str,
        key: Secret | str,
        *,
        limiter: RateLimiter,
        clock: Clock,
        http: httpx.AsyncClient | httpx.AsyncBaseTransport | None = None,
    ) -> None:
        secret = Secret(key) if isinstance(key, str) else key
        self._wire = Wire(base_url, secret, http=http, clock=clock)
        self._limiter = limiter
        self._clock = clock

    @property
    def key_prefix(self) -> str:
        """The part of the key that may be shown."""
        return self._wire.key_prefix

    async def aclose(self) -> None:
        """Close the connections this client opened."""
        await self._wire.close()

    # Account

    async def me(self, *, lane: Lane = Lane.PEOPLE) -> models.Me:
        """Account, key, card allowance and float; the key's own rate limit is taken over."""
        me = await self._read(models.Me, Outgoing(Endpoint.ME), lane)
        self._limiter.set_limit(me.key.rate_limit_per_minute)
        return me

    async def fees(self, *, lane: Lane = Lane.PEOPLE) -> models.Fees:
        """The full fee schedule; rates are fractions."""
        return await self._read(models.Fees, Outgoing(Endpoint.FEES), lane)

    # Funding

    async def funding_addresses(self, *, lane: Lane = Lane.PEOPLE) -> list[models.FundingAddress]:
        """Where funds may be sent now, at most one address per network.

        Unavailable means: do not send, and use no remembered address. An empty list means the same.
        """
        return await self._read_rows(
            models.FundingAddress, Outgoing(Endpoint.FUNDING_ADDRESSES), "addresses", lane
        )

    async def submit_funding(self, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Funding:
        """Submit a transfer. The record that comes back may already be credited, rejected or in review.

        Idempotent on the hash, so a lost answer is asked for again [POST /funding 6].
        """
        return await self._read(models.Funding, _change(Endpoint.SUBMIT_FUNDING, body=body), lane)

    async def funding(self, funding_id: str, *, lane: Lane = Lane.PEOPLE) -> models.Funding:
        """One submission. NotFound also when another account's claim has replaced it."""
        return await self._read(models.Funding, Outgoing(Endpoint.FUNDING, ids=(funding_id,)), lane)

    async def funding_list(self, *, lane: Lane = Lane.PEOPLE) -> list[models.Funding]:
        """The submissions the service lists unasked, perhaps not all.

        Query and envelope of this endpoint are not shown, so none is sent and the first list of objects
        in the answer is taken. The sure way is `funding` for each id that was stored.
        """
        out = Outgoing(Endpoint.FUNDING_LIST)
        received = await self._call(out, lane)
        data = received.data
        candidates = list(data.values()) if isinstance(data, dict) else [data]
        lists = [rows for rows in candidates if _is_list_of_objects(rows)]
        if lists:
            rows: list[Any] = next((rows for rows in lists if rows), [])
            return [_model(models.Funding, row, received, out) for row in rows]
        raise _unreadable(out, received, "no list of submissions")

    async def ledger(
        self, page: int = 1, limit: int = 50, *, lane: Lane = Lane.PEOPLE
    ) -> pages.Page[models.LedgerEntry]:
        """One page of the float's movements, newest first; past the end it is empty and `total` is 0."""
        out = Outgoing(Endpoint.LEDGER, query={"page": str(page), "limit": str(limit)})
        return await self._read_page(models.LedgerEntry, out, "entries", lane)

    async def ledger_entries(self, *, lane: Lane = Lane.BACKGROUND) -> AsyncIterator[models.LedgerEntry]:
        """Every movement of the float as of one moment, newest first.

        All pages are read before the first row is given, and read again when a row came in between.
        Raises LedgerMoving when no reading fits together.
        """
        for entry in await self._whole_ledger(lane):
            yield entry

    async def find_top_up(self, key: str, *, lane: Lane = Lane.MONEY) -> models.TopUpEvidence:
        """What the whole ledger shows for a top-up under this key.

        Read it only when no request with this key can still be on its way. The reference is matched
        exactly, or up to a colon, which no key contains: `topup:k1` must not find `topup:k10`.
        """
        reference = f"topup:{key}"
        debits, refunds = [], []
        for entry in await self._whole_ledger(lane):
            found = entry.reference or ""
            if entry.kind == "card_topup" and found == reference:
                debits.append(entry)
            elif entry.kind == "refund" and (found == reference or found.startswith(f"{reference}:")):
                refunds.append(entry)
        return models.TopUpEvidence(
            debit=debits[0] if debits else None,
            refund=refunds[0] if refunds else None,
            rows=(*debits, *refunds),
        )

    # Cards

    async def order_card(self, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.Card:
        """Order a card. A repeat under the same key gives the first answer, so take only the id from it."""
        out = _change(Endpoint.ORDER_CARD, body=body, key=key)
        received = await self._call(out, lane)
        return _model(models.Card, _member(received.data, "card"), received, out)

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
            return [row async for row in pages.by_page(self._fleet(lane), lambda row: row.card_id)]
        wanted = list(dict.fromkeys(card_ids))
        at_once = LIVE_BALANCES if refresh else BALANCES_PAGE
        rows: list[models.BalanceRow] = []
        for start in range(0, len(wanted), at_once):
            body = codec.encode({"card_ids": wanted[start : start + at_once], "refresh": refresh})
            rows += await self._read_rows(
                models.BalanceRow, Outgoing(Endpoint.BALANCES, body=body), "balances", lane
            )
        return rows

    async def top_up(self, card_id: str, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.TopUp:
        """Move float onto a card, 1:1.

        A success whose card or `credited_usd` is not what was approved is evidence of a reused key, not
        a success: compare both. On a replay the balance is that of the later moment.
        """
        out = _change(Endpoint.TOP_UP, card_id, body=body, key=key)
        return await self._read(models.TopUp, out, lane)

    async def unload(self, card_id: str, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.Unload:
        """Move money from a card back to the float; compare the answer with what was approved."""
        out = _change(Endpoint.UNLOAD, card_id, body=body, key=key)
        return await self._read(models.Unload, out, lane)

    async def freeze(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Freeze:
        """Freeze or unfreeze. The answer only echoes; read the card to see its status.

        Takes no key: the service would record it and not use it [Idempotency-Key header].
        """
        out = _change(Endpoint.FREEZE, card_id, body=body)
        return await self._read(models.Freeze, out, lane)

    async def close(self, card_id: str, *, key: str, lane: Lane = Lane.MONEY) -> models.Close:
        """Sweep the balance to the float and delete the card for good."""
        out = _change(Endpoint.CLOSE, card_id, key=key)
        return await self._read(models.Close, out, lane)

    # Events

    async def events(
        self, *, event_type: str | None = None, since: datetime | None = None, lane: Lane = Lane.BACKGROUND
    ) -> AsyncIterator[models.Event]:
        """The event log, newest first, each event once, delivered or not; `since` is inclusive."""
        query = {"limit": str(pages.PAGE)}
        if event_type is not None:
            query["type"] = event_type
        if since is not None:
            query["since"] = since.astimezone(UTC).isoformat().replace("+00:00", "Z")

        async def fetch(number: int) -> pages.Page[models.Event]:
            out = Outgoing(Endpoint.EVENTS, query={**query, "page": str(number)})
            return await self._read_page(models.Event, out, "events", lane)

        async for event in pages.by_page(fetch, lambda event: event.id):
            yield event

    # One call

    async def _call(self, out: Outgoing, lane: Lane) -> Received:
        """Send, in turn and as often as this endpoint allows; an error that is raised counts the attempts."""
        failures: list[PartnerError] = []
        while True:
            await self._limiter.acquire(lane)
            try:
                received = await self._wire.exchange(out)
            except PartnerError as error:
                if isinstance(error, RateLimited):
                    self._limiter.block(error.retry_after or 0)
                failures.append(error)
                error.attempts = len(failures)
                pause = pause_before_repeat(failures)
                if pause is None:
                    raise
            else:
                self._limiter.observe(limit=received.rate_limit, remaining=received.rate_remaining)
                return received
            await self._clock.sleep(pause)

    async def _read(self, model: type[M], out: Outgoing, lane: Lane) -> M:
        received = await self._call(out, lane)
        return _model(model, received.data, received, out)

    async def _read_rows(self, model: type[M], out: Outgoing, name: str, lane: Lane) -> list[M]:
        return _rows(model, await self._call(out, lane), name, out)

    async def _read_page(self, model: type[M], out: Outgoing, name: str, lane: Lane) -> pages.Page[M]:
        received = await self._call(out, lane)
        counts = _model(models.PageCounts, received.data, received, out)
        return pages.Page(_rows(model, received, name, out), counts.total, counts.total_pages)

    async def _whole_ledger(self, lane: Lane) -> list[models.LedgerEntry]:
        try:
            return await pages.snapshot(lambda number: self.ledger(number, pages.PAGE, lane=lane))
        except pages.Moving:
            raise LedgerMoving(
                "the ledger changed during every reading",
                operation=Endpoint.LEDGER,
                certainty=unanswered(Endpoint.LEDGER),
            ) from None

    def _fleet(self, lane: Lane) -> Callable[[int], Awaitable[pages.Page[models.BalanceRow]]]:
        """Reads page by page the cached balances of all cards."""

        async def fetch(number: int) -> pages.Page[models.BalanceRow]:
            body = codec.encode({"limit": BALANCES_PAGE, "page": number})
            out = Outgoing(Endpoint.BALANCES, body=body)
            return await self._read_page(models.BalanceRow, out, "balances", lane)

        return fetch


def _change(endpoint: Endpoint, *ids: str, body: bytes | None = None, key: str | None = None) -> Outgoing:
    """A change with its frozen body. Bytes that are no JSON object were never a body of this API."""
    out = Outgoing(endpoint, ids=ids, body=body, key=key)
    if body is not None:
        try:
            fields = codec.decode(body)
        except codec.BadJson:
            fields = None
        if not isinstance(fields, dict):
            raise out.refused("The stored body is no JSON object.")
    return out


def _model(model: type[M], value: Any, received: Received, out: Outgoing) -> M:
    """The value as this model; what does not fit is no answer."""
    try:
        return model.read(value)
    except models.Unreadable as error:
        raise _unreadable(out, received, str(error)) from None


def _rows(model: type[M], received: Received, name: str, out: Outgoing) -> list[M]:
    rows = _member(received.data, name)
    if not isinstance(rows, list):
        raise _unreadable(out, received, f"no list of {name}")
    return [_model(model, row, received, out) for row in rows]


def _member(data: Any, name: str) -> Any:
    return data.get(name) if isinstance(data, dict) else None


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _unreadable(out: Outgoing, received: Received, why: str) -> UnreadableAnswer:
    return UnreadableAnswer(
        f"a success that does not have the documented form: {why}",
        operation=out.endpoint,
        certainty=unanswered(out.endpoint),
        status=received.status,
        sent_key=out.key,
    )
