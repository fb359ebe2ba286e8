"""Nothing that a person chooses on the stand-in's page is lost while the page is busy, and nothing late overrides it.

What the stand-in sends can be held back for one person or for all, so that a choice falls into the time before it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, Route, WebSocketRoute, expect

from sandbox.slack import Step
from tests.browser.test_slack_page import Desk, a_desk, a_page, play, request_blocks, send
from tests.support.chromium import a_browser, require_chromium

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.by_turns(4)]

ALICE, BOB, CAROL = "Alice Moreau", "Bob Tanaka", "Carol Reyes"
APP = "Countersign"
#: Messages a second, for as long as somebody clicks.
RUSH = 50
TOUR = (
    Step(
        say="As Carol, send {go}.",
        done_in="card-ops",
        done_text="never said",
        go="/desk topup 3205",
        user="U0CAROL",
        channel="card-approvals",
        types="/desk topup 3205",
    ),
)


class Held:
    """What the stand-in sends to the page of one person, kept back while `held`."""

    def __init__(self) -> None:
        self.people: set[str] = set()
        self._kept: list[tuple[str, WebSocketRoute, str | bytes]] = []

    def through(self, route: WebSocketRoute) -> None:
        user = route.url.rpartition("=")[2]
        server = route.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if user in self.people:
                self._kept.append((user, route, message))
            else:
                route.send(message)

        server.on_message(pass_on)

    def release(self, user: str) -> None:
        self.people.discard(user)
        for _, route, message in [one for one in self._kept if one[0] == user]:
            route.send(message)
        self._kept = [one for one in self._kept if one[0] != user]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def live_desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path_factory.mktemp("manifest"), TOUR) as desk:
        yield desk


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def chromium() -> AsyncIterator[Browser]:
    require_chromium("quick clicks were not tried in a browser")
    async with a_browser() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def desk(live_desk: Desk) -> Desk:
    await live_desk.control("reset")
    live_desk.received.clear()
    return live_desk


@pytest_asyncio.fixture(loop_scope="module")
async def page(desk: Desk, chromium: Browser) -> AsyncIterator[Page]:
    async with a_page(desk, chromium) as tab:
        yield tab


@pytest_asyncio.fixture(loop_scope="module")
async def held(page: Page) -> Held:
    """Holds Bob and Carol back, whom nobody has played yet."""
    held = Held()
    held.people = {"U0BOB", "U0CAROL"}
    await page.route_web_socket(re.compile("/_control/live"), held.through)
    return held


def radio(page: Page, name: str) -> Locator:
    return page.get_by_role("radio", name=name)


def place(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation").get_by_role("button", name=name, exact=True)


def heading(page: Page, name: str) -> Locator:
    return page.get_by_role("heading", name=name, exact=True)


# What is chosen before a person's view is there.


@pytest.mark.parametrize("channel", ["card-approvals", "card-alerts", APP])
async def test_a_channel_chosen_right_after_a_person_is_where_that_person_stands(
    page: Page, held: Held, channel: str
) -> None:
    await radio(page, BOB).click()
    await place(page, channel).click()
    await expect(radio(page, BOB)).to_be_checked()
    held.release("U0BOB")

    await expect(heading(page, channel)).to_be_visible()
    name = channel if channel == APP else f"#{channel}"
    await expect(page.get_by_placeholder(f"Message {name} as {BOB}")).to_be_editable()
    await expect(page.get_by_role("alert")).to_have_count(0)


async def test_a_press_on_what_was_drawn_for_the_person_before_leads_to_the_same_place(
    page: Page, held: Held
) -> None:
    """The view has come and is not drawn yet: the rail still has the direct message of the person before."""
    drawn_for_alice = await place(page, APP).element_handle()
    assert drawn_for_alice is not None
    await radio(page, BOB).click()
    held.release("U0BOB")
    await expect(page.get_by_placeholder(f"Message #card-ops as {BOB}")).to_be_editable()

    await drawn_for_alice.evaluate("button => button.click()")

    await expect(page.get_by_placeholder(f"Message {APP} as {BOB}")).to_be_editable()


async def test_the_last_of_several_choices_counts_in_whatever_order_the_answers_come(
    page: Page, held: Held
) -> None:
    await place(page, APP).click()
    await radio(page, BOB).click()
    await place(page, "card-approvals").click()
    await place(page, "card-alerts").click()
    await radio(page, CAROL).click()
    await place(page, APP).click()
    held.release("U0CAROL")
    await expect(page.get_by_placeholder(f"Message {APP} as {CAROL}")).to_be_editable()

    held.release("U0BOB")
    await place(page, "card-ops").click()
    await expect(page.get_by_placeholder(f"Message #card-ops as {CAROL}")).to_be_editable()
    await radio(page, BOB).click()
    await expect(page.get_by_placeholder(f"Message #card-alerts as {BOB}")).to_be_editable()


async def test_a_person_left_before_their_view_came_stands_somewhere_later(page: Page, held: Held) -> None:
    await place(page, APP).click()
    await radio(page, BOB).click()
    await radio(page, CAROL).click()
    held.release("U0BOB")
    held.release("U0CAROL")
    await expect(page.get_by_placeholder(f"Message {APP} as {CAROL}")).to_be_editable()

    await radio(page, BOB).click()
    await expect(page.get_by_placeholder(f"Message {APP} as {BOB}")).to_be_editable()


@pytest.mark.parametrize("keys", [("Alt+2", "Alt+3"), ("ArrowDown", "ArrowDown")])
async def test_keys_play_the_next_person_before_the_view_of_one_has_come(
    page: Page, held: Held, keys: tuple[str, str]
) -> None:
    await radio(page, ALICE).focus()
    for key in keys:
        await page.keyboard.press(key)
    held.release("U0CAROL")

    await expect(radio(page, CAROL)).to_be_checked()
    await expect(page.get_by_placeholder(f"Message #card-ops as {CAROL}")).to_be_editable()
    if "ArrowDown" in keys:
        await expect(radio(page, CAROL)).to_be_focused()


async def test_an_address_is_followed_while_a_view_is_on_its_way_and_leads_nobody_else_there(
    page: Page, held: Held
) -> None:
    await radio(page, BOB).click()
    await page.evaluate("location.hash = '#user=carol&channel=card-alerts'")
    await expect(radio(page, CAROL)).to_be_checked()
    await radio(page, BOB).click()
    held.release("U0BOB")
    await expect(page.get_by_placeholder(f"Message #card-ops as {BOB}")).to_be_editable()

    held.release("U0CAROL")
    await radio(page, CAROL).click()
    await expect(page.get_by_placeholder(f"Message #card-alerts as {CAROL}")).to_be_editable()


async def test_what_a_step_of_the_tour_types_is_typed_where_it_leads(page: Page, held: Held) -> None:
    await page.get_by_role("button", name="/desk topup 3205").click()
    held.release("U0CAROL")

    await expect(heading(page, "card-approvals")).to_be_visible()
    await expect(page.get_by_placeholder(f"Message #card-approvals as {CAROL}")).to_have_value(
        "/desk topup 3205"
    )
    await radio(page, ALICE).click()
    await expect(page.get_by_label("Message", exact=True)).to_have_value("")


async def test_nothing_of_another_person_can_be_used_while_a_view_is_on_its_way(
    page: Page, held: Held, desk: Desk
) -> None:
    """A click or a text meant for the one who is chosen must not go out as the one who is still shown."""
    await desk.post(channel="C0OPS", text="R-1", blocks=request_blocks())
    await expect(page.get_by_role("button", name="Approve")).to_be_visible()
    box = page.get_by_label("Message", exact=True)
    await box.fill("Alice's half a thou")
    await page.keyboard.press("Alt+2")
    await expect(radio(page, BOB)).to_be_checked()

    await expect(box).to_be_disabled()
    clicking = asyncio.create_task(page.get_by_role("button", name="Approve").click())
    await asyncio.sleep(0.3)
    held.release("U0BOB")
    await clicking
    await desk.received_soon(("U0BOB", "approve", "R-1"))
    await expect(box).to_have_value("")
    await radio(page, ALICE).click()
    await expect(box).to_have_value("Alice's half a thou")


async def test_who_types_goes_on_typing_as_the_next_person(page: Page, held: Held) -> None:
    box = page.get_by_label("Message", exact=True)
    await box.press_sequentially("As Alice")
    await page.keyboard.press("Alt+2")
    held.release("U0BOB")
    await expect(page.get_by_placeholder(f"as {BOB}")).to_be_focused()
    await page.keyboard.type("As Bob")

    await expect(box).to_have_value("As Bob")


# What is pressed while the page is drawn.


async def hold_down(page: Page, target: Locator, by: str) -> None:
    if by == "mouse":
        await target.hover()
        await page.mouse.down()
    else:
        await target.focus()
        await page.keyboard.down("Space")


async def let_go(page: Page, by: str) -> None:
    await (page.mouse.up() if by == "mouse" else page.keyboard.up("Space"))


async def drawn(page: Page) -> None:
    """Until the page has had the time to receive and draw what has just changed; what it holds back, it holds back."""
    await page.wait_for_timeout(300)


@pytest.mark.walk
@pytest.mark.parametrize("by", ["mouse", "space"])
@pytest.mark.parametrize("target", ["channel", "person", "button", "replies"])
async def test_a_press_counts_though_its_place_was_drawn_again_before_the_release(
    page: Page, desk: Desk, target: str, by: str
) -> None:
    ts = await desk.post(channel="C0OPS", text="R-1", blocks=request_blocks())
    await desk.post(channel="C0OPS", text="Noted", thread_ts=ts)
    pressed = {
        "channel": place(page, "card-approvals"),
        "person": radio(page, BOB),
        "button": page.get_by_role("button", name="Approve"),
        "replies": page.get_by_role("button", name="1 reply"),
    }[target]
    await expect(page.get_by_role("button", name="1 reply")).to_be_visible()
    await hold_down(page, pressed, by)
    await desk.post(text="<@U0BOB> please look")
    await desk.client.chat_update(channel="C0OPS", ts=ts, text="R-1 changed", blocks=request_blocks())
    await desk.post(channel="C0OPS", text="Noted, too", thread_ts=ts)
    await drawn(page)
    await let_go(page, by)

    if target == "channel":
        await expect(heading(page, "card-approvals")).to_be_visible()
    elif target == "person":
        await expect(radio(page, BOB)).to_be_checked()
    elif target == "button":
        await desk.received_soon(("U0ALICE", "approve", "R-1"))
    else:
        await expect(page.get_by_role("complementary", name="Thread")).to_contain_text("Noted, too")
    if target != "channel":
        await expect(page.get_by_role("button", name="2 replies")).to_be_visible()


async def test_a_press_without_a_release_does_not_stop_the_page(page: Page, desk: Desk) -> None:
    """The release went to another window."""
    await hold_down(page, place(page, "card-ops"), "mouse")
    await desk.post(channel="C0OPS", text="Said meanwhile")

    await expect(page.get_by_role("article").last).to_contain_text("Said meanwhile")


async def test_every_click_counts_while_messages_arrive_fifty_times_a_second(page: Page, desk: Desk) -> None:
    store, ids = desk.running.workspace.store, desk.running.workspace.ids

    async def rush() -> None:
        number = 0
        while True:
            number += 1
            for channel in ("C0APPROVALS", "C0OPS"):
                message = {"type": "message", "user": "U0CAROL", "ts": ids.ts(), "text": f"<@U0BOB> {number}"}
                store.put_message(channel, message)
            desk.running.workspace.changed()
            await asyncio.sleep(1 / RUSH)

    session = await page.context.new_cdp_session(page)
    await session.send("Emulation.setCPUThrottlingRate", {"rate": 2})
    channels = ("card-approvals", "card-ops", "card-alerts")
    places = {name: await place(page, name).bounding_box() for name in channels}
    rushing = asyncio.create_task(rush())
    try:
        for channel, at in 2 * list(places.items()):
            assert at
            # By place, as a person clicks: nothing looks whether it worked and tries again.
            await page.mouse.click(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2, delay=60)
            await expect(heading(page, channel)).to_be_visible()
    finally:
        rushing.cancel()


# What comes late.


async def later(page: Page, act: str) -> Callable[[], None]:
    """Hold the next answers to this act back; what is returned lets them go."""
    go = asyncio.Event()

    async def handler(route: Route) -> None:
        answer = await route.fetch()
        await go.wait()
        await route.fulfill(response=answer)

    await page.route(f"**/_control/act/{act}", handler)
    return go.set


async def answered(page: Page, act: str, release: Callable[[], None]) -> None:
    async with page.expect_response(f"**/_control/act/{act}"):
        release()
    await drawn(page)


async def test_a_late_answer_to_a_message_opens_no_thread_over_what_was_chosen_since(page: Page) -> None:
    release = await later(page, "message")
    await place(page, APP).click()
    await page.get_by_role("tab", name="Messages").click()
    await send(page, "balance")
    await page.get_by_role("tab", name="Home").click()
    await answered(page, "message", release)

    await expect(page.get_by_role("tab", name="Home")).to_have_attribute("aria-selected", "true")
    await expect(page.get_by_role("complementary", name="Thread")).to_be_hidden()


async def test_a_late_answer_to_a_message_takes_nobody_out_of_the_next(page: Page) -> None:
    release = await later(page, "message")
    await place(page, APP).click()
    await page.get_by_role("tab", name="Messages").click()
    await send(page, "balance")
    await page.keyboard.type("and Jo")
    await answered(page, "message", release)
    await expect(page.get_by_role("complementary", name="Thread")).to_be_visible()
    await page.keyboard.type("nas's")

    await expect(page.get_by_label("Message", exact=True)).to_have_value("and Jonas's")


async def test_a_file_goes_out_as_the_person_who_sent_it(page: Page, desk: Desk) -> None:
    await page.evaluate(
        """() => {
            const read = FileReader.prototype.readAsDataURL;
            FileReader.prototype.readAsDataURL = function (file) { setTimeout(() => read.call(this, file), 400); };
        }"""
    )
    file: Any = {"name": "Cards.csv", "mimeType": "text/csv", "buffer": b"card\r\n"}
    await page.get_by_label("Files for message", exact=True).set_input_files(file)
    async with page.expect_request("**/_control/act/upload") as request:
        await page.get_by_role("button", name="Send", exact=True).first.click()
        await play(page, BOB)

    sent_as: Any = (await request.value).post_data_json
    assert sent_as["user"] == "U0ALICE"


async def test_what_was_asked_of_one_person_is_not_answered_as_another(page: Page, desk: Desk) -> None:
    await desk.post(channel="C0OPS", text="R-1", blocks=request_blocks())
    await page.get_by_role("button", name="Reject").click()
    question = page.get_by_role("alertdialog", name="Reject this request?")
    await question.get_by_text("Nothing moves.").click()
    await page.locator("body").press("Alt+2")
    await expect(radio(page, BOB)).to_be_checked()
    await question.get_by_role("button", name="Reject it").click()

    await desk.received_soon(("U0ALICE", "reject", "R-1"))


async def test_cancel_counts_though_the_answer_to_the_form_comes_under_the_press(page: Page) -> None:
    await send(page, "/desk")
    form = page.get_by_role("dialog", name="Top up a card")
    await form.get_by_label("Amount (USD)").fill("0")
    await form.get_by_label("Reason").fill("Hotel")
    await form.get_by_label("Card", exact=True).fill("Maya")
    await page.get_by_role("option", name="Maya 2211").click()
    release = await later(page, "submit")
    await form.get_by_role("button", name="Preview").click()
    await form.get_by_role("button", name="Cancel").hover()
    await page.mouse.down()
    await answered(page, "submit", release)
    await page.mouse.up()

    await expect(form).to_have_count(0)
