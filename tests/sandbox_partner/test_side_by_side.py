"""Deliveries that travel at the same time: of two accounts, and of one, up to eight or one after another."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from sandbox.partner.background import signature
from tests.sandbox_partner.conftest import Api, Hand, Receiver
from tests.support.waiting import eventually


class Gate:
    """An endpoint that answers nobody until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.waiting = 0
        self.most = 0
        self.ids: list[str] = []
        self.url = ""

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        self.ids.append(request.headers["X-SVC-Delivery"])
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await self.opened.wait()
        self.waiting -= 1
        return web.Response()

    async def reached(self, count: int) -> None:
        """Wait until so many wait at once, and a moment longer for one more that should not come."""
        await eventually(f"{count} at the gate", lambda: self.waiting >= count)
        await asyncio.sleep(0.05)


@pytest.fixture
async def gate(receiver: Receiver, hand: Hand) -> AsyncIterator[Gate]:
    """The second endpoint, behind https://gate.example.com; its people ask for delivery in real time."""
    gate = Gate()
    server = web.ServerRunner(web.Server(gate))
    await server.setup()
    site = web.TCPSite(server, "127.0.0.1", 0)
    await site.start()
    gate.url = f"http://127.0.0.1:{server.addresses[0][1]}"
    await hand("clock", mode="realtime")
    await hand("deliveries", map={"hooks.example.com": receiver.url, "gate.example.com": gate.url})
    yield gate
    gate.opened.set()
    await server.cleanup()


async def events(api: Api, hand: Hand, count: int) -> None:
    """So many events of an account at once: cards that are frozen."""
    for number in range(count):
        card = await api.order(f"card-{number}")
        await api.post(f"/cards/{card}/freeze", {"frozen": True})


async def test_a_slow_endpoint_of_one_account_holds_up_no_other(
    api: Api, hand: Hand, receiver: Receiver, gate: Gate
) -> None:
    """P5: each account has its own way out."""
    account = (await hand("accounts"))["account"]
    other = Api(api.http, (await hand("keys", account=account))["key"], api.description)
    await api.call("PUT", "/webhook", {"url": "https://gate.example.com/"})
    await other.call("PUT", "/webhook", {"url": "https://hooks.example.com/"})
    await events(api, hand, 1)
    await gate.reached(1)
    began = time.monotonic()
    card = await other.order("theirs")
    await other.post(f"/cards/{card}/freeze", {"frozen": True})
    await eventually("the other account's delivery", lambda: len(receiver.got) == 1)
    assert time.monotonic() - began < 2
    assert gate.waiting == 1


@pytest.mark.parametrize(("serial", "most"), [(False, 8), (True, 1)])
async def test_up_to_eight_deliveries_of_an_account_travel_at_once_unless_they_are_serial(
    api: Api, hand: Hand, gate: Gate, serial: bool, most: int
) -> None:
    """P5: unordered, as the document says; `serial` sends the oldest first and waits for its answer."""
    await hand("deliveries", serial=serial)
    await events(api, hand, 10)
    queued = [event["id"] for event in await api.events()]
    await api.call("PUT", "/webhook", {"url": "https://gate.example.com/"})
    await gate.reached(most)
    assert gate.most == most
    gate.opened.set()

    async def all_delivered() -> bool:
        return all(event["delivered"] for event in await api.events())

    await eventually("every delivery", all_delivered)
    assert sorted(gate.ids) == sorted(queued)
    assert not serial or gate.ids == queued
    assert [one["number"] for one in (await hand.state())["deliveries"]] == [1] * 10


async def test_a_clock_call_waits_for_what_is_due_even_when_it_is_under_way_already(
    api: Api, hand: Hand, gate: Gate
) -> None:
    await api.call("PUT", "/webhook", {"url": "https://gate.example.com/"})
    await events(api, hand, 2)
    await gate.reached(2)
    asked = asyncio.create_task(hand("clock", advance_seconds=0))
    await asyncio.sleep(0.05)
    assert not asked.done()
    gate.opened.set()
    await asyncio.wait_for(asked, 5)
    assert all(event["delivered"] for event in await api.events())


async def test_a_delivery_under_way_at_a_reset_says_nothing_of_the_same_event_of_the_next_run(
    api: Api, hand: Hand, gate: Gate
) -> None:
    """The same seed gives the same ids; an answer to the old event must not settle the new one."""
    for _ in range(2):
        await hand("reset", seed="twice")
        await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")
        await hand("deliveries", map={"gate.example.com": gate.url})
        await api.call("PUT", "/webhook", {"url": "https://gate.example.com/"})
        await events(api, hand, 1)
        await gate.reached(1)
    assert len(set(gate.ids)) == 1
    await gate.reached(2)
    gate.opened.set()
    await hand("clock", advance_seconds=0)
    assert [one["number"] for one in (await hand.state())["deliveries"]] == [1]


@pytest.mark.parametrize("choice", ["clock", "wall"])
async def test_a_delivery_is_signed_with_the_clocks_time_or_with_the_machines(
    api: Api, hand: Hand, receiver: Receiver, choice: str
) -> None:
    """D2: a receiver with the recommended window of 300 seconds can be tested with a moved clock."""
    await hand("clock", mode="frozen", set="2031-01-01T00:00:00Z")
    await hand("deliveries", timestamps=choice)
    secret = (await api.call("PUT", "/webhook", {"url": "https://hooks.example.com/"})).data["secret"]
    await events(api, hand, 1)
    await hand("clock", advance_seconds=0)
    [(_, _, headers, body)] = receiver.got
    stamp = headers["X-SVC-Timestamp"]
    expected = 1924992000 if choice == "clock" else time.time()
    assert abs(int(stamp) - expected) <= 5
    assert headers["X-SVC-Signature"] == signature(secret, stamp, body)
    assert (await hand.state())["deliveries"][0]["at"].startswith("2031-01-01T00:00:00")
