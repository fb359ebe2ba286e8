"""What the tests of plain English share."""

from collections.abc import Iterator
from functools import cache

import pytest

from bot import operations


@pytest.fixture(scope="module", autouse=True)
def _kinds_are_found_once() -> Iterator[None]:
    """As in the bot, which asks at its start: to look through the folder is a tenth of reading a sentence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "kinds", cache(operations.kinds))
        yield
