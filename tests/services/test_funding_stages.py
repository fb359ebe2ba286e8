"""What a funding request says follows the funding: by webhook alone, by poller alone, by both, once each.

The API is the simulator and decides by its control calls; events come from its log into the inbox.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import permutations
from typing import Any

import pytest
from sqlalchemy import text

from bot.domain.requests import COMMITTED, Request, Stage, State
from bot.operations import funding_facts
from bot.services.alerts import funding_rules
from storage.requests import requests
from tests.events.receiving import a_bot
from tests.support.world import World

HASH = "0x" + "5e" * 32
SENDER = "0x" + "a1" * 20


async def submitted(
    world: World, *, owner: str = "self", arrives: str = "manual", **transfer: Any
) -> Request:
    """500 USDC on the chain, submitted by Alice's request; an `owner` of "" leaves the wallet unregistered."""
    if owner:
        await world.tell("wallets", {"address": SENDER, "owner": owner})
    payment = {"network": "POLYGON", "tx_hash": HASH, "senders": [SENDER], "token": "USDC", "amount": "500"}
    await world.tell("chain/transfers", {"arrives": arrives, **payment, **transfer})
    return await asked(world)


async def asked(world: World, network: str = "POLYGON") -> Request:
    request = await world.ask("funding_submit", {"tx_hash": HASH, "network": network})
    await world.approve(request)
    await world.run_due()
    return await world.request(request.id)


async def decide(world: World, decision: str, **more: object) -> None:
    (found,) = [f for f in (await world.state())["funding"] if f["tx_hash"] == HASH]
    await world.tell(f"funding/{found['id']}/decide", {"decision": decision, **more})


async def polled(world: World, seconds: float = 60) -> None:
    await world.advance(seconds)
    await funding_rules.read(world.core, "main")


async def shown(world: World) -> list[str]:
    """The words of the lines in the request's thread and in its requester's messages, in their order."""
    async with world.store.read() as tx:
        asked = (
            "SELECT subject, body FROM outbox WHERE kind = 'line' AND subject NOT LIKE 'alert:%' ORDER BY id"
        )
        rows = (await tx.run(text(asked))).all()
    lines = [(row.subject.partition(":")[0], str(row.body)) for row in rows]
    return [f"{about}: {stage}" for about, body in lines for stage in Stage if f'"{stage}"' in body]


async def on_record(world: World) -> list[str]:
    async with world.store.read() as tx:
        rows = (
            await tx.run(text("SELECT body FROM audit WHERE action = 'request.stage' ORDER BY seq"))
        ).all()
    return [
        stage for row in rows for stage in Stage if f'"stage":"{stage}"' in str(row.body).replace(" ", "")
    ]


Receive = Callable[[], Awaitable[None]]


@pytest.fixture
async def receive(world: World) -> AsyncIterator[Receive]:
    """What is in the event log reaches the inbox, and is handled."""
    async with a_bot(world) as bot:

        async def receive() -> None:
            await bot.backfill.run_once()
            await bot.handle()

        yield receive


@pytest.fixture
async def watched(world: World, receive: Receive) -> World:
    """Readings and events from before are no news."""
    await funding_rules.read(world.core, "main")
    await receive()
    return world


@pytest.mark.parametrize("by", ["webhook", "poller", "webhook, poller", "poller, webhook"])
async def test_a_credit_is_reported_once_whoever_brings_it(watched: World, receive: Receive, by: str) -> None:
    request = await submitted(watched)
    assert request.stage is Stage.SUBMITTED
    await watched.advance(600)
    await watched.tell(f"chain/transfers/{HASH}/arrive", {})

    for source in by.split(", "):
        await (receive() if source == "webhook" else polled(watched))
        watched.rebuild()  # another process goes on
        await (receive() if source == "webhook" else polled(watched))

    found = await watched.request(request.id)
    assert found.stage is Stage.CREDITED
    assert found.outcome_text == "495.00 USD reached the float after the load fee of 5.00 USD."
    assert await shown(watched) == ["request: submitted", "request: credited", "notice: credited"]
    assert await on_record(watched) == [Stage.CREDITED]


REJECTED = "Your card provider reviewed and refused it. Contact them. The float did not change."
TURNS = {
    "credit": (Stage.CREDITED, "495.00 USD reached the float after the load fee of 5.00 USD."),
    "credit_separately": (Stage.CREDITED, "Credited by other means; no figures are given here."),
    "reject": (Stage.FUNDING_REJECTED, REJECTED),
}


@pytest.mark.parametrize("decision", TURNS)
async def test_each_end_of_a_review_is_what_the_request_says(watched: World, decision: str) -> None:
    request = await submitted(watched, owner="")
    assert request.stage is Stage.IN_REVIEW
    await decide(watched, decision)
    await polled(watched, 3600)

    found = await watched.request(request.id)
    stage, says = TURNS[decision]
    assert (found.state, found.stage) == (State.SUCCEEDED, stage)
    assert says in found.outcome_text
    assert found.state in COMMITTED, "limits count it as succeeded"


async def test_who_read_of_a_review_reads_of_its_end_however_soon_it_comes(watched: World) -> None:
    await submitted(watched, owner="")
    await decide(watched, "credit")
    await polled(watched, 10)

    assert (await shown(watched))[-2:] == ["request: credited", "notice: credited"]


async def test_less_than_was_sent_is_said(watched: World) -> None:
    request = await submitted(watched, owner="")
    await decide(watched, "credit", amount_usd="300")
    await polled(watched)

    says = (await watched.request(request.id)).outcome_text
    assert says.startswith("297.00 USD reached the float after the load fee of 3.00 USD.")
    assert says.endswith("That is less than the 500.00 USD that was sent.")


async def test_a_credit_taken_back_is_the_last_word_though_its_event_comes_late(
    watched: World, receive: Receive
) -> None:
    request = await submitted(watched, owner="")
    await decide(watched, "credit")
    await decide(watched, "reverse")
    await polled(watched)
    await watched.advance(3600)
    await receive()

    found = await watched.request(request.id)
    assert found.stage is Stage.TAKEN_BACK
    assert "the float fell by 495.00 USD" in found.outcome_text
    assert await shown(watched) == [
        "request: in review", "notice: in review", "request: taken back", "notice: taken back",
    ]  # fmt: skip


async def test_a_corrected_network_moves_both_requests_and_a_network_that_differs_is_said(
    watched: World,
) -> None:
    first = await submitted(watched, network="BASE", arrives="manual")
    await watched.advance(60)
    second = await asked(watched, "BASE")
    await polled(watched)

    assert (await watched.request(second.id)).outcome_text.startswith(
        "500.00 USD in USDC on Base is verified"
    )
    says = (await watched.request(first.id)).outcome_text
    assert says.startswith("It is looked for on Base, not on Polygon. 500.00 USD in USDC on Base is verified")


async def test_an_event_that_was_quicker_than_the_answer_is_not_lost(
    watched: World, receive: Receive
) -> None:
    """A final and matched transfer is credited inside the POST itself, and its answer is lost."""
    await watched.fault("drop_after_commit", "POST /funding")
    request = await submitted(watched, arrives="now")
    await receive()
    await watched.run(60)
    await watched.advance(600)

    found = await watched.request(request.id)
    assert found.stage is Stage.CREDITED
    assert "495.00 USD reached the float" in found.outcome_text


async def test_what_is_known_is_the_same_in_any_order_in_which_it_is_learned(watched: World) -> None:
    """The same three facts, in every order, as three processes might bring them."""
    request = await submitted(watched, owner="")
    funding_id = str((request.outcome or {})["funding_id"])
    client = watched.core.partners["main"]
    review = await client.funding(funding_id)
    await decide(watched, "credit")
    credit = await client.funding(funding_id)
    await decide(watched, "reverse")
    reversal = await client.funding(funding_id)

    for order in permutations((review, credit, reversal)):
        async with watched.store.begin() as tx:
            before = await requests.get(tx, request.id)
            assert before is not None
            await tx.run(text("DELETE FROM reading WHERE name LIKE 'funding:%'"))
            await requests.touch(tx, before, stage=Stage.IN_REVIEW)
            for funding in order:
                await funding_rules.answered(tx, watched.core, request, funding_facts(funding))

        assert (await watched.request(request.id)).stage is Stage.TAKEN_BACK


async def test_a_request_from_before_there_were_stages_takes_its_word_and_sends_nothing(
    watched: World,
) -> None:
    request = await submitted(watched, owner="")
    async with watched.store.begin() as tx:
        before = await requests.get(tx, request.id)
        assert before is not None
        await requests.touch(tx, before, stage=None)
    lines = await shown(watched)
    await polled(watched)

    assert (await watched.request(request.id)).stage is Stage.IN_REVIEW
    assert await shown(watched) == lines
