"""A newcomer opens the page of `countersign demo` and follows what it suggests, with no other help.

Every click is counted, and only what is in view when its turn comes may be clicked: nobody searches or scrolls.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from tests.support.chromium import a_browser, require_chromium
from tests.support.demo import Demo, running_demo

PATIENCE_MS = 20_000
#: From the page as it opens to a top-up that is approved and done.
MOST_CLICKS = 8


class Newcomer:
    """Clicks on what is in view, and counts; reads the hint for what comes next."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    async def click(self, what: Locator) -> None:
        await expect(what).to_be_in_viewport(ratio=1)
        await what.click()
        self.clicks += 1

    @property
    def step(self) -> Locator:
        """The step of the hint that is to be done now."""
        return self.page.get_by_role("region", name="What to try").locator("[aria-current=step]")

    async def follow(self) -> None:
        """Click the link of the present step."""
        await self.click(self.step.locator("button, a"))

    async def button(self, name: str) -> None:
        """Click the one button of this name, in the open window where there is one."""
        window = self.page.get_by_role("dialog")
        within = window if await window.count() else self.page.get_by_role("main")
        await self.click(within.get_by_role("button", name=name, exact=True))


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[Demo]:
    require_chromium("no newcomer tried the demo in a browser")
    async with running_demo(tmp_path) as running:
        yield running


@pytest.fixture
async def newcomer(demo: Demo) -> AsyncIterator[Newcomer]:
    broken: list[str] = []
    async with a_browser() as browser:
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: broken.append(str(error)))
        expect.set_options(timeout=PATIENCE_MS)
        await page.goto(demo.url)
        yield Newcomer(page)
    assert broken == []


async def held_usd(demo: Demo, last4: str) -> Decimal:
    """What the simulator says that this card holds."""
    found = next(card for card in (await demo.partner("state"))["cards"] if card["last4"] == last4)
    return Decimal(str(found["balance_usd"]))


async def test_a_newcomer_gets_to_the_first_approved_top_up_in_eight_clicks_and_is_led_on(
    newcomer: Newcomer, demo: Demo
) -> None:
    page, before = newcomer.page, await held_usd(demo, "3205")

    await newcomer.follow()
    await page.keyboard.press("Enter")
    form = page.get_by_role("dialog")
    await expect(form.get_by_label("Reason", exact=True)).to_be_in_viewport()
    await form.get_by_label("Reason", exact=True).fill("Hotel in Lisbon, three nights")
    await newcomer.button("Preview")
    await expect(form).to_contain_text("Float available")
    await newcomer.button("Submit")
    await expect(form).to_have_count(0)
    await expect(newcomer.step).to_contain_text("Play Bob")
    await newcomer.follow()
    await newcomer.button("Approve")
    await expect(form).to_contain_text("Hotel in Lisbon, three nights")
    await newcomer.button("Approve")
    done = page.get_by_role("main").get_by_role("article").filter(has_text="Succeeded: Top up")
    await expect(done).to_be_in_viewport()

    assert newcomer.clicks <= MOST_CLICKS, newcomer.clicks
    assert await held_usd(demo, "3205") == before + 50
    await expect(form).to_have_count(0)  # nothing left to close
    await expect(newcomer.step).to_contain_text("partner simulator")
    await expect(newcomer.step.locator("a, button")).to_be_in_viewport(ratio=1)


@pytest.mark.soak
async def test_the_tour_leads_from_the_top_up_over_an_alert_and_its_fix_to_its_end(
    newcomer: Newcomer, demo: Demo
) -> None:
    """Every step is done as its words say, and each leads to the next; nothing is left to guess."""
    page = newcomer.page
    dialog = page.get_by_role("dialog")
    await newcomer.follow()
    await page.keyboard.press("Enter")
    await request(newcomer, {"Reason": "Hotel in Lisbon, three nights"})
    await expect(newcomer.step).to_contain_text("Play Bob")
    await approve_newest(newcomer)

    await expect(newcomer.step).to_contain_text("make a purchase of 400.00 with Marta's card")
    card = next(card for card in (await demo.partner("state"))["cards"] if card["last4"] == "3205")
    await demo.partner("purchases", {"card_id": card["id"], "amount_usd": 400})

    await expect(newcomer.step).to_contain_text("press Suggest a fix")
    await newcomer.follow()
    await newcomer.button("Suggest a fix")
    await request(newcomer, {"Amount (USD)": "120", "Reason": "The hotel could not charge the card"})
    await expect(newcomer.step).to_contain_text("let Bob approve")
    await page.get_by_role("radio", name="Bob Tanaka").click()
    await page.get_by_role("button", name="card-approvals", exact=True).click()
    await page.get_by_role("main").get_by_role("button", name="Approve", exact=True).last.click()
    await dialog.get_by_role("button", name="Approve", exact=True).click()
    await expect(dialog).to_have_count(0)
    await expect(newcomer.step).to_contain_text("choose Resolve")
    await newcomer.follow()
    await newcomer.button("More actions")
    await newcomer.click(page.get_by_role("menuitem", name="Resolve"))

    hint = page.get_by_role("region", name="What to try")
    await expect(hint).to_contain_text("Now try your own")


async def request(newcomer: Newcomer, fields: dict[str, str]) -> None:
    """Fill the open form, read the preview, submit."""
    form = newcomer.page.get_by_role("dialog")
    for label, text in fields.items():
        await form.get_by_label(label, exact=True).fill(text)
    await newcomer.button("Preview")
    await expect(form).to_contain_text("Float available")
    await newcomer.button("Submit")
    await expect(form).to_have_count(0)


async def approve_newest(newcomer: Newcomer) -> None:
    """As Bob, where the hint leads."""
    await newcomer.follow()
    await newcomer.button("Approve")
    await expect(newcomer.page.get_by_role("dialog")).to_contain_text("approval 1 of 1")
    await newcomer.button("Approve")
    await expect(newcomer.page.get_by_role("dialog")).to_have_count(0)
