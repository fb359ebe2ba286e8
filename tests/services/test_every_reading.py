"""The document leaves places open: the bot keeps its word under every profile and every value of every switch."""

import types
from datetime import timedelta
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from bot.domain.requests import State
from sandbox.partner.accounts import Settings
from tests.services.outcome_steps import card_balance, execute, hold_to_the_truth, jump_to_the_end
from tests.support.world import World

_DAY = timedelta(days=1)
_NOT_OURS = frozenset({"networks", "addresses_unreadable", "countries_refused"})


def _values(hint: Any) -> list[Any]:
    """The values a setting can take, where the document's own words leave a choice."""
    if isinstance(hint, types.UnionType):
        return []
    return list(get_args(hint)) if get_origin(hint) is Literal else []


def _readings() -> list[dict[str, Any]]:
    """Every profile and every value of a switch that is not the default."""
    found = []
    for name, hint in get_type_hints(Settings).items():
        values = _values(hint)
        default = getattr(Settings(), name)
        found += [{name: v} for v in values if v != default and isinstance(v, str) and name not in _NOT_OURS]
    return found


def _together() -> list[dict[str, Any]]:
    """The same in few worlds: in each, every switch has its next value at once."""
    by_name: dict[str, list[Any]] = {}
    for reading in _readings():
        for name, value in reading.items():
            by_name.setdefault(name, []).append(value)
    most = max(map(len, by_name.values()))
    return [{name: values[nth % len(values)] for name, values in by_name.items()} for nth in range(most)]


def _name(reading: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in reading.items()) if len(reading) == 1 else "together"


_ALONE = [pytest.param(reading, marks=pytest.mark.soak, id=_name(reading)) for reading in _readings()]


@pytest.fixture(params=[*(pytest.param(reading, id=_name(reading)) for reading in _together()), *_ALONE])
async def read_otherwise(world: World, request: pytest.FixtureRequest) -> World:
    await world.tell("account", request.param)
    return world


def test_profiles_and_switches_are_all_there() -> None:
    names = {name for reading in _readings() for name in reading}

    assert {"profile", "refund_reference", "processor_timeout", "create_replay", "funds_check"} <= names
    assert len(_readings()) >= 25
    assert all(
        any(together[name] == value for together in _together())
        for r in _readings()
        for name, value in r.items()
    )


async def test_the_four_jobs_and_their_lost_answers_end_as_they_are(read_otherwise: World) -> None:
    world = read_otherwise
    before = card_balance(world)

    await world.fault("drop_after_commit")
    lost = await world.top_up("50")
    await world.run_due()
    assert (await jump_to_the_end(world, lost, within=_DAY)).state is State.SUCCEEDED
    assert card_balance(world) == before + 50

    await world.fault("processor", processor="409")
    refused = await world.top_up("20")
    await world.run_due()
    ended = await jump_to_the_end(world, refused, within=_DAY)
    assert ended.state is State.FAILED, ended.outcome_text
    await hold_to_the_truth(world, ended)
    assert card_balance(world) == before + 50

    # Under `hang` the card provider does not answer while our client would wait 75 real seconds: it is cut off instead.
    hangs = (await world.state())["account"]["processor_timeout"] == "hang"
    if hangs:
        await world.fault("drop_midway")
    else:
        await world.fault("processor", processor="timeout")
    doubtful = await world.top_up("30")
    await world.run_due()
    await hold_to_the_truth(world, await jump_to_the_end(world, doubtful, within=timedelta(hours=2)))

    await _order_once(world)
    for kind in ("card_freeze", "card_unfreeze"):
        switch = await world.ask(kind, {"card": world.cards[1]["id"]})
        await world.approve(switch)
        await execute(world, switch)
        assert (await jump_to_the_end(world, switch, within=_DAY)).state is State.SUCCEEDED

    state = await world.state()
    assert state["invariants"]["ok"], state["invariants"]
    assert state["float"]["balance_usd"] == state["ledger_sum"]


async def _order_once(world: World) -> None:
    """An order whose answer is lost makes one card, found by the same key."""
    cards = len((await world.state())["cards"])
    texts = {
        "card_holder_name": "Nora Lindqvist",
        "phone_country_code": "46",
        "phone": "701234567",
        "email": "nora@example.com",
        "partner_ref": "emp-2001",
    }
    await world.fault("drop_after_commit", "POST /cards")
    order = await world.ask("card_order", texts)
    await world.approve(order)
    await execute(world, order)
    ended = await jump_to_the_end(world, order, within=_DAY)
    assert ended.state is State.SUCCEEDED, ended.outcome_text
    assert len((await world.state())["cards"]) == cards + 1
