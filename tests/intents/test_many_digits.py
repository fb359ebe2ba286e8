"""However many digits somebody writes wherever a number may stand, the text is read, and no form opens filled."""

from __future__ import annotations

import pytest

from bot import intents
from tests.support.utterances import facts

MANY = "9" * 1900


@pytest.mark.parametrize(
    "text",
    [
        MANY, f"top up 3205 with {MANY}", f"top up 3205 with 0.{MANY}", f"top up 3205 with {MANY}.50",
        f"top up 3205 with 1e{MANY}", f"top up 3205 with ${'1,' * 900}1", f"top up 3205 with 1/{MANY}",
        f"top up {MANY} with 50", f"limit 3205 to {MANY} a day", f"limit 3205 to {'٣' * 1900} a day",
        f"{MANY}% of 50 to 3205", f"spend of the last {MANY} days", f"declines since 2026-{MANY}",
        f"what did 3205 spend in {MANY}", f"who approved R-{MANY}", f"funding 0x{MANY}", f"order {MANY} cards",
        f"give 3205 the number +{MANY}", f"orders above {MANY}", f"freeze 3205 for {MANY} hours",
    ],
    ids=lambda text: text.replace(MANY, "MANY")[:40],
)  # fmt: skip
def test_however_many_digits_there_are_the_text_is_read_and_opens_nothing(text: str) -> None:
    read = intents.parse(text, facts())

    assert [reading for reading in read.readings if reading.opened] == []
