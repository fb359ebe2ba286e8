"""`/countersign webhook`: from the answer's buttons through two people to a sealed secret."""

from dataclasses import replace

import pytest

from bot.domain.requests import State
from bot.services import execution
from handlers.commands import grammar
from storage.events import webhook_secrets
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, CAROL, OPS, SlackDriver

URL = "https://countersign.example.com/webhooks/main"


async def test_register_and_rotate_go_from_the_buttons_through_two_people(driver: SlackDriver) -> None:
    driver.world.rebuild(public_url="https://countersign.example.com")
    for button, kind in (("webhook_register", "Register"), ("webhook_rotate", "Rotate")):
        await driver.command(CAROL, "/countersign webhook")
        answer = await driver.shown_to(CAROL)
        assert kind in str(answer)
        await driver.press(CAROL, answer, f"form:open:{button}", channel=OPS)
        form = await driver.modal(CAROL)
        filled = {
            b["block_id"]: b["element"].get("initial_value") for b in form["blocks"] if b["type"] == "input"
        }
        assert filled == ({"url": URL, "reason": None} if button == "webhook_register" else {"reason": None})
        await driver.submit(CAROL, {"reason": "Events are to come here"})
        await driver.submit(CAROL)
        request = await driver.newest()
        await driver.press(BOB, await driver.card(request.id), "request:approve", channel=APPROVALS)
        await driver.submit(BOB)
        await execution.execute(driver.core, request.id)
        assert (await driver.world.request(request.id)).state is State.SUCCEEDED
        await driver.world.advance(600)

    async with driver.world.store.read() as tx:
        found = await webhook_secrets.newest(tx, "main")
    assert found is not None
    assert (found.version, found.state) == (2, "current")
    await driver.command(CAROL, "/countersign webhook")
    shown = str(await driver.shown_to(CAROL))
    assert URL in shown
    assert "whsec_" not in shown


async def test_who_is_no_admin_sees_the_registration_and_no_buttons(driver: SlackDriver) -> None:
    await driver.command(ALICE, "/countersign webhook")
    answer = await driver.shown_to(ALICE)
    assert "not registered" in str(answer)
    assert "form:open" not in str(answer)

    await driver.command(ALICE, "/countersign webhook register")
    assert "Only admins can" in str(await driver.shown_to(ALICE))
    assert (await driver.see(ALICE))["views"] == []


@pytest.mark.parametrize(
    ("said", "subcommand", "rest"),
    [
        ("webhook", "webhook", ""),
        ("webhook other", "webhook", "other"),
        ("webhook register", "webhook register", ""),
        ("webhook Rotate other", "webhook rotate", "other"),
        (f"webhook register {URL}", "webhook register", URL),
    ],
)
def test_the_webhook_commands_are_read(said: str, subcommand: str, rest: str) -> None:
    found = grammar.from_slash("/countersign", said)

    assert (found.subcommand, found.rest) == (subcommand, rest)
    assert grammar.from_text(found.text) == replace(found)
