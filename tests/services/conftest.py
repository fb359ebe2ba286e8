"""The small world for tests of the use cases."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.kinds import QUOTE_NAMES, kind_class
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


@pytest.fixture
def deposits_are_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fields of a quote are named, as they are where deposits are agreed on."""
    monkeypatch.setattr(kind_class("deposit_quote"), "body_names", QUOTE_NAMES)
