"""The driver in which the handlers are tested: see `driver.py`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.handlers.slack_driver import SlackDriver, a_slack_driver


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[SlackDriver]:
    async with a_slack_driver(tmp_path) as running:
        yield running
