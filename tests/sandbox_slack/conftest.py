"""The stage on which the stand-in is tested: see `stage.py`."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox_slack.stage import Stage

MakeStage = Callable[..., Awaitable[Stage]]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack's SDK would send loopback through a proxy, whatever NO_PROXY says."""
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def make_stage(tmp_path: Path) -> AsyncIterator[MakeStage]:
    """Start a stage with the given options; all end with the test."""
    async with AsyncExitStack() as stack:

        async def make(**options: Any) -> Stage:
            return await stack.enter_async_context(Stage(tmp_path, **options))

        yield make
