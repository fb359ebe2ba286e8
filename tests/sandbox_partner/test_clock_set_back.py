"""The clock is set back: whatever has fallen due stays done, in every scenario and every answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.partner import codec, http
from sandbox.partner.control import dispatch
from sandbox.partner.scenarios import SCENARIOS
from sandbox.partner.server import answering, build_world, standing_key
from sandbox.partner.state import World

LISTS = ("/me", "/cards?limit=100", "/ledger?limit=100", "/events?limit=100", "/funding?limit=100")
OF_A_CARD = ("", "/transactions?limit=25")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    made = build_world(":memory:", "set back")
    yield made
    made.store.close()


async def read(world: World, address: str, key: str) -> Any:
    world.recent_calls.clear()  # some scenarios have a low limit
    path, _, query = address.partition("?")
    request = http.Request("GET", f"/api/partner/v1{path}", query, (("X-API-Key", key),), b"")
    answer = await answering.handle(world, request)
    assert answer.status in (200, 404), answer.body
    return codec.decode(answer.body)


async def read_everything(world: World, key: str) -> dict[str, Any]:
    found = {address: await read(world, address, key) for address in LISTS}
    for card in found["/cards?limit=100"]["data"]["cards"]:
        for below in OF_A_CARD:
            address = f"/cards/{card['id']}{below}"
            found[address] = await read(world, address, key)
    return found


def control(world: World, path: str, **body: Any) -> None:
    status, answer = dispatch.handle(world, "POST", path, codec.encode(body))
    assert status == 200, answer


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("name", sorted(SCENARIOS))
async def test_every_answer_stays_when_the_clock_is_set_back(world: World, name: str) -> None:
    key = standing_key(world)
    control(world, "reset", scenario=name)
    before = await read_everything(world, key)
    control(world, "clock", mode="frozen", set="2026-03-02T09:00:00Z")
    assert await read_everything(world, key) == before


async def test_a_card_that_was_not_reported_yet_is_not_reported_by_it(world: World) -> None:
    key = standing_key(world)
    control(world, "reset")
    control(world, "float", amount_usd="100")
    order = {
        "card_holder_name": "Ada Lovelace",
        "phone_country_code": 49,
        "phone": "15123456789",
        "email": "ada@example.com",
    }
    headers = (("X-API-Key", key), ("Content-Type", "application/json"))
    made = await answering.handle(
        world, http.Request("POST", "/api/partner/v1/cards", "", headers, codec.encode(order))
    )
    card = codec.decode(made.body)["data"]["card"]
    assert card["status"] is None
    control(world, "clock", mode="frozen", set="2026-03-02T09:00:00Z")
    assert (await read(world, f"/cards/{card['id']}", key))["data"]["card"]["status"] is None
