"""No key, token, phone, e-mail or card detail in the database, its log, the bot's log at debug level, or Slack.

One long day end to end: orders with canaries as phone and e-mail through every ending, lost answers,
refusals, kills, a key that is not taken, Slack in trouble. Then a byte search over everything that was
written or sent. Only windows may show a phone or an e-mail: to the one who typed it and to who approves.
"""

import asyncio
import json
import logging
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from sandbox.slack.state.user_object import MAIL_DOMAIN
from tests.crash.outside import MASTER, Json, Outside, outside
from tests.crash.people_at_work import GaveUp, Operators
from tests.crash.programme import FREEZE, ORDER, TOPUP
from tests.leaks.scan import Hit, scan
from tests.support.waiting import eventually

PHONE_CHANGE = "PUT /cards/{cardId}/phone"
KEY_SECRET = "5eed0c4a91b7d2f86e3a"
PHONE, EMAIL = "15157730419", "zephyr.quillon77@canary.example"
ORDERED = {
    "card_holder_name": "ZEPHYR QUILLON",
    "phone_country_code": "49",
    "phone": PHONE,
    "email": EMAIL,
    "reason": "A new colleague",
}
LINK = re.compile(r"https://countersign\.example\.com/details#([A-Za-z0-9_-]{43})")
# Where Slack itself keeps what the app shows in windows.
WINDOWS = ("views.open", "views.update", "views.push")


def _canaries(world: Outside) -> dict[str, str]:
    slack = world.slack
    return {
        "API key": KEY_SECRET,
        "bot token": slack.bot_token.rpartition("-")[2],
        "app token": slack.app_token.rpartition("-")[2],
        "master key": MASTER.rstrip("="),
        "phone": PHONE,
        "e-mail": EMAIL,
        "e-mail of somebody in Slack": MAIL_DOMAIN,
    }


def _files(world: Outside) -> Iterator[tuple[str, bytes]]:
    """Everything the bot wrote: database, its log and index, anchors, the log.

    What SQLite has not folded into the file yet stands in its log, and is in the database all the same.
    """
    for path in sorted(world.folder.iterdir()):
        if path.name not in ("master.key", "countersign.toml"):
            yield path.name.removesuffix("-wal"), path.read_bytes()


def _slack(world: Outside) -> Iterator[tuple[str, bytes]]:
    """Everything Slack has from the app; of windows only what nobody sees."""
    workspace = world.slack.workspace
    assert len(workspace.calls) < (workspace.calls.maxlen or 0), "the first calls are forgotten already"
    yield "messages", _bytes(world.posts())
    yield "ephemerals", _bytes([one.message for one in workspace.store.ephemerals])
    yield "homes", _bytes(workspace.store.homes)
    for call in workspace.calls:
        args = call["args"]
        yield call["method"], _bytes(_hidden_part(args["view"]) if call["method"] in WINDOWS else args)
    for record in workspace.delivery.records:
        view = (record.ack_payload or {}).get("view")
        yield f"ack of {record.kind}", _bytes(_hidden_part(view) if view else record.ack_payload)


def _hidden_part(view: Json | str) -> Json:
    shown: Json = json.loads(view) if isinstance(view, str) else view
    values = [element.get("value") for block in shown["blocks"] for element in block.get("elements", ())]
    return {"private_metadata": shown.get("private_metadata"), "values": values}


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, default=str).encode()


def _channels(world: Outside) -> Iterator[tuple[str, bytes]]:
    """What stands where more than one person reads."""
    store = world.slack.workspace.store
    for channel, messages in store.messages.items():
        if not store.channels[channel].is_im:
            yield channel, _bytes(messages)


def _hits(world: Outside) -> list[Hit]:
    return scan(_canaries(world), [*_files(world), *_slack(world)])


class Day:
    """What happens, step by step; after each step everything is searched."""

    def __init__(self, world: Outside) -> None:
        self.world = world
        self.operators = Operators(world, random.Random(4), order=ORDERED)
        self.hits: set[Hit] = set()
        self.shown: dict[str, str] = {}  # what card details came with: for one browser alone

    async def live(self) -> None:
        await self.world.bot.start()
        for step in (
            self.an_order_waits,
            self.it_is_approved_while_the_answer_is_lost,
            self.an_order_is_refused,
            self.a_phone_is_changed_with_its_answer_lost,
            self.card_details_are_shown,
            self.a_kill_in_mid_call,
            self.the_key_is_not_taken,
            self.slack_is_in_trouble,
        ):
            await step()
            self.look()
        await self.world.bot.terminate()
        self.look()

    def look(self) -> None:
        """Search everything that was written or sent so far."""
        self.hits.update(_hits(self.world))
        self.hits.update(scan(self.shown, [*_files(self.world), *_channels(self.world)]))

    async def an_order_waits(self) -> None:
        assert await self.operators.ask("U0ALICE", "card_order")
        await self._until_posted()

    async def it_is_approved_while_the_answer_is_lost(self) -> None:
        self.world.tell_partner("faults", {"operation": ORDER, "effect": "drop_after_commit"})
        await self._approve_all()

    async def an_order_is_refused(self) -> None:
        fault: Json = {"operation": ORDER, "effect": "status", "status": 400, "code": "INVALID_PHONE"}
        self.world.tell_partner("faults", fault)
        assert await self.operators.ask("U0DAVE", "card_order")
        await self._approve_all()

    async def a_phone_is_changed_with_its_answer_lost(self) -> None:
        fault: Json = {"operation": PHONE_CHANGE, "effect": "drop_after_commit", "times": 2}
        self.world.tell_partner("faults", fault)
        assert await self.operators.ask("U0ALICE", "card_phone")
        await self._approve_all()

    async def a_kill_in_mid_call(self) -> None:
        self.world.tell_partner("faults", {"operation": ORDER, "effect": "delay", "seconds": 3})
        assert await self.operators.ask("U0ALICE", "card_order")
        await self.operators.approve_everything(10)
        await eventually(
            "a call is under way", lambda: self.world.rows("SELECT id FROM attempt WHERE answered_at IS NULL")
        )
        await self.world.bot.kill()
        self.hits.update(_hits(self.world))
        self.world.tell_partner("faults", method="DELETE")
        await self.world.bot.start()
        assert await self.world.until_drained(30)

    async def the_key_is_not_taken(self) -> None:
        for operation in (TOPUP, FREEZE):
            self.world.tell_partner("faults", {"operation": operation, "effect": "garbage"})
        fault: Json = {"operation": ORDER, "effect": "status", "status": 401, "code": "UNAUTHORIZED"}
        self.world.tell_partner("faults", fault)
        for kind in ("card_topup", "card_freeze", "card_order"):
            assert await self.operators.ask("U0ALICE", kind)
        await self.operators.approve_everything(20)
        await self.world.until_drained(3)
        self.world.tell_partner("faults", method="DELETE")

    async def slack_is_in_trouble(self) -> None:
        faults = self.world.slack.workspace.faults
        for method, effect in (
            ("chat.postMessage", "500"),
            ("views.update", "error"),
            ("users.info", "error"),
        ):
            faults.add({"method": method, "effect": effect, "nth": 2, "times": 2})
        for _ in range(3):
            with suppress(GaveUp):
                await self.operators.ask("U0ALICE", "card_order")
        faults.clear()
        with suppress(TimeoutError):
            await self._approve_all()

    async def card_details_are_shown(self) -> None:
        """In the service's page, and as text."""
        for who in ("U0ALICE", "U0DAVE"):
            assert await self.operators.ask(who, "card_reveal")
        await self.operators.approve_everything(20)

        def both() -> list[str]:
            links = sorted(set(LINK.findall(json.dumps(self.world.posts()))))
            return links if len(links) == 2 else []

        # No time flies here: a link lives two minutes.
        links = await eventually("two links are posted", both, within_s=20)
        self.shown = {f"token {number}": token for number, token in enumerate(links)}
        async with httpx.AsyncClient(trust_env=False, verify=False) as browser:
            for token, manner in zip(links, ("frame", "text"), strict=True):
                await self._browse(browser, token, manner)

    async def _browse(self, browser: httpx.AsyncClient, token: str, manner: str) -> None:
        """As a browser does it; what it gets to know is searched for from now on."""
        answer = await browser.post(f"{self.world.bot.url}/details", json={"token": token, "as": manner})
        assert answer.status_code == 200, answer.text
        url = next(value for name, value in answer.json().items() if name.endswith("_url"))
        card = await browser.get(url)
        number = re.search(r"(?:\d{4} ?){4}", card.text)
        assert number
        self.shown |= {
            f"address, {manner}": url.rpartition("/")[2],
            f"number, {manner}": number[0].replace(" ", ""),
        }

    async def _approve_all(self) -> None:
        flying = asyncio.create_task(self.world.let_time_fly())
        await self.operators.approve_everything(20)
        flying.cancel()
        assert await self.world.until_drained(30)

    async def _until_posted(self) -> None:
        await eventually(
            "the outbox is empty", lambda: not self.world.rows("SELECT id FROM outbox WHERE state <> 'sent'")
        )


async def _a_day(folder: Path, *, bug: str = "") -> tuple[set[Hit], Outside]:
    key = f"svc_live_00000000{KEY_SECRET}"
    async with outside(folder, bug=bug, level=logging.DEBUG, default_key=key) as world:
        world.env["COUNTERSIGN_PUBLIC_URL"] = "https://countersign.example.com"
        day = Day(world)
        await day.live()
        states = [row["state"] for row in world.rows("SELECT state FROM request WHERE kind = 'card_order'")]
        purged = world.rows(
            "SELECT id FROM request WHERE purged_at IS NULL AND state IN ('succeeded', 'failed')"
        )
        assert {"succeeded", "failed"} <= set(states)
        assert len(day.shown) == 6, "card details were shown twice"
        assert purged == [], "a definite outcome purges the personal details"
        log = (folder / "bot.log").read_text()
        assert '"level": "debug"' in log, "the log was not at debug level"
        windows = [c["args"]["view"] for c in world.slack.workspace.calls if c["method"] in WINDOWS]
        assert scan({"phone": PHONE}, [("windows", _bytes(windows))]), "who approves reads the phone"
    return day.hits, world


@pytest.mark.timeout(120)
async def test_a_day_of_trouble_leaves_no_secret_anywhere(tmp_path: Path) -> None:
    hits, _ = await _a_day(tmp_path)

    assert sorted(map(str, hits)) == []


@pytest.mark.by_turns(5)
@pytest.mark.parametrize(
    ("bug", "leak"),
    [
        ("logs-the-key", Hit("API key", "base64", "bot.log")),
        ("shows-the-phone", Hit("phone", "raw", "messages")),
        ("keeps-the-email", Hit("e-mail", "raw", "bot.db")),
    ],
)
async def test_a_planted_leak_is_found(tmp_path: Path, bug: str, leak: Hit) -> None:
    async with outside(
        tmp_path, bug=bug, level=logging.DEBUG, default_key=f"svc_live_00000000{KEY_SECRET}"
    ) as world:
        day = Day(world)
        await world.bot.start()
        await day.an_order_waits()
        await day.it_is_approved_while_the_answer_is_lost()
        await world.bot.terminate()
        hits = _hits(world)

    assert leak in hits, [str(hit) for hit in hits]
