"""Makes docs/images/countersign.png, the picture in README.md, from a demo of its own.

    PYTHONPATH=. .venv/bin/python docs/picture.py

Needs the development dependencies and Chromium. The picture shows the approvals channel as Bob sees it: one
request done, with its thread, and one that waits for him.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.support.chromium import CHROMIUM
from tests.support.ports import free_ports

TARGET = Path(__file__).with_name("images") / "countersign.png"
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
# The README shows it about 840 wide: a small window, drawn larger, so that its words can be read there.
SIZE = {"width": 1280, "height": 1010}
SCALE = 1400 / 1280
PATIENCE_MS = 30_000


@contextmanager
def demo() -> Iterator[str]:
    """The address of a fresh demo, which ends with the block."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_ports(3)  # the demo takes three neighbours
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        command = [sys.executable, "-m", "bot", "demo", "--port", str(port)]
        # Our own command with our own words.
        with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            try:
                yield _address(process)
            finally:
                process.send_signal(signal.SIGINT)


def _address(process: subprocess.Popen[str]) -> str:
    for line in process.stdout or ():
        found = re.search(r"http://\S+", line)
        if found:
            return found[0]
    raise SystemExit("The demo did not start.")


def ask(page: Page, command: str, reason: str) -> None:
    """As Alice, a request from the form to its card."""
    page.get_by_role("radio", name="Alice Moreau").click()
    page.get_by_role("button", name="card-ops", exact=True).click()
    page.get_by_label("Message", exact=True).fill(command)
    page.keyboard.press("Enter")
    form = page.get_by_role("dialog")
    form.get_by_label("Reason", exact=True).fill(reason)
    form.get_by_role("button", name="Preview").click()
    form.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def approve(page: Page) -> None:
    """As Bob, the newest request."""
    page.get_by_role("radio", name="Bob Tanaka").click()
    page.get_by_role("button", name="card-approvals", exact=True).click()
    page.get_by_role("button", name="Approve").last.click()
    dialog = page.get_by_role("dialog", name="Approve")
    dialog.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_role("article").last).to_contain_text("Succeeded.")
    if page.get_by_role("dialog").count():  # a busy machine: it stays open and says what was done
        page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def scene(page: Page) -> None:
    """Alice asks, Bob approves, Alice asks again; the first request's thread is open."""
    page.get_by_role("button", name="Dismiss the hint").click()
    ask(page, "/card topup Priya Nair 180", "Train tickets to Porto")
    approve(page)
    expect(page.get_by_role("article").last).to_contain_text("The card holds")
    page.get_by_role("button", name="2 replies").click()
    ask(page, "/card topup Marta Kowalska 620", "Hotel in Lisbon, three nights")
    page.get_by_role("radio", name="Bob Tanaka").click()
    newest = page.get_by_role("main").get_by_role("article").last
    expect(newest).to_contain_text("Pending: Top up MARTA KOWALSKA")
    newest.scroll_into_view_if_needed()
    page.mouse.move(5, 5)


def main() -> None:
    """Write the picture."""
    TARGET.parent.mkdir(exist_ok=True)
    with demo() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGS, env={**os.environ, "LANG": "C.UTF-8"}
        )
        page = browser.new_page(
            viewport={"width": SIZE["width"], "height": SIZE["height"]}, device_scale_factor=SCALE
        )
        page.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        page.goto(address)
        scene(page)
        page.screenshot(path=TARGET)
        browser.close()
    sys.stdout.write(f"Wrote {TARGET}\n")


if __name__ == "__main__":
    main()
