"""Somebody ends who gets the codes of a card while Slack takes no messages: the code that waits is not sent."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from bot.partner.secret import Secret
from bot.services.events import otp_delivery
from bot.services.messages import SlackTrouble
from bot.services.operators import otp_recipients
from bot.services.otp_store import Outgoing
from storage.cards import otp_recipients as rows
from storage.messages import alerts
from storage.store import Store
from tests.services.scripted_slack import ScriptedSlack
from tests.support.world import ALICE, BOB, CAROL, World

REFERENCE = "emp-0003"


class AwayOnce(ScriptedSlack):
    """Slack takes the second message, and something happens between the two."""

    def __init__(self, between: Any) -> None:
        super().__init__()
        self.between = between

    async def open_direct(self, user: str) -> str:
        if self.between is not None:
            between, self.between = self.between, None
            await between()
            raise SlackTrouble("away")
        return await super().open_direct(user)


async def ends_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await otp_recipients.unname(world.core, CAROL, REFERENCE)


async def ends_it_while_the_database_is_away(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: Store) -> Any:
        raise OperationalError("BEGIN", {}, Exception("connection refused"))

    with monkeypatch.context() as patch:
        patch.setattr(Store, "begin", away)
        with pytest.raises(OperationalError):
            await otp_recipients.unname(world.core, CAROL, REFERENCE)


async def names_another(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world.store.begin() as tx:
        await rows.put(tx, REFERENCE, BOB)


async def changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pass


@pytest.mark.parametrize(
    ("between", "is_sent"),
    [
        *((one, False) for one in (ends_it, ends_it_while_the_database_is_away, names_another)),
        (changes_nothing, True),
    ],
)
async def test_a_code_goes_only_to_whoever_still_gets_it(
    world: World, monkeypatch: pytest.MonkeyPatch, between: Any, is_sent: bool
) -> None:
    async with world.store.begin() as tx:
        await rows.put(tx, REFERENCE, ALICE)
    slack = AwayOnce(lambda: between(world, monkeypatch))
    until = world.clock.now() + timedelta(minutes=3)
    code = Outgoing("evt", "main", ALICE, REFERENCE, Secret("123456"), "a card", "A purchase", until)

    await otp_delivery.Sender(world.core, slack).send(code)

    assert [message.dedupe for message in slack.messages] == (["3ds:evt"] if is_sent else [])
    async with world.store.read() as tx:
        raised = await alerts.raised_since(tx, world.clock.now() - timedelta(hours=1))
    words = [one.text for one in raised if one.dedupe == "3ds:evt"]
    assert is_sent or "code was discarded" in words[0]
