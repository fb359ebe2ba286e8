"""The stand-in's page in a real Chromium, with the real stand-in and a small slack-bolt app behind it."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, WebSocketRoute, expect
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack import Running, Step, serve
from tests.support.chromium import a_browser, require_chromium

Json = dict[str, Any]

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.by_turns(4)]

PATIENCE_MS = 5000
NOT_ABOVE_ZERO = "Write an amount above zero, such as 50.00."

MANIFEST = """
display_information: {name: Countersign}
features:
  app_home: {home_tab_enabled: true, messages_tab_enabled: true, messages_tab_read_only_enabled: false}
  bot_user: {display_name: Countersign, always_online: true}
  slash_commands:
    - {command: /desk, description: Ask the desk for money, usage_hint: "topup [CARD] [AMOUNT]"}
    - {command: /whisper, description: Answer for your eyes only, usage_hint: "(no arguments)"}
oauth_config:
  scopes: {bot: [app_mentions:read, chat:write, commands, im:history, users:read]}
settings:
  event_subscriptions: {bot_events: [app_home_opened, app_mention, message.im]}
  interactivity: {is_enabled: true}
  socket_mode_enabled: true
"""


TOUR = (
    Step(
        "As Alice, send {go}.",
        "card-ops",
        "asked for it",
        "/desk topup 3205",
        "U0ALICE",
        "card-ops",
        "/desk topup 3205",
    ),
    Step("Play {go} and approve.", "C0APPROVALS", "approved it", "Bob", "U0BOB", "card-approvals"),
)


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def text_input(block_id: str, label: str, **more: Any) -> Json:
    element = {"type": "plain_text_input", "action_id": "value", **more}
    return {"type": "input", "block_id": block_id, "label": plain(label), "element": element}


def form(note: str = "The float is 100.00 USD.") -> Json:
    card = {"type": "external_select", "action_id": "card", "min_query_length": 1}
    return {
        "type": "modal",
        "callback_id": "form",
        "title": plain("Top up a card"),
        "submit": plain("Preview"),
        "close": plain("Cancel"),
        "blocks": [
            {"type": "section", "block_id": "note", "text": plain(note)},
            {"type": "input", "block_id": "card", "label": plain("Card"), "element": card},
            text_input("amount", "Amount (USD)"),
            text_input("reason", "Reason", multiline=True),
        ],
    }


OPTIONS = [{"text": plain(name), "value": name.lower()} for name in ("Base", "Polygon", "BNB")]


def every_input() -> Json:
    """A form with every kind of input; the block id is the kind, the label the kind in words."""
    kinds: dict[str, Json] = {
        "plain_text_input": {},
        "number_input": {"is_decimal_allowed": True},
        "email_text_input": {},
        "url_text_input": {},
        "static_select": {"options": OPTIONS},
        "multi_static_select": {"options": OPTIONS, "initial_options": OPTIONS[:1]},
        "radio_buttons": {"options": OPTIONS},
        "checkboxes": {"options": OPTIONS},
        "users_select": {},
        "channels_select": {},
        "datepicker": {},
        "timepicker": {},
        "datetimepicker": {},
        "file_input": {},
    }
    blocks = [
        {
            "type": "input",
            "block_id": kind,
            "optional": kind == "file_input",
            "label": plain(kind.replace("_", " ")),
            "element": {"type": kind, "action_id": "value", **more},
        }
        for kind, more in kinds.items()
    ]
    title, submit = plain("Everything"), plain("Send it")
    return {"type": "modal", "callback_id": "every", "title": title, "submit": submit, "blocks": blocks}


def preview(state: Json) -> Json:
    amount = state["amount"]["value"]["value"]
    card = state["card"]["card"]["selected_option"]["text"]["text"]
    return {
        "type": "modal",
        "callback_id": "preview",
        "title": plain("Check and ask"),
        "submit": plain("Ask"),
        "blocks": [
            {"type": "section", "block_id": "sum", "text": plain(f"{card} gets {amount} USD")},
        ],
    }


def request_blocks() -> list[Json]:
    confirm = {
        "title": plain("Reject this request?"),
        "text": plain("Nothing moves."),
        "confirm": plain("Reject it"),
        "deny": plain("Keep it"),
    }
    options = [{"text": plain("Details"), "value": "details"}, {"text": plain("Cancel"), "value": "cancel"}]
    return [
        {"type": "section", "block_id": "what", "text": plain("Top up 9140 by 50.00 USD")},
        {
            "type": "actions",
            "block_id": "decide",
            "elements": [
                {
                    "type": "button",
                    "action_id": "approve",
                    "text": plain("Approve"),
                    "style": "primary",
                    "value": "R-1",
                },
                {
                    "type": "button",
                    "action_id": "reject",
                    "text": plain("Reject"),
                    "style": "danger",
                    "value": "R-1",
                    "confirm": confirm,
                },
                {"type": "overflow", "action_id": "more", "options": options},
            ],
        },
    ]


@dataclass
class Desk:
    """The stand-in, a slack-bolt app on it, and what that app has received."""

    running: Running
    client: AsyncWebClient
    received: list[tuple[str, ...]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    state: Json = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def receive(self, *what: str) -> None:
        self.received.append(what)
        self._news.set()

    async def control(self, call: str, **body: Any) -> Json:
        async with (
            aiohttp.ClientSession() as http,
            http.post(f"{self.running.url}/_control/{call}", json=body) as got,
        ):
            assert got.status == 200, await got.text()
            answer: Json = await got.json()
            return answer

    async def post(self, channel: str = "C0APPROVALS", **message: Any) -> str:
        posted = await self.client.chat_postMessage(channel=channel, **message)
        return str(posted["ts"])

    async def received_soon(self, *what: tuple[str, ...]) -> None:
        """Wait until the app has received as much as this, which must be this, in this order."""
        async with asyncio.timeout(PATIENCE_MS / 1000):
            while len(self.received) < len(what):
                self._news.clear()
                await self._news.wait()
        assert self.received == list(what)


def listen(app: AsyncApp, desk: Desk) -> None:
    @app.command("/desk")
    async def ask(ack: Any, body: Json, client: AsyncWebClient) -> None:
        await ack()
        view = every_input() if body["text"] == "everything" else form()
        opened = await client.views_open(trigger_id=body["trigger_id"], view=view)
        desk.opened.append(opened["view"]["id"])

    @app.command("/whisper")
    async def whisper(ack: Any) -> None:
        await ack("Between *you* and me")

    @app.options("card")
    async def cards(ack: Any, payload: Json) -> None:
        names = [name for name in ("Maya 9140", "Maya 2211", "Otto 7788") if payload["value"] in name]
        await ack(options=[{"text": plain(name), "value": name[-4:]} for name in names])

    @app.view("form")
    async def check(ack: Any, view: Json) -> None:
        state = view["state"]["values"]
        if state["amount"]["value"]["value"] == "0":
            await ack(response_action="errors", errors={"amount": NOT_ABOVE_ZERO})
        else:
            await ack(response_action="update", view=preview(state))

    @app.view("preview")
    async def asked(ack: Any, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.chat_postMessage(channel="C0APPROVALS", text=f"<@{body['user']['id']}> asks")

    @app.view("every")
    async def everything(ack: Any, view: Json) -> None:
        await ack()
        desk.state = {kind: values["value"] for kind, values in view["state"]["values"].items()}
        desk.receive("everything")

    @app.action(re.compile(".*"))
    async def acted(ack: Any, body: Json, action: Json) -> None:
        await ack()
        chosen = action.get("value") or action["selected_option"]["value"]
        desk.receive(body["user"]["id"], action["action_id"], chosen)

    @app.event("app_mention")
    async def mentioned(event: Json) -> None:
        desk.receive("mention", event["text"])

    @app.event("message")
    async def displayed(event: Json) -> None:
        desk.receive("dm", event["text"])

    @app.event("app_home_opened")
    async def home(event: Json, client: AsyncWebClient) -> None:
        button = {"type": "button", "action_id": "hello", "text": plain("Say hello"), "value": "hello"}
        blocks = [
            {"type": "header", "text": plain("Waiting on you")},
            {"type": "actions", "block_id": "go", "elements": [button]},
        ]
        await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": blocks})


@asynccontextmanager
async def a_desk(folder: Path, tour: Sequence[Step] = TOUR) -> AsyncIterator[Desk]:
    """The stand-in with the app connected to it; `folder` takes the manifest."""
    manifest = folder / "manifest.yml"
    manifest.write_text(MANIFEST)
    running = await serve(port=0, manifest_path=manifest, tour=tour)
    client = AsyncWebClient(token=running.bot_token, base_url=running.api_url)
    desk = Desk(running, client)
    app = AsyncApp(client=client, signing_secret=running.signing_secret, process_before_response=True)
    listen(app, desk)
    handler: Any = AsyncSocketModeHandler(app, running.app_token)  # its methods are not typed
    await handler.connect_async()
    yield desk
    await handler.close_async()
    await running.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def live_desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path_factory.mktemp("manifest")) as desk:
        yield desk


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def chromium() -> AsyncIterator[Browser]:
    require_chromium("the page was not tested in a browser")
    async with a_browser() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def desk(live_desk: Desk) -> Desk:
    await live_desk.control("reset")
    live_desk.received.clear()
    live_desk.opened.clear()
    return live_desk


@asynccontextmanager
async def a_page(desk: Desk, chromium: Browser) -> AsyncIterator[Page]:
    """The page as a newcomer opens it; fails at the end if the page logged an error of its own."""
    context = await chromium.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    tab = await context.new_page()
    broken: list[str] = []
    tab.on("pageerror", lambda error: broken.append(str(error)))
    await tab.goto(desk.running.url)
    await expect(tab.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    yield tab
    await context.close()
    assert broken == []


@pytest_asyncio.fixture(loop_scope="module")
async def page(desk: Desk, chromium: Browser) -> AsyncIterator[Page]:
    async with a_page(desk, chromium) as tab:
        yield tab


async def play(page: Page, name: str, channel: str | None = None) -> None:
    await page.get_by_role("radio", name=name).click()
    if channel:
        await page.get_by_role("button", name=channel, exact=True).click()


async def send(page: Page, text: str) -> None:
    await page.get_by_label("Message", exact=True).fill(text)
    await page.keyboard.press("Enter")


async def fill_form(page: Page, amount: str) -> None:
    await page.get_by_label("Card", exact=True).fill("Maya")
    await page.get_by_role("option", name="Maya 2211").click()
    await page.get_by_label("Amount (USD)").fill(amount)
    await page.get_by_label("Reason").fill("Hotel deposit")


async def test_a_slash_command_is_completed_with_its_description_and_usage_hint(page: Page) -> None:
    box = page.get_by_label("Message", exact=True)

    await box.press_sequentially("/de")
    option = page.get_by_role("option", name="/desk")
    await expect(option).to_contain_text("topup [CARD] [AMOUNT]")
    await expect(option).to_contain_text("Ask the desk for money")
    await box.press("Tab")

    await expect(box).to_have_value("/desk ")
    await expect(option).to_be_hidden()


async def test_a_completed_mention_reaches_the_app_by_its_id(page: Page, desk: Desk) -> None:
    box = page.get_by_label("Message", exact=True)

    await box.press_sequentially("@coun")
    await page.get_by_role("option", name="@Countersign").click()
    await box.press_sequentially("is 1 < 2 & @Bob Tanaka here?")
    await box.press("Enter")

    await desk.received_soon(("mention", "<@U0BOT> is 1 &lt; 2 &amp; <@U0BOB> here?"))
    await expect(page.get_by_role("article").last).to_contain_text("is 1 < 2 & @Bob Tanaka here?")


async def test_a_modal_shows_errors_on_the_field_then_the_preview_then_closes(page: Page) -> None:
    await send(page, "/desk topup")
    dialog = page.get_by_role("dialog", name="Top up a card")
    await expect(page.get_by_label("Card", exact=True)).to_be_focused()
    await fill_form(page, amount="0")
    await dialog.get_by_role("button", name="Preview").click()

    amount = page.get_by_label("Amount (USD)")
    await expect(amount).to_have_accessible_description(NOT_ABOVE_ZERO)
    await expect(amount).to_be_focused()
    await amount.fill("50.00")
    await amount.press("Enter")

    checking = page.get_by_role("dialog", name="Check and ask")
    await expect(checking).to_contain_text("Maya 2211 gets 50.00 USD")
    await checking.get_by_role("button", name="Ask").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.get_by_role("button", name="card-approvals").click()
    await expect(page.get_by_role("article").last).to_contain_text("@Alice Moreau asks")


async def test_what_slack_itself_refuses_is_said_on_the_field_without_asking_the_app(
    page: Page, desk: Desk
) -> None:
    await send(page, "/desk")
    await page.get_by_label("Reason").fill("Hotel")
    await page.get_by_role("button", name="Preview").click()

    required = "Please complete this required field."
    await expect(page.get_by_label("Amount (USD)")).to_have_accessible_description(required)
    await expect(page.get_by_label("Reason")).to_have_value("Hotel")
    kinds = [record.kind for record in desk.running.workspace.delivery.records]
    assert "view_submission" not in kinds


async def test_a_submission_nobody_acks_is_said_in_the_dialog_and_can_be_tried_again(
    page: Page, desk: Desk
) -> None:
    await send(page, "/desk")
    await fill_form(page, amount="7")
    await desk.control("faults", method="view_submission", effect="lost_ack", times=1)
    await page.get_by_role("button", name="Preview").click()

    await expect(page.get_by_role("button", name="Preview")).to_be_disabled()
    await expect(page.get_by_role("dialog")).to_contain_text("We had some trouble connecting")
    await page.get_by_role("button", name="Preview").click()
    await expect(page.get_by_role("dialog", name="Check and ask")).to_be_visible()


async def test_every_kind_of_input_arrives_as_slack_would_send_it(page: Page, desk: Desk) -> None:
    await send(page, "/desk everything")
    dialog = page.get_by_role("dialog", name="Everything")
    for label, text in {
        "plain text input": "words",
        "number input": "12.5",
        "email text input": "a@example.com",
        "url text input": "https://example.com/hook",
        "datepicker": "2026-03-02",
        "timepicker": "09:30",
        "datetimepicker": "2026-03-02T09:30",
    }.items():
        await dialog.get_by_label(label, exact=True).fill(text)
    await dialog.get_by_label("static select", exact=True).select_option("Polygon")
    await dialog.get_by_label("users select").select_option("Bob Tanaka")
    await dialog.get_by_label("channels select").select_option("#card-ops")
    await dialog.get_by_label("multi static select").fill("bnb")
    await dialog.get_by_role("listbox").get_by_role("option", name="BNB").click()
    await dialog.get_by_role("radiogroup", name="radio buttons").get_by_role("radio", name="Base").check()
    boxes = dialog.get_by_role("group", name="checkboxes")
    await boxes.get_by_role("checkbox", name="BNB").check()
    await boxes.get_by_role("checkbox", name="Base").check()
    await expect(dialog.get_by_label("file input")).to_be_visible()
    await dialog.get_by_role("button", name="Send it").click()

    await desk.received_soon(("everything",))
    seen = {
        kind: value for kind, entry in desk.state.items() for key, value in entry.items() if key != "type"
    }
    moment = await page.evaluate("new Date('2026-03-02T09:30').getTime() / 1000")
    assert {kind: value for kind, value in seen.items() if isinstance(value, str | int)} == {
        "plain_text_input": "words",
        "number_input": "12.5",
        "email_text_input": "a@example.com",
        "url_text_input": "https://example.com/hook",
        "users_select": "U0BOB",
        "channels_select": "C0OPS",
        "datepicker": "2026-03-02",
        "timepicker": "09:30",
        "datetimepicker": moment,
    }
    assert seen["static_select"]["value"] == "polygon"
    assert seen["radio_buttons"]["value"] == "base"
    assert [option["value"] for option in seen["multi_static_select"]] == ["base", "bnb"]
    assert sorted(option["value"] for option in seen["checkboxes"]) == ["base", "bnb"]


async def test_a_menu_in_a_message_acts_as_soon_as_something_is_chosen(page: Page, desk: Desk) -> None:
    menu = {
        "type": "static_select",
        "action_id": "network",
        "placeholder": plain("Network"),
        "options": OPTIONS,
    }
    section = {"type": "section", "block_id": "s", "text": plain("Which one?"), "accessory": menu}
    await desk.post(channel="C0OPS", text="Which one?", blocks=[section])

    await page.get_by_label("Network").select_option("BNB")

    await desk.received_soon(("U0ALICE", "network", "bnb"))


async def test_the_tour_leads_on_as_its_steps_happen_and_stays_away_once_dismissed(
    desk: Desk, page: Page
) -> None:
    hint = page.get_by_role("region", name="What to try")
    now = hint.locator("[aria-current=step]")

    await now.get_by_role("button", name="/desk topup 3205").click()
    await expect(page.get_by_label("Message", exact=True)).to_have_value("/desk topup 3205")
    await page.get_by_label("Message", exact=True).fill("")

    await desk.post(channel="C0OPS", text="Alice asked for it")
    await now.get_by_role("button", name="Bob").click()
    await expect(page.get_by_role("radio", name="Bob Tanaka")).to_be_checked()
    await expect(page.get_by_role("heading", name="card-approvals")).to_be_visible()
    await expect(hint.locator("li").first).to_have_class("done")

    await desk.post(channel="C0APPROVALS", text="Bob approved it")
    await expect(hint).to_contain_text("Now try your own")
    await hint.get_by_role("button", name="Dismiss the hint").click()
    await page.reload()

    await expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    await expect(hint).to_be_hidden()


async def test_on_a_narrow_screen_the_rail_is_folded_away_until_it_is_asked_for(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    rail = page.get_by_role("complementary", name="Workspace")
    await expect(rail).to_be_hidden()
    conversation = await page.get_by_role("main").bounding_box()
    assert conversation is not None
    assert conversation["height"] > 844 * 0.8

    await page.get_by_role("button", name="People and channels").click()
    await expect(rail).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(rail).to_be_hidden()
    await page.get_by_role("button", name="People and channels").click()
    await page.get_by_role("radio", name="Bob Tanaka").click()
    await expect(rail).to_be_hidden()
    await expect(page.get_by_text("Bob Tanaka").first).to_be_attached()


async def test_what_one_sends_to_the_app_is_in_view_in_the_main_column(desk: Desk, page: Page) -> None:
    await page.get_by_role("button", name="Countersign", exact=True).click()
    await page.get_by_role("tab", name="Messages").click()
    for nth in range(12):
        await send(page, f"Question {nth}\nin two lines")
        message = page.get_by_role("log", name="History", exact=True).get_by_text(f"Question {nth}").last
        await expect(message).to_be_in_viewport()


async def test_escape_closes_a_modal_and_gives_the_focus_back(page: Page) -> None:
    await send(page, "/desk")
    await expect(page.get_by_role("dialog")).to_be_visible()

    await page.keyboard.press("Escape")

    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.get_by_label("Message", exact=True)).to_be_focused()


async def test_an_ephemeral_answer_is_marked_and_nobody_else_sees_it(page: Page) -> None:
    await send(page, "/whisper")

    answer = page.get_by_role("article").filter(has_text="Between you and me")
    await expect(answer).to_contain_text("Only visible to you")
    await expect(answer.locator("strong")).to_have_text("you")
    await play(page, "Bob Tanaka")
    await expect(page.get_by_role("radio", name="Bob Tanaka")).to_be_checked()
    await expect(answer).to_have_count(0)


async def test_the_overflow_menu_sends_the_chosen_entry(page: Page, desk: Desk) -> None:
    await desk.post(text="Top up", blocks=request_blocks())
    await play(page, "Bob Tanaka", "card-approvals")

    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Cancel").click()

    await desk.received_soon(("U0BOB", "more", "cancel"))
    await expect(page.get_by_role("menu")).to_have_count(0)


async def test_a_confirm_dialog_sends_nothing_until_it_is_confirmed(page: Page, desk: Desk) -> None:
    await desk.post(text="Top up", blocks=request_blocks())
    await play(page, "Bob Tanaka", "card-approvals")

    await page.get_by_role("button", name="Reject").click()
    question = page.get_by_role("alertdialog", name="Reject this request?")
    await expect(question.get_by_role("button", name="Keep it")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(question).to_have_count(0)
    await page.get_by_role("button", name="Approve").click()
    await desk.received_soon(("U0BOB", "approve", "R-1"))
    await page.get_by_role("button", name="Reject").click()
    await question.get_by_role("button", name="Reject it").click()

    await desk.received_soon(("U0BOB", "approve", "R-1"), ("U0BOB", "reject", "R-1"))


async def test_switching_user_keeps_each_ones_draft_place_and_open_modal(page: Page) -> None:
    await page.get_by_label("Message", exact=True).fill("Half a thou")
    await play(page, "Bob Tanaka", "card-approvals")
    await expect(page.get_by_label("Message", exact=True)).to_have_value("")
    await send(page, "/desk")
    await page.get_by_label("Reason").fill("Bob's reason")

    await play(page, "Alice Moreau")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.get_by_role("heading", name="card-ops")).to_be_visible()
    await expect(page.get_by_label("Message", exact=True)).to_have_value("Half a thou")

    await page.locator("body").press("Alt+2")
    await expect(page.get_by_role("heading", name="card-approvals")).to_be_visible()
    await expect(page.get_by_label("Reason")).to_have_value("Bob's reason")


async def test_live_updates_arrive_while_typing_and_lose_nothing(page: Page, desk: Desk) -> None:
    ts = await desk.post(channel="C0OPS", text="Pending")
    box = page.get_by_label("Message", exact=True)
    await box.press_sequentially("Typing")

    await desk.client.chat_update(channel="C0OPS", ts=ts, text="Succeeded")
    await expect(page.get_by_role("article").last).to_contain_text("Succeeded")
    await box.press_sequentially(" on")

    await expect(box).to_have_value("Typing on")
    await expect(box).to_be_focused()


async def test_times_are_in_the_zone_of_the_person_who_is_played(page: Page, desk: Desk) -> None:
    """As Slack shows them, and as Countersign writes them into the tables beside."""
    for user, zone in (("U0ALICE", "Asia/Tokyo"), ("U0BOB", "America/Lima")):
        await desk.control("people", id=user, tz=zone)
    await desk.post(channel="C0OPS", text="Closed <!date^1772409600^{date_num} {time}|some time>")
    last = page.get_by_role("article").last

    await expect(last).to_contain_text("2026-03-02 09:00 AM")
    await play(page, "Bob", "card-ops")
    await expect(last).to_contain_text("2026-03-01 07:00 PM")


async def test_a_view_updated_by_the_app_keeps_what_was_typed(page: Page, desk: Desk) -> None:
    await send(page, "/desk")
    await page.get_by_label("Amount (USD)").fill("12.50")
    reason = page.get_by_label("Reason")
    await reason.press_sequentially("Hot")

    changed = form("The float is 40.00 USD.")
    changed["blocks"][3]["hint"] = plain("A few words for the approver")
    await desk.client.views_update(view_id=desk.opened[-1], view=changed)
    await expect(page.get_by_role("dialog")).to_contain_text("The float is 40.00 USD.")
    await expect(page.get_by_role("dialog")).to_contain_text("A few words for the approver")
    await page.keyboard.type("el")

    await expect(reason).to_have_value("Hotel")
    await expect(page.get_by_label("Amount (USD)")).to_have_value("12.50")


async def test_a_thread_opens_on_its_replies_and_takes_an_answer(page: Page, desk: Desk) -> None:
    ts = await desk.post(channel="C0OPS", text="R-1 is pending")
    await desk.post(channel="C0OPS", text="Bob looked at it", thread_ts=ts)

    await page.get_by_role("button", name="1 reply").click()
    thread = page.get_by_role("complementary", name="Thread")
    await expect(thread).to_contain_text("Bob looked at it")
    await thread.get_by_role("textbox", name="Reply").fill("Thanks")
    await page.keyboard.press("Enter")

    await expect(thread.get_by_role("article").last).to_contain_text("Thanks")
    await expect(page.get_by_role("button", name="2 replies")).to_be_visible()
    await thread.get_by_role("button", name="Close thread").click()
    await expect(thread).to_be_hidden()


async def test_a_link_to_an_old_message_leads_to_it_however_far_back_it_is(page: Page, desk: Desk) -> None:
    store, ids = desk.running.workspace.store, desk.running.workspace.ids
    old = await desk.post(text="The very first request")
    for number in range(160):
        message = {"type": "message", "user": "U0BOB", "ts": ids.ts(), "text": f"Line {number}"}
        store.put_message("C0APPROVALS", message)
    permalink = (await desk.client.chat_getPermalink(channel="C0APPROVALS", message_ts=old))["permalink"]
    await desk.post(channel="C0OPS", text=f"<{permalink}|R-1> waits")
    first = page.get_by_role("article").filter(has_text="The very first request")

    await page.get_by_role("button", name="card-approvals").click()
    await expect(page.get_by_role("button", name="Show earlier messages (11)")).to_be_attached()
    await expect(first).to_have_count(0)
    await page.get_by_role("button", name="card-ops").click()
    await page.get_by_role("link", name="R-1").click()

    await expect(page.get_by_role("heading", name="card-approvals")).to_be_visible()
    await expect(first).to_be_in_viewport()


async def test_the_home_tab_is_published_on_opening_and_its_buttons_work(page: Page, desk: Desk) -> None:
    await page.get_by_role("button", name="Countersign", exact=True).click()
    await page.get_by_role("tab", name="Home").click()

    await expect(page.get_by_role("heading", name="Waiting on you")).to_be_visible()
    await page.get_by_role("button", name="Say hello").click()
    await desk.received_soon(("U0ALICE", "hello", "hello"))


async def test_a_message_with_a_title_is_set_off_from_the_one_before_it(desk: Desk, page: Page) -> None:
    for title in ("Pending: Top up Marta", "Pending: Top up Priya"):
        await desk.post(text=title, blocks=[{"type": "header", "text": plain(title)}])
    await desk.post(text="A line without a title")
    await page.get_by_role("button", name="card-approvals", exact=True).click()
    titled = page.get_by_role("article").filter(has_text="Top up Priya")
    plainly = page.get_by_role("article").filter(has_text="A line without a title")

    await expect(titled).to_have_css("border-top-width", "1px")
    await expect(plainly).to_have_css("border-top-width", "0px")


async def test_unread_and_mentions_are_marked_for_those_who_have_not_looked(page: Page, desk: Desk) -> None:
    await desk.post(text="<!subteam^S0APPROVERS> please look")

    bob = page.get_by_role("radio", name="Bob Tanaka")
    await expect(bob).to_contain_text("1")
    await expect(page.get_by_role("button", name="card-approvals")).to_have_accessible_description("1 unread")
    await play(page, "Bob Tanaka", "card-approvals")
    await play(page, "Alice Moreau")
    await expect(bob).to_have_accessible_description(re.compile(r"^@card-approvers\. Alt\+2$"))


async def test_an_unknown_block_is_a_visible_box_and_data_never_becomes_markup(
    page: Page, desk: Desk
) -> None:
    logged: list[str] = []
    page.on("console", lambda message: logged.append(message.text) if message.type == "error" else None)
    ts = await desk.post(channel="C0OPS", text="before")
    message = desk.running.workspace.store.message("C0OPS", ts)
    assert message is not None
    hostile = "<img src=x onerror=alert(1)> <javascript:alert(1)|click> &lt;b&gt;"
    # Planted in the store: the stand-in's own checks would refuse the block.
    message["blocks"] = [
        {"type": "hologram", "block_id": "h"},
        {"type": "section", "block_id": "s", "text": {"type": "mrkdwn", "text": hostile}},
    ]
    desk.running.workspace.changed()

    shown = page.get_by_role("article").last
    await expect(shown).to_contain_text("Unsupported block: hologram")
    await expect(shown).to_contain_text("<img src=x onerror=alert(1)>")
    await expect(shown.locator(".block :is(img, b, a)")).to_have_count(0)
    assert any("Unsupported block type: hologram" in text for text in logged)


async def test_the_address_leads_to_a_person_and_a_channel(page: Page, desk: Desk) -> None:
    await page.goto("about:blank")
    await page.goto(f"{desk.running.url}/#user=carol&channel=card-alerts")

    await expect(page.get_by_role("radio", name="Carol Reyes")).to_be_checked()
    await expect(page.get_by_role("heading", name="card-alerts")).to_be_visible()
    port = int(desk.running.url.rpartition(":")[2])
    link = page.get_by_role("link", name="Partner simulator", exact=True)
    await expect(link).to_have_attribute("href", f"http://127.0.0.1:{port + 1}/")


async def test_the_page_finds_its_way_back_after_a_lost_connection(page: Page, desk: Desk) -> None:
    routes: list[WebSocketRoute] = []

    def through(route: WebSocketRoute) -> None:
        routes.append(route)
        route.connect_to_server()

    await page.route_web_socket(re.compile("/_control/live"), through)
    await page.reload()
    await expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()

    await routes[0].close()
    await desk.post(channel="C0OPS", text="Said meanwhile")

    await expect(page.get_by_role("article").last).to_contain_text("Said meanwhile")
    assert len(routes) == 2


async def test_the_wire_log_shows_envelopes_with_their_ack_and_calls(page: Page) -> None:
    await page.get_by_role("button", name="Wire log", exact=True).click()
    await send(page, "/whisper")

    log = page.get_by_role("region", name="Wire log")
    row = log.locator("summary", has_text="slash_commands")
    await expect(row).to_contain_text(re.compile(r"acked in \d+ ms"))
    await log.get_by_role("button", name="Close wire log").click()
    await expect(log).to_be_hidden()


async def test_a_person_sends_a_file_and_another_saves_it(page: Page) -> None:
    """Chosen, shown with its size, taken back, chosen again, sent; the download has the same bytes."""
    csv = b"card,amount\r\n4242,50.00\r\n"
    sent: Any = {"name": "Cards.csv", "mimeType": "text/csv", "buffer": csv}
    await play(page, "Alice Moreau")
    await page.get_by_role("button", name="card-ops", exact=True).click()
    files = page.get_by_label("Files for message")
    await files.set_input_files(sent)
    chosen = page.get_by_role("list", name="Files to send").first
    await expect(chosen).to_contain_text("25 bytes")
    await page.get_by_role("button", name="Remove Cards.csv").click()
    await expect(chosen).to_be_hidden()
    await files.set_input_files(sent)
    await page.get_by_label("Message", exact=True).fill("for the offsite")
    await page.keyboard.press("Enter")

    shared = page.get_by_role("main").get_by_role("article").filter(has_text="for the offsite")
    await expect(shared).to_have_count(1)
    await play(page, "Bob Tanaka")
    await page.get_by_role("button", name="card-ops", exact=True).click()
    async with page.expect_download() as saving:
        await shared.get_by_role("link", name="Download Cards.csv").click()
    saved = await saving.value
    assert saved.suggested_filename == "Cards.csv"
    kept = await saved.path()
    assert await asyncio.to_thread(kept.read_bytes) == csv
