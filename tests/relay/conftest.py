"""The small world with receivers of the relay beside it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.relay.receivers import Fleet, a_fleet
from tests.support.world import a_world


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with a_world(tmp_path) as world, a_fleet(world, tmp_path) as made:
        yield made
