"""The calls of the client, by the chapters of the API document, on what is common to them here.

Each chapter holds its endpoints, in the order of the document, with all that is known of them, and a method for
each. A new endpoint is said there and nowhere else in this client.

account    GET /me to GET /ledger
cards      POST /cards to PUT 3ds
history    GET transactions, and the two ways to show a card's number
events     the webhook registration, the event log, redelivery
deposits   the optional route of payments by the end user
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Self, TypeVar

from bot.partner import codec, models
from bot.partner.calls import pages
from bot.partner.calls.retrying import pause_before_repeat
from bot.partner.certainty import Certainty, unanswered
from bot.partner.clock import Clock, MachineClock
from bot.partner.endpoints import Endpoint
from bot.partner.errors import PartnerError, RateLimited, UnreadableAnswer
from bot.partner.http_library import httpx
from bot.partner.ratelimit import Lane, Place, RateLimiter
from bot.partner.secret import Secret
from bot.partner.wire import Observe, Outgoing, Received, Wire

M = TypeVar("M", bound=models.Answer)


class Calls:
    """What every call does: wait its turn, send, repeat what may be repeated, read the answer."""

    def __init__(
        self,
        base_url: str,
        key: Secret | str,
        *,
        limiter: RateLimiter | None = None,
        clock: Clock | None = None,
        http: httpx.AsyncClient | httpx.AsyncBaseTransport | None = None,
        observe: Observe | None = None,
    ) -> None:
        secret = Secret(key) if isinstance(key, str) else key
        clock = clock or MachineClock()
        self._wire = Wire(base_url, secret, http=http, clock=clock, observe=observe)
        self._limiter = limiter or RateLimiter(clock)
        self._clock = clock
        self._lane: Lane | None = None
        self._place: Place | None = None
        # Who each card is, as last read by its id: its holder and its last four digits. Shared by all copies.
        self.identities: dict[str, tuple[str, str | None]] = {}

    def in_lane(self, lane: Lane) -> Self:
        """The same client with all its calls in this lane, whatever lane they name."""
        other = copy.copy(self)
        other._lane = lane
        return other

    def at(self, place: Place) -> Self:
        """The same client with its next change at this place of the minute: it leaves without waiting, once.

        Such a change is not repeated by the client. Whoever took the place has looked whether it may still be
        sent, and looks again before it is sent again.
        """
        other = copy.copy(self)
        other._place = place
        return other

    async def place(self, lane: Lane) -> Place:
        """Wait for a place of this lane in the key's minute; give it back if nothing is sent."""
        return await self._limiter.place(self._lane if self._lane is not None else lane)

    async def _turn(self, out: Outgoing, lane: Lane) -> bool:
        """Wait for this request's turn; False where it had its place before."""
        if self._place is not None and out.endpoint.facts.changes and self._place.use():
            return False
        await self._limiter.acquire(self._lane if self._lane is not None else lane)
        return True

    async def _call(self, out: Outgoing, lane: Lane) -> Received:
        """Send, in turn and as often as this endpoint allows; an error that is raised counts the attempts."""
        self._wire.check_open(out)  # before it waits for a turn
        failures: list[PartnerError] = []
        while True:
            may_repeat = await self._turn(out, lane)
            try:
                received = await self._wire.exchange(out)
            except PartnerError as error:
                if isinstance(error, RateLimited):
                    self._limiter.block(
                        error.retry_after or 0, self._lane if self._lane is not None else lane
                    )
                failures.append(error)
                error.attempts = len(failures)
                error.earlier_in_doubt = any(f.certainty is Certainty.AMBIGUOUS for f in failures[:-1])
                pause = pause_before_repeat(failures) if may_repeat else None
                if pause is None:
                    raise
            else:
                self._limiter.observe(limit=received.rate_limit, remaining=received.rate_remaining)
                return replace(received, attempts=len(failures) + 1)
            await self._clock.sleep(pause)

    async def _read(self, model: type[M], out: Outgoing, lane: Lane) -> M:
        received = await self._call(out, lane)
        return as_model(model, received.data, received, out)

    async def _read_rows(self, model: type[M], out: Outgoing, name: str, lane: Lane) -> list[M]:
        return _rows(model, await self._call(out, lane), name, out)

    async def _read_page(self, model: type[M], out: Outgoing, name: str, lane: Lane) -> pages.Page[M]:
        received = await self._call(out, lane)
        counts = as_model(models.PageCounts, received.data, received, out)
        return pages.Page(_rows(model, received, name, out), counts.total, counts.total_pages)

    async def _read_some_list(self, model: type[M], endpoint: Endpoint, lane: Lane) -> list[M]:
        """The rows of a list whose query and envelope are not shown.

        So no query is sent, and the first list of objects in the answer is taken.
        """
        out = Outgoing(endpoint)
        received = await self._call(out, lane)
        data = received.data
        candidates = list(data.values()) if isinstance(data, dict) else [data]
        lists = [rows for rows in candidates if _is_list_of_objects(rows)]
        if lists:
            rows: list[Any] = next((rows for rows in lists if rows), [])
            return [as_model(model, row, received, out) for row in rows]
        raise _unreadable(out, received, "no list of objects")


def change(endpoint: Endpoint, *ids: str, body: bytes | None = None, key: str | None = None) -> Outgoing:
    """A change with its frozen body. Bytes that are no JSON object were never a body of this API."""
    out = Outgoing(endpoint, ids=ids, body=body, key=key)
    if body is not None:
        try:
            fields = codec.decode(body)
        except codec.BadJson:
            fields = None
        if not isinstance(fields, dict):
            raise out.refused("The stored body isn't a JSON object.")
    return out


def body_of(endpoint: Endpoint, body: bytes | None, *, cents: Sequence[str] = (), **values: Any) -> bytes:
    """The frozen bytes as they are; without them the values as JSON, those that are None left out.

    `cents` names the values that are amounts in USD. Raises NotSent for an amount that is not a Decimal or int above 0
    with at most two decimals, and for any float; TypeError for both bytes and values, or neither.
    """
    given = {name: value for name, value in values.items() if value is not None}
    if (body is None) is not bool(given):
        raise TypeError("give either the bytes of the body or its values")
    if body is not None:
        return body
    for name in cents:
        if name not in given:
            continue
        amount_usd = given[name]
        if isinstance(amount_usd, bool) or not isinstance(amount_usd, int | Decimal):
            kind = type(amount_usd).__name__
            raise Outgoing(endpoint).refused(
                f"{name} must be a Decimal, such as Decimal('5.50'), not a {kind}."
            )
        if not _is_amount(amount_usd):
            raise Outgoing(endpoint).refused(f"{name} must be above 0, with at most two decimals.")
    return frozen(endpoint, given)


def frozen(endpoint: Endpoint, values: Mapping[str, Any]) -> bytes:
    """The values as the bytes of a body. Raises NotSent for what has no exact JSON form, such as a float."""
    try:
        return codec.encode(values)
    except codec.BadJson as error:
        raise Outgoing(endpoint).refused(f"The values cannot be sent: {error}.") from None


def _is_amount(amount_usd: int | Decimal) -> bool:
    """Above 0 with at most two decimals, by the digits: arithmetic would round a long one."""
    if isinstance(amount_usd, int):
        return amount_usd > 0
    if not amount_usd.is_finite() or amount_usd <= 0:
        return False
    _, digits, exponent = amount_usd.as_tuple()
    zeros = len(digits) - len("".join(map(str, digits)).rstrip("0"))
    return isinstance(exponent, int) and exponent + zeros >= -2


def as_model(model: type[M], value: Any, received: Received, out: Outgoing) -> M:
    """The value as this model; what does not fit is no answer."""
    try:
        found = model.read(value)
    except models.Unreadable as error:
        raise _unreadable(out, received, str(error)) from None
    found.came_by(models.Response(received.status, received.headers, out.key, received.attempts))
    return found


def member(data: Any, name: str) -> Any:
    """What `data` holds under this name; None where there is no such thing."""
    return data.get(name) if isinstance(data, dict) else None


def objects_in(data: Any) -> Iterator[Any]:
    """The value itself and what is directly in it: where an envelope is not shown, one of these is meant."""
    yield data
    yield from data.values() if isinstance(data, dict) else ()


def _rows(model: type[M], received: Received, name: str, out: Outgoing) -> list[M]:
    rows = member(received.data, name)
    if not isinstance(rows, list):
        raise _unreadable(out, received, f"no list of {name}")
    return [as_model(model, row, received, out) for row in rows]


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
