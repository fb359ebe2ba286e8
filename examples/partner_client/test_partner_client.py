"""Tests of three programs that use the client, against the simulated API."""

from __future__ import annotations

import asyncio
import io
import threading
from decimal import Decimal

import pytest
from countersign_partner import PartnerClient, Secret
from receiver import Receiver
from statement import write_statement
from top_ups import TopUps

TOP_UP = "POST /cards/{cardId}/topup"
AMOUNT_USD = Decimal("5.50")


@pytest.fixture
def send(partner_sandbox, tmp_path):
    """Decide on one top-up of the first card, send what is to send, and say what became of it."""
    card = partner_sandbox.state()["cards"][0]["id"]

    async def run():
        async with PartnerClient(partner_sandbox.base_url, partner_sandbox.key) as client:
            top_ups = TopUps(tmp_path / "top-ups.json", client)
            top_ups.decide("march-1", card, AMOUNT_USD)
            return (await top_ups.send())["march-1"]

    return lambda: asyncio.run(run())


def balance_usd(partner_sandbox) -> Decimal:
    return Decimal(partner_sandbox.state()["float"]["balance_usd"])


def test_a_top_up_is_made_once_however_often_it_is_sent(send, partner_sandbox):
    before = balance_usd(partner_sandbox)
    assert [send(), send()] == ["done", "done"]
    assert balance_usd(partner_sandbox) == before - AMOUNT_USD


def test_a_lost_answer_is_unknown_until_the_same_key_is_sent_again(send, partner_sandbox):
    before = balance_usd(partner_sandbox)
    partner_sandbox.faults.add(TOP_UP, "drop_after_commit")
    assert [send(), send()] == ["unknown", "done"]
    assert balance_usd(partner_sandbox) == before - AMOUNT_USD


def test_a_refusal_after_a_lost_answer_settles_nothing(send, partner_sandbox):
    partner_sandbox.faults.add(TOP_UP, "drop_after_commit")
    partner_sandbox.faults.add(TOP_UP, "status", nth=2, status=404, code="NOT_FOUND")
    assert [send(), send(), send()] == ["unknown", "unknown", "done"]


def test_an_empty_float_refuses(send, partner_sandbox):
    partner_sandbox.control("float", amount_usd=str(-balance_usd(partner_sandbox)))
    assert send() == "refused: INSUFFICIENT_FUNDS"


def test_a_statement_adds_up_to_the_float(partner_client, partner_sandbox):
    card = partner_sandbox.state()["cards"][0]["id"]
    for number in range(101):  # more than one page
        partner_client.top_up(card, amount_usd=Decimal("0.01"), key=f"small-{number}")
    out = io.StringIO()
    assert write_statement(partner_client, out) == partner_client.me().float.balance_usd
    assert len(out.getvalue().splitlines()) > 102


def test_a_receiver_takes_a_genuine_delivery_once_and_no_other(partner_client, partner_sandbox):
    host = "hooks.example.com"
    changed = partner_client.set_webhook(url=f"https://{host}/events")
    assert changed.secret is not None
    with Receiver([Secret("whsec_another"), changed.secret]) as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        partner_sandbox.deliver_to(host, f"http://127.0.0.1:{receiver.server_port}")
        card = partner_sandbox.state()["cards"][0]["id"]
        partner_sandbox.purchases.buy(card, "12.00", merchant="Corner Coffee")
        event = partner_sandbox.wait_for_delivery("card.authorized")
        partner_client.redeliver(event["id"])
        partner_sandbox.clock.advance(1)
        sent = [one for one in partner_sandbox.state()["deliveries"] if one["event_id"] == event["id"]]
        assert [one["status"] for one in sent] == [200, 200]
        assert receiver.take(b"{}", {"X-SVC-Timestamp": "1", "X-SVC-Signature": "0" * 64}) == 401
        receiver.shutdown()
    assert receiver.purchases.count("12.12 USD at Corner Coffee") == 1  # with its fee
