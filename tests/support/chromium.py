"""The browser in which pages are tested: where it is, and how every test starts it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

CHROMIUM = Path("/usr/bin/chromium")
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
