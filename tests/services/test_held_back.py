"""What was approved and cannot leave says so: that it is not sent, why, and until when it waits.

For every kind that is read once more before it is sent.
"""

from __future__ import annotations

from typing import Any

import pytest

from bot import operations
from bot.domain.requests import State
from bot.partner.calls import account
from bot.partner.certainty import Certainty
from bot.partner.errors import Unavailable
from bot.services import message_kinds
from bot.services.requests import request_lookups
from handlers.views import ids, replies
from handlers.views.requests import approval_modals
from tests.services.outcome_steps import execute, jump
from tests.support.kinds import asked, kind_class
from tests.support.situations import card_of, to_send
from tests.support.world import BOB, World

pytestmark = [pytest.mark.usefixtures("deposits_are_set_up"), pytest.mark.by_turns(4)]

RECHECKED = pytest.mark.parametrize(
    "kind", [kind for kind, cls in operations.kinds().items() if cls.handling.must_recheck]
)


async def _fails(*_: Any) -> Any:
    raise Unavailable("Try again later.", operation=account.ME, certainty=Certainty.DEFINITE)


@RECHECKED
async def test_message_notice_and_answer_say_that_it_is_not_sent_and_why_and_until_when(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await asked(world, kind)
    read = kind_class(kind).read
    monkeypatch.setattr(kind_class(kind), "read", _fails)
    window = approval_modals.confirmation(await request_lookups.confirmation(world.core, request.id, BOB))
    approved, verdict = await world.approve(request)
    unread = approval_modals.was_unread(ids.unpack(window["private_metadata"]))
    answer = replies.approved(approved, verdict.approvals, unread=unread)

    held = await execute(world, request)
    assert held.state is State.APPROVED
    assert held.valid_until is not None
    (notice,) = (await to_send(world, kind=message_kinds.REQUESTER_NOTICE))[-1:]
    said = {"message": await card_of(world, held), "notice": notice, "answer": answer}
    for where, text in said.items():
        assert "not sent" in text, (where, text)
        assert "could not be read" in text, (where, text)
        until = (
            f"{held.valid_until:%H:%M} UTC" if where == "answer" else f"{held.valid_until.timestamp():.0f}"
        )
        assert until in text, (where, text)
        assert "being sent" not in text, (where, text)
        assert "is sending it" not in text, (where, text)

    drawn = len(await to_send(world))
    await jump(world, held)
    assert len(await to_send(world)) == drawn, "said once, not at each look"
    monkeypatch.setattr(kind_class(kind), "read", read)
    sent = await jump(world, held)
    assert sent.state is not State.APPROVED
    assert "could not be read" not in sent.outcome_text
