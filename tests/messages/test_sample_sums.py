"""The figures on docs/messages.md add up: before and after, parts and totals, sent, fee and credited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.handlers.sample_requests import NOW
from tests.messages import batch_samples, form_samples, lookup_samples
from tests.messages.test_messages_page import PAGE

_USD = r"(-?[\d,]+\.\d\d) USD"
_NAMES_OF_TESTS = re.compile(r"(?i)team lunch|test user|lorem|foo\b|acme|john doe|jane doe")


def _amount(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _blocks() -> Iterator[str]:
    """Each message of the page, with its name."""
    yield from PAGE.read_text(encoding="utf-8").split("\n### ")[1:]


def _found(pattern: str) -> list[tuple[str, tuple[Decimal, ...]]]:
    return [
        (block.partition("\n")[0], tuple(map(_amount, found.groups())))
        for block in _blocks()
        for found in re.finditer(pattern, block)
    ]


def test_a_top_up_takes_from_the_float_what_it_puts_on_the_card() -> None:
    seen = 0
    for block in _blocks():
        amounts = re.findall(rf"\*Amount\* {_USD}", block) or re.findall(
            rf"(?m)^## Top up .*? by {_USD}", block
        )
        floats = re.findall(rf"\*Float available\* {_USD} → {_USD}", block)
        cards = re.findall(rf"\*Card balance\* {_USD} → {_USD}", block)
        if not amounts or not floats:
            continue
        seen += 1
        asked = _amount(amounts[0])
        assert [_amount(before) - _amount(after) for before, after in floats] == [asked], block
        if "Unload" not in block:
            assert [_amount(after) - _amount(before) for before, after in cards] in ([], [asked]), block
    assert seen > 10


@pytest.mark.parametrize("kind", ["card_unload", "card_close"])
def test_what_leaves_a_card_is_what_the_float_gains(kind: str) -> None:
    lines = dict(form_samples.an_operation(kind).lines(form_samples.facts_of(kind)))
    before, after = (_amount(found) for found in re.findall(_USD, lines["Float balance"]))
    left = lines.get("Goes back to the float") or lines["Card balance"]
    gone = [_amount(found) for found in re.findall(_USD, left)]

    assert after - before == (gone[0] if len(gone) == 1 else gone[0] - gone[1])


def test_every_message_after_the_top_up_names_the_float_that_its_preview_promised() -> None:
    promised = {
        after for _, (_, after) in _found(rf"\*Amount\* 50.00 USD[^#]*?\*Float available\* {_USD} → {_USD}")
    }
    said = {
        usd for _, (usd,) in _found(rf"50.00 USD moved from the float onto [^.]*\. The float is {_USD} now")
    }

    assert said == promised & said == {Decimal("4291.95")}


def test_a_list_moves_the_sum_of_its_rows() -> None:
    total, left = batch_samples.figures()
    for block in _blocks():
        if "Top up 24 cards by" in block and "Float available" in block:
            assert f"Top up 24 cards by {total} in all" in block
            assert f"→ {left}" in block
    ended = _found(rf"(\d+) of 24 rows succeeded.*? {_USD} of {_USD} moved")
    assert ended
    for name, (rows, moved, asked) in ended:
        assert (moved, asked) == (rows * batch_samples.EACH_USD, 24 * batch_samples.EACH_USD), name


def test_what_was_spent_is_the_sum_by_card_by_merchant_and_by_day() -> None:
    found = lookup_samples.the_spend()
    parts = (
        [row.amount_usd for row in found.cards],
        [row.amount_usd for row in found.merchants],
        [usd for _, usd in found.charged],
    )

    assert {sum(part, Decimal(0)) for part in parts} == {found.charged_usd}
    assert {sum(row.count for row in rows) for rows in (found.cards, found.merchants)} == {found.count}
    assert all(at <= NOW for at, _ in found.charged)


def test_what_a_card_was_charged_is_part_of_what_was_spent() -> None:
    statement, spent = lookup_samples.a_statement(), lookup_samples.the_spend()

    assert statement.charged_usd in [row.amount_usd for row in spent.cards]


def test_what_is_short_is_what_is_needed_less_what_there_is() -> None:
    lines = dict(lookup_samples.the_what_if().lines)
    available, needed, short = (
        _amount(re.findall(_USD, lines[label])[0]) for label in ("Available", "Needed", "Short by")
    )
    each, fee = (Decimal(200), Decimal(1))

    assert needed - available == short
    assert needed == 40 * (each + fee)
    assert int(available / (each + fee)) == lookup_samples.the_what_if().most


def test_funding_is_credited_less_its_fee() -> None:
    for name, (credited, sent, fee) in _found(rf"{_USD} reached the float: {_USD} sent, {_USD} load fee"):
        assert credited == sent - fee, name
    for name, (sent, fee, credited) in _found(
        rf"\*Amount\* {_USD} in USDC\n\*Load fee\* {_USD}\n\*Credited\* {_USD}"
    ):
        assert credited == sent - fee, name


def test_the_float_of_a_chart_ends_where_its_message_says_it_is() -> None:
    found = _found(rf"(?s)\*Balance\* {_USD}.*?highest {_USD}, now {_USD}, floor")
    assert found
    for name, (balance, highest, now) in found:
        assert balance == now <= highest, name


def test_the_ledger_differs_by_what_its_alert_says() -> None:
    ((_, (said, rows, balance)),) = _found(
        rf"(?s)## ✗ Critical: Ledger and float of main differ by {_USD}.*?add up to {_USD}, but the float is {_USD}"
    )

    assert balance - rows == said


def test_people_and_reasons_are_as_they_would_be() -> None:
    assert _NAMES_OF_TESTS.findall(PAGE.read_text(encoding="utf-8")) == []
