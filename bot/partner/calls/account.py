"""Account, funding and the ledger: GET /me to GET /ledger."""

import copy
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from datetime import datetime
from decimal import Decimal
from typing import Any, Self, cast, overload

from bot.partner import answers, endpoints, models, shapes
from bot.partner.answers import NO_ANSWER, Answer, Finding
from bot.partner.calls import Calls, body_of, change, pages
from bot.partner.certainty import unanswered
from bot.partner.endpoints import Endpoint
from bot.partner.errors import LedgerMoving
from bot.partner.ratelimit import Lane
from bot.partner.shapes import Sent
from bot.partner.wire import Outgoing

ME = Endpoint("GET /me", "Account", endpoints.RECORD, answers.READ, shapes.shape_of(models.Me))
FEES = Endpoint("GET /fees", "Account", endpoints.RECORD, answers.READ, shapes.shape_of(models.Fees))
SET_FEES = Endpoint(
    "PUT /fees",
    "Account",
    endpoints.CHANGE,
    {**answers.RECORD_CHANGE, NO_ANSWER: answers.OPEN_ONCE_MORE},
    shapes.shape_of(models.Fees),
    Sent(body={"markup_pct": "number"}),
)
FUNDING_ADDRESSES = Endpoint(
    "GET /funding/addresses",
    "Account",
    endpoints.RECORD,
    answers.READ,
    shapes.holding(addresses=shapes.rows_of(models.FundingAddress)),
)
SUBMIT_FUNDING = Endpoint(
    "POST /funding",
    "Account",
    endpoints.CHANGE,
    {
        **answers.RECORD_CHANGE,
        # After a doubt too a repeat of one's own hash passes these checks, so nothing is stored yet: but
        # the first attempt may still be on its way.
        (409, "ALREADY_SUBMITTED"): answers.REFUSED,
        (409, "ALREADY_CREDITED"): answers.REFUSED,
        (429, "TOO_MANY_PENDING"): answers.REFUSED,
        # Idempotent on the hash: a repeat returns the stored record.
        (500, "UNAVAILABLE"): answers.OPEN_AND_HARMLESS,
        (503, "UNAVAILABLE"): Answer(Finding.NOTHING_YET, Finding.UNKNOWN, repeats=3),  # nothing recorded
        **answers.pages(answers.OPEN_AND_HARMLESS, 500, 503),
        NO_ANSWER: answers.OPEN_AND_HARMLESS,
    },
    shapes.shape_of(models.Funding),
    Sent(body={"tx_hash": "string", "network": "string"}),
)
FUNDING = Endpoint(
    "GET /funding/{fundingId}", "Account", endpoints.RECORD, answers.READ, shapes.shape_of(models.Funding)
)
FUNDING_LIST = Endpoint(
    "GET /funding", "Account", endpoints.RECORD, answers.READ, shapes.rows_of(models.Funding)
)
LEDGER = Endpoint(
    "GET /ledger",
    "Account",
    endpoints.RECORD,
    answers.READ,
    shapes.holding(entries=shapes.rows_of(models.LedgerEntry), **shapes.PAGED),
    Sent(query=("limit", "page")),
)

_QUICK_PAGES = 5


class AccountCalls(Calls):
    """The account itself, its float and what fills it."""

    _account: Callable[[], Awaitable[models.Me]] | None = None

    def with_account(self, read: Callable[[], Awaitable[models.Me]]) -> Self:
        """The same client, whose `me` is what `read` tells: a reading that several share."""
        other = copy.copy(self)
        other._account = read
        return other

    async def me(self, *, lane: Lane = Lane.PEOPLE) -> models.Me:
        """Account, key, card allowance and float; the key's own rate limit is taken over."""
        if self._account is not None:
            return await self._account()
        me = await self._read(models.Me, Outgoing(ME), lane)
        self._limiter.set_limit(me.key.rate_limit_per_minute)
        return me

    async def fees(self, *, lane: Lane = Lane.PEOPLE) -> models.Fees:
        """The full fee schedule; rates are fractions."""
        return await self._read(models.Fees, Outgoing(FEES), lane)

    @overload
    async def set_fees(self, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Fees: ...

    @overload
    async def set_fees(self, *, markup_pct: Decimal, lane: Lane = Lane.MONEY) -> models.Fees: ...

    async def set_fees(
        self, body: bytes | None = None, *, markup_pct: Decimal | None = None, lane: Lane = Lane.MONEY
    ) -> models.Fees:
        """Set the partner's markup on deposits (a fraction, 0 to 0.5, kept at five places).

        Applies to the next deposit quoted; compare the answer, which is rounded, with what was approved.
        """
        return await self._read(
            models.Fees, change(SET_FEES, body=body_of(SET_FEES, body, markup_pct=markup_pct)), lane
        )

    async def funding_addresses(self, *, lane: Lane = Lane.PEOPLE) -> list[models.FundingAddress]:
        """Where funds may be sent now, at most one address per network.

        Unavailable means: do not send, and use no remembered address. An empty list means the same.
        """
        return await self._read_rows(models.FundingAddress, Outgoing(FUNDING_ADDRESSES), "addresses", lane)

    @overload
    async def submit_funding(self, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Funding: ...

    @overload
    async def submit_funding(
        self, *, tx_hash: str, network: str, lane: Lane = Lane.MONEY
    ) -> models.Funding: ...

    async def submit_funding(
        self,
        body: bytes | None = None,
        *,
        tx_hash: str | None = None,
        network: str | None = None,
        lane: Lane = Lane.MONEY,
    ) -> models.Funding:
        """Submit a transfer. The record that comes back may already be credited, rejected or in review.

        Idempotent on the hash, so a lost answer is asked for again [POST /funding 6].
        """
        return await self._read(
            models.Funding,
            change(SUBMIT_FUNDING, body=body_of(SUBMIT_FUNDING, body, tx_hash=tx_hash, network=network)),
            lane,
        )

    async def funding(self, funding_id: str, *, lane: Lane = Lane.PEOPLE) -> models.Funding:
        """One submission. NotFound also when another account's claim has replaced it."""
        return await self._read(models.Funding, Outgoing(FUNDING, ids=(funding_id,)), lane)

    async def funding_list(self, *, lane: Lane = Lane.PEOPLE) -> list[models.Funding]:
        """The submissions the card provider lists unasked, perhaps not all.

        Query and envelope of this endpoint are not shown, so none is sent and the first list of objects
        in the answer is taken. The sure way is `funding` for each id that was stored.
        """
        return await self._read_some_list(models.Funding, FUNDING_LIST, lane)

    async def ledger(
        self, page: int = 1, limit: int = 50, *, lane: Lane = Lane.PEOPLE
    ) -> pages.Page[models.LedgerEntry]:
        """One page of the float's movements, newest first; past the end it is empty and `total` is 0."""
        out = Outgoing(LEDGER, query={"page": str(page), "limit": str(limit)})
        return await self._read_page(models.LedgerEntry, out, "entries", lane)

    async def ledger_entries(
        self,
        *,
        since: datetime | None = None,
        first: pages.Page[models.LedgerEntry] | None = None,
        lane: Lane = Lane.BACKGROUND,
    ) -> AsyncIterator[models.LedgerEntry]:
        """The movements of the float as of the first call, the newest first, each once, back to `since`.

        None = back to the first ever. `first` is a first page of `pages.PAGE` rows, where it was read already.
        `since` is by the card provider's clock. One page at a time, and none that is older than `since`: what it costs
        depends on what moved since, not on how long the ledger is. Raises LedgerMoving, perhaps only after the last
        row, when the rows given may not be all.
        """
        rows = pages.newest_first(
            # A long reading leaves to others what is kept for them.
            lambda number: self.ledger(
                number, pages.PAGE, lane=lane if number <= _QUICK_PAGES else Lane.BACKGROUND
            ),
            lambda row: since is not None and row.created_at < since,
            first,
        )
        try:
            async for row in rows:
                yield row
        except pages.Moving:
            raise LedgerMoving(
                "the ledger changed in a way that leaves open which rows were seen",
                operation=LEDGER,
                certainty=unanswered(LEDGER),
            ) from None

    async def ledger_since(
        self, since: datetime | None, *, lane: Lane = Lane.PEOPLE
    ) -> list[models.LedgerEntry]:
        """As `ledger_entries`, in one piece: read again, a few times, when it moved. Raises LedgerMoving."""
        return (await self.ledger_beyond(None, since, lane=lane))[0]

    async def ledger_beyond(
        self, mark: models.LedgerMark | None, since: datetime | None, *, lane: Lane = Lane.PEOPLE
    ) -> tuple[list[models.LedgerEntry], models.LedgerMark]:
        """The rows that came in since the mark, or back to `since` where it is None or the ledger does not fit it.

        The newest first, with how far was read now. Read again, a few times, when it moved. Raises LedgerMoving.
        """
        for _ in range(pages.READINGS - 1):
            with suppress(LedgerMoving):
                return await self._ledger_beyond(mark, since, lane)
        return await self._ledger_beyond(mark, since, lane)

    async def _ledger_beyond(
        self, mark: models.LedgerMark | None, since: datetime | None, lane: Lane
    ) -> tuple[list[models.LedgerEntry], models.LedgerMark]:
        first = await self.ledger(1, pages.PAGE, lane=lane)
        now = models.LedgerMark(first.total, first.rows[0].marks if first.rows else ())
        new = first.total - mark.rows if mark else -1
        rows: list[models.LedgerEntry] = []
        found = self.ledger_entries(since=None if new >= 0 else since, first=first, lane=lane)
        async with aclosing(cast(Any, found)) as entries:  # left early, so it is closed
            async for row in entries:
                if len(rows) == new and mark is not None:
                    if row.marks == mark.newest:
                        return rows, now
                    return await self._ledger_beyond(None, since, lane)
                rows.append(row)
        return rows, now

    async def order_claims(
        self, *, since: datetime | None = None, lane: Lane = Lane.PEOPLE
    ) -> dict[str, models.LedgerEntry]:
        """The ledger's claim rows of card orders since `since`, by the id of the card that was produced.

        A claim is a marker of zero whose description is the card's id [Ledger entry]; whether there is one for each
        order is not shown, so a missing one proves nothing.
        """
        return {
            entry.description: entry
            for entry in await self.ledger_since(since, lane=lane)
            if entry.kind == "adjustment" and entry.card_id is None and entry.description
        }

    async def find_top_up(
        self,
        key: str,
        *,
        since: datetime | None = None,
        mark: models.LedgerMark | None = None,
        lane: Lane = Lane.PEOPLE,
    ) -> models.TopUpEvidence:
        """What the ledger since `since`, by the card provider's clock, shows for a top-up under this key.

        None = the whole ledger; with `mark`, what came in since it was read so far. Read it only when no request with
        this key can still be on its way. The reference is matched exactly, or up to a colon, which no key contains:
        `topup:k1` must not find `topup:k10`.
        """
        reference = f"topup:{key}"
        debits, refunds = [], []
        entries, read_to = await self.ledger_beyond(mark, since, lane=lane)
        for entry in entries:
            found = entry.reference or ""
            if entry.kind == "card_topup" and found == reference:
                debits.append(entry)
            elif entry.kind == "refund" and (found == reference or found.startswith(f"{reference}:")):
                refunds.append(entry)
        return models.TopUpEvidence(
            debit=debits[0] if debits else None,
            refund=refunds[0] if refunds else None,
            rows=(*debits, *refunds),
            mark=read_to,
        )
