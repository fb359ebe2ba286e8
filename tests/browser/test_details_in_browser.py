"""Card details in a real Chromium: shown once, in the service's own frame, with everything else shut out.

Alice asks in the real demo and Bob approves; the link in her direct message is opened by hand. Afterwards
nothing of the card, the link or the service's address is in the bot's log or database.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Frame, Page, expect

from tests.support.chromium import a_browser, require_chromium
from tests.support.demo import Demo, running_demo
from tests.support.waiting import eventually

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.by_turns(4)]

PATIENCE_MS = 10_000
ALICE, BOB = "U0ALICE", "U0BOB"
LINK = re.compile(r"http://127\.0\.0\.1:\d+/details#[A-Za-z0-9_-]{43}")
Json = dict[str, Any]

# What somebody would plant who got a foot into the page; each is reported by the browser as it is stopped.
PLANTED = """async ([elsewhere, expected]) => {
  const stopped = new Set();
  addEventListener("securitypolicyviolation", (event) => stopped.add(event.effectiveDirective));
  const script = document.createElement("script");
  script.textContent = "window.planted = 'script'";
  document.body.append(script);
  const foreign = document.createElement("script");
  foreign.src = `${elsewhere}/page.js`;
  document.body.append(foreign);
  document.body.insertAdjacentHTML("beforeend", `<img src="${elsewhere}/x.png" onerror="window.planted = 'handler'">`);
  document.body.insertAdjacentHTML("beforeend", `<iframe name="other" src="${elsewhere}/"></iframe>`);
  document.body.insertAdjacentHTML("beforeend", `<form action="${elsewhere}/" method="post"></form>`);
  document.querySelector("form").submit();
  await fetch(`${elsewhere}/_control/state`).catch(() => 0);
  document.body.insertAdjacentHTML("beforeend", `<base href="${elsewhere}/"><object data="${elsewhere}/"></object>`);
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  for (let tries = 0; tries < 200 && stopped.size < expected; tries += 1) await pause(50);
  await pause(300);
  return { stopped: [...stopped].sort(), planted: window.planted ?? "nothing" };
}"""


STOPPED = [
    "base-uri",
    "connect-src",
    "form-action",
    "frame-src",
    "img-src",
    "script-src-attr",
    "script-src-elem",
]
# A page around ours, as far as ours can tell.
AROUND = """
if (location.pathname === "/details") {
  window.told = [];
  window.parent = { postMessage: (word, origin) => told.push([word, origin]) };
}
"""


@dataclass
class Desk:
    """The demo, and a browser in it. `shown` collects what must be nowhere afterwards."""

    demo: Demo
    folder: Path
    context: BrowserContext
    shown: list[str] = field(default_factory=list)

    async def approved(self, card: str) -> str:
        """Alice asks to see a card, Bob approves; the link in Alice's direct message."""
        known = await self._links()
        await self._act("command", ALICE, channel="C0OPS", text=f"/card reveal {card}")
        await self._submit(ALICE, {"reason": {"value": "Booking a hotel by phone"}})
        await self._submit(ALICE, {}, until="SANDBOX")
        message = await self._card_to_approve()
        await self._act("click", BOB, channel="C0APPROVALS", ts=message["ts"], action_id="request:approve")
        await self._submit(BOB, {}, until="Reason")

        async def new() -> set[str]:
            return await self._links() - known

        (link,) = await eventually("a link is posted", new, within_s=PATIENCE_MS / 1000)
        self.shown.append(link.rpartition("#")[2])
        return link

    async def _act(self, kind: str, user: str, **more: Any) -> Json:
        return await self.demo.slack(f"act/{kind}", {"user": user, **more})

    async def _see(self, user: str) -> Json:
        seen = await self.demo.slack("see", user=user)
        return {part: shown for part, shown in seen.items() if part != "wire"}

    async def _submit(self, user: str, values: Json, *, until: str = "Reason") -> None:
        """Submit the topmost window, once it shows what it has to."""

        async def view() -> Json:
            views = (await self._see(user))["views"]
            return dict(views[-1]) if views and until in str(views[-1]["blocks"]) else {}

        found = await eventually(f"a window with {until}", view, within_s=PATIENCE_MS / 1000, every_s=0.05)
        await self._act("submit", user, view_id=found["id"], values=values)

    async def _card_to_approve(self) -> Json:
        async def card() -> Json:
            messages = [m for channel in (await self._see(BOB))["channels"] for m in channel["messages"]]
            return next((dict(m) for m in messages if "request:approve" in str(m["blocks"])), {})

        return await eventually("a request to approve", card, within_s=PATIENCE_MS / 1000, every_s=0.05)

    async def _links(self) -> set[str]:
        return set(LINK.findall(str(await self._see(ALICE))))

    async def open(self, link: str) -> Page:
        page = await self.context.new_page()
        await page.goto(link)
        return page

    async def press(self, page: Page, name: str = "Show card details") -> None:
        await page.get_by_role("button", name=name).click()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    require_chromium("card details were not opened in a browser")
    folder = tmp_path_factory.mktemp("details")
    broken: list[str] = []
    async with running_demo(folder) as demo, a_browser() as browser:
        context = await browser.new_context(viewport={"width": 360, "height": 740})
        context.set_default_timeout(PATIENCE_MS)
        context.on("weberror", lambda error: broken.append(str(error.error)))
        expect.set_options(timeout=PATIENCE_MS)
        yield Desk(demo, folder, context)
    assert broken == []


async def frame_of(page: Page) -> Frame:
    """The service's page within ours, once it shows a card."""
    frame = await (await page.locator("iframe").element_handle()).content_frame()
    assert frame is not None
    await expect(frame.locator("#pan")).to_have_text(re.compile(r"\d{4} \d{4}"))
    return frame


async def test_from_the_direct_message_to_the_card_once_and_never_again(desk: Desk) -> None:
    link = await desk.approved("Marta Kowalska")
    slack = await desk.context.new_page()
    await slack.set_viewport_size({"width": 1400, "height": 900})
    await slack.goto(desk.demo.url)
    await slack.get_by_role("radio", name="Alice Moreau").click()
    await slack.get_by_role("button", name="Countersign").last.click()
    async with desk.context.expect_page() as popped:
        await slack.locator(f'a[href="{link}"]').click()
    page = await popped.value
    await page.set_viewport_size({"width": 360, "height": 740})

    await expect(page.get_by_role("button", name="Show card details")).to_be_visible()
    assert page.url == link.partition("#")[0], "the token is still in the address"
    await desk.press(page)
    frame = await frame_of(page)
    number = (await frame.locator("#pan").inner_text()).replace(" ", "")
    desk.shown += [number, frame.url.rpartition("/")[2]]
    await expect(page.get_by_text(re.compile(r"Hidden again in (10:00|9:5\d)"))).to_be_visible()
    await expect(page.get_by_role("button", name="Show card details")).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "too wide for a phone"

    await desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await frame.get_by_role("button", name="Copy card number").click()
    await expect(page.get_by_role("status")).to_have_text("The card number was copied.")
    assert await page.evaluate("navigator.clipboard.readText()") == number

    visited = await page.evaluate(
        "[location.href, history.length, document.referrer, JSON.stringify(history.state)]"
    )
    assert link.rpartition("#")[2] not in str(visited)
    again = await desk.open(link)
    await desk.press(again)
    await expect(again.get_by_role("alert")).to_contain_text("used already, and the details were shown")
    await expect(again.locator("iframe")).to_have_count(0)
    await expect(again.get_by_role("button", name="Show card details")).to_be_hidden()


async def test_only_the_frame_is_listened_to_and_what_is_planted_neither_runs_nor_loads(desk: Desk) -> None:
    """No page can be around ours, so the one that the frame's word would be passed on to is a stand-in."""
    page = await desk.context.new_page()
    await page.add_init_script(AROUND)
    await page.goto(await desk.approved("Sofia Marchetti"))
    await desk.press(page)
    frame = await frame_of(page)
    await page.evaluate("window.postMessage({ type: 'svc-card-copy-result', ok: true }, '*')")
    await frame.evaluate("parent.postMessage({ type: 'svc-card-copy-result', ok: 'yes' }, '*')")
    await frame.evaluate("parent.postMessage({ type: 'another-word', ok: true }, '*')")
    await frame.evaluate("parent.postMessage({ type: 'svc-card-copy-result', ok: false, more: 1 }, '*')")

    await expect(page.get_by_role("status")).to_contain_text("could not be copied")
    word = {"type": "svc-card-copy-result", "ok": False}
    assert await page.evaluate("told") == [[word, page.url.rpartition("/")[0]]]

    found = await page.evaluate(PLANTED, [desk.demo.url, len(STOPPED)])

    assert found["planted"] == "nothing"
    assert set(STOPPED) <= set(found["stopped"]), found
    assert not [f for f in page.frames if f.url.startswith(desk.demo.url)], "another frame was loaded"


async def test_the_page_itself_cannot_be_framed(desk: Desk) -> None:
    page = await desk.context.new_page()
    await page.goto(desk.demo.partner_url)
    own = f"http://127.0.0.1:{desk.demo.port + 2}/details"

    await page.evaluate(
        "(own) => document.body.insertAdjacentHTML('beforeend', `<iframe src='${own}'></iframe>`)", own
    )

    await eventually(
        "Chromium shows an error in the frame",
        lambda: len(page.frames) == 2 and page.frames[1].url.startswith("chrome-error:"),
        within_s=PATIENCE_MS / 1000,
    )


async def test_as_text_the_browser_alone_fetches_the_number(desk: Desk) -> None:
    page = await desk.open(await desk.approved("Marta Kowalska"))
    asked: list[tuple[str, str]] = []
    page.on("request", lambda request: asked.append((request.method, request.url)))

    await desk.press(page, "Show as text instead")
    await expect(page.get_by_role("button", name="Show the service's own page instead")).to_be_visible()
    assert page.url.endswith("/details?as=text")
    await desk.press(page)

    number = page.get_by_role("definition").first
    await expect(number).to_have_text(re.compile(r"^(\d{4} ?){4}$"))
    await expect(page.get_by_text(re.compile(r"Hidden again in (1:00|0:5\d)"))).to_be_visible()
    exchanged = [url for method, url in asked if method == "GET" and "/pan-exchange/" in url]
    assert len(exchanged) == 1
    desk.shown += [(await number.inner_text()).replace(" ", ""), exchanged[0].rpartition("/")[2]]


async def test_a_broken_link_is_reported_in_words(desk: Desk) -> None:
    base = f"http://127.0.0.1:{desk.demo.port + 2}/details"
    page = await desk.open(base)
    await expect(page.get_by_role("alert")).to_contain_text("no link in it")
    await expect(page.get_by_role("button", name="Show card details")).to_be_hidden()

    page = await desk.open(f"{base}#not-a-token")
    await desk.press(page)

    await expect(page.get_by_role("alert")).to_contain_text("a newer link took its place")


async def test_afterwards_nothing_of_it_is_in_the_log_or_the_database(desk: Desk) -> None:
    """Last in the file by its name's meaning; on its own it opens a card itself."""
    if not desk.shown:
        page = await desk.open(await desk.approved("Marta Kowalska"))
        await desk.press(page)
        frame = await frame_of(page)
        desk.shown.append((await frame.locator("#pan").inner_text()).replace(" ", ""))

    state = desk.folder / "var" / "demo"
    kept = [path for path in state.iterdir() if path.name.startswith("countersign")]
    assert {"countersign.log", "countersign.db"} <= {path.name for path in kept}
    for path in kept:
        content = path.read_bytes()
        for secret in desk.shown:
            assert secret.encode() not in content, path.name
            assert " ".join(re.findall(".{4}", secret)).encode() not in content, path.name
