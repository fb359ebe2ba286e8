"""The stage on which the stand-in is tested: see `stage.py`."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox_slack.stage import Stage

MakeStage = Callable[..., Awaitable[Stage]]


@pytest.fixture
async def make_stage(tmp_path: Path) -> AsyncIterator[MakeStage]:
    """Start a stage with the given options; all end with the test."""
    async with AsyncExitStack() as stack:

        async def make(**options: Any) -> Stage:
            return await stack.enter_async_context(Stage(tmp_path, **options))

        yield make
