"""The job the product exists for, done by hand in a real Chromium against the real demo.

One person plays the team: Alice asks, Bob and Carol read and approve, and the partner simulator's own page
shows the card, the float and the ledger move. Each test is one job and reads the figures it starts from.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from decimal import Decimal

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.support.chromium import a_browser, require_chromium
from tests.support.demo import Demo, running_demo

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.by_turns(2)]

# The outcome has 5 s from the last approval to the card; reads before and after take their share.
PATIENCE_MS = 20_000
ALICE, BOB, CAROL = "Alice Moreau", "Bob Tanaka", "Carol Reyes"
MARTA, SOFIA = "MARTA KOWALSKA", "SOFIA MARCHETTI"


class Pages:
    """The Slack page and the simulator's page, with the gestures of a person."""

    def __init__(self, slack: Page, partner: Page, asked: list[str] | None = None) -> None:
        self.slack = slack
        self.partner = partner
        self.asked: list[str] = [] if asked is None else asked  # the ids of all requests so far

    async def play(self, name: str, channel: str = "card-approvals") -> None:
        await self.slack.get_by_role("radio", name=name).click()
        await self.slack.get_by_role("button", name=channel, exact=True).click()
        await expect(self.slack.get_by_role("heading", name=channel)).to_be_visible()

    async def send(self, text: str) -> None:
        await self.slack.get_by_label("Message", exact=True).fill(text)
        await self.slack.keyboard.press("Enter")

    def dialog(self, title: str) -> Locator:
        return self.slack.get_by_role("dialog", name=title)

    async def ask(self, command: str, title: str, fields: dict[str, str], *, now: bool = False) -> str:
        """Fill the form, read the preview, submit; the request's id."""
        await self.play(ALICE, "card-ops")
        await self.send(command)
        form = self.dialog(title)
        for label, text in fields.items():
            await form.get_by_label(label, exact=True).fill(text)
            if label == "Card":  # by keyboard alone: type, then Enter takes the first that is offered
                await expect(form.get_by_role("option")).to_have_count(1)
                await self.slack.keyboard.press("Enter")
                await expect(form.get_by_label(label, exact=True)).to_have_value(re.compile("••[0-9]{4} · "))
        if now:
            await form.get_by_role("checkbox", name="Freeze now").check()
        await form.get_by_role("button", name="Preview").click()
        await expect(form).to_contain_text("SANDBOX")
        await form.get_by_role("button", name="Submit").click()
        await expect(self.slack.get_by_role("dialog")).to_have_count(0)
        answer = self.slack.get_by_role("article").filter(has_text="Only visible to you")
        answer = answer.filter(has_text="#card-approvals")
        for request_id in self.asked:  # what was said of earlier requests stands above
            answer = answer.filter(has_not_text=request_id)
        await expect(answer).to_have_count(1)
        found = re.search(r"R-[A-Z0-9]{4,}", await answer.inner_text())
        assert found
        self.asked.append(found[0])
        return found[0]

    def card(self, request_id: str) -> Locator:
        """The request's own message in the approvals channel."""
        main = self.slack.get_by_role("main")
        return main.get_by_role("article").filter(has_text=f"{request_id} ·")

    async def reads(self, request_id: str, state: str, *texts: str) -> None:
        card = self.card(request_id)
        await expect(card).to_have_count(1)
        await expect(card).to_contain_text(f"{request_id} · {state}")
        for text in texts:
            await expect(card).to_contain_text(text)

    async def approve(self, name: str, request_id: str, *terms: str) -> None:
        """Read what will happen and approve it: two clicks, and the dialog closes by itself."""
        await self.play(name)
        await self.card(request_id).get_by_role("button", name="Approve").click()
        confirmation = self.dialog("Approve")
        for text in (request_id, *terms):
            await expect(confirmation).to_contain_text(text)
        await confirmation.get_by_role("button", name="Approve", exact=True).click()
        await expect(confirmation).to_have_count(0)

    async def thread(self, request_id: str) -> Locator:
        await self.card(request_id).get_by_role("button", name=re.compile("repl(y|ies)")).click()
        return self.slack.get_by_role("complementary", name="Thread")

    async def float_usd(self) -> Decimal:
        """What the simulator's page shows as spendable."""
        shown = self.partner.get_by_role("region", name="Float").locator("#available_usd")
        await expect(shown).to_have_text(re.compile(r"\d"))
        return Decimal((await shown.inner_text()).replace(",", ""))

    async def float_becomes(self, amount_usd: Decimal) -> None:
        shown = self.partner.get_by_role("region", name="Float").locator("#available_usd")
        await expect(shown).to_have_text(f"{amount_usd:,.2f}")
        await expect(self.partner.get_by_text("Everything adds up")).to_be_visible()

    def row(self, table: str, text: str) -> Locator:
        """The newest row with this text in one of the simulator's tables."""
        section = self.partner.locator("section").filter(
            has=self.partner.get_by_role("heading", name=table, exact=True)
        )
        return section.get_by_role("row").filter(has_text=text).first


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def demo(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    require_chromium("the four jobs were not done in a browser")
    async with running_demo(tmp_path_factory.mktemp("four-jobs")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def pages(demo: Demo) -> AsyncIterator[Pages]:
    """Both pages as a newcomer opens them; fails at the end if one of them broke."""
    broken: list[str] = []
    async with a_browser() as browser:
        context = await browser.new_context(viewport={"width": 1400, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        context.on("weberror", lambda error: broken.append(str(error.error)))
        expect.set_options(timeout=PATIENCE_MS)
        slack = await context.new_page()
        await slack.goto(demo.url)
        await expect(slack.get_by_role("status").filter(has_text="Connected")).to_be_visible()
        async with context.expect_page() as opened:
            await slack.get_by_role("link", name="Partner simulator", exact=True).click()
        partner = await opened.value
        await slack.bring_to_front()  # a hidden tab draws once a second
        yield Pages(slack, partner)
    assert broken == []


async def test_alice_asks_for_a_card_and_it_exists_once_bob_has_approved(pages: Pages) -> None:
    before = await pages.float_usd()
    fields = {
        "Cardholder name": "Nora Lindqvist",
        "Country code": "46",
        "Phone": "701234567",
        "Email": "nora@example.com",
        "Partner reference": "emp-1104",
        "Reason": "New colleague in sales",
    }

    request_id = await pages.ask("/card order", "Order a card", fields)
    await pages.play(BOB)
    await pages.reads(request_id, "pending", "NORA LINDQVIST", "0 of 1", "First month's fee")
    assert "701234567" not in await pages.slack.get_by_role("main").inner_text()
    await expect(pages.row("Cards", "NORA LINDQVIST")).to_have_count(0)
    terms = ("nora@example.com", "701234567", "New colleague in sales")
    await pages.approve(BOB, request_id, *terms)

    await pages.reads(request_id, "succeeded", "Card ordered for NORA LINDQVIST", "1 of 1")
    await expect(pages.row("Cards", "NORA LINDQVIST")).to_contain_text("emp-1104")
    await expect(pages.row("Ledger", "card-fee:")).to_contain_text("−1.00")
    await pages.float_becomes(before - 1)


async def test_a_top_up_above_500_needs_bob_and_carol_and_moves_the_float_once(pages: Pages) -> None:
    before = await pages.float_usd()

    request_id = await pages.ask(
        "/card topup Marta Kowalska 620", "Top up a card", {"Reason": "Hotel, Lisbon"}
    )
    await pages.approve(BOB, request_id, MARTA, "620.00 USD")
    await pages.reads(request_id, "pending", "1 of 2", "Bob Tanaka")
    await pages.float_becomes(before)
    await pages.approve(CAROL, request_id, "Hotel, Lisbon")

    await pages.reads(request_id, "succeeded", "620.00 USD moved from the float onto MARTA KOWALSKA")
    thread = await pages.thread(request_id)
    await expect(thread).to_contain_text("Approved by Bob Tanaka: 1 of 2.")
    await expect(thread).to_contain_text("Approved by Carol Reyes: 2 of 2.")
    await expect(thread.get_by_role("article").last).to_contain_text("Succeeded.")
    await expect(pages.row("Ledger", "card_topup")).to_contain_text("−620.00")
    await expect(pages.row("Idempotency keys", "620.00")).to_contain_text("done")
    await pages.float_becomes(before - 620)


async def test_freeze_now_acts_at_once_and_a_second_person_confirms_it(pages: Pages) -> None:
    typed = {"Card": "marchetti", "Reason": "The cardholder lost the phone"}

    request_id = await pages.ask("/card freeze", "Freeze a card", typed, now=True)
    await pages.play(ALICE)
    await pages.reads(request_id, "succeeded", "Freeze now", f"{SOFIA} ••5601 is frozen")
    await expect(pages.row("Cards", SOFIA)).to_contain_text("FROZEN")
    await pages.card(request_id).get_by_role("button", name="Confirm").click()
    displayed = pages.slack.get_by_role("main").get_by_role("article").filter(has_text="Only visible to you")
    await expect(displayed.last).to_contain_text("You requested this")
    await expect(pages.card(request_id).get_by_role("button", name="Confirm")).to_be_visible()
    await pages.play(BOB)
    await pages.card(request_id).get_by_role("button", name="Confirm").click()

    await pages.reads(request_id, "succeeded", "done immediately by Alice Moreau, confirmed by Bob Tanaka")
    await expect(pages.card(request_id).get_by_role("button", name="Confirm")).to_have_count(0)


async def test_a_funding_submission_is_credited_after_approval(pages: Pages) -> None:
    before = await pages.float_usd()
    await pages.partner.get_by_label("Amount of USDC").fill("1000")
    await pages.partner.get_by_role("button", name="Send", exact=True).click()
    notice = pages.partner.get_by_role("alert")
    await expect(notice).to_contain_text("Submit this hash: 0x")
    tx_hash = (await notice.inner_text()).rpartition(" ")[2]

    request_id = await pages.ask(
        f"/funding submit {tx_hash} POLYGON", "Submit funding", {"Reason": "Float for the week"}
    )
    await pages.approve(BOB, request_id, tx_hash, "Float for the week")

    await pages.reads(request_id, "credited", f"{tx_hash[:8]}…{tx_hash[-4:]}")
    await expect(pages.row("Funding", f"{tx_hash[:7]}…")).to_contain_text("credited")
    await expect(pages.row("Ledger", f"funding-POLYGON-{tx_hash}")).to_be_visible()
    await pages.float_becomes(before + 990)  # less the load fee of one per cent
    await pages.play(ALICE, "card-ops")
    await pages.send(f"/funding show {tx_hash}")
    shown = pages.slack.get_by_role("article").last
    await expect(shown).to_contain_text("Credited: funding on POLYGON")
    await expect(shown).to_contain_text("990.00 USD")


async def test_many_cards_are_topped_up_by_one_list_with_a_row_left_out(pages: Pages) -> None:
    """Uploaded in a direct message, read, submitted; a row left out; approved by another; the results seen."""
    before = await pages.float_usd()
    slack = pages.slack
    await pages.play(ALICE, "Countersign")
    csv = b"card;amount\r\nMarta Kowalska;11.10\r\nPriya Nair;22.20\r\nDaniel Okafor;33.30\r\n"
    await slack.get_by_label("Files for message").set_input_files(
        {"name": "per-diems.csv", "mimeType": "text/csv", "buffer": csv}
    )
    await slack.get_by_role("button", name="Send").first.click()
    read = slack.get_by_role("article").filter(has_text="I read 3 rows")
    await read.get_by_role("button", name="Review and submit").click()
    preview = pages.dialog("Top up a card")
    await expect(preview).to_contain_text("Top up 3 cards by 66.60 USD in all")
    await preview.get_by_label("Reason", exact=True).fill("Per diems of March")
    await preview.get_by_role("button", name="Submit").click()
    await expect(slack.get_by_role("dialog")).to_have_count(0)

    await pages.play(ALICE)
    card = slack.get_by_role("main").get_by_role("article").filter(has_text="Per diems of March")
    request_id = found[0] if (found := re.search(r"R-[A-Z0-9]{4,}", await card.inner_text())) else ""
    await card.get_by_role("button", name="Rows").click()
    rows = pages.dialog(request_id)
    await rows.get_by_role("button", name="Leave rows out").click()
    leaving = pages.dialog("Leave rows out")
    await leaving.get_by_label("Rows to leave out").fill("22.20")
    await slack.get_by_role("option", name=re.compile("22.20")).click()
    await leaving.get_by_role("button", name="Leave out").click()
    await expect(pages.dialog(request_id)).to_contain_text("now asks for 2 rows")
    await slack.keyboard.press("Escape")

    await pages.approve(BOB, request_id, "44.40 USD in all", "11.10", "33.30")
    await pages.reads(request_id, "succeeded", "2 of 2 rows succeeded. 44.40 USD of 44.40 USD moved.")
    await expect(
        (await pages.thread(request_id)).get_by_role("link", name=re.compile("Download"))
    ).to_have_count(1)
    await pages.float_becomes(before - Decimal("44.40"))


async def test_alice_cannot_approve_her_own_request_and_nothing_moves(pages: Pages) -> None:
    before = await pages.float_usd()
    request_id = await pages.ask("/card topup Marta Kowalska 30", "Top up a card", {"Reason": "Taxi"})

    await pages.play(ALICE)
    await pages.card(request_id).get_by_role("button", name="Approve").click()
    refusal = pages.dialog("Approve")
    await expect(refusal).to_contain_text("You requested this")
    await expect(refusal.get_by_role("button", name="Approve")).to_have_count(0)
    await pages.slack.keyboard.press("Escape")
    await pages.reads(request_id, "pending", "0 of 1")
    await pages.card(request_id).get_by_role("button", name="More actions").click()
    await pages.slack.get_by_role("menuitem", name="Cancel").click()
    withdrawal = pages.dialog("Cancel the request")
    await withdrawal.get_by_role("button", name="Cancel request").click()
    await expect(withdrawal).to_contain_text("is cancelled. Nothing of it was sent.")
    await pages.slack.keyboard.press("Escape")

    await pages.reads(request_id, "cancelled", "0 of 1")
    await expect(pages.card(request_id).get_by_role("button", name="Approve")).to_have_count(0)
    assert await pages.float_usd() == before


async def test_home_follows_what_happens_while_somebody_looks_at_it(pages: Pages) -> None:
    """Bob looks at Home and touches nothing; a second window plays Alice, who asks for a top-up."""
    slack = pages.slack
    await slack.get_by_role("radio", name=BOB).click()
    await slack.get_by_role("button", name="Countersign", exact=True).click()
    await slack.get_by_role("tab", name="Home").click()
    home = slack.get_by_role("tabpanel", name="Home").or_(slack.locator("#home"))
    await expect(home).to_contain_text("Waiting for you")
    await expect(home).to_contain_text("SANDBOX (main)")
    await expect(home).to_contain_text("Read last: float")
    await expect(home.get_by_role("button", name="Pause main")).to_be_visible()

    other = await slack.context.new_page()
    await other.goto(slack.url)
    request_id = await Pages(other, pages.partner, pages.asked).ask(
        "/card topup Marta Kowalska 35", "Top up a card", {"Reason": "Train to Berlin"}
    )
    await other.close()
    await slack.bring_to_front()

    row = home.locator("*", has_text=request_id)
    await expect(row.first).to_be_visible()
    await home.get_by_role("button", name="Review").first.click()
    confirmation = pages.dialog("Approve")
    await expect(confirmation).to_contain_text("Train to Berlin")
    await confirmation.get_by_role("button", name="Approve", exact=True).click()
    await expect(confirmation).to_have_count(0)
    await expect(home).not_to_contain_text(request_id)
    await pages.play(BOB)
    await pages.reads(request_id, "succeeded", "Train to Berlin")
