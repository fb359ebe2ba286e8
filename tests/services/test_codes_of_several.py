"""One-time codes of several people: each is good for minutes only, so nobody's waits for another's direct message."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.partner.secret import Secret
from bot.services.events import otp_delivery
from bot.services.messages import SlackTrouble
from bot.services.otp_store import Outgoing
from tests.services.scripted_slack import ScriptedSlack
from tests.support.waiting import eventually
from tests.support.world import ALICE, BOB, World


def a_code(world: World, person: str) -> Outgoing:
    until = world.clock.now() + timedelta(minutes=5)
    return Outgoing(
        f"event-{person}", "main", person, f"ref-{person}", Secret("123456"), "a card", "A purchase", until
    )


class Hanging(ScriptedSlack):
    """Slack does not answer about one person."""

    async def open_direct(self, user: str) -> str:
        if user == ALICE:
            await asyncio.sleep(60)
        return await super().open_direct(user)


class Refusing(ScriptedSlack):
    """Slack has trouble with one person, for as long as it is asked."""

    async def open_direct(self, user: str) -> str:
        if user == ALICE:
            raise SlackTrouble("restricted_action", only_this=True)
        return await super().open_direct(user)


@pytest.mark.parametrize("slack", [Hanging, Refusing])
async def test_trouble_with_one_person_does_not_keep_the_code_of_another(
    world: World, slack: type[ScriptedSlack]
) -> None:
    taken = slack()
    sender = asyncio.create_task(otp_delivery.Sender(world.core, taken).run())
    for person in (ALICE, BOB):
        world.core.codes.outgoing.put_nowait(a_code(world, person))
    try:
        await eventually("Bob has his code", lambda: bool(taken.messages), within_s=5)
    finally:
        sender.cancel()
        await asyncio.wait({sender})

    assert [message.dedupe for message in taken.messages] == ["3ds:event-U0BOB"]
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("code ")]
