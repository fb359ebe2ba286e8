"""The simulator's own page, in a real browser."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect

from sandbox.partner.purchases import declines
from sandbox.partner.server import Running
from tests.sandbox_partner.conftest import Api, Hand, Receiver
from tests.support.chromium import CHROMIUM, a_browser

PATIENCE_MS = 15_000  # a busy machine draws late
expect.set_options(timeout=PATIENCE_MS)

pytestmark = [
    pytest.mark.skipif(
        not CHROMIUM.exists(), reason="Chromium is not installed: the simulator's page was not tried"
    ),
    pytest.mark.by_turns(4),
]


@pytest.fixture
async def page(simulator: Running, hand: Hand) -> AsyncIterator[Page]:
    await hand("scenarios/happy-day")
    async with a_browser() as browser:
        page = await browser.new_page()
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        await page.goto(simulator.url + "/")
        yield page
        assert [text for text in problems if "status of 400" not in text] == []  # a refusal is no defect


async def test_the_page_shows_what_moves_and_lets_a_tester_act(page: Page, api: Api, hand: Hand) -> None:
    await expect(page.locator("#invariants")).to_have_text("Everything adds up")
    await expect(page.locator("#cards tbody tr")).to_have_count(6)
    before = await page.locator("#balance_usd").inner_text()

    await page.get_by_label("Amount in USD").fill("100.10")
    await page.get_by_role("button", name="Credit", exact=True).click()
    await expect(page.locator("#balance_usd")).not_to_have_text(before)
    await expect(page.locator("#ledger tbody tr").first).to_contain_text("100.10")

    await page.get_by_label("What goes wrong").select_option(label="stays unresolved (502)")
    await page.get_by_role("button", name="Arm", exact=True).click()
    await expect(page.locator("#armed")).to_have_text("topup: 5xx")
    card = (await api.get("/cards")).data["cards"][0]["id"]
    assert (await api.top_up(card, "40", idem="from-the-page")).status == 502
    await expect(page.locator("#suspense_usd")).to_have_text("40.00")
    await page.get_by_role("button", name="Settle topup from-the-page as credited").click()
    await expect(page.locator("#suspense_usd")).to_have_text("0.00")

    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_role("alert")).to_contain_text("Submit this hash: 0x")
    tx_hash = (await page.get_by_role("alert").inner_text()).split()[-1]
    assert (await api.post("/funding", {"tx_hash": tx_hash, "network": "POLYGON"})).data[
        "status"
    ] == "credited"
    await expect(page.locator("#funding tbody tr").first).to_contain_text("500.00")


async def test_a_purchase_made_on_the_page_is_seen_settled_delivered_and_refunded(
    page: Page, api: Api, hand: Hand, receiver: Receiver
) -> None:
    await api.call("PUT", "/webhook", {"url": "https://hooks.example.com/"})
    await page.get_by_label("Price in USD").fill("33.30")
    await page.get_by_label("Merchant", exact=True).fill("Kite Shop")
    await page.get_by_role("button", name="Buy").click()
    first = page.locator("#purchases tbody tr").first
    await expect(first).to_contain_text("Kite Shop")
    await expect(first).to_contain_text("pending")
    await page.get_by_role("button", name="Settle the purchase at Kite Shop").click()
    await expect(first).to_contain_text("settled")
    await page.get_by_role("button", name="Refund the purchase at Kite Shop").click()
    await expect(first).to_contain_text("refunded")

    await page.get_by_label("Merchant", exact=True).fill("DECLINE fraud_risk_declined")
    await page.get_by_role("button", name="Buy").click()
    await expect(page.get_by_role("alert")).to_contain_text("Declined: fraud_risk_declined")

    await page.get_by_role("button", name="+1 min").click()
    event = page.locator("#events tbody tr").first
    await expect(event).to_contain_text("delivered")
    await event.locator("summary").click()
    await expect(event).to_contain_text("attempt 1 · 200")
    await expect(page.locator("#endpoint")).to_contain_text(
        "https://hooks.example.com/ leads to http://127.0.0.1"
    )
    await expect(page.locator("#timers")).to_contain_text("an authorization runs out")


async def test_every_control_of_the_page_has_a_name(page: Page) -> None:
    await expect(page.locator("#cards tbody tr")).to_have_count(6)
    nameless = await page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, a")]
             .filter((node) => !(node.ariaLabel || node.innerText || node.labels?.length))
             .map((node) => node.outerHTML)"""
    )
    assert nameless == []


async def test_a_mistyped_amount_is_said_and_nothing_moves(page: Page, hand: Hand) -> None:
    before = (await hand.state())["float"]
    await page.get_by_label("Amount in USD").fill("lots")
    await page.get_by_role("button", name="Credit", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("amount_usd")
    assert (await hand.state())["float"] == before


async def test_every_reason_for_a_decline_can_be_chosen_from_the_list(page: Page, api: Api) -> None:
    kinds = page.get_by_label("Kind of purchase")
    await expect(kinds.locator("optgroup option")).to_have_count(len(declines.CODES))
    for code in ("fraud_risk_declined", "unknown"):
        await kinds.select_option(value=f"decline:{code}")
        await page.get_by_role("button", name="Buy").click()
        await expect(page.locator("#purchases tbody tr").first).to_contain_text(code)
        await expect(page.locator("#notice")).to_have_text(f"Declined: {code}")


@pytest.mark.parametrize("width", [1280, 390])
async def test_no_button_of_a_row_is_cut_off(page: Page, hand: Hand, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 900})
    await page.get_by_role("button", name="Buy").click()
    await expect(page.locator("#purchases tbody button").first).to_be_visible()
    cut = await page.evaluate(
        """() => [...document.querySelectorAll("td button")].filter((button) => {
            const table = button.closest("table"), panel = table.closest(".panel > div");
            const inside = button.getBoundingClientRect().right <= panel.getBoundingClientRect().right + 1;
            return !inside && innerWidth > 720 || button.scrollWidth > button.clientWidth + 1;
        }).map((button) => button.textContent)"""
    )
    assert cut == []


async def test_the_bar_moves_the_clock_ahead_and_says_how_far(page: Page, hand: Hand) -> None:
    await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")
    await expect(page.locator("#clock")).to_contain_text("2026-03-02 09:00:00")
    bar = page.get_by_label("Move the clock ahead")
    await bar.evaluate("bar => { bar.value = 60; bar.dispatchEvent(new Event('input')); }")
    await expect(page.locator("#clock-ahead")).to_contain_text("ahead, 2026-03-02")
    await bar.evaluate("bar => bar.dispatchEvent(new Event('change'))")
    await expect(page.locator("#clock-ahead")).to_have_text("now")
    moved = (await hand.state())["clock"]
    assert "2026-03-02T11:00" < moved < "2026-03-02T13:00"
    first = (await hand.state())["timers"][0]["due_at"]
    await page.get_by_role("button", name="Next timer").click()
    await expect(page.locator("#clock")).to_contain_text(first[:16].replace("T", " "))


async def test_a_code_is_entered_wrongly_given_up_or_entered_on_the_page(page: Page, api: Api) -> None:
    kinds, buy = page.get_by_label("Kind of purchase"), page.get_by_role("button", name="Buy")
    for shop, button, state in (
        ("Kite Shop", "Enter a wrong code", "failed"),
        ("Book Shop", "Abandon the code", "abandoned"),
        ("Tea Shop", "Enter the right code", "passed"),
    ):
        await page.get_by_label("Merchant", exact=True).fill(shop)
        await kinds.select_option("3ds:code")
        await buy.click()
        await page.get_by_role("button", name=f"{button} for {shop}").click()
        await expect(page.locator("#challenges tbody tr").first).to_contain_text(state)
    await expect(page.locator("#purchases tbody tr").first).to_contain_text("Tea Shop")


async def test_every_control_call_can_be_sent_from_the_page(page: Page, api: Api, hand: Hand) -> None:
    calls = (await hand.http.get("../_control")).json()["calls"]
    await expect(page.get_by_label("Control call", exact=True).locator("option")).to_have_count(
        len(calls) - 1
    )
    card = (await api.get("/cards")).data["cards"][0]["id"]
    await page.get_by_label("Control call", exact=True).select_option(label="POST cards/{}")
    await page.get_by_label("Id or name in the path").fill(card)
    await page.get_by_label("Body of the control call").fill('{"status": "EXPIRED"}')
    await page.get_by_role("button", name="Run the call").click()
    await expect(page.get_by_label("Answer of the control call")).to_contain_text('"status": "EXPIRED"')
    assert (await api.get(f"/cards/{card}")).data["card"]["status"] == "EXPIRED"


async def test_chaos_is_one_button_and_its_end_another_press(page: Page, hand: Hand) -> None:
    await expect(page.locator("#chaos-now")).to_have_text("off")
    await page.get_by_label("Percent of calls and deliveries").fill("25")
    await page.get_by_label("Seed of the chaos").fill("mine")
    await page.locator("#chaos").get_by_role("button", name="Set").click()
    await expect(page.locator("#chaos-now")).to_have_text("25 % go wrong")
    chaos = (await hand.state())["chaos"]
    assert (chaos["percent"], chaos["seed"]) == (25, "mine")
    await page.get_by_label("Percent of calls and deliveries").fill("0")
    await page.locator("#chaos").get_by_role("button", name="Set").click()
    await expect(page.locator("#chaos-now")).to_have_text("off")


@pytest.mark.walk(most=2)
@pytest.mark.parametrize("wide", [390, 1081, 1300, 1440])
async def test_the_bar_of_the_clock_stays_where_it_is_while_it_is_drawn(page: Page, wide: int) -> None:
    """Whatever stands beside it: else the bar shrinks under the mouse, and a small pull becomes months."""
    await page.set_viewport_size({"width": wide, "height": 900})
    await expect(page.locator("#cards tbody tr")).to_have_count(6)
    boxes = await page.evaluate(
        """() => {
            const bar = document.getElementById("clock-bar");
            return [0, 1, 30, 60, 90, 100].map((place) => {
                bar.value = place;
                bar.dispatchEvent(new Event("input"));
                const { left, top, width } = bar.getBoundingClientRect();
                return [left, top, width].map(Math.round).join(" ");
            });
        }"""
    )
    assert len(set(boxes)) == 1, boxes


async def test_the_clock_moves_by_keyboard_once_enter_is_pressed(page: Page, hand: Hand) -> None:
    await hand("clock", mode="frozen", set="2030-01-01T00:00:00Z")
    await expect(page.locator("#clock")).to_contain_text("2030")
    bar = page.get_by_label("Move the clock ahead")
    for _ in range(50):
        await bar.press("ArrowRight")
    assert (await hand.state())["clock"] == "2030-01-01T00:00:00.000Z"
    await expect(bar).to_have_attribute("aria-valuetext", await page.locator("#clock-ahead").inner_text())
    await bar.press("Enter")
    await expect(page.locator("#clock-ahead")).to_have_text("now")
    assert (await hand.state())["clock"] == "2030-01-01T00:38:34.000Z"
