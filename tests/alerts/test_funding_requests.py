"""A funding request says what became of the funding: in its message, its thread, its requester's message, in lists.

Everything goes through the real handlers: Alice asks, Bob approves, the card provider decides, and the webhook, the
poller or both tell this bot.
"""

from __future__ import annotations

from typing import Any

from bot.domain.requests import Request, State
from tests.alerts.conftest import Desk
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB

HASH = "0x" + "5e" * 32
SENDER = "0x" + "a1" * 20
Json = dict[str, Any]


async def transferred(desk: Desk, *, arrives: str = "manual", owner: str = "self", **more: object) -> None:
    """500 USDC on its way to the funding address; an `owner` of "" leaves the wallet unregistered."""
    if owner:
        await desk.tell("wallets", {"address": SENDER, "owner": owner})
    payment = {"network": "POLYGON", "tx_hash": HASH, "senders": [SENDER], "token": "USDC", "amount": "500"}
    await desk.tell("chain/transfers", {"arrives": arrives, **payment, **more})


async def asked_for(desk: Desk, network: str = "POLYGON") -> Request:
    """Alice's request to submit the transfer, approved by Bob and sent."""
    world = desk.driver.world
    request = await world.ask("funding_submit", {"tx_hash": HASH, "network": network}, reason="June")
    await world.approve(request)
    await world.run_due()
    await desk.posted()
    return await world.request(request.id)


async def decide(desk: Desk, decision: str, **more: object) -> None:
    (found,) = [f for f in (await desk.driver.world.state())["funding"] if f["tx_hash"] == HASH]
    await desk.tell(f"funding/{found['id']}/decide", {"decision": decision, **more})


def words(message: Json) -> str:
    texts = [message["text"]]
    for block in message.get("blocks") or []:
        parts = [block.get("text"), *block.get("elements", []), *block.get("fields", [])]
        texts += [p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str)]
    return " | ".join(texts)


async def card(desk: Desk, request: Request) -> str:
    return words(await desk.driver.card(request.id))


async def thread(desk: Desk, request: Request) -> list[str]:
    ts = (await desk.driver.card(request.id))["ts"]
    found = await desk.driver.messages(BOB, APPROVALS)
    return [words(m) for m in found if m.get("thread_ts") == ts and m["ts"] != ts]


async def direct(desk: Desk, request: Request) -> tuple[list[str], list[str]]:
    """What Alice has in her direct messages about it: the messages, and the lines in their threads."""
    found = (await desk.driver.see(ALICE))["channels"]
    mine = [m for c in found if c["is_im"] for m in c["messages"] if request.id in words(m)]
    lines = [words(m) for m in mine if m.get("thread_ts") not in (None, m["ts"])]
    return [words(m) for m in mine if m.get("thread_ts") in (None, m["ts"])], lines


async def test_a_funding_in_review_is_not_called_succeeded_and_each_turn_is_reported(desk: Desk) -> None:
    await transferred(desk, owner="")
    request = await asked_for(desk)
    assert request.state is State.SUCCEEDED, "limits, filters and metrics count it as before"
    shown = await card(desk, request)
    assert "▲ In review: Submit funding" in shown
    assert f"*{request.id}* · in review ·" in shown
    assert "ucceeded" not in shown + str(await thread(desk, request)) + str(await direct(desk, request))

    await decide(desk, "credit")
    await desk.poll("funding", seconds=120)
    shown = await card(desk, request)
    assert "✓ Credited: Submit funding" in shown
    assert "495.00 USD reached the float after the load fee of 5.00 USD." in shown
    assert (await thread(desk, request))[-1].startswith(f"SANDBOX · {request.id}: *✓ Credited.* 495.00 USD")

    await decide(desk, "reverse")
    await desk.poll("funding")
    shown = await card(desk, request)
    assert "✗ Taken back: Submit funding" in shown
    assert "the float fell by 495.00 USD" in shown
    assert "Credited" not in shown
    assert (await thread(desk, request))[-1].startswith(f"SANDBOX · {request.id}: *✗ Taken back.*")

    (message,), lines = await direct(desk, request)
    assert "✗ Taken back:" in message, "the one direct message is edited"
    assert [line.split(".*")[0].split("*")[-1] for line in lines] == [
        "▲ In review",
        "✓ Credited",
        "✗ Taken back",
    ]
