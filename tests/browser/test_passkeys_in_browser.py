"""Passkeys in a real Chromium with virtual devices, against `countersign demo --passkeys`.

Bob, Carol and Alice each have a device of their own. What somebody tries without the right device, with a signature of
earlier or of another request, or with a copied device, approves nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, CDPSession, Page, Route, expect

from tests.support.chromium import a_browser, require_chromium
from tests.support.demo import Demo, running_demo
from tests.support.waiting import eventually

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.by_turns(4)]

PATIENCE_MS = 20_000
ALICE, BOB, CAROL = "U0ALICE", "U0BOB", "U0CAROL"
LINK = re.compile(r"http://localhost:\d+/passkey#[A-Za-z0-9_-]{43}")
TOO_QUICK = "knows no message of"
_DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
Json = dict[str, Any]


@dataclass
class Device:
    """A person's device: the passkeys on it, as the browser's virtual authenticator holds them."""

    passkeys: list[Json] = field(default_factory=list)

    def copy(self) -> Device:
        return Device([dict(one) for one in self.passkeys])


@dataclass
class Desk:
    """The demo, a browser, and a device for each person."""

    demo: Demo
    browser: Browser
    devices: dict[str, Device]
    known: set[str] = field(default_factory=set)
    at_hand: dict[Page, tuple[CDPSession, str]] = field(default_factory=dict)

    async def act(self, kind: str, user: str, **more: Any) -> Json:
        return await self.demo.slack(f"act/{kind}", {"user": user, **more})

    async def see(self, user: str) -> Json:
        seen = await self.demo.slack("see", user=user)
        return {part: shown for part, shown in seen.items() if part != "wire"}

    async def link(self, user: str) -> str:
        """The newest link that this person is shown."""

        async def new() -> set[str]:
            return set(LINK.findall(str(await self.see(user)))) - self.known

        (found,) = await eventually("a link is shown", new, within_s=PATIENCE_MS / 1000)
        self.known.add(found)
        return str(found)

    @asynccontextmanager
    async def page(self, link: str, device: Device, *, width: int = 390) -> AsyncIterator[Page]:
        """The page behind a link, in a browser of its own with this device."""
        context = await self.browser.new_context(viewport={"width": width, "height": 844})
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        session = await context.new_cdp_session(page)
        await session.send("WebAuthn.enable", {"enableUI": False})
        made = await session.send("WebAuthn.addVirtualAuthenticator", {"options": _DEVICE})
        name = {"authenticatorId": made["authenticatorId"]}
        for one in device.passkeys:
            await session.send("WebAuthn.addCredential", {**name, "credential": one})
        self.at_hand[page] = session, made["authenticatorId"]
        await page.goto(link)
        yield page
        device.passkeys = (await session.send("WebAuthn.getCredentials", name))["credentials"]
        await context.close()

    async def take_another_device(self, page: Page) -> None:
        """From now on the person at this page uses a device that has nothing on it yet."""
        session, first = self.at_hand[page]
        quiet = {"authenticatorId": first, "enabled": False}
        await session.send("WebAuthn.setAutomaticPresenceSimulation", quiet)
        other = {"options": {**_DEVICE, "transport": "usb"}}
        await session.send("WebAuthn.addVirtualAuthenticator", other)

    async def add(self, user: str, *confirmed_by: str) -> None:
        """Add a passkey, confirmed by others: by a click where that is enough, else with their passkeys."""
        await self.act("command", user, channel="C0OPS", text="/countersign passkey add Laptop")
        async with self.page(await self.link(user), self.devices.setdefault(user, Device())) as page:
            await page.get_by_role("button", name="Add passkey").click()
            await expect(page.get_by_role("status")).to_contain_text("check code")
            said = await page.get_by_role("status").inner_text()
        code = re.search(r"[A-Z2-7]{3}-[A-Z2-7]{3}", said)
        assert code
        for one in confirmed_by:
            await self.confirm(one, code[0])

    async def confirm(self, user: str, text: str) -> None:
        """Press Confirm under the newest open alert with this text."""
        ts = await self._alert(user, text)
        asked = bool(self.devices.get(user, Device()).passkeys)
        await self.act("click", user, channel="C0ALERTS", ts=ts, action_id="alert:confirm")
        if asked:
            async with self.page(await self.link(user), self.devices[user]) as page:
                await expect(page.locator("main")).to_contain_text(text)
                await page.get_by_role("button", name="Confirm with passkey").click()
                await expect(page.get_by_role("heading")).to_have_text("Done")

    async def _alert(self, user: str, text: str) -> str:
        async def found() -> str:
            alerts = [c for c in (await self.see(user))["channels"] if c["id"] == "C0ALERTS"]
            fits = [
                m for m in alerts[0]["messages"] if text in str(m) and "alert:confirm" in str(m.get("blocks"))
            ]
            return str(fits[-1]["ts"]) if fits else ""

        return str(await eventually(f"an alert with {text}", found, within_s=PATIENCE_MS / 1000))

    async def shows(self, user: str, text: str) -> None:
        """Wait until this person is shown the text, somewhere."""

        async def found() -> bool:
            return text in str(await self.see(user))

        await eventually(f"{user} is shown {text!r}", found, within_s=PATIENCE_MS / 1000)

    async def request(self, amount: str, by: str = ALICE) -> str:
        """Somebody requests a top-up; the timestamp of its message."""
        await self.act("command", by, channel="C0OPS", text=f"/card topup 3205 {amount}")
        await self._submit(by, {"reason": {"value": "Field visit"}}, until="Reason")
        await self._submit(by, {}, until="SANDBOX")

        return await self.message(f" {amount}.00 USD")

    async def message(self, text: str) -> str:
        """The timestamp of the newest request in the approvals channel with this text."""

        async def found() -> str:
            approvals = [c for c in (await self.see(BOB))["channels"] if c["id"] == "C0APPROVALS"]
            fits = [m for m in approvals[0]["messages"] if text in str(m) and "request:approve" in str(m)]
            return str(fits[-1]["ts"]) if fits else ""

        return str(await eventually(f"a request with {text}", found, within_s=PATIENCE_MS / 1000))

    async def _submit(self, user: str, values: Json, *, until: str) -> None:
        async def view() -> Json:
            views = [one for one in (await self.see(user))["views"] if one.get("submit")]
            return dict(views[-1]) if views and until in str(views[-1]["blocks"]) else {}

        found = await eventually(f"a window with {until}", view, within_s=PATIENCE_MS / 1000)
        await self.act("submit", user, view_id=found["id"], values=values)

    async def approve_link(self, ts: str, user: str) -> str:
        """Press Approve. The message is shown a moment before the bot records that it is there: who is so quick is
        asked to try again, and does."""
        while True:
            await self.act("click", user, channel="C0APPROVALS", ts=ts, action_id="request:approve")
            window = await self._window_that_answers(user)
            if TOO_QUICK not in str(window["blocks"]):
                return await self.link(user)
            await self.act("close", user, view_id=window["id"])

    async def _window_that_answers(self, user: str) -> Json:
        async def window() -> Json:
            views = (await self.see(user))["views"]
            shown = str(views[-1]["blocks"]) if views else ""
            is_there = TOO_QUICK in shown or set(LINK.findall(shown)) - self.known
            return dict(views[-1]) if is_there else {}

        return dict(
            await eventually("Approve is answered with a window", window, within_s=PATIENCE_MS / 1000)
        )

    async def state(self, ts: str) -> str:
        """The state word on the request's message."""
        channels = (await self.see(BOB))["channels"]
        (message,) = [m for c in channels if c["id"] == "C0APPROVALS" for m in c["messages"] if m["ts"] == ts]
        found = re.search(r"R-[A-Z0-9]+[`*]* · (\w+)", json.dumps(message, ensure_ascii=False))
        return found[1] if found else str(message)

    async def becomes(self, ts: str, word: str) -> None:
        async def reads() -> bool:
            return await self.state(ts) == word

        await eventually(f"{ts} is {word}", reads, within_s=PATIENCE_MS / 1000)


def allow_many_calls(simulator: Path) -> None:
    """A key has 120 calls a minute. All requests of this file take more, and the window of one would then wait."""
    with closing(sqlite3.connect(simulator)) as database, database:
        database.execute("UPDATE api_keys SET rate_limit_per_minute = 100000")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    require_chromium("passkeys were not used in a browser")
    folder = tmp_path_factory.mktemp("passkeys")
    expect.set_options(timeout=PATIENCE_MS)
    async with running_demo(folder, words=["--passkeys"]) as demo, a_browser() as browser:
        allow_many_calls(folder / "var" / "demo" / "partner.db")
        desk = Desk(demo, browser, {})
        await desk.add(BOB, CAROL)
        await desk.add(CAROL, BOB)
        yield desk


async def test_the_person_who_has_the_device_approves_and_slack_follows(desk: Desk) -> None:
    ts = await desk.request("41")

    async with desk.page(await desk.approve_link(ts, BOB), desk.devices[BOB]) as page:
        await expect(page.get_by_role("heading")).to_contain_text("41.00 USD")
        assert "#" not in page.url, "the token is still in the address"
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            "too wide for a phone"
        )
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("status")).to_contain_text("You approved R-")

    await desk.becomes(ts, "succeeded")
    (window,) = (await desk.see(BOB))["views"]
    assert "You approved R-" in str(window["blocks"])


async def test_a_further_passkey_is_made_on_another_device_once_the_first_one_signed(desk: Desk) -> None:
    await desk.act("command", BOB, channel="C0OPS", text="/countersign passkey add Phone")

    async with desk.page(await desk.link(BOB), desk.devices[BOB], width=1280) as page:
        await page.get_by_role("button", name="Add passkey").click()
        await expect(page.get_by_role("status")).to_contain_text("That was the passkey you have")
        await desk.take_another_device(page)
        await page.get_by_role("button", name="Make the new passkey").click()
        await expect(page.get_by_role("status")).to_contain_text(
            "works as soon as another approver confirms it"
        )


async def test_one_signature_approves_a_list_whose_every_row_is_on_the_page(desk: Desk) -> None:
    await desk.act("command", ALICE, channel="C0OPS", text="/card topup bulk")
    await desk._submit(ALICE, {"rows": {"value": "card,amount\n3205,11\n7578,12\n5601,13"}}, until="Rows")
    await desk._submit(ALICE, {"reason": {"value": "Per diems"}}, until="Reason")
    ts = await desk.message("Top up 3 cards")

    async with desk.page(await desk.approve_link(ts, BOB), desk.devices[BOB]) as page:
        rows = page.get_by_role("list", name="Rows").get_by_role("listitem")
        await expect(rows).to_have_count(3)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "too wide"
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("status")).to_contain_text("You approved R-")

    await desk.becomes(ts, "succeeded")


async def test_the_window_has_a_link_and_nothing_to_submit(desk: Desk) -> None:
    ts = await desk.request("42")
    await desk.approve_link(ts, BOB)

    window = (await desk.see(BOB))["views"][-1]

    assert "Approve with passkey" in str(window["blocks"])
    assert not window.get("submit")


async def test_another_device_approves_nothing(desk: Desk) -> None:
    ts = await desk.request("43")

    async with desk.page(await desk.approve_link(ts, BOB), Device()) as page:
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("alert")).to_contain_text("Your device gave no passkey")

    assert await desk.state(ts) == "pending"


async def test_the_device_of_somebody_else_approves_nothing(desk: Desk) -> None:
    ts = await desk.request("44")

    async with desk.page(await desk.approve_link(ts, BOB), desk.devices[CAROL].copy()) as page:
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("alert")).to_contain_text("Your device gave no passkey")

    assert await desk.state(ts) == "pending"


async def sent(desk: Desk, link: str) -> Json:
    """What Bob's device answers on this page, caught on its way: nothing is approved by it."""
    caught: list[Json] = []

    async def hold(route: Route) -> None:
        caught.append(json.loads(route.request.post_data or "{}")["answer"])
        await route.abort()

    async with desk.page(link, desk.devices[BOB]) as page:
        await page.route("**/passkey/finish", hold)
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("alert")).to_contain_text("Countersign did not answer")
    return caught[0]


async def refused(desk: Desk, link: str, answer: Json) -> str:
    """What the page says where `answer` is sent in place of what the device gives."""

    async def replace(route: Route) -> None:
        body = json.loads(route.request.post_data or "{}")
        await route.continue_(post_data=json.dumps({**body, "answer": answer}))

    async with desk.page(link, desk.devices[BOB]) as page:
        await page.route("**/passkey/finish", replace)
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("alert")).not_to_be_empty()
        return await page.get_by_role("alert").inner_text()


async def test_a_signature_of_earlier_approves_nothing_again(desk: Desk) -> None:
    ts = await desk.request("45")
    answer = await sent(desk, await desk.approve_link(ts, BOB))

    said = await refused(desk, await desk.approve_link(ts, BOB), answer)

    assert "isn't a valid signature for what this page shows" in said
    assert await desk.state(ts) == "pending"


async def test_the_signature_on_one_request_approves_no_other(desk: Desk) -> None:
    first, second = await desk.request("46"), await desk.request("47")
    answer = await sent(desk, await desk.approve_link(first, BOB))

    said = await refused(desk, await desk.approve_link(second, BOB), answer)

    assert "isn't a valid signature for what this page shows" in said
    assert (await desk.state(first), await desk.state(second)) == ("pending", "pending")


async def test_the_link_opens_once(desk: Desk) -> None:
    ts = await desk.request("48")
    link = await desk.approve_link(ts, BOB)

    async with desk.page(link, desk.devices[BOB]) as first:
        await expect(first.get_by_role("button", name="Approve with passkey")).to_be_visible()
        async with desk.page(link, desk.devices[BOB].copy()) as second:
            await expect(second.get_by_role("alert")).to_contain_text("This link was used already")
            await expect(second.get_by_role("button")).to_have_count(0)
        await first.reload()
        await expect(first.get_by_role("alert")).to_contain_text("This link was used already")


async def test_what_is_being_recorded_when_the_time_is_up_is_said_to_be_done(desk: Desk) -> None:
    ts = await desk.request("53")
    is_late = asyncio.Event()

    async def short(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json={**await answer.json(), "expires_in": 3})

    async def late(route: Route) -> None:
        answer = await route.fetch()
        await is_late.wait()
        await route.fulfill(response=answer)

    async with desk.page("about:blank", desk.devices[BOB]) as page:
        await page.route("**/passkey/open", short)
        await page.route("**/passkey/finish", late)
        await page.goto(await desk.approve_link(ts, BOB))
        await page.get_by_role("button", name="Approve with passkey").click()
        await desk.becomes(ts, "succeeded")
        await page.wait_for_timeout(4_000)
        await expect(page.locator("#problem")).to_have_text("")
        is_late.set()
        await expect(page.get_by_role("heading")).to_have_text("Done")
        await expect(page.locator("#problem")).to_have_text("")


async def test_the_time_runs_out_on_a_page_on_which_nothing_was_pressed(desk: Desk) -> None:
    ts = await desk.request("54")

    async def short(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json={**await answer.json(), "expires_in": 1})

    async with desk.page("about:blank", desk.devices[BOB]) as page:
        await page.route("**/passkey/open", short)
        await page.goto(await desk.approve_link(ts, BOB))
        await expect(page.get_by_role("alert")).to_contain_text("The time is up, and nothing was recorded")

    assert await desk.state(ts) == "pending"


async def test_a_second_link_in_the_same_tab_takes_the_place_of_the_first(desk: Desk) -> None:
    first, second = await desk.request("55"), await desk.request("56")

    async with desk.page(await desk.approve_link(first, BOB), desk.devices[BOB]) as page:
        await expect(page.locator("main")).to_contain_text("55")
        await page.goto(await desk.approve_link(second, BOB))
        await expect(page.locator("#lines")).to_contain_text("56.00")
        await expect(page.locator("#lines")).not_to_contain_text("55.00")
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("heading")).to_have_text("Done")

    await desk.becomes(second, "succeeded")
    assert await desk.state(first) == "pending"


async def test_a_copied_device_is_found_out_and_its_passkey_ends(desk: Desk) -> None:
    copied = desk.devices[CAROL].copy()
    ts = await desk.request("49")
    async with desk.page(await desk.approve_link(ts, CAROL), desk.devices[CAROL]) as page:
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("heading")).to_have_text("Done")
    other = await desk.request("51")

    async with desk.page(await desk.approve_link(other, CAROL), copied) as page:
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("alert")).to_contain_text("may have been copied")

    assert await desk.state(other) == "pending"

    await desk.shows(BOB, "may have been copied")


async def test_a_removed_passkey_approves_nothing_on_a_page_that_is_open(desk: Desk) -> None:
    await desk.add(ALICE, BOB)
    ts = await desk.request("52", by=BOB)

    async with desk.page(await desk.approve_link(ts, ALICE), desk.devices[ALICE]) as page:
        await expect(page.get_by_role("button", name="Approve with passkey")).to_be_visible()
        await desk.act("command", ALICE, channel="C0OPS", text="/countersign passkey lost")
        await desk.shows(ALICE, "1 passkey of yours no longer works")
        await page.get_by_role("button", name="Approve with passkey").click()
        await expect(page.get_by_role("alert")).to_contain_text("isn't one of yours that works here")

    assert await desk.state(ts) == "pending"
    await desk.act("click", ALICE, channel="C0APPROVALS", ts=ts, action_id="request:approve")
    await desk.shows(ALICE, "you have none yet")
