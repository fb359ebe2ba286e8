"""No key, phone, e-mail or name in a log line or an error, whatever the service says."""

import logging
from collections.abc import Iterator

import httpx
import pytest

from bot.partner import errors
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from bot.partner.redaction import REMOVED, private_values, redact
from bot.partner.wire import Received, quiet_loggers
from tests.partner.every_call import logged
from tests.support.clock import FrozenClock
from tests.support.partner_api import KEY, CannedApi, Step, client_of, refusal, success

ORDER = b'{"card_holder_name":"Alice Moreau","phone_country_code":33,"phone":"6123","email":"al@example.org"}'
CANARIES = ("Alice", "alice", "moreau", "6123", "al@example.org", KEY, "c0ffee", "whsec_")


@pytest.fixture
def _loud() -> Iterator[None]:
    """Every logger at DEBUG, as somebody hunting a bug would set it."""
    names = ("", "httpx", "httpcore", "countersign")
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.DEBUG)
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def leaks(text: str) -> list[str]:
    return [canary for canary in CANARIES if canary in text]


@pytest.mark.usefixtures("_loud")
async def test_neither_log_nor_error_repeats_what_was_private(
    clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    """H15."""
    quiet_loggers()
    echo = f"Refused: alice moreau, phone 6123, al@example.org, key {KEY}, secret whsec_AAAA"
    steps: list[Step] = [
        refusal(400, "INVALID_PHONE", echo),
        httpx.Response(502, html=echo),
        httpx.ReadTimeout(echo),
        success({"card": {"id": 1, "card_holder_name": echo}}),
        refusal(400, echo, echo),
    ]

    for step in steps:
        with pytest.raises(errors.PartnerError) as failed:
            await client_of(CannedApi(step), clock).order_card(ORDER, key="co-1")
        assert leaks(f"{failed.value} {failed.value!r} {vars(failed.value)}") == []

    assert len(caplog.records) == len(steps)
    assert leaks(logged(caplog.records)) == []


@pytest.mark.usefixtures("_loud")
async def test_the_scan_above_would_find_a_leak(caplog: pytest.LogCaptureFixture) -> None:
    """The planted positive control."""
    logging.getLogger("countersign.partner").debug("sending %r with %s", ORDER, KEY)

    assert {"Alice", "6123", "al@example.org", KEY} <= set(leaks(logged(caplog.records)))


async def test_a_call_leaves_one_line_with_what_support_needs(
    clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="countersign.partner")
    client = client_of(CannedApi(refusal(402, "INSUFFICIENT_FUNDS")), clock)

    with pytest.raises(errors.InsufficientFunds):
        await client.top_up("SecretId1", b'{"amount_usd":77.31}', key="co-1")

    (record,) = caplog.records
    assert record.getMessage() == "partner.called"
    expected = {
        "endpoint": "POST /cards/{cardId}/topup",
        "result": "402 INSUFFICIENT_FUNDS",
        "milliseconds": 0,
        "key_prefix": "svc_live_00000000",
        "idempotency": "co-1",
    }
    assert {name: vars(record)[name] for name in expected} == expected


@pytest.mark.usefixtures("_loud")
async def test_the_http_library_is_quiet_at_any_level_of_ours(
    clock: FrozenClock, caplog: pytest.LogCaptureFixture, free_port: int
) -> None:
    async def one_call() -> None:
        client = PartnerClient(
            f"http://127.0.0.1:{free_port}/v1", KEY, limiter=RateLimiter(clock), clock=clock
        )
        with pytest.raises(errors.NotConnected):
            await client.top_up("Ab1", b'{"amount_usd":1}', key="k")
        await client.aclose()

    await one_call()
    assert {record.name.partition(".")[0] for record in caplog.records} > {"countersign"}, (
        "the positive control"
    )
    caplog.clear()
    quiet_loggers()
    await one_call()

    assert {record.name for record in caplog.records} - {"asyncio"} == {"countersign.partner"}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Amount 1500.00 is above the 1200.5 USD available", None),
        ("No funding 7d3c1c0e-1b2c-4d5e-8f90-123456789012", None),
        ("Hash 0x" + "12" * 32 + " is known", None),
        ("At most 5 of 120 in 2026-03-02T09:00:00.000Z", None),
        ("Call +33 6 12 34 56 78 now", f"Call {REMOVED} now"),
        ("phone 15551234567", f"phone {REMOVED}"),
        ("card 4111 1111 1111 1111.", f"card {REMOVED}."),
        ("write to a.b+c@mail.example.org", f"write to {REMOVED}"),
        ("see https://frame.example.com/d?t=abc now", f"see {REMOVED} now"),
        ("svc_live_0123456789abcdef and whsec_Ab-_9", f"{REMOVED} and {REMOVED}"),
        ("line\nfeed\x1b[31m\u202e", "line feed [31m "),
    ],
)
def test_contacts_and_secrets_go_and_amounts_and_ids_stay(text: str, clean: str | None) -> None:
    assert redact(text) == (text if clean is None else clean)


def test_long_texts_are_cut_and_other_things_are_nothing() -> None:
    assert len(redact("x " * 5000)) == 500
    assert redact({"a": 1}) == redact(None) == ""


def test_private_values_are_read_from_a_body_of_any_quality() -> None:
    assert private_values(ORDER) == {"Alice Moreau", "6123", "al@example.org"}
    assert private_values(b"[1]") == private_values(b"\xff") == private_values(None) == frozenset()
    assert private_values(b'{"phone":5,"email":""}') == frozenset()


@pytest.mark.rule("R143")
def test_an_answer_on_its_way_does_not_print_its_payload() -> None:
    """R143: whoever logs it while hunting a bug shows no address of a card."""
    assert "c0ffee" not in repr(Received(200, {"details_url": "https://frame.example.com/?t=c0ffee"}))
