"""While the row that says where the audit log ends is lost, whatever people do says what happened and does nothing.

The web pages and the command line are in `tests/integration/test_end_of_log_elsewhere.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from bot import operations
from bot.domain.alerts.catalogue import CATALOGUE
from bot.services import alerts
from bot.services.operators import changed_rows, pausing
from handlers.commands.all_lookups import LOOK_UPS
from handlers.guard import Turn
from handlers.views import replies
from sandbox.partner.calls import journal
from storage import audit
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, CAROL, SlackDriver
from tests.messages.alert_samples import facts_of
from tests.support.kinds import TEXTS

pytestmark = pytest.mark.by_turns(2)

Json = dict[str, Any]
LOST, SET_BACK = "DELETE FROM audit_head", "UPDATE audit_head SET seq = 0"
NOTHING = "Nothing was requested, approved or sent to your card provider."
HELD = "This is not recorded yet"
ALERTS = "C0ALERTS"
CHOSEN = {"program_enabled": ["yes"]}  # a box that is ticked


def by_hand(driver: SlackDriver, statement: str) -> None:
    with closing(sqlite3.connect(driver.world.database)) as connection:
        connection.execute(statement)
        connection.commit()


async def last_entry(driver: SlackDriver) -> int:
    async with driver.world.store.read() as tx:
        return [entry.seq async for entry in audit.entries(tx)][-1]


def changes_sent(driver: SlackDriver) -> list[str]:
    return [
        f"{call['method']} {call['path']}"
        for call in journal.read(driver.world.simulator.world)
        if call["method"] != "GET"
    ]


@pytest.fixture
def trouble(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every error that became a sentence, as the person reads it."""
    read, plain = list[str](), Turn.sentence

    def sentence(turn: Turn, error: BaseException) -> str:
        said = plain(turn, error)
        if not replies.is_said(error):
            read.append(said)
        return said

    monkeypatch.setattr(Turn, "sentence", sentence)
    return read


def pressable(blocks: list[Json]) -> Iterator[Json]:
    """Each button of a message, and each entry of its menus, as the stand-in takes a click."""
    for block in blocks:
        for element in [*block.get("elements", []), *filter(None, [block.get("accessory")])]:
            if "action_id" not in element or element.get("url"):
                continue
            options = element.get("options") or [None]
            for option in options:
                chosen = {} if option is None else {"value": option["value"]}
                yield {"action_id": element["action_id"], **chosen}


async def submit_all(driver: SlackDriver, user: str, values: Json) -> None:
    """Submit what is open, and what opens after it, then close it."""
    for _ in range(3):
        views = (await driver.see(user))["views"]
        if not views or "submit" not in views[-1] or not views[-1]["submit"]:
            break
        fields = {b["block_id"] for b in views[-1]["blocks"] if b["type"] == "input"}
        await driver.submit(user, {name: text for name, text in values.items() if name in fields})
    while (await driver.see(user))["views"]:
        await driver.close(user)


@pytest.mark.timeout(180)
async def test_nothing_is_done_and_every_answer_says_so(driver: SlackDriver, trouble: list[str]) -> None:
    request = await driver.ask_top_up()
    card = driver.world.cards[0]
    by_hand(driver, LOST)
    before, sent = await last_entry(driver), changes_sent(driver)

    for command, word in LOOK_UPS:
        await driver.command(CAROL, f"/{command} {word} {card['id'] if command == 'card' else ''}".strip())
        await submit_all(driver, CAROL, {"reason": "It is time"})
    for cls in operations.kinds().values():
        command, word = cls.command
        await driver.command(CAROL, f"/{command} {word} {card['id']}")
        await submit_all(driver, CAROL, {**TEXTS[cls.kind], **CHOSEN, "reason": "It is time"})
    message = await driver.card(request.id)
    for button in pressable(message["blocks"]):
        for user in (ALICE, BOB):
            await driver.press(user, message, **button)
            await submit_all(driver, user, {"reason": "It is time", "why": "It is time"})
    for user in (ALICE, BOB):
        await driver.home(user)
        await driver.message(user, "top up 50 for " + card["last4"], "D0" + user.removeprefix("U0"))

    assert trouble
    assert {said for said in trouble if NOTHING not in said and HELD not in said} == set()
    assert any(HELD in said for said in trouble)  # of what stops something
    assert (await last_entry(driver), changes_sent(driver)) == (before, sent)
    assert (await driver.world.request(request.id)).state is request.state


async def raise_one_of_each_look(driver: SlackDriver) -> None:
    """An alert for each set of buttons and each remedy that there is."""
    looks = {
        (kind.buttons, kind.remedy, kind.remedy_by, kind.is_mutable): kind for kind in CATALOGUE.values()
    }
    facts = {"program": "main", "card_id": driver.world.cards[0]["id"]}
    for number, kind in enumerate(looks.values()):
        said = kind.says(next(iter(kind.wordings)), **facts_of(kind, next(iter(kind.wordings))))
        async with driver.core.store.begin() as tx:
            await alerts.keep(
                tx,
                driver.core,
                said,
                condition=f"{kind.name}:{number}",
                subject="main",
                program="main",
                facts=facts,
            )


async def all_alerts(driver: SlackDriver) -> list[Json]:
    """The messages of the alerts channel itself, all that wait posted."""
    for _ in range(3):
        await driver.world.advance(6)
        await driver.settle()
    found = await driver.messages(BOB, ALERTS)
    return [m for m in found if m.get("thread_ts") in (None, m["ts"]) and not m["ephemeral"]]


@pytest.mark.timeout(180)
async def test_no_button_of_an_alert_of_a_pause_or_of_a_resume_does_anything(
    driver: SlackDriver, trouble: list[str]
) -> None:
    await raise_one_of_each_look(driver)
    await pausing.pause(driver.core, BOB, ["main"], "the key may be stolen")
    await pausing.resume(driver.core, BOB, ["main"])
    shown = await all_alerts(driver)
    labels = {button["action_id"] for message in shown for button in pressable(message["blocks"])}
    home = await driver.home(CAROL)
    by_hand(driver, LOST)
    before, sent = await last_entry(driver), changes_sent(driver)

    pressed = set[str]()
    for message in shown:
        for button in pressable(message["blocks"]):
            verb = f"{button['action_id']} {button.get('value', '').partition(':')[0]}"
            if verb in pressed and button["action_id"] != "alert:remedy":
                continue
            pressed.add(verb)
            for user in (BOB, CAROL):
                await driver.press(user, message, **button, channel=ALERTS)
                await submit_all(driver, user, {"reason": "It is time"})
                driver.world.clock.advance(2)  # the API and Slack take so many calls a minute
                await driver.tell("clock", {"advance_seconds": 2})
    for action in ("sending:resume:main", "sending:pause:main"):
        if action in str(home):
            await driver.tell("act/click", {"user": CAROL, "view_id": home["id"], "action_id": action})
            await submit_all(driver, CAROL, {"reason": "It is time"})
    for text in ("/countersign pause main odd debits", "/countersign resume main", "/countersign alerts"):
        await driver.command(CAROL, text)

    assert labels >= {
        "alert:ack",
        "alert:snooze",
        "alert:more",
        "alert:remedy",
        "alert:redeliver",
        "alert:confirm",
    }
    assert labels >= {"alert:resume", "alert:decline", "alert:take_over", "alert:show_card"}
    assert len(trouble) > len(pressed)
    assert {said for said in trouble if NOTHING not in said} == set()
    assert (await last_entry(driver), changes_sent(driver)) == (before, sent)
    assert await pausing.of(driver.core, "main") is not None


@pytest.mark.parametrize("change", [LOST, SET_BACK])
async def test_it_is_said_to_whoever_submits_and_works_again_within_a_minute(
    driver: SlackDriver, change: str
) -> None:
    request = await driver.ask_top_up()
    by_hand(driver, change)

    await driver.press(BOB, await driver.card(request.id), "request:approve", channel=APPROVALS)
    await driver.submit(BOB)
    read = str((await driver.see(BOB))["views"])
    assert NOTHING in read
    assert "where the audit log ends is lost" in read
    await driver.close(BOB)

    await changed_rows.watch(driver.core)
    await driver.settle()

    assert "audit log" in str(await driver.messages(CAROL, ALERTS))
    await driver.press(BOB, await driver.card(request.id), "request:approve", channel=APPROVALS)
    await driver.submit(BOB)
    assert (await driver.world.request(request.id)).state != request.state
