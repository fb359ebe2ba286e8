"""The table of operations: method, path, scope, bodies and handler. Routing, faults and OpenAPI read it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property

from sandbox.partner.calls import Call
from sandbox.partner.http import Answer
from sandbox.partner.routes import (
    account,
    balances,
    card_details,
    card_settings,
    cards,
    closing,
    deposits,
    events,
    funding,
    ledger,
    topups,
    transactions,
    unloads,
    webhooks,
)
from sandbox.partner.schemas import Field, Schema, integer, moment, request_schemas, response_schemas, string

BASE_PATH = "/api/partner/v1"
Handler = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True)
class Operation:
    """`codes` are the error codes beyond the common ones, by status.

    `processor`: it asks the card processor. `midway`: it has two commits with a crash point between.
    `waits`: an injected delay is spent inside the handler. `method_first`: a wrong method is refused
    before the key is looked at (card-details routes).
    """

    method: str
    path: str
    scope: str
    handler: Handler
    answer: Schema
    body: Schema | None = None
    query: tuple[Field, ...] = ()
    keyed: bool = False
    midway: bool = False
    processor: bool = False
    waits: bool = False
    method_first: bool = False
    status: int = 200
    scope_source: str = "spec"
    codes: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Method and path, as the control calls name an operation."""
        return f"{self.method} {self.path}"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The path as a pattern; its groups are the values of the path."""
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.path))


_PAGED = (
    integer("limit", minimum=0, maximum=100, default=50, required=False),
    integer("page", minimum=0, default=1, required=False),
)
_CARD_ERRORS: dict[int, tuple[str, ...]] = {400: ("BAD_REQUEST",), 404: ("NOT_FOUND",)}
_PROCESSOR_ERRORS = {502: ("UNAVAILABLE",), 503: ("UPSTREAM_AUTH",)}

OPERATIONS: tuple[Operation, ...] = (
    Operation("GET", "/me", "users:read", account.read_me, response_schemas.ME),
    Operation("GET", "/fees", "users:read", account.read_fees, response_schemas.FEES),
    Operation(
        "PUT",
        "/fees",
        "users:write",
        account.change_fees,
        response_schemas.FEES,
        body=request_schemas.MARKUP_BODY,
        codes={400: ("BAD_REQUEST",)},
    ),
    Operation(
        "GET",
        "/ledger",
        "users:read",
        ledger.read_ledger,
        response_schemas.LEDGER,
        query=_PAGED,
        codes={400: ("BAD_REQUEST",)},
    ),
    Operation(
        "POST",
        "/cards",
        "cards:write",
        cards.order,
        response_schemas.CARD_ANSWER,
        body=request_schemas.ORDER_BODY,
        keyed=True,
        midway=True,
        processor=True,
        waits=True,
        status=201,
        codes={
            400: (
                "BAD_REQUEST",
                "INVALID_NAME",
                "INVALID_EMAIL",
                "INVALID_PHONE",
                "PHONE_COUNTRY_NOT_ALLOWED",
            ),
            409: ("QUOTA", "ALREADY_PROCESSED"),
            **_PROCESSOR_ERRORS,
        },
    ),
    Operation(
        "GET",
        "/cards",
        "cards:read",
        cards.list_cards,
        response_schemas.CARDS,
        query=(string("limit", default="50", required=False), string("offset", default="0", required=False)),
    ),
    Operation(
        "GET",
        "/cards/{cardId}",
        "cards:read",
        cards.read_card,
        response_schemas.CARD_AND_BALANCE,
        processor=True,
        codes={**_CARD_ERRORS, **_PROCESSOR_ERRORS},
    ),
    Operation(
        "POST",
        "/cards/{cardId}/topup",
        "cards:write",
        topups.top_up,
        response_schemas.TOPUP,
        body=request_schemas.TOPUP_BODY,
        keyed=True,
        midway=True,
        processor=True,
        waits=True,
        codes={
            **_CARD_ERRORS,
            402: ("INSUFFICIENT_FUNDS",),
            409: ("ALREADY_PROCESSED", "QUOTA"),
            **_PROCESSOR_ERRORS,
        },
    ),
    Operation(
        "POST",
        "/cards/{cardId}/freeze",
        "cards:write",
        cards.freeze,
        response_schemas.FREEZE,
        body=request_schemas.FREEZE_BODY,
        keyed=True,
        processor=True,
        codes={**_CARD_ERRORS, **_PROCESSOR_ERRORS},
    ),
    Operation(
        "POST",
        "/cards/balances",
        "cards:read",
        balances.read_balances,
        response_schemas.BALANCES,
        body=request_schemas.BALANCES_BODY,
        processor=True,
        codes={400: ("BAD_REQUEST",)},
    ),
    Operation(
        "POST",
        "/cards/{cardId}/unload",
        "cards:write",
        unloads.unload,
        response_schemas.UNLOAD,
        body=request_schemas.UNLOAD_BODY,
        keyed=True,
        midway=True,
        processor=True,
        waits=True,
        codes={
            **_CARD_ERRORS,
            402: ("INSUFFICIENT_FUNDS",),
            409: ("ALREADY_PROCESSED",),
            **_PROCESSOR_ERRORS,
        },
    ),
    Operation(
        "POST",
        "/cards/{cardId}/close",
        "cards:write",
        closing.close,
        response_schemas.CLOSE,
        keyed=True,
        processor=True,
        scope_source="invented",
        codes={**_CARD_ERRORS, 409: ("ALREADY_PROCESSED",), 503: ("UNAVAILABLE", "UPSTREAM_AUTH")},
    ),
    Operation(
        "GET",
        "/funding/addresses",
        "users:read",
        funding.read_addresses,
        response_schemas.ADDRESSES,
        codes={503: ("UNAVAILABLE",)},
    ),
    Operation(
        "POST",
        "/funding",
        "users:write",
        funding.submit,
        response_schemas.FUNDING,
        body=request_schemas.FUNDING_BODY,
        codes={
            400: ("BAD_REQUEST",),
            409: ("ALREADY_SUBMITTED", "ALREADY_CREDITED"),
            429: ("TOO_MANY_PENDING",),
            503: ("UNAVAILABLE",),
        },
    ),
    Operation(
        "GET",
        "/funding",
        "users:read",
        funding.list_funding,
        response_schemas.FUNDING_LIST,
        query=_PAGED,
        scope_source="invented",
        codes={400: ("BAD_REQUEST",)},
    ),
    Operation(
        "GET",
        "/funding/{fundingId}",
        "users:read",
        funding.read_funding,
        response_schemas.FUNDING,
        codes={404: ("NOT_FOUND",)},
    ),
    Operation(
        "GET",
        "/events",
        "cards:read",
        events.read_events,
        response_schemas.EVENTS,
        query=(*_PAGED, string("type", required=False), moment("since", required=False)),
        codes={400: ("BAD_REQUEST",)},
    ),
    Operation(
        "GET",
        "/cards/{cardId}/limits",
        "cards:read",
        card_settings.read_limits,
        response_schemas.LIMITS,
        processor=True,
        codes={**_CARD_ERRORS, **_PROCESSOR_ERRORS},
    ),
    Operation(
        "PUT",
        "/cards/{cardId}/limits",
        "cards:write",
        card_settings.change_limits,
        response_schemas.LIMITS,
        body=request_schemas.LIMITS_BODY,
        processor=True,
        codes={**_CARD_ERRORS, **_PROCESSOR_ERRORS},
    ),
    Operation(
        "PUT",
        "/cards/{cardId}/phone",
        "cards:write",
        card_settings.change_phone,
        response_schemas.PHONE,
        body=request_schemas.PHONE_BODY,
        processor=True,
        scope_source="invented",
        codes={
            **_CARD_ERRORS,
            400: ("BAD_REQUEST", "INVALID_PHONE", "PHONE_COUNTRY_NOT_ALLOWED"),
            **_PROCESSOR_ERRORS,
        },
    ),
    Operation(
        "PUT",
        "/cards/{cardId}/3ds",
        "cards:write",
        card_settings.change_threeds,
        response_schemas.THREEDS,
        body=request_schemas.THREEDS_BODY,
        keyed=True,
        processor=True,
        scope_source="invented",
        codes={**_CARD_ERRORS, **_PROCESSOR_ERRORS},
    ),
    Operation(
        "GET",
        "/cards/{cardId}/transactions",
        "cards:read",
        transactions.read_transactions,
        response_schemas.TRANSACTIONS,
        query=(
            integer("limit", minimum=0, maximum=25, default=25, required=False),
            integer("page", minimum=0, default=1, required=False),
            string("from_date", format="date", required=False),
            string("to_date", format="date", required=False),
        ),
        processor=True,
        codes={**_CARD_ERRORS, 500: ("UNAVAILABLE",), **_PROCESSOR_ERRORS},
    ),
    Operation(
        "GET",
        "/cards/{cardId}/pan",
        "cards:pan",
        card_details.read_pan,
        response_schemas.PAN,
        processor=True,
        method_first=True,
        codes={**_CARD_ERRORS, **_PROCESSOR_ERRORS},
    ),
    Operation(
        "POST",
        "/cards/{cardId}/pan-token",
        "cards:pan",
        card_details.mint_pan_token,
        response_schemas.PAN_TOKEN,
        processor=True,
        method_first=True,
        codes={**_CARD_ERRORS, **_PROCESSOR_ERRORS},
    ),
    Operation("GET", "/webhook", "users:read", webhooks.read_webhook, response_schemas.WEBHOOK_ANSWER),
    Operation(
        "PUT",
        "/webhook",
        "users:write",
        webhooks.change_webhook,
        response_schemas.WEBHOOK_CHANGED,
        body=request_schemas.WEBHOOK_BODY,
        codes={400: ("BAD_REQUEST",)},
    ),
    Operation(
        "POST",
        "/events/{eventId}/redeliver",
        "users:write",
        events.redeliver,
        response_schemas.REDELIVERY,
        codes={404: ("NOT_FOUND",)},
    ),
    Operation(
        "POST",
        "/deposits",
        "deposits:write",
        deposits.quote,
        response_schemas.QUOTE,
        body=request_schemas.DEPOSIT_BODY,
        scope_source="invented",
        codes=_CARD_ERRORS,
    ),
    Operation(
        "GET",
        "/deposits",
        "deposits:read",
        deposits.list_deposits,
        response_schemas.DEPOSIT_LIST,
        query=_PAGED,
        scope_source="invented",
        codes={400: ("BAD_REQUEST",)},
    ),
)


def by_name(name: str) -> Operation | None:
    """An operation as the control API names it: `POST /cards/{cardId}/topup`."""
    return next((operation for operation in OPERATIONS if operation.name == name), None)


def at_path(path: str) -> list[tuple[Operation, dict[str, str]]]:
    """Every operation on a path below the base path; a literal path wins over a template."""
    found = []
    for operation in OPERATIONS:
        match = operation.pattern.fullmatch(path)
        if match:
            found.append((operation, match.groupdict()))
    literal = [(operation, values) for operation, values in found if not values]
    return literal or found
