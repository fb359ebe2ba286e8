"""The office in which the handlers are tested: see `office.py`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.handlers.office import Office, an_office


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack's SDK would send loopback through a proxy, whatever NO_PROXY says."""
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(tmp_path) as running:
        yield running
