"""What each answer of each call proves, written out from the document a second time."""

import itertools

import pytest

from bot.partner import errors
from bot.partner.calls import cards as card_calls
from bot.partner.certainty import Certainty, classify, documented, unanswered
from bot.partner.client import ENDPOINTS
from bot.partner.endpoints import Endpoint
from bot.partner.errors import CLASSES, PartnerError, Refused
from tests.partner.every_call import call
from tests.support.clock import FrozenClock
from tests.support.partner_api import CannedApi, client_of, refusal

D, S, A, T = Certainty.DEFINITE, Certainty.DEFINITE_KEY_SPENT, Certainty.AMBIGUOUS, Certainty.TRANSIENT

CHANGES = {
    "POST /cards": """
        400 BAD_REQUEST spent; 400 INVALID_NAME spent; 400 INVALID_EMAIL spent; 400 INVALID_PHONE spent
        400 PHONE_COUNTRY_NOT_ALLOWED spent; 409 QUOTA definite; 409 ALREADY_PROCESSED ambiguous
        500 UNAVAILABLE ambiguous; 502 UNAVAILABLE transient; 503 UPSTREAM_AUTH ambiguous""",
    "POST /cards/{cardId}/topup": """
        400 BAD_REQUEST spent; 402 INSUFFICIENT_FUNDS definite; 409 QUOTA spent
        409 ALREADY_PROCESSED ambiguous; 500 UNAVAILABLE ambiguous; 502 UNAVAILABLE ambiguous
        503 UPSTREAM_AUTH spent""",
    "POST /cards/{cardId}/unload": """
        400 BAD_REQUEST spent; 402 INSUFFICIENT_FUNDS definite; 409 ALREADY_PROCESSED ambiguous
        500 UNAVAILABLE ambiguous; 502 UNAVAILABLE ambiguous; 503 UPSTREAM_AUTH ambiguous""",
    "POST /cards/{cardId}/close": """
        400 BAD_REQUEST spent; 409 ALREADY_PROCESSED ambiguous; 500 UNAVAILABLE ambiguous
        502 UNAVAILABLE ambiguous; 503 UNAVAILABLE transient; 503 UPSTREAM_AUTH ambiguous""",
    "POST /cards/{cardId}/freeze": """
        400 BAD_REQUEST definite; 500 UNAVAILABLE ambiguous; 502 UNAVAILABLE transient
        503 UPSTREAM_AUTH transient""",
    "PUT /fees": "400 BAD_REQUEST definite; 500 UNAVAILABLE ambiguous",
    "PUT /cards/{cardId}/limits": """
        400 BAD_REQUEST definite; 500 UNAVAILABLE ambiguous; 502 UNAVAILABLE ambiguous
        503 UPSTREAM_AUTH ambiguous""",
    "PUT /cards/{cardId}/phone": """
        400 BAD_REQUEST definite; 400 INVALID_PHONE definite; 400 PHONE_COUNTRY_NOT_ALLOWED definite
        500 UNAVAILABLE ambiguous; 502 UNAVAILABLE ambiguous; 503 UPSTREAM_AUTH ambiguous""",
    "PUT /cards/{cardId}/3ds": """
        400 BAD_REQUEST definite; 500 UNAVAILABLE ambiguous; 502 UNAVAILABLE ambiguous
        503 UPSTREAM_AUTH ambiguous""",
    "PUT /webhook": "400 BAD_REQUEST definite; 500 UNAVAILABLE ambiguous",
    "POST /events/{eventId}/redeliver": "400 BAD_REQUEST definite; 500 UNAVAILABLE ambiguous",
    "POST /deposits": """
        400 BAD_REQUEST definite; 500 UNAVAILABLE ambiguous; 502 UNAVAILABLE ambiguous
        503 UNAVAILABLE ambiguous; 503 UPSTREAM_AUTH ambiguous""",
    "POST /funding": """
        400 BAD_REQUEST definite; 409 ALREADY_SUBMITTED definite; 409 ALREADY_CREDITED definite
        429 TOO_MANY_PENDING definite; 500 UNAVAILABLE ambiguous; 503 UNAVAILABLE transient""",
}
COMMON = """
    401 UNAUTHORIZED definite; 403 FORBIDDEN definite; 404 NOT_FOUND definite; 405 BAD_REQUEST definite
    429 RATE_LIMITED transient"""
READS = """
    400 BAD_REQUEST definite; 500 UNAVAILABLE transient; 502 UNAVAILABLE transient
    503 UNAVAILABLE transient; 503 UPSTREAM_AUTH transient"""

STATUSES = (200, 201, 204, 302, 400, 401, 402, 403, 404, 405, 409, 413, 429, 500, 502, 503, 504)
CELLS = list(itertools.product(ENDPOINTS, STATUSES, [*CLASSES, "SOMETHING_NEW"]))


def expected(operation: Endpoint) -> dict[tuple[int, str], Certainty]:
    text = f"{COMMON};{CHANGES.get(operation.value, READS)}".replace("\n", ";")
    words = [cell.split() for cell in text.split(";") if cell.strip()]
    names = {"definite": D, "spent": S, "ambiguous": A, "transient": T}
    return {(int(status), code): names[certainty] for status, code, certainty in words}


def test_what_an_answer_proves_is_said_in_four_words_that_programs_may_compare() -> None:
    assert [*Certainty] == ["definite", "definite_key_spent", "ambiguous", "transient"]


@pytest.mark.parametrize("operation", ENDPOINTS)
def test_without_an_answer_a_read_moved_nothing_and_a_change_is_open(operation: Endpoint) -> None:
    assert unanswered(operation) is (A if operation.value in CHANGES else T)


@pytest.mark.rule("R003", "R004")
def test_every_cell_of_operation_status_and_code_is_classified_as_the_document_says() -> None:
    """R003, R004; rules 2B."""
    wrong = [
        (operation, status, code)
        for operation, status, code in CELLS
        if classify(operation, status, code)
        is not expected(operation).get((status, code), A if operation.value in CHANGES else T)
    ]

    assert len(CELLS) > 8000
    assert wrong == []


ROWS = [(operation, *cell) for operation in ENDPOINTS for cell in expected(operation).items()]


@pytest.mark.rule("R003", "R004", "R013", "R020")
@pytest.mark.parametrize(
    ("operation", "answer", "certainty"),
    ROWS,
    ids=[f"{operation} {status} {code}" for operation, (status, code), _ in ROWS],
)
async def test_each_answer_of_the_document_is_raised_as_what_it_proves(
    operation: Endpoint, answer: tuple[int, str], certainty: Certainty, clock: FrozenClock
) -> None:
    """R003, R004, R013, R020."""
    status, code = answer
    api = CannedApi(refusal(status, code, "Because.", **{"Retry-After": "60"}))

    with pytest.raises(CLASSES[code]) as refused:
        await call(client_of(api, clock), operation)

    found = refused.value
    assert (found.operation, found.status, found.code, found.message) == (operation, status, code, "Because.")
    assert found.certainty is certainty
    assert found.retry_after == (60 if code == "RATE_LIMITED" else None)
    assert found.sent_key == api.requests[-1].headers.get("Idempotency-Key")
    assert found.body == {"error": "Because.", "code": code}


def test_the_document_names_no_pair_that_the_table_lacks_nor_the_reverse() -> None:
    for operation in ENDPOINTS:
        assert set(documented(operation)) == set(expected(operation)), operation


def test_the_calls_that_change_something_are_exactly_those_with_a_table_of_their_own() -> None:
    assert {operation.value for operation in ENDPOINTS if operation.facts.changes} == set(CHANGES)


@pytest.mark.parametrize("operation", ENDPOINTS, ids=str)
def test_no_answer_leaves_a_change_open_and_a_read_harmless(operation: Endpoint) -> None:
    certainty = A if operation.facts.changes else T

    assert classify(operation, None, None) is certainty
    assert classify(operation, 502, None) is certainty


@pytest.mark.rule("R106", "R109", "R112", "R121")
def test_nothing_that_may_have_moved_money_is_called_definite() -> None:
    """R106, R109, R112, R121: the answers after which a new key could pay twice."""
    for operation in (card_calls.TOP_UP, card_calls.UNLOAD):
        for status, code in [(500, "UNAVAILABLE"), (502, "UNAVAILABLE"), (409, "ALREADY_PROCESSED")]:
            assert classify(operation, status, code) is A


def test_every_code_has_its_class_and_every_class_its_place_in_the_tree() -> None:
    tree = errors.__doc__ or ""
    classes = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PartnerError)
    ]

    assert len(classes) > 20
    assert [kind.__name__ for kind in classes if f" {kind.__name__} " not in tree] == []
    assert [code for code in CLASSES if code not in tree] == []
    assert {kind for kind in classes if issubclass(kind, Refused)} == {Refused, *CLASSES.values()}


def test_a_refused_detail_names_its_field() -> None:
    details = {code: kind for code, kind in CLASSES.items() if kind is errors.InvalidDetail}

    fields = {
        code: errors.InvalidDetail(
            "No.", operation=card_calls.ORDER_CARD, certainty=S, status=400, code=code
        ).field
        for code in details
    }

    assert fields == {
        "INVALID_NAME": "card_holder_name",
        "INVALID_EMAIL": "email",
        "INVALID_PHONE": "phone",
        "PHONE_COUNTRY_NOT_ALLOWED": "phone_country_code",
    }
