"""The table of answers: against the outcome tables of the rules, and against itself."""

import itertools

import pytest

from bot.partner.answers import NO_ANSWER, Answer, Finding, Key
from bot.partner.calls import cards as card_calls
from bot.partner.calls import deposits as deposit_calls
from bot.partner.calls import events as event_calls
from bot.partner.calls import history as history_calls
from bot.partner.certainty import Certainty, proved_by
from bot.partner.client import ENDPOINTS
from bot.partner.endpoints import Endpoint, documented, meaning
from bot.partner.errors import CLASSES

CHANGES = [endpoint for endpoint in ENDPOINTS if endpoint.facts.changes]
ROWS = [(endpoint, pair, row) for endpoint in ENDPOINTS for pair, row in endpoint.rows.items()]
ROWS_OF_CHANGES = [(endpoint, pair, row) for endpoint, pair, row in ROWS if endpoint in CHANGES]

# Rules 2B, written out a second time: the answer, what follows from it to a first attempt and after a doubt,
# and "spent" where the key must not be sent again. Whatever is not here, and no answer, is unknown both times.
COMMON = """
    401 UNAUTHORIZED held held; 403 FORBIDDEN held held; 404 NOT_FOUND refused evidence
    405 BAD_REQUEST refused evidence; 429 RATE_LIMITED wait wait"""
RULES = {
    "POST /cards/{cardId}/topup": """
        400 BAD_REQUEST refused evidence spent; 402 INSUFFICIENT_FUNDS refused evidence
        409 QUOTA refused evidence spent; 409 ALREADY_PROCESSED unresolved evidence
        502 UNAVAILABLE unresolved unresolved; 503 UPSTREAM_AUTH evidence evidence spent""",
    "POST /cards": """
        400 BAD_REQUEST refused evidence spent; 400 INVALID_NAME refused evidence spent
        400 INVALID_EMAIL refused evidence spent; 400 INVALID_PHONE refused evidence spent
        400 PHONE_COUNTRY_NOT_ALLOWED refused evidence spent; 409 QUOTA refused evidence""",
    "POST /cards/{cardId}/unload": """
        400 BAD_REQUEST refused evidence spent; 402 INSUFFICIENT_FUNDS refused evidence
        409 ALREADY_PROCESSED unresolved evidence""",
    "POST /cards/{cardId}/close": """
        400 BAD_REQUEST refused evidence spent; 409 ALREADY_PROCESSED unknown evidence
        503 UNAVAILABLE nothing_yet unknown""",
    "POST /cards/{cardId}/freeze": """
        400 BAD_REQUEST refused evidence; 502 UNAVAILABLE nothing_yet evidence
        503 UPSTREAM_AUTH nothing_yet evidence""",
    "PUT /cards/{cardId}/limits": "400 BAD_REQUEST refused evidence",
    "PUT /cards/{cardId}/phone": """
        400 BAD_REQUEST refused evidence; 400 INVALID_PHONE refused evidence
        400 PHONE_COUNTRY_NOT_ALLOWED refused evidence""",
    "PUT /cards/{cardId}/3ds": "400 BAD_REQUEST refused evidence",
    "PUT /fees": "400 BAD_REQUEST refused evidence",
    "POST /funding": """
        400 BAD_REQUEST refused evidence; 409 ALREADY_SUBMITTED refused evidence
        409 ALREADY_CREDITED refused evidence; 429 TOO_MANY_PENDING refused evidence
        503 UNAVAILABLE nothing_yet unknown""",
    "PUT /webhook": "400 BAD_REQUEST refused evidence",
    "POST /events/{eventId}/redeliver": "400 BAD_REQUEST refused evidence",
    "POST /deposits": "400 BAD_REQUEST refused evidence",
}
STATUSES = (None, 200, 201, 302, 400, 401, 402, 403, 404, 405, 409, 413, 418, 429, 500, 502, 503, 504)
CODES = (None, *CLASSES, "SOMETHING_NEW")


def ruled(endpoint: Endpoint) -> dict[tuple[int, str], tuple[str, str, bool]]:
    """First finding, finding after a doubt and whether the key is spent, by status and code."""
    text = f"{COMMON};{RULES[endpoint.value]}".replace("\n", ";")
    words = [cell.split() for cell in text.split(";") if cell.strip()]
    return {(int(status), code): (first, after, bool(spent)) for status, code, first, after, *spent in words}


@pytest.mark.parametrize("endpoint", CHANGES, ids=str)
def test_every_answer_to_a_change_means_what_the_rules_say(endpoint: Endpoint) -> None:
    """Rules 2B; for every status and code, those that no document gives among them."""
    rules = ruled(endpoint)
    wrong = []
    for status, code in itertools.product(STATUSES, CODES):
        row = meaning(endpoint, status, code)
        expected = ("unknown", "unknown", False)
        if status is not None and code is not None:
            expected = rules.get((status, code), expected)
        if (row.first, row.after_doubt, row.spends_key) != expected:
            wrong.append((status, code, row))
    assert wrong == []


def test_every_change_has_its_rules_and_no_read_has() -> None:
    assert set(RULES) == {endpoint.value for endpoint in CHANGES}


@pytest.mark.parametrize("endpoint", CHANGES, ids=str)
def test_no_answer_and_answers_no_table_names_prove_nothing(endpoint: Endpoint) -> None:
    for status, code in (
        (None, None),
        (504, None),
        (404, None),
        (418, "TEAPOT"),
        (402, "QUOTA"),
        (200, "OK"),
    ):
        row = meaning(endpoint, status, code)
        assert (row.first, row.after_doubt) == (Finding.UNKNOWN, Finding.UNKNOWN)


def test_nothing_is_refused_or_done_for_certain_after_an_unknown_attempt() -> None:
    certain = {Finding.REFUSED, Finding.SUCCEEDED, Finding.NOTHING_YET}

    assert [cell for cell in ROWS_OF_CHANGES if cell[2].after_doubt in certain] == []


def test_what_is_a_clear_answer_at_first_is_looked_into_afterwards() -> None:
    clear = [cell for cell in ROWS_OF_CHANGES if cell[2].first is Finding.REFUSED]

    assert len(clear) > 30
    assert [cell for cell in clear if cell[2].after_doubt is not Finding.EVIDENCE] == []


@pytest.mark.parametrize("in_doubt", [False, True])
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=str)
def test_a_limited_rate_and_a_refused_key_are_the_same_for_every_call(
    endpoint: Endpoint, in_doubt: bool
) -> None:
    assert meaning(endpoint, 429, "RATE_LIMITED").finding(in_doubt=in_doubt) is Finding.WAIT
    assert meaning(endpoint, 401, "UNAUTHORIZED").finding(in_doubt=in_doubt) is Finding.HELD
    assert meaning(endpoint, 403, "FORBIDDEN").finding(in_doubt=in_doubt) is Finding.HELD


def test_a_program_is_held_for_its_key_alone_and_a_pause_is_for_the_rate_alone() -> None:
    held = {pair for _, pair, row in ROWS if Finding.HELD in (row.first, row.after_doubt)}
    waits = {pair for _, pair, row in ROWS if Finding.WAIT in (row.first, row.after_doubt)}

    assert held == {(401, "UNAUTHORIZED"), (403, "FORBIDDEN")}
    assert waits == {(429, "RATE_LIMITED")}


def test_the_client_repeats_nothing_that_is_settled_and_nothing_whose_key_is_spent() -> None:
    repeated = [(endpoint, pair, row) for endpoint, pair, row in ROWS if row.repeats]
    may_pass = {Finding.NOTHING_YET, Finding.WAIT, Finding.UNKNOWN}

    assert len(repeated) > 100
    assert [cell for cell in repeated if cell[2].first not in may_pass or cell[2].key is not Key.KEPT] == []


def test_the_client_repeats_no_call_that_could_do_harm_twice() -> None:
    """Orders and money; a secret given once; a quote; a mode; an address that shows a card [rules 2C]."""
    repeats = {endpoint for endpoint, _, row in ROWS if row.repeats}

    assert set(ENDPOINTS) - repeats == {
        card_calls.ORDER_CARD,
        card_calls.TOP_UP,
        card_calls.UNLOAD,
        card_calls.CLOSE,
        card_calls.SET_3DS,
        event_calls.SET_WEBHOOK,
        deposit_calls.QUOTE_DEPOSIT,
        history_calls.DETAILS,
        history_calls.DETAILS_ONCE,
    }


def test_only_what_was_not_executed_is_called_passing() -> None:
    """A released key is as good: the service keeps nothing of that call."""
    passing = [(pair, row) for _, pair, row in ROWS if proved_by(row) is Certainty.TRANSIENT]
    not_executed = {Finding.NOTHING_YET, Finding.WAIT}

    assert passing
    assert [cell for cell in passing if cell[1].first not in not_executed and cell[1].key is Key.KEPT] == []


def test_a_spent_key_is_called_so_and_no_other_is() -> None:
    for endpoint, pair, row in ROWS:
        spent = proved_by(row) is Certainty.DEFINITE_KEY_SPENT
        assert spent is row.spends_key, (endpoint, pair)
        assert not spent or row.first in (Finding.REFUSED, Finding.EVIDENCE), (endpoint, pair)


def test_all_failures_of_one_call_that_are_repeated_are_repeated_equally_often() -> None:
    """The client counts them together."""
    for endpoint in ENDPOINTS:
        rows = endpoint.rows.values()
        failures = {row.repeats for row in rows if row.repeats and row.first is not Finding.WAIT}
        assert len(failures) <= 1, endpoint


def test_a_page_is_repeated_as_the_answer_of_its_status_is() -> None:
    for endpoint in ENDPOINTS:
        for (status, _), row in documented(endpoint).items():
            if row.repeats and row.first is not Finding.WAIT:
                assert meaning(endpoint, status, None).repeats == row.repeats, (endpoint, status)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=str)
def test_what_would_be_said_again_is_not_asked_again(endpoint: Endpoint) -> None:
    for status in (301, 401, 404, 418, 504):
        assert meaning(endpoint, status, None).repeats == 0
    assert meaning(endpoint, 200, None) == meaning(endpoint, *NO_ANSWER)


def test_the_endpoints_stand_in_the_order_of_the_document_each_in_its_chapter() -> None:
    chapters = [endpoint.chapter for endpoint in ENDPOINTS]

    assert [chapter for chapter, _ in itertools.groupby(chapters)] == [
        "Account",
        "Cards",
        "Card details",
        "Webhooks and events",
        "Deposits",
    ]


def test_every_code_of_the_table_is_one_of_the_document_and_each_is_met() -> None:
    assert {code for endpoint in ENDPOINTS for _, code in documented(endpoint)} == set(CLASSES)


def test_a_row_says_one_thing_to_a_first_attempt_and_one_after_a_doubt() -> None:
    row = Answer(Finding.REFUSED, Finding.EVIDENCE)

    assert row.finding(in_doubt=False) is Finding.REFUSED
    assert row.finding(in_doubt=True) is Finding.EVIDENCE
