"""What this client knows of the API, as data: worked out from its own models and tables, so that it
cannot fall behind them. `drift` holds it against the description that the service publishes.
"""

import types
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin

from bot.domain.secret import Secret
from bot.partner import models
from bot.partner.calls import account as account_calls
from bot.partner.calls import cards as card_calls
from bot.partner.calls import deposits as deposit_calls
from bot.partner.calls import events as event_calls
from bot.partner.calls import history as history_calls
from bot.partner.endpoints import Endpoint
from bot.partner.models import events as typed

VERSION = "1.0.0"
"""Of the published description [Versioning]."""

_NUMBER = frozenset({"number", "integer"})
_KINDS: Mapping[Any, frozenset[str]] = {
    str: frozenset({"string"}),
    Secret: frozenset({"string"}),
    datetime: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: _NUMBER,
    Decimal: _NUMBER,
}
_OBJECT = frozenset({"object"})
_ARRAY = frozenset({"array"})


@dataclass(frozen=True, slots=True)
class Shape:
    """A JSON value as the client takes it: of one of `kinds`, which are names of JSON Schema.

    `fields` are those of an object, `items` the rows of a list, `values` the words known for a text.
    An object whose `fields` are None may hold anything.
    """

    kinds: frozenset[str]
    required: bool = True
    nullable: bool = False
    values: tuple[str, ...] = ()
    fields: Mapping[str, "Shape"] | None = None
    items: "Shape | None" = None


def shape_of(model: type[models.Answer]) -> Shape:
    """The form an answer must have to be read as this model, by its names on the wire."""
    fields: dict[str, Shape] = {}
    for name, info in model.model_fields.items():
        wire_name = info.validation_alias if isinstance(info.validation_alias, str) else name
        words = next((item.values for item in info.metadata if isinstance(item, models.Known)), ())
        if name not in ("raw", *_OURS.get(model, ())):
            fields[wire_name] = replace(_shape(info.annotation, words), required=info.is_required())
    return Shape(_OBJECT, fields=fields)


# Fields that we fill ourselves.
_OURS: Mapping[type[models.Answer], tuple[str, ...]] = {typed.ThreeDsChallenge: ("code",)}


def _shape(annotation: Any, words: tuple[str, ...]) -> Shape:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(arguments[0], words)
    if origin in (Union, types.UnionType):
        (inner,) = (item for item in arguments if item is not type(None))
        return replace(_shape(inner, words), nullable=True)
    if origin is tuple:
        return Shape(_ARRAY, items=_shape(arguments[0], words))
    if origin is not None:
        return Shape(_OBJECT)
    if issubclass(annotation, models.Answer):
        return shape_of(annotation)
    return Shape(_KINDS[annotation], values=words)


def _holding(**fields: Shape) -> Shape:
    return Shape(_OBJECT, fields=fields)


def _rows(model: type[models.Answer]) -> Shape:
    return Shape(_ARRAY, items=shape_of(model))


def answers() -> dict[Endpoint, Shape]:
    """What must be under `data` of each success, and what else is documented there.

    Lists whose envelope is not shown are plain arrays here.
    """
    counted = {name: Shape(_NUMBER, required=False) for name in ("count", "page", "total", "total_pages")}
    paged = counted | dict(shape_of(models.PageCounts).fields or {})
    count = {"count": counted["count"]}
    named = {"card_id": Shape(frozenset({"string"}), required=False)}
    funding, fees, limits = shape_of(models.Funding), shape_of(models.Fees), shape_of(models.Limits)
    return {
        account_calls.ME: shape_of(models.Me),
        account_calls.FEES: fees,
        account_calls.SET_FEES: fees,
        account_calls.FUNDING_ADDRESSES: _holding(addresses=_rows(models.FundingAddress)),
        account_calls.SUBMIT_FUNDING: funding,
        account_calls.FUNDING: funding,
        account_calls.FUNDING_LIST: _rows(models.Funding),
        account_calls.LEDGER: _holding(entries=_rows(models.LedgerEntry), **paged),
        card_calls.ORDER_CARD: _holding(card=shape_of(models.Card)),
        card_calls.CARDS: _holding(cards=_rows(models.Card), **count),
        card_calls.CARD: shape_of(models.CardWithBalance),
        card_calls.BALANCES: _holding(balances=_rows(models.BalanceRow), **counted),
        card_calls.TOP_UP: shape_of(models.TopUp),
        card_calls.UNLOAD: shape_of(models.Unload),
        card_calls.LIMITS: limits,
        card_calls.SET_LIMITS: limits,
        card_calls.FREEZE: shape_of(models.Freeze),
        card_calls.SET_PHONE: shape_of(models.PhoneUpdated),
        card_calls.CLOSE: shape_of(models.Close),
        card_calls.SET_3DS: shape_of(models.ThreeDsMethod),
        history_calls.TRANSACTIONS: _holding(transactions=_rows(models.Transaction), **named, **paged),
        history_calls.DETAILS: shape_of(models.CardDetails),
        history_calls.DETAILS_ONCE: shape_of(models.PanToken),
        event_calls.WEBHOOK: _holding(webhook=replace(shape_of(models.Webhook), nullable=True)),
        event_calls.SET_WEBHOOK: shape_of(models.WebhookChange),
        event_calls.EVENTS: _holding(events=_rows(models.Event), **paged),
        event_calls.REDELIVER: shape_of(models.Redelivery),
        deposit_calls.QUOTE_DEPOSIT: shape_of(models.DepositQuote),
        deposit_calls.DEPOSITS: _rows(models.Deposit),
    }


UNSHOWN = frozenset({account_calls.FUNDING_LIST, deposit_calls.QUOTE_DEPOSIT, deposit_calls.DEPOSITS})
"""Endpoints whose envelope, query or body the document does not show, and the client does not rely on."""


def event_data() -> dict[str, Shape]:
    """What must be under `data` of each event, by its type."""
    known: dict[str, type[models.Answer]] = {
        "card.authorized": typed.Authorization,
        "card.transaction": typed.LaterLeg,
        "card.declined": typed.Decline,
        "card.unloaded": typed.CardHint,
        "card.status_changed": typed.StatusChange,
        "card.3ds_challenge": typed.Challenge,
        "float.credited": typed.FloatCredit,
    }
    return {name: shape_of(model) for name, model in known.items()}


@dataclass(frozen=True, slots=True)
class Sent:
    """What goes out: the parameters of the query, the body's fields and their kinds, an idempotency key."""

    query: tuple[str, ...] = ()
    body: Mapping[str, str] = field(default_factory=dict)
    keyed: bool = False


_AMOUNT = {"amount_usd": "number"}
_PHONE = {"phone_country_code": "integer", "phone": "string"}

SENT: dict[Endpoint, Sent] = {
    account_calls.SET_FEES: Sent(body={"markup_pct": "number"}),
    account_calls.SUBMIT_FUNDING: Sent(body={"tx_hash": "string", "network": "string"}),
    account_calls.LEDGER: Sent(query=("limit", "page")),
    card_calls.ORDER_CARD: Sent(
        body={"card_holder_name": "string", **_PHONE, "email": "string", "partner_ref": "string"}, keyed=True
    ),
    card_calls.CARDS: Sent(query=("limit", "offset")),
    card_calls.BALANCES: Sent(
        body={"card_ids": "array", "refresh": "boolean", "limit": "integer", "page": "integer"}
    ),
    card_calls.TOP_UP: Sent(body=_AMOUNT, keyed=True),
    card_calls.UNLOAD: Sent(body=_AMOUNT, keyed=True),
    card_calls.SET_LIMITS: Sent(
        body={"daily_limit": "number", "weekly_limit": "number", "monthly_limit": "number"}
    ),
    card_calls.FREEZE: Sent(body={"frozen": "boolean"}),
    card_calls.SET_PHONE: Sent(body=_PHONE),
    card_calls.CLOSE: Sent(keyed=True),
    card_calls.SET_3DS: Sent(body={"method": "string"}),
    history_calls.TRANSACTIONS: Sent(query=("limit", "page", "from_date", "to_date")),
    event_calls.SET_WEBHOOK: Sent(body={"url": "string", "rotate": "boolean"}),
    event_calls.EVENTS: Sent(query=("type", "since", "limit", "page")),
}
"""By endpoint; what is not named sends nothing. The body of POST /deposits is not ours to know."""
