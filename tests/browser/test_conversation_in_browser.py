"""A conversation on the page, from a suggested prompt to a pending request, slot by slot."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.support.chromium import a_browser, require_chromium
from tests.support.demo import Demo, running_demo

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.by_turns(4)]

PATIENCE_MS = 12_000
# Nobody is read more than 20 times a minute, and all that is said here is more than that.
ALICE, BOB, CAROL = "Alice Moreau", "Bob Tanaka", "Carol Reyes"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def demo(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    require_chromium("the conversation was not held in a browser")
    async with running_demo(tmp_path_factory.mktemp("conversation")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with a_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def page(demo: Demo, browser: Browser) -> AsyncIterator[Page]:
    """The page as somebody opens it who was never there."""
    async with await browser.new_context(viewport={"width": 1400, "height": 900}) as context:
        opened = await context.new_page()
        broken: list[str] = []
        opened.on("pageerror", lambda error: broken.append(str(error)))
        opened.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        await opened.goto(demo.url)
        yield opened
        assert broken == []


def thread(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Thread")


async def reply(page: Page, text: str) -> None:
    await thread(page).get_by_role("textbox", name="Reply").fill(text)
    await page.keyboard.press("Enter")


async def test_a_prompt_a_question_at_a_time_a_form_and_a_pending_request(page: Page, demo: Demo) -> None:
    await page.get_by_role("radio", name="Alice Moreau").click()
    await page.get_by_role("navigation").get_by_role("button", name="Countersign", exact=True).click()
    await page.get_by_role("tab", name="Messages").click()
    prompts = page.get_by_role("group", name="Suggested prompts")
    await expect(prompts).to_contain_text("Ask, or say what you need")

    await prompts.get_by_role("button", name="Top up a card").click()
    await expect(thread(page)).to_contain_text("Which card?")
    await reply(page, "Marta")
    await expect(thread(page)).to_contain_text("How much")
    await reply(page, "what's our float?")
    await expect(thread(page)).to_contain_text("Available")
    await reply(page, "85")
    await expect(thread(page)).to_contain_text("MARTA KOWALSKA")
    await thread(page).get_by_role("button", name="Review and submit").click()

    form = page.get_by_role("dialog", name="Top up a card")
    await expect(form.get_by_label("Card", exact=True)).to_have_value("MARTA KOWALSKA ••3205 · Active")
    await expect(form.get_by_label("Amount (USD)", exact=True)).to_have_value("85")
    await form.get_by_label("Reason", exact=True).fill("Travel")
    await form.get_by_role("button", name="Preview").click()
    await expect(form).to_contain_text("SANDBOX")
    await form.get_by_role("button", name="Submit").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)

    await page.get_by_role("button", name="card-approvals", exact=True).click()
    waiting = page.get_by_role("main").get_by_role("article").filter(has_text=re.compile(r"R-\w+ · pending"))
    card = waiting.filter(has_text="85.00 USD").first  # others may wait, too
    await expect(card).to_contain_text("Top up MARTA KOWALSKA")
    await expect(card).to_contain_text("85.00 USD")


async def test_the_menu_of_a_message_asks_the_app_about_it(page: Page, demo: Demo) -> None:
    await demo.slack(
        "act/message", {"user": "U0BOB", "channel": "C0OPS", "text": "what is our float right now?"}
    )
    await page.get_by_role("radio", name="Alice Moreau").click()
    await page.get_by_role("button", name="card-ops", exact=True).click()
    message = page.get_by_role("main").get_by_role("article").filter(has_text="what is our float right now?")
    await message.hover()
    await message.get_by_role("button", name="Message shortcuts").click()
    await page.get_by_role("menuitem", name="Ask Countersign about it").click()

    shown = page.get_by_role("main").get_by_role("article").last
    await expect(shown).to_contain_text("Only visible to you")
    await expect(shown).to_contain_text("Available")


async def type_below(page: Page, text: str) -> Locator:
    """Type it in the main box of the direct message, outside any thread; the thread of its answer."""
    await page.get_by_role("main").get_by_role("textbox", name="Message").fill(text)
    await page.keyboard.press("Enter")
    await expect(thread(page)).to_contain_text(text)
    return thread(page)


async def close_form(page: Page) -> None:
    """So that it is not still open for the next person who looks."""
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def open_messages(page: Page, person: str = ALICE) -> None:
    await page.get_by_role("radio", name=person).click()
    await page.get_by_role("navigation").get_by_role("button", name="Countersign", exact=True).click()
    await page.get_by_role("tab", name="Messages").click()


async def test_six_turns_with_follow_ups_in_the_main_box_end_in_a_filled_form(page: Page, demo: Demo) -> None:
    await open_messages(page)

    await expect(await type_below(page, "balance of Marta's card")).to_contain_text("MARTA KOWALSKA ••3205")
    await expect(await type_below(page, "and Jonas's?")).to_contain_text("JONAS ÄHLSTRÖM ••7578")
    spent = await type_below(page, "how much did Jonas spend this month?")
    await expect(spent).to_contain_text("on JONAS ÄHLSTRÖM ••7578")
    await expect(await type_below(page, "last month")).to_contain_text("on JONAS ÄHLSTRÖM ••7578")
    await expect(await type_below(page, "top up Jonas by 60")).to_contain_text("Review and submit")
    offered = await type_below(page, "make it 80")
    await offered.get_by_role("button", name="Review and submit").last.click()

    form = page.get_by_role("dialog", name="Top up a card")
    await expect(form.get_by_label("Card", exact=True)).to_have_value("JONAS ÄHLSTRÖM ••7578 · Active")
    await expect(form.get_by_label("Amount (USD)", exact=True)).to_have_value("80")
    await close_form(page)


@pytest.mark.walk(most=4)
@pytest.mark.parametrize(
    ("person", "said", "answered"),
    [
        (BOB, "hi", "Hello!"),
        (ALICE, "what is pending right now?", "waiting for you"),
        (ALICE, "what is pending for Bob?", "waiting for Bob"),
        (BOB, "what did we spend this month?", "By merchant"),
        (ALICE, "what was the last request for 3205", "MARTA KOWALSKA ••3205: "),
        (BOB, "payments above 20 on 3205 this month", "above 20.00 USD"),
        (BOB, "undo the freeze on Sofia", "is active, as last read: there is nothing to undo"),
        (ALICE, "pause everything", "may pause and resume"),
        (BOB, "wie viel Guthaben ist auf der Karte", "I understand English only"),
    ],
)
async def test_a_sentence_of_the_day_is_answered_usefully(
    page: Page, demo: Demo, person: str, said: str, answered: str
) -> None:
    await open_messages(page, person)

    await expect(await type_below(page, said)).to_contain_text(answered)


async def test_undo_offers_to_cancel_what_still_waits_and_the_button_asks_once_more(
    page: Page, demo: Demo
) -> None:
    await open_messages(page)
    offered = await type_below(page, "top up 7578 by 21 for the taxi")
    await offered.get_by_role("button", name="Review and submit").last.click()
    form = page.get_by_role("dialog", name="Top up a card")
    await form.get_by_role("button", name="Preview").click()
    await expect(form).to_contain_text("SANDBOX")
    await form.get_by_role("button", name="Submit").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)

    shown = await type_below(page, "undo my last request")

    await expect(shown).to_contain_text(re.compile(r"R-\w+ is pending"))
    await shown.get_by_role("button", name="Cancel").last.click()
    await expect(page.get_by_role("dialog")).to_contain_text("Cancel")
    await close_form(page)


@pytest.mark.walk(most=1)
@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("who has got the card ending 3205", ("MARTA KOWALSKA ••3205", "emp-1042")),
        ("is any of our deposit money still being looked at", ("funding submission",)),
        ("marta's card bounced at the fuel pump, how come", ("MARTA KOWALSKA ••3205", "Last purchases")),
    ],
)
async def test_a_question_in_words_that_no_rule_was_written_for_is_answered(
    page: Page, demo: Demo, said: str, answered: tuple[str, ...]
) -> None:
    await open_messages(page, CAROL)

    shown = await type_below(page, said)

    for part in answered:
        await expect(shown).to_contain_text(part)


@pytest.mark.walk(most=1)
@pytest.mark.parametrize(
    ("said", "title", "held"),
    [
        (
            "could you kindly refill Jonas's card with 40 dollars",
            "Top up a card",
            {"Card": "JONAS ÄHLSTRÖM ••7578 · Active", "Amount (USD)": "40"},
        ),
        ("you may switch 5589 back on", "Unfreeze a card", {"Card": re.compile("PRIYA NAIR ••5589")}),
        (
            "bring jonas down to 100 a day",
            "Set a card's limits",
            {"Card": "JONAS ÄHLSTRÖM ••7578 · Active", "Daily limit (USD)": "100"},
        ),
    ],
)
async def test_a_request_in_other_words_ends_in_its_filled_form(
    page: Page, demo: Demo, said: str, title: str, held: dict[str, str | re.Pattern[str]]
) -> None:
    await open_messages(page, CAROL)

    await (await type_below(page, said)).get_by_role("button", name="Review and submit").last.click()

    form = page.get_by_role("dialog", name=title)
    for label, value in held.items():
        await expect(form.get_by_label(label, exact=True)).to_have_value(value)
    await expect(form.get_by_text("From your message.")).to_have_count(len(held))
    await close_form(page)


async def test_a_new_joiner_gets_the_form_of_a_card_with_the_name_that_was_said(
    page: Page, demo: Demo
) -> None:
    await open_messages(page, CAROL)
    shown = await type_below(page, "we have a new joiner, Ada Quist, get her a card")
    await expect(shown).to_contain_text("Which phone number")

    await reply(page, "+49 151 12345678")
    await expect(shown).to_contain_text("Which e-mail address?")
    await reply(page, "ada@northfield.example")
    await shown.get_by_role("button", name="Review and submit").last.click()

    form = page.get_by_role("dialog")
    await expect(form.get_by_label(re.compile("name"))).to_have_value("Ada Quist")
    await close_form(page)


async def test_a_slip_of_the_pen_is_offered_and_taken_only_by_a_press(page: Page, demo: Demo) -> None:
    await open_messages(page, CAROL)
    shown = await type_below(page, "pls laod 60 to 3205")
    await expect(shown).to_contain_text("Did you mean: top up 3205 by 60?")
    await expect(shown.get_by_role("button", name="Review and submit")).to_have_count(0)

    await shown.get_by_role("button", name="Top up 3205 by 60").last.click()
    await shown.get_by_role("button", name="Review and submit").last.click()

    form = page.get_by_role("dialog", name="Top up a card")
    await expect(form.get_by_label("Card", exact=True)).to_have_value("MARTA KOWALSKA ••3205 · Active")
    await expect(form.get_by_label("Amount (USD)", exact=True)).to_have_value("60")
    await close_form(page)


async def test_a_suggested_look_up_is_answered_when_it_is_pressed(page: Page, demo: Demo) -> None:
    await open_messages(page, CAROL)
    shown = await type_below(page, "is any of our deposit money still being looked at")
    await expect(shown).to_contain_text("Not this? You may have meant:")
    await expect(shown).not_to_contain_text("Available")

    await shown.get_by_role("button", name="Float and days of cover").last.click()

    await expect(shown).to_contain_text("Available")
