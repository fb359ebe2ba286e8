"""What somebody wrote stands before another sentence with one full stop, and only one."""

from __future__ import annotations

import pytest

from bot.domain.sentences import with_stop


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("lost phone", "lost phone."),
        ("lost phone.", "lost phone."),
        ("lost phone. ", "lost phone."),
        ("lost phone!", "lost phone!"),
        ("lost phone?", "lost phone?"),
        ("lost phone…", "lost phone…"),
        ("lost phone \n", "lost phone."),
        ("", ""),
        (" ", ""),
    ],
)
def test_a_text_gets_the_full_stop_that_it_lacks(written: str, shown: str) -> None:
    assert with_stop(written) == shown
