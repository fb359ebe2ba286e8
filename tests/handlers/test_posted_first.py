"""Approving a request that is not in Slack so far is refused in the same words at each door."""

from __future__ import annotations

import json

import pytest

from bot.domain.requests import State
from tests.handlers.slack_driver import BOB, Json, SlackDriver
from tests.support import posting

SAYS = "in the approvals channel yet, so what becomes of it would not be seen there. Nothing was approved."


def approve_in(blocks: list[Json], request_id: str) -> tuple[str, Json]:
    """The block and the button of this request."""
    for block in blocks:
        found: list[Json] = [*(block.get("elements") or ()), block.get("accessory") or {}]
        for one in found:
            if one.get("action_id") == "request:approve" and one["value"].startswith(request_id):
                return block["block_id"], one
    raise AssertionError("no button approves it")


@pytest.mark.parametrize("door", ["home", "the window", "the card"])
async def test_each_door_says_that_it_is_not_posted_and_approves_nothing(
    driver: SlackDriver, door: str
) -> None:
    request = await driver.ask_top_up()
    card = await driver.card(request.id)
    if door == "the window":
        await driver.press(BOB, card, "request:approve")
    await posting.forget(driver.core, request.id)

    if door == "home":
        home = await driver.home(BOB)
        block, button = approve_in(home["blocks"], request.id)
        where = {"view_id": home["id"], "block_id": block, "value": button["value"]}
        await driver.act("click", {"user": BOB, "action_id": "request:approve", **where})
    elif door == "the window":
        await driver.submit(BOB)
    else:
        await driver.press(BOB, card, "request:approve")

    assert SAYS in json.dumps(await driver.see(BOB))
    assert (await driver.newest()).state is State.PENDING
