"""Passkeys in Slack: the windows and messages that lead to the page, and the window that follows it."""

from __future__ import annotations

import re

import pytest

from bot.domain.requests import State
from bot.partner.secret import Secret
from bot.services.operators import pausing
from handlers.buttons import passkey_links
from tests.handlers.slack_driver import ALICE, BOB, CAROL, OPS, SlackDriver
from tests.support.passkeys import Devices, everybody_has_one

ALERTS = "C0ALERTS"
LINK = re.compile(r"https://countersign\.example\.com/passkey#[A-Za-z0-9_-]{43}")


@pytest.fixture
async def devices(driver: SlackDriver) -> Devices:
    found = await everybody_has_one(driver.world)
    await driver.settle()
    return found


def link_in(shown: object) -> Secret:
    (found,) = set(LINK.findall(str(shown)))
    return Secret(found)


async def test_the_window_leads_to_the_page_and_follows_what_came_of_it(
    driver: SlackDriver, devices: Devices
) -> None:
    request = await driver.ask_top_up()
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    window = await driver.modal(BOB)
    assert "submit" not in window or not window["submit"]

    await driver.press_in_modal(BOB, "passkey:page")
    done = await devices.use(link_in(window["blocks"]), BOB)
    await passkey_links.follow(driver.client, done)
    await driver.settle()

    assert f"You approved {request.id}" in str((await driver.modal(BOB))["blocks"])
    assert (await driver.world.request(request.id)).state is State.APPROVED
    assert "is no longer in use" not in str(await driver.see(BOB))


async def test_a_window_that_was_closed_needs_nothing(driver: SlackDriver, devices: Devices) -> None:
    request = await driver.ask_top_up()
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    link = link_in((await driver.modal(BOB))["blocks"])
    await driver.close(BOB)

    await passkey_links.follow(driver.client, await devices.use(link, BOB))

    assert (await driver.world.request(request.id)).state is State.APPROVED


async def test_who_has_no_passkey_reads_how_to_add_one(driver: SlackDriver, devices: Devices) -> None:
    (mine,) = await devices.ids(BOB)
    await driver.command(BOB, f"/countersign passkey revoke {mine}")
    request = await driver.ask_top_up()

    await driver.press(BOB, await driver.card(request.id), "request:approve")

    assert "you have none yet" in str((await driver.modal(BOB))["blocks"])


async def test_a_confirmation_that_needs_a_passkey_is_answered_with_a_link_for_that_person(
    driver: SlackDriver, devices: Devices
) -> None:
    await pausing.pause(driver.core, BOB, ["main"], "drill")
    await driver.command(BOB, "/countersign resume")
    question = next(m for m in await driver.messages(CAROL, ALERTS) if "resume sending" in m["text"])

    await driver.press(CAROL, question, "alert:confirm", ALERTS)
    done = await devices.use(link_in(await driver.shown_to(CAROL, ALERTS)), CAROL)

    assert "Sending to main has resumed" in done.text


async def test_one_lists_names_and_removes_ones_own(driver: SlackDriver, devices: Devices) -> None:
    (mine,) = await devices.ids(BOB)

    await driver.command(BOB, f"/countersign passkey name {mine} Blue key")
    await driver.command(BOB, "/countersign passkey")
    listed = str((await driver.shown_to(BOB))["blocks"])
    await driver.command(ALICE, f"/countersign passkey revoke {mine}")
    not_hers = (await driver.shown_to(ALICE))["text"]
    await driver.command(BOB, f"/countersign passkey revoke {mine}")

    assert "*Blue key*" in listed
    assert "<@U0CAROL> 1 passkey" in listed
    assert not_hers.startswith("✗ You have no passkey")
    assert "no longer works" in (await driver.shown_to(BOB))["text"]


async def test_the_command_gives_a_link_to_add_one_and_none_without_an_address(driver: SlackDriver) -> None:
    await driver.command(BOB, "/countersign passkey add MacBook", channel=OPS)

    assert "Passkeys are not set up" in (await driver.shown_to(BOB))["text"]
