"""Reading what people type into a form: the value that is meant, or one clear sentence that tells how to write it."""

from __future__ import annotations

import random
import time
import unicodedata
from collections.abc import Callable
from decimal import Decimal

import pytest

from bot.operations import readers
from sandbox.partner import http
from sandbox.partner.cards import cardholders
from tests.support.walks import drawn

Reader = Callable[[str], object]

TAKEN: list[tuple[Reader, str, object]] = [
    (readers.cardholder_name, "José Łukasz", "JOSE LUKASZ"),
    (readers.cardholder_name, "Jose\u0301", "JOSE"),
    (readers.cardholder_name, "Jörg Ähl", "JÖRG ÄHL"),
    (readers.cardholder_name, "Jo\u0308rg", "JÖRG"),
    (readers.cardholder_name, "A" * 26, "A" * 26),
    (readers.cardholder_name, "Anne-Marie O'Neil / B.C)^", "ANNE-MARIE O'NEIL / B.C)^"),
    (readers.country_code, "+49", 49),
    (readers.country_code, "049", 49),
    (readers.phone, "151 1234-5678", "15112345678"),
    (readers.phone, "1234", "1234"),
    (readers.email, "nora.quist+cards@example.co.uk", "nora.quist+cards@example.co.uk"),
    (readers.tx_hash, "0X" + "AB" * 32, "0x" + "ab" * 32),
    (readers.network, "bsc", "BNB"),
    (readers.network, "Polygon", "POLYGON"),
    (readers.partner_ref, "Emp 7 / <b>", "Emp 7 / <b>"),
    (readers.partner_ref, "x" * 128, "x" * 128),
    (readers.amount, "$1,250.50", Decimal("1250.50")),
]

REFUSED: list[tuple[Reader, str, str]] = [
    (readers.cardholder_name, "A" * 27, "27 characters; a card carries at most 26"),
    (readers.cardholder_name, "Groß", "cannot carry “ß”"),
    (readers.cardholder_name, "Иван", "cannot carry “И”"),
    (readers.cardholder_name, "Søren", "cannot carry “ø”"),
    (readers.cardholder_name, "ﬁnn", "cannot carry “ﬁ”"),
    (readers.cardholder_name, "x²", "cannot carry “²”"),
    (readers.cardholder_name, "Ann (Bee)", "cannot carry “(”"),
    (readers.cardholder_name, "Ann & Bee", "cannot carry “&”"),
    (readers.cardholder_name, "<!channel>", "cannot carry “<”"),
    (readers.cardholder_name, "An\u0000na", "control character"),
    (readers.cardholder_name, "An\u202ena", "invisible"),
    (readers.cardholder_name, "An\u200bna", "invisible"),
    (readers.cardholder_name, "4242424242424242", "looks like a card number"),
    (readers.country_code, "0", "country code in digits"),
    (readers.country_code, "DE", "country code in digits"),
    (readers.country_code, "49.5", "country code in digits"),
    (readers.country_code, "٤٩", "country code in digits"),
    (readers.country_code, "99999", "country code in digits"),
    (readers.phone, "123", "4 to 15 digits"),
    (readers.phone, "1" * 16, "4 to 15 digits"),
    (readers.phone, "+4915112345678", "Leave the country code out"),
    (readers.phone, "0151 CALL", "4 to 15 digits"),
    (readers.phone, "٤٥٦٧٨", "4 to 15 digits"),
    (readers.email, "nobody", "not an e-mail address"),
    (readers.email, "a@b", "not an e-mail address"),
    (readers.email, "a b@example.com", "not an e-mail address"),
    (readers.email, "a@b@example.com", "not an e-mail address"),
    (readers.email, "<mailto:a@example.com|a@example.com>", "not an e-mail address"),
    (readers.email, "a@example.com|x.y", "not an e-mail address"),
    (readers.email, "a" * 250 + "@b.co", "not an e-mail address"),
    (readers.email, "a\u200b@example.com", "invisible"),
    (readers.partner_ref, "x" * 129, "129 characters; at most 128"),
    (readers.partner_ref, "emp\u202e7", "invisible"),
    (readers.partner_ref, "4242 4242 4242 4242", "looks like a card number"),
    (readers.tx_hash, "ab" * 32, "0x and 64 characters"),
    (readers.tx_hash, "0x" + "ab" * 31, "0x and 64 characters"),
    (readers.tx_hash, "0x" + "ab" * 31 + "g0", "0x and 64 characters"),
    (readers.tx_hash, "0x" + "ab" * 32 + "\n", "0x and 64 characters"),
    (readers.network, "ETHEREUM", "POLYGON, BNB or BASE"),
    (readers.network, "", "POLYGON, BNB or BASE"),
    (readers.amount, "0", "more than zero"),
    (readers.amount, "-1", "more than zero"),
    (readers.amount, "0.001", "at most two decimals"),
    (readers.amount, "1e3", "without an exponent"),
    (readers.amount, "1,50", "comma may only separate thousands"),
    (readers.amount, "fifty", "plain dollars in digits"),
    (readers.amount, "NaN", "plain dollars in digits"),
    (readers.amount, "10^12", "plain dollars in digits"),
    (readers.amount, "1000000000000", "at most 1,000,000,000.00 USD"),
    (readers.amount, "٥٠", "plain dollars in digits"),
]


def _id(value: object) -> str:
    return str(getattr(value, "__name__", ascii(str(value))[:40]))


@pytest.mark.parametrize(("read", "typed", "value"), TAKEN, ids=_id)
def test_what_is_meant_is_taken_in_its_one_form(read: Reader, typed: str, value: object) -> None:
    assert read(typed) == value


@pytest.mark.parametrize(("read", "typed", "says"), REFUSED, ids=_id)
def test_what_cannot_be_meant_is_refused_with_a_sentence(read: Reader, typed: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"\.$") as found:
        read(typed)
    assert says in str(found.value)


@pytest.mark.sampled
def test_a_reason_of_which_nothing_is_seen_is_none() -> None:
    """Of 142,000 characters one in eight by turns, and in `make soak` all."""
    ignored = (
        "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0\ufe0f\U000e0101\U00016fe4\U0001d159"
    )
    unseen = [c for c in map(chr, range(0x110000)) if unicodedata.category(c)[0] in "CZM"]
    for text in [*drawn(unseen, 8), *ignored, "".join(ignored), " \u3164 \u200b\n"]:
        with pytest.raises(ValueError, match="Say why"):
            readers.read_reason(text)
    assert readers.read_reason("\u3164It was \u2764\ufe0f lost\u2800") == "It was \u2764\ufe0f lost"


def test_names_we_take_are_names_the_service_takes_and_prints_the_same() -> None:
    """Two readings of POST /cards: ours may refuse more, never less."""
    chance = random.Random(20260302)
    alphabet = "aZñéÄöüßØæŁł0 9/-^.')(,&ﬁ½ÅçžИ´\u0301\u0308"
    taken = 0
    for _ in range(20_000):
        name = "".join(chance.choice(alphabet) for _ in range(chance.randint(1, 28))).strip()
        try:
            ours = readers.cardholder_name(name)
        except ValueError:
            continue
        if not ours:
            continue
        taken += 1
        try:
            theirs = cardholders.stored_name(name)
        except http.Refusal as refusal:
            pytest.fail(f"{name!r} would be refused: {refusal}")
        assert ours == theirs
    assert taken > 200


@pytest.mark.parametrize(
    "text",
    [
        "4242424242424242",
        "4242 4242 4242 4242",
        "4242-4242-4242-4242",
        "card 4242 4242 4242 4242 12/27 123",
        "4242\u00a04242\u00a04242\u00a04242",
        "４２４２４２４２４２４２４２４２",
        "3782 822463 10005",
        "ref 7 5555555555554444",
        "card4242424242424242",
    ],
)
def test_a_card_number_is_refused_wherever_it_hides(text: str) -> None:
    with pytest.raises(ValueError, match="looks like a card number"):
        readers.refuse_card_number(text)


@pytest.mark.parametrize(
    "text",
    [
        "4242",
        "4242 4242 4242 4243",
        "invoice 2026-03-02 1234",
        "call +49 151 12345678",
        "0x" + "1234567890abcdef" * 4,
        "bO3CBSXRUvAHCihqCB5jfD9T6lKQoaCS",
    ],
)
def test_other_numbers_are_not_taken_for_card_numbers(text: str) -> None:
    readers.refuse_card_number(text)


@pytest.mark.timed
@pytest.mark.parametrize("group", ["1 ", "11 ", "1111111-", "1"])
def test_looking_for_a_card_number_takes_linear_time(group: str) -> None:
    begun = time.thread_time()

    readers.refuse_card_number(group * 4_000)

    assert time.thread_time() - begun < 0.05
