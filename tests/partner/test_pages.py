"""Lists that move while they are read: nothing is counted twice, and the ledger is read as one moment."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from bot.domain.money import exact_sum
from bot.partner import errors
from tests.support.clock import FrozenClock
from tests.support.partner_api import CannedApi, client_of, success

AT = "2026-03-02T09:00:00.000Z"


def entry(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "amount_usd": -1, "kind": "card_topup", "reference": f"topup:k{number}", "card_id": "a",
        "description": None, "created_at": AT, **fields,
    }  # fmt: skip


class Ledger:
    """Pages a list as the document says, and can have a row booked before a given request."""

    def __init__(self, rows: Sequence[dict[str, Any]], booked_before: Sequence[int] = ()) -> None:
        self.rows = list(rows)
        self.booked_before = booked_before
        self.pages: list[int] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        page, limit = int(request.url.params["page"]), int(request.url.params["limit"])
        assert 1 <= limit <= 100, "R193: above 100 is refused"
        self.pages.append(page)
        if len(self.pages) in self.booked_before:
            self.rows.insert(0, entry(1000 + len(self.rows)))
        rows = self.rows[(page - 1) * limit : page * limit]
        counts = {
            "count": len(rows),
            "page": page,
            "total": len(self.rows) if rows else 0,
            "total_pages": max(1, -(-len(self.rows) // limit)),
        }
        return success({"entries": rows, **counts})


@pytest.mark.rule("R193", "R197")
@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 200, 250])
async def test_every_row_of_the_ledger_is_read_once(size: int, clock: FrozenClock) -> None:
    """R193, R197."""
    ledger = Ledger([entry(number) for number in range(size)])

    rows = [row async for row in client_of(CannedApi(ledger), clock).ledger_entries()]

    assert [row.reference for row in rows] == [f"topup:k{number}" for number in range(size)]
    assert exact_sum(row.amount_usd for row in rows) == -size
    assert len(ledger.pages) == max(1, -(-size // 100))


@pytest.mark.rule("R195")
@pytest.mark.parametrize("booked_before", [[2], [3], [2, 3], range(1, 1000)])
async def test_rows_booked_between_two_pages_are_no_row_twice_and_none_missed(
    booked_before: Sequence[int], clock: FrozenClock
) -> None:
    """R195: the rows as of the first call, however many come in at the front meanwhile."""
    ledger = Ledger([entry(number) for number in range(250)], booked_before)

    rows = [row async for row in client_of(CannedApi(ledger), clock).ledger_entries()]

    at_first = 251 if 1 in booked_before else 250
    assert [row.reference for row in rows][-250:] == [f"topup:k{number}" for number in range(250)]
    assert len(rows) == at_first


@pytest.mark.rule("R195")
@pytest.mark.parametrize("place", [1, 50, 99, 130, 240])
async def test_a_row_booked_among_those_being_read_makes_the_evidence_be_read_again(
    place: int, clock: FrozenClock
) -> None:
    """One that is dated before others shifts those after it alone: counted by places, a row would be missed."""

    class Late(Ledger):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            if len(self.pages) == 1:
                self.rows.insert(place, entry(9999))
            return super().__call__(request)

    for wanted in range(90, 250, 10):
        ledger = Late([entry(number) for number in range(250)])
        found = await client_of(CannedApi(ledger), clock).find_top_up(f"k{wanted}")
        assert found.debit is not None, f"k{wanted} was missed"


@pytest.mark.parametrize("flood", [99, 100, 101, 350, 490])
async def test_a_flood_of_rows_between_two_calls_hides_none_that_was_there(
    flood: int, clock: FrozenClock
) -> None:
    """The front is looked for under all that came in, on whatever page it stands by then."""

    class Flooded(Ledger):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            if len(self.pages) in (1, 2):
                self.rows[:0] = [entry(number) for number in range(5000, 5000 + flood)]
            return super().__call__(request)

    ledger = Flooded([entry(number) for number in range(150)])
    rows = [row async for row in client_of(CannedApi(ledger), clock).ledger_entries()]

    assert [row.reference for row in rows] == [f"topup:k{number}" for number in range(150)]


async def test_a_ledger_whose_front_is_never_seen_again_is_an_error_and_not_a_guess(
    clock: FrozenClock,
) -> None:
    """Each call meets twice as many new rows as the last, so whether some came in below stays open."""

    class Endless(Ledger):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            if self.pages:
                came_in = 1 if len(self.pages) == 1 else 100 * 2 ** len(self.pages)
                self.rows[:0] = [entry(5000)] * came_in
            return super().__call__(request)

    ledger = Endless([entry(number) for number in range(150)])
    with pytest.raises(errors.LedgerMoving):
        [row async for row in client_of(CannedApi(ledger), clock).ledger_entries()]
    assert len(ledger.pages) < 20


async def test_a_ledger_that_never_fits_together_is_an_error_and_not_a_wrong_sum(clock: FrozenClock) -> None:
    class Shuffled(Ledger):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            self.rows.insert(len(self.rows) // 2, entry(1000 + len(self.rows)))
            return super().__call__(request)

    with pytest.raises(errors.LedgerMoving):
        await client_of(CannedApi(Shuffled([entry(number) for number in range(250)])), clock).find_top_up("k")


async def test_a_ledger_that_loses_rows_while_it_is_read_is_an_error(clock: FrozenClock) -> None:
    class Shrinking(Ledger):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            if self.pages:
                del self.rows[100:]
            return super().__call__(request)

    ledger = Shrinking([entry(number) for number in range(250)])
    with pytest.raises(errors.LedgerMoving):
        [row async for row in client_of(CannedApi(ledger), clock).ledger_entries()]


async def test_pages_that_do_not_add_up_to_the_total_are_no_ledger(clock: FrozenClock) -> None:
    one = {"entries": [entry(1)], "count": 1, "page": 1, "total": 2, "total_pages": 1}

    with pytest.raises(errors.LedgerMoving):
        await client_of(CannedApi(success(one)), clock).find_top_up("k9")


def moment(seconds_ago: int) -> str:
    at = datetime(2026, 3, 2, 9, 0, tzinfo=UTC) - timedelta(seconds=seconds_ago)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def test_what_a_top_up_came_to_is_read_without_the_rows_from_before_it_was_sent(
    clock: FrozenClock,
) -> None:
    """100,000 rows, and a new one with every call: ten minutes of them are seven pages, and the front once more."""
    rows = [entry(n, created_at=moment(n)) for n in range(100_000)]
    since = datetime(2026, 3, 2, 8, 49, tzinfo=UTC)

    for key in ("k600", "nobody"):
        ledger = Ledger(rows, booked_before=range(1, 10_000))
        found = await client_of(CannedApi(ledger), clock).find_top_up(key, since=since)

        assert (found.debit is not None) == (key == "k600")
        assert len(ledger.pages) <= 9


async def test_a_ledger_that_was_read_to_a_mark_is_read_on_from_there(clock: FrozenClock) -> None:
    """However long a request stays unresolved, a look costs what came in since the last one."""
    ledger = Ledger([entry(n, created_at=moment(min(n, 1000))) for n in range(1000)])
    client = client_of(CannedApi(ledger), clock)
    first = await client.find_top_up("late")
    for n in range(150):
        ledger.rows.insert(0, entry(0, reference="topup:late") if n == 20 else entry(2000 + n))
    ledger.pages.clear()

    second = await client.find_top_up("late", mark=first.mark)

    assert (first.debit, len(second.rows)) == (None, 1)
    assert ledger.pages == [1, 2]


async def test_a_mark_that_the_ledger_no_longer_fits_is_not_trusted(clock: FrozenClock) -> None:
    """A row that came in below it, dated before others, would never be seen."""
    ledger = Ledger([entry(number) for number in range(300)])
    client = client_of(CannedApi(ledger), clock)
    first = await client.find_top_up("late")
    ledger.rows.insert(200, entry(0, reference="topup:late"))

    assert (await client.find_top_up("late", mark=first.mark)).debit is not None


@pytest.mark.rule("R113", "R114")
async def test_evidence_is_matched_exactly_or_up_to_a_colon(clock: FrozenClock) -> None:
    """R113, R114; U26."""
    rows = [
        entry(0, reference="topup:k10"),
        entry(0, reference="topup:k1", amount_usd=-25),
        entry(0, reference="topup:k1x:refund", kind="refund"),
        entry(0, reference="topup:k1:refund", kind="refund", amount_usd=25, card_id=None),
        entry(0, reference="topup:K1", kind="refund"),
        entry(0, reference=None, kind="adjustment", amount_usd=0),
        entry(0, reference="topup:k2"),
        entry(0, reference="topup:k2", kind="refund", amount_usd=1),
        entry(0, reference="topup:k3", kind="something_new"),
    ]
    client = client_of(CannedApi(Ledger(rows)), clock)

    first, second, third = [await client.find_top_up(key) for key in ("k1", "k2", "k3")]

    assert first.debit is not None
    assert first.refund is not None
    assert (first.debit.amount_usd, first.refund.amount_usd) == (Decimal(-25), Decimal(25))
    assert second.debit is not None
    assert second.refund is not None, "the refund may carry the same reference"
    assert (third.debit, third.refund, third.rows) == (None, None, ())


async def test_evidence_on_the_last_page_is_found(clock: FrozenClock) -> None:
    ledger = Ledger([*(entry(number) for number in range(230)), entry(0, reference="topup:wanted")])

    evidence = await client_of(CannedApi(ledger), clock).find_top_up("wanted")

    assert evidence.debit is not None
    assert evidence.refund is None


async def test_claims_of_card_orders_are_known_by_the_card_they_name(clock: FrozenClock) -> None:
    """A claim is a row of zero of no card, whose description is the card; what came before `since` costs nothing."""
    claim = {"kind": "adjustment", "amount_usd": 0, "card_id": None}
    rows = [
        entry(1, **claim, description="c1", created_at=moment(10)),
        entry(2, **claim, description=None, created_at=moment(20)),
        entry(3, **claim | {"card_id": "c3"}, description="c3", created_at=moment(30)),
        entry(4, **claim | {"kind": "fee"}, description="c4", created_at=moment(40)),
        entry(5, **claim, description="c5", created_at=moment(700)),
    ]
    client = client_of(CannedApi(Ledger(rows)), clock)
    since = datetime(2026, 3, 2, 8, 55, tzinfo=UTC)

    assert list(await client.order_claims(since=since)) == ["c1"]
    assert list(await client.order_claims()) == ["c1", "c5"]


def card(number: int) -> dict[str, Any]:
    return {"id": f"c{number}", "card_holder_name": "A", "created_at": AT, "status": "ACTIVE", "last4": None}


class Cards:
    """GET /cards: offset and a limit cut to 100, no total; cards can be ordered before a given request."""

    def __init__(self, size: int, ordered_before: Sequence[int] = ()) -> None:
        self.rows = [card(number) for number in range(size)]
        self.ordered_before = ordered_before
        self.requests = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        if self.requests in self.ordered_before:
            self.rows.insert(0, card(10_000 + self.requests))
        offset, limit = int(request.url.params["offset"]), min(100, int(request.url.params["limit"]))
        rows = self.rows[offset : offset + limit]
        return success({"cards": rows, "count": len(rows)})


@pytest.mark.rule("R074", "R075")
@pytest.mark.parametrize(("size", "requests"), [(0, 1), (99, 1), (100, 2), (101, 2), (300, 4)])
async def test_every_card_is_read_once_and_a_full_page_is_not_the_last(
    size: int, requests: int, clock: FrozenClock
) -> None:
    """R074, R075."""
    cards = Cards(size)

    found = [row.id async for row in client_of(CannedApi(cards), clock).cards()]

    assert found == [f"c{number}" for number in range(size)]
    assert cards.requests == requests


@pytest.mark.rule("R076")
async def test_a_card_ordered_while_the_list_is_read_doubles_none(clock: FrozenClock) -> None:
    """R076."""
    cards = Cards(250, ordered_before=[2, 3])

    found = [row.id async for row in client_of(CannedApi(cards), clock).cards()]

    assert len(found) == len(set(found)) == 250


@pytest.mark.rule("R235")
async def test_an_event_that_arrives_while_the_log_is_read_hides_none(clock: FrozenClock) -> None:
    """R235."""
    rows: list[dict[str, Any]] = [
        {"id": f"e{number}", "type": "new.kind", "payload": {}, "delivered": False, "delivered_at": None,
         "attempts": 0, "created_at": AT}
        for number in range(230)
    ]  # fmt: skip
    seen: list[int] = []

    def page(request: httpx.Request) -> httpx.Response:
        number = int(request.url.params["page"])
        seen.append(number)
        if len(seen) == 2:
            rows.insert(0, {**rows[0], "id": "new"})
        part = rows[(number - 1) * 100 : number * 100]
        return success(
            {"events": part, "count": len(part), "page": number, "total": len(rows), "total_pages": 3}
        )

    found = [event.id async for event in client_of(CannedApi(page), clock).events()]

    assert len(found) == len(set(found))
    assert set(found) == {f"e{number}" for number in range(230)}


@pytest.mark.rule("R157")
async def test_a_short_page_is_not_the_end_of_a_list_that_counts_its_pages(clock: FrozenClock) -> None:
    """R157 for every numbered list: only the count of pages ends it."""
    row = {"balance_usd": 0, "as_of": AT, "ok": True, "error": None}

    def page(request: httpx.Request) -> httpx.Response:
        number = json.loads(request.content)["page"]
        rows = [] if number == 2 else [{"card_id": f"c{number}", **row}]
        return success({"balances": rows, "count": len(rows), "page": number, "total": 3, "total_pages": 3})

    found = await client_of(CannedApi(page), clock).balances()

    assert [balance.card_id for balance in found] == ["c1", "c3"]


@pytest.mark.rule("R081")
async def test_balances_of_named_cards_are_asked_for_in_parts_the_api_takes(clock: FrozenClock) -> None:
    """R081."""

    def rows(request: httpx.Request) -> httpx.Response:
        ids = json.loads(request.content)["card_ids"]
        row = {"balance_usd": None, "as_of": None, "ok": False, "error": None}
        return success({"balances": [{"card_id": card_id, **row} for card_id in ids], "count": len(ids)})

    api = CannedApi(rows)
    wanted = [f"c{number}" for number in range(60)]
    client = client_of(api, clock)

    found = await client.balances([*wanted, "c0"], refresh=True)

    assert [row.card_id for row in found] == wanted
    assert [len(api.sent(number)["card_ids"]) for number in range(3)] == [25, 25, 10]
    assert await client.balances([]) == []
    assert len(api.requests) == 3
    with pytest.raises(ValueError, match="name the cards"):
        await client.balances(refresh=True)


@pytest.mark.parametrize(
    "data",
    [
        {"funding": [{"x": 1}], "count": 1},
        [{"x": 1}],
        {"count": 1, "notes": [], "qzx": [{"x": 1}]},
    ],
)
async def test_the_list_of_submissions_is_found_whatever_its_envelope_is_called(
    data: Any, clock: FrozenClock
) -> None:
    """N3."""
    row = {"id": "f-1", "network": "BASE", "tx_hash": "0x1", "status": "review", "created_at": AT, "zzz": 1}
    text = httpx.Response(200, json={"data": data}).text.replace(
        '{"x":1}', httpx.Response(200, json=row).text
    )
    api = CannedApi(httpx.Response(200, content=text))

    found = await client_of(api, clock).funding_list()

    assert [funding.id for funding in found] == ["f-1"]
    assert found[0].raw["zzz"] == 1
    assert not api.requests[0].url.query


async def test_no_list_at_all_is_no_empty_list(clock: FrozenClock) -> None:
    with pytest.raises(errors.UnreadableAnswer):
        await client_of(CannedApi(success({"count": 0})), clock).funding_list()
