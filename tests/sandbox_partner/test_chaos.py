"""Chaos by a seed: everything goes wrong that the document knows, the same way each time, and no cent is lost."""

import asyncio
from collections import Counter
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox_partner.conftest import Api, Hand, Receiver


async def answers(api: Api, hand: Hand, card: str, count: int) -> list[str]:
    """What becomes of so many top-ups of one dollar: a status, or that the answer was lost."""
    found = []
    for number in range(count):
        try:
            answered = await api.top_up(card, "1", idem=f"small-{number}")
            found.append(str(answered.status))
        except httpx.TransportError:
            found.append("lost")
    return found


async def test_the_same_seed_gives_the_same_trouble_and_another_seed_another(api: Api, hand: Hand) -> None:
    seen = []
    for seed in ("a", "a", "b"):
        await hand("reset", seed="same")
        card = await api.loaded(hand)
        await hand("float", amount_usd="500")
        await hand("chaos", percent=50, seed=seed, kinds=["lost_answers", "refusals"])
        seen.append(await answers(api, hand, card, 40))
    assert seen[0] == seen[1] != seen[2]
    counted = Counter(seen[0])
    assert {"200", "lost", "429", "500", "502"} <= set(counted)
    assert 10 < counted["200"] < 30


async def test_whoever_repeats_with_the_same_key_pays_once_through_all_chaos(api: Api, hand: Hand) -> None:
    card = await api.loaded(hand)
    await hand("float", amount_usd="500")
    await hand("chaos", percent=30, kinds=["lost_answers", "refusals"])
    done, unresolved = 0, 0
    for number in range(25):
        for _ in range(30):
            try:
                answered = await api.top_up(card, "2", idem=f"two-{number}")
            except httpx.TransportError:
                continue
            if answered.status in (429, 500):
                await hand("clock", advance_seconds=61)
                continue
            done += answered.status == 200
            if answered.status in (409, 502):
                unresolved += 1
            break
    await hand("chaos", percent=0)
    state = (await hand.http.get("state")).json()
    assert state["invariants"] == {"ok": True, "broken": []}
    assert done + unresolved == 25
    assert Decimal(state["float"]["balance_usd"]) == 500 - 2 * 25
    assert len([one for one in state["idempotency"] if one["key"].startswith("two-")]) == 25


async def test_deliveries_come_twice_and_out_of_order(api: Api, hand: Hand, receiver: Receiver) -> None:
    await api.call("PUT", "/webhook", {"url": "https://hooks.example.com/"})
    card = await api.loaded(hand)
    await hand("deliveries", mode="pause", serial=True)
    for number in range(30):
        await api.post(f"/cards/{card}/freeze", {"frozen": number % 2 == 0})
    await hand("chaos", percent=40, kinds=["duplicates", "reorders"])
    await hand("deliveries", mode="normal")
    await hand("clock", advance_seconds=1)
    state = (await hand.http.get("state")).json()
    made = [one["id"] for one in state["events"] if one["type"] == "card.status_changed"]
    came = [one["id"] for one in receiver.bodies if one["type"] == "card.status_changed"]
    counted = Counter(came)
    assert set(counted) == set(made)
    assert 3 < sum(count == 2 for count in counted.values()) < 25
    assert list(dict.fromkeys(came)) != made


async def test_delays_pass_in_real_time_and_a_read_is_answered_all_the_same(api: Api, hand: Hand) -> None:
    await hand("chaos", percent=100, kinds=["delays"])
    began = asyncio.get_running_loop().time()
    assert (await api.get("/fees")).status == 200
    assert asyncio.get_running_loop().time() - began >= 0.05


async def test_a_reset_ends_chaos_and_a_snapshot_keeps_it(api: Api, hand: Hand) -> None:
    async def rules() -> Any:
        return (await hand.http.get("state")).json()["chaos"]

    await hand("chaos", percent=5, seed="kept")
    await hand("snapshots/a")
    await hand("reset")
    assert await rules() is None
    await hand("snapshots/a/restore")
    assert (await rules())["seed"] == "kept"
    await hand("chaos", percent=0)
    assert await rules() is None


@pytest.mark.parametrize(
    "body", [{}, {"percent": 101}, {"percent": 5, "kinds": []}, {"percent": 5, "kinds": ["fire"]}]
)
async def test_a_wrong_chaos_is_refused_by_the_field(hand: Hand, body: dict[str, Any]) -> None:
    answer = await hand.http.post("chaos", json=body)
    assert answer.status_code == 400
    assert "percent" in answer.text or "kinds" in answer.text
