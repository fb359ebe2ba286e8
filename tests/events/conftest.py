"""The small world with a receiver in front of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.events.receiving import Bot, a_bot
from tests.support.world import a_world


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with a_world(tmp_path) as world, a_bot(world) as made:
        yield made
