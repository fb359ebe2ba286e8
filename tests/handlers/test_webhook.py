"""`/countersign webhook`: from the answer's buttons through two people to a sealed secret."""

from dataclasses import replace

import pytest

from bot.domain.requests import State
from bot.services import execution
from handlers.commands import grammar
from storage.events import webhook_secrets
from tests.handlers.office import ALICE, APPROVALS, BOB, CAROL, OPS, Office

URL = "https://countersign.example.com/webhooks/main"


async def test_register_and_rotate_go_from_the_buttons_through_two_people(office: Office) -> None:
    office.world.rebuild(public_url="https://countersign.example.com")
    for button, kind in (("webhook_register", "Register"), ("webhook_rotate", "Rotate")):
        await office.command(CAROL, "/countersign webhook")
        told = await office.told(CAROL)
        assert kind in str(told)
        await office.press(CAROL, told, f"form:open:{button}", channel=OPS)
        form = await office.modal(CAROL)
        filled = {
            b["block_id"]: b["element"].get("initial_value") for b in form["blocks"] if b["type"] == "input"
        }
        assert filled == ({"url": URL, "reason": None} if button == "webhook_register" else {"reason": None})
        await office.submit(CAROL, {"reason": "Events are to come here"})
        await office.submit(CAROL)
        request = await office.newest()
        await office.press(BOB, await office.card(request.id), "request:approve", channel=APPROVALS)
        await office.submit(BOB)
        await execution.execute(office.core, request.id)
        assert (await office.world.request(request.id)).state is State.SUCCEEDED
        await office.world.advance(600)

    async with office.world.store.read() as tx:
        found = await webhook_secrets.newest(tx, "main")
    assert found is not None
    assert (found.version, found.state) == (2, "current")
    await office.command(CAROL, "/countersign webhook")
    shown = str(await office.told(CAROL))
    assert URL in shown
    assert "whsec_" not in shown


async def test_who_is_no_admin_sees_the_registration_and_no_buttons(office: Office) -> None:
    await office.command(ALICE, "/countersign webhook")
    told = await office.told(ALICE)
    assert "not registered" in str(told)
    assert "form:open" not in str(told)

    await office.command(ALICE, "/countersign webhook register")
    assert "admins only" in str(await office.told(ALICE))
    assert (await office.see(ALICE))["views"] == []


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
