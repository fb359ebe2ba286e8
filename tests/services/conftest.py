"""The small world for tests of the use cases."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made
