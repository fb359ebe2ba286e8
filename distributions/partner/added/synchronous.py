"""SyncPartnerClient: the calls of PartnerClient without an event loop. Written by write_synchronous.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, Self, overload

import httpx
from countersign_partner import models
from countersign_partner.background import Background
from countersign_partner.calls import pages
from countersign_partner.client import PartnerClient
from countersign_partner.clock import Clock
from countersign_partner.ratelimit import Lane, RateLimiter
from countersign_partner.secret import Secret


class SyncPartnerClient:
    """The Partner API as one program's key sees it; each method waits for the answer.

    Takes what PartnerClient takes, and raises what it raises. The calls run in a thread of its own, so it may be
    shared by several threads. `with` ends it; `close` closes a card.
    """

    def __init__(
        self,
        base_url: str,
        key: Secret | str,
        *,
        limiter: RateLimiter | None = None,
        clock: Clock | None = None,
        http: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._client = PartnerClient(base_url, key, limiter=limiter, clock=clock, http=http)
        self._background = Background()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_connections()

    def close_connections(self) -> None:
        """Close the connections and end the thread."""
        self._background.run(self._client.aclose())
        self._background.close()

    @property
    def key_prefix(self) -> str:
        """The part of the key that may be shown."""
        return self._client.key_prefix

    @property
    def budget_left(self) -> int:
        """How many calls the key's minute still has room for."""
        return self._client.budget_left

    def me(self, *, lane: Lane = Lane.PEOPLE) -> models.Me:
        """Account, key, card allowance and float; the key's own rate limit is taken over."""
        return self._background.run(self._client.me(lane=lane))

    def fees(self, *, lane: Lane = Lane.PEOPLE) -> models.Fees:
        """The full fee schedule; rates are fractions."""
        return self._background.run(self._client.fees(lane=lane))

    @overload
    def set_fees(self, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Fees: ...

    @overload
    def set_fees(self, *, markup_pct: Decimal, lane: Lane = Lane.MONEY) -> models.Fees: ...

    def set_fees(
        self, body: bytes | None = None, *, markup_pct: Decimal | None = None, lane: Lane = Lane.MONEY
    ) -> models.Fees:
        """Set the partner's markup on deposits (a fraction, 0 to 0.5, kept at five places).

        Applies to the next deposit quoted; compare the answer, which is rounded, with what was approved.
        """
        send: Any = self._client.set_fees
        found: models.Fees = self._background.run(send(body, markup_pct=markup_pct, lane=lane))
        return found

    def funding_addresses(self, *, lane: Lane = Lane.PEOPLE) -> list[models.FundingAddress]:
        """Where funds may be sent now, at most one address per network.

        Unavailable means: do not send, and use no remembered address. An empty list means the same.
        """
        return self._background.run(self._client.funding_addresses(lane=lane))

    @overload
    def submit_funding(self, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Funding: ...

    @overload
    def submit_funding(self, *, tx_hash: str, network: str, lane: Lane = Lane.MONEY) -> models.Funding: ...

    def submit_funding(
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
        send: Any = self._client.submit_funding
        found: models.Funding = self._background.run(send(body, tx_hash=tx_hash, network=network, lane=lane))
        return found

    def funding(self, funding_id: str, *, lane: Lane = Lane.PEOPLE) -> models.Funding:
        """One submission. NotFound also when another account's claim has replaced it."""
        return self._background.run(self._client.funding(funding_id, lane=lane))

    def funding_list(self, *, lane: Lane = Lane.PEOPLE) -> list[models.Funding]:
        """The submissions the card provider lists unasked, perhaps not all.

        Query and envelope of this endpoint are not shown, so none is sent and the first list of objects
        in the answer is taken. The sure way is `funding` for each id that was stored.
        """
        return self._background.run(self._client.funding_list(lane=lane))

    def ledger(
        self, page: int = 1, limit: int = 50, *, lane: Lane = Lane.PEOPLE
    ) -> pages.Page[models.LedgerEntry]:
        """One page of the float's movements, newest first; past the end it is empty and `total` is 0."""
        return self._background.run(self._client.ledger(page, limit, lane=lane))

    def ledger_entries(
        self,
        *,
        since: datetime | None = None,
        first: pages.Page[models.LedgerEntry] | None = None,
        lane: Lane = Lane.BACKGROUND,
    ) -> Iterator[models.LedgerEntry]:
        """The movements of the float as of the first call, the newest first, each once, back to `since`.

        None = back to the first ever. `first` is a first page of `pages.PAGE` rows, where it was read already.
        `since` is by the card provider's clock. One page at a time, and none that is older than `since`: what it costs
        depends on what moved since, not on how long the ledger is. Raises LedgerMoving, perhaps only after the last
        row, when the rows given may not be all.
        """
        return self._background.rows(self._client.ledger_entries(since=since, first=first, lane=lane))

    def ledger_since(self, since: datetime | None, *, lane: Lane = Lane.PEOPLE) -> list[models.LedgerEntry]:
        """As `ledger_entries`, in one piece: read again, a few times, when it moved. Raises LedgerMoving."""
        return self._background.run(self._client.ledger_since(since, lane=lane))

    def ledger_beyond(
        self, mark: models.LedgerMark | None, since: datetime | None, *, lane: Lane = Lane.PEOPLE
    ) -> tuple[list[models.LedgerEntry], models.LedgerMark]:
        """The rows that came in since the mark, or back to `since` where it is None or the ledger does not fit it.

        The newest first, with how far was read now. Read again, a few times, when it moved. Raises LedgerMoving.
        """
        return self._background.run(self._client.ledger_beyond(mark, since, lane=lane))

    def order_claims(
        self, *, since: datetime | None = None, lane: Lane = Lane.PEOPLE
    ) -> dict[str, models.LedgerEntry]:
        """The ledger's claim rows of card orders since `since`, by the id of the card that was produced.

        A claim is a marker of zero whose description is the card's id [Ledger entry]; whether there is one for each
        order is not shown, so a missing one proves nothing.
        """
        return self._background.run(self._client.order_claims(since=since, lane=lane))

    def find_top_up(
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
        return self._background.run(self._client.find_top_up(key, since=since, mark=mark, lane=lane))

    @overload
    def order_card(self, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.Card: ...

    @overload
    def order_card(
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

    def order_card(
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
        send: Any = self._client.order_card
        found: models.Card = self._background.run(
            send(
                body,
                card_holder_name=card_holder_name,
                phone_country_code=phone_country_code,
                phone=phone,
                email=email,
                partner_ref=partner_ref,
                key=key,
                lane=lane,
            )
        )
        return found

    def cards(self, *, lane: Lane = Lane.BACKGROUND) -> Iterator[models.Card]:
        """Every card that is not closed, newest first, each once."""
        return self._background.rows(self._client.cards(lane=lane))

    def card(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.CardWithBalance:
        """One card, closed ones too, with its live balance (None: unreadable, not zero)."""
        return self._background.run(self._client.card(card_id, lane=lane))

    def balances(
        self, card_ids: Sequence[str] | None = None, *, refresh: bool = False, lane: Lane = Lane.PEOPLE
    ) -> list[models.BalanceRow]:
        """Balances as last read by the card provider, of these cards in their order, or of the whole fleet.

        `refresh` reads these cards live, 25 a call. A card that is not ours is a row with an error.
        """
        return self._background.run(self._client.balances(card_ids, refresh=refresh, lane=lane))

    def fleet_balances(self, *, lane: Lane = Lane.PEOPLE) -> Iterator[models.BalanceRow]:
        """The balances of all cards as last read by the card provider, a thousand a call, each card once."""
        return self._background.rows(self._client.fleet_balances(lane=lane))

    @overload
    def top_up(self, card_id: str, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.TopUp: ...

    @overload
    def top_up(
        self, card_id: str, *, amount_usd: Decimal, key: str, lane: Lane = Lane.MONEY
    ) -> models.TopUp: ...

    def top_up(
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
        send: Any = self._client.top_up
        found: models.TopUp = self._background.run(
            send(card_id, body, amount_usd=amount_usd, key=key, lane=lane)
        )
        return found

    @overload
    def unload(self, card_id: str, body: bytes, *, key: str, lane: Lane = Lane.MONEY) -> models.Unload: ...

    @overload
    def unload(
        self, card_id: str, *, amount_usd: Decimal, key: str, lane: Lane = Lane.MONEY
    ) -> models.Unload: ...

    def unload(
        self,
        card_id: str,
        body: bytes | None = None,
        *,
        amount_usd: Decimal | None = None,
        key: str,
        lane: Lane = Lane.MONEY,
    ) -> models.Unload:
        """Move money from a card back to the float; compare the answer with what was approved."""
        send: Any = self._client.unload
        found: models.Unload = self._background.run(
            send(card_id, body, amount_usd=amount_usd, key=key, lane=lane)
        )
        return found

    def limits(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.Limits:
        """The spending limits of a card as the processor has them."""
        return self._background.run(self._client.limits(card_id, lane=lane))

    @overload
    def set_limits(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Limits: ...

    @overload
    def set_limits(
        self,
        card_id: str,
        *,
        daily_limit_usd: Decimal | None = None,
        weekly_limit_usd: Decimal | None = None,
        monthly_limit_usd: Decimal | None = None,
        lane: Lane = Lane.MONEY,
    ) -> models.Limits: ...

    def set_limits(
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
        send: Any = self._client.set_limits
        found: models.Limits = self._background.run(
            send(
                card_id,
                body,
                daily_limit_usd=daily_limit_usd,
                weekly_limit_usd=weekly_limit_usd,
                monthly_limit_usd=monthly_limit_usd,
                lane=lane,
            )
        )
        return found

    @overload
    def freeze(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.Freeze: ...

    @overload
    def freeze(self, card_id: str, *, frozen: bool, lane: Lane = Lane.MONEY) -> models.Freeze: ...

    def freeze(
        self, card_id: str, body: bytes | None = None, *, frozen: bool | None = None, lane: Lane = Lane.MONEY
    ) -> models.Freeze:
        """Freeze or unfreeze. The answer only echoes; read the card to see its status.

        Takes no key: the card provider would record it and not use it [Idempotency-Key header].
        """
        send: Any = self._client.freeze
        found: models.Freeze = self._background.run(send(card_id, body, frozen=frozen, lane=lane))
        return found

    @overload
    def set_phone(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.PhoneUpdated: ...

    @overload
    def set_phone(
        self, card_id: str, *, phone_country_code: int, phone: str, lane: Lane = Lane.MONEY
    ) -> models.PhoneUpdated: ...

    def set_phone(
        self,
        card_id: str,
        body: bytes | None = None,
        *,
        phone_country_code: int | None = None,
        phone: str | None = None,
        lane: Lane = Lane.MONEY,
    ) -> models.PhoneUpdated:
        """Change the number that one-time codes of a card in sms mode go to. Nothing reads it back."""
        send: Any = self._client.set_phone
        found: models.PhoneUpdated = self._background.run(
            send(card_id, body, phone_country_code=phone_country_code, phone=phone, lane=lane)
        )
        return found

    def close(self, card_id: str, *, key: str, lane: Lane = Lane.MONEY) -> models.Close:
        """Sweep the balance to the float and delete the card for good."""
        return self._background.run(self._client.close(card_id, key=key, lane=lane))

    @overload
    def set_3ds(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> models.ThreeDsMethod: ...

    @overload
    def set_3ds(
        self, card_id: str, *, method: Literal["webhook"], lane: Lane = Lane.MONEY
    ) -> models.ThreeDsMethod: ...

    def set_3ds(
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
        send: Any = self._client.set_3ds
        found: models.ThreeDsMethod = self._background.run(send(card_id, body, method=method, lane=lane))
        return found

    def transactions(
        self,
        card_id: str,
        *,
        from_date: date | None = None,
        to_date: date | None = None,
        lane: Lane = Lane.PEOPLE,
    ) -> Iterator[models.Transaction]:
        """The purchases of a card, closed ones too, each once, in the order of the card provider.

        Both dates are days in UTC and included; None is no bound. A row that the card provider could not read
        is left out of its page without a word. Raises NotSent when the dates are the wrong way round.
        """
        return self._background.rows(
            self._client.transactions(card_id, from_date=from_date, to_date=to_date, lane=lane)
        )

    def details(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.CardDetails:
        """Mint an address whose page shows number and security code, for 600 s; closed cards too.

        Each call mints another, so it is never repeated here.
        """
        return self._background.run(self._client.details(card_id, lane=lane))

    def mint_pan_token(self, card_id: str, *, lane: Lane = Lane.PEOPLE) -> models.PanToken:
        """Mint an address that the end user's device may open once, within 60 s. Never open it here."""
        return self._background.run(self._client.mint_pan_token(card_id, lane=lane))

    def webhook(self, *, lane: Lane = Lane.PEOPLE) -> models.Webhook | None:
        """Where events go; None before the first registration. The secret is never among it."""
        return self._background.run(self._client.webhook(lane=lane))

    @overload
    def set_webhook(self, body: bytes, *, lane: Lane = Lane.MONEY) -> models.WebhookChange: ...

    @overload
    def set_webhook(
        self, *, url: str, rotate: bool = False, lane: Lane = Lane.MONEY
    ) -> models.WebhookChange: ...

    def set_webhook(
        self,
        body: bytes | None = None,
        *,
        url: str | None = None,
        rotate: bool | None = None,
        lane: Lane = Lane.MONEY,
    ) -> models.WebhookChange:
        """Register an address, or replace the secret with `"rotate":true`.

        Store the secret of the answer before anything else: it is given this once. After a lost answer
        the only copy may be gone; no repeat brings it back, only another rotation makes a new one.
        """
        send: Any = self._client.set_webhook
        found: models.WebhookChange = self._background.run(send(body, url=url, rotate=rotate, lane=lane))
        return found

    def events(
        self, *, event_type: str | None = None, since: datetime | None = None, lane: Lane = Lane.BACKGROUND
    ) -> Iterator[models.Event]:
        """The event log, newest first, each event once, delivered or not; `since` is inclusive."""
        return self._background.rows(self._client.events(event_type=event_type, since=since, lane=lane))

    def redeliver(self, event_id: str, *, lane: Lane = Lane.PEOPLE) -> models.Redelivery:
        """Have an event delivered again under its own id, with a fresh schedule of attempts."""
        return self._background.run(self._client.redeliver(event_id, lane=lane))

    def quote_deposit(
        self, body: Mapping[str, Any] | bytes, *, lane: Lane = Lane.MONEY
    ) -> models.DepositQuote:
        """An address and an amount for the end user to pay.

        The fields of the body are not shown in the document: what the agreement says goes in as it is,
        either as values (amounts as Decimal; a float is refused with NotSent) or as the bytes frozen with
        a request.
        """
        return self._background.run(self._client.quote_deposit(body, lane=lane))

    def deposits(self, *, lane: Lane = Lane.PEOPLE) -> list[models.Deposit]:
        """The deposits the card provider lists unasked, perhaps not all: its query and envelope are not shown."""
        return self._background.run(self._client.deposits(lane=lane))
