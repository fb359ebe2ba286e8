"""Five tests of the refill job against the simulated Partner API, trouble included."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from refill import NotSure, Refill

TOP_UP = "POST /cards/{cardId}/topup"


@pytest.fixture(scope="session")
def partner_start():
    return lambda simulator: simulator.control("scenarios/happy-day")


@pytest.fixture
def job(partner_sandbox) -> Iterator[Refill]:
    job = Refill(partner_sandbox.base_url, partner_sandbox.key, low_usd=Decimal(100), full_usd=Decimal(250))
    yield job
    job.close()


def low_cards(partner_sandbox):
    cards = partner_sandbox.state()["cards"]
    return [one for one in cards if one["status"] == "ACTIVE" and Decimal(one["balance_usd"]) < 100]


def test_low_cards_are_filled_and_the_float_pays(job, partner_sandbox):
    low = low_cards(partner_sandbox)
    assert low
    before, needed = job.available_usd(), sum(250 - Decimal(one["balance_usd"]) for one in low)
    done = job.run("monday")
    assert set(done) == {one["id"] for one in low}
    assert job.available_usd() == before - needed
    assert low_cards(partner_sandbox) == []


def test_a_lost_answer_is_asked_for_again_with_the_same_key_and_debits_once(job, partner_sandbox):
    before, low = job.available_usd(), low_cards(partner_sandbox)
    partner_sandbox.faults.add(TOP_UP, "drop_after_commit")
    job.run("monday")
    assert job.available_usd() == before - sum(250 - Decimal(one["balance_usd"]) for one in low)
    posts = [one for one in partner_sandbox.journal() if one["method"] == "POST"]
    assert posts[0]["lost"] and posts[0]["idempotency_key"] == posts[1]["idempotency_key"]


def test_an_unresolved_top_up_is_never_called_done_or_failed(job, partner_sandbox):
    partner_sandbox.faults.add(TOP_UP, "processor", processor="5xx")
    with pytest.raises(NotSure):
        job.run("monday")


def test_a_short_float_is_said_and_moves_nothing(job, partner_sandbox):
    partner_sandbox.control("float", amount_usd=str(-job.available_usd()))
    assert set(job.run("monday").values()) == {"float too low"}


def test_a_purchase_makes_a_card_low_and_the_event_tells_of_it(job, partner_sandbox):
    job.run("monday")
    card = partner_sandbox.state()["cards"][0]
    bought = partner_sandbox.purchases.buy(card["id"], "180", merchant="Hotel")
    event = partner_sandbox.wait_for_event("card.authorized", transaction_id=bought["transaction_id"])
    assert event["data"]["merchant"] == "Hotel"
    assert "topped up" in job.run("tuesday")[card["id"]]
