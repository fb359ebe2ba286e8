"""A delivery is taken only if it is genuine, fresh and an event; nobody else gets a byte in."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.partner.redaction import REMOVED
from bot.partner.secret import Secret
from bot.partner.webhooks import (
    MOST_BYTES,
    DeliveryRefused,
    Malformed,
    NotGenuine,
    Stale,
    TooLarge,
    storable,
    verify,
)
from bot.partner.webhooks import _signed as signature_holds

SECRET = "whsec_" + "A" * 32
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TIMESTAMP = "1767323045"
BODY = (
    b'{"id":"evt_test_1","type":"card.unloaded","created_at":"2026-01-02T03:04:05.678Z",'
    b'"data":{"card_id":"Ab1","x":1.10}}'
)
SIGNATURE = "a1e99aba751bfe02e1161eed818e3e22023cb2041d2ac4def3f20f08b28c218e"
STRIPPED = "1ccc4af6b706cd3a45a7e330c0d86bfe3a965af573c691214943408133fca10c"
HEADERS = {"X-SVC-Timestamp": TIMESTAMP, "X-SVC-Signature": SIGNATURE, "X-SVC-Event": "card.unloaded"}


def signed(body: bytes, secret: str = SECRET, timestamp: str = TIMESTAMP) -> dict[str, str]:
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"X-SVC-Timestamp": timestamp, "X-SVC-Signature": digest}


@pytest.mark.rule("R221", "R222")
def test_the_published_vector_is_taken_and_its_numbers_are_exact() -> None:
    """R221, R222."""
    delivery = verify(BODY, HEADERS, [Secret(SECRET)], NOW)

    assert (delivery.id, delivery.type) == ("evt_test_1", "card.unloaded")
    assert delivery.data["x"] == Decimal("1.10")
    assert delivery.created_at == datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)


@pytest.mark.rule("R226")
@pytest.mark.parametrize("seconds", [-300, -1, 0, 1, 300])
def test_up_to_five_minutes_on_either_side_are_fresh(seconds: int) -> None:
    """R226."""
    verify(BODY, HEADERS, [Secret(SECRET)], NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize("seconds", [-301, 301, 86_400, -86_400])
def test_a_delivery_from_the_past_or_the_future_is_refused(seconds: int) -> None:
    with pytest.raises(Stale) as refused:
        verify(BODY, HEADERS, [Secret(SECRET)], NOW + timedelta(seconds=seconds))

    assert refused.value.status == 401


@pytest.mark.rule("R225")
def test_headers_count_in_any_case_and_the_unsigned_ones_not_at_all() -> None:
    """R225."""
    headers = {name.lower(): value for name, value in HEADERS.items()}
    headers |= {"x-svc-event": "card.declined", "x-svc-delivery": "another"}

    delivery = verify(BODY, headers, [Secret(SECRET)], NOW)

    assert (delivery.id, delivery.type) == ("evt_test_1", "card.unloaded")


NOT_GENUINE = {
    "secret without its prefix": (BODY, {**HEADERS, "X-SVC-Signature": STRIPPED}),
    "body written anew": (BODY.replace(b"1.10", b"1.1"), HEADERS),
    "a newline after the body": (BODY + b"\n", HEADERS),
    "upper-case hex": (BODY, {**HEADERS, "X-SVC-Signature": SIGNATURE.upper()}),
    "no signature": (BODY, {"X-SVC-Timestamp": TIMESTAMP}),
    "empty signature": (BODY, {**HEADERS, "X-SVC-Signature": ""}),
    "signature not ASCII": (BODY, {**HEADERS, "X-SVC-Signature": "é" * 64}),
    "signature with a newline": (BODY, {**HEADERS, "X-SVC-Signature": SIGNATURE + "\n"}),
    "version token": (BODY, {**HEADERS, "X-SVC-Signature": f"v1={SIGNATURE}"}),
    "no timestamp": (BODY, {"X-SVC-Signature": SIGNATURE}),
    "another timestamp": (BODY, {**HEADERS, "X-SVC-Timestamp": "1767323046"}),
    "timestamp not digits": (BODY, {**HEADERS, "X-SVC-Timestamp": f" {TIMESTAMP}"}),
    "timestamp in other digits": (BODY, {**HEADERS, "X-SVC-Timestamp": "١٧٦٧٣٢٣٠٤٥"}),
    "signed with another secret": (BODY, signed(BODY, "whsec_" + "B" * 32)),
}


@pytest.mark.rule("R223", "R224")
@pytest.mark.parametrize(("body", "headers"), NOT_GENUINE.values(), ids=NOT_GENUINE)
def test_whatever_we_did_not_get_from_the_service_is_refused(body: bytes, headers: dict[str, str]) -> None:
    """R223, R224."""
    with pytest.raises(NotGenuine) as refused:
        verify(body, headers, [Secret(SECRET)], NOW)

    assert refused.value.status == 401


def test_after_a_rotation_both_secrets_count_and_without_any_nothing_does() -> None:
    """U65."""
    old, new = Secret(SECRET), Secret("whsec_" + "B" * 32)

    verify(BODY, HEADERS, [new, old], NOW)
    with pytest.raises(NotGenuine):
        verify(BODY, HEADERS, [new], NOW)
    with pytest.raises(NotGenuine):
        verify(BODY, HEADERS, [], NOW)


def test_a_body_no_event_can_have_is_refused_before_it_is_read() -> None:
    body = b" " * (MOST_BYTES + 1)

    with pytest.raises(TooLarge) as refused:
        verify(body, signed(body), [Secret(SECRET)], NOW)
    assert refused.value.status == 413


ENVELOPE = '{"id":"e","type":"t","created_at":"2026-01-02T03:04:05Z","data":%s}'


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", "{}", '"x"', "{", ENVELOPE % "[]", ENVELOPE % "NaN", ENVELOPE % "1e999999999",
     ENVELOPE % '{"a":1,"a":2}', ENVELOPE % '{"a":"\\ud800"}', ENVELOPE % ('{"a":' * 40 + "1" + "}" * 40),
     "[" * 20_000, ENVELOPE % ("9" * 5000), (ENVELOPE % "{}").replace('"e"', '""'),
     (ENVELOPE % "{}").replace('"e"', '"a b"'), (ENVELOPE % "{}").replace('"e"', '"é"'), ENVELOPE % '{"a":"\\u0000"}',
     ENVELOPE % '{"a":"\x01"}', ENVELOPE % '{"a":1,}', (ENVELOPE % "{}").replace('"e"', "5"),
     (ENVELOPE % "{}").replace("05Z", "05"), (ENVELOPE % "{}").replace('"type"', '"kind"')],
)  # fmt: skip
def test_a_genuine_body_that_is_no_event_is_refused_as_malformed(text: str) -> None:
    with pytest.raises(Malformed) as refused:
        verify(text.encode(), signed(text.encode()), [Secret(SECRET)], NOW)

    assert refused.value.status == 400


@pytest.mark.rule("R025", "R232")
def test_an_event_type_nobody_knows_yet_is_taken() -> None:
    """R025, R232."""
    body = (ENVELOPE % '{"deep":{"er":[1]}}').encode()

    assert verify(body, signed(body), [Secret(SECRET)], NOW).type == "t"


@given(body=st.binary(max_size=300), genuine=st.booleans(), timestamp=st.text(max_size=12))
def test_no_bytes_at_all_end_in_anything_but_an_event_or_a_refusal(
    body: bytes, genuine: bool, timestamp: str
) -> None:
    headers = signed(body) if genuine else {**HEADERS, "X-SVC-Timestamp": timestamp}

    with pytest.raises(DeliveryRefused):
        verify(body, headers, [Secret(SECRET)], NOW)


@pytest.mark.rule("R237")
def test_a_delivery_does_not_print_its_data() -> None:
    """R237: a one-time code may be in it."""
    body = (ENVELOPE % '{"code":"482913"}').encode()

    assert "482913" not in repr(verify(body, signed(body), [Secret(SECRET)], NOW))


def _delivered(data: str) -> bytes:
    return (ENVELOPE % data).encode()


def test_the_most_bytes_are_64_kib_and_one_more_is_too_many() -> None:
    assert MOST_BYTES == 65_536
    body = _delivered("{}")
    whole = body + b" " * (65_536 - len(body))

    assert verify(whole, signed(whole), [Secret(SECRET)], NOW).data == {}
    with pytest.raises(TooLarge):
        verify(whole + b" ", signed(whole + b" "), [Secret(SECRET)], NOW)


@pytest.mark.parametrize(("opens", "closes"), [('{"a":', "}"), ("[", "]")], ids=["objects", "lists"])
def test_thirty_two_containers_in_each_other_are_read_and_one_more_is_refused(
    opens: str, closes: str
) -> None:
    def nested(deep: int) -> bytes:
        # The envelope and its data are two of them.
        return _delivered('{"a":' + opens * (deep - 2) + "1" + closes * (deep - 2) + "}")

    verify(nested(32), signed(nested(32)), [Secret(SECRET)], NOW)
    with pytest.raises(Malformed):
        verify(nested(33), signed(nested(33)), [Secret(SECRET)], NOW)


def test_of_a_challenge_these_fields_are_kept_and_no_others() -> None:
    kept = {
        "card_id": "c1", "partner_ref": "emp-1", "transaction_id": "t1", "merchant": "Corner Coffee",
        "amount_usd": Decimal("1.10"), "original_amount": Decimal(1), "original_currency": "EUR",
        "expires_at": "2026-01-02T03:14:05Z",
    }  # fmt: skip
    data = {**kept, "code": "123456", "phone": "+4915112345678", "anything": "else"}

    assert storable("card.3ds_challenge", data) == kept
    assert storable("card.declined", data) == data
    for container in ({"a": "b"}, ["a"]):
        assert "merchant" not in storable("card.3ds_challenge", {**data, "merchant": container})


@pytest.mark.parametrize(
    ("code", "merchant", "stored"),
    [
        ("123456", "Corner Coffee", "Corner Coffee"),
        ("123456", "Code 123456 at Corner Coffee", "Code [removed] at Corner Coffee"),
        (123456, "Code 123456", "Code [removed]"),
        (None, "Corner 123456", "Corner 123456"),
        (True, "True Coffee", "True Coffee"),
        ("", "Corner Coffee", "Corner Coffee"),
        ({"deep": "123456"}, "Corner 123456", "Corner 123456"),
        ("123456", 9123456, "[removed]"),  # no text of which a part could be kept
    ],
)
def test_a_code_that_is_said_twice_is_removed_from_what_is_kept(
    code: object, merchant: object, stored: str
) -> None:
    found = storable("card.3ds_challenge", {"merchant": merchant, "code": code})
    assert found["merchant"].replace(REMOVED, "[removed]") == stored


def test_where_a_code_is_elsewhere_it_is_found_by_its_path() -> None:
    data = {"otp": {"value": "123456"}, "merchant": "Code 123456"}
    assert "123456" not in storable("card.3ds_challenge", data, code_path=("otp", "value"))["merchant"]
    assert "123456" in storable("card.3ds_challenge", data, code_path=("otp", "other"))["merchant"]


def test_nothing_is_genuine_that_has_no_signature_in_hex() -> None:
    assert signature_holds(BODY, TIMESTAMP, "", [Secret(SECRET)]) is False
    assert signature_holds(BODY, TIMESTAMP, SIGNATURE, [Secret(SECRET)]) is True
    assert signature_holds(BODY, TIMESTAMP, SIGNATURE, []) is False
