"""What a request costs, counted: transactions and statements on SQLite, calls of the API, questions to Slack.

The figures are held, so that whoever adds to them does it knowingly. A statement saved is a figure to lower here.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.domain.requests import State
from bot.services import execution, people, requests
from bot.services.events import Poller
from bot.services.execution import presend_checks
from bot.services.requests import approvals, drafts
from tests.support import posting
from tests.support.costs import counted
from tests.support.kinds import EACH, asked
from tests.support.situations import pause
from tests.support.world import ALICE, BOB, World

pytestmark = pytest.mark.usefixtures("deposits_are_set_up")

#: Of the execution of one request of each kind: transactions, statements, calls of the API. No question to Slack. Each
#: transaction that adds to the audit log reads back with its last statement what it added.
EXECUTION = {
    "card_topup": (3, 16, 3),
    "card_unload": (3, 16, 3),
    "card_order": (4, 24, 5),
    "card_close": (4, 28, 6),
    "card_limits": (4, 21, 3),
    "card_phone": (5, 22, 2),
    "card_3ds": (5, 28, 3),
    "fees_markup": (4, 21, 2),
    "event_redeliver": (4, 21, 3),
    "card_freeze": (5, 31, 4),
    "card_unfreeze": (5, 30, 4),
    "card_reveal": (3, 19, 2),
    "funding_submit": (4, 25, 4),
    "webhook_register": (3, 21, 2),
    "webhook_rotate": (3, 21, 2),
    "deposit_quote": (3, 15, 4),
}


@EACH
async def test_an_execution_costs_what_is_written_here(world: World, kind: str) -> None:
    request = await asked(world, kind)
    await world.approve(request)

    with counted(world) as cost:
        await execution.execute(world.core, request.id)

    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert cost.slack == [], "who may approve was seen by the click"
    assert (cost.transactions, len(cost.statements), len(cost.api_calls)) == EXECUTION[kind], cost.shown()


async def test_a_form_that_was_filled_becomes_a_request_in_two_transactions(world: World) -> None:
    before = await world.top_up("5", approved=False)  # and so Alice was looked up within the minute
    texts = {"card": world.cards[0]["id"], "amount_usd": "50"}

    with counted(world) as cost:
        draft = await drafts.begin(world.core, owner=ALICE, kind="card_topup", texts=texts, reason="because")
        await drafts.preview(world.core, draft)
        request = await requests.submit(world.core, draft.id, ALICE)

    assert request.id != before.id
    assert (cost.writes, cost.reads, len(cost.statements), len(cost.api_calls)) == (2, 2, 25, 2), cost.shown()


async def test_an_approval_costs_two_transactions_and_one_look_at_the_groups(world: World) -> None:
    await world.top_up("5")  # and so who may approve is on record
    await world.advance(people.KEPT_AGAIN_AFTER_S)
    request = await world.top_up("50", approved=False)
    await posting.post(world.core, request.id)

    with counted(world) as cost:
        await approvals.approve(world.core, request.id, BOB, shown_digest=request.digest)

    assert (cost.writes, cost.reads, len(cost.statements), len(cost.api_calls)) == (2, 1, 14, 0), cost.shown()
    assert sorted(cost.slack) == ["actor", "actor", "each"], "the clicker, the requester and the groups"


async def test_what_waits_for_a_pause_to_end_costs_one_transaction_and_asks_nobody(world: World) -> None:
    request = await world.top_up("50")
    await pause(world)

    with counted(world) as cost:
        await execution.execute(world.core, request.id)

    assert (await world.request(request.id)).state is State.APPROVED
    assert (cost.transactions, len(cost.statements), cost.api_calls, cost.slack) == (1, 3, [], []), (
        cost.shown()
    )


async def test_a_look_at_people_serves_all_that_is_sent_within_fifteen_seconds(world: World) -> None:
    sent = [await world.top_up(str(5 + n), card=n % 3) for n in range(4)]
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    with counted(world) as cost:
        for request in sent:
            await execution.execute(world.core, request.id)

    assert [(await world.request(request.id)).state for request in sent] == [State.SUCCEEDED] * 4
    assert sorted(cost.slack) == ["actor", "actor", "each"], "the approver, the requester and the groups"


async def test_the_account_is_read_once_for_all_that_is_sent_within_a_second_and_the_cards_that_moved_once(
    world: World,
) -> None:
    sent = [await world.top_up(str(5 + n), card=n % 3) for n in range(4)]
    poller = Poller(world.core, account_every=timedelta(minutes=1))

    with counted(world) as cost:
        for request in sent:
            await execution.execute(world.core, request.id)
        await poller.moved()

    assert cost.api_calls.count("GET /me") == 2, "once for the four, and once for what they left"
    assert cost.api_calls.count("POST /cards/balances") == 1
    assert len(cost.api_calls) == 2 + 4 * 2 + 1, cost.shown()
