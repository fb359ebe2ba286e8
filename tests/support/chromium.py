"""The browser in which pages are tested: where it is, and how every test starts it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

#: Debian's Chromium without windows, and the whole one. The first draws pages as the second does at half the cost: in
#: the second, each new window starts a page of its own for the suggestions under the address.
_CHROMIUMS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))
CHROMIUM = next((path for path in _CHROMIUMS if path.exists()), _CHROMIUMS[-1])
ARGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
]


def require_chromium(otherwise: str) -> None:
    """Skip where there is none. `otherwise`: what was not tested then."""
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}: {otherwise}")


@asynccontextmanager
async def a_browser() -> AsyncIterator[Browser]:
    """Chromium, closed at the end where nothing failed; its driver ends it in any case."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGS, env={**os.environ, "LANG": "C.UTF-8"}
        )
        yield browser
        await browser.close()
