"""Every endpoint once: what goes out for it, what comes back, and what none of it may show."""

import json
import logging
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import httpx
import pytest

from bot.domain import card_details
from bot.partner import codec, errors, models
from bot.partner.calls import cards as card_calls
from bot.partner.calls import events as event_calls
from bot.partner.calls import history as history_calls
from bot.partner.certainty import Certainty
from bot.partner.client import ENDPOINTS, PartnerClient
from bot.partner.endpoints import Endpoint
from tests.partner.every_call import (
    ANSWERS,
    BODIES,
    DEPOSIT,
    DETAILS_URL,
    KEYED,
    QUERIES,
    QUOTE,
    ROW,
    SECRET,
    TOKEN_URL,
    call,
    exact,
    logged,
)
from tests.support.clock import FrozenClock
from tests.support.partner_api import CannedApi, client_of, refusal, success


@pytest.mark.rule("R006", "R026", "R090")
@pytest.mark.parametrize("operation", ENDPOINTS, ids=str)
async def test_each_call_goes_out_as_the_document_writes_it(operation: Endpoint, clock: FrozenClock) -> None:
    """R006, R026, R090: the base path stays, and only calls that take a key are sent one."""
    api = CannedApi(success(ANSWERS[operation]))

    await call(client_of(api, clock), operation)

    request = api.requests[0]
    path = request.url.path.removeprefix("/api/partner/v1")
    template = operation.template.replace("{cardId}", "Ab1")
    for name in ("{fundingId}", "{eventId}"):
        template = template.replace(name, path.split("/")[2] if name in template else name)
    assert (request.method, path) == (operation.method, template)
    assert dict(request.url.params) == QUERIES.get(operation, {})
    assert ("Idempotency-Key" in request.headers) is (operation in KEYED)
    if operation in BODIES:
        assert request.content == BODIES[operation], "byte for byte"
    elif operation is not card_calls.BALANCES:
        assert request.content == b""


@pytest.mark.rule("R001", "R027")
@pytest.mark.parametrize("operation", ENDPOINTS, ids=str)
async def test_each_answer_becomes_a_value_with_exact_numbers_and_nothing_lost(
    operation: Endpoint, clock: FrozenClock
) -> None:
    """R001, R027."""
    found = await call(client_of(CannedApi(success(ANSWERS[operation])), clock), operation)

    value = found[0] if isinstance(found, list) else found.rows[0] if hasattr(found, "rows") else found
    assert isinstance(value, models.Answer)
    displayed = str(exact(ANSWERS[operation]))
    for name, item in value.raw.items():
        assert name in value.hidden or f"'{name}': {item!r}" in displayed
        if isinstance(item, Decimal):
            assert getattr(value, name) == item


@pytest.mark.rule("R025")
@pytest.mark.parametrize("operation", ENDPOINTS, ids=str)
async def test_each_answer_may_grow_and_no_value_of_another_kind_is_taken(
    operation: Endpoint, clock: FrozenClock
) -> None:
    """R025: unknown fields are let through, at any depth."""

    def grown(value: Any) -> Any:
        if isinstance(value, dict):
            return {**{name: grown(item) for name, item in value.items()}, "brand_new": {"x": 1}}
        return [grown(item) for item in value] if isinstance(value, list) else value

    assert await call(client_of(CannedApi(success(grown(ANSWERS[operation]))), clock), operation)
    kinds: list[Any] = ["text", 7, [1], {}, None, True]
    for nonsense in kinds:
        with pytest.raises(errors.UnreadableAnswer) as failed:
            await call(client_of(CannedApi(success(nonsense)), clock), operation)
        expected = Certainty.AMBIGUOUS if operation.facts.changes else Certainty.TRANSIENT
        assert failed.value.certainty is expected


@pytest.mark.rule("R143", "R146", "R209")
@pytest.mark.parametrize("operation", ENDPOINTS, ids=str)
async def test_no_call_shows_what_is_secret_or_personal_in_log_value_or_error(
    operation: Endpoint, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    """H15; R143, R146, R209."""
    caplog.set_level(logging.DEBUG)
    echo = f"Refused {DETAILS_URL} {TOKEN_URL.upper()} {SECRET} alice moreau 6123 al@example.org"

    found = await call(client_of(CannedApi(success(ANSWERS[operation])), clock), operation)
    shown = f"{found!r} {found}"
    if operation in (history_calls.DETAILS, history_calls.DETAILS_ONCE, event_calls.SET_WEBHOOK):
        shown += str(found.raw) + str(found.model_dump())
    with pytest.raises(errors.PartnerError) as refused:
        await call(client_of(CannedApi(refusal(400, "BAD_REQUEST", echo)), clock), operation)
    shown += f"{refused.value} {refused.value!r} {vars(refused.value)}"

    # What a call sent, its own refusal may not repeat; what it never knew cannot be distinguished from plain text.
    canaries = {"c0ffee", "C0FFEE", "Zy-_", "al@example.org"}
    if operation in (card_calls.ORDER_CARD, card_calls.SET_PHONE):
        canaries |= {"6123"}
    if operation is card_calls.ORDER_CARD:
        canaries |= {"alice", "ALICE"}
    lines = logged(caplog.records)
    assert [canary for canary in canaries if canary in shown + lines] == []
    assert operation.value in lines


@pytest.mark.rule("R143", "R145")
async def test_an_address_that_shows_a_card_is_there_for_whoever_asks_for_it(clock: FrozenClock) -> None:
    """R143, R145; the positive control of the test above."""
    client = client_of(CannedApi(success(ANSWERS[history_calls.DETAILS])), clock)
    details = await client.details("Ab1")
    token = await client_of(CannedApi(success(ANSWERS[history_calls.DETAILS_ONCE])), clock).mint_pan_token(
        "Ab1"
    )

    assert details.details_url.reveal() == DETAILS_URL
    assert details.raw == {**ANSWERS[history_calls.DETAILS], "details_url": "[removed]"}
    assert (details.expiration_month, details.expiration_year) == (3, 2029)
    assert token.url.reveal() == TOKEN_URL
    assert token.expires_in == 60
    assert token.single_use
    assert card_details.PAGE_GOOD_FOR_S == 600


@pytest.mark.rule("R144")
async def test_an_expiry_may_be_unknown_and_an_address_may_not(clock: FrozenClock) -> None:
    """R144."""
    answer = {"card_id": "Ab1", "expiration_month": None, "expiration_year": None}
    api = CannedApi(success({**answer, "details_url": DETAILS_URL}), success({**answer, "details_url": ""}))
    client = client_of(api, clock)

    assert (await client.details("Ab1")).expiration_month is None
    with pytest.raises(errors.UnreadableAnswer):
        await client.details("Ab1")


@pytest.mark.rule("R208", "R209")
@pytest.mark.parametrize("secret", [SECRET, None])
async def test_the_webhook_secret_is_held_as_a_secret_and_its_absence_is_reported(
    secret: str | None, clock: FrozenClock
) -> None:
    """R208, R209: branch on the secret, never on the note."""
    api = CannedApi(
        success({"webhook": {"url": "https://h.example.com/"}, "secret": secret, "note": "Kept."})
    )

    change = await client_of(api, clock).set_webhook(b'{"url":"https://h.example.com"}')

    assert change.webhook.url == "https://h.example.com/"
    assert (change.secret and change.secret.reveal()) == secret
    assert change.raw["secret"] == (None if secret is None else "[removed]")


@pytest.mark.rule("R209")
async def test_an_answer_that_says_nothing_of_a_secret_is_no_answer(clock: FrozenClock) -> None:
    """R209: silence is not null; the only copy may be lost."""
    api = CannedApi(success({"webhook": {"url": "https://h.example.com/"}, "note": "Kept."}))

    with pytest.raises(errors.UnreadableAnswer, match="secret: missing"):
        await client_of(api, clock).set_webhook(b'{"url":"https://h.example.com"}')


@pytest.mark.rule("R255")
async def test_before_the_first_registration_there_is_no_webhook_and_an_empty_answer_is_none_at_all(
    clock: FrozenClock,
) -> None:
    """R255."""
    assert await client_of(CannedApi(success({"webhook": None})), clock).webhook() is None
    with pytest.raises(errors.UnreadableAnswer):
        await client_of(CannedApi(success({})), clock).webhook()


# Transactions


class History:
    """GET transactions as documented: 25 a page, rows may be dropped from a page while total counts them."""

    def __init__(self, size: int, dropped: range = range(0)) -> None:
        self.rows = [{**ROW, "id": f"row-{number}"} for number in range(size)]
        self.dropped = dropped
        self.asked: list[dict[str, str]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        query = dict(request.url.params)
        self.asked.append(query)
        page, limit = int(query["page"]), int(query["limit"])
        if limit > 25:
            return refusal(400, "BAD_REQUEST")
        part = range(len(self.rows))[(page - 1) * limit : page * limit]
        rows = [self.rows[number] for number in part if number not in self.dropped]
        pages = max(1, -(-len(self.rows) // limit))
        counts = {"count": len(rows), "page": page, "total_pages": pages, "total": len(self.rows)}
        return success({"card_id": "Ab1", "transactions": rows, **counts})


async def history(
    client: PartnerClient, from_date: date | None = None, to_date: date | None = None
) -> list[models.Transaction]:
    return [row async for row in client.transactions("Ab1", from_date=from_date, to_date=to_date)]


@pytest.mark.rule("R156")
@pytest.mark.parametrize("size", [0, 1, 24, 25, 26, 50, 60])
async def test_every_purchase_is_read_once_in_pages_of_twenty_five(size: int, clock: FrozenClock) -> None:
    """R156."""
    service = History(size)

    rows = await history(client_of(CannedApi(service), clock))

    assert [row.id for row in rows] == [f"row-{number}" for number in range(size)]
    assert len(service.asked) == max(1, -(-size // 25))


@pytest.mark.rule("R157")
async def test_a_page_whose_rows_were_all_unreadable_does_not_end_the_history(clock: FrozenClock) -> None:
    """R157."""
    rows = await history(client_of(CannedApi(History(60, dropped=range(20, 50))), clock))

    assert [row.id for row in rows] == [f"row-{number}" for number in (*range(20), *range(50, 60))]


@pytest.mark.rule("R158")
async def test_the_days_asked_for_go_out_as_days_and_come_back_filtered(clock: FrozenClock) -> None:
    """R158; U46: whether the service counts its bounds in is not shown."""
    service = History(3)
    for row, at in zip(service.rows, ("01T23:59:59.999", "02T00:00:00", "03T00:00:00"), strict=True):
        row["datetime"] = f"2026-03-{at}"
    day = date(2026, 3, 2)
    client = client_of(CannedApi(service), clock)

    assert [row.id for row in await history(client, from_date=day, to_date=day)] == ["row-1"]
    assert [row.id for row in await history(client, from_date=day)] == ["row-1", "row-2"]
    assert [row.id for row in await history(client, to_date=day)] == ["row-0", "row-1"]
    assert [(asked.get("from_date"), asked.get("to_date")) for asked in service.asked] == [
        ("2026-03-02", "2026-03-02"),
        ("2026-03-02", None),
        (None, "2026-03-02"),
    ]


@pytest.mark.rule("R158")
async def test_days_the_wrong_way_round_are_refused_before_the_call(clock: FrozenClock) -> None:
    """R158."""
    service = History(1)

    with pytest.raises(errors.NotSent, match="after"):
        await history(
            client_of(CannedApi(service), clock), from_date=date(2026, 3, 3), to_date=date(2026, 3, 2)
        )

    assert service.asked == []


# Deposits


@pytest.mark.rule("R249", "R250")
@pytest.mark.parametrize("wrap", [lambda quote: quote, lambda quote: {"x": 1, "qzx": quote}])
async def test_a_quote_is_found_in_any_envelope_and_its_amount_to_send_stays_a_text(
    wrap: Any, clock: FrozenClock
) -> None:
    """R249, R250; N4."""
    api = CannedApi(success(wrap(QUOTE)))

    quote = await client_of(api, clock).quote_deposit({"card_id": "Ab1", "amount_usd": Decimal("100.00")})

    assert api.requests[0].content == b'{"card_id":"Ab1","amount_usd":100.00}'
    assert quote.send_amount == "103.100"
    assert quote.exact_amount_required
    assert not hasattr(quote, "status")


@pytest.mark.rule("R250")
async def test_a_quote_whose_amount_to_send_is_a_number_is_refused_since_its_digits_are_not_sure(
    clock: FrozenClock,
) -> None:
    """R250."""
    with pytest.raises(errors.UnreadableAnswer, match="send_amount"):
        await client_of(CannedApi(success({**QUOTE, "send_amount": 103.1})), clock).quote_deposit({})


@pytest.mark.rule("R249", "R253")
@pytest.mark.parametrize("data", [[DEPOSIT], {"deposits": [DEPOSIT]}, {"n": 1, "qzx": [DEPOSIT]}])
async def test_deposits_are_found_in_any_envelope(data: Any, clock: FrozenClock) -> None:
    """R249, R253; N5."""
    found = await client_of(CannedApi(success(data)), clock).deposits()

    assert [(deposit.id, deposit.amount_expected, deposit.status) for deposit in found] == [
        (DEPOSIT["id"], "103.100", "pending")
    ]


@pytest.mark.rule("R034", "R035", "R151", "R152")
async def test_what_a_transaction_says_is_kept_to_the_last_digit(clock: FrozenClock) -> None:
    """R034, R035, R151, R152: our unrounded markup among it, and a time that is UTC unsaid."""
    row = codec.encode(exact(ROW)).replace(b'"client_fee_usd":0.06', b'"client_fee_usd":0.0617283945')
    page = b'{"data":{"transactions":[%s],"count":1,"page":1,"total":1,"total_pages":1}}' % row
    api = CannedApi(httpx.Response(200, content=page))

    (found,) = await history(client_of(api, clock))

    assert found.client_fee_usd == Decimal("0.0617283945")
    assert found.occurred_at == datetime(2026, 3, 2, 8, 15, 30, 250_000, tzinfo=UTC)
    assert (found.id, found.transaction_id) == ("row-1", "tx-1")
    assert json.loads(row)["datetime"] == found.raw["datetime"]
