"""Every code of the API document says what happened, what to do and whose matter it is, in one place."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import operations
from bot.domain.error_messages import MESSAGES, Fault
from bot.partner.certainty import documented
from bot.partner.client import ENDPOINTS
from bot.partner.errors import CLASSES

ROOT = Path(__file__).parents[2]
THE_PLACE = Path("bot/domain/error_messages.py")
SOURCES = sorted(p.relative_to(ROOT) for room in ("bot", "handlers") for p in (ROOT / room).rglob("*.py"))
PER_CALL = tuple(cls.in_words for cls in operations.kinds().values())


def documented_statuses() -> dict[str, set[int]]:
    """The HTTP statuses with which the document gives each code, over all endpoints."""
    found: dict[str, set[int]] = defaultdict(set)
    for endpoint in ENDPOINTS:
        for status, code in documented(endpoint):
            found[code].add(status)
    return found


def strings(node: ast.AST | None) -> Iterator[str]:
    for one in ast.walk(node) if node is not None else ():
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


def codes_with_words(source: str) -> Iterator[str]:
    """The codes that stand as a key of a dict beside a text of several words."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                named = set(strings(key)) & set(MESSAGES)
                if named and any(" " in text for text in strings(value)):
                    yield from named


def test_the_table_has_the_codes_of_the_document_and_no_others() -> None:
    assert set(MESSAGES) == set(CLASSES) == set(documented_statuses())


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_a_code_says_what_happened_and_what_to_do_in_whole_sentences(code: str) -> None:
    message = MESSAGES[code]

    for text in (message.happened, message.next_step, message.after_refusal):
        assert text[0].isupper(), text
        assert text.endswith("."), text
        assert code not in text
    assert message.happened not in message.next_step


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_a_fault_of_the_card_provider_is_a_5xx_and_nothing_else_is(code: str) -> None:
    is_provider = MESSAGES[code].fault is Fault.PROVIDER

    assert {status >= 500 for status in documented_statuses()[code]} == {is_provider}


def test_what_to_do_after_a_refusal_ends_in_a_new_request_where_that_helps() -> None:
    funds, quota = MESSAGES["INSUFFICIENT_FUNDS"], MESSAGES["QUOTA"]

    assert funds.after_refusal == "Fund the float or request a smaller amount, then make a new request."
    assert quota.after_refusal == quota.next_step


def test_no_other_place_has_words_for_a_code() -> None:
    elsewhere = {
        (str(path), code)
        for path in SOURCES
        if path != THE_PLACE
        for code in codes_with_words((ROOT / path).read_text())
    }
    own = {code for words in PER_CALL for _, code in words}  # what a call means of its own by a code

    assert {(path, code) for path, code in elsewhere if not path.startswith("bot/operations/")} == set()
    assert {code for _, code in elsewhere} <= own


def test_no_other_place_says_what_happened_in_the_words_of_the_table() -> None:
    sentences = {message.happened for message in MESSAGES.values()}
    repeated = {
        (str(path), sentence)
        for path in SOURCES
        if path != THE_PLACE
        for text in strings(ast.parse((ROOT / path).read_text()))
        for sentence in sentences
        if sentence in text
    }

    assert repeated == set()


def test_the_walk_finds_words_beside_a_code() -> None:
    planted = '{"QUOTA": "No card left.", (404, "NOT_FOUND"): ("It is gone.", ""), "RATE_LIMITED": "WAIT"}'

    assert set(codes_with_words(planted)) == {"QUOTA", "NOT_FOUND"}
