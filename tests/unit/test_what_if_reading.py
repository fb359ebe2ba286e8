"""What-if questions: what is read of them, and that nothing else is taken for one."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.intents import WhatIf, read_what_if


@pytest.mark.parametrize(
    ("text", "count", "amount", "orders"),
    [
        ("can we order 40 cards at 200 today?", 40, "200", True),
        ("could we open 25 cards at 150 each", 25, "150", True),
        ("what if we order 10 cards with 100?", 10, "100", True),
        ("do we have enough for 12 cards at $75.50 each?", 12, "75.50", True),
        ("How many cards at 200 can we order?", None, "200", True),
        ("could we put 50 on 30 cards?", 30, "50", False),
        ("could we top up 30 cards with 1,250.00 each?", 30, "1250", False),
        ("can we order forty cards for $1.5k?", 40, "1500", True),
        ("could we afford a dozen new cards with 90 bucks apiece?", 12, "90", True),
        ("is there room for 3 more cards?", 3, None, True),
    ],
)
def test_a_what_if_question_is_read(text: str, count: int | None, amount: str | None, orders: bool) -> None:
    found = read_what_if(text)

    assert found == WhatIf(count, Decimal(amount) if amount else None, orders)
    assert found is not None
    assert read_what_if(found.text, asked=True) == found


@pytest.mark.parametrize(
    "text",
    [
        "order 40 cards at 200",
        "can you order 40 cards at 200?",
        "did we order 40 cards at 200?",
        "could we order 40 cards next week?",
        "can we order 40 cards at 200 on 5/6?",
        "can we order 40 cards at 200 or 300?",
        "can we freeze 2 cards?",
        "could we unload 50 from 3 cards?",
        "can we order 0 cards?",
        "can we order 40 cards at 1.234.5?",
        "can we top up 3 cards?",
        "how many cards are there",
        "what is our float?",
        "",
    ],
)
def test_anything_else_is_not(text: str) -> None:
    assert read_what_if(text) is None


@given(st.text(max_size=60), st.booleans())
def test_any_text_is_read_or_left_alone(text: str, asked: bool) -> None:
    found = read_what_if(text, asked=asked)

    assert found is None or found.count is None or 0 < found.count <= 10_000


@given(
    st.integers(1, 9_999), st.decimals("0.01", 9_999, places=2), st.sampled_from(["?", " today?", " now?"])
)
def test_every_digit_of_the_question_is_in_the_reading(count: int, amount: Decimal, end: str) -> None:
    found = read_what_if(f"could we order {count} cards at {amount} each{end}")

    assert found == WhatIf(count, amount, orders=True)
